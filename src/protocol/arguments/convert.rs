//! From the text of a word to JSON, by the type that the schema says.
//!
//! Nothing is guessed from the text: it says which of several types is meant only where the schema
//! leaves the choice, and a string comes first.

use super::check::accepts;
use super::error::{ArgError, NumberFault, ValueFault};
use crate::decimal::is_number;
use crate::json;
use crate::model::schema::{Shape, Types};
use crate::tree::{BLANKS, Tree};

/// What a text became.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Converted {
    /// A value, as JSON.
    Value(String),
    /// One element of an array, as JSON.
    Element(String),
    /// A whole array, as JSON.
    Array(String),
}

/// Turns a text into JSON. `key` is the parameter, for errors.
pub(super) fn convert(text: &str, shape: &Shape<'_>, key: &str) -> Result<Converted, ArgError> {
    let (types, choices) = (shape.types(), shape.choices());
    if let Some(choice) = chosen(text, &choices) {
        return Ok(Converted::Value(choice));
    }
    if types.is_empty() {
        return Ok(Converted::Value(json::string(text)));
    }
    // The texts of files end with a line end, which is not meant where a string is not.
    let bare = text.trim_end_matches(['\r', '\n']);
    if types.has(Types::NULL) && bare == "null" {
        return Ok(Converted::Value(bare.to_owned()));
    }
    let string = json::string(text);
    if types.has(Types::STRING) && accepts(shape, &string) {
        return Ok(Converted::Value(string));
    }
    if let Some(literal) = literal(bare, types) {
        return Ok(Converted::Value(literal));
    }
    let json = text.trim_matches(BLANKS);
    if types.has(Types::ARRAY) && json.starts_with('[') {
        return match json::validate(json) {
            Ok(()) => Ok(Converted::Array(json.to_owned())),
            Err(invalid) => Err(ArgError::value(key, ValueFault::ArrayText(invalid.reason))),
        };
    }
    if types.has(Types::OBJECT) && json.starts_with('{') {
        return match json::validate(json) {
            Ok(()) => Ok(Converted::Value(json.to_owned())),
            Err(invalid) => Err(ArgError::value(key, ValueFault::Json(invalid.reason))),
        };
    }
    if types.has(Types::ARRAY) {
        return element(text, &shape.element(None), key);
    }
    // The types are a summary: a part that names none may allow the text all the same.
    if accepts(shape, &string) {
        return Ok(Converted::Value(string));
    }
    Err(ArgError::value(key, misfit(bare, types, &choices)))
}

/// Turns a text into JSON whatever the schema makes of it: a string where nothing else fits.
pub(super) fn convert_unchecked(text: &str, shape: &Shape<'_>, key: &str) -> Converted {
    convert(text, shape, key).unwrap_or_else(|_| {
        let string = json::string(text);
        let listed = shape.types().has(Types::ARRAY);
        if listed { Converted::Element(string) } else { Converted::Value(string) }
    })
}

fn element(text: &str, shape: &Shape<'_>, key: &str) -> Result<Converted, ArgError> {
    Ok(Converted::Element(match convert(text, shape, &format!("{key}[]"))? {
        Converted::Value(json) | Converted::Array(json) => json,
        Converted::Element(json) => format!("[{json}]"),
    }))
}

/// The value of an `enum` that the text names, as JSON. A string that reads the same comes first.
fn chosen(text: &str, choices: &[&Tree<'_>]) -> Option<String> {
    let bare = text.trim_end_matches(['\r', '\n']);
    let named = |text: &str| choices.iter().any(|choice| choice.as_text().as_deref() == Some(text));
    let strings = [text, bare].into_iter().find(|text| named(text)).map(json::string);
    strings.or_else(|| {
        let same = choices.iter().any(|choice| matches!(choice, Tree::Leaf(leaf) if *leaf == bare));
        same.then(|| bare.to_owned())
    })
}

/// The text as a boolean or a number, if it is one of the types.
fn literal(text: &str, types: Types) -> Option<String> {
    let boolean = types.has(Types::BOOLEAN) && matches!(text, "true" | "false");
    let numeric = types.has(Types::INTEGER.or(Types::NUMBER)) && is_number(text);
    let admitted = numeric && types.admit(Types::of_text(text));
    (boolean || admitted).then(|| text.to_owned())
}

/// Why a text is of none of the types.
fn misfit(text: &str, expected: Types, choices: &[&Tree<'_>]) -> ValueFault {
    if !choices.is_empty() {
        let allowed = choices.iter().map(ToString::to_string).collect();
        return ValueFault::Choice { allowed, found: json::string(text) };
    }
    let numeric = Types::INTEGER.or(Types::NUMBER);
    if expected.has(numeric) && expected.without(numeric.or(Types::NULL)).is_empty() {
        return ValueFault::Number { expected, found: text.to_owned(), fault: number_fault(text) };
    }
    ValueFault::Type { expected, found: json::string(text) }
}

/// Why a text is no JSON number, or not the integer that is wanted.
fn number_fault(text: &str) -> NumberFault {
    let digits = text.trim_start_matches(['+', '-']);
    let lower = digits.to_ascii_lowercase();
    let based = ["0x", "0o", "0b"].iter().any(|prefix| lower.starts_with(prefix));
    let closed_up: String =
        digits.chars().filter(|c| !matches!(c, '_' | ',' | '\'' | ' ')).collect();
    let completed = [format!("0{digits}"), format!("{digits}0")];
    match text {
        "" => NumberFault::Empty,
        _ if is_number(text) => NumberFault::Fraction,
        _ if is_number(text.trim()) => NumberFault::Blanks,
        _ if ["nan", "inf", "infinity"].contains(&&*lower) => NumberFault::Infinite,
        _ if based => NumberFault::Base,
        _ if text.starts_with('+') && is_number(digits) => NumberFault::Plus,
        _ if digits.starts_with('0') && is_number(&format!("1{digits}")) => {
            NumberFault::LeadingZero
        }
        _ if is_number(&closed_up) => NumberFault::Separator,
        _ if digits.contains('.') && completed.iter().any(|text| is_number(text)) => {
            NumberFault::Point
        }
        _ => NumberFault::Other,
    }
}
