//! Reading a file, with a bound, and only if nobody else could have written it.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use super::fault::{Action, Fault, Reason};

/// Whom a file must be safe from before it is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// Nobody: the user named the file. It may be a pipe, too.
    Named {
        /// How long the run may wait for what comes through the pipe.
        until: Option<Instant>,
    },
    /// Strangers: it belongs to the user or to root, and not everybody may write it. The group may:
    /// with the umask 002 of many systems, where everybody has a group of their own, it always does.
    Strangers {
        /// The user.
        user: u32,
    },
    /// Everybody else: it belongs to the user or to root, and its owner alone may write it and the
    /// directory it is in.
    Everybody {
        /// The user.
        user: u32,
    },
    /// Everybody else, and nobody else may look into it: a file with secrets, in a directory of
    /// which the same holds.
    Private {
        /// The user.
        user: u32,
    },
}

const GROUP_WRITE: u32 = 0o020;
const OTHERS_WRITE: u32 = 0o002;
/// What the group and others may do at all.
const OTHERS: u32 = 0o077;
/// In a directory with this bit, people can replace only files of their own.
const STICKY: u32 = 0o1000;

/// Reads a file of at most `limit` bytes; `None` when there is no such file.
///
/// The checks look at the open file, so it cannot be exchanged between check and use.
pub fn read(path: &Path, limit: u64, guard: Guard) -> Result<Option<Vec<u8>>, Fault> {
    let fault = |reason| Fault::new(path, Action::Read, reason);
    let file = match open(path) {
        Ok(file) => file,
        Err(error) if is_absent(&error) && !is_obstructed(path, guard) => return Ok(None),
        Err(error) => return Err(fault(Reason::Io(error))),
    };
    let metadata = file.metadata().map_err(Fault::io(path, Action::Read))?;
    let until = match guard {
        Guard::Named { until } => until,
        _ if !metadata.is_file() => return Err(fault(Reason::NotAFile)),
        _ => None,
    };
    check(path, &metadata, guard).map_err(fault)?;
    let mut bytes = Vec::with_capacity(metadata.len().min(limit) as usize + 1);
    let file = Patient { file: &file, is_pipe: metadata.file_type().is_fifo(), until };
    // The end of a file is where it was just now; to look for it once more would be in vain.
    let end = Some(metadata.len()).filter(|length| metadata.is_file() && 0 < *length);
    let taken = file.take(end.unwrap_or(u64::MAX).min(limit + 1)).read_to_end(&mut bytes);
    taken.map_err(Fault::io(path, Action::Read))?;
    if bytes.len() as u64 > limit {
        return Err(fault(Reason::TooLarge { limit }));
    }
    Ok(Some(bytes))
}

/// The same for a text in UTF-8.
pub fn read_text(path: &Path, limit: u64, guard: Guard) -> Result<Option<String>, Fault> {
    let Some(bytes) = read(path, limit, guard)? else { return Ok(None) };
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(_) => Err(Fault::new(path, Action::Read, Reason::NotText)),
    }
}

fn open(path: &Path) -> io::Result<File> {
    // Else opening a pipe waits for a writer, and a stranger can leave a pipe where we look.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty()));
    Ok(File::from(opened?))
}

/// How long a pipe may stay silent.
const SILENCE: Duration = Duration::from_secs(10);

/// Reads a file, or a pipe that somebody may yet write to. A signal ends the wait.
struct Patient<'f> {
    file: &'f File,
    is_pipe: bool,
    until: Option<Instant>,
}

impl Patient<'_> {
    /// How long to wait for the next byte.
    fn patience(&self) -> Timespec {
        let left = self.until.map(|until| until.saturating_duration_since(Instant::now()));
        let patience = left.map_or(SILENCE, |left| left.min(SILENCE));
        Timespec::try_from(patience).expect("ten seconds fit into any timespec")
    }
}

impl Read for Patient<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.file.read(buffer) {
            // A pipe that nobody has opened for writing yet looks like one that is at its end.
            Ok(0) if self.is_pipe => (),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => (),
            done => return done,
        }
        match poll(&mut [PollFd::new(&self.file, PollFlags::IN)], Some(&self.patience())) {
            Ok(0) => Err(io::Error::new(io::ErrorKind::TimedOut, "nothing comes")),
            Ok(_) => self.file.read(buffer),
            // `Interrupted` would be tried again.
            Err(Errno::INTR) => Err(io::Error::other("interrupted")),
            Err(errno) => Err(errno.into()),
        }
    }
}

/// Whether the error says that there is no such file.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Whether something else is in the place of a file that is not there, or of a directory on the way to
/// it. Then nobody knows what the file would say, and it is not taken for one that was never written.
///
/// A link to nothing is in the way of every file but one that the user names, which may be made through
/// it. A file in the place of a directory is in the way of what people write (configuration, policies);
/// what we keep ourselves has no place then, and a job does without.
fn is_obstructed(path: &Path, guard: Guard) -> bool {
    let is_of_people = match guard {
        Guard::Named { .. } => return false,
        Guard::Strangers { .. } => true,
        Guard::Everybody { .. } | Guard::Private { .. } => false,
    };
    for part in path.ancestors() {
        match part.symlink_metadata() {
            Ok(found) => return found.is_symlink() && part.metadata().is_err(),
            Err(error) if is_of_people && error.kind() != io::ErrorKind::NotFound => return true,
            Err(_) => {}
        }
    }
    false
}

fn check(path: &Path, metadata: &Metadata, guard: Guard) -> Result<(), Reason> {
    let (user, forbidden, chmod) = match guard {
        Guard::Named { .. } => return Ok(()),
        Guard::Strangers { user } => (user, OTHERS_WRITE, "o-w"),
        Guard::Everybody { user } => (user, GROUP_WRITE | OTHERS_WRITE, "go-w"),
        Guard::Private { user } => {
            check_closed(path, metadata, user)?;
            let directory = path.parent().unwrap_or(Path::new("/"));
            return check_closed(directory, &directory.metadata().map_err(Reason::Io)?, user);
        }
    };
    if metadata.uid() != user && metadata.uid() != 0 {
        return Err(Reason::ForeignOwner { owner: metadata.uid() });
    }
    if metadata.mode() & forbidden != 0 {
        return Err(Reason::WritableByOthers { what: path.to_owned(), chmod });
    }
    if matches!(guard, Guard::Everybody { .. }) { check_directory(path) } else { Ok(()) }
}

/// Makes sure that nobody else may look into a directory. One that is not there yet is safe.
pub fn check_private(directory: &Path, user: u32) -> Result<(), Fault> {
    let checked = match directory.metadata() {
        Ok(metadata) => check_closed(directory, &metadata, user),
        Err(error) if is_absent(&error) => Ok(()),
        Err(error) => Err(Reason::Io(error)),
    };
    checked.map_err(|reason| Fault::new(directory, Action::Read, reason))
}

/// Whether only the user, and root, may do anything with a file or a directory.
fn check_closed(what: &Path, metadata: &Metadata, user: u32) -> Result<(), Reason> {
    match metadata.uid() {
        owner if owner != user && owner != 0 => Err(Reason::ForeignOwner { owner }),
        _ if metadata.mode() & OTHERS != 0 => Err(Reason::OpenToOthers { what: what.to_owned() }),
        _ => Ok(()),
    }
}

/// Who may write a directory can put an old version of a file back into it.
fn check_directory(path: &Path) -> Result<(), Reason> {
    let directory = path.parent().unwrap_or(Path::new("/"));
    let mode = directory.metadata().map_err(Reason::Io)?.mode();
    if mode & (GROUP_WRITE | OTHERS_WRITE) != 0 && mode & STICKY == 0 {
        return Err(Reason::WritableByOthers { what: directory.to_owned(), chmod: "go-w" });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write;

    use super::super::scratch::Scratch;
    use super::*;

    const NAMED: Guard = Guard::Named { until: None };

    fn us() -> u32 {
        rustix::process::geteuid().as_raw()
    }

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let scratch = Scratch::new();
        let file = scratch.write("f", "12345");
        let limited = |limit| read(&file, limit, NAMED).map_err(|fault| fault.to_string());
        assert_eq!(limited(6), Ok(Some(b"12345".to_vec())));
        assert_eq!(limited(5), Ok(Some(b"12345".to_vec())));
        let told = format!("cannot read {}: larger than 4 bytes", file.display());
        assert_eq!(limited(4), Err(told));
    }

    #[test]
    fn a_pipe_is_read_once_somebody_writes() {
        let scratch = Scratch::new();
        let path = scratch.path("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
        let pause = || std::thread::sleep(std::time::Duration::from_millis(50));
        let writer = std::thread::spawn({
            let path = path.clone();
            move || {
                pause();
                let mut pipe = OpenOptions::new().write(true).open(path).unwrap();
                for part in ["1", "23"] {
                    pause();
                    pipe.write_all(part.as_bytes()).unwrap();
                }
            }
        });
        assert_eq!(read(&path, 9, NAMED).unwrap(), Some(b"123".to_vec()));
        writer.join().unwrap();
    }

    #[test]
    fn an_absent_file_is_none() {
        let scratch = Scratch::new();
        scratch.write("d/f", "");
        for path in ["none", "no/ne", "d/none"].map(|name| scratch.path(name)) {
            assert!(read(&path, 9, Guard::Strangers { user: us() }).unwrap().is_none());
        }
    }

    #[test]
    fn what_is_in_the_place_of_a_file_is_not_its_absence() {
        let scratch = Scratch::new();
        scratch.write("f", "");
        std::os::unix::fs::symlink("gone", scratch.path("link")).unwrap();
        std::os::unix::fs::symlink("link", scratch.path("link-to-link")).unwrap();
        let user = us();
        for name in ["f/below", "f/be/low", "link", "link-to-link", "link/below", "link/be/low"] {
            let read = |guard| read(&scratch.path(name), 9, guard);
            assert!(read(Guard::Strangers { user }).is_err(), "{name}");
            // Without a place for what we keep, nothing is kept.
            assert_eq!(
                read(Guard::Everybody { user }).is_err(),
                name.starts_with("link"),
                "{name}"
            );
            assert!(read(NAMED).unwrap().is_none(), "{name}");
        }
    }

    #[test]
    fn secrets_are_read_only_where_nobody_else_can() {
        let scratch = Scratch::new();
        let file = scratch.write("d/f", "x");
        let check = |file_mode, dir_mode, open: Option<&str>| {
            scratch.chmod("d/f", file_mode);
            scratch.chmod("d", dir_mode);
            let found = match read(&file, 9, Guard::Private { user: us() }) {
                Ok(_) => None,
                Err(Fault { reason: Reason::OpenToOthers { what }, .. }) => Some(what),
                Err(fault) => panic!("{fault}"),
            };
            assert_eq!(found, open.map(|name| scratch.path(name)), "{file_mode:o} {dir_mode:o}");
            assert_eq!(check_private(&scratch.path("d"), us()).is_err(), dir_mode != 0o700);
        };
        check(0o600, 0o700, None);
        check(0o400, 0o700, None);
        check(0o640, 0o700, Some("d/f"));
        check(0o604, 0o700, Some("d/f"));
        check(0o600, 0o710, Some("d"));
        check(0o600, 0o1777, Some("d"));
        assert!(check_private(&scratch.path("none"), us()).is_ok());
    }

    #[test]
    fn only_safe_files_are_believed() {
        let scratch = Scratch::new();
        let file = scratch.write("f", "x");
        let check = |file_mode, dir_mode, guard, expected: &str| {
            scratch.chmod("f", file_mode);
            scratch.chmod("", dir_mode);
            let found = match read(&file, 9, guard) {
                Ok(_) => "ok",
                Err(Fault { reason: Reason::WritableByOthers { chmod, what }, .. }) => {
                    assert_eq!(what == file, expected != "directory");
                    if what == file { chmod } else { "directory" }
                }
                Err(Fault { reason: Reason::ForeignOwner { .. }, .. }) => "foreign",
                Err(fault) => panic!("{fault}"),
            };
            assert_eq!(found, expected, "{file_mode:o} in {dir_mode:o}, {guard:?}");
        };
        let (strangers, everybody) =
            (Guard::Strangers { user: us() }, Guard::Everybody { user: us() });
        check(0o600, 0o700, strangers, "ok");
        check(0o644, 0o755, strangers, "ok");
        check(0o664, 0o777, strangers, "ok");
        check(0o666, 0o700, strangers, "o-w");
        check(0o602, 0o700, strangers, "o-w");
        check(0o666, 0o777, NAMED, "ok");
        check(0o600, 0o700, everybody, "ok");
        check(0o644, 0o755, everybody, "ok");
        check(0o620, 0o700, everybody, "go-w");
        check(0o602, 0o700, everybody, "go-w");
        check(0o600, 0o770, everybody, "directory");
        check(0o600, 0o707, everybody, "directory");
        check(0o600, 0o1777, everybody, "ok");
        // Root may own what others must not: it can do anything anyway.
        let owner = if us() == 0 { "ok" } else { "foreign" };
        check(0o600, 0o700, Guard::Strangers { user: us() + 1 }, owner);
        check(0o600, 0o700, Guard::Everybody { user: us() + 1 }, owner);
        if us() == 0 {
            std::os::unix::fs::chown(&file, Some(4711), None).unwrap();
            check(0o600, 0o700, Guard::Strangers { user: 0 }, "foreign");
            check(0o600, 0o700, Guard::Everybody { user: 0 }, "foreign");
            check(0o600, 0o700, Guard::Everybody { user: 4711 }, "ok");
        }
    }

    #[test]
    fn a_pipe_left_by_a_stranger_does_not_hang_us() {
        let scratch = Scratch::new();
        let pipe = scratch.path("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
        let fault = read(&pipe, 9, Guard::Strangers { user: us() }).unwrap_err();
        assert!(matches!(fault.reason, Reason::NotAFile), "{fault}");
    }

    #[test]
    fn a_directory_is_not_a_file() {
        let scratch = Scratch::new();
        let guard = Guard::Strangers { user: us() };
        let fault = read(&scratch.path(""), 9, guard).unwrap_err();
        assert!(matches!(fault.reason, Reason::NotAFile), "{fault}");
    }
}
