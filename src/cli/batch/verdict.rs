//! How the lines of a batch ended, one by one and together.

use std::time::Duration;

use super::line::Line;
use crate::cli::errors::{Error, Phase};
use crate::cli::exit::Exit;
use crate::cli::output::one_line;
use crate::protocol::json::Json;
use crate::protocol::message::Sent;
use crate::protocol::params::Members;

/// How a line ended.
#[derive(Debug)]
pub(super) enum Outcome {
    /// With a result.
    Answered(Json),
    /// With the result of a tool that says that it failed, and why.
    ToolFailed(Json, String),
    /// Without a result.
    Failed(Error),
}

impl Outcome {
    /// The exit code that `call` would have ended with.
    fn exit(&self) -> Exit {
        match self {
            Outcome::Answered(_) => Exit::Ok,
            Outcome::ToolFailed(..) => Exit::ToolError,
            Outcome::Failed(error) => error.exit,
        }
    }

    /// The outcome as a line: `{"id":7,"exit":0,"ms":12,"result":{…}}`, or with `error` in place of
    /// `result`, as the line of `--json-errors` has it.
    pub(super) fn text(&self, line: &Line, took: Duration) -> String {
        let mut members = Members::new();
        members.push("id", &line.id);
        members.push("exit", &self.exit().code().to_string());
        members.push("ms", &took.as_millis().to_string());
        match self {
            Outcome::Answered(result) | Outcome::ToolFailed(result, _) => {
                members.push("result", &one_line(result.as_str()));
            }
            Outcome::Failed(error) => members.push("error", &error.json()),
        }
        members.finish() + "\n"
    }
}

/// How all lines ended together.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    lines: u64,
    failed: u64,
    /// The first line that failed, in the order of the input.
    first: Option<First>,
}

#[derive(Debug)]
struct First {
    line: Line,
    exit: Exit,
    sent: Option<Sent>,
    why: String,
}

impl Verdict {
    /// Takes in the outcome of a line; tells whether it is a failure.
    pub(super) fn add(&mut self, line: &Line, outcome: &Outcome) -> bool {
        self.lines += 1;
        let (why, sent) = match outcome {
            Outcome::Answered(_) => return false,
            Outcome::ToolFailed(_, why) => (why.clone(), Some(Sent::Yes)),
            Outcome::Failed(error) => (error.message.clone(), error.sent),
        };
        self.failed += 1;
        if self.first.as_ref().is_none_or(|first| line.number < first.line.number) {
            self.first = Some(First { line: line.clone(), exit: outcome.exit(), sent, why });
        }
        true
    }

    /// The error that the first failure makes of the batch, if there is one. `stopped` tells that
    /// the lines after it were not sent.
    pub(super) fn error(&self, stopped: bool) -> Option<Error> {
        let First { line, exit, sent, why } = self.first.as_ref()?;
        let (failed, lines) = (self.failed, self.lines);
        let which = match line.id == line.number.to_string() {
            true => format!("line {}", line.number),
            false => format!("line {}, {}", line.number, line.id),
        };
        let text = match failed {
            1 => format!("1 of {lines} lines failed: {which}: {why}"),
            _ => format!("{failed} of {lines} lines failed, the first is {which}: {why}"),
        };
        let error = Error { sent: *sent, ..Error::new(*exit, text) }.phase(Phase::Request);
        Some(match stopped {
            true => error.hint("no further line was sent; --keep-going goes on after a failure"),
            false => error,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(number: u64, id: &str) -> Line {
        Line { place: number, number, id: id.to_owned() }
    }

    fn failed(exit: Exit) -> Outcome {
        Outcome::Failed(Error::new(exit, "no"))
    }

    #[test]
    fn an_outcome_is_a_line() {
        let check = |outcome: Outcome, expected: &str| {
            let text = outcome.text(&line(1, "\"a\""), Duration::from_micros(2_900));
            assert_eq!(text, format!("{{\"id\":\"a\",{expected}}}\n"));
        };
        let result = || Json::from("{\n\"n\": 1.0}");
        check(Outcome::Answered(result()), r#""exit":0,"ms":2,"result":{ "n": 1.0}"#);
        check(
            Outcome::ToolFailed(result(), String::new()),
            r#""exit":1,"ms":2,"result":{ "n": 1.0}"#,
        );
        check(
            failed(Exit::Lost),
            r#""exit":5,"ms":2,"error":{"class":"lost","exit":5,"message":"no","retryable":false}"#,
        );
    }

    #[test]
    fn the_first_failure_in_the_order_of_the_input_counts() {
        let mut verdict = Verdict::default();
        assert!(!verdict.add(&line(3, "3"), &Outcome::Answered(Json::from("{}"))));
        assert!(verdict.error(false).is_none());
        assert!(verdict.add(&line(4, "4"), &failed(Exit::Lost)));
        assert!(verdict.add(&line(2, "\"b\""), &failed(Exit::Usage)));
        assert!(verdict.add(&line(5, "5"), &failed(Exit::Rpc)));
        let error = verdict.error(false).unwrap();
        assert_eq!(error.exit, Exit::Usage);
        assert_eq!(error.message, "3 of 4 lines failed, the first is line 2, \"b\": no");
        assert!(verdict.error(true).unwrap().hint.unwrap().contains("--keep-going"));
    }
}
