//! Trust manifests of AI Catalogs, profile `did-web-v1`.
//!
//! A catalog's entry names a card, with its hash; a manifest in the entry repeats that and is signed
//! with a key that the owner of a domain publishes at `https://DOMAIN/.well-known/did.json`:
//!
//! ```text
//! catalog → entry about the card → manifest ── JWS ──▶ key ── listed by ──▶ did.json of the domain
//!             digest = card's hash ◀── digest
//! ```
//!
//! The document of the domain is to be fetched when the manifest is verified: a key that was taken
//! out of it does not count any more. The older form with one `trustManifest` is never accepted.

mod document;
mod entry;
mod jws;
mod manifest;

pub use entry::offers;
pub use manifest::Offer;

use std::collections::HashSet;

use crate::protocol::canonical;
use crate::protocol::tree::Tree;

/// The longest catalog, in bytes.
pub const CATALOG_LIMIT: usize = 4 << 20;

/// The longest document with the keys of a domain, in bytes.
pub const DOCUMENT_LIMIT: usize = 64 << 10;

/// The profile that is understood.
const PROFILE: &str = "did-web-v1";

/// Where a domain publishes its keys; `None` when it is no whole domain that is named.
pub fn document_url(did: &str) -> Option<String> {
    Some(format!("https://{}/.well-known/did.json", domain(did)?))
}

/// Where a domain publishes its AI Catalog; `None` when it is no whole domain that is named.
pub fn catalog_url(did: &str) -> Option<String> {
    Some(format!("https://{}/.well-known/ai-catalog.json", domain(did)?))
}

/// How many domains are asked for their keys on account of one card. Whoever wrote the catalog has
/// chosen them.
const DOMAINS: usize = 4;

/// The domains that have made some offers, each once, as far as they are asked for their keys.
pub fn signers(offers: &[Offer]) -> Vec<&str> {
    distinct(offers.iter().map(Offer::did))
}

fn distinct<'o>(dids: impl Iterator<Item = &'o str>) -> Vec<&'o str> {
    let mut seen = HashSet::new();
    dids.filter(|did| seen.insert(*did)).take(DOMAINS).collect()
}

/// The text of a member that is a string.
fn text(tree: &Tree<'_>, name: &str) -> Option<String> {
    tree.get(name)?.as_text().map(|text| text.into_owned())
}

/// The digest that is said. What is no text is kept as it is written, so that it is the hash of nothing:
/// a digest that cannot be compared is not the same as none.
fn digest(tree: &Tree<'_>) -> Option<String> {
    text(tree, "digest").or_else(|| tree.get("digest").map(canonical::text_of))
}

/// The domain of a `did:web:`, when it is a whole domain: in lower case, without port and path, and
/// no IP address.
fn domain(did: &str) -> Option<&str> {
    let domain = did.strip_prefix("did:web:")?;
    let is_label = |label: &str| {
        let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        (1..=63).contains(&label.len())
            && label.bytes().all(inner)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let last = domain.rsplit('.').next().unwrap_or_default();
    // Readers of URLs take a name that ends in a number for an IPv4 address.
    let is_name = !last.starts_with(|first: char| first.is_ascii_digit());
    (domain.len() <= 253 && domain.contains('.') && is_name && domain.split('.').all(is_label))
        .then_some(domain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_domains_are_asked_once_each() {
        assert_eq!(distinct(["a", "b", "a"].into_iter()), ["a", "b"]);
        assert_eq!(distinct("a b c d e f".split(' ')), ["a", "b", "c", "d"]);
    }

    #[test]
    fn only_whole_domains_sign() {
        let check = |did: &str, expected: Option<&str>| assert_eq!(domain(did), expected, "{did}");
        check("did:web:example.com", Some("example.com"));
        check("did:web:a-b.xn--nxasmq6b.example", Some("a-b.xn--nxasmq6b.example"));
        for did in [
            "",
            "did:web:",
            "did:key:example.com",
            "did:web:Example.com",
            "did:web:example.com:path",
            "did:web:example.com%3A8443",
            "did:web:example.com/x",
            "did:web:example.com#k1",
            "did:web:localhost",
            "did:web:127.0.0.1",
            "did:web:example.0x7f",
            "did:web:example.com.",
            "did:web:.example.com",
            "did:web:exa_mple.com",
            "did:web:-a.example",
            "did:web:exämple.com",
            "example.com",
        ] {
            check(did, None);
        }
    }
}
