//! An answer in a file: there as a whole, or not at all.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use super::super::errors::{Error, Phase};
use super::super::exit::Exit;
use crate::protocol::message::Sent;

/// Puts `bytes` into a file. What stood there before is replaced in one step, so that nobody sees
/// half an answer; a device or a pipe is written to.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let special = fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
    let written = if special { fs::write(path, bytes) } else { swap(path, bytes) };
    written.map_err(|error| unwritable(path, &error.to_string()))
}

/// Puts `bytes` into the file `name` of a directory, as [`replace`] does, but never elsewhere: a
/// link of that name is replaced, not followed.
pub(in super::super) fn place(directory: &Path, name: &str, bytes: &[u8]) -> Result<(), Error> {
    let path = directory.join(name);
    exchange(&path, bytes).map_err(|error| unwritable(&path, &error.to_string()))
}

/// Makes sure that a file can be there, as far as that can be told before there is an answer: it
/// would be a pity about a call that has run.
pub(super) fn check(path: &Path) -> Result<(), Error> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if path.is_dir() {
        return Err(unwritable(path, "it is a directory").sent(Sent::No));
    }
    match directory {
        Some(directory) if !directory.is_dir() => {
            let text = format!("there is no directory {}", directory.display());
            Err(unwritable(path, &text).sent(Sent::No))
        }
        _ => Ok(()),
    }
}

fn unwritable(path: &Path, why: &str) -> Error {
    let text = format!("cannot write the answer to {}: {why}", path.display());
    Error::new(Exit::Config, text).phase(Phase::Output)
}

fn swap(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // A link keeps pointing where it points: the file behind it is replaced.
    exchange(&path.canonicalize().unwrap_or_else(|_| path.to_owned()), bytes)
}

/// Writes a new file beside `path` and puts it in its place.
fn exchange(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?.to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let written = write_new(&beside, bytes).and_then(|()| {
        match fs::symlink_metadata(path) {
            Ok(old) if old.is_file() => fs::set_permissions(&beside, old.permissions())?,
            _ => (),
        }
        fs::rename(&beside, path)
    });
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).open(path)?.write_all(bytes)
}
