//! Resources, prompts and completion.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::protocol::{Params, Refusal, refusal};
use crate::tools::DOT;

/// The error for a resource that is not there, before 2026-07-28 and since.
const NOT_FOUND: [i32; 2] = [-32002, -32602];

/// A part of a list. Each page but the last says where the next begins; the first time by the empty
/// text, which is a cursor like any other.
pub(crate) fn page(
    name: &str,
    items: &[Value],
    params: &Params<'_>,
    endless: bool,
) -> Result<Value, Refusal> {
    const SIZE: usize = 2;
    let start = match params.cursor.as_deref() {
        None => 0,
        Some("") => SIZE,
        Some(text) => text.parse().map_err(|_| refusal(-32602, "Invalid cursor"))?,
    };
    let end = items.len().min(start + SIZE);
    let mut page = json!({ name: items.get(start..end).unwrap_or_default() });
    if endless {
        page["nextCursor"] = "0".into();
    } else if end < items.len() {
        page["nextCursor"] = if end == SIZE { "".into() } else { end.to_string().into() };
    }
    Ok(page)
}

/// The resources that can be listed.
pub(crate) fn resources() -> Vec<Value> {
    vec![
        json!({ "uri": "demo://note", "name": "note", "mimeType": "text/plain",
            "description": "A short text\nof two lines" }),
        json!({ "uri": "demo://logo", "name": "logo", "title": "Logo", "mimeType": "image/png" }),
        json!({ "uri": "demo://bytes", "name": "bytes", "size": 256 }),
        json!({ "uri": "demo://pair", "name": "pair" }),
        json!({ "uri": "demo://escape", "name": "escape", "mimeType": "text/plain" }),
    ]
}

/// The templates for more.
pub(crate) fn templates() -> Vec<Value> {
    vec![json!({ "uriTemplate": "demo://greeting/{name}", "name": "greeting",
        "description": "Greets by name" })]
}

/// What is in a resource.
pub(crate) fn read(params: &Params<'_>, modern: bool) -> Result<Value, Refusal> {
    let uri = params.uri.as_deref().unwrap_or_default();
    let text = |text: &str| json!({ "uri": uri, "mimeType": "text/plain", "text": text });
    let contents = match uri {
        "demo://note" => json!([text("first\nsecond")]),
        "demo://logo" => json!([{ "uri": uri, "mimeType": "image/png", "blob": DOT }]),
        // Every byte there is, in order.
        "demo://bytes" => json!([{ "uri": uri, "blob": every_byte() }]),
        "demo://pair" => json!([text("one\n"), text("two\n")]),
        "demo://escape" => json!([text("\u{1b}[2Jred\n")]),
        _ => match uri.strip_prefix("demo://greeting/") {
            Some(name) => json!([text(&format!("hello, {name}\n"))]),
            None => {
                return Err(refusal(NOT_FOUND[usize::from(modern)], "Resource not found"));
            }
        },
    };
    Ok(json!({ "contents": contents }))
}

/// The bytes 0 to 255 in Base64.
fn every_byte() -> String {
    STANDARD.encode((0..=255).collect::<Vec<u8>>())
}

/// The prompts.
pub(crate) fn prompts() -> Vec<Value> {
    vec![
        json!({ "name": "review", "title": "Review", "description": "Asks for a review of code",
            "arguments": [{ "name": "code", "required": true }, { "name": "language" }] }),
        json!({ "name": "chat", "description": "A talk that has begun" }),
        json!({ "name": "picture" }),
    ]
}

/// A prompt, filled in.
pub(crate) fn prompt(params: &Params<'_>) -> Result<Value, Refusal> {
    let text = params.arguments.map_or("{}", |arguments| arguments.get());
    let arguments: Value = serde_json::from_str(text).unwrap_or_default();
    let say = |role: &str, text: &str| json!({ "role": role, "content": { "type": "text", "text": text } });
    let messages = match params.name.as_deref().unwrap_or_default() {
        "review" => {
            let Some(code) = arguments["code"].as_str() else {
                return Err(refusal(-32602, "Missing arguments"));
            };
            let language = arguments["language"].as_str().unwrap_or("some language");
            json!([say("user", &format!("Review this {language}: {code}"))])
        }
        "chat" => json!([say("user", "Hello"), say("assistant", "Hi,\nwhat can I do?")]),
        "picture" => json!([
            { "role": "user", "content": { "type": "image", "data": DOT, "mimeType": "image/png" } },
            say("user", "What is this?"),
        ]),
        _ => return Err(refusal(-32602, "No such prompt")),
    };
    Ok(json!({ "description": "what it is for", "messages": messages }))
}

/// What an argument can be.
pub(crate) fn complete(params: &Params<'_>) -> Result<Value, Refusal> {
    let (reference, argument) = (&params.reference, &params.argument);
    let known: &[&str] = match (reference["type"].as_str(), argument["name"].as_str()) {
        (Some("ref/prompt"), Some("language")) if reference["name"] == "review" => {
            if params.context["arguments"]["code"] == "fn" {
                &["rust"]
            } else {
                &["python", "rust", "ruby"]
            }
        }
        (Some("ref/resource"), Some("name")) if reference["uri"] == "demo://greeting/{name}" => {
            &["Ada", "Alan", "Grace"]
        }
        _ => return Err(refusal(-32602, "Nothing to complete")),
    };
    let prefix = argument["value"].as_str().unwrap_or_default();
    let values: Vec<_> = known.iter().filter(|value| value.starts_with(prefix)).collect();
    Ok(json!({ "completion": { "values": values, "total": values.len(), "hasMore": false } }))
}
