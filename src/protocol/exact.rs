//! The canonical text of any JSON, to be compared by its hash.
//!
//! It is that of RFC 8785 wherever that loses nothing. Elsewhere this text says what was there,
//! since a difference must not disappear: a number that is not what the shortest spelling of its
//! double says (a long integer, more digits than a double has, what is beyond the largest) stays as
//! it is spelled, of members with one name all are kept in their order, half a surrogate pair stays
//! the escape that it is, and what is nested deeper than 128 levels stays as it came. The string that
//! section 3.1 advises for long integers could not be told from one that was a string before.

use std::borrow::Cow;

use super::canonical::{push_number, push_object, push_tree};
use super::decimal::Decimal;
use super::json;
use super::tree::Tree;

/// The canonical text of a JSON text; of what is not JSON, the string of it.
pub fn canonical(text: &str) -> String {
    let mut out = String::new();
    push(&mut out, text);
    out
}

/// The canonical text of an object with these members, each given by its name and JSON text.
pub fn object<'a>(members: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut out = String::new();
    push_object(&mut out, members, push);
    out
}

/// Stands before what no text can contain: four hexadecimal digits are half a surrogate pair, or the
/// mark itself. It is no character, so that there is nothing more fitting for it to mean.
const MARK: char = '\u{ffff}';

fn push(out: &mut String, text: &str) {
    let marked = mark(text);
    let start = out.len();
    match Tree::parse(&marked) {
        Ok(tree) => push_tree(out, &tree, push_scalar),
        Err(_) => return json::push_string(out, text),
    }
    if let Cow::Owned(_) = marked {
        let written = out.split_off(start);
        unmark(out, &written);
    }
}

/// JSON text in which no surrogate lacks its partner: readers of text make one character of all that
/// do.
fn mark(text: &str) -> Cow<'_, str> {
    if !text.contains("\\u") && !text.contains(MARK) {
        return Cow::Borrowed(text);
    }
    let (mut marked, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(['\\', MARK]) {
        marked.push_str(&rest[..at]);
        rest = &rest[at..];
        let unit = code_unit(rest);
        let has_partner = || code_unit(&rest[6..]).is_some_and(|it| matches!(it, 0xdc00..=0xdfff));
        let length = match unit {
            Some(0xd800..=0xdbff) if has_partner() => 12,
            Some(unit @ (0xd800..=0xdfff | 0xffff)) => {
                marked.push_str(&format!("{MARK}{unit:04x}"));
                rest = &rest[6..];
                continue;
            }
            Some(_) => 6,
            None if rest.starts_with(MARK) => {
                marked.push_str(&format!("{MARK}ffff"));
                rest = &rest[MARK.len_utf8()..];
                continue;
            }
            // An escape of one character, whichever it is.
            None => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
        };
        marked.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    marked.push_str(rest);
    Cow::Owned(marked)
}

/// Appends a text with what its marks stand for.
fn unmark(out: &mut String, text: &str) {
    let mut parts = text.split(MARK);
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        match part.split_at_checked(4) {
            Some(("ffff", rest)) => out.extend([MARK.encode_utf8(&mut [0; 4]), rest]),
            Some((unit, rest)) => out.extend(["\\u", unit, rest]),
            None => out.push_str(part),
        }
    }
}

/// The number in a `\uXXXX` at the start of a text.
fn code_unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    // Parsing would take a sign.
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hex.then(|| u16::from_str_radix(digits, 16).ok())?
}

fn push_scalar(out: &mut String, text: &str) {
    let Some(exact) = Decimal::parse(text) else { return out.push_str(text) };
    // Every JSON number is one for Rust, too.
    let double: f64 = text.parse().unwrap_or(f64::INFINITY);
    let mut shortest = String::new();
    if double.is_finite() {
        push_number(&mut shortest, double);
    }
    out.push_str(match Decimal::parse(&shortest) {
        Some(double) if double == exact => &shortest,
        _ => text,
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical;

    #[test]
    fn where_the_standard_has_a_text_this_is_it() {
        for text in [
            "null",
            " [ true , false ] ",
            r#"{"numbers":[333333333.3333333,1E30,4.50,2e-3,0.000000000000000000000000001],
                "string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true]}"#,
            r#" { "\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": 1, "1": "One",
                 "\ud83d\ude00": "Emoji", "\u0080": "Control", "\u00f6": "" } "#,
            "[1.50,1E2,-0.0,100,0.5,9007199254740992,-1e-7,1e21,123e-20]",
        ] {
            assert_eq!(Ok(super::canonical(text)), canonical::canonical(text), "{text}");
        }
    }

    #[test]
    fn no_difference_disappears() {
        let check = |text: &str, expected: &str| assert_eq!(super::canonical(text), expected);
        for number in [
            "9007199254740993",
            "12345678901234567890",
            "1e400",
            "-1e400",
            "1e-400",
            "333333333.33333329",
            "0.10000000000000001",
        ] {
            check(number, number);
            check(&format!("\"{number}\""), &format!("\"{number}\""));
        }
        check(r#"{"b":1,"a":2,"b":3}"#, r#"{"a":2,"b":1,"b":3}"#);
        check("{oops", "\"{oops\"");
        let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
        check(&deep, &deep);
        // Half a surrogate pair, wherever it stands, is neither another one nor what stands for it.
        check(r#""\uD800""#, r#""\ud800""#);
        check(
            r#"{"\udfff":"x\ud800\\","\ud800":"\udc00\ud800"}"#,
            r#"{"\ud800":"\udc00\ud800","\udfff":"x\ud800\\"}"#,
        );
        check(r#""\ud83d\ude00\ud83d""#, "\"\u{1f600}\\ud83d\"");
        check(r#""\\ud800""#, r#""\\ud800""#);
        check("\"\u{fffd}\u{ffff}d800\\uffffffff\"", "\"\u{fffd}\u{ffff}d800\u{ffff}ffff\"");
        check(r#""\ud80""#, r#""\"\\ud80\"""#);
    }

    #[test]
    fn an_object_is_made_of_its_members() {
        let members = [("title", "\"x\""), ("name", " \"y\" "), ("annotations", "{ }")];
        assert_eq!(object(members), r#"{"annotations":{},"name":"y","title":"x"}"#);
        assert_eq!(object([]), "{}");
    }
}
