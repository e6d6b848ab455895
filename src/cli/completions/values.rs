//! The values of options, and words that are one out of a few.

use super::candidate::{Candidate, Offer};
use crate::cli::args::choices::{Color, Format, Http, IdFormat, Shell, Transport};
use crate::cli::args::config_commands::Action;
use crate::cli::args::discovery_commands::CardAction;
use crate::cli::args::doctor_command::FailOn;
use crate::cli::args::many::CacheAction;
use crate::cli::args::policy_commands::PolicyAction;
use crate::cli::args::primitives::TaskAction;
use crate::cli::args::table::Flag;
use crate::cli::args::trust_commands::TrustAction;
use crate::config::Kind;
use crate::protocol::{Revision, method};

/// The value of an option; each offer begins with `before`, and `typed` is what follows that.
pub(super) fn of_flag(flag: &Flag, before: &str, typed: &str) -> Offer {
    let words: Vec<&str> = match flag.long {
        "--output" => Format::ALL.iter().map(|value| value.word()).collect(),
        "--color" => Color::ALL.iter().map(|value| value.word()).collect(),
        "--http" => Http::ALL.iter().map(|value| value.word()).collect(),
        "--transport" => Transport::ALL.iter().map(|value| value.word()).collect(),
        "--id-format" => IdFormat::ALL.iter().map(|value| value.word()).collect(),
        "--protocol" => {
            let dates = Revision::all().iter().rev().map(|revision| revision.date);
            ["auto"].into_iter().chain(dates).collect()
        }
        "--fail-on" => FailOn::ALL.iter().map(|value| value.word()).collect(),
        "--only" => crate::doctor::all_checks().into_iter().map(|(id, _)| id).collect(),
        "--elicit" => vec!["decline", "cancel", "fail", "defaults", "answers:"],
        "--stderr" if !typed.contains('/') => vec!["quiet", "inherit", "tail"],
        "--stderr" => return Offer::Files,
        _ if flag.value.is_some_and(|value| value.contains("FILE") || value.contains("DIR")) => {
            return Offer::Files;
        }
        _ => Vec::new(),
    };
    let candidate = |word: &str| {
        let whole = format!("{before}{word}");
        if word.ends_with(':') { Candidate::part(whole, "") } else { Candidate::new(whole, "") }
    };
    Offer::Words(words.into_iter().map(candidate).collect())
}

/// A word that the help of its command calls by `name`.
pub(super) fn of_word(command: &str, name: &str) -> Offer {
    let words: Vec<&str> = match name {
        "SHELL" => Shell::ALL.iter().map(|value| value.word()).collect(),
        "METHOD" => method::names().collect(),
        "ACTION" if command == "config" => Action::ALL.iter().map(|value| value.word()).collect(),
        "ACTION" if command == "task" => TaskAction::ALL.iter().map(|value| value.word()).collect(),
        "ACTION" if command == "trust" => {
            TrustAction::ALL.iter().map(|value| value.word()).collect()
        }
        "check|refresh" => PolicyAction::ALL.iter().map(|value| value.word()).collect(),
        "[show|check|verify] URL|FILE" => {
            CardAction::ALL.iter().map(|value| value.word()).collect()
        }
        "ls|clear" => CacheAction::ALL.iter().map(|value| value.word()).collect(),
        "KIND" => Kind::ALL.iter().map(|(_, word)| *word).collect(),
        _ if name.contains("FILE") => return Offer::Files,
        _ => Vec::new(),
    };
    Offer::Words(words.into_iter().map(|word| Candidate::new(word, "")).collect())
}
