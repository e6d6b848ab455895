//! SHA-256, and the text of a JSON value that is the same for the same value.

use std::fmt;
use std::str::FromStr;

use jsonc_parser::ast::{Object, Value};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

use crate::protocol::canonical::by_utf16;
use crate::protocol::json;
use crate::protocol::sorting::sort_by;

/// A SHA-256 hash. It is written as `sha256:` and 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The hash of some bytes.
    pub fn of(bytes: &[u8]) -> Digest {
        Digest(Sha256::digest(bytes).into())
    }

    /// The 64 hexadecimal digits.
    pub fn hex(&self) -> String {
        digits(&self.0)
    }

    /// The first 32 of them: 128 bits are enough to tell files apart.
    pub fn short(&self) -> String {
        digits(&self.0[..16])
    }
}

fn digits(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut digits = vec![0; 2 * bytes.len()];
    for (pair, byte) in digits.chunks_exact_mut(2).zip(bytes) {
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 15)];
    }
    String::from_utf8(digits).expect("digits are ASCII")
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is not `sha256:` and 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotADigest;

impl FromStr for Digest {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Digest, NotADigest> {
        let hex = text.strip_prefix("sha256:").ok_or(NotADigest)?.as_bytes();
        let mut bytes = [0; 32];
        if hex.len() != 2 * bytes.len() {
            return Err(NotADigest);
        }
        let value = |digit: u8| match digit {
            b'0'..=b'9' => Ok(digit - b'0'),
            b'a'..=b'f' => Ok(digit - b'a' + 10),
            b'A'..=b'F' => Ok(digit - b'A' + 10),
            _ => Err(NotADigest),
        };
        for (byte, pair) in bytes.iter_mut().zip(hex.chunks_exact(2)) {
            *byte = value(pair[0])? << 4 | value(pair[1])?;
        }
        Ok(Digest(bytes))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Digest, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|NotADigest| serde::de::Error::custom("not a SHA-256 hash"))
    }
}

/// Appends the canonical text of a value: no blanks, no comments, members in order (RFC 8785).
/// Unlike there, numbers stay as they are written, because two spellings can become one double.
pub(super) fn push_canonical(out: &mut String, value: &Value<'_>) {
    match value {
        Value::StringLit(text) => json::push_string(out, &text.value),
        Value::NumberLit(number) => out.push_str(number.value),
        Value::BooleanLit(truth) => out.push_str(if truth.value { "true" } else { "false" }),
        Value::NullKeyword(_) => out.push_str("null"),
        Value::Object(object) => push_canonical_object(out, object),
        Value::Array(array) => {
            out.push('[');
            for (index, element) in array.elements.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                push_canonical(out, element);
            }
            out.push(']');
        }
    }
}

/// Appends the canonical text of an object.
pub(super) fn push_canonical_object(out: &mut String, object: &Object<'_>) {
    let mut members: Vec<_> = object.properties.iter().collect();
    sort_by(&mut members, |a, b| by_utf16(a.name.as_str(), b.name.as_str()));
    out.push('{');
    for (index, member) in members.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        json::push_string(out, member.name.as_str());
        out.push(':');
        push_canonical(out, &member.value);
    }
    out.push('}');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_standard() {
        let check = |text: &str, hex: &str| {
            let digest = Digest::of(text.as_bytes());
            assert_eq!(digest.to_string(), format!("sha256:{hex}"));
            assert_eq!(digest.to_string().parse(), Ok(digest));
            assert_eq!(digest.to_string().to_uppercase().replace("SHA", "sha").parse(), Ok(digest));
        };
        // FIPS 180-2, Appendix B.
        check("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        check("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }

    #[test]
    fn other_texts_are_no_hashes() {
        let hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let bad =
            ["", "sha256:", "sha256:ba", hex, &format!("sha256:{hex}0"), &format!("md5:{hex}")];
        for text in bad {
            assert_eq!(text.parse::<Digest>(), Err(NotADigest), "{text}");
        }
        assert_eq!(format!("sha256:{}", "g".repeat(64)).parse::<Digest>(), Err(NotADigest));
        assert_eq!(format!("sha256:{}", "é".repeat(32)).parse::<Digest>(), Err(NotADigest));
    }

    #[test]
    fn the_canonical_text_is_the_same_for_the_same_value() {
        let check = |text: &str, expected: &str| {
            let parsed = jsonc_parser::parse_to_ast(
                text,
                &jsonc_parser::CollectOptions::default(),
                &jsonc_parser::ParseOptions::default(),
            );
            let mut canonical = String::new();
            push_canonical(&mut canonical, &parsed.unwrap().value.unwrap());
            assert_eq!(canonical, expected);
        };
        check("{ \"b\": [ 1, true, null, ], // x\n \"a\": {} }", r#"{"a":{},"b":[1,true,null]}"#);
        check(r#""A\/\u00e9\n\u0001""#, r#""A/é\n\u0001""#);
        check("[1.50, 1e2, -0, 12345678901234567890]", "[1.50,1e2,-0,12345678901234567890]");
        // RFC 8785, section 3.2.3: by UTF-16 code units, so that U+FB33 follows U+1F600.
        check(r#"{"\ufb33": 1, "\ud83d\ude00": 2}"#, "{\"\u{1f600}\":2,\"\u{fb33}\":1}");
    }
}
