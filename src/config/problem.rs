//! What can be wrong with a value. No message contains the value of a variable, a header or a file.

use std::fmt;
use std::path::PathBuf;

use super::quoting::{is_blank, printable};
use super::secret_command::CommandFault;
use super::word::UrlError;
use crate::protocol::json;
use crate::store::Fault;

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

impl fmt::Display for BadValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{}: ", path.display())?;
        }
        let (server, field) = (printable(&self.server), printable(&self.field));
        write!(f, "Server \"{server}\": \"{field}\" {}", self.problem)
    }
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
