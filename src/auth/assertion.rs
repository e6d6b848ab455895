//! What says who runs this program: the token of a workload, from a file, a command or a CI system.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderValue};
use serde::Deserialize;
use url::form_urlencoded;

use super::error::AuthError;
use super::options::{Assertion, Grant, Options};
use crate::config::{self, Digest};
use crate::env::{Env, Secret};
use crate::net::{Address, Fetcher, Request, Source, secret_value};
use crate::store::{self, Guard};

/// How long an assertion may be, in bytes.
const LIMIT: u64 = 64 << 10;

/// Where a job of GitHub Actions gets a token that says what it is.
const GITHUB_URL: &str = "ACTIONS_ID_TOKEN_REQUEST_URL";
/// What it shows there.
const GITHUB_TOKEN: &str = "ACTIONS_ID_TOKEN_REQUEST_TOKEN";

/// Whom the token will be about, as far as that is known before it is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Subject {
    /// The client alone, or whoever logs in.
    Nobody,
    /// One that is always called by this text.
    Known(String),
    /// Whoever it will turn out to be.
    Unknown,
}

/// Whom the token will be about. One that is kept must not be used by a job that runs as another.
pub(super) fn subject(options: &Options, env: &Env) -> Subject {
    let known = |text: &Secret| Subject::Known(name_of(text));
    let found = match (options.grant, &options.assertion) {
        (Grant::AuthorizationCode | Grant::ClientCredentials, _) => return Subject::Nobody,
        (Grant::IdJag, _) => options.identity.id_token.as_ref().map(known),
        (Grant::JwtBearer, Some(Assertion::File(path))) => {
            let text = store::read_text(path, LIMIT, Guard::Named { until: env.deadline() })
                .ok()
                .flatten();
            text.map(|text| known(&Secret::from(text.trim())))
        }
        // To run it only to find that out would take as long as to get a new token.
        (Grant::JwtBearer, Some(Assertion::Command(_))) => None,
        // Every job has a URL of its own.
        (Grant::JwtBearer, None) => {
            let url = env.setting(GITHUB_URL).and_then(|url| url.into_string().ok());
            url.map(|url| known(&Secret::new(url)))
        }
    };
    found.unwrap_or(Subject::Unknown)
}

/// What whoever an assertion is about is called: the same for all assertions about the same one. Of
/// a JWT its issuer and its subject count (RFC 7519, section 4.1), of anything else the whole text.
pub(super) fn name_of(assertion: &Secret) -> String {
    #[derive(Deserialize)]
    struct Claims {
        iss: String,
        sub: String,
    }
    let payload = assertion.expose().split('.').nth(1);
    let payload = payload.and_then(|payload| URL_SAFE_NO_PAD.decode(payload).ok());
    let claims = payload.and_then(|payload| serde_json::from_slice::<Claims>(&payload).ok());
    let text = match claims {
        Some(Claims { iss, sub }) => format!("{iss}\n{sub}"),
        None => assertion.expose().to_owned(),
    };
    Digest::of(text.as_bytes()).short()
}

/// The assertion for the authorization server `audience`. Without an option it is the CI system's.
pub(super) async fn assertion(
    source: Option<&Assertion>,
    audience: &str,
    env: &Env,
    fetcher: &Fetcher,
) -> Result<Secret, AuthError> {
    let text = match source {
        Some(Assertion::File(path)) => {
            let text = store::read_text(path, LIMIT, Guard::Named { until: env.deadline() })?;
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
    let bearer = secret_value("Authorization", &format!("Bearer {token}"))
        .map_err(|_| failed("comes with a token that no header can carry"))?;
    let json = HeaderValue::from_static("application/json");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assertion_is_about_its_subject() {
        let check = |one: &str, other: &str, expected: bool| {
            let jwt = |claims: &str| match claims.strip_prefix('{') {
                Some(_) => format!("e30.{}.sig", URL_SAFE_NO_PAD.encode(claims)),
                None => claims.to_owned(),
            };
            let [one, other] = [one, other].map(|claims| name_of(&Secret::new(jwt(claims))));
            assert_eq!(one == other, expected, "{one} {other}");
        };
        let alice = r#"{"iss":"https://i","sub":"alice","jti":"1"}"#;
        check(alice, r#"{"iss":"https://i","sub":"alice","jti":"2","exp":7}"#, true);
        check(alice, r#"{"iss":"https://i","sub":"bob","jti":"1"}"#, false);
        check(alice, r#"{"iss":"https://j","sub":"alice","jti":"1"}"#, false);
        check(r#"{"sub":"alice"}"#, r#"{"sub":"alice","jti":"2"}"#, false);
        check("opaque", "opaque", true);
        check("opaque", "opaque2", false);
        check("e30..", "e30.!.", false);
    }

    #[test]
    fn it_is_known_before_or_not_at_all() {
        let url = "https://ci.example/jobs/7";
        let env = Env { variables: [(GITHUB_URL, url)].into(), ..Env::default() };
        let check = |grant, assertion, expected: Subject| {
            let options = Options { grant, assertion, ..Options::default() };
            assert_eq!(subject(&options, &env), expected, "{options:?}");
        };
        check(Grant::AuthorizationCode, None, Subject::Nobody);
        check(Grant::ClientCredentials, None, Subject::Nobody);
        check(Grant::JwtBearer, None, Subject::Known(name_of(&Secret::from(url))));
        check(Grant::JwtBearer, Some(Assertion::Command("x".into())), Subject::Unknown);
        check(Grant::JwtBearer, Some(Assertion::File("/no/such".into())), Subject::Unknown);
        check(Grant::IdJag, None, Subject::Unknown);
    }
}
