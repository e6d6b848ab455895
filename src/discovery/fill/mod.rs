//! What a document leaves open, filled in: from a remote to an endpoint that can be written down.
//!
//! A stranger's template must not decide more than it shows: a variable in a host is one label, in
//! a path it is one segment, no header steers the connection, and what a document says is never
//! looked up or run.

mod inputs;
mod template;
mod text;

use std::fmt;

pub use inputs::Missing;
pub(super) use inputs::{Filler, Value};
pub(super) use template::encoded;

use self::text::Text;
use super::claim::{Binding, Claim, Remote};
use crate::net::{Address, InvalidAddress};
use crate::protocol::Revision;
use crate::protocol::headers::is_token;

/// Where values come from.
pub struct Answers<'a> {
    /// What the user says about a name: `--var`, each time it was given, or a variable.
    pub said: &'a dyn Fn(&str) -> Vec<Answer>,
    /// The path of a file that is there, with `~` followed; `None` when it is not.
    pub file: &'a dyn Fn(&str) -> Option<String>,
}

/// What the user says about a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The value itself.
    Plain(String),
    /// Where it is looked up at each use: `${NAME}`, or `!command`.
    Reference(String),
    /// It is in a variable, and can be looked up at each use.
    Variable {
        /// The variable.
        name: String,
        /// Its value now.
        value: String,
    },
}

/// A way to reach a server, as it is written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// How HTTP is used.
    pub binding: Binding,
    /// The URL, in which `${NAME}` may stand.
    pub url: String,
    /// The same with something in the place of references.
    pub address: Address,
    /// The headers; their values may have references.
    pub headers: Vec<(String, String)>,
}

/// Why something could not be filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfilled {
    /// There is no remote that can be used.
    NoRemote {
        /// Whether there is one over HTTP+SSE.
        has_sse: bool,
        /// Whether there is one for revisions that are not known here.
        has_unknown: bool,
    },
    /// Values are missing.
    Missing(Vec<Missing>),
    /// A value does not fit.
    Unfit {
        /// Its name.
        name: String,
        /// What it must be.
        must: String,
    },
    /// A secret was given as it is; it would stand in a file.
    Plain {
        /// Its name.
        name: String,
    },
    /// The words of the document around a value would be read as something else.
    Ambiguous {
        /// Where.
        name: String,
    },
    /// The URL is none.
    Url {
        /// The URL.
        url: String,
        /// Why.
        why: InvalidAddress,
    },
    /// A header that the document must not set.
    Header {
        /// Its name.
        name: String,
    },
}

/// Headers that steer the connection or the protocol, or say who the user is elsewhere.
const REFUSED: [&str; 14] = [
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "upgrade",
    "te",
    "trailer",
    "keep-alive",
    "content-type",
    "accept",
    "accept-encoding",
    "cookie",
    "origin",
    "last-event-id",
];

/// The remote that is used: the first of Streamable HTTP for a revision that is known. HTTP+SSE is
/// used only when that is asked for.
pub fn remote(claim: &Claim, takes_sse: bool) -> Result<&Remote, Unfilled> {
    let speaks = |remote: &&Remote| {
        remote.versions.is_empty()
            || remote.versions.iter().any(|version| Revision::named(version).is_some())
    };
    let sse = || claim.remotes_of(Binding::Sse);
    let wanted = match takes_sse {
        true => sse().next(),
        false => claim.remotes_of(Binding::Http).find(speaks),
    };
    wanted.ok_or_else(|| Unfilled::NoRemote {
        has_sse: sse().next().is_some(),
        has_unknown: claim.remotes_of(Binding::Http).next().is_some(),
    })
}

/// Fills in a remote.
pub fn endpoint(remote: &Remote, answers: &Answers<'_>) -> Result<Endpoint, Unfilled> {
    let mut filler = Filler::new(answers);
    let url = template::url(&remote.url, &remote.variables, &mut filler)?;
    let mut headers = Vec::new();
    for (name, input) in &remote.headers {
        check_header(name)?;
        if let Some(value) = filler.input(name, input)? {
            headers.push((name.clone(), written(name, &value)?));
        }
    }
    filler.finish()?;
    let Some((url, address)) = url else {
        // Something was missing, and that was told.
        return Err(Unfilled::Missing(Vec::new()));
    };
    Ok(Endpoint { binding: remote.binding, url, address, headers })
}

fn check_header(name: &str) -> Result<(), Unfilled> {
    let lower = name.to_ascii_lowercase();
    let is_refused = REFUSED.contains(&lower.as_str())
        || ["mcp-", "proxy-", "sec-"].iter().any(|prefix| lower.starts_with(prefix));
    match is_token(name) && !is_refused {
        true => Ok(()),
        false => Err(Unfilled::Header { name: name.to_owned() }),
    }
}

/// A value as it is written down.
pub(super) fn written(name: &str, value: &Value) -> Result<String, Unfilled> {
    let mut text = Text::default();
    value.write(&mut text);
    let written = text.finish().filter(|text| {
        // There it would be a command.
        !text.starts_with('!') || value.begins_with_reference()
    });
    let written = written.ok_or_else(|| Unfilled::Ambiguous { name: name.to_owned() })?;
    match written.contains(['\r', '\n', '\0']) {
        false => Ok(written),
        true => Err(Unfilled::Unfit { name: name.to_owned(), must: "have one line".to_owned() }),
    }
}

impl fmt::Debug for Answers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answers").finish_non_exhaustive()
    }
}

impl fmt::Display for Unfilled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfilled::NoRemote { has_sse: true, .. } => {
                f.write_str("it is reached only over HTTP+SSE, which is deprecated")
            }
            Unfilled::NoRemote { has_unknown: true, .. } => {
                f.write_str("it speaks only revisions of the protocol that are not known here")
            }
            Unfilled::NoRemote { .. } => f.write_str("it names no endpoint that can be used"),
            Unfilled::Missing(missing) => {
                f.write_str("values are missing:")?;
                missing.iter().try_for_each(|missing| write!(f, "\n{missing}"))
            }
            Unfilled::Unfit { name, must } => write!(f, "the value of {name} must {must}"),
            Unfilled::Plain { name } => write!(f, "{name} is a secret and would stand in a file"),
            Unfilled::Ambiguous { name } => {
                write!(f, "what the document says about {name} cannot be written down safely")
            }
            Unfilled::Url { url, why } => write!(f, "{url:?} is no URL of a server: {why}"),
            Unfilled::Header { name } => {
                write!(f, "the document sets the header {name:?}, which it must not")
            }
        }
    }
}

impl std::error::Error for Unfilled {}
