//! Tokens that are there already: used, shared with other processes, and renewed.

use std::rc::Rc;

use super::authorizer::{Authorizer, Held, Origin, endpoint_address};
use super::dpop::{Bound, Prover};
use super::error::AuthError;
use super::grants;
use super::jose::OwnKey;
use super::records::TokenRecord;
use super::token::TokenEndpoint;
use crate::net::Source;

impl Authorizer {
    /// Uses the token that is kept, if it is still good or can be renewed.
    pub fn load(&mut self) -> Result<(), AuthError> {
        let now = self.now();
        let usable =
            |record: &TokenRecord| !record.is_over(now) || record.refresh_token().is_some();
        if let Some(record) = self.kept()?.filter(usable) {
            self.hold(record, None, Origin::Kept);
        }
        Ok(())
    }

    /// The token that is kept, if it is what the options ask for.
    fn kept(&self) -> Result<Option<TokenRecord>, AuthError> {
        Ok(self.vault.token(&self.key)?.filter(|record| self.options.accept(record)))
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

    /// A token that is good for a while, without having been refused: the one that is kept, renewed
    /// if it is about to end, or a new one if nobody has to log in for it.
    pub async fn usable(&mut self) -> Result<TokenRecord, AuthError> {
        self.load()?;
        if self.is_due() {
            match self.prepare().await {
                Err(error) if error.ends_token() => self.held = None,
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

    /// Turns the refresh token into new tokens, unless another process has done so.
    pub(super) async fn renew(&mut self) -> Result<(), AuthError> {
        let _lock = self.vault.lock(&self.key).await?;
        if self.adopt_newer()? {
            return Ok(());
        }
        let held = self.held.as_ref().ok_or(AuthError::LoginNeeded)?;
        // A newer record that has ended as well has the refresh token that counts. When none is
        // kept although we had one, somebody has logged out, and that shall last.
        let record = match self.vault.keeps() {
            true => self.kept()?.ok_or(AuthError::LoginNeeded)?,
            false => held.record.clone(),
        };
        let refresh_token = record.refresh_token().ok_or(AuthError::LoginNeeded)?;
        let client = record.client().ok_or(AuthError::LoginNeeded)?;
        // Of the same key, its nonces are known.
        let same_key = record.dpop_key() == held.record.dpop_key();
        let prover = held.prover.clone().filter(|_| same_key).or_else(|| self.prover_of(&record));
        let endpoint = TokenEndpoint {
            fetcher: &self.fetcher,
            address: endpoint_address("token endpoint", &record.token_endpoint)?,
            source: Source::Document(record.zone),
            client: &client,
            key: self.client_key.as_ref(),
            prover: prover.as_ref(),
            clock: self.env.clock,
        };
        // Until the new tokens are kept, the old one is all that is left of the login, and it is spent.
        let _renewal = self.brake.renewal();
        let form = grants::refresh_token(refresh_token, &record.resource);
        let tokens = endpoint.ask(&form).await.map_err(|error| self.doubt(error, &client))?;
        let renewed = record.renewed(tokens, self.now());
        let kept = self.vault.keep_token(&self.key, &renewed);
        self.hold(renewed, prover, Origin::Renewed);
        kept
    }

    /// Uses the token of another process when it is newer than ours, and good.
    pub(super) fn adopt_newer(&mut self) -> Result<bool, AuthError> {
        let Some(kept) = self.kept()? else { return Ok(false) };
        let now = self.now();
        let is_ours =
            self.record().is_some_and(|record| record.access_token() == kept.access_token());
        if is_ours || kept.is_over(now) {
            return Ok(false);
        }
        self.hold(kept, None, Origin::Kept);
        Ok(true)
    }

    /// What proves that we have the key of a token; `None` when it is bound to none.
    fn prover_of(&self, record: &TokenRecord) -> Option<Rc<Prover>> {
        let key = OwnKey::from_text(&record.dpop_key()?)?;
        Some(Rc::new(Prover::new(key, self.env.clock)))
    }

    /// Uses a token from now on.
    pub(super) fn hold(&mut self, record: TokenRecord, prover: Option<Rc<Prover>>, origin: Origin) {
        let prover = prover.or_else(|| self.prover_of(&record));
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
        self.held = Some(Held { record, prover, origin });
    }
}
