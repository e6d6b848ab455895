//! From what the lower floors report to errors with an exit code.

use std::fmt::Write;

use rustix::io::Errno;

use super::{Error, Phase};
use crate::cli::args::UsageError;
use crate::cli::exit::Exit;
use crate::cli::terminal::Unwritten;
use crate::protocol::arguments::ArgError;
use crate::protocol::jsonrpc::ErrorObject;
use crate::protocol::message::{Fault, FaultKind, Refused, Sent};

impl From<UsageError> for Error {
    fn from(mistake: UsageError) -> Error {
        let error = Error::usage(mistake.to_string());
        match mistake.hint() {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}

/// Arguments that make no sense.
impl From<ArgError> for Error {
    fn from(mistake: ArgError) -> Error {
        Error::usage(mistake.to_string())
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Error {
        let exit = match (fault.kind, fault.sent) {
            (FaultKind::Protocol, _) => Exit::Protocol,
            // What was lost before anything was sent has not run and may be tried again.
            (FaultKind::Unreachable, _) | (FaultKind::Lost, Sent::No) => Exit::Unreachable,
            (FaultKind::Lost, Sent::Maybe | Sent::Yes) => Exit::Lost,
        };
        let error = Error::new(exit, fault.text).sent(fault.sent);
        error.retryable(exit.is_retryable() && !fault.lasts).hint_if_any(fault.hint)
    }
}

/// An error the server answered with.
impl From<&ErrorObject> for Error {
    fn from(error: &ErrorObject) -> Error {
        let named = format!("MCP error {}: ", error.code);
        // The TypeScript SDK begins its messages with the same words.
        let message =
            format!("{named}{}", error.message.strip_prefix(&named).unwrap_or(&error.message));
        let answered = Error::new(Exit::Rpc, message).code(error.code).sent(Sent::Yes);
        match &error.data {
            Some(data) => answered.data(data.as_str()),
            None => answered,
        }
    }
}

/// A request that an HTTP server did not take.
impl From<&Refused> for Error {
    fn from(refused: &Refused) -> Error {
        let (exit, sent) = match refused.status {
            401 | 403 => (Exit::Auth, Sent::No),
            // The server, or one in front of it, is overloaded or not there. It may be tried again.
            429 | 502..=504 => (Exit::Unreachable, Sent::No),
            // It failed over the request, so the request may have done something.
            500.. => (Exit::Lost, Sent::Maybe),
            _ => (Exit::Rpc, Sent::No),
        };
        Error::new(exit, refusal(refused)).status(refused.status).sent(sent)
    }
}

/// `HTTP 401: no token [WWW-Authenticate: Bearer …; Mcp-Auth-Server: …]`
fn refusal(refused: &Refused) -> String {
    let mut text = format!("HTTP {}", refused.status);
    if !refused.text.is_empty() {
        let _ = write!(text, ": {}", refused.text);
    }
    let challenges = refused.challenges.iter().map(|value| format!("WWW-Authenticate: {value}"));
    let auth_server = refused.auth_server.iter().map(|value| format!("Mcp-Auth-Server: {value}"));
    let location = refused.location.iter().map(|value| format!("Location: {value}"));
    let retry_after = refused.retry_after.iter().map(|value| format!("Retry-After: {value}"));
    let hints: Vec<_> = challenges.chain(auth_server).chain(location).chain(retry_after).collect();
    if !hints.is_empty() {
        let _ = write!(text, " [{}]", hints.join("; "));
    }
    text
}

impl From<Unwritten> for Error {
    fn from(unwritten: Unwritten) -> Error {
        let why = match unwritten {
            Unwritten::Refused(Errno::BADF) => "standard output is closed".to_owned(),
            _ => unwritten.to_string(),
        };
        // The answer is there and cannot be put where it was to go: a matter of files.
        Error::new(Exit::Config, format!("cannot write the answer: {why}"))
            .phase(Phase::Output)
            .sent(Sent::Yes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_statuses_have_their_classes() {
        let check = |status, exit: Exit, sent: Sent, retryable| {
            let error = Error::from(&Refused { status, ..Refused::default() });
            assert_eq!((error.exit, error.sent, error.retryable), (exit, Some(sent), retryable));
            assert_eq!(error.message, format!("HTTP {status}"));
        };
        check(401, Exit::Auth, Sent::No, false);
        check(403, Exit::Auth, Sent::No, false);
        check(404, Exit::Rpc, Sent::No, false);
        check(400, Exit::Rpc, Sent::No, false);
        check(429, Exit::Unreachable, Sent::No, true);
        check(500, Exit::Lost, Sent::Maybe, false);
        check(501, Exit::Lost, Sent::Maybe, false);
        check(502, Exit::Unreachable, Sent::No, true);
        check(503, Exit::Unreachable, Sent::No, true);
        check(504, Exit::Unreachable, Sent::No, true);
        check(505, Exit::Lost, Sent::Maybe, false);
        // A redirect that must not be followed: trying again does not help.
        check(302, Exit::Rpc, Sent::No, false);
    }

    #[test]
    fn a_refusal_shows_what_the_server_hints_at() {
        let refused = Refused {
            status: 401,
            text: "no token".into(),
            challenges: vec!["Bearer resource_metadata=\"https://x.example/m\"".into()],
            auth_server: Some("https://as.example".into()),
            ..Refused::default()
        };
        assert_eq!(
            Error::from(&refused).message,
            "HTTP 401: no token [WWW-Authenticate: Bearer resource_metadata=\"https://x.example/m\"; \
             Mcp-Auth-Server: https://as.example]"
        );
    }

    #[test]
    fn faults_have_their_classes() {
        let check = |kind, sent, exit: Exit, retryable| {
            let error = Error::from(Fault::new(kind, "x", sent));
            assert_eq!((error.exit, error.retryable), (exit, retryable));
        };
        check(FaultKind::Unreachable, Sent::No, Exit::Unreachable, true);
        check(FaultKind::Lost, Sent::No, Exit::Unreachable, true);
        check(FaultKind::Lost, Sent::Maybe, Exit::Lost, false);
        check(FaultKind::Lost, Sent::Yes, Exit::Lost, false);
        check(FaultKind::Protocol, Sent::Yes, Exit::Protocol, false);
        let error = Error::from(Fault::new(FaultKind::Unreachable, "x", Sent::No).lasting());
        assert_eq!((error.exit, error.retryable), (Exit::Unreachable, false));
    }

    #[test]
    fn an_error_object_keeps_its_code_and_data() {
        let object = ErrorObject {
            code: -32602,
            message: "bad args".into(),
            source: None,
            data: Some("{\"d\":1.0}".into()),
        };
        let error = Error::from(&object);
        assert_eq!(error.message, "MCP error -32602: bad args");
        assert_eq!((error.exit, error.code), (Exit::Rpc, Some(-32602)));
        assert_eq!(error.data.as_deref(), Some("{\"d\":1.0}"));
    }

    #[test]
    fn the_code_is_named_once() {
        let check = |message: &str, text: &str| {
            let object =
                ErrorObject { code: -32042, message: message.into(), source: None, data: None };
            assert_eq!(Error::from(&object).message, text);
        };
        check("MCP error -32042: log in", "MCP error -32042: log in");
        check("MCP error -1: log in", "MCP error -32042: MCP error -1: log in");
    }
}
