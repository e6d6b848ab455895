//! Following a task to its end: asking how far it is, and answering what it asks for.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use super::about;

use crate::cli::contact::Contact;
use crate::cli::errors::{Error, Phase};
use crate::cli::exit::Exit;
use crate::client::NoResult;
use crate::protocol::json::Json;
use crate::protocol::jsonrpc::{ErrorObject, scan};
use crate::protocol::message::Sent;
use crate::protocol::method;
use crate::protocol::model::task::{Status, Task};
use crate::protocol::params::Members;
use crate::protocol::revision::Tasks;
use crate::protocol::session::{Asker, Failure, Limit, Question};

/// How long to wait between two questions, when the server does not say.
const INTERVAL: Duration = Duration::from_secs(1);
/// The shortest such time: a server that says less would be asked without a break.
const SHORTEST: Duration = Duration::from_millis(100);
/// The longest: a server that says more is mistaken about the unit.
const LONGEST: Duration = Duration::from_secs(600);

/// Follows a task that was just begun to its end; returns what the call has returned.
pub(super) async fn begun(
    contact: &mut Contact<'_>,
    id: &str,
    interval: Option<Duration>,
) -> Result<Json, Error> {
    pause(contact, interval).await?;
    to_end(contact, id).await
}

/// Follows a task to its end; returns what the call has returned.
pub(super) async fn to_end(contact: &mut Contact<'_>, id: &str) -> Result<Json, Error> {
    let began = Instant::now();
    let mut told = String::new();
    let mut answered = HashSet::new();
    loop {
        let state = get(contact, id).await?;
        let task = read(&state)?;
        let message = task.message.as_deref().unwrap_or_default();
        let news = format!("task {id}: {} {message}", task.status.word()).trim_end().to_owned();
        if news != told {
            contact.run.remark(&news);
            told = news;
        }
        if let Some(end) = end(contact, &task, &mut answered).await? {
            return Ok(end);
        }
        if task.time_to_live.is_some_and(|time| time <= began.elapsed()) {
            let text = format!("the task {id} has outlived the time that the server keeps it");
            return Err(Error::new(Exit::Timeout, text).phase(Phase::Request).sent(Sent::Yes));
        }
        pause(contact, task.poll_interval).await?;
    }
}

/// What a call has returned, if its task is over; answers what the task asks for, if it is not.
async fn end(
    contact: &mut Contact<'_>,
    task: &Task<'_>,
    answered: &mut HashSet<String>,
) -> Result<Option<Json>, Error> {
    let asked_for = contact.known_revision().is_some_and(|revision| revision.tasks == Tasks::Asked);
    let is_waiting = task.status == Status::InputRequired;
    if asked_for && (task.status.is_final() || is_waiting) {
        return fetch(contact, &task.id, is_waiting).await;
    }
    match (&task.status, task.result, task.error) {
        (Status::Completed, Some(result), _) => Ok(Some(Json::from(result))),
        (Status::Completed, None, _) => Err(nonsense("a task that is completed has no result")),
        (Status::Failed, _, Some(error)) => {
            Err(contact.explain(NoResult::Error(error_object(error))))
        }
        (Status::Failed, _, None) => Err(over(contact, task, "failed")),
        (Status::Cancelled, ..) => Err(over(contact, task, "was cancelled")),
        (Status::InputRequired, ..) => {
            respond(contact, task, answered).await?;
            Ok(None)
        }
        (Status::Working | Status::Other(_), ..) => Ok(None),
    }
}

/// Fetches the result of a task of the first design. While one waits for it, the server can ask its
/// questions (2025-11-25, Tasks: Input Required Status); when it takes long after that, it is
/// asked again.
async fn fetch(
    contact: &mut Contact<'_>,
    id: &str,
    may_take_long: bool,
) -> Result<Option<Json>, Error> {
    match contact.try_request(method::TASK_RESULT, about(id), Vec::new()).await? {
        Ok(result) => Ok(Some(result)),
        Err(NoResult::Failed(Failure::TimedOut(timed_out)))
            if may_take_long && timed_out.limit == Limit::Idle =>
        {
            Ok(None)
        }
        Err(no_result) => Err(contact.explain(no_result)),
    }
}

/// Answers what a task asks for, once each.
async fn respond(
    contact: &mut Contact<'_>,
    task: &Task<'_>,
    answered: &mut HashSet<String>,
) -> Result<(), Error> {
    let mut responses = Members::new();
    for (name, request) in scan::members(task.input_requests.unwrap_or("{}")) {
        if !answered.insert(name.clone().into_owned()) {
            continue;
        }
        let method = scan::member(request, "method").and_then(method::name_of_json);
        let question = Question {
            from: Asker::Task(name.clone().into_owned()),
            method: method.unwrap_or_default(),
            params: scan::member(request, "params").map(Json::from),
            during: None,
        };
        responses.push(&name, &contact.answer_task(&question).await?);
    }
    if responses.is_empty() {
        return Ok(());
    }
    update(contact, &task.id, &responses.finish()).await.map(drop)
}

/// Answers what a task asks for now, from the options of the command line.
pub(super) async fn answer(contact: &mut Contact<'_>, id: &str) -> Result<Json, Error> {
    let state = get(contact, id).await?;
    let task = read(&state)?;
    if task.status != Status::InputRequired {
        let text = format!("the task {id} asks for nothing: it is {}", task.status.word());
        return Err(Error::new(Exit::Rpc, text).phase(Phase::Request).sent(Sent::No));
    }
    respond(contact, &task, &mut HashSet::new()).await?;
    get(contact, id).await
}

/// Sends answers, a JSON object with one for each name.
pub(super) async fn update(
    contact: &mut Contact<'_>,
    id: &str,
    responses: &str,
) -> Result<Json, Error> {
    if contact.settle().await?.tasks == Tasks::Asked {
        let text = "with this revision a task is answered while `mcpmini task result` waits for it";
        return Err(Error::new(Exit::Usage, text).phase(Phase::Request).sent(Sent::No));
    }
    let params = about(id).with("inputResponses", responses);
    contact.request(method::UPDATE_TASK, params, Vec::new()).await
}

async fn get(contact: &mut Contact<'_>, id: &str) -> Result<Json, Error> {
    contact.request(method::GET_TASK, about(id), Vec::new()).await
}

/// Reads the answer to `tasks/get`.
pub(super) fn read(state: &Json) -> Result<Task<'_>, Error> {
    Task::read(state.as_str()).ok_or_else(|| nonsense("the answer to tasks/get is no task"))
}

async fn pause(contact: &mut Contact<'_>, interval: Option<Duration>) -> Result<(), Error> {
    let interval = interval.unwrap_or(INTERVAL).clamp(SHORTEST, LONGEST);
    contact.pause(interval).await.map_err(|no_result| contact.explain(no_result))
}

/// A JSON-RPC error from its text.
fn error_object(text: &str) -> ErrorObject {
    let member = |name: &str| scan::member(text, name);
    let message = member("message").and_then(scan::unescape);
    ErrorObject {
        code: member("code").and_then(|code| code.parse().ok()).unwrap_or(0),
        message: message.unwrap_or_default().into_owned(),
        data: member("data").map(Json::from),
        source: Some(Json::from(text)),
    }
}

/// A task that ended without a result.
fn over(contact: &Contact<'_>, task: &Task<'_>, how: &str) -> Error {
    let said = task.message.as_ref().map(|message| format!(": {message}")).unwrap_or_default();
    let error = Error::new(Exit::Rpc, format!("the task {} {how}{said}", task.id));
    error.phase(Phase::Request).sent(Sent::Yes).server(contact.server.name.clone())
}

fn nonsense(text: &str) -> Error {
    Error::new(Exit::Protocol, text).phase(Phase::Request).sent(Sent::Yes)
}
