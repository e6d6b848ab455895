//! The methods a client may send and what is known about each.

use std::borrow::Cow;

use super::jsonrpc::scan;

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
/// `resources/list`.
pub const LIST_RESOURCES: &str = "resources/list";
/// `resources/templates/list`.
pub const LIST_TEMPLATES: &str = "resources/templates/list";
/// `resources/read`.
pub const READ_RESOURCE: &str = "resources/read";
/// `prompts/list`.
pub const LIST_PROMPTS: &str = "prompts/list";
/// `prompts/get`.
pub const GET_PROMPT: &str = "prompts/get";
/// `skills/list` (Skills Extension).
pub const LIST_SKILLS: &str = "skills/list";
/// `skills/get` (Skills Extension).
pub const GET_SKILL: &str = "skills/get";
/// `completion/complete`.
pub const COMPLETE: &str = "completion/complete";
/// `tasks/get`.
pub const GET_TASK: &str = "tasks/get";
/// `tasks/result`, only where tasks are a part of the revision itself.
pub const TASK_RESULT: &str = "tasks/result";
/// `tasks/update`, only where tasks are an extension.
pub const UPDATE_TASK: &str = "tasks/update";
/// `tasks/cancel`.
pub const CANCEL_TASK: &str = "tasks/cancel";
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

/// What servers send, the most frequent first.
const OF_SERVERS: [&str; 12] = [
    PROGRESS,
    LOG_MESSAGE,
    CANCELLED,
    ELICITED,
    ACKNOWLEDGED,
    TOOLS_CHANGED,
    PROMPTS_CHANGED,
    RESOURCES_CHANGED,
    RESOURCE_UPDATED,
    LIST_ROOTS,
    ELICIT,
    SAMPLE,
];

/// The name of a method that a server sends. No memory is taken for those that exist.
fn name(text: &str) -> Cow<'static, str> {
    match known(text) {
        Some(known) => Cow::Borrowed(known),
        None => Cow::Owned(text.to_owned()),
    }
}

/// The same, given as a JSON string; `None` when it is none.
pub fn name_of_json(quoted: &str) -> Option<Cow<'static, str>> {
    let body = quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    match body.and_then(known) {
        Some(known) => Some(Cow::Borrowed(known)),
        None => scan::unescape(quoted).map(|text| name(&text)),
    }
}

/// The method that a server sends whose name, up to a quote, `text` begins with.
pub(crate) fn known_before_quote(text: &str) -> Option<&'static str> {
    let begins = |name: &str| text.strip_prefix(name).is_some_and(|rest| rest.starts_with('"'));
    OF_SERVERS.iter().find(|name| begins(name)).copied()
}

fn known(text: &str) -> Option<&'static str> {
    OF_SERVERS.iter().find(|known| **known == text).copied()
}

const fn list(name: &'static str, pages: &'static str) -> Facts {
    Facts { name, mirrored: None, repeatable: true, may_ask: false, pages: Some(pages) }
}

const fn plain(name: &'static str) -> Facts {
    Facts { name, mirrored: None, repeatable: true, may_ask: false, pages: None }
}

const fn named(name: &'static str, mirrored: &'static str, repeatable: bool) -> Facts {
    Facts { name, mirrored: Some(mirrored), repeatable, may_ask: true, pages: None }
}

/// Requests about a task (Tasks Extension, Routing Headers).
const fn task(name: &'static str, repeatable: bool) -> Facts {
    Facts { name, mirrored: Some("taskId"), repeatable, may_ask: false, pages: None }
}

static TABLE: [Facts; 20] = [
    plain(INITIALIZE),
    plain(DISCOVER),
    plain(PING),
    list(LIST_TOOLS, "tools"),
    named(CALL_TOOL, "name", false),
    list(LIST_RESOURCES, "resources"),
    list(LIST_TEMPLATES, "resourceTemplates"),
    named(READ_RESOURCE, "uri", true),
    list(LIST_PROMPTS, "prompts"),
    named(GET_PROMPT, "name", true),
    list(LIST_SKILLS, "skills"),
    plain(GET_SKILL),
    plain(COMPLETE),
    task(GET_TASK, true),
    task(TASK_RESULT, true),
    task(UPDATE_TASK, false),
    task(CANCEL_TASK, true),
    plain(SET_LOG_LEVEL),
    plain(SUBSCRIBE),
    plain(LISTEN),
];

/// The names of the methods that are known.
pub fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|facts| facts.name)
}

/// What is known about a method; a method that is not in the table is not repeatable, and nothing
/// of it is mirrored.
pub fn facts(name: &str) -> Facts {
    let unknown =
        Facts { name: "", mirrored: None, repeatable: false, may_ask: false, pages: None };
    TABLE.iter().copied().find(|facts| facts.name == name).unwrap_or(unknown)
}

/// The methods whose answers are lists that come page by page.
pub fn lists() -> impl Iterator<Item = &'static str> {
    TABLE.iter().filter(|facts| facts.pages.is_some()).map(|facts| facts.name)
}

/// The lists that are no longer what they were when the server sends this notification.
pub fn changed_lists(notification: &str) -> &'static [&'static str] {
    match notification {
        TOOLS_CHANGED => &[LIST_TOOLS],
        PROMPTS_CHANGED => &[LIST_PROMPTS],
        RESOURCES_CHANGED => &[LIST_RESOURCES, LIST_TEMPLATES],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_methods_are_read_however_they_are_written() {
        let check = |quoted: &str, expected: Option<&str>, is_known: bool| {
            let name = name_of_json(quoted);
            assert_eq!(name.as_deref(), expected, "{quoted}");
            assert_eq!(matches!(name, Some(Cow::Borrowed(_))), is_known, "{quoted}");
        };
        check(r#""notifications/progress""#, Some(PROGRESS), true);
        check(r#""notifications\/pro\u0067ress""#, Some(PROGRESS), true);
        check(r#""notifications/x\n""#, Some("notifications/x\n"), false);
        check(r#""""#, Some(""), false);
        check("7", None, false);
        check("\"", None, false);
    }
}
