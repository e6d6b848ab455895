//! Standard output and standard error.
//!
//! Nothing else writes to them: `println!` ends the process when the reader is gone, and a server
//! must not be able to steer the user's terminal.

use std::borrow::Cow;
use std::fmt;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, write};

/// One of the two standard streams for writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// For the answer and nothing else.
    Stdout,
    /// For all that is not the answer.
    Stderr,
}

/// Why a text was not written, or not all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unwritten {
    /// Nobody reads it (any more). For standard output that is no error: `mcpmini … | head -1`.
    BrokenPipe,
    /// The system refused, for example because the disk is full.
    Refused(Errno),
}

impl fmt::Display for Unwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unwritten::BrokenPipe => f.write_str("nobody reads it"),
            Unwritten::Refused(errno) => {
                write!(f, "{}", std::io::Error::from_raw_os_error(errno.raw_os_error()))
            }
        }
    }
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
    let width =
        rustix::termios::tcgetwinsize(rustix::stdio::stderr()).map_or(0, |size| size.ws_col);
    let width = if width == 0 { 80 } else { usize::from(width) };
    let line = cut(&strip_controls(text), width - 1);
    STATUS.store(true, Ordering::Relaxed);
    let _ = write_all(rustix::stdio::stderr(), format!("\r{line}\u{1b}[K").as_bytes());
}

/// Takes the status line away, if there is one.
pub fn clear_status() {
    if STATUS.swap(false, Ordering::Relaxed) {
        let _ = write_all(rustix::stdio::stderr(), b"\r\x1b[K");
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
    /// Writes all bytes before it returns. It waits as long as the reader does not read.
    pub fn write(self, bytes: &[u8]) -> Result<(), Unwritten> {
        clear_status();
        write_all(self.descriptor(), bytes)
    }

    /// Writes text for people or programs: control characters are left out where a terminal would
    /// obey them, and kept where a program reads.
    pub fn write_text(self, text: &str) -> Result<(), Unwritten> {
        if self.is_terminal() {
            self.write(strip_controls(text).as_bytes())
        } else {
            self.write(text.as_bytes())
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

/// Writes all bytes, also where the descriptor is non-blocking because another process that shares
/// it made it so, or where signals come in between.
pub fn write_all(descriptor: BorrowedFd<'_>, mut bytes: &[u8]) -> Result<(), Unwritten> {
    while !bytes.is_empty() {
        match write(descriptor, bytes) {
            // POSIX does not say what it would mean; trying again for ever is not it.
            Ok(0) => return Err(Unwritten::Refused(Errno::IO)),
            Ok(written) => bytes = &bytes[written..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => wait_until_writable(descriptor)?,
            Err(Errno::PIPE) => return Err(Unwritten::BrokenPipe),
            Err(errno) => return Err(Unwritten::Refused(errno)),
        }
    }
    Ok(())
}

fn wait_until_writable(descriptor: BorrowedFd<'_>) -> Result<(), Unwritten> {
    let mut descriptors = [PollFd::new(&descriptor, PollFlags::OUT)];
    match poll(&mut descriptors, None) {
        // What `poll` found out, the next write will tell better.
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(errno) => Err(Unwritten::Refused(errno)),
    }
}

/// The text without the characters that steer a terminal: C0 and C1 controls but line feed and
/// tab, DEL, and those that reorder text so that it reads as something else (CVE-2021-42574).
pub fn strip_controls(text: &str) -> Cow<'_, str> {
    if text.contains(steers) {
        Cow::Owned(text.chars().filter(|c| !steers(*c)).collect())
    } else {
        Cow::Borrowed(text)
    }
}

fn steers(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        // Embeddings, overrides and isolates. The marks (U+200E, U+200F) only nudge and are needed.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        c => c.is_control(),
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
    use std::io::Read;
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn characters_that_steer_a_terminal_are_left_out() {
        let check = |text: &str, expected: &str| assert_eq!(strip_controls(text), expected);
        check("plain\ttext\n", "plain\ttext\n");
        check("\u{1b}[31mred\u{1b}[0m", "[31mred[0m");
        check("\u{1b}]52;c;aGk=\u{7}x", "]52;c;aGk=x");
        check("a\rb\u{8}c\u{0}d\u{7f}e", "abcde");
        check("\u{9b}31mred\u{85}", "31mred");
        check("\u{202e}txt.exe\u{202c}\u{2066}x\u{2069}", "txt.exex");
        check("שלום\u{200f}, 世界 👩‍💻", "שלום\u{200f}, 世界 👩‍💻");
        assert!(matches!(strip_controls("nothing to do"), Cow::Borrowed(_)));
    }

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
    fn a_gone_reader_is_told_apart_from_other_failures() {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        assert_eq!(write_all(writer.as_fd(), b"x"), Err(Unwritten::BrokenPipe));
        assert_eq!(write_all(writer.as_fd(), b""), Ok(()));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_reported() {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let failed = write_all(full.as_fd(), b"x").unwrap_err();
        assert!(failed.to_string().contains("No space left"), "{failed}");
    }

    #[test]
    fn a_non_blocking_pipe_gets_every_byte() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        rustix::io::ioctl_fionbio(&writer, true).unwrap();
        // More than a pipe holds, so that the writer must wait for the reader.
        let bytes = vec![b'x'; 1 << 20];
        let read = std::thread::scope(|scope| {
            let reading = scope.spawn(move || {
                let mut all = Vec::new();
                reader.read_to_end(&mut all).map(|_| all)
            });
            assert_eq!(write_all(writer.as_fd(), &bytes), Ok(()));
            drop(writer);
            reading.join().unwrap().unwrap()
        });
        assert!(read == bytes);
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
