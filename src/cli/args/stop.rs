//! When a command line ends before a command begins: help, the version, a mistake.

use super::choices::{Color, Format};
use super::globals::Globals;
use super::normalise::Given;
use super::settings::{Environment, color, json_errors, output};
use super::usage::UsageError;
use crate::cli::errors::Error;
use crate::cli::exit::Exit;
use crate::cli::help::{Page, version, version_json};
use crate::cli::terminal::Stream;

/// The end of a command line that runs no command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// Why.
    pub why: Why,
    /// The form of answer that the words ask for, as far as they could be read.
    pub output: Option<Format>,
    /// Whether they ask for errors as JSON.
    pub json_errors: bool,
    /// When to use colours.
    pub color: Option<Color>,
}

/// Why no command is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// Help is wanted.
    Help(Page),
    /// The version is wanted.
    Version,
    /// The words make no sense.
    Usage(UsageError),
}

/// What to print in the end, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Farewell {
    /// Where.
    pub stream: Stream,
    /// What, with its line ends. It may be coloured, and nothing else in it steers a terminal.
    pub text: String,
    /// How the program ends.
    pub exit: Exit,
    /// Whether it is to be told as JSON that the text could not be written.
    pub json_errors: bool,
}

impl Stop {
    /// Finds in the options how to report a stop; their values may be wrong.
    pub(super) fn new(why: Why, globals: &[Given]) -> Stop {
        let value = |flag: &str| {
            let given = globals.iter().find(|given| given.flag == flag);
            given.and_then(|given| given.value.as_deref())
        };
        Stop {
            why,
            output: value("--output").and_then(|word| word.parse().ok()),
            json_errors: globals.iter().any(|given| given.flag == "--json-errors"),
            color: value("--color").and_then(|word| word.parse().ok()),
        }
    }

    /// A mistake that came to light only after the options were read.
    pub fn late(mistake: UsageError, globals: &Globals) -> Stop {
        Stop {
            why: Why::Usage(mistake),
            output: globals.output,
            json_errors: globals.json_errors,
            color: globals.color,
        }
    }

    /// What to print. `is_terminal` tells whether a stream is one.
    pub fn farewell(&self, env: Environment<'_>, is_terminal: impl Fn(Stream) -> bool) -> Farewell {
        let (rule, json_errors) = (color(self.color, env), self.wants_json_errors(env));
        let (stream, text, exit) = match &self.why {
            Why::Help(page) => {
                let colored = rule.applies(is_terminal(Stream::Stdout));
                (Stream::Stdout, page.text(colored), Exit::Ok)
            }
            Why::Version if self.output == Some(Format::Json) => {
                (Stream::Stdout, version_json(), Exit::Ok)
            }
            Why::Version => (Stream::Stdout, version(), Exit::Ok),
            Why::Usage(mistake) => {
                let error = Error::from(mistake.clone());
                let text = if json_errors {
                    error.json_line()
                } else {
                    error.text(rule.applies(is_terminal(Stream::Stderr)))
                };
                (Stream::Stderr, text, error.exit)
            }
        };
        Farewell { stream, text, exit, json_errors }
    }

    fn wants_json_errors(&self, env: Environment<'_>) -> bool {
        // The mistake at hand is reported; one in the environment as well would hide it.
        let output = output(self.output, env).unwrap_or(Format::Text);
        json_errors(self.json_errors, output, env).unwrap_or(false)
    }
}
