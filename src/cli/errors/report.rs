//! Errors read back from the JSON that another of us has written.

use super::{Error, Phase};
use crate::cli::exit::{Exit, TABLE};
use crate::protocol::jsonrpc::scan;
use crate::protocol::message::Sent;

const PHASES: [Phase; 10] = [
    Phase::Usage,
    Phase::Config,
    Phase::Trust,
    Phase::Start,
    Phase::Connect,
    Phase::Tls,
    Phase::Authorize,
    Phase::Negotiate,
    Phase::Request,
    Phase::Output,
];

impl Error {
    /// Reads what [`Error::json`] writes. What makes no sense in it is left out.
    pub fn from_json(object: &str) -> Error {
        let member = |name| scan::member(object, name);
        let string = |name| Some(scan::unescape(member(name)?)?.into_owned());
        let class = string("class").unwrap_or_default();
        let row = TABLE.iter().find(|row| row.class == class);
        let exit = match row.map_or(Exit::Bug, |row| row.exit) {
            Exit::Signal(_) => {
                let code = member("exit").and_then(|code| code.parse::<u8>().ok());
                Exit::Signal(code.unwrap_or_default() & 0x7f)
            }
            exit => exit,
        };
        let word = string("phase");
        Error {
            server: string("server"),
            phase: PHASES.into_iter().find(|phase| Some(phase.word()) == word.as_deref()),
            sent: match string("sent").as_deref() {
                Some("no") => Some(Sent::No),
                Some("maybe") => Some(Sent::Maybe),
                Some("yes") => Some(Sent::Yes),
                _ => None,
            },
            retryable: member("retryable") == Some("true"),
            code: member("code").and_then(|code| code.parse().ok()),
            status: member("status").and_then(|status| status.parse().ok()),
            data: member("data").map(str::to_owned),
            trust: member("trust").map(str::to_owned),
            stderr_tail: string("stderr_tail"),
            hint: string("hint"),
            ..Error::new(exit, string("message").unwrap_or_default())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_reads_back() {
        let check = |error: Error| assert_eq!(Error::from_json(&error.json()), error);
        for row in TABLE {
            check(Error::new(row.exit, "a \"quoted\"\nword"));
        }
        for phase in PHASES {
            check(Error::new(Exit::Usage, "x").phase(phase));
        }
        check(Error::new(Exit::Signal(15), "interrupted"));
        check(
            Error::new(Exit::Unreachable, "cannot start \"npx\"")
                .server("files")
                .sent(Sent::Maybe)
                .code(-32000)
                .status(503)
                .data("{\"n\":12345678901234567890}")
                .trust("{\"changes\":[]}")
                .stderr_tail("one\ntwo")
                .hint("install Node.js"),
        );
        assert_eq!(Error::from_json("{}").exit, Exit::Bug);
    }
}
