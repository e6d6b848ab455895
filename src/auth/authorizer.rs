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

use super::assertion::{self, Subject};
use super::brake::Brake;
use super::challenge::{Challenge, Scheme};
use super::client::ClientKey;
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

/// For how long a server that refuses a token from the beginning is not asked with another, in
/// seconds: the calls of a batch would all try.
const FRESH: u64 = 10;

/// What turns refusals of one server into tokens for it.
#[derive(Debug)]
pub struct Authorizer {
    pub(super) server: Address,
    pub(super) options: Options,
    pub(super) env: Env,
    pub(super) fetcher: Fetcher,
    pub(super) vault: Vault,
    pub(super) key: TokenKey,
    pub(super) client_key: Option<ClientKey>,
    pub(super) person: Person,
    pub(super) authorization: Authorization,
    pub(super) held: Option<Held>,
    /// Whether a renewal failed, so that it is not tried again before each request.
    pub(super) worn: bool,
    pub(super) brake: Brake,
    /// The nonce of the server that the last refusal was answered with.
    nonce: Option<String>,
}

/// A token in use.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) record: TokenRecord,
    pub(super) prover: Option<Rc<Prover>>,
    /// How we came by it.
    pub(super) origin: Origin,
}

/// How we came by a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// It was kept, by an earlier run or by another process.
    Kept,
    /// It was renewed in this run.
    Renewed,
    /// It is a new one, of this run.
    New,
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
        let client_key = match &options.client_key {
            None => None,
            Some(pem) => {
                let key = SigningKey::from_pem(pem, options.client_key_algorithm);
                let id = options.client_key_id.clone();
                Some(ClientKey { key: key.map_err(AuthError::Key)?, id })
            }
        };
        let (grant, id) = (options.grant.name(), options.client_id.as_deref());
        let (vault, subject) = match assertion::subject(&options, env) {
            Subject::Nobody => (Vault::of(env)?, None),
            Subject::Known(subject) => (Vault::of(env)?, Some(subject)),
            Subject::Unknown => (Vault::none(env), None),
        };
        Ok(Authorizer {
            server: server.clone(),
            fetcher: Fetcher::new(settings, server, policy),
            vault,
            key: TokenKey::new(server.as_str(), grant, id, subject.as_deref()),
            env: env.clone(),
            authorization: settings.authorization.clone(),
            options,
            client_key,
            person,
            held: None,
            worn: false,
            brake: Brake::default(),
            nonce: None,
        })
    }

    /// The token in use.
    pub fn record(&self) -> Option<&TokenRecord> {
        self.held.as_ref().map(|held| &held.record)
    }

    /// What ends the work of this authorizer.
    pub fn brake(&self) -> Brake {
        self.brake.clone()
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
        let persistent = AuthError::Persistent { rounds: round, status: refused.status };
        if ROUNDS < round {
            return Err(persistent);
        }
        // Counted as well: a server could want another nonce each time, without end.
        if error == Some(USE_NONCE) && self.has_new_nonce() {
            return Ok(());
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
        if 1 < round && self.has_new() {
            return Err(persistent);
        }
        self.authorize(challenge, bind, 1 == round, persistent).await
    }

    /// Whether the token in use is a new one of this run.
    fn has_new(&self) -> bool {
        self.held.as_ref().is_some_and(|held| held.origin == Origin::New)
    }

    /// Whether the token in use was issued to this run a moment ago, and should be good.
    fn has_fresh(&self) -> bool {
        let now = self.now();
        self.held.as_ref().is_some_and(|Held { record, origin, .. }| {
            let age = now.saturating_sub(record.issued_at);
            *origin != Origin::Kept && age < FRESH && !record.is_over(now)
        })
    }

    /// Makes sure that a token could be kept for later runs.
    pub async fn check_keeping(&self) -> Result<(), AuthError> {
        match self.vault.keeps() {
            true => self.vault.lock(&self.key).await.map(drop),
            false => Err(AuthError::NoStore),
        }
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

    /// The token is missing, has ended, or was taken back; or no token helps, as `persistent` says.
    async fn authorize(
        &mut self,
        challenge: Option<&Challenge>,
        bind: bool,
        is_first: bool,
        persistent: AuthError,
    ) -> Result<(), AuthError> {
        // Once: a token that is refused although it is new will not get better.
        let is_fresh = self.has_fresh();
        let has_refresh = self.record().is_some_and(|record| record.refresh_token().is_some());
        let refreshable = is_first && !is_fresh && has_refresh;
        if self.must_not_ask() && !refreshable {
            // Another process may have logged in meanwhile.
            return if self.adopt_newer()? { Ok(()) } else { Err(AuthError::LoginNeeded) };
        }
        let guarded = self.discover(challenge).await?;
        let same = self.record().is_some_and(|held| held.issuer == guarded.issuer.metadata.issuer);
        // Another issuer may well be believed.
        if same && is_fresh && self.has_new() {
            return Err(persistent);
        }
        if same && refreshable {
            match self.renew().await {
                Ok(()) => return Ok(()),
                Err(error) if error.ends_token() && !self.brake.is_leaving() => (),
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
        let before = Scopes::parse(&before);
        // Who was just asked for them and gave less gives no more to the next request.
        if self.has_new() && before.cover(&needed) {
            return Err(AuthError::NotGranted(needed));
        }
        let wanted = before.and(needed.iter());
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
        self.env.clock.seconds()
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
