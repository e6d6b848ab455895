//! Unescaping JSON strings.

use std::borrow::Cow;

use super::skip::{is_special, special, special_in};

/// The value of a JSON string, given with its quotes; `None` when `quoted` is not one JSON string.
///
/// A surrogate escape without its partner, which RFC 8259 allows in section 8.2 and no Unicode
/// string can hold, becomes U+FFFD. Nothing is allocated when there is nothing to unescape.
///
/// ```
/// use mcpmini::protocol::jsonrpc::scan;
/// assert_eq!(scan::unescape(r#""a\u00e9\n""#).unwrap(), "aé\n");
/// assert_eq!(scan::unescape("7"), None);
/// ```
pub fn unescape(quoted: &str) -> Option<Cow<'_, str>> {
    let body = quoted.strip_prefix('"')?.strip_suffix('"')?;
    match special(body.as_bytes(), 0) {
        None => Some(Cow::Borrowed(body)),
        Some(at) => unescape_from(body.as_bytes(), at).map(Cow::Owned),
    }
}

/// Unescapes `text`, in which `at` is the first byte that does not stand for itself.
fn unescape_from(text: &[u8], mut at: usize) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    out.extend_from_slice(&text[..at]);
    loop {
        // A quote in here would be the end of the string.
        let escape = text[at..].strip_prefix(b"\\")?;
        let (character, length) = escaped(escape)?;
        out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        at += 1 + length;
        match push_plain(text, at, &mut out) {
            Some(special) => at = special,
            None => break,
        }
    }
    String::from_utf8(out).ok()
}

/// Appends what stands for itself from `at` on, and tells where it ends.
#[inline]
fn push_plain(text: &[u8], mut at: usize, out: &mut Vec<u8>) -> Option<usize> {
    // Escapes are close together where there are any: to copy eight bytes too many is cheaper than
    // to copy as many as there are.
    while let Some(word) = text[at..].first_chunk() {
        out.extend_from_slice(word);
        if let Some(plain) = special_in(word) {
            out.truncate(out.len() - word.len() + plain);
            return Some(at + plain);
        }
        at += word.len();
    }
    let end = text[at..].iter().position(is_special).map(|plain| at + plain);
    out.extend_from_slice(&text[at..end.unwrap_or(text.len())]);
    end
}

/// The character that an escape stands for, given what follows its backslash, and how many bytes
/// that takes.
#[inline]
fn escaped(escape: &[u8]) -> Option<(char, usize)> {
    let character = match escape.first()? {
        byte @ (b'"' | b'\\' | b'/') => char::from(*byte),
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unicode(&escape[1..]).map(|(character, length)| (character, 1 + length)),
        _ => return None,
    };
    Some((character, 1))
}

/// The same for what follows `\u`: four hexadecimal digits, or ten bytes for a pair.
fn unicode(digits: &[u8]) -> Option<(char, usize)> {
    let unit = code_unit(digits)?;
    if (0xD800..0xDC00).contains(&unit)
        && let Some(low) = digits[4..].strip_prefix(b"\\u").and_then(code_unit)
        && (0xDC00..0xE000).contains(&low)
    {
        let code = 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
        return Some((char::from_u32(code).expect("a pair of surrogates is a character"), 10));
    }
    Some((char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER), 4))
}

/// The value of four hexadecimal digits.
fn code_unit(text: &[u8]) -> Option<u32> {
    let digits: &[u8; 4] = text.first_chunk()?;
    digits.iter().try_fold(0, |unit, &digit| Some(unit << 4 | char::from(digit).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_unescaped() {
        let check = |quoted: &str, expected: Option<&str>| {
            assert_eq!(unescape(quoted).as_deref(), expected, "{quoted}");
        };
        check("\"\"", Some(""));
        check("\"é🎉\"", Some("é🎉"));
        check(r#""\"\\\/\b\f\n\r\t""#, Some("\"\\/\u{8}\u{c}\n\r\t"));
        check(r#""a\u00e9b\ud83c\udf89c""#, Some("aéb🎉c"));
        check(r#""\ud800\udc00\uDBFF\uDFFF""#, Some("\u{10000}\u{10ffff}"));
        check(r#""a\ud83db""#, Some("a\u{fffd}b"));
        check(r#""\udf89\ud83c""#, Some("\u{fffd}\u{fffd}"));
        check(r#""\ud83c\n""#, Some("\u{fffd}\n"));
        check(r#""\ud83c\u0041""#, Some("\u{fffd}A"));
        check(r#""\ud83c\ud83c\udf89""#, Some("\u{fffd}🎉"));
        check(r#""\u12""#, None);
        check(r#""\u+123""#, None);
        check(r#""\u12é""#, None);
        check(r#""\x""#, None);
        check(r#""a"b""#, None);
        check(r#""a\""#, None);
        check("\"a\nb\"", None);
        check("\"", None);
        check("a", None);
    }
}
