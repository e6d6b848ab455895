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
use super::tree::{Tree, members, unquote};

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
/// use mcpmini::protocol::headers::encode_value;
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
    path.iter().try_fold(arguments, |json, key| {
        let members = members(json).ok()?;
        members.iter().rev().find(|member| member.key == *key).map(|member| member.value)
    })
}

/// A value as text (Streamable HTTP, Value Encoding: type conversion).
fn header_text(json: &str) -> Option<String> {
    if let Some(text) = unquote(json) {
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

/// Why a header that a user wants to add is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderFault {
    /// There is no colon.
    NoColon,
    /// The name is no token (RFC 9110, section 5.6.2).
    Name,
    /// The value has characters other than visible ASCII, space and tab.
    Value,
    /// The protocol or the connection sets this header itself.
    Reserved,
}

/// Headers that users may not set, in lower case: they are of the protocol, or frame the message.
const RESERVED: [&str; 18] = [
    "accept",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Reads a header as a user writes it, `Name: value`, and checks it.
pub fn read_header(line: &str) -> Result<(&str, &str), HeaderFault> {
    let (name, value) = line.split_once(':').ok_or(HeaderFault::NoColon)?;
    let value = value.trim_matches([' ', '\t']);
    check_header(name, value)?;
    Ok((name, value))
}

/// Whether a user may add a header.
pub fn check_header(name: &str, value: &str) -> Result<(), HeaderFault> {
    if !is_token(name) {
        return Err(HeaderFault::Name);
    }
    if !value.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~')) {
        return Err(HeaderFault::Value);
    }
    let name = name.to_ascii_lowercase();
    let mirrored = name.starts_with(&PARAM_PREFIX.to_ascii_lowercase());
    if mirrored || RESERVED.contains(&&*name) { Err(HeaderFault::Reserved) } else { Ok(()) }
}

/// Whether a text is a token, which names of headers are (RFC 9110, section 5.6.2).
fn is_token(text: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(letter)
}

impl fmt::Display for InvalidAnnotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (at, what) = match self {
            InvalidAnnotation::Name(at) => (at, "is no name of a header"),
            InvalidAnnotation::Type(at) => (at, "is not on a string, integer or boolean"),
            InvalidAnnotation::Twice(at) => (at, "has the name of another one"),
            InvalidAnnotation::Unreachable(at) => (at, "is not on a property of the arguments"),
        };
        write!(f, "{ANNOTATION} at \"{}\" {what}", at.escape_debug())
    }
}
