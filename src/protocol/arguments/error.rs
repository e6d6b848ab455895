//! What can be wrong with arguments.

use std::fmt::{self, Display, Formatter};

use super::path::KeyFault;
use super::shown::{Listed, Shown};
use crate::model::schema::Types;

/// Why words are no arguments for a tool.
///
/// Shown, an error is one line that names what is at fault; several errors are as many lines.
/// Texts of users and servers are shortened in it, and control characters escaped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgError {
    /// A word is at fault, whatever the tool is.
    Word {
        /// The word as it was typed.
        word: String,
        /// What is wrong with it.
        fault: WordFault,
    },
    /// A value is at fault.
    Value {
        /// The path to it as it is written in a word (`a.b`, `a[0]`), and in brackets the file that
        /// it came from, if it did.
        key: String,
        /// What is wrong with it.
        fault: ValueFault,
    },
    /// Parameters with these keys are required and not there.
    Missing(Vec<String>),
    /// All of these.
    Several(Vec<ArgError>),
}

/// What is wrong with a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordFault {
    /// It has none of the forms of an argument.
    NoArgument,
    /// Its key is no path.
    Key(KeyFault),
    /// No file name follows its `@`.
    NoPath,
    /// It wants standard input, which another word has.
    SecondStdin,
    /// It is a whole object, and so is another word.
    SecondObject,
    /// It looks like an option of the tool, but stands before `--`.
    EarlyOption,
    /// It stands after `--`, but is neither an option nor the value of one.
    NoOption,
    /// It is an option for which several parameters could be meant: these.
    Ambiguous(Vec<String>),
    /// It is an option that needs a value, of these types if they are known.
    NoValue(Types),
    /// It negates the parameter with that key, which is no boolean, or has a value as well.
    NoFlag(String),
}

/// What is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueFault {
    /// It is to be the arguments as a whole, but has this type.
    NoObject(Types),
    /// It is broken JSON. The parser says why.
    Json(String),
    /// It is for an array and starts with `[`, but is broken JSON. The parser says why.
    ArrayText(String),
    /// It is to be sent as text and is not UTF-8.
    NotUtf8,
    /// A key leads into it, but it has this type and holds no others.
    Scalar(Types),
    /// The tool has no parameter with that key.
    Unknown {
        /// The key that was probably meant.
        suggestion: Option<String>,
        /// The keys there are.
        known: Vec<String>,
    },
    /// It has the wrong type.
    Type {
        /// The types it may have; empty when it only fits none of several schemas.
        expected: Types,
        /// The value, as JSON.
        found: String,
    },
    /// It is not written as a number.
    Number {
        /// The types it may have.
        expected: Types,
        /// The value as it was typed.
        found: String,
        /// What keeps it from being a number.
        fault: NumberFault,
    },
    /// It is not among the values that are allowed.
    Choice {
        /// Those values, as JSON.
        allowed: Vec<String>,
        /// The value, as JSON.
        found: String,
    },
    /// The tool allows no value there at all.
    Forbidden,
}

/// Why a text is no JSON number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberFault {
    /// It is empty.
    Empty,
    /// It starts with a zero that is not its only digit: `007`.
    LeadingZero,
    /// It has separators between digits: `1_000`, `1,000`.
    Separator,
    /// It is written in another base: `0x1F`.
    Base,
    /// It starts with `+`.
    Plus,
    /// It starts or ends with the decimal point.
    Point,
    /// It is infinite or not a number at all: `NaN`.
    Infinite,
    /// It is a number with a fraction where an integer is wanted.
    Fraction,
    /// It has blanks around it.
    Blanks,
    /// None of the above.
    Other,
}

impl ArgError {
    pub(super) fn word(word: &str, fault: WordFault) -> ArgError {
        ArgError::Word { word: word.to_owned(), fault }
    }

    pub(super) fn value(key: &str, fault: ValueFault) -> ArgError {
        ArgError::Value { key: key.to_owned(), fault }
    }

    /// Errors with all of the errors as one, if there are any.
    pub(super) fn unless_empty(mut errors: Vec<ArgError>) -> Result<(), ArgError> {
        match errors.len() {
            0 => Ok(()),
            1 => Err(errors.remove(0)),
            _ => Err(ArgError::Several(errors)),
        }
    }

    pub(super) fn is_unknown_key(&self) -> bool {
        matches!(self, ArgError::Value { fault: ValueFault::Unknown { .. }, .. })
    }
}

impl std::error::Error for ArgError {}

impl Display for ArgError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ArgError::Word { word, fault } => write!(f, "\"{}\" {fault}", Shown(word)),
            ArgError::Value { key, fault: ValueFault::ArrayText(reason) } => {
                let key = Shown(key);
                write!(f, "{key}: not JSON: {reason}; to send it as one element: {key}[]=…")
            }
            ArgError::Value { key, fault } => write!(f, "{}: {fault}", Shown(key)),
            ArgError::Missing(keys) => write!(f, "missing: {}", Listed(keys)),
            ArgError::Several(errors) => {
                for (index, error) in errors.iter().enumerate() {
                    write!(f, "{}{error}", if index > 0 { "\n" } else { "" })?;
                }
                Ok(())
            }
        }
    }
}

impl Display for WordFault {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            WordFault::NoArgument => {
                f.write_str("is not an argument: write key=value, key:=JSON, '{…}', @file or -")
            }
            WordFault::Key(fault) => write!(f, "has a wrong key: {fault}"),
            WordFault::NoPath => {
                f.write_str("names no file after the @; to send a text that starts with @: @@")
            }
            WordFault::SecondStdin => f.write_str("wants standard input, which is already taken"),
            WordFault::SecondObject => f.write_str("is a second whole object"),
            WordFault::EarlyOption => f.write_str("looks like an option of the tool: put -- first"),
            WordFault::NoOption => f.write_str("is not an option: after --, write --key value (options of the command come before)"),
            WordFault::Ambiguous(keys) => write!(f, "may stand for any of {}", Listed(keys)),
            WordFault::NoValue(types) if types.is_empty() => f.write_str("has no value"),
            WordFault::NoValue(types) => write!(f, "has no value: expected {types}"),
            WordFault::NoFlag(key) => {
                write!(f, "negates {}: only booleans, without a value", Shown(key))
            }
        }
    }
}

impl Display for ValueFault {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ValueFault::NoObject(found) => write!(f, "expected a JSON object, found {found}"),
            ValueFault::Json(reason) | ValueFault::ArrayText(reason) => {
                write!(f, "not JSON: {reason}")
            }
            ValueFault::NotUtf8 => {
                f.write_str("not UTF-8 text; to send any bytes in Base64: @b64:file")
            }
            ValueFault::Scalar(found) => write!(f, "holds no values inside, it is {found}"),
            ValueFault::Unknown { suggestion: Some(key), .. } => {
                write!(f, "no such parameter; did you mean {}?", Shown(key))
            }
            ValueFault::Unknown { known, .. } if known.is_empty() => {
                f.write_str("no such parameter; the tool has none")
            }
            ValueFault::Unknown { known, .. } => {
                write!(f, "no such parameter; the tool has {}", Listed(known))
            }
            ValueFault::Type { expected, found } if expected.is_empty() => {
                write!(f, "fits none of the schemas for it: {}", Shown(found))
            }
            ValueFault::Type { expected, found } => {
                let spelled = if *expected == Types::BOOLEAN { " (true or false)" } else { "" };
                write!(f, "expected {expected}{spelled}, found {}", Shown(found))
            }
            ValueFault::Number { expected, found, fault } => {
                write!(f, "expected {expected}, found \"{}\": {fault}", Shown(found))
            }
            ValueFault::Choice { allowed, found } => {
                let one = if allowed.len() == 1 { "" } else { "one of " };
                write!(f, "expected {one}{}, found {}", Listed(allowed), Shown(found))
            }
            ValueFault::Forbidden => f.write_str("no value is allowed here"),
        }
    }
}

impl Display for NumberFault {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NumberFault::Empty => "it is empty",
            NumberFault::LeadingZero => "a JSON number has no leading zeros",
            NumberFault::Separator => "a JSON number has no separators",
            NumberFault::Base => "a JSON number is decimal",
            NumberFault::Plus => "a JSON number has no plus sign",
            NumberFault::Point => "a JSON number has digits on both sides of the point",
            NumberFault::Infinite => "a JSON number is finite",
            NumberFault::Fraction => "it has a fraction",
            NumberFault::Blanks => "there are blanks around it",
            NumberFault::Other => "it is not a number",
        })
    }
}
