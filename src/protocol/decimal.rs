//! JSON numbers by value, without binary floating point.

use std::cmp::Ordering;

/// A number as sign, digits and power of ten, in the one form that equal numbers share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decimal {
    negative: bool,
    /// The significant digits: no leading and no trailing zeros, so that zero has none.
    digits: String,
    /// The power of ten that the digits, read as an integer, are multiplied by.
    exponent: i64,
}

impl Decimal {
    /// Reads a JSON number (RFC 8259, section 6); `None` when the text is none.
    pub(crate) fn parse(text: &str) -> Option<Decimal> {
        if !is_number(text) {
            return None;
        }
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, power(exponent)),
            None => (rest, 0),
        };
        let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{integer}{fraction}");
        let digits = all.trim_end_matches('0');
        if digits.is_empty() {
            return Some(Decimal { negative: false, digits: String::new(), exponent: 0 });
        }
        let shift = signed(all.len() - digits.len()) - signed(fraction.len());
        let digits = digits.trim_start_matches('0').to_owned();
        Some(Decimal { negative, digits, exponent: exponent + shift })
    }

    /// Whether the number has no fraction: `42`, `4.20e1`, `1.0`.
    pub(crate) fn is_integer(&self) -> bool {
        self.exponent >= 0
    }

    /// Whether the number is less than, equal to or greater than another.
    pub(crate) fn compare(&self, other: &Decimal) -> Ordering {
        let sign = |number: &Decimal| match (number.digits.is_empty(), number.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        // Where the first digit stands decides, and then the digits, as of a text.
        let magnitude = |number: &Decimal| number.exponent + signed(number.digits.len());
        let by_size = || {
            let by_place = magnitude(self).cmp(&magnitude(other));
            by_place.then_with(|| self.digits.cmp(&other.digits))
        };
        sign(self).cmp(&sign(other)).then_with(|| match sign(self) {
            0 => Ordering::Equal,
            1 => by_size(),
            _ => by_size().reverse(),
        })
    }

    /// The number as a machine integer; `None` when it has a fraction or does not fit.
    pub(crate) fn to_i64(&self) -> Option<i64> {
        let zeros = usize::try_from(self.exponent).ok().filter(|zeros| *zeros < 20)?;
        let sign = if self.negative { "-" } else { "" };
        let digits = if self.digits.is_empty() { "0" } else { &self.digits };
        format!("{sign}{digits}{}", "0".repeat(zeros)).parse().ok()
    }
}

/// Whether the text is a JSON number, with nothing around it.
pub(crate) fn is_number(text: &str) -> bool {
    let rest = text.strip_prefix('-').unwrap_or(text);
    let integer = leading_digits(rest);
    if integer == 0 || (integer > 1 && rest.starts_with('0')) {
        return false;
    }
    let mut rest = &rest[integer..];
    if let Some(fraction) = rest.strip_prefix('.') {
        let digits = leading_digits(fraction);
        if digits == 0 {
            return false;
        }
        rest = &fraction[digits..];
    }
    let Some(exponent) = rest.strip_prefix(['e', 'E']) else {
        return rest.is_empty();
    };
    let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    !digits.is_empty() && leading_digits(digits) == digits.len()
}

fn leading_digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// An exponent; beyond any use it stays at a bound, so that sums with it cannot overflow.
fn power(text: &str) -> i64 {
    const BOUND: i64 = i64::MAX / 4;
    let magnitude = text.trim_start_matches(['+', '-']).parse().unwrap_or(BOUND).min(BOUND);
    if text.starts_with('-') { -magnitude } else { magnitude }
}

fn signed(length: usize) -> i64 {
    i64::try_from(length).expect("a text is shorter than 2^63 bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_order_whatever_their_spelling() {
        let ordered = [
            "-1e400",
            "-10.5",
            "-10",
            "-1.51",
            "-1.5",
            "-0.1",
            "0",
            "1e-400",
            "0.99",
            "1",
            "1.01",
            "9",
            "10",
            "10.000000000000000000001",
            "11",
            "1e2",
            "9007199254740993",
            "1e400",
        ];
        for (at, left) in ordered.iter().enumerate() {
            for (other, right) in ordered.iter().enumerate() {
                let [left, right] = [left, right].map(|text| Decimal::parse(text).unwrap());
                assert_eq!(left.compare(&right), at.cmp(&other), "{left:?} {right:?}");
            }
        }
        let [one, other] = ["-0", "0.0e5"].map(|text| Decimal::parse(text).unwrap());
        assert_eq!(one.compare(&other), Ordering::Equal);
    }

    #[test]
    fn only_the_grammar_of_json_makes_a_number() {
        for text in ["0", "-0", "42", "-7", "1.50", "0.1", "1e3", "1E+2", "2e-1", "1e400"] {
            assert!(is_number(text), "{text}");
            assert!(super::super::json::validate(text).is_ok(), "{text}");
        }
        for text in [
            "", "-", "+1", "01", "-01", "1.", ".5", "1e", "1e+", "0x1F", "1_000", " 1", "1 ",
            "1,5", "NaN", "Infinity", "1.e3", "٣", "1-",
        ] {
            assert!(!is_number(text), "{text}");
        }
    }

    #[test]
    fn numbers_are_equal_by_value() {
        let check = |left, right, expected| {
            assert_eq!(Decimal::parse(left) == Decimal::parse(right), expected, "{left} {right}");
        };
        check("1", "1.0", true);
        check("100", "1e2", true);
        check("0.1", "1e-1", true);
        check("-0.0", "0", true);
        check("12.50", "1250e-2", true);
        check("9007199254740993", "9007199254740992", false);
        check("1", "-1", false);
        check("10", "1", false);
        check("1e99999999999999999999", "1e400", false);
    }

    #[test]
    fn a_number_without_a_fraction_is_an_integer() {
        let check = |text, integer, value: Option<i64>| {
            let number = Decimal::parse(text).unwrap();
            assert_eq!((number.is_integer(), number.to_i64()), (integer, value), "{text}");
        };
        check("0", true, Some(0));
        check("-0.0", true, Some(0));
        check("42.0", true, Some(42));
        check("1e3", true, Some(1000));
        check("1.5", false, None);
        check("15e-1", false, None);
        check("-9223372036854775808", true, Some(i64::MIN));
        check("9223372036854775808", true, None);
        check("1e400", true, None);
        check("0e99999999999999999999", true, Some(0));
    }
}
