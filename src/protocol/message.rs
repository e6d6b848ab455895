//! What passes between the session and a transport.

use std::borrow::Cow;
use std::time::Duration;

use super::json::Json;
use super::jsonrpc::decode::Decoded;
use super::jsonrpc::{Malformed, Message, Request, Unusual};
use super::revision::Revision;
use super::session::{About, Fate};

/// Something for a transport to carry out.
#[derive(Debug)]
pub enum Outgoing {
    /// Deliver a message.
    Deliver(Delivery),
    /// Give up a request. Each binding has its own way to say so: a notice, or a hang-up.
    Cancel {
        /// The request number.
        id: u64,
        /// A `notifications/cancelled` message, for bindings that send one. It is none for
        /// requests that must not be cancelled (`initialize`).
        notice: Option<Delivery>,
    },
    /// Open the stream on which a legacy server sends what no request asked for (GET).
    Listen(&'static Revision),
}

/// A message to deliver.
#[derive(Debug)]
pub struct Delivery {
    /// The request number; `None` for notifications and for responses.
    pub id: Option<u64>,
    /// What a binding may copy into its envelope.
    pub head: Head,
    /// The message: one line of JSON without its line end.
    pub body: String,
}

/// The parts of a message that a binding may mirror, for example into HTTP headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The revision the message is written in.
    pub revision: &'static Revision,
    /// The method; empty for responses.
    pub method: Cow<'static, str>,
    /// The tool, prompt or resource the message is about (2026-07-28, Standard Request Headers).
    pub name: Option<String>,
    /// Tool arguments to mirror: the part after `Mcp-Param-`, and the value, not yet encoded.
    pub mirrored: Vec<(String, String)>,
}

/// Something that a transport reports.
#[derive(Debug)]
pub enum Incoming {
    /// A message arrived.
    Message(Message),
    /// The server asks something on the stream that is to carry the response to a request, and so for
    /// its sake (2025-11-25, Sending Messages to the Server).
    Asked {
        /// The request of ours.
        during: u64,
        /// The request of the server.
        request: Request,
    },
    /// A message arrived in a form that is tolerated but not right; it follows.
    Unusual(Unusual),
    /// The peer would not take a request, and so did not act on it. In a place of its own, as it is
    /// rare and large: reports are moved often.
    Refused(Box<Refused>),
    /// The response to a request has begun to arrive as a stream of events.
    Responding(u64),
    /// The stream that was to carry the response has ended without it.
    Ended {
        /// The request.
        id: u64,
        /// How it ended.
        how: Ending,
    },
    /// One exchange failed below the protocol, while the connection as such goes on.
    Broken {
        /// The request; `None` when a notification or a response could not be delivered.
        id: Option<u64>,
        /// What happened.
        fault: Fault,
    },
    /// How it stands with the stream asked for by [`Outgoing::Listen`].
    Listening(Listening),
    /// Whoever carries our requests has a session open with the server: we share it.
    Joined(About),
    /// Whoever carries our requests has no answer for one, and says why in words of its own.
    Reported {
        /// The request; `None` when the session cannot be shared.
        id: Option<u64>,
        /// The report.
        report: Json,
        /// How far the request came.
        fate: Fate,
    },
    /// A frame that is no message was skipped.
    Skipped(Malformed),
    /// The connection is gone.
    Closed(Fault),
}

/// How it stands with the stream of what no request asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listening {
    /// It is open, or may be taken to be.
    Open,
    /// It broke off and will be opened again.
    Broken {
        /// When that will be.
        again_in: Duration,
    },
    /// The server refuses it.
    Refused {
        /// The HTTP status.
        status: u16,
    },
    /// It broke off again and again, and will not be opened any more.
    Lost,
}

/// How the stream that was to carry a response ended without it. The texts are for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// It ended too soon; the text says more, or is empty.
    Early(String),
    /// Something came, but it is no answer.
    NoAnswer(String),
}

/// Why a request was not taken.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The request; `None` when it was a notification or a response.
    pub id: Option<u64>,
    /// The HTTP status.
    pub status: u16,
    /// The body as text, at most 2 KiB of it, or the reason phrase.
    pub text: String,
    /// The `WWW-Authenticate` fields.
    pub challenges: Vec<String>,
    /// The `Mcp-Auth-Server` field. In no revision; servers of one family send it, so it is shown.
    pub auth_server: Option<String>,
    /// Where a redirect that must not be followed points to.
    pub location: Option<String>,
    /// How long the server asks us to wait, in seconds.
    pub retry_after: Option<u64>,
    /// Whether the request carried a session id, so that 404 means the session is gone.
    pub in_session: bool,
    /// The message in the body, if it was one.
    pub message: Option<Box<Message>>,
}

/// What went wrong below the protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The kind, for programs.
    pub kind: FaultKind,
    /// What happened, for people: `connection refused (127.0.0.1:80)`.
    pub text: String,
    /// Whether the request may have reached the server.
    pub sent: Sent,
    /// What to do about it, for people.
    pub hint: Option<&'static str>,
    /// Whether it stays so until somebody mends it, as a program that is not there does.
    pub lasts: bool,
}

impl Fault {
    /// A fault that speaks for itself.
    #[cold]
    pub fn new(kind: FaultKind, text: impl Into<String>, sent: Sent) -> Fault {
        Fault { kind, text: text.into(), sent, hint: None, lasts: false }
    }

    /// Tells what to do about it.
    #[must_use]
    pub fn hint(self, hint: &'static str) -> Fault {
        Fault { hint: Some(hint), ..self }
    }

    /// Tells that another attempt would fail in the same way.
    #[must_use]
    pub fn lasting(self) -> Fault {
        Fault { lasts: true, ..self }
    }
}

/// The kind of a [`Fault`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// The server could not be started or reached.
    Unreachable,
    /// The connection was lost after it stood.
    Lost,
    /// The peer broke the framing or the binding (too long a message, a foreign endpoint, …).
    Protocol,
}

/// Whether a request may have reached the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// It did not.
    No,
    /// Nobody can tell.
    Maybe,
    /// It did.
    Yes,
}

impl From<Decoded> for Incoming {
    fn from(decoded: Decoded) -> Incoming {
        match decoded {
            Decoded::Message(message) => Incoming::Message(message),
            Decoded::Unusual(unusual) => Incoming::Unusual(unusual),
            Decoded::Malformed(malformed) => Incoming::Skipped(malformed),
        }
    }
}
