//! What can be wrong with the word that names a server, with a configuration file, or with a value
//! in it. No message contains the value of a variable, a header or a file.

use std::fmt;
use std::path::PathBuf;

use super::document::{Malformed, Place};
use super::fields::Issue;
use super::quoting::{is_blank, printable};
use super::secret_command::CommandFault;
use super::source::Layer;
use super::word::{UrlError, WordError};
use crate::protocol::json;
use crate::store::Fault;

/// No server to contact.
#[derive(Debug)]
pub enum ConfigError {
    /// The word means no server.
    Word(WordError),
    /// A flag does not fit the server.
    Misfit {
        /// The flag.
        flag: &'static str,
        /// The server.
        server: String,
        /// Whether the flag is for servers that are started.
        for_stdio: bool,
    },
    /// A file cannot be read.
    File(Fault),
    /// The file that was named is not there.
    NoSuchFile(PathBuf),
    /// A file is no configuration.
    Malformed {
        /// Where the mistake is.
        place: Place,
        /// What it is.
        reason: Malformed,
    },
    /// A definition is wrong.
    Invalid {
        /// Where the first mistake is.
        place: Place,
        /// The server.
        server: String,
        /// All mistakes.
        issues: Vec<Issue>,
    },
    /// No file defines the server.
    Unknown {
        /// The name.
        name: String,
        /// The only file that was to be looked into.
        only: Option<Layer>,
        /// A name that is much like it.
        suggestion: Option<String>,
        /// The names there are.
        known: Vec<String>,
        /// The files that were looked into, or for.
        looked_at: Vec<PathBuf>,
    },
    /// The server is switched off.
    Disabled {
        /// The server.
        server: String,
        /// The file that says so.
        path: PathBuf,
    },
    /// A value cannot be used.
    Value(Box<BadValue>),
}

/// A value that cannot be used.
#[derive(Debug)]
pub struct BadValue {
    /// The file; `None` for a server on the command line.
    pub path: Option<PathBuf>,
    /// The server.
    pub server: String,
    /// The field: `headers.Authorization`.
    pub field: String,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with a value.
#[derive(Debug)]
pub enum Problem {
    /// A variable it refers to is not set.
    Unset {
        /// The variable.
        variable: String,
    },
    /// A variable it refers to is not UTF-8.
    NotText {
        /// The variable.
        variable: String,
    },
    /// A `${` in it begins no reference.
    Reference,
    /// It uses something that only the user's own files may use.
    NotOwn(&'static str),
    /// A file it refers to is not there.
    Missing(PathBuf),
    /// A file it refers to cannot be read.
    Unreadable(Fault),
    /// A command gave no value.
    Command(CommandFault),
    /// A line of a file with variables is none.
    EnvFile {
        /// The file.
        path: PathBuf,
        /// The line, beginning with 1.
        line: usize,
    },
    /// It contains a NUL character.
    Nul,
    /// It is empty.
    Empty,
    /// It cannot be a header.
    Header,
    /// It cannot be a URL.
    Url(UrlError),
    /// It is not a directory.
    NoDirectory(PathBuf),
    /// It is a whole command line.
    Blanks(String),
}

impl ConfigError {
    /// Whether the command line is wrong, and not a file.
    pub fn is_usage(&self) -> bool {
        match self {
            ConfigError::Word(_) | ConfigError::Misfit { .. } => true,
            ConfigError::Value(bad) => bad.path.is_none(),
            _ => false,
        }
    }
}

impl From<WordError> for ConfigError {
    fn from(error: WordError) -> ConfigError {
        ConfigError::Word(error)
    }
}

impl From<Fault> for ConfigError {
    fn from(fault: Fault) -> ConfigError {
        ConfigError::File(fault)
    }
}

impl std::error::Error for ConfigError {}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigError::Word(error) => error.fmt(f),
            ConfigError::Misfit { flag, server, for_stdio } => {
                let (server, needed) = (printable(server), kind_of_server(*for_stdio));
                write!(f, "{flag} does not fit {server}: it is for a server that is {needed}")
            }
            ConfigError::File(fault) => fault.fmt(f),
            ConfigError::NoSuchFile(path) => {
                write!(f, "cannot read {}: there is no such file", path.display())
            }
            ConfigError::Malformed { place, reason } => write!(f, "{place}: {reason}"),
            ConfigError::Invalid { place, server, issues } => {
                write!(f, "{place}: ")?;
                for (index, issue) in issues.iter().enumerate() {
                    let separator = if index == 0 { "" } else { "; " };
                    write!(f, "{separator}Server \"{}\": {issue}", printable(server))?;
                }
                Ok(())
            }
            ConfigError::Unknown { name, only, suggestion, known, looked_at } => {
                unknown(f, name, *only, suggestion.as_deref(), known)?;
                looked_at_files(f, looked_at)
            }
            ConfigError::Disabled { server, path } => {
                write!(f, "server \"{}\" is disabled in {}", printable(server), path.display())
            }
            ConfigError::Value(bad) => bad.fmt(f),
        }
    }
}

impl fmt::Display for BadValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{}: ", path.display())?;
        }
        let (server, field) = (printable(&self.server), printable(&self.field));
        write!(f, "Server \"{server}\": \"{field}\" {}", self.problem)
    }
}

fn kind_of_server(stdio: bool) -> &'static str {
    if stdio { "started by a command" } else { "reached by a URL" }
}

fn unknown(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    only: Option<Layer>,
    suggestion: Option<&str>,
    known: &[String],
) -> fmt::Result {
    let qualifier = only.map(|layer| format!("{layer}:")).unwrap_or_default();
    write!(f, "unknown server \"{qualifier}{}\"", printable(name))?;
    if let Some(suggestion) = suggestion {
        write!(f, ": did you mean \"{}\"?", printable(suggestion))?;
    }
    if known.is_empty() {
        return f.write_str("; no server is configured");
    }
    let mut names: Vec<_> = known.iter().map(|name| printable(name)).collect();
    names.sort_unstable();
    names.dedup();
    write!(f, "; there are {}", names.join(", "))
}

fn looked_at_files(f: &mut fmt::Formatter<'_>, paths: &[PathBuf]) -> fmt::Result {
    if paths.is_empty() {
        return f.write_str(" (there is no place to look for it: HOME is not set)");
    }
    let paths: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
    write!(f, " (looked at {})", paths.join(", "))
}

impl fmt::Display for Problem {
    /// What follows the name of the field.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Unset { variable } => {
                let variable = printable(variable);
                write!(f, "needs the variable {variable}, which is not set")
            }
            Problem::NotText { variable } => {
                write!(f, "needs the variable {}, which is not UTF-8", printable(variable))
            }
            Problem::Reference => f.write_str(
                "has a ${ that begins none of ${NAME}, ${NAME:-default}, ${env:NAME} and \
                 ${file:PATH}; a plain one is written $${",
            ),
            Problem::NotOwn(what) => {
                write!(f, "uses {what}, which is only for files of your own")
            }
            Problem::Missing(path) => {
                write!(f, "needs {}, and there is no such file", path.display())
            }
            Problem::Unreadable(fault) => write!(f, "needs a file: {fault}"),
            Problem::Command(fault) => write!(f, "has no value: {fault}"),
            Problem::EnvFile { path, line } => {
                write!(f, "needs {}:{line} to be NAME=value", path.display())
            }
            Problem::Nul => f.write_str("must not contain a NUL character"),
            Problem::Empty => f.write_str("must not be empty"),
            Problem::Header => {
                f.write_str("is no header: its name or its value has characters that none may have")
            }
            Problem::Url(error) => write!(f, "cannot be used: {error}"),
            Problem::NoDirectory(path) => write!(f, "is no directory: {}", path.display()),
            Problem::Blanks(command) => blanks(f, command),
        }
    }
}

/// Suggests how to write a command line that was put into one string.
fn blanks(f: &mut fmt::Formatter<'_>, command: &str) -> fmt::Result {
    let mut words = command.split(is_blank).filter(|word| !word.is_empty()).map(json::string);
    let program = words.next().unwrap_or_default();
    let args = words.collect::<Vec<_>>().join(", ");
    write!(
        f,
        "is not split at blanks, and there is no such program; write \"command\": {program}, \
         \"args\": [{args}]"
    )
}
