//! The command that examines a server. Its comments are the help text.

use std::path::PathBuf;

use argh::{ArgsInfo, FromArgs};

use super::keyword::keywords;
use super::readers::{count, path};
use super::usage::{UsageError, first_given};

keywords! {
    /// From which verdict on `doctor` fails (`--fail-on`).
    pub enum FailOn {
        /// A rule is broken.
        Fail = "fail",
        /// Also when a recommendation is not followed.
        Warn = "warn",
        /// Also when something cannot be told.
        Unknown = "unknown",
        /// Whatever was found.
        Never = "never",
    }
}

/// check from outside whether a server keeps the rules
#[derive(Debug, Clone, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(subcommand, name = "doctor", help_triggers("-h", "--help"))]
#[argh(
    note = "A line has the verdict, the check, what should be so, what was seen, where the rule is \
               written, and what to do, with tabs between them. PASS, WARN (a recommendation is not \
               followed), FAIL (a rule is broken, or a door stands open), SKIP (does not apply) and \
               UNKNOWN (cannot be told from here; what is to do then lets it be told)."
)]
#[argh(
    note = "With --json a line is an object with \"check\", \"verdict\", \"title\", \"evidence\", \
               \"clause\", \"fix\", \"ms\" and \"requests\", which can be tried by hand."
)]
#[argh(
    note = "Nothing is changed at the server: no tool is called, and sessions that were opened are \
               ended. It sends what a server must refuse, though, so examine your own servers, or \
               ask. A server that is a command is started twice, three times when it is slow to say \
               which era it speaks; what it leaves behind is killed."
)]
#[argh(
    note = "A server that speaks both eras is examined in the newer one; --protocol 2025-11-25 is \
               for the other. One answer may take 5s, or see -t."
)]
#[argh(note = "The exit code is 1 when a check has failed, see --fail-on. All is over after two \
               minutes, or see --max-time, and a few seconds to leave; what was not checked by then \
               is unknown, and the exit code is 124. A server that cannot be examined ends it as it \
               ends any other command: 4 when it cannot be started or reached, 6 when it speaks no \
               MCP, 7 when it lets nobody in and asks for no credentials, 124 when it says nothing; \
               what can be told of it nevertheless is printed. One that asks for credentials can be \
               examined for how it does that.")]
#[argh(
    note = "For CI: --write-baseline FILE writes the findings of today, a line with the check and its \
               verdict each, and --baseline FILE lets those pass and fails on others, and on those \
               that have become worse. A line then ends with \"known\" or nothing (with --json there \
               is \"known\": true or false). What is no longer found is told on standard error."
)]
#[argh(example = "mcpmini doctor http://localhost:3001/mcp")]
#[argh(example = "mcpmini doctor --fail-on warn 'node server.js'")]
#[argh(example = "mcpmini doctor --baseline known-findings http://localhost:3001/mcp")]
#[argh(example = "mcpmini doctor --only 'origin-*' --only host-bad http://localhost:3001/mcp")]
#[argh(example = "mcpmini doctor -j files | jq -r 'select(.verdict == \"fail\") | .evidence'")]
pub struct Doctor {
    /// from which verdict on to fail: fail (default), warn, unknown or never
    #[argh(option, arg_name = "VERDICT")]
    pub fail_on: Option<FailOn>,

    /// only this check; * stands for anything (repeatable)
    #[argh(option, arg_name = "CHECK")]
    pub only: Vec<String>,

    /// fail when the server answers without credentials
    #[argh(switch)]
    pub require_auth: bool,

    /// findings that stand in this file do not count
    #[argh(option, arg_name = "FILE", from_str_fn(path))]
    pub baseline: Option<PathBuf>,

    /// write what is found into a file for --baseline, and succeed
    #[argh(option, arg_name = "FILE", from_str_fn(path))]
    pub write_baseline: Option<PathBuf>,

    /// on how many fresh connections a session must be known (default 3)
    #[argh(option, arg_name = "N", from_str_fn(connections))]
    pub sticky: Option<u32>,

    /// the server: a URL, a name from the configuration, or a command line in quotes
    #[argh(positional, arg_name = "SERVER")]
    pub server: String,
}

impl Doctor {
    /// Whether there are such checks, and the options fit together.
    pub(super) fn check(&self) -> Result<(), UsageError> {
        if self.write_baseline.is_some() {
            // Neither would do anything.
            let others =
                [("--baseline", self.baseline.is_some()), ("--fail-on", self.fail_on.is_some())];
            if let Some(other) = first_given(&others) {
                return Err(UsageError::Contradiction("--write-baseline", other));
            }
        }
        match self.only.iter().find(|pattern| !crate::doctor::knows(pattern)) {
            None => Ok(()),
            Some(unknown) => {
                let ids = crate::doctor::all_checks().into_iter().map(|(id, _)| id);
                let closest = crate::protocol::similar::closest(unknown, ids);
                let hint = closest.map(|id| format!("; did you mean {id}?")).unwrap_or_default();
                let reason = format!("there is no check {unknown:?}{hint}");
                Err(UsageError::Value { flag: "--only", reason })
            }
        }
    }
}

/// The most connections that one session is tried on.
const CONNECTIONS: u32 = 100;

// argh wants errors as text.
fn connections(text: &str) -> Result<u32, String> {
    match u32::try_from(count(text)?) {
        Ok(number @ 1..=CONNECTIONS) => Ok(number),
        _ => Err(format!("{text} is not between 1 and {CONNECTIONS}")),
    }
}
