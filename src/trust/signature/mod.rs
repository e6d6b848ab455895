//! Who has signed a Server Card.
//!
//! No revision of the protocol defines a signed card. What is here is a convention of ours on
//! formats that others define:
//!
//! | form | what is signed | who signs |
//! |---|---|---|
//! | a [`sigstore`] bundle beside the card | the exact bytes of the card | an identity that an OpenID provider vouches for |
//! | the same with a public key | the exact bytes of the card | the owner of the key |
//! | a trust manifest in an AI Catalog ([`did_web`]) | the catalog's entry, and through its digest the card | the owner of a domain |
//!
//! Everything here turns bytes and a time into a verdict: there is no file, no network and no clock
//! of its own. A [`Verified`] says that somebody has signed; that it is somebody who may is only
//! said by [`Verified::require`].

pub mod did_web;
mod evidence;
mod key;
mod refusal;
pub mod sigstore;
mod verified;

pub use evidence::{Evidence, verify_by_key_alone};
pub use key::{InvalidKey, PublicKey};
pub use refusal::{Part, Refusal, Step};
pub use verified::{Certificate, Covers, LogEntry, Signer, Verified, Wanted};

use crate::protocol::canonical;
use crate::protocol::tree::Tree;

/// What goes after the path of a card's URL, or after its file name, to name its bundle.
pub const BUNDLE_SUFFIX: &str = ".sigstore.json";

/// The longest card that can be signed, in bytes.
pub const CARD_LIMIT: usize = 8 << 20;

/// The longest bundle, in bytes.
pub const BUNDLE_LIMIT: usize = 256 << 10;

/// The longest trusted root, in bytes.
pub const ROOT_LIMIT: usize = 1 << 20;

/// The text of a document and what is in it, if everybody reads the same from it.
fn unambiguous(bytes: &[u8], part: Part, limit: usize) -> Result<(&str, Tree<'_>), Refusal> {
    if limit < bytes.len() {
        return Err(Refusal::TooLong { part, limit });
    }
    let malformed = |reason: String| Refusal::Malformed { part, reason };
    let text = std::str::from_utf8(bytes).map_err(|error| malformed(error.to_string()))?;
    let tree = canonical::parse(text).map_err(|ambiguous| malformed(ambiguous.to_string()))?;
    Ok((text, tree))
}
