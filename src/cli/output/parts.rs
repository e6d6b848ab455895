//! An answer that comes in parts.

use super::super::args::Format;
use super::super::errors::Error;
use super::super::run::Run;
use super::{file, write};

/// Lines that are longer are not written at once anyway, in bytes.
const LONG: usize = 64 << 10;

/// An answer that is written part by part, as the parts come. A file gets them together at the
/// end: it has a whole answer, or none.
#[derive(Debug)]
pub(in super::super) struct Parts<'a> {
    run: &'a Run<'a>,
    kept: Vec<u8>,
}

impl<'a> Parts<'a> {
    /// An answer without parts.
    pub(in super::super) fn new(run: &'a Run<'a>) -> Parts<'a> {
        Parts { run, kept: Vec::new() }
    }

    /// The run that it is the answer of.
    pub(super) fn run(&self) -> &'a Run<'a> {
        self.run
    }

    /// The form that the answer is to have.
    pub(in super::super) fn form(&self) -> Format {
        self.run.settings.output
    }

    /// Adds a part.
    pub(in super::super) fn add(&mut self, bytes: &[u8]) -> Result<(), Error> {
        match self.run.globals.out {
            Some(_) => self.kept.extend_from_slice(bytes),
            None => write(self.run, bytes)?,
        }
        Ok(())
    }

    /// Adds a part that is a line.
    pub(in super::super) fn add_line(&mut self, text: &str) -> Result<(), Error> {
        let line = super::one_line(text);
        if LONG < line.len() {
            // It is not copied for the sake of its end.
            self.add(line.as_bytes())?;
            return self.add(b"\n");
        }
        let mut line = line.into_owned();
        line.push('\n');
        self.add(line.as_bytes())
    }

    /// There are no more parts, and if that is a failure, perhaps there were none at all: then a
    /// file stays as it is.
    pub(in super::super) fn finish_unless_failed(self, failed: bool) -> Result<(), Error> {
        if failed && self.kept.is_empty() { Ok(()) } else { self.finish() }
    }

    /// There are no more parts.
    pub(in super::super) fn finish(self) -> Result<(), Error> {
        match &self.run.globals.out {
            Some(path) => file::replace(self.run, &self.run.env.absolute(path), &self.kept),
            None => Ok(()),
        }
    }
}
