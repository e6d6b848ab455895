//! What is to be watched.

use crate::cli::args::primitives::Watch;
use crate::protocol::json;
use crate::protocol::jsonrpc::scan;
use crate::protocol::method;
use crate::protocol::params::Members;

/// A list that can change.
#[derive(Debug)]
struct List {
    /// What people call it.
    name: &'static str,
    /// The member of a subscription's filter (2026-07-28, Notification Filter).
    filter: &'static str,
    /// The notification.
    method: &'static str,
    /// The capability of servers that notify about it, which then has `listChanged`.
    capability: &'static str,
}

static LISTS: [List; 3] = [
    List {
        name: "tools",
        filter: "toolsListChanged",
        method: method::TOOLS_CHANGED,
        capability: "tools",
    },
    List {
        name: "prompts",
        filter: "promptsListChanged",
        method: method::PROMPTS_CHANGED,
        capability: "prompts",
    },
    List {
        name: "the list of resources",
        filter: "resourcesListChanged",
        method: method::RESOURCES_CHANGED,
        capability: "resources",
    },
];

/// What is to be watched.
#[derive(Debug)]
pub(super) struct Wanted {
    lists: Vec<&'static List>,
    uris: Vec<String>,
    /// Whether nothing was chosen, so that everything is wanted that comes.
    all: bool,
}

impl Wanted {
    /// What the command line chooses.
    pub(super) fn new(watch: &Watch) -> Wanted {
        let chosen = [watch.tools, watch.prompts, watch.resource_list];
        let uris: Vec<String> = watch.resources.iter().chain(&watch.uris).cloned().collect();
        let all = uris.is_empty() && !chosen.contains(&true);
        let lists = LISTS.iter().zip(chosen).filter(|(_, chosen)| all || *chosen);
        Wanted { lists: lists.map(|(list, _)| list).collect(), uris, all }
    }

    /// The resources.
    pub(super) fn uris(&self) -> &[String] {
        &self.uris
    }

    /// Whether it was chosen what to watch.
    pub(super) fn is_chosen(&self) -> bool {
        !self.all
    }

    /// How many kinds of things are wanted.
    pub(super) fn count(&self) -> usize {
        self.lists.len() + usize::from(!self.uris.is_empty())
    }

    /// The filter of a subscription, JSON text.
    pub(super) fn filter(&self) -> String {
        let mut filter = Members::new();
        self.lists.iter().for_each(|list| filter.push(list.filter, "true"));
        if !self.uris.is_empty() {
            let uris: Vec<String> = self.uris.iter().map(|uri| json::string(uri)).collect();
            filter.push("resourceSubscriptions", &format!("[{}]", uris.join(",")));
        }
        filter.finish()
    }

    /// Whether a notification is to be printed.
    pub(super) fn includes(&self, method: &str) -> bool {
        match method {
            // They are about the conversation, not about the server.
            method::ACKNOWLEDGED | method::CANCELLED | method::PROGRESS => false,
            _ if self.all => true,
            method::RESOURCE_UPDATED => !self.uris.is_empty(),
            _ => self.lists.iter().any(|list| list.method == method),
        }
    }

    /// What an acknowledged filter leaves out.
    pub(super) fn missing_in_filter(&self, filter: &str) -> Vec<&'static str> {
        let lists =
            self.lists.iter().filter(|list| scan::member(filter, list.filter) != Some("true"));
        let mut missing: Vec<_> = lists.map(|list| list.name).collect();
        let granted = scan::member(filter, "resourceSubscriptions").unwrap_or("[]");
        let is_granted = |uri: &String| {
            scan::elements(granted).any(|text| scan::unescape(text).as_deref() == Some(uri))
        };
        if !self.uris.iter().all(is_granted) {
            missing.push("all of these resources");
        }
        missing
    }

    /// What a legacy server does not notify about, by what it said when the session was opened.
    /// Nothing when everything is wanted: such a server sends what it likes.
    pub(super) fn missing_in_capabilities(&self, greeting: &str) -> Vec<&'static str> {
        if self.all {
            return Vec::new();
        }
        let capabilities = scan::member(greeting, "capabilities").unwrap_or("{}");
        let has = |capability: &str, feature: &str| {
            let capability = scan::member(capabilities, capability).unwrap_or("{}");
            scan::member(capability, feature) == Some("true")
        };
        let lists = self.lists.iter().filter(|list| !has(list.capability, "listChanged"));
        let mut missing: Vec<_> = lists.map(|list| list.name).collect();
        if !self.uris.is_empty() && !has("resources", "subscribe") {
            missing.push("single resources");
        }
        missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(words: &str) -> Wanted {
        use argh::FromArgs;
        let words: Vec<&str> = words.split_whitespace().collect();
        Wanted::new(&Watch::from_args(&["watch"], &words).unwrap())
    }

    #[test]
    fn a_filter_has_what_is_wanted() {
        let check = |words: &str, expected: &str| assert_eq!(wanted(words).filter(), expected);
        check(
            "s",
            r#"{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true}"#,
        );
        check("s --tools", r#"{"toolsListChanged":true}"#);
        check(
            "s --resource-list --resources a:1 b:\"2",
            r#"{"resourcesListChanged":true,"resourceSubscriptions":["a:1","b:\"2"]}"#,
        );
    }

    #[test]
    fn what_is_not_wanted_is_not_printed() {
        let check = |words: &str, method: &str, expected| {
            assert_eq!(wanted(words).includes(method), expected, "{words} {method}");
        };
        check("s", method::TOOLS_CHANGED, true);
        check("s", method::RESOURCE_UPDATED, true);
        check("s", "notifications/vendor", true);
        check("s", method::ACKNOWLEDGED, false);
        check("s --tools", method::TOOLS_CHANGED, true);
        check("s --tools", method::PROMPTS_CHANGED, false);
        check("s --tools", method::RESOURCE_UPDATED, false);
        check("s a:1", method::RESOURCE_UPDATED, true);
        check("s a:1", "notifications/vendor", false);
    }

    #[test]
    fn what_the_server_will_not_notify_about_is_known() {
        let filter = |words: &str, filter: &str| wanted(words).missing_in_filter(filter).join(";");
        assert_eq!(filter("s --tools", r#"{"toolsListChanged":true}"#), "");
        assert_eq!(filter("s --tools a:1", "{}"), "tools;all of these resources");
        let granted = r#"{"resourceSubscriptions":["a:1"]}"#;
        assert_eq!(filter("s a:1", granted), "");
        assert_eq!(filter("s a:1 a:2", granted), "all of these resources");
        let legacy = |words: &str, capabilities: &str| {
            let greeting = format!(r#"{{"capabilities":{capabilities}}}"#);
            wanted(words).missing_in_capabilities(&greeting).join(";")
        };
        assert_eq!(legacy("s", "{}"), "");
        assert_eq!(legacy("s --tools a:1", "{}"), "tools;single resources");
        assert_eq!(legacy("s --tools", r#"{"tools":{"listChanged":true}}"#), "");
        assert_eq!(legacy("s --tools", r#"{"tools":{"listChanged":false}}"#), "tools");
        assert_eq!(legacy("s a:1", r#"{"resources":{"subscribe":true}}"#), "");
    }
}
