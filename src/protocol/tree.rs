//! JSON taken apart: containers are opened, everything else stays the text it came in.
//!
//! Schemas are walked and arguments are checked as a [`Tree`]. [`members`] and [`elements`] open a
//! single level, for callers that hand the rest on as it is. Numbers are never converted, and equal
//! keys are all kept.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::json::Invalid;

/// How deep a [`Tree`] opens containers. What lies deeper stays text, so that no document can
/// exhaust the stack.
const DEPTH: usize = 128;

/// One JSON value.
#[derive(Debug)]
pub(crate) enum Tree<'a> {
    /// Anything that is not a container, or a container below the depth limit: its JSON text.
    Leaf(&'a str),
    /// An array.
    Array(Vec<Tree<'a>>),
    /// An object: its members in order, equal keys included.
    Object(Vec<(Cow<'a, str>, Tree<'a>)>),
}

impl<'a> Tree<'a> {
    /// Takes a JSON text apart. Errors when it is not JSON.
    pub(crate) fn parse(text: &'a str) -> Result<Tree<'a>, Invalid> {
        let text = text.trim_matches(BLANKS);
        super::json::validate(text)?;
        Tree::open(text, DEPTH)
    }

    fn open(text: &'a str, depth: usize) -> Result<Tree<'a>, Invalid> {
        match text.as_bytes() {
            [b'[', ..] if depth > 0 => {
                let items = elements(text)?.into_iter().map(|item| Tree::open(item, depth - 1));
                items.collect::<Result<_, _>>().map(Tree::Array)
            }
            [b'{', ..] if depth > 0 => {
                let opened = members(text)?.into_iter().map(|member| {
                    Tree::open(member.value, depth - 1).map(|value| (member.key, value))
                });
                opened.collect::<Result<_, _>>().map(Tree::Object)
            }
            _ => Ok(Tree::Leaf(text)),
        }
    }

    /// The value of a member of an object; the last one of equal keys, as most readers have it.
    pub(crate) fn get(&self, key: &str) -> Option<&Tree<'a>> {
        self.members().iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The members of an object; of anything else none.
    pub(crate) fn members(&self) -> &[(Cow<'a, str>, Tree<'a>)] {
        match self {
            Tree::Object(members) => members,
            _ => &[],
        }
    }

    /// The elements of an array; of anything else none.
    pub(crate) fn elements(&self) -> &[Tree<'a>] {
        match self {
            Tree::Array(elements) => elements,
            _ => &[],
        }
    }

    /// The text of a string, without quotes and escapes; `None` when it is no string.
    pub(crate) fn as_text(&self) -> Option<Cow<'a, str>> {
        match self {
            Tree::Leaf(text) => unquote(text),
            _ => None,
        }
    }

    /// Whether this is the literal `true`, `false` or `null`.
    pub(crate) fn is_literal(&self, literal: &str) -> bool {
        matches!(self, Tree::Leaf(text) if *text == literal)
    }
}

impl fmt::Display for Tree<'_> {
    /// Writes JSON, without blanks between the tokens that were opened.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tree::Leaf(text) => f.write_str(text),
            Tree::Array(elements) => {
                f.write_str("[")?;
                for (index, element) in elements.iter().enumerate() {
                    let comma = if index > 0 { "," } else { "" };
                    write!(f, "{comma}{element}")?;
                }
                f.write_str("]")
            }
            Tree::Object(members) => {
                f.write_str("{")?;
                for (index, (key, value)) in members.iter().enumerate() {
                    let comma = if index > 0 { "," } else { "" };
                    write!(f, "{comma}{}:{value}", super::json::string(key))?;
                }
                f.write_str("}")
            }
        }
    }
}

/// What JSON allows around a value (RFC 8259, section 2).
pub(crate) const BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];

/// One member of an object.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Member<'a> {
    /// The key, unescaped. A surrogate without its partner becomes U+FFFD.
    pub(crate) key: Cow<'a, str>,
    /// The key as it stands, quotes included.
    pub(crate) quoted: &'a str,
    /// The text of the value.
    pub(crate) value: &'a str,
}

/// The members of an object in order, equal keys included. Errors when `text` is no JSON object.
pub(crate) fn members(text: &str) -> Result<Vec<Member<'_>>, Invalid> {
    let mut parser = serde_json::Deserializer::from_str(text);
    let members = parser.deserialize_map(Members).and_then(|found| parser.end().map(|()| found));
    members.map_err(invalid)
}

/// The elements of an array. Errors when `text` is no JSON array.
pub(crate) fn elements(text: &str) -> Result<Vec<&str>, Invalid> {
    let mut parser = serde_json::Deserializer::from_str(text);
    let elements = parser.deserialize_seq(Elements).and_then(|found| parser.end().map(|()| found));
    elements.map_err(invalid)
}

/// The text of a JSON string, without quotes and escapes; `None` when it is no string. A surrogate
/// without its partner, which no text can hold, becomes U+FFFD.
pub(crate) fn unquote(text: &str) -> Option<Cow<'_, str>> {
    let body = text.strip_prefix('"')?.strip_suffix('"')?;
    if !body.contains('\\') {
        return Some(Cow::Borrowed(body));
    }
    // Read as bytes, because the parser refuses lone surrogates only where it makes text.
    let mut parser = serde_json::Deserializer::from_str(text);
    let bytes = parser.deserialize_bytes(Bytes).ok()?;
    let text = String::from_utf8(bytes);
    Some(Cow::Owned(text.unwrap_or_else(|error| replace_surrogates(error.as_bytes()))))
}

/// Text from bytes in which a surrogate stands as the three bytes UTF-8 would have for it.
fn replace_surrogates(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        // The first byte of a surrogate; the other two are chunks of their own.
        if chunk.invalid() == [0xED] {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    text
}

fn invalid(error: serde_json::Error) -> Invalid {
    Invalid { reason: error.to_string() }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<Member<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some((key, value)) = map.next_entry::<&RawValue, &RawValue>()? {
            let quoted = key.get();
            let key = unquote(quoted).unwrap_or(Cow::Borrowed(quoted));
            members.push(Member { key, quoted, value: value.get() });
        }
        Ok(members)
    }
}

struct Elements;

impl<'de> Visitor<'de> for Elements {
    type Value = Vec<&'de str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = seq.next_element::<&RawValue>()? {
            elements.push(element.get());
        }
        Ok(elements)
    }
}

struct Bytes;

impl Visitor<'_> for Bytes {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        Ok(bytes.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_keeps_order_equal_keys_and_number_spelling() {
        let check = |text, expected: &[(&str, &str, &str)]| {
            let found = members(text).unwrap();
            let found: Vec<_> = found.iter().map(|m| (&*m.key, m.quoted, m.value)).collect();
            assert_eq!(found, expected, "{text}");
        };
        check("{}", &[]);
        check(" { } \n", &[]);
        check(r#"{"b":1.0,"a":1e400}"#, &[("b", "\"b\"", "1.0"), ("a", "\"a\"", "1e400")]);
        check(
            r#"{"a":1, "a" : {"b":[ ]} }"#,
            &[("a", "\"a\"", "1"), ("a", "\"a\"", r#"{"b":[ ]}"#)],
        );
        check(r#"{"\u0061":null}"#, &[("a", r#""\u0061""#, "null")]);
        check(r#"{"\ud83d!":"\udc00"}"#, &[("\u{fffd}!", r#""\ud83d!""#, r#""\udc00""#)]);
    }

    #[test]
    fn what_is_no_container_of_the_kind_is_an_error() {
        for text in ["", "[]", "1", "{", "{}x", "{\"a\"}", "{a:1}", "{\"a\":01}", "{\"a\":NaN}"] {
            assert!(members(text).is_err(), "{text}");
        }
        for text in ["", "{}", "\"[\"", "[", "[1,]", "[] []", "[1 2]"] {
            assert!(elements(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_string_loses_its_quotes_and_escapes() {
        let check = |text, expected: Option<&str>| {
            assert_eq!(unquote(text).as_deref(), expected, "{text}");
        };
        check(r#""""#, Some(""));
        check(r#""é\n\"\/\u00e9\ud83d\ude00""#, Some("é\n\"/é😀"));
        check(r#""a\ud83db""#, Some("a\u{fffd}b"));
        check(r#""\udc00\ud83d""#, Some("\u{fffd}\u{fffd}"));
        check("1", None);
        check("\"", None);
        check("null", None);
    }

    #[test]
    fn a_tree_opens_containers_down_to_a_limit_and_keeps_the_rest_as_text() {
        let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
        let mut tree = &Tree::parse(&deep).unwrap();
        let mut levels = 0;
        while let [inner] = tree.elements() {
            tree = inner;
            levels += 1;
        }
        assert_eq!(levels, DEPTH);
        assert!(matches!(tree, Tree::Leaf(text) if text.len() == 2 * (100_000 - DEPTH) + 1));
    }

    #[test]
    fn a_tree_answers_for_its_members() {
        let tree = Tree::parse(r#" {"a":1,"b":["x",{}],"a":null} "#).unwrap();
        assert!(tree.get("a").unwrap().is_literal("null"));
        assert_eq!(tree.get("b").unwrap().elements()[0].as_text().as_deref(), Some("x"));
        assert!(tree.get("c").is_none());
        assert_eq!(tree.to_string(), r#"{"a":1,"b":["x",{}],"a":null}"#);
        assert!(Tree::parse("{\"a\":}").is_err());
    }
}
