//! Asking a token endpoint (RFC 6749, sections 4 to 6).

use std::rc::Rc;

use http::HeaderValue;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap};
use serde::Deserialize;
use url::form_urlencoded;

use super::client::{Client, ClientKey, Proof};
use super::dpop::{PROOF, Prover, USE_NONCE};
use super::error::AuthError;
use crate::env::{Clock, Secret};
use crate::net::{Address, Fetched, Fetcher, Request, Source, header_value, secret_value};

/// How long an answer may be, in bytes.
const LIMIT: usize = 256 << 10;

/// The longest text of an authorization server that is shown, in characters.
const LONGEST_TEXT: usize = 300;

/// A token endpoint and who asks it.
#[derive(Debug)]
pub(super) struct TokenEndpoint<'a> {
    /// What sends the requests.
    pub fetcher: &'a Fetcher,
    /// Where it is.
    pub address: Address,
    /// Who named it.
    pub source: Source,
    /// Who asks.
    pub client: &'a Client,
    /// The key of the client.
    pub key: Option<&'a ClientKey>,
    /// What binds the tokens to a key, if they are to be bound.
    pub prover: Option<&'a Rc<Prover>>,
    /// The clock.
    pub clock: Clock,
}

/// The parameters of a request, of which some are secret.
pub(super) type Form = Vec<(&'static str, Secret)>;

/// What a token endpoint answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tokens {
    /// What opens the server.
    pub access_token: Secret,
    /// Whether it is bound to a key.
    pub bound: bool,
    /// What a new access token can be had for.
    pub refresh_token: Option<Secret>,
    /// When the access token ends, in seconds from now.
    pub expires_in: Option<u64>,
    /// The scopes that were granted, when they are others than were asked for.
    pub scope: Option<String>,
    /// What kind of token it is, after an exchange (RFC 8693).
    pub issued_token_type: Option<String>,
}

#[derive(Deserialize)]
struct Answer {
    access_token: Option<String>,
    token_type: Option<String>,
    refresh_token: Option<String>,
    /// A number; servers that send it as text are known.
    expires_in: Option<serde_json::Value>,
    scope: Option<String>,
    issued_token_type: Option<String>,
}

#[derive(Deserialize)]
struct Refusal {
    error: String,
    error_description: Option<String>,
}

impl TokenEndpoint<'_> {
    /// Asks for tokens. A server that wants a nonce in the proof is asked once more (RFC 9449,
    /// section 8).
    pub(super) async fn ask(&self, form: &Form) -> Result<Tokens, AuthError> {
        let (answer, secrets) = self.send(form).await?;
        let learned =
            self.prover.is_some_and(|prover| prover.learn(&self.address, &answer.headers));
        let (answer, secrets) = match refusal("token request", &answer, &secrets) {
            Some(AuthError::Refused { code, .. }) if code == USE_NONCE && learned => {
                self.send(form).await?
            }
            _ => (answer, secrets),
        };
        if let Some(prover) = self.prover {
            prover.learn(&self.address, &answer.headers);
        }
        match refusal("token request", &answer, &secrets) {
            Some(refused) => Err(refused),
            None => read(&answer.body, self.prover.is_some()),
        }
    }

    /// The answer to a form, and what was sent that must not be shown.
    async fn send(&self, form: &Form) -> Result<(Fetched, Vec<Secret>), AuthError> {
        let proof = self.client.proof(self.key, self.clock.seconds())?;
        let (mut request, mut secrets) = request(self.address.clone(), form, &proof);
        if let Some(prover) = self.prover {
            let proof = prover.prove(&http::Method::POST, &self.address, None);
            let value = secret_value("DPoP", &proof).expect("a token in base64 is visible ASCII");
            request.headers.insert(PROOF, value);
            secrets.push(Secret::new(proof));
        }
        Ok((self.fetcher.ask(&request, self.source, LIMIT).await?, secrets))
    }
}

/// A request with a form, from a client that proves who it is, and all of it that must not be shown:
/// whoever gets it may repeat it in a [`refusal`].
pub(super) fn request(address: Address, form: &Form, proof: &Proof) -> (Request, Vec<Secret>) {
    let kind = HeaderValue::from_static("application/x-www-form-urlencoded");
    let json = HeaderValue::from_static("application/json");
    let mut headers = HeaderMap::from_iter([(CONTENT_TYPE, kind), (ACCEPT, json)]);
    if let Some(basic) = &proof.basic {
        let basic = secret_value("Authorization", basic.expose());
        headers.insert(AUTHORIZATION, basic.expect("base64 is visible ASCII"));
    }
    let mut text = form_urlencoded::Serializer::new(String::new());
    for (name, value) in form.iter().chain(&proof.form) {
        text.append_pair(name, value.expose());
    }
    let secrets = form.iter().chain(&proof.form).filter(|(name, _)| SECRET.contains(name));
    let mut secrets: Vec<Secret> = secrets.map(|(_, value)| value.clone()).collect();
    secrets.extend(proof.secret.clone());
    let basic = proof.basic.as_ref().and_then(|basic| basic.expose().split_once(' '));
    secrets.extend(basic.map(|(_, credentials)| Secret::from(credentials)));
    (Request::post(address, headers, text.finish().into_bytes().into()), secrets)
}

/// The error in an answer, if it is one; what was sent does not show in it. A success that holds
/// an error is none: some servers answer so.
pub(super) fn refusal(what: &'static str, answer: &Fetched, sent: &[Secret]) -> Option<AuthError> {
    let refusal = serde_json::from_slice::<Refusal>(&answer.body).ok();
    if answer.status.is_success() && refusal.is_none() {
        return None;
    }
    let (code, description) = match refusal {
        Some(Refusal { error, error_description }) => (error, error_description),
        None => (format!("HTTP {}", answer.status.as_u16()), None),
    };
    Some(refused(what, code, description, sent))
}

/// The error that an authorization server made of a request, in its words, but for what was sent.
pub(super) fn refused(
    what: &'static str,
    code: String,
    description: Option<String>,
    sent: &[Secret],
) -> AuthError {
    let show = |text: String| shorten(&mask(text, sent.iter()));
    AuthError::Refused { what, code: show(code), description: description.map(show) }
}

/// What is shorter, in bytes, is no secret worth the name, and may be a part of any word.
const SHORTEST: usize = 6;

/// A text without the secrets that whoever wrote it has seen, also as they were sent in a form.
fn mask<'a>(text: String, secrets: impl Iterator<Item = &'a Secret>) -> String {
    let secrets = secrets.map(Secret::expose).filter(|secret| SHORTEST <= secret.len());
    secrets.fold(text, |text, secret| {
        let encoded: String = form_urlencoded::byte_serialize(secret.as_bytes()).collect();
        text.replace(secret, "…").replace(&encoded, "…")
    })
}

/// The parameters whose values nobody else may see.
const SECRET: [&str; 10] = [
    "actor_token",
    "assertion",
    "client_assertion",
    "client_secret",
    "code",
    "code_verifier",
    "device_code",
    "refresh_token",
    "subject_token",
    "token",
];

fn shorten(text: &str) -> String {
    match text.char_indices().nth(LONGEST_TEXT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Reads the answer of a token endpoint. Tokens that were to be bound and are not are refused: who
/// steals them can use them.
fn read(body: &[u8], bound: bool) -> Result<Tokens, AuthError> {
    let bad = |why| AuthError::BadAnswer { what: "token request", why };
    let answer: Answer = serde_json::from_slice(body).map_err(|_| bad("is not JSON"))?;
    let access_token = answer.access_token.filter(|token| !token.is_empty());
    let access_token = access_token.ok_or(bad("has no access_token"))?;
    if header_value("Authorization", &access_token).is_err() {
        return Err(bad("has an access_token that no header can carry"));
    }
    let kind = answer.token_type.unwrap_or_default().to_ascii_lowercase();
    let is_bound = match kind.as_str() {
        "dpop" if bound => true,
        "dpop" => return Err(bad("has a token that is bound to a key which we do not have")),
        // An exchange can give a token that opens nothing by itself (RFC 8693, section 2.2.1).
        "bearer" | "n_a" | "" if !bound => false,
        "bearer" | "n_a" | "" => return Err(bad("has a token that is not bound to our key")),
        _ => return Err(bad("has a token of an unknown type")),
    };
    let expires_in = answer.expires_in.and_then(|value| match value {
        serde_json::Value::String(text) => text.parse().ok(),
        number => number.as_f64().map(|seconds| seconds.max(0.0) as u64),
    });
    let refresh_token = answer.refresh_token.filter(|token| !token.is_empty());
    Ok(Tokens {
        access_token: Secret::new(access_token),
        bound: is_bound,
        refresh_token: refresh_token.map(Secret::new),
        expires_in,
        scope: answer.scope,
        issued_token_type: answer.issued_token_type,
    })
}

#[cfg(test)]
mod tests {
    use http::StatusCode;

    use super::*;
    use crate::net::Zone;

    fn answer(status: u16, body: &str) -> Fetched {
        Fetched {
            status: StatusCode::from_u16(status).unwrap(),
            headers: HeaderMap::new(),
            address: Address::parse("https://as/token").unwrap(),
            zone: Zone::Public,
            body: body.into(),
        }
    }

    #[test]
    fn tokens_are_read() {
        let check = |body: &str, bound: bool, expected: Result<(bool, Option<u64>), &str>| {
            let tokens = read(body.as_bytes(), bound).map_err(|error| error.to_string());
            let tokens = tokens.map(|tokens| (tokens.bound, tokens.expires_in));
            let expected = expected.map_err(|why| {
                format!("the authorization server's answer to the token request {why}")
            });
            assert_eq!(tokens, expected, "{body}");
        };
        let plain = r#"{"access_token":"t","token_type":"Bearer","expires_in":60}"#;
        check(plain, false, Ok((false, Some(60))));
        check(
            r#"{"access_token":"t","token_type":"bearer","expires_in":"60"}"#,
            false,
            Ok((false, Some(60))),
        );
        check(r#"{"access_token":"t","expires_in":-1.5}"#, false, Ok((false, Some(0))));
        check(r#"{"access_token":"t","token_type":"DPoP"}"#, true, Ok((true, None)));
        check(plain, true, Err("has a token that is not bound to our key"));
        check(
            r#"{"access_token":"t","token_type":"DPoP"}"#,
            false,
            Err("has a token that is bound to a key which we do not have"),
        );
        check(
            r#"{"access_token":"t","token_type":"mac"}"#,
            false,
            Err("has a token of an unknown type"),
        );
        check(r#"{"access_token":""}"#, false, Err("has no access_token"));
        check("{}", false, Err("has no access_token"));
        check("<html>", false, Err("is not JSON"));
        check(
            "{\"access_token\":\"t\\nX: y\"}",
            false,
            Err("has an access_token that no header can carry"),
        );
    }

    #[test]
    fn refusals_are_told_without_what_was_sent() {
        let check = |status: u16, body: &str, expected: Option<&str>| {
            let code = Secret::from("code-123");
            let refused = refusal("token request", &answer(status, body), &[code]);
            let told = refused.map(|refused| refused.to_string());
            let expected = expected
                .map(|told| format!("the authorization server refused the token request: {told}"));
            assert_eq!(told, expected, "{body}");
        };
        check(400, r#"{"error":"invalid_grant"}"#, Some("invalid_grant"));
        check(
            400,
            r#"{"error":"invalid_grant","error_description":"code-123 is old"}"#,
            Some("invalid_grant: … is old"),
        );
        check(200, r#"{"error":"bad_verification_code"}"#, Some("bad_verification_code"));
        check(500, "<html>", Some("HTTP 500"));
        check(200, r#"{"access_token":"t"}"#, None);
        let long = format!(r#"{{"error":"{}"}}"#, "x".repeat(1000));
        let told = refusal("login", &answer(400, &long), &[]).unwrap().to_string();
        assert!(told.len() < 400);
    }

    #[test]
    fn forms_are_encoded() {
        let form: Form = vec![("a", "1 & 2".into()), ("resource", "https://h/é".into())];
        let address = Address::parse("https://as/token").unwrap();
        let proof = Proof { form: vec![("client_id", "c".into())], ..Proof::default() };
        let body = request(address, &form, &proof).0.body.unwrap();
        assert_eq!(*body, b"a=1+%26+2&resource=https%3A%2F%2Fh%2F%C3%A9&client_id=c");
    }

    #[test]
    fn nothing_secret_of_a_request_comes_back_in_an_error() {
        let check = |form: Form, proof: Proof, echoed: &str| {
            let address = Address::parse("https://as/token").unwrap();
            let (_, secrets) = request(address, &form, &proof);
            let body = serde_json::json!({ "error": "e", "error_description": echoed });
            let refused = refusal("login", &answer(400, &body.to_string()), &secrets).unwrap();
            let AuthError::Refused { description: Some(told), .. } = refused else { panic!() };
            assert_eq!(told, "got …!", "{echoed}");
        };
        let nothing = Proof::default;
        let assertion = || Proof { form: vec![("client_assertion", "ey.J.x".into())], ..nothing() };
        let basic = || Proof {
            basic: Some("Basic Yzpzw6ljcmV0".into()),
            secret: Some("s ecret".into()),
            ..nothing()
        };
        check(vec![("code", "code-123".into())], nothing(), "got code-123!");
        check(vec![("token", "token-123".into())], nothing(), "got token-123!");
        check(Vec::new(), assertion(), "got ey.J.x!");
        check(Vec::new(), basic(), "got Yzpzw6ljcmV0!");
        check(Vec::new(), basic(), "got s ecret!");
        check(Vec::new(), basic(), "got s+ecret!");
    }
}
