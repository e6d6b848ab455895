//! Attestations in the trust manifests of a catalog: sigstore bundles about the card of an entry.
//!
//! The manifest that names one need not hold for that: a bundle stands by itself, whoever points to it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::document::{Object, text};
use crate::config::Digest;
use crate::net::Address;

/// What a bundle is called in a manifest.
const KIND: &str = "sigstore-bundle";

/// How many are looked at for one entry.
const MOST: usize = 4;

/// An attestation that is a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attestation {
    /// Where the bundle is: `https:`, or `data:` for one that stands there itself.
    pub uri: String,
    /// What the manifest says is its hash, whatever it is.
    digest: Option<String>,
}

/// Where a bundle is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whereabouts {
    /// Here.
    Here(Vec<u8>),
    /// On the network.
    Url(Address),
}

/// The bundles that the manifests of an entry name, in their order.
pub(super) fn read(entry: &Object) -> Vec<Attestation> {
    let several = entry.get("trustManifests").and_then(Value::as_array).into_iter().flatten();
    // The older form has one.
    let manifests = several.chain(entry.get("trustManifest")).filter_map(Value::as_object);
    let attestations = manifests.filter_map(|it| it.get("attestations")?.as_array()).flatten();
    let bundles = attestations
        .filter_map(Value::as_object)
        .filter(|it| text(it, &["type"]).is_some_and(|kind| kind == KIND));
    let named =
        bundles.filter_map(|it| Some(Attestation { uri: text(it, &["uri"])?, digest: digest(it) }));
    named.take(MOST).collect()
}

/// What an object of a catalog says is a hash. What is no text stands for itself, so that it is the
/// hash of nothing: a hash that cannot be compared is not the same as none.
pub(super) fn digest(object: &Object) -> Option<String> {
    object.get("digest").filter(|said| !said.is_null()).map(|said| match said {
        Value::String(digest) => digest.clone(),
        other => other.to_string(),
    })
}

impl Attestation {
    /// Where its bundle is; `None` when that is neither a URL nor in it.
    pub fn whereabouts(&self) -> Option<Whereabouts> {
        match self.uri.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("data:")) {
            Some(_) => data(&self.uri[5..]).map(Whereabouts::Here),
            None => Address::parse(&self.uri).ok().map(Whereabouts::Url),
        }
    }

    /// Whether these bytes are the bundle that the manifest means.
    pub fn is(&self, bundle: &[u8]) -> bool {
        self.digest.as_ref().is_none_or(|said| *said == Digest::of(bundle).to_string())
    }

    /// Where it is, for people: what stands in the catalog itself is not repeated.
    pub fn place(&self) -> &str {
        match self.whereabouts() {
            Some(Whereabouts::Here(_)) => "data:",
            _ => &self.uri,
        }
    }
}

/// What stands in a `data:` URL, without its scheme (RFC 2397).
fn data(rest: &str) -> Option<Vec<u8>> {
    let (head, data) = rest.split_once(',')?;
    let bytes = unescaped(data)?;
    match head.to_ascii_lowercase().ends_with(";base64") {
        true => STANDARD.decode(bytes).ok(),
        false => Some(bytes),
    }
}

/// The bytes that a text with `%XX` stands for.
fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        bytes.push(is_hex.then(|| u8::from_str_radix(digits, 16).ok())??);
        bytes.extend_from_slice(rest.as_bytes());
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::document;

    #[test]
    fn bundles_of_all_manifests_are_found() {
        let entry = r#"{"trustManifests":[7,{"attestations":{}},{"attestations":[1,{"type":"SOC2","uri":"https://h/a"},
            {"type":"sigstore-bundle"},{"type":"sigstore-bundle","uri":"https://h/b","digest":null}]}],
            "trustManifest":{"attestations":[{"type":"sigstore-bundle","uri":"https://h/c","digest":7}]}}"#;
        let found = read(&document::read(entry.as_bytes()).unwrap());
        let found: Vec<_> = found.iter().map(|it| (&*it.uri, it.digest.as_deref())).collect();
        assert_eq!(found, [("https://h/b", None), ("https://h/c", Some("7"))]);
        let one = r#"{"type":"sigstore-bundle","uri":"x"},"#.repeat(100);
        let many = format!(r#"{{"trustManifests":[{{"attestations":[{one}1]}}]}}"#);
        assert_eq!(read(&document::read(many.as_bytes()).unwrap()).len(), MOST);
        assert_eq!(read(&document::read(b"{}").unwrap()), []);
    }

    #[test]
    fn a_bundle_is_where_its_uri_says() {
        let check = |uri: &str, expected: Option<&str>| {
            let found = Attestation { uri: uri.to_owned(), digest: None }.whereabouts();
            let found = found.map(|found| match found {
                Whereabouts::Here(bytes) => String::from_utf8(bytes).unwrap(),
                Whereabouts::Url(address) => address.to_string(),
            });
            assert_eq!(found.as_deref(), expected, "{uri}");
        };
        check("https://h/b", Some("https://h/b"));
        check("data:,a%20b%c3%a9", Some("a bé"));
        check("DATA:application/json;charset=utf-8;BASE64,e30%3D", Some("{}"));
        check("data:;base64,e3", None);
        check("data:,%", None);
        check("data:,%+1", None);
        check("data:,%é", None);
        check("data:", None);
        for uri in ["", "file:///etc/passwd", "/b", "éé", "ftp://h/b"] {
            check(uri, None);
        }
    }

    #[test]
    fn a_bundle_must_have_the_hash_that_is_said() {
        let of = |digest: Option<String>| Attestation { uri: String::new(), digest };
        assert!(of(None).is(b"x") && of(Some(Digest::of(b"x").to_string())).is(b"x"));
        assert!(!of(Some(Digest::of(b"y").to_string())).is(b"x") && !of(Some("7".into())).is(b"x"));
    }
}
