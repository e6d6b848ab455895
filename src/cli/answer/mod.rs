//! Results in the form that was asked for, and the demands that were made on them.

mod blocks;
mod picture;
mod printer;
mod save;
mod selection;

use std::path::Path;

pub(super) use self::blocks::{bytes_of, contents_of, describe, is_text, mime_type_of, text_of};
pub(super) use self::printer::Printer;
pub(super) use self::save::{Folder, Item};

use self::blocks::{long_text_of, push_lines};
pub(super) use self::selection::{excerpt, mismatch};
use super::args::Format;
use super::args::values::Expectation;
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::output::{self, Parts, events};
use super::run::Run;
use crate::protocol::json::Json;
use crate::protocol::message::Sent;
use crate::protocol::model::document::Document;
use crate::protocol::model::result::{Block, CallResult};
use crate::protocol::output_schema::{self, Unfit};
use crate::protocol::pointer::Pointer;

/// What a command line wants of an answer beside its form.
#[derive(Debug, Default)]
pub(super) struct Wishes<'a> {
    /// Only these parts of it (`--select`).
    select: &'a [Pointer],
    /// These values in it (`--expect`).
    expect: &'a [Expectation],
    /// Its blocks as files (`--save`).
    pub(super) folder: Option<Folder<'a>>,
    /// Structured content that fits this schema (`--check-output`).
    pub(super) schema: Option<String>,
}

/// How a call ended.
#[derive(Debug)]
pub(super) enum Outcome {
    /// Well; the answer was written.
    Answered,
    /// The tool says that it failed, and why.
    ToolFailed(String),
}

impl<'a> Wishes<'a> {
    /// The wishes of a command line. The directory is made at once.
    pub(super) fn new(
        run: &'a Run<'a>,
        select: &'a [Pointer],
        expect: &'a [Expectation],
        save: Option<&'a Path>,
    ) -> Result<Wishes<'a>, Error> {
        let folder = save.map(|directory| Folder::open(run, directory)).transpose()?;
        Ok(Wishes { select, expect, folder, schema: None })
    }

    /// Writes a result of any kind, if it is not to be written in a form of its own kind: as a whole
    /// (`-o json`, `-o events`), or parts of it. Tells whether it was written. Errors when the result
    /// is not what it must be; the whole is written all the same, like that of a tool that failed.
    pub(super) fn write(&self, parts: &mut Parts<'_>, result: &str) -> Result<bool, Error> {
        let is_written = self.write_whole(parts, result)?;
        selection::check(result, self.expect)?;
        if !self.select.is_empty() {
            let as_json = parts.form() == Format::Json;
            parts.add(selection::select(result, self.select, as_json)?.as_bytes())?;
        }
        Ok(is_written || !self.select.is_empty())
    }

    fn write_whole(&self, parts: &mut Parts<'_>, result: &str) -> Result<bool, Error> {
        match parts.form() {
            _ if !self.select.is_empty() => return Ok(false),
            Format::Json => parts.add_line(result)?,
            Format::Events => {
                parts.add(events::line("result", &[("result", result)]).as_bytes())?
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Saves blocks, if that is wished.
    pub(super) fn save(&self, blocks: &[Block<'_>]) -> Result<(), Error> {
        let Some(folder) = &self.folder else { return Ok(()) };
        for (index, block) in blocks.iter().enumerate() {
            let Some(bytes) = bytes_of(block) else { continue };
            folder.put(&Item {
                number: index + 1,
                mime_type: mime_type_of(block),
                is_text: is_text(block),
                bytes: &bytes?,
            })?;
        }
        Ok(())
    }

    fn check_schema(&self, structured: Option<&str>) -> Result<(), Error> {
        let Some(schema) = &self.schema else { return Ok(()) };
        let Some(structured) = structured else {
            return Err(mismatch(
                "the tool has an output schema, but its answer has no structured content",
            ));
        };
        output_schema::check(schema, structured).map_err(|unfit| match unfit {
            Unfit::Schema(why) => {
                mismatch(format!("the tool's output schema cannot be used: {}", excerpt(&why)))
            }
            Unfit::Value(faults) => {
                let faults: Vec<_> = faults.iter().map(|fault| excerpt(fault)).collect();
                mismatch(format!(
                    "the answer does not fit the tool's output schema: {}",
                    faults.join("; ")
                ))
            }
        })
    }
}

/// Writes the result of a call. What a tool says about its own failure is no answer, and goes to
/// standard error in every form but those that show the whole result.
pub(super) fn write(run: &Run<'_>, json: &Json, wishes: &Wishes<'_>) -> Result<Outcome, Error> {
    let text = json.as_str();
    check(json)?;
    let result = CallResult::read(json);
    let mut parts = Parts::new(run);
    let fits = match result.is_error {
        true => Ok(()),
        false => wishes.check_schema(result.structured),
    };
    if result.is_error || fits.is_err() {
        wishes.write_whole(&mut parts, text)?;
        parts.finish_unless_failed(true)?;
        return fits.map(|()| Outcome::ToolFailed(failure_text(&result)));
    }
    let written = wishes.write(&mut parts, text);
    if let Ok(false) = written {
        write_form(run, json, &result, wishes)?;
    } else {
        parts.finish_unless_failed(written.is_err())?;
    }
    written?;
    if wishes.folder.is_some() {
        wishes.save(&result.blocks(&mut Document::new()))?;
    }
    Ok(Outcome::Answered)
}

/// Errors when a result cannot be that of a tool. It may go without content.
pub(super) fn check(json: &Json) -> Result<(), Error> {
    let content = || json.member("content").unwrap_or("null");
    let why = match json.as_str().starts_with('{') {
        false => "it is not an object",
        true if content().starts_with(['[', 'n']) => return Ok(()),
        true => "its content is not a list",
    };
    let error = Error::new(Exit::Protocol, format!("the answer is no tool result: {why}"));
    let error = error.phase(Phase::Request).sent(Sent::Yes);
    Err(error.hint("`mcpmini rpc` shows what the server answers"))
}

/// Writes a result in a form of its own.
fn write_form(
    run: &Run<'_>,
    json: &Json,
    result: &CallResult<'_>,
    wishes: &Wishes<'_>,
) -> Result<(), Error> {
    match run.settings.output {
        // They show the whole, which was written before.
        Format::Json | Format::Events => Ok(()),
        Format::Text => write_text(run, result, wishes),
        Format::Content => output::write_line(run, json.member("content").unwrap_or("[]")),
        Format::Structured => match result.structured {
            Some(structured) => output::write_line(run, structured),
            None => Err(mismatch("the answer has no structured content")),
        },
        Format::Raw => write_raw(run, result),
    }
}

/// The text blocks, each ended by a line feed; without any, the structured content.
fn write_text(run: &Run<'_>, result: &CallResult<'_>, wishes: &Wishes<'_>) -> Result<(), Error> {
    let mut printer = Printer::new(run, wishes.folder.is_some());
    let blocks = result.blocks(&mut Document::new());
    let has_text = blocks.iter().any(is_text);
    blocks.iter().try_for_each(|block| printer.block(block))?;
    if let (false, Some(structured)) = (has_text, result.structured) {
        printer.text(&format!("{}\n", output::one_line(structured)));
    }
    printer.finish()
}

/// The decoded bytes of the only block.
fn write_raw(run: &Run<'_>, result: &CallResult<'_>) -> Result<(), Error> {
    let blocks = result.blocks(&mut Document::new());
    let [block] = blocks.as_slice() else {
        let count = blocks.len();
        return Err(mismatch(format!(
            "the tool has run, and its answer has {count} content blocks where -o raw needs one"
        ))
        .hint("--save DIR writes each block to a file"));
    };
    if let Some(text) = long_text_of(block) {
        let mut parts = Parts::new(run);
        text.pieces(|piece| parts.add(piece.as_bytes()))?;
        return parts.finish();
    }
    match bytes_of(block) {
        Some(bytes) => output::write(run, &bytes?),
        None => {
            Err(mismatch(format!("the tool has run, and -o raw cannot print {}", describe(block))))
        }
    }
}

/// The error of a call whose tool says that it failed.
pub(super) fn tool_failed(server: &str, text: &str) -> Error {
    let text = if text.is_empty() { "the tool failed and does not say why" } else { text };
    Error::new(Exit::ToolError, text).phase(Phase::Request).sent(Sent::Yes).server(server)
}

/// Why a tool failed, if its result says that it did.
pub(super) fn failure(json: &Json) -> Option<String> {
    let result = CallResult::read(json);
    result.is_error.then(|| failure_text(&result))
}

/// What a failed tool says.
fn failure_text(result: &CallResult<'_>) -> String {
    let mut text = String::new();
    for block in &result.blocks(&mut Document::new()) {
        match text_of(block) {
            Some(part) => push_lines(&mut text, &part),
            None => push_lines(&mut text, &describe(block)),
        }
    }
    if let (true, Some(structured)) = (text.is_empty(), result.structured) {
        push_lines(&mut text, structured);
    }
    text.trim_end().to_owned()
}
