//! The hosts of rules, and hosts as they are compared.

use std::collections::BTreeSet;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{ParseError, Url};

use crate::net::{Address, embedded};

/// A host, or with `*.` before it the hosts below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Host(String);

impl Host {
    /// Reads a host. It is compared without regard to case and to a dot at its end.
    pub(super) fn parse(text: &str) -> Result<Host, String> {
        let (below, name) = text.strip_prefix("*.").map_or(("", text), |name| ("*.", name));
        let name = name.parse().map_or_else(|_| name.to_owned(), |ip: Ipv6Addr| format!("[{ip}]"));
        let is_of_host = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        let is_host = name.starts_with('[') && name.ends_with(']')
            || !name.starts_with('.') && name.chars().all(is_of_host);
        // An address has more spellings than one in a rule, too.
        let address = Address::parse(&format!("http://{name}/")).ok().filter(|_| is_host);
        let address = address.ok_or_else(|| {
            format!("\"{text}\" is no host; write example.com or *.example.com, without a port")
        })?;
        Ok(Host(format!("{below}{}", host_name(address.host()))))
    }

    /// Whether it means a host, in the spelling of [`host_name`].
    pub(super) fn matches(&self, host: &str) -> bool {
        match self.0.strip_prefix('*') {
            Some(suffix) => host.len() > suffix.len() && host.ends_with(suffix),
            None => self.0 == host,
        }
    }

    /// Whether it matches a host, or both are this machine by another name or address. Whatever nobody
    /// can tell it may be.
    pub(super) fn reaches(&self, host: &str) -> bool {
        host == ANY || self.matches(host) || is_this_machine(&self.0) && is_this_machine(host)
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A host that may be any: which one it is the tables of UTS 46 say, which are not there.
const ANY: &str = "*";

/// The host of a `Host` header (RFC 9110, section 7.2).
pub(super) fn without_port(value: &str) -> &str {
    let end =
        if value.starts_with('[') { value.find(']').map(|at| at + 1) } else { value.find(':') };
    &value[..end.unwrap_or(value.len())]
}

/// A host in the one spelling that rules and servers are compared in: lower case, no dot at its end,
/// and of an address that leads to the same machine in several ways the plainest one.
pub(in crate::trust) fn host_name(host: &str) -> String {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let plain = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(&host);
    let Ok(address) = plain.parse::<IpAddr>() else { return host };
    match embedded(address) {
        // What is not specified leads to the machine itself.
        IpAddr::V4(address) if address.is_unspecified() => Ipv4Addr::LOCALHOST.to_string(),
        IpAddr::V6(address) if address.is_unspecified() => format!("[{}]", Ipv6Addr::LOCALHOST),
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    }
}

/// The hosts of all URLs in a text, read as a browser or Node does (WHATWG, URL Standard): that needs
/// no slashes, takes backslashes for them, and has other letters for a dot. Where a URL ends in a text
/// nobody can tell, so every end counts.
pub(super) fn hosts_in(text: &str) -> Vec<String> {
    const SCHEMES: [&str; 4] = ["http", "https", "ws", "wss"];
    // These may be anywhere in a URL, and are ignored there.
    let text = text.replace(['\t', '\n', '\r'], "");
    // The crate is built without the tables of UTS 46; these are the plain ones among the letters. With
    // any other, in a host, it gives up.
    let ascii = |c: char| match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '\u{3002}' | '\u{ff61}' => '.',
        _ => c,
    };
    let text: String = text.chars().map(ascii).collect();
    let is_scheme = |before: &str| {
        let start = before.rfind(|c: char| !c.is_ascii_alphabetic()).map_or(0, |at| at + 1);
        let word = before.get(start..).unwrap_or(before).to_ascii_lowercase();
        SCHEMES.iter().any(|scheme| word.ends_with(scheme))
    };
    let colons = text.match_indices(':').map(|(at, _)| (&text[..at], &text[at + 1..]));
    let starts = colons.filter(|(before, rest)| rest.starts_with("//") || is_scheme(before));
    let rests = starts.flat_map(|(_, rest)| {
        let cut = |ends: &str| rest.split(|c: char| ends.contains(c)).next().unwrap_or(rest);
        [rest, cut(" "), cut(" '\""), cut(" '\"<>()|;,")]
    });
    let hosts = rests.filter_map(|rest| match Url::parse(&format!("http:{rest}")) {
        Ok(url) => url.host_str().map(host_name),
        Err(ParseError::IdnaError) => Some(ANY.to_owned()),
        Err(_) => None,
    });
    hosts.collect::<BTreeSet<String>>().into_iter().collect()
}

/// Whether a host is this machine, by its name or by one of its addresses.
fn is_this_machine(host: &str) -> bool {
    Address::parse(&format!("http://{host}/")).is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_has_one_spelling() {
        let check = |host: &str, expected: &str| assert_eq!(host_name(host), expected, "{host}");
        check("Example.COM.", "example.com");
        check("*.Example.com", "*.example.com");
        check("127.0.0.1", "127.0.0.1");
        check("[::ffff:127.0.0.1]", "127.0.0.1");
        check("0.0.0.0", "127.0.0.1");
        check("[::]", "[::1]");
        check("::1", "[::1]");
        check("[2001:DB8::0:1]", "[2001:db8::1]");
        check("[64:ff9b::a00:5]", "10.0.0.5");
        check("[2002:a00:5::]", "10.0.0.5");
    }

    #[test]
    fn a_host_of_other_letters_may_be_any() {
        let denied = Host::parse("evil.example").unwrap();
        let check = |text: &str, expected| {
            let hosts = hosts_in(text);
            let is_reached = hosts.iter().any(|host| denied.reaches(host));
            assert_eq!(is_reached, expected, "{text}: {hosts:?}");
        };
        check("https://evil.example/", true);
        check("https://ｅvil.example/", true);
        check("https://\u{24d4}vil.example/", true);
        check("https://\u{1d41e}vil.example", true);
        check("x https://%E2%93%94vil.example", true);
        check("https://fine.example/\u{24d4}vil.example", false);
        check("https://fine.example/ evil\u{24d4}", false);
        check("\u{24d4}vil.example", false);
    }

    #[test]
    fn a_header_names_a_host_and_perhaps_a_port() {
        let check = |value: &str, host: &str| assert_eq!(without_port(value), host);
        check("h.example", "h.example");
        check("h.example:8443", "h.example");
        check("[::1]:80", "[::1]");
        check("[::1", "[::1");
        check("", "");
    }
}
