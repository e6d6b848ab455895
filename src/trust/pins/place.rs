//! Where a server is: what its trust is taken back for.
//!
//! What is accepted is accepted for one name or one URL, since a query can choose a tenant. What is
//! revoked is revoked for the place, however its URL is spelled and whatever its query is, or for what
//! a command starts, whatever it is called (see `started`).

use super::key::Key;
use crate::config::{Digest, HttpEndpoint};
use crate::net::Address;
use crate::protocol::json;
use crate::trust::policy::host_name;

impl Key {
    /// The key under which it is written down that a place is revoked.
    pub fn of_place(endpoint: &HttpEndpoint) -> Key {
        let place = place(endpoint);
        let file = file(&place);
        Key { file, name: place }
    }
}

/// The name of the file about a place.
fn file(place: &str) -> String {
    let text = ["place", place].map(json::string).concat();
    Digest::of(text.as_bytes()).short()
}

/// A place in the one spelling that all URLs of it share: without a query, the host in its plainest
/// spelling, no default port, no slash at the end, and nothing encoded that need not be.
fn place(endpoint: &HttpEndpoint) -> String {
    let Ok(address) = Address::parse(&endpoint.url) else { return endpoint.url.clone() };
    let (begin, rest) = match &endpoint.socket {
        Some(socket) => {
            let socket = socket.canonicalize().unwrap_or_else(|_| socket.clone());
            (format!("unix:{}#", socket.display()), address.as_str().splitn(4, '/').nth(3))
        }
        None => {
            let host = host_name(address.host());
            // What is not specified leads to the machine itself, too, and so it is spelled by now.
            let is_here = address.is_loopback() || matches!(&*host, "127.0.0.1" | "[::1]");
            let host = if is_here { "localhost".to_owned() } else { host };
            let scheme = if address.is_tls() { "https" } else { "http" };
            let is_usual = address.port() == if address.is_tls() { 443 } else { 80 };
            let port = if is_usual { String::new() } else { format!(":{}", address.port()) };
            (format!("{scheme}://{host}{port}"), address.as_str().splitn(4, '/').nth(3))
        }
    };
    let path = rest.unwrap_or_default();
    let path = decoded(&path[..path.find('?').unwrap_or(path.len())]);
    format!("{begin}/{}", path.trim_matches('/')).trim_end_matches('/').to_owned()
}

/// A path without what is encoded and need not be: letters, digits and `-._~` (RFC 3986, section
/// 2.3). The digits of the rest are in upper case.
fn decoded(path: &str) -> String {
    let mut out = String::new();
    let mut rest = path;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let digits = rest.get(at + 1..at + 3);
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let Some((digits, byte)) = digits.zip(byte) else {
            out.push('%');
            rest = &rest[at + 1..];
            continue;
        };
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            _ => {
                out.push('%');
                out.push_str(&digits.to_ascii_uppercase());
            }
        }
        rest = &rest[at + 3..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Endpoint, Overrides, expand, resolve};
    use crate::env::Env;

    #[test]
    fn all_spellings_of_a_place_are_one() {
        let of = |word: &str| {
            let (env, none) = (Env::default(), Overrides::default());
            let server = expand(&resolve(word, &env, &none).unwrap(), &none, &env).unwrap();
            let Endpoint::Http(endpoint) = server.endpoint else { panic!("{word} is no URL") };
            place(&endpoint)
        };
        let check = |word: &str, expected: &str| assert_eq!(of(word), expected, "{word}");
        for word in [
            "https://h.example/mcp",
            "https://h.example/mcp?x=1",
            "https://h.example/mcp/",
            "https://h.example/mcp//?x",
            "https://h.example:443/mcp#x",
            "HTTPS://H.Example./mcp",
            "https://h.example/%6d%63p",
            "https://h.example/%6D%63p",
            "https://h.example/x/../mcp",
            "https://h.example/x/%2e%2e/mcp",
            "https://%68.example/mcp",
        ] {
            check(word, "https://h.example/mcp");
        }
        check("https://h.example", "https://h.example");
        check("https://h.example:8443/mcp", "https://h.example:8443/mcp");
        check("http://h.example/mcp", "http://h.example/mcp");
        check("https://h.example/MCP", "https://h.example/MCP");
        check("https://h.example/a%2fb", "https://h.example/a%2Fb");
        check("http://127.0.0.1:3000/mcp", "http://localhost:3000/mcp");
        check("http://[::1]:3000/mcp", "http://localhost:3000/mcp");
        check("http://0x7f000001:3000/mcp", "http://localhost:3000/mcp");
        check("http://0.0.0.0:3000/mcp", "http://localhost:3000/mcp");
        check("http://[::]:3000/mcp", "http://localhost:3000/mcp");
        check("http://[::ffff:127.0.0.1]:3000/mcp", "http://localhost:3000/mcp");
        check("http://[::ffff:10.0.0.1]/mcp", "http://10.0.0.1/mcp");
        check("unix:/run/x.sock#/mcp?x=1", "unix:/run/x.sock#/mcp");
    }
}
