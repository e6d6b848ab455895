//! `-o events`: everything that happens, one line of JSON per event, as it happens.

use super::super::errors::Error;
use super::super::run::Run;
use super::super::terminal::Stream;
use super::one_line;
use crate::protocol::json;
use crate::protocol::params::Members;

/// Writes an event. Whoever has closed standard output is told at the end, with the result.
pub(in super::super) fn write(run: &Run<'_>, name: &str, members: &[(&str, &str)]) {
    let line = line(name, members);
    let _ = Stream::Stdout.write(line.as_bytes(), &|| !run.is_over());
}

/// Writes the event that ends a run with an error.
pub(in super::super) fn write_error(run: &Run<'_>, error: &Error) {
    write(run, "error", &[("error", &run.redaction.error(error.clone()).json())]);
}

/// An event as a line.
pub(in super::super) fn line(name: &str, members: &[(&str, &str)]) -> String {
    let mut event = Members::new();
    event.push("event", &json::string(name));
    for (name, value) in members {
        event.push(name, &one_line(value));
    }
    event.finish() + "\n"
}
