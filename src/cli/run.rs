//! One run of the program: what was asked for, and the ways to say something beside the answer.

use std::time::Instant;

use super::args::settings::{self, Environment, Settings};
use super::args::{Command, Globals, Invocation};
use super::errors::warnings::Style;
use super::errors::{Error, Warnings};
use super::exit::Exit;
use super::terminal::Stream;
use crate::env::Env;
use crate::env::signals::Endings;

/// One run of the program.
#[derive(Debug)]
pub(super) struct Run<'a> {
    /// The options of every command.
    pub(super) globals: &'a Globals,
    /// The words after `--`.
    pub(super) tail: &'a [String],
    /// What options and environment say together.
    pub(super) settings: Settings,
    /// The outside of the process.
    pub(super) env: &'a Env,
    /// When everything must be over.
    pub(super) deadline: Option<Instant>,
    command: &'a Command,
    warnings: Warnings,
    endings: Endings,
}

impl<'a> Run<'a> {
    /// A run that begins now.
    pub(super) fn new(
        invocation: &'a Invocation,
        env: &'a Env,
        variable: Environment<'_>,
    ) -> Result<Run<'a>, Error> {
        let settings = invocation.settings(variable)?;
        let endings = Endings::watch()
            .map_err(|error| Error::new(Exit::Bug, format!("cannot watch for signals: {error}")))?;
        let total = settings.max_time.unwrap_or(settings::MAX_TIME).duration();
        let style = match (invocation.globals.quiet, settings.json_errors) {
            (true, _) => Style::Quiet,
            (false, true) => Style::Json,
            (false, false) => Style::Text { colored: settings.color.applies(env.terminals.stderr) },
        };
        Ok(Run {
            globals: &invocation.globals,
            tail: &invocation.tail,
            deadline: total.map(|total| Instant::now() + total),
            settings,
            env,
            command: &invocation.command,
            warnings: Warnings::new(style),
            endings,
        })
    }

    /// What to do.
    pub(super) fn command(&self) -> &'a Command {
        self.command
    }

    /// The number of the next signal that asks us to end.
    pub(super) async fn interrupted(&self) -> i32 {
        self.endings.next().await
    }

    /// Says something that people may want to know, once.
    pub(super) fn warn(&self, message: &str) {
        if let Some(line) = self.warnings.line(message) {
            // Who has closed standard error does not want to hear it.
            let _ = Stream::Stderr.write_text(&line);
        }
    }

    /// Says something only when asked for with `-v`.
    pub(super) fn remark(&self, message: &str) {
        if 0 < self.globals.verbose {
            let _ = Stream::Stderr.write_text(&format!("mcpmini: {message}\n"));
        }
    }

    /// Reports an error. An interrupted call says nothing: its caller knows.
    pub(super) fn report(&self, error: &Error) {
        if matches!(error.exit, Exit::Signal(_)) && !self.settings.json_errors {
            return;
        }
        report(error, self.settings.json_errors, self.env);
    }
}

/// Reports an error on standard error, as a line of JSON or for people.
pub(super) fn report(error: &Error, as_json: bool, env: &Env) {
    let text = match as_json {
        true => error.json_line(),
        false => error.text(env.terminals.stderr && env.setting("NO_COLOR").is_none()),
    };
    let _ = Stream::Stderr.write_text(&text);
}
