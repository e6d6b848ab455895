//! A configuration file as text: JSON with comments and trailing commas, and servers in it.
//!
//! The parser is `jsonc-parser`: it keeps the place of every value, which makes good messages and
//! lets `mcpmini add` change a file without touching its comments; it limits the depth, and it
//! depends on nothing. A comment stripper before `serde_json` would be smaller by 34 KB, has
//! neither, and takes `[,]` for an array.

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::fields::kind;

/// The JSON of other programs, but none of the further liberties of JSON5.
pub(super) const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// The fields that hold servers: that of most programs, and that of VS Code.
pub(super) const LISTS: [&str; 2] = ["mcpServers", "servers"];

/// The servers in a file.
#[derive(Debug, Default)]
pub(super) struct Document<'a> {
    /// One list in a file without mistakes.
    lists: Vec<Object<'a>>,
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub path: PathBuf,
    /// The line, beginning with 1.
    pub line: usize,
    /// The column, in characters, beginning with 1.
    pub column: usize,
}

/// Why a text is no configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Malformed {
    /// Not JSON.
    Json(String),
    /// Not TOML.
    #[cfg(feature = "import-codex")]
    Toml(String),
    /// TOML, which this build cannot read.
    #[cfg(not(feature = "import-codex"))]
    NoToml,
    /// There is nothing in it.
    Empty,
    /// Something is not an object.
    NotAnObject {
        /// What: empty for the whole.
        field: String,
        /// What it is.
        found: &'static str,
    },
    /// Both fields for servers are there.
    TwoLists,
    /// A server is defined twice.
    Twice(String),
    /// Servers stand at the top, outside of `mcpServers`.
    Unwrapped(String),
}

/// A mistake, and its offset in bytes.
pub(super) type Mistake = (usize, Malformed);

impl<'a> Document<'a> {
    /// Reads a configuration. Errors with the first mistake.
    pub(super) fn parse(text: &'a str) -> Result<Document<'a>, Mistake> {
        let (document, mistakes) = Document::examine(text);
        match mistakes.into_iter().next() {
            None => Ok(document),
            Some(mistake) => Err(mistake),
        }
    }

    /// Reads as much as can be read, and tells all that is wrong outside of the servers.
    pub(super) fn examine(text: &'a str) -> (Document<'a>, Vec<Mistake>) {
        let whole = match whole(text).and_then(|whole| whole.ok_or((0, Malformed::Empty))) {
            Ok(whole) => whole,
            Err(mistake) => return (Document::default(), vec![mistake]),
        };
        let mut mistakes = repeated(&whole);
        if !whole.properties.iter().any(is_list) {
            mistakes.extend(unwrapped(&whole));
        }
        let [first, second] = LISTS.map(|name| whole.get(name));
        if let (Some(_), Some(second)) = (first, second) {
            mistakes.push((second.start(), Malformed::TwoLists));
        }
        let mut document = Document::default();
        for property in whole.properties {
            let Some(name) = LISTS.into_iter().find(|name| *name == property.name.as_str()) else {
                continue;
            };
            match property.value {
                Value::Object(servers) => {
                    mistakes.extend(repeated(&servers));
                    document.lists.push(servers);
                }
                other => mistakes.push(not_an_object(name, &other)),
            }
        }
        (document, mistakes)
    }

    /// All servers in the order of the file: the name, and what is said about it.
    pub(super) fn servers(&self) -> impl Iterator<Item = (&str, Result<&Object<'a>, Mistake>)> {
        let properties = self.lists.iter().flat_map(|servers| &servers.properties);
        properties.map(|property| {
            let name = property.name.as_str();
            match &property.value {
                Value::Object(object) => (name, Ok(object)),
                other => (name, Err(not_an_object(name, other))),
            }
        })
    }
}

/// The object that a file is; `None` when there is nothing in it.
pub(super) fn whole(text: &str) -> Result<Option<Object<'_>>, Mistake> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &OPTIONS).map_err(|error| {
        (error.range().start, Malformed::Json(error.kind().to_string().to_lowercase()))
    })?;
    match parsed.value {
        None => Ok(None),
        Some(Value::Object(whole)) => Ok(Some(whole)),
        Some(other) => Err(not_an_object("", &other)),
    }
}

fn not_an_object(field: &str, value: &Value<'_>) -> Mistake {
    (value.start(), Malformed::NotAnObject { field: field.to_owned(), found: kind(value) })
}

/// Whether a member at the top holds servers.
fn is_list(property: &ObjectProp<'_>) -> bool {
    LISTS.contains(&property.name.as_str())
}

/// The members whose names stood there before.
fn repeated(object: &Object<'_>) -> Vec<Mistake> {
    let mut seen = HashSet::new();
    let again = object.properties.iter().filter(|property| !seen.insert(property.name.as_str()));
    again
        .map(|property| (property.start(), Malformed::Twice(property.name.as_str().to_owned())))
        .collect()
}

/// The first member at the top that looks like a server: `mcpServers` around it was forgotten.
fn unwrapped(whole: &Object<'_>) -> Option<Mistake> {
    let server = whole.properties.iter().find(|property| is_server(property))?;
    Some((server.start(), Malformed::Unwrapped(server.name.as_str().to_owned())))
}

/// Whether a member looks like a server.
pub(super) fn is_server(property: &ObjectProp<'_>) -> bool {
    match &property.value {
        Value::Object(object) => object.get("command").is_some() || object.get("url").is_some(),
        _ => false,
    }
}

impl Place {
    /// The place at an offset in bytes.
    pub(super) fn at(path: &Path, text: &str, offset: usize) -> Place {
        let before = &text.as_bytes()[..offset.min(text.len())];
        let line = 1 + memchr::memchr_iter(b'\n', before).count();
        let start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
        let column = 1 + String::from_utf8_lossy(&before[start..]).chars().count();
        Place { path: path.to_owned(), line, column }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.path.display(), self.line, self.column)
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use super::quoting::printable;
        match self {
            Malformed::Json(reason) => write!(f, "not JSON: {reason}"),
            #[cfg(feature = "import-codex")]
            Malformed::Toml(reason) => write!(f, "not TOML: {}", printable(reason)),
            #[cfg(not(feature = "import-codex"))]
            Malformed::NoToml => f.write_str("this build cannot read TOML (feature import-codex)"),
            Malformed::Empty => f.write_str("there is nothing in the file; an empty one is {}"),
            Malformed::NotAnObject { field, found } if field.is_empty() => {
                write!(f, "a configuration must be an object, and is {found}")
            }
            Malformed::NotAnObject { field, found } => {
                write!(f, "\"{}\" must be an object, and is {found}", printable(field))
            }
            Malformed::TwoLists => f.write_str("both \"mcpServers\" and \"servers\" are set"),
            Malformed::Twice(name) => write!(f, "\"{}\" is there twice", printable(name)),
            Malformed::Unwrapped(name) => {
                write!(f, "\"{}\" stands outside of \"mcpServers\"", printable(name))
            }
        }
    }
}
