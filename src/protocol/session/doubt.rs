//! Doubts about the era: what was remembered of a server may be wrong by now.
//!
//! ```text
//! tools/call ──▶ an error that may be one of the other era
//!                server/discover ──▶ modern: the error is the call's own, and the answer
//!                                ──▶ legacy: initialize, and the call again unless it may have run
//! ```

use std::time::Instant;

use super::era::Probe;
use super::event::{Event, Failure};
use super::{Session, Ticket};
use crate::jsonrpc::ErrorObject;
use crate::method;
use crate::opening::{Certainty, Verdict, judge};
use crate::revision::{Era, Revision};

impl Session {
    /// A server that was modern the last time refuses a call in a way that a legacy one would:
    /// finds out anew whether it still is. What was answered, if anything was, is put by until
    /// then, see [`Session::settle_doubt`]. False when the era is certain.
    pub(super) fn doubt(
        &mut self,
        ticket: Ticket,
        answered: Option<&ErrorObject>,
        now: Instant,
    ) -> bool {
        let remembered = matches!(self.certainty, Certainty::Remembered(_));
        let modern = self.stage.open().is_some_and(|revision| revision.era == Era::Modern);
        if self.stage.proven || !remembered || !modern || self.stage.probe != Probe::Unsent {
            return false;
        }
        if let Some(open) = self.calls.get_mut(ticket.0) {
            open.doubted = answered.cloned();
        }
        self.requeue(ticket);
        self.begin_anew(now);
        self.discover(now);
        true
    }

    /// Whether a call that is to be sent was answered already, and not because the server is of the
    /// other era: then that answer counts. Nothing that may have run is sent twice.
    pub(super) fn settle_doubt(&mut self, ticket: Ticket, revision: &Revision) -> bool {
        let Some(open) = self.calls.get_mut(ticket.0) else { return false };
        let Some(error) = open.doubted.take() else { return false };
        let repeatable = method::facts(&open.call.method).repeatable;
        if revision.era == Era::Legacy && (repeatable || rejects(&error)) {
            // The server has opened another session since, perhaps with other tools.
            let is_bound = open.call.bound;
            if is_bound {
                self.fail(ticket, Failure::Reopened);
            }
            return is_bound;
        }
        self.close_call(ticket);
        self.emit(Event::Answered(ticket, Err(error)));
        true
    }

    /// Looks at an error that answers a call before the caller sees it. `None` when the call goes
    /// on.
    pub(super) fn judge_error(
        &mut self,
        ticket: Ticket,
        error: ErrorObject,
        now: Instant,
    ) -> Option<ErrorObject> {
        let modern = self.stage.open().is_some_and(|revision| revision.era == Era::Modern);
        if !modern {
            return Some(error);
        }
        match judge(&error) {
            Verdict::Speaks(revision) if self.may_speak(revision, ticket) => {
                self.requeue(ticket);
                self.begin_anew(now);
                self.speak(revision, None);
                None
            }
            Verdict::NoCommonRevision(dates) => {
                self.give_up(&Failure::NoCommonRevision(dates));
                None
            }
            Verdict::Legacy if self.doubt(ticket, Some(&error), now) => None,
            _ => Some(error),
        }
    }

    /// Whether a call that was refused for its revision should be sent again in this one. Once,
    /// even when the server lists the very revision that it refused.
    fn may_speak(&mut self, revision: &'static Revision, ticket: Ticket) -> bool {
        let pinned = match self.certainty {
            Certainty::Pinned(pinned) => pinned == revision,
            _ => true,
        };
        let open = self.calls.get_mut(ticket.0);
        pinned && open.is_some_and(|open| !std::mem::replace(&mut open.reopened, true))
    }
}

/// Whether a legacy server says by this error that it has not carried out a request, because no
/// `initialize` came before it: each library has a code of its own for that, and most say why.
fn rejects(error: &ErrorObject) -> bool {
    const CODES: [i64; 3] =
        [ErrorObject::INVALID_REQUEST, ErrorObject::METHOD_NOT_FOUND, ErrorObject::INVALID_PARAMS];
    CODES.contains(&error.code) || error.message.to_lowercase().contains("initializ")
}
