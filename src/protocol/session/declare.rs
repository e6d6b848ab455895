//! What the client says about itself: who it is, and what it can be asked for.

use super::Profile;
use crate::json;
use crate::model::task;
use crate::params::{Members, Meta};
use crate::revision::{Revision, Tasks};

/// What requests of a revision carry in `_meta`: it is the same in all of them.
#[derive(Debug)]
pub(super) struct Context {
    revision: &'static Revision,
    /// What every request carries.
    opening: Meta,
    /// What a call carries.
    call: Meta,
}

impl Context {
    pub(super) fn new(profile: &Profile, revision: &'static Revision) -> Context {
        let mut members = profile.context(revision);
        let opening = Meta::new(members.clone());
        members.extend(profile.log_level_member(revision));
        Context { revision, opening, call: Meta::new(members) }
    }

    /// Whether it is that of a revision.
    pub(super) fn is_of(&self, revision: &'static Revision) -> bool {
        std::ptr::eq(self.revision, revision)
    }

    /// The members of a call, or of a request that opens the session.
    pub(super) fn meta(&self, is_call: bool) -> &Meta {
        if is_call { &self.call } else { &self.opening }
    }
}

impl Profile {
    fn context(&self, revision: &Revision) -> Vec<(&'static str, String)> {
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
