//! What can be wrong with the word that names a server, or with a configuration file.

use std::fmt;
use std::path::{Path, PathBuf};

use super::document::{Malformed, Place};
use super::fields::Issue;
use super::problem::BadValue;
use super::quoting::printable;
use super::source::Layer;
use super::word::WordError;
use crate::protocol::sorting::sort;
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
    /// The project's file cannot be read, or must not be believed.
    Project(Fault),
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
    /// No server was added from this entry of the registry.
    NotAdded(String),
    /// The server is switched off.
    Disabled {
        /// The server.
        server: String,
        /// The file that says so.
        path: PathBuf,
    },
    /// A value cannot be used.
    Value(Box<BadValue>),
    /// A server of that name is there already.
    Exists {
        /// The server.
        server: String,
        /// The file.
        path: PathBuf,
    },
    /// A server that should be removed is not there.
    Absent {
        /// The server.
        server: String,
        /// The file.
        path: PathBuf,
        /// The file that has it instead.
        elsewhere: Option<Layer>,
        /// A name in the file that is much like it.
        suggestion: Option<String>,
    },
    /// There is no place for the file that should be changed.
    NoPlace(Layer),
    /// A file could not be changed in a way that leaves it readable. It was not changed.
    Unchanged(PathBuf),
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
            ConfigError::Project(fault) => {
                let path = fault.path.display();
                write!(
                    f,
                    "{fault}; `--config {path}` takes it as it is, MCPMINI_NO_PROJECT=1 leaves it out"
                )
            }
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
            ConfigError::NotAdded(entry) => {
                let entry = printable(entry);
                write!(
                    f,
                    "no server was added from registry:{entry}; to see what it is and to add it: \
                     mcpmini add registry:{entry}"
                )
            }
            ConfigError::Disabled { server, path } => {
                write!(f, "server \"{}\" is disabled in {}", printable(server), path.display())
            }
            ConfigError::Value(bad) => bad.fmt(f),
            ConfigError::Exists { server, path } => {
                let (server, path) = (printable(server), path.display());
                write!(f, "server \"{server}\" is in {path} already; --force replaces it")
            }
            ConfigError::Absent { server, path, elsewhere, suggestion } => {
                absent(f, server, path, *elsewhere, suggestion.as_deref())
            }
            ConfigError::NoPlace(Layer::Project) => {
                f.write_str("there is no project: the working directory cannot be read")
            }
            ConfigError::NoPlace(_) => {
                f.write_str("there is no place for a configuration: HOME is not set to a directory")
            }
            ConfigError::Unchanged(path) => {
                write!(f, "{} was not changed: the result could not be read", path.display())
            }
        }
    }
}

fn absent(
    f: &mut fmt::Formatter<'_>,
    server: &str,
    path: &Path,
    elsewhere: Option<Layer>,
    suggestion: Option<&str>,
) -> fmt::Result {
    write!(f, "server \"{}\" is not in {}", printable(server), path.display())?;
    if let Some(suggestion) = suggestion {
        write!(f, ": did you mean \"{}\"?", printable(suggestion))?;
    }
    match elsewhere {
        Some(Layer::Project) => f.write_str("; --project removes the project's"),
        Some(layer) => write!(f, ", but in the file of the {layer}"),
        None => Ok(()),
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
    sort(&mut names);
    names.dedup();
    write!(f, "; there are {}", names.join(", "))
}

fn looked_at_files(f: &mut fmt::Formatter<'_>, paths: &[PathBuf]) -> fmt::Result {
    if paths.is_empty() {
        return f.write_str(" (there is no place to look for it: HOME is not set to a directory)");
    }
    let paths: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
    write!(f, " (looked at {})", paths.join(", "))
}
