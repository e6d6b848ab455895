//! Completion in the shell: `mcpmini completions` prints a script, and the script calls
//! `mcpmini __complete` for each time the user asks.
//!
//! ```text
//! __complete bash LINE BREAKS          the line up to the cursor, and COMP_WORDBREAKS
//! __complete zsh|fish WORD... CURRENT  the words after the program's name
//! ```
//! The answer has a line for each word, in the form that the script for this shell reads; the
//! single word `files` leaves it to the shell.

mod line;
mod offer;
mod scripts;
mod stored;
mod values;

use std::fmt::Write;

use self::line::Line;
use self::offer::{Candidate, Offer, offer};
use super::args::choices::Shell;
use super::errors::Error;
use super::exit::Exit;
use super::output;
use super::run::Run;
use super::terminal::Stream;
use crate::env::Env;
use crate::env::streams::ENDLESS;

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

fn push(text: &mut String, shell: Shell, candidate: &Candidate) {
    let Candidate { word, is_finished, about } = candidate;
    if shell == Shell::Zsh {
        text.push_str(if *is_finished { "word\t" } else { "part\t" });
    }
    text.push_str(word);
    let about: String =
        about.trim().lines().next().unwrap_or_default().chars().take(ABOUT).collect();
    if !about.is_empty() {
        text.push('\t');
        text.extend(about.chars().map(|letter| if letter.is_control() { ' ' } else { letter }));
    }
    text.push('\n');
}

#[cfg(test)]
mod tests;
