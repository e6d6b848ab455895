//! What the user says about how to get tokens.

use std::path::PathBuf;

use super::jose::Algorithm;
use super::scope::Scopes;
use crate::env::Secret;

/// What the user says about how to get tokens for one server.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The kind of proof that is turned into a token.
    pub grant: Grant,
    /// The client id, if one was given to us.
    pub client_id: Option<String>,
    /// Its secret.
    pub client_secret: Option<Secret>,
    /// Its private key in PEM.
    pub client_key: Option<Secret>,
    /// The name by which the authorization server knows the key (`kid`).
    pub client_key_id: Option<String>,
    /// The algorithm of the key, when it should not be told by the key.
    pub client_key_algorithm: Option<Algorithm>,
    /// The URL at which this client's metadata is published, for use as a client id.
    pub client_metadata_url: Option<String>,
    /// The authorization server that the client id belongs to, or that is to be used of several.
    pub issuer: Option<String>,
    /// The scopes to ask for.
    pub scopes: Scopes,
    /// The port for the answer of the browser; any when there is none.
    pub callback_port: Option<u16>,
    /// Where the assertion is from, for [`Grant::JwtBearer`].
    pub assertion: Option<Assertion>,
    /// The identity provider, for [`Grant::IdJag`].
    pub identity: IdentityProvider,
    /// Whether tokens must be bound to a key (RFC 9449).
    pub dpop: bool,
    /// Whether documents of the world may name addresses nearby.
    pub allow_private: bool,
}

/// The kind of proof that is turned into a token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Grant {
    /// A person logs in.
    #[default]
    AuthorizationCode,
    /// The client itself, by its secret or its key (RFC 6749, section 4.4).
    ClientCredentials,
    /// An assertion about the workload that runs this program (RFC 7523).
    JwtBearer,
    /// The identity token of a person, by way of an enterprise's identity provider (ID-JAG).
    IdJag,
}

impl Grant {
    /// All of them with their names on the command line and in files.
    pub const NAMES: [(&'static str, Grant); 4] = [
        ("authorization-code", Grant::AuthorizationCode),
        ("client-credentials", Grant::ClientCredentials),
        ("jwt-bearer", Grant::JwtBearer),
        ("id-jag", Grant::IdJag),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        let named = Grant::NAMES.iter().find(|(_, grant)| *grant == self);
        named.map_or("", |(name, _)| name)
    }
}

/// Where an assertion is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Assertion {
    /// A file, such as the projected token of a Kubernetes service account. It is read anew each
    /// time: such files change.
    File(PathBuf),
    /// What a command prints.
    Command(String),
}

/// An enterprise's identity provider.
#[derive(Debug, Clone, Default)]
pub struct IdentityProvider {
    /// Where it turns tokens into others.
    pub token_endpoint: Option<String>,
    /// The client id that it knows this client by.
    pub client_id: Option<String>,
    /// The secret of that.
    pub client_secret: Option<Secret>,
    /// The identity token of the person.
    pub id_token: Option<Secret>,
}

impl Options {
    /// The extensions of MCP that are used (2026-07-28, Extension Negotiation).
    pub fn extensions(&self) -> Vec<&'static str> {
        let grant = match self.grant {
            Grant::AuthorizationCode => None,
            Grant::ClientCredentials => Some("io.modelcontextprotocol/oauth-client-credentials"),
            Grant::JwtBearer => Some("io.modelcontextprotocol/auth/wif"),
            Grant::IdJag => Some("io.modelcontextprotocol/enterprise-managed-authorization"),
        };
        let dpop = self.dpop.then_some("io.modelcontextprotocol/auth/dpop");
        grant.into_iter().chain(dpop).collect()
    }
}
