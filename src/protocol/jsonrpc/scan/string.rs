//! Unescaping JSON strings.

use std::borrow::Cow;

#[cfg(target_arch = "x86_64")]
use super::avx2;
use super::skip::{is_special, special, special_in};

/// The value of a JSON string, given with its quotes; `None` when `quoted` is not one JSON string.
///
/// A surrogate escape without its partner, which RFC 8259 allows in section 8.2 and no Unicode
/// string can hold, becomes U+FFFD. Nothing is allocated when there is nothing to unescape.
///
/// ```
/// use mcpmini_protocol::jsonrpc::scan;
/// assert_eq!(scan::unescape(r#""a\u00e9\n""#).unwrap(), "aé\n");
/// assert_eq!(scan::unescape("7"), None);
/// ```
pub fn unescape(quoted: &str) -> Option<Cow<'_, str>> {
    let body = quoted.strip_prefix('"')?.strip_suffix('"')?;
    let Some(at) = special(body.as_bytes(), 0) else { return Some(Cow::Borrowed(body)) };
    let mut out = vec![0; body.len() + ROOM];
    out[..at].copy_from_slice(&body.as_bytes()[..at]);
    let mut end = at;
    unescape_into(body.as_bytes(), at, &mut out, &mut end)?;
    out.truncate(end);
    String::from_utf8(out).ok().map(Cow::Owned)
}

/// Whether a JSON string, given with its quotes, says `word`, which needs no escapes but may have some.
#[inline]
pub fn is_string(quoted: &str, word: &str) -> bool {
    let body = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    // Most often it is written as it is.
    body == Some(word) || unescape(quoted).is_some_and(|text| text == word)
}

/// The value of a JSON string piece by piece, for strings that should not be in memory twice. `take`
/// gets pieces of at most 64 KiB, in order. What `quoted` is has been checked: where it is no JSON
/// string, the pieces end.
pub fn unescape_pieces<E>(
    quoted: &str,
    mut take: impl FnMut(&str) -> Result<(), E>,
) -> Result<(), E> {
    let body = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let text = body.unwrap_or_default().as_bytes();
    let mut out = vec![0; 64 << 10];
    let (mut at, mut end) = (0, 0);
    while at < text.len() {
        let stopped = unescape_into(text, at, &mut out, &mut end);
        at = stopped.unwrap_or(text.len());
        // The last character may have come in part.
        let piece = match str::from_utf8(&out[..end]) {
            Ok(piece) => piece,
            Err(cut) => str::from_utf8(&out[..cut.valid_up_to()]).expect("it was just looked at"),
        };
        let whole = piece.len();
        if whole > 0 {
            take(piece)?;
        }
        out.copy_within(whole..end, 0);
        end -= whole;
    }
    Ok(())
}

/// How much room [`unescape_into`] wants for one step: a word, and a character in four bytes.
const ROOM: usize = size_of::<u64>() + 4;

/// As long as there is more than this of a text, in bytes, the processor may help.
#[cfg(target_arch = "x86_64")]
const LONG: usize = 256;

/// Unescapes `text` from `at` on, until it or the room in `out` behind `end` comes to its end. Tells
/// where it has come to; `None` where the text is no inside of a JSON string, with what comes before
/// that in `out`.
fn unescape_into(text: &[u8], mut at: usize, out: &mut [u8], end: &mut usize) -> Option<usize> {
    while at < text.len() && out.len() - *end >= ROOM {
        #[cfg(target_arch = "x86_64")]
        if text.len() - at >= LONG {
            (at, *end) = avx2::unescape(text, at, out, *end);
        }
        // Escapes are close together where there are any: to copy eight bytes too many is cheaper
        // than to copy as many as there are.
        let plain = match text[at..].first_chunk() {
            Some(word) => {
                out[*end..*end + word.len()].copy_from_slice(word);
                special_in(word).unwrap_or(word.len())
            }
            None => {
                out[*end] = text[at];
                usize::from(!is_special(&text[at]))
            }
        };
        at += plain;
        *end += plain;
        // A whole word without anything special is the usual case.
        if plain == size_of::<u64>() || plain > 0 && text.len() - at < size_of::<u64>() {
            continue;
        }
        // A quote in here would be the end of the string.
        let escape = text[at..].strip_prefix(b"\\")?;
        let (character, length) = escaped(escape)?;
        *end += character.encode_utf8(&mut out[*end..]).len();
        at += 1 + length;
    }
    Some(at)
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

    #[test]
    fn strings_are_compared_by_what_they_say() {
        let check = |quoted: &str, expected: bool| {
            assert_eq!(is_string(quoted, "2.0"), expected, "{quoted}");
        };
        check(r#""2.0""#, true);
        check(r#""\u0032.0""#, true);
        check(r#""2.00""#, false);
        check("2.0", false);
        check(r#""2.0"#, false);
    }

    #[test]
    fn pieces_are_the_whole() {
        let pieces = |quoted: &str| {
            let (mut whole, mut longest) = (String::new(), 0);
            let taken: Result<(), ()> = unescape_pieces(quoted, |piece| {
                longest = longest.max(piece.len());
                whole.push_str(piece);
                Ok(())
            });
            assert_eq!(taken, Ok(()));
            (whole, longest)
        };
        let parts = ["x", "é", "🎉", r"\n", r"\u00e9", r"\ud83c\udf89", r"\ud83c", r"\\"];
        for part in parts {
            // Every part lies across every end of a piece in some of these.
            for shift in 0..12 {
                let quoted =
                    format!("\"{}{}\"", "a".repeat(shift), part.repeat(80_000 / part.len()));
                let (whole, longest) = pieces(&quoted);
                assert!(whole == unescape(&quoted).unwrap(), "{part} after {shift}");
                assert!(longest <= 64 << 10, "{longest}");
            }
        }
        assert_eq!(pieces("\"\"").0, "");
        assert_eq!(pieces("\"a\"").0, "a");
        assert_eq!(pieces("7").0, "");
        assert_eq!(pieces(r#""a\x""#).0, "a");
        assert_eq!(unescape_pieces("\"a\"", |_| Err(7)), Err(7));
    }
}
