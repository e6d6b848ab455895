//! Errors as text and as JSON.

use std::fmt::Write;

use super::Error;
use crate::cli::terminal::{Accent, accent};
use crate::protocol::json;
use crate::protocol::message::Sent;
use crate::protocol::visible::for_terminal;

/// How many of the server's last lines are shown.
const TAIL_LINES: usize = 20;

impl Error {
    /// The error for people, ending in a line end:
    ///
    /// ```text
    /// mcpmini: files: cannot start "npx": not found in PATH
    ///   hint: install Node.js
    ///   the server's last lines on standard error:
    ///   | npm error …
    /// ```
    ///
    /// Whatever the server says is freed of control characters and indented, so that it can
    /// neither steer the terminal nor pass for a line of ours.
    pub fn text(&self, colored: bool) -> String {
        let mut out = accent("mcpmini:", Accent::Red, colored).into_owned();
        out.push(' ');
        if let Some(server) = &self.server {
            let _ = write!(out, "{}: ", for_terminal(server));
        }
        push_indented(&mut out, &self.message);
        if let Some(data) = &self.data {
            out.push_str("  data: ");
            push_indented(&mut out, data);
        }
        if let Some(hint) = &self.hint {
            out.push_str("  hint: ");
            push_indented(&mut out, hint);
        }
        if let Some(tail) = &self.stderr_tail {
            out.push_str("  the server's last lines on standard error:\n");
            for line in last_lines(tail).lines() {
                let _ = writeln!(out, "  | {}", for_terminal(line));
            }
        }
        out
    }

    /// The error for programs, one line with its line end:
    ///
    /// ```json
    /// {"error":{"class":"unreachable","exit":4,"message":"…","sent":"no","retryable":true}}
    /// ```
    ///
    /// Members that say nothing are left out.
    pub fn json_line(&self) -> String {
        format!("{{\"error\":{}}}\n", self.json())
    }

    /// The error as the object in that line.
    pub fn json(&self) -> String {
        let mut out = String::from("{\"class\":");
        json::push_string(&mut out, self.exit.class());
        let _ = write!(out, ",\"exit\":{}", self.exit.code());
        member(&mut out, "message", Some(&self.message));
        member(&mut out, "server", self.server.as_ref());
        member(&mut out, "phase", self.phase.map(|phase| phase.word()));
        member(&mut out, "sent", self.sent.map(sent_word));
        let _ = write!(out, ",\"retryable\":{}", self.retryable);
        if let Some(code) = self.code {
            let _ = write!(out, ",\"code\":{code}");
        }
        if let Some(status) = self.status {
            let _ = write!(out, ",\"status\":{status}");
        }
        if let Some(data) = &self.data {
            // Line ends stand between the parts of a JSON value and never inside of one.
            let _ = write!(out, ",\"data\":{}", data.replace(['\n', '\r'], " "));
        }
        if let Some(trust) = &self.trust {
            let _ = write!(out, ",\"trust\":{}", trust.replace(['\n', '\r'], " "));
        }
        member(&mut out, "stderr_tail", self.stderr_tail.as_deref().map(last_lines));
        member(&mut out, "hint", self.hint.as_ref());
        out.push('}');
        out
    }
}

fn sent_word(sent: Sent) -> &'static str {
    match sent {
        Sent::No => "no",
        Sent::Maybe => "maybe",
        Sent::Yes => "yes",
    }
}

fn member(out: &mut String, name: &str, value: Option<impl AsRef<str>>) {
    if let Some(value) = value {
        let _ = write!(out, ",\"{name}\":");
        json::push_string(out, value.as_ref());
    }
}

/// Adds text whose second and further lines are indented, with a line end.
fn push_indented(out: &mut String, text: &str) {
    let text = for_terminal(text.trim_end());
    let _ = writeln!(out, "{}", text.replace('\n', "\n    "));
}

fn last_lines(text: &str) -> &str {
    let text = text.trim_end();
    let mut ends = text.rmatch_indices('\n').map(|(at, _)| at + 1);
    ends.nth(TAIL_LINES - 1).map_or(text, |start| &text[start..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::errors::Phase;
    use crate::cli::exit::Exit;

    fn full() -> Error {
        Error::new(Exit::Unreachable, "cannot start \"npx\"")
            .server("files")
            .phase(Phase::Start)
            .sent(Sent::No)
            .code(-32000)
            .status(503)
            .data("{\"n\": 12345678901234567890,\n \"f\": 1.0}")
            .stderr_tail("one\ntwo\n")
            .hint("install Node.js")
    }

    #[test]
    fn people_read_lines() {
        let check = |error: Error, expected: &str| assert_eq!(error.text(false), expected);
        check(Error::new(Exit::Usage, "no command"), "mcpmini: no command\n");
        check(
            full(),
            "mcpmini: files: cannot start \"npx\"\n  \
               data: {\"n\": 12345678901234567890,\n     \"f\": 1.0}\n  \
               hint: install Node.js\n  \
               the server's last lines on standard error:\n  | one\n  | two\n",
        );
        assert!(full().text(true).starts_with("\u{1b}[1;31mmcpmini:\u{1b}[0m files: "));
    }

    #[test]
    fn programs_read_one_line() {
        let check = |error: Error, expected: &str| assert_eq!(error.json_line(), expected);
        check(
            Error::new(Exit::Usage, "a \"quoted\"\nword"),
            "{\"error\":{\"class\":\"usage\",\"exit\":2,\"message\":\"a \\\"quoted\\\"\\nword\",\
             \"sent\":\"no\",\"retryable\":false}}\n",
        );
        check(
            full(),
            "{\"error\":{\"class\":\"unreachable\",\"exit\":4,\"message\":\"cannot start \\\"npx\\\"\",\
             \"server\":\"files\",\"phase\":\"start\",\"sent\":\"no\",\"retryable\":true,\
             \"code\":-32000,\"status\":503,\"data\":{\"n\": 12345678901234567890,  \"f\": 1.0},\
             \"stderr_tail\":\"one\\ntwo\",\"hint\":\"install Node.js\"}}\n",
        );
    }

    #[test]
    fn every_json_line_is_json() {
        for row in crate::cli::exit::TABLE {
            let line = Error::new(row.exit, "x\u{1b}\u{0}\u{2028}").json_line();
            assert_eq!(json::validate(&line), Ok(()));
            assert_eq!(line.matches('\n').count(), 1);
        }
        assert_eq!(json::validate(&full().json_line()), Ok(()));
    }

    #[test]
    fn a_server_can_neither_steer_the_terminal_nor_speak_for_us() {
        let error = Error::new(Exit::Rpc, "no\u{1b}[2J\nmcpmini: all is well")
            .server("x\u{202e}y")
            .stderr_tail("\u{1b}]0;title\u{7}\r\nmcpmini: all is well");
        assert_eq!(
            error.text(false),
            "mcpmini: x\\u{202e}y: no[2J\n    mcpmini: all is well\n  \
             the server's last lines on standard error:\n  | ]0;title\n  | mcpmini: all is well\n"
        );
    }

    #[test]
    fn only_the_last_twenty_lines_of_the_server_are_shown() {
        let lines: Vec<String> = (1..=100).map(|number| number.to_string()).collect();
        let error = Error::new(Exit::Lost, "x").stderr_tail(lines.join("\n"));
        assert_eq!(error.text(false).lines().skip(2).count(), 20);
        assert!(error.text(false).contains("  | 81\n"));
        assert!(error.json_line().contains("\"stderr_tail\":\"81\\n"));
        assert_eq!(Error::new(Exit::Lost, "x").stderr_tail(" \n").stderr_tail, None);
    }
}
