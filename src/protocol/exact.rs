//! The canonical text of any JSON, to be compared by its hash.
//!
//! It is that of RFC 8785 wherever that has one. Where it has none, this text says what was
//! there, since a difference must not disappear: an integer that no double is equal to, and a number
//! beyond the largest, is the string of its spelling (as section 3.1 advises for long integers), of
//! members with one name all are kept in their order, and what is nested deeper than 128 levels
//! stays as it came.

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

fn push(out: &mut String, text: &str) {
    match Tree::parse(text) {
        Ok(tree) => push_tree(out, &tree, push_scalar),
        Err(_) => json::push_string(out, text),
    }
}

fn push_scalar(out: &mut String, text: &str) {
    let Some(exact) = Decimal::parse(text) else { return out.push_str(text) };
    // Every JSON number is one for Rust, too.
    let double: f64 = text.parse().unwrap_or(f64::INFINITY);
    let mut shortest = String::new();
    if double.is_finite() {
        push_number(&mut shortest, double);
    }
    let is_integer = !text.contains(['.', 'e', 'E']);
    match Decimal::parse(&shortest) {
        Some(double) if double == exact || !is_integer => out.push_str(&shortest),
        _ => json::push_string(out, text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::canonical;

    #[test]
    fn where_the_standard_has_a_text_this_is_it() {
        for text in [
            "null",
            " [ true , false ] ",
            r#"{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],
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
        check("9007199254740993", "\"9007199254740993\"");
        check("[12345678901234567890]", "[\"12345678901234567890\"]");
        check("1e400", "\"1e400\"");
        check("-1e400", "\"-1e400\"");
        check(r#"{"b":1,"a":2,"b":3}"#, r#"{"a":2,"b":1,"b":3}"#);
        check("{oops", "\"{oops\"");
        let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
        check(&deep, &deep);
    }

    #[test]
    fn an_object_is_made_of_its_members() {
        let members = [("title", "\"x\""), ("name", " \"y\" "), ("annotations", "{ }")];
        assert_eq!(object(members), r#"{"annotations":{},"name":"y","title":"x"}"#);
        assert_eq!(object([]), "{}");
    }
}
