//! What turns refusals of one server into tokens for it.
//!
//! ```text
//! prepare   before a request:  the token ends soon                      renew
//! answer    after a refusal:  401  another process was faster           use its token
//!                                  there is a refresh token             renew
//!                                  else                                 get a new one
//!                             403  more scopes would help               get a new one for all of them
//! ```

use std::rc::Rc;
use std::time::SystemTime;

use super::challenge::{Challenge, Scheme};
use super::discovery::{Guarded, discover};
use super::dpop::{Prover, USE_NONCE};
use super::error::AuthError;
use super::jose::SigningKey;
use super::options::{Grant, Options};
use super::person::{How, Person};
use super::records::TokenRecord;
use super::scope::{self, Scopes};
use super::vault::{TokenKey, Vault};
use crate::env::{Env, Secret};
use crate::net::{self, Address, Authorization, Fetcher, Policy};
use crate::protocol::message::Refused;

/// How often a request may be refused before its refusal counts.
const ROUNDS: u32 = 3;

/// What turns refusals of one server into tokens for it.
#[derive(Debug)]
pub struct Authorizer {
    pub(super) server: Address,
    pub(super) options: Options,
    pub(super) env: Env,
    pub(super) fetcher: Fetcher,
    pub(super) vault: Vault,
    pub(super) key: TokenKey,
    pub(super) signing_key: Option<SigningKey>,
    pub(super) person: Person,
    pub(super) authorization: Authorization,
    pub(super) held: Option<Held>,
    /// Whether a renewal failed, so that it is not tried again before each request.
    pub(super) worn: bool,
    /// The nonce of the server that the last refusal was answered with.
    nonce: Option<String>,
}

/// A token in use.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) record: TokenRecord,
    pub(super) prover: Option<Rc<Prover>>,
    /// Whether it was got in this run, and not renewed.
    pub(super) is_new: bool,
}

impl Authorizer {
    /// An authorizer for the server at an address, which is reached as `settings` say and whose
    /// credentials are those of `settings`. Errors when what the options name cannot be used.
    pub fn new(
        server: &Address,
        options: Options,
        settings: &net::Settings,
        env: &Env,
        person: Person,
    ) -> Result<Authorizer, AuthError> {
        let policy = Policy { allow_private: options.allow_private, allow_http: false };
        let signing_key = match &options.client_key {
            None => None,
            Some(pem) => {
                let key = SigningKey::from_pem(pem, options.client_key_algorithm);
                Some(key.map_err(AuthError::Key)?)
            }
        };
        let grant = options.grant.name();
        Ok(Authorizer {
            server: server.clone(),
            fetcher: Fetcher::new(settings, server, policy),
            vault: Vault::of(env)?,
            key: TokenKey::new(server.as_str(), grant, options.client_id.as_deref()),
            env: env.clone(),
            authorization: settings.authorization.clone(),
            options,
            signing_key,
            person,
            held: None,
            worn: false,
            nonce: None,
        })
    }

    /// The token in use.
    pub fn record(&self) -> Option<&TokenRecord> {
        self.held.as_ref().map(|held| &held.record)
    }

    /// The extensions of MCP that are used.
    pub fn extensions(&self) -> Vec<&'static str> {
        self.options.extensions()
    }

    /// What must not be shown.
    pub fn secrets(&self) -> Vec<Secret> {
        let record = self.record();
        let tokens = record.map(|record| [Some(record.access_token()), record.refresh_token()]);
        let tokens = tokens.into_iter().flatten().flatten();
        tokens.chain(self.options.client_secret.clone()).collect()
    }

    /// Gets other credentials after the server has refused a request for the `round`th time. When
    /// it succeeds, the request may be sent again.
    pub async fn answer(&mut self, refused: &Refused, round: u32) -> Result<(), AuthError> {
        let challenges = Challenge::parse_all(&refused.challenges);
        let challenge = Challenge::choose(&challenges);
        let error = challenge.and_then(Challenge::error);
        if error == Some(USE_NONCE) && self.has_new_nonce() {
            return Ok(());
        }
        let persistent = AuthError::Persistent { rounds: round, status: refused.status };
        if ROUNDS < round {
            return Err(persistent);
        }
        let bind = self.options.dpop || asks_for_binding(&challenges);
        if refused.status == 403 {
            return match (challenge, error) {
                (Some(challenge), Some("insufficient_scope")) => {
                    self.step_up(challenge, bind).await
                }
                _ => Err(AuthError::Forbidden(None)),
            };
        }
        // Who refuses a token that was just issued for it refuses the next one, too.
        if 1 < round && self.held.as_ref().is_some_and(|held| held.is_new) {
            return Err(persistent);
        }
        self.authorize(challenge, bind, 1 == round).await
    }

    /// Gets a token without having been refused, for a server that says who issues one.
    pub async fn log_in(&mut self) -> Result<(), AuthError> {
        let guarded = self.discover(None).await?;
        if !guarded.published {
            return Err(AuthError::NotAsked);
        }
        let scopes = self.scopes(&guarded, None);
        self.obtain(guarded, scopes, self.options.dpop).await
    }

    /// Whether it has become known which nonce the server wants.
    fn has_new_nonce(&mut self) -> bool {
        let prover = self.held.as_ref().and_then(|held| held.prover.as_ref());
        let nonce = prover.and_then(|prover| prover.nonce(&self.server));
        let is_new = nonce.is_some() && nonce != self.nonce;
        self.nonce = nonce;
        is_new
    }

    /// The token is missing, has ended, or was taken back.
    async fn authorize(
        &mut self,
        challenge: Option<&Challenge>,
        bind: bool,
        is_first: bool,
    ) -> Result<(), AuthError> {
        // Once: a token that is refused although it is new will not get better.
        let refreshable =
            is_first && self.record().is_some_and(|record| record.refresh_token().is_some());
        if self.must_not_ask() && !refreshable {
            // Another process may have logged in meanwhile.
            return if self.adopt_newer()? { Ok(()) } else { Err(AuthError::LoginNeeded) };
        }
        let guarded = self.discover(challenge).await?;
        let same = self.record().is_some_and(|held| held.issuer == guarded.issuer.metadata.issuer);
        if same && refreshable {
            match self.renew().await {
                Ok(()) => return Ok(()),
                // The refresh token has ended or was taken back.
                Err(AuthError::Refused { .. }) => (),
                Err(error) => return Err(error),
            }
        }
        let scopes = self.scopes(&guarded, challenge);
        self.obtain(guarded, scopes, bind).await
    }

    /// The token is good for less than this request needs.
    async fn step_up(&mut self, challenge: &Challenge, bind: bool) -> Result<(), AuthError> {
        let needed = challenge.scopes();
        let has = self.record().map(TokenRecord::scopes).unwrap_or_default();
        if needed.is_empty() || has.cover(&needed) {
            let why = challenge.error_description().map(str::to_owned);
            return Err(AuthError::Forbidden(why));
        }
        let before = self.record().map(|record| record.requested.clone()).unwrap_or_default();
        let wanted = Scopes::parse(&before).and(needed.iter());
        if self.must_not_ask() {
            return Err(AuthError::ScopesNeeded(wanted));
        }
        let guarded = self.discover(Some(challenge)).await?;
        self.obtain(guarded, wanted, bind).await
    }

    async fn discover(&self, challenge: Option<&Challenge>) -> Result<Guarded, AuthError> {
        let held = self.record().map(|record| record.issuer.as_str());
        let preferred: Vec<&str> = self.options.issuer.as_deref().into_iter().chain(held).collect();
        discover(&self.fetcher, &self.server, challenge, &preferred).await
    }

    /// The scopes to ask for: what is needed, and what was asked for before.
    fn scopes(&self, guarded: &Guarded, challenge: Option<&Challenge>) -> Scopes {
        let challenged = challenge.map(Challenge::scopes).unwrap_or_default();
        let supported = guarded.scopes_supported.as_deref();
        let scopes = scope::initial(&self.options.scopes, &challenged, supported);
        let metadata = &guarded.issuer.metadata;
        let scopes = match self.record() {
            Some(held) if held.issuer == metadata.issuer && self.options.scopes.is_empty() => {
                scopes.and(Scopes::parse(&held.requested).iter())
            }
            _ => scopes,
        };
        match self.options.grant {
            Grant::AuthorizationCode => {
                scope::with_refresh(scopes, metadata.scopes_supported.as_deref())
            }
            _ => scopes,
        }
    }

    pub(super) fn must_not_ask(&self) -> bool {
        self.options.grant == Grant::AuthorizationCode && self.person.how == How::Absent
    }

    /// The time now, in seconds since 1970.
    pub(super) fn now(&self) -> u64 {
        let now = self.env.now().duration_since(SystemTime::UNIX_EPOCH);
        now.unwrap_or_default().as_secs()
    }
}

/// Whether the server takes only tokens that are bound to a key.
fn asks_for_binding(challenges: &[Challenge]) -> bool {
    let has = |scheme: Scheme| challenges.iter().any(|challenge| challenge.scheme == scheme);
    has(Scheme::Dpop) && !has(Scheme::Bearer)
}

/// An endpoint that metadata names.
pub(super) fn endpoint_address(what: &'static str, url: &str) -> Result<Address, AuthError> {
    Address::parse(url).map_err(|reason| AuthError::BadUrl { what, reason })
}
