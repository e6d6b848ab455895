//! Documents on disk: a line about each, then the document itself.
//!
//! ```text
//! <cache>/http/3f/9c…      {"url":"<its hash>","status":200,…}\n<the document, byte for byte>
//! ```
//! URLs may be links that are meant for one person, so they are not written down: that it is the right
//! one is seen by its hash.
//!
//! Nothing here can fail a command: what cannot be read is not known, and what cannot be written is
//! not kept.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::config::Digest;
use crate::env::Env;
use crate::net::Zone;
use crate::protocol::mask;
use crate::store::{self, Guard};

/// The directory in the cache directory.
const FOLDER: &str = "http";

/// The longest file, in bytes.
const ENTRY_LIMIT: u64 = 9 << 20;

/// The most that all files together may have, in bytes.
const TOTAL_LIMIT: u64 = 64 << 20;

/// Where documents are kept.
#[derive(Debug)]
pub(super) struct Shelf {
    directory: Option<PathBuf>,
    user: u32,
}

/// A document that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) label: Label,
    pub(super) body: Vec<u8>,
}

/// What is known about a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Label {
    /// What was asked for; on disk its hash.
    pub(super) url: String,
    /// Which types were asked for.
    pub(super) accept: String,
    /// Where it came from, after redirects; empty on disk when it is what was asked for.
    pub(super) final_url: String,
    /// How near that is: 0 is this machine, 1 a network nearby, 2 the world.
    pub(super) zone: u8,
    pub(super) status: u16,
    /// Whether the body is JSON, as its type says.
    pub(super) is_json: bool,
    pub(super) etag: Option<String>,
    pub(super) last_modified: Option<String>,
    /// When it was fetched or found to be good still, in seconds since 1970.
    pub(super) at: u64,
    /// How long it is good from then on, in seconds.
    pub(super) fresh_for: u64,
    /// Whether it must not stand for one that cannot be had.
    #[serde(default)]
    pub(super) must_ask: bool,
    /// The hash of the body, in hexadecimal digits.
    pub(super) sha256: String,
}

impl Shelf {
    pub(super) fn new(env: &Env) -> Shelf {
        Shelf { directory: env.cache_dir().map(|cache| cache.join(FOLDER)), user: env.user }
    }

    pub(super) fn find(&self, url: &str, accept: &str) -> Option<Kept> {
        let guard = Guard::Everybody { user: self.user };
        let bytes = store::read(&self.path(url, accept)?, ENTRY_LIMIT, guard).ok()??;
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let mut label: Label = serde_json::from_slice(&bytes[..end]).ok()?;
        let body = bytes[end + 1..].to_vec();
        let is_right = label.url == Digest::of(url.as_bytes()).hex()
            && label.accept == accept
            && label.sha256 == Digest::of(&body).hex();
        label.url = url.to_owned();
        if label.final_url.is_empty() {
            label.final_url = url.to_owned();
        }
        is_right.then_some(Kept { label, body })
    }

    /// Keeps a document, unless it came from a place with a secret in its URL, which would have to be
    /// written down.
    pub(super) fn put(&self, kept: &Kept) {
        let (Some(path), Some(folder)) =
            (self.path(&kept.label.url, &kept.label.accept), &self.directory)
        else {
            return;
        };
        let mut label = kept.label.clone();
        if label.final_url == label.url {
            label.final_url.clear();
        }
        if mask::url(&label.final_url) != label.final_url {
            return;
        }
        label.url = Digest::of(label.url.as_bytes()).hex();
        let mut bytes = serde_json::to_vec(&label).expect("texts and numbers serialize");
        bytes.push(b'\n');
        bytes.extend(&kept.body);
        if bytes.len() as u64 <= ENTRY_LIMIT {
            store::make_room(folder, bytes.len() as u64, TOTAL_LIMIT);
            // Without it the document is fetched again.
            let _ = store::replace(&path, &bytes);
        }
    }

    pub(super) fn forget(&self, url: &str, accept: &str) {
        if let Some(path) = self.path(url, accept) {
            let _ = store::remove(&path);
        }
    }

    pub(super) fn clear(&self) {
        if let Some(folder) = &self.directory {
            store::make_room(folder, 0, 0);
        }
    }

    fn path(&self, url: &str, accept: &str) -> Option<PathBuf> {
        let hex = Digest::of(format!("{url}\n{accept}").as_bytes()).hex();
        let (folder, name) = hex.split_at(2);
        Some(self.directory.as_ref()?.join(folder).join(name))
    }
}

impl Label {
    pub(super) fn zone(&self) -> Zone {
        match self.zone {
            0 => Zone::Loopback,
            1 => Zone::Private,
            _ => Zone::Public,
        }
    }

    /// How old it is. A moment in the future is a clock that was wrong; then nothing is known.
    pub(super) fn age(&self, now: SystemTime) -> Option<Duration> {
        let at = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(self.at))?;
        now.duration_since(at).ok()
    }

    pub(super) fn is_fresh(&self, now: SystemTime) -> bool {
        self.age(now).is_some_and(|age| age < Duration::from_secs(self.fresh_for))
    }
}

/// A moment as it is written down.
pub(super) fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs()
}
