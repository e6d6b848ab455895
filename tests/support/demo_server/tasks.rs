//! Tasks, in both designs: asked for by the client (2025-11-25), and the extension, in which the
//! server decides.

use std::sync::Mutex;

use serde_json::{Value, json};

use crate::protocol::{Client, EXTENSION, Params, Refusal, refusal};
use crate::tools::{greeting, question, says};

/// A call that outlives its request.
#[derive(Debug)]
struct Task {
    /// After how many questions about it the work is done.
    questions: u64,
    /// What it does: `work`, `ask`, `fail`.
    kind: String,
    status: &'static str,
    /// What the user has answered.
    answer: Option<Value>,
}

/// All tasks, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Tasks(Mutex<Vec<Task>>);

impl Tasks {
    /// Makes a task of a call of the tool `work`; the answer to the call.
    pub(crate) fn begin(&self, arguments: &Value, modern: bool) -> Value {
        let mut tasks = self.0.lock().expect("no thread panics while it has the tasks");
        let kind = arguments["kind"].as_str().unwrap_or("work").to_owned();
        let questions = arguments["questions"].as_u64().unwrap_or(2);
        tasks.push(Task { questions, kind, status: "working", answer: None });
        let id = tasks.len() - 1;
        let mut state = state(id, &tasks[id], modern);
        if modern {
            state["resultType"] = "task".into();
            return state;
        }
        json!({ "task": state })
    }

    /// Answers a request about a task.
    pub(crate) fn answer(
        &self,
        method: &str,
        params: &Params<'_>,
        modern: bool,
        client: &mut dyn Client,
    ) -> Result<Value, Refusal> {
        if modern && !params.declares(EXTENSION) {
            return Err(missing());
        }
        let mut tasks = self.0.lock().expect("no thread panics while it has the tasks");
        let id = params.task_id.as_deref().and_then(|id| id.strip_prefix("task-")?.parse().ok());
        let found = id.and_then(|id: usize| Some((id, tasks.get_mut(id)?)));
        let Some((id, task)) = found else {
            return Err(refusal(-32602, "Failed to retrieve task: Task not found"));
        };
        match (method, modern) {
            ("tasks/get", _) => {
                task.advance();
                Ok(full_state(id, task, modern))
            }
            ("tasks/cancel", _) => {
                task.status = "cancelled";
                Ok(if modern { json!({}) } else { state(id, task, modern) })
            }
            ("tasks/update", true) => {
                task.answer = params.input_responses.as_ref().map(|all| all["name"].clone());
                Ok(json!({}))
            }
            ("tasks/result", false) => {
                if task.kind == "ask" {
                    task.answer = client.ask("elicitation/create", &question());
                    task.status = "completed";
                }
                task.outcome()
            }
            _ => Err(refusal(-32601, format!("Method not found: {method}"))),
        }
    }
}

impl Task {
    fn advance(&mut self) {
        if self.status == "cancelled" {
            return;
        }
        self.questions = self.questions.saturating_sub(1);
        self.status = match (&*self.kind, &self.answer) {
            _ if 0 < self.questions => "working",
            ("ask", None) => "input_required",
            ("fail", _) => "failed",
            _ => "completed",
        };
    }

    /// What the call would have returned.
    fn outcome(&self) -> Result<Value, Refusal> {
        match (&*self.kind, self.status) {
            (_, "cancelled") => Err(refusal(-32603, "the task was cancelled")),
            ("fail", _) => Err(refusal(-32603, "the disk is full")),
            ("ask", _) => Ok(parsed(&greeting(self.answer.as_ref().unwrap_or(&Value::Null)))),
            _ => Ok(parsed(&says("the work is done"))),
        }
    }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("results are JSON")
}

/// The state of a task, as both designs tell it.
fn state(id: usize, task: &Task, modern: bool) -> Value {
    let mut state = json!({
        "taskId": format!("task-{id}"), "status": task.status,
        "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z",
    });
    if task.status == "working" {
        state["statusMessage"] = format!("{} questions left", task.questions).into();
    }
    let (ttl, interval) =
        if modern { ("ttlMs", "pollIntervalMs") } else { ("ttl", "pollInterval") };
    state[ttl] = 60_000.into();
    state[interval] = 100.into();
    state
}

/// The state with what the extension puts into it.
fn full_state(id: usize, task: &Task, modern: bool) -> Value {
    let mut state = state(id, task, modern);
    match task.status {
        _ if !modern => {}
        "completed" => state["result"] = task.outcome().unwrap_or_default(),
        "failed" => state["error"] = json!({ "code": -32603, "message": "the disk is full" }),
        "input_required" => {
            let request = json!({ "method": "elicitation/create", "params": question() });
            state["inputRequests"] = json!({ "name": request });
        }
        _ => {}
    }
    state
}

/// The error for a client that has not said that it knows tasks.
pub(crate) fn missing() -> Refusal {
    let data = json!({ "requiredCapabilities": { "extensions": { EXTENSION: {} } } });
    refusal(-32021, "Missing required client capability").with_data(data)
}
