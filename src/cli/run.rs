//! One run of the program: what was asked for, and the ways to say something beside the answer.

use std::cell::{Cell, OnceCell, RefCell};
use std::path::PathBuf;
use std::time::Instant;

use futures_lite::{FutureExt, future};

use super::args::settings::{self, Settings};
use super::args::{Access, Command, Globals, Invocation};
use super::errors::warnings::Style;
use super::errors::{Error, Warnings};
use super::exit::Exit;
use super::explain;
use super::redaction::Redaction;
use super::terminal::Stream;
use super::tracer::Tracer;
use crate::cache::Mode;
use crate::env::signals::Endings;
use crate::env::{Env, Secret};
use crate::net::Meter;
use crate::protocol::jsonrpc::Limits;
use crate::protocol::trace::Trace;
use crate::reactor::Timer;
use crate::trust::policy::Policies;

/// One run of the program.
#[derive(Debug)]
pub(super) struct Run<'a> {
    /// The options of every command.
    pub(super) globals: &'a Globals,
    /// Those of them that are about tokens.
    pub(super) access: &'a Access,
    /// The words after `--`.
    pub(super) tail: &'a [String],
    /// What options and environment say together.
    pub(super) settings: Settings,
    /// The outside of the process.
    pub(super) env: &'a Env,
    /// When everything must be over.
    pub(super) deadline: Option<Instant>,
    /// The policies, once they were read.
    pub(super) policies: OnceCell<Policies>,
    /// What was read from pipes that options name, by their paths.
    pub(super) piped: RefCell<Vec<(PathBuf, Secret)>>,
    /// What measures the steps to a server, for the command that shows them.
    pub(super) meter: Meter,
    /// What must not be shown.
    pub(super) redaction: Redaction,
    command: &'a Command,
    warnings: Warnings,
    tracer: OnceCell<Tracer>,
    endings: Endings,
    interruptions: Cell<Interruptions>,
}

/// The signals that asked us to end.
#[derive(Debug, Clone, Copy, Default)]
struct Interruptions {
    /// How many have come.
    came: u32,
    /// How many of them those know of who end the run.
    told: u32,
    /// The number of the last one.
    last: i32,
}

impl<'a> Run<'a> {
    /// A run that begins now.
    pub(super) fn new(invocation: &'a Invocation, settings: Settings, env: &'a Env) -> Run<'a> {
        let total = settings.max_time.unwrap_or(settings::MAX_TIME).duration();
        let deadline = total.map(|total| Instant::now() + total);
        if let Some(deadline) = deadline {
            // Said once: there is one run of a process, and a test that runs twice has no limit.
            let _ = env.deadline.set(deadline);
        }
        let style = match (invocation.globals.quiet, settings.json_errors) {
            (true, _) => Style::Quiet,
            (false, true) => Style::Json,
            (false, false) => Style::Text { colored: settings.color.applies(env.terminals.stderr) },
        };
        Run {
            globals: &invocation.globals,
            access: &invocation.access,
            tail: &invocation.tail,
            deadline,
            policies: OnceCell::new(),
            settings,
            env,
            piped: RefCell::default(),
            meter: match invocation.command {
                Command::Info(_) => Meter::on(),
                _ => Meter::default(),
            },
            redaction: Redaction::of_words(&env.args),
            command: &invocation.command,
            warnings: Warnings::new(style),
            tracer: OnceCell::new(),
            // Without it, a signal ends us at once, and the end of its input ends the server.
            endings: Endings::watch().unwrap_or_default(),
            interruptions: Cell::default(),
        }
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

    /// How far what was learnt before may be used.
    pub(super) fn cache_mode(&self) -> Mode {
        match self.settings.cache {
            settings::Cache::On => Mode::On,
            settings::Cache::Refresh => Mode::Refresh,
            settings::Cache::Off => Mode::Off,
        }
    }

    /// The number of the next signal that asks us to end. Everybody who waits is told; all must
    /// wait in one task.
    pub(super) async fn interrupted(&self) -> i32 {
        let told = self.interruptions.get().told;
        while self.noted().came <= told {
            // Whoever is woken first takes it; the others see that it was counted.
            self.endings.came().await;
        }
        self.tell_noted()
    }

    /// Waits for something, unless a signal or the limit for everything comes first.
    pub(super) async fn unless_over<T>(&self, wanted: impl Future<Output = T>) -> Result<T, Error> {
        let interrupted = async { Err(explain::interrupted(self.interrupted().await)) };
        let late = async {
            match self.deadline {
                Some(deadline) => Timer::at(deadline).await,
                None => future::pending().await,
            };
            Err(explain::expired(self.settings.max_time))
        };
        async { Ok(wanted.await) }.or(interrupted).or(late).await
    }

    /// The signals, with those that have come just now.
    fn noted(&self) -> Interruptions {
        while let Some(signal) = self.endings.take() {
            let before = self.interruptions.get();
            self.interruptions.set(Interruptions { came: before.came + 1, last: signal, ..before });
        }
        self.interruptions.get()
    }

    /// The number of the last signal, to somebody who ends the run for it.
    fn tell_noted(&self) -> i32 {
        let noted = self.interruptions.get();
        self.interruptions.set(Interruptions { told: noted.came, ..noted });
        noted.last
    }

    /// Whether something has ended the run while nobody could wait for it. Who asks has to do with
    /// something else: a signal is left to those who wait for one.
    pub(super) fn is_over(&self) -> bool {
        self.endings.has_come() || self.interruptions.get().came > 0 || self.is_late()
    }

    /// What has ended the run while nobody could wait for it, as an error to end with.
    pub(super) fn over(&self) -> Option<Error> {
        if self.noted().came > 0 {
            return Some(explain::interrupted(self.tell_noted()));
        }
        self.is_late().then(|| explain::expired(self.settings.max_time))
    }

    /// What a signal or the limit for everything has broken off fails for no other reason: a file that
    /// nobody wrote, a command that was not waited for.
    pub(super) fn over_or(&self, error: Error) -> Error {
        match error.exit {
            Exit::Config | Exit::Auth => self.over().unwrap_or(error),
            _ => error,
        }
    }

    /// Ends work that waits for nobody when the run is over.
    pub(super) fn go_on(&self) -> Result<(), Error> {
        self.over().map_or(Ok(()), Err)
    }

    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= Instant::now())
    }

    /// Says something that people may want to know, once.
    #[cold]
    pub(super) fn warn(&self, message: &str) {
        if let Some(line) = self.warnings.line(message) {
            self.say(&line);
        }
    }

    /// Says something as often as it happens.
    pub(super) fn tell(&self, message: &str) {
        let _ = self.warnings.repeated(message).map(|line| self.say(&line));
    }

    /// Says something only when asked for with `-v`.
    #[cold]
    pub(super) fn remark(&self, message: &str) {
        if 0 < self.globals.verbose {
            self.say_foreign(&format!("mcpmini: {message}\n"));
        }
    }

    /// Opens the file of the trace, if one is asked for.
    pub(super) fn open_trace(&self) -> Result<(), Error> {
        let Some(target) = &self.settings.trace else { return Ok(()) };
        let tracer =
            Tracer::open(target, self.globals.trace.is_none(), self.env, &|| !self.is_over())?;
        self.tracer.set(tracer).expect("a trace is opened once, at the beginning");
        Ok(())
    }

    /// What is told of the messages to and from a server.
    pub(super) fn trace(&self, server: &str) -> Trace {
        let tracer = self.tracer.get();
        tracer.map(|tracer| tracer.of_server(server, self.env, &self.redaction)).unwrap_or_default()
    }

    /// Warns when a trace that was asked for is not complete.
    pub(super) fn check_trace(&self) {
        if let Some(failure) = self.tracer.get().and_then(Tracer::failure) {
            self.warn(&failure);
        }
    }

    /// Says something of which not every character is ours.
    pub(super) fn say_foreign(&self, text: &str) {
        // Who has closed standard error does not want to hear it.
        let text = self.redaction.apply(text);
        let _ = Stream::Stderr.write_text(&text, &|| !self.is_over());
    }

    /// Reports an error. An interrupted call says nothing: its caller knows.
    pub(super) fn report(&self, error: &Error) {
        // That nobody reads is known to whoever should read, also where lines of JSON are wanted.
        let is_known = error.exit == Exit::BROKEN_PIPE || !self.settings.json_errors;
        if matches!(error.exit, Exit::Signal(_)) && is_known {
            return;
        }
        let error = self.redaction.error(error.clone());
        self.say(&match self.settings.json_errors {
            true => error.json_line(),
            false => error.text(self.settings.color.applies(self.env.terminals.stderr)),
        });
    }

    /// Says something on standard error.
    fn say(&self, text: &str) {
        match self.settings.json_errors {
            true => self.say_foreign(text),
            // It was freed of control characters where it was made, and then coloured.
            false => {
                let text = self.redaction.apply(text);
                let _ = Stream::Stderr.write(text.as_bytes(), &|| !self.is_over());
            }
        }
    }
}
