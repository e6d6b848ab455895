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
    /// When its copy was fetched, in seconds since 1970, if it is one.
    pub(super) fetched_at: Option<i64>,
    /// What is revoked; else why that is not known, and so everything is refused.
    pub(super) entries: Result<Vec<Entry>, String>,
}

impl List {
    /// A list that cannot be relied on.
    pub(super) fn unread(name: String, why: String) -> List {
        List { name, fetched_at: None, entries: Err(why) }
    }
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

/// What a list says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Contents {
    /// When it was issued, in seconds since 1970.
    pub(super) issued: Option<i64>,
    pub(super) entries: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    r#match: Option<Match>,
    since: Option<String>,
    reason: Option<String>,
    issued: Option<String>,
}

/// Reads a list. A line that cannot be understood makes all of it unusable: it may revoke anything. So
/// does one without any line, which is what a full disk or a broken transfer leaves of it.
pub(super) fn read(list: &[u8]) -> Result<Contents, String> {
    let text = std::str::from_utf8(list).map_err(|error| error.to_string())?;
    let mut contents = Contents { issued: None, entries: Vec::new() };
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let at = |why| format!("line {}: {why}", index + 1);
        match parse(line).map_err(at)? {
            Line { r#match: Some(what), since, reason, issued: None } => {
                what.check().map_err(at)?;
                let since = since.as_deref().map(time).transpose().map_err(at)?;
                contents.entries.push(Entry { what, since, reason });
            }
            Line { r#match: None, since: None, reason: None, issued: Some(issued) }
                if index == 0 =>
            {
                contents.issued = Some(time(&issued).map_err(at)?);
            }
            _ => {
                return Err(at(
                    "it says neither what is revoked nor, as the first, when".to_owned()
                ));
            }
        }
    }
    match contents.issued.is_none() && contents.entries.is_empty() {
        true => Err("it is empty; one that revokes nothing says when it was issued".to_owned()),
        false => Ok(contents),
    }
}

fn parse(line: &str) -> Result<Line, String> {
    canonical::parse(line).map_err(|ambiguous| ambiguous.to_string())?;
    serde_json::from_str(line).map_err(|error| error.to_string())
}

fn time(text: &str) -> Result<i64, String> {
    rfc3339::parse(text).ok_or_else(|| format!("\"{text}\" is no time"))
}
