//! Requests to answers: the methods of both eras.

use std::sync::Mutex;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::{Options, changes, primitives, skills, tools};

/// The revision with a handshake that the server speaks.
pub(crate) const LEGACY: &str = "2025-11-25";
/// The revision without one.
pub(crate) const MODERN: &str = "2026-07-28";

/// The name of the extension for tasks (since 2026-07-28).
pub(crate) const EXTENSION: &str = "io.modelcontextprotocol/tasks";

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

const LOG_LEVEL_KEY: &str = "io.modelcontextprotocol/logLevel";

/// The lowest level of log messages that the session wants.
static LOG_LEVEL: Mutex<String> = Mutex::new(String::new());

/// A message as it came; what is not looked at stays text.
#[derive(Debug, Deserialize)]
pub(crate) struct Incoming<'a> {
    /// The id of a request or a response, as text.
    #[serde(borrow)]
    pub(crate) id: Option<&'a RawValue>,
    /// The method; none in a response.
    pub(crate) method: Option<String>,
    /// The parameters, as text.
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    /// The result in a response.
    pub(crate) result: Option<Value>,
}

/// The parameters that the server looks at.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Params<'a> {
    /// The tool.
    pub(crate) name: Option<String>,
    /// The tool's arguments, as text.
    #[serde(borrow)]
    pub(crate) arguments: Option<&'a RawValue>,
    /// Answers to questions of an earlier round (2026-07-28).
    pub(crate) input_responses: Option<Value>,
    /// What the client wants to be notified about (2026-07-28).
    pub(crate) notifications: Option<Value>,
    /// The state of an earlier round.
    pub(crate) request_state: Option<String>,
    /// The id of a request that is cancelled.
    pub(crate) request_id: Option<Value>,
    level: Option<String>,
    /// The resource.
    pub(crate) uri: Option<String>,
    /// Where a page of a list begins.
    pub(crate) cursor: Option<String>,
    /// What is completed.
    #[serde(rename = "ref", default)]
    pub(crate) reference: Value,
    /// The argument that is completed.
    #[serde(default)]
    pub(crate) argument: Value,
    /// What is known beside it.
    #[serde(default)]
    pub(crate) context: Value,
    /// The task.
    pub(crate) task_id: Option<String>,
    /// Whether a call is to become a task (2025-11-25).
    pub(crate) task: Option<Value>,
    protocol_version: Option<String>,
    #[serde(rename = "_meta", default)]
    meta: serde_json::Map<String, Value>,
}

impl Params<'_> {
    /// The lowest level of log messages that the client wants: that of the request, or that of the
    /// session.
    pub(crate) fn log_level(&self) -> Option<String> {
        match self.revision() {
            Some(_) => Some(self.meta.get(LOG_LEVEL_KEY)?.as_str()?.to_owned()),
            None => Some(LOG_LEVEL.lock().expect("no thread panics with it").clone()),
        }
    }

    /// The revision that a request of 2026-07-28 names in its `_meta`.
    pub(crate) fn revision(&self) -> Option<&str> {
        self.meta.get(VERSION_KEY)?.as_str()
    }

    /// Whether the client says that it knows an extension (since 2026-07-28).
    pub(crate) fn declares(&self, extension: &str) -> bool {
        self.meta.get(CAPABILITIES_KEY).is_some_and(|all| all["extensions"][extension].is_object())
    }

    /// What progress notifications must carry; none when nobody wants them.
    pub(crate) fn progress_token(&self) -> Option<&Value> {
        self.meta.get("progressToken")
    }
}

impl Incoming<'_> {
    /// The request again as text, to be read in another thread.
    pub(crate) fn as_text(&self, id: &RawValue) -> String {
        let params = self.params.map_or("{}", RawValue::get);
        let method = json!(self.method);
        format!(r#"{{"id":{},"method":{method},"params":{params}}}"#, id.get())
    }

    /// The parameters; the default ones when there are none, or none that can be read.
    pub(crate) fn params(&self) -> Params<'_> {
        self.params.and_then(|text| serde_json::from_str(text.get()).ok()).unwrap_or_default()
    }
}

/// A JSON-RPC error.
#[derive(Debug)]
pub(crate) struct Refusal {
    code: i32,
    message: String,
    data: Option<Value>,
}

/// Makes an error without data.
pub(crate) fn refusal(code: i32, message: impl Into<String>) -> Refusal {
    Refusal { code, message: message.into(), data: None }
}

impl Refusal {
    /// The same with data.
    pub(crate) fn with_data(self, data: Value) -> Refusal {
        Refusal { data: Some(data), ..self }
    }
}

/// The way back to the client while a request is worked on.
pub(crate) trait Client {
    /// Sends a notification.
    fn notify(&mut self, notification: &Value);
    /// Sends a request and waits for its result; none when this binding cannot, or it failed.
    fn ask(&mut self, method: &str, params: &Value) -> Option<Value>;
}

/// The response to a request.
pub(crate) fn respond(
    id: &RawValue,
    message: &Incoming<'_>,
    options: &Options,
    client: &mut dyn Client,
) -> String {
    let method = message.method.as_deref().unwrap_or_default();
    let answer = match answer(method, &message.params(), options, client) {
        Ok(result) => format!(r#""result":{result}"#),
        Err(Refusal { code, message, data }) => {
            let mut error = json!({ "code": code, "message": message });
            if let Some(data) = data {
                error["data"] = data;
            }
            format!(r#""error":{error}"#)
        }
    };
    format!(r#"{{"jsonrpc":"2.0","id":{},{answer}}}"#, id.get())
}

/// Takes note of what a legacy client wants from now on.
fn set_up(method: &str, params: &Params<'_>) -> Value {
    match method {
        "logging/setLevel" => {
            let level = params.level.clone().unwrap_or_default();
            *LOG_LEVEL.lock().expect("no thread panics with it") = level;
        }
        _ => changes::subscribe(params.uri.as_deref().unwrap_or_default()),
    }
    json!({})
}

/// The result of a request, as text.
fn answer(
    method: &str,
    params: &Params<'_>,
    options: &Options,
    client: &mut dyn Client,
) -> Result<String, Refusal> {
    let modern = params.revision().is_some();
    if options.has_fault("crash") && method.starts_with("tools/") {
        std::process::exit(3);
    }
    if method != "initialize" && !options.speaks(if modern { "modern" } else { "legacy" }) {
        return Err(unknown(method));
    }
    if params.revision().is_some_and(|revision| revision != MODERN) {
        let data = json!({ "supported": [MODERN], "requested": params.revision() });
        let message = "Unsupported protocol version".into();
        return Err(Refusal { code: -32022, message, data: Some(data) });
    }
    let list = |name: &str, items: &[Value]| {
        primitives::page(name, items, params, options.has_fault("endless"))
    };
    let mut result = match method {
        "initialize" if options.speaks("legacy") => json!({
            "protocolVersion": params.protocol_version.as_deref()
                .filter(|wanted| ["2024-11-05", "2025-03-26", "2025-06-18"].contains(wanted))
                .unwrap_or(LEGACY),
            "capabilities": capabilities(options, false),
            "serverInfo": options.info(),
            "instructions": instructions(options),
        }),
        "server/discover" if modern => json!({
            "supportedVersions": [MODERN],
            "capabilities": capabilities(options, true),
            "instructions": instructions(options),
        }),
        "ping" => json!({}),
        "logging/setLevel" | "resources/subscribe" if !modern => set_up(method, params),
        "tools/list" => json!({ "tools": options.patch.apply_to_tools(&tools::list()) }),
        "tools/call" => {
            options.note_call();
            let result = tools::call(params, modern, options, client)?;
            return Ok(if modern { completed(&result, options) } else { result });
        }
        _ if options.has_fault("bare") => return Err(unknown(method)),
        "resources/list" => list("resources", &primitives::resources())?,
        "resources/templates/list" => list("resourceTemplates", &primitives::templates())?,
        "skills/list" | "skills/get" | "resources/read" if options.skills.is_some() => {
            skills::answer(method, params, options.skills.as_deref().unwrap_or_default())?
        }
        "resources/read" => primitives::read(params, modern)?,
        "prompts/list" => list("prompts", &primitives::prompts())?,
        "prompts/get" => primitives::prompt(params)?,
        "completion/complete" => primitives::complete(params)?,
        "tasks/get" | "tasks/result" | "tasks/update" | "tasks/cancel" => {
            options.tasks.answer(method, params, modern, client)?
        }
        _ => return Err(unknown(method)),
    };
    if modern {
        // A task has a time to live of its own.
        if result.get("taskId").is_none() {
            result["ttlMs"] = options.ttl.into();
            result["cacheScope"] = "public".into();
        }
        return Ok(completed(&result.to_string(), options));
    }
    Ok(result.to_string())
}

fn unknown(method: &str) -> Refusal {
    refusal(-32601, format!("Method not found: {method}"))
}

/// What the server says that it can do.
fn capabilities(options: &Options, modern: bool) -> Value {
    let mut all = json!({ "tools": {}, "logging": {} });
    if !options.has_fault("bare") {
        for name in ["resources", "prompts", "completions"] {
            all[name] = json!({});
        }
        match modern {
            true => all["extensions"] = json!({ EXTENSION: {} }),
            false => {
                all["tasks"] = json!({ "cancel": {}, "requests": { "tools": { "call": {} } } })
            }
        }
    }
    if options.skills.is_some() {
        all["extensions"][skills::EXTENSION] = json!({});
    }
    if options.tick.is_some() {
        // What it notifies about.
        all["tools"] = json!({ "listChanged": true });
        all["resources"] = json!({ "listChanged": false, "subscribe": true });
    }
    options.patch.apply("capabilities", all)
}

fn instructions(options: &Options) -> Value {
    options.patch.apply("instructions", "A server to try mcpmini with.".into())
}

/// A result with the members that 2026-07-28 wants in each.
fn completed(result: &str, options: &Options) -> String {
    if result.contains(r#""resultType""#) {
        return result.to_owned();
    }
    let members = &result[1..];
    let info = options.info();
    let meta = format!(r#""_meta":{{"io.modelcontextprotocol/serverInfo":{info}}}"#);
    format!(r#"{{"resultType":"complete",{meta},{members}"#)
}
