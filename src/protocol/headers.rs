//! The HTTP headers of MCP: what is mirrored into them, and how it is written.
//!
//! Since 2026-07-28, an HTTP request repeats parts of its body in headers, so that intermediaries
//! can route it (Streamable HTTP, Request Metadata). A tool's input schema marks the parameters to
//! repeat with `x-mcp-header`. Here are the rules for that, and those for headers that users add.

use std::borrow::Cow;
use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::decimal::Decimal;
use super::jsonrpc::scan;
use super::tree::Tree;

/// What the names of mirrored parameters start with.
pub const PARAM_PREFIX: &str = "Mcp-Param-";

/// The keyword that marks a parameter.
const ANNOTATION: &str = "x-mcp-header";

/// The largest integer that every reader of JSON keeps exactly: 2⁵³ − 1.
const SAFE_INTEGER: i64 = (1 << 53) - 1;

/// The value of a header as it is sent: as it is, or in Base64 where that would not be safe
/// (Streamable HTTP, Value Encoding). A tab would be allowed, but is encoded like every other
/// control character.
///
/// ```
/// use mcpmini_protocol::headers::encode_value;
/// assert_eq!(encode_value("us-west1"), "us-west1");
/// assert_eq!(encode_value(" padded "), "=?base64?IHBhZGRlZCA=?=");
/// ```
pub fn encode_value(value: &str) -> Cow<'_, str> {
    let plain = value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let padded = value.starts_with(' ') || value.ends_with(' ');
    let looks_encoded = value.starts_with("=?base64?") && value.ends_with("?=");
    if plain && !padded && !looks_encoded {
        return Cow::Borrowed(value);
    }
    Cow::Owned(format!("=?base64?{}?=", STANDARD.encode(value)))
}

/// A parameter that is mirrored into a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mirrored {
    /// The name of the header after [`PARAM_PREFIX`].
    pub header: String,
    /// The keys that lead to the parameter, the outermost first.
    pub path: Vec<String>,
}

/// An `x-mcp-header` that breaks the rules. Over HTTP, its tool must not be used (Streamable HTTP,
/// Schema Extension). The path says where it is: `filter.region`, `tags.items`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InvalidAnnotation {
    /// It is no name of a header.
    Name(String),
    /// The parameter is no string, integer or boolean.
    Type(String),
    /// Another parameter has the same name, if case is ignored.
    Twice(String),
    /// It is not on a property of the arguments, or not on one that `properties` alone lead to.
    Unreachable(String),
}

/// The parameters that a tool's input schema marks, in its order. What is no schema marks none.
/// Local definitions are not followed: a mark inside one is an error like any other stray one.
pub fn mirrored(schema: &str) -> Result<Vec<Mirrored>, InvalidAnnotation> {
    let mut found = Vec::new();
    if let Ok(root) = Tree::parse(schema) {
        collect(&root, &mut Vec::new(), true, &mut found)?;
    }
    Ok(found)
}

/// Keywords that hold a schema or an array of schemas.
const APPLICATORS: [&str; 16] = [
    "items",
    "prefixItems",
    "additionalItems",
    "contains",
    "additionalProperties",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
];

/// Keywords that hold an object of schemas, apart from `properties`.
const COLLECTIONS: [&str; 5] =
    ["patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"];

fn collect(
    schema: &Tree<'_>,
    path: &mut Vec<String>,
    reachable: bool,
    found: &mut Vec<Mirrored>,
) -> Result<(), InvalidAnnotation> {
    if let Some(name) = schema.get(ANNOTATION) {
        let mark = annotation(schema, name, path, reachable)?;
        if found.iter().any(|known| known.header.eq_ignore_ascii_case(&mark.header)) {
            return Err(InvalidAnnotation::Twice(path.join(".")));
        }
        found.push(mark);
    }
    let mut visit = |step: &str, schema: &Tree<'_>, reachable| {
        path.push(step.to_owned());
        let result = collect(schema, path, reachable, found);
        path.pop();
        result
    };
    for (keyword, value) in schema.members() {
        if keyword == "properties" {
            for (name, property) in value.members() {
                visit(name, property, reachable)?;
            }
        } else if COLLECTIONS.contains(&&**keyword) {
            for (name, inner) in value.members() {
                visit(&format!("{keyword}.{name}"), inner, false)?;
            }
        } else if APPLICATORS.contains(&&**keyword) {
            for inner in std::slice::from_ref(value).iter().chain(value.elements()) {
                visit(keyword, inner, false)?;
            }
        }
    }
    Ok(())
}

/// Reads the mark of one schema.
fn annotation(
    schema: &Tree<'_>,
    name: &Tree<'_>,
    path: &[String],
    reachable: bool,
) -> Result<Mirrored, InvalidAnnotation> {
    let at = || path.join(".");
    if !reachable || path.is_empty() {
        return Err(InvalidAnnotation::Unreachable(at()));
    }
    let header = name.as_text().filter(|name| is_token(name));
    let header = header.ok_or_else(|| InvalidAnnotation::Name(at()))?.into_owned();
    if !is_primitive(schema.get("type")) {
        return Err(InvalidAnnotation::Type(at()));
    }
    Ok(Mirrored { header, path: path.to_vec() })
}

/// Whether `type` names string, integer or boolean, alone or several of them. `null` may be among
/// them, because the rules say what becomes of a null: nothing is sent.
fn is_primitive(types: Option<&Tree<'_>>) -> bool {
    let Some(types) = types else { return false };
    let names: Vec<_> = match types {
        Tree::Array(names) => names.iter().map(Tree::as_text).collect(),
        name => vec![name.as_text()],
    };
    let mirrored = |name: &str| matches!(name, "string" | "integer" | "boolean");
    let allowed = |name: &str| mirrored(name) || (name == "null" && names.len() > 1);
    names.iter().all(|name| name.as_deref().is_some_and(allowed))
        && names.iter().any(|name| name.as_deref().is_some_and(mirrored))
}

/// A value that no header can carry: a number that is no integer of at most 2⁵³ − 1, or an array or
/// object. The specification forbids such a value for a mirrored parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmirrorable {
    /// The keys that lead to it.
    pub path: Vec<String>,
    /// The value, as JSON.
    pub value: String,
}

/// The values of the mirrored parameters in the arguments of a call, each with the name of its
/// header after [`PARAM_PREFIX`]. They are not yet encoded ([`encode_value`]). A parameter that is
/// absent or `null` has none; an empty string has an empty one.
pub fn values(
    mirrored: &[Mirrored],
    arguments: &str,
) -> Result<Vec<(String, String)>, Unmirrorable> {
    let mut values = Vec::new();
    for Mirrored { header, path } in mirrored {
        let Some(json) = value_at(arguments, path).filter(|json| *json != "null") else { continue };
        let value = header_text(json);
        let unmirrorable = || Unmirrorable { path: path.clone(), value: json.to_owned() };
        values.push((header.clone(), value.ok_or_else(unmirrorable)?));
    }
    Ok(values)
}

/// The JSON at the end of a path of keys; the last one of equal keys counts.
fn value_at<'a>(arguments: &'a str, path: &[String]) -> Option<&'a str> {
    path.iter().try_fold(arguments, |json, key| scan::member(json, key))
}

/// A value as text (Streamable HTTP, Value Encoding: type conversion).
fn header_text(json: &str) -> Option<String> {
    if let Some(text) = scan::unescape(json) {
        return Some(text.into_owned());
    }
    if matches!(json, "true" | "false") {
        return Some(json.to_owned());
    }
    let integer = Decimal::parse(json)?.to_i64()?;
    if !(-SAFE_INTEGER..=SAFE_INTEGER).contains(&integer) {
        return None;
    }
    // As it is written, so that a comparison as text succeeds too; but not with an exponent, which
    // is not decimal.
    Some(if json.contains(['e', 'E']) { integer.to_string() } else { json.to_owned() })
}

/// Whether a text is a token, which names of headers are (RFC 9110, section 5.6.2).
pub fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(is_of_token)
}

/// Whether a token may have this character in it.
pub fn is_of_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

impl fmt::Display for Unmirrorable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Unmirrorable { path, value } = self;
        write!(
            f,
            "{}: the tool wants this value in a header, and no header can carry {value}",
            path.join(".")
        )
    }
}

impl fmt::Display for InvalidAnnotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (at, what) = match self {
            InvalidAnnotation::Name(at) => (at, "is no name of a header"),
            InvalidAnnotation::Type(at) => (at, "is not on a string, integer or boolean"),
            InvalidAnnotation::Twice(at) => (at, "has the name of another one"),
            InvalidAnnotation::Unreachable(at) => (at, "is not on a property of the arguments"),
        };
        let at = if at.is_empty() { "the top" } else { at };
        write!(f, "{ANNOTATION} at {} {what}", at.escape_debug())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_encoded_where_it_would_not_be_safe() {
        let check = |value, expected: &str| assert_eq!(encode_value(value), expected, "{value:?}");
        // The table of the specification.
        check("us-west1", "us-west1");
        check("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?=");
        check(" padded ", "=?base64?IHBhZGRlZCA=?=");
        check("line1\nline2", "=?base64?bGluZTEKbGluZTI=?=");
        check("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=");
        // Beyond it.
        check("", "");
        check("a b", "a b");
        check("~!\"#", "~!\"#");
        check(" ", "=?base64?IA==?=");
        check("a ", "=?base64?YSA=?=");
        check("a\tb", "=?base64?YQli?=");
        check("a\r\nb", "=?base64?YQ0KYg==?=");
        check("\u{7f}", "=?base64?fw==?=");
        check("=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?=");
        check("=?base64?x", "=?base64?x");
        check("=?BASE64?x?=", "=?BASE64?x?=");
        check("file:///path/to/file%20name.txt", "file:///path/to/file%20name.txt");
    }

    #[test]
    fn marks_are_found_along_properties() {
        let check = |schema: &str, expected: &[(&str, &str)]| {
            let found = mirrored(schema).unwrap();
            let found: Vec<_> =
                found.iter().map(|mark| (&*mark.header, mark.path.join("/"))).collect();
            let expected: Vec<_> =
                expected.iter().map(|(header, path)| (*header, (*path).to_owned())).collect();
            assert_eq!(found, expected, "{schema}");
        };
        let marked = |types: &str| {
            format!(r#"{{"properties":{{"a":{{"type":{types},"x-mcp-header":"A"}}}}}}"#)
        };
        for types in [
            r#""string""#,
            r#""integer""#,
            r#""boolean""#,
            r#"["string","null"]"#,
            r#"["integer","boolean"]"#,
        ] {
            check(&marked(types), &[("A", "a")]);
        }
        check(
            r#"{"properties":{"b":{"type":"string","x-mcp-header":"B-1"},"o":{"type":"object",
                "properties":{"a.b":{"properties":{"c":{"type":"integer","x-mcp-header":"c!"}}}}}}}"#,
            &[("B-1", "b"), ("c!", "o/a.b/c")],
        );
        check(r#"{"properties":{"x-mcp-header":{"type":"string"}}}"#, &[]);
        check(
            r#"{"properties":{"a":{"default":{"x-mcp-header":""},"enum":[{"x-mcp-header":1}]}}}"#,
            &[],
        );
        check(r#"{"examples":[{"x-mcp-header":"A"}],"x-own":{"x-mcp-header":"A"}}"#, &[]);
        for nothing in ["{}", "null", "[]", "true", "", "{", r#"{"properties":[]}"#] {
            check(nothing, &[]);
        }
    }

    #[track_caller]
    fn refuse(schema: &str, expected: fn(String) -> InvalidAnnotation, at: &str) {
        assert_eq!(mirrored(schema), Err(expected(at.to_owned())), "{schema}");
    }

    #[test]
    fn a_mark_is_a_token_of_its_own() {
        let check = |name: &str| {
            let property = format!(r#"{{"type":"string","x-mcp-header":{name}}}"#);
            let schema = format!(r#"{{"properties":{{"a":{property}}}}}"#);
            refuse(&schema, InvalidAnnotation::Name, "a");
        };
        check(r#""""#);
        check(r#""a b""#);
        check(r#""a:b""#);
        check(r#""é""#);
        check(r#""a\n""#);
        check(r#""a\r\nX: y""#);
        check(r#""\u0000""#);
        check("null");
        check("7");
        check("[]");
        check("{}");
        let same = |one: &str, other: &str| {
            let mark = |name| format!(r#"{{"type":"string","x-mcp-header":"{name}"}}"#);
            let inner = format!(r#"{{"properties":{{"b":{}}}}}"#, mark(other));
            let schema = format!(r#"{{"properties":{{"a":{},"o":{inner}}}}}"#, mark(one));
            refuse(&schema, InvalidAnnotation::Twice, "o.b");
        };
        same("A", "A");
        same("Region", "rEGION");
    }

    #[test]
    fn a_mark_is_on_a_primitive_type() {
        let check = |types: &str| {
            let schema = format!(r#"{{"properties":{{"a":{{{types}"x-mcp-header":"A"}}}}}}"#);
            refuse(&schema, InvalidAnnotation::Type, "a");
        };
        check("");
        check(r#""type":"number","#);
        check(r#""type":"object","#);
        check(r#""type":"array","#);
        check(r#""type":"null","#);
        check(r#""type":["null"],"#);
        check(r#""type":[],"#);
        check(r#""type":["string","number"],"#);
        check(r#""type":"text","#);
        check(r#""type":7,"#);
        check(r#""anyOf":[{"type":"string"}],"#);
    }

    #[test]
    fn a_mark_is_reached_by_properties_alone() {
        let check = |schema: &str, at: &str| refuse(schema, InvalidAnnotation::Unreachable, at);
        let mark = r#"{"type":"string","x-mcp-header":"A"}"#;
        check(mark, "");
        for keyword in APPLICATORS {
            let inside = format!(r#"{{"properties":{{"a":{{"{keyword}":{mark}}}}}}}"#);
            check(&inside, &format!("a.{keyword}"));
            let listed = format!(r#"{{"properties":{{"a":{{"{keyword}":[true,{mark}]}}}}}}"#);
            check(&listed, &format!("a.{keyword}"));
            let below = format!(r#"{{"{keyword}":{{"properties":{{"b":{mark}}}}}}}"#);
            check(&below, &format!("{keyword}.b"));
        }
        for keyword in COLLECTIONS {
            check(&format!(r#"{{"{keyword}":{{"d":{mark}}}}}"#), &format!("{keyword}.d"));
        }
    }

    #[test]
    fn values_are_read_at_their_exact_path() {
        let mark = |header: &str, path: &[&str]| Mirrored {
            header: header.into(),
            path: path.iter().map(|key| (*key).into()).collect(),
        };
        let marks = [mark("A", &["a"]), mark("B", &["o", "b"])];
        let check = |arguments: &str, expected: &[(&str, &str)]| {
            let found = values(&marks, arguments).unwrap();
            let found: Vec<_> = found.iter().map(|(header, value)| (&**header, &**value)).collect();
            assert_eq!(found, expected, "{arguments}");
        };
        check(r#"{"a":"x","o":{"b":"y"},"b":"z"}"#, &[("A", "x"), ("B", "y")]);
        check("{}", &[]);
        check(r#"{"a":null,"o":null}"#, &[]);
        check(r#"{"a":"","o":"b"}"#, &[("A", "")]);
        check(r#"{"a":"null"}"#, &[("A", "null")]);
        check(r#"{"a":"zone \u4e2d\n"}"#, &[("A", "zone 中\n")]);
        check(r#"{"a":1,"a":2}"#, &[("A", "2")]);
        check(r#"{"\u0061":true,"o":{"b":false}}"#, &[("A", "true"), ("B", "false")]);
        check(r#"{"a":42,"o":{"b":-7}}"#, &[("A", "42"), ("B", "-7")]);
        check(r#"{"a":42.0,"o":{"b":1e3}}"#, &[("A", "42.0"), ("B", "1000")]);
        check(
            r#"{"a":9007199254740991,"o":{"b":-9007199254740991}}"#,
            &[("A", "9007199254740991"), ("B", "-9007199254740991")],
        );
        for value in [
            "9007199254740992",
            "-9007199254740992",
            "1.5",
            "1e400",
            "18446744073709551615",
            "[]",
            "{}",
        ] {
            let refused = Unmirrorable { path: vec!["a".into()], value: value.into() };
            assert_eq!(values(&marks, &format!(r#"{{"a":{value}}}"#)), Err(refused));
        }
    }
}
