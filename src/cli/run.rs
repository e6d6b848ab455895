//! One run of the program: what was asked for, and the ways to say something beside the answer.

use std::cell::Cell;
use std::task::Poll;
use std::time::Instant;

use futures_lite::future;

use super::args::settings::{self, Environment, Settings};
use super::args::{Command, Globals, Invocation};
use super::errors::warnings::Style;
use super::errors::{Error, Warnings};
use super::exit::Exit;
use super::terminal::Stream;
use super::tracer::Tracer;
use crate::env::Env;
use crate::env::signals::Endings;
use crate::protocol::jsonrpc::Limits;
use crate::protocol::trace::Trace;

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
    tracer: Option<Tracer>,
    endings: Endings,
    /// How many signals have come, and the number of the last one.
    interruptions: Cell<(u32, i32)>,
}

impl<'a> Run<'a> {
    /// A run that begins now.
    pub(super) fn new(
        invocation: &'a Invocation,
        env: &'a Env,
        variable: Environment<'_>,
    ) -> Result<Run<'a>, Error> {
        let settings = invocation.settings(variable)?;
        let append = invocation.globals.trace.is_none();
        let tracer = settings.trace.as_ref().map(|target| Tracer::open(target, append, env));
        let tracer = tracer.transpose()?;
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
            tracer,
            endings,
            interruptions: Cell::default(),
        })
    }

    /// What to do.
    pub(super) fn command(&self) -> &'a Command {
        self.command
    }

    /// The bounds on messages.
    pub(super) fn limits(&self) -> Limits {
        Limits {
            message: self.globals.max_message.unwrap_or(Limits::default().message),
            depth: self.globals.max_depth.unwrap_or(Limits::default().depth),
        }
    }

    /// The number of the next signal that asks us to end. Everybody who waits is told; all must
    /// wait in one task.
    pub(super) async fn interrupted(&self) -> i32 {
        let seen = self.interruptions.get().0;
        future::poll_fn(|context| {
            if let Poll::Ready(signal) = self.endings.poll_next(context) {
                self.interruptions.set((self.interruptions.get().0 + 1, signal));
                // Those who were asked before in this turn have not seen it yet.
                context.waker().wake_by_ref();
            }
            match self.interruptions.get() {
                (count, signal) if seen < count => Poll::Ready(signal),
                _ => Poll::Pending,
            }
        })
        .await
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

    /// What is told of the messages to and from a server.
    pub(super) fn trace(&self, server: &str) -> Trace {
        let tracer = self.tracer.as_ref();
        tracer.map(|tracer| tracer.of_server(server, self.env)).unwrap_or_default()
    }

    /// Warns when a trace that was asked for is not complete.
    pub(super) fn check_trace(&self) {
        if let Some(failure) = self.tracer.as_ref().and_then(Tracer::failure) {
            self.warn(&failure);
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
