//! Reading messages that other programs may refuse, and telling what is odd about them.
//!
//! A server is not to be called mute because one of its texts has half a character in it.

use std::borrow::Cow;
use std::fmt;

use serde_json::{Map, Value};

use super::finding::{Finding, excerpt};
use crate::protocol::jsonrpc::scan;
use crate::protocol::tree::Tree;

/// Where it is written what messages are made of.
pub(super) const JSON: &str = "MCP 2025-11-25, Transports (UTF-8); 2026-07-28, Transports (UTF-8); \
                               RFC 8259, sections 8.2 (surrogates), 6 (numbers) and 9 (depth)";

/// What to do about messages that are hard to read.
pub(super) const JSON_FIX: &str = "Cut texts between characters, not within them, and let a JSON \
                                   library write messages, as UTF-8.";

/// What is odd about JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It is not UTF-8.
    Encoding,
    /// A surrogate without its partner.
    HalfCharacter,
    /// A number that no double can hold.
    Number,
    /// Arrays and objects within each other, more than 128.
    Depth,
}

/// An oddity, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Odd {
    kind: Kind,
    /// The value with it, or its beginning.
    near: String,
}

impl Odd {
    /// The finding for it. That messages are UTF-8 is a rule of MCP; the rest is JSON that programs
    /// disagree about.
    pub(super) fn finding(&self) -> Finding {
        match self.kind {
            Kind::Encoding => Finding::fail(self.to_string()),
            Kind::HalfCharacter | Kind::Number | Kind::Depth => Finding::warn(self.to_string()),
        }
    }
}

impl fmt::Display for Odd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            Kind::Encoding => "a message that is not UTF-8",
            Kind::HalfCharacter => "half a character (a surrogate without its partner)",
            Kind::Number => "a number beyond what programs can hold",
            Kind::Depth => "more than 128 arrays and objects within each other",
        };
        write!(f, "{what}: {}", self.near)
    }
}

/// Reads JSON, and tells what is odd about it; `None` when it is none.
pub(super) fn read(bytes: &[u8]) -> Option<(Value, Option<Odd>)> {
    if let Ok(value) = serde_json::from_slice(bytes) {
        return Some((value, None));
    }
    let text = String::from_utf8_lossy(bytes);
    let tree = Tree::parse(&text).ok()?;
    let mut odd = match &text {
        Cow::Owned(text) => Some(Odd { kind: Kind::Encoding, near: near_fault(text) }),
        Cow::Borrowed(_) => None,
    };
    let value = value(&tree, &mut odd);
    // It was refused as a whole, and no part of it is odd.
    let odd = odd.unwrap_or_else(|| Odd { kind: Kind::Depth, near: excerpt(&text) });
    Some((value, Some(odd)))
}

/// The text around the first character that could not be read.
fn near_fault(text: &str) -> String {
    let at = text.find(char::REPLACEMENT_CHARACTER).unwrap_or_default();
    let start = text[..at].char_indices().rev().nth(30).map_or(0, |(start, _)| start);
    excerpt(&text[start..])
}

/// The value of a tree. Of what is odd, the first is kept.
fn value(tree: &Tree<'_>, odd: &mut Option<Odd>) -> Value {
    match tree {
        Tree::Array(elements) => elements.iter().map(|element| value(element, odd)).collect(),
        Tree::Object(members) => {
            let mut object = Map::new();
            for (name, member) in members {
                if name.contains(char::REPLACEMENT_CHARACTER) {
                    let near = format!("the name {}", excerpt(name));
                    odd.get_or_insert(Odd { kind: Kind::HalfCharacter, near });
                }
                object.insert(name.to_string(), value(member, odd));
            }
            Value::Object(object)
        }
        Tree::Leaf(text) => serde_json::from_str(text).unwrap_or_else(|_| {
            let kind = match text.as_bytes().first() {
                Some(b'"') => Kind::HalfCharacter,
                Some(b'{' | b'[') => Kind::Depth,
                _ => Kind::Number,
            };
            odd.get_or_insert_with(|| Odd { kind, near: excerpt(text) });
            match kind {
                Kind::HalfCharacter => {
                    scan::unescape(text).map_or(Value::Null, |text| text.into_owned().into())
                }
                _ => Value::Null,
            }
        }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_others_refuse_is_read_and_named() {
        let check = |text: &[u8], expected: Option<(Value, Option<Kind>)>| {
            let found = read(text).map(|(value, odd)| (value, odd.map(|odd| odd.kind)));
            assert_eq!(found, expected, "{}", String::from_utf8_lossy(text));
        };
        check(b"{\"a\": 1}", Some((json!({ "a": 1 }), None)));
        check(b"[", None);
        check(b"Loading ...", None);
        check(b"caf\xe9", None);
        let half = Some(Kind::HalfCharacter);
        check(br#"{"a":"x\ud83d"}"#, Some((json!({ "a": "x\u{fffd}" }), half)));
        check(br#"{"a\ud83d":"x"}"#, Some((json!({ "a\u{fffd}": "x" }), half)));
        check(br#"[1e400, 1]"#, Some((json!([null, 1]), Some(Kind::Number))));
        check(b"\"caf\xe9\"", Some((json!("caf\u{fffd}"), Some(Kind::Encoding))));
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        assert_eq!(read(deep.as_bytes()).unwrap().1.unwrap().kind, Kind::Depth);
    }

    #[test]
    fn an_oddity_is_shown_with_what_stands_around_it() {
        let odd = read(br#"{"id":1,"description":"broken \ud83d"}"#).unwrap().1.unwrap();
        let expected = r#"half a character (a surrogate without its partner): "broken \ud83d""#;
        assert_eq!(odd.to_string(), expected);
    }
}
