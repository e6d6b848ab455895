//! A program that shares the session, as the keeper of a server sees it.

use std::cell::Cell;

use async_channel::Sender;

use crate::cli::errors::Error;
use crate::protocol::json::Json;
use crate::protocol::jsonrpc::{ErrorObject, Id, encode};
use crate::protocol::relay;
use crate::protocol::session::{Abilities, Fate};

/// How many lines may wait for a visitor that does not read before notifications are left out.
const PATIENCE: usize = 1_000;

/// A program that shares the session.
#[derive(Debug)]
pub(super) struct Visitor {
    /// Tells visitors apart.
    pub(super) number: u64,
    /// What the server may ask it for.
    pub(super) abilities: Abilities,
    /// The number of the connection to the server on which it has looked at the tools.
    pub(super) looked_on: Cell<Option<u32>>,
    /// What is on its way to it.
    pub(super) lines: Sender<String>,
}

impl Visitor {
    /// Tells it the answer to a request. Nothing happens when it has gone.
    pub(super) fn answer(&self, id: &Id, outcome: Result<&str, &ErrorObject>) {
        let _ = self.lines.try_send(encode::response(id, outcome));
    }

    /// Tells it that a request has no answer.
    pub(super) fn fail(&self, id: &Id, error: &Error, fate: Fate) {
        let _ = self.lines.try_send(relay::failed(id, &error.json(), fate));
    }

    /// Asks it a question.
    pub(super) fn ask(&self, number: u64, method: &str, params: Option<&Json>) {
        let params = params.map_or("{}", Json::as_str);
        let _ = self.lines.try_send(encode::request(number, false, method, params));
    }

    /// Ends the conversation with it, when it has been told everything.
    pub(super) fn hang_up(&self) {
        self.lines.close();
    }

    /// Tells it what the server says unasked, unless it does not listen.
    pub(super) fn notify(&self, method: &str, params: Option<&str>) {
        if self.lines.len() < PATIENCE {
            let _ = self.lines.try_send(encode::notification(method, params));
        }
    }
}
