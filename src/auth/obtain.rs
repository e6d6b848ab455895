//! New tokens: each kind of grant, from the authorization server to the vault.

use std::rc::Rc;

use super::authorizer::{Authorizer, Origin, endpoint_address};
use super::client::{Client, Introduction, Method, introduce};
use super::discovery::{Guarded, Issuer};
use super::dpop::Prover;
use super::error::{AuthError, IssuerError};
use super::jose::{OwnKey, random_text};
use super::metadata::is_named;
use super::options::Grant;
use super::person::How;
use super::records::{Provenance, TokenRecord};
use super::scope::Scopes;
use super::token::{TokenEndpoint, Tokens};
use super::{assertion, grants};
use crate::env::Secret;
use crate::net::Source;

/// New tokens.
struct Got {
    client: Client,
    tokens: Tokens,
    /// Whom they are about, see [`Provenance::login`].
    login: String,
}

impl Got {
    /// Each time a person logs in, it may be another one.
    fn by_login((client, tokens): (Client, Tokens)) -> Got {
        Got { client, tokens, login: random_text() }
    }
}

impl Authorizer {
    /// Gets a new token for these scopes.
    pub(super) async fn obtain(
        &mut self,
        guarded: Guarded,
        scopes: Scopes,
        bind: bool,
    ) -> Result<(), AuthError> {
        self.check_issuer(&guarded)?;
        let metadata = &guarded.issuer.metadata;
        if bind && !metadata.supports_dpop() {
            return Err(not_offered(
                &guarded.issuer,
                "tokens that are bound to a P-256 key (DPoP)",
            ));
        }
        let key = bind.then(OwnKey::generate);
        let prover = key.map(|key| Rc::new(Prover::new(key, self.env.clock)));
        let person = self.options.grant == Grant::AuthorizationCode;
        // Jobs that start at the same time share one token; a person is not waited for.
        let lock = match person {
            true => None,
            false => where_possible(self.vault.lock(&self.key).await, None)?,
        };
        if lock.is_some() && self.adopt_newer()? {
            return Ok(());
        }
        let prover_ref = prover.as_ref();
        let Got { client, tokens, login } = match (self.options.grant, self.person.how) {
            (Grant::AuthorizationCode, How::Absent) => return Err(AuthError::LoginNeeded),
            (Grant::AuthorizationCode, How::Device) => {
                Got::by_login(self.by_device(&guarded, &scopes, prover_ref).await?)
            }
            (Grant::AuthorizationCode, How::Browser | How::Paste) => {
                Got::by_login(self.by_browser(&guarded, &scopes, prover_ref).await?)
            }
            (grant, _) => self.by_itself(grant, &guarded, &scopes, prover_ref).await?,
        };
        let metadata = guarded.issuer.metadata;
        let from = Provenance {
            server: self.server.to_string(),
            grant: self.options.grant.name(),
            resource: guarded.resource,
            client,
            token_endpoint: metadata.token_endpoint.unwrap_or_default(),
            revocation_endpoint: metadata.revocation_endpoint,
            zone: guarded.issuer.zone,
            requested: scopes,
            login,
            dpop_key: prover.as_ref().map(|prover| prover.key().to_text()),
        };
        let record = TokenRecord::new(from, tokens, self.now());
        let kept = self.vault.keep_token(&self.key, &record);
        self.hold(record, prover, Origin::New);
        where_possible(kept, ())
    }

    /// A client id that we were given is for one issuer: the one that was named, or the one that it
    /// was first used with.
    fn check_issuer(&self, guarded: &Guarded) -> Result<(), AuthError> {
        let to = &guarded.issuer.metadata.issuer;
        let kept = match (&self.options.issuer, &self.options.client_id) {
            (Some(own), _) => Some(own.clone()),
            (None, Some(id)) => self.vault.issuer_of_client(&self.key, self.server.as_str(), id)?,
            (None, None) => None,
        };
        match kept {
            Some(wanted) if !is_named(to, &wanted) => Err(match self.options.client_id {
                Some(_) => IssuerError::Moved { from: wanted, to: to.clone() }.into(),
                None => IssuerError::NotChosen { wanted, found: to.clone() }.into(),
            }),
            _ => Ok(()),
        }
    }

    /// The grants that need nobody.
    async fn by_itself(
        &self,
        grant: Grant,
        guarded: &Guarded,
        scopes: &Scopes,
        prover: Option<&Rc<Prover>>,
    ) -> Result<Got, AuthError> {
        let issuer = &guarded.issuer;
        let (options, resource) = (&self.options, guarded.resource.as_str());
        let Introduction::Known(client) = introduce(options, &issuer.metadata, None)? else {
            return Err(AuthError::Missing("--client-id"));
        };
        let mut login = String::new();
        let form = match grant {
            Grant::ClientCredentials if client.method == Method::None => {
                return Err(AuthError::Missing("--client-secret-file or --client-key"));
            }
            Grant::AuthorizationCode | Grant::ClientCredentials => {
                grants::client_credentials(resource, scopes)
            }
            Grant::JwtBearer => {
                let audience = issuer.metadata.issuer.as_str();
                let source = options.assertion.as_ref();
                let found = assertion::assertion(source, audience, &self.env, &self.fetcher);
                let assertion = found.await?;
                login = assertion::name_of(&assertion);
                grants::jwt_bearer(assertion, resource, scopes)
            }
            Grant::IdJag => {
                login =
                    options.identity.id_token.as_ref().map(assertion::name_of).unwrap_or_default();
                let jag = self.id_jag(guarded, scopes).await?;
                grants::jwt_bearer(jag, resource, scopes)
            }
        };
        let tokens = self.token_endpoint(issuer, &client, prover)?.ask(&form).await?;
        Ok(Got { client, tokens, login })
    }

    /// The enterprise's word, for the authorization server, on who the person is (2026-07-28,
    /// Enterprise-Managed Authorization).
    async fn id_jag(&self, guarded: &Guarded, scopes: &Scopes) -> Result<Secret, AuthError> {
        let identity = &self.options.identity;
        let endpoint = identity.token_endpoint.as_deref();
        let endpoint = endpoint.ok_or(AuthError::Missing("--idp-token-endpoint"))?;
        let id = identity.client_id.clone().ok_or(AuthError::Missing("--idp-client-id"))?;
        let token = identity.id_token.clone().ok_or(AuthError::Missing("--idp-id-token-file"))?;
        let secret = identity.client_secret.clone();
        let method = if secret.is_some() { Method::Basic } else { Method::None };
        let client = Client {
            issuer: endpoint.to_owned(),
            id,
            secret,
            method,
            redirect_uri: None,
            expires_at: None,
        };
        let provider = TokenEndpoint {
            fetcher: &self.fetcher,
            address: endpoint_address("token endpoint of the identity provider", endpoint)?,
            source: Source::User,
            client: &client,
            key: None,
            prover: None,
            clock: self.env.clock,
        };
        let (audience, resource) = (&guarded.issuer.metadata.issuer, &guarded.resource);
        let tokens = provider.ask(&grants::id_jag(token, audience, resource, scopes)).await?;
        match grants::is_id_jag(tokens.issued_token_type.as_deref()) {
            true => Ok(tokens.access_token),
            false => {
                let why = "holds another kind of token than an ID-JAG";
                Err(AuthError::BadAnswer { what: "token exchange", why })
            }
        }
    }

    pub(super) fn token_endpoint<'a>(
        &'a self,
        issuer: &Issuer,
        client: &'a Client,
        prover: Option<&'a Rc<Prover>>,
    ) -> Result<TokenEndpoint<'a>, AuthError> {
        let endpoint = issuer.metadata.token_endpoint.as_deref();
        let endpoint = endpoint.ok_or_else(|| not_offered(issuer, "tokens"))?;
        Ok(TokenEndpoint {
            fetcher: &self.fetcher,
            address: endpoint_address("token endpoint", endpoint)?,
            source: Source::Document(issuer.zone),
            client,
            key: self.client_key.as_ref(),
            prover,
            clock: self.env.clock,
        })
    }
}

/// Where nothing can be written, as in many containers, a token lasts as long as this process.
fn where_possible<T>(done: Result<T, AuthError>, otherwise: T) -> Result<T, AuthError> {
    match done {
        Err(AuthError::Store(fault)) if fault.is_unwritable() => Ok(otherwise),
        done => done,
    }
}

pub(super) fn not_offered(issuer: &Issuer, what: &'static str) -> AuthError {
    IssuerError::NotOffered { issuer: issuer.metadata.issuer.clone(), what }.into()
}
