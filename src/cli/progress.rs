//! Progress of a call (`notifications/progress`), as people see it or as programs read it.
//!
//! ```text
//! [#########---------------------]  30%  3/10  unpacking
//! ```

use std::time::{Duration, Instant};

use super::args::choices::Progress as Wanted;
use super::run::Run;
use super::terminal;
use crate::protocol::jsonrpc::scan;
use crate::protocol::params::Members;

/// A call that is over sooner needs no bar.
const QUIET: Duration = Duration::from_millis(500);

/// How often the bar is drawn at most.
const PAUSE: Duration = Duration::from_millis(50);

/// The width of the bar, in characters.
const WIDTH: usize = 30;

/// Shows progress.
#[derive(Debug)]
pub(super) struct Progress {
    form: Form,
}

#[derive(Debug)]
enum Form {
    None,
    Json,
    /// A bar, not before that instant.
    Bar {
        next: Instant,
    },
}

impl Progress {
    /// Progress as the options want it, of a call that begins now.
    pub(super) fn new(run: &Run<'_>) -> Progress {
        // A terminal that is none of those that can take back a line says so.
        let is_dumb = run.env.setting("TERM").is_some_and(|term| term == "dumb");
        let has_bar = run.env.terminals.stderr
            && run.command().has_one_answer()
            && !is_dumb
            && !run.globals.quiet;
        let form = match run.globals.progress.unwrap_or(Wanted::Auto) {
            Wanted::Auto if has_bar => Form::Bar { next: Instant::now() + QUIET },
            Wanted::Auto | Wanted::None => Form::None,
            Wanted::Json => Form::Json,
        };
        Progress { form }
    }

    /// Shows the parameters of a notification.
    pub(super) fn show(&mut self, run: &Run<'_>, params: &str, now: Instant) {
        match &mut self.form {
            Form::None => (),
            Form::Json => run.say_foreign(&json_line(params)),
            Form::Bar { next } if now < *next => (),
            Form::Bar { next } => {
                *next = now + PAUSE;
                terminal::show_status(&bar(params));
            }
        }
    }
}

/// The report as one line of JSON; numbers stay as they came.
fn json_line(params: &str) -> String {
    let mut line = Members::new();
    for name in ["progress", "total", "message"] {
        if let Some(value) = scan::member(params, name) {
            line.push(name, &super::output::one_line(value));
        }
    }
    line.finish() + "\n"
}

fn bar(params: &str) -> String {
    let number = |name| scan::member(params, name).map(|text| (text, text.parse::<f64>()));
    let message = scan::member(params, "message").and_then(scan::unescape).unwrap_or_default();
    let line = match (number("progress"), number("total")) {
        (Some((done, Ok(progress))), Some((all, Ok(total)))) if total > 0.0 => {
            let part = (progress / total).clamp(0.0, 1.0);
            let filled = (part * WIDTH as f64) as usize;
            let percent = (part * 100.0) as usize;
            let (full, rest) = ("#".repeat(filled), "-".repeat(WIDTH - filled));
            format!("[{full}{rest}] {percent:3}%  {done}/{all}")
        }
        (Some((done, _)), _) => done.to_owned(),
        (None, _) => String::new(),
    };
    format!("{line}  {message}").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_shows_how_far_it_is() {
        let check = |params: &str, expected: &str| assert_eq!(bar(params), expected, "{params}");
        let check_bar = |params: &str, filled: usize, rest: &str| {
            let bar = format!("[{}{}]{rest}", "#".repeat(filled), "-".repeat(WIDTH - filled));
            check(params, &bar);
        };
        check_bar(r#"{"progress":3,"total":10,"message":"a\u001bb"}"#, 9, "  30%  3/10  a\u{1b}b");
        check_bar(r#"{"progress":0,"total":4}"#, 0, "   0%  0/4");
        check_bar(r#"{"progress":1.50,"total":1.5}"#, 30, " 100%  1.50/1.5");
        check_bar(r#"{"progress":9,"total":2}"#, 30, " 100%  9/2");
        check_bar(r#"{"progress":-1,"total":2}"#, 0, "   0%  -1/2");
        check(r#"{"progress":7,"message":"rows"}"#, "7  rows");
        check(r#"{"progress":7,"total":0}"#, "7");
        check(r#"{"message":"rows"}"#, "rows");
        check("{}", "");
    }

    #[test]
    fn programs_get_the_numbers_as_they_came() {
        let check = |params: &str, expected: &str| {
            assert_eq!(json_line(params), format!("{expected}\n"), "{params}");
        };
        check(
            r#"{"progressToken":1,"message":"m","total":10,"progress":1.50}"#,
            r#"{"progress":1.50,"total":10,"message":"m"}"#,
        );
        check(r#"{"progress":1}"#, r#"{"progress":1}"#);
        check("{}", "{}");
    }
}
