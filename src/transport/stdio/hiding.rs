//! Secrets taken out of bytes that pass through, however these are cut into chunks, and whichever of
//! their characters are written as JSON may write them.

use crate::env::Secret;
use crate::protocol::mask::MASK;
use crate::protocol::sorting::sort_by;

/// Takes secrets out of a stream.
#[derive(Debug, Default)]
pub(super) struct Hiding {
    secrets: Vec<Secret>,
    /// What may be the beginning of a secret.
    held: Vec<u8>,
}

impl Hiding {
    pub(super) fn new(secrets: &[Secret]) -> Hiding {
        let mut secrets: Vec<Secret> =
            secrets.iter().flat_map(|secret| secret.expose().lines()).map(Secret::from).collect();
        secrets.retain(|secret| !secret.expose().is_empty());
        // One may be a part of another.
        sort_by(&mut secrets, |one, other| other.expose().len().cmp(&one.expose().len()));
        Hiding { secrets, held: Vec::new() }
    }

    /// What of the stream can be shown now that this has come as well.
    pub(super) fn pass(&mut self, chunk: &[u8]) -> Vec<u8> {
        self.held.extend_from_slice(chunk);
        self.shown(false)
    }

    /// What is left at the end.
    pub(super) fn rest(&mut self) -> Vec<u8> {
        self.shown(true)
    }

    fn shown(&mut self, is_end: bool) -> Vec<u8> {
        let mut shown = Vec::with_capacity(self.held.len());
        let mut rest = &self.held[..];
        while !rest.is_empty() {
            let mut found = self.secrets.iter().map(|secret| find(secret.expose(), rest));
            if !is_end && found.clone().any(|found| found == Found::Cut) {
                break;
            }
            let whole = found.find_map(|found| match found {
                Found::Whole(length) => Some(length),
                Found::Cut | Found::Other => None,
            });
            match whole {
                Some(length) => {
                    shown.extend_from_slice(MASK.as_bytes());
                    rest = &rest[length..];
                }
                None => {
                    shown.push(rest[0]);
                    rest = &rest[1..];
                }
            }
        }
        self.held = rest.to_vec();
        shown
    }
}

/// What is at the beginning of some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found<T> {
    /// What was looked for, and in how many bytes.
    Whole(T),
    /// So far it is that, and there are no more bytes yet.
    Cut,
    /// Something else.
    Other,
}

/// Whether the bytes begin with a secret.
fn find(secret: &str, bytes: &[u8]) -> Found<usize> {
    let mut at = 0;
    for letter in secret.chars() {
        let (rest, mut buffer) = (&bytes[at..], [0; 4]);
        let plain = letter.encode_utf8(&mut buffer).as_bytes();
        at += match escape(rest) {
            _ if rest.starts_with(plain) => plain.len(),
            _ if plain.starts_with(rest) => return Found::Cut,
            Found::Whole((escaped, length)) if escaped == letter => length,
            Found::Cut => return Found::Cut,
            Found::Whole(_) | Found::Other => return Found::Other,
        };
    }
    Found::Whole(at)
}

/// The character that the bytes begin with an escape of (RFC 8259, section 7), and its length.
fn escape(bytes: &[u8]) -> Found<(char, usize)> {
    let (first, second) = match unit(bytes) {
        Found::Whole(first @ 0xd800..=0xdbff) => match unit(&bytes[6..]) {
            Found::Whole(second) => (first, Some(second)),
            Found::Cut => return Found::Cut,
            Found::Other => return Found::Other,
        },
        Found::Whole(first) => (first, None),
        Found::Cut => return Found::Cut,
        Found::Other => {
            return match bytes {
                [b'\\', letter @ (b'"' | b'\\' | b'/'), ..] => {
                    Found::Whole((char::from(*letter), 2))
                }
                _ => Found::Other,
            };
        }
    };
    let length = if second.is_some() { 12 } else { 6 };
    match char::decode_utf16([first].into_iter().chain(second)).next() {
        Some(Ok(letter)) => Found::Whole((letter, length)),
        _ => Found::Other,
    }
}

/// The number in `\uXXXX`, if the bytes begin with that.
fn unit(bytes: &[u8]) -> Found<u16> {
    let known = &bytes[..bytes.len().min(6)];
    let fits = known.iter().enumerate().all(|(at, byte)| match at {
        0 => *byte == b'\\',
        1 => *byte == b'u',
        _ => byte.is_ascii_hexdigit(),
    });
    match (fits, known) {
        (true, [_, _, digits @ ..]) if known.len() == 6 => {
            let digits = str::from_utf8(digits).ok();
            let number = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
            number.map_or(Found::Other, Found::Whole)
        }
        (true, _) => Found::Cut,
        (false, _) => Found::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_found_however_they_are_cut() {
        let secrets = ["hunter2", "hunter2-two", "a\nbcd"].map(Secret::from);
        let check = |text: &str, expected: &str| {
            for length in 1..=text.len() {
                let mut hiding = Hiding::new(&secrets);
                let shown: Vec<u8> =
                    text.as_bytes().chunks(length).flat_map(|chunk| hiding.pass(chunk)).collect();
                let shown = [shown, hiding.rest()].concat();
                assert_eq!(String::from_utf8_lossy(&shown), expected, "{length}");
            }
        };
        check("x hunter2 y", "x *** y");
        check("hunter2-two, hunter2-tw", "***, ***-tw");
        check("huhunter2hunter", "hu***hunter");
        check("bcd", "***");
        check("größe", "größe");
        check(r"\u0068\u0075nter\u0032 \u006", r"*** \u006");
        check(r"\u0068\u0075nter\u0033", r"\u0068\u0075nter\u0033");
        check(r"\u0068\ud83d\u0075nter2", r"\u0068\ud83d\u0075nter2");
    }

    #[test]
    fn secrets_are_found_however_json_writes_them() {
        let check = |text: &str| {
            let mut hiding = Hiding::new(&[Secret::from("a/\"ö\u{1f511}")]);
            let shown = [hiding.pass(text.as_bytes()), hiding.rest()].concat();
            assert_eq!(String::from_utf8_lossy(&shown), "***", "{text}");
        };
        check("a/\"ö\u{1f511}");
        check(r#"a\/\"\u00F6\uD83D\udd11"#);
        check(r"\u0061\u002f\u0022\u00f6\ud83d\udd11");
    }

    #[test]
    fn what_cannot_become_a_secret_is_shown_at_once() {
        let mut hiding = Hiding::new(&[Secret::from("hunter2")]);
        assert_eq!(hiding.pass(b"password: hun"), b"password: ");
        assert_eq!(hiding.pass(b"g"), b"hung");
    }
}
