//! Tasks: calls that outlive the request that began them.
//!
//! There are two designs. In the first (2025-11-25, Tasks) the client asks for a task, and the
//! times are called `ttl` and `pollInterval`; in the second (Tasks Extension) the server decides,
//! and they are called `ttlMs` and `pollIntervalMs`. What a task is, is the same in both.

use std::borrow::Cow;
use std::time::Duration;

use crate::json::Json;
use crate::jsonrpc::scan;

/// The name of the extension.
pub const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// The state of a task, as the server last told it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task<'a> {
    /// Its name; never empty.
    pub id: String,
    /// How far it is.
    pub status: Status,
    /// What the server says about that.
    pub message: Option<String>,
    /// How long the server keeps it, from its creation; `None` for ever.
    pub time_to_live: Option<Duration>,
    /// How long to wait before asking again; `None` when the server does not say.
    pub poll_interval: Option<Duration>,
    /// What the call returned, JSON text.
    pub result: Option<&'a str>,
    /// The JSON-RPC error that the call ended with, JSON text.
    pub error: Option<&'a str>,
    /// What the server asks for: an object with a request for each name, JSON text.
    pub input_requests: Option<&'a str>,
}

/// How far a task is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// It goes on.
    Working,
    /// It goes on when the client has answered something.
    InputRequired,
    /// It is over, with a result.
    Completed,
    /// It is over, with an error.
    Failed,
    /// It is over, because somebody wished so.
    Cancelled,
    /// A state that no specification names. It is not the end, as far as anybody can tell.
    Other(String),
}

impl Status {
    /// Its name on the wire.
    pub fn word(&self) -> &str {
        match self {
            Status::Working => "working",
            Status::InputRequired => "input_required",
            Status::Completed => "completed",
            Status::Failed => "failed",
            Status::Cancelled => "cancelled",
            Status::Other(name) => name,
        }
    }

    /// Whether nothing more will happen.
    pub fn is_final(&self) -> bool {
        matches!(self, Status::Completed | Status::Failed | Status::Cancelled)
    }

    fn named(name: Cow<'_, str>) -> Status {
        match &*name {
            "working" => Status::Working,
            "input_required" => Status::InputRequired,
            "completed" => Status::Completed,
            "failed" => Status::Failed,
            "cancelled" => Status::Cancelled,
            _ => Status::Other(name.into_owned()),
        }
    }
}

impl<'a> Task<'a> {
    /// Reads the answer to a call that became a task, or the answer to `tasks/get`; `None` when it
    /// is neither.
    ///
    /// ```
    /// use mcpmini_protocol::model::task::{Status, Task};
    /// let task = Task::read(r#"{"resultType":"task","taskId":"7","status":"working"}"#).unwrap();
    /// assert_eq!((&*task.id, task.status), ("7", Status::Working));
    /// assert_eq!(Task::read(r#"{"content":[]}"#), None);
    /// ```
    pub fn read(result: &'a str) -> Option<Task<'a>> {
        let text = match scan::member(result, "taskId") {
            Some(_) => result,
            // The answer to a call has it one level deeper in the first design.
            None => scan::member(result, "task")?,
        };
        let member = |name: &str| scan::member(text, name).filter(|value| *value != "null");
        let string = |name: &str| Some(scan::unescape(member(name)?)?.into_owned());
        let milliseconds = |names: [&str; 2]| {
            let value = names.into_iter().find_map(member)?;
            // A fraction of a millisecond matters to nobody.
            let whole = value.split(['.', 'e', 'E']).next()?;
            whole.parse().ok().map(Duration::from_millis)
        };
        Some(Task {
            id: string("taskId").filter(|id| !id.is_empty())?,
            status: Status::named(scan::unescape(member("status")?)?),
            message: string("statusMessage"),
            time_to_live: milliseconds(["ttlMs", "ttl"]),
            poll_interval: milliseconds(["pollIntervalMs", "pollInterval"]),
            result: member("result"),
            error: member("error"),
            input_requests: member("inputRequests"),
        })
    }

    /// Reads the answer to `tools/call`, if it says that the call became a task.
    pub fn created(result: &'a Json) -> Option<Task<'a>> {
        let [kind, content, task] = result.members_named(["resultType", "content", "task"]);
        let says_so = kind == Some("\"task\"");
        // A tool's own result has contents; nothing else tells the first design's answer from it.
        let wraps = content.is_none() && task.is_some_and(|task| task.starts_with('{'));
        if says_so || wraps { Task::read(result.as_str()) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_designs_are_read() {
        let check = |text: &str, id: &str, ttl: Option<u64>, interval: Option<u64>| {
            let task = Task::read(text).unwrap();
            let millis = |time: Option<Duration>| time.map(|time| time.as_millis() as u64);
            assert_eq!(
                (&*task.id, millis(task.time_to_live), millis(task.poll_interval)),
                (id, ttl, interval),
                "{text}"
            );
            assert_eq!(task.status, Status::Working);
        };
        check(
            r#"{"task":{"taskId":"a","status":"working","ttl":60000,"pollInterval":5000}}"#,
            "a",
            Some(60000),
            Some(5000),
        );
        check(
            r#"{"taskId":"a","status":"working","ttl":null,"pollInterval":1.5}"#,
            "a",
            None,
            Some(1),
        );
        check(
            r#"{"resultType":"task","taskId":"b","status":"working","ttlMs":7,"pollIntervalMs":0}"#,
            "b",
            Some(7),
            Some(0),
        );
        check(r#"{"taskId":"b","status":"working","pollIntervalMs":-1}"#, "b", None, None);
    }

    #[test]
    fn a_task_without_a_name_or_a_state_is_none() {
        for text in [
            r#"{"taskId":"","status":"working"}"#,
            r#"{"taskId":7,"status":"working"}"#,
            r#"{"taskId":"a"}"#,
            r#"{"task":[]}"#,
            "[]",
        ] {
            assert_eq!(Task::read(text), None, "{text}");
        }
    }

    #[test]
    fn what_became_of_a_call_is_told_apart() {
        let check = |text: &str, expected| {
            assert_eq!(Task::created(&Json::from(text)).is_some(), expected, "{text}");
        };
        check(r#"{"resultType":"task","taskId":"b","status":"working"}"#, true);
        check(r#"{"task":{"taskId":"a","status":"working"}}"#, true);
        check(r#"{"content":[],"task":{"taskId":"a","status":"working"}}"#, false);
        check(r#"{"resultType":"complete","taskId":"b","status":"working"}"#, false);
        check(r#"{"content":[]}"#, false);
    }

    #[test]
    fn states_keep_their_names() {
        for name in ["working", "input_required", "completed", "failed", "cancelled", "paused"] {
            let status = Status::named(name.into());
            assert_eq!(status.word(), name);
            let is_over = ["completed", "failed", "cancelled"].contains(&name);
            assert_eq!(status.is_final(), is_over, "{name}");
        }
    }
}
