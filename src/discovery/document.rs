//! Reading the JSON of strangers: an object, not nested too deep.

use std::collections::HashSet;
use std::fmt;

use serde_json::{Map, Value};

use crate::protocol::jsonrpc::scan;

/// How deep a document may be nested.
const DEPTH: usize = 64;

/// The members of a JSON object, in their order.
pub type Object = Map<String, Value>;

/// Why a text is no document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Malformed {
    /// It is not UTF-8.
    NotText,
    /// It is not JSON: what the parser says.
    Syntax(String),
    /// It is nested too deep.
    TooDeep,
    /// It is JSON, and no object.
    NotAnObject,
}

/// Reads a document. A byte order mark in front of it is overlooked.
pub fn read(bytes: &[u8]) -> Result<Object, Malformed> {
    let text = std::str::from_utf8(bytes).map_err(|_| Malformed::NotText)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if DEPTH < depth(text) {
        return Err(Malformed::TooDeep);
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Malformed::NotAnObject),
        Err(error) => Err(Malformed::Syntax(error.to_string())),
    }
}

/// Whether an object in the document has a member twice. Readers differ about which of the two
/// counts, so that nobody could say what a hash or a signature is about.
pub fn repeats(bytes: &[u8]) -> bool {
    fn any(text: &str) -> bool {
        let mut seen = HashSet::new();
        match text.trim_start().as_bytes().first() {
            Some(b'{') => scan::members(text).any(|(name, value)| !seen.insert(name) || any(value)),
            Some(b'[') => scan::elements(text).any(any),
            _ => false,
        }
    }
    // It was read before, and so is not nested too deep.
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    any(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// How deep a JSON text is nested. Of what is no JSON it is an upper bound.
fn depth(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut in_string, mut escaped) = (false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => (),
        }
    }
    deepest
}

/// The first of these members that is a text with something in it.
pub(super) fn text(object: &Object, names: &[&str]) -> Option<String> {
    let texts = names.iter().filter_map(|name| object.get(*name)?.as_str());
    texts.map(str::trim).find(|text| !text.is_empty()).map(str::to_owned)
}

/// The texts of a list; a text alone is a list of one.
pub(super) fn texts(object: &Object, names: &[&str]) -> Vec<String> {
    let value = names.iter().find_map(|name| object.get(*name));
    match value {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(values)) => {
            values.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

/// The first of these members that is an object.
pub(super) fn object<'a>(object: &'a Object, names: &[&str]) -> Option<&'a Object> {
    names.iter().find_map(|name| object.get(*name)?.as_object())
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Malformed::NotText => f.write_str("it is not UTF-8"),
            Malformed::Syntax(reason) => write!(f, "it is not JSON: {reason}"),
            Malformed::TooDeep => write!(f, "it is nested deeper than {DEPTH} levels"),
            Malformed::NotAnObject => f.write_str("it is not a JSON object"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_that_is_there_twice_is_found_at_any_depth() {
        let check = |text: &str, expected: bool| {
            assert_eq!(repeats(text.as_bytes()), expected, "{text}");
        };
        check(r#"{"a":1,"b":{"a":1},"c":[{"a":1},{"a":2}]}"#, false);
        check(r#"{"a":1,"a":1}"#, true);
        check(r#"{"a":1,"\u0061":1}"#, true);
        check(r#"{"x":[1,{"a":{"b":1,"b":2}}]}"#, true);
        check(r#"{"a":"{\"b\":1,\"b\":1}"}"#, false);
    }

    #[test]
    fn only_objects_that_are_not_too_deep_are_documents() {
        let check = |text: &str, expected: Result<usize, &str>| {
            let found = read(text.as_bytes());
            let found = found.map(|object| object.len()).map_err(|error| error.to_string());
            assert_eq!(found.as_ref().copied().map_err(String::as_str), expected, "{text}");
        };
        check("{}", Ok(0));
        check("\u{feff} {\"a\": \"[[[{\\\"{{\", \"b\": 1}", Ok(2));
        check("[]", Err("it is not a JSON object"));
        check("", Err("it is not JSON: EOF while parsing a value at line 1 column 0"));
        let nested =
            |depth: usize| format!("{{\"a\":{}{}}}", "[".repeat(depth - 1), "]".repeat(depth - 1));
        check(&nested(DEPTH), Ok(1));
        check(&nested(DEPTH + 1), Err("it is nested deeper than 64 levels"));
        check(&"[".repeat(1 << 20), Err("it is nested deeper than 64 levels"));
        assert_eq!(read(b"\xff"), Err(Malformed::NotText));
    }
}
