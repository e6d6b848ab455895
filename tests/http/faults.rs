//! What fails below the protocol, and what is said about it.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::time::{Duration, SystemTime};

use http::HeaderMap;
use mcpmini::net::{
    Address, Certificate, Lanes, Proxy, ProxyAddress, ProxyVariables, Request, Settings, Tls,
    Unseen,
};
use mcpmini::protocol::jsonrpc::Limits;
use mcpmini::protocol::message::Fault;

use crate::client::{converse, next, nothing, notification, request, run, target};
use crate::encrypted::{Authority, FILE, Times, answer_once};
use crate::server::{Server, Stream, result_of};
use crate::support::{Scratch, answer};

const NEW: &str = "2026-07-28";

/// A port on which nobody listens.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn a_server_that_cannot_be_reached_did_not_get_the_request() {
    let check = |url: &str, begin: &str| {
        converse(target(url), async |connection| {
            connection.send(request(1, "tools/call", NEW));
            let report = next(connection).await;
            let begin = format!("broken Some(1) Unreachable No: {begin}");
            assert!(report.starts_with(&begin), "{report}");
            connection.send(notification("n", NEW));
            let report = next(connection).await;
            assert!(report.starts_with("broken None Unreachable No: "), "{report}");
        });
    };
    let port = free_port();
    let refused =
        format!("cannot reach 127.0.0.1:{port}: connection refused; nothing listens there");
    check(&format!("http://127.0.0.1:{port}/mcp"), &refused);
    check(
        "http://no-such-host.invalid/mcp",
        "cannot find no-such-host.invalid:80: no address is known for that name; is the name",
    );
}

#[test]
fn a_call_is_sent_once_when_a_kept_connection_dies() {
    let server = Server::start(|request, peer| {
        if request.is("tools/call") {
            return false;
        }
        peer.result(request, "{}");
        true
    });
    converse(target(&server.url()), async |connection| {
        connection.send(request(1, "tools/list", NEW));
        assert_eq!(next(connection).await, "response 1 {}");
        connection.send(request(2, "tools/call", NEW));
        let report = next(connection).await;
        assert!(report.starts_with("broken Some(2) Lost Maybe: the connection to "), "{report}");
        nothing(connection, Duration::from_millis(200)).await;
    });
    let calls = server.messages("tools/call");
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0].connection, 0, "it was sent on the kept connection");
}

#[test]
fn what_is_no_http_is_told() {
    let check = |answer: &'static str, expected: &str| {
        let server = Server::start(move |_, peer| {
            peer.write(answer);
            false
        });
        converse(target(&server.url()), async |connection| {
            connection.send(request(1, "tools/call", NEW));
            let server = server.origin.strip_prefix("http://").unwrap();
            let expected = expected.replace("SERVER", server);
            assert_eq!(next(connection).await, format!("broken Some(1) {expected}"));
        });
    };
    check(
        "SSH-2.0-x\r\n\r\n",
        "Protocol Maybe: SERVER does not answer in HTTP: received HTTP/0.9 when not allowed; \
         is another service on that port?",
    );
    check(
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "Protocol Maybe: SERVER does not answer in HTTP: header without colon; \
         is another service on that port?",
    );
    check("", "Lost Maybe: the connection to SERVER was lost: empty reply from server");
    check(
        "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 3\r\n\r\nabc",
        "Protocol Maybe: the answer of SERVER cannot be decoded: unrecognized content encoding type; \
         the server, or a proxy before it, mislabels what it sends",
    );
}

#[test]
fn messages_over_the_limit_are_refused() {
    let check = |fields: &'static str, event: bool| {
        let server = Server::start(move |request, peer| {
            let body = result_of(request, &format!("\"{}\"", "x".repeat(200_000)));
            let body = if event { format!("data: {body}\n\n") } else { body };
            peer.answer("200 OK", fields, &body);
            true
        });
        let limits = Limits { message: 100_000, ..Limits::default() };
        run(target(&server.url()), limits, false, async |connection| {
            connection.send(request(1, "tools/call", NEW));
            let expected = "broken Some(1) Protocol Yes: \
                            the server sent a message longer than 100000 bytes; \
                            --max-message lets them be longer";
            assert_eq!(next(connection).await, expected);
        });
    };
    check("Content-Type: application/json\r\n", false);
    check("Content-Type: text/event-stream\r\n", true);
}

#[test]
fn large_bodies_go_both_ways() {
    let server = Server::start(|request, peer| {
        peer.result(request, &format!("\"{}\"", "x".repeat(request.body.len())));
        true
    });
    converse(target(&server.url()), async |connection| {
        let mut outgoing = request(1, "tools/call", NEW);
        if let mcpmini::protocol::Outgoing::Deliver(delivery) = &mut outgoing {
            delivery.body.push_str(&" ".repeat(4 << 20));
        }
        connection.send(outgoing);
        assert!(next(connection).await.len() > 4 << 20);
    });
    // The library would wait a second for `100 Continue`.
    assert_eq!(server.requests()[0].header("expect"), None);
}

#[test]
fn proxies_are_used_and_named_but_not_for_loopback() {
    let server = Server::start(|request, peer| {
        peer.result(request, "{}");
        true
    });
    let dead = format!("http://user:secret@127.0.0.1:{}", free_port());
    let mut direct = target(&server.url());
    let variables = ProxyVariables { all: Some(dead.clone()), ..ProxyVariables::default() };
    direct.settings.proxy = Proxy::Environment(variables);
    let mut through = direct.clone();
    through.settings.proxy = Proxy::Explicit(ProxyAddress::parse(&dead).unwrap());
    let report = |target| {
        converse(target, async |connection| {
            connection.send(request(1, "tools/call", NEW));
            next(connection).await
        })
    };
    assert_eq!(report(direct), "response 1 {}");
    let report = report(through);
    assert!(report.contains("through the proxy 127.0.0.1:"), "{report}");
    assert!(
        report.contains(": connection refused; check the proxy") && !report.contains("secret"),
        "{report}"
    );
}

#[test]
fn a_proxy_gets_the_whole_url() {
    let proxy = Server::start(|request, peer| {
        peer.result(request, "{}");
        true
    });
    let mut target = target("http://server.invalid/mcp");
    let address = ProxyAddress::parse(&proxy.origin).unwrap();
    target.settings.proxy = Proxy::Explicit(address);
    converse(target, async |connection| {
        connection.send(request(1, "tools/call", NEW));
        assert_eq!(next(connection).await, "response 1 {}");
    });
    assert_eq!(proxy.requests()[0].path, "http://server.invalid/mcp");
}

#[test]
fn names_can_be_resolved_by_hand() {
    let server = Server::start(|request, peer| {
        peer.result(request, "{}");
        true
    });
    let port = server.origin.rsplit_once(':').unwrap().1;
    let mut target = target(&format!("http://server.invalid:{port}/mcp"));
    let entry = format!("server.invalid:{port}:127.0.0.1");
    target.settings.resolve = vec![entry.parse().unwrap()];
    converse(target, async |connection| {
        connection.send(request(1, "tools/call", NEW));
        assert_eq!(next(connection).await, "response 1 {}");
    });
    let expected = format!("server.invalid:{port}");
    assert_eq!(server.requests()[0].header("host"), Some(&*expected));
}

#[test]
fn a_server_on_a_unix_socket_is_reached() {
    let directory = Scratch::new();
    let path = directory.path("socket");
    let listener = UnixListener::bind(&path).unwrap();
    let accept = move || Box::new(listener.accept().unwrap().0) as Box<dyn Stream>;
    let server = Server::over("http://localhost".into(), accept, |request, peer| {
        peer.result(request, "{}");
        true
    });
    let mut there = target(&server.url());
    there.settings.unix_socket = Some(path.clone());
    converse(there.clone(), async |connection| {
        connection.send(request(1, "tools/call", NEW));
        assert_eq!(next(connection).await, "response 1 {}");
    });
    assert_eq!(server.requests()[0].header("host"), Some("localhost"));
    there.settings.unix_socket = Some(directory.path("nobody"));
    converse(there, async |connection| {
        connection.send(request(1, "tools/call", NEW));
        let report = next(connection).await;
        assert!(report.contains("Unreachable No: cannot reach unix:"), "{report}");
    });
}

/// A server that takes everything, over TLS.
struct Encrypted {
    directory: Scratch,
    port: u16,
}

impl Encrypted {
    fn start() -> Encrypted {
        let (directory, authority) = (Scratch::new(), Authority::new());
        authority.file(&directory);
        let config = authority.certify("localhost", Times::Days(2)).config();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (config, taken) = (config.clone(), |_: &str| answer("200 OK", "{}"));
                // A client that hangs up is no event.
                std::thread::spawn(move || drop(answer_once(stream, config, taken)));
            }
        });
        Encrypted { directory, port }
    }

    /// What comes of a GET.
    fn get(&self, host: &str, tls: Tls) -> String {
        let address = Address::parse(&format!("https://{host}:{}/", self.port)).unwrap();
        let settings = Settings { tls, ..Settings::default() };
        let lanes = match Lanes::new(&address, settings) {
            Ok(lanes) => lanes,
            Err(error) => return error.to_string(),
        };
        match mcpmini::reactor::block_on(
            lanes.send(Request::get(address.clone(), HeaderMap::new())),
        ) {
            Ok(reply) => reply.status.to_string(),
            Err(Fault { kind, text, sent, hint, lasts }) => {
                let sent = format!("{sent:?}{}", if lasts { " lasting" } else { "" });
                format!("{kind:?} {sent} {text}; {}", hint.unwrap_or_default())
                    .replace(&address.host_and_port(), "SERVER")
            }
        }
    }
}

#[test]
fn certificates_are_checked_and_the_reason_is_told() {
    let server = Encrypted::start();
    let authority = Some(server.directory.path(FILE));
    let expected = "Unreachable No lasting SERVER has no certificate that is trusted: \
                    invalid peer certificate: UnknownIssuer; name its authority with --cacert, \
                    or use --insecure";
    assert_eq!(server.get("localhost", Tls::default()), expected);
    let trusted = Tls { cacert: authority.clone(), ..Tls::default() };
    assert_eq!(server.get("localhost", trusted), "200 OK");
    let from_env = Tls { ssl_cert_file: authority.clone(), ..Tls::default() };
    assert_eq!(server.get("localhost", from_env), "200 OK");
    let other_name = server.get("127.0.0.1", Tls { cacert: authority, ..Tls::default() });
    assert!(other_name.contains("invalid peer certificate: "), "{other_name}");
    let insecure = Tls { insecure: true, ..Tls::default() };
    assert_eq!(server.get("127.0.0.1", insecure), "200 OK");
    let missing = Tls { cacert: Some("/no/such/ca.pem".into()), ..Tls::default() };
    let missing = server.get("localhost", missing);
    assert!(missing.starts_with("cannot read the CA certificate file /no/such/ca.pem: "));

    let address = Address::parse(&format!("https://localhost:{}/", server.port)).unwrap();
    let settings = Settings::default();
    let seen =
        mcpmini::reactor::block_on(Certificate::of(&address, &settings, settings.connect_timeout))
            .unwrap();
    // It was made a moment ago, for two days.
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    let left = seen.not_after - i64::try_from(now).unwrap();
    assert!((47 * 3600..=48 * 3600).contains(&left), "{left}");
    assert!(seen.not_before < seen.not_after - 47 * 3600);
}

/// Each byte comes in time, and all of them never.
#[test]
fn a_certificate_is_waited_for_as_a_whole() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("https://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        // The head of a long record of a handshake (RFC 8446, section 5.1).
        let mut sent = stream.write_all(&[0x16, 3, 3, 0x40, 0]);
        while sent.is_ok() {
            std::thread::sleep(Duration::from_millis(50));
            sent = stream.write_all(&[0]);
        }
    });
    let (address, patience) = (Address::parse(&address).unwrap(), Duration::from_millis(300));
    let settings = Settings::default();
    let seen = mcpmini::reactor::block_on(Certificate::of(&address, &settings, patience));
    assert_eq!(seen, Err(Unseen::Late(patience)));
}

#[test]
fn a_server_without_encryption_is_told() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        // To it this is a request that makes no sense.
        let _ = stream.read(&mut [0; 4096]).unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n").unwrap();
    });
    let mut target = target(&format!("https://{address}/mcp"));
    target.settings.connect_timeout = Duration::from_secs(1);
    converse(target, async |connection| {
        connection.send(request(1, "tools/call", NEW));
        let report = next(connection).await;
        let begin =
            format!("broken Some(1) Unreachable No: no encrypted connection to {address}: ");
        assert!(report.starts_with(&begin), "{report}");
        assert!(report.ends_with("; is it an http:// server?"), "{report}");
    });
}
