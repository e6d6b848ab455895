//! What the client says about itself: who it is, and what it can be asked for.

use super::Profile;
use crate::protocol::json;
use crate::protocol::model::task;
use crate::protocol::params::Members;
use crate::protocol::revision::{Revision, Tasks};

impl Profile {
    /// The members of `_meta` that every request of a modern revision carries.
    pub(super) fn context(&self, revision: &Revision) -> Vec<(&'static str, String)> {
        if !revision.request_meta {
            return Vec::new();
        }
        vec![
            ("io.modelcontextprotocol/protocolVersion", json::string(revision.date)),
            ("io.modelcontextprotocol/clientInfo", self.client_info()),
            ("io.modelcontextprotocol/clientCapabilities", self.capabilities(revision)),
        ]
    }

    pub(super) fn client_info(&self) -> String {
        let mut info = Members::new();
        info.push("name", &json::string(self.client.0));
        info.push("version", &json::string(self.client.1));
        info.finish()
    }

    /// Only what can be met is declared, and only what the revision knows.
    pub(super) fn capabilities(&self, revision: &Revision) -> String {
        let mut capabilities = Members::new();
        if self.abilities.roots {
            capabilities.push("roots", "{}");
        }
        if self.abilities.sampling {
            capabilities.push("sampling", "{}");
        }
        if let Some(modes) = self.elicitation(revision) {
            capabilities.push("elicitation", modes);
        }
        let tasks = self.tasks && revision.tasks == Tasks::Extension;
        let others = self.extensions.iter().copied().filter(|_| revision.request_meta);
        let mut names = others.chain(tasks.then_some(task::EXTENSION)).peekable();
        if names.peek().is_some() {
            let mut extensions = Members::new();
            names.for_each(|name| extensions.push(name, "{}"));
            capabilities.push("extensions", &extensions.finish());
        }
        capabilities.finish()
    }

    /// The modes of elicitation that are declared; `None` when there is no such ability.
    fn elicitation(&self, revision: &Revision) -> Option<&'static str> {
        let urls = self.abilities.urls && revision.elicitation_modes;
        let modes = match (self.abilities.forms, urls) {
            (false, false) => None,
            (true, false) if !revision.elicitation_modes => Some("{}"),
            (true, false) => Some("{\"form\":{}}"),
            (false, true) => Some("{\"url\":{}}"),
            (true, true) => Some("{\"form\":{},\"url\":{}}"),
        };
        modes.filter(|_| revision.elicitation)
    }
}
