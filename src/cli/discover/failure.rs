//! When nothing was found, or more than one thing where one is needed.

use std::collections::HashSet;
use std::fmt::Write;

use super::line;
use crate::cli::errors::{Error, Phase};
use crate::cli::exit::Exit;
use crate::discovery::documents::Miss;
use crate::discovery::{Candidate, Findings, Place};
use crate::net::FetchError;
use crate::protocol::message::Sent;
use crate::protocol::visible::visible;

/// How many places and servers an error lists.
const LISTED: usize = 20;

/// The error when nothing was found, with all places that were looked at.
pub(in crate::cli) fn nothing(word: &str, place: &Place, found: &Findings) -> Error {
    let is_broken = |miss: &Miss| matches!(miss, Miss::Malformed(_));
    let misses = || found.tried.iter().filter_map(|tried| tried.miss.as_ref());
    let is_one = matches!(place, Place::Document(_) | Place::File(_));
    let may_pass = misses().any(Miss::may_pass);
    let is_protected = |miss: &Miss| matches!(miss, Miss::Status(401 | 403));
    let exit = match is_one {
        // There is a document, and to ask again makes no other one of it.
        _ if misses().any(is_broken) && !may_pass => Exit::Protocol,
        true if misses().any(is_protected) => Exit::Auth,
        _ => Exit::Unreachable,
    };
    let mut text = format!("no server was found at {word}");
    for tried in found.tried.iter().take(LISTED) {
        let why = tried
            .miss
            .as_ref()
            .map_or("not the one that is wanted".to_owned(), ToString::to_string);
        let _ = match why.starts_with(&tried.url) {
            true => write!(text, "\n{why}"),
            false => write!(text, "\n{}: {why}", tried.url),
        };
    }
    let error = Error::new(exit, text).phase(Phase::Connect).sent(Sent::No);
    let error = error.retryable(exit == Exit::Unreachable && may_pass);
    let is_plain = |miss: &Miss| matches!(miss, Miss::Failed(FetchError::NotEncrypted(_)));
    match place {
        _ if misses().any(is_plain) => error.hint("--allow-http asks without encryption"),
        Place::Endpoint(_) => error.hint(format!("if that is a card itself, write card:{word}")),
        Place::Host(_) => error.hint("if you know the server's own URL, give that"),
        _ => error,
    }
}

/// The one server that is meant.
pub(in crate::cli) fn choose<'f>(
    word: &str,
    place: &Place,
    found: &'f Findings,
) -> Result<&'f Candidate, Error> {
    match found.candidates.as_slice() {
        [] => Err(nothing(word, place, found)),
        [one] => Ok(one),
        several => {
            let mut text = format!("{} servers were found at {word}:", several.len());
            let mut names = HashSet::new();
            // What stands in no catalog has no other name.
            let mut listed = several.iter().filter(|candidate| candidate.entry.is_some());
            let is_twice = listed.any(|candidate| !names.insert(candidate.shown_name()));
            for candidate in several.iter().take(LISTED) {
                let _ = write!(text, "\n{}", line::columns(candidate)[..3].join("  "));
                if let (true, Some(entry)) = (is_twice, &candidate.entry) {
                    let _ = write!(text, "  {}", visible(&entry.identifier));
                }
            }
            if LISTED < several.len() {
                let _ = write!(text, "\nand {} more", several.len() - LISTED);
            }
            let error = Error::new(Exit::Usage, text).phase(Phase::Usage).sent(Sent::No);
            Err(error.hint(match is_twice {
                true => "--entry IDENTIFIER says which one",
                false => "--entry NAME says which one",
            }))
        }
    }
}
