//! Tools that ask back, by requests of the server's own or by incomplete results (2026-07-28), and
//! one that says more than its answer.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Map, Value, json};

use crate::protocol::{Client, Params, Refusal, refusal};
use crate::tools::{failure, says, tool};

/// Where the page is that must be opened.
const PAGE: &str = "https://demo.example/connect?id=7";

/// The tools with their schemas.
pub(crate) fn tools() -> [Value; 7] {
    let text = json!({ "type": "string" });
    [
        tool("form", "Asks for something of every kind", json!({}), &[]),
        tool("connect", "Asks you to open a page", json!({ "url": text }), &[]),
        tool("locked", "Cannot work before you have opened a page", json!({}), &[]),
        tool("sample", "Asks your language model", json!({ "prompt": text }), &[]),
        tool("roots", "Asks where it may work", json!({}), &[]),
        tool("interview", "Asks for your name, your model and your roots", json!({}), &[]),
        tool("levels", "Sends a log message of each level", json!({}), &[]),
    ]
}

/// An id for a request of the server's own.
pub(crate) fn next_id() -> String {
    static LAST: AtomicU64 = AtomicU64::new(0);
    format!("demo-{}", 1 + LAST.fetch_add(1, Ordering::Relaxed))
}

/// The result of a call, as text: what was answered.
pub(crate) fn call(
    tool: &str,
    arguments: &Map<String, Value>,
    params: &Params<'_>,
    modern: bool,
    client: &mut dyn Client,
) -> Result<String, Refusal> {
    if tool == "levels" {
        return Ok(levels(params, client));
    }
    if tool == "locked" {
        let page = json!({
            "mode": "url", "elicitationId": "e-7", "url": PAGE, "message": "Connect your account.",
        });
        let data = json!({ "elicitations": [page] });
        return Err(refusal(-32042, "This tool needs your account").with_data(data));
    }
    let questions = questions(tool, arguments);
    if modern {
        return Ok(in_rounds(&questions, params));
    }
    let mut answers = Map::new();
    for (name, question) in &questions {
        let method = question["method"].as_str().unwrap_or_default();
        let Some(answer) = client.ask(method, &question["params"]) else {
            return Ok(failure(&format!("no answer to {name}")));
        };
        if question["params"]["mode"] == "url" && answer["action"] == "accept" {
            let params = json!({ "elicitationId": question["params"]["elicitationId"] });
            let method = "notifications/elicitation/complete";
            client.notify(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
        }
        answers.insert(name.clone(), answer);
    }
    Ok(says(&Value::Object(answers).to_string()))
}

/// Sends a message of each level that the client wants.
fn levels(params: &Params<'_>, client: &mut dyn Client) -> String {
    const LEVELS: [&str; 8] =
        ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
    let Some(wanted) = params.log_level() else { return says("nobody listens") };
    let first = LEVELS.iter().position(|level| *level == wanted).unwrap_or(0);
    for level in &LEVELS[first..] {
        client.notify(&json!({
            "jsonrpc": "2.0", "method": "notifications/message",
            "params": { "level": level, "logger": "demo", "data": format!("this is {level}") },
        }));
    }
    says(&format!("{} messages", LEVELS.len() - first))
}

/// Asks in the first round, has the client come back in the second, and answers in the third.
fn in_rounds(questions: &Map<String, Value>, params: &Params<'_>) -> String {
    match (&params.input_responses, &params.request_state) {
        (Some(answers), _) => json!({
            "resultType": "input_required", "requestState": answers.to_string(),
        })
        .to_string(),
        (None, Some(state)) => says(state),
        (None, None) => json!({
            "resultType": "input_required", "inputRequests": questions,
        })
        .to_string(),
    }
}

fn questions(tool: &str, arguments: &Map<String, Value>) -> Map<String, Value> {
    let argument = |name: &str, default: &str| {
        arguments.get(name).and_then(Value::as_str).unwrap_or(default).to_owned()
    };
    let form = |schema: Value| {
        json!({ "method": "elicitation/create", "params": {
            "mode": "form", "message": "Tell me about\u{1b}[2J yourself.", "requestedSchema": schema,
        } })
    };
    let name = json!({
        "type": "object", "required": ["name"],
        "properties": { "name": { "type": "string", "title": "Your name" } },
    });
    let sample = json!({ "method": "sampling/createMessage", "params": {
        "messages": [
            { "role": "user", "content": { "type": "text", "text": argument("prompt", "Hello?") } },
        ],
        "maxTokens": 100,
    } });
    let connect = json!({ "method": "elicitation/create", "params": {
        "mode": "url", "message": "Connect your account.", "elicitationId": "e-7",
        "url": argument("url", PAGE),
    } });
    let roots = json!({ "method": "roots/list", "params": {} });
    let questions = match tool {
        "form" => json!({ "form": form(every_kind()) }),
        "connect" => json!({ "connect": connect }),
        "sample" => json!({ "sample": sample }),
        "roots" => json!({ "roots": roots }),
        _ => json!({ "form": form(name), "sample": sample, "roots": roots }),
    };
    questions.as_object().cloned().unwrap_or_default()
}

/// A form with a field of each kind.
fn every_kind() -> Value {
    let text = |format: &str| json!({ "type": "string", "format": format });
    json!({
        "type": "object",
        "required": ["name", "age"],
        "properties": {
            "name": { "type": "string", "title": "Your name", "minLength": 2, "maxLength": 20,
                      "description": "As your friends call you." },
            "age": { "type": "integer", "minimum": 18, "maximum": 150 },
            "height": { "type": "number", "default": 1.50 },
            "email": text("email"), "page": text("uri"), "born": text("date"),
            "now": text("date-time"),
            "happy": { "type": "boolean", "default": true },
            "size": { "type": "string", "enum": ["small", "large"], "default": "large" },
            "colour": { "type": "string", "oneOf": [
                { "const": "#f00", "title": "Red" }, { "const": "#0f0", "title": "Green" } ] },
            "pet": { "type": "string", "enum": ["p1", "p2"], "enumNames": ["Cat", "Dog"] },
            "tags": { "type": "array", "items": { "type": "string", "enum": ["a", "b", "c"] } },
            "fish": { "type": "array", "minItems": 1, "maxItems": 2, "items": { "anyOf": [
                { "const": "f1", "title": "Tuna" }, { "const": "f2", "title": "Trout" } ] },
                "default": ["f1"] },
        },
    })
}
