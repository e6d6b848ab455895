//! Stepping over strings, arrays and objects: the inner loops of the scanner.

#[cfg(target_arch = "x86_64")]
use super::avx2;

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
    portable(text, at, room)
}

/// The same without vector instructions.
pub(super) fn portable(text: &[u8], mut at: usize, room: usize) -> Option<Nest> {
    let mut open = 1_usize;
    let mut deepest = 1;
    while open > 0 {
        let byte = *text.get(at)?;
        at += 1;
        match byte {
            b'"' => at = string(text, at)?,
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

/// The byte after the string whose opening quote stands before `at`; `None` when it has no end.
pub(super) fn string(text: &[u8], mut at: usize) -> Option<usize> {
    // Most strings are short: calling the searcher costs more than looking.
    const SHORT: usize = 16;
    let near = at + SHORT;
    loop {
        if at >= near {
            at += memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
        }
        match text.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}
