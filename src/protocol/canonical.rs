//! The canonical text of JSON (RFC 8785): the same bytes for the same value, to be signed.
//!
//! A signature over JSON is only worth something when everybody reads the same from it. So what
//! readers disagree about is refused: repeated names, numbers beyond a double, surrogates without
//! their partner, and what is nested deeper than any document of ours.

use std::cmp::Ordering;
use std::fmt;

use super::json;
use super::sorting::{sort, sort_by};
use super::tree::Tree;

/// How deep arrays and objects may be nested.
pub const DEPTH: usize = 64;

/// Why a text has no canonical form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ambiguous {
    /// It is not JSON, or contains a number beyond a double or half a surrogate pair.
    Invalid(String),
    /// An object has two members of this name.
    Repeated(String),
    /// It is nested deeper than [`DEPTH`].
    Deep,
}

impl fmt::Display for Ambiguous {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ambiguous::Invalid(reason) => f.write_str(reason),
            Ambiguous::Repeated(name) => write!(f, "the name {} is repeated", json::string(name)),
            Ambiguous::Deep => write!(f, "it is nested deeper than {DEPTH} levels"),
        }
    }
}

/// Takes a text apart that everybody reads alike.
///
/// # Errors
/// When the text can be read in more than one way.
pub fn parse(text: &str) -> Result<Tree<'_>, Ambiguous> {
    // A tree keeps numbers and lone surrogates as they are; this reader refuses what is not I-JSON.
    let value = serde_json::from_str::<serde_json::Value>(text);
    value.map_err(|error| Ambiguous::Invalid(error.to_string()))?;
    let tree = Tree::parse(text).map_err(|invalid| Ambiguous::Invalid(invalid.reason))?;
    check(&tree, DEPTH)?;
    Ok(tree)
}

/// The canonical text of a JSON text.
///
/// # Errors
/// When the text can be read in more than one way.
pub fn canonical(text: &str) -> Result<String, Ambiguous> {
    Ok(text_of(&parse(text)?))
}

/// The canonical text of what [`parse`] returned.
pub fn text_of(tree: &Tree<'_>) -> String {
    let mut out = String::new();
    push_tree(&mut out, tree, push_scalar);
    out
}

fn check(tree: &Tree<'_>, depth: usize) -> Result<(), Ambiguous> {
    if depth == 0 && !matches!(tree, Tree::Leaf(_)) {
        return Err(Ambiguous::Deep);
    }
    let mut names: Vec<&str> = tree.members().iter().map(|(name, _)| name.as_ref()).collect();
    sort(&mut names);
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Ambiguous::Repeated(pair[0].to_owned()));
    }
    let members = tree.members().iter().map(|(_, value)| value);
    members.chain(tree.elements()).try_for_each(|value| check(value, depth - 1))
}

/// Appends a value, its members in order, and what is no text as `push_scalar` writes it.
pub(super) fn push_tree(out: &mut String, tree: &Tree<'_>, push_scalar: fn(&mut String, &str)) {
    match tree {
        Tree::Leaf(text) => match tree.as_text() {
            Some(string) => json::push_string(out, &string),
            None => push_scalar(out, text),
        },
        Tree::Array(elements) => {
            out.push('[');
            for (index, element) in elements.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                push_tree(out, element, push_scalar);
            }
            out.push(']');
        }
        Tree::Object(members) => {
            let members = members.iter().map(|(name, value)| (name.as_ref(), value));
            push_object(out, members, |out, value| push_tree(out, value, push_scalar));
        }
    }
}

/// Appends an object with its members in order. Those of one name keep theirs.
pub(super) fn push_object<'n, V>(
    out: &mut String,
    members: impl IntoIterator<Item = (&'n str, V)>,
    push_value: impl Fn(&mut String, V),
) {
    let mut members: Vec<_> = members.into_iter().collect();
    sort_by(&mut members, |(a, _), (b, _)| by_utf16(a, b));
    out.push('{');
    for (index, (name, value)) in members.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        json::push_string(out, name);
        out.push(':');
        push_value(out, value);
    }
    out.push('}');
}

/// The order of names: by the units of their UTF-16, as RFC 8785, section 3.2.3 has it.
pub fn by_utf16(one: &str, other: &str) -> Ordering {
    one.encode_utf16().cmp(other.encode_utf16())
}

fn push_scalar(out: &mut String, text: &str) {
    match text.parse() {
        Ok(number) => push_number(out, number),
        Err(_) => out.push_str(text),
    }
}

/// Appends a number as ECMAScript writes it (ECMA-262, Number::toString).
pub(super) fn push_number(out: &mut String, number: f64) {
    if number == 0.0 {
        // There is one zero: -0 loses its sign.
        return out.push('0');
    }
    if number < 0.0 {
        out.push('-');
    }
    // The shortest digits that mean this number, and where the point is: d.ddd × 10^exponent.
    let shortest = format!("{:e}", number.abs());
    // Of two that are equally near, ECMAScript takes the even one, as exact rounding does.
    let length = shortest.split('e').next().unwrap_or_default().len().saturating_sub(2);
    let nearest = format!("{:.length$e}", number.abs());
    let is_exact = nearest.parse() == Ok(number.abs());
    let scientific = if is_exact { nearest } else { shortest };
    let (mantissa, exponent) = scientific.split_once('e').expect("{:e} writes an exponent");
    let exponent: i32 = exponent.parse().expect("{:e} writes a decimal exponent");
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or_default());
    let length = digits.len() as i32;
    match exponent + 1 {
        point if length <= point && point <= 21 => {
            out.push_str(&digits);
            out.push_str(&zeros(point - length));
        }
        point @ 1..=21 => {
            let (whole, fraction) = digits.split_at(point as usize);
            out.push_str(&format!("{whole}.{fraction}"));
        }
        point @ -5..=0 => out.push_str(&format!("0.{}{digits}", zeros(-point))),
        _ => {
            let (first, rest) = digits.split_at(1);
            let point = if rest.is_empty() { "" } else { "." };
            out.push_str(&format!("{first}{point}{rest}e{exponent:+}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(canonical(text).as_deref(), Ok(expected), "{text}");
    }

    #[test]
    fn numbers_are_written_as_ecmascript_does() {
        // RFC 8785, appendix B: the bits of a double and its text.
        for (bits, expected) in [
            (0x0000_0000_0000_0000, "0"),
            (0x8000_0000_0000_0000, "0"),
            (0x0000_0000_0000_0001, "5e-324"),
            (0x8000_0000_0000_0001, "-5e-324"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0x4340_0000_0000_0000, "9007199254740992"),
            (0xc340_0000_0000_0000, "-9007199254740992"),
            (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
            (0x44b5_2d02_c7e1_4af6, "1e+23"),
            (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
            (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
            (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
            (0x444b_1ae4_d6e2_ef50, "1e+21"),
            (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
            (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
            (0x41b3_de43_5555_5553, "333333333.3333332"),
            (0x41b3_de43_5555_5556, "333333333.3333334"),
            (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
            (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
        ] {
            let mut text = String::new();
            push_number(&mut text, f64::from_bits(bits));
            assert_eq!(text, expected, "{bits:x}");
        }
        check(
            "[1.50,1E2,-0.0,100,12345678901234567890,0.5]",
            "[1.5,100,0,100,12345678901234567000,0.5]",
        );
    }

    #[test]
    fn members_are_sorted_by_utf16_and_strings_are_plain() {
        check(
            r#" { "\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": 1, "1": "One",
                 "\ud83d\ude00": "Emoji", "\u0080": "Control", "\u00f6": "" } "#,
            "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u{80}\":\"Control\",\"ö\":\"\",\
             \"€\":\"Euro Sign\",\"\u{1f600}\":\"Emoji\",\"\u{fb33}\":1}",
        );
        // RFC 8785, section 3.2.2.
        check(
            r#"{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],
                "string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}"#,
            "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\
             \"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}",
        );
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_refused() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        check(&nested(DEPTH), &nested(DEPTH));
        assert_eq!(canonical(&nested(DEPTH + 1)), Err(Ambiguous::Deep));
        assert_eq!(canonical(r#"[{"a":1,"\u0061":1}]"#), Err(Ambiguous::Repeated("a".into())));
        for text in
            ["", "{", "1e400", r#""\ud800""#, r#"{"\udc00":1}"#, "[1,]", "1 2", &nested(999)]
        {
            assert!(matches!(canonical(text), Err(Ambiguous::Invalid(_))), "{text}");
        }
    }
}
