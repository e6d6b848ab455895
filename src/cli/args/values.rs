//! Options whose value has parts: headers, variables, assignments, addresses.

use std::fmt;
use std::str::FromStr;

use crate::net::{self, InvalidHeader};
use crate::protocol::json;
use crate::protocol::pointer::{InvalidPointer, Pointer};

/// Text that may hold a secret: it is not shown by `Debug`, nor in any message.
#[derive(Clone, PartialEq, Eq)]
pub struct Private(String);

impl Private {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Private {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

impl From<&str> for Private {
    fn from(text: &str) -> Private {
        Private(text.to_owned())
    }
}

/// A value that cannot be taken. The texts never repeat the value, which may hold a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Invalid {
    /// Nothing at all.
    Empty,
    /// No header field that a user may set.
    Header(InvalidHeader),
    /// A variable without `=` or without a name.
    Variable,
    /// An assignment without `=` or without a key.
    Assignment,
    /// The JSON of `key:=json` is none.
    Json {
        /// The key.
        key: String,
        /// What the parser said.
        reason: String,
    },
    /// An expectation without `=`.
    Expectation,
    /// What stands before the `=` of an expectation is no JSON Pointer.
    Pointer(InvalidPointer),
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Invalid::Empty => f.write_str("the value is empty"),
            Invalid::Header(header) => header.fmt(f),
            Invalid::Variable => f.write_str("a variable is written NAME=value"),
            Invalid::Assignment => f.write_str("write key=text or key:=json"),
            Invalid::Json { key, reason } => write!(f, "what follows {key}:= is no JSON: {reason}"),
            Invalid::Expectation => f.write_str("write /pointer=value"),
            Invalid::Pointer(invalid) => invalid.fmt(f),
        }
    }
}

/// Text that must not be empty, and may hold a secret.
pub(super) fn private(given: &str) -> Result<Private, Invalid> {
    if given.is_empty() { Err(Invalid::Empty) } else { Ok(given.into()) }
}

/// An HTTP header field (`--header 'Name: value'`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The name, as it was written.
    pub name: String,
    /// The value, without the blanks around it.
    pub value: Private,
}

impl FromStr for Header {
    type Err = Invalid;

    fn from_str(given: &str) -> Result<Header, Invalid> {
        let (name, value) = net::read_header(given).map_err(Invalid::Header)?;
        Ok(Header { name: name.to_owned(), value: value.into() })
    }
}

/// An environment variable for a started server (`--env NAME=value`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// The name.
    pub name: String,
    /// The value.
    pub value: Private,
}

impl FromStr for Variable {
    type Err = Invalid;

    fn from_str(given: &str) -> Result<Variable, Invalid> {
        match given.split_once('=') {
            Some((name, value)) if !name.is_empty() => {
                Ok(Variable { name: name.to_owned(), value: value.into() })
            }
            _ => Err(Invalid::Variable),
        }
    }
}

/// `key=text` or `key:=json` (`--meta`, `--answer`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The key.
    pub key: String,
    /// The value.
    pub value: Assigned,
}

/// The value of an [`Assignment`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Assigned {
    /// Text that was not looked into.
    Text(String),
    /// One JSON value, as it was written.
    Json(String),
}

impl FromStr for Assignment {
    type Err = Invalid;

    fn from_str(given: &str) -> Result<Assignment, Invalid> {
        let (left, right) = given.split_once('=').ok_or(Invalid::Assignment)?;
        let (key, is_json) = match left.strip_suffix(':') {
            Some(key) => (key, true),
            None => (left, false),
        };
        if key.is_empty() {
            return Err(Invalid::Assignment);
        }
        let key = key.to_owned();
        if !is_json {
            return Ok(Assignment { key, value: Assigned::Text(right.to_owned()) });
        }
        match json::validate(right) {
            Ok(()) => Ok(Assignment { key, value: Assigned::Json(right.to_owned()) }),
            Err(json::Invalid { reason }) => Err(Invalid::Json { key, reason }),
        }
    }
}

/// What an answer must have (`--expect pointer=value`). The first `=` is the sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expectation {
    /// Where.
    pub pointer: Pointer,
    /// What: a text as it is, anything else as JSON.
    pub value: String,
}

impl FromStr for Expectation {
    type Err = Invalid;

    fn from_str(given: &str) -> Result<Expectation, Invalid> {
        let (pointer, value) = given.split_once('=').ok_or(Invalid::Expectation)?;
        let pointer = pointer.parse().map_err(Invalid::Pointer)?;
        Ok(Expectation { pointer, value: value.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_have_a_name_and_a_value() {
        let check = |text: &str, name: &str, value: &str| {
            let header = Header::from_str(text).unwrap();
            assert_eq!((header.name.as_str(), header.value.as_str()), (name, value));
        };
        check("X-Team: red", "X-Team", "red");
        check("X-Team:red", "X-Team", "red");
        check("X-Url: http://x/:y \t", "X-Url", "http://x/:y");
        check("X-Empty:", "X-Empty", "");
        check("Origin: https://x.example", "Origin", "https://x.example");
        check("Authorization: Basic eA==", "Authorization", "Basic eA==");
    }

    #[test]
    fn a_header_that_is_wrong_or_belongs_to_the_protocol_is_refused() {
        let check = |text: &str, expected: Invalid| {
            assert_eq!(Header::from_str(text), Err(expected), "{text}");
        };
        check("", Invalid::Header(InvalidHeader::NoColon));
        check("X-Team red", Invalid::Header(InvalidHeader::NoColon));
        check(": red", Invalid::Header(InvalidHeader::Name("".into())));
        check("X Team: red", Invalid::Header(InvalidHeader::Name("X Team".into())));
        check("X-Team : red", Invalid::Header(InvalidHeader::Name("X-Team ".into())));
        check("X-Tëam: red", Invalid::Header(InvalidHeader::Name("X-Tëam".into())));
        check("X-Team: réd", Invalid::Header(InvalidHeader::Value("X-Team".into())));
        check("X-Team: red\r\nHost: x", Invalid::Header(InvalidHeader::Value("X-Team".into())));
        check("X-Team: \u{7f}", Invalid::Header(InvalidHeader::Value("X-Team".into())));
        for name in ["Accept", "CONTENT-TYPE", "Mcp-Session-Id", "MCP-Protocol-Version"] {
            check(&format!("{name}: x"), Invalid::Header(InvalidHeader::Reserved(name.into())));
        }
        for name in ["Mcp-Param-City", "mcp-method", "Mcp-Name", "Last-Event-ID"] {
            check(&format!("{name}: x"), Invalid::Header(InvalidHeader::Reserved(name.into())));
        }
    }

    #[test]
    fn assignments_are_text_or_json() {
        let text = |given: &str, key: &str, value: &str| {
            let value = Assigned::Text(value.into());
            assert_eq!(given.parse(), Ok(Assignment { key: key.into(), value }));
        };
        let json = |given: &str, key: &str, value: &str| {
            let value = Assigned::Json(value.into());
            assert_eq!(given.parse(), Ok(Assignment { key: key.into(), value }));
        };
        text("a=b", "a", "b");
        text("a=", "a", "");
        text("a=b=c", "a", "b=c");
        text("a=:=1", "a", ":=1");
        text("com.example/trace=1", "com.example/trace", "1");
        json("a:=1.50", "a", "1.50");
        json("a:={\"b\": 12345678901234567890}", "a", "{\"b\": 12345678901234567890}");
        for given in ["", "a", "=b", ":=1"] {
            assert_eq!(given.parse::<Assignment>(), Err(Invalid::Assignment), "{given}");
        }
        assert!(matches!("a:=b".parse::<Assignment>(), Err(Invalid::Json { .. })));
    }

    #[test]
    fn an_expectation_is_a_pointer_and_a_value() {
        let check = |given: &str, pointer: &str, value: &str| {
            let pointer = pointer.parse().unwrap();
            assert_eq!(given.parse(), Ok(Expectation { pointer, value: value.into() }));
        };
        check("/a=b", "/a", "b");
        check("=b", "", "b");
        check("/a~1b/-=", "/a~1b/-", "");
        check("/a=b=c", "/a", "b=c");
        let check = |given: &str, expected| assert_eq!(given.parse::<Expectation>(), Err(expected));
        check("/a", Invalid::Expectation);
        check("a=b", Invalid::Pointer(InvalidPointer::NoSlash));
    }

    #[test]
    fn secrets_are_not_shown() {
        let header: Header = "Authorization: Bearer hunter2".parse().unwrap();
        let variable: Variable = "TOKEN=hunter2".parse().unwrap();
        assert!(!format!("{header:?}{variable:?}").contains("hunter2"));
    }
}
