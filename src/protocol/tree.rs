//! JSON taken apart: containers are opened, everything else stays the text it came in.
//!
//! Schemas are walked and arguments are checked as a [`Tree`]. Numbers are never converted, and
//! equal keys are all kept.

use std::borrow::Cow;
use std::fmt;

use super::json::{self, Invalid};
use super::jsonrpc::scan;

/// How deep a [`Tree`] opens containers. What lies deeper stays text, so that no document can
/// exhaust the stack.
const DEPTH: usize = 128;

/// One JSON value. It is shown as JSON, without blanks between the tokens that were opened.
#[derive(Debug)]
pub enum Tree<'a> {
    /// Anything that is not a container, or a container below the depth limit: its JSON text.
    Leaf(&'a str),
    /// An array.
    Array(Vec<Tree<'a>>),
    /// An object: its members in order, equal keys included.
    Object(Vec<(Cow<'a, str>, Tree<'a>)>),
}

impl<'a> Tree<'a> {
    /// Takes a JSON text apart.
    ///
    /// # Errors
    /// When it is not JSON.
    pub fn parse(text: &'a str) -> Result<Tree<'a>, Invalid> {
        let text = text.trim_matches(BLANKS);
        json::validate(text)?;
        Ok(Tree::open(text, DEPTH))
    }

    fn open(text: &'a str, depth: usize) -> Tree<'a> {
        match text.as_bytes() {
            [b'[', ..] if 0 < depth => {
                let elements = scan::elements(text).map(|element| Tree::open(element, depth - 1));
                Tree::Array(elements.collect())
            }
            [b'{', ..] if 0 < depth => {
                let members = scan::members(text);
                Tree::Object(
                    members.map(|(key, value)| (key, Tree::open(value, depth - 1))).collect(),
                )
            }
            _ => Tree::Leaf(text),
        }
    }

    /// The value of a member of an object; the last one of equal keys, as most readers have it.
    pub fn get(&self, key: &str) -> Option<&Tree<'a>> {
        self.members().iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The members of an object; of anything else none.
    pub fn members(&self) -> &[(Cow<'a, str>, Tree<'a>)] {
        match self {
            Tree::Object(members) => members,
            _ => &[],
        }
    }

    /// The elements of an array; of anything else none.
    pub fn elements(&self) -> &[Tree<'a>] {
        match self {
            Tree::Array(elements) => elements,
            _ => &[],
        }
    }

    /// The text of a string, without quotes and escapes; `None` when it is no string. A surrogate
    /// without its partner becomes U+FFFD.
    pub fn as_text(&self) -> Option<Cow<'a, str>> {
        match self {
            Tree::Leaf(text) => scan::unescape(text),
            _ => None,
        }
    }

    /// Whether this is the literal `true`, `false` or `null`.
    pub fn is_literal(&self, literal: &str) -> bool {
        matches!(self, Tree::Leaf(text) if *text == literal)
    }
}

impl fmt::Display for Tree<'_> {
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
                    write!(f, "{comma}{}:{value}", json::string(key))?;
                }
                f.write_str("}")
            }
        }
    }
}

/// What JSON allows around a value (RFC 8259, section 2).
pub(crate) const BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_the_text_again_without_the_blanks() {
        let check = |text, expected: Option<&str>| {
            let written = Tree::parse(text).ok().map(|tree| tree.to_string());
            assert_eq!(written.as_deref(), expected, "{text}");
        };
        check(" 1.50 ", Some("1.50"));
        check(r#"{"b":1e400,"a":[ ],"b":-0.0}"#, Some(r#"{"b":1e400,"a":[],"b":-0.0}"#));
        check("[ 1 , [2,3] , \"\\ud83d,]\" ]", Some("[1,[2,3],\"\\ud83d,]\"]"));
        check("{\n}", Some("{}"));
        for broken in ["", "{", "[1,]", "{a:1}", "01", "NaN", "1 2", "{\"a\":}", "[1 2]", "\"\n\""]
        {
            check(broken, None);
        }
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
        let tree = Tree::parse(r#" {"a":1,"b":["x\u00e9\ud800",{}],"a":null} "#).unwrap();
        assert!(tree.get("a").unwrap().is_literal("null"));
        let text = tree.get("b").unwrap().elements()[0].as_text();
        assert_eq!(text.as_deref(), Some("xé\u{fffd}"));
        assert!(tree.get("c").is_none());
        assert!(tree.get("a").unwrap().as_text().is_none());
    }
}
