//! The result of a tool, in the form that was asked for.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::cli::args::Format;
use crate::cli::errors::{Error, Phase};
use crate::cli::exit::Exit;
use crate::cli::output::{self, events};
use crate::cli::run::Run;
use crate::protocol::json::Json;
use crate::protocol::jsonrpc::scan;
use crate::protocol::message::Sent;
use crate::protocol::model::document::Document;
use crate::protocol::model::result::{Block, Body, CallResult, Kind, Media, Resource};

/// How a call ended.
#[derive(Debug)]
pub(super) enum Outcome {
    /// Well; the answer was written.
    Answered,
    /// The tool says that it failed, and why.
    ToolFailed(String),
}

/// Writes the result. What a tool says about its own failure is no answer, and goes to standard
/// error in every form but those that show the whole result.
pub(super) fn write(run: &Run<'_>, json: &Json) -> Result<Outcome, Error> {
    if !json.as_str().starts_with('{') {
        let text = "the answer is no tool result: it is not an object";
        return Err(Error::new(Exit::Protocol, text).phase(Phase::Request).sent(Sent::Yes));
    }
    let result = CallResult::read(json.as_str(), &mut Document::new());
    match run.settings.output {
        Format::Json => output::write_line(run, json.as_str())?,
        Format::Events => {
            let line = events::line("result", &[("result", json.as_str())]);
            output::write(run, line.as_bytes())?;
        }
        _ if result.is_error => (),
        Format::Text => write_text(run, &result)?,
        Format::Content => {
            output::write_line(run, scan::member(json.as_str(), "content").unwrap_or("[]"))?;
        }
        Format::Structured => match result.structured {
            Some(structured) => output::write_line(run, structured)?,
            None => return Err(misfit(Exit::Mismatch, "the answer has no structured content")),
        },
        Format::Raw => output::write(run, &raw(&result)?)?,
    }
    Ok(match result.is_error {
        false => Outcome::Answered,
        true => Outcome::ToolFailed(failure_text(&result)),
    })
}

/// The text blocks, each ended by a line feed; without any, the structured content. Of blocks that
/// are no text a note tells that they are there.
fn write_text(run: &Run<'_>, result: &CallResult<'_>) -> Result<(), Error> {
    let mut text = String::new();
    let mut notes = Vec::new();
    for (index, block) in result.content.iter().enumerate() {
        match text_of(block) {
            Some(part) => push_lines(&mut text, part),
            None => {
                let how = if result.content.len() == 1 { "-o raw" } else { "-o json" };
                notes.push(format!("block {}: {}, see {how}", index + 1, describe(block)));
            }
        }
    }
    let has_text = result.content.iter().any(|block| text_of(block).is_some());
    if let (false, Some(structured)) = (has_text, result.structured) {
        push_lines(&mut text, &output::one_line(structured));
    }
    output::write(run, text.as_bytes())?;
    notes.iter().for_each(|note| run.warn(note));
    Ok(())
}

/// The decoded bytes of the only block.
fn raw(result: &CallResult<'_>) -> Result<Vec<u8>, Error> {
    let [block] = result.content.as_slice() else {
        let text =
            format!("-o raw needs one content block, and the answer has {}", result.content.len());
        return Err(misfit(Exit::Usage, &text));
    };
    let base64 = match &block.kind {
        Kind::Text(text) => return Ok(text.clone().into_bytes()),
        Kind::Resource(Resource { body: Body::Text(text), .. }) => {
            return Ok(text.clone().into_bytes());
        }
        Kind::Image(Media { base64, .. }) | Kind::Audio(Media { base64, .. }) => base64,
        Kind::Resource(Resource { body: Body::Base64(base64), .. }) => base64,
        Kind::ResourceLink { .. } | Kind::Unknown { .. } => {
            return Err(misfit(Exit::Usage, &format!("-o raw cannot print {}", describe(block))));
        }
    };
    // Some encoders break lines.
    let compact: String = base64.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    STANDARD.decode(compact).map_err(|error| {
        let text = format!("the server sent invalid Base64: {error}");
        Error::new(Exit::Protocol, text).phase(Phase::Output).sent(Sent::Yes)
    })
}

/// What a failed tool says.
fn failure_text(result: &CallResult<'_>) -> String {
    let mut text = String::new();
    for block in &result.content {
        match text_of(block) {
            Some(part) => push_lines(&mut text, part),
            None => push_lines(&mut text, &describe(block)),
        }
    }
    if let (true, Some(structured)) = (text.is_empty(), result.structured) {
        push_lines(&mut text, structured);
    }
    text.trim_end().to_owned()
}

fn text_of<'a>(block: &'a Block<'_>) -> Option<&'a str> {
    match &block.kind {
        Kind::Text(text) | Kind::Resource(Resource { body: Body::Text(text), .. }) => Some(text),
        _ => None,
    }
}

fn push_lines(text: &mut String, part: &str) {
    text.push_str(part);
    if !part.ends_with('\n') {
        text.push('\n');
    }
}

/// What a block is that is no text.
fn describe(block: &Block<'_>) -> String {
    let media = |kind: &str, mime: &Option<String>, base64: &str| {
        let bytes = base64.trim_end_matches('=').len() * 3 / 4;
        format!("{} {bytes} B", mime.as_deref().unwrap_or(kind))
    };
    match &block.kind {
        Kind::Text(_) => "text".to_owned(),
        Kind::Image(image) => media("image", &image.mime_type, &image.base64),
        Kind::Audio(audio) => media("audio", &audio.mime_type, &audio.base64),
        Kind::ResourceLink { uri, name, .. } => match name {
            Some(name) => format!("link to {uri} ({name})"),
            None => format!("link to {uri}"),
        },
        Kind::Resource(Resource { uri, mime_type, body: Body::Base64(base64) }) => {
            format!("resource {uri}, {}", media("bytes", mime_type, base64))
        }
        Kind::Resource(Resource { uri, .. }) => format!("resource {uri}"),
        Kind::Unknown { name } if name.is_empty() => "a block without a type".to_owned(),
        Kind::Unknown { name } => format!("a block of type {name}"),
    }
}

fn misfit(exit: Exit, text: &str) -> Error {
    Error::new(exit, text).phase(Phase::Output).sent(Sent::Yes)
}
