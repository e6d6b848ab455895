//! Completion in the shell: `mcpmini completions` prints a script, and the script calls
//! `mcpmini __complete` for each time the user asks.
//!
//! ```text
//! __complete bash LINE BREAKS          the line up to the cursor, and COMP_WORDBREAKS
//! __complete zsh|fish WORD... CURRENT  the words after the program's name
//! __complete nushell WORD... CURRENT   the same, with their quotes
//! ```
//! The answer has a line for each word, in the form that the script for this shell reads; the
//! single word `files` leaves it to the shell. For nushell it is a list, as JSON, or `null`.

mod candidate;
mod line;
mod nushell;
mod offer;
mod scripts;
mod stored;
mod typed;
mod values;

use std::fmt::Write;

use self::candidate::{Candidate, Offer};
use self::line::Line;
use self::offer::offer;
use super::args::choices::Shell;
use super::errors::Error;
use super::exit::Exit;
use super::output;
use super::run::Run;
use super::terminal::Stream;
use crate::env::Env;
use crate::env::streams::ENDLESS;
use crate::protocol::json;
use crate::protocol::params::Members;

/// The word that asks for completions. No help text mentions it.
pub(super) const WORD: &str = "__complete";

/// How much of a description is shown, in characters.
const ABOUT: usize = 60;

/// Prints the script for a shell.
pub(super) fn print_script(run: &Run<'_>, shell: Shell) -> Result<Exit, Error> {
    let script = match shell {
        Shell::Bash => scripts::BASH,
        Shell::Zsh => scripts::ZSH,
        Shell::Fish => scripts::FISH,
        Shell::Nushell => scripts::NUSHELL,
    };
    output::write(run, script.as_bytes())?;
    Ok(Exit::Ok)
}

/// Answers a script. Who asks for something else gets nothing: a shell is no place for errors.
pub(super) fn answer(env: &Env) -> Exit {
    let words = env.args.iter().skip(2).map(|word| word.to_string_lossy().into_owned());
    let words: Vec<String> = words.collect();
    if let Some((shell, words)) = words.split_first()
        && let Ok(shell) = shell.parse()
    {
        // Who has gone does not want to know.
        let _ = Stream::Stdout.write(text(shell, words, env).as_bytes(), ENDLESS);
    }
    Exit::Ok
}

fn text(shell: Shell, words: &[String], env: &Env) -> String {
    let mut text = String::new();
    match shell {
        Shell::Bash => {
            let [line, breaks] = words else { return text };
            let line = Line::read(line, breaks);
            match offer(line.words.get(1..).unwrap_or_default(), &line.current, env) {
                Offer::Files => text.push_str("files:\n"),
                Offer::Words(candidates) => {
                    for Candidate { word, is_finished, .. } in candidates {
                        // Writing to a string does not fail.
                        let _ = writeln!(text, "word:{}", line.replacement(&word, is_finished));
                    }
                }
            }
        }
        Shell::Nushell => {
            let words: Vec<String> = words.iter().map(|word| nushell::unquoted(word)).collect();
            let Some((current, words)) = words.split_last() else { return text };
            match offer(words, current, env) {
                Offer::Files => text.push_str("null\n"),
                Offer::Words(candidates) => {
                    let items: Vec<String> = candidates.iter().map(suggestion).collect();
                    text = format!("[{}]\n", items.join(","));
                }
            }
        }
        Shell::Zsh | Shell::Fish => {
            let Some((current, words)) = words.split_last() else { return text };
            // zsh hands over what it has unquoted; fish only the words before.
            let current = match shell {
                Shell::Fish => Line::read(current, "").current,
                _ => current.clone(),
            };
            match offer(words, &current, env) {
                Offer::Files => text.push_str("files\n"),
                Offer::Words(candidates) => {
                    candidates.iter().for_each(|candidate| push(&mut text, shell, candidate));
                }
            }
        }
    }
    text
}

/// A word as nushell reads it: JSON.
fn suggestion(candidate: &Candidate) -> String {
    let mut members = Members::new();
    let word = nushell::quoted(&candidate.word, candidate.is_finished);
    members.push("value", &json::string(&word));
    members.push("description", &json::string(&summary(candidate)));
    members.finish()
}

fn push(text: &mut String, shell: Shell, candidate: &Candidate) {
    if shell == Shell::Zsh {
        text.push_str(if candidate.is_finished { "word\t" } else { "part\t" });
    }
    text.push_str(&candidate.word);
    let about = summary(candidate);
    if !about.is_empty() {
        text.push('\t');
        text.push_str(&about);
    }
    text.push('\n');
}

/// The beginning of a description, on one line.
fn summary(candidate: &Candidate) -> String {
    let line = candidate.about.trim().lines().next().unwrap_or_default();
    let letters = line.chars().take(ABOUT);
    letters.map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod tests;
