//! Header fields that the user adds to every request.

use std::fmt;

use http::header::{HeaderMap, HeaderName, HeaderValue};

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

/// The same for a value that nobody may see: it is left out where header fields are printed.
pub fn secret_value(name: &str, value: &str) -> Result<HeaderValue, InvalidHeader> {
    let mut value = header_value(name, value)?;
    value.set_sensitive(true);
    Ok(value)
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
}
