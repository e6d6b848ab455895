//! The child process and everything it starts.

use std::fmt;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use async_channel::Receiver;
use async_io::Timer;
use async_process::{Child, ChildStderr, ChildStdin, ChildStdout};
use futures_lite::{FutureExt, future};
use rustix::process::{Pid, Signal, kill_process_group};

use super::stderr::Stderr;
use super::{End, Patience, Target, parent_death};

/// How long a child has between SIGTERM and SIGKILL when there is no more time to be polite.
const LAST_MOMENT: Duration = Duration::from_millis(50);

/// A child process that leads a process group of its own.
#[derive(Debug)]
pub(crate) struct Group {
    child: Child,
    /// The group; it has the child's process id.
    id: Option<Pid>,
    /// The exit status, once the child is reaped.
    status: Option<ExitStatus>,
}

impl Group {
    /// Starts the child, or says why it cannot be started.
    pub(crate) fn spawn(target: &Target) -> Result<Group, String> {
        let program = target.program.to_string_lossy();
        if let Some(cwd) = &target.cwd
            && !cwd.is_dir()
        {
            // The operating system gives the same error for a missing directory and program.
            return Err(format!(
                "cannot start \"{program}\": the working directory {} does not exist",
                cwd.display()
            ));
        }
        let mut command = Command::new(&target.program);
        command.args(&target.args).env_clear().envs(target.env.iter().cloned());
        if let Some(cwd) = &target.cwd {
            command.current_dir(cwd);
        }
        // A group of its own: it can be ended as a whole, and Ctrl-C reaches us first.
        command.process_group(0);
        parent_death::tie(&mut command);
        let mut command = async_process::Command::from(command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| format!("cannot start \"{program}\": {}", reason(&error, &program)))?;
        let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        Ok(Group { child, id, status: None })
    }

    /// The three pipes, which can be taken once.
    pub(crate) fn pipes(&mut self) -> (ChildStdin, ChildStdout, ChildStderr) {
        let child = &mut self.child;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            unreachable!("spawn asks for three pipes, and they are taken once");
        };
        (stdin, stdout, stderr)
    }

    /// Waits until the child has ended with an error, and then a little. One that ends well may have
    /// handed its pipes on to another process, which is the server then.
    pub(super) async fn failed(&mut self, patience: Duration) -> Option<End> {
        let status = self.child.status().await.ok();
        self.status = status;
        if status.is_none_or(|status| status.success()) {
            future::pending::<()>().await;
        }
        after(patience).await;
        Some(End::Exited)
    }

    /// Waits a little for the child to exit by itself and for the rest of its standard error.
    pub(super) async fn last_words(
        &mut self,
        stderr: &Stderr,
        patience: Duration,
    ) -> Option<ExitText> {
        if self.exited_within(patience).await {
            // A grandchild may hold the pipe open for ever; what the child wrote is there now.
            stderr.ended().or(after(Duration::from_millis(50))).await;
        }
        self.status.map(ExitText)
    }

    /// Ends the group: waits for the child, which has lost its input, then SIGTERM, then SIGKILL.
    /// When `calm` ends, they follow at once.
    pub(super) async fn end(
        &mut self,
        patience: Patience,
        calm: &Receiver<std::convert::Infallible>,
    ) {
        let steps = async {
            if !self.exited_within(patience.after_close).await {
                self.signal(Signal::TERM);
                self.exited_within(patience.after_term).await;
            }
            false
        };
        let hurry = async {
            let _ = calm.recv().await;
            true
        };
        if steps.or(hurry).await {
            // Wrappers must be able to hand it on.
            self.signal(Signal::TERM);
            self.exited_within(LAST_MOMENT).await;
        }
        // Also when the child is gone: what it started may still be there. A group keeps its
        // number as long as one process is in it, so the number cannot have passed to another.
        self.signal(Signal::KILL);
        if self.status.is_none() {
            self.status = self.child.status().await.ok();
        }
    }

    /// The process id of the child, which is also the number of the group.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// How the child ended; `None` as long as that is not known.
    pub(crate) fn status(&self) -> Option<ExitStatus> {
        self.status
    }

    /// Waits for the child to end, but no longer than that; tells whether it has.
    pub(crate) async fn exited_within(&mut self, patience: Duration) -> bool {
        if self.status.is_some() {
            return true;
        }
        let exit = async { self.child.status().await.ok() };
        let timeout = async {
            after(patience).await;
            None
        };
        let status = exit.or(timeout).await;
        self.status = status;
        self.status.is_some()
    }

    /// Sends a signal to all processes of the group.
    pub(crate) fn signal(&self, signal: Signal) {
        if let Some(id) = self.id {
            // It fails when the group is gone, which is what we want.
            let _ = kill_process_group(id, signal);
        }
    }
}

async fn after(duration: Duration) {
    Timer::after(duration).await;
}

fn reason(error: &io::Error, program: &str) -> String {
    match error.kind() {
        io::ErrorKind::NotFound if program.contains('/') => "no such file".to_owned(),
        io::ErrorKind::NotFound => "not found in PATH".to_owned(),
        io::ErrorKind::PermissionDenied => "not executable, or permission denied".to_owned(),
        _ => error.to_string(),
    }
}

/// An exit status, for people: `exit status 3`, `killed by signal 9`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExitText(pub(crate) ExitStatus);

impl fmt::Display for ExitText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.code(), self.0.signal()) {
            (Some(code), _) => write!(f, "exit status {code}"),
            (None, Some(signal)) => write!(f, "killed by signal {signal}"),
            (None, None) => write!(f, "{}", self.0),
        }
    }
}
