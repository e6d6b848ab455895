//! Which log messages the server should send (2025-11-25 and 2026-07-28, Logging).

use super::{Call, Profile, Purpose, Session};
use crate::json::{self, Json};
use crate::jsonrpc::scan;
use crate::method;
use crate::params::Params;
use crate::revision::{LogLevelBy, Revision};

impl Profile {
    /// The member of `_meta` by which a request says which log messages it wants.
    pub(super) fn log_level_member(&self, revision: &Revision) -> Option<(&'static str, String)> {
        let level = self.log_level.filter(|_| revision.log_level == LogLevelBy::Meta)?;
        Some(("io.modelcontextprotocol/logLevel", json::string(level.name())))
    }
}

impl Session {
    /// Sends `logging/setLevel` where it takes a request to say which log messages are wanted, and
    /// the server has any. Tells whether there is an answer to wait for.
    pub(super) fn request_log_level(&mut self, revision: &'static Revision) -> bool {
        let wanted = self.profile.log_level.filter(|_| revision.log_level == LogLevelBy::Request);
        let Some(level) = wanted.filter(|_| self.has_capability("logging")) else { return false };
        let params = Params::new().with("level", json::string(level.name()));
        let call = Call { method: method::SET_LOG_LEVEL.into(), params, ..Call::default() };
        self.request(Purpose::SetLogLevel, revision, &call, &[]);
        true
    }

    /// Whether the server has declared a capability; false as long as it has declared nothing.
    pub fn has_capability(&self, name: &str) -> bool {
        let greeting = self.about.as_ref().and_then(|about| about.greeting.as_ref());
        let declared = greeting.and_then(|json| scan::member(Json::as_str(json), "capabilities"));
        declared.is_some_and(|declared| scan::member(declared, name).is_some())
    }
}
