//! What a policy judges: a server that is about to be used.

use super::super::pins::Publisher;
use super::super::signature::{Refusal, Verified};
use super::command::Command;
use super::host::{host_name, without_port};
use crate::config::{Digest, Endpoint, HttpEndpoint, Server};
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
    /// Who had signed the card that it was added from, whether that one was kept or not.
    pub(super) publisher: Option<&'a Publisher>,
    /// A variable that decides which code its command runs, and was set by somebody whom the policy
    /// does not believe.
    pub(super) steered_by: Option<String>,
    /// Whether somebody whom the policy believes has chosen the directory that its command runs in.
    pub(super) directory_is_believed: bool,
    /// The entry of a registry that it was added from, where that is believed.
    pub(super) listing: Option<Listing>,
    /// The same as a file says it, whoever has written that: `com.example/weather@1.2.0`.
    pub(super) entry: Option<&'a str>,
}

/// An entry of a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listing {
    /// The URL of the registry, without a slash at the end.
    pub(super) base: String,
    /// The name in it, without a version.
    pub(super) name: String,
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
        /// The host that requests are said to be for (`Host`), if that is another one: it chooses who
        /// answers there.
        meant: Option<String>,
        /// How it is reached.
        way: Way,
    },
    /// Behind a socket of this machine.
    Socket {
        /// Its path.
        path: String,
        /// The host that requests are said to be for, if a header says so.
        meant: Option<String>,
    },
    /// In a process to be started.
    Command(Command),
}

/// How a server on the network is reached, as the command line and the environment have it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Way {
    /// The hosts that requests are sent to in place of its own.
    pub detours: Vec<String>,
    /// Whether any certificate is taken.
    pub insecure: bool,
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
    /// How long ago that was verified with all that there was then, in seconds; `None` when that is a
    /// time to come, so that a clock was wrong.
    pub(super) age: Option<i64>,
}

impl Place {
    /// Where a server is.
    pub(super) fn of(server: &Server, way: &Way) -> Place {
        match &server.endpoint {
            Endpoint::Stdio(endpoint) => Place::Command(Command::of(endpoint)),
            Endpoint::Http(endpoint) => match &endpoint.socket {
                Some(path) => {
                    let path = path.display().to_string();
                    Place::Socket { path, meant: host_header(endpoint) }
                }
                None => Place::url(endpoint, way),
            },
        }
    }

    /// The hosts that it is at, is said to be at, or that a command is told to go to.
    pub(super) fn hosts(&self) -> Vec<String> {
        match self {
            Place::Url { host, meant, way, .. } => {
                let named = [Some(host), meant.as_ref()].into_iter().flatten();
                named.chain(&way.detours).cloned().collect()
            }
            Place::Socket { meant, .. } => meant.iter().cloned().collect(),
            Place::Command(command) => command.hosts(),
        }
    }

    /// Who may answer for a server on the network without that he proves to be its host: whoever is on
    /// the way, if there is a way. `None` where nobody may.
    pub(super) fn exposure(&self) -> Option<Exposure> {
        let Place::Url { url, way, .. } = self else { return None };
        let address = Address::parse(url).ok()?;
        let is_here = address.is_loopback() && way.detours.is_empty();
        match (address.is_tls(), way.insecure) {
            _ if is_here => None,
            (true, true) => Some(Exposure::Insecure),
            (true, false) => None,
            (false, _) => Some(Exposure::Plain),
        }
    }

    fn url(endpoint: &HttpEndpoint, way: &Way) -> Place {
        let detours = way.detours.iter().map(|host| host_name(host)).collect();
        let way = Way { detours, ..way.clone() };
        let Ok(address) = Address::parse(&endpoint.url) else {
            // It will not be contacted either. No pattern of a host matches nothing.
            let (url, host) = (endpoint.url.clone(), String::new());
            return Place::Url { url, host, meant: None, way };
        };
        let host = host_name(address.host());
        let meant = host_header(endpoint).filter(|meant| *meant != host);
        Place::Url { url: address.as_str().to_owned(), host, meant, way }
    }
}

/// Why somebody else may answer for a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exposure {
    /// Nothing is encrypted.
    Plain,
    /// Any certificate is taken.
    Insecure,
}

impl std::fmt::Display for Exposure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Exposure::Plain => "without TLS anybody on the way may answer",
            Exposure::Insecure => "with --insecure anybody may answer",
        })
    }
}

/// The host that a header says that requests are for.
fn host_header(endpoint: &HttpEndpoint) -> Option<String> {
    let mut headers = endpoint.headers.iter();
    let (_, value) = headers.find(|(name, _)| name.eq_ignore_ascii_case("host"))?;
    Some(host_name(without_port(value.expose().trim())))
}
