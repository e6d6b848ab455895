//! Messages of the kinds and sizes that servers send.

use serde::Deserialize;
use serde_json::value::RawValue;

/// An envelope as serde_json reads it without looking into its values.
#[derive(Deserialize)]
#[allow(dead_code, reason = "read, not used")]
pub(crate) struct RawEnvelope<'a> {
    #[serde(borrow)]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// A notification of 150 bytes, of which servers send many.
pub(crate) const PROGRESS: &str = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"token-1","progress":12,"total":100,"message":"twelve of hundred done"}}"#;

/// Responses by size, each with its name.
pub(crate) fn responses() -> Vec<(&'static str, String)> {
    vec![
        ("log 300 B", call(&log(90))),
        ("log 4 KB", call(&log(3_900))),
        ("tools 60 KB", tools(75)),
        ("rows 600 KB", rows(6_500)),
        ("log 1 MB", call(&log(1 << 20))),
        ("base64 1 MB", call(&"QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo".repeat(30_000))),
    ]
}

/// A tool call that returned one text, given with its escapes.
fn call(text: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":17,"result":{{"content":[{{"type":"text","text":"{text}"}}],"isError":false,"resultType":"complete","_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"fixture","version":"1.0.0"}}}}}}}}"#
    )
}

/// Log lines with an escape every fifteen bytes.
fn log(length: usize) -> String {
    let line = |number| format!(r#"2026-07-28T12:00:00Z INFO \"worker {number}\" done\n"#);
    let mut text = String::new();
    for number in 0.. {
        if text.len() >= length {
            break;
        }
        text += &line(number);
    }
    text
}

/// A list of tools with schemas.
fn tools(count: usize) -> String {
    let tool = |number| {
        format!(
            r#"{{"name":"tool_{number}","title":"Tool {number}","description":"Does the thing number {number} to a file, and reports what it did. Use it when the user asks for things that have to do with number {number}, but not otherwise. It never deletes anything.","inputSchema":{{"type":"object","properties":{{"path":{{"type":"string","description":"The path of the file to work on"}},"count":{{"type":"integer","minimum":0,"maximum":100,"default":10}},"mode":{{"type":"string","enum":["fast","slow","careful"]}},"options":{{"type":"object","properties":{{"recursive":{{"type":"boolean"}},"depth":{{"type":"number"}}}},"additionalProperties":false}}}},"required":["path"],"additionalProperties":false}},"outputSchema":{{"type":"object","properties":{{"ok":{{"type":"boolean"}},"lines":{{"type":"array","items":{{"type":"string"}}}}}},"required":["ok"]}},"annotations":{{"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}}}}"#
        )
    };
    let tools: Vec<_> = (0..count).map(tool).collect();
    format!(
        r#"{{"jsonrpc":"2.0","id":3,"result":{{"tools":[{}],"resultType":"complete"}}}}"#,
        tools.join(",")
    )
}

/// Structured content with many small objects.
fn rows(count: usize) -> String {
    let row = |number| {
        format!(
            r#"{{"id":{number},"name":"row number {number}","value":{number}.25,"tags":["a","b"],"ok":true,"note":null}}"#
        )
    };
    let rows: Vec<_> = (0..count).map(row).collect();
    format!(
        r#"{{"jsonrpc":"2.0","id":3,"result":{{"content":[],"structuredContent":{{"rows":[{}]}}}}}}"#,
        rows.join(",")
    )
}
