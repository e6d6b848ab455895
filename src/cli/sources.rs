//! Files and standard input that words of the command line refer to.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::errors::{Error, Phase};
use super::exit::Exit;
use super::run::Run;
use crate::protocol::arguments::{Input, Source};
use crate::protocol::message::Sent;

/// The longest file that is read into arguments, in bytes.
const LIMIT: u64 = 128 << 20;

/// Reads what the words refer to, in their order. Standard input is read only when they say so.
pub(super) fn read_all(run: &Run<'_>, inputs: &[Input]) -> Result<Vec<Vec<u8>>, Error> {
    let read = |input: &Input| match &input.source {
        Source::Stdin => stdin(),
        Source::File(path) => file(run, path),
    };
    inputs.iter().map(read).collect()
}

/// Reads standard input to its end.
pub(super) fn stdin() -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(LIMIT + 1).read_to_end(&mut bytes);
    finish("standard input", read, bytes).map_err(|text| usage(&text))
}

/// Reads a text file that an option refers to.
pub(super) fn text_file(run: &Run<'_>, path: &Path, option: &str) -> Result<String, Error> {
    let shown = format!("{option} {}", path.display());
    let bytes = open(run, path, &shown).map_err(|text| config(&text))?;
    String::from_utf8(bytes).map_err(|_| config(&format!("{shown} is not UTF-8")))
}

/// Reads the file that a word of the form `@PATH` refers to.
pub(super) fn file(run: &Run<'_>, path: &str) -> Result<Vec<u8>, Error> {
    open(run, Path::new(path), &format!("@{path}")).map_err(|text| usage(&text))
}

fn open(run: &Run<'_>, path: &Path, shown: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = File::open(run.env.absolute(path))
        .and_then(|file| file.take(LIMIT + 1).read_to_end(&mut bytes));
    finish(shown, read, bytes)
}

fn finish(what: &str, read: std::io::Result<usize>, bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    match read {
        Err(error) => Err(format!("cannot read {what}: {error}")),
        Ok(length) if LIMIT < length as u64 => {
            Err(format!("{what} is longer than {} MiB", LIMIT >> 20))
        }
        Ok(_) => Ok(bytes),
    }
}

/// A word that refers to something unreadable is a mistake in the command line.
fn usage(text: &str) -> Error {
    Error::new(Exit::Usage, text).phase(Phase::Usage).sent(Sent::No)
}

/// An option that refers to a bad file is a matter of configuration.
fn config(text: &str) -> Error {
    Error::new(Exit::Config, text).phase(Phase::Config).sent(Sent::No)
}
