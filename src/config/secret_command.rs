//! Values that a command prints: `"!pass show github"`, `--bearer-command 'pass show github'`.

use std::fmt;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::env::{Env, Secret};

/// How long a command may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How much it may print, in bytes.
const LIMIT: u64 = 64 << 10;

/// Why a command gave no value. What it printed is not told: it may be half a secret.
#[derive(Debug)]
pub enum CommandFault {
    /// It could not be started.
    Start(io::Error),
    /// It ended with another status than 0; `None` when it was killed.
    Status(Option<i32>),
    /// It did not end in time.
    Late,
    /// A signal came before it had ended.
    Interrupted,
    /// It printed too much.
    TooLong,
    /// It printed something that is not UTF-8.
    NotText,
}

impl fmt::Display for CommandFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommandFault::Start(_) => f.write_str("sh could not be started for its command"),
            CommandFault::Status(Some(status)) => write!(f, "its command ended with {status}"),
            CommandFault::Status(None) => f.write_str("its command was killed"),
            CommandFault::Late => {
                write!(f, "its command did not end within {} s", PATIENCE.as_secs())
            }
            CommandFault::Interrupted => f.write_str("its command was not waited for any longer"),
            CommandFault::TooLong => write!(f, "its command printed more than {LIMIT} bytes"),
            CommandFault::NotText => f.write_str("its command printed something not UTF-8"),
        }
    }
}

/// Runs a command line by `sh -c`, and returns what it prints, without blanks around it.
///
/// It has no input, and its errors go nowhere: a call must not ask, and what goes to standard error
/// is ours. It is gone when this returns, and whatever it started too. A signal ends it, and so does
/// the end of the run.
pub fn run(line: &str, env: &Env) -> Result<Secret, CommandFault> {
    let left = env.deadline().map(|end| end.saturating_duration_since(Instant::now()));
    let patience = left.map_or(PATIENCE, |left| left.min(PATIENCE));
    let mut command = Command::new("sh");
    command.args(["-c", line]).env_clear().envs(env.variables.all()).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    if let Some(cwd) = &env.cwd {
        command.current_dir(cwd);
    }
    let mut child = command.spawn().map_err(CommandFault::Start)?;
    let printed = read_within(patience, &mut child);
    let leader = Pid::from_child(&child);
    if printed.is_ok() {
        // Its output is closed; it may still clean up, but not for long.
        wait_briefly(leader);
    }
    // As long as the leader is not reaped, its group number cannot have been given to another.
    let _ = kill_process_group(leader, Signal::KILL);
    let status = child.wait().ok();
    let printed = printed?;
    if printed.len() as u64 > LIMIT {
        return Err(CommandFault::TooLong);
    }
    if !status.is_some_and(|status| status.success()) {
        return Err(CommandFault::Status(status.and_then(|status| status.code())));
    }
    let text = String::from_utf8(printed).map_err(|_| CommandFault::NotText)?;
    Ok(Secret::new(text.trim().to_owned()))
}

/// What the child prints until it closes its output, or until that is too much.
fn read_within(patience: Duration, child: &mut Child) -> Result<Vec<u8>, CommandFault> {
    let mut output = child.stdout.take().expect("its output is a pipe").take(LIMIT + 1);
    let end = Instant::now() + patience;
    let (mut printed, mut block) = (Vec::new(), [0; 4096]);
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).expect("the patience fits into any timespec");
        match poll(&mut [PollFd::new(output.get_ref(), PollFlags::IN)], Some(&left)) {
            Ok(0) => return Err(CommandFault::Late),
            Err(Errno::INTR) => return Err(CommandFault::Interrupted),
            // What is wrong with the pipe will be seen when it is read.
            Ok(_) | Err(_) => (),
        }
        match output.read(&mut block) {
            Ok(0) => return Ok(printed),
            Ok(length) => printed.extend_from_slice(&block[..length]),
            Err(_) => return Err(CommandFault::Interrupted),
        }
    }
}

/// Waits until the child has ended, but half a second at most, and does not reap it.
fn wait_briefly(child: Pid) {
    const PAUSE: Duration = Duration::from_millis(1);
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    for _ in 0..500 {
        if !matches!(waitid(WaitId::Pid(child), look), Ok(None)) {
            return;
        }
        thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env() -> Env {
        let path = std::env::var("PATH").unwrap();
        Env { variables: [("PATH", path.as_str()), ("NAME", "world")].into(), ..Env::default() }
    }

    /// The same in a run that is soon over.
    fn hurried() -> Env {
        Env { deadline: (Instant::now() + Duration::from_millis(300)).into(), ..env() }
    }

    #[test]
    fn the_value_is_what_the_command_prints() {
        let check = |line: &str, expected: &str| {
            assert_eq!(run(line, &env()).unwrap().expose(), expected, "{line}");
        };
        check("echo hello $NAME", "hello world");
        check("printf ' a\nb \n\n'", "a\nb");
        check("echo loud >&2; echo quiet", "quiet");
        check("cat", "");
        check("true", "");
    }

    #[test]
    fn a_failure_says_how_but_not_what_was_printed() {
        let check = |line: &str, expected: &str| {
            let fault = run(line, &hurried()).unwrap_err();
            assert_eq!(fault.to_string(), expected, "{line}");
        };
        check("echo hunter2; exit 3", "its command ended with 3");
        check("kill -9 $$", "its command was killed");
        check("no-such-program-here", "its command ended with 127");
        check("yes hunter2", "its command printed more than 65536 bytes");
        check(r"printf '\377'", "its command printed something not UTF-8");
        check("echo hunter2; sleep 60", "its command did not end within 10 s");
    }

    #[test]
    fn what_the_command_started_is_gone_with_it() {
        // A length of sleep that no other process has.
        let sleep = format!("sleep 61.{}", std::process::id());
        let alive = || {
            let listed = Command::new("ps").args(["-A", "-o", "args"]).output().unwrap();
            String::from_utf8(listed.stdout).unwrap().matches(&sleep).count()
        };
        // The grandchild holds the pipe: nobody must wait for it.
        let line = format!("{sleep} & exec {sleep}");
        let fault = run(&line, &hurried());
        assert!(matches!(fault, Err(CommandFault::Late)));
        // A process that was killed is listed until the system has cleaned up after it.
        let gone = (0..100).any(|_| {
            thread::sleep(Duration::from_millis(10));
            alive() == 0
        });
        assert!(gone);
    }
}
