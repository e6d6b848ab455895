//! Differences, in words for people and in JSON for programs.

use super::change::{Action, Change};
use super::facets::{Facets, Package};
use super::members::{Difference, differences, differences_from};
use super::publisher::Publisher;
use super::texts::Texts;
use crate::config::Digest;
use crate::protocol::json as text_of;
use crate::protocol::params::Members;
use crate::protocol::visible::visible;

/// How much of a value is shown, in characters, and how much of what two values have in common goes
/// before it.
const LONGEST: usize = 600;
const CONTEXT: usize = 40;

/// What was and what is: facets, and the texts that their hashes stand for.
#[derive(Debug, Clone, Copy)]
pub struct Sides<'s> {
    /// What was accepted.
    pub was: &'s Facets,
    /// What is now.
    pub is: &'s Facets,
    /// The texts of the one.
    pub was_texts: &'s Texts,
    /// The texts of the other.
    pub is_texts: &'s Texts,
}

/// A difference for people: a line, and lines below it that are indented. Nothing in it is hidden,
/// and no control character is in it.
pub fn lines(change: &Change, sides: Sides<'_>) -> Vec<String> {
    let moved = |what: &str, was: &str, is: &str| {
        vec![format!("{what}: {} → {}", visible(was), visible(is))]
    };
    let listed =
        |what: &str, names: &[String]| vec![format!("{what}: {}", visible(&names.join(", ")))];
    match change {
        Change::Endpoint { was, is } => moved("it is at another address", was, is),
        Change::Path { was, is } => moved("it is at another path", was, is),
        Change::Command => {
            let hash = |facets: &Facets| match (facets.command, &facets.endpoint) {
                (Some(command), _) => command.to_string(),
                (None, Some(endpoint)) => endpoint.clone(),
                (None, None) => "nothing".to_owned(),
            };
            moved("another command starts it", &hash(sides.was), &hash(sides.is))
        }
        Change::Package { was, is } => moved("it is another package", &package(was), &package(is)),
        Change::Publisher { is, was } if is.is_none() => {
            vec![format!("it is not signed any more; it was by {}", signer(was))]
        }
        Change::Publisher { was, is } => {
            moved("somebody else has signed it", &signer(was), &signer(is))
        }
        Change::Release { was, is } => {
            moved("its publisher has signed another release", &was.identity, &is.identity)
        }
        Change::Signed { by } => vec![format!("it is signed now, by {}", signer(by))],
        Change::Issuer { was, is } => moved("somebody else issues its tokens", was, is),
        Change::MoreScopes(scopes) => listed("its token allows more", scopes),
        Change::FewerScopes(scopes) => listed("its token does not allow any more", scopes),
        Change::Name { was, is } => moved("it says that it is another server", was, is),
        Change::Version { was, is } => moved("it is of another version", was, is),
        Change::MoreCapabilities(names) => listed("it can do more", names),
        Change::FewerCapabilities(names) => listed("it cannot do any more", names),
        Change::Instructions => {
            let mut lines = vec!["its instructions have changed".to_owned()];
            let (was, was_hash, is) = instructions(sides);
            let hash = was_hash.map(|hash| hash.to_string());
            push_both(&mut lines, was.or(hash.as_deref()), is);
            lines
        }
        Change::Tool { name } => tool(name, sides),
        Change::NewTool { name } => vec![format!("there is a new tool, {}", quoted(name))],
        Change::NoTool { name } => vec![format!("the tool {} is gone", quoted(name))],
        Change::Unknown(facet) => vec![format!("its {facet} {} never accepted", verb(facet))],
    }
}

fn verb(facet: &str) -> &'static str {
    if facet.ends_with('s') { "were" } else { "was" }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", visible(name))
}

fn package(package: &Package) -> String {
    let Package { registry_type, identifier, version, sha256 } = package;
    let version = version.as_ref().map(|version| format!("@{version}"));
    let hash = sha256.as_ref().map(|hash| format!(" ({hash})"));
    format!(
        "{registry_type}:{identifier}{}{}",
        version.unwrap_or_default(),
        hash.unwrap_or_default()
    )
}

fn signer(signer: &Publisher) -> String {
    let Publisher { kind, identity, issuer, repository_id, owner_id, key_id, .. } = signer;
    let mut text = match kind.as_str() {
        "key" => format!("the key {identity}"),
        _ => identity.clone(),
    };
    let details = [
        ("vouched for by ", issuer),
        ("repository ", repository_id),
        ("owner ", owner_id),
        ("key ", key_id),
    ];
    let details: Vec<_> = details
        .iter()
        .filter_map(|(what, detail)| Some(format!("{what}{}", detail.as_ref()?)))
        .collect();
    if !details.is_empty() {
        text += &format!(" ({})", details.join(", "));
    }
    visible(&text)
}

/// The instructions: as they were, or their hash where only that is known, and as they are.
fn instructions(sides: Sides<'_>) -> (Option<&str>, Option<Digest>, Option<&str>) {
    let (was, is) = (&sides.was_texts.instructions, &sides.is_texts.instructions);
    let was_hash = sides.was.instructions.filter(|_| was.is_none());
    (was.as_deref(), was_hash, is.as_deref())
}

/// Where a tool differs from what it was; `None` when that is not known.
fn differences_of<'s>(name: &str, sides: Sides<'s>) -> Option<Vec<Difference<'s>>> {
    let is = sides.is_texts.tools.get(name)?;
    match sides.was_texts.tools.get(name) {
        Some(was) => Some(differences(was, is)),
        None => Some(differences_from(sides.was_texts.parts.get(name)?, is)),
    }
}

/// What has changed of a tool.
fn tool(name: &str, sides: Sides<'_>) -> Vec<String> {
    let Some(found) = differences_of(name, sides) else {
        let hash = |facets: &Facets| {
            let hash = facets.tools.as_ref().and_then(|tools| tools.get(name));
            hash.map_or("nothing".to_owned(), ToString::to_string)
        };
        let (was, is) = (hash(sides.was), hash(sides.is));
        return vec![format!("the tool {} has changed: {was} → {is}", quoted(name))];
    };
    let mut lines = vec![format!("the tool {} has changed:", quoted(name))];
    for difference in found {
        lines.push(format!("  {}", visible(&place(&difference))));
        let hash = difference.was_hash.map(|hash| hash.to_string());
        push_both(&mut lines, difference.was.or(hash.as_deref()), difference.is);
    }
    lines
}

/// A place in the text of a tool, or in that of others with its name (see
/// [`text_of_all`](super::text_of_all)).
fn place(difference: &Difference<'_>) -> String {
    let place = &difference.place;
    let again = if 0 < difference.before { ", which is there more than once" } else { "" };
    match place.strip_prefix("/#") {
        Some(other) => match other.split_once('/') {
            Some((number, place)) => format!("tool {number} of that name: /{place}{again}"),
            None => format!("tool {other} of that name"),
        },
        None => format!("{place}{again}"),
    }
}

/// What was, after a minus, and what is, after a plus. A long beginning that both share is cut.
fn push_both(lines: &mut Vec<String>, was: Option<&str>, is: Option<&str>) {
    let shared = match (was, is) {
        (Some(was), Some(is)) => {
            let same = was.chars().zip(is.chars()).take_while(|(a, b)| a == b).count();
            same.saturating_sub(CONTEXT)
        }
        _ => 0,
    };
    let cut = |text: &str| {
        let length = text.chars().count();
        let middle: String = text.chars().skip(shared).take(LONGEST).collect();
        let before = if 0 < shared { "…" } else { "" };
        let rest = length - shared - middle.chars().count();
        let after = if 0 < rest { format!("… ({rest} characters more)") } else { String::new() };
        format!("{before}{}{after}", visible(&middle))
    };
    lines.extend(was.map(|text| format!("    - {}", cut(text))));
    lines.extend(is.map(|text| format!("    + {}", cut(text))));
}

/// A difference for programs: a JSON object.
pub fn json(change: &Change, action: Action, sides: Sides<'_>) -> String {
    let mut members = Members::new();
    let (facet, what) = kind(change);
    let mut push = |name: &str, value: &str| members.push(name, value);
    push("facet", &text_of::string(facet));
    push("change", &text_of::string(what));
    push("action", &text_of::string(word(action)));
    let mut both = |was: &str, is: &str| {
        push("was", &text_of::string(was));
        push("is", &text_of::string(is));
    };
    match change {
        Change::Endpoint { was, is }
        | Change::Path { was, is }
        | Change::Issuer { was, is }
        | Change::Name { was, is }
        | Change::Version { was, is } => both(was, is),
        Change::Package { was, is } => both(&package(was), &package(is)),
        Change::Publisher { was, is } if was.identity == is.identity => {
            both(&signer(was), &signer(is));
        }
        Change::Publisher { was, is } | Change::Release { was, is } => {
            both(&was.identity, &is.identity);
        }
        Change::Signed { by } => push("is", &text_of::string(&by.identity)),
        Change::Command => {
            if let (Some(was), Some(is)) = (sides.was.command, sides.is.command) {
                both(&was.to_string(), &is.to_string());
            }
        }
        Change::MoreScopes(names)
        | Change::FewerScopes(names)
        | Change::MoreCapabilities(names)
        | Change::FewerCapabilities(names) => push("names", &text_of::strings(names)),
        Change::Instructions => {
            let (was, was_hash, is) = instructions(sides);
            was.iter().for_each(|was| push("was", &text_of::string(was)));
            was_hash.iter().for_each(|hash| push("wasDigest", &text_of::string(&hash.to_string())));
            is.iter().for_each(|is| push("is", &text_of::string(is)));
        }
        Change::Tool { name } => {
            push("name", &text_of::string(name));
            push("members", &changed_members(name, sides));
        }
        Change::NewTool { name } | Change::NoTool { name } => push("name", &text_of::string(name)),
        Change::Unknown(_) => {}
    }
    members.finish()
}

/// Which facet a change is about, and in which way.
fn kind(change: &Change) -> (&'static str, &'static str) {
    match change {
        Change::Endpoint { .. } => ("endpoint", "changed"),
        Change::Path { .. } => ("path", "changed"),
        Change::Command => ("command", "changed"),
        Change::Package { .. } => ("package", "changed"),
        Change::Publisher { is, .. } if is.is_none() => ("publisher", "removed"),
        Change::Publisher { .. } => ("publisher", "changed"),
        Change::Release { .. } => ("publisher", "released"),
        Change::Signed { .. } => ("publisher", "added"),
        Change::Issuer { .. } => ("issuer", "changed"),
        Change::MoreScopes(_) => ("scopes", "added"),
        Change::FewerScopes(_) => ("scopes", "removed"),
        Change::Name { .. } => ("name", "changed"),
        Change::Version { .. } => ("version", "changed"),
        Change::MoreCapabilities(_) => ("capabilities", "added"),
        Change::FewerCapabilities(_) => ("capabilities", "removed"),
        Change::Instructions => ("instructions", "changed"),
        Change::Tool { .. } => ("tool", "changed"),
        Change::NewTool { .. } => ("tool", "added"),
        Change::NoTool { .. } => ("tool", "removed"),
        Change::Unknown(facet) => (facet, "unknown"),
    }
}

fn word(action: Action) -> &'static str {
    match action {
        Action::Accept => "accept",
        Action::Tell => "tell",
        Action::Warn => "warn",
        Action::Block => "block",
    }
}

fn changed_members(name: &str, sides: Sides<'_>) -> String {
    let found = differences_of(name, sides).unwrap_or_default();
    let objects: Vec<_> = found
        .iter()
        .map(|difference| {
            let mut members = Members::new();
            members.push("path", &text_of::string(&difference.place));
            if 0 < difference.before {
                members.push("occurrence", &(difference.before + 1).to_string());
            }
            let hash = difference.was_hash.map(|hash| text_of::string(&hash.to_string()));
            let sides =
                [("was", difference.was), ("wasDigest", hash.as_deref()), ("is", difference.is)];
            for (name, value) in sides {
                if let Some(value) = value {
                    members.push(name, value);
                }
            }
            members.finish()
        })
        .collect();
    format!("[{}]", objects.join(","))
}

#[cfg(test)]
mod tests {
    use super::super::facets::tool_text;
    use super::*;
    use crate::protocol::json::validate;

    fn publisher(kind: &str, identity: &str) -> Publisher {
        let issuer = Some("https://i".to_owned()).filter(|_| kind != "none");
        Publisher {
            kind: kind.to_owned(),
            identity: identity.to_owned(),
            issuer,
            ..Publisher::default()
        }
    }

    fn package(version: &str) -> Package {
        Package {
            registry_type: "npm".to_owned(),
            identifier: "@a/b".to_owned(),
            version: Some(version.to_owned()),
            sha256: None,
        }
    }

    /// A server with one tool, and with instructions.
    fn server(tool: &str, instructions: &str) -> (Facets, Texts) {
        let text = tool_text(tool);
        let facets = Facets {
            command: Some(Digest::of(tool.as_bytes())),
            tools: Some([("t".to_owned(), Digest::of(text.as_bytes()))].into()),
            ..Facets::default()
        };
        let tools = [("t".to_owned(), text)].into();
        (facets, Texts { instructions: Some(instructions.to_owned()), tools, ..Texts::default() })
    }

    const WAS: &str = r#"{"name":"t","description":"reads","inputSchema":{"a":1}}"#;
    const IS: &str =
        r#"{"name":"t","description":"reads\u200b all","inputSchema":{"a":1,"b/":{}}}"#;

    /// What people read of a change; what programs read is JSON at the least.
    #[track_caller]
    fn check(change: Change, expected: &[&str]) {
        let ((was, was_texts), (is, is_texts)) =
            (server(WAS, "be good"), server(IS, "be evil\u{7}"));
        let sides = Sides { was: &was, is: &is, was_texts: &was_texts, is_texts: &is_texts };
        assert_eq!(lines(&change, sides), expected);
        let json = json(&change, Action::Block, sides);
        assert_eq!(validate(&json), Ok(()), "{json}");
        assert!(json.contains(r#""action":"block""#), "{json}");
        let nothing = Texts::default();
        let untold = Sides { was_texts: &nothing, is_texts: &nothing, ..sides };
        assert!(!lines(&change, untold).is_empty());
    }

    #[test]
    fn changes_of_who_a_server_is_have_their_words() {
        let moved = || ("https://a".to_owned(), "https://b\u{202e}".to_owned());
        let (was, is) = moved();
        check(
            Change::Endpoint { was, is },
            &[r"it is at another address: https://a → https://b\u{202e}"],
        );
        let (was, is) = moved();
        check(Change::Path { was, is }, &[r"it is at another path: https://a → https://b\u{202e}"]);
        let (was, is) = moved();
        check(
            Change::Issuer { was, is },
            &[r"somebody else issues its tokens: https://a → https://b\u{202e}"],
        );
        let (was, is) = moved();
        check(
            Change::Name { was, is },
            &[r"it says that it is another server: https://a → https://b\u{202e}"],
        );
        let (was, is) = moved();
        check(
            Change::Version { was, is },
            &[r"it is of another version: https://a → https://b\u{202e}"],
        );
        let (one, other) = (Digest::of(WAS.as_bytes()), Digest::of(IS.as_bytes()));
        check(Change::Command, &[&format!("another command starts it: {one} → {other}")]);
        check(
            Change::Package { was: package("1"), is: package("2") },
            &["it is another package: npm:@a/b@1 → npm:@a/b@2"],
        );
        check(
            Change::Publisher {
                was: publisher("sigstore", "me"),
                is: publisher("sigstore", "you"),
            },
            &[
                "somebody else has signed it: me (vouched for by https://i) → you (vouched for by https://i)",
            ],
        );
        check(
            Change::Publisher { was: publisher("sigstore", "me"), is: Publisher::none() },
            &["it is not signed any more; it was by me (vouched for by https://i)"],
        );
        check(
            Change::Release {
                was: publisher("sigstore", "me@refs/tags/v1"),
                is: publisher("sigstore", "me@refs/tags/v2"),
            },
            &["its publisher has signed another release: me@refs/tags/v1 → me@refs/tags/v2"],
        );
        check(
            Change::Signed { by: publisher("did-web", "did:web:a") },
            &["it is signed now, by did:web:a (vouched for by https://i)"],
        );
    }

    #[test]
    fn changes_of_what_a_server_can_do_have_their_words() {
        let names = || vec!["x".to_owned(), "y\u{1b}".to_owned()];
        check(Change::MoreScopes(names()), &[r"its token allows more: x, y\u{1b}"]);
        check(Change::FewerScopes(names()), &[r"its token does not allow any more: x, y\u{1b}"]);
        check(Change::MoreCapabilities(names()), &[r"it can do more: x, y\u{1b}"]);
        check(Change::FewerCapabilities(names()), &[r"it cannot do any more: x, y\u{1b}"]);
        check(
            Change::Instructions,
            &["its instructions have changed", "    - be good", r"    + be evil\u{7}"],
        );
        check(
            Change::Tool { name: "t".to_owned() },
            &[
                "the tool \"t\" has changed:",
                "  /description",
                "    - \"reads\"",
                "    + \"reads\\u{200b} all\"",
                "  /inputSchema/b~1",
                "    + {}",
            ],
        );
        check(Change::NewTool { name: "n\n".to_owned() }, &[r#"there is a new tool, "n\n""#]);
        check(Change::NoTool { name: "t".to_owned() }, &["the tool \"t\" is gone"]);
        check(Change::Unknown("tools"), &["its tools were never accepted"]);
        check(Change::Unknown("identity"), &["its identity was never accepted"]);
    }

    #[test]
    fn long_texts_are_cut_around_what_differs() {
        let both = |was: &str, is: &str| {
            let mut lines = Vec::new();
            push_both(&mut lines, Some(was), Some(is));
            lines
        };
        let same = "x".repeat(1000);
        let lines = both(&format!("{same}a"), &format!("{same}b{}", "y".repeat(1000)));
        assert_eq!(lines[0], format!("    - …{}a", "x".repeat(CONTEXT)));
        let shown = format!("    + …{}b{}", "x".repeat(CONTEXT), "y".repeat(LONGEST - CONTEXT - 1));
        assert_eq!(lines[1], format!("{shown}… (441 characters more)"));
    }
}
