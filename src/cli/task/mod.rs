//! Tasks: what becomes of a call that outlives its request, and `mcpmini task`.

mod follow;

use std::time::Duration;

use smol::LocalExecutor;

use super::answer::{self, Outcome, Wishes};
use super::args::Format;
use super::args::commands::Call;
use super::args::primitives::{self as args, TaskAction};
use super::catalog::Catalog;
use super::contact::Contact;
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::output::{Parts, events};
use super::run::Run;
use super::sources;
use crate::config::quoting;
use crate::protocol::Revision;
use crate::protocol::arguments::{self, Options};
use crate::protocol::json::{self, Json};
use crate::protocol::jsonrpc::{ErrorObject, scan};
use crate::protocol::mask;
use crate::protocol::message::Sent;
use crate::protocol::method;
use crate::protocol::model::task::Task;
use crate::protocol::model::tool::Tool;
use crate::protocol::params::Params;
use crate::protocol::revision::Tasks;

/// How long an interrupted run waits for the server to take note that a task is to end.
const FAREWELL: Duration = Duration::from_millis(500);

/// What became of a call.
pub(super) enum Became {
    /// A result, at once or in the end.
    Result(Json),
    /// A task, whose handle was printed.
    Shown,
}

/// Whether a task must be asked for with the call (2025-11-25, Tasks: Tool-Level Negotiation).
/// Where there can be none the call runs without, and that is said.
pub(super) async fn must_be_asked_for(
    contact: &mut Contact<'_>,
    tool: Option<&Tool>,
) -> Result<bool, Error> {
    let revision = contact.settle().await?;
    let why_not = match revision.tasks {
        Tasks::Extension => return Ok(false),
        Tasks::None => format!("revision {} has no tasks", revision.date),
        Tasks::Asked if !runs_tasks(contact) => "the server runs no tasks".to_owned(),
        Tasks::Asked if may_run_as_task(tool) => return Ok(true),
        Tasks::Asked => "the tool does not run as a task".to_owned(),
    };
    contact.run.warn(&format!("called without a task: {why_not}"));
    Ok(false)
}

/// Whether a server says that it makes tasks of tool calls.
fn runs_tasks(contact: &Contact<'_>) -> bool {
    let greeting = contact.about().and_then(|about| about.greeting.as_ref());
    let path = ["capabilities", "tasks", "requests", "tools", "call"];
    let greeting = greeting.map(Json::as_str);
    path.iter().try_fold(greeting.unwrap_or("{}"), |here, name| scan::member(here, name)).is_some()
}

/// Whether a tool may run as a task. Whoever does not want it to be looked up knows.
pub(super) fn may_run_as_task(tool: Option<&Tool>) -> bool {
    let is_possible =
        |tool: &Tool| matches!(task_support(tool).as_deref(), Some("optional" | "required"));
    tool.is_none_or(is_possible)
}

fn task_support(tool: &Tool) -> Option<String> {
    let execution = scan::member(tool.as_json(), "execution")?;
    Some(scan::unescape(scan::member(execution, "taskSupport")?)?.into_owned())
}

/// Adds to an error of a call that it would have to be a task. Some servers say so by an error of the
/// protocol, others have the tool fail.
pub(super) async fn advise(
    error: Error,
    call: &Call,
    tool: Option<&Tool>,
    contact: &mut Contact<'_>,
) -> Error {
    let asks = |revision: &Revision| revision.tasks == Tasks::Asked;
    let may_be_asked_for = !call.task && contact.known_revision().is_some_and(asks);
    let support = match tool {
        _ if !may_be_asked_for => None,
        Some(tool) => task_support(tool),
        None if error.code == Some(ErrorObject::METHOD_NOT_FOUND) => {
            let tool = Catalog::find(contact, &call.tool).await;
            tool.ok().as_ref().and_then(task_support)
        }
        None => None,
    };
    match support.as_deref() {
        Some("required") => error.hint("the tool runs as a task only: --task --wait"),
        _ => error,
    }
}

/// Looks whether a call became a task. With `--wait` its end is waited for, without it the handle
/// is printed: the ID, or the whole answer as JSON.
pub(super) async fn created(
    run: &Run<'_>,
    call: &Call,
    result: Json,
    wishes: &Wishes<'_>,
    contact: &mut Contact<'_>,
) -> Result<Became, Error> {
    let task = Task::created(&result);
    let Some(task) = task.filter(|_| call.task || is_declared_task(&result)) else {
        let decides = |revision: &Revision| revision.tasks == Tasks::Extension;
        if call.task && !call.wait && contact.known_revision().is_some_and(decides) {
            run.warn("there is no task: the server has answered at once");
        }
        return Ok(Became::Result(result));
    };
    if !call.task {
        let text = "the server has made a task of the call, which it was not offered";
        let error = Error::new(Exit::Protocol, text).phase(Phase::Request).sent(Sent::Yes);
        return Err(error.hint("--task offers it"));
    }
    if call.wait {
        let (id, interval) = (task.id, task.poll_interval);
        return wait(&call.server, &id, interval, contact).await.map(Became::Result);
    }
    // In a session it lives on as long as that.
    if !contact.is_http() && run.settings.session.is_none() {
        run.warn(
            "the server ends with this run, and its task perhaps with it: --wait waits for the result, \
             and `mcpmini session SERVER -- COMMAND` keeps the server",
        );
    }
    let mut parts = Parts::new(run);
    let written = wishes.write(&mut parts, result.as_str());
    if let Ok(false) = written {
        parts.add_line(&task.id)?;
    }
    parts.finish_unless_failed(written.is_err())?;
    written.map(|_| Became::Shown)
}

/// Whether a result says itself that it is a task. The first design has nothing to say it by.
fn is_declared_task(result: &Json) -> bool {
    result.member("resultType") == Some("\"task\"")
}

/// Waits for the end of a task that this run has begun, and ends it with the run.
async fn wait(
    server: &str,
    id: &str,
    interval: Option<Duration>,
    contact: &mut Contact<'_>,
) -> Result<Json, Error> {
    let error = match follow::begun(contact, id, interval).await {
        Ok(result) => return Ok(result),
        Err(error) => error,
    };
    match error.exit {
        Exit::Signal(_) | Exit::Timeout => {
            contact.request_last(method::CANCEL_TASK, about(id), FAREWELL).await;
            Err(error.hint(format!("the server was asked to end the task {id}")))
        }
        // A server that was started for this call takes its tasks with it.
        Exit::InputRequired if contact.is_http() => {
            let asks = |revision: &Revision| revision.tasks == Tasks::Asked;
            let action =
                if contact.known_revision().is_some_and(asks) { "result" } else { "update" };
            let (server, id) = (quoting::quote(&mask::server(server)), quoting::quote(id));
            let line = format!("mcpmini task {action} --answer KEY=VALUE {server} {id}");
            Err(error.hint(format!("the task waits for an answer: {line}")))
        }
        _ => Err(error),
    }
}

/// Looks after a task.
pub(super) async fn run(
    run: &Run<'_>,
    task: &args::Task,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    let wishes = Wishes::new(run, &task.select, &task.expect, task.save.as_deref())?;
    let responses = responses(run, task)?;
    let mut contact = Contact::find(run, &task.server, executor)?;
    contact.allow_tasks();
    let done = act(run, task, responses, &wishes, &mut contact).await;
    if let (Format::Events, Err(error)) = (run.settings.output, &done) {
        events::write_error(run, error);
    }
    contact.finish(done).await
}

/// The answers of `task update`, a JSON object; `None` when the words have none.
fn responses(run: &Run<'_>, task: &args::Task) -> Result<Option<String>, Error> {
    if task.args.is_empty() {
        return Ok(None);
    }
    let words = arguments::parse(&task.args, &[])?;
    let contents = sources::read_all(run, words.inputs())?;
    Ok(Some(arguments::build(&words, &contents, None, Options::default())?))
}

async fn act(
    run: &Run<'_>,
    task: &args::Task,
    responses: Option<String>,
    wishes: &Wishes<'_>,
    contact: &mut Contact<'_>,
) -> Result<Exit, Error> {
    let params = about(&task.id);
    let result = match task.action {
        TaskAction::Get => contact.request(method::GET_TASK, params, Vec::new()).await?,
        TaskAction::Cancel => contact.request(method::CANCEL_TASK, params, Vec::new()).await?,
        TaskAction::Update => match responses {
            Some(responses) => follow::update(contact, &task.id, &responses).await?,
            None => follow::answer(contact, &task.id).await?,
        },
        TaskAction::Result => {
            let result = follow::to_end(contact, &task.id).await?;
            return match answer::write(run, &result, wishes)? {
                Outcome::Answered => Ok(Exit::Ok),
                Outcome::ToolFailed(text) => Err(answer::tool_failed(&contact.server.name, &text)),
            };
        }
    };
    let mut parts = Parts::new(run);
    let written = wishes.write(&mut parts, result.as_str());
    if let (Ok(false), TaskAction::Get) = (&written, task.action) {
        parts.add_line(&state(&result)?)?;
    }
    parts.finish_unless_failed(written.is_err())?;
    written.map(|_| Exit::Ok)
}

/// How far a task is, and after a tab what the server says about it.
fn state(result: &Json) -> Result<String, Error> {
    let task = follow::read(result)?;
    let message = task.message.unwrap_or_default();
    let line = format!("{}\t{}", task.status.word(), message.replace(['\n', '\r', '\t'], " "));
    Ok(line.trim_end().to_owned())
}

/// The parameters of a request about a task.
fn about(id: &str) -> Params {
    Params::new().with("taskId", json::string(id))
}
