//! The processes of a server, as the Linux kernel tells in `/proc`.
//!
//! What a server starts may leave its group, its session and all of its environment, but it stays
//! somebody's child. So this process takes in what loses its parent (`PR_SET_CHILD_SUBREAPER`), and all
//! that the server has started, and all that this has started, is found below it:
//!
//! ```text
//! doctor ──▶ server ──▶ child ──▶ grandchild
//!    └──────────────────────────────▶ grandchild, when the child has ended
//! ```

use std::collections::HashMap;
use std::fs;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use crate::protocol::sorting::sort;

/// How often it is looked for what was started while the rest was killed.
const ROUNDS: usize = 3;

/// Who takes in what a server has started and what has lost its parent. To be found out before the
/// server is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Guardian {
    /// This process.
    Doctor,
    /// The system. What has left the group of the server then is not found again.
    System,
}

/// The processes of a server.
#[derive(Debug)]
pub(super) struct Family {
    /// The process that was started, which leads a group.
    server: u32,
    guardian: Guardian,
}

/// What is known of a process.
struct Entry {
    parent: u32,
    group: u32,
    /// Whether it has ended, and waits for its parent to ask how.
    has_ended: bool,
}

impl Guardian {
    /// Takes in what loses its parent from now on. Who has children already, by having been another
    /// program before (`exec`), leaves it to the system: theirs could not be told from the server's.
    pub(super) fn appoint() -> Guardian {
        let own = std::process::id();
        let has_children = |all: HashMap<u32, Entry>| {
            all.values().any(|entry| entry.parent == own && !entry.has_ended)
        };
        match processes().map(has_children) {
            Some(false) if becomes_guardian() => Guardian::Doctor,
            _ => Guardian::System,
        }
    }
}

#[cfg(target_os = "linux")]
fn becomes_guardian() -> bool {
    // Which process is named does not matter, only that one is.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn becomes_guardian() -> bool {
    false
}

impl Family {
    /// The family of a server that leads a group.
    pub(super) fn of(server: u32, guardian: Guardian) -> Family {
        Family { server, guardian }
    }

    /// Whether nobody can leave it.
    pub(super) fn is_whole(&self) -> bool {
        self.guardian == Guardian::Doctor
    }

    /// The server, if it runs, and all that it has started and that runs; `None` where the system does
    /// not tell.
    pub(super) fn members(&self) -> Option<Vec<u32>> {
        let all = processes()?;
        let own = std::process::id();
        let is_below = |pid: u32, root| {
            let line = std::iter::successors(Some(pid), |pid| Some(all.get(pid)?.parent));
            // They were not read at one moment, so that a number may stand for two processes.
            line.take(all.len()).any(|it| it == root)
        };
        let is_member = |pid: u32| match self.guardian {
            Guardian::Doctor => pid != own && is_below(pid, own),
            Guardian::System => all[&pid].group == self.server || is_below(pid, self.server),
        };
        let members = all.keys().copied().filter(|pid| is_member(*pid));
        let (ended, mut members): (Vec<u32>, Vec<u32>) =
            members.partition(|pid| all[pid].has_ended);
        // Nobody else can ask how those have ended that were taken in.
        let taken_in = |pid: &u32| all[pid].parent == own && *pid != self.server;
        ended.into_iter().filter(taken_in).for_each(forget);
        sort(&mut members);
        Some(members)
    }

    /// The same without the server.
    pub(super) fn strays(&self) -> Option<Vec<u32>> {
        let mut strays = self.members()?;
        strays.retain(|pid| *pid != self.server);
        Some(strays)
    }

    /// Kills all that the server has started. The server itself is left to who waits for it.
    pub(super) fn kill_strays(&self) {
        for _ in 0..ROUNDS {
            let strays = self.strays().unwrap_or_default();
            if strays.is_empty() {
                return;
            }
            for pid in strays.into_iter().filter_map(number) {
                // One that has ended in between is what is wanted.
                let _ = kill_process(pid, Signal::KILL);
            }
        }
    }
}

/// The name of a process, which is the same at every start, unlike its number.
pub(super) fn name_of(pid: u32) -> String {
    let name = fs::read_to_string(format!("/proc/{pid}/comm"));
    name.map_or_else(|_| "a process without a name".to_owned(), |name| name.trim().to_owned())
}

fn number(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}

/// Lets the system forget a child that has ended.
fn forget(pid: u32) {
    if let Some(pid) = number(pid) {
        let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
    }
}

/// All processes, by their numbers; `None` where the system does not tell.
///
/// They are listed by their numbers, parents mostly before their children: one whose parent was not
/// there any more has been taken in by the time that it is looked at itself.
fn processes() -> Option<HashMap<u32, Entry>> {
    // What is mounted there may tell of other processes than those around this one.
    let own = fs::read_link("/proc/self").ok()?;
    if own.to_str()?.parse() != Ok(std::process::id()) {
        return None;
    }
    let entries = fs::read_dir("/proc").ok()?;
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    Some(pids.filter_map(|pid| Some((pid, entry(pid)?))).collect())
}

fn entry(pid: u32) -> Option<Entry> {
    read(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Reads `/proc/PID/stat`: `17 (name) S 1 17 ...`.
fn read(stat: &str) -> Option<Entry> {
    // The name may hold anything.
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    let (state, parent, group) = (fields.next()?, fields.next()?, fields.next()?);
    let has_ended = matches!(state, "Z" | "X");
    Some(Entry { parent: parent.parse().ok()?, group: group.parse().ok()?, has_ended })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_read_whatever_they_are_called() {
        let check = |stat: &str, expected: Option<(u32, u32, bool)>| {
            let found = read(stat).map(|it| (it.parent, it.group, it.has_ended));
            assert_eq!(found, expected, "{stat}");
        };
        check("17 (sh) S 4 16 1 0", Some((4, 16, false)));
        check("17 (a) Z 1 (b) c) Z 4 17 1", Some((4, 17, true)));
        check("17 (sh) S 4", None);
        check("", None);
    }
}
