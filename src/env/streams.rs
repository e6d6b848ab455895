//! Reading and writing what this process was given by others, who may be slow, stuck or gone.
//!
//! A read or write that blocks is deaf: no signal and no limit ends it. So these wait in small
//! steps, and between two of them ask whether to wait on.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::mem::forget;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, OFlags, fcntl_getfl, fstat};
use rustix::io::{Errno, fcntl_getfd, read, write};
use rustix::stdio::{stderr, stdin, stdout};
use rustix::termios::isatty;

/// How long one step of waiting takes. A signal ends it early.
const STEP: Duration = Duration::from_millis(50);

/// Opens at once or not at all.
const AT_ONCE: i32 = libc::O_NONBLOCK;

/// How much a pipe takes without blocking once it takes anything (POSIX, `write`).
const ATOMIC: usize = libc::PIPE_BUF;

/// How much is read at once, and written where that does not wait, in bytes.
const BLOCK: usize = 64 << 10;

/// Whether to wait on. It is asked only while nothing moves.
pub type Patience<'a> = &'a dyn Fn() -> bool;

/// Patience without end, for when there is nothing that could end it.
pub const ENDLESS: Patience<'static> = &|| true;

/// Why a text was not written, or not all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unwritten {
    /// Nobody reads it (any more). For standard output that is no error: `mcpmini … | head -1`.
    BrokenPipe,
    /// The patience has ended.
    GivenUp,
    /// The system refused, for example because the disk is full.
    Refused(Errno),
}

/// Why an input was not read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unread {
    /// The patience has ended.
    GivenUp,
    /// It is longer than allowed.
    TooLong,
    /// The system refused.
    Refused(Errno),
}

impl fmt::Display for Unwritten {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unwritten::BrokenPipe => f.write_str("nobody reads it"),
            Unwritten::GivenUp => f.write_str("the reader does not read"),
            Unwritten::Refused(errno) => reason(*errno).fmt(f),
        }
    }
}

/// What the system says about an error.
pub fn reason(errno: Errno) -> std::io::Error {
    std::io::Error::from_raw_os_error(errno.raw_os_error())
}

/// Writes all bytes, also where the descriptor is non-blocking because another process that shares
/// it made it so, or where signals come in between.
pub fn write_all(
    descriptor: BorrowedFd<'_>,
    mut bytes: &[u8],
    patience: Patience<'_>,
) -> Result<(), Unwritten> {
    let most = if bytes.len() <= ATOMIC || may_wait(descriptor) { ATOMIC } else { BLOCK };
    while !bytes.is_empty() {
        if !comes(descriptor, PollFlags::OUT, patience).map_err(Unwritten::Refused)? {
            return Err(Unwritten::GivenUp);
        }
        bytes = &bytes[write_some(descriptor, bytes, most)?..];
    }
    Ok(())
}

/// Whether a write of any length may wait for a reader: not to a file, nor to a device that is no
/// terminal.
fn may_wait(descriptor: BorrowedFd<'_>) -> bool {
    let kind = fstat(descriptor).map(|status| FileType::from_raw_mode(status.st_mode));
    match kind {
        Ok(FileType::RegularFile) => false,
        Ok(FileType::CharacterDevice) => isatty(descriptor),
        _ => true,
    }
}

/// Writes what can be written at once, and tells how much that was; it may be nothing.
pub fn write_now(descriptor: BorrowedFd<'_>, bytes: &[u8]) -> Result<usize, Unwritten> {
    match is_ready(descriptor, PollFlags::OUT, Duration::ZERO) {
        Ok(true) => write_some(descriptor, bytes, ATOMIC),
        Ok(false) => Ok(0),
        Err(errno) => Err(Unwritten::Refused(errno)),
    }
}

/// One write of at most that length to a descriptor that is ready for it.
fn write_some(descriptor: BorrowedFd<'_>, bytes: &[u8], most: usize) -> Result<usize, Unwritten> {
    match write(descriptor, &bytes[..bytes.len().min(most)]) {
        // POSIX does not say what it would mean; trying again for ever is not it.
        Ok(0) => Err(Unwritten::Refused(Errno::IO)),
        Ok(written) => Ok(written),
        Err(Errno::INTR | Errno::AGAIN) => Ok(0),
        Err(Errno::PIPE) => Err(Unwritten::BrokenPipe),
        Err(errno) => Err(Unwritten::Refused(errno)),
    }
}

/// Reads to the end, but no more than `limit` bytes.
pub fn read_to_end(
    descriptor: BorrowedFd<'_>,
    limit: usize,
    patience: Patience<'_>,
) -> Result<Vec<u8>, Unread> {
    let mut bytes = Vec::new();
    loop {
        if !comes(descriptor, PollFlags::IN, patience).map_err(Unread::Refused)? {
            return Err(Unread::GivenUp);
        }
        let end = bytes.len();
        bytes.resize(end + BLOCK, 0);
        let count = match read(descriptor, &mut bytes[end..]) {
            Ok(0) => {
                bytes.truncate(end);
                return Ok(bytes);
            }
            Ok(count) => count,
            Err(Errno::INTR | Errno::AGAIN) => 0,
            Err(errno) => return Err(Unread::Refused(errno)),
        };
        bytes.truncate(end + count);
        if limit < bytes.len() {
            return Err(Unread::TooLong);
        }
    }
}

/// Opens a file for reading without waiting for anybody: opening a pipe waits for a writer.
pub fn open_to_read(path: &Path) -> io::Result<File> {
    File::options().read(true).custom_flags(AT_ONCE).open(path)
}

/// Opens a file for writing as `options` say. A pipe needs somebody who reads it: they are waited for
/// as long as the patience lasts, and it is `TimedOut` when they do not come.
pub fn open_to_write(
    options: &mut OpenOptions,
    path: &Path,
    patience: Patience<'_>,
) -> io::Result<File> {
    let options = options.custom_flags(AT_ONCE);
    loop {
        match options.open(path) {
            Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => (),
            opened => return opened,
        }
        if !patience() {
            return Err(io::Error::new(ErrorKind::TimedOut, "nobody reads it"));
        }
        thread::sleep(STEP);
    }
}

/// What [`open_to_read`] has opened, for a thread of its own: reads wait, also for the first who writes
/// to a pipe.
#[derive(Debug)]
pub struct Waiting(pub File);

impl Read for Waiting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            comes(self.0.as_fd(), PollFlags::IN, ENDLESS)?;
            match self.0.read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => (),
                read => return read,
            }
        }
    }
}

/// Waits until a descriptor can be used without blocking; false when the patience ends before.
fn comes(
    descriptor: BorrowedFd<'_>,
    how: PollFlags,
    patience: Patience<'_>,
) -> Result<bool, Errno> {
    let mut within = Duration::ZERO;
    while !is_ready(descriptor, how, within)? {
        if !patience() {
            return Ok(false);
        }
        within = STEP;
    }
    Ok(true)
}

/// Whether a descriptor can be used without blocking, or tells its end or an error, within a time.
fn is_ready(descriptor: BorrowedFd<'_>, how: PollFlags, within: Duration) -> Result<bool, Errno> {
    let mut descriptors = [PollFd::new(&descriptor, how)];
    let within = Timespec::try_from(within).expect("a step fits into any timespec");
    match poll(&mut descriptors, Some(&within)) {
        Ok(count) => Ok(count > 0),
        Err(Errno::INTR) => Ok(false),
        Err(errno) => Err(errno),
    }
}

/// Opens what is closed of standard input, output and error. Else the next file that is opened would
/// take its place, and get what is meant for that.
///
/// In place of standard output comes something that cannot be written to, and in place of standard
/// input something that cannot be read: whoever closes them (`>&-`, `<&-`) learns that the answer was
/// lost, or that there is no input. The standard library, which does the same before `main`, puts in
/// something that takes every byte, keeps none and is always at its end; so this must come first.
pub fn occupy_standard_descriptors() {
    let (of_input, of_output) = (stdin().as_raw_fd(), stdout().as_raw_fd());
    for descriptor in [stdin(), stdout(), stderr()] {
        if fcntl_getfd(descriptor).is_err() {
            let number = descriptor.as_raw_fd();
            let (is_read, is_written) = (number != of_input, number != of_output);
            // It takes the lowest number that is free.
            let opened = File::options().read(is_read).write(is_written).open("/dev/null");
            let _ = opened.map(forget);
        }
    }
}

/// Whether standard input can be read. Who reads it through the standard library is not told.
pub fn has_input() -> bool {
    fcntl_getfl(stdin()).is_ok_and(|flags| flags & OFlags::ACCMODE != OFlags::WRONLY)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io::{Read, Write};
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn a_gone_reader_is_told_apart_from_other_failures() {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        assert_eq!(write_all(writer.as_fd(), b"x", ENDLESS), Err(Unwritten::BrokenPipe));
        assert_eq!(write_all(writer.as_fd(), b"", ENDLESS), Ok(()));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_reported() {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let failed = write_all(full.as_fd(), b"x", ENDLESS).unwrap_err();
        assert!(failed.to_string().contains("No space left"), "{failed}");
    }

    #[test]
    fn only_readers_are_waited_for() {
        let (_reader, writer) = std::io::pipe().unwrap();
        assert!(may_wait(writer.as_fd()));
        let null = File::options().write(true).open("/dev/null").unwrap();
        assert!(!may_wait(null.as_fd()));
        let (path, bytes) = (
            std::env::temp_dir().join(format!("mcpmini-streams-{}", std::process::id())),
            [b'x'; 3 * BLOCK + 1],
        );
        let file = File::create(&path).unwrap();
        assert!(!may_wait(file.as_fd()));
        assert_eq!(write_all(file.as_fd(), &bytes, ENDLESS), Ok(()));
        assert_eq!(std::fs::metadata(&path).unwrap().len(), bytes.len() as u64);
        let _ = std::fs::remove_file(path);
    }

    #[test]
    fn every_byte_comes_through_a_pipe() {
        for non_blocking in [false, true] {
            let (mut reader, writer) = std::io::pipe().unwrap();
            rustix::io::ioctl_fionbio(&writer, non_blocking).unwrap();
            // More than a pipe holds, so that the writer must wait for the reader.
            let bytes: Vec<u8> = (0..=255).cycle().take(1 << 20).collect();
            let read = std::thread::scope(|scope| {
                let reading = scope.spawn(move || {
                    let mut all = Vec::new();
                    reader.read_to_end(&mut all).map(|_| all)
                });
                assert_eq!(write_all(writer.as_fd(), &bytes, ENDLESS), Ok(()));
                drop(writer);
                reading.join().unwrap().unwrap()
            });
            assert!(read == bytes);
        }
    }

    /// Patience that ends when it is asked for the third time.
    fn asked_twice(asked: &Cell<u32>) -> impl Fn() -> bool {
        move || {
            asked.set(asked.get() + 1);
            asked.get() < 3
        }
    }

    #[test]
    fn patience_with_a_reader_ends() {
        let (_reader, writer) = std::io::pipe().unwrap();
        let asked = Cell::new(0);
        let written = write_all(writer.as_fd(), &[b'x'; 1 << 20], &asked_twice(&asked));
        assert_eq!((written, asked.get()), (Err(Unwritten::GivenUp), 3));
        assert_eq!(write_now(writer.as_fd(), b"x"), Ok(0));
    }

    #[test]
    fn patience_with_a_writer_ends() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        writer.write_all(b"half").unwrap();
        let asked = Cell::new(0);
        let read = read_to_end(reader.as_fd(), 100, &asked_twice(&asked));
        assert_eq!((read, asked.get()), (Err(Unread::GivenUp), 3));
    }

    #[test]
    fn an_input_is_read_to_its_end_or_its_limit() {
        let check = |bytes: &[u8], limit, expected| {
            let (reader, mut writer) = std::io::pipe().unwrap();
            writer.write_all(bytes).unwrap();
            drop(writer);
            assert_eq!(read_to_end(reader.as_fd(), limit, ENDLESS), expected);
        };
        check(b"", 0, Ok(vec![]));
        check(b"all of it", 9, Ok(b"all of it".to_vec()));
        check(b"all of it", 8, Err(Unread::TooLong));
        let directory = std::fs::File::open("/").unwrap();
        let refused = read_to_end(directory.as_fd(), 8, ENDLESS);
        assert_eq!(refused, Err(Unread::Refused(Errno::ISDIR)));
    }
}
