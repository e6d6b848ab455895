//! From options, environment and configuration to how tokens are got. Options win over variables,
//! and these over files.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::args::Access;
use super::args::access::{Grant, KeyAlgorithm};
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::run::Run;
use super::sources;
use crate::auth::{self, Assertion, IdentityProvider, Options, Scopes};
use crate::config::OAuth;
use crate::env::Secret;
use crate::protocol::message::Sent;

/// How tokens are got for a server whose definition says `oauth`.
pub(super) fn options(run: &Run<'_>, oauth: &OAuth) -> Result<Options, Error> {
    let access = run.access;
    let text = |option: &Option<String>, said: &Option<String>| option.clone().or(said.clone());
    let grant =
        word(access.grant, "grant", oauth.grant.as_deref())?.unwrap_or(Grant::AuthorizationCode);
    check_grant(access, grant)?;
    let algorithm: Option<KeyAlgorithm> =
        word(access.client_key_alg, "clientKeyAlg", oauth.client_key_alg.as_deref())?;
    let scopes = text(&access.scope, &oauth.scopes).unwrap_or_default();
    let client_secret = match &access.client_secret_file {
        Some(path) => Some(secret(run, path, "--client-secret-file")?),
        None => variable(run, "MCPMINI_CLIENT_SECRET").or(oauth.client_secret.clone()),
    };
    let client_id = access.client_id.clone();
    let client_id =
        client_id.or_else(|| Some(variable(run, "MCPMINI_CLIENT_ID")?.expose().to_owned()));
    Ok(Options {
        grant: grant.into(),
        client_id: text(&client_id, &oauth.client_id),
        client_secret,
        client_key: file(run, "--client-key", &access.client_key, &oauth.client_key)?,
        client_key_id: text(&access.client_key_id, &oauth.client_key_id),
        client_key_algorithm: algorithm.map(auth::Algorithm::from),
        client_metadata_url: text(&access.client_metadata_url, &oauth.client_metadata_url),
        issuer: text(&access.issuer, &oauth.issuer),
        scopes: Scopes::parse(&scopes),
        callback_port: access.callback_port.or(oauth.callback_port),
        assertion: assertion(run, oauth),
        identity: identity(run, oauth)?,
        dpop: access.dpop || oauth.dpop,
        allow_private: access.allow_private || oauth.allow_private,
    })
}

/// An option that would have no effect is a mistake.
fn check_grant(access: &Access, grant: Grant) -> Result<(), Error> {
    let needs = [
        ("--callback-port", access.callback_port.is_some(), Grant::AuthorizationCode),
        ("--assertion-file", access.assertion_file.is_some(), Grant::JwtBearer),
        ("--assertion-command", access.assertion_command.is_some(), Grant::JwtBearer),
        ("--idp-token-endpoint", access.idp_token_endpoint.is_some(), Grant::IdJag),
        ("--idp-client-id", access.idp_client_id.is_some(), Grant::IdJag),
        ("--idp-client-secret-file", access.idp_client_secret_file.is_some(), Grant::IdJag),
        ("--idp-id-token-file", access.idp_id_token_file.is_some(), Grant::IdJag),
    ];
    match needs.iter().find(|(_, given, of)| *given && *of != grant) {
        None => Ok(()),
        Some((flag, _, of)) => {
            let text = format!("{flag} has an effect only with --grant {}", of.word());
            Err(Error::new(Exit::Usage, text).phase(Phase::Usage).sent(Sent::No))
        }
    }
}

fn assertion(run: &Run<'_>, oauth: &OAuth) -> Option<Assertion> {
    let file = |path: &PathBuf| Assertion::File(run.env.absolute(path));
    let command = |line: &String| Assertion::Command(line.clone());
    let given = run.access.assertion_file.as_ref().map(file);
    let given = given.or_else(|| run.access.assertion_command.as_ref().map(command));
    given
        .or_else(|| oauth.assertion_file.as_ref().map(file))
        .or_else(|| oauth.assertion_command.as_ref().map(command))
}

fn identity(run: &Run<'_>, oauth: &OAuth) -> Result<IdentityProvider, Error> {
    let access = run.access;
    let client_secret = match &access.idp_client_secret_file {
        Some(path) => Some(secret(run, path, "--idp-client-secret-file")?),
        None => oauth.idp_client_secret.clone(),
    };
    let (given, said) = (&access.idp_id_token_file, &oauth.idp_id_token_file);
    Ok(IdentityProvider {
        token_endpoint: access.idp_token_endpoint.clone().or(oauth.idp_token_endpoint.clone()),
        client_id: access.idp_client_id.clone().or(oauth.idp_client_id.clone()),
        client_secret,
        id_token: file(run, "--idp-id-token-file", given, said)?,
    })
}

/// The word of an option, or of a field.
fn word<T: FromStr<Err: std::fmt::Display>>(
    given: Option<T>,
    field: &str,
    said: Option<&str>,
) -> Result<Option<T>, Error> {
    let read = |said: &str| {
        said.parse().map_err(|reason| {
            let text = format!("the configuration's oauth.{field}: {reason}");
            Error::new(Exit::Config, text).phase(Phase::Config).sent(Sent::No)
        })
    };
    match (given, said) {
        (Some(given), _) => Ok(Some(given)),
        (None, said) => said.map(read).transpose(),
    }
}

/// The secret in the file of an option, or of a field.
fn file(
    run: &Run<'_>,
    option: &str,
    given: &Option<PathBuf>,
    said: &Option<PathBuf>,
) -> Result<Option<Secret>, Error> {
    given.as_ref().or(said.as_ref()).map(|path| secret(run, path, option)).transpose()
}

fn secret(run: &Run<'_>, path: &Path, option: &str) -> Result<Secret, Error> {
    let text = sources::text_file(run, path, option)?;
    // Editors and `echo` end a file with a line feed that is no part of it.
    match text.trim() {
        "" => {
            let text = format!("{option} {}: the file is empty", path.display());
            Err(Error::new(Exit::Config, text).phase(Phase::Config).sent(Sent::No))
        }
        text => Ok(Secret::from(text)),
    }
}

/// A variable with a credential, which is for the one server that the command names.
fn variable(run: &Run<'_>, name: &str) -> Option<Secret> {
    if run.command().several().is_some() {
        return None;
    }
    let value = run.env.setting(name)?.into_string().ok()?;
    Some(Secret::new(value))
}
