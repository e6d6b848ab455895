//! The answer, as bytes on standard output or in a file.

pub(super) mod events;
mod file;
mod parts;
mod table;

pub(super) use file::{place, replace};
pub(super) use parts::Parts;
pub(super) use table::{Table, align, cell};

pub(super) use file::Growing;

use std::borrow::Cow;

use super::args::Format;
use super::args::choices::ServerStderr;
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::redaction::is_ours;
use super::run::Run;
use super::terminal::{Stream, Unwritten};
use crate::protocol::bytes::find_either;
use crate::protocol::message::Sent;
use crate::protocol::visible::for_terminal;

/// Makes sure, as far as that can be told beforehand, that what is asked for can be written.
pub(super) fn check(run: &Run<'_>) -> Result<(), Error> {
    if let Some(path) = &run.globals.out {
        if run.settings.output == Format::Events {
            let text = "--out does not go with -o events, which are written as they happen";
            return Err(Error::new(Exit::Usage, text).phase(Phase::Usage).sent(Sent::No));
        }
        file::check(&run.env.absolute(path), "the answer")?;
    }
    if let Some(ServerStderr::File(path)) = &run.globals.stderr {
        file::check(&run.env.absolute(path), "the server's messages")?;
    }
    Ok(())
}

/// Writes an answer, whole: to `--out`, or to standard output. A terminal gets no control
/// characters, which a server could use to steer it; a pipe or a file gets every byte.
pub(super) fn write(run: &Run<'_>, bytes: &[u8]) -> Result<(), Error> {
    let own = is_ours(run.command()).then(|| String::from_utf8_lossy(bytes));
    let own = own.as_deref().map(|text| run.redaction.apply(text));
    let bytes = own.as_ref().map_or(bytes, |text| text.as_bytes());
    if let Some(path) = &run.globals.out {
        return file::replace(run, &run.env.absolute(path), bytes);
    }
    // What is not UTF-8 is not spared: 0x9B begins a sequence on some terminals.
    let text = run.env.terminals.stdout.then(|| String::from_utf8_lossy(bytes));
    let text = text.as_deref().map(for_terminal);
    let bytes = text.as_ref().map_or(bytes, |text| text.as_bytes());
    written(run, Stream::Stdout.write(bytes, &|| !run.is_over()))
}

/// What became of a write that was given up when the run was over.
fn written(run: &Run<'_>, written: Result<(), Unwritten>) -> Result<(), Error> {
    written.map_err(|why| match run.over() {
        Some(error) if why == Unwritten::GivenUp => error.phase(Phase::Output).sent(Sent::Yes),
        _ => unwritten(why),
    })
}

/// Writes text of our own to standard output as it is, with the sequences that steer a terminal.
pub(super) fn write_trusted(run: &Run<'_>, text: &str) -> Result<(), Error> {
    let text = run.redaction.apply(text);
    written(run, Stream::Stdout.write(text.as_bytes(), &|| !run.is_over()))
}

/// Writes an answer that is one line.
pub(super) fn write_line(run: &Run<'_>, text: &str) -> Result<(), Error> {
    let mut parts = Parts::new(run);
    parts.add_line(text)?;
    parts.finish()
}

/// Why the answer was not written. That nobody reads it is no error, but ends the program as it
/// ends others.
pub(super) fn unwritten(unwritten: Unwritten) -> Error {
    match unwritten {
        Unwritten::BrokenPipe => {
            Error::new(Exit::BROKEN_PIPE, "nobody reads the answer").phase(Phase::Output)
        }
        Unwritten::GivenUp | Unwritten::Refused(_) => Error::from(unwritten),
    }
}

/// JSON text on one line. Line ends inside it can only stand between tokens, where any white space
/// is as good.
pub(super) fn one_line(text: &str) -> Cow<'_, str> {
    match find_either(b'\n', b'\r', text.as_bytes()) {
        None => Cow::Borrowed(text),
        Some(_) => Cow::Owned(text.replace(['\n', '\r'], " ")),
    }
}
