//! Options about how to get a token for a server on the network. Every command takes them. Their
//! comments are the help texts. No secret stands on a command line: everybody can read those.

use std::path::PathBuf;

use argh::{ArgsInfo, FromArgs};

use super::keyword::keywords;
use super::readers::path;
use super::usage::first_given;
use crate::auth;

keywords! {
    /// What is turned into a token (`--grant`).
    pub enum Grant {
        /// The login of a person.
        AuthorizationCode = "authorization-code",
        /// The client's own secret or key.
        ClientCredentials = "client-credentials",
        /// An assertion about the workload.
        JwtBearer = "jwt-bearer",
        /// The identity token of a person, by way of an identity provider.
        IdJag = "id-jag",
    }
}

keywords! {
    /// How the client's key signs (`--client-key-alg`).
    pub enum KeyAlgorithm {
        /// ECDSA with P-256.
        Es256 = "ES256",
        /// RSA.
        Rs256 = "RS256",
    }
}

/// options about tokens
#[derive(Debug, Clone, Default, PartialEq, Eq, FromArgs, ArgsInfo)]
#[argh(help_triggers("-h", "--help"))]
pub struct Access {
    /// open the browser when the server wants a login, instead of failing
    #[argh(switch)]
    pub login: bool,

    /// what to turn into a token: authorization-code (a login), client-credentials, jwt-bearer (a
    /// workload's assertion) or id-jag (an ID token)
    #[argh(option, arg_name = "KIND")]
    pub grant: Option<Grant>,

    /// the id under which the authorization server knows this client
    #[argh(option, arg_name = "ID")]
    pub client_id: Option<String>,

    /// the client's secret
    #[argh(option, arg_name = "FILE", from_str_fn(path))]
    pub client_secret_file: Option<PathBuf>,

    /// the client's private key (PEM, not encrypted), to sign with instead of a secret
    #[argh(option, arg_name = "FILE", from_str_fn(path))]
    pub client_key: Option<PathBuf>,

    /// the name by which the authorization server knows the key (kid)
    #[argh(option, arg_name = "ID")]
    pub client_key_id: Option<String>,

    /// how the key signs: ES256 or RS256 (default: as the key can)
    #[argh(option, arg_name = "ALG")]
    pub client_key_alg: Option<KeyAlgorithm>,

    /// the URL of a document that describes this client, used as its id
    #[argh(option, arg_name = "URL")]
    pub client_metadata_url: Option<String>,

    /// the authorization server to use, and the one that the client id belongs to
    #[argh(option, arg_name = "URL")]
    pub issuer: Option<String>,

    /// the scopes to ask for, with blanks between them (default: what the server wants)
    #[argh(option, arg_name = "SCOPES")]
    pub scope: Option<String>,

    /// the port to which the browser brings the answer (default: any)
    #[argh(option, arg_name = "PORT", from_str_fn(port))]
    pub callback_port: Option<u16>,

    /// the assertion for jwt-bearer
    #[argh(option, arg_name = "FILE", from_str_fn(path))]
    pub assertion_file: Option<PathBuf>,

    /// the assertion for jwt-bearer is what CMD prints
    #[argh(option, arg_name = "CMD")]
    pub assertion_command: Option<String>,

    /// where the identity provider exchanges tokens, for id-jag
    #[argh(option, arg_name = "URL")]
    pub idp_token_endpoint: Option<String>,

    /// the id under which the identity provider knows this client
    #[argh(option, arg_name = "ID")]
    pub idp_client_id: Option<String>,

    /// the secret of that id, if it has one
    #[argh(option, arg_name = "FILE", from_str_fn(path))]
    pub idp_client_secret_file: Option<PathBuf>,

    /// the person's ID token, for id-jag
    #[argh(option, arg_name = "FILE", from_str_fn(path))]
    pub idp_id_token_file: Option<PathBuf>,

    /// take only tokens that are bound to a key of this machine (DPoP)
    #[argh(switch)]
    pub dpop: bool,

    /// let public documents name addresses in private networks
    #[argh(switch)]
    pub allow_private: bool,
}

impl Access {
    /// The first option with a credential for one server, if there is one.
    pub fn credential(&self) -> Option<&'static str> {
        first_given(&[
            ("--client-id", self.client_id.is_some()),
            ("--client-secret-file", self.client_secret_file.is_some()),
            ("--client-key", self.client_key.is_some()),
            ("--assertion-file", self.assertion_file.is_some()),
            ("--assertion-command", self.assertion_command.is_some()),
            ("--idp-token-endpoint", self.idp_token_endpoint.is_some()),
            ("--idp-client-id", self.idp_client_id.is_some()),
            ("--idp-client-secret-file", self.idp_client_secret_file.is_some()),
            ("--idp-id-token-file", self.idp_id_token_file.is_some()),
        ])
    }

    /// The first option that says how to get a token, if there is one.
    pub fn given(&self) -> Option<&'static str> {
        first_given(&[
            ("--grant", self.grant.is_some()),
            ("--client-id", self.client_id.is_some()),
            ("--client-secret-file", self.client_secret_file.is_some()),
            ("--client-key", self.client_key.is_some()),
            ("--client-key-id", self.client_key_id.is_some()),
            ("--client-key-alg", self.client_key_alg.is_some()),
            ("--client-metadata-url", self.client_metadata_url.is_some()),
            ("--issuer", self.issuer.is_some()),
            ("--scope", self.scope.is_some()),
            ("--callback-port", self.callback_port.is_some()),
            ("--assertion-file", self.assertion_file.is_some()),
            ("--assertion-command", self.assertion_command.is_some()),
            ("--idp-token-endpoint", self.idp_token_endpoint.is_some()),
            ("--idp-client-id", self.idp_client_id.is_some()),
            ("--idp-client-secret-file", self.idp_client_secret_file.is_some()),
            ("--idp-id-token-file", self.idp_id_token_file.is_some()),
            ("--dpop", self.dpop),
            ("--login", self.login),
        ])
    }

    /// The first option that is for servers on the network alone, if there is one. Documents may lead to
    /// private networks also where a token was given.
    pub fn for_network(&self) -> Option<&'static str> {
        self.given().or(self.allow_private.then_some("--allow-private"))
    }
}

impl From<Grant> for auth::Grant {
    fn from(grant: Grant) -> auth::Grant {
        match grant {
            Grant::AuthorizationCode => auth::Grant::AuthorizationCode,
            Grant::ClientCredentials => auth::Grant::ClientCredentials,
            Grant::JwtBearer => auth::Grant::JwtBearer,
            Grant::IdJag => auth::Grant::IdJag,
        }
    }
}

impl From<KeyAlgorithm> for auth::Algorithm {
    fn from(algorithm: KeyAlgorithm) -> auth::Algorithm {
        match algorithm {
            KeyAlgorithm::Es256 => auth::Algorithm::Es256,
            KeyAlgorithm::Rs256 => auth::Algorithm::Rs256,
        }
    }
}

// argh wants errors as text.
fn port(text: &str) -> Result<u16, String> {
    let port = text.parse().ok().filter(|port| *port != 0);
    port.ok_or_else(|| "a port is a number from 1 to 65535".to_owned())
}
