//! HTTP: how to reach a server, and the connections to it.
//!
//! The rest of the program asks [`Lanes`] to send a [`Request`] and reads the [`Reply`]. What the
//! HTTP library does behind one's back is undone here: it would open `file:` URLs, follow redirects
//! with all credentials, send a request twice, keep a connection that was hung up, and wait for a
//! name server when it is dropped.

mod address;
mod authorization;
mod certificate;
mod fault;
mod fetch;
mod glance;
mod headers;
mod lanes;
mod meter;
mod proxy;
mod reasons;
mod reply;
mod request;
mod tls;
mod together;
mod zone;

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use isahc::config::VersionNegotiation;
use isahc::net::dns::ResolveMap;

use crate::protocol::trace::Trace;

pub use address::{Address, InvalidAddress};
pub use authorization::{Authorization, Credentials};
pub use certificate::{Certificate, Unseen};
pub use fault::is_untrusted;
pub use fetch::{FetchError, Fetched, Fetcher, Policy, Query, Source};
pub use glance::Glance;
pub use headers::{Headers, InvalidHeader, header_value, read_header, secret_value};
pub use lanes::Lanes;
pub use meter::{Meter, Steps};
pub use proxy::{InvalidProxy, Proxy, ProxyAddress, ProxyVariables};
pub use reply::{Body, Reply};
pub use request::Request;
pub use tls::{InvalidTls, Tls};
pub use together::together;
pub use zone::{Zone, embedded};

/// How to reach a server.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Fields for every request.
    pub headers: Headers,
    /// Credentials for every request.
    pub authorization: Authorization,
    /// Whom to trust on an encrypted connection, and who we are.
    pub tls: Tls,
    /// The proxy.
    pub proxy: Proxy,
    /// Addresses that are known without asking a name server.
    pub resolve: Vec<Resolve>,
    /// A socket to connect to instead of the host of the URL.
    pub unix_socket: Option<PathBuf>,
    /// The version of HTTP.
    pub http_version: HttpVersion,
    /// How long connecting may take, name resolution and TLS included.
    pub connect_timeout: Duration,
    /// Who is told of every request and of the head of every answer.
    pub trace: Trace,
    /// Who is told how long the steps to the server take.
    pub meter: Meter,
}

/// How long connecting may take unless something else is said.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

impl Settings {
    /// The settings that the environment asks for.
    pub fn from_env(env: &dyn Fn(&str) -> Option<String>) -> Settings {
        Settings {
            tls: Tls::from_env(env),
            proxy: Proxy::Environment(ProxyVariables::from_env(env)),
            ..Settings::default()
        }
    }

    /// The address of the host of a URL that is known without asking a name server.
    fn known(&self, address: &Address) -> Option<IpAddr> {
        let mut entries = self.resolve.iter();
        entries.find(|entry| entry.is_for(address)).map(|entry| entry.ip)
    }

    /// The hosts that requests for a URL are sent to in place of its own: an address that is given
    /// for that, and a proxy.
    pub fn detours(&self, address: &Address) -> Result<Vec<String>, InvalidProxy> {
        let proxy = self.proxy.choose(address)?;
        let addresses = self.resolve.iter().filter(|entry| entry.is_for(address));
        let addresses = addresses.map(|entry| entry.ip.to_string());
        Ok(addresses.chain(proxy.map(|proxy| proxy.host().to_owned())).collect())
    }

    fn resolve_map(&self) -> ResolveMap {
        let add = |map: ResolveMap, entry: &Resolve| map.add(&entry.host, entry.port, entry.ip);
        self.resolve.iter().fold(ResolveMap::new(), add)
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            headers: Headers::default(),
            authorization: Authorization::none(),
            tls: Tls::default(),
            proxy: Proxy::None,
            resolve: Vec::new(),
            unix_socket: None,
            http_version: HttpVersion::Auto,
            connect_timeout: CONNECT_TIMEOUT,
            trace: Trace::default(),
            meter: Meter::default(),
        }
    }
}

/// The version of HTTP to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HttpVersion {
    /// HTTP/2 on encrypted connections when the server offers it, else HTTP/1.1.
    #[default]
    Auto,
    /// HTTP/1.1.
    Http1,
    /// HTTP/2, without asking first.
    Http2,
}

impl HttpVersion {
    fn negotiation(self) -> VersionNegotiation {
        match self {
            HttpVersion::Auto => VersionNegotiation::latest_compatible(),
            HttpVersion::Http1 => VersionNegotiation::http11(),
            HttpVersion::Http2 => VersionNegotiation::http2(),
        }
    }
}

/// The address of a host and port, known without asking a name server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolve {
    /// The host, as it stands in the URL.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The address.
    pub ip: IpAddr,
}

impl Resolve {
    /// Whether it says where the host of a URL is. `*` is any, for libcurl.
    fn is_for(&self, address: &Address) -> bool {
        let name = |host: &str| host.trim_end_matches('.').to_ascii_lowercase();
        let is_host = self.host == "*" || name(&self.host) == name(address.host());
        self.port == address.port() && is_host
    }
}

/// Text that is not `host:port:address`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidResolve;

impl std::str::FromStr for Resolve {
    type Err = InvalidResolve;

    /// Reads `host:port:address`; an IPv6 address may stand in brackets.
    fn from_str(text: &str) -> Result<Resolve, InvalidResolve> {
        let mut parts = text.splitn(3, ':');
        let (Some(host), Some(port), Some(ip)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(InvalidResolve);
        };
        let ip = ip.trim_start_matches('[').trim_end_matches(']');
        match (port.parse(), ip.parse()) {
            (Ok(port), Ok(ip)) if !host.is_empty() && port != 0 => {
                Ok(Resolve { host: host.into(), port, ip })
            }
            _ => Err(InvalidResolve),
        }
    }
}

impl fmt::Display for InvalidResolve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("write host:port:address, the address in digits")
    }
}

/// What is wrong with [`Settings`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InvalidSettings {
    /// The proxy that the environment names.
    Proxy(InvalidProxy),
    /// A certificate file or a key file.
    Tls(InvalidTls),
}

impl fmt::Display for InvalidSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InvalidSettings::Proxy(proxy) => proxy.fmt(f),
            InvalidSettings::Tls(tls) => tls.fmt(f),
        }
    }
}

impl std::error::Error for InvalidSettings {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_may_lead_to_other_hosts_than_its_own() {
        let check = |resolve: &[&str], proxy: Option<&str>, url: &str, expected: &[&str]| {
            let proxy = proxy.map(|proxy| Proxy::Explicit(ProxyAddress::parse(proxy).unwrap()));
            let settings = Settings {
                resolve: resolve.iter().map(|entry| entry.parse().unwrap()).collect(),
                proxy: proxy.unwrap_or_default(),
                ..Settings::default()
            };
            assert_eq!(settings.detours(&Address::parse(url).unwrap()).unwrap(), expected, "{url}");
        };
        check(&[], None, "https://a.example", &[]);
        check(&["A.example:443:10.0.0.1"], None, "https://a.example", &["10.0.0.1"]);
        check(&["a.example:443:10.0.0.1"], None, "https://a.example.", &["10.0.0.1"]);
        check(&["a.example:443:10.0.0.1"], None, "https://a.example:444", &[]);
        check(&["b.example:443:10.0.0.1"], None, "https://a.example", &[]);
        check(&["*:80:[::1]"], Some("u:p@P.example:1"), "http://x", &["::1", "P.example"]);
    }

    #[test]
    fn resolve_entries_are_host_port_and_address() {
        let check = |text: &str, expected: Option<(&str, u16, &str)>| {
            let expected = expected.map(|(host, port, ip)| Resolve {
                host: host.into(),
                port,
                ip: ip.parse().unwrap(),
            });
            assert_eq!(text.parse().ok(), expected, "{text}");
        };
        check("example.com:443:127.0.0.1", Some(("example.com", 443, "127.0.0.1")));
        check("example.com:443:[::1]", Some(("example.com", 443, "::1")));
        check("example.com:443:::1", Some(("example.com", 443, "::1")));
        check("example.com:443", None);
        check("example.com:x:127.0.0.1", None);
        check("example.com:0:127.0.0.1", None);
        check(":443:127.0.0.1", None);
        check("example.com:443:host", None);
    }
}
