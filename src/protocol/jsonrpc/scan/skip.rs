//! Stepping over strings, arrays and objects: the inner loops of the scanner.

#[cfg(target_arch = "x86_64")]
use super::{avx2, sse2};
use crate::bytes::{self, TOPS, below, equal};

/// What [`nest`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Nest {
    /// The byte after the closing bracket.
    pub(super) end: usize,
    /// Whether the room was not enough.
    pub(super) too_deep: bool,
}

/// The byte after the array or object whose opening bracket stands before `at`; `None` when it has
/// no end. Up to `room` further levels may open inside.
///
/// Brackets are counted, not matched by kind: `[{]}` is taken for an array that ends in `}`. It is
/// the reader of a payload who checks the payload.
pub(super) fn nest(text: &[u8], at: usize, room: usize) -> Option<Nest> {
    #[cfg(target_arch = "x86_64")]
    if let Some(nest) = avx2::nest(text, at, room) {
        return nest;
    }
    portable_nest(text, at, room)
}

/// The byte after the string whose opening quote stands before `at`; `None` when it has no end.
#[inline]
pub(super) fn string(text: &[u8], at: usize) -> Option<usize> {
    short_string(text, at, |text, at| {
        #[cfg(target_arch = "x86_64")]
        if let Some(end) = avx2::string(text, at) {
            return end;
        }
        long_string(text, at)
    })
}

/// From now on the fast loops are used where there are any.
#[cfg(test)]
pub(super) fn ask_at_once() {
    #[cfg(target_arch = "x86_64")]
    avx2::ask_at_once();
}

/// Like [`nest`], on every processor.
pub(super) fn portable_nest(text: &[u8], mut at: usize, room: usize) -> Option<Nest> {
    let mut open = 1_usize;
    let mut deepest = 1;
    while open > 0 {
        let byte = *text.get(at)?;
        at += 1;
        match byte {
            b'"' => at = portable_string(text, at)?,
            b'{' | b'[' => {
                open += 1;
                deepest = deepest.max(open);
            }
            b'}' | b']' => open -= 1,
            // Not JSON, but the fast loop takes quotes after it for escaped everywhere.
            b'\\' if matches!(text.get(at), Some(b'"' | b'\\')) => at += 1,
            _ => (),
        }
    }
    Some(Nest { end: at, too_deep: deepest - 1 > room })
}

/// Like [`string`], on every processor.
pub(super) fn portable_string(text: &[u8], at: usize) -> Option<usize> {
    short_string(text, at, long_string)
}

/// Looks for the end of a string nearby, and leaves the rest to `long`: most strings are short, and
/// to call a fast loop costs more than to look.
#[inline(always)]
fn short_string(
    text: &[u8],
    mut at: usize,
    long: impl Fn(&[u8], usize) -> Option<usize>,
) -> Option<usize> {
    const NEAR: usize = 32;
    let near = &text[..text.len().min(at + NEAR)];
    while let Some(found) = special(near, at) {
        at = match text[found] {
            b'"' => return Some(found + 1),
            b'\\' => found + 2,
            _ => found + 1,
        }
    }
    long(text, at.max(near.len()))
}

/// Looks for the end of a string of which `at` is in the middle, but not in an escape.
fn long_string(text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += bytes::find_either(b'"', b'\\', text.get(at..)?)?;
        match text[at] {
            b'"' => return Some(at + 1),
            _ => at += 2,
        }
    }
}

/// The first byte from `at` on that does not stand for itself in a string: a quote, a backslash or
/// a control character.
#[inline]
pub(super) fn special(text: &[u8], mut at: usize) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    {
        while let Some(chunk) = text.get(at..)?.first_chunk() {
            let found = sse2::special(chunk);
            if found != 0 {
                return Some(at + found.trailing_zeros() as usize);
            }
            at += chunk.len();
        }
        // What is left is looked at together with what comes before it.
        if let Some(last) = text.last_chunk() {
            let seen = last.len() - (text.len() - at);
            let found = sse2::special(last) >> seen;
            return (found != 0).then(|| at + found.trailing_zeros() as usize);
        }
    }
    while let Some(word) = text.get(at..)?.first_chunk() {
        if let Some(offset) = special_in(word) {
            return Some(at + offset);
        }
        at += word.len();
    }
    text[at..].iter().position(is_special).map(|offset| at + offset)
}

/// The first special byte of eight, all of which are looked at together.
#[inline(always)]
pub(super) fn special_in(word: &[u8; 8]) -> Option<usize> {
    let word = u64::from_le_bytes(*word);
    let found = (equal(word, b'"') | equal(word, b'\\') | below(word, b' ')) & TOPS;
    (found != 0).then_some(found.trailing_zeros() as usize / 8)
}

#[inline(always)]
pub(super) fn is_special(byte: &u8) -> bool {
    matches!(byte, b'"' | b'\\' | ..b' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_bytes_are_found_wherever_they_stand() {
        for byte in 0..=255 {
            let is_special = byte < b' ' || byte == b'"' || byte == b'\\';
            for at in 0..40 {
                let mut text = [0xFF; 40];
                text[at] = byte;
                // What follows a special byte must not hide it, nor what precedes it.
                text[at..].iter_mut().skip(1).for_each(|after| *after = b'"');
                let expected = if is_special { Some(at) } else { (at < 39).then_some(at + 1) };
                assert_eq!(special(&text, 0), expected, "{byte} at {at}");
                assert_eq!(special(&text, at), expected, "{byte} at {at}");
                // Where the text ends must make no difference, nor where it begins.
                assert_eq!(special(&text[..=at], 0), expected.filter(|_| is_special));
                assert_eq!(special(&text[at..], 0), expected.map(|found| found - at));
            }
        }
    }

    #[test]
    fn strings_end_at_their_quote_wherever_it_stands() {
        ask_at_once();
        let check = |text: &str, expected| {
            assert_eq!(string(text.as_bytes(), 0), expected, "{text}");
            assert_eq!(portable_string(text.as_bytes(), 0), expected, "{text}");
        };
        for length in 0..200 {
            let plain = "x".repeat(length);
            check(&plain, None);
            check(&format!("{plain}\"\""), Some(length + 1));
            check(&format!("{plain}\\"), None);
            check(&format!("{plain}\\\""), None);
            check(&format!("{plain}\\\"\n\\\\\" \""), Some(length + 6));
        }
    }
}
