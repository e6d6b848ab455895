//! Public keys that the user pins.

use std::fmt;

use rustls_pki_types::SubjectPublicKeyInfoDer;
use rustls_pki_types::pem::PemObject;

use crate::config::Digest;

/// A public key, as SubjectPublicKeyInfo in DER (RFC 5280, section 4.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    der: Vec<u8>,
    pem: String,
}

/// A text that is no public key in PEM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidKey;

impl PublicKey {
    /// Reads a key in PEM (`-----BEGIN PUBLIC KEY-----`), the first one in the text.
    pub fn from_pem(pem: &[u8]) -> Result<PublicKey, InvalidKey> {
        let der = SubjectPublicKeyInfoDer::from_pem_slice(pem).map_err(|_| InvalidKey)?;
        let text = std::str::from_utf8(pem).map_err(|_| InvalidKey)?;
        Ok(PublicKey { der: der.as_ref().to_vec(), pem: text.to_owned() })
    }

    /// The text it was read from.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// The key in DER.
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// Its hash, by which it is pinned.
    pub fn digest(&self) -> Digest {
        Digest::of(&self.der)
    }
}

impl fmt::Display for InvalidKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no public key in PEM in it")
    }
}
