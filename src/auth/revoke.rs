//! The end of a login: the tokens are given back and forgotten.

use super::authorizer::{Authorizer, endpoint_address};
use super::error::AuthError;
use super::records::TokenRecord;
use super::token;
use crate::net::Source;

/// How long an answer may be, in bytes.
const LIMIT: usize = 64 << 10;

/// What became of a login.
#[derive(Debug)]
pub struct LoggedOut {
    /// Who had issued the token.
    pub issuer: String,
    /// Whether the issuer has taken the token back; `None` when it does not offer that.
    pub revoked: Option<Result<(), AuthError>>,
}

impl Authorizer {
    /// Forgets the token for the server, and the client that it was issued to, after giving the
    /// token back where the issuer takes it (RFC 7009). `None` when there is none.
    pub async fn log_out(&mut self) -> Result<Option<LoggedOut>, AuthError> {
        let lock = self.vault.lock(&self.key).await?;
        let Some(record) = self.vault.token(&self.key)? else { return Ok(None) };
        let revoked = match record.revocation_endpoint.clone() {
            Some(endpoint) => Some(self.revoke(&record, &endpoint).await),
            None => None,
        };
        self.vault.forget_token(&self.key)?;
        // With a client that the issuer has forgotten, no login would succeed.
        self.vault.forget_client(&record.issuer)?;
        drop(lock);
        Ok(Some(LoggedOut { issuer: record.issuer, revoked }))
    }

    async fn revoke(&self, record: &TokenRecord, endpoint: &str) -> Result<(), AuthError> {
        let address = endpoint_address("revocation endpoint", endpoint)?;
        let client = record.client().ok_or(AuthError::LoginNeeded)?;
        let proof = client.proof(self.client_key.as_ref(), self.now())?;
        // With the refresh token its access tokens end as well.
        let (token, hint) = match record.refresh_token() {
            Some(token) => (token, "refresh_token"),
            None => (record.access_token(), "access_token"),
        };
        let form = vec![("token", token.clone()), ("token_type_hint", hint.into())];
        let (request, secrets) = token::request(address, &form, &proof);
        let source = Source::Document(record.zone);
        let answer = self.fetcher.ask(&request, source, LIMIT).await?;
        token::refusal("revocation", &answer, &secrets).map_or(Ok(()), Err)
    }
}
