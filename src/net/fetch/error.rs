//! Why a document was not fetched.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use super::super::fault::NAMELESS;
use super::super::{Address, InvalidAddress, InvalidSettings};
use super::REDIRECTS;
use crate::protocol::mask;
use crate::protocol::message::{Fault, FaultKind, Sent};

/// Why nothing was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FetchError {
    /// It is not encrypted and not on this machine.
    NotEncrypted(Address),
    /// Its address is nearer than that of the document that names it.
    Inwards {
        /// The URL.
        address: Address,
        /// The address it stands for.
        ip: IpAddr,
    },
    /// Its address is one from which nothing is ever fetched.
    Forbidden(Address),
    /// The name has no address.
    Unknown(Address),
    /// A redirect leads from an encrypted connection to one that is not, or to no HTTP URL.
    BadRedirect {
        /// Where it stood.
        from: Address,
        /// Why it was not followed.
        why: Option<InvalidAddress>,
    },
    /// One redirect followed the other.
    TooManyRedirects(Address),
    /// The body is longer than it may be.
    TooLong {
        /// The URL.
        address: Address,
        /// What it may be, in bytes.
        limit: usize,
    },
    /// It took too long.
    Late {
        /// The URL.
        address: Address,
        /// How long it was waited for.
        after: Duration,
    },
    /// A setting cannot be carried out.
    Settings(InvalidSettings),
    /// The exchange failed.
    Failed(Fault),
}

impl FetchError {
    /// Whether the same may succeed later: somebody was not there, or took too long.
    pub fn may_pass(&self) -> bool {
        match self {
            FetchError::Failed(fault) => !fault.lasts,
            FetchError::Unknown(_) | FetchError::Late { .. } => true,
            _ => false,
        }
    }

    /// What to do about it, where that can be told.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            FetchError::Failed(fault) => fault.hint,
            FetchError::Unknown(_) => Some(NAMELESS),
            _ => None,
        }
    }
}

impl From<FetchError> for Fault {
    fn from(error: FetchError) -> Fault {
        match error {
            FetchError::Failed(fault) => fault,
            other => Fault {
                hint: other.hint(),
                lasts: !other.may_pass(),
                ..Fault::new(FaultKind::Unreachable, other.to_string(), Sent::No)
            },
        }
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // It may be the user's own, with a secret in it.
        let shown = |address: &Address| mask::url(address.as_str()).into_owned();
        match self {
            FetchError::NotEncrypted(address) => {
                let address = shown(address);
                write!(f, "{address} is not encrypted: only https is used beyond this machine")
            }
            FetchError::Inwards { address, ip } => write!(
                f,
                "{} has the address {ip}, which is not public, and the document that names it came \
                 from farther away",
                shown(address)
            ),
            FetchError::Forbidden(address) => {
                let address = shown(address);
                write!(f, "{address} is where a cloud keeps its secrets: nothing is fetched there")
            }
            FetchError::Unknown(address) => write!(f, "cannot find {}", address.host_and_port()),
            FetchError::BadRedirect { from, why: None } => {
                write!(f, "{} redirects to a connection that is not encrypted", shown(from))
            }
            FetchError::BadRedirect { from, why: Some(why) } => {
                write!(f, "{} redirects to something that cannot be used: {why}", shown(from))
            }
            FetchError::TooManyRedirects(address) => {
                write!(f, "more than {REDIRECTS} redirects, the last one to {}", shown(address))
            }
            FetchError::TooLong { address, limit } => {
                write!(f, "{} answers with more than {limit} bytes", shown(address))
            }
            FetchError::Late { address, after } => {
                write!(f, "{} did not answer within {} s", shown(address), after.as_secs_f32())
            }
            FetchError::Settings(settings) => settings.fmt(f),
            FetchError::Failed(fault) => f.write_str(&fault.text),
        }
    }
}

impl std::error::Error for FetchError {}
