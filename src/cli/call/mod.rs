//! `mcpmini call`: one tool call. The main job.

mod answer;

use smol::LocalExecutor;

use super::args::Format;
use super::args::commands::Call;
use super::catalog::Catalog;
use super::contact::Contact;
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::output::events;
use super::run::Run;
use super::sources;
use crate::client::NoResult;
use crate::protocol::arguments::{self, ArgError, Options, Words};
use crate::protocol::headers;
use crate::protocol::json;
use crate::protocol::jsonrpc::ErrorObject;
use crate::protocol::message::Sent;
use crate::protocol::method;
use crate::protocol::model::tool::Tool;
use crate::protocol::params::Params;

/// Calls a tool and prints its answer.
pub(super) async fn run(
    run: &Run<'_>,
    call: &Call,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    let words = arguments::parse(&call.args, run.tail).map_err(|mistake| usage(&mistake))?;
    let contents = sources::read_all(run, words.inputs())?;
    let mut contact = Contact::find(run, &call.server, executor)?;
    let called = answer(run, call, &words, &contents, &mut contact).await;
    if let (Format::Events, Err(error)) = (run.settings.output, &called) {
        let object = error.json_line();
        events::write("error", &[("error", inner(&object))]);
    }
    contact.finish(called).await
}

async fn answer(
    run: &Run<'_>,
    call: &Call,
    words: &Words,
    contents: &[Vec<u8>],
    contact: &mut Contact<'_>,
) -> Result<Exit, Error> {
    let mut tool = tool(call, words, contact).await?;
    let mut retried = false;
    let result = loop {
        let (params, mirrored) = prepare(call, words, contents, tool.as_ref())?;
        match contact.try_request(method::CALL_TOOL, params, mirrored).await? {
            Ok(result) => break result,
            Err(NoResult::Error(error))
                if error.code == ErrorObject::HEADER_MISMATCH && !retried =>
            {
                // The tool wants other headers than it did (2026-07-28, Client Behavior).
                retried = true;
                Catalog::forget(contact);
                tool = Some(Catalog::find(contact, &call.tool).await?);
            }
            Err(no_result) => {
                if let NoResult::Error(_) = no_result {
                    // The tool may be gone, or take other arguments now.
                    Catalog::forget(contact);
                }
                return Err(refused_question(contact, contact.explain(no_result)));
            }
        }
    };
    match answer::write(run, &result)? {
        answer::Outcome::Answered => Ok(Exit::Ok),
        answer::Outcome::ToolFailed(text) => {
            let error = match unknown_tool(call, tool.as_ref(), contact).await {
                Some(unknown) => unknown,
                None => tool_failed(contact, &text),
            };
            Err(refused_question(contact, error))
        }
    }
}

/// The tool, if anything about it must be known: the types of its arguments, or which of them are
/// mirrored into headers.
async fn tool(
    call: &Call,
    words: &Words,
    contact: &mut Contact<'_>,
) -> Result<Option<Tool>, Error> {
    if call.no_schema {
        return Ok(None);
    }
    let mirrors = contact.is_http()
        && match contact.known_revision() {
            Some(revision) => revision.mirrored_headers,
            None => contact.settle().await?.is_some_and(|revision| revision.mirrored_headers),
        };
    match mirrors || words.needs_schema() {
        true => Catalog::find(contact, &call.tool).await.map(Some),
        false => Ok(None),
    }
}

/// The parameters of the call, and the arguments to mirror into headers.
fn prepare(
    call: &Call,
    words: &Words,
    contents: &[Vec<u8>],
    tool: Option<&Tool>,
) -> Result<(Params, Vec<(String, String)>), Error> {
    // The same words are judged in the same way whether the tool happens to be known or not.
    let schema = tool.filter(|_| words.needs_schema()).map(Tool::schema);
    let options = Options { check: !call.no_check };
    let arguments = arguments::build(words, contents, schema.as_ref(), options);
    let arguments = arguments.map_err(|mistake| usage(&mistake))?;
    let annotated = tool.and_then(Tool::input_schema).map(headers::mirrored);
    let mirrored = match annotated {
        Some(Ok(annotated)) => headers::values(&annotated, &arguments)
            .map_err(|unfit| Error::new(Exit::Usage, unfit.to_string()).phase(Phase::Usage))?,
        _ => Vec::new(),
    };
    let params = Params::new().with("name", json::string(&call.tool)).with("arguments", arguments);
    Ok((params, mirrored))
}

/// Many servers report a tool that they do not have as a tool that failed. Their list tells them
/// apart; it is asked for only after a failure, and only if it was not before.
async fn unknown_tool(
    call: &Call,
    tool: Option<&Tool>,
    contact: &mut Contact<'_>,
) -> Option<Error> {
    if tool.is_some() {
        return None;
    }
    let catalog = Catalog::fetch(contact).await.ok()?;
    catalog.require(&call.tool, contact).err().filter(|error| error.exit == Exit::Rpc)
}

/// A tool that says that it failed.
fn tool_failed(contact: &Contact<'_>, text: &str) -> Error {
    let text = if text.is_empty() { "the tool failed and does not say why" } else { text };
    let error = Error::new(Exit::ToolError, text).phase(Phase::Request).sent(Sent::Yes);
    error.server(contact.server.name.clone())
}

/// A call that failed after a question was refused failed for want of an answer.
fn refused_question(contact: &Contact<'_>, error: Error) -> Error {
    match (contact.refused_question(), error.exit) {
        (Some(question), Exit::ToolError | Exit::Rpc) => {
            let asked = contact.explain(NoResult::Asked(question));
            Error { message: format!("{}; then: {}", asked.message, error.message), ..asked }
        }
        _ => error,
    }
}

fn usage(mistake: &ArgError) -> Error {
    Error::new(Exit::Usage, mistake.to_string()).phase(Phase::Usage).sent(Sent::No)
}

/// The object in the line `{"error":{…}}`.
fn inner(line: &str) -> &str {
    crate::protocol::jsonrpc::scan::member(line, "error").unwrap_or("{}")
}
