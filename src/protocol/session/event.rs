//! What the session tells its caller.

use std::borrow::Cow;
use std::time::Duration;

use super::{Challenged, Ticket};
use crate::json::{Invalid, Json};
use crate::jsonrpc::{ErrorObject, Id, Malformed, Notification, Unusual, scan};
use crate::message::{Ending, Fault, FaultKind, Listening, Refused, Sent};
use crate::revision::Revision;

/// Something for the caller.
#[derive(Debug)]
pub enum Event {
    /// The session is open: the era is known for certain.
    Opened(&'static Revision),
    /// The server answered a call.
    Answered(Ticket, Result<Json, ErrorObject>),
    /// The server asks something; reply with [`Session::answer`](super::Session::answer).
    Asked(Question),
    /// The server no longer wants the answer to a question that it asked.
    Withdrawn(Asker),
    /// The server said something unasked.
    Notified(Notification),
    /// The server has taken up a subscription (`subscriptions/listen`), and will notify about what
    /// this filter says, JSON text.
    Subscribed(Ticket, Json),
    /// How it stands with the stream of what no request asked for.
    Listening(Listening),
    /// A call ended without an answer.
    Failed(Ticket, Failure),
    /// The server refuses something for want of credentials; reply with
    /// [`Session::retry`](super::Session::retry) or [`Session::forgo`](super::Session::forgo).
    Challenged(Box<Challenged>),
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
    RequestInModernEra(Cow<'static, str>),
    /// A message could not be delivered, and no request depends on it.
    Undelivered(String),
    /// The server would not be told which log messages are wanted, and said this.
    NoLogLevel(String),
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
    /// The server answered with a result that is not JSON.
    Invalid(Invalid),
    /// Client and server have no revision in common; the server's list, if it gave one.
    NoCommonRevision(Vec<String>),
    /// The server would not open a session.
    NotOpened(ErrorObject),
    /// Opening the session came to this, so that the call was never sent.
    Unopened(Box<Failure>),
    /// The server asked for input again and again.
    TooManyRounds,
    /// The server needs this answered to go on, and there is no answer.
    Unanswered(Box<Question>),
    /// The server has ended a subscription.
    Unsubscribed,
    /// The server has forgotten the session that the call is bound to, and there is another now.
    Reopened,
    /// The caller does not want this server, now that it knows what it is.
    Unwanted,
    /// Whoever carries our requests has no answer, and says why in words of its own.
    Reported {
        /// The words, JSON.
        report: Json,
        /// How far the request came.
        fate: Fate,
    },
}

/// How far a request came that has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// The server certainly did not act on it.
    NotRun,
    /// The server may or may not have acted on it.
    Unknown,
    /// It came to an end that another attempt would not change.
    Settled,
}

impl Failure {
    /// How far the request came.
    pub fn fate(&self) -> Fate {
        match self {
            Failure::Broken(fault) => match (fault.kind, fault.sent) {
                (FaultKind::Protocol, _) => Fate::Settled,
                (FaultKind::Unreachable, _) | (FaultKind::Lost, Sent::No) => Fate::NotRun,
                (FaultKind::Lost, Sent::Maybe | Sent::Yes) => Fate::Unknown,
            },
            Failure::Refused(refused) => match refused.status {
                429 | 502..=504 => Fate::NotRun,
                500.. => Fate::Unknown,
                _ => Fate::Settled,
            },
            Failure::NoResponse { how: Ending::Early(_), .. } => Fate::Unknown,
            Failure::Reported { fate, .. } => *fate,
            // Whatever became of the greeting, the call did not follow.
            Failure::Unopened(why) => match why.fate() {
                Fate::Unknown => Fate::NotRun,
                fate => fate,
            },
            Failure::Reopened => Fate::NotRun,
            // Time that ran out is not to be had twice.
            Failure::NoResponse { how: Ending::NoAnswer(_), .. }
            | Failure::TimedOut(_)
            | Failure::Malformed(_)
            | Failure::Invalid(_)
            | Failure::NoCommonRevision(_)
            | Failure::NotOpened(_)
            | Failure::TooManyRounds
            | Failure::Unanswered(_)
            | Failure::Unsubscribed
            | Failure::Unwanted => Fate::Settled,
        }
    }

    /// Whether another attempt would fail in the same way, until somebody mends what is wrong.
    pub fn lasts(&self) -> bool {
        matches!(self.cause(), Failure::Broken(fault) if fault.lasts)
    }

    /// The failure as it is for a call that was never handed to the transport.
    pub fn unsent(self) -> Failure {
        match self {
            Failure::Broken(fault) => Failure::Broken(Fault { sent: Sent::No, ..fault }),
            Failure::TimedOut(timed_out) => {
                Failure::TimedOut(TimedOut { sent: false, ..timed_out })
            }
            Failure::Refused(_)
            | Failure::NoResponse { .. }
            | Failure::Malformed(_)
            | Failure::Invalid(_) => Failure::Unopened(Box::new(self)),
            other => other,
        }
    }

    /// What the failure comes from: itself, or what opening the session came to.
    pub fn cause(&self) -> &Failure {
        match self {
            Failure::Unopened(why) => why,
            other => other,
        }
    }
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Whom to answer.
    pub from: Asker,
    /// `elicitation/create`, `sampling/createMessage` or `roots/list`.
    pub method: Cow<'static, str>,
    /// Its parameters.
    pub params: Option<Json>,
    /// The call that it is about; `None` when nothing tells. On one stream for all calls a legacy
    /// server has no way to say it.
    pub during: Option<Ticket>,
}

impl Question {
    /// The mode of an elicitation: `form`, unless it says otherwise.
    pub fn mode(&self) -> Cow<'_, str> {
        let params = self.params.as_ref().map_or("{}", Json::as_str);
        scan::member(params, "mode").and_then(scan::unescape).unwrap_or(Cow::Borrowed("form"))
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_has_its_fate() {
        let check = |failure: Failure, fate| assert_eq!(failure.fate(), fate, "{failure:?}");
        let broken = |kind, sent| Failure::Broken(Fault::new(kind, "", sent));
        check(broken(FaultKind::Unreachable, Sent::No), Fate::NotRun);
        check(broken(FaultKind::Lost, Sent::No), Fate::NotRun);
        check(broken(FaultKind::Lost, Sent::Maybe), Fate::Unknown);
        check(broken(FaultKind::Lost, Sent::Yes), Fate::Unknown);
        check(broken(FaultKind::Lost, Sent::Maybe).unsent(), Fate::NotRun);
        check(broken(FaultKind::Protocol, Sent::Maybe), Fate::Settled);
        let refused = |status| Failure::Refused(Box::new(Refused { status, ..Refused::default() }));
        check(refused(401), Fate::Settled);
        check(refused(404), Fate::Settled);
        check(refused(429), Fate::NotRun);
        check(refused(500), Fate::Unknown);
        check(refused(501), Fate::Unknown);
        check(refused(503), Fate::NotRun);
        let ended = |how| Failure::NoResponse { id: 1, how };
        check(ended(Ending::Early(String::new())), Fate::Unknown);
        check(ended(Ending::NoAnswer(String::new())), Fate::Settled);
        let (limit, after) = (Limit::Idle, Duration::ZERO);
        let timed_out = TimedOut { limit, after, sent: true, streaming: false };
        check(Failure::TimedOut(timed_out), Fate::Settled);
        check(Failure::TimedOut(timed_out).unsent(), Fate::Settled);
        check(Failure::Reported { report: "{}".into(), fate: Fate::NotRun }, Fate::NotRun);
    }
}
