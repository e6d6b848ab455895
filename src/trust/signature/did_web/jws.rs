//! The signature of a manifest: a detached JWS (RFC 7515, appendix F) with ES256 and nothing else.

use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::text;
use crate::protocol::canonical;

/// What the header of a manifest's signature must say it is.
const TYPE: &str = "ai-catalog-trust-manifest+jws";

/// Members of a header that would change what is signed, or who decides about the key.
const FORBIDDEN: [&str; 6] = ["b64", "crit", "jku", "jwk", "x5u", "x5c"];

/// A signature that was taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Jws {
    header: String,
    signature: Vec<u8>,
    /// Which key it is said to be made with.
    pub(super) kid: String,
}

impl Jws {
    /// Takes `HEADER..SIGNATURE` apart.
    pub(super) fn parse(compact: &str) -> Result<Jws, String> {
        let (header, signature) =
            compact.split_once("..").ok_or("the signature is not a detached JWS")?;
        let decode = |part: &str| {
            URL_SAFE_NO_PAD.decode(part).map_err(|_| "the signature is not base64url".to_owned())
        };
        let json = String::from_utf8(decode(header)?)
            .map_err(|_| "the header of the signature is not UTF-8")?;
        let tree = canonical::parse(&json)
            .map_err(|ambiguous| format!("the header of the signature: {ambiguous}"))?;
        if let Some(forbidden) = FORBIDDEN.iter().find(|name| tree.get(name).is_some()) {
            return Err(format!("the header of the signature has {forbidden}"));
        }
        for (name, wanted) in [("alg", "ES256"), ("typ", TYPE)] {
            let found = text(&tree, name).unwrap_or_default();
            if found != wanted {
                return Err(format!(
                    "the {name} of the signature is \"{found}\", not \"{wanted}\""
                ));
            }
        }
        Ok(Jws {
            header: header.to_owned(),
            signature: decode(signature)?,
            kid: text(&tree, "kid").ok_or("the header of the signature names no key")?,
        })
    }

    /// Whether it is a signature over the payload, made with this point of P-256 (uncompressed).
    pub(super) fn holds(&self, payload: &str, point: &[u8]) -> bool {
        let signed = format!("{}.{}", self.header, URL_SAFE_NO_PAD.encode(payload));
        let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
        key.verify(signed.as_bytes(), &self.signature).is_ok()
    }
}
