//! The lock file of a project: what its servers are, to be committed and reviewed.
//!
//! ```json
//! {"version": 1, "servers": {"files": {"consent_digest": "sha256:…", "command": "sha256:…", …}}}
//! ```
//!
//! What a server says at length is not in it, but as hashes: a reviewer sees what has changed, and no
//! reader of the project takes the words of a server for those of the project.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::facets::Facets;
use super::texts::Parts;
use crate::config::Digest;
use crate::store::{self, Access, Fault, Guard};

/// The longest lock file, in bytes.
const LIMIT: u64 = 32 << 20;
const VERSION: u32 = 1;

/// A lock file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockFile {
    version: u32,
    #[serde(deserialize_with = "super::unique::map")]
    servers: BTreeMap<String, Locked>,
}

/// What a server is locked to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Locked {
    /// One hash of all that follows: the one value to review.
    consent_digest: Digest,
    #[serde(flatten)]
    facets: Facets,
    /// Which members the tools have. They decide nothing, and tell what has changed of a tool.
    #[serde(default, skip_serializing_if = "Parts::is_empty")]
    members: Parts,
}

/// A lock file cannot be used.
#[derive(Debug)]
pub enum LockError {
    /// It cannot be read or written.
    Store(Fault),
    /// There is none.
    Missing(PathBuf),
    /// It is not of this form.
    Garbled(PathBuf, String),
    /// What it says of a server is not what its hash stands for: it was edited by hand.
    Edited(PathBuf, String),
}

impl LockFile {
    /// A lock file without servers.
    pub fn new() -> LockFile {
        LockFile { version: VERSION, servers: BTreeMap::new() }
    }

    /// Reads a lock file, which may come through a pipe until that moment.
    pub fn read(path: &Path, until: Option<Instant>) -> Result<LockFile, LockError> {
        let guard = Guard::Named { until };
        let text = store::read_text(path, LIMIT, guard).map_err(LockError::Store)?;
        let text = text.ok_or_else(|| LockError::Missing(path.to_owned()))?;
        let garbled = |why: String| LockError::Garbled(path.to_owned(), why);
        let file: LockFile = serde_json::from_str(&text).map_err(|why| garbled(why.to_string()))?;
        if file.version != VERSION {
            return Err(garbled(format!("its version is {}, not {VERSION}", file.version)));
        }
        let is_edited = |locked: &Locked| locked.facets.digest() != locked.consent_digest;
        match file.servers.iter().find(|(_, locked)| is_edited(locked)) {
            Some((name, _)) => Err(LockError::Edited(path.to_owned(), name.clone())),
            None => Ok(file),
        }
    }

    /// What a server is locked to; `None` when it is not.
    pub fn get(&self, server: &str) -> Option<&Facets> {
        self.servers.get(server).map(|locked| &locked.facets)
    }

    /// The hashes of the members of a server's tools; none of a file of an earlier version.
    pub fn parts(&self, server: &str) -> Option<&Parts> {
        self.servers.get(server).map(|locked| &locked.members)
    }

    /// The servers that are locked.
    pub fn servers(&self) -> impl Iterator<Item = &str> {
        self.servers.keys().map(String::as_str)
    }

    /// Locks a server, whose tools have these members; tells whether that changes anything.
    pub fn set(&mut self, server: &str, facets: Facets, members: Parts) -> bool {
        let locked = Locked { consent_digest: facets.digest(), facets, members };
        self.servers.insert(server.to_owned(), locked.clone()) != Some(locked)
    }

    /// Writes the file, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), LockError> {
        let mut text = serde_json::to_string_pretty(self).expect("texts and hashes serialize");
        text.push('\n');
        store::rewrite(path, text.as_bytes(), Access::Kept).map_err(LockError::Store)
    }
}

impl Default for LockFile {
    fn default() -> LockFile {
        LockFile::new()
    }
}

impl std::error::Error for LockError {}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LockError::Store(fault) => fault.fmt(f),
            LockError::Missing(path) => write!(f, "there is no lock file {}", path.display()),
            LockError::Garbled(path, why) => write!(f, "{} is no lock file: {why}", path.display()),
            LockError::Edited(path, name) => write!(
                f,
                "{}: what it says of {name} does not fit its consent_digest",
                path.display()
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::facets::Identity;
    use super::*;
    use crate::store::scratch::Scratch;

    fn facets(version: &str) -> Facets {
        let identity = Identity { name: "n".into(), version: version.into() };
        let tools = [("echo".to_owned(), Digest::of(b"x"))].into();
        Facets { identity: Some(identity), tools: Some(tools), ..Facets::default() }
    }

    #[test]
    fn a_lock_reads_back_and_says_whether_it_changes() {
        let scratch = Scratch::new();
        let path = scratch.path("mcpmini.lock.json");
        let mut file = LockFile::new();
        assert!(file.set("s", facets("1"), Parts::new()));
        assert!(!file.set("s", facets("1"), Parts::new()));
        file.write(&path).unwrap();
        let read = LockFile::read(&path, None).unwrap();
        assert_eq!((read.get("s"), read.get("t")), (Some(&facets("1")), None));
        assert_eq!(read.servers().collect::<Vec<_>>(), ["s"]);
        assert!(scratch.read("mcpmini.lock.json").contains("\"echo\": \"sha256:2d71"));
    }

    #[test]
    fn a_file_that_is_not_as_it_was_written_does_not_count() {
        let scratch = Scratch::new();
        let path = scratch.path("lock");
        let refused = || LockFile::read(&path, None).unwrap_err().to_string();
        assert!(refused().contains("there is no lock file"));
        scratch.write("lock", "{}");
        assert!(refused().contains("is no lock file"), "{}", refused());
        scratch.write("lock", r#"{"version":2,"servers":{}}"#);
        assert!(refused().contains("its version is 2"), "{}", refused());
        let mut file = LockFile::new();
        file.set("s", facets("1"), Parts::new());
        file.write(&path).unwrap();
        let text = scratch.read("lock").replace("\"version\": \"1\"", "\"version\": \"2\"");
        scratch.write("lock", &text);
        assert!(refused().contains("of s does not fit its consent_digest"), "{}", refused());
    }

    /// As a merge leaves it when both sides have locked the same server: readers disagree about
    /// which one counts, and people see the first.
    #[test]
    fn what_stands_there_twice_is_refused() {
        let scratch = Scratch::new();
        let path = scratch.path("lock");
        let mut file = LockFile::new();
        file.set("s", facets("1"), Parts::new());
        file.write(&path).unwrap();
        let written = scratch.read("lock");
        let locked = serde_json::to_string(&file.servers["s"]).unwrap();
        let tool = format!("\"echo\": \"{}\"", Digest::of(b"x"));
        for (from, to, why) in [
            ("\"s\": {", format!("\"s\": {locked}, \"s\": {{"), "\"s\" is there twice"),
            (&*tool, format!("{tool}, {tool}"), "\"echo\" is there twice"),
            ("\"tools\": {", "\"tools\": {}, \"tools\": {".into(), "duplicate field `tools`"),
            (
                "\"servers\": {",
                "\"servers\": {}, \"servers\": {".into(),
                "duplicate field `servers`",
            ),
        ] {
            assert!(written.contains(from), "{from}: {written}");
            scratch.write("lock", &written.replace(from, &to));
            let refused = LockFile::read(&path, None).unwrap_err();
            assert!(
                matches!(&refused, LockError::Garbled(_, said) if said.contains(why)),
                "{refused}"
            );
        }
    }
}
