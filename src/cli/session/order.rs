//! What visitors want of a keeper.

use std::rc::Rc;

use async_channel::Sender;

use super::visitor::Visitor;
use crate::cli::errors::Error;
use crate::protocol::jsonrpc::{ErrorObject, Id};
use crate::protocol::params::Params;

/// What a keeper is to do.
#[derive(Debug)]
pub(super) enum Order {
    /// Open the server and say how that went.
    Open(Sender<Result<(), Error>>),
    /// Open the server for a visitor.
    Join(Rc<Visitor>),
    /// Make a request.
    Request(Request),
    /// Give up a request.
    Cancel {
        /// Whose.
        visitor: u64,
        /// Its id.
        id: Id,
        /// Why.
        reason: String,
    },
    /// Answer a question.
    Answer {
        /// Who answers.
        visitor: u64,
        /// Its id.
        question: Id,
        /// The answer.
        outcome: Result<String, ErrorObject>,
    },
    /// A visitor has gone.
    Leave(u64),
}

/// A request of a visitor.
#[derive(Debug)]
pub(super) struct Request {
    /// Whose.
    pub(super) visitor: Rc<Visitor>,
    /// Its id, as the visitor knows it.
    pub(super) id: Id,
    /// The method.
    pub(super) method: Box<str>,
    /// The parameters.
    pub(super) params: Params,
    /// Arguments that are mirrored into headers.
    pub(super) mirrored: Vec<(String, String)>,
}
