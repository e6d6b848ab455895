//! Whether a text keeps the grammar of JSON.
//!
//! Every result is checked before it is handed on. A parser that tells where a text breaks the
//! grammar is several times slower than one that only tells that it does, and most do not; so this
//! one is asked first, and the other when it says no.

use super::Span;
#[cfg(target_arch = "x86_64")]
use super::avx2;
use super::cursor::scalar;
use super::skip::special;

/// How deep arrays and objects may nest for [`is_json`] to see that they are fine.
const DEEPEST: u32 = u128::BITS;

/// Whether `text` is certainly one JSON value by RFC 8259, with numbers of any size. False is no
/// verdict on a text that nests deeper than 128 levels.
///
/// ```
/// use mcpmini_protocol::jsonrpc::scan;
/// assert!(scan::is_json(r#" {"n": [1e400, "\ud800"]} "#));
/// assert!(!scan::is_json(r#"{"n": [1e400, "\ud80"]}"#));
/// ```
pub fn is_json(text: &str) -> bool {
    longest_string(text).is_some()
}

/// The same, and where the longest string stands among the values in it, quotes included; an empty
/// place when there is none.
pub(crate) fn longest_string(text: &str) -> Option<Span> {
    let mut check = Check { text: text.as_bytes(), at: 0, open: 0, kinds: 0, longest: 0..0 };
    check.value_alone()?;
    Some(check.longest)
}

/// A position in a text. Its methods are `None` where the grammar is broken.
struct Check<'a> {
    text: &'a [u8],
    at: usize,
    /// How many arrays and objects are open.
    open: u32,
    /// What they are, the innermost in the lowest bit: 1 stands for an object.
    kinds: u128,
    /// Where the longest string stands.
    longest: Span,
}

impl Check<'_> {
    fn value_alone(&mut self) -> Option<()> {
        loop {
            match self.peek()? {
                b'{' if self.begins(b'}', 1)? => {
                    self.key()?;
                    continue;
                }
                b'[' if self.begins(b']', 0)? => continue,
                b'{' | b'[' => (),
                b'"' => {
                    let start = self.at;
                    self.at = string(self.text, start + 1)?;
                    if self.longest.len() < self.at - start {
                        self.longest = start..self.at;
                    }
                }
                _ => self.at += scalar(&self.text[self.at..])?,
            }
            if self.ends()? {
                return Some(());
            }
        }
    }

    /// Steps into an array or object; over it, if it is empty, and then it is false.
    #[inline(always)]
    fn begins(&mut self, end: u8, kind: u128) -> Option<bool> {
        self.at += 1;
        if self.peek()? == end {
            self.at += 1;
            return Some(false);
        }
        self.kinds = self.kinds << 1 | kind;
        self.open += 1;
        (self.open <= DEEPEST).then_some(true)
    }

    /// Steps from the end of a value to the beginning of the next one, out of all that ends before
    /// that. True when there is no next one.
    #[inline(always)]
    fn ends(&mut self) -> Option<bool> {
        while self.open > 0 {
            let is_object = self.kinds & 1 == 1;
            let byte = self.peek()?;
            self.at += 1;
            match (byte, is_object) {
                (b',', true) => {
                    self.key()?;
                    return Some(false);
                }
                (b',', false) => return Some(false),
                (b'}', true) | (b']', false) => {
                    self.kinds >>= 1;
                    self.open -= 1;
                }
                _ => return None,
            }
        }
        self.peek().is_none().then_some(true)
    }

    /// Steps over a key and the colon after it.
    #[inline(always)]
    fn key(&mut self) -> Option<()> {
        if self.peek()? != b'"' {
            return None;
        }
        self.at = string(self.text, self.at + 1)?;
        if self.peek()? != b':' {
            return None;
        }
        self.at += 1;
        Some(())
    }

    /// Skips white space and looks at what follows.
    #[inline(always)]
    fn peek(&mut self) -> Option<u8> {
        loop {
            match *self.text.get(self.at)? {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                other => return Some(other),
            }
        }
    }
}

/// The byte after the string whose opening quote stands before `at`; `None` when it has no end, or
/// something in it does not belong there.
fn string(text: &[u8], mut at: usize) -> Option<usize> {
    const NEAR: usize = 64;
    let near = text.len().min(at + NEAR);
    while let Some(found) = special(&text[..near], at) {
        at = step(text, found)?;
        if text[found] == b'"' {
            return Some(at);
        }
    }
    at = at.max(near);
    #[cfg(target_arch = "x86_64")]
    if let Some(end) = avx2::checked_string(text, at) {
        return end;
    }
    portable_string(text, at)
}

/// Like [`string`], on every processor.
pub(super) fn portable_string(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let found = special(text, at)?;
        at = step(text, found)?;
        if text[found] == b'"' {
            return Some(at);
        }
    }
}

/// The byte after the quote or the escape at `at`; `None` for what may not stand in a string.
#[inline(always)]
fn step(text: &[u8], at: usize) -> Option<usize> {
    match text[at] {
        b'"' => Some(at + 1),
        b'\\' => escape(text, at + 1),
        _ => None,
    }
}

/// The byte after an escape, of which `at` stands behind the backslash; `None` for what is none.
pub(super) fn escape(text: &[u8], at: usize) -> Option<usize> {
    match text.get(at)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(at + 1),
        b'u' => {
            let digits: &[u8; 4] = text[at + 1..].first_chunk()?;
            digits.iter().all(u8::is_ascii_hexdigit).then_some(at + 5)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde::de::IgnoredAny;

    use super::super::random::Random;
    use super::super::skip::ask_at_once;
    use super::*;

    #[track_caller]
    fn check(text: &str) {
        let expected = serde_json::from_str::<IgnoredAny>(text).is_ok();
        assert_eq!(is_json(text), expected, "{text}");
    }

    #[test]
    fn it_agrees_with_a_parser_on_odd_texts() {
        for text in [
            "",
            " ",
            "1",
            "01",
            "-",
            "1.",
            "1e",
            "nul",
            "truer",
            "true false",
            "\"",
            "\"a",
            "\"a\"b",
            "[",
            "]",
            "[]",
            "[1]",
            "[1,]",
            "[,1]",
            "[1 2]",
            "{",
            "}",
            "{}",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1}",
            "{\"a\":1,}",
            "{a:1}",
            "{\"a\":1]",
            "[1}",
            "[[[]]]",
            "[{},[]]",
            "{}{}",
            "{\"a\" : [ 1 , {\"b\":null} ] } ",
            "\u{feff}1",
            "1\u{b}",
            "\"\\u12\"",
            "\"\\u123g\"",
            "\"\\ud800\"",
            "\"\\x\"",
            "\"\\",
            "\"\u{1f}\"",
            "\"\u{7f}\"",
            "\"é\\\"\"",
            "[\"\\\\\"]",
        ] {
            check(text);
        }
    }

    #[test]
    fn it_agrees_with_a_parser_on_long_strings() {
        ask_at_once();
        let parts = [
            "\\n", "\\\"", "\\\\", "\\/", "\\u00e9", "\\x", "\\u12g4", "\n", "\"", "é", "\u{7f}",
            "\\",
        ];
        for part in parts {
            for before in 0..200 {
                let text = format!("[\"{}{part}{}\"]", "x".repeat(before), "y".repeat(70));
                check(&text);
                let end = text.len() - 73;
                let portable = portable_string(text.as_bytes(), 2);
                assert_eq!(string(text.as_bytes(), 2), portable, "{text}");
                text.get(..end).into_iter().for_each(check);
            }
        }
        for byte in 0..=127_u8 {
            let escape = char::from(byte);
            check(&format!("\"{}\\{escape}{}\"", "x".repeat(100), "y".repeat(70)));
        }
    }

    #[test]
    fn it_agrees_with_a_parser_on_random_documents() {
        ask_at_once();
        let mut random = Random::new(11);
        for _ in 0..60_000 {
            let mut text = String::new();
            random.value(&mut text, 4);
            check(&text);
            check(&random.damage(&text));
        }
    }

    #[test]
    fn what_nests_too_deep_is_left_to_others() {
        let nest = |depth| "[".repeat(depth) + "0" + &"]".repeat(depth);
        assert!(is_json(&nest(128)));
        assert!(!is_json(&nest(129)));
    }
}
