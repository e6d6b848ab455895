//! Why a card does not count as signed.

use std::fmt;

use super::verified::{Certificate, Signer, Wanted};
use crate::config::Digest;

/// Why a card does not count as signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// A document is too long.
    TooLong {
        /// Which one.
        part: Part,
        /// What it may have, in bytes.
        limit: usize,
    },
    /// A document is not what it should be, or can be read in two ways.
    Malformed {
        /// Which one.
        part: Part,
        /// What is wrong.
        reason: String,
    },
    /// A step of the verification of a bundle failed.
    Step {
        /// Which one.
        step: Step,
        /// What was found.
        reason: String,
    },
    /// A bundle stands in no log of signatures.
    NotLogged,
    /// Somebody else has signed.
    OtherIdentity {
        /// Who should have.
        wanted: String,
        /// Who has.
        found: Certificate,
    },
    /// Somebody of the right name has signed, whom another provider vouches for.
    OtherIssuer {
        /// Who should.
        wanted: String,
        /// Who does.
        found: String,
    },
    /// Somebody else has signed, in another way.
    OtherSigner {
        /// Who should have.
        wanted: Wanted,
        /// Who has.
        found: Signer,
    },
    /// What is signed is where the card is, not what it says.
    UrlOnly,
    /// What is signed is another card.
    OtherCard {
        /// The hash that is signed.
        signed: String,
        /// The hash of this card.
        found: Digest,
    },
    /// A catalog says nothing about the card.
    NotListed,
    /// An entry of a catalog is about the card, and nobody has signed it.
    Unsigned,
    /// A manifest is signed in a way that is not known here.
    UnknownProfile(String),
    /// A manifest is not about the entry that it stands in, or has no valid signature.
    Manifest(String),
    /// A manifest does not hold yet, in seconds since 1970.
    NotYet(i64),
    /// A manifest does not hold any more, in seconds since 1970.
    Expired(i64),
    /// The document of a domain does not list the key for this use.
    NoSuchKey {
        /// The domain.
        did: String,
        /// The key.
        kid: String,
        /// What is wrong.
        reason: String,
    },
    /// Bundles cannot be verified by this build.
    NotBuilt,
}

/// A document that takes part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The card itself.
    Card,
    /// The sigstore bundle.
    Bundle,
    /// The trusted root.
    Root,
    /// The AI Catalog.
    Catalog,
    /// The document with the keys of a domain.
    DidDocument,
}

/// A step of the verification of a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// What the trusted root is made of.
    Root,
    /// What the bundle is made of.
    Bundle,
    /// A time that somebody in the trusted root vouches for.
    Time,
    /// The certificate, its authority, and the log it is in.
    Certificate,
    /// The entry in the log of signatures.
    Log,
    /// The signature itself.
    Signature,
    /// Whether it is about this card.
    Card,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::Card => "the card",
            Part::Bundle => "the bundle",
            Part::Root => "the trusted root",
            Part::Catalog => "the catalog",
            Part::DidDocument => "the document with the domain's keys",
        })
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Step::Root => "the trusted root cannot be used",
            Step::Bundle => "the bundle cannot be used",
            Step::Time => "no trusted time of the signature",
            Step::Certificate => "the certificate does not hold",
            Step::Log => "the entry in the log does not hold",
            Step::Signature => "the signature does not hold",
            Step::Card => "the signature is about something else",
        })
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::TooLong { part, limit } => write!(f, "{part} has more than {limit} bytes"),
            Refusal::Malformed { part, reason } => write!(f, "{part} cannot be read: {reason}"),
            Refusal::Step { step, reason } => write!(f, "{step}: {reason}"),
            Refusal::NotLogged => f.write_str(
                "the bundle stands in no log of signatures, so that nobody but the signer says when it \
                 was made, and nobody else could know of it",
            ),
            Refusal::OtherIdentity { wanted, found } => write!(
                f,
                "the signer is {}, not {wanted} (issuer: {})",
                found.identity, found.issuer
            ),
            Refusal::OtherIssuer { wanted, found } => {
                write!(f, "the issuer that vouches for the signer is {found}, not {wanted}")
            }
            Refusal::OtherSigner { wanted, found } => {
                write!(f, "the signer is {found}, not {wanted}")
            }
            Refusal::UrlOnly => {
                f.write_str("what is signed is the URL of the card, not what it says")
            }
            Refusal::OtherCard { signed, found } => {
                write!(f, "what is signed has the hash {signed}, and the card {found}")
            }
            Refusal::NotListed => f.write_str("the catalog has no entry for the card"),
            Refusal::Unsigned => f.write_str("the catalog's entry for the card is not signed"),
            Refusal::UnknownProfile(profile) => {
                write!(f, "the manifest is signed by a profile that is not known: {profile}")
            }
            Refusal::Manifest(reason) => write!(f, "the manifest does not hold: {reason}"),
            Refusal::NotYet(when) => write!(
                f,
                "the manifest holds only from {} on",
                crate::protocol::rfc3339::format(*when)
            ),
            Refusal::Expired(when) => {
                write!(f, "the manifest expired at {}", crate::protocol::rfc3339::format(*when))
            }
            Refusal::NoSuchKey { did, kid, reason } => {
                write!(f, "{did} does not vouch for the key {kid}: {reason}")
            }
            Refusal::NotBuilt => {
                f.write_str("this build cannot verify sigstore bundles (feature sigstore)")
            }
        }
    }
}

impl std::error::Error for Refusal {}
