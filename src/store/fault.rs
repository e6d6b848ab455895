//! What can go wrong with a file.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A file could not be used.
#[derive(Debug)]
pub struct Fault {
    /// The file.
    pub path: PathBuf,
    /// What was tried.
    pub action: Action,
    /// Why it did not work.
    pub reason: Reason,
}

/// What was tried with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// To read it.
    Read,
    /// To write or replace it.
    Write,
    /// To lock it.
    Lock,
}

/// Why a file could not be used.
#[derive(Debug)]
pub enum Reason {
    /// The system says so.
    Io(io::Error),
    /// It is larger than it may be.
    TooLarge {
        /// What it may be, in bytes.
        limit: u64,
    },
    /// It is a directory, a device or a pipe.
    NotAFile,
    /// It is not UTF-8.
    NotText,
    /// People other than its owner may change it, or put another in its place.
    WritableByOthers {
        /// The file, or the directory it is in.
        what: PathBuf,
        /// The permission to take away, as for chmod: `go-w`.
        chmod: &'static str,
    },
    /// People other than its owner may look into it.
    OpenToOthers {
        /// The file, or the directory it is in.
        what: PathBuf,
    },
    /// It belongs to somebody else.
    ForeignOwner {
        /// The owner's user id.
        owner: u32,
    },
    /// Another process kept it locked for too long.
    Busy,
}

impl Fault {
    #[cold]
    pub(super) fn new(path: &Path, action: Action, reason: Reason) -> Fault {
        Fault { path: path.to_owned(), action, reason }
    }

    /// Whether the place is one where nothing can be written at all: a file system that is mounted
    /// for reading, a directory of somebody else, or none.
    pub fn is_unwritable(&self) -> bool {
        use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem};
        let kinds = [NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem];
        let writes = matches!(self.action, Action::Write | Action::Lock);
        writes && matches!(&self.reason, Reason::Io(error) if kinds.contains(&error.kind()))
    }

    /// For `map_err`.
    pub(super) fn io(path: &Path, action: Action) -> impl FnOnce(io::Error) -> Fault {
        let path = path.to_owned();
        move |error| Fault { path, action, reason: Reason::Io(error) }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let action = match self.action {
            Action::Read => "read",
            Action::Write => "write",
            Action::Lock => "lock",
        };
        write!(f, "cannot {action} {}: {}", self.path.display(), self.reason)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Io(error) => f.write_str(&plain(error)),
            Reason::TooLarge { limit } => write!(f, "larger than {limit} bytes"),
            Reason::NotAFile => f.write_str("not a regular file"),
            Reason::NotText => f.write_str("not UTF-8"),
            Reason::WritableByOthers { what, chmod } => {
                let what = what.display();
                write!(f, "others may change it (to forbid that: chmod {chmod} {what})")
            }
            Reason::OpenToOthers { what } => {
                let what = what.display();
                write!(f, "others may look into it (to forbid that: chmod go-rwx {what})")
            }
            Reason::ForeignOwner { owner } => {
                write!(f, "it belongs to another user (user id {owner})")
            }
            Reason::Busy => f.write_str("another process keeps it locked"),
        }
    }
}

impl std::error::Error for Fault {}

/// The text of an error in the style of ours: `Permission denied (os error 13)` becomes
/// `permission denied`.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error ").next().unwrap_or(&text);
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_places_cannot_be_written() {
        let check = |action, code: i32, expected: bool| {
            let reason = Reason::Io(io::Error::from_raw_os_error(code));
            assert_eq!(Fault::new(Path::new("/a"), action, reason).is_unwritable(), expected);
        };
        // EROFS, EACCES, ENOENT, ENOTDIR; ENOSPC.
        for code in [30, 13, 2, 20] {
            check(Action::Write, code, true);
            check(Action::Lock, code, true);
            check(Action::Read, code, false);
        }
        check(Action::Write, 28, false);
        assert!(!Fault::new(Path::new("/a"), Action::Lock, Reason::Busy).is_unwritable());
    }

    #[test]
    fn faults_are_told_in_one_line() {
        let check = |reason, expected: &str| {
            let fault = Fault::new(Path::new("/a/b"), Action::Read, reason);
            assert_eq!(fault.to_string(), expected);
        };
        check(Reason::Io(io::Error::from_raw_os_error(13)), "cannot read /a/b: permission denied");
        check(Reason::TooLarge { limit: 10 }, "cannot read /a/b: larger than 10 bytes");
        check(Reason::NotAFile, "cannot read /a/b: not a regular file");
        check(Reason::NotText, "cannot read /a/b: not UTF-8");
        check(
            Reason::WritableByOthers { what: "/a/b".into(), chmod: "go-w" },
            "cannot read /a/b: others may change it (to forbid that: chmod go-w /a/b)",
        );
        check(
            Reason::OpenToOthers { what: "/a".into() },
            "cannot read /a/b: others may look into it (to forbid that: chmod go-rwx /a)",
        );
        check(
            Reason::ForeignOwner { owner: 7 },
            "cannot read /a/b: it belongs to another user (user id 7)",
        );
        check(Reason::Busy, "cannot read /a/b: another process keeps it locked");
    }
}
