//! What a policy judges: a server that is about to be used.

use super::super::signature::{Refusal, Verified};
use crate::config::{Digest, Endpoint, Server};
use crate::net::Address;

/// A server that is about to be used.
#[derive(Debug)]
pub(super) struct Subject<'a> {
    /// Its name, or the word that stands for it.
    pub(super) name: &'a str,
    /// Where it is.
    pub(super) place: Place,
    /// The card that was kept for it.
    pub(super) card: Option<Card>,
}

/// Where a server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// On the network.
    Url {
        /// Its URL, as it is compared.
        url: String,
        /// Its host, in lower case and without a dot at the end.
        host: String,
    },
    /// Behind a socket of this machine.
    Socket(String),
    /// In a process to be started: its words.
    Command(Vec<String>),
}

/// A card that was kept.
#[derive(Debug)]
pub(super) struct Card {
    /// The hash of its bytes.
    pub(super) digest: Digest,
    /// The name in it.
    pub(super) name: Option<String>,
    /// The version in it.
    pub(super) version: Option<String>,
    /// Who has signed it, as this policy's trusted root has it.
    pub(super) verified: Result<Verified, Refusal>,
    /// How long ago that was verified with all that there was then, in seconds.
    pub(super) age: i64,
}

impl Place {
    /// Where a server is.
    pub(super) fn of(server: &Server) -> Place {
        match &server.endpoint {
            Endpoint::Stdio(endpoint) => {
                let program = endpoint.program.to_string_lossy().into_owned();
                Place::Command([vec![program], endpoint.args.clone()].concat())
            }
            Endpoint::Http(endpoint) => match &endpoint.socket {
                Some(path) => Place::Socket(path.display().to_string()),
                None => Place::url(&endpoint.url),
            },
        }
    }

    pub(super) fn url(url: &str) -> Place {
        match Address::parse(url) {
            Ok(address) => {
                let host = address.host().trim_end_matches('.').to_ascii_lowercase();
                Place::Url { url: address.as_str().to_owned(), host }
            }
            // It will not be contacted either. No pattern of a host matches nothing.
            Err(_) => Place::Url { url: url.to_owned(), host: String::new() },
        }
    }
}
