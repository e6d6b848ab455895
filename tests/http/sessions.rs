//! Sessions of the legacy revisions.

use std::time::{Duration, Instant};

use mcpmini::protocol::{Incoming, Outgoing};

use crate::client::{converse, next, notification, request, response, revision, target};
use crate::server::Server;

const OLD: &str = "2025-11-25";

/// A server that hands out the session ids `S1`, `S2`, … and repeats a false one on every answer.
fn with_sessions() -> Server {
    let begun = std::sync::atomic::AtomicUsize::new(0);
    Server::start(move |request, peer| {
        let session = match request.is("initialize") {
            true => 1 + begun.fetch_add(1, std::sync::atomic::Ordering::SeqCst),
            false => 99,
        };
        let fields = format!("Mcp-Session-Id: S{session}\r\n");
        match (request.method.as_str(), request.id().as_str()) {
            ("GET", _) => peer.answer("405 Method Not Allowed", &fields, ""),
            ("DELETE", _) => peer.answer("200 OK", &fields, ""),
            (_, "null") => peer.answer("202 Accepted", &fields, ""),
            _ => {
                let fields = format!("{fields}Content-Type: application/json\r\n");
                let body = crate::server::result_of(request, "{}");
                peer.answer("200 OK", &fields, &body);
            }
        }
        true
    })
}

fn sent(server: &Server) -> Vec<(String, Option<String>, Option<String>)> {
    let requests = server.requests().into_iter();
    let field = |request: &crate::server::Request, name| request.header(name).map(str::to_owned);
    requests
        .map(|request| {
            let version = field(&request, "mcp-protocol-version");
            (request.method.clone(), field(&request, "mcp-session-id"), version)
        })
        .collect()
}

#[test]
fn the_id_comes_from_initialize_only_and_goes_on_all_that_follows() {
    let server = with_sessions();
    converse(target(&server.url()), async |connection| {
        connection.send(request(1, "initialize", OLD));
        assert_eq!(next(connection).await, "response 1 {}");
        connection.send(notification("notifications/initialized", OLD));
        connection.send(Outgoing::Listen(revision(OLD)));
        assert_eq!(next(connection).await, "not listening: 405");
        connection.send(request(2, "tools/call", OLD));
        assert_eq!(next(connection).await, "response 2 {}");
        connection.send(response("7", OLD));
        connection.send(request(3, "tools/call", OLD));
        assert_eq!(next(connection).await, "response 3 {}");
    });
    let line = |method: &str, session: Option<&str>, version: Option<&str>| {
        (method.to_owned(), session.map(str::to_owned), version.map(str::to_owned))
    };
    let in_session = |method| line(method, Some("S1"), Some(OLD));
    let mut expected = vec![line("POST", None, None), in_session("POST"), in_session("GET")];
    expected.extend([in_session("POST"), in_session("POST"), in_session("POST")]);
    expected.push(in_session("DELETE"));
    assert_eq!(sent(&server), expected);
}

#[test]
fn a_new_initialize_drops_the_old_session() {
    let server = with_sessions();
    converse(target(&server.url()), async |connection| {
        for id in [1, 3] {
            connection.send(request(id, "initialize", OLD));
            assert_eq!(next(connection).await, format!("response {id} {{}}"));
            connection.send(request(id + 1, "tools/call", OLD));
            assert_eq!(next(connection).await, format!("response {} {{}}", id + 1));
        }
    });
    let sessions: Vec<_> = sent(&server).into_iter().map(|(_, session, _)| session).collect();
    let expected = [None, Some("S1"), None, Some("S2"), Some("S2")];
    assert_eq!(sessions, expected.map(|session| session.map(str::to_owned)));
}

#[test]
fn modern_requests_carry_no_session() {
    let server = with_sessions();
    converse(target(&server.url()), async |connection| {
        connection.send(request(1, "initialize", OLD));
        next(connection).await;
        connection.send(request(2, "tools/call", "2026-07-28"));
        next(connection).await;
    });
    assert_eq!(sent(&server)[1].1, None);
}

#[test]
fn a_lost_session_is_told_by_its_404() {
    let server = Server::start(|request, peer| {
        match request.is("initialize") {
            true => {
                let fields = "Content-Type: application/json\r\nmcp-session-id: S1\r\n";
                peer.answer("200 OK", fields, &crate::server::result_of(request, "{}"));
            }
            false => peer.answer("404 Not Found", "", "session gone"),
        }
        true
    });
    converse(target(&server.url()), async |connection| {
        connection.send(request(1, "tools/list", OLD));
        let Some(Incoming::Refused(refused)) = connection.receive().await else { panic!() };
        assert!(!refused.in_session);
        connection.send(request(2, "initialize", OLD));
        next(connection).await;
        connection.send(request(3, "tools/list", OLD));
        let Some(Incoming::Refused(refused)) = connection.receive().await else { panic!() };
        assert!(refused.in_session);
        assert_eq!((refused.status, refused.text.as_str()), (404, "session gone"));
    });
}

#[test]
fn an_id_that_no_header_can_carry_is_an_error() {
    let server = Server::start(|request, peer| {
        let fields = "Content-Type: application/json\r\nMcp-Session-Id: S \u{e9}\r\n";
        peer.answer("200 OK", fields, &crate::server::result_of(request, "{}"));
        true
    });
    converse(target(&server.url()), async |connection| {
        connection.send(request(1, "initialize", OLD));
        let expected = "broken Some(1) Protocol Yes: \
                        the server handed out a session id that is not visible ASCII";
        assert_eq!(next(connection).await, expected);
    });
}

#[test]
fn the_session_is_ended_unless_it_shall_go_on_and_the_server_cannot_delay_that() {
    let server = Server::start(|request, peer| {
        match request.method.as_str() {
            "DELETE" => drop(peer.wait_for_hang_up()),
            _ => {
                let fields = "Content-Type: application/json\r\nMcp-Session-Id: S1\r\n";
                peer.answer("200 OK", fields, &crate::server::result_of(request, "{}"));
            }
        }
        true
    });
    // In a hurry it may still be sent, but nobody waits for the answer.
    let cases =
        [(true, false, 2500, 1..=1), (false, false, 1000, 1..=1), (true, true, 1000, 1..=2)];
    for (end_session, hurry, at_most, deletes) in cases {
        let begun = Instant::now();
        let mut target = target(&server.url());
        target.end_session = end_session;
        converse(target, async |connection| {
            connection.send(request(1, "initialize", OLD));
            next(connection).await;
            if hurry {
                connection.hurry();
            }
        });
        assert!(begun.elapsed() < Duration::from_millis(at_most), "{:?}", begun.elapsed());
        assert!(deletes.contains(&server.with_method("DELETE").len()));
    }
}
