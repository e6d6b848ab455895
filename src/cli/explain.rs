//! Why there is no answer: from what the lower floors saw to an error with an exit code.

use super::duration;
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::questions;
use crate::client::NoResult;
use crate::config::{ConfigError, WordError};
use crate::protocol::Revision;
use crate::protocol::json;
use crate::protocol::jsonrpc::{ErrorObject, Malformed, Unusual};
use crate::protocol::message::{Ending, Fault, FaultKind, Refused, Sent};
use crate::protocol::model::task;
use crate::protocol::session::{Failure, Limit, Oddity, TimedOut};
use crate::trust::TrustError;

/// Where something went wrong.
#[derive(Debug)]
pub(super) struct Place<'a> {
    /// Whether the server is a process that we started.
    pub(super) stdio: bool,
    /// Whether the session was open.
    pub(super) is_open: bool,
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
        Failure::Broken(fault) => broken(fault, place),
        Failure::Unopened(why) => unopened(failed(*why, place)),
        Failure::Malformed(malformed) => {
            let text =
                format!("the answer is no JSON-RPC response: {}", malformed_text(&malformed));
            let error = Error::new(Exit::Protocol, text).phase(Phase::Request).sent(Sent::Yes);
            error.hint(TRACE)
        }
        Failure::Invalid(invalid) => {
            let text = format!("the server sent invalid JSON: {}", invalid.reason);
            let error = Error::new(Exit::Protocol, text).phase(Phase::Request).sent(Sent::Yes);
            error.hint(TRACE)
        }
        Failure::NoCommonRevision(theirs) => no_common_revision(&theirs),
        Failure::NotOpened(error) => {
            unopened(Error::from(&error)).hint("another revision may do; see --protocol")
        }
        Failure::Unanswered(question) => {
            questions::asked(&question, place.why_unanswered.as_deref())
        }
        Failure::Unsubscribed => Error::new(Exit::Lost, "the server has ended the subscription")
            .phase(Phase::Request)
            .hint("what has changed since is not known; watch it again"),
        Failure::Reopened => Error::new(Exit::Unreachable, "the server has forgotten the session")
            .phase(Phase::Request)
            .sent(Sent::No)
            .hint("it was not run: try again"),
        Failure::Unwanted => {
            Error::new(Exit::Trust, "the server is not what was accepted").phase(Phase::Trust)
        }
        Failure::Reported { report, .. } => Error::from_json(report.as_str()),
        Failure::TooManyRounds => {
            let text = "the server asks for input again and again";
            let error = Error::new(Exit::Protocol, text).phase(Phase::Request).sent(Sent::Yes);
            error.hint("it may not take the answers that it is given; -v shows what it asks")
        }
    }
}

/// What to do about an answer that makes no sense.
const TRACE: &str = "--trace FILE keeps what was sent and what came";

/// What to do about a request that was not answered in time.
pub(super) const SLOW: &str = "it may have run; --timeout gives it more time";

/// What is known about a request that went out.
const MAY_HAVE_RUN: &str = "the request went out, so it may have run";

/// The connection failed.
fn broken(fault: Fault, place: &Place<'_>) -> Error {
    let is_lost = fault.kind == FaultKind::Lost;
    let (phase, when, hint) = match (fault.kind, fault.sent) {
        (FaultKind::Unreachable, _) if place.stdio => (Phase::Start, "", None),
        (FaultKind::Unreachable, _) => (Phase::Connect, "", None),
        (_, Sent::No) if !place.is_open => {
            let hint = match place.stdio {
                true => "does it run by itself, wait for input, and write MCP to standard output?",
                false => "is an MCP server there? it may be about to start or to end",
            };
            (Phase::Negotiate, "before the session was open", Some(hint))
        }
        (_, Sent::No) => (Phase::Request, "before the request was sent", Some("try again")),
        (_, Sent::Maybe | Sent::Yes) => {
            (Phase::Request, "before the answer came", Some(MAY_HAVE_RUN))
        }
    };
    let mut error = Error::from(fault).phase(phase);
    if is_lost {
        error.message = format!("{}, {when}", error.message);
    }
    match (&error.hint, hint) {
        (None, Some(hint)) if is_lost => error.hint(hint),
        (None, _) if error.exit == Exit::Protocol => error.hint(TRACE),
        _ => error,
    }
}

/// What kept a session from being opened: the call was never sent.
fn unopened(why: Error) -> Error {
    let (exit, retryable) = match why.exit {
        Exit::Lost => (Exit::Unreachable, true),
        exit => (exit, why.retryable),
    };
    // Who is refused for want of a token is told by that what to do.
    let message = match exit {
        Exit::Auth => why.message,
        _ => format!("the session could not be opened: {}", why.message),
    };
    let hint = match why.hint.as_deref() {
        None | Some(MAY_HAVE_RUN) => Some("try again later".to_owned()),
        Some(_) => why.hint,
    };
    let error = Error { exit, message, phase: Some(Phase::Negotiate), hint, ..why };
    error.sent(Sent::No).retryable(retryable)
}

fn no_common_revision(theirs: &[String]) -> Error {
    let ours: Vec<&str> = Revision::all().iter().map(|revision| revision.date).collect();
    let theirs = match theirs {
        [] => "does not say which revisions it speaks".to_owned(),
        theirs => format!("speaks {}", theirs.join(", ")),
    };
    let ours = ours.join(", ");
    let text =
        format!("no common protocol revision: the server {theirs}; this client speaks {ours}");
    let error = Error::new(Exit::Protocol, text).phase(Phase::Negotiate).sent(Sent::No);
    error.hint("leave out --protocol, or update whichever is older")
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
            match place.stdio {
                true => {
                    "the call was not sent. The server runs, and has not answered: is it an MCP \
                     server? --start-timeout gives it more time"
                }
                false => "the call was not sent; --start-timeout gives it more time",
            },
        ),
        Limit::Idle => {
            let what = if timed_out.streaming { "SSE response" } else { "Request" };
            let hint = match timed_out.sent {
                true => SLOW,
                false => "it was not sent; --timeout gives it more time",
            };
            (format!("{what} timeout after {milliseconds}ms"), Phase::Request, hint)
        }
        Limit::Total => {
            let phase = if timed_out.sent { Phase::Request } else { Phase::Start };
            let hint = match timed_out.sent {
                true => "it may have run; --max-time gives it more time",
                false => "nothing was run; --max-time gives it more time",
            };
            return expired(place.max_time).phase(phase).sent(sent).hint(hint);
        }
    };
    Error::new(Exit::Timeout, text).phase(phase).sent(sent).hint(hint)
}

fn refused(refused: &Refused, place: &Place<'_>) -> Error {
    let error = Error::from(refused).phase(Phase::Request);
    let hint = match refused.status {
        401 => "the server does not take the token that it was given",
        403 => "the token does not allow this",
        404 if refused.in_session => {
            "the server has forgotten one session after the other; are there several of it that do \
             not know of each other's?"
        }
        404 | 405 => return elsewhere(error, place),
        300..=399 => {
            "redirects are followed only by 307 or 308, and only within one origin; use the new address"
        }
        429 | 503 => "try again later",
        502 | 504 => "what is in front of the server does not reach it; try again later",
        500.. => MAY_HAVE_RUN,
        _ => TRACE,
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
        None => error.hint("is this the address of an MCP endpoint?"),
    }
}

fn no_response(id: u64, how: &Ending, place: &Place<'_>) -> Error {
    let text = format!("No response received for request ID {id}");
    let error = match how {
        Ending::Early(why) => {
            let why = if why.is_empty() { "the stream ended" } else { why };
            Error::new(Exit::Lost, format!("{text}: {why}")).hint(MAY_HAVE_RUN)
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
    let explained = Error::new(exit, error.to_string()).phase(Phase::Config).sent(Sent::No);
    match error {
        ConfigError::Unknown { suggestion: None, .. } => explained.hint(
            "a word is a name, unless it is a URL or has a / or a blank: write https://…, or a command as \
             exec:'COMMAND ARG…'",
        ),
        ConfigError::Word(WordError::Kind(_)) => {
            explained.hint("a URL begins with https://, or with http:// on this machine")
        }
        ConfigError::Disabled { .. } => explained.hint("take \"disabled\" out of its definition"),
        ConfigError::Malformed { .. } | ConfigError::Invalid { .. } => {
            explained.hint("`mcpmini config check` names every mistake with its line and column")
        }
        _ => explained,
    }
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
    use crate::protocol::session::Fate;

    fn place(stdio: bool, is_open: bool) -> Place<'static> {
        let origin = (!stdio).then(|| "https://h".to_owned());
        Place { stdio, is_open, server: "s", max_time: None, why_unanswered: None, origin }
    }

    /// What failed, at which stage, and what to do about it.
    #[track_caller]
    fn check(failure: Failure, place: &Place<'_>, exit: Exit, phase: &str, text: &str, hint: &str) {
        let error = no_result(NoResult::Failed(failure), place);
        let phase_told = error.phase.map(Phase::word);
        assert_eq!((error.exit, phase_told, error.message.as_str()), (exit, Some(phase), text));
        assert!(error.hint.as_deref().is_some_and(|told| told.contains(hint)), "{:?}", error.hint);
    }

    #[test]
    fn a_lost_connection_tells_its_stage_and_what_to_do() {
        let closed = |sent| {
            Failure::Broken(Fault::new(FaultKind::Lost, "Transport closed (exit status 3)", sent))
        };
        let (process, remote) = (place(true, false), place(false, false));
        let text = "Transport closed (exit status 3), before the session was open";
        check(closed(Sent::No), &process, Exit::Unreachable, "negotiate", text, "by itself");
        check(closed(Sent::No), &remote, Exit::Unreachable, "negotiate", text, "an MCP server");
        let text = "Transport closed (exit status 3), before the request was sent";
        check(closed(Sent::No), &place(true, true), Exit::Unreachable, "request", text, "again");
        let text = "Transport closed (exit status 3), before the answer came";
        check(closed(Sent::Maybe), &process, Exit::Lost, "request", text, "may have run");

        let unreachable =
            || Failure::Broken(Fault::new(FaultKind::Unreachable, "x", Sent::No).hint("do that"));
        check(unreachable(), &process, Exit::Unreachable, "start", "x", "do that");
        check(unreachable(), &remote, Exit::Unreachable, "connect", "x", "do that");
        let garbage = Failure::Broken(Fault::new(FaultKind::Protocol, "x", Sent::Maybe));
        check(garbage, &remote, Exit::Protocol, "request", "x", "--trace");
    }

    #[test]
    fn a_refusal_tells_its_stage_and_what_to_do() {
        let remote = place(false, false);
        let refused = |status| {
            Failure::Refused(Box::new(Refused { status, text: "x".into(), ..Refused::default() }))
        };
        for (status, exit, hint) in [
            (302, Exit::Rpc, "redirects"),
            (400, Exit::Rpc, "--trace"),
            (401, Exit::Auth, "token"),
            (403, Exit::Auth, "token"),
            (404, Exit::Rpc, "mcpmini discover https://h"),
            (405, Exit::Rpc, "mcpmini discover https://h"),
            (413, Exit::Rpc, "--trace"),
            (429, Exit::Unreachable, "later"),
            (500, Exit::Lost, "may have run"),
            (502, Exit::Unreachable, "in front of the server"),
            (503, Exit::Unreachable, "later"),
            (504, Exit::Unreachable, "in front of the server"),
        ] {
            let text = format!("HTTP {status}: x");
            check(refused(status), &remote, exit, "request", &text, hint);
        }
        // The greeting was refused: whatever the status says, the call was never sent.
        let text = "the session could not be opened: HTTP 500: x";
        check(refused(500).unsent(), &remote, Exit::Unreachable, "negotiate", text, "later");
        let text = "the session could not be opened: HTTP 404: x";
        check(
            refused(404).unsent(),
            &remote,
            Exit::Rpc,
            "negotiate",
            text,
            "mcpmini discover https://h",
        );
        check(refused(401).unsent(), &remote, Exit::Auth, "negotiate", "HTTP 401: x", "token");
    }

    #[test]
    fn what_has_no_answer_tells_its_stage_and_what_to_do() {
        let (process, remote) = (place(true, false), place(false, false));
        let no_response = |how| Failure::NoResponse { id: 2, how };
        let early = || no_response(Ending::Early(String::new()));
        let text = "No response received for request ID 2: the stream ended";
        check(early(), &remote, Exit::Lost, "request", text, "may have run");
        let text = format!("the session could not be opened: {text}");
        check(early().unsent(), &remote, Exit::Unreachable, "negotiate", &text, "later");
        let text = "No response received for request ID 2: x";
        let html = no_response(Ending::NoAnswer("x".into()));
        check(html, &remote, Exit::Protocol, "request", text, "mcpmini discover https://h");

        let after = std::time::Duration::from_millis(300);
        let late =
            |limit, sent| Failure::TimedOut(TimedOut { limit, after, sent, streaming: false });
        let text = "Connection to MCP server \"s\" timed out after 300ms";
        let start = late(Limit::Start, false);
        check(start.clone(), &process, Exit::Timeout, "start", text, "is it an MCP server?");
        check(start, &remote, Exit::Timeout, "connect", text, "--start-timeout");
        for limit in [Limit::Start, Limit::Idle, Limit::Total] {
            for sent in [true, false] {
                let error = no_result(NoResult::Failed(late(limit, sent)), &remote);
                let may_have_run = error.sent != Some(Sent::No);
                assert_eq!((may_have_run, error.retryable), (sent, !sent), "{error:?}");
            }
        }
        let idle = late(Limit::Idle, true);
        check(
            idle,
            &remote,
            Exit::Timeout,
            "request",
            "Request timeout after 300ms",
            "may have run",
        );
        let text = "the server has ended the subscription";
        check(Failure::Unsubscribed, &remote, Exit::Lost, "request", text, "again");
        let text = "the server asks for input again and again";
        check(Failure::TooManyRounds, &remote, Exit::Protocol, "request", text, "-v");
        let refusal = Failure::NotOpened(ErrorObject::method_not_found());
        let text = "the session could not be opened: MCP error -32601: Method not found";
        check(refusal, &remote, Exit::Rpc, "negotiate", text, "--protocol");
    }

    /// A script decides by the exit code what the client decides by the fate of a request: whether
    /// it may be sent again.
    #[test]
    fn exit_codes_and_fates_agree() {
        let place = place(true, true);
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
                check(Failure::Broken(Fault::new(kind, "", sent)));
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
        check(Failure::NoResponse { id: 1, how: Ending::Early(String::new()) }.unsent());
        check(Failure::Refused(Box::new(Refused { status: 500, ..Refused::default() })).unsent());
        let after = std::time::Duration::ZERO;
        for limit in [Limit::Start, Limit::Idle, Limit::Total] {
            let timed_out = TimedOut { limit, after, sent: true, streaming: false };
            check(Failure::TimedOut(timed_out));
        }
    }
}
