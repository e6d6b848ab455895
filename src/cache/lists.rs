//! Lists of tools and the like, as long as the server says they are good (2026-07-28, Caching).
//!
//! An entry is a file, `mcp/<server>/<request>[-<context>]` in the cache directory: one line that
//! says when it was received, for how long it is good, and how long each page is; then the pages,
//! as they were received. Entries that may be shared have no context in their name.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::Mode;
use super::context::Context;
use crate::config::{Digest, Endpoint, Server};
use crate::env::Env;
use crate::protocol::{Revision, json};
use crate::store::{self, Guard};

/// The longest entry, in bytes.
const ENTRY_LIMIT: usize = 8 << 20;
/// How much all entries may be together, in bytes.
const TOTAL_LIMIT: u64 = 64 << 20;
/// The longest time an entry is good, whatever the server says.
const LONGEST: Duration = Duration::from_secs(24 * 3600);
const VERSION: u32 = 1;

/// For whom an answer is good (`cacheScope`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// For everybody.
    Public,
    /// For whoever asks with the same credentials.
    Private,
}

impl Scope {
    /// The scope by its name. What is missing or unknown is private, which is safe.
    pub fn named(name: Option<&str>) -> Scope {
        if name == Some("public") { Scope::Public } else { Scope::Private }
    }
}

/// What an answer depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    server: String,
    request: String,
    context: Option<Context>,
}

impl Key {
    /// The key of an answer. `params` is the canonical text of the parameters without `_meta` and
    /// cursor, `account` more that the answer depends on (see [`Context::of`]).
    pub fn new(
        server: &Server,
        revision: &Revision,
        method: &str,
        params: &str,
        account: &str,
        env: &Env,
    ) -> Key {
        // A command can mean another program, or other files, in another directory.
        let cwd = match &server.endpoint {
            Endpoint::Stdio(endpoint) => endpoint.cwd.as_deref().map(Path::to_string_lossy),
            Endpoint::Http(_) => None,
        };
        let mut request = String::new();
        for part in [revision.date, method, params, &cwd.unwrap_or_default()] {
            json::push_string(&mut request, part);
        }
        Key {
            server: shorten(&server.identity),
            request: shorten(&Digest::of(request.as_bytes())),
            context: Context::of(server, account, env),
        }
    }

    /// Where an answer of a scope is kept; `None` when it cannot be.
    fn path(&self, scope: Scope) -> Option<PathBuf> {
        let name = match scope {
            Scope::Public => self.request.clone(),
            Scope::Private => format!("{}-{}", self.request, self.context.as_ref()?.as_str()),
        };
        Some(Path::new(&self.server).join(name))
    }
}

/// 128 bits are enough to tell files apart.
fn shorten(digest: &Digest) -> String {
    let mut hex = digest.hex();
    hex.truncate(32);
    hex
}

/// An answer that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The pages, as they were received.
    pub pages: Vec<String>,
    /// Whether they are still good.
    pub is_fresh: bool,
}

/// The first line of an entry.
#[derive(Serialize, Deserialize)]
struct Head {
    version: u32,
    /// Milliseconds since 1970.
    received: u64,
    /// Milliseconds.
    ttl: u64,
    /// The length of each page, in bytes.
    pages: Vec<usize>,
}

/// The remembered lists.
#[derive(Debug)]
pub struct Lists {
    directory: Option<PathBuf>,
    mode: Mode,
    user: u32,
}

impl Lists {
    /// The lists of this user. Nothing is read yet.
    pub fn new(env: &Env, mode: Mode) -> Lists {
        let directory = env.cache_dir().map(|dir| dir.join("mcp"));
        Lists { directory, mode, user: env.user }
    }

    /// The pages of an answer, if they are still good.
    pub fn get(&self, key: &Key, now: SystemTime) -> Option<Vec<String>> {
        self.find(key, now).filter(|found| found.is_fresh).map(|found| found.pages)
    }

    /// The pages of an answer, good or not, for when a stale answer is better than none.
    pub fn find(&self, key: &Key, now: SystemTime) -> Option<Found> {
        if !self.mode.reads() {
            return None;
        }
        self.read(key, Scope::Private, now).or_else(|| self.read(key, Scope::Public, now))
    }

    /// Remembers the pages of an answer for `ttl`, the shortest of theirs, but no longer than 24
    /// hours. Answers of more than 8 MiB or of no page are not remembered, nor are those that are
    /// good for no time.
    pub fn put(&self, key: &Key, pages: &[String], ttl: Duration, scope: Scope, now: SystemTime) {
        if self.mode.writes() {
            // An older answer could have another scope, and would be found first.
            self.forget(key);
            self.write(key, pages, ttl.min(LONGEST), scope, now);
        }
    }

    /// Forgets an answer.
    pub fn forget(&self, key: &Key) {
        let Some(directory) = &self.directory else { return };
        for path in [Scope::Private, Scope::Public].into_iter().filter_map(|scope| key.path(scope))
        {
            let _ = store::remove(&directory.join(path));
        }
    }

    fn read(&self, key: &Key, scope: Scope, now: SystemTime) -> Option<Found> {
        let path = self.directory.as_ref()?.join(key.path(scope)?);
        let guard = Guard::Everybody { user: self.user };
        let text = store::read_text(&path, ENTRY_LIMIT as u64, guard).ok()??;
        let (head, mut rest) = text.split_once('\n')?;
        let head: Head = serde_json::from_str(head).ok()?;
        if head.version != VERSION {
            return None;
        }
        let mut pages = Vec::new();
        for length in &head.pages {
            let (page, after) = rest.split_at_checked(*length)?;
            json::validate(page).ok()?;
            pages.push(page.to_owned());
            rest = after;
        }
        let received = SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(head.received))?;
        let ttl = Duration::from_millis(head.ttl).min(LONGEST);
        // A moment in the future is a clock that was wrong.
        let is_fresh = now.duration_since(received).is_ok_and(|age| age < ttl);
        rest.is_empty().then_some(Found { pages, is_fresh })
    }

    fn write(
        &self,
        key: &Key,
        pages: &[String],
        ttl: Duration,
        scope: Scope,
        now: SystemTime,
    ) -> Option<()> {
        let directory = self.directory.as_ref()?;
        let millis = |time: Duration| u64::try_from(time.as_millis()).ok();
        let head = Head {
            version: VERSION,
            received: millis(now.duration_since(SystemTime::UNIX_EPOCH).ok()?)?,
            ttl: millis(ttl).filter(|ttl| *ttl > 0)?,
            pages: pages.iter().map(String::len).collect(),
        };
        let mut text = serde_json::to_string(&head).expect("numbers serialize");
        text.push('\n');
        let length = text.len() + head.pages.iter().sum::<usize>();
        if length > ENTRY_LIMIT || pages.is_empty() {
            return None;
        }
        text.extend(pages.iter().map(String::as_str));
        make_room(directory, length as u64);
        store::replace(&directory.join(key.path(scope)?), text.as_bytes()).ok()
    }
}

/// Removes the entries that were written first, until `wanted` more bytes fit.
fn make_room(directory: &Path, wanted: u64) {
    let mut entries: Vec<_> = entries(directory).collect();
    let mut total = wanted + entries.iter().map(|(_, length, _)| length).sum::<u64>();
    entries.sort();
    for (_, length, path) in entries {
        if total <= TOTAL_LIMIT {
            break;
        }
        if store::remove(&path).is_ok() {
            total -= length;
        }
    }
}

/// All entries: when they were written, how long they are, and where they are.
fn entries(directory: &Path) -> impl Iterator<Item = (SystemTime, u64, PathBuf)> {
    let inside = |path: &Path| fs::read_dir(path).into_iter().flatten().flatten();
    let files = inside(directory).flat_map(move |server| inside(&server.path()));
    files.filter_map(|file| {
        let metadata = file.metadata().ok()?;
        Some((metadata.modified().ok()?, metadata.len(), file.path()))
    })
}
