//! The command that a session is for.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use async_process::{Child, Command as Process};
use futures_lite::FutureExt;
use rustix::process::{Pid, Signal, kill_process};

use super::join::VARIABLE;
use crate::cli::errors::{Error, Phase};
use crate::cli::exit::Exit;
use crate::env::signals;
use crate::protocol::message::Sent;
use crate::reactor::Timer;

/// How long a command may take to end after SIGTERM when its time is over.
const PATIENCE: Duration = Duration::from_secs(2);

/// The command, while it runs.
#[derive(Debug)]
pub(super) struct Command {
    child: Child,
}

impl Command {
    /// Starts the command. It has our standard streams and our environment.
    pub(super) fn start(words: &[String], socket: &Path) -> Result<Command, Error> {
        let (program, args) = words.split_first().expect("a session has a command");
        let child = Process::new(program).args(args).env(VARIABLE, socket).spawn();
        let child = child.map_err(|error| {
            // As env(1) and the shell have it.
            let (exit, why) = match error.kind() {
                io::ErrorKind::NotFound => (Exit::NotFound, "not found".to_owned()),
                io::ErrorKind::PermissionDenied => {
                    (Exit::NotExecutable, "not executable, or permission denied".to_owned())
                }
                _ => (Exit::NotExecutable, error.to_string()),
            };
            let text = format!("cannot run \"{program}\": {why}");
            Error::new(exit, text).phase(Phase::Start).sent(Sent::No)
        })?;
        Ok(Command { child })
    }

    /// Waits for the end of the command, and tells how it ended. Dropping the future loses nothing.
    pub(super) async fn ended(&mut self) -> Result<Exit, Error> {
        let status = self.child.status().await;
        let lost = |error| Error::new(Exit::Bug, format!("the command was lost: {error}"));
        status.map(exit).map_err(lost)
    }

    /// Hands on a signal that we got.
    pub(super) fn signal(&self, number: i32) {
        // What is typed at a terminal reaches everybody in the foreground, the command too.
        let typed = number == Signal::INT.as_raw() && signals::is_in_foreground();
        if let Some(signal) = Signal::from_named_raw(number).filter(|_| !typed) {
            self.kill(signal);
        }
    }

    /// Ends the command.
    pub(super) async fn end(&mut self) {
        self.kill(Signal::TERM);
        let ended = async {
            let _ = self.child.status().await;
            true
        };
        let late = async {
            Timer::after(PATIENCE).await;
            false
        };
        if !ended.or(late).await {
            self.kill(Signal::KILL);
            let _ = self.child.status().await;
        }
    }

    fn kill(&self, signal: Signal) {
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(id) = id {
            // It fails when the command has just ended.
            let _ = kill_process(id, signal);
        }
    }
}

/// How we end when the command ends like that.
fn exit(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Command(code as u8),
        (None, Some(signal)) if signals::is_ending(signal) => Exit::Signal(signal as u8),
        // Dying of it ourselves might leave a core dump that is of no use.
        (None, Some(signal)) => Exit::Command(Exit::Signal(signal as u8).code()),
        (None, None) => Exit::Bug,
    }
}
