//! Writing a file so that it is never seen half written.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use super::fault::{Action, Fault};

/// How many names are tried for the temporary file. Processes of two containers on one volume can
/// have the same id, and a killed one leaves its file behind.
const ATTEMPTS: u32 = 32;

/// Puts a file with these bytes in the place of `path`, mode 0600. Directories that are missing are
/// made. A symbolic link stays, and the file it points to is replaced.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    put(path, bytes, Access::Private, |_| Ok(()))
}

/// Who may read a file that is written anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The user alone.
    Private,
    /// Whoever could before, or, for a new file, whoever the user lets read new files (umask).
    Kept,
}

/// The same for a file that nobody could make again: it is on the disk before the old one is gone.
pub fn rewrite(path: &Path, bytes: &[u8], access: Access) -> Result<(), Fault> {
    put(path, bytes, access, File::sync_all)
}

fn put(
    path: &Path,
    bytes: &[u8],
    access: Access,
    settle: impl FnOnce(&File) -> io::Result<()>,
) -> Result<(), Fault> {
    let fault = || Fault::io(path, Action::Write);
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    create_dir(path.parent().unwrap_or(Path::new("/")))?;
    let (mode, old) = match access {
        Access::Private => (0o600, None),
        Access::Kept => (0o666, fs::metadata(path).ok().map(|old| old.permissions())),
    };
    let (mut file, temporary) = create_beside(path, mode).map_err(fault())?;
    let permitted = old.map_or(Ok(()), |old| file.set_permissions(old));
    let written = permitted.and_then(|()| file.write_all(bytes)).and_then(|()| settle(&file));
    let done = written.and_then(|()| fs::rename(&temporary, path));
    if done.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    done.map_err(fault())
}

/// Removes a file. One that is not there is removed already.
pub fn remove(path: &Path) -> Result<(), Fault> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Fault::io(path, Action::Write)(error))
        }
        _ => Ok(()),
    }
}

/// Makes a directory, and those above it that are missing, with mode 0700.
pub fn create_dir(path: &Path) -> Result<(), Fault> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(Fault::io(path, Action::Write))
}

/// A new file in the directory of `path`. Its name begins with a dot and ends in `.tmp`.
fn create_beside(path: &Path, mode: u32) -> io::Result<(File, PathBuf)> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for _ in 0..ATTEMPTS {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let temporary = path.with_file_name(format!(".{name}.{}.{count}.tmp", process::id()));
        let mut options = OpenOptions::new();
        match options.write(true).create_new(true).mode(mode).open(&temporary) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(file) => return Ok((file, temporary)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::thread;

    use super::super::scratch::Scratch;
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn files_and_new_directories_are_private() {
        let scratch = Scratch::new();
        let file = scratch.path("a/b/f");
        replace(&file, b"1").unwrap();
        assert_eq!(mode(&file), 0o600);
        assert_eq!(mode(&scratch.path("a/b")), 0o700);
        assert_eq!(mode(&scratch.path("a")), 0o700);

        scratch.chmod("a/b/f", 0o644);
        replace(&file, b"2").unwrap();
        assert_eq!((mode(&file), scratch.read("a/b/f").as_str()), (0o600, "2"));
    }

    #[test]
    fn a_rewritten_file_is_private_or_as_it_was() {
        let scratch = Scratch::new();
        let check = |name: &str, before: Option<u32>, access, after: u32| {
            let file = scratch.path(name);
            if let Some(before) = before {
                scratch.write(name, "1");
                scratch.chmod(name, before);
            }
            rewrite(&file, b"2", access).unwrap();
            assert_eq!((mode(&file), scratch.read(name).as_str()), (after, "2"), "{name}");
        };
        check("a", Some(0o644), Access::Private, 0o600);
        check("b", None, Access::Private, 0o600);
        check("c", Some(0o640), Access::Kept, 0o640);
        check("d", Some(0o755), Access::Kept, 0o755);
        // The umask of whoever runs the tests takes something away.
        let plain = scratch.write("plain", "");
        fs::File::create_new(scratch.path("new")).unwrap();
        assert_eq!(mode(&plain), mode(&scratch.path("new")));
        check("e", None, Access::Kept, mode(&plain));
        scratch.write("full/inside", "");
        assert!(rewrite(&scratch.path("full"), b"2", Access::Kept).is_err());
        assert_eq!(fs::read_dir(scratch.path("")).unwrap().count(), 8, "no file is left over");
    }

    #[test]
    fn a_link_stays_a_link() {
        let scratch = Scratch::new();
        scratch.write("real", "1");
        symlink(scratch.path("real"), scratch.path("link")).unwrap();
        replace(&scratch.path("link"), b"2").unwrap();
        assert!(fs::symlink_metadata(scratch.path("link")).unwrap().is_symlink());
        assert_eq!(scratch.read("real"), "2");
    }

    #[test]
    fn a_reader_never_sees_a_part() {
        let scratch = Scratch::new();
        let file = scratch.path("f");
        replace(&file, &[b'0'; 100_000]).unwrap();
        thread::scope(|scope| {
            for digit in [b'1', b'2', b'3', b'4'] {
                let file = &file;
                scope.spawn(move || {
                    for _ in 0..50 {
                        replace(file, &vec![digit; 100_000]).unwrap();
                    }
                });
            }
            for _ in 0..200 {
                let seen = fs::read(&file).unwrap();
                assert_eq!(seen.len(), 100_000);
                assert!(seen.iter().all(|byte| *byte == seen[0]));
            }
        });
        assert_eq!(fs::read_dir(scratch.path("")).unwrap().count(), 1, "no file is left over");
    }

    #[test]
    fn a_failure_leaves_the_old_file_and_nothing_else() {
        let scratch = Scratch::new();
        // A directory that is not empty cannot be replaced by a file, not even by root.
        scratch.write("f/inside", "1");
        let told = replace(&scratch.path("f"), b"2").unwrap_err().to_string();
        assert!(told.starts_with(&format!("cannot write {}: ", scratch.path("f").display())));
        assert_eq!(scratch.read("f/inside"), "1");
        assert_eq!(fs::read_dir(scratch.path("")).unwrap().count(), 1);
    }

    #[test]
    fn what_is_not_there_is_removed_already() {
        let scratch = Scratch::new();
        let file = scratch.write("f", "");
        assert!(remove(&file).is_ok() && !file.exists());
        assert!(remove(&file).is_ok());
    }
}
