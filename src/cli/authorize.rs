//! How a command proves to a server who is calling: by a token that was given, or by one that is
//! got for it.

use std::time::Duration;

use super::access;
use super::contact::Contact;
use super::credentials;
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::run::Run;
use super::target;
use crate::auth::{AuthError, Authorizer, DiscoveryError, IssuerError, Person};
use crate::client::{Link, Server};
use crate::config::{self, Endpoint, HttpEndpoint};
use crate::env::Secret;
use crate::net;
use crate::protocol::mask;
use crate::protocol::message::Sent;
use crate::transport::http;

/// How long connecting may take where a server has all the time in the world for its start.
const LONGEST_CONNECT: Duration = Duration::from_secs(24 * 60 * 60);
/// By how much longer connecting may take than the start of which it is a part.
const MARGIN: Duration = Duration::from_secs(1);

impl Contact<'_> {
    /// What gets tokens for the server, with a token if one is kept; `None` for a server that takes
    /// none, or that was given its credentials.
    pub(super) fn loaded_authorizer(
        &self,
        target: &Server,
    ) -> Result<Option<Box<Authorizer>>, Error> {
        let authorizer = self.authorizer_for(target, self.person.clone())?;
        let Some(mut authorizer) = authorizer else { return Ok(None) };
        if !self.anew {
            authorizer.load().map_err(|error| denied(&error, &self.server.name))?;
        }
        Ok(Some(Box::new(authorizer)))
    }

    /// The same without a token, and without a connection.
    pub(super) fn new_authorizer(&self, person: Person) -> Result<Authorizer, Error> {
        let authorizer = self.authorizer_for(&self.target()?, person)?;
        authorizer.ok_or_else(|| self.takes_no_login())
    }

    fn authorizer_for(&self, target: &Server, person: Person) -> Result<Option<Authorizer>, Error> {
        match (&self.server.endpoint, target) {
            (Endpoint::Http(endpoint), Server::Http(target) | Server::Sse(target)) => {
                authorizer(self.run, &self.server, endpoint, target, person)
            }
            _ => Ok(None),
        }
    }

    /// Who the server sees, as far as its answers may depend on it: a login, or a token.
    pub(super) fn account(&self) -> String {
        if !self.is_http() {
            return String::new();
        }
        if let Ok(Some(token)) = self.given_token() {
            return token.expose().to_owned();
        }
        if let Some(link) = &self.link {
            return link.account().unwrap_or_default();
        }
        // Before the server is asked, it is the one whose token is kept.
        let authorizer = self.target().and_then(|target| self.loaded_authorizer(&target));
        let record = authorizer.ok().flatten().and_then(|authorizer| authorizer.record().cloned());
        record.map(|record| record.account()).unwrap_or_default()
    }

    /// The token that was given. It is looked for once: it may come from a pipe, or from a command
    /// that takes its time to fail.
    fn given_token(&self) -> Result<Option<&Secret>, Error> {
        let token = self.token.get_or_init(|| match &self.server.endpoint {
            Endpoint::Http(endpoint) => {
                let token = credentials::token(self.run, &self.server.name, endpoint);
                self.run.redaction.know(token.iter().flatten().cloned());
                token.map_err(Box::new)
            }
            Endpoint::Stdio(_) => Ok(None),
        });
        token.as_ref().map(Option::as_ref).map_err(|error| (**error).clone())
    }

    /// The server, and how it is reached.
    pub(super) fn target(&self) -> Result<Server, Error> {
        let mut server = target::server(self.run, &self.server, self.given_token()?)?;
        if let Server::Http(target) | Server::Sse(target) = &mut server {
            let is_said = self.run.settings.start_timeout.is_some();
            if is_said || self.server.start_timeout.is_some() {
                // The time to connect is a part of that. It is the session that says when it is over.
                let longest = self.start_timeout().map_or(LONGEST_CONNECT, |start| start + MARGIN);
                target.settings.connect_timeout = longest.max(net::CONNECT_TIMEOUT);
            }
        }
        Ok(server)
    }

    /// Makes somebody log in when the server asks for it, whatever token is kept.
    pub(super) fn authorize_anew(&mut self, person: Person) {
        (self.person, self.anew) = (person, true);
    }

    /// What gets tokens for the open connection.
    pub(super) fn authorizer(&mut self) -> Result<&mut Authorizer, Error> {
        let error = self.takes_no_login();
        let (link, _) = self.link()?;
        link.authorizer().ok_or(error)
    }

    fn takes_no_login(&self) -> Error {
        let text = match &self.server.endpoint {
            Endpoint::Stdio(_) => "a server that is started takes its credentials by --env",
            Endpoint::Http(_) => {
                "it was given its credentials: a token, or an Authorization header"
            }
        };
        let error = Error::new(Exit::Usage, text).phase(Phase::Usage).sent(Sent::No);
        error.server(self.server.name.clone())
    }

    /// Says why a refusal for want of credentials had no answer.
    pub(super) fn with_denial(&self, error: Error) -> Error {
        let denial = self.link.as_deref().and_then(Link::denial);
        let (Some(denial), Some(401 | 403)) = (denial, error.status) else { return error };
        let denied = denied(denial, &self.server.name);
        match denial {
            // What the server said tells as much.
            AuthError::LoginNeeded | AuthError::Forbidden(None) => {
                Error { hint: denied.hint.or(error.hint), ..error }
            }
            _ => Error { status: error.status, ..denied },
        }
    }

    /// Whoever is on the way can take a token from a connection that is not encrypted.
    pub(super) fn warn_of_exposure(&self, server: &Server) {
        let (Server::Http(target) | Server::Sse(target)) = server else { return };
        let settings = &target.settings;
        let stays = target.address.is_loopback() || settings.unix_socket.is_some();
        if settings.authorization.is_set() && !target.address.is_tls() && !stays {
            let name = &self.server.name;
            self.run.warn(&format!("{name}: the token goes out over http, which is not encrypted"));
        }
    }

    /// A server may show in an error what we sent to it.
    pub(super) fn without_secrets(&self, error: Error) -> Error {
        let tokens = self.link.as_deref().map(Link::secrets).unwrap_or_default();
        self.run.redaction.know(tokens);
        self.run.redaction.error(error)
    }
}

/// What gets tokens for a server; `None` when it was given credentials that say all.
fn authorizer(
    run: &Run<'_>,
    server: &config::Server,
    endpoint: &HttpEndpoint,
    target: &http::Target,
    person: Person,
) -> Result<Option<Authorizer>, Error> {
    let is_authorization = |(name, _): &(String, _)| name.eq_ignore_ascii_case("authorization");
    let given = target.settings.authorization.is_set()
        || endpoint.headers.iter().any(is_authorization) && run.access.given().is_none();
    if given {
        return Ok(None);
    }
    let options = access::options(run, &endpoint.oauth)?;
    let authorizer = Authorizer::new(&target.address, options, &target.settings, run.env, person);
    authorizer.map(Some).map_err(|error| denied(&error, &server.name))
}

/// Why there is no usable token, as an error of a command.
pub(super) fn denied(error: &AuthError, server: &str) -> Error {
    let exit = match error {
        AuthError::Fetch(net::FetchError::Failed(fault)) if fault.sent == Sent::No => {
            Exit::Unreachable
        }
        AuthError::Fetch(net::FetchError::Unknown(_) | net::FetchError::Late { .. })
        | AuthError::Discovery(DiscoveryError::Unavailable { .. }) => Exit::Unreachable,
        AuthError::Missing(_)
        | AuthError::Key(_)
        | AuthError::Port { .. }
        | AuthError::Helper(_)
        | AuthError::Store(_)
        | AuthError::NoStore
        | AuthError::BadStore(_) => Exit::Config,
        _ => Exit::Auth,
    };
    let denied = Error::new(exit, error.to_string()).phase(Phase::Authorize).sent(Sent::No);
    let lasts = matches!(error, AuthError::Fetch(failed) if !failed.may_pass());
    let denied = denied.retryable(exit.is_retryable() && !lasts).server(server);
    denied.hint_if_any(hint(error, server))
}

fn hint(error: &AuthError, server: &str) -> Option<String> {
    let server = config::quoting::quote(&mask::server(server));
    Some(match error {
        AuthError::LoginNeeded => format!(
            "mcpmini login {server}; or give it a token: MCPMINI_TOKEN, --bearer-file, \
             --bearer-command"
        ),
        AuthError::ScopesNeeded(scopes) => {
            let scopes = config::quoting::quote(&scopes.to_string());
            format!("mcpmini login {server} --scope {scopes}")
        }
        AuthError::Issuer(IssuerError::NoRegistration { .. }) => {
            "register a client there and name it with --client-id, or --client-metadata-url".into()
        }
        AuthError::Refused { what: "registration", .. } => {
            "if a client is known there, name it with --client-id; or give the server a token: \
             MCPMINI_TOKEN, --bearer-file, --bearer-command"
                .into()
        }
        AuthError::Discovery(
            DiscoveryError::NoIssuer { .. } | DiscoveryError::NoMetadata { .. },
        ) => "if it takes tokens of another kind, give it one: MCPMINI_TOKEN, --bearer-file, \
             --bearer-command"
            .into(),
        AuthError::Issuer(IssuerError::Moved { .. }) => {
            "if the client is known there as well, say so with --issuer; else mcpmini logout".into()
        }
        AuthError::NoStore => {
            "set HOME or XDG_STATE_HOME, or name a credential helper (MCPMINI_CREDENTIAL_HELPER)"
                .into()
        }
        AuthError::Issuer(IssuerError::Forgotten { .. }) => {
            format!("mcpmini login {server} registers it anew")
        }
        AuthError::Issuer(IssuerError::NotChosen { .. }) => "see --issuer".into(),
        AuthError::BadStore(_) => "move the file away, and log in again".into(),
        AuthError::Browser(_) => format!("mcpmini login {server} --no-browser"),
        AuthError::Port { .. } => "see --callback-port".into(),
        AuthError::Fetch(net::FetchError::Inwards { .. }) => {
            "if it is to be trusted: --allow-private".into()
        }
        AuthError::Fetch(error) => return error.hint().map(str::to_owned),
        _ => return None,
    })
}
