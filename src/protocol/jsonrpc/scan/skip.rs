//! Stepping over strings, arrays and objects: the inner loops of the scanner.

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
    portable(text, at, room)
}

fn portable(text: &[u8], mut at: usize, room: usize) -> Option<Nest> {
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
