//! The credentials that go along with every request.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};

use super::{Address, InvalidHeader, secret_value};

/// What proves to a server who is calling.
pub trait Credentials {
    /// The credential fields of a request.
    fn sign(&self, method: &http::Method, address: &Address) -> Vec<(HeaderName, HeaderValue)>;

    /// Takes in what an answer from `address` says for the requests to come.
    fn learn(&self, _address: &Address, _answer: &HeaderMap) {}
}

/// The credentials for one origin. Clones share them, so that a login can replace them while the
/// connection stands.
#[derive(Clone, Default)]
pub struct Authorization(Rc<RefCell<Option<Rc<dyn Credentials>>>>);

/// A bearer token (RFC 6750): the same field for every request.
struct Bearer(HeaderValue);

impl Credentials for Bearer {
    fn sign(&self, _: &http::Method, _: &Address) -> Vec<(HeaderName, HeaderValue)> {
        vec![(AUTHORIZATION, self.0.clone())]
    }
}

impl Authorization {
    /// No credentials.
    pub fn none() -> Authorization {
        Authorization::default()
    }

    /// A bearer token (RFC 6750). Errors when the token has characters that no header can carry.
    pub fn bearer(token: &str) -> Result<Authorization, InvalidHeader> {
        let authorization = Authorization::default();
        authorization.set_bearer(token)?;
        Ok(authorization)
    }

    /// Replaces the credentials by a bearer token.
    pub fn set_bearer(&self, token: &str) -> Result<(), InvalidHeader> {
        let value = secret_value("Authorization", &format!("Bearer {token}"))?;
        self.set(Rc::new(Bearer(value)));
        Ok(())
    }

    /// Replaces the credentials.
    pub fn set(&self, credentials: Rc<dyn Credentials>) {
        self.0.replace(Some(credentials));
    }

    /// Forgets the credentials.
    pub fn clear(&self) {
        self.0.take();
    }

    /// Whether there are any.
    pub fn is_set(&self) -> bool {
        self.0.borrow().is_some()
    }

    /// The fields for a request.
    pub(super) fn sign(
        &self,
        method: &http::Method,
        address: &Address,
    ) -> Vec<(HeaderName, HeaderValue)> {
        self.current().map(|credentials| credentials.sign(method, address)).unwrap_or_default()
    }

    /// Shows an answer to the credentials.
    pub(super) fn learn(&self, address: &Address, answer: &HeaderMap) {
        if let Some(credentials) = self.current() {
            credentials.learn(address, answer);
        }
    }

    /// Cloned, so that the credentials may replace themselves.
    fn current(&self) -> Option<Rc<dyn Credentials>> {
        self.0.borrow().clone()
    }
}

impl fmt::Debug for Authorization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_set() { "Authorization(…)" } else { "Authorization" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_can_be_replaced_and_do_not_show() {
        let address = Address::parse("https://example.com/").unwrap();
        let authorization = Authorization::bearer("one").unwrap();
        let clone = authorization.clone();
        let sign = |authorization: &Authorization| {
            let fields = authorization.sign(&http::Method::GET, &address);
            fields.iter().map(|(_, value)| value.to_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(sign(&clone), ["Bearer one"]);
        authorization.set_bearer("two").unwrap();
        assert_eq!(sign(&clone), ["Bearer two"]);
        assert!(!format!("{clone:?}").contains("two"));
        authorization.clear();
        assert!(sign(&clone).is_empty());
        assert!(Authorization::bearer("t\u{f6}ken").is_err());
    }
}
