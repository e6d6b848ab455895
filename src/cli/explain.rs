//! Why there is no answer: from what the lower floors saw to an error with an exit code.

use super::duration;
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::questions;
use crate::client::NoResult;
use crate::config::ConfigError;
use crate::protocol::Revision;
use crate::protocol::json;
use crate::protocol::jsonrpc::{ErrorObject, Malformed, Unusual};
use crate::protocol::message::{Ending, FaultKind, Refused, Sent};
use crate::protocol::model::task;
use crate::protocol::session::{Failure, Limit, Oddity, TimedOut};
use crate::trust::TrustError;

/// Where something went wrong.
#[derive(Debug)]
pub(super) struct Place<'a> {
    /// Whether the server is a process that we started.
    pub(super) stdio: bool,
    /// The server, as the command line names it.
    pub(super) server: &'a str,
    /// The limit on everything.
    pub(super) max_time: Option<duration::Limit>,
    /// Why a question of the server got no answer, if there is more to say than that nothing was
    /// given.
    pub(super) why_unanswered: Option<String>,
    /// The origin of the URL that was asked, if it has one that others could be found at.
    pub(super) origin: Option<String>,
}

/// The error for a request without a result.
pub(super) fn no_result(no_result: NoResult, place: &Place<'_>) -> Error {
    match no_result {
        NoResult::Error(error) => rpc(&error),
        NoResult::Failed(failure) => failed(failure, place),
        NoResult::Odd(oddity) => {
            let error = Error::new(Exit::Protocol, oddity_text(&oddity)).sent(Sent::Maybe);
            error.phase(Phase::Request).hint("it would be tolerated without --strict")
        }
        NoResult::Moved { attempts } => {
            let text = "the server was lost before the call, and is not known to be the same";
            let sent = if attempts == 0 { Sent::No } else { Sent::Maybe };
            let exit = if attempts == 0 { Exit::Unreachable } else { Exit::Lost };
            Error::new(exit, text).phase(Phase::Request).sent(sent)
        }
        NoResult::Asked(question) => questions::asked(&question, place.why_unanswered.as_deref()),
        NoResult::Interrupted { signal, sent } => interrupted(signal)
            .phase(Phase::Request)
            .sent(if sent { Sent::Maybe } else { Sent::No }),
    }
}

/// The error for a run that a signal has ended.
pub(super) fn interrupted(signal: i32) -> Error {
    Error::new(Exit::Signal(signal as u8), format!("interrupted by signal {signal}"))
}

/// The error for a run whose time is over.
pub(super) fn expired(max_time: Option<duration::Limit>) -> Error {
    let limit =
        max_time.and_then(duration::Limit::duration).map(duration::show).unwrap_or_default();
    let text = format!("not done within {limit}, the limit for everything");
    Error::new(Exit::Timeout, text).hint("see --max-time")
}

/// An error that the server answered with.
pub(super) fn rpc(error: &ErrorObject) -> Error {
    let explained = Error::from(error).phase(Phase::Request);
    let data = error.data.as_ref().map_or("", json::Json::as_str);
    match error.code {
        ErrorObject::MISSING_CAPABILITY if data.contains(task::EXTENSION) => {
            explained.hint("the server makes a task of this call; see --task")
        }
        ErrorObject::MISSING_CAPABILITY => questions::not_declared(error, explained),
        ErrorObject::URL_ELICITATION_REQUIRED => questions::urls_required(error, explained),
        _ => explained,
    }
}

fn failed(failure: Failure, place: &Place<'_>) -> Error {
    match failure {
        Failure::TimedOut(timed_out) => timeout(timed_out, place),
        Failure::Refused(refused) => self::refused(&refused, place),
        Failure::NoResponse { id, how } => no_response(id, &how, place),
        Failure::Broken(fault) => {
            let phase = match fault.kind {
                FaultKind::Unreachable if place.stdio => Phase::Start,
                FaultKind::Unreachable => Phase::Connect,
                FaultKind::Lost if fault.sent == Sent::No => Phase::Start,
                FaultKind::Lost | FaultKind::Protocol => Phase::Request,
            };
            let error = Error::from(fault).phase(phase);
            match error.exit {
                Exit::Lost => error.hint("the request went out, so it may have run"),
                _ => error,
            }
        }
        Failure::Malformed(malformed) => {
            let text =
                format!("the answer is no JSON-RPC response: {}", malformed_text(&malformed));
            Error::new(Exit::Protocol, text).phase(Phase::Request).sent(Sent::Yes)
        }
        Failure::Invalid(invalid) => {
            let text = format!("the server sent invalid JSON: {}", invalid.reason);
            Error::new(Exit::Protocol, text).phase(Phase::Request).sent(Sent::Yes)
        }
        Failure::NoCommonRevision(theirs) => {
            let ours: Vec<&str> = Revision::all().iter().map(|revision| revision.date).collect();
            let theirs = match theirs.is_empty() {
                true => "does not say which revisions it speaks".to_owned(),
                false => format!("speaks {}", theirs.join(", ")),
            };
            let ours = ours.join(", ");
            let text = format!(
                "no common protocol revision: the server {theirs}; this client speaks {ours}"
            );
            Error::new(Exit::Protocol, text).phase(Phase::Negotiate).sent(Sent::No)
        }
        Failure::NotOpened(error) => {
            let explained = Error::from(&error).phase(Phase::Negotiate).sent(Sent::No);
            explained.hint("the server refused to open a session")
        }
        Failure::Unanswered(question) => {
            questions::asked(&question, place.why_unanswered.as_deref())
        }
        Failure::Unsubscribed => {
            Error::new(Exit::Lost, "the server has ended the subscription").phase(Phase::Request)
        }
        Failure::Reopened => unreached("the server has forgotten the session"),
        Failure::Unwanted => {
            Error::new(Exit::Trust, "the server is not what was accepted").phase(Phase::Trust)
        }
        Failure::Reported { report, .. } => Error::from_json(report.as_str()),
        Failure::TooManyRounds => {
            let text = "the server asks for input again and again";
            Error::new(Exit::Protocol, text).phase(Phase::Request).sent(Sent::Yes)
        }
    }
}

/// The error for a request that the server did not carry out.
fn unreached(text: &str) -> Error {
    Error::new(Exit::Unreachable, text).phase(Phase::Request).sent(Sent::No)
}

fn timeout(timed_out: TimedOut, place: &Place<'_>) -> Error {
    let sent = if timed_out.sent { Sent::Maybe } else { Sent::No };
    let milliseconds = timed_out.after.as_millis();
    let (text, phase, hint) = match timed_out.limit {
        Limit::Start => (
            format!(
                "Connection to MCP server \"{}\" timed out after {milliseconds}ms",
                place.server
            ),
            if place.stdio { Phase::Start } else { Phase::Connect },
            "see --start-timeout",
        ),
        Limit::Idle if timed_out.streaming => (
            format!("SSE response timeout after {milliseconds}ms"),
            Phase::Request,
            "see --timeout",
        ),
        Limit::Idle => {
            (format!("Request timeout after {milliseconds}ms"), Phase::Request, "see --timeout")
        }
        Limit::Total => {
            let phase = if timed_out.sent { Phase::Request } else { Phase::Start };
            return expired(place.max_time).phase(phase).sent(sent);
        }
    };
    Error::new(Exit::Timeout, text).phase(phase).sent(sent).hint(hint)
}

fn refused(refused: &Refused, place: &Place<'_>) -> Error {
    let error = Error::from(refused).phase(Phase::Request);
    let hint = match refused.status {
        401 => "the server does not take the token that it was given",
        403 => "the token does not allow this",
        404 | 405 => return elsewhere(error, place),
        300..=399 => {
            "redirects are followed only by 307 or 308, and only within one origin; use the new address"
        }
        429 | 503 => "try again later",
        _ => return error,
    };
    error.hint(hint)
}

/// Says how to find the endpoint, where that may be another. Nobody but the user decides that it is:
/// what a script calls is what it has named.
fn elsewhere(error: Error, place: &Place<'_>) -> Error {
    match &place.origin {
        Some(origin) => error.hint(format!(
            "is this the address of an MCP endpoint? to look for one: mcpmini discover {origin}"
        )),
        None => error,
    }
}

fn no_response(id: u64, how: &Ending, place: &Place<'_>) -> Error {
    let text = format!("No response received for request ID {id}");
    let error = match how {
        Ending::Early(why) => {
            let why = if why.is_empty() { "the stream ended" } else { why };
            let error = Error::new(Exit::Lost, format!("{text}: {why}"));
            error.hint("the request went out, so it may have run")
        }
        Ending::NoAnswer(why) => {
            elsewhere(Error::new(Exit::Protocol, format!("{text}: {why}")), place)
        }
    };
    error.phase(Phase::Request).sent(Sent::Maybe)
}

/// What is odd about what a server sent, for people.
pub(super) fn oddity_text(oddity: &Oddity) -> String {
    match oddity {
        Oddity::Skipped(malformed) => format!("skipped {}", malformed_text(malformed)),
        Oddity::Unusual(Unusual::InvalidUtf8) => {
            "the server sent bytes that are not UTF-8; they were replaced".to_owned()
        }
        Oddity::Unusual(Unusual::SeveralOnALine) => {
            "the server sent several messages on one line".to_owned()
        }
        Oddity::Unusual(Unusual::Batch) => "the server sent a batch of messages".to_owned(),
        Oddity::Unusual(Unusual::NoVersion) => "the server left out \"jsonrpc\":\"2.0\"".to_owned(),
        Oddity::Unusual(Unusual::ResultAndError) => {
            "the server sent a result and an error; the error counts".to_owned()
        }
        Oddity::Unusual(Unusual::ContentType) => {
            "the server sent JSON with a content type that does not say so".to_owned()
        }
        Oddity::RetypedId(id) => {
            format!("id type: the server answered with the id {id}, which is of another type")
        }
        Oddity::Stranger { id, known } => {
            let id = id.as_ref().map_or("null", |id| id.as_json());
            let what = if *known { "that was answered before" } else { "that nobody sent" };
            format!("ignored an answer to the request {id}, {what}")
        }
        Oddity::RequestInModernEra(method) => {
            format!(
                "the server sent a request ({method}), which this revision does not allow; it gets no answer"
            )
        }
        Oddity::NoLogLevel(text) => {
            format!("the server would not be told which log messages are wanted: {text}")
        }
        Oddity::Undelivered(text) => format!("a message could not be delivered: {text}"),
    }
}

fn malformed_text(malformed: &Malformed) -> String {
    match malformed {
        Malformed::Json { excerpt } => format!("what is not JSON: {excerpt}"),
        Malformed::Shape { excerpt, .. } => format!("what is no JSON-RPC message: {excerpt}"),
        Malformed::TooDeep { limit, .. } => {
            format!("a message nested deeper than {limit} levels (see --max-depth)")
        }
    }
}

/// An error of the configuration.
pub(super) fn config(error: ConfigError) -> Error {
    let exit = if error.is_usage() { Exit::Usage } else { Exit::Config };
    Error::new(exit, error.to_string()).phase(Phase::Config).sent(Sent::No)
}

/// A server that must not be used.
pub(super) fn trust(error: TrustError) -> Error {
    Error::new(Exit::Trust, error.to_string()).phase(Phase::Trust).sent(Sent::No)
}

/// Why an approval cannot be given.
pub(super) fn approval(error: TrustError) -> Error {
    let exit = match error {
        TrustError::NoHash(_) => Exit::Usage,
        TrustError::Store(_) | TrustError::NoPlace => Exit::Config,
        _ => Exit::Trust,
    };
    Error { exit, ..trust(error) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::message::Fault;
    use crate::protocol::session::Fate;

    /// A script decides by the exit code what the client decides by the fate of a request: whether
    /// it may be sent again.
    #[test]
    fn exit_codes_and_fates_agree() {
        let place =
            Place { stdio: true, server: "s", max_time: None, why_unanswered: None, origin: None };
        let check = |failure: Failure| {
            let fate = failure.fate();
            let exit = no_result(NoResult::Failed(failure.clone()), &place).exit;
            let expected = match exit {
                Exit::Unreachable => Fate::NotRun,
                Exit::Lost => Fate::Unknown,
                _ => Fate::Settled,
            };
            assert_eq!(fate, expected, "{failure:?} is {exit:?}");
        };
        for kind in [FaultKind::Unreachable, FaultKind::Lost, FaultKind::Protocol] {
            for sent in [Sent::No, Sent::Maybe, Sent::Yes] {
                check(Failure::Broken(Fault { kind, text: String::new(), sent }));
            }
        }
        for status in [302, 400, 401, 403, 404, 405, 429, 500, 501, 502, 503, 504, 505] {
            check(Failure::Refused(Box::new(Refused { status, ..Refused::default() })));
        }
        check(Failure::NoResponse { id: 1, how: Ending::Early(String::new()) });
        check(Failure::NoResponse { id: 1, how: Ending::NoAnswer(String::new()) });
        check(Failure::NoCommonRevision(Vec::new()));
        check(Failure::NotOpened(ErrorObject::method_not_found()));
        check(Failure::TooManyRounds);
        let after = std::time::Duration::ZERO;
        for limit in [Limit::Start, Limit::Idle, Limit::Total] {
            let timed_out = TimedOut { limit, after, sent: true, streaming: false };
            check(Failure::TimedOut(timed_out));
        }
    }
}
