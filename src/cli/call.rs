//! `mcpmini call`: one tool call. The main job.

use smol::LocalExecutor;

use super::answer::{self, Outcome, Wishes};
use super::args::Format;
use super::args::commands::Call;
use super::catalog::{self, Catalog};
use super::contact::Contact;
use super::dry_run;
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::output::events;
use super::run::Run;
use super::sources;
use super::task;
use crate::client::NoResult;
use crate::config::quoting;
use crate::protocol::arguments::{self, ArgError, Options, Words};
use crate::protocol::headers;
use crate::protocol::json::{self, Json};
use crate::protocol::jsonrpc::ErrorObject;
use crate::protocol::message::Sent;
use crate::protocol::method;
use crate::protocol::model::tool::Tool;
use crate::protocol::output_schema;
use crate::protocol::params::Params;
use crate::protocol::revision::Tasks;

/// Calls a tool and prints its answer.
pub(super) async fn run(
    run: &Run<'_>,
    call: &Call,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    let words = arguments::parse(&call.args, run.tail)?;
    let contents = sources::read_all(run, words.inputs())?;
    if call.check_output && !output_schema::AVAILABLE {
        let text = "--check-output: this build was made without the feature \"schema\"";
        return Err(Error::new(Exit::Usage, text).phase(Phase::Usage).sent(Sent::No));
    }
    let wishes = Wishes::new(run, &call.select, &call.expect, call.save.as_deref())?;
    let mut contact = Contact::find(run, &call.server, executor)?;
    if call.dry_run {
        return rehearse(call, &words, &contents, &mut contact);
    }
    let called = answer(run, call, &words, &contents, wishes, &mut contact).await;
    if let (Format::Events, Err(error)) = (run.settings.output, &called) {
        events::write_error(run, error);
    }
    contact.finish(called).await
}

async fn answer(
    run: &Run<'_>,
    call: &Call,
    words: &Words,
    contents: &[Vec<u8>],
    mut wishes: Wishes<'_>,
    contact: &mut Contact<'_>,
) -> Result<Exit, Error> {
    if call.task {
        contact.allow_tasks();
    }
    let mut tool = tool(call, words, contact).await.map_err(catalog::unsent)?;
    if call.check_output {
        wishes.schema = Some(output_schema(call, tool.as_ref())?);
    }
    let result = send(call, words, contents, &mut tool, contact).await?;
    let result = match task::created(run, call, result, &wishes, contact).await? {
        task::Became::Result(result) => result,
        task::Became::Shown => return Ok(Exit::Ok),
    };
    match answer::write(run, &result, &wishes)? {
        Outcome::Answered => Ok(Exit::Ok),
        Outcome::ToolFailed(text) => {
            let error = match unknown_tool(call, tool.as_ref(), contact).await {
                Some(unknown) => unknown,
                None => answer::tool_failed(&contact.server.name, &text),
            };
            let error = task::advise(error, call, tool.as_ref(), contact).await;
            Err(refused_question(contact, error))
        }
    }
}

/// Sends the call; once more, if the tool turns out to be another than it was.
async fn send(
    call: &Call,
    words: &Words,
    contents: &[Vec<u8>],
    tool: &mut Option<Tool>,
    contact: &mut Contact<'_>,
) -> Result<Json, Error> {
    let asks_for_task = call.task && task::must_be_asked_for(contact, tool.as_ref()).await?;
    let mut retried = false;
    loop {
        let (params, mirrored) = prepare(call, words, contents, tool.as_ref(), contact)?;
        let params = if asks_for_task { params.with("task", "{}") } else { params };
        let request = contact.prepare(method::CALL_TOOL, params, mirrored);
        let repeatable = tool.as_ref().is_some_and(|tool| tool.annotations.is_repeatable());
        match contact.try_tool(&call.tool, request, repeatable).await? {
            Ok(result) => return Ok(result),
            Err(NoResult::Error(error))
                if error.code == ErrorObject::HEADER_MISMATCH && !retried =>
            {
                // The tool wants other headers than it did (2026-07-28, Client Behavior).
                retried = true;
                Catalog::forget(contact);
                *tool = Some(Catalog::find(contact, &call.tool).await?);
                contact.watcher.consent.admit(&call.tool)?;
            }
            Err(no_result) => {
                let is_answered = matches!(no_result, NoResult::Error(_));
                let error = with_lookup(contact.explain(no_result), &call.tool, contact);
                if is_answered {
                    // The tool may be gone, or take other arguments now.
                    Catalog::forget(contact);
                }
                let error = task::advise(error, call, tool.as_ref(), contact).await;
                return Err(refused_question(contact, error));
            }
        }
    }
}

/// Shows what would be sent.
fn rehearse(
    call: &Call,
    words: &Words,
    contents: &[Vec<u8>],
    contact: &mut Contact<'_>,
) -> Result<Exit, Error> {
    if call.task {
        contact.allow_tasks();
    }
    let tool = match call.no_schema {
        true if Catalog::mirroring(contact).contains(&call.tool) => {
            return Err(needs_schema(&call.tool));
        }
        true => None,
        false => dry_run::stored_tool(contact, &call.tool, reads_schema(call, words))?,
    };
    let (params, mirrored) = prepare(call, words, contents, tool.as_ref(), contact)?;
    let is_asked = contact.known_revision().is_some_and(|known| known.tasks == Tasks::Asked);
    let params = match call.task && is_asked && task::may_run_as_task(tool.as_ref()) {
        true => params.with("task", "{}"),
        false => params,
    };
    dry_run::show(contact, method::CALL_TOOL, params, mirrored)
}

/// The error for a tool that cannot be called without its schema.
pub(super) fn needs_schema(tool: &str) -> Error {
    let text = format!(
        "the tool \"{tool}\" wants arguments in HTTP headers as well (x-mcp-header), and its schema \
         tells which"
    );
    let error = Error::new(Exit::Usage, text).phase(Phase::Usage).sent(Sent::No);
    error.hint("leave out --no-schema")
}

/// The tool, if anything about it must be known: the types of its arguments, which of them are
/// mirrored into headers, its output schema, whether it can run as a task, or whether it may run
/// twice.
pub(super) async fn tool(
    call: &Call,
    words: &Words,
    contact: &mut Contact<'_>,
) -> Result<Option<Tool>, Error> {
    contact.watcher.consent.intend(&call.tool);
    let tool = known_tool(call, words, contact).await?;
    contact.watcher.consent.admit(&call.tool)?;
    Ok(tool.filter(|_| !call.no_schema))
}

async fn known_tool(
    call: &Call,
    words: &Words,
    contact: &mut Contact<'_>,
) -> Result<Option<Tool>, Error> {
    if contact.watcher.consent.doubts(&call.tool) {
        let catalog = Catalog::look(contact, &call.tool).await?;
        return catalog.require(&call.tool, contact).cloned().map(Some);
    }
    if call.no_schema {
        if Catalog::mirroring(contact).contains(&call.tool) {
            return Err(needs_schema(&call.tool));
        }
        Catalog::glance(contact, &call.tool).await?;
        return Ok(None);
    }
    let needs_revision = contact.is_http() || call.task;
    if needs_revision && contact.known_revision().is_none() {
        contact.settle().await?;
    }
    match is_looked_up(call, contact) || reads_schema(call, words) {
        true => Catalog::find(contact, &call.tool).await.map(Some),
        false => Catalog::glance(contact, &call.tool).await.map(|_| None),
    }
}

/// Whether the arguments cannot be written without the tool's schema. JSON is sent as it is written,
/// unless it is to be checked.
fn reads_schema(call: &Call, words: &Words) -> bool {
    words.needs_schema() || call.check_arguments
}

/// Whether the tool is looked up for another reason than its arguments, whatever is remembered of it:
/// its headers, how it runs, whether it may run twice, what it answers.
fn is_looked_up(call: &Call, contact: &Contact<'_>) -> bool {
    let revision = contact.known_revision();
    let mirrors = contact.is_http() && revision.is_none_or(|revision| revision.mirrored_headers);
    let tasks = call.task && revision.is_some_and(|revision| revision.tasks == Tasks::Asked);
    mirrors || tasks || 0 < contact.policy().asked || call.check_output
}

/// Whether the arguments are held against the tool's schema. That nothing was written is so only where
/// it costs no request: the same words are judged in the same way whatever is remembered of the tool.
fn is_judged(call: &Call, words: &Words, contact: &Contact<'_>) -> bool {
    reads_schema(call, words) || words.is_empty() && is_looked_up(call, contact)
}

/// The schema that the structured answer must fit. A tool without one cannot be checked, which is
/// told before it runs.
fn output_schema(call: &Call, tool: Option<&Tool>) -> Result<String, Error> {
    match tool.and_then(Tool::output_schema) {
        Some(schema) => Ok(schema.to_owned()),
        None => {
            let text = format!("the tool \"{}\" has no output schema to check by", call.tool);
            Err(Error::new(Exit::Mismatch, text).phase(Phase::Request).sent(Sent::No))
        }
    }
}

/// The parameters of the call, and the arguments to mirror into headers, if it has any.
pub(super) fn prepare(
    call: &Call,
    words: &Words,
    contents: &[Vec<u8>],
    tool: Option<&Tool>,
    contact: &Contact<'_>,
) -> Result<(Params, Vec<(String, String)>), Error> {
    let schema = tool.filter(|_| is_judged(call, words, contact)).map(Tool::schema);
    let options = Options { check: !call.no_check };
    let arguments = arguments::build(words, contents, schema.as_ref(), options);
    let arguments = arguments.map_err(|unfit| unfit_arguments(&unfit, &call.tool, contact))?;
    let annotated = tool.filter(|_| contact.is_http());
    let mirrored = annotated.map_or(Ok(Vec::new()), |tool| mirrored(tool, &arguments))?;
    let params = Params::new().with("name", json::string(&call.tool)).with("arguments", arguments);
    Ok((params, mirrored))
}

/// The error for arguments that a tool does not take.
pub(super) fn unfit_arguments(unfit: &ArgError, tool: &str, contact: &Contact<'_>) -> Error {
    let server = &contact.server.name;
    let text = match unfit {
        ArgError::Several(_) => format!("arguments of the tool \"{tool}\":\n{unfit}"),
        _ => format!("arguments of the tool \"{tool}\": {unfit}"),
    };
    let see = format!("mcpmini schema {} {}", quoting::quote(server), quoting::quote(tool));
    Error::usage(text).server(server).hint(format!("nothing was sent; what it takes: {see}"))
}

/// Says where to look what a server has and takes, when it does not take a call. What is remembered of
/// its tools will do: a hint is not worth a request.
fn with_lookup(error: Error, tool: &str, contact: &Contact<'_>) -> Error {
    if error.code != Some(ErrorObject::INVALID_PARAMS) || error.hint.is_some() {
        return error;
    }
    let known = Catalog::stored(contact);
    let missing = known.and_then(|catalog| catalog.require(tool, contact).err()?.hint);
    error.hint(missing.unwrap_or_else(|| {
        let (server, tool) = (quoting::quote(&contact.server.name), quoting::quote(tool));
        format!(
            "what there is: mcpmini tools {server}; what it takes: mcpmini schema {server} {tool}"
        )
    }))
}

/// The arguments of a tool to mirror into headers; `arguments` is the text of an object.
pub(super) fn mirrored(tool: &Tool, arguments: &str) -> Result<Vec<(String, String)>, Error> {
    match tool.input_schema().map(headers::mirrored) {
        Some(Ok(annotated)) => headers::values(&annotated, arguments)
            .map_err(|unfit| Error::new(Exit::Usage, unfit.to_string()).phase(Phase::Usage)),
        _ => Ok(Vec::new()),
    }
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
