//! One login of a person: the request that goes through the browser, and the answer that comes back
//! (RFC 6749, section 4.1; RFC 7636; RFC 9207).

use url::form_urlencoded;

use super::error::AuthError;
use super::jose::{random_text, sha256_base64url};
use super::metadata::ServerMetadata;
use super::scope::Scopes;
use super::token;
use crate::env::Secret;
use crate::net::Address;

/// A login that was begun. What is in it was recorded before the browser was opened, and is what
/// the answer is held against.
#[derive(Debug)]
pub(super) struct Login {
    /// Who was asked: the issuer of the metadata that was checked.
    issuer: String,
    /// Whether the answer must say who answers.
    iss_required: bool,
    /// Ties the answer to this login.
    state: String,
    /// Proves to the token endpoint that we began it.
    pub verifier: Secret,
    /// Where the answer is to come.
    pub redirect_uri: String,
}

/// What an answer is.
#[derive(Debug)]
pub(super) enum Answer {
    /// Something that belongs to another login, or to none.
    Stranger,
    /// The code to be turned into a token.
    Code(Secret),
    /// The login failed.
    Failed(AuthError),
}

impl Login {
    /// Begins a login at this server.
    pub(super) fn new(server: &ServerMetadata, redirect_uri: String) -> Login {
        Login {
            issuer: server.issuer.clone(),
            iss_required: server.authorization_response_iss_parameter_supported,
            state: random_text(),
            verifier: Secret::new(random_text()),
            redirect_uri,
        }
    }

    /// The URL to open in the browser.
    pub(super) fn url(
        &self,
        endpoint: &Address,
        client_id: &str,
        resource: &str,
        scopes: &Scopes,
    ) -> String {
        let challenge = sha256_base64url(self.verifier.expose());
        let mut query = form_urlencoded::Serializer::new(String::new());
        query
            .append_pair("response_type", "code")
            .append_pair("client_id", client_id)
            .append_pair("redirect_uri", &self.redirect_uri)
            .append_pair("state", &self.state)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256")
            .append_pair("resource", resource);
        if !scopes.is_empty() {
            query.append_pair("scope", &scopes.to_string());
        }
        let endpoint = endpoint.as_str();
        let separator = if endpoint.contains('?') { '&' } else { '?' };
        format!("{endpoint}{separator}{}", query.finish())
    }

    /// Judges an answer by its query. The code of an answer that fails goes nowhere, and of one from
    /// the wrong issuer nothing is shown (2026-07-28, Authorization Response Validation).
    pub(super) fn judge(&self, query: &str) -> Answer {
        let parameter = |name: &str| {
            let mut values =
                form_urlencoded::parse(query.as_bytes()).filter(|(key, _)| key == name);
            let first = values.next().map(|(_, value)| value.into_owned());
            // Of a parameter that is there twice nobody can tell which one is meant.
            if values.next().is_some() { None } else { first }
        };
        if parameter("state").as_deref() != Some(self.state.as_str()) {
            return Answer::Stranger;
        }
        let expected = self.issuer.clone();
        let named = form_urlencoded::parse(query.as_bytes()).any(|(key, _)| key == "iss");
        match parameter("iss") {
            Some(iss) if iss != expected => {
                return Answer::Failed(AuthError::WrongIss { expected, named: true });
            }
            None if named || self.iss_required => {
                return Answer::Failed(AuthError::WrongIss { expected, named });
            }
            _ => (),
        }
        match (parameter("error"), parameter("code")) {
            (Some(code), _) => {
                let description = parameter("error_description");
                let secrets = [self.verifier.clone(), Secret::from(self.state.as_str())];
                Answer::Failed(token::refused("login", code, description, &secrets))
            }
            (None, Some(code)) if !code.is_empty() => Answer::Code(Secret::new(code)),
            _ => Answer::Failed(AuthError::BadAnswer { what: "login", why: "has no code" }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login(iss_required: bool) -> Login {
        let server = ServerMetadata {
            issuer: "https://as.example".into(),
            authorization_response_iss_parameter_supported: iss_required,
            ..ServerMetadata::default()
        };
        let mut login = Login::new(&server, "http://127.0.0.1:7/callback".into());
        login.state = "S".into();
        login
    }

    #[test]
    fn the_url_says_all_that_the_answer_is_held_against() {
        let endpoint = Address::parse("https://as.example/authorize?tenant=a").unwrap();
        let mut login = login(true);
        // RFC 7636, appendix B.
        login.verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk".into();
        let scopes = Scopes::parse("a b");
        assert_eq!(
            login.url(&endpoint, "c 1", "https://h/mcp", &scopes),
            "https://as.example/authorize?tenant=a&response_type=code&client_id=c+1\
             &redirect_uri=http%3A%2F%2F127.0.0.1%3A7%2Fcallback&state=S\
             &code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM\
             &code_challenge_method=S256&resource=https%3A%2F%2Fh%2Fmcp&scope=a+b"
        );
        let url = login.url(&endpoint, "c", "https://h", &Scopes::default());
        assert!(!url.contains("scope"), "{url}");
    }

    #[test]
    fn answers_are_held_against_the_login() {
        let check = |iss_required: bool, query: &str, expected: &str| {
            let told = match login(iss_required).judge(query) {
                Answer::Stranger => "stranger".to_owned(),
                Answer::Code(code) => format!("code {}", code.expose()),
                Answer::Failed(AuthError::WrongIss { named: true, .. }) => "wrong iss".to_owned(),
                Answer::Failed(AuthError::WrongIss { named: false, .. }) => "no iss".to_owned(),
                Answer::Failed(error) => error.to_string(),
            };
            assert_eq!(told, expected, "{query}");
        };
        let iss = "iss=https%3A%2F%2Fas.example";
        check(false, "code=x&state=S", "code x");
        check(true, &format!("code=x&state=S&{iss}"), "code x");
        check(false, &format!("code=x&state=S&{iss}"), "code x");
        check(true, "code=x&state=S", "no iss");
        check(true, "code=x&state=S&iss=https://evil.example", "wrong iss");
        check(false, "code=x&state=S&iss=https://evil.example", "wrong iss");
        check(true, &format!("code=x&state=S&{iss}/"), "wrong iss");
        check(true, &format!("code=x&state=S&{iss}:443"), "wrong iss");
        check(true, "code=x&state=S&iss=HTTPS://as.example", "wrong iss");
        check(true, &format!("code=x&state=S&{iss}&{iss}"), "wrong iss");
        check(false, "code=x&state=other", "stranger");
        check(false, "code=x", "stranger");
        check(false, "code=x&state=S&state=S", "stranger");
        check(false, "", "stranger");
        check(
            false,
            "state=S&error=access_denied&error_description=no+way",
            "the authorization server refused the login: access_denied: no way",
        );
        // What a wrong issuer has to say is not shown.
        check(false, "state=S&error=phish&iss=https://evil.example", "wrong iss");
        let no_code = "the authorization server's answer to the login has no code";
        check(false, "state=S", no_code);
        check(false, "state=S&code=", no_code);
        check(false, "state=S&code=a&code=b", no_code);
    }

    #[test]
    fn every_login_is_its_own() {
        let server = ServerMetadata::default();
        let (one, other) = (Login::new(&server, String::new()), Login::new(&server, String::new()));
        assert_ne!(one.state, other.state);
        assert_ne!(one.verifier, other.verifier);
        assert!(!format!("{one:?}").contains(one.verifier.expose()));
    }
}
