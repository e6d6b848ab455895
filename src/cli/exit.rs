//! Exit codes: the only place that knows their numbers.
//!
//! They are public interface: a script decides by them alone what to do next. The README and
//! `mcpmini help exit-codes` print [`TABLE`].

use std::mem::discriminant;

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It did what was asked.
    Ok,
    /// The tool itself reported an error (`isError`).
    ToolError,
    /// The command line or the arguments are wrong.
    Usage,
    /// The server answered with a JSON-RPC error.
    Rpc,
    /// The server could not be started or reached.
    Unreachable,
    /// The connection was lost after the request went out.
    Lost,
    /// The server broke the protocol.
    Protocol,
    /// The server wants proof of who is calling.
    Auth,
    /// The server is not trusted.
    Trust,
    /// The configuration is wrong.
    Config,
    /// The server asked for input that nobody provides.
    InputRequired,
    /// The answer is not what it was required to be.
    Mismatch,
    /// A defect of this program.
    Bug,
    /// A time limit was reached.
    Timeout,
    /// The command of `session` cannot be executed.
    NotExecutable,
    /// The command of `session` was not found.
    NotFound,
    /// A signal with this number.
    Signal(u8),
    /// The command of `session` ended with this code.
    Command(u8),
}

/// One line of the table of exit codes.
#[derive(Debug)]
pub struct Row {
    /// Which exit it explains. [`Exit::Signal`] stands for every signal.
    pub exit: Exit,
    /// The name of the class in error lines.
    pub class: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// Whether a script may try again; empty when there is nothing to retry.
    pub retry: &'static str,
}

/// What `session` ends with is the business of its command, and so stands in no table.
static OF_COMMAND: Row = row(Exit::Command(0), "command", "what the command ended with", "");

/// All exit codes, in the order of their numbers.
#[rustfmt::skip] // One line each: it is a table.
pub const TABLE: &[Row] = &[
    row(Exit::Ok, "ok", "success", ""),
    row(Exit::ToolError, "tool_error", "the tool answered that it failed (isError); doctor: a check failed", "up to the tool"),
    row(Exit::Usage, "usage", "wrong command line or arguments; the call was not sent", "no"),
    row(Exit::Rpc, "rpc_error", "the server answered with an error; also: no such tool", "no"),
    row(Exit::Unreachable, "unreachable", "not started, not connected; the call was not run", "yes"),
    row(Exit::Lost, "lost", "connection lost after sending; it may have run", "only if idempotent"),
    row(Exit::Protocol, "protocol", "no common version, or malformed messages", "no"),
    row(Exit::Auth, "auth", "no usable token, or too few rights (401, 403)", "after login"),
    row(Exit::Trust, "trust", "server not approved, or not what was pinned", "after approve"),
    row(Exit::Config, "config", "unknown server name, unset variable, bad file", "no"),
    row(Exit::InputRequired, "input_required", "the server asked back, no answer was given", "with answers"),
    row(Exit::Mismatch, "mismatch", "the answer is not what was required; nothing was found", "no"),
    row(Exit::Bug, "bug", "internal error, please report it", "no"),
    row(Exit::Timeout, "timeout", "a time limit was reached; it may have run, unless `sent` is `no`", "only if idempotent or not sent"),
    row(Exit::NotExecutable, "not_executable", "session: the command cannot be executed", "no"),
    row(Exit::NotFound, "not_found", "session: the command was not found", "no"),
    row(Exit::Signal(0), "aborted", "ended by signal N; it may have run", "only if idempotent"),
];

const fn row(exit: Exit, class: &'static str, meaning: &'static str, retry: &'static str) -> Row {
    Row { exit, class, meaning, retry }
}

impl Row {
    /// The exit code, as people write it.
    pub fn number(&self) -> String {
        match self.exit {
            Exit::Signal(_) => "128+N".into(),
            exit => exit.code().to_string(),
        }
    }
}

impl Exit {
    /// What a program dies of that writes where nobody reads: `SIGPIPE`.
    pub const BROKEN_PIPE: Exit = Exit::Signal(13);

    /// The number for the operating system.
    pub const fn code(self) -> u8 {
        match self {
            Exit::Ok => 0,
            Exit::ToolError => 1,
            Exit::Usage => 2,
            Exit::Rpc => 3,
            Exit::Unreachable => 4,
            Exit::Lost => 5,
            Exit::Protocol => 6,
            Exit::Auth => 7,
            Exit::Trust => 8,
            Exit::Config => 9,
            Exit::InputRequired => 10,
            Exit::Mismatch => 11,
            Exit::Bug => 70,
            Exit::Timeout => 124,
            Exit::NotExecutable => 126,
            Exit::NotFound => 127,
            // As shells report it. Signal numbers end at 64.
            Exit::Signal(number) => 128 | (number & 0x7f),
            Exit::Command(code) => code,
        }
    }

    /// The name of the class in error lines.
    pub fn class(self) -> &'static str {
        self.row().class
    }

    /// Ends the process at once, when there is no way back to `main`.
    pub(super) fn end(self) -> ! {
        std::process::exit(self.code().into())
    }

    /// Whether the request was certainly not carried out, so that it may be sent again.
    pub fn is_retryable(self) -> bool {
        self == Exit::Unreachable
    }

    /// The line of the table that explains it.
    pub fn row(self) -> &'static Row {
        if let Exit::Command(_) = self {
            return &OF_COMMAND;
        }
        let explains = |row: &&Row| discriminant(&row.exit) == discriminant(&self);
        TABLE.iter().find(explains).expect("the table explains every exit")
    }
}

/// The table as Markdown, as the README shows it.
pub fn markdown() -> String {
    let mut text = String::from("| code | class | meaning | may a script retry? |\n");
    text.push_str("|---|---|---|---|\n");
    for row in TABLE {
        let (number, class) = (row.number(), row.class);
        text.push_str(&format!("| {number} | {class} | {} | {} |\n", row.meaning, row.retry));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_contract() {
        let check = |exit: Exit, code, class: &str| {
            assert_eq!((exit.code(), exit.class()), (code, class));
        };
        check(Exit::Ok, 0, "ok");
        check(Exit::ToolError, 1, "tool_error");
        check(Exit::Usage, 2, "usage");
        check(Exit::Rpc, 3, "rpc_error");
        check(Exit::Unreachable, 4, "unreachable");
        check(Exit::Lost, 5, "lost");
        check(Exit::Protocol, 6, "protocol");
        check(Exit::Auth, 7, "auth");
        check(Exit::Trust, 8, "trust");
        check(Exit::Config, 9, "config");
        check(Exit::InputRequired, 10, "input_required");
        check(Exit::Mismatch, 11, "mismatch");
        check(Exit::Bug, 70, "bug");
        check(Exit::Timeout, 124, "timeout");
        check(Exit::NotExecutable, 126, "not_executable");
        check(Exit::NotFound, 127, "not_found");
        check(Exit::Signal(2), 130, "aborted");
        check(Exit::Signal(15), 143, "aborted");
        check(Exit::Command(42), 42, "command");
    }

    #[test]
    fn the_table_is_in_order_and_classes_are_unique() {
        assert!(TABLE.is_sorted_by(|a, b| a.exit.code() < b.exit.code()));
        let mut classes: Vec<_> = TABLE.iter().map(|row| row.class).collect();
        classes.sort_unstable();
        classes.dedup();
        assert_eq!(classes.len(), TABLE.len());
    }

    #[test]
    fn the_readme_shows_this_table() {
        let readme = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md"));
        assert!(readme.contains(&markdown()), "README.md should contain:\n{}", markdown());
    }
}
