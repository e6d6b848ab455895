//! Words that may stand at the cursor.

use std::path::Path;

use crate::env::Env;
use crate::protocol::sorting::sort_by;

/// What may stand at the cursor.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Offer {
    /// A file: that is for the shell to complete.
    Files,
    /// One of these.
    Words(Vec<Candidate>),
}

/// A word that may stand at the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    /// The whole word, without quotes.
    pub(super) word: String,
    /// Whether a blank may follow.
    pub(super) is_finished: bool,
    /// What it is; may be empty.
    pub(super) about: String,
}

impl Candidate {
    /// A word that a blank follows.
    pub(super) fn new(word: impl Into<String>, about: &str) -> Candidate {
        Candidate { word: word.into(), is_finished: true, about: about.to_owned() }
    }

    /// The beginning of a word.
    pub(super) fn part(word: impl Into<String>, about: &str) -> Candidate {
        Candidate { is_finished: false, ..Candidate::new(word, about) }
    }
}

/// The files in a directory that begin like `typed`, each after `before`.
pub(super) fn files(before: &str, typed: &str, env: &Env) -> Vec<Candidate> {
    /// More are no help.
    const LIMIT: usize = 1000;
    let (directory, name) = typed.rfind('/').map_or(("", typed), |at| typed.split_at(at + 1));
    let Ok(entries) = std::fs::read_dir(env.absolute(Path::new(directory)).join(".")) else {
        return Vec::new();
    };
    let candidate = |entry: std::fs::DirEntry| {
        let found = entry.file_name().into_string().ok()?;
        if !found.starts_with(name) || found.starts_with('.') && !name.starts_with('.') {
            return None;
        }
        let word = format!("{before}{directory}{found}");
        Some(match entry.path().is_dir() {
            true => Candidate::part(word + "/", ""),
            false => Candidate::new(word, ""),
        })
    };
    let mut found: Vec<_> = entries.flatten().filter_map(candidate).take(LIMIT).collect();
    sort_by(&mut found, |one, other| one.word.cmp(&other.word));
    found
}
