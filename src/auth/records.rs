//! What is kept between two runs: tokens, and the clients that were registered for them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::client::{Client, Method};
use super::metadata::is_named;
use super::options::{Grant, Options};
use super::scope::Scopes;
use super::token::Tokens;
use crate::env::Secret;
use crate::net::Zone;

/// All that is kept.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Records {
    /// The version of this form.
    #[serde(default)]
    pub version: u32,
    /// Tokens by their keys.
    #[serde(default)]
    pub tokens: BTreeMap<String, TokenRecord>,
    /// Registered clients by their issuers.
    #[serde(default)]
    pub clients: BTreeMap<String, ClientRecord>,
}

/// The version of the form that this program writes.
pub(super) const VERSION: u32 = 1;

/// A token and all that is needed to use and to renew it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRecord {
    /// The URL of the server that it opens.
    pub server: String,
    /// How it was got.
    pub grant: String,
    /// Tells one login from the next, and one subject of assertions from the other; empty when the
    /// client asked for itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    login: String,
    /// What it was asked for by.
    pub resource: String,
    /// Who issued it.
    pub issuer: String,
    /// The client that it was issued to.
    pub client: ClientRecord,
    /// Where it is renewed.
    pub token_endpoint: String,
    /// Where it is given back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revocation_endpoint: Option<String>,
    /// How near the metadata was that named these.
    pub zone: Zone,
    /// The token.
    access_token: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh_token: Option<String>,
    /// The key that the token is bound to.
    #[serde(skip_serializing_if = "Option::is_none")]
    dpop_key: Option<String>,
    /// The scopes that were asked for.
    pub requested: String,
    /// The scopes that were granted, if the server said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub granted: Option<String>,
    /// When it was issued, in seconds since 1970.
    pub issued_at: u64,
    /// When it ends, in seconds since 1970, if the server said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
}

/// A client as one authorization server knows it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientRecord {
    /// Its id.
    pub id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
    /// How it proves who it is.
    method: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    redirect_uri: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<u64>,
}

/// How long before its end a token is renewed, in seconds; for a short-lived one it is a quarter of
/// its life.
const EARLY: u64 = 60;

/// Where a token comes from.
#[derive(Debug, Clone)]
pub struct Provenance {
    /// The URL of the server that it opens.
    pub server: String,
    /// How it was got.
    pub grant: &'static str,
    /// What it was asked for by.
    pub resource: String,
    /// The client that it was issued to.
    pub client: Client,
    /// Where it is renewed.
    pub token_endpoint: String,
    /// Where it is given back.
    pub revocation_endpoint: Option<String>,
    /// How near the metadata was that named these.
    pub zone: Zone,
    /// The scopes that were asked for.
    pub requested: Scopes,
    /// The key that it is bound to.
    pub dpop_key: Option<Secret>,
    /// Tells one login from the next, and one subject of assertions from the other.
    pub login: String,
}

impl TokenRecord {
    /// A token that was issued at `now`, in seconds since 1970.
    pub fn new(from: Provenance, tokens: Tokens, now: u64) -> TokenRecord {
        TokenRecord {
            server: from.server,
            grant: from.grant.to_owned(),
            login: from.login,
            resource: from.resource,
            issuer: from.client.issuer.clone(),
            client: ClientRecord::from(&from.client),
            token_endpoint: from.token_endpoint,
            revocation_endpoint: from.revocation_endpoint,
            zone: from.zone,
            access_token: tokens.access_token.expose().to_owned(),
            refresh_token: tokens.refresh_token.map(|token| token.expose().to_owned()),
            dpop_key: from.dpop_key.map(|key| key.expose().to_owned()),
            requested: from.requested.to_string(),
            granted: tokens.scope,
            issued_at: now,
            expires_at: tokens.expires_in.map(|life| now.saturating_add(life)),
        }
    }

    /// The same with new tokens. A server that sends no new refresh token leaves the old one good
    /// (RFC 6749, section 6).
    #[must_use]
    pub fn renewed(&self, tokens: Tokens, now: u64) -> TokenRecord {
        let refresh_token = tokens.refresh_token.map(|token| token.expose().to_owned());
        TokenRecord {
            access_token: tokens.access_token.expose().to_owned(),
            refresh_token: refresh_token.or_else(|| self.refresh_token.clone()),
            granted: tokens.scope.or_else(|| self.granted.clone()),
            issued_at: now,
            expires_at: tokens.expires_in.map(|life| now.saturating_add(life)),
            ..self.clone()
        }
    }

    /// Who the server sees: the same for all tokens of one login, and for all of one client that
    /// asks for itself.
    pub fn account(&self) -> String {
        [&self.issuer, &self.client.id, &self.requested, &self.login].map(String::as_str).join(" ")
    }

    /// The access token.
    pub fn access_token(&self) -> Secret {
        Secret::new(self.access_token.clone())
    }

    /// The refresh token.
    pub fn refresh_token(&self) -> Option<Secret> {
        self.refresh_token.clone().map(Secret::new)
    }

    /// The key that the token is bound to.
    pub fn dpop_key(&self) -> Option<Secret> {
        self.dpop_key.clone().map(Secret::new)
    }

    /// The scopes that it has, as far as is known.
    pub fn scopes(&self) -> Scopes {
        Scopes::parse(self.granted.as_deref().unwrap_or(&self.requested))
    }

    /// Whether it has ended at `now`.
    pub fn is_over(&self, now: u64) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }

    /// Whether it should be renewed at `now`, before it ends in the middle of something.
    pub fn is_due(&self, now: u64) -> bool {
        self.expires_at.is_some_and(|at| {
            let life = at.saturating_sub(self.issued_at);
            // The next token of a server that says that they end at once would be as good.
            0 < life && at.saturating_sub(EARLY.min(life / 4)) <= now
        })
    }

    /// The client that it was issued to.
    pub fn client(&self) -> Option<Client> {
        self.client.to_client(&self.issuer)
    }
}

impl ClientRecord {
    /// The client, known to `issuer`; `None` when it proves itself in a way unknown to us.
    pub fn to_client(&self, issuer: &str) -> Option<Client> {
        Some(Client {
            issuer: issuer.to_owned(),
            id: self.id.clone(),
            secret: self.secret.clone().map(Secret::new),
            method: Method::named(&self.method)?,
            redirect_uri: self.redirect_uri.clone(),
            expires_at: self.expires_at,
        })
    }
}

impl From<&Client> for ClientRecord {
    fn from(client: &Client) -> ClientRecord {
        ClientRecord {
            id: client.id.clone(),
            secret: client.secret.as_ref().map(|secret| secret.expose().to_owned()),
            method: client.method.name().to_owned(),
            redirect_uri: client.redirect_uri.clone(),
            expires_at: client.expires_at,
        }
    }
}

impl std::fmt::Debug for TokenRecord {
    /// Without the tokens.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("TokenRecord");
        shown.field("server", &self.server).field("issuer", &self.issuer);
        shown.field("requested", &self.requested).field("expires_at", &self.expires_at);
        shown.finish_non_exhaustive()
    }
}

impl std::fmt::Debug for ClientRecord {
    /// Without the secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientRecord").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Options {
    /// Whether a token that was got in an earlier run is what these options ask for.
    pub(super) fn accept(&self, record: &TokenRecord) -> bool {
        let by_issuer = self.issuer.as_deref().is_none_or(|own| is_named(&record.issuer, own));
        let bound = !self.dpop || record.dpop_key().is_some();
        // A person is not sent to the browser before the server says that the scopes do not do.
        let scopes = self.grant == Grant::AuthorizationCode
            || Scopes::parse(&record.requested).cover(&self.scopes);
        by_issuer && bound && scopes
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::auth) fn tokens(
        access: &str,
        refresh: Option<&str>,
        life: Option<u64>,
    ) -> Tokens {
        Tokens {
            access_token: access.into(),
            bound: false,
            refresh_token: refresh.map(Into::into),
            expires_in: life,
            scope: None,
            issued_token_type: None,
        }
    }

    pub(in crate::auth) fn record(tokens: Tokens, now: u64) -> TokenRecord {
        let client = Client {
            issuer: "https://as".into(),
            id: "c".into(),
            secret: Some("client-secret".into()),
            method: Method::Basic,
            redirect_uri: None,
            expires_at: None,
        };
        let from = Provenance {
            server: "https://h/mcp".into(),
            grant: "authorization-code",
            resource: "https://h/mcp".into(),
            client,
            token_endpoint: "https://as/token".into(),
            revocation_endpoint: None,
            zone: Zone::Public,
            requested: Scopes::parse("a b"),
            dpop_key: None,
            login: "a login".to_owned(),
        };
        TokenRecord::new(from, tokens, now)
    }

    #[test]
    fn tokens_are_renewed_before_they_end() {
        let check = |life, at: u64, due: bool, over: bool| {
            let record = record(tokens("t", None, life), 1000);
            assert_eq!((record.is_due(at), record.is_over(at)), (due, over), "{life:?} {at}");
        };
        check(None, u64::MAX, false, false);
        check(Some(3600), 4539, false, false);
        check(Some(3600), 4540, true, false);
        check(Some(3600), 4600, true, true);
        check(Some(40), 1029, false, false);
        check(Some(40), 1030, true, false);
        check(Some(0), 1000, false, true);
        check(Some(u64::MAX), u64::MAX - 61, false, false);
    }

    #[test]
    fn a_refresh_token_stays_until_there_is_a_new_one() {
        let old = record(tokens("a1", Some("r1"), Some(10)), 0);
        let same = old.renewed(tokens("a2", None, None), 100);
        assert_eq!(same.refresh_token(), Some("r1".into()));
        assert_eq!((same.access_token(), same.expires_at), ("a2".into(), None));
        let rotated = same.renewed(tokens("a3", Some("r2"), Some(5)), 200);
        assert_eq!((rotated.refresh_token(), rotated.expires_at), (Some("r2".into()), Some(205)));
    }

    #[test]
    fn an_account_is_one_login() {
        let one = record(tokens("a", None, None), 0);
        assert_eq!(one.renewed(tokens("b", None, None), 1).account(), one.account());
        let other = TokenRecord { login: "another login".to_owned(), ..one.clone() };
        assert_ne!(other.account(), one.account());
    }

    #[test]
    fn records_survive_their_file_and_do_not_show() {
        let kept = record(tokens("hunter2", Some("hunter3"), Some(10)), 7);
        let text = serde_json::to_string(&kept).unwrap();
        assert_eq!(serde_json::from_str::<TokenRecord>(&text).unwrap(), kept);
        assert!(text.contains("\"zone\":\"public\""), "{text}");
        assert_eq!(kept.client().unwrap().secret, Some("client-secret".into()));
        let shown = format!("{kept:?} {:?}", kept.client);
        assert!(!shown.contains("hunter") && !shown.contains("client-secret"), "{shown}");
    }
}
