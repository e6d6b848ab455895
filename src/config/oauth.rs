//! What a definition says about how to get tokens for its server: the `oauth` object.

use std::path::PathBuf;

use super::describe::masked_variable;
use super::error::ConfigError;
use super::fields::Fields;
use super::lookup::Lookup;
use super::problem::Problem;
use super::template;
use crate::env::Secret;

/// The `oauth` object, its texts still templates.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OAuthTemplate {
    /// Texts, by the names of their fields.
    texts: Vec<(&'static str, String)>,
    /// Secrets, by the names of their fields.
    secrets: Vec<(&'static str, Secret)>,
    /// Names of variables, by the names of their fields.
    variables: Vec<(&'static str, String)>,
    scopes: Option<String>,
    callback_port: Option<u16>,
    dpop: bool,
    allow_private: bool,
}

/// The same with everything looked up. What is `None` was not said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OAuth {
    /// `grant`: what is turned into a token.
    pub grant: Option<String>,
    /// `clientId`.
    pub client_id: Option<String>,
    /// `clientSecret`, or the value of the variable `clientSecretEnv`.
    pub client_secret: Option<Secret>,
    /// `clientKey`: a file.
    pub client_key: Option<PathBuf>,
    /// `clientKeyId`.
    pub client_key_id: Option<String>,
    /// `clientKeyAlg`.
    pub client_key_alg: Option<String>,
    /// `clientMetadataUrl`.
    pub client_metadata_url: Option<String>,
    /// `issuer`.
    pub issuer: Option<String>,
    /// `scopes`, separated by blanks.
    pub scopes: Option<String>,
    /// `callbackPort`.
    pub callback_port: Option<u16>,
    /// `assertionFile`.
    pub assertion_file: Option<PathBuf>,
    /// `assertionCommand`.
    pub assertion_command: Option<String>,
    /// `idpTokenEndpoint`.
    pub idp_token_endpoint: Option<String>,
    /// `idpClientId`.
    pub idp_client_id: Option<String>,
    /// `idpClientSecret`.
    pub idp_client_secret: Option<Secret>,
    /// `idpIdTokenFile`.
    pub idp_id_token_file: Option<PathBuf>,
    /// `dpop`.
    pub dpop: bool,
    /// `allowPrivate`.
    pub allow_private: bool,
}

const TEXTS: [&str; 12] = [
    "grant",
    "clientId",
    "clientKey",
    "clientKeyId",
    "clientKeyAlg",
    "clientMetadataUrl",
    "issuer",
    "assertionFile",
    "assertionCommand",
    "idpTokenEndpoint",
    "idpClientId",
    "idpIdTokenFile",
];
const SECRETS: [&str; 2] = ["clientSecret", "idpClientSecret"];
const VARIABLES: [&str; 2] = ["clientSecretEnv", "idpClientSecretEnv"];

/// The names of all fields of the object.
pub(super) fn fields() -> Vec<&'static str> {
    let others = ["scopes", "callbackPort", "dpop", "allowPrivate"];
    let texts = TEXTS.into_iter().chain(SECRETS).chain(VARIABLES);
    texts.chain(others).collect()
}

/// Fields whose value makes us read a file or run a command and send what comes of it away. Only
/// files of the user's own may have them.
const OWN: [&str; 4] = ["clientKey", "assertionFile", "assertionCommand", "idpIdTokenFile"];

impl OAuthTemplate {
    /// Reads the object.
    pub(super) fn read(fields: &mut Fields<'_>) -> OAuthTemplate {
        let mut template = OAuthTemplate::default();
        for name in TEXTS {
            template.texts.extend(fields.string(name).map(|text| (name, text)));
        }
        for name in SECRETS {
            let secret = fields.string(name).map(|text| (name, Secret::new(text)));
            template.secrets.extend(secret);
        }
        for name in VARIABLES {
            template.variables.extend(fields.string(name).map(|text| (name, text)));
        }
        template.scopes = fields.words("scopes").map(|words| words.join(" "));
        template.callback_port = fields.port("callbackPort");
        template.dpop = fields.flag("dpop") == Some(true);
        template.allow_private = fields.flag("allowPrivate") == Some(true);
        template
    }

    /// What is said as it may be shown to whoever is to approve it: by the names of the fields, and
    /// without secrets.
    pub fn shown(&self) -> Vec<(String, String)> {
        let texts = self.texts.iter().map(|(name, text)| (*name, text.clone()));
        let secrets = self.secrets.iter();
        let secrets = secrets.map(|(name, secret)| (*name, masked_variable(name, secret.expose())));
        let scopes = self.scopes.iter().map(|scopes| ("scopes", scopes.clone()));
        let allows = self.allow_private.then(|| ("allowPrivate", "true".to_owned()));
        let all = texts.chain(secrets).chain(scopes).chain(allows);
        all.map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// The names of the user's variables whose values go to whoever gives out tokens.
    pub fn referred(&self) -> Vec<String> {
        let named = self.variables.iter().map(|(_, variable)| variable.clone());
        named.chain(self.templates().flat_map(|(_, said)| template::variables(said))).collect()
    }

    /// The fields that are templates, with what is said.
    pub(super) fn templates(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let texts = self.texts.iter().map(|(name, text)| (*name, text.as_str()));
        texts.chain(self.secrets.iter().map(|(name, secret)| (*name, secret.expose())))
    }

    /// The fields that name the variable that has their value.
    pub(super) fn variables(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.variables.iter().map(|(name, variable)| (*name, variable.as_str()))
    }

    /// What to ask for.
    pub(super) fn scopes(&self) -> Option<&str> {
        self.scopes.as_deref()
    }

    /// Looks everything up.
    pub(super) fn expand(&self, lookup: Lookup<'_>) -> Result<OAuth, ConfigError> {
        let field = |name: &str| format!("oauth.{name}");
        let text = |name: &'static str| -> Result<Option<String>, ConfigError> {
            let said = self.texts.iter().find(|(known, _)| *known == name);
            let Some((_, template)) = said else { return Ok(None) };
            if OWN.contains(&name) && !lookup.is_own() {
                return Err(lookup.wrong(&field(name), Problem::NotOwn("files and commands")));
            }
            lookup.text(&field(name), template).map(Some)
        };
        let file = |name: &'static str| -> Result<Option<PathBuf>, ConfigError> {
            Ok(text(name)?.map(|path| lookup.directory().join(path)))
        };
        let secret = |name: &'static str, env: &'static str| {
            if let Some((_, template)) = self.secrets.iter().find(|(known, _)| *known == name) {
                return lookup.secret(&field(name), template).map(Some);
            }
            match self.variables.iter().find(|(known, _)| *known == env) {
                Some((_, variable)) => {
                    lookup.variable(&field(env), variable, None).map(Secret::new).map(Some)
                }
                None => Ok(None),
            }
        };
        Ok(OAuth {
            grant: text("grant")?,
            client_id: text("clientId")?,
            client_secret: secret("clientSecret", "clientSecretEnv")?,
            client_key: file("clientKey")?,
            client_key_id: text("clientKeyId")?,
            client_key_alg: text("clientKeyAlg")?,
            client_metadata_url: text("clientMetadataUrl")?,
            issuer: text("issuer")?,
            scopes: self.scopes.clone().filter(|scopes| !scopes.is_empty()),
            callback_port: self.callback_port,
            assertion_file: file("assertionFile")?,
            assertion_command: text("assertionCommand")?,
            idp_token_endpoint: text("idpTokenEndpoint")?,
            idp_client_id: text("idpClientId")?,
            idp_client_secret: secret("idpClientSecret", "idpClientSecretEnv")?,
            idp_id_token_file: file("idpIdTokenFile")?,
            dpop: self.dpop,
            allow_private: self.allow_private,
        })
    }
}
