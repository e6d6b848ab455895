//! What the session tells its caller.

use std::time::Duration;

use super::Ticket;
use crate::protocol::json::Json;
use crate::protocol::jsonrpc::{ErrorObject, Id, Malformed, Notification, Unusual};
use crate::protocol::message::{Ending, Fault, Refused};
use crate::protocol::revision::Revision;

/// Something for the caller.
#[derive(Debug)]
pub enum Event {
    /// The session is open: the era is known for certain.
    Opened(&'static Revision),
    /// The server answered a call.
    Answered(Ticket, Result<Json, ErrorObject>),
    /// The server asks something; reply with [`Session::answer`](super::Session::answer).
    Asked(Question),
    /// The server said something unasked.
    Notified(Notification),
    /// A call ended without an answer.
    Failed(Ticket, Failure),
    /// Something was not as it should be, but does not matter to any call.
    Oddity(Oddity),
    /// The connection is gone. All calls that were open have failed before this.
    Closed(Fault),
}

/// Something that is tolerated, and that `--strict` makes an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Oddity {
    /// A frame that is no message was skipped.
    Skipped(Malformed),
    /// A message in a form that is not right was read all the same.
    Unusual(Unusual),
    /// A response came back with the id in another JSON type.
    RetypedId(Id),
    /// A response that no request of ours waits for was ignored. It was never asked for
    /// (`known: false`), or it is late or comes twice (`known: true`).
    Stranger {
        /// The id it carries; `None` for `null`.
        id: Option<Id>,
        /// Whether a request of that number was sent once.
        known: bool,
    },
    /// A server of the modern era sent a request, which it must not; it gets no answer.
    RequestInModernEra(Box<str>),
    /// A message could not be delivered, and no request depends on it.
    Undelivered(String),
}

/// Why a call ended without an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// Time ran out; the server may or may not have acted.
    TimedOut(TimedOut),
    /// The server refused the request over HTTP and did not act.
    Refused(Box<Refused>),
    /// The response stream ended early; the server may or may not have acted.
    NoResponse {
        /// The request number.
        id: u64,
        /// How the stream ended.
        how: Ending,
    },
    /// The connection failed.
    Broken(Fault),
    /// The server answered this request with something that is no response.
    Malformed(Malformed),
    /// Client and server have no revision in common; the server's list, if it gave one.
    NoCommonRevision(Vec<String>),
    /// The server would not open a session.
    NotOpened(ErrorObject),
    /// The server asked for input again and again.
    TooManyRounds,
}

/// Which limit passed, and where the call stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimedOut {
    /// The limit.
    pub limit: Limit,
    /// Its length; zero for [`Limit::Total`], which the caller knows.
    pub after: Duration,
    /// Whether the request had been sent.
    pub sent: bool,
    /// Whether a stream of events had begun to arrive for it.
    pub streaming: bool,
}

/// A limit on time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// The time to open the session.
    Start,
    /// The time without a sign of life from the call.
    Idle,
    /// The time for everything.
    Total,
}

/// A question from the server.
#[derive(Debug, Clone)]
pub struct Question {
    /// Whom to answer.
    pub from: Asker,
    /// `elicitation/create`, `sampling/createMessage` or `roots/list`.
    pub method: Box<str>,
    /// Its parameters.
    pub params: Option<Json>,
}

/// Where the answer to a question goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asker {
    /// A request of the server's own (legacy era).
    Request(Id),
    /// The input of that name, which the call needs to go on (modern era).
    Call(Ticket, String),
    /// The input of that name, which a task needs to go on. The session does not see tasks: the
    /// caller answers by `tasks/update`.
    Task(String),
}
