//! Calls of what was accepted are bound to the connection on which it was looked at: behind another
//! one may be another server.

use crate::cli::catalog;
use crate::cli::contact::Contact;
use crate::cli::errors::Error;
use crate::client::{NoResult, Terms};
use crate::protocol::json::Json;
use crate::protocol::message::Sent;
use crate::protocol::session::Call;

impl Contact<'_> {
    /// Calls a tool. A tool that was looked at goes out on another connection than that only after
    /// another look.
    pub(in crate::cli) async fn try_tool(
        &mut self,
        tool: &str,
        call: Call,
        repeatable: bool,
    ) -> Result<Result<Json, NoResult>, Error> {
        let mut terms = Terms { repeatable, connection: self.bond(), ..Terms::default() };
        let mut looked_after = None;
        loop {
            match self.try_call_on(call.clone(), terms).await? {
                // Of a server that is lost after each look nothing will be known.
                Err(NoResult::Moved { attempts }) if looked_after != Some(attempts) => {
                    looked_after = Some(attempts);
                    self.watcher.consent.note_changed_list();
                    let admitted = self.admit_tool(tool).await.map_err(catalog::unsent);
                    admitted.map_err(|error| match attempts {
                        0 => error,
                        _ => error.sent(Sent::Maybe),
                    })?;
                    terms = Terms { attempts, connection: self.bond(), ..terms };
                }
                result => return Ok(result),
            }
        }
    }

    /// The connection that tools may be called on, if they must not be called on another one: that on
    /// which they were looked at.
    pub(in crate::cli) fn bond(&self) -> Option<u32> {
        let consent = &self.watcher.consent;
        let looked_on = consent.looked_on().or(self.is_shared().then(|| self.connection()));
        looked_on.filter(|_| consent.is_held())
    }
}
