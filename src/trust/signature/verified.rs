//! What a signature that was checked says.

use std::fmt;

use super::refusal::Refusal;
use crate::config::Digest;

/// A signature of a card that holds. Whoever made it may be anybody: see [`Verified::require`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// Who has signed.
    pub signer: Signer,
    /// The hash of the card's bytes.
    pub card: Digest,
    /// What of the card the signature is about.
    pub covers: Covers,
    /// When it was signed at the latest, in seconds since 1970, as a log or a time stamping
    /// authority of the trusted root vouches for; for a manifest, as the signer says.
    pub signed_at: Option<i64>,
    /// When the signature ceases to hold, in seconds since 1970.
    pub expires_at: Option<i64>,
    /// Where it stands in public logs.
    pub log: Vec<LogEntry>,
}

/// Who has signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signer {
    /// Somebody whom an OpenID provider knew, by a certificate of a few minutes.
    Certificate(Certificate),
    /// Whoever holds a key.
    Key {
        /// The hash of the public key, as SubjectPublicKeyInfo in DER.
        spki: Digest,
    },
    /// The owner of a domain.
    DidWeb {
        /// `did:web:` and the domain.
        did: String,
        /// Which of its keys.
        kid: String,
        /// Whether the identifier of what is signed says that it is of this domain.
        publishes: bool,
    },
}

/// What a certificate says about who has signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificate {
    /// The URI or the mail address in it.
    pub identity: String,
    /// The OpenID provider that vouches for that.
    pub issuer: String,
    /// The URL of the repository whose build has signed.
    pub repository: Option<String>,
    /// The provider's number for the repository, which survives that it is renamed.
    pub repository_id: Option<String>,
    /// The provider's number for the owner of the repository.
    pub owner_id: Option<String>,
    /// The serial number, in lower hexadecimal digits.
    pub serial: String,
}

/// What a signature is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Covers {
    /// The bytes of the card as they are.
    Bytes,
    /// The canonical text of the card (RFC 8785): its value, however it is written.
    Value,
    /// The URL of the card and not its contents, which may be anything.
    UrlOnly,
}

/// An entry of a public log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// Its number.
    pub index: u64,
    /// The log: the hash of its key, in base64.
    pub log_id: String,
}

/// Who must have signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// An identity, vouched for by an issuer. Both are compared as they are.
    Certificate {
        /// The identity.
        identity: String,
        /// The issuer.
        issuer: String,
    },
    /// The owner of a key.
    Key {
        /// The hash of the public key, as SubjectPublicKeyInfo in DER.
        spki: Digest,
    },
    /// The owner of a domain.
    DidWeb {
        /// `did:web:` and the domain.
        did: String,
    },
}

impl Verified {
    /// Makes sure that the signature is somebody's, and that it is about the contents of the card.
    ///
    /// # Errors
    /// When somebody else has signed, or when only the card's URL is signed.
    pub fn require(&self, wanted: &Wanted) -> Result<(), Refusal> {
        match (wanted, &self.signer) {
            (Wanted::Certificate { identity, issuer }, Signer::Certificate(certificate)) => {
                if *identity != certificate.identity {
                    return Err(Refusal::OtherIdentity {
                        wanted: identity.clone(),
                        found: certificate.clone(),
                    });
                }
                if *issuer != certificate.issuer {
                    return Err(Refusal::OtherIssuer {
                        wanted: issuer.clone(),
                        found: certificate.issuer.clone(),
                    });
                }
            }
            (Wanted::Key { spki: wanted }, Signer::Key { spki }) if wanted == spki => {}
            (Wanted::DidWeb { did: wanted }, Signer::DidWeb { did, .. }) if wanted == did => {}
            _ => {
                return Err(Refusal::OtherSigner {
                    wanted: wanted.clone(),
                    found: self.signer.clone(),
                });
            }
        }
        match self.covers {
            Covers::Bytes | Covers::Value => Ok(()),
            Covers::UrlOnly => Err(Refusal::UrlOnly),
        }
    }
}

impl fmt::Display for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Signer::Certificate(Certificate { identity, issuer, .. }) => {
                write!(f, "{identity} (vouched for by {issuer})")
            }
            Signer::Key { spki } => write!(f, "the key {spki}"),
            Signer::DidWeb { did, .. } => f.write_str(did),
        }
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Wanted::Certificate { identity, issuer } => {
                write!(f, "{identity} (vouched for by {issuer})")
            }
            Wanted::Key { spki } => write!(f, "the key {spki}"),
            Wanted::DidWeb { did } => f.write_str(did),
        }
    }
}
