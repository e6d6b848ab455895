//! Content blocks for people and pipes: text as text, pictures where the terminal shows them, and
//! of the rest a note that it is there.

use super::blocks::{bytes_of, describe, has_bytes, long_text_of, push_lines, text_of};
use super::picture::{self, Protocol};
use crate::cli::args::Format;
use crate::cli::errors::Error;
use crate::cli::output::{self, Parts};
use crate::cli::run::Run;
use crate::protocol::model::result::{Block, Text};

/// Prints blocks one after the other.
#[derive(Debug)]
pub(in crate::cli) struct Printer<'a> {
    run: &'a Run<'a>,
    parts: Parts<'a>,
    /// How the terminal shows pictures, if it does.
    pictures: Option<Protocol>,
    /// Whether the blocks are saved too, so that nobody must be told how to get at them.
    saved: bool,
    /// Whether the command can print the bytes of a block.
    has_raw: bool,
    /// What is still to be written.
    text: String,
    notes: Vec<String>,
    count: usize,
}

impl<'a> Printer<'a> {
    /// A printer for a standard output or a file.
    pub(in crate::cli) fn new(run: &'a Run<'a>, saved: bool) -> Printer<'a> {
        let pictures = picture::protocol(run.env).filter(|_| run.globals.out.is_none());
        let (text, notes) = (String::new(), Vec::new());
        let has_raw = run.command().formats().contains(&Format::Raw);
        Printer { run, parts: Parts::new(run), pictures, saved, has_raw, text, notes, count: 0 }
    }

    /// Prints a block. Text ends with a line feed, whether it has one or not.
    pub(in crate::cli) fn block(&mut self, block: &Block<'_>) -> Result<(), Error> {
        self.count += 1;
        if let Some(text) = long_text_of(block) {
            return self.long_text(text);
        }
        if let Some(text) = text_of(block) {
            push_lines(&mut self.text, &text);
            return Ok(());
        }
        let is_seen = self.show(block)? || self.saved && has_bytes(block);
        if !is_seen {
            let how = match (has_bytes(block), self.has_raw) {
                (true, true) => "use --save DIR or -o raw",
                (true, false) => "use --save DIR",
                (false, _) => "see -o json",
            };
            self.notes.push(format!("block {}: {}, {how}", self.count, describe(block)));
        }
        Ok(())
    }

    fn long_text(&mut self, text: &Text<'_>) -> Result<(), Error> {
        self.parts.add(std::mem::take(&mut self.text).as_bytes())?;
        let mut is_ended = false;
        text.pieces(|piece| {
            is_ended = piece.ends_with('\n');
            self.parts.add(piece.as_bytes())
        })?;
        if !is_ended {
            self.text.push('\n');
        }
        Ok(())
    }

    /// Prints a text of our own in front of the next block.
    pub(in crate::cli) fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Writes what there is so far, and then the notes about it.
    pub(in crate::cli) fn flush(&mut self) -> Result<(), Error> {
        self.parts.add(std::mem::take(&mut self.text).as_bytes())?;
        self.notes.drain(..).for_each(|note| self.run.warn(&note));
        Ok(())
    }

    /// Writes what is left.
    pub(in crate::cli) fn finish(mut self) -> Result<(), Error> {
        self.parts.add(std::mem::take(&mut self.text).as_bytes())?;
        self.parts.finish()?;
        self.notes.iter().for_each(|note| self.run.warn(note));
        Ok(())
    }

    /// Shows a picture. False when it is none, or this terminal does not show it.
    fn show(&mut self, block: &Block<'_>) -> Result<bool, Error> {
        let Some(protocol) = self.pictures else { return Ok(false) };
        let Some(Ok(bytes)) = bytes_of(block) else { return Ok(false) };
        let Some(shown) = protocol.show(&bytes) else { return Ok(false) };
        self.parts.add(std::mem::take(&mut self.text).as_bytes())?;
        output::write_trusted(self.run, &shown)?;
        Ok(true)
    }
}
