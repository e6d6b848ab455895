//! The tools.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::protocol::{Client, EXTENSION, Params, Refusal, refusal};
use crate::{Options, asking, tasks};

/// A red dot, as a PNG file of 1 × 1 pixel.
pub(crate) const DOT: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==";

/// Numbers that a client which reads them as floating point would change.
const NUMBERS: &str =
    r#"{"id":12345678901234567890123,"edge":9007199254740993,"price":1.50,"big":1E+2,"half":0.5}"#;

/// The tools with their schemas.
pub(crate) fn list() -> Value {
    let text = json!({ "type": "string" });
    let count = json!({ "type": "integer", "minimum": 0 });
    let number = json!({ "type": "number" });
    let mut add = tool("add", "Adds two numbers", json!({ "a": number, "b": number }), &["a", "b"]);
    add["outputSchema"] = object(json!({ "sum": number }), &["sum"]);
    add["annotations"] = json!({ "readOnlyHint": true });
    let mut work = tool(
        "work",
        "Works as a task, until it was asked about so often",
        json!({ "questions": count, "kind": { "type": "string", "enum": ["work", "ask", "fail"] } }),
        &[],
    );
    work["execution"] = json!({ "taskSupport": "required" });
    let mut misfit = tool(
        "misfit",
        "Gives an answer that does not fit its schema",
        json!({ "mode": text }),
        &[],
    );
    misfit["outputSchema"] = object(json!({ "sum": number }), &["sum"]);
    let asking = asking::tools();
    let others = vec![
        tool("echo", "Gives the text back", json!({ "text": text }), &["text"]),
        tool(
            "arguments",
            "Gives its arguments back, character by character",
            json!({
                "id": { "type": "integer" }, "price": number, "pin": text,
                "flag": { "type": "boolean" }, "tags": { "type": "array", "items": text },
                "options": { "type": "object" },
                "size": { "type": "string", "enum": ["small", "large"] },
            }),
            &[],
        ),
        add,
        tool("fail", "Fails, with your message", json!({ "message": text }), &[]),
        tool(
            "slow",
            "Works in steps and reports progress",
            json!({ "steps": count, "pause_ms": count }),
            &[],
        ),
        tool("log", "Sends log messages before it answers", json!({ "lines": count }), &[]),
        tool("text", "Gives a text of that many bytes", json!({ "bytes": count }), &["bytes"]),
        tool("image", "Draws a red dot", json!({}), &[]),
        tool(
            "numbers",
            "Gives numbers that are easily spoiled, as structured content",
            json!({}),
            &[],
        ),
        tool("greet", "Asks for your name", json!({}), &[]),
        tool("change", "Says that the list of tools has changed", json!({}), &[]),
        tool("count", "Counts how often it was called", json!({}), &[]),
        tool("media", "Gives a block of every kind", json!({}), &[]),
        misfit,
        work,
        tool("crash", "Ends the server in the middle of the call", json!({}), &[]),
    ];
    others.into_iter().chain(asking).collect()
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({
        "type": "object", "properties": properties, "required": required,
        "additionalProperties": false,
    })
}

pub(crate) fn tool(name: &str, description: &str, properties: Value, required: &[&str]) -> Value {
    json!({
        "name": name, "description": description, "inputSchema": object(properties, required),
    })
}

/// The result of a call, as text.
pub(crate) fn call(
    params: &Params<'_>,
    modern: bool,
    options: &Options,
    client: &mut dyn Client,
) -> Result<String, Refusal> {
    let name = params.name.as_deref().unwrap_or_default();
    let text = params.arguments.map_or("{}", |arguments| arguments.get());
    let Ok(members) = serde_json::from_str::<BTreeMap<String, &RawValue>>(text) else {
        return Err(refusal(-32602, "arguments must be an object"));
    };
    // What this program has no value for, such as 1e400, is still given back by `arguments`.
    let values = members.into_iter();
    let arguments: Map<String, Value> = values
        .filter_map(|(name, value)| Some((name, serde_json::from_str(value.get()).ok()?)))
        .collect();
    let integer =
        |key: &str, default| arguments.get(key).and_then(Value::as_u64).unwrap_or(default);
    let string = |key: &str| arguments.get(key).and_then(Value::as_str);
    let float = |key: &str| {
        let value = arguments.get(key).and_then(Value::as_f64);
        value.ok_or_else(|| refusal(-32602, format!("{key} must be a number")))
    };
    Ok(match name {
        "echo" => says(string("text").ok_or_else(|| refusal(-32602, "text must be a string"))?),
        "arguments" => says(text),
        "add" => {
            let sum = float("a")? + float("b")?;
            let content = json!([{ "type": "text", "text": sum.to_string() }]);
            json!({ "content": content, "structuredContent": { "sum": sum } }).to_string()
        }
        "fail" => failure(string("message").unwrap_or("it did not work")),
        "slow" => slow(integer("steps", 3), integer("pause_ms", 100), params, client),
        "log" => log(integer("lines", 3), client),
        "text" => {
            let bytes = bytes(integer("bytes", 0));
            says(&"0123456789abcde\n".repeat(bytes / 16 + 1)[..bytes])
        }
        "image" => json!({ "content": [
            { "type": "text", "text": "a red dot" },
            { "type": "image", "data": DOT, "mimeType": "image/png" },
        ] })
        .to_string(),
        "numbers" => format!(r#"{{"content":[],"structuredContent":{NUMBERS}}}"#),
        "form" | "connect" | "sample" | "roots" | "interview" | "locked" | "levels" => {
            return asking::call(name, &arguments, params, modern, client);
        }
        "greet" if modern => greet_in_two_rounds(params),
        "greet" => greet(client),
        "change" => {
            let method = "notifications/tools/list_changed";
            client.notify(&json!({ "jsonrpc": "2.0", "method": method }));
            says("changed")
        }
        "count" => says(&options.count().to_string()),
        "media" => media(),
        "misfit" => misfit(string("mode").unwrap_or_default()),
        "work" => work(&Value::Object(arguments), params, modern, options)?,
        "crash" => {
            eprintln!("panic: the disk is full");
            std::process::exit(3);
        }
        _ if options.has_fault("unknown-fails") => failure(&format!("Unknown tool: {name}")),
        _ => return Err(refusal(-32602, format!("Unknown tool: {name}"))),
    })
}

fn log(lines: u64, client: &mut dyn Client) -> String {
    for line in 1..=lines {
        let params = json!({ "level": "info", "data": format!("line {line}") });
        client.notify(&json!({
            "jsonrpc": "2.0", "method": "notifications/message", "params": params,
        }));
    }
    says(&format!("{lines} lines"))
}

/// The size of a text, kept to 64 MiB.
fn bytes(wanted: u64) -> usize {
    usize::try_from(wanted.min(64 << 20)).expect("64 MiB fit into any address space")
}

pub(crate) fn says(text: &str) -> String {
    json!({ "content": [{ "type": "text", "text": text }] }).to_string()
}

pub(crate) fn failure(text: &str) -> String {
    json!({ "content": [{ "type": "text", "text": text }], "isError": true }).to_string()
}

/// Becomes a task, in the way of the era.
fn work(
    arguments: &Value,
    params: &Params<'_>,
    modern: bool,
    options: &Options,
) -> Result<String, Refusal> {
    match modern {
        true if !params.declares(EXTENSION) => Err(tasks::missing()),
        false if params.task.is_none() => Err(refusal(-32601, "this tool runs as a task")),
        _ => Ok(options.tasks.begin(arguments, modern).to_string()),
    }
}

/// A block of every kind, and of one that nobody knows.
fn media() -> String {
    json!({ "content": [
        { "type": "text", "text": "some media" },
        { "type": "image", "data": DOT, "mimeType": "image/png" },
        { "type": "audio", "data": "UklGRg==", "mimeType": "audio/wav" },
        { "type": "resource_link", "uri": "demo://note", "name": "note" },
        { "type": "resource", "resource": { "uri": "demo://a", "mimeType": "text/markdown", "text": "# a" } },
        { "type": "resource", "resource": { "uri": "../../b", "mimeType": "x/../y", "blob": "AAEC" } },
        { "type": "hologram", "data": [1, 2] },
    ] })
    .to_string()
}

/// An answer that does not fit the output schema, in one of several ways.
fn misfit(mode: &str) -> String {
    let content = json!([{ "type": "text", "text": "important text 7" }]);
    match mode {
        "missing" => json!({ "content": content }),
        "failed" => json!({ "content": content, "isError": true }),
        _ => json!({ "content": content, "structuredContent": { "sum": "seven" } }),
    }
    .to_string()
}

fn slow(steps: u64, pause: u64, params: &Params<'_>, client: &mut dyn Client) -> String {
    for step in 1..=steps {
        thread::sleep(Duration::from_millis(pause));
        if let Some(token) = params.progress_token() {
            let message = format!("step {step}");
            let params = json!({
                "progressToken": token, "progress": step, "total": steps, "message": message,
            });
            client.notify(&json!({
                "jsonrpc": "2.0", "method": "notifications/progress", "params": params,
            }));
        }
    }
    says(&format!("{steps} steps done"))
}

/// The question for a name, as the parameters of `elicitation/create`.
pub(crate) fn question() -> Value {
    let name = json!({ "type": "string", "default": "friend" });
    json!({
        "mode": "form", "message": "What is your name?",
        "requestedSchema": { "type": "object", "properties": { "name": name } },
    })
}

/// What the server says to an answer of the user.
pub(crate) fn greeting(answer: &Value) -> String {
    match answer["action"].as_str() {
        Some("accept") => {
            says(&format!("hello, {}", answer["content"]["name"].as_str().unwrap_or("stranger")))
        }
        _ => failure("you would not tell your name"),
    }
}

/// Asks by a request of its own, as servers did before 2026-07-28.
fn greet(client: &mut dyn Client) -> String {
    client
        .ask("elicitation/create", &question())
        .map_or_else(|| failure("this client cannot be asked"), |answer| greeting(&answer))
}

/// Asks by an incomplete result; the client repeats the call with the answer (2026-07-28).
fn greet_in_two_rounds(params: &Params<'_>) -> String {
    match &params.input_responses {
        Some(responses) => greeting(&responses["name"]),
        None => json!({
            "resultType": "input_required", "requestState": "round 1",
            "inputRequests": { "name": { "method": "elicitation/create", "params": question() } },
        })
        .to_string(),
    }
}
