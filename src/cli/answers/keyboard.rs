//! Lines that somebody types at the terminal.
//!
//! The terminal stays as it is: it echoes, lets people correct a line, and sends Ctrl-C as a signal.
//! Nor is it made non-blocking, which it would be for every process that shares it.

use std::io;
use std::os::fd::OwnedFd;

use async_io::Async;

/// The longest answer, in bytes. Terminals cut lines long before.
const LIMIT: usize = 64 << 10;

/// The terminal on standard input.
#[derive(Debug)]
pub(in crate::cli) struct Keyboard {
    terminal: Async<OwnedFd>,
}

impl Keyboard {
    /// Listens to standard input.
    pub(in crate::cli) fn open() -> io::Result<Keyboard> {
        let terminal = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
        Ok(Keyboard { terminal: Async::new_nonblocking(terminal)? })
    }

    /// The next line, without its end; `None` at the end of input, which is Ctrl-D.
    pub(in crate::cli) async fn line(&mut self) -> io::Result<Option<String>> {
        let mut line = Vec::new();
        let mut block = [0; 4096];
        loop {
            // A terminal is readable when a line is there, so that reading does not block.
            self.terminal.readable().await?;
            let length = match rustix::io::read(&self.terminal, &mut block) {
                Ok(length) => length,
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => continue,
                Err(error) => return Err(error.into()),
            };
            line.extend_from_slice(&block[..length]);
            let is_whole = line.ends_with(b"\n") || length == 0 || LIMIT < line.len();
            if is_whole && (length > 0 || !line.is_empty()) {
                let text = String::from_utf8_lossy(&line).into_owned();
                return Ok(Some(text.trim_end_matches(['\r', '\n']).to_owned()));
            }
            if is_whole {
                return Ok(None);
            }
        }
    }
}
