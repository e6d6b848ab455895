//! Subscriptions of the modern era: a call that stays open (2026-07-28, Subscriptions).
//!
//! ```text
//! subscriptions/listen ──▶ … ──▶ acknowledged: from now on silence is no failure
//!                                notifications, each with the id of the request
//!                          ──▶ a result, or notifications/cancelled: the server ends it
//! ```
//!
//! The caller gives it up like any other call, by [`Session::cancel`].

use super::event::Event;
use super::{Purpose, Session, Ticket};
use crate::json::Json;
use crate::jsonrpc::id::Echo;
use crate::jsonrpc::{Id, scan};
use crate::method;

/// The member of a notification's `_meta` that names its subscription.
pub const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

impl Session {
    /// The subscription that a request id stands for.
    pub(super) fn subscription(&self, id: &Id) -> Option<Ticket> {
        let (Echo::Exact(number) | Echo::Retyped(number)) = id.echo(self.profile.text_ids)?;
        match self.pending.get(number) {
            Some(&Purpose::Call(ticket)) if self.is_subscription(ticket) => Some(ticket),
            _ => None,
        }
    }

    /// The subscription that a notification with these parameters belongs to.
    pub(super) fn call_of_subscription(&self, params: &str) -> Option<Ticket> {
        self.subscription(&named(params)?)
    }

    /// Whether a notification belongs to a subscription that is over. On stdio such may come late.
    pub(super) fn is_of_no_subscription(&self, params: &str) -> bool {
        named(params).is_some_and(|id| self.subscription(&id).is_none())
    }

    /// The server has taken up a subscription: its silence is no failure any more.
    pub(super) fn handle_acknowledged(&mut self, params: &str) {
        let ticket = match named(params) {
            Some(id) => self.subscription(&id),
            // A server that forgets to say which one can only mean the one there is.
            None => self.only_subscription(),
        };
        let Some(ticket) = ticket else { return };
        self.prove();
        self.disarm(ticket);
        let filter = scan::member(params, "notifications").unwrap_or("{}");
        self.emit(Event::Subscribed(ticket, Json::from(filter)));
    }

    fn is_subscription(&self, ticket: Ticket) -> bool {
        self.calls.get(ticket.0).is_some_and(|open| open.call.method == method::LISTEN)
    }

    fn only_subscription(&self) -> Option<Ticket> {
        let mut subscriptions = self.tickets().filter(|ticket| self.is_subscription(*ticket));
        let only = subscriptions.next();
        only.filter(|_| subscriptions.next().is_none())
    }
}

/// The id of the subscription that a notification names.
fn named(params: &str) -> Option<Id> {
    let meta = scan::member(params, "_meta")?;
    scan::member(meta, SUBSCRIPTION).map(Id::from_json)
}
