//! Options that choose one way out of several.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use super::keyword::{NotOneOf, keywords};
use crate::protocol::Revision;
use crate::protocol::model::log::Level;
use crate::protocol::similar::closest;

keywords! {
    /// The form in which an answer is printed (`--output`).
    pub enum Format {
        /// For people and pipes: text as text.
        Text = "text",
        /// The result as the server sent it, on one line.
        Json = "json",
        /// The content blocks, as JSON.
        Content = "content",
        /// The structured content, as JSON.
        Structured = "structured",
        /// The bytes of the only content block.
        Raw = "raw",
        /// Everything that happens, one line of JSON per event.
        Events = "events",
    }
}

keywords! {
    /// A shell (`completions`).
    pub enum Shell {
        /// GNU bash.
        Bash = "bash",
        /// The Z shell.
        Zsh = "zsh",
        /// fish.
        Fish = "fish",
        /// Nushell.
        Nushell = "nushell",
    }
}

keywords! {
    /// The version of HTTP (`--http`).
    pub enum Http {
        /// What client and server agree on.
        Auto = "auto",
        /// HTTP/1.1 only.
        One = "1.1",
        /// HTTP/2 without asking first.
        Two = "2",
    }
}

keywords! {
    /// The binding (`--transport`).
    pub enum Transport {
        /// What the server's address says.
        Auto = "auto",
        /// Streamable HTTP.
        Http = "http",
        /// HTTP with server-sent events, as revision 2024-11-05 had it.
        Sse = "sse",
        /// Standard input and output of a command.
        Stdio = "stdio",
    }
}

keywords! {
    /// The JSON type of request ids (`--id-format`).
    pub enum IdFormat {
        /// `1`
        Number = "number",
        /// `"1"`
        String = "string",
    }
}

keywords! {
    /// When to colour text (`--color`).
    pub enum Color {
        /// On terminals, unless the environment says otherwise.
        Auto = "auto",
        /// Everywhere.
        Always = "always",
        /// Nowhere.
        Never = "never",
    }
}

/// Which revision to speak (`--protocol`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// The newest that both sides know.
    Auto,
    /// This one.
    Only(&'static Revision),
}

impl FromStr for Protocol {
    type Err = NotOneOf;

    fn from_str(given: &str) -> Result<Protocol, NotOneOf> {
        if given == "auto" {
            return Ok(Protocol::Auto);
        }
        Revision::named(given).map(Protocol::Only).ok_or_else(|| {
            let dates = Revision::all().iter().map(|revision| revision.date);
            NotOneOf {
                given: given.to_owned(),
                allowed: std::iter::once("auto").chain(dates).collect(),
            }
        })
    }
}

/// What becomes of the standard error of a started server (`--stderr`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerStderr {
    /// It is thrown away.
    Quiet,
    /// It goes where ours goes, as it comes.
    Inherit,
    /// Its last lines are kept and shown when something fails.
    Tail,
    /// It is written to a file.
    File(PathBuf),
}

impl FromStr for ServerStderr {
    type Err = NotOneOf;

    fn from_str(given: &str) -> Result<ServerStderr, NotOneOf> {
        let words = ["quiet", "inherit", "tail"];
        match given {
            "quiet" => Ok(ServerStderr::Quiet),
            "inherit" => Ok(ServerStderr::Inherit),
            "tail" => Ok(ServerStderr::Tail),
            // A mistyped word must not become a file of that name.
            _ if given.is_empty() || closest(given, words).is_some() => Err(NotOneOf {
                given: given.to_owned(),
                allowed: words.into_iter().chain(["a FILE (./NAME)"]).collect(),
            }),
            _ => Ok(ServerStderr::File(given.into())),
        }
    }
}

/// What to do when the server asks for input (`--elicit`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Elicit {
    /// Answer that the user declined.
    Decline,
    /// Answer that the user dismissed the question.
    Cancel,
    /// End with an error.
    Fail,
    /// Accept with the default values of the form, if it has one for all that is required.
    Defaults,
    /// Answer from a file.
    Answers(PathBuf),
    /// Ask the person at the terminal, if there is one.
    Ask,
    /// Ask a program, named by its command line.
    Program(String),
}

impl FromStr for Elicit {
    type Err = NotOneOf;

    fn from_str(given: &str) -> Result<Elicit, NotOneOf> {
        let after = |prefix| given.strip_prefix(prefix).filter(|rest: &&str| !rest.is_empty());
        match (given, after("answers:"), after("cmd:")) {
            ("decline", ..) => Ok(Elicit::Decline),
            ("cancel", ..) => Ok(Elicit::Cancel),
            ("fail", ..) => Ok(Elicit::Fail),
            ("defaults", ..) => Ok(Elicit::Defaults),
            ("ask", ..) => Ok(Elicit::Ask),
            (_, Some(file), _) => Ok(Elicit::Answers(file.into())),
            (_, _, Some(program)) => Ok(Elicit::Program(program.to_owned())),
            _ => Err(NotOneOf {
                given: given.to_owned(),
                allowed: vec![
                    "decline",
                    "cancel",
                    "fail",
                    "defaults",
                    "ask",
                    "answers:FILE",
                    "cmd:PROG",
                ],
            }),
        }
    }
}

/// Who answers when the server asks for a language model (`--sample`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sample {
    /// Nobody.
    Fail,
    /// A program, named by its command line.
    Program(String),
}

impl FromStr for Sample {
    type Err = NotOneOf;

    fn from_str(given: &str) -> Result<Sample, NotOneOf> {
        match (given, given.strip_prefix("cmd:")) {
            ("fail", _) => Ok(Sample::Fail),
            (_, Some(program)) if !program.is_empty() => Ok(Sample::Program(program.to_owned())),
            _ => Err(NotOneOf { given: given.to_owned(), allowed: vec!["fail", "cmd:PROG"] }),
        }
    }
}

/// How progress is shown (`--progress`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// As a bar, when standard error is a terminal and the call takes long.
    Auto,
    /// Not at all.
    None,
    /// As JSON, one line per report, on standard error. `jsonl` says the same.
    Json,
}

impl FromStr for Progress {
    type Err = NotOneOf;

    fn from_str(given: &str) -> Result<Progress, NotOneOf> {
        match given {
            "auto" => Ok(Progress::Auto),
            "none" => Ok(Progress::None),
            "json" | "jsonl" => Ok(Progress::Json),
            _ => Err(NotOneOf { given: given.to_owned(), allowed: vec!["auto", "none", "json"] }),
        }
    }
}

/// The level of a log message (`--log-level`).
pub(super) fn log_level(given: &str) -> Result<Level, NotOneOf> {
    Level::named(given).ok_or_else(|| NotOneOf {
        given: given.to_owned(),
        allowed: Level::NAMES.iter().map(|(_, name)| *name).collect(),
    })
}

/// Where a bearer token comes from (`--bearer-file`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BearerFile {
    /// A file.
    Path(PathBuf),
    /// An open file descriptor, written `fd:N`.
    Descriptor(u32),
}

/// A file descriptor that is no number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InvalidBearerFile {
    /// There is no name.
    Empty,
    /// `fd:` is not followed by a number that is no standard stream but standard input.
    Descriptor,
}

impl fmt::Display for InvalidBearerFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InvalidBearerFile::Empty => f.write_str("the file name is empty"),
            InvalidBearerFile::Descriptor => {
                f.write_str("fd: needs the number of a descriptor open for reading, like fd:3")
            }
        }
    }
}

impl FromStr for BearerFile {
    type Err = InvalidBearerFile;

    fn from_str(given: &str) -> Result<BearerFile, InvalidBearerFile> {
        let Some(number) = given.strip_prefix("fd:") else {
            return match given {
                "" => Err(InvalidBearerFile::Empty),
                path => Ok(BearerFile::Path(path.into())),
            };
        };
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        match number.parse() {
            Ok(number @ (0 | 3..=0x7fff_ffff)) if is_number => Ok(BearerFile::Descriptor(number)),
            _ => Err(InvalidBearerFile::Descriptor),
        }
    }
}
