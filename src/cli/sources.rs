//! Files and standard input that words of the command line refer to.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use super::errors::{Error, Phase};
use super::exit::Exit;
use super::run::Run;
use crate::env::Secret;
use crate::env::streams::{self, Unread};
use crate::env::threads;
use crate::protocol::arguments::{Input, Source};
use crate::protocol::message::Sent;

/// The longest file that is read into arguments, in bytes.
const LIMIT: usize = 128 << 20;

/// Reads what the words refer to, in their order. Standard input is read only when they say so.
pub(super) fn read_all(run: &Run<'_>, inputs: &[Input]) -> Result<Vec<Vec<u8>>, Error> {
    let read = |input: &Input| match &input.source {
        Source::Stdin => stdin(run),
        Source::File(path) => {
            file(run, path).map_err(|error| match run.env.absolute(Path::new(path)).exists() {
                true => error,
                false => error.hint("text that begins with @ is written with two: KEY=@@TEXT"),
            })
        }
    };
    inputs.iter().map(read).collect()
}

/// Errors when standard input is wanted and was closed (`<&-`).
pub(super) fn check_input() -> Result<(), Error> {
    match streams::has_input() {
        true => Ok(()),
        false => Err(Error::usage("cannot read standard input: it is closed")),
    }
}

/// Errors when there can be no thread to read an input with, or to write an output.
pub(super) fn check_threads() -> Result<(), Error> {
    threads::check().map_err(|error| {
        let error = Error::new(Exit::Unreachable, format!("cannot start a thread: {error}"));
        error
            .phase(Phase::Start)
            .hint("`ulimit -u` says how many processes and threads there may be")
    })
}

/// Reads standard input to its end.
pub(super) fn stdin(run: &Run<'_>) -> Result<Vec<u8>, Error> {
    check_input()?;
    read(run, rustix::stdio::stdin(), "standard input", Error::usage)
}

/// Reads a text file that an option refers to. What is in a pipe is remembered: it cannot be read
/// again, and the option may be looked at again, or for another server.
pub(super) fn text_file(run: &Run<'_>, path: &Path, option: &str) -> Result<String, Error> {
    if let Some((_, text)) = run.piped.borrow().iter().find(|(piped, _)| piped == path) {
        return Ok(text.expose().to_owned());
    }
    let shown = format!("{option} {}", path.display());
    let file = open(run, path, &shown, config)?;
    let bytes = read(run, file.as_fd(), &shown, config)?;
    let text = String::from_utf8(bytes).map_err(|_| config(format!("{shown} is not UTF-8")))?;
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        run.piped.borrow_mut().push((path.to_owned(), Secret::from(text.as_str())));
    }
    Ok(text)
}

/// Reads the file that a word of the form `@PATH` refers to.
pub(super) fn file(run: &Run<'_>, path: &str) -> Result<Vec<u8>, Error> {
    let shown = format!("@{path}");
    read(run, open(run, Path::new(path), &shown, Error::usage)?.as_fd(), &shown, Error::usage)
}

fn open(run: &Run<'_>, path: &Path, shown: &str, fail: fn(String) -> Error) -> Result<File, Error> {
    let file = streams::open_to_read(&run.env.absolute(path));
    file.map_err(|error| fail(format!("cannot read {shown}: {error}")))
}

/// Reads to the end. What it comes from may be a pipe that nobody writes to: then the limit for
/// everything or a signal ends the run.
fn read(
    run: &Run<'_>,
    from: BorrowedFd<'_>,
    shown: &str,
    fail: fn(String) -> Error,
) -> Result<Vec<u8>, Error> {
    streams::read_to_end(from, LIMIT, &|| !run.is_over()).map_err(|unread| match unread {
        Unread::TooLong => fail(format!("{shown} is longer than {} MiB", LIMIT >> 20)),
        Unread::Refused(errno) => fail(format!("cannot read {shown}: {}", streams::reason(errno))),
        Unread::GivenUp => match run.over() {
            Some(error) => {
                let message = format!("{}; {shown} has not ended", error.message);
                Error { message, ..error }.phase(Phase::Usage).sent(Sent::No)
            }
            None => fail(format!("cannot read {shown}: nothing comes")),
        },
    })
}

/// An option that refers to a bad file is a matter of configuration.
fn config(text: String) -> Error {
    Error::new(Exit::Config, text).phase(Phase::Config).sent(Sent::No)
}
