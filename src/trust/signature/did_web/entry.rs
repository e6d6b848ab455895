//! The entry of a catalog that is about a card.

use super::super::refusal::{Part, Refusal};
use super::super::unambiguous;
use super::manifest::Offer;
use super::{CATALOG_LIMIT, PROFILE, digest, text};
use crate::config::Digest;
use crate::protocol::canonical;
use crate::protocol::tree::Tree;

/// What an entry says about what it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) identifier: Option<String>,
    /// Older catalogs call it `mediaType`.
    pub(super) media_type: Option<String>,
    pub(super) version: Option<String>,
    pub(super) digest: Option<String>,
    pub(super) url: Option<String>,
    /// The hash of the card's canonical text, when the card stands in the entry.
    pub(super) data: Option<Digest>,
}

impl Entry {
    fn read(tree: &Tree<'_>) -> Entry {
        let data = tree.get("data").map(canonical::text_of);
        Entry {
            identifier: text(tree, "identifier"),
            media_type: text(tree, "type").or_else(|| text(tree, "mediaType")),
            version: text(tree, "version"),
            digest: digest(tree),
            url: text(tree, "url"),
            data: data.map(|data| Digest::of(data.as_bytes())),
        }
    }

    /// Whether the entry is about a card: the one it contains, the one with its hash, or the one
    /// that was fetched from its URL.
    fn is_about(&self, card: &[u8], url: Option<&str>) -> bool {
        let by_digest =
            self.digest.as_ref().is_some_and(|said| *said == Digest::of(card).to_string());
        let by_url = self.url.is_some() && self.url.as_deref() == url;
        by_digest || by_url || self.data.is_some_and(|data| Some(data) == value_of(card))
    }
}

/// The hash of a card's canonical text, if it has one.
pub(super) fn value_of(card: &[u8]) -> Option<Digest> {
    let canonical = canonical::canonical(std::str::from_utf8(card).ok()?).ok()?;
    Some(Digest::of(canonical.as_bytes()))
}

/// The manifests about a card in a catalog. `url` is where the card was fetched from, if it was.
///
/// # Errors
/// When the catalog can be read in two ways, has no entry for the card, or none that is signed by
/// the profile that is understood. A manifest that cannot be read says nothing about the others.
pub fn offers(catalog: &[u8], card: &[u8], url: Option<&str>) -> Result<Vec<Offer>, Refusal> {
    let (_, tree) = unambiguous(catalog, Part::Catalog, CATALOG_LIMIT)?;
    let entries = tree.get("entries").map(Tree::elements).unwrap_or_default();
    let about: Vec<(&Tree<'_>, Entry)> = entries
        .iter()
        .map(|tree| (tree, Entry::read(tree)))
        .filter(|(_, entry)| entry.is_about(card, url))
        .collect();
    if about.is_empty() {
        return Err(Refusal::NotListed);
    }
    let (mut offers, mut unread, mut other) = (Vec::new(), None, None);
    for (tree, entry) in &about {
        if tree.get("trustManifest").is_some() {
            other = other.or(Some("trustManifest".to_owned()));
        }
        let manifests = tree.get("trustManifests").map(Tree::elements).unwrap_or_default();
        for manifest in manifests {
            let profile = manifest.get("signature").and_then(|it| text(it, "profile"));
            match profile {
                Some(profile) if profile == PROFILE => match Offer::read(manifest, entry.clone()) {
                    Ok(offer) => offers.push(offer),
                    Err(refusal) => unread = unread.or(Some(refusal)),
                },
                other_profile => other = other.or(other_profile),
            }
        }
    }
    match (offers.is_empty(), unread, other) {
        (false, ..) => Ok(offers),
        (true, Some(refusal), _) => Err(refusal),
        (true, None, Some(profile)) => Err(Refusal::UnknownProfile(profile)),
        (true, None, None) => Err(Refusal::Unsigned),
    }
}
