//! Standard output and standard error.
//!
//! Nothing else writes to them: `println!` ends the process when the reader is gone, and a server
//! must not be able to steer the user's terminal.

use std::borrow::Cow;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::termios::tcgetwinsize;

pub use crate::env::streams::{Patience, Unwritten};
use crate::env::streams::{write_all, write_now};
use crate::protocol::visible::for_terminal;

/// One of the two standard streams for writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// For the answer and nothing else.
    Stdout,
    /// For all that is not the answer.
    Stderr,
}

/// Whether there is a status line on the terminal that is standard error.
static STATUS: AtomicBool = AtomicBool::new(false);

/// Whether somebody is asked something on that terminal, so that no status line may be shown.
static ASKING: AtomicBool = AtomicBool::new(false);

/// Keeps status lines away as long as somebody is asked something on the terminal.
pub fn set_asking(asking: bool) {
    ASKING.store(asking, Ordering::Relaxed);
}

/// Shows a line on the terminal that is standard error, in place of the one before. Whatever is
/// written next takes its place. It is cut where it would wrap, and has no control characters.
pub fn show_status(text: &str) {
    if ASKING.load(Ordering::Relaxed) {
        return;
    }
    let line = cut(&for_terminal(text), Stream::Stderr.width() - 1);
    STATUS.store(true, Ordering::Relaxed);
    let _ = write_now(rustix::stdio::stderr(), format!("\r{line}\u{1b}[K").as_bytes());
}

/// Takes the status line away, if there is one.
pub fn clear_status() {
    if STATUS.swap(false, Ordering::Relaxed) {
        let _ = write_now(rustix::stdio::stderr(), b"\r\x1b[K");
    }
}

/// The beginning of a text that fits into so many columns. A character beyond ASCII counts as two:
/// some are that wide, and a line that wraps cannot be taken back.
fn cut(text: &str, columns: usize) -> String {
    let mut left = columns;
    let fits = |c: &char| {
        let wide = if c.is_ascii() { 1 } else { 2 };
        let fits = wide <= left;
        left = left.saturating_sub(wide);
        fits
    };
    text.chars().filter(|c| !matches!(c, '\n' | '\t')).take_while(fits).collect()
}

impl Stream {
    /// Writes all bytes before it returns. While the reader does not read, it waits as long as the
    /// patience lasts.
    pub fn write(self, bytes: &[u8], patience: Patience<'_>) -> Result<(), Unwritten> {
        clear_status();
        write_all(self.descriptor(), bytes, patience)
    }

    /// Writes text for people or programs: control characters are left out where a terminal would
    /// obey them, and kept where a program reads.
    pub fn write_text(self, text: &str, patience: Patience<'_>) -> Result<(), Unwritten> {
        if self.is_terminal() {
            self.write(for_terminal(text).as_bytes(), patience)
        } else {
            self.write(text.as_bytes(), patience)
        }
    }

    /// The width of the terminal that it is, in columns; of one that does not tell it, the usual.
    pub fn width(self) -> usize {
        match tcgetwinsize(self.descriptor()).map(|size| size.ws_col) {
            Ok(0) | Err(_) => 80,
            Ok(width) => usize::from(width),
        }
    }

    /// Whether it is a terminal.
    pub fn is_terminal(self) -> bool {
        rustix::termios::isatty(self.descriptor())
    }

    fn descriptor(self) -> BorrowedFd<'static> {
        match self {
            Stream::Stdout => rustix::stdio::stdout(),
            Stream::Stderr => rustix::stdio::stderr(),
        }
    }
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColorRule {
    /// On every stream.
    Always,
    /// On streams that are terminals.
    OnTerminals,
    /// Nowhere.
    Never,
}

impl ColorRule {
    /// Whether to colour a stream.
    pub fn applies(self, is_terminal: bool) -> bool {
        match self {
            ColorRule::Always => true,
            ColorRule::OnTerminals => is_terminal,
            ColorRule::Never => false,
        }
    }
}

/// A way to set off a few words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accent {
    /// Headings.
    Bold,
    /// Errors.
    Red,
    /// Warnings.
    Yellow,
}

/// The text, set off if `colored`.
pub fn accent(text: &str, accent: Accent, colored: bool) -> Cow<'_, str> {
    if !colored {
        return Cow::Borrowed(text);
    }
    let code = match accent {
        Accent::Bold => "1",
        Accent::Red => "1;31",
        Accent::Yellow => "1;33",
    };
    Cow::Owned(format!("\u{1b}[{code}m{text}\u{1b}[0m"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_line_does_not_wrap() {
        let check = |text: &str, columns, expected: &str| assert_eq!(cut(text, columns), expected);
        check("short", 10, "short");
        check("0123456789", 4, "0123");
        check("a日本", 4, "a日");
        check("a\n\tb", 4, "ab");
        check("x", 0, "");
    }

    #[test]
    fn colour_follows_the_rule_and_the_stream() {
        let check = |rule: ColorRule, is_terminal, expected| {
            assert_eq!(rule.applies(is_terminal), expected);
        };
        check(ColorRule::Always, false, true);
        check(ColorRule::Never, true, false);
        check(ColorRule::OnTerminals, true, true);
        check(ColorRule::OnTerminals, false, false);
        assert_eq!(accent("x", Accent::Red, true), "\u{1b}[1;31mx\u{1b}[0m");
        assert_eq!(accent("x", Accent::Red, false), "x");
    }
}
