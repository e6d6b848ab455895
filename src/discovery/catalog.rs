//! AI Catalogs: which documents a host publishes.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;

use serde_json::Value;

use super::attestation::{self, Attestation, digest};
use super::document::{Object, object, text};

/// The media type of a catalog.
pub const CATALOG: &str = "application/ai-catalog+json";

/// The media type of a card.
pub const CARD: &str = "application/mcp-server-card+json";

/// That, and what drafts called it.
const CARDS: [&str; 2] = [CARD, "application/mcp-server+json"];

/// The most entries that are looked at.
pub const ENTRIES: usize = 2000;

/// A catalog. Entries that are about other things than MCP servers are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Catalog {
    /// Who publishes it, for people.
    pub host: Option<String>,
    /// What it lists, in its order, as far as it is looked at.
    pub entries: Vec<Entry>,
    /// How many entries it has, of whatever kind.
    pub listed: usize,
    /// How many entries are about other things.
    pub others: usize,
    /// Entries that cannot be used, and why.
    pub faults: Vec<Fault>,
}

/// One thing that is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its identifier, mostly a `urn:air:`.
    pub identifier: String,
    /// What it is.
    pub kind: Kind,
    /// Where it is.
    pub place: Place,
    /// A name for people.
    pub display_name: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// When it was changed, as RFC 3339 text.
    pub updated_at: Option<String>,
    /// Who publishes it, as the catalog says.
    pub publisher: Option<String>,
    /// What it says is the hash of the document: `sha256:` and 64 hexadecimal digits. What is anything
    /// else stands here as its JSON text, so that it is the hash of no document.
    pub digest: Option<String>,
    /// Bundles about the document that its trust manifests name.
    pub attestations: Vec<Attestation>,
    /// Whether a trust manifest comes with it.
    pub has_manifest: bool,
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The card of a server.
    Card,
    /// Another catalog.
    Catalog,
}

/// Where the document of an entry is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// At a URL, which may be relative to that of the catalog.
    Url(String),
    /// In the catalog itself.
    Data(Object),
}

/// Why an entry cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The place of the entry, from 0.
    pub index: usize,
    /// What is wrong with it.
    pub why: Wrong,
}

/// What is wrong with an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrong {
    /// It is no object.
    NoObject,
    /// It has no identifier.
    NoIdentifier,
    /// It has no type.
    NoType,
    /// It has neither a URL nor data, or both.
    NoPlace,
}

/// Why a document is no catalog that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoCatalog {
    /// It is another kind of document.
    Other,
    /// Its version is one that is not known.
    Version(String),
}

/// Reads a catalog. It is known by what is in it, since many are served as `application/json`.
pub fn read(document: &Object) -> Result<Catalog, NoCatalog> {
    let entries = document.get("entries").and_then(Value::as_array);
    let (Some(version), Some(entries)) = (document.get("specVersion"), entries) else {
        return Err(NoCatalog::Other);
    };
    let version = version.as_str().map_or_else(|| version.to_string(), str::to_owned);
    if !is_known(&version) {
        return Err(NoCatalog::Version(version));
    }
    let host = object(document, &["host"]).and_then(|host| text(host, &["displayName"]));
    let mut catalog = Catalog { host, listed: entries.len(), ..Catalog::default() };
    for (index, value) in entries.iter().take(ENTRIES).enumerate() {
        match entry(value) {
            Ok(Some(entry)) => catalog.entries.push(entry),
            Ok(None) => catalog.others += 1,
            Err(why) => catalog.faults.push(Fault { index, why }),
        }
    }
    keep_latest(&mut catalog.entries);
    Ok(catalog)
}

impl Catalog {
    /// What people should know who take it for whole: that it goes on, and what is wrong with it.
    pub fn notes(&self) -> Vec<String> {
        let listed = self.listed;
        let told = format!(
            "it lists {listed} entries, and only the first {ENTRIES} were looked at; one of the \
             others is found in a catalog of its own"
        );
        let cut = (ENTRIES < listed).then_some(told);
        cut.into_iter().chain(self.faults.iter().map(ToString::to_string)).collect()
    }
}

/// Versions 0.x and 1.x; drafts said `draft`.
fn is_known(version: &str) -> bool {
    version == "draft" || matches!(version.split('.').next(), Some("0" | "1"))
}

/// Reads an entry; `None` when it is about something else than MCP.
fn entry(value: &Value) -> Result<Option<Entry>, Wrong> {
    let entry = value.as_object().ok_or(Wrong::NoObject)?;
    let kind = text(entry, &["type", "mediaType", "media_type"]).ok_or(Wrong::NoType)?;
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let kind = match kind.as_str() {
        CATALOG => Kind::Catalog,
        kind if CARDS.contains(&kind) => Kind::Card,
        _ => return Ok(None),
    };
    let place = match (text(entry, &["url"]), entry.get("data")) {
        (Some(url), None | Some(Value::Null)) => Place::Url(url),
        (None, Some(Value::Object(data))) => Place::Data(data.clone()),
        _ => return Err(Wrong::NoPlace),
    };
    let identifier = text(entry, &["identifier", "id"]).ok_or(Wrong::NoIdentifier)?;
    let publisher = object(entry, &["publisher"]);
    Ok(Some(Entry {
        identifier,
        kind,
        place,
        display_name: text(entry, &["displayName", "display_name"]),
        version: text(entry, &["version"]),
        updated_at: text(entry, &["updatedAt", "updated_at"]),
        publisher: publisher.and_then(|by| text(by, &["displayName", "identifier"])),
        digest: digest(entry),
        attestations: attestation::read(entry),
        has_manifest: ["trustManifests", "trustManifest"].iter().any(|it| entry.contains_key(*it)),
    }))
}

/// Of several entries with one identifier, the latest.
fn keep_latest(entries: &mut Vec<Entry>) {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut kept: Vec<Entry> = Vec::new();
    for entry in entries.drain(..) {
        match places.get(&entry.identifier).and_then(|place| kept.get_mut(*place)) {
            Some(known) if is_later(&entry, known) => *known = entry,
            Some(_) => (),
            None => {
                places.insert(entry.identifier.clone(), kept.len());
                kept.push(entry);
            }
        }
    }
    *entries = kept;
}

fn is_later(entry: &Entry, known: &Entry) -> bool {
    let versions = [entry, known].map(|it| it.version.as_deref().and_then(Version::parse));
    match versions {
        [Some(one), Some(other)] if one != other => one > other,
        [Some(_), None] => true,
        [None, Some(_)] => false,
        // All are in UTC and of one form, or else nothing can be told.
        _ => entry.updated_at > known.updated_at,
    }
}

/// A semantic version, as far as it orders.
#[derive(Debug, PartialEq, Eq)]
struct Version<'a> {
    core: [u64; 3],
    pre: Vec<&'a str>,
}

impl<'a> Version<'a> {
    fn parse(text: &'a str) -> Option<Version<'a>> {
        let text = text.strip_prefix('v').unwrap_or(text).split('+').next()?;
        let (core, pre) = match text.split_once('-') {
            Some((core, pre)) => (core, pre.split('.').collect()),
            None => (text, Vec::new()),
        };
        let mut numbers = core.split('.').map(|part| part.parse().ok());
        let mut next = || numbers.next().unwrap_or(Some(0));
        let core = [next()?, next()?, next()?];
        numbers.next().is_none().then_some(Version { core, pre })
    }
}

impl PartialOrd for Version<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version<'_> {
    /// Semantic Versioning 2.0.0, section 11.
    fn cmp(&self, other: &Self) -> Ordering {
        let part = |one: &&str, other: &&str| match (one.parse::<u64>(), other.parse::<u64>()) {
            (Ok(one), Ok(other)) => one.cmp(&other),
            (Ok(_), Err(_)) => Ordering::Less,
            (Err(_), Ok(_)) => Ordering::Greater,
            (Err(_), Err(_)) => one.cmp(other),
        };
        self.core.cmp(&other.core).then_with(|| match (self.pre.is_empty(), other.pre.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => {
                let pairs = self.pre.iter().zip(&other.pre);
                let differ = pairs.map(|(one, other)| part(one, other)).find(|order| order.is_ne());
                differ.unwrap_or_else(|| self.pre.len().cmp(&other.pre.len()))
            }
        })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.why {
            Wrong::NoObject => "is no object",
            Wrong::NoIdentifier => "has no identifier",
            Wrong::NoType => "has no type",
            Wrong::NoPlace => "must have either url or data",
        };
        write!(f, "entries[{}] {why}", self.index)
    }
}

impl fmt::Display for NoCatalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoCatalog::Other => f.write_str("it is no catalog"),
            NoCatalog::Version(version) => {
                write!(f, "it is a catalog of version {version:?}, and 0.x and 1.x are known")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::document;

    /// What is in a catalog: `identifier kind place`, then the faults.
    #[track_caller]
    fn check(entries: &str, expected: &[&str]) {
        let text = format!(r#"{{"specVersion":"1.0","entries":[{entries}]}}"#);
        let catalog = read(&document::read(text.as_bytes()).unwrap()).unwrap();
        let shown = catalog.entries.iter().map(|entry| {
            let place = match &entry.place {
                Place::Url(url) => url.clone(),
                Place::Data(data) => Value::Object(data.clone()).to_string(),
            };
            format!("{} {:?} {place}", entry.identifier, entry.kind)
        });
        let faults = catalog.faults.iter().map(ToString::to_string);
        assert_eq!(shown.chain(faults).collect::<Vec<_>>(), expected, "{entries}");
    }

    const CARD: &str = r#""type":"application/mcp-server-card+json""#;

    #[test]
    fn entries_are_cards_and_catalogs_by_either_name_of_the_type() {
        check(&format!(r#"{{"identifier":"a",{CARD},"url":"/c"}}"#), &["a Card /c"]);
        check(
            r#"{"identifier":"a","mediaType":"application/mcp-server+json; v=1","data":{"x":1}}"#,
            &[r#"a Card {"x":1}"#],
        );
        check(
            r#"{"identifier":"a","type":"application/ai-catalog+json","url":"https://h/c"}"#,
            &["a Catalog https://h/c"],
        );
        check(r#"{"identifier":"a","type":"application/a2a-agent-card+json","url":"x"}"#, &[]);
    }

    #[test]
    fn what_cannot_be_used_is_told_and_the_rest_is() {
        let good = format!(r#"{{"identifier":"a",{CARD},"url":"/c"}}"#);
        check(&format!("1,{good}"), &["a Card /c", "entries[0] is no object"]);
        check(&format!("{{{CARD},\"url\":\"x\"}}"), &["entries[0] has no identifier"]);
        check(r#"{"identifier":"a","url":"x"}"#, &["entries[0] has no type"]);
        let no_place = "entries[0] must have either url or data";
        check(&format!(r#"{{"identifier":"a",{CARD}}}"#), &[no_place]);
        check(&format!(r#"{{"identifier":"a",{CARD},"url":"x","data":{{}}}}"#), &[no_place]);
        check(&format!(r#"{{"identifier":"a",{CARD},"data":"x"}}"#), &[no_place]);
    }

    #[test]
    fn the_latest_of_one_identifier_counts() {
        let latest = |one: &str, other: &str| {
            let entry = |url: &str, more: &str| {
                format!(r#"{{"identifier":"a",{CARD},"url":"{url}"{more}}}"#)
            };
            let (one, other) = (entry("1", one), entry("2", other));
            check(&format!("{one},{other}"), &["a Card 2"]);
            check(&format!("{other},{one}"), &["a Card 2"]);
        };
        let version = |text: &str| format!(r#","version":"{text}""#);
        for (one, other) in [
            ("1.9.0", "1.10.0"),
            ("1.0.0-rc.1", "1.0.0"),
            ("1.0.0-rc.2", "1.0.0-rc.10"),
            ("1.0.0-1", "1.0.0-a"),
            ("1.0.0-a", "1.0.0-a.b"),
            ("nonsense", "0.0.1"),
            ("1", "v1.1"),
        ] {
            latest(&version(one), &version(other));
        }
        latest("", &version("1.0.0"));
        latest(r#","updatedAt":"2026-01-01T00:00:00Z""#, r#","updatedAt":"2026-02-01T00:00:00Z""#);
        latest("", r#","updatedAt":"2026-02-01T00:00:00Z""#);
    }

    #[test]
    fn a_catalog_is_known_by_its_members_and_its_version() {
        let check = |text: &str, expected: Result<(), NoCatalog>| {
            let found = read(&document::read(text.as_bytes()).unwrap());
            assert_eq!(found.map(drop), expected, "{text}");
        };
        for version in ["\"0.9\"", "\"1.0\"", "\"1\"", "\"draft\"", "1.0", "\"1.2.3\""] {
            check(&format!(r#"{{"specVersion":{version},"entries":[]}}"#), Ok(()));
        }
        let unknown = |version: &str| Err(NoCatalog::Version(version.to_owned()));
        check(r#"{"specVersion":"2.0","entries":[]}"#, unknown("2.0"));
        check(r#"{"specVersion":"10","entries":[]}"#, unknown("10"));
        check(r#"{"specVersion":"","entries":[]}"#, unknown(""));
        check(r#"{"specVersion":"1.0"}"#, Err(NoCatalog::Other));
        check(r#"{"entries":[]}"#, Err(NoCatalog::Other));
        check(r#"{"specVersion":"1.0","entries":{}}"#, Err(NoCatalog::Other));
    }
}
