//! Who we are to an authorization server, and how we prove it.
//!
//! A client id and its secret belong to the issuer that gave them out and are never shown to
//! another (2026-07-28, Authorization Server Binding); the URL of a metadata document is no secret
//! and the same everywhere.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::json;
use url::form_urlencoded;

use super::error::{AuthError, IssuerError};
use super::jose::{SigningKey, random_text};
use super::metadata::{ServerMetadata, is_named};
use super::options::Options;
use crate::env::Secret;

/// A client as one authorization server knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    /// The issuer that knows it.
    pub issuer: String,
    /// Its id.
    pub id: String,
    /// Its secret.
    pub secret: Option<Secret>,
    /// How it proves who it is.
    pub method: Method,
    /// Where answers to logins may go, when the client is bound to one place.
    pub redirect_uri: Option<String>,
    /// When its secret ends, in seconds since 1970.
    pub expires_at: Option<u64>,
}

/// How a client proves who it is at the token endpoint (RFC 7591, section 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Not at all.
    None,
    /// By its secret in the `Authorization` field.
    Basic,
    /// By its secret in the form.
    Post,
    /// By a signature.
    PrivateKeyJwt,
}

impl Method {
    const NAMES: [(&'static str, Method); 4] = [
        ("none", Method::None),
        ("client_secret_basic", Method::Basic),
        ("client_secret_post", Method::Post),
        ("private_key_jwt", Method::PrivateKeyJwt),
    ];

    /// Its name in metadata.
    pub fn name(self) -> &'static str {
        let named = Method::NAMES.iter().find(|(_, method)| *method == self);
        named.map_or("", |(name, _)| name)
    }

    /// The method of that name.
    pub fn named(name: &str) -> Option<Method> {
        Method::NAMES.iter().find(|(known, _)| *known == name).map(|(_, method)| *method)
    }
}

/// How this client becomes known to an authorization server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Introduction {
    /// It is known already.
    Known(Client),
    /// It registers (RFC 7591).
    Register,
}

/// How to become known: as the client that we were given, as the one that our metadata describes,
/// as the one that we registered before, or by registering (2026-07-28, Client Registration).
pub(super) fn introduce(
    options: &Options,
    server: &ServerMetadata,
    registered: Option<Client>,
) -> Result<Introduction, AuthError> {
    let issuer = server.issuer.clone();
    let known = |id: &str, secret: Option<Secret>, method| {
        let (redirect_uri, expires_at) = (None, None);
        Ok(Introduction::Known(Client {
            issuer: issuer.clone(),
            id: id.to_owned(),
            secret,
            method,
            redirect_uri,
            expires_at,
        }))
    };
    if let Some(id) = &options.client_id {
        if let Some(own) = options.issuer.as_ref().filter(|own| !is_named(&issuer, own)) {
            return Err(IssuerError::Moved { from: own.clone(), to: issuer }.into());
        }
        return known(id, options.client_secret.clone(), method_for(options, server));
    }
    if let Some(url) = &options.client_metadata_url
        && server.client_id_metadata_document_supported
    {
        let signs = options.client_key.is_some();
        return known(url, None, if signs { Method::PrivateKeyJwt } else { Method::None });
    }
    match (registered, &server.registration_endpoint) {
        (Some(client), _) => Ok(Introduction::Known(client)),
        (None, Some(_)) => Ok(Introduction::Register),
        (None, None) => Err(IssuerError::NoRegistration { issuer }.into()),
    }
}

/// How a client that we were given proves who it is: by what we have of it.
fn method_for(options: &Options, server: &ServerMetadata) -> Method {
    if options.client_key.is_some() {
        return Method::PrivateKeyJwt;
    }
    if options.client_secret.is_none() {
        return Method::None;
    }
    // A server that does not say takes Basic (RFC 8414, section 2).
    let supported = server.token_endpoint_auth_methods_supported.as_deref();
    let takes = |method: Method| {
        supported.is_none_or(|names| names.iter().any(|name| name == method.name()))
    };
    if !takes(Method::Basic) && takes(Method::Post) { Method::Post } else { Method::Basic }
}

/// The best way for a program on a person's machine, which can keep no secret from that person:
/// none, if the server lets us.
fn method_to_register(server: &ServerMetadata) -> Result<Method, AuthError> {
    let Some(supported) = &server.token_endpoint_auth_methods_supported else {
        return Ok(Method::Basic);
    };
    let usable = [Method::None, Method::Basic, Method::Post];
    let supports = |method: &Method| supported.iter().any(|name| name == method.name());
    let not_offered = || IssuerError::NotOffered {
        issuer: server.issuer.clone(),
        what: "a way for a registered client to prove who it is",
    };
    usable.into_iter().find(supports).ok_or_else(|| not_offered().into())
}

/// A request to be registered, and how the client would prove who it is.
pub(super) fn registration(
    server: &ServerMetadata,
    redirect_uri: &str,
    grants: &[&str],
) -> Result<(String, Method), AuthError> {
    let method = method_to_register(server)?;
    let request = json!({
        "client_name": env!("CARGO_PKG_NAME"),
        "application_type": "native",
        "redirect_uris": [redirect_uri],
        "grant_types": grants,
        "response_types": ["code"],
        "token_endpoint_auth_method": method.name(),
    });
    Ok((request.to_string(), method))
}

#[derive(Deserialize)]
struct Registered {
    client_id: String,
    client_secret: Option<String>,
    token_endpoint_auth_method: Option<String>,
    client_secret_expires_at: Option<u64>,
}

/// Reads the answer to a registration.
pub(super) fn registered(
    body: &[u8],
    server: &ServerMetadata,
    redirect_uri: &str,
    asked: Method,
) -> Result<Client, AuthError> {
    let bad = |why| AuthError::BadAnswer { what: "registration", why };
    let answer: Registered = serde_json::from_slice(body).map_err(|_| bad("has no client_id"))?;
    let method = match &answer.token_endpoint_auth_method {
        None => asked,
        Some(name) => Method::named(name).ok_or(bad("names an unknown way of authentication"))?,
    };
    let secret = answer.client_secret.filter(|_| method != Method::None).map(Secret::new);
    if matches!(method, Method::Basic | Method::Post) && secret.is_none() {
        return Err(bad("has no client_secret"));
    }
    Ok(Client {
        issuer: server.issuer.clone(),
        id: answer.client_id,
        secret,
        method,
        redirect_uri: Some(redirect_uri.to_owned()),
        // Zero means never.
        expires_at: answer.client_secret_expires_at.filter(|at| *at != 0),
    })
}

/// The key of a client.
#[derive(Debug)]
pub struct ClientKey {
    /// What signs.
    pub key: SigningKey,
    /// The name by which the authorization server knows it, if it knows several.
    pub id: Option<String>,
}

/// What a client adds to a token request to prove who it is.
#[derive(Debug, Default)]
pub struct Proof {
    /// For the form.
    pub form: Vec<(&'static str, Secret)>,
    /// For the `Authorization` field.
    pub basic: Option<Secret>,
    /// What is in that field and cannot be seen in it.
    pub secret: Option<Secret>,
}

/// Says in an assertion what it is (RFC 7523, section 2.2).
const CLIENT_ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// How long an assertion is good, in seconds.
const ASSERTION_LIFE: u64 = 120;

impl Client {
    /// What proves who the client is. `now` is in seconds since 1970.
    pub fn proof(&self, key: Option<&ClientKey>, now: u64) -> Result<Proof, AuthError> {
        let id = || ("client_id", Secret::from(self.id.as_str()));
        let secret = || self.secret.clone().ok_or(AuthError::Missing("the secret of the client"));
        Ok(match self.method {
            Method::None => Proof { form: vec![id()], ..Proof::default() },
            Method::Post => {
                Proof { form: vec![id(), ("client_secret", secret()?)], ..Proof::default() }
            }
            Method::Basic => {
                let secret = secret()?;
                Proof { form: Vec::new(), basic: Some(self.basic(&secret)), secret: Some(secret) }
            }
            Method::PrivateKeyJwt => {
                let key = key.ok_or(AuthError::Missing("--client-key"))?;
                let assertion = Secret::new(self.assertion(key, now));
                let kind = ("client_assertion_type", CLIENT_ASSERTION_TYPE.into());
                let form = vec![id(), kind, ("client_assertion", assertion)];
                Proof { form, ..Proof::default() }
            }
        })
    }

    /// Both parts are encoded as in a form before they are joined (RFC 6749, section 2.3.1).
    fn basic(&self, secret: &Secret) -> Secret {
        let encode =
            |text: &str| -> String { form_urlencoded::byte_serialize(text.as_bytes()).collect() };
        let joined = format!("{}:{}", encode(&self.id), encode(secret.expose()));
        Secret::new(format!("Basic {}", STANDARD.encode(joined)))
    }

    /// The audience is the issuer, and it alone (the update of RFC 7523 that is under way): an
    /// assertion for a token endpoint could be passed on by who made us believe that it is one.
    fn assertion(&self, ClientKey { key, id }: &ClientKey, now: u64) -> String {
        let mut header = json!({ "alg": key.algorithm().name(), "typ": "JWT" });
        if let Some(id) = id {
            header["kid"] = id.as_str().into();
        }
        let claims = json!({
            "iss": self.id,
            "sub": self.id,
            "aud": self.issuer,
            "jti": random_text(),
            "iat": now,
            "exp": now + ASSERTION_LIFE,
        });
        key.sign(&header.to_string(), &claims.to_string())
    }
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use serde_json::Value;

    use super::super::jose::tests::EC_KEY;
    use super::*;

    const ISSUER: &str = "https://as.example";

    /// The metadata of a server with these members.
    fn server(members: &str) -> ServerMetadata {
        serde_json::from_str(&format!(r#"{{"issuer":"{ISSUER}"{members}}}"#)).unwrap()
    }

    fn client(id: &str, method: Method) -> Client {
        Client {
            issuer: ISSUER.to_owned(),
            id: id.to_owned(),
            secret: Some("s+é:/".into()),
            method,
            redirect_uri: None,
            expires_at: None,
        }
    }

    #[test]
    fn who_was_given_an_id_uses_it_and_who_has_none_registers() {
        /// Which of an id, a metadata URL and an earlier registration there are, and what the server
        /// has; who we are then.
        #[track_caller]
        fn check(there: &str, members: &str, expected: Result<&str, &str>) {
            let has = |word: &str| there.contains(word);
            let options = Options {
                client_id: has("id").then(|| "given".to_owned()),
                client_metadata_url: has("url").then(|| "https://me.example/m".to_owned()),
                issuer: has("foreign").then(|| "https://other.example".to_owned()),
                ..Options::default()
            };
            let registered = has("earlier").then(|| client("earlier", Method::None));
            let introduced = introduce(&options, &server(members), registered);
            let introduced = introduced.map(|introduction| match introduction {
                Introduction::Known(client) => client.id,
                Introduction::Register => "register".to_owned(),
            });
            let introduced = introduced.map_err(|error| format!("{error:?}"));
            match (introduced, expected) {
                (Err(error), Err(name)) => assert!(error.starts_with(name), "{there}: {error}"),
                (introduced, expected) => {
                    assert_eq!(introduced.as_deref(), expected.map_err(str::to_owned).as_deref());
                }
            }
        }
        const REGISTERS: &str = r#","registration_endpoint":"https://as.example/r""#;
        const TAKES_URLS: &str = r#","client_id_metadata_document_supported":true"#;
        let both = format!("{REGISTERS}{TAKES_URLS}");
        check("id url earlier", &both, Ok("given"));
        check("url earlier", &both, Ok("https://me.example/m"));
        check("url earlier", REGISTERS, Ok("earlier"));
        check("url", REGISTERS, Ok("register"));
        check("earlier", "", Ok("earlier"));
        check("", &both, Ok("register"));
        check("url", "", Err("Issuer(NoRegistration"));
        check("id foreign", &both, Err("Issuer(Moved"));
    }

    #[test]
    fn a_given_client_proves_itself_by_what_it_has() {
        let check = |has: &str, methods: &str, expected: Method| {
            let options = Options {
                client_secret: has.contains("secret").then(|| "s".into()),
                client_key: has.contains("key").then(|| "k".into()),
                ..Options::default()
            };
            assert_eq!(method_for(&options, &server(methods)), expected, "{has} {methods}");
        };
        let only = |name: &str| format!(r#","token_endpoint_auth_methods_supported":["{name}"]"#);
        check("", "", Method::None);
        check("key secret", "", Method::PrivateKeyJwt);
        check("secret", "", Method::Basic);
        check("secret", &only("client_secret_basic"), Method::Basic);
        check("secret", &only("client_secret_post"), Method::Post);
        // What it has is all that it can try.
        check("secret", &only("private_key_jwt"), Method::Basic);
        check("", &only("client_secret_post"), Method::None);
    }

    #[test]
    fn a_registration_asks_for_what_the_server_can_do() {
        let check = |methods: &str, expected: Option<Method>| {
            let members = format!(r#","token_endpoint_auth_methods_supported":{methods}"#);
            let asked = registration(&server(&members), "http://127.0.0.1:1/c", &["refresh_token"]);
            assert_eq!(asked.ok().map(|(_, method)| method), expected, "{methods}");
        };
        check("null", Some(Method::Basic));
        check(r#"["client_secret_post","none"]"#, Some(Method::None));
        check(r#"["client_secret_post","client_secret_basic"]"#, Some(Method::Basic));
        check(r#"["client_secret_post"]"#, Some(Method::Post));
        check(r#"["private_key_jwt"]"#, None);
        check("[]", None);
        let (body, _) = registration(&server(""), "http://127.0.0.1:1/c", &["a", "b"]).unwrap();
        let body: Value = serde_json::from_str(&body).unwrap();
        let expected = json!({
            "client_name": "mcpmini",
            "application_type": "native",
            "redirect_uris": ["http://127.0.0.1:1/c"],
            "grant_types": ["a", "b"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "client_secret_basic",
        });
        assert_eq!(body, expected);
    }

    #[test]
    fn a_registered_client_has_what_its_method_needs() {
        let check = |body: &str, asked, expected: Option<(Method, bool, Option<u64>)>| {
            let client = registered(body.as_bytes(), &server(""), "http://127.0.0.1:1/c", asked);
            let client = client.ok();
            let facts = client.as_ref().map(|c| (c.method, c.secret.is_some(), c.expires_at));
            assert_eq!(facts, expected, "{body}");
            if let Some(client) = client {
                assert_eq!((client.issuer.as_str(), client.id.as_str()), (ISSUER, "x"));
                assert_eq!(client.redirect_uri.as_deref(), Some("http://127.0.0.1:1/c"));
            }
        };
        let none = Some((Method::None, false, None));
        check(r#"{"client_id":"x"}"#, Method::None, none);
        check(r#"{"client_id":"x","client_secret":"s"}"#, Method::None, none);
        check(r#"{"client_id":"x"}"#, Method::Basic, None);
        let basic = r#"{"client_id":"x","client_secret":"s","client_secret_expires_at":"#;
        check(&format!("{basic}0}}"), Method::Basic, Some((Method::Basic, true, None)));
        check(&format!("{basic}9}}"), Method::Post, Some((Method::Post, true, Some(9))));
        // The server has the last word about the method.
        let named = |method| {
            let method = format!(r#""token_endpoint_auth_method":"{method}""#);
            format!(r#"{{"client_id":"x","client_secret":"s",{method}}}"#)
        };
        check(&named("client_secret_post"), Method::None, Some((Method::Post, true, None)));
        check(&named("none"), Method::Basic, none);
        check(&named("tls_client_auth"), Method::None, None);
        check("{}", Method::None, None);
        check("not JSON", Method::None, None);
    }

    #[test]
    fn a_proof_is_made_as_the_standards_say() {
        let form = |proof: &Proof| {
            let pairs = proof.form.iter().map(|(name, value)| format!("{name}={}", value.expose()));
            pairs.collect::<Vec<_>>().join("&")
        };
        let check = |method, in_form: &str, basic: Option<&str>| {
            let proof = client("a b", method).proof(None, 0).unwrap();
            let sent = proof.basic.as_ref().map(|basic| basic.expose().to_owned());
            let expected = basic.map(|pair| format!("Basic {}", STANDARD.encode(pair)));
            assert_eq!((form(&proof).as_str(), sent), (in_form, expected), "{method:?}");
        };
        check(Method::None, "client_id=a b", None);
        check(Method::Post, "client_id=a b&client_secret=s+é:/", None);
        // RFC 6749, section 2.3.1: encoded before they are joined.
        check(Method::Basic, "", Some("a+b:s%2B%C3%A9%3A%2F"));
        let without = Client { secret: None, ..client("x", Method::Basic) };
        assert!(matches!(without.proof(None, 0), Err(AuthError::Missing(_))));
        let without = client("x", Method::PrivateKeyJwt).proof(None, 0);
        assert!(matches!(without, Err(AuthError::Missing("--client-key"))));
    }

    #[test]
    fn an_assertion_names_its_key_and_its_audience() {
        let check = |id: Option<&str>, expected: &str| {
            let key = SigningKey::from_pem(&EC_KEY.into(), None).unwrap();
            let key = ClientKey { key, id: id.map(str::to_owned) };
            let proof = client("c", Method::PrivateKeyJwt).proof(Some(&key), 1000).unwrap();
            let (_, assertion) = &proof.form[2];
            let parts = assertion.expose().split('.').map(|part| URL_SAFE_NO_PAD.decode(part));
            let parts: Vec<_> = parts.map(Result::unwrap).collect();
            assert_eq!(String::from_utf8_lossy(&parts[0]), expected);
            let claims: Value = serde_json::from_slice(&parts[1]).unwrap();
            assert_eq!((&claims["iss"], &claims["sub"]), (&json!("c"), &json!("c")));
            assert_eq!((&claims["aud"], &claims["exp"]), (&json!(ISSUER), &json!(1120)));
        };
        check(None, r#"{"alg":"ES256","typ":"JWT"}"#);
        check(Some("key-1"), r#"{"alg":"ES256","typ":"JWT","kid":"key-1"}"#);
    }

    #[test]
    fn names_of_methods_go_both_ways() {
        for (name, method) in Method::NAMES {
            assert_eq!((method.name(), Method::named(name)), (name, Some(method)));
        }
        assert_eq!(Method::named("self_signed_tls_client_auth"), None);
    }
}
