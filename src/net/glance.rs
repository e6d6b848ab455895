//! A glance at the head of an answer whose body says nothing.
//!
//! The HTTP library hands the head out together with the first byte of the body, so an event stream
//! on which nothing happens looks like a server that does not answer. This asks by itself, reads as
//! far as the head goes, and hangs up.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use http::header::{CONTENT_TYPE, HeaderMap};

use super::certificate::connect;
use super::{Address, Settings};
use crate::reactor;

/// The longest head that is read, in bytes.
const LIMIT: usize = 16 << 10;

/// What the head of an answer says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glance {
    /// The status.
    pub status: u16,
    /// The type of the body, without parameters and in lower case; empty when there is none.
    pub content_type: String,
}

impl Glance {
    /// Asks by GET with those header fields, and reads the head of the answer. `None` when it does
    /// not come in time, and where the way there is encrypted or leads through a proxy or a socket.
    pub async fn of(
        address: &Address,
        headers: HeaderMap,
        settings: &Settings,
        patience: Duration,
    ) -> Option<Glance> {
        let proxy = settings.proxy.choose(address).ok().flatten();
        if address.is_tls() || proxy.is_some() || settings.unix_socket.is_some() {
            return None;
        }
        let host = address.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let known = settings.known(address).map(|ip| SocketAddr::new(ip, address.port()));
        let (request, port) = (request(address, &headers), address.port());
        let looking = smol::unblock(move || look(&host, port, known, &request, patience));
        reactor::timeout(patience, looking).await.flatten()
    }
}

/// The request as it goes over the connection (RFC 9112, section 2.1).
fn request(address: &Address, headers: &HeaderMap) -> Vec<u8> {
    let path = address.uri().path_and_query().map_or("/", |it| it.as_str());
    let mut request = format!("GET {path} HTTP/1.1\r\n").into_bytes();
    if !headers.contains_key("host") {
        request.extend_from_slice(format!("Host: {}\r\n", address.host_and_port()).as_bytes());
    }
    for (name, value) in headers {
        request.extend_from_slice(name.as_str().as_bytes());
        request.extend_from_slice(b": ");
        request.extend_from_slice(value.as_bytes());
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"Connection: close\r\n\r\n");
    request
}

fn look(
    host: &str,
    port: u16,
    known: Option<SocketAddr>,
    request: &[u8],
    patience: Duration,
) -> Option<Glance> {
    let until = Instant::now() + patience;
    let mut stream = connect(host, port, known, patience).ok()?;
    stream.set_write_timeout(Some(patience)).ok()?;
    stream.write_all(request).ok()?;
    let mut head = Vec::new();
    let mut block = [0; 1 << 10];
    loop {
        if let Some(head) = final_head(&head) {
            return read(head);
        }
        let rest = until.saturating_duration_since(Instant::now());
        if rest.is_zero() || LIMIT < head.len() {
            return None;
        }
        stream.set_read_timeout(Some(rest)).ok()?;
        match stream.read(&mut block) {
            Ok(length @ 1..) => head.extend_from_slice(&block[..length]),
            _ => return None,
        }
    }
}

/// The head of the answer, without the empty line at its end, once it is there. Interim answers come
/// before it (RFC 9110, section 15.2).
fn final_head(mut received: &[u8]) -> Option<&[u8]> {
    const END: &[u8] = b"\r\n\r\n";
    loop {
        let end = memchr::memmem::find(received, END)?;
        let (head, rest) = (&received[..end], &received[end + END.len()..]);
        if head.get("HTTP/1.1".len()..).is_none_or(|rest| !rest.starts_with(b" 1")) {
            return Some(head);
        }
        received = rest;
    }
}

/// Reads a head without the empty line at its end.
fn read(head: &[u8]) -> Option<Glance> {
    let head = String::from_utf8_lossy(head);
    let mut lines = head.split("\r\n");
    let status = lines.next()?.strip_prefix("HTTP/1.")?.split(' ').nth(1)?.parse().ok()?;
    let types = lines.filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case(CONTENT_TYPE.as_str()).then_some(value)
    });
    let content_type = types.last().unwrap_or_default();
    let content_type = content_type.split(';').next().unwrap_or_default();
    Some(Glance { status, content_type: content_type.trim().to_ascii_lowercase() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read() {
        let check = |head: &str, expected: Option<(u16, &str)>| {
            let found = read(head.as_bytes());
            let found = found.as_ref().map(|glance| (glance.status, &*glance.content_type));
            assert_eq!(found, expected, "{head}");
        };
        check(
            "HTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream; x=y",
            Some((200, "text/event-stream")),
        );
        check("HTTP/1.0 405 -\r\nX: y", Some((405, "")));
        check("HTTP/1.1 200", Some((200, "")));
        check("HTTP/2 200", None);
        check("SSH-2.0-x", None);
        check("", None);
    }

    #[test]
    fn interim_answers_are_no_answers() {
        let check = |received: &str, expected: Option<&str>| {
            let found = final_head(received.as_bytes());
            assert_eq!(found, expected.map(str::as_bytes), "{received}");
        };
        check("HTTP/1.1 200 OK\r\nA: 1\r\n\r\n1", Some("HTTP/1.1 200 OK\r\nA: 1"));
        check("HTTP/1.1 200 OK\r\nA: 1\r\n", None);
        check(
            "HTTP/1.1 103 -\r\n\r\nHTTP/1.1 102\r\n\r\nHTTP/1.1 405\r\n\r\n",
            Some("HTTP/1.1 405"),
        );
        check("HTTP/1.1 103 -\r\n\r\nHTTP/1.1 200\r\n", None);
        check("x\r\n\r\n", Some("x"));
    }

    #[test]
    fn a_request_is_of_one_piece() {
        let address = Address::parse("http://127.0.0.1:1/a?b=c").unwrap();
        let mut headers = HeaderMap::new();
        headers.insert("accept", "text/event-stream".parse().unwrap());
        let expected = "GET /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:1\r\naccept: text/event-stream\r\n\
                        Connection: close\r\n\r\n";
        assert_eq!(String::from_utf8(request(&address, &headers)).unwrap(), expected);
    }
}
