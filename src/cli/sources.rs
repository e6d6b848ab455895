//! Files and standard input that words of the command line refer to.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::errors::{Error, Phase};
use super::exit::Exit;
use super::run::Run;
use crate::protocol::arguments::{Input, Source};

/// The longest file that is read into arguments, in bytes.
const LIMIT: u64 = 128 << 20;

/// Reads what the words refer to, in their order. Standard input is read only when they say so.
pub(super) fn read_all(run: &Run<'_>, inputs: &[Input]) -> Result<Vec<Vec<u8>>, Error> {
    let read = |input: &Input| match &input.source {
        Source::Stdin => stdin(),
        Source::File(path) => file(run, Path::new(path), path),
    };
    inputs.iter().map(read).collect()
}

/// Reads standard input to its end.
pub(super) fn stdin() -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(LIMIT + 1).read_to_end(&mut bytes);
    finish("standard input", read, bytes)
}

/// Reads a text file; `what` names the option that refers to it.
pub(super) fn text_file(run: &Run<'_>, path: &Path, what: &str) -> Result<String, Error> {
    let bytes = file(run, path, what)?;
    String::from_utf8(bytes).map_err(|_| usage(format!("{what}: {} is not UTF-8", path.display())))
}

/// Reads a file; `what` names the word or option that refers to it.
pub(super) fn file(run: &Run<'_>, path: &Path, what: &str) -> Result<Vec<u8>, Error> {
    let shown = match what == path.to_string_lossy() {
        true => format!("@{what}"),
        false => format!("{what} {}", path.display()),
    };
    let mut bytes = Vec::new();
    let read = File::open(run.env.absolute(path))
        .and_then(|file| file.take(LIMIT + 1).read_to_end(&mut bytes));
    finish(&shown, read, bytes)
}

fn finish(what: &str, read: std::io::Result<usize>, bytes: Vec<u8>) -> Result<Vec<u8>, Error> {
    match read {
        Err(error) => Err(usage(format!("cannot read {what}: {error}"))),
        Ok(length) if LIMIT < length as u64 => {
            Err(usage(format!("{what} is longer than {} MiB", LIMIT >> 20)))
        }
        Ok(_) => Ok(bytes),
    }
}

fn usage(text: String) -> Error {
    Error::new(Exit::Usage, text).phase(Phase::Usage)
}
