//! The methods a client may send and what is known about each.

/// What is known about a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    /// Its name on the wire.
    pub name: &'static str,
    /// The parameter that HTTP requests mirror into `Mcp-Name`.
    pub mirrored: Option<&'static str>,
    /// Whether running it twice does what running it once does, so that it may be sent again.
    pub repeatable: bool,
    /// Whether the server may answer it with `input_required` (Multi Round-Trip Requests).
    pub may_ask: bool,
    /// The array that a page of its result carries, for methods with a cursor.
    pub pages: Option<&'static str>,
}

/// `initialize`.
pub const INITIALIZE: &str = "initialize";
/// `notifications/initialized`.
pub const INITIALIZED: &str = "notifications/initialized";
/// `notifications/cancelled`.
pub const CANCELLED: &str = "notifications/cancelled";
/// `notifications/progress`.
pub const PROGRESS: &str = "notifications/progress";
/// `notifications/message`.
pub const LOG_MESSAGE: &str = "notifications/message";
/// `notifications/elicitation/complete`.
pub const ELICITED: &str = "notifications/elicitation/complete";
/// `notifications/subscriptions/acknowledged`.
pub const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
/// `notifications/tools/list_changed`.
pub const TOOLS_CHANGED: &str = "notifications/tools/list_changed";
/// `notifications/prompts/list_changed`.
pub const PROMPTS_CHANGED: &str = "notifications/prompts/list_changed";
/// `notifications/resources/list_changed`.
pub const RESOURCES_CHANGED: &str = "notifications/resources/list_changed";
/// `notifications/resources/updated`.
pub const RESOURCE_UPDATED: &str = "notifications/resources/updated";
/// `server/discover`.
pub const DISCOVER: &str = "server/discover";
/// `ping`.
pub const PING: &str = "ping";
/// `tools/list`.
pub const LIST_TOOLS: &str = "tools/list";
/// `tools/call`.
pub const CALL_TOOL: &str = "tools/call";
/// `logging/setLevel`.
pub const SET_LOG_LEVEL: &str = "logging/setLevel";
/// `resources/subscribe`.
pub const SUBSCRIBE: &str = "resources/subscribe";
/// `subscriptions/listen`: a request that stays open until it is cancelled.
pub const LISTEN: &str = "subscriptions/listen";
/// `roots/list`, sent by servers.
pub const LIST_ROOTS: &str = "roots/list";
/// `elicitation/create`, sent by servers.
pub const ELICIT: &str = "elicitation/create";
/// `sampling/createMessage`, sent by servers.
pub const SAMPLE: &str = "sampling/createMessage";

const fn list(name: &'static str, pages: &'static str) -> Facts {
    Facts { name, mirrored: None, repeatable: true, may_ask: false, pages: Some(pages) }
}

const fn plain(name: &'static str) -> Facts {
    Facts { name, mirrored: None, repeatable: true, may_ask: false, pages: None }
}

const fn named(name: &'static str, mirrored: &'static str, repeatable: bool) -> Facts {
    Facts { name, mirrored: Some(mirrored), repeatable, may_ask: true, pages: None }
}

static TABLE: [Facts; 14] = [
    plain(INITIALIZE),
    plain(DISCOVER),
    plain(PING),
    list(LIST_TOOLS, "tools"),
    named(CALL_TOOL, "name", false),
    list("resources/list", "resources"),
    list("resources/templates/list", "resourceTemplates"),
    named("resources/read", "uri", true),
    list("prompts/list", "prompts"),
    named("prompts/get", "name", true),
    plain("completion/complete"),
    plain(SET_LOG_LEVEL),
    plain(SUBSCRIBE),
    plain(LISTEN),
];

/// What is known about a method; a method that is not in the table is not repeatable, and nothing
/// of it is mirrored.
pub fn facts(name: &str) -> Facts {
    let unknown =
        Facts { name: "", mirrored: None, repeatable: false, may_ask: false, pages: None };
    TABLE.iter().copied().find(|facts| facts.name == name).unwrap_or(unknown)
}
