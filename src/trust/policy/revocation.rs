//! Lists of what is revoked: JSON Lines, one entry each, signed as cards are.

use serde::Deserialize;

use super::rule::Match;
use crate::protocol::{canonical, rfc3339};

/// The longest list, in bytes.
pub(super) const LIST_LIMIT: usize = 4 << 20;

/// A list, or why it cannot be relied on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct List {
    /// Its file or URL.
    pub(super) name: String,
    /// What is revoked; else why that is not known, and so everything is refused.
    pub(super) entries: Result<Vec<Entry>, String>,
}

/// Something that is revoked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) what: Match,
    /// Since when, in seconds since 1970. It is told and changes nothing: who has a key that was
    /// stolen can date back what is signed with it.
    pub(super) since: Option<i64>,
    pub(super) reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    r#match: Match,
    since: Option<String>,
    reason: Option<String>,
}

/// Reads a list. A line that cannot be understood makes all of it unusable: it may revoke anything.
pub(super) fn entries(list: &[u8]) -> Result<Vec<Entry>, String> {
    let text = std::str::from_utf8(list).map_err(|error| error.to_string())?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(index, line)| entry(line).map_err(|why| format!("line {}: {why}", index + 1)))
        .collect()
}

fn entry(line: &str) -> Result<Entry, String> {
    canonical::parse(line).map_err(|ambiguous| ambiguous.to_string())?;
    let Line { r#match: what, since, reason } =
        serde_json::from_str(line).map_err(|error| error.to_string())?;
    what.check()?;
    let since = since.map(|text| rfc3339::parse(&text).ok_or(format!("\"{text}\" is no time")));
    Ok(Entry { what, since: since.transpose()?, reason })
}
