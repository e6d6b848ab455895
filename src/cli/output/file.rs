//! An answer in a file: there as a whole, or not at all.

use std::fs::{self, File, OpenOptions};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::errors::{Error, Phase};
use super::super::exit::Exit;
use super::super::run::Run;
use crate::env::streams::{self, ENDLESS, Patience};
use crate::protocol::message::Sent;

/// Puts `bytes` into a file. What stood there before is replaced in one step, so that nobody sees
/// half an answer; a device or a pipe is written to.
pub(in super::super) fn replace(run: &Run<'_>, path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let written = Growing::begin(run, path).and_then(|growing| {
        growing.handle().write(bytes, &|| !run.is_over())?;
        growing.finish()
    });
    // What was given up because the run is over failed for no other reason.
    written.map_err(|error| match run.over() {
        Some(over) => over.phase(Phase::Output).sent(Sent::Yes),
        None => error,
    })
}

/// An answer that is written bit by bit. When it is dropped before it was finished, nothing of it
/// is left.
#[derive(Debug)]
pub(in super::super) struct Growing {
    handle: Handle,
    /// Where it grows, if that is not where it belongs.
    beside: Option<PathBuf>,
}

/// What an answer is written to, for a thread of its own.
#[derive(Debug, Clone)]
pub(in super::super) struct Handle {
    file: Arc<File>,
    path: PathBuf,
}

impl Growing {
    /// Begins an answer that belongs to a path: a device or a pipe is written to, and behind a link
    /// the file that it points to is replaced.
    pub(in super::super) fn begin(run: &Run<'_>, path: &Path) -> Result<Growing, Error> {
        if !fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
            let target = path.canonicalize();
            return Growing::beside(target.as_deref().unwrap_or(path));
        }
        let mut options = OpenOptions::new();
        let file = streams::open_to_write(options.write(true), path, &|| !run.is_over());
        let file = file.map_err(|error| unwritable(path, ANSWER, &error.to_string()))?;
        Ok(Growing { handle: Handle { file: Arc::new(file), path: path.into() }, beside: None })
    }

    /// Begins an answer in a new file beside a path.
    fn beside(path: &Path) -> Result<Growing, Error> {
        let name = path.file_name().ok_or_else(|| unwritable(path, ANSWER, "it is a directory"))?;
        let name = format!(".{}.{}.tmp", name.to_string_lossy(), std::process::id());
        let beside = path.with_file_name(name);
        let file = OpenOptions::new().write(true).create_new(true).open(&beside);
        let file = file.map_err(|error| unwritable(path, ANSWER, &error.to_string()))?;
        let handle = Handle { file: Arc::new(file), path: path.into() };
        Ok(Growing { handle, beside: Some(beside) })
    }

    /// What to write to.
    pub(in super::super) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Puts the answer where it belongs.
    pub(in super::super) fn finish(mut self) -> Result<(), Error> {
        let Some(beside) = &self.beside else { return Ok(()) };
        let path = &self.handle.path;
        if let Ok(old) = fs::symlink_metadata(path)
            && old.is_file()
        {
            let kept = fs::set_permissions(beside, old.permissions());
            kept.map_err(|error| unwritable(path, ANSWER, &error.to_string()))?;
        }
        fs::rename(beside, path).map_err(|error| unwritable(path, ANSWER, &error.to_string()))?;
        self.beside = None;
        Ok(())
    }
}

impl Drop for Growing {
    fn drop(&mut self) {
        if let Some(beside) = &self.beside {
            let _ = fs::remove_file(beside);
        }
    }
}

impl Handle {
    /// Adds bytes, as long as the patience lasts with whoever reads them.
    pub(in super::super) fn write(
        &self,
        bytes: &[u8],
        patience: Patience<'_>,
    ) -> Result<(), Error> {
        let written = streams::write_all(self.file.as_fd(), bytes, patience);
        written.map_err(|error| unwritable(&self.path, ANSWER, &error.to_string()))
    }
}

/// Puts `bytes` into the file `name` of a directory, as [`replace`] does, but never elsewhere: a
/// link of that name is replaced, not followed.
pub(in super::super) fn place(directory: &Path, name: &str, bytes: &[u8]) -> Result<(), Error> {
    let growing = Growing::beside(&directory.join(name))?;
    growing.handle().write(bytes, ENDLESS)?;
    growing.finish()
}

/// What is written, in messages.
const ANSWER: &str = "the answer";

/// Makes sure that a file can be there, as far as that can be told before there is an answer: it
/// would be a pity about a call that has run.
pub(super) fn check(path: &Path, what: &str) -> Result<(), Error> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if path.is_dir() {
        return Err(unwritable(path, what, "it is a directory").sent(Sent::No));
    }
    match directory {
        Some(directory) if !directory.is_dir() => {
            let text = format!("there is no directory {}", directory.display());
            Err(unwritable(path, what, &text).sent(Sent::No))
        }
        _ => Ok(()),
    }
}

fn unwritable(path: &Path, what: &str, why: &str) -> Error {
    let text = format!("cannot write {what} to {}: {why}", path.display());
    Error::new(Exit::Config, text).phase(Phase::Output)
}
