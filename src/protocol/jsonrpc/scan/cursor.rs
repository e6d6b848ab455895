//! A position in a JSON text, and the steps it can take.
//!
//! The steps are inlined even where the compiler optimises for size: a small message takes 120 ns
//! instead of 150 that way.

use std::borrow::Cow;

use super::{Span, skip, unescape};

/// The text breaks the grammar here, or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Syntax;

/// A position in a JSON text. It goes forward only, value by value.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    /// The next byte to look at.
    pub(super) at: usize,
    /// How many arrays and objects the position is in.
    level: usize,
    /// How many there may be.
    depth: usize,
    /// Whether there were more somewhere. The cursor goes on: depth costs it nothing, and an id
    /// that follows is worth having.
    pub(super) too_deep: bool,
    /// Whether an array or object has just begun, so that no comma is due.
    fresh: bool,
    /// Where an array, an object or a string stands that was stepped over before, so that its end is
    /// known.
    passed: Span,
}

/// No place in a text.
const NOWHERE: Span = usize::MAX..usize::MAX;

impl<'a> Cursor<'a> {
    /// The beginning of `text`.
    pub(super) fn new(text: &'a str, depth: usize) -> Cursor<'a> {
        Cursor { text, at: 0, level: 0, depth, too_deep: false, fresh: false, passed: NOWHERE }
    }

    /// The beginning of `text`, of which the array, object or string at `passed`, if that is not empty,
    /// was stepped over before. How deep it nests is not looked at again.
    pub(super) fn passing(text: &'a str, passed: &Span) -> Cursor<'a> {
        let passed = if passed.is_empty() { NOWHERE } else { passed.clone() };
        Cursor { passed, ..Cursor::new(text, usize::MAX) }
    }

    /// Skips white space and looks at what follows.
    #[inline(always)]
    pub(super) fn peek(&mut self) -> Option<u8> {
        loop {
            match self.byte()? {
                // Nearly always, and so it is asked first.
                other @ b'!'.. => return Some(other),
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                other => return Some(other),
            }
        }
    }

    /// Steps over the bracket that `peek` saw, into an object or array.
    #[inline(always)]
    pub(super) fn enter(&mut self) {
        self.at += 1;
        self.level += 1;
        self.too_deep |= self.level > self.depth;
        self.fresh = true;
    }

    /// Steps into an object that a text begins with, behind the members up to `at`.
    #[inline(always)]
    pub(super) fn enter_at(&mut self, at: usize) {
        self.enter();
        (self.at, self.fresh) = (at, false);
    }

    /// Steps to the value of the next member of an object and tells its key; `None` at its end.
    #[inline(always)]
    pub(super) fn key(&mut self) -> Result<Option<Cow<'a, str>>, Syntax> {
        if !self.next(b'}')? {
            return Ok(None);
        }
        if self.peek() != Some(b'"') {
            return Err(Syntax);
        }
        let key = self.name()?;
        if self.peek() != Some(b':') {
            return Err(Syntax);
        }
        self.at += 1;
        self.peek();
        Ok(Some(key))
    }

    /// Steps to the next element of an array; `false` at its end.
    pub(super) fn element(&mut self) -> Result<bool, Syntax> {
        let more = self.next(b']')?;
        if more {
            self.peek();
        }
        Ok(more)
    }

    /// Steps over the comma before the next member or element, or over the `end` of all.
    #[inline(always)]
    fn next(&mut self, end: u8) -> Result<bool, Syntax> {
        let fresh = std::mem::take(&mut self.fresh);
        match self.peek() {
            Some(byte) if byte == end => {
                self.at += 1;
                self.level -= 1;
                Ok(false)
            }
            Some(_) if fresh => Ok(true),
            Some(b',') => {
                self.at += 1;
                Ok(true)
            }
            _ => Err(Syntax),
        }
    }

    /// Steps over a key and unescapes it.
    #[inline(always)]
    fn name(&mut self) -> Result<Cow<'a, str>, Syntax> {
        let (text, start) = (self.text, self.at + 1);
        let end = skip::special(text.as_bytes(), start).ok_or(Syntax)?;
        self.at = end + 1;
        match text.as_bytes()[end] {
            b'"' => Ok(Cow::Borrowed(&text[start..end])),
            b'\\' => {
                self.at = skip::string(text.as_bytes(), end).ok_or(Syntax)?;
                unescape(&text[start - 1..self.at]).ok_or(Syntax)
            }
            _ => Err(Syntax),
        }
    }

    /// Steps over the value that begins here. What is inside strings, arrays and objects is not
    /// checked; the brackets in them balance.
    #[inline(always)]
    pub(super) fn value(&mut self) -> Result<Span, Syntax> {
        let start = self.at;
        self.at = match self.byte().ok_or(Syntax)? {
            b'"' | b'{' | b'[' if start == self.passed.start => self.passed.end,
            b'"' => skip::string(self.text.as_bytes(), start + 1).ok_or(Syntax)?,
            open @ (b'{' | b'[') => {
                self.too_deep |= self.level >= self.depth;
                let room = self.depth.saturating_sub(self.level + 1);
                let nest = skip::nest(self.text.as_bytes(), start + 1, room).ok_or(Syntax)?;
                self.too_deep |= nest.too_deep;
                // In ASCII, a closing bracket is two after its opening one.
                if self.text.as_bytes()[nest.end - 1] != open + 2 {
                    return Err(Syntax);
                }
                nest.end
            }
            _ => start + scalar(&self.text.as_bytes()[start..]).ok_or(Syntax)?,
        };
        Ok(start..self.at)
    }

    #[inline(always)]
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}

/// The length of the number, `true`, `false` or `null` at the beginning of `text`.
pub(super) fn scalar(text: &[u8]) -> Option<usize> {
    let literal = |word: &[u8]| text.starts_with(word).then_some(word.len());
    match text.first()? {
        b't' => literal(b"true"),
        b'f' => literal(b"false"),
        b'n' => literal(b"null"),
        _ => number(text),
    }
}

/// The length of the number at the beginning of `text` (RFC 8259, section 6).
fn number(text: &[u8]) -> Option<usize> {
    let digits = |at: usize| text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let some_digits = |at: usize| Some(digits(at)).filter(|&count| count > 0);
    let mut at = usize::from(text.first() == Some(&b'-'));
    at += match text.get(at)? {
        b'0' => 1,
        _ => some_digits(at)?,
    };
    if text.get(at) == Some(&b'.') {
        at += 1;
        at += some_digits(at)?;
    }
    if let Some(b'e' | b'E') = text.get(at) {
        at += 1;
        at += usize::from(matches!(text.get(at), Some(b'+' | b'-')));
        at += some_digits(at)?;
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_keep_the_grammar() {
        let check = |text: &str, expected| {
            assert_eq!(scalar(text.as_bytes()), expected, "{text}");
        };
        check("0", Some(1));
        check("-12.50e+3,", Some(9));
        check("1E400", Some(5));
        check("01", Some(1));
        check("truer", Some(4));
        check("-", None);
        check("1.", None);
        check(".5", None);
        check("1e", None);
        check("+1", None);
        check("NaN", None);
        check("nul", None);
        check("", None);
    }
}
