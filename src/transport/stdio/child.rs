//! The child process and everything it starts.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use futures_lite::{FutureExt, future};
use rustix::fs::{Access, access};
use rustix::process::{Pid, Signal, kill_process_group};

use super::lifeline::Lifeline;
use super::stderr::Stderr;
use super::{End, Patience, Target};
use crate::protocol::message::{Fault, FaultKind, Sent};
use crate::reactor::queue::Receiver;
use crate::reactor::{self, Reader, Timer, Writer};

/// How long to wait for the rest of the standard error of a child that has ended.
const LAST_OUTPUT: Duration = Duration::from_millis(50);

/// How long a child has between SIGTERM and SIGKILL when there is no more time to be polite.
const LAST_MOMENT: Duration = Duration::from_millis(50);

/// How long a child may take to be gone after SIGKILL. One that waits for a disk that is not there, or
/// that runs as somebody else (`sudo`), goes later or not at all, and must not keep us.
const AFTER_KILL: Duration = Duration::from_secs(1);

/// A child process that leads a process group of its own.
#[derive(Debug)]
pub(crate) struct Group {
    child: Child,
    exit: reactor::Exit,
    /// The group; it has the child's process id.
    id: Pid,
    /// The exit status, once the child is reaped.
    status: Option<ExitStatus>,
    _lifeline: Lifeline,
}

/// Our ends of the pipes to a child.
#[derive(Debug)]
pub(crate) struct Pipes {
    pub(crate) stdin: Writer,
    pub(crate) stdout: Reader,
    pub(crate) stderr: Reader,
}

impl Group {
    /// Starts the child, or says why it cannot be started.
    pub(crate) fn spawn(target: &Target) -> Result<(Group, Pipes), Fault> {
        Group::start(target).map_err(|error| {
            let (why, hint) = reason(&error, target);
            let text = format!("cannot start \"{}\": {why}", target.program.display());
            let fault = Fault::new(FaultKind::Unreachable, text, Sent::No).hint(hint);
            if lasts(&error) { fault.lasting() } else { fault }
        })
    }

    fn start(target: &Target) -> io::Result<(Group, Pipes)> {
        let found = find(&target.program, &target.env);
        let mut command = Command::new(found.as_deref().unwrap_or(target.program.as_ref()));
        command.arg0(&target.program);
        command.args(&target.args).env_clear().envs(target.env.iter().map(|(k, v)| (k, v)));
        if let Some(cwd) = &target.cwd {
            command.current_dir(cwd);
        }
        // A group of its own: it can be ended as a whole, and Ctrl-C reaches us first.
        command.process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let (lifeline, theirs) = Lifeline::new()?;
        let mut child = command.spawn()?;
        let id = Pid::from_child(&child);
        theirs.tie(id);
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            unreachable!("three pipes were asked for");
        };
        let exit = reactor::Exit::of(&child);
        let group = Group { child, exit, id, status: None, _lifeline: lifeline };
        let (stdin, stdout) = (Writer::new(stdin)?, Reader::new(stdout)?);
        Ok((group, Pipes { stdin, stdout, stderr: Reader::new(stderr)? }))
    }

    /// Waits until the child has ended with an error, and then a little. One that ends well may have
    /// handed its pipes on to another process, which is the server then.
    pub(super) async fn failed(&mut self, patience: Duration) -> Option<End> {
        self.exit.wait().await;
        self.status = self.child.wait().ok();
        if self.status.is_none_or(|status| status.success()) {
            future::pending::<()>().await;
        }
        Timer::after(patience).await;
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
            stderr.ended().or(Timer::after(LAST_OUTPUT)).await;
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
        self.exited_within(AFTER_KILL).await;
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
        if self.status.is_none() && reactor::timeout(patience, self.exit.wait()).await.is_some() {
            self.status = self.child.wait().ok();
        }
        self.status.is_some()
    }

    /// Sends a signal to all processes of the group.
    pub(crate) fn signal(&self, signal: Signal) {
        // It fails when the group is gone, which is what we want.
        let _ = kill_process_group(self.id, signal);
    }
}

impl Drop for Group {
    /// A group that was not ended is killed: nothing of a server outlives the conversation.
    fn drop(&mut self) {
        if self.status.is_some() {
            return;
        }
        self.signal(Signal::KILL);
        let begun = Instant::now();
        while let Ok(None) = self.child.try_wait()
            && begun.elapsed() < AFTER_KILL
        {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Where a program is that is named without its place: the first one in the child's `PATH`, as far
/// as its directories do not depend on where the child is. `None` leaves it to the system to find
/// it, for which that has to copy our address space.
fn find(program: &OsStr, env: &[(OsString, OsString)]) -> Option<PathBuf> {
    if program.as_encoded_bytes().contains(&b'/') {
        return None;
    }
    let (_, path) = env.iter().rfind(|(name, _)| name == "PATH")?;
    let mut directories = std::env::split_paths(path);
    let found = directories.find_map(|directory| {
        let file = directory.join(program);
        (directory.is_relative() || is_executable(&file)).then_some(file)
    });
    found.filter(|file| file.is_absolute())
}

fn is_executable(file: &Path) -> bool {
    access(file, Access::EXEC_OK).is_ok() && file.is_file()
}

/// Whether a program cannot be started until somebody has mended something. For a process or a file too
/// many there may be room soon.
fn lasts(error: &io::Error) -> bool {
    let is_missing = matches!(
        error.kind(),
        io::ErrorKind::NotFound
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::PermissionDenied
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::ArgumentListTooLong
    );
    is_missing || error.raw_os_error() == Some(libc::ENOEXEC)
}

/// Why a program could not be started, and what to do about it.
fn reason(error: &io::Error, target: &Target) -> (String, &'static str) {
    let file = match &target.cwd {
        Some(cwd) => cwd.join(&target.program),
        None => PathBuf::from(&target.program),
    };
    let is_path = target.program.as_encoded_bytes().contains(&b'/');
    // The system gives one error for what is missing, whatever that is.
    match (error.kind(), &target.cwd) {
        (io::ErrorKind::NotFound, Some(cwd)) if !cwd.is_dir() => (
            format!("the working directory {} does not exist", cwd.display()),
            "check --cwd, or \"cwd\" in the definition",
        ),
        (io::ErrorKind::NotFound, _) if is_path && file.exists() => (
            "what its first line (#!) names, or its loader, is missing".to_owned(),
            "install that, or name the program that runs the file before it",
        ),
        (io::ErrorKind::NotFound, _) if is_path => (
            "no such file".to_owned(),
            "check the path: a relative one begins where we are. A URL begins with https://",
        ),
        (io::ErrorKind::NotFound, _) => {
            ("not found in PATH".to_owned(), "install it, or write its whole path")
        }
        (io::ErrorKind::PermissionDenied, _) if is_path && file.is_dir() => {
            ("it is a directory".to_owned(), "name a program in it")
        }
        (io::ErrorKind::PermissionDenied, _) => (
            "not executable, or permission denied".to_owned(),
            "chmod +x makes a file executable, unless its file system forbids that (noexec)",
        ),
        _ if error.raw_os_error() == Some(libc::ENOEXEC) => (
            "it is no program for this system".to_owned(),
            "a script needs a first line like #!/bin/sh, or its interpreter before it",
        ),
        _ if matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE)) => {
            (error.to_string(), "ulimit -n says how many files may be open")
        }
        _ if error.raw_os_error() == Some(libc::EAGAIN) => {
            (error.to_string(), "ulimit -u says how many processes there may be")
        }
        _ => (error.to_string(), "does it start when it is run by itself?"),
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
