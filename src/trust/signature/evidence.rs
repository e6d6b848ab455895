//! What there is to say who has signed a card.

use super::did_web;
use super::refusal::{Part, Refusal};
use super::sigstore::{self, TrustRoot};
use super::verified::Verified;
use super::{CARD_LIMIT, PublicKey, unambiguous};

/// What there is to say who has signed a card: documents, of which nothing is believed yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// A sigstore bundle.
    Bundle {
        /// The bundle, JSON.
        bundle: Vec<u8>,
        /// The key that must have signed, when it is not certified.
        key: Option<PublicKey>,
    },
    /// An AI Catalog with a trust manifest in the entry about the card.
    Manifest {
        /// The catalog, JSON.
        catalog: Vec<u8>,
        /// The document with the keys of the domain, JSON, as it is published now.
        document: Vec<u8>,
    },
}

impl Evidence {
    /// Verifies it for a card that was found at `url`, if it was found at one. `root` is for
    /// bundles, `now` (in seconds since 1970) for manifests.
    ///
    /// This is all there is to say who has signed; whether they may is asked by
    /// [`Verified::require`].
    ///
    /// # Errors
    /// When it does not hold, and when the card can be read in two ways: whoever has signed it may
    /// have read the other one.
    pub fn verify(
        &self,
        card: &[u8],
        url: Option<&str>,
        root: &TrustRoot,
        now: i64,
    ) -> Result<Verified, Refusal> {
        unambiguous(card, Part::Card, CARD_LIMIT)?;
        self.verify_bytes(card, url, root, now)
    }

    /// The same for any document.
    pub fn verify_bytes(
        &self,
        card: &[u8],
        url: Option<&str>,
        root: &TrustRoot,
        now: i64,
    ) -> Result<Verified, Refusal> {
        match self {
            Evidence::Bundle { bundle, key: None } => sigstore::verify(card, bundle, root),
            Evidence::Bundle { bundle, key: Some(key) } => {
                sigstore::verify_with_key(card, bundle, key, root)
            }
            Evidence::Manifest { catalog, document } => manifest(catalog, document, card, url, now),
        }
    }
}

/// Verifies that a card was signed with a key by a bundle that may stand in no log of signatures.
///
/// # Errors
/// As [`Evidence::verify`].
pub fn verify_by_key_alone(
    card: &[u8],
    bundle: &[u8],
    key: &PublicKey,
    root: &TrustRoot,
) -> Result<Verified, Refusal> {
    unambiguous(card, Part::Card, CARD_LIMIT)?;
    sigstore::verify_by_key_alone(card, bundle, key, root)
}

/// Verifies the manifests of the domain whose document is at hand; one that holds is enough.
fn manifest(
    catalog: &[u8],
    document: &[u8],
    card: &[u8],
    url: Option<&str>,
    now: i64,
) -> Result<Verified, Refusal> {
    unambiguous(document, Part::DidDocument, did_web::DOCUMENT_LIMIT)?;
    let mut refused = None;
    for offer in did_web::offers(catalog, card, url)? {
        match offer.verify(card, document, now) {
            Ok(verified) => return Ok(verified),
            Err(refusal) => refused = refused.or(Some(refusal)),
        }
    }
    Err(refused.unwrap_or(Refusal::Unsigned))
}
