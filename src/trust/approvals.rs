//! Approvals: which definitions of project files the user has agreed to.
//!
//! A project file comes with the repository, so somebody else may have written it, and it says what
//! to run and where to send which secrets. It is used only after the user approved exactly that: an
//! approval is about the hash of the definition, not about its name, so a changed definition needs
//! a new one. Nothing but the user's word approves: neither a terminal nor its absence, nor `CI`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::unapproved::{Effect, Unapproved};
use crate::config::{self, Digest, Layer, Overrides, Resolved, quoting};
use crate::env::Env;
use crate::store::{self, Fault, Guard};

/// The file in the state directory.
const FILE: &str = "approvals.json";
/// The longest file, in bytes.
const LIMIT: u64 = 1 << 20;
/// How many approvals are kept; the oldest ones go.
const COUNT: usize = 2000;
/// How long to wait for other processes that approve something.
const PATIENCE: Duration = Duration::from_secs(5);

/// One approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approval {
    /// The name of the server, for people.
    pub name: String,
    /// The file that defines it, for people.
    pub path: String,
    /// The hash of the definition, `sha256:…`.
    pub sha256: String,
    /// When it was given, in seconds since 1970.
    pub when: u64,
}

/// What the file contains.
#[derive(Serialize, Deserialize)]
struct Document {
    version: u32,
    approvals: Vec<Approval>,
}

const VERSION: u32 = 1;

/// A server may not be used.
#[derive(Debug)]
pub enum TrustError {
    /// The definition comes from a project file, and the user has not approved it.
    Unapproved(Box<Unapproved>),
    /// The approvals cannot be read or written.
    Store(Fault),
    /// The file with the approvals contains something else.
    Garbled(PathBuf),
    /// There is no place for approvals: `HOME` is not set.
    NoPlace,
    /// Without a terminal, the hash of what is approved must be given.
    NeedsHash {
        /// The server.
        name: String,
        /// The hash of its definition.
        digest: Digest,
    },
    /// The hash that was given is not that of the definition.
    OtherHash {
        /// The server.
        name: String,
        /// The hash of its definition.
        digest: Digest,
    },
    /// What was given is no hash.
    NoHash(String),
}

/// Lets a server pass whose definition the user wrote, named or approved.
pub fn admit(resolved: &Resolved, env: &Env, overrides: &Overrides) -> Result<(), TrustError> {
    match unapproved(resolved, env, overrides)? {
        None => Ok(()),
        Some(unapproved) => Err(TrustError::Unapproved(Box::new(unapproved))),
    }
}

/// What there is to approve about a server; `None` when it may be used.
pub fn unapproved(
    resolved: &Resolved,
    env: &Env,
    overrides: &Overrides,
) -> Result<Option<Unapproved>, TrustError> {
    let Some(path) = resolved.origin.path() else { return Ok(None) };
    if resolved.origin.layer().is_none_or(Layer::is_own) {
        return Ok(None);
    }
    let digest = resolved.approval(env);
    if list(env)?.iter().any(|approval| approval.sha256 == digest.to_string()) {
        return Ok(None);
    }
    Ok(Some(Unapproved {
        name: resolved.name.clone(),
        path: path.to_owned(),
        effect: Effect::of(&resolved.definition.target),
        digest,
        hides: config::hidden_by(resolved, env, overrides),
    }))
}

/// All there is to approve in the project.
pub fn pending(env: &Env, overrides: &Overrides) -> Result<Vec<Unapproved>, TrustError> {
    let (listed, _) = config::list(env, overrides);
    let usable = listed.into_iter().filter_map(|server| server.resolved.ok());
    usable.filter_map(|resolved| unapproved(&resolved, env, overrides).transpose()).collect()
}

/// All approvals, oldest first.
pub fn list(env: &Env) -> Result<Vec<Approval>, TrustError> {
    match path(env) {
        None => Ok(Vec::new()),
        Some(path) => read(&path, env),
    }
}

/// Approves a definition, and remembers it.
///
/// `accept` is the hash that the user gave. Without one, being at a terminal must do, where the
/// user has just seen what he approves; a script must say which definition it means, or it would
/// approve whatever the file says by the time it runs.
pub fn approve(
    unapproved: &Unapproved,
    accept: Option<&str>,
    at_terminal: bool,
    env: &Env,
) -> Result<(), TrustError> {
    let Unapproved { name, digest, .. } = unapproved;
    match accept {
        None if !at_terminal => {
            return Err(TrustError::NeedsHash { name: name.clone(), digest: *digest });
        }
        None => {}
        Some(text) => match text.parse::<Digest>() {
            Err(_) => return Err(TrustError::NoHash(text.to_owned())),
            Ok(accepted) if accepted != *digest => {
                return Err(TrustError::OtherHash { name: name.clone(), digest: *digest });
            }
            Ok(_) => {}
        },
    }
    let since_1970 = env.now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let approval = Approval {
        name: name.clone(),
        path: unapproved.path.display().to_string(),
        sha256: digest.to_string(),
        when: since_1970.as_secs(),
    };
    change(env, |approvals| {
        approvals.retain(|earlier| earlier.sha256 != approval.sha256);
        approvals.push(approval);
        approvals.drain(..approvals.len().saturating_sub(COUNT));
    })
}

/// Takes back all approvals of a server of a project file.
pub fn revoke(name: &str, file: &Path, env: &Env) -> Result<(), TrustError> {
    let path = file.display().to_string();
    change(env, |approvals| {
        approvals.retain(|earlier| earlier.name != name || earlier.path != path);
    })
}

fn path(env: &Env) -> Option<PathBuf> {
    Some(env.state_dir()?.join(FILE))
}

fn read(path: &Path, env: &Env) -> Result<Vec<Approval>, TrustError> {
    let text = store::read_text(path, LIMIT, Guard::Everybody { user: env.user })?;
    let Some(text) = text else { return Ok(Vec::new()) };
    match serde_json::from_str::<Document>(&text) {
        Ok(document) if document.version == VERSION => Ok(document.approvals),
        _ => Err(TrustError::Garbled(path.to_owned())),
    }
}

/// Changes the file, with no other process in between.
fn change(env: &Env, how: impl FnOnce(&mut Vec<Approval>)) -> Result<(), TrustError> {
    let path = path(env).ok_or(TrustError::NoPlace)?;
    let _lock = store::lock(&path, PATIENCE)?;
    let mut approvals = read(&path, env)?;
    how(&mut approvals);
    let document = Document { version: VERSION, approvals };
    let text = serde_json::to_string_pretty(&document).expect("texts and numbers serialize");
    Ok(store::replace(&path, text.as_bytes())?)
}

impl From<Fault> for TrustError {
    fn from(fault: Fault) -> TrustError {
        TrustError::Store(fault)
    }
}

impl std::error::Error for TrustError {}

impl fmt::Display for TrustError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrustError::Unapproved(unapproved) => unapproved.fmt(f),
            TrustError::Store(fault) => fault.fmt(f),
            TrustError::Garbled(path) => {
                write!(f, "{} does not contain approvals; remove it", path.display())
            }
            TrustError::NoPlace => f.write_str(
                "there is no place for approvals: neither MCPMINI_STATE_DIR nor XDG_STATE_HOME nor \
                 HOME is set",
            ),
            TrustError::NeedsHash { name, digest } => {
                let name = quoting::quote(name);
                write!(f, "without a terminal, say what you approve: {name} --accept {digest}")
            }
            TrustError::OtherHash { name, digest } => {
                let name = quoting::quote(name);
                write!(f, "{name} is not what you accept: its definition is {digest}")
            }
            TrustError::NoHash(text) => {
                write!(f, "{} is not sha256: and 64 hexadecimal digits", quoting::quote(text))
            }
        }
    }
}
