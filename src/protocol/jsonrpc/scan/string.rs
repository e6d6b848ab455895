//! Unescaping JSON strings.

use std::borrow::Cow;

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
    if body.bytes().any(|byte| byte < b' ') {
        return None;
    }
    match memchr::memchr2(b'\\', b'"', body.as_bytes()) {
        None => Some(Cow::Borrowed(body)),
        Some(at) => unescape_from(body, at).map(Cow::Owned),
    }
}

/// Unescapes `body`, in which `at` is the first escape.
fn unescape_from(body: &str, at: usize) -> Option<String> {
    let mut out = String::with_capacity(body.len());
    let (plain, mut rest) = body.split_at(at);
    out.push_str(plain);
    loop {
        // A quote in here would be the end of the string.
        rest = rest.strip_prefix('\\')?;
        rest = escape(rest, &mut out)?;
        let Some(at) = memchr::memchr2(b'\\', b'"', rest.as_bytes()) else { break };
        out.push_str(&rest[..at]);
        rest = &rest[at..];
    }
    out.push_str(rest);
    Some(out)
}

/// Appends what the escape at the beginning of `rest`, after its backslash, stands for, and returns
/// what follows.
fn escape<'a>(rest: &'a str, out: &mut String) -> Option<&'a str> {
    out.push(match rest.bytes().next()? {
        byte @ (b'"' | b'\\' | b'/') => char::from(byte),
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unicode(&rest[1..], out),
        _ => return None,
    });
    Some(&rest[1..])
}

/// The same for the four hexadecimal digits after `\u`, and for the second half of a pair.
fn unicode<'a>(rest: &'a str, out: &mut String) -> Option<&'a str> {
    let (unit, rest) = code_unit(rest)?;
    if let Some(low) = rest.strip_prefix("\\u")
        && (0xD800..0xDC00).contains(&unit)
        && let Some((low, after)) = code_unit(low)
        && (0xDC00..0xE000).contains(&low)
    {
        let code = 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
        out.push(char::from_u32(code).expect("a pair of surrogates is a character"));
        return Some(after);
    }
    out.push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
    Some(rest)
}

/// Four hexadecimal digits.
fn code_unit(text: &str) -> Option<(u32, &str)> {
    let (digits, rest) = text.split_at_checked(4)?;
    // `from_str_radix` would take a sign.
    let hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let unit = u32::from_str_radix(digits, 16).ok().filter(|_| hexadecimal)?;
    Some((unit, rest))
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
