//! Texts of users and servers, as errors show them.

use std::fmt::{self, Display, Formatter};

/// How much of a text an error shows, in characters.
const EXCERPT: usize = 60;

/// How many names or values an error lists.
const LISTED: usize = 12;

/// A text, short and without control characters.
pub(super) struct Shown<'a>(pub(super) &'a str);

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let end = self.0.char_indices().nth(EXCERPT).map_or(self.0.len(), |(end, _)| end);
        for letter in self.0[..end].chars() {
            if letter.is_control() {
                write!(f, "{}", letter.escape_default())?;
            } else {
                write!(f, "{letter}")?;
            }
        }
        f.write_str(if end < self.0.len() { "…" } else { "" })
    }
}

/// Names or values, the first of them.
pub(super) struct Listed<'a>(pub(super) &'a [String]);

impl Display for Listed<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, item) in self.0.iter().take(LISTED).enumerate() {
            write!(f, "{}{}", if index > 0 { ", " } else { "" }, Shown(item))?;
        }
        match self.0.len().saturating_sub(LISTED) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}
