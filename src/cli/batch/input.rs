//! The lines of a batch, from a file or standard input.

use std::io::{self, Read};
use std::path::Path;

use futures_lite::AsyncReadExt;
use smol::Unblock;

use crate::cli::errors::Error;
use crate::cli::run::Run;
use crate::cli::sources;
use crate::env::streams::{self, Waiting};
use crate::protocol::framing::jsonl::Lines;

/// How many bytes are read ahead, at most twice.
const AHEAD: usize = 64 << 10;

/// What some editors and spreadsheets begin a text with; it is no part of the first line.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Lines that are read when they are asked for.
///
/// Reading happens in a thread of its own: neither a file nor a terminal can be waited for beside
/// other things.
pub(super) struct Input {
    source: Unblock<Box<dyn Read + Send>>,
    /// What it is, for people.
    shown: String,
    lines: Lines,
    /// See [`Input::number`].
    number: u64,
    ended: bool,
}

impl Input {
    /// Opens the input: a file, or standard input for `-`.
    pub(super) fn open(run: &Run<'_>, word: &str) -> Result<Input, Error> {
        let (source, shown): (Box<dyn Read + Send>, _) = match word {
            "-" => {
                sources::check_input()?;
                (Box::new(io::stdin()), "standard input".to_owned())
            }
            path => {
                let file = streams::open_to_read(&run.env.absolute(Path::new(path)));
                let file = file.map_err(|error| unreadable(path, &error))?;
                (Box::new(Waiting(file)), path.to_owned())
            }
        };
        let limit = run.limits().message;
        let source = Unblock::with_capacity(AHEAD, source);
        Ok(Input { source, shown, lines: Lines::new(limit), number: 0, ended: false })
    }

    /// The next line that is not blank, and its number among all lines; `None` at the end. Dropping
    /// the future loses nothing.
    ///
    /// After an error there are no more lines.
    pub(super) async fn next(&mut self) -> Result<Option<(u64, Vec<u8>)>, Error> {
        while !self.ended {
            match self.lines.next_line() {
                Ok(None) => (),
                Ok(Some(line)) => return Ok(self.numbered(line)),
                Err(too_long) => {
                    self.number = self.lines.passed() + 1;
                    (self.ended, self.lines) = (true, Lines::new(0));
                    let (shown, line, limit) = (&self.shown, self.number, too_long.limit);
                    let text = format!(
                        "{shown}: line {line} is longer than {limit} bytes (see --max-message)"
                    );
                    return Err(Error::usage(text));
                }
            }
            match self.source.read(self.lines.spare()).await {
                Ok(0) => self.ended = true,
                Ok(length) => self.lines.filled(length),
                Err(error) => {
                    (self.ended, self.number) = (true, self.lines.passed() + 1);
                    return Err(unreadable(&self.shown, &error));
                }
            }
        }
        // The last line may lack its line end.
        let last = self.lines.finish();
        Ok(last.and_then(|line| self.numbered(line)))
    }

    /// The number of the line that was read last, or at which reading failed.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    fn numbered(&mut self, mut line: Vec<u8>) -> Option<(u64, Vec<u8>)> {
        self.number = self.lines.passed();
        if self.number == 1 && line.starts_with(BYTE_ORDER_MARK) {
            line.drain(..BYTE_ORDER_MARK.len());
        }
        Some((self.number, line))
    }
}

fn unreadable(shown: &str, error: &io::Error) -> Error {
    Error::usage(format!("cannot read {shown}: {error}"))
}
