//! Which proxy a connection goes through.

use std::fmt;
use std::net::IpAddr;

use super::Address;

/// Where the choice of a proxy comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Proxy {
    /// Never a proxy.
    #[default]
    None,
    /// This proxy for everything, loopback included.
    Explicit(ProxyAddress),
    /// What the environment says.
    Environment(ProxyVariables),
}

/// The address of a proxy.
#[derive(Clone, PartialEq, Eq)]
pub struct ProxyAddress(http::Uri);

/// Why a proxy was not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidProxy {
    /// What was written, without user name and password.
    pub text: String,
}

/// The schemes of proxies that libcurl reaches without TLS to the proxy itself. For `https`
/// proxies the HTTP library inverts the certificate check, so they are refused.
const SCHEMES: [&str; 5] = ["http", "socks4", "socks4a", "socks5", "socks5h"];

impl ProxyAddress {
    /// Reads a proxy URL; without a scheme it is an HTTP proxy.
    pub fn parse(text: &str) -> Result<ProxyAddress, InvalidProxy> {
        let url = match text.contains("://") {
            true => text.to_owned(),
            false => format!("http://{text}"),
        };
        let invalid = || InvalidProxy { text: without_credentials(text).to_owned() };
        let uri: http::Uri = url.parse().map_err(|_| invalid())?;
        let scheme_known = uri.scheme_str().is_some_and(|scheme| SCHEMES.contains(&scheme));
        match uri.host() {
            Some(host) if scheme_known && !host.is_empty() => Ok(ProxyAddress(uri)),
            _ => Err(invalid()),
        }
    }

    /// Its host.
    pub fn host(&self) -> &str {
        self.0.host().unwrap_or_default()
    }

    pub(super) fn uri(&self) -> &http::Uri {
        &self.0
    }
}

/// The part of a URL that may be shown.
fn without_credentials(url: &str) -> &str {
    url.rsplit_once('@').map_or(url, |(_, rest)| rest)
}

impl fmt::Display for ProxyAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let authority = self.0.authority().map_or("", http::uri::Authority::as_str);
        f.write_str(without_credentials(authority))
    }
}

impl fmt::Debug for ProxyAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProxyAddress({self})")
    }
}

impl fmt::Display for InvalidProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" is no proxy; use http://HOST:PORT or socks5h://HOST:PORT", self.text)
    }
}

impl std::error::Error for InvalidProxy {}

/// The proxy variables of the environment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProxyVariables {
    /// For `http` URLs.
    pub http: Option<String>,
    /// For `https` URLs.
    pub https: Option<String>,
    /// For both, when there is no better one.
    pub all: Option<String>,
    /// The hosts that are reached directly.
    pub no: String,
}

impl ProxyVariables {
    /// Reads the variables as curl does: the lower case spelling counts first, and `HTTP_PROXY` is
    /// not read at all, because a CGI program finds a request header of its client there.
    pub fn from_env(env: &dyn Fn(&str) -> Option<String>) -> ProxyVariables {
        let read = |names: [&str; 2]| {
            names.iter().find_map(|name| env(name).filter(|value| !value.is_empty()))
        };
        ProxyVariables {
            http: env("http_proxy").filter(|value| !value.is_empty()),
            https: read(["https_proxy", "HTTPS_PROXY"]),
            all: read(["all_proxy", "ALL_PROXY"]),
            no: read(["no_proxy", "NO_PROXY"]).unwrap_or_default(),
        }
    }
}

impl Proxy {
    /// The proxy on the way to `address`; `None` for a direct connection.
    pub fn choose(&self, address: &Address) -> Result<Option<ProxyAddress>, InvalidProxy> {
        let variables = match self {
            Proxy::None => return Ok(None),
            Proxy::Explicit(proxy) => return Ok(Some(proxy.clone())),
            Proxy::Environment(variables) => variables,
        };
        // A server on this machine is hardly ever meant to be asked for through a proxy elsewhere.
        if address.is_loopback() || is_direct(&variables.no, address) {
            return Ok(None);
        }
        let of_scheme = if address.is_tls() { &variables.https } else { &variables.http };
        let chosen = of_scheme.as_ref().or(variables.all.as_ref());
        chosen.map(|text| ProxyAddress::parse(text)).transpose()
    }
}

/// Whether `NO_PROXY` lists the host: `*`, names with all that is below them, IP addresses and
/// networks, separated by commas or blanks (curl's rules).
fn is_direct(list: &str, address: &Address) -> bool {
    let mut entries = list.split([',', ' ', '\t']).filter(|entry| !entry.is_empty());
    match address.ip() {
        Some(ip) => entries.any(|entry| entry == "*" || covers(entry, ip)),
        None => {
            let host = address.host().trim_end_matches('.');
            entries.any(|entry| entry == "*" || is_below(entry, host))
        }
    }
}

/// Whether `host` is the domain or lies in it; the host is in lower case already.
fn is_below(domain: &str, host: &str) -> bool {
    let domain = domain.trim_start_matches('.').trim_end_matches('.').to_ascii_lowercase();
    match host.strip_suffix(&*domain) {
        Some(rest) => !domain.is_empty() && (rest.is_empty() || rest.ends_with('.')),
        None => false,
    }
}

/// Whether `entry`, an IP address or a network as `10.0.0.0/8`, covers the address.
fn covers(entry: &str, ip: IpAddr) -> bool {
    let (base, length) = match entry.split_once('/') {
        Some((base, length)) => (base, length.parse::<u32>().ok()),
        None => (entry, Some(128)),
    };
    let base = base.trim_start_matches('[').trim_end_matches(']');
    let (Ok(base), Some(length)) = (base.parse::<IpAddr>(), length) else { return false };
    let (base, ip, width) = match (base, ip) {
        (IpAddr::V4(base), IpAddr::V4(ip)) => (u128::from(base.to_bits()), ip.to_bits().into(), 32),
        (IpAddr::V6(base), IpAddr::V6(ip)) => (base.to_bits(), ip.to_bits(), 128),
        _ => return false,
    };
    let ignored = width - length.min(width);
    (base ^ ip).checked_shr(ignored).unwrap_or(0) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(pairs: &[(&str, &str)]) -> Proxy {
        let env = |name: &str| {
            let pair = pairs.iter().find(|(key, _)| *key == name);
            pair.map(|(_, value)| (*value).to_owned())
        };
        Proxy::Environment(ProxyVariables::from_env(&env))
    }

    fn chosen(proxy: &Proxy, url: &str) -> Option<String> {
        let proxy = proxy.choose(&Address::parse(url).unwrap()).unwrap();
        proxy.map(|proxy| proxy.to_string())
    }

    #[test]
    fn the_environment_is_read_as_curl_reads_it() {
        let check = |pairs: &[(&str, &str)], url: &str, expected: Option<&str>| {
            assert_eq!(chosen(&variables(pairs), url).as_deref(), expected, "{pairs:?} {url}");
        };
        check(&[("http_proxy", "p:1")], "http://example.com/", Some("p:1"));
        check(&[("http_proxy", "p:1")], "https://example.com/", None);
        check(&[("HTTP_PROXY", "p:1")], "http://example.com/", None);
        check(&[("HTTPS_PROXY", "http://p:1")], "https://example.com/", Some("p:1"));
        check(&[("https_proxy", "a:1"), ("HTTPS_PROXY", "b:1")], "https://x.y/", Some("a:1"));
        check(&[("https_proxy", ""), ("HTTPS_PROXY", "b:1")], "https://x.y/", Some("b:1"));
        check(&[("ALL_PROXY", "socks5h://p:1")], "http://example.com/", Some("p:1"));
        check(&[("ALL_PROXY", "a:1"), ("https_proxy", "b:1")], "https://x.y/", Some("b:1"));
        check(&[("http_proxy", "u:w@p:1")], "http://example.com/", Some("p:1"));
        check(&[("http_proxy", "p:1")], "http://localhost:8000/", None);
        check(&[("http_proxy", "p:1")], "http://127.0.0.1/", None);
        check(&[("http_proxy", "p:1"), ("NO_PROXY", "*")], "http://example.com/", None);
    }

    #[test]
    fn an_explicit_proxy_holds_for_loopback_too() {
        let proxy = Proxy::Explicit(ProxyAddress::parse("http://p:1").unwrap());
        assert_eq!(chosen(&proxy, "http://127.0.0.1/").as_deref(), Some("p:1"));
        assert_eq!(chosen(&Proxy::None, "http://example.com/"), None);
    }

    #[test]
    fn exceptions_are_names_addresses_and_networks() {
        let check = |list: &str, url: &str, expected: bool| {
            assert_eq!(is_direct(list, &Address::parse(url).unwrap()), expected, "{list} {url}");
        };
        check("example.com", "http://example.com/", true);
        check("example.com", "http://api.EXAMPLE.com/", true);
        check(".example.com", "http://example.com/", true);
        check("example.com", "http://badexample.com/", false);
        check("a.test, Example.com", "http://example.com/", true);
        check(".", "http://example.com/", false);
        check("10.0.0.0/8", "http://10.1.2.3/", true);
        check("10.0.0.0/8", "http://11.1.2.3/", false);
        check("10.0.0.0/x", "http://10.1.2.3/", false);
        check("0.0.0.0/0", "http://10.1.2.3/", true);
        check("10.1.2.3", "http://10.1.2.3/", true);
        check("fd00::/8", "http://[fd12::1]/", true);
        check("[fd12::1]", "http://[fd12::1]/", true);
        check("::/0", "http://10.1.2.3/", false);
        check("10.1.2.3", "http://example.com/", false);
    }

    #[test]
    fn proxies_are_checked() {
        let check = |text: &str, expected: bool| {
            assert_eq!(ProxyAddress::parse(text).is_ok(), expected, "{text}");
        };
        check("http://proxy:3128", true);
        check("proxy:3128", true);
        check("socks5h://proxy:1080", true);
        check("https://proxy:443", false);
        check("file:///etc/passwd", false);
        check("http://", false);
        check("a b", false);
        assert_eq!(ProxyAddress::parse("ftp://u:w@p").unwrap_err().text, "p");
    }
}
