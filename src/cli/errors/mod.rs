//! Errors as they leave the program: what happened, where, whether it may have run, what to do.
//!
//! The lower floors report small values; here they become an exit code and a text. People get
//! lines that begin with `mcpmini:`, programs one line of JSON (see [`Error::json_line`]).

mod causes;
mod render;
mod report;
pub mod warnings;

pub use warnings::Warnings;

use crate::protocol::json;
use crate::protocol::mask;
use crate::protocol::message::Sent;

use super::exit::Exit;

/// An error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// The class.
    pub exit: Exit,
    /// What happened, for people: lower case, no full stop. It may come from the server.
    pub message: String,
    /// The server, as the command line names it.
    pub server: Option<String>,
    /// When it happened.
    pub phase: Option<Phase>,
    /// Whether the request may have reached the server.
    pub sent: Option<Sent>,
    /// Whether it makes sense to try the same again.
    pub retryable: bool,
    /// The code of a JSON-RPC error.
    pub code: Option<i64>,
    /// The status of an HTTP response.
    pub status: Option<u16>,
    /// The data of a JSON-RPC error: one JSON value, as it came.
    pub data: Option<String>,
    /// How the server differs from what was accepted, for programs: one JSON value. People read it
    /// in the message.
    pub trust: Option<String>,
    /// What the server printed last on its standard error.
    pub stderr_tail: Option<String>,
    /// What to do about it, for people.
    pub hint: Option<String>,
}

/// What was going on when an error happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Reading the command line.
    Usage,
    /// Reading the configuration.
    Config,
    /// Deciding whether to trust the server.
    Trust,
    /// Starting the server.
    Start,
    /// Connecting to it.
    Connect,
    /// Agreeing on TLS with it.
    Tls,
    /// Getting a token for it.
    Authorize,
    /// Agreeing on a revision with it.
    Negotiate,
    /// Waiting for the answer to a request.
    Request,
    /// Writing the answer.
    Output,
}

impl Phase {
    /// Whether no request can have gone out yet. During the others one may have.
    fn is_before_request(self) -> bool {
        matches!(self, Phase::Usage | Phase::Config | Phase::Trust | Phase::Start | Phase::Connect)
    }

    /// Its name in error lines.
    pub fn word(self) -> &'static str {
        match self {
            Phase::Usage => "usage",
            Phase::Config => "config",
            Phase::Trust => "trust",
            Phase::Start => "start",
            Phase::Connect => "connect",
            Phase::Tls => "tls",
            Phase::Authorize => "authorize",
            Phase::Negotiate => "negotiate",
            Phase::Request => "request",
            Phase::Output => "output",
        }
    }
}

impl Error {
    /// An error of that class. It is retryable when its class is, and a mistake of the command line
    /// was not sent.
    #[cold] // so that what leads here is laid apart from what a call goes through
    pub fn new(exit: Exit, message: impl Into<String>) -> Error {
        Error {
            exit,
            message: message.into(),
            server: None,
            phase: None,
            sent: (exit == Exit::Usage).then_some(Sent::No),
            retryable: exit.is_retryable(),
            code: None,
            status: None,
            data: None,
            trust: None,
            stderr_tail: None,
            hint: None,
        }
    }

    /// A mistake in the command line.
    pub fn usage(message: impl Into<String>) -> Error {
        Error::new(Exit::Usage, message).phase(Phase::Usage)
    }

    /// Names the server. What of it is likely a secret is not kept: errors end up in logs.
    #[must_use]
    pub fn server(mut self, name: impl AsRef<str>) -> Error {
        self.server = Some(mask::server(name.as_ref()).into_owned());
        self
    }

    /// Tells when it happened, unless that is known already: who saw it first knows best. Before the
    /// request nothing can have been sent.
    #[must_use]
    pub fn phase(mut self, phase: Phase) -> Error {
        let is_settled = *self.phase.get_or_insert(phase) != phase || self.sent.is_some();
        if is_settled || !phase.is_before_request() { self } else { self.sent(Sent::No) }
    }

    /// Tells whether the request may have reached the server. If it was only late for that, it may be
    /// tried again.
    #[must_use]
    pub fn sent(mut self, sent: Sent) -> Error {
        self.sent = Some(sent);
        if self.exit == Exit::Timeout {
            self.retryable = sent == Sent::No;
        }
        self
    }

    /// Tells whether it makes sense to try the same again.
    #[must_use]
    pub fn retryable(mut self, retryable: bool) -> Error {
        self.retryable = retryable;
        self
    }

    /// Adds the code of a JSON-RPC error.
    #[must_use]
    pub fn code(mut self, code: i64) -> Error {
        self.code = Some(code);
        self
    }

    /// Adds the status of an HTTP response.
    #[must_use]
    pub fn status(mut self, status: u16) -> Error {
        self.status = Some(status);
        self
    }

    /// Adds the data of a JSON-RPC error. What is no JSON value becomes a string.
    #[must_use]
    pub fn data(mut self, json: impl Into<String>) -> Error {
        let json = json.into();
        self.data = Some(match json::validate(&json) {
            Ok(()) => json,
            Err(_) => json::string(&json),
        });
        self
    }

    /// Tells programs how the server differs from what was accepted; `json` is one JSON value.
    #[must_use]
    pub fn trust(mut self, json: impl Into<String>) -> Error {
        self.trust = Some(json.into());
        self
    }

    /// Adds what the server printed last on its standard error; nothing is no addition.
    #[must_use]
    pub fn stderr_tail(mut self, text: impl Into<String>) -> Error {
        self.stderr_tail = Some(text.into()).filter(|text| !text.trim().is_empty());
        self
    }

    /// Tells what to do about it.
    #[must_use]
    pub fn hint(mut self, text: impl Into<String>) -> Error {
        self.hint = Some(text.into());
        self
    }

    /// The same where it is known.
    #[must_use]
    pub fn hint_if_any(self, text: Option<impl Into<String>>) -> Error {
        match text {
            Some(text) => self.hint(text),
            None => self,
        }
    }
}
