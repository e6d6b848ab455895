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
use super::dpop::{Bound, Prover, USE_NONCE};
use super::error::AuthError;
use super::grants;
use super::jose::{OwnKey, SigningKey};
use super::options::{Grant, Options};
use super::person::{How, Person};
use super::records::TokenRecord;
use super::scope::{self, Scopes};
use super::token::TokenEndpoint;
use super::vault::{TokenKey, Vault};
use crate::env::{Env, Secret};
use crate::net::{self, Address, Authorization, Fetcher, Policy, Source};
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
    authorization: Authorization,
    held: Option<Held>,
    /// Whether a renewal failed, so that it is not tried again before each request.
    worn: bool,
    /// The nonce of the server that the last refusal was answered with.
    nonce: Option<String>,
}

/// A token in use.
#[derive(Debug)]
struct Held {
    record: TokenRecord,
    prover: Option<Rc<Prover>>,
    /// Whether it was got in this run, and not renewed.
    is_new: bool,
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

    /// Uses the token that is kept, if it is still good or can be renewed.
    pub fn load(&mut self) -> Result<(), AuthError> {
        let now = self.now();
        let usable =
            |record: &TokenRecord| !record.is_over(now) || record.refresh_token().is_some();
        if let Some(record) = self.vault.token(&self.key)?.filter(usable) {
            self.hold(record, None, false);
        }
        Ok(())
    }

    /// Whether the token should be renewed before the next request.
    pub fn is_due(&self) -> bool {
        let now = self.now();
        let due = |held: &TokenRecord| held.is_due(now) && held.refresh_token().is_some();
        !self.worn && self.record().is_some_and(due)
    }

    /// Renews the token. When that fails it is not tried again before the server has refused it.
    pub async fn prepare(&mut self) -> Result<(), AuthError> {
        let renewed = self.renew().await;
        self.worn = renewed.is_err();
        renewed
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

    /// A token that is good for a while, without having been refused: the one that is kept, renewed
    /// if it is about to end, or a new one if nobody has to log in for it.
    pub async fn usable(&mut self) -> Result<TokenRecord, AuthError> {
        self.load()?;
        if self.is_due() {
            match self.prepare().await {
                Err(AuthError::Refused { .. }) => self.held = None,
                renewed => renewed?,
            }
        }
        let now = self.now();
        if self.record().is_none_or(|record| record.is_over(now)) {
            if self.must_not_ask() {
                return Err(AuthError::LoginNeeded);
            }
            self.log_in().await?;
        }
        self.record().cloned().ok_or(AuthError::LoginNeeded)
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

    fn must_not_ask(&self) -> bool {
        self.options.grant == Grant::AuthorizationCode && self.person.how == How::Absent
    }

    /// Turns the refresh token into new tokens, unless another process has done so.
    async fn renew(&mut self) -> Result<(), AuthError> {
        let _lock = self.vault.lock(&self.key).await?;
        if self.adopt_newer()? {
            return Ok(());
        }
        let held = self.held.as_ref().ok_or(AuthError::LoginNeeded)?;
        // A newer record that has ended as well has the refresh token that counts.
        let kept = self.vault.token(&self.key)?;
        let record = kept.unwrap_or_else(|| held.record.clone());
        let refresh_token = record.refresh_token().ok_or(AuthError::LoginNeeded)?;
        let client = record.client().ok_or(AuthError::LoginNeeded)?;
        let prover = held.prover.clone();
        let endpoint = TokenEndpoint {
            fetcher: &self.fetcher,
            address: endpoint_address("token endpoint", &record.token_endpoint)?,
            source: Source::Document(record.zone.into()),
            client: &client,
            key: self.signing_key.as_ref(),
            prover: prover.as_ref(),
            clock: self.env.clock,
        };
        let tokens = endpoint.ask(&grants::refresh_token(refresh_token, &record.resource)).await?;
        let renewed = record.renewed(tokens, self.now());
        let kept = self.vault.keep_token(&self.key, &renewed);
        self.hold(renewed, prover, false);
        kept
    }

    /// Uses the token of another process when it is newer than ours, and good.
    pub(super) fn adopt_newer(&mut self) -> Result<bool, AuthError> {
        let Some(kept) = self.vault.token(&self.key)? else { return Ok(false) };
        let now = self.now();
        let is_ours =
            self.record().is_some_and(|record| record.access_token() == kept.access_token());
        if is_ours || kept.is_over(now) {
            return Ok(false);
        }
        self.hold(kept, None, false);
        Ok(true)
    }

    /// Uses a token from now on.
    pub(super) fn hold(&mut self, record: TokenRecord, prover: Option<Rc<Prover>>, is_new: bool) {
        let prover = prover.or_else(|| {
            let key = OwnKey::from_text(&record.dpop_key()?)?;
            Some(Rc::new(Prover::new(key, self.env.clock)))
        });
        let token = record.access_token();
        match &prover {
            Some(prover) => {
                let prover = prover.clone();
                self.authorization.set(Rc::new(Bound { token, prover }));
            }
            // A token that no header can carry was refused when it came.
            None => drop(self.authorization.set_bearer(token.expose())),
        }
        self.worn = false;
        self.held = Some(Held { record, prover, is_new });
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
