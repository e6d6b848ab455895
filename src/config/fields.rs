//! Reading the fields of a definition, each by its type.

use std::collections::HashSet;
use std::fmt;
use std::time::Duration;

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;

use super::quoting::printable;
use crate::env::Secret;
use crate::protocol::Revision;
use crate::protocol::headers::is_token;

/// Something that is wrong with a definition. Values are never part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Issue {
    /// A field has the wrong JSON type.
    Type {
        /// The field: `args[1]`, `env.PORT`.
        field: String,
        /// What it must be.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// A field is there twice.
    Twice {
        /// The field.
        field: String,
    },
    /// A server that is started has no `command`.
    NoCommand,
    /// A server that is reached by HTTP has no `url`.
    NoUrl {
        /// The type: `http` or `sse`.
        kind: &'static str,
    },
    /// `command` and `url` are both set.
    CommandAndUrl,
    /// The `type` is unknown.
    UnknownType(String),
    /// The `protocol` is a revision this client does not know.
    UnknownRevision(String),
    /// The `trust` is none of the words for it.
    UnknownTrust(String),
    /// Two fields exclude each other.
    Exclusive(&'static str, &'static str),
    /// No environment variable can be called that.
    BadVariable {
        /// The field.
        field: String,
    },
    /// No HTTP header can be called that.
    BadHeader {
        /// The field.
        field: String,
    },
}

/// The fields of one definition, and what was wrong with them so far.
#[derive(Debug)]
pub(super) struct Fields<'a> {
    object: &'a Object<'a>,
    /// What comes before the names of the fields: `oauth.`, or nothing.
    prefix: &'static str,
    issues: Vec<(usize, Issue)>,
}

impl<'a> Fields<'a> {
    pub(super) fn of(object: &'a Object<'a>) -> Fields<'a> {
        Fields::inside(object, "")
    }

    fn inside(object: &'a Object<'a>, prefix: &'static str) -> Fields<'a> {
        let mut fields = Fields { object, prefix, issues: Vec::new() };
        fields.unique("", object, false);
        fields
    }

    /// An object, read field by field. `prefix` is its name and a dot.
    pub(super) fn object<T>(
        &mut self,
        prefix: &'static str,
        read: impl FnOnce(&mut Fields<'_>) -> T,
    ) -> Option<T> {
        let name = prefix.trim_end_matches('.');
        let value = self.field(name)?;
        let Some(object) = value.as_object() else {
            return self.wrong_type(name, value, "an object");
        };
        let mut fields = Fields::inside(object, prefix);
        let read = read(&mut fields);
        self.issues.extend(fields.issues);
        Some(read)
    }

    /// Notes something that is wrong with the definition as a whole.
    pub(super) fn wrong(&mut self, issue: Issue) {
        self.issues.push((self.object.start(), issue));
    }

    /// What was wrong, each with its place: the offset in the file, in bytes.
    pub(super) fn into_issues(self) -> Vec<(usize, Issue)> {
        self.issues
    }

    /// A field that is there; `null` is as good as nothing.
    fn field(&self, name: &str) -> Option<&'a Value<'a>> {
        let value = &self.object.get(name)?.value;
        value.as_null_keyword().is_none().then_some(value)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.field(name).is_some()
    }

    fn wrong_type<T>(
        &mut self,
        field: &str,
        value: &Value<'_>,
        expected: &'static str,
    ) -> Option<T> {
        let (field, found) = (format!("{}{field}", self.prefix), kind(value));
        self.issues.push((value.start(), Issue::Type { field, expected, found }));
        None
    }

    /// A string.
    pub(super) fn string(&mut self, name: &str) -> Option<String> {
        let value = self.field(name)?;
        match value.as_string_lit() {
            Some(text) => Some(text.value.to_string()),
            None => self.wrong_type(name, value, "a string"),
        }
    }

    /// Whether a field is `true` or `false`, of those that may be something else.
    pub(super) fn is_boolean(&self, name: &str) -> bool {
        self.field(name).is_some_and(|value| value.as_boolean_lit().is_some())
    }

    /// `true` or `false`.
    pub(super) fn flag(&mut self, name: &str) -> Option<bool> {
        let value = self.field(name)?;
        match value.as_boolean_lit() {
            Some(truth) => Some(truth.value),
            None => self.wrong_type(name, value, "true or false"),
        }
    }

    /// A time in milliseconds; 0 is no limit.
    pub(super) fn milliseconds(&mut self, name: &str) -> Option<Duration> {
        let value = self.field(name)?;
        let number = value.as_number_lit().and_then(|number| number.value.parse().ok());
        match number {
            Some(number) => Some(Duration::from_millis(number)),
            None => self.wrong_type(name, value, "a whole number of milliseconds"),
        }
    }

    /// The number of a port.
    pub(super) fn port(&mut self, name: &str) -> Option<u16> {
        let value = self.field(name)?;
        let number = value.as_number_lit().and_then(|number| number.value.parse().ok());
        match number.filter(|port| *port != 0) {
            Some(port) => Some(port),
            None => self.wrong_type(name, value, "a port from 1 to 65535"),
        }
    }

    /// A string, or an array of strings: a command and the first of its arguments. `None` when it
    /// is neither; empty when it is not there.
    pub(super) fn words(&mut self, name: &str) -> Option<Vec<String>> {
        match self.field(name) {
            None => Some(Vec::new()),
            Some(Value::StringLit(text)) => Some(vec![text.value.to_string()]),
            Some(Value::Array(_)) => Some(self.strings(name)),
            Some(value) => self.wrong_type(name, value, "a string or an array of strings"),
        }
    }

    /// An array of strings.
    pub(super) fn strings(&mut self, name: &str) -> Vec<String> {
        let Some(value) = self.field(name) else { return Vec::new() };
        let Some(array) = value.as_array() else {
            return self.wrong_type(name, value, "an array of strings").unwrap_or_default();
        };
        let mut strings = Vec::new();
        for (index, element) in array.elements.iter().enumerate() {
            match element.as_string_lit() {
                Some(text) => strings.push(text.value.to_string()),
                None => {
                    self.wrong_type::<()>(&format!("{name}[{index}]"), element, "a string");
                }
            }
        }
        strings
    }

    /// An object whose members are strings; the names are those of environment variables.
    pub(super) fn variables(&mut self, name: &str) -> Vec<(String, Secret)> {
        self.pairs(name, false, |field, key| {
            let fits = !key.is_empty() && !key.contains(['=', '\0']);
            (!fits).then_some(Issue::BadVariable { field })
        })
    }

    /// An object whose members are strings; the names are those of HTTP headers.
    pub(super) fn headers(&mut self, name: &str) -> Vec<(String, Secret)> {
        self.pairs(name, true, |field, key| (!is_token(key)).then_some(Issue::BadHeader { field }))
    }

    fn pairs(
        &mut self,
        name: &str,
        ignore_case: bool,
        judge: impl Fn(String, &str) -> Option<Issue>,
    ) -> Vec<(String, Secret)> {
        let Some(value) = self.field(name) else { return Vec::new() };
        let Some(object) = value.as_object() else {
            return self.wrong_type(name, value, "an object of strings").unwrap_or_default();
        };
        self.unique(&format!("{name}."), object, ignore_case);
        let mut pairs = Vec::new();
        for ObjectProp { name: key, value, .. } in &object.properties {
            let key = key.as_str();
            let field = format!("{name}.{key}");
            match value.as_string_lit() {
                Some(text) => pairs.push((key.to_owned(), Secret::new(text.value.to_string()))),
                None => {
                    self.wrong_type::<()>(&field, value, "a string");
                }
            }
            self.issues.extend(judge(field, key).map(|issue| (value.start(), issue)));
        }
        pairs
    }

    /// Notes the members that are there twice: which of them counts would be a guess.
    fn unique(&mut self, prefix: &str, object: &Object<'_>, ignore_case: bool) {
        let mut seen = HashSet::new();
        for property in &object.properties {
            let name = property.name.as_str();
            let key = if ignore_case { name.to_ascii_lowercase() } else { name.to_owned() };
            if !seen.insert(key) {
                let field = format!("{}{prefix}{name}", self.prefix);
                self.issues.push((property.start(), Issue::Twice { field }));
            }
        }
    }
}

/// The JSON type of a value.
pub(super) fn kind(value: &Value<'_>) -> &'static str {
    match value {
        Value::StringLit(_) => "a string",
        Value::NumberLit(_) => "a number",
        Value::BooleanLit(_) => "true or false",
        Value::Object(_) => "an object",
        Value::Array(_) => "an array",
        Value::NullKeyword(_) => "null",
    }
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Issue::Type { field, expected, found } => {
                write!(f, "\"{}\" must be {expected}, and is {found}", printable(field))
            }
            Issue::Twice { field } => write!(f, "\"{}\" is there twice", printable(field)),
            Issue::NoCommand => f.write_str("stdio server requires \"command\" field"),
            Issue::NoUrl { kind } => write!(f, "{kind} server requires \"url\" field"),
            Issue::CommandAndUrl => f.write_str(
                "both \"command\" and \"url\" are set - server should be either stdio (command) \
                 OR http/sse (url), not both",
            ),
            Issue::UnknownType(kind) => write!(f, "unknown server type \"{}\"", printable(kind)),
            Issue::UnknownRevision(date) => {
                let dates: Vec<_> = Revision::all().iter().map(|revision| revision.date).collect();
                let (date, dates) = (printable(date), dates.join(", "));
                write!(f, "unknown protocol \"{date}\" (there are auto, {dates})")
            }
            Issue::UnknownTrust(word) => {
                write!(f, "unknown trust \"{}\" (there are off, tofu, strict)", printable(word))
            }
            Issue::Exclusive(one, other) => {
                write!(f, "both \"{one}\" and \"{other}\" are set")
            }
            Issue::BadVariable { field } => {
                write!(f, "\"{}\" does not name an environment variable", printable(field))
            }
            Issue::BadHeader { field } => {
                write!(f, "\"{}\" does not name an HTTP header", printable(field))
            }
        }
    }
}
