//! Which revision a server spoke the last time, so that a known server costs no probe.
//!
//! One small file with a line for each server, the latest first:
//!
//! ```text
//! 1f7a…c0 2025-06-18 1764488455        identity, revision, seconds since 1970
//! ```
//! What it says is a guess: a server may have been updated. Whoever uses it must be ready to find
//! it wrong, and then to forget it.

use std::cell::Cell;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::Mode;
use crate::config::Digest;
use crate::env::Env;
use crate::protocol::Revision;
use crate::store::{self, Guard};

/// The file in the cache directory.
const FILE: &str = "eras";
/// How many servers are remembered; command lines that are never the same twice would fill the disk.
const COUNT: usize = 200;
/// The longest file, in bytes.
const LIMIT: u64 = 64 << 10;
/// How long a revision is believed in. Servers learn newer ones.
const LIFE: Duration = Duration::from_secs(7 * 24 * 3600);
/// How old a line may be before it is written again for a server that still speaks the same. It
/// spares the write after most calls.
const RENEWAL: Duration = Duration::from_secs(24 * 3600);
/// How long to wait for another process that writes.
const PATIENCE: Duration = Duration::from_millis(50);

/// The memory of eras.
#[derive(Debug)]
pub struct Eras {
    path: Option<PathBuf>,
    mode: Mode,
    user: u32,
    /// What was recalled last: it need not be looked up again to be remembered.
    recalled: Cell<Option<(Digest, &'static Revision, SystemTime)>>,
}

/// A line of the file.
#[derive(Clone, Copy)]
struct Line<'a> {
    server: &'a str,
    revision: &'static Revision,
    at: SystemTime,
}

impl Eras {
    /// The memory of this user. Nothing is read yet.
    pub fn new(env: &Env, mode: Mode) -> Eras {
        let path = env.cache_dir().map(|dir| dir.join(FILE));
        Eras { path, mode, user: env.user, recalled: Cell::new(None) }
    }

    /// The revision that a server spoke; `None` when it is not known, or not any more.
    pub fn recall(&self, server: &Digest, now: SystemTime) -> Option<&'static Revision> {
        if !self.mode.reads() {
            return None;
        }
        let text = self.read()?;
        let line = line(&text, &server.short())?;
        self.recalled.set(Some((*server, line.revision, line.at)));
        is_younger(line.at, LIFE, now).then_some(line.revision)
    }

    /// Remembers that a server speaks a revision.
    pub fn remember(&self, server: &Digest, revision: &'static Revision, now: SystemTime) {
        if !self.mode.writes() {
            return;
        }
        let is_new = |at| is_younger(at, RENEWAL, now);
        if self.recalled.get().is_some_and(|(recalled, spoken, at)| {
            recalled == *server && spoken == revision && is_new(at)
        }) {
            return;
        }
        let key = server.short();
        let known = self.read().and_then(|text| {
            let line = line(&text, &key)?;
            Some(line.revision == revision && is_new(line.at))
        });
        if known != Some(true) {
            self.replace(&key, Some((revision, now)));
        }
    }

    /// Forgets what a server spoke.
    pub fn forget(&self, server: &Digest) {
        self.recalled.set(None);
        let key = server.short();
        if self.read().is_some_and(|text| line(&text, &key).is_some()) {
            self.replace(&key, None);
        }
    }

    /// Forgets what every server spoke.
    pub fn clear(&self) {
        if let Some(path) = &self.path {
            let _ = store::remove(path);
        }
    }

    fn read(&self) -> Option<String> {
        store::read_text(self.path.as_ref()?, LIMIT, Guard::Everybody { user: self.user }).ok()?
    }

    /// Puts a server to the top of the file, or takes it out.
    fn replace(&self, server: &str, latest: Option<(&'static Revision, SystemTime)>) -> Option<()> {
        let path = self.path.as_ref()?;
        let _lock = store::lock(path, PATIENCE).ok()?;
        let old = self.read().unwrap_or_default();
        let latest = latest.map(|(revision, at)| Line { server, revision, at });
        let others = old.lines().filter_map(Line::parse).filter(|line| line.server != server);
        let mut text = String::new();
        for line in latest.into_iter().chain(others).take(COUNT) {
            line.push(&mut text);
        }
        store::replace(path, text.as_bytes()).ok()
    }
}

fn line<'a>(text: &'a str, server: &str) -> Option<Line<'a>> {
    Line::parse(text.lines().find(|line| line.split(' ').next() == Some(server))?)
}

/// Whether less than `age` has passed. A moment in the future is a clock that was wrong.
fn is_younger(at: SystemTime, age: Duration, now: SystemTime) -> bool {
    now.duration_since(at).is_ok_and(|passed| passed < age)
}

impl<'a> Line<'a> {
    fn parse(line: &'a str) -> Option<Line<'a>> {
        let mut words = line.split(' ');
        let (server, date, seconds) = (words.next()?, words.next()?, words.next()?);
        let revision = Revision::named(date)?;
        let at = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds.parse().ok()?))?;
        Some(Line { server, revision, at })
    }

    fn push(&self, out: &mut String) {
        let seconds = self.at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        // Writing to a string does not fail.
        let _ = writeln!(out, "{} {} {seconds}", self.server, self.revision.date);
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::store::scratch::Scratch;

    fn env(scratch: &Scratch) -> Env {
        Env {
            variables: [("HOME", scratch.path("h").to_str().unwrap())].into(),
            user: rustix::process::geteuid().as_raw(),
            ..Env::default()
        }
    }

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_764_000_000 + seconds)
    }

    fn revision(date: &str) -> &'static Revision {
        Revision::named(date).unwrap()
    }

    const CACHE: &str = "h/.cache/mcpmini/eras";
    const DAY: u64 = 24 * 3600;

    #[test]
    fn what_a_server_spoke_is_remembered_for_a_week() {
        let scratch = Scratch::new();
        let eras = Eras::new(&env(&scratch), Mode::On);
        let (one, other) = (Digest::of(b"1"), Digest::of(b"2"));
        assert_eq!(eras.recall(&one, at(0)), None);
        eras.remember(&one, revision("2025-06-18"), at(0));
        eras.remember(&other, revision("2026-07-28"), at(1));
        assert_eq!(eras.recall(&one, at(0)), Some(revision("2025-06-18")));
        assert_eq!(eras.recall(&one, at(7 * DAY - 1)), Some(revision("2025-06-18")));
        assert_eq!(eras.recall(&one, at(7 * DAY)), None);
        assert_eq!(eras.recall(&other, at(0)), None, "a clock that was put back");
        eras.remember(&one, revision("2026-07-28"), at(2));
        assert_eq!(eras.recall(&one, at(2)), Some(revision("2026-07-28")));
        eras.forget(&one);
        assert_eq!(eras.recall(&one, at(2)), None);
        assert_eq!(eras.recall(&other, at(2)), Some(revision("2026-07-28")));
    }

    #[test]
    fn what_is_known_already_is_not_written_again_for_a_day() {
        let scratch = Scratch::new();
        let eras = Eras::new(&env(&scratch), Mode::On);
        let server = Digest::of(b"1");
        eras.remember(&server, revision("2025-06-18"), at(0));
        let first = scratch.read(CACHE);
        eras.remember(&server, revision("2025-06-18"), at(DAY - 1));
        assert_eq!(scratch.read(CACHE), first);
        eras.remember(&server, revision("2025-06-18"), at(DAY));
        assert_ne!(scratch.read(CACHE), first);
        assert_eq!(scratch.read(CACHE).lines().count(), 1);
    }

    #[test]
    fn the_memory_is_bounded_and_keeps_the_latest() {
        let scratch = Scratch::new();
        let eras = Eras::new(&env(&scratch), Mode::On);
        let server = |number: usize| Digest::of(number.to_string().as_bytes());
        for number in 0..COUNT + 5 {
            eras.remember(&server(number), revision("2025-06-18"), at(number as u64));
        }
        let text = scratch.read(CACHE);
        assert_eq!(text.lines().count(), COUNT);
        assert!((text.len() as u64) < LIMIT / 2);
        assert_eq!(eras.recall(&server(4), at(1000)), None);
        assert!(eras.recall(&server(5), at(1000)).is_some());
    }

    #[test]
    fn the_mode_decides_what_is_done() {
        let scratch = Scratch::new();
        let server = Digest::of(b"1");
        let eras = |mode| Eras::new(&env(&scratch), mode);
        eras(Mode::Off).remember(&server, revision("2025-06-18"), at(0));
        assert!(!scratch.path(CACHE).exists());
        eras(Mode::Refresh).remember(&server, revision("2025-06-18"), at(0));
        assert_eq!(eras(Mode::Refresh).recall(&server, at(0)), None);
        assert_eq!(eras(Mode::Off).recall(&server, at(0)), None);
        assert_eq!(eras(Mode::On).recall(&server, at(0)), Some(revision("2025-06-18")));
    }

    #[test]
    fn nothing_that_lies_there_is_an_error() {
        let scratch = Scratch::new();
        let server = Digest::of(b"1");
        let eras = Eras::new(&env(&scratch), Mode::On);
        let key = server.short();
        let good = format!("{key} 2025-06-18 1764000000\n");
        for (text, known) in [
            (good.clone(), true),
            (format!("garbage\n\n{good}"), true),
            (String::new(), false),
            (format!("{key}\n"), false),
            (format!("{key} 1999-01-01 1764000000\n"), false),
            (format!("{key} 2025-06-18 -1\n"), false),
            (format!("{key} 2025-06-18 99999999999999999999\n"), false),
            (format!("{key} 2025-06-18 18446744073709551615\n"), false),
            (format!("{key}0 2025-06-18 1764000000\n"), false),
            ("x".repeat(LIMIT as usize + 1), false),
        ] {
            scratch.write(CACHE, &text);
            assert_eq!(eras.recall(&server, at(0)).is_some(), known, "{text}");
        }
        eras.remember(&server, revision("2026-07-28"), at(0));
        assert_eq!(scratch.read(CACHE), format!("{key} 2026-07-28 1764000000\n"));
        scratch.chmod(CACHE, 0o666);
        assert_eq!(eras.recall(&server, at(0)), None, "anybody could have written it");

        let nowhere = Eras::new(&Env::default(), Mode::On);
        nowhere.remember(&server, revision("2026-07-28"), at(0));
        nowhere.forget(&server);
        assert_eq!(nowhere.recall(&server, at(0)), None);
        // A place that cannot be written: a file where the directory should be.
        scratch.write("f", "");
        let file = scratch.path("f");
        let env = Env { variables: [("HOME", file.to_str().unwrap())].into(), ..env(&scratch) };
        Eras::new(&env, Mode::On).remember(&server, revision("2026-07-28"), at(0));
    }

    #[test]
    fn no_server_is_lost_between_processes() {
        let scratch = Scratch::new();
        let servers: Vec<_> = (0_u8..8).map(|number| Digest::of(&[number])).collect();
        // Whoever does not get the lock in time does not write, and tries again the next time.
        for _ in 0..50 {
            thread::scope(|scope| {
                for server in &servers {
                    let eras = Eras::new(&env(&scratch), Mode::On);
                    scope.spawn(move || eras.remember(server, revision("2025-06-18"), at(0)));
                }
            });
            let eras = Eras::new(&env(&scratch), Mode::On);
            if servers.iter().all(|server| eras.recall(server, at(0)).is_some()) {
                return;
            }
        }
        panic!("some server is lost each time");
    }
}
