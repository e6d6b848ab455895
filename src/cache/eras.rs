//! Which revision a server spoke the last time, so that a known server costs no probe.
//!
//! One small file with a line for each server, the latest first:
//!
//! ```text
//! 1f7a…c0 2025-06-18 1764488455        identity, revision, seconds since 1970
//! ```
//! What it says is a guess: a server may have been updated. Whoever uses it must be ready to find
//! it wrong, and then to forget it.

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
/// How many hexadecimal digits of an identity are written down.
const DIGITS: usize = 32;
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
        Eras { path, mode, user: env.user }
    }

    /// The revision that a server spoke; `None` when it is not known, or not any more.
    pub fn recall(&self, server: &Digest, now: SystemTime) -> Option<&'static Revision> {
        if !self.mode.reads() {
            return None;
        }
        let text = self.read()?;
        let line = line(&text, &key(server))?;
        is_younger(line.at, LIFE, now).then_some(line.revision)
    }

    /// Remembers that a server speaks a revision.
    pub fn remember(&self, server: &Digest, revision: &'static Revision, now: SystemTime) {
        if !self.mode.writes() {
            return;
        }
        let key = key(server);
        let known = self.read().and_then(|text| {
            let line = line(&text, &key)?;
            Some(line.revision == revision && is_younger(line.at, RENEWAL, now))
        });
        if known != Some(true) {
            self.replace(&key, Some((revision, now)));
        }
    }

    /// Forgets what a server spoke.
    pub fn forget(&self, server: &Digest) {
        let key = key(server);
        if self.read().is_some_and(|text| line(&text, &key).is_some()) {
            self.replace(&key, None);
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

fn key(server: &Digest) -> String {
    let mut hex = server.hex();
    hex.truncate(DIGITS);
    hex
}

fn line<'a>(text: &'a str, server: &str) -> Option<Line<'a>> {
    Line::parse(text.lines().find(|line| line.starts_with(server))?)
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
        (server.len() == DIGITS).then_some(Line { server, revision, at })
    }

    fn push(&self, out: &mut String) {
        let seconds = self.at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        // Writing to a string does not fail.
        let _ = writeln!(out, "{} {} {seconds}", self.server, self.revision.date);
    }
}
