//! Facets: what can be told apart of a server, each of which may change by itself.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::publisher::Publisher;
use crate::config::Digest;
use crate::protocol::jsonrpc::scan;
use crate::protocol::{exact, json};

/// The members of a tool that make it what it is. Icons and `_meta` do not.
const TOOL_MEMBERS: [&str; 7] =
    ["name", "title", "description", "inputSchema", "outputSchema", "annotations", "execution"];

/// How many capabilities are told apart, and how long one may be, in bytes. Of more, or of longer
/// ones, there is only a hash.
const CAPABILITIES: usize = 256;
const LONGEST_CAPABILITY: usize = 200;

/// What is known of a server. What is `None` was not looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facets {
    /// Where it is, without a query: the URL of its definition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// The hash of the command that starts it, as its definition has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Digest>,
    /// The package that the command runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<Package>,
    /// Who has signed its card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub publisher: Option<Publisher>,
    /// Who issues the tokens that it gets, and what they allow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<Auth>,
    /// Who it says it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<Identity>,
    /// What it says it can do, see [`capabilities`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<BTreeSet<String>>,
    /// The hash of its instructions; that of an empty text when it gives none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Digest>,
    /// Its tools: the hash of the [`tool_text`] of each.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "super::unique::optional"
    )]
    pub tools: Option<BTreeMap<String, Digest>>,
}

/// A package of a registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Package {
    /// `npm`, `pypi`, `oci`, …
    pub registry_type: String,
    /// Its name there.
    pub identifier: String,
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The hash of its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// Where tokens come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Auth {
    /// Who issues them.
    pub issuer: String,
    /// What they allow.
    pub scopes: BTreeSet<String>,
}

/// What a server says it is (`serverInfo`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

impl Identity {
    /// Reads `serverInfo`, JSON text.
    pub fn read(info: &str) -> Identity {
        let text = |name| {
            let text = scan::member(info, name).and_then(scan::unescape);
            text.unwrap_or_default().into_owned()
        };
        Identity { name: text("name"), version: text("version") }
    }
}

impl Facets {
    /// These facets, and where one was not looked at, that of `others`.
    pub fn or(self, others: &Facets) -> Facets {
        let Facets { endpoint, command, package, publisher, auth, .. } = self;
        Facets {
            endpoint: endpoint.or_else(|| others.endpoint.clone()),
            command: command.or(others.command),
            package: package.or_else(|| others.package.clone()),
            publisher: publisher.or_else(|| others.publisher.clone()),
            auth: auth.or_else(|| others.auth.clone()),
            identity: self.identity.or_else(|| others.identity.clone()),
            capabilities: self.capabilities.or_else(|| others.capabilities.clone()),
            instructions: self.instructions.or(others.instructions),
            tools: self.tools.or_else(|| others.tools.clone()),
        }
    }

    /// Whether a facet that was looked at is not as in `known`.
    pub(super) fn add_to(&self, known: &Facets) -> bool {
        fn adds<T: PartialEq>(new: &Option<T>, known: &Option<T>) -> bool {
            new.is_some() && new != known
        }
        adds(&self.endpoint, &known.endpoint)
            || adds(&self.command, &known.command)
            || adds(&self.package, &known.package)
            || adds(&self.publisher, &known.publisher)
            || adds(&self.auth, &known.auth)
            || adds(&self.identity, &known.identity)
            || adds(&self.capabilities, &known.capabilities)
            || adds(&self.instructions, &known.instructions)
            || adds(&self.tools, &known.tools)
    }

    /// One hash of all of it: what people accept.
    pub fn digest(&self) -> Digest {
        let text = serde_json::to_string(self).expect("texts and hashes serialize");
        Digest::of(exact::canonical(&text).as_bytes())
    }
}

/// The text of a tool whose hash is pinned: the members that make it what it is, canonical (RFC
/// 8785). `definition` is the JSON text of the tool.
pub fn tool_text(definition: &str) -> String {
    let members: Vec<_> = scan::members(definition).collect();
    let counts = members.iter().filter(|(name, _)| TOOL_MEMBERS.contains(&name.as_ref()));
    exact::object(counts.map(|(name, value)| (name.as_ref(), *value)))
}

/// The text of all tools of a list that have the same name: of one alone its own, else that of the
/// first, with the others in members that no tool has.
pub fn text_of_all(texts: Vec<String>) -> String {
    let [first, others @ ..] = &texts[..] else { return String::new() };
    if others.is_empty() {
        return texts.into_iter().next().unwrap_or_default();
    }
    let places: Vec<_> = (2..).map(|place: usize| format!("#{place}")).take(others.len()).collect();
    let own: Vec<_> = scan::members(first).collect();
    let own = own.iter().map(|(name, value)| (name.as_ref(), *value));
    let others = places.iter().zip(others).map(|(place, text)| (place.as_str(), text.as_str()));
    exact::object(own.chain(others))
}

/// The hash of each member of the [`tool_text`] of a tool: they tell what has changed of it where the
/// text is not at hand. Members of one name have one hash together.
pub fn tool_parts(text: &str) -> BTreeMap<String, Digest> {
    let parts = members(text).into_iter();
    parts.map(|(name, values)| (name.into_owned(), part_hash(&values))).collect()
}

/// The members of a JSON object, with all values that each has.
pub(super) fn members(text: &str) -> BTreeMap<Cow<'_, str>, Vec<&str>> {
    let mut members: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (name, value) in scan::members(text) {
        members.entry(name).or_default().push(value);
    }
    members
}

/// The hash of all values that a member of the text of a tool has.
pub(super) fn part_hash(values: &[&str]) -> Digest {
    Digest::of(values.join(",").as_bytes())
}

/// What a server says it can do, flat: `tools`, `tools.listChanged`, `extensions."a.b/c"`. What is
/// false it cannot do. `declared` is the JSON text of its `capabilities`.
pub fn capabilities(declared: &str) -> BTreeSet<String> {
    let mut flat = BTreeSet::new();
    flatten(declared, "", 8, &mut flat);
    let is_short = |capability: &String| capability.len() <= LONGEST_CAPABILITY;
    if flat.len() <= CAPABILITIES && flat.iter().all(is_short) {
        return flat;
    }
    BTreeSet::from([Digest::of(exact::canonical(declared).as_bytes()).to_string()])
}

fn flatten(value: &str, path: &str, depth: u8, flat: &mut BTreeSet<String>) {
    let is_object = value.starts_with('{');
    if is_object && 0 < depth {
        for (name, value) in scan::members(value) {
            let dot = if path.is_empty() { "" } else { "." };
            // What could be read as two names, or as a name and a value, is quoted.
            let name = match name.contains(['.', '=', '"', '\\']) {
                true => Cow::Owned(json::string(&name)),
                false => name,
            };
            flatten(value, &format!("{path}{dot}{name}"), depth - 1, flat);
        }
    }
    match value {
        "false" | "null" => {}
        _ if path.is_empty() => {}
        _ if value == "true" || is_object && 0 < depth => drop(flat.insert(path.to_owned())),
        _ => drop(flat.insert(format!("{path}={}", exact::canonical(value)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_what_it_does_and_not_how_it_is_written_or_shown() {
        let tool = r#"{"name":"a","description":"d","inputSchema":{"type":"object","x":1.0}}"#;
        let same = |other: &str| tool_text(other) == tool_text(tool);
        for (other, expected) in [
            (r#"{"inputSchema":{"x":1,"type":"object"},"description":"\u0064","name":"a"}"#, true),
            (
                r#"{"name":"a","description":"d","inputSchema":{"type":"object","x":1},"icons":[],"_meta":{}}"#,
                true,
            ),
            (r#"{"name":"a","description":"D","inputSchema":{"type":"object","x":1}}"#, false),
            (
                r#"{"name":"a","description":"d\ud800","inputSchema":{"type":"object","x":1}}"#,
                false,
            ),
            (r#"{"name":"a","description":"d","inputSchema":{"type":"object","x":2}}"#, false),
            (
                r#"{"name":"a","description":"d","inputSchema":{"type":"object","x":1},"title":"t"}"#,
                false,
            ),
            (
                r#"{"name":"a","description":"d","inputSchema":{"type":"object","x":1},"outputSchema":{}}"#,
                false,
            ),
            (
                r#"{"name":"a","description":"d","inputSchema":{"type":"object","x":1},"annotations":{}}"#,
                false,
            ),
            (
                r#"{"name":"a","description":"d","inputSchema":{"type":"object","x":1},"execution":{}}"#,
                false,
            ),
            (
                r#"{"name":"a","description":"d","description":"e","inputSchema":{"type":"object","x":1}}"#,
                false,
            ),
        ] {
            assert_eq!(same(other), expected, "{other}");
        }
        // Half a surrogate pair is not any other.
        let half = |half: &str| tool_text(&format!(r#"{{"description":"{half}"}}"#));
        for (one, other) in
            [(r"\ud800", r"\ud801"), (r"\udfff", r"\ufffd"), (r"\ud800", r"\\ud800")]
        {
            assert_ne!(half(one), half(other));
        }
        assert_eq!(half(r"\uDAAA"), half(r"\udaaa"));
    }

    #[test]
    fn capabilities_are_flat() {
        let check = |declared: &str, expected: &[&str]| {
            let flat: Vec<_> = capabilities(declared).into_iter().collect();
            assert_eq!(flat, expected, "{declared}");
        };
        check("{}", &[]);
        check("null", &[]);
        check(
            r#"{"tools":{"listChanged":true},"logging":{},"resources":{"subscribe":false}}"#,
            &["logging", "resources", "tools", "tools.listChanged"],
        );
        check(
            r#"{"extensions":{"x/y":{"v":[1, 2]}}}"#,
            &["extensions", "extensions.x/y", "extensions.x/y.v=[1,2]"],
        );
        check(
            r#"{"extensions":{"a.b/c":{},"d":{"e=1":true}}}"#,
            &["extensions", "extensions.\"a.b/c\"", "extensions.d", "extensions.d.\"e=1\""],
        );
        for (one, other) in [
            (r#"{"a":{"b":true}}"#, r#"{"a":{},"a.b":true}"#),
            (r#"{"a=1":true}"#, r#"{"a":1}"#),
            (r#"{"a\"":true}"#, r#"{"a\\\"":true}"#),
        ] {
            assert_ne!(capabilities(one), capabilities(other), "{one} {other}");
        }
        let many: Vec<_> = (0..300).map(|number| format!("\"c{number}\":true")).collect();
        let hashed = capabilities(&format!("{{{}}}", many.join(",")));
        assert_eq!(hashed.len(), 1);
        assert!(hashed.first().unwrap().starts_with("sha256:"));
    }

    #[test]
    fn one_hash_stands_for_all_facets() {
        let facets = |version: &str| Facets {
            identity: Some(Identity { name: "n".into(), version: version.into() }),
            tools: Some([("a".to_owned(), Digest::of(b"a"))].into()),
            ..Facets::default()
        };
        assert_eq!(facets("1").digest(), facets("1").digest());
        assert_ne!(facets("1").digest(), facets("2").digest());
        assert_ne!(facets("1").digest(), Facets { tools: None, ..facets("1") }.digest());
        let text = serde_json::to_string(&facets("1")).unwrap();
        assert_eq!(serde_json::from_str::<Facets>(&text).unwrap(), facets("1"));
    }

    #[test]
    fn a_tool_is_known_once() {
        let text = |names: [&str; 2]| {
            let tools = names.map(|name| format!("\"{name}\":\"{}\"", Digest::of(b"x")));
            format!("{{\"tools\":{{{}}}}}", tools.join(","))
        };
        assert!(serde_json::from_str::<Facets>(&text(["a", "b"])).is_ok());
        let refused = serde_json::from_str::<Facets>(&text(["a", "\\u0061"])).unwrap_err();
        assert!(refused.to_string().starts_with("\"a\" is there twice"), "{refused}");
    }

    #[test]
    fn what_was_looked_at_counts_before_what_was_known() {
        let new = Facets { endpoint: Some("a".into()), ..Facets::default() };
        let old = Facets {
            endpoint: Some("b".into()),
            command: Some(Digest::of(b"")),
            ..Facets::default()
        };
        let both = new.or(&old);
        assert_eq!((both.endpoint.as_deref(), both.command), (Some("a"), Some(Digest::of(b""))));
        assert!(!Facets::default().add_to(&both) && both.add_to(&Facets::default()));
        assert!(!both.add_to(&both) && old.add_to(&both));
    }

    #[test]
    fn a_server_says_who_it_is() {
        let check = |info: &str, name: &str, version: &str| {
            let expected = Identity { name: name.into(), version: version.into() };
            assert_eq!(Identity::read(info), expected);
        };
        check(r#"{"name":"n","version":"1","title":"T"}"#, "n", "1");
        check(r#"{"name":7}"#, "", "");
    }
}
