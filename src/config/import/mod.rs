//! Servers that other programs have in their configuration.
//!
//! ```text
//! places ──> file ──> shape ──> fields of a server ──> translate, dialect ──> an entry of ours
//! ```
//! Nothing is started, run or looked up; what cannot be taken over is named.

mod dialect;
mod oauth;
mod places;
mod shape;
mod translate;

#[cfg(test)]
mod tests;

use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::Value;

pub use self::dialect::Untranslatable;
use self::dialect::{Input, Surroundings};
pub use self::translate::Obstacle;
use super::document::Place;
use super::edit::Entry;
use super::error::ConfigError;
use super::resolved::definition_in;
use super::source::{BYTE_ORDER_MARK, Layer};
use super::word::{NAME_LIMIT, is_name};
use crate::env::Env;
use crate::store::{self, Guard};

/// A program whose configuration can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Claude Code.
    ClaudeCode,
    /// Claude Desktop.
    ClaudeDesktop,
    /// Codex.
    Codex,
    /// Cursor.
    Cursor,
    /// Gemini CLI.
    Gemini,
    /// opencode.
    OpenCode,
    /// Visual Studio Code.
    VsCode,
    /// Windsurf.
    Windsurf,
    /// Zed.
    Zed,
}

/// A server of another program.
#[derive(Debug)]
pub struct Imported {
    /// Its name, in letters that a name may have here.
    pub name: String,
    /// The file it is from.
    pub path: PathBuf,
    /// The same as a definition of ours, or why there is none.
    pub entry: Result<Entry, Refusal>,
    /// What one should know about it.
    pub notes: Vec<Note>,
}

/// Why a server cannot be imported.
#[derive(Debug)]
pub enum Refusal {
    /// One of its values cannot be taken over.
    Obstacle(Obstacle),
    /// What came out is no definition.
    Invalid(ConfigError),
}

/// What one should know about an imported server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// It had another name.
    Renamed(String),
    /// These fields were left out.
    LeftOut(Vec<String>),
    /// The other program asks for a value, which here is that of a variable.
    Asked {
        /// The variable.
        variable: String,
        /// What the other program asks for.
        description: String,
    },
}

/// The longest file, in bytes. Claude Code keeps its history in the same one.
const LIMIT: u64 = 64 << 20;

impl Kind {
    /// Every kind, with the word for it.
    pub const ALL: [(Kind, &'static str); 9] = [
        (Kind::ClaudeCode, "claude-code"),
        (Kind::ClaudeDesktop, "claude-desktop"),
        (Kind::Codex, "codex"),
        (Kind::Cursor, "cursor"),
        (Kind::Gemini, "gemini"),
        (Kind::OpenCode, "opencode"),
        (Kind::VsCode, "vscode"),
        (Kind::Windsurf, "windsurf"),
        (Kind::Zed, "zed"),
    ];

    /// The kind that a word means.
    pub fn named(word: &str) -> Option<Kind> {
        Kind::ALL.iter().find(|(_, known)| *known == word).map(|(kind, _)| *kind)
    }
}

/// What was found in the files of a program.
#[derive(Debug, Default)]
pub struct Found {
    /// The servers, those of the file that counts more first.
    pub servers: Vec<Imported>,
    /// The files that were read.
    pub files: Vec<PathBuf>,
    /// The files that were looked for and are not there.
    pub missing: Vec<PathBuf>,
    /// A file of the project around the working directory. It is not read by itself: somebody else
    /// may have written it, and what is copied from it counts as the user's own.
    pub in_project: Option<PathBuf>,
    /// What is wrong with files.
    pub faults: Vec<ConfigError>,
}

/// Reads the servers of a program from its usual files, or from one that is named.
pub fn import(kind: Kind, from: Option<&Path>, env: &Env) -> Found {
    let in_project = places::in_project(kind, env).filter(|_| from.is_none());
    let mut found = Found { in_project, ..Found::default() };
    let (paths, guard) = match from {
        Some(path) => (vec![env.absolute(path)], Guard::Named { until: env.deadline() }),
        None => (places::files(kind, env), Guard::Strangers { user: env.user }),
    };
    for path in paths {
        match store::read_text(&path, LIMIT, guard) {
            Err(fault) => found.faults.push(fault.into()),
            Ok(None) if from.is_some() => found.faults.push(ConfigError::NoSuchFile(path)),
            Ok(None) => found.missing.push(path),
            Ok(Some(text)) => {
                let text = text.trim_start_matches(BYTE_ORDER_MARK);
                match shape::read(kind, text) {
                    Ok(whole) => add(&mut found, kind, &whole, &path, env),
                    Err((at, reason)) => {
                        let place = Place::at(&path, text, at);
                        found.faults.push(ConfigError::Malformed { place, reason });
                    }
                }
                found.files.push(path);
            }
        }
    }
    found
}

fn add(found: &mut Found, kind: Kind, whole: &Value, path: &Path, env: &Env) {
    let surroundings = Surroundings {
        workspace: places::workspace(path, env.home().as_deref()),
        directory: path.parent().map(Path::to_owned).unwrap_or_default(),
        home: env.home(),
        inputs: Input::all(whole.get("inputs")),
    };
    for mut foreign in shape::servers(kind, whole, env.cwd.as_deref()) {
        if shape::is_excluded(kind, whole, &foreign.name) {
            foreign.fields.insert("disabled".to_owned(), true.into());
        }
        let (entry, mut notes) = translate::translate(kind, &foreign, &surroundings);
        let name = usable(&foreign.name);
        if name != foreign.name {
            notes.insert(0, Note::Renamed(foreign.name.clone()));
        }
        if found.servers.iter().any(|earlier| earlier.name == name) {
            continue;
        }
        let entry = entry.map_err(Refusal::Obstacle).and_then(|entry| check(&name, entry, path));
        found.servers.push(Imported { name, path: path.to_owned(), entry, notes });
    }
}

/// A name with other characters in the place of those that no name can have here.
fn usable(name: &str) -> String {
    if is_name(name) {
        return name.to_owned();
    }
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    let letters = name.chars().map(|letter| if fits(letter) { letter } else { '-' });
    let usable: String = letters.take(NAME_LIMIT).collect();
    let usable = usable.trim_matches('-');
    if usable.is_empty() { "server".to_owned() } else { usable.to_owned() }
}

/// Makes sure that an entry would be understood.
fn check(name: &str, entry: Entry, path: &Path) -> Result<Entry, Refusal> {
    let whole = serde_json::json!({ "mcpServers": { name: entry } }).to_string();
    definition_in(&whole, name, Layer::User, path).map_err(Refusal::Invalid)?;
    Ok(entry)
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Obstacle(Obstacle { field, why }) => write!(f, "{field}: {why}"),
            // Where it would be wrong is in no file.
            Refusal::Invalid(ConfigError::Invalid { issues, .. }) => {
                let issues: Vec<_> = issues.iter().map(ToString::to_string).collect();
                f.write_str(&issues.join("; "))
            }
            Refusal::Invalid(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for Untranslatable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Untranslatable::Reference(inside) => {
                write!(f, "\"{inside}\" means nothing outside of the other program")
            }
            Untranslatable::Escaped(inside) => {
                write!(
                    f,
                    "a $ or a backslash before the reference to {inside} cannot be written here"
                )
            }
            Untranslatable::Command => {
                f.write_str("a value that begins with ! would be run as a command here")
            }
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::Renamed(name) => write!(f, "was called \"{name}\""),
            Note::LeftOut(fields) => write!(f, "left out: {}", fields.join(", ")),
            Note::Asked { variable, description } => {
                write!(f, "set the variable {variable}: {description}")
            }
        }
    }
}
