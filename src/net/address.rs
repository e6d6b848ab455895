//! The URLs that this program may contact.

use std::fmt;
use std::net::IpAddr;

use url::{Host, Url};

/// An `http` or `https` URL without user name, password and fragment.
///
/// Everything that sends a request takes one of these and not a string, so that a redirect, a
/// metadata document or a configuration file can never make it open `file:///etc/passwd`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    url: Url,
    uri: http::Uri,
}

/// Why a URL was not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InvalidAddress {
    /// It has another scheme than `http` and `https`, or none.
    Scheme,
    /// It carries a user name or a password, which would end up in logs and in error messages.
    Credentials,
    /// It is no URL.
    Syntax(String),
}

impl Address {
    /// Reads a URL that a person or a configuration file named. Its fragment is dropped.
    pub fn parse(text: &str) -> Result<Address, InvalidAddress> {
        // The WHATWG parser would forgive `http:host` and `http:\\host`, and strip line breaks.
        if !has_authority(text) {
            return Err(InvalidAddress::Scheme);
        }
        if text.bytes().any(|byte| byte <= b' ' || byte == b'\\' || byte == 0x7f) {
            return Err(InvalidAddress::Syntax("it contains a blank or a backslash".into()));
        }
        let url = Url::parse(text).map_err(|error| InvalidAddress::Syntax(error.to_string()))?;
        Address::from_url(url)
    }

    /// The address that `reference` points to when it is found at this one (RFC 3986, section 5).
    pub fn join(&self, reference: &str) -> Result<Address, InvalidAddress> {
        let joined = self.url.join(reference);
        Address::from_url(joined.map_err(|error| InvalidAddress::Syntax(error.to_string()))?)
    }

    fn from_url(mut url: Url) -> Result<Address, InvalidAddress> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(InvalidAddress::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(InvalidAddress::Credentials);
        }
        url.set_fragment(None);
        let uri = url.as_str().parse();
        let uri =
            uri.map_err(|error: http::uri::InvalidUri| InvalidAddress::Syntax(error.to_string()))?;
        Ok(Address { url, uri })
    }

    /// The URL as text.
    pub fn as_str(&self) -> &str {
        self.url.as_str()
    }

    pub(super) fn uri(&self) -> &http::Uri {
        &self.uri
    }

    /// Whether both have the same scheme, host and port (RFC 6454).
    pub fn same_origin(&self, other: &Address) -> bool {
        self.url.origin() == other.url.origin()
    }

    /// The scheme, host and port as text: `https://example.com`.
    pub fn origin(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    /// Whether the connection is encrypted.
    pub fn is_tls(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// The host, as it stands in the URL: a name, or an IP address, IPv6 in brackets.
    pub fn host(&self) -> &str {
        self.url.host_str().expect("an http URL has a host")
    }

    /// The host when it is an IP address.
    pub fn ip(&self) -> Option<IpAddr> {
        match self.url.host()? {
            Host::Ipv4(ip) => Some(ip.into()),
            Host::Ipv6(ip) => Some(ip.into()),
            Host::Domain(_) => None,
        }
    }

    /// The port, whether the URL names it or not.
    pub fn port(&self) -> u16 {
        self.url.port_or_known_default().expect("http and https have a default port")
    }

    /// The host and port: `example.com:443`.
    pub fn host_and_port(&self) -> String {
        format!("{}:{}", self.host(), self.port())
    }

    /// Whether the host is this machine by its name or address (RFC 6761, section 6.3).
    pub fn is_loopback(&self) -> bool {
        match self.ip() {
            Some(ip) => ip.is_loopback(),
            None => self.host() == "localhost" || self.host().ends_with(".localhost"),
        }
    }
}

/// Whether the text begins with `http://` or `https://`.
fn has_authority(text: &str) -> bool {
    let begins = |scheme: &str| {
        text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    begins("http://") || begins("https://")
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for InvalidAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InvalidAddress::Scheme => f.write_str("a URL must begin with http:// or https://"),
            InvalidAddress::Credentials => f.write_str(
                "a URL must not contain a user name or password; use an Authorization header",
            ),
            InvalidAddress::Syntax(reason) => write!(f, "not a valid URL: {reason}"),
        }
    }
}

impl std::error::Error for InvalidAddress {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_http_urls_are_addresses() {
        let check = |text: &str, expected: Result<&str, InvalidAddress>| {
            let address = Address::parse(text);
            assert_eq!(address.as_ref().map(Address::as_str), expected.as_ref().copied(), "{text}");
        };
        check("http://example.com/mcp", Ok("http://example.com/mcp"));
        check("HTTPS://Example.com:443", Ok("https://example.com/"));
        check("http://[::1]:8000/mcp?a=1%202#part", Ok("http://[::1]:8000/mcp?a=1%202"));
        check("file:///etc/passwd", Err(InvalidAddress::Scheme));
        check("ftp://example.com/", Err(InvalidAddress::Scheme));
        check("http:example.com", Err(InvalidAddress::Scheme));
        check("example.com", Err(InvalidAddress::Scheme));
        check("", Err(InvalidAddress::Scheme));
        check("http://user@example.com/", Err(InvalidAddress::Credentials));
        check("http://user:word@example.com/", Err(InvalidAddress::Credentials));
        assert!(matches!(Address::parse("http://"), Err(InvalidAddress::Syntax(_))));
        assert!(matches!(Address::parse("http://a b/"), Err(InvalidAddress::Syntax(_))));
        assert!(matches!(Address::parse("http:\\\\host\\"), Err(InvalidAddress::Scheme)));
        assert!(matches!(Address::parse("http://host:99999/"), Err(InvalidAddress::Syntax(_))));
    }

    #[test]
    fn references_are_resolved_and_checked() {
        let base = Address::parse("http://127.0.0.1:8000/a/sse?x=1").unwrap();
        let check = |reference: &str, expected: Result<&str, InvalidAddress>| {
            let joined = base.join(reference);
            let joined = joined.as_ref().map(Address::as_str);
            assert_eq!(joined, expected.as_ref().copied(), "{reference}");
        };
        check("/messages?id=7&y=1%202", Ok("http://127.0.0.1:8000/messages?id=7&y=1%202"));
        check("messages", Ok("http://127.0.0.1:8000/a/messages"));
        check("?id=7", Ok("http://127.0.0.1:8000/a/sse?id=7"));
        check("//other.example/m", Ok("http://other.example/m"));
        check("file:///etc/passwd", Err(InvalidAddress::Scheme));
        check("http://user@127.0.0.1:8000/", Err(InvalidAddress::Credentials));
    }

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        let check = |a: &str, b: &str, expected: bool| {
            let same = Address::parse(a).unwrap().same_origin(&Address::parse(b).unwrap());
            assert_eq!(same, expected, "{a} {b}");
        };
        check("http://example.com/a", "http://EXAMPLE.com:80/b", true);
        check("http://example.com/", "https://example.com/", false);
        check("http://example.com/", "http://example.com:81/", false);
        check("http://127.0.0.1/", "http://localhost/", false);
    }

    #[test]
    fn loopback_is_told_by_name_and_by_address() {
        let check = |url: &str, expected: bool| {
            assert_eq!(Address::parse(url).unwrap().is_loopback(), expected, "{url}");
        };
        check("http://localhost:1/", true);
        check("http://api.localhost/", true);
        check("http://127.9.9.9/", true);
        check("http://[::1]/", true);
        check("http://localhost.example/", false);
        check("http://10.0.0.1/", false);
    }
}
