//! What says who runs this program: the token of a workload, from a file, a command or a CI system.

use http::header::{ACCEPT, AUTHORIZATION, HeaderMap};
use serde::Deserialize;
use url::form_urlencoded;

use super::error::AuthError;
use super::options::Assertion;
use crate::config;
use crate::env::{Env, Secret};
use crate::net::{Address, Fetcher, Request, Source, header_value};
use crate::store::{self, Guard};

/// How long an assertion may be, in bytes.
const LIMIT: u64 = 64 << 10;

/// Where a job of GitHub Actions gets a token that says what it is.
const GITHUB_URL: &str = "ACTIONS_ID_TOKEN_REQUEST_URL";
/// What it shows there.
const GITHUB_TOKEN: &str = "ACTIONS_ID_TOKEN_REQUEST_TOKEN";

/// The assertion for the authorization server `audience`. Without an option it is the CI system's.
pub(super) async fn assertion(
    source: Option<&Assertion>,
    audience: &str,
    env: &Env,
    fetcher: &Fetcher,
) -> Result<Secret, AuthError> {
    let text = match source {
        Some(Assertion::File(path)) => {
            let text = store::read_text(path, LIMIT, Guard::Named)?;
            text.ok_or_else(|| AuthError::Assertion(format!("{} is not there", path.display())))?
        }
        Some(Assertion::Command(line)) => {
            let printed = config::run_secret_command(line, env);
            let printed = printed.map_err(|fault| AuthError::Assertion(fault.to_string()))?;
            printed.expose().to_owned()
        }
        None => from_github(audience, env, fetcher).await?,
    };
    // Editors and `echo` end a file with a line feed that is no part of it.
    match text.trim() {
        "" => Err(AuthError::Assertion("it is empty".into())),
        text => Ok(Secret::from(text)),
    }
}

#[derive(Deserialize)]
struct IdToken {
    value: String,
}

async fn from_github(audience: &str, env: &Env, fetcher: &Fetcher) -> Result<String, AuthError> {
    let setting = |name: &str| env.setting(name).and_then(|value| value.into_string().ok());
    let (Some(url), Some(token)) = (setting(GITHUB_URL), setting(GITHUB_TOKEN)) else {
        let options = "--assertion-file, --assertion-command, or a job of GitHub Actions with \
                       `id-token: write`";
        return Err(AuthError::Missing(options));
    };
    let failed = |why: &str| AuthError::Assertion(format!("GitHub's {GITHUB_URL} {why}"));
    let audience: String = form_urlencoded::byte_serialize(audience.as_bytes()).collect();
    let separator = if url.contains('?') { '&' } else { '?' };
    let address = Address::parse(&format!("{url}{separator}audience={audience}"));
    let address = address.map_err(|_| failed("is no URL"))?;
    let mut bearer = header_value("Authorization", &format!("Bearer {token}"))
        .map_err(|_| failed("comes with a token that no header can carry"))?;
    bearer.set_sensitive(true);
    let json = header_value("Accept", "application/json").expect("it is visible ASCII");
    let headers = HeaderMap::from_iter([(AUTHORIZATION, bearer), (ACCEPT, json)]);
    let request = Request::get(address, headers);
    let fetched = fetcher.ask(&request, Source::User, LIMIT as usize).await?;
    if !fetched.status.is_success() {
        return Err(failed(&format!("answers HTTP {}", fetched.status.as_u16())));
    }
    let answer: IdToken =
        serde_json::from_slice(&fetched.body).map_err(|_| failed("answers without a token"))?;
    Ok(answer.value)
}
