//! Why there is no usable token.

use std::fmt;
use std::path::PathBuf;

use super::jose::InvalidKey;
use super::scope::Scopes;
use crate::net::{FetchError, InvalidAddress};
use crate::protocol::message::Sent;
use crate::store;

/// Why there is no usable token. What another party wrote was freed of our secrets.
#[derive(Debug)]
pub enum AuthError {
    /// Somebody has to log in, and this command must not ask for it.
    LoginNeeded,
    /// The server does not say that it wants a token.
    NotAsked,
    /// The token does not allow this; somebody has to log in for these scopes.
    ScopesNeeded(Scopes),
    /// The authorization server gives tokens for fewer scopes than the request needs.
    NotGranted(Scopes),
    /// The server refuses the request whatever token there is.
    Forbidden(Option<String>),
    /// The server refuses tokens that were issued for it.
    Persistent {
        /// How often it was tried.
        rounds: u32,
        /// The HTTP status.
        status: u16,
    },
    /// It cannot be found out who issues tokens for the server.
    Discovery(DiscoveryError),
    /// Something that should be a URL is none that may be used.
    BadUrl {
        /// What it is for.
        what: &'static str,
        /// Why it is not used.
        reason: InvalidAddress,
    },
    /// The authorization server does not take us, or must not be asked.
    Issuer(IssuerError),
    /// An option that the grant needs is missing.
    Missing(&'static str),
    /// The key of the client cannot be used.
    Key(InvalidKey),
    /// A file or a command gives no assertion.
    Assertion(String),
    /// The authorization server answered with an error.
    Refused {
        /// What was asked of it: `registration`, `token request`, `login`.
        what: &'static str,
        /// The code of the error.
        code: String,
        /// What it says about it.
        description: Option<String>,
    },
    /// The authorization server answered with something that is no answer.
    BadAnswer {
        /// What was asked of it.
        what: &'static str,
        /// What is wrong with the answer.
        why: &'static str,
    },
    /// The answer to a login came from another authorization server, or does not say from which.
    WrongIss {
        /// Who was asked.
        expected: String,
        /// Whether the answer names somebody.
        named: bool,
    },
    /// The port for the answer to a login cannot be had.
    Port {
        /// The port; 0 for any.
        port: u16,
        /// Why.
        reason: std::io::Error,
    },
    /// No browser could be started.
    Browser(String),
    /// Nobody logged in in time.
    NobodyCame {
        /// Answers that belong to another login.
        strangers: u32,
    },
    /// Tokens cannot be kept or read.
    Store(store::Fault),
    /// There is no directory to keep tokens in.
    NoStore,
    /// What is in the file with the tokens is none of our making.
    BadStore(PathBuf),
    /// The credential helper does not work.
    Helper(String),
    /// A URL could not be fetched.
    Fetch(FetchError),
}

/// Why it cannot be found out who issues tokens for a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiscoveryError {
    /// The server calls itself by the name of another.
    OtherResource {
        /// The URL of the server.
        server: String,
        /// What it calls itself.
        resource: String,
    },
    /// The server names nobody who issues tokens for it.
    NoIssuer {
        /// The server.
        resource: String,
    },
    /// What should name an authorization server cannot be one.
    NotAnIssuer {
        /// What it is.
        issuer: String,
    },
    /// The metadata of one authorization server is by another.
    OtherIssuer {
        /// Whose it should be.
        issuer: String,
        /// Whose it says it is.
        said: String,
    },
    /// An authorization server publishes no metadata.
    NoMetadata {
        /// Its identifier.
        issuer: String,
        /// Where it was looked for.
        looked_at: Vec<String>,
    },
    /// A document is not what it should be.
    Malformed {
        /// Where it was.
        url: String,
    },
    /// A document cannot be had now.
    Unavailable {
        /// Where it is.
        url: String,
        /// The HTTP status.
        status: u16,
    },
}

/// Why an authorization server does not take us, or must not be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IssuerError {
    /// The authorization server does not offer what is needed.
    NotOffered {
        /// The authorization server.
        issuer: String,
        /// What is needed.
        what: &'static str,
    },
    /// The authorization server has no way to make this client known.
    NoRegistration {
        /// The authorization server.
        issuer: String,
    },
    /// The authorization server does not know the client any more that it had registered.
    Forgotten {
        /// The authorization server.
        issuer: String,
    },
    /// The server is not guarded by the authorization server that was chosen.
    NotChosen {
        /// The one that was chosen.
        wanted: String,
        /// Who guards the server.
        found: String,
    },
    /// A client id that belongs to one authorization server would be shown to another.
    Moved {
        /// Whose it is.
        from: String,
        /// Who guards the server now.
        to: String,
    },
}

impl AuthError {
    /// Whether this answer to a renewal means that the refresh token has ended or was taken back.
    pub(super) fn ends_token(&self) -> bool {
        matches!(self, AuthError::Refused { .. } | AuthError::Issuer(IssuerError::Forgotten { .. }))
    }

    /// Whether somebody was not there to be asked.
    pub(super) fn is_absence(&self) -> bool {
        match self {
            AuthError::Fetch(FetchError::Failed(fault)) => fault.sent == Sent::No,
            AuthError::Fetch(FetchError::Unknown(_) | FetchError::Late { .. })
            | AuthError::Discovery(
                DiscoveryError::Unavailable { .. } | DiscoveryError::NoMetadata { .. },
            ) => true,
            _ => false,
        }
    }
}

impl From<DiscoveryError> for AuthError {
    fn from(error: DiscoveryError) -> AuthError {
        AuthError::Discovery(error)
    }
}

impl From<IssuerError> for AuthError {
    fn from(error: IssuerError) -> AuthError {
        AuthError::Issuer(error)
    }
}

impl From<FetchError> for AuthError {
    fn from(error: FetchError) -> AuthError {
        AuthError::Fetch(error)
    }
}

impl From<store::Fault> for AuthError {
    fn from(fault: store::Fault) -> AuthError {
        AuthError::Store(fault)
    }
}

impl fmt::Display for AuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AuthError::LoginNeeded => f.write_str("the server wants a login"),
            AuthError::NotAsked => f.write_str("the server asks for no token"),
            AuthError::ScopesNeeded(scopes) => {
                write!(f, "the token does not allow this; it takes the scopes \"{scopes}\"")
            }
            AuthError::NotGranted(scopes) => {
                write!(f, "it takes the scopes \"{scopes}\", and no token was given for them")
            }
            AuthError::Forbidden(None) => f.write_str("the server does not allow this"),
            AuthError::Forbidden(Some(why)) => write!(f, "the server does not allow this: {why}"),
            AuthError::Persistent { rounds, status } => write!(
                f,
                "the server refuses the request (HTTP {status}) with a token that was issued for \
                 it, {rounds} times"
            ),
            AuthError::Discovery(error) => error.fmt(f),
            AuthError::Issuer(error) => error.fmt(f),
            AuthError::BadUrl { what, reason } => write!(f, "the {what}: {reason}"),
            AuthError::Missing(option) => write!(f, "the grant needs {option}"),
            AuthError::Key(key) => write!(f, "the client key {key}"),
            AuthError::Assertion(why) => write!(f, "no assertion: {why}"),
            AuthError::Refused { what, code, description: None } => {
                write!(f, "the authorization server refused the {what}: {code}")
            }
            AuthError::Refused { what, code, description: Some(description) } => {
                write!(f, "the authorization server refused the {what}: {code}: {description}")
            }
            AuthError::BadAnswer { what, why } => {
                write!(f, "the authorization server's answer to the {what} {why}")
            }
            AuthError::WrongIss { expected, named } => {
                let whose = if *named { "from another issuer" } else { "without an issuer" };
                write!(f, "the answer to the login at {expected} came {whose}; it is not used")
            }
            AuthError::Port { port: 0, reason } => {
                write!(f, "no port for the answer of the browser: {reason}")
            }
            AuthError::Port { port, reason } => {
                write!(f, "the callback port {port} cannot be used: {reason}")
            }
            AuthError::Browser(why) => write!(f, "no browser could be opened: {why}"),
            AuthError::NobodyCame { strangers: 0 } => f.write_str("nobody logged in in time"),
            AuthError::NobodyCame { strangers } => {
                write!(f, "nobody logged in in time; {strangers} answers were for another login")
            }
            AuthError::Store(fault) => fault.fmt(f),
            AuthError::NoStore => {
                f.write_str("there is no place to keep the token: HOME is not set to a directory")
            }
            AuthError::BadStore(path) => {
                write!(
                    f,
                    "cannot read {}: it holds something else than tokens of this version",
                    path.display()
                )
            }
            AuthError::Helper(why) => write!(f, "the credential helper {why}"),
            AuthError::Fetch(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for DiscoveryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DiscoveryError::OtherResource { server, resource } => write!(
                f,
                "the resource metadata of {server} is about another server, {resource}; no token \
                 is asked for"
            ),
            DiscoveryError::NoIssuer { resource } => {
                write!(f, "the resource metadata of {resource} names no authorization server")
            }
            DiscoveryError::NotAnIssuer { issuer } => {
                write!(f, "\"{issuer}\" cannot be the issuer of tokens: it must be an https URL")
            }
            DiscoveryError::OtherIssuer { issuer, said } => write!(
                f,
                "the metadata of the issuer {issuer} is by another issuer, {said}; it is not used"
            ),
            DiscoveryError::NoMetadata { issuer, looked_at } => write!(
                f,
                "the authorization server {issuer} has no metadata at {}",
                looked_at.join(", ")
            ),
            DiscoveryError::Malformed { url } => write!(f, "{url} is no metadata document"),
            DiscoveryError::Unavailable { url, status } => write!(f, "{url} answers HTTP {status}"),
        }
    }
}

impl fmt::Display for IssuerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IssuerError::NotOffered { issuer, what } => {
                write!(f, "the authorization server {issuer} does not offer {what}")
            }
            IssuerError::NoRegistration { issuer } => write!(
                f,
                "the authorization server {issuer} offers no registration: it takes a client id"
            ),
            IssuerError::Forgotten { issuer } => write!(
                f,
                "the authorization server {issuer} has forgotten that this client was registered"
            ),
            IssuerError::NotChosen { wanted, found } => {
                write!(f, "the server is guarded by {found}, and not by {wanted}")
            }
            IssuerError::Moved { from, to } => write!(
                f,
                "the client id belongs to the issuer {from}, and the server is guarded by {to} now"
            ),
        }
    }
}

impl fmt::Display for InvalidKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            InvalidKey::NoKey => "is no private key in PEM (an encrypted one cannot be used)",
            InvalidKey::Unsupported => "is neither one for P-256 nor one for RSA with 2048 bits",
            InvalidKey::OtherAlgorithm => "is for another algorithm than the one that was chosen",
        })
    }
}

impl std::error::Error for AuthError {}
