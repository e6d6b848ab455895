//! Where documents were looked for, and why there was none.

use std::fmt;

use super::super::document::Malformed;
use crate::net::FetchError;

/// A place that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    /// The URL.
    pub url: String,
    /// Why there is no document; `None` when there is one.
    pub miss: Option<Miss>,
    /// Whether an earlier run found that out, and nobody was asked in this one.
    pub is_stored: bool,
}

/// Why there is no document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Miss {
    /// The host says so.
    Status(u16),
    /// It is another kind of document, such as a page for browsers.
    NotJson,
    /// It cannot be read.
    Malformed(Malformed),
    /// It says nothing that is wanted here.
    Other(&'static str),
    /// A registry was asked for one server, and answered about another.
    OtherServer {
        /// In what it is another: its name, or its version.
        what: &'static str,
        /// What the answer has there.
        said: Option<String>,
    },
    /// It could not be fetched.
    Failed(FetchError),
    /// It is not stored, and nobody is to be asked.
    Offline,
    /// So much was asked for before that this was not any more.
    Spent,
}

impl Miss {
    /// Whether the same may be there later.
    pub fn may_pass(&self) -> bool {
        match self {
            Miss::Failed(error) => error.may_pass(),
            Miss::Status(status) => matches!(status, 429 | 502..=504),
            _ => false,
        }
    }

    /// What to do about it, where that can be told.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Miss::Failed(error) => error.hint(),
            _ => None,
        }
    }

    /// Whether the host says that there is nothing of the kind, and not that it cannot tell.
    pub fn is_absence(&self) -> bool {
        matches!(self, Miss::Status(404 | 410) | Miss::Other(_))
    }

    /// Whether the host as a whole is the reason, so that its other documents are missing as well.
    pub fn is_of_host(&self) -> bool {
        let Miss::Failed(error) = self else { return matches!(self, Miss::Spent) };
        matches!(
            error,
            FetchError::NotEncrypted(_)
                | FetchError::Inwards { .. }
                | FetchError::Forbidden(_)
                | FetchError::Unknown(_)
                | FetchError::Late { .. }
                | FetchError::Settings(_)
                | FetchError::Failed(_)
        )
    }
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Miss::Status(status @ (401 | 403)) => write!(f, "HTTP {status}, protected"),
            Miss::Status(status) => write!(f, "HTTP {status}"),
            Miss::NotJson => f.write_str("no JSON document"),
            Miss::Malformed(malformed) => malformed.fmt(f),
            Miss::Other(what) => f.write_str(what),
            Miss::OtherServer { what: "name", said: Some(said) } => {
                write!(f, "it answered about {said:?}")
            }
            Miss::OtherServer { what, said: Some(said) } => {
                write!(f, "it answered about {what} {said:?}")
            }
            Miss::OtherServer { what, said: None } => {
                write!(f, "it answered about a server without a {what}")
            }
            Miss::Failed(error) => error.fmt(f),
            Miss::Offline => f.write_str("not stored"),
            Miss::Spent => f.write_str("not asked for: the limit for one command is reached"),
        }
    }
}
