//! Copies of lists from the network. Each is verified whenever it is used, not when it is stored.
//!
//! Whoever answers for a host could give out an older list, which is signed as well. So of each URL it
//! is kept when the newest list was issued that was ever used, in a file that nothing else is in.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::config::Digest;
use crate::env::Env;
use crate::protocol::rfc3339;
use crate::store::{self, Fault, Guard};

/// The folder in the state directory. Its files are named by the hash of a list's URL.
const FOLDER: &str = "revocation";
/// The longest file, in bytes: a list and its bundle, quoted.
const LIMIT: u64 = 16 << 20;
/// The longest file with a time, in bytes.
const TIME_LIMIT: u64 = 64;
/// How long another process is waited for that writes one.
const PATIENCE: Duration = Duration::from_secs(2);

/// A copy of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Copy {
    pub(super) list: Vec<u8>,
    /// What says who has signed it.
    pub(super) bundle: Option<Vec<u8>>,
    /// When it was fetched, in seconds since 1970.
    pub(super) fetched_at: i64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    url: String,
    fetched_at: i64,
    list: String,
    bundle: Option<String>,
}

impl Copy {
    /// Whether it was fetched not too long ago, and not in the future.
    pub(super) fn is_fresh(&self, now: i64, max_age: i64) -> bool {
        (0..=max_age).contains(&now.saturating_sub(self.fetched_at))
    }

    /// The copy of the list at a URL.
    pub(super) fn recall(url: &str, env: &Env) -> Result<Option<Copy>, Fault> {
        let Some(path) = path(url, "json", env) else { return Ok(None) };
        let text = store::read_text(&path, LIMIT, Guard::Everybody { user: env.user })?;
        let document = text.and_then(|text| serde_json::from_str::<Document>(&text).ok());
        // What is no copy of this list is none at all, and is fetched anew.
        Ok(document.filter(|document| document.url == url).map(|document| Copy {
            list: document.list.into_bytes(),
            bundle: document.bundle.map(String::into_bytes),
            fetched_at: document.fetched_at,
        }))
    }

    /// Stores it. A list that is not text is stored as one that nobody has signed.
    pub(super) fn store(self, url: &str, env: &Env) -> Result<(), Fault> {
        let Some(path) = path(url, "json", env) else { return Ok(()) };
        let document = Document {
            url: url.to_owned(),
            fetched_at: self.fetched_at,
            list: String::from_utf8_lossy(&self.list).into_owned(),
            bundle: self.bundle.map(|bundle| String::from_utf8_lossy(&bundle).into_owned()),
        };
        let text = serde_json::to_string(&document).expect("texts serialize");
        store::replace(&path, text.as_bytes())
    }
}

/// Makes sure that no list of this URL was used that was issued later; from now on this one was.
///
/// # Errors
/// Why it cannot be relied on.
pub(super) fn hold(url: &str, issued: i64, env: &Env) -> Result<(), String> {
    let Some(path) = path(url, "issued", env) else { return Ok(()) };
    let newest = newest(&path, env)?;
    match newest.is_none_or(|newest| newest < issued) {
        true => match replace_newest(&path, issued, env) {
            // Where nothing can be written, no other copy can come either.
            Err(fault) if !fault.is_unwritable() => Err(fault.to_string()),
            _ => Ok(()),
        },
        false if newest == Some(issued) => Ok(()),
        false => Err(format!(
            "it was issued at {}, and one of {} was used before",
            rfc3339::format(issued),
            rfc3339::format(newest.unwrap_or_default())
        )),
    }
}

/// When the newest list was issued, in seconds since 1970.
fn newest(path: &Path, env: &Env) -> Result<Option<i64>, String> {
    let text = store::read_text(path, TIME_LIMIT, Guard::Everybody { user: env.user });
    let text = text.map_err(|fault| fault.to_string())?;
    let garbled = || format!("{} does not say when the newest list was issued", path.display());
    text.map(|text| rfc3339::parse(text.trim()).ok_or_else(garbled)).transpose()
}

fn replace_newest(path: &Path, issued: i64, env: &Env) -> Result<(), Fault> {
    let _held = store::lock(path, PATIENCE)?;
    // Another process may have used a newer one meanwhile.
    match newest(path, env) {
        Ok(Some(newest)) if issued <= newest => Ok(()),
        _ => store::replace(path, rfc3339::format(issued).as_bytes()),
    }
}

fn path(url: &str, ending: &str, env: &Env) -> Option<PathBuf> {
    let name = format!("{}.{ending}", Digest::of(url.as_bytes()).hex());
    Some(env.state_dir()?.join(FOLDER).join(name))
}
