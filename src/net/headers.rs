//! Header fields that the user adds to every request, and the credentials.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};

use super::Address;

/// Header fields of the user, checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headers(HeaderMap);

/// Why a header field was not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InvalidHeader {
    /// The line has no colon.
    NoColon,
    /// The name is no token (RFC 9110, section 5.1).
    Name(String),
    /// The value has other characters than visible ASCII, space and tab.
    Value(String),
    /// The name belongs to the protocol, which alone decides what it says.
    Reserved(String),
}

/// Names that only the protocol or the HTTP library may set.
const RESERVED: [&str; 17] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "expect",
    "keep-alive",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The beginning of the names that mirror tool arguments (2026-07-28, Custom Headers).
const RESERVED_PREFIX: &str = "mcp-param-";

impl Headers {
    /// Adds a field. A field of the same name stays: some fields may stand several times.
    pub fn add(&mut self, name: &str, value: &str) -> Result<(), InvalidHeader> {
        let (key, value) = check(name, value)?;
        self.0.append(key, value);
        Ok(())
    }

    pub(super) fn as_map(&self) -> &HeaderMap {
        &self.0
    }
}

/// Reads a field from a line `Name: value`, and makes sure that a user may set it.
pub fn read_header(line: &str) -> Result<(&str, &str), InvalidHeader> {
    let (name, value) = line.split_once(':').ok_or(InvalidHeader::NoColon)?;
    let value = value.trim_matches([' ', '\t']);
    check(name, value)?;
    Ok((name, value))
}

/// Whether a user may set a field.
fn check(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), InvalidHeader> {
    let invalid_name = || InvalidHeader::Name(name.to_owned());
    let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid_name())?;
    if RESERVED.contains(&key.as_str()) || key.as_str().starts_with(RESERVED_PREFIX) {
        return Err(InvalidHeader::Reserved(name.to_owned()));
    }
    Ok((key, header_value(name, value)?))
}

/// A header value that can be sent. The HTTP library panics on bytes outside ASCII, which the type
/// itself allows, so every value passes here.
pub fn header_value(name: &str, value: &str) -> Result<HeaderValue, InvalidHeader> {
    let invalid = || InvalidHeader::Value(name.to_owned());
    if !value.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~')) {
        return Err(invalid());
    }
    HeaderValue::from_str(value).map_err(|_| invalid())
}

/// The credentials for one origin. Clones share them, so that a login can replace them while the
/// connection stands.
#[derive(Clone, Default)]
pub struct Authorization(Rc<RefCell<Option<Signer>>>);

/// What signs a request: makes its credential fields from its method and address.
pub type Signer = Rc<dyn Fn(&http::Method, &Address) -> Vec<(HeaderName, HeaderValue)>>;

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
        let mut value = header_value("Authorization", &format!("Bearer {token}"))?;
        value.set_sensitive(true);
        self.set(Rc::new(move |_, _| vec![(AUTHORIZATION, value.clone())]));
        Ok(())
    }

    /// Replaces the credentials by something that signs every request anew.
    pub fn set(&self, signer: Signer) {
        self.0.replace(Some(signer));
    }

    /// Forgets the credentials.
    pub fn clear(&self) {
        self.0.take();
    }

    /// The fields for a request.
    pub(super) fn sign(
        &self,
        method: &http::Method,
        address: &Address,
    ) -> Vec<(HeaderName, HeaderValue)> {
        // Cloned so that the signer may replace itself.
        let signer = self.0.borrow().clone();
        signer.map(|sign| sign(method, address)).unwrap_or_default()
    }
}

impl fmt::Debug for Authorization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.0.borrow().is_some() { "Authorization(…)" } else { "Authorization" };
        f.write_str(state)
    }
}

impl fmt::Display for InvalidHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InvalidHeader::NoColon => f.write_str("a header must be written 'Name: value'"),
            InvalidHeader::Name(name) => write!(f, "\"{}\" is no header name", name.escape_debug()),
            InvalidHeader::Value(name) => {
                write!(
                    f,
                    "the value of the header \"{name}\" has characters that a header cannot carry"
                )
            }
            InvalidHeader::Reserved(name) => {
                write!(f, "the header \"{name}\" is set by the protocol and cannot be chosen")
            }
        }
    }
}

impl std::error::Error for InvalidHeader {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_checked() {
        let check = |line: &str, expected: Result<(), InvalidHeader>| {
            assert_eq!(read_header(line).map(drop), expected, "{line}");
        };
        check("X-Api-Key: secret", Ok(()));
        check("X-Empty:", Ok(()));
        check("X-Colon: a:b", Ok(()));
        check("Host: example.com", Ok(()));
        check("no colon", Err(InvalidHeader::NoColon));
        check("a b: c", Err(InvalidHeader::Name("a b".into())));
        check(": c", Err(InvalidHeader::Name(String::new())));
        check("X-Name: na\u{ef}ve", Err(InvalidHeader::Value("X-Name".into())));
        check("X-Name: a\nb", Err(InvalidHeader::Value("X-Name".into())));
        check("Mcp-Session-Id: x", Err(InvalidHeader::Reserved("Mcp-Session-Id".into())));
        check("ACCEPT: x", Err(InvalidHeader::Reserved("ACCEPT".into())));
        check("Mcp-Param-Region: x", Err(InvalidHeader::Reserved("Mcp-Param-Region".into())));
    }

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
