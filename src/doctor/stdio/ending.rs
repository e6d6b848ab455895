//! How a server ends.

use std::time::{Duration, Instant};

use super::Runs;
use super::family::name_of;
use super::process::Process;
use super::talk;
use crate::doctor::Check;
use crate::doctor::finding::{Finding, Need};
use crate::reactor::Timer;

/// How long a server may take to end. Clients wait about that long before they use force.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long what a server has started may take to end after it.
const AFTERWARDS: Duration = Duration::from_millis(300);

/// How long to wait between two looks at what is left.
const STEP: Duration = Duration::from_millis(10);

const SHUTDOWN: &str = "MCP 2026-07-28, stdio, Shutdown; 2025-11-25, Lifecycle, Shutdown";

pub(super) const CHECKS: &[Check<Runs>] = &[
    Check {
        id: "stdio-eof",
        title: "the server ends within 2 s when its input ends",
        clause: SHUTDOWN,
        fix: "End when standard input ends: stop timers, close connections, exit.",
        run: |runs| Box::pin(async { eof(runs) }),
    },
    Check {
        id: "stdio-exit",
        title: "an orderly end looks like one: exit status 0",
        clause: "MCP 2026-07-28, stdio, Shutdown; POSIX, exit (a status of 0 is success)",
        fix: "Exit with status 0 when standard input has ended.",
        run: |runs| Box::pin(async { exit(runs) }),
    },
    Check {
        id: "stdio-orphans",
        title: "nothing that the server has started outlives it",
        clause: SHUTDOWN,
        fix: "End the processes that you have started before you exit.",
        run: |runs| Box::pin(async { orphans(runs) }),
    },
    Check {
        id: "stdio-sigterm",
        title: "the server ends within 2 s of SIGTERM, and all that it has started",
        clause: SHUTDOWN,
        fix: "Do not ignore SIGTERM; end within two seconds, and pass it on to what you have \
              started.",
        run: |runs| Box::pin(sigterm(runs)),
    },
];

/// How a run ended.
#[derive(Debug)]
pub(super) struct Ending {
    /// Whether the server was there until it was to end.
    pub(super) was_there: bool,
    /// Whether it ended within [`PATIENCE`].
    in_time: bool,
    /// How it ended, for people, and whether that was in order.
    how: Option<(String, bool)>,
    /// What was left of it; `None` when the system does not tell.
    left: Option<Vec<String>>,
    /// Whether that is all that was left.
    is_all: bool,
}

/// Ends a run by ending the server's input.
pub(super) async fn by_closing(process: &mut Process) -> Ending {
    let was_there = !process.has_ended().await;
    let in_time = process.close(PATIENCE).await;
    ended(process, was_there, in_time).await
}

async fn by_signal(process: &mut Process) -> Ending {
    let was_there = !process.has_ended().await;
    let in_time = process.terminate(PATIENCE).await;
    ended(process, was_there, in_time).await
}

async fn ended(process: &mut Process, was_there: bool, in_time: bool) -> Ending {
    let until = Instant::now() + AFTERWARDS;
    let left = loop {
        let left = process.family.strays();
        // Most children end by themselves when they see that nobody reads any more.
        let may_go = in_time && Instant::now() < until;
        if !may_go || left.as_ref().is_none_or(Vec::is_empty) {
            break left;
        }
        // It may write until then; and that may be all that there is to wait for.
        process.listen(STEP).await;
        Timer::after(STEP).await;
    };
    let left = left.map(|left| left.into_iter().map(name_of).collect());
    Ending { was_there, in_time, how: process.ending(), left, is_all: process.family.is_whole() }
}

impl Ending {
    /// Why nothing can be told of it.
    fn missed(&self) -> Option<Finding> {
        let why = "the server had ended before that";
        (!self.was_there).then(|| Finding::unknown(why, Need::Sound))
    }
}

/// How the first run ended; else why nothing can be told of it.
fn first(runs: &Runs) -> Result<&Ending, Finding> {
    let ending = runs.talk.ending.as_ref().ok_or_else(|| runs.untold())?;
    ending.missed().map_or(Ok(ending), Err)
}

fn eof(runs: &Runs) -> Finding {
    let ending = match first(runs) {
        Ok(ending) => ending,
        Err(finding) => return finding,
    };
    match ending.in_time {
        true => Finding::pass(format!("it ended within {PATIENCE:?}")),
        false => Finding::warn(format!("it still runs after {PATIENCE:?}")),
    }
}

fn exit(runs: &Runs) -> Finding {
    match first(runs).map(|ending| &ending.how) {
        Ok(Some((how, true))) => Finding::pass(how.clone()),
        Ok(Some((how, false))) => Finding::warn(how.clone()),
        Ok(None) => Finding::unknown("the server did not end by itself", Need::Sound),
        Err(finding) => finding,
    }
}

fn orphans(runs: &Runs) -> Finding {
    let Some(ending) = &runs.talk.ending else { return runs.untold() };
    match (&ending.left, ending.in_time) {
        (None, _) => Finding::unknown("this system does not tell which processes run", Need::Linux),
        (Some(_), false) => Finding::unknown("the server itself did not end", Need::Sound),
        (Some(left), true) if left.is_empty() => Finding::pass(match ending.is_all {
            true => "nothing is left",
            false => "nothing is left of what kept its group",
        }),
        (Some(left), true) => {
            Finding::warn(format!("still there, until they were killed: {}", left.join(", ")))
        }
    }
}

async fn sigterm(runs: &Runs) -> Finding {
    if runs.talk.opened.is_none() || runs.is_late() {
        return runs.untold();
    }
    let mut place = None;
    let ending = match talk::begin(&mut place, &runs.target, &runs.talk.again(&runs.options)).await
    {
        Ok((process, _)) => {
            let ending = by_signal(process).await;
            process.kill().await;
            ending
        }
        Err(silence) => return Finding::unknown(silence.to_string(), Need::Sound),
    };
    if let Some(missed) = ending.missed() {
        return missed;
    }
    if !ending.in_time {
        return Finding::warn(format!("it still runs after {PATIENCE:?}"));
    }
    match ending.left {
        Some(left) if !left.is_empty() => {
            Finding::warn(format!("still there: {}", left.join(", ")))
        }
        _ => Finding::pass(format!("it ended within {PATIENCE:?}")),
    }
}
