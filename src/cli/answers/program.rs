//! Programs that answer for the user: `--sample cmd:PROG`, `--elicit cmd:PROG`.
//!
//! The program reads the parameters of the request on its standard input and prints the answer.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use async_process::Child;
use futures_lite::future;
use futures_lite::{AsyncRead, AsyncReadExt, AsyncWriteExt, FutureExt};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::env::Env;
use crate::reactor::Timer;

/// How long a program may take. A model may think for minutes.
const PATIENCE: Duration = Duration::from_secs(300);

/// How much a program may print, in bytes.
const LIMIT: u64 = 16 << 20;

/// The variable that tells the program which server asks.
const SERVER: &str = "MCPMINI_SERVER";

/// A program that answers for the user.
#[derive(Debug)]
pub(super) struct Program {
    line: String,
    variables: Vec<(OsString, OsString)>,
    cwd: Option<PathBuf>,
}

/// Why a program gave no answer.
#[derive(Debug)]
pub(super) enum Fault {
    /// It could not be started.
    Start(io::Error),
    /// Its output could not be read.
    Read(io::Error),
    /// It did not succeed.
    Failed(ExitStatus),
    /// It did not end in time.
    Late,
    /// It printed too much.
    TooLong,
    /// It printed something that is not UTF-8.
    NotText,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Start(error) if error.kind() == io::ErrorKind::NotFound => {
                f.write_str("there is no such program")
            }
            Fault::Start(error) => write!(f, "cannot start it: {error}"),
            Fault::Read(error) => write!(f, "cannot read what it prints: {error}"),
            Fault::Failed(status) => match (status.code(), status.signal()) {
                (Some(code), _) => write!(f, "it ended with exit status {code}"),
                (None, Some(signal)) => write!(f, "it was killed by signal {signal}"),
                (None, None) => f.write_str("it failed"),
            },
            Fault::Late => write!(f, "it did not end within {} s", PATIENCE.as_secs()),
            Fault::TooLong => write!(f, "it printed more than {} MiB", LIMIT >> 20),
            Fault::NotText => f.write_str("it printed something that is not UTF-8"),
        }
    }
}

impl Program {
    /// The program that a command line names, in our own surroundings.
    pub(super) fn new(line: &str, server: &str, env: &Env) -> Program {
        let mut variables: Vec<(OsString, OsString)> = env
            .variables
            .all()
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        variables.push((SERVER.into(), server.into()));
        Program { line: line.to_owned(), variables, cwd: env.cwd.clone() }
    }

    /// What messages call it.
    pub(super) fn name(&self) -> &str {
        &self.line
    }

    /// Runs it and returns what it prints. Nothing of it is left when this returns, nor when the
    /// future is dropped.
    pub(super) async fn run(&self, input: &str) -> Result<String, Fault> {
        self.run_within(PATIENCE, input).await
    }

    async fn run_within(&self, patience: Duration, input: &str) -> Result<String, Fault> {
        let late = async {
            Timer::after(patience).await;
            Err(Fault::Late)
        };
        self.answer(input).or(late).await
    }

    async fn answer(&self, input: &str) -> Result<String, Fault> {
        let mut command = async_process::Command::from(self.command());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut running = Running(command.spawn().map_err(Fault::Start)?);
        let child = &mut running.0;
        let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            unreachable!("both are pipes");
        };
        let write = async move {
            // It need not read what it is told.
            let _ = stdin.write_all(input.as_bytes()).await;
            drop(stdin);
            future::pending().await
        };
        let printed = read(stdout).or(write).await?;
        let status = child.status().await.map_err(Fault::Read)?;
        if !status.success() {
            return Err(Fault::Failed(status));
        }
        String::from_utf8(printed).map_err(|_| Fault::NotText)
    }

    /// A plain word is started as it is. For anything else there is a shell.
    fn command(&self) -> Command {
        let is_plain = |c: char| c.is_alphanumeric() || "_-./+@%=:,".contains(c);
        let mut command = match !self.line.is_empty() && self.line.chars().all(is_plain) {
            true => Command::new(&self.line),
            false => {
                let mut shell = Command::new("sh");
                shell.args(["-c", &self.line]);
                shell
            }
        };
        command.env_clear().envs(self.variables.iter().cloned());
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        // A group of its own, so that it can be ended with all that it has started.
        command.process_group(0);
        command
    }
}

async fn read(stdout: impl AsyncRead + Unpin) -> Result<Vec<u8>, Fault> {
    let mut printed = Vec::new();
    stdout.take(LIMIT + 1).read_to_end(&mut printed).await.map_err(Fault::Read)?;
    match printed.len() as u64 > LIMIT {
        true => Err(Fault::TooLong),
        false => Ok(printed),
    }
}

/// A program that runs. It is ended with this value, and what it has started too.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let group = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw);
        // It fails when the group is gone, which is what we want.
        let _ = group.map(|group| kill_process_group(group, Signal::KILL));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::reactor;

    fn env() -> Env {
        let path = std::env::var("PATH").unwrap();
        Env { variables: [("PATH", path.as_str()), ("NAME", "world")].into(), ..Env::default() }
    }

    fn run(line: &str, input: &str, patience: Duration) -> Result<String, String> {
        let program = Program::new(line, "demo", &env());
        reactor::block_on(program.run_within(patience, input)).map_err(|fault| fault.to_string())
    }

    #[test]
    fn the_answer_is_what_the_program_prints() {
        let check = |line: &str, expected: &str| {
            let printed = run(line, "{\"a\":1}", Duration::from_secs(20));
            assert_eq!(printed.as_deref(), Ok(expected), "{line}");
        };
        check("cat", "{\"a\":1}");
        check("/bin/cat", "{\"a\":1}");
        check("cat; echo \" $NAME $MCPMINI_SERVER\"", "{\"a\":1} world demo\n");
        check("true", "");
        check("sleep 0.1 | cat", "");
    }

    #[test]
    fn long_texts_go_both_ways_at_once() {
        let long = "x".repeat(1 << 20);
        let printed = run("cat", &long, Duration::from_secs(20)).unwrap();
        assert_eq!(printed.len(), long.len());
    }

    #[test]
    fn a_failure_says_how() {
        let check = |line: &str, expected: &str| {
            let patience = if line == "sleep 60" { 1 } else { 30 };
            let fault = run(line, "", Duration::from_secs(patience)).unwrap_err();
            assert!(fault.starts_with(expected), "{line}: {fault}");
        };
        check("false", "it ended with exit status 1");
        check("kill -9 $$", "it was killed by signal 9");
        check("no-such-program-here", "there is no such program");
        check("printf '\\377'", "it printed something that is not UTF-8");
        check("cat /dev/zero", "it printed more than 16 MiB");
        check("sleep 60", "it did not end within ");
    }

    #[test]
    fn what_the_program_started_is_gone_with_it() {
        // A length of sleep that no other process has.
        let sleep = format!("sleep 62.{}", std::process::id());
        let begun = Instant::now();
        let fault = run(&format!("{sleep} & {sleep}"), "", Duration::from_millis(300));
        assert!(fault.is_err() && begun.elapsed() < Duration::from_secs(20));
        let alive = || {
            let listed = Command::new("ps").args(["-A", "-o", "args"]).output().unwrap();
            String::from_utf8(listed.stdout).unwrap().matches(&sleep).count()
        };
        let gone = (0..100).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            alive() == 0
        });
        assert!(gone);
    }
}
