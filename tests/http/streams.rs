//! Event streams: what is read from them, resuming them, and listening.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::Duration;

use mcpmini::protocol::Outgoing;

use crate::client::{converse, next, nothing, notification, request, revision, target};
use crate::server::{Server, result_of};

const OLD: &str = "2025-11-25";
const NEW: &str = "2026-07-28";

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream;charset=UTF-8\r\n\r\n";

/// A server that answers every request with this stream, in which `OK` stands for the response, and
/// closes the connection.
fn streaming(stream: &'static str) -> Server {
    Server::start(move |request, peer| {
        peer.write(HEAD);
        peer.write(&stream.replace("OK", &result_of(request, "{}")));
        false
    })
}

#[test]
fn messages_are_taken_from_all_that_is_on_a_stream() {
    let check = |stream: &'static str, expected: &[&str]| {
        let server = streaming(stream);
        converse(target(&server.url()), async |connection| {
            connection.send(request(1, "tools/call", NEW));
            for expected in expected {
                assert_eq!(next(connection).await, *expected, "{stream}");
            }
        });
        assert_eq!(server.requests().len(), 1);
    };
    let ok = "response 1 {}";
    check("data: OK\n\n", &[ok]);
    check("event: message\r\nid: 1\r\nretry: 50\r\ndata:OK\r\n\r\n", &[ok]);
    check("data: {\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n\ndata: OK\n\n", &["notification n", ok]);
    check("event: ping\ndata: {}\n\ndata:\n\ndata: [DONE]\n\n: c\n\ndata: OK\n\n", &[ok]);
    check("data: ping\n\ndata: OK\n\n", &["skipped", ok]);
    check(
        "data: {\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}\n\ndata: OK\n\n",
        &["response 9 {}", ok],
    );
    check("data: [OK]\n\n", &["unusual Batch", ok]);
    // Without its blank line, and without the end of its last line.
    check("data: OK\n", &[ok]);
    check("data: OK", &[ok]);
    // What follows the response is heard too.
    check("data: OK\n\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n\n", &[ok, "notification n"]);
    let error =
        "data: {\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-1,\"message\":\"m\"}}\n\n";
    check(error, &["error 1 -1"]);
    check("", &["ended 1: "]);
    check(": nothing more\n\n", &["ended 1: "]);
    let cut = "ended 1: the stream ended in the middle of an event";
    check("data: {\"jsonrpc\":\"2.0\",\"id", &[cut]);
}

#[test]
fn a_stream_is_announced() {
    let server = streaming("data: OK\n\n");
    converse(target(&server.url()), async |connection| {
        connection.send(request(1, "tools/call", NEW));
        let first = connection.receive().await.unwrap();
        assert_eq!(crate::client::short(&first), "responding 1");
    });
}

#[test]
fn a_stream_that_is_held_open_does_not_hold_up_the_response() {
    let server = Server::start(|request, peer| {
        peer.write(HEAD);
        peer.write(&format!("data: {}\n\n", result_of(request, "{}")));
        peer.wait_for_hang_up().is_none()
    });
    converse(target(&server.url()), async |connection| {
        for id in 0..3 {
            connection.send(request(id, "tools/call", NEW));
            assert_eq!(next(connection).await, format!("response {id} {{}}"));
        }
    });
}

#[test]
fn a_stream_that_is_cut_is_a_loss() {
    let server = Server::start(|_, peer| {
        peer.stream_events();
        peer.write("30\r\ndata: {\"jsonrpc\"");
        false
    });
    converse(target(&server.url()), async |connection| {
        connection.send(request(1, "tools/call", NEW));
        let report = next(connection).await;
        assert!(report.starts_with("broken Some(1) Lost Yes: "), "{report}");
    });
    assert_eq!(server.requests().len(), 1);
}

/// A server that ends the stream of a call early and goes on with `resumed` at the n-th GET.
fn resumable(
    first: &'static str,
    resumed: impl Fn(usize) -> &'static str + Send + Sync + 'static,
) -> Server {
    let count = AtomicUsize::new(0);
    Server::start(move |request, peer| {
        let response = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        match request.method.as_str() {
            "GET" => {
                let stream = resumed(count.fetch_add(1, Ordering::SeqCst));
                if stream.starts_with("HTTP") {
                    peer.write(stream);
                    return true;
                }
                peer.write(HEAD);
                peer.write(&stream.replace("OK", response));
                sleep(Duration::from_millis(if stream.contains("OK") { 2000 } else { 0 }));
                false
            }
            _ => {
                peer.write(HEAD);
                peer.write(first);
                false
            }
        }
    })
}

#[test]
fn a_legacy_stream_is_resumed_after_its_last_event() {
    let server =
        resumable("id: a\nretry: 200\ndata:\n\n", |_| "id: b\ndata:\n\nid: c\ndata: OK\n\n");
    converse(target(&server.url()), async |connection| {
        connection.send(request(1, "tools/call", OLD));
        assert_eq!(next(connection).await, "response 1 {}");
    });
    let requests = server.requests();
    let methods: Vec<_> = requests.iter().map(|request| request.method.as_str()).collect();
    assert_eq!(methods, ["POST", "GET"]);
    assert_eq!(requests[1].header("last-event-id"), Some("a"));
    assert_eq!(requests[1].header("accept"), Some("text/event-stream"));
    assert_eq!(requests[1].header("mcp-protocol-version"), Some(OLD));
    assert!(requests[1].at - requests[0].at >= Duration::from_millis(200));
}

#[test]
fn an_event_that_was_cut_is_asked_for_again() {
    let first = "id: a\nretry: 20\ndata:\n\nid: b\ndata: {\"jsonrpc\"";
    let server = resumable(first, |_| "id: b\ndata: OK\n\n");
    converse(target(&server.url()), async |connection| {
        connection.send(request(1, "tools/call", OLD));
        assert_eq!(next(connection).await, "response 1 {}");
    });
    assert_eq!(server.with_method("GET")[0].header("last-event-id"), Some("a"));
}

#[test]
fn polling_goes_on_as_long_as_it_brings_something_new() {
    let polls = ["id: b\ndata:\n\n", "id: c\ndata:\n\n", "", "id: d\ndata:\n\n", "", ""];
    let server = resumable("id: a\nretry: 20\ndata:\n\n", move |n| {
        polls.get(n).copied().unwrap_or("data: OK\n\n")
    });
    converse(target(&server.url()), async |connection| {
        connection.send(request(1, "tools/call", OLD));
        assert_eq!(next(connection).await, "response 1 {}");
    });
    assert_eq!(server.with_method("POST").len(), 1);
    assert_eq!(server.with_method("GET").len(), 7);
}

#[test]
fn resuming_gives_up() {
    let check = |resumed: &'static str, expected: &str, gets: usize| {
        let server = resumable("id: a\nretry: 20\ndata:\n\n", move |_| resumed);
        converse(target(&server.url()), async |connection| {
            connection.send(request(1, "tools/call", OLD));
            assert_eq!(next(connection).await, expected);
        });
        assert_eq!(server.with_method("POST").len(), 1, "a call is never sent again");
        assert_eq!(server.with_method("GET").len(), gets, "{resumed}");
    };
    check("", "ended 1: ", 3);
    // The same again and again is nothing new.
    check("id: a\ndata:\n\n", "ended 1: ", 3);
    let refused = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
    check(refused, "ended 1: the stream ended and is not resumed (HTTP 404)", 1);
}

#[test]
fn a_server_that_is_gone_when_the_stream_is_to_be_resumed_may_have_acted() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        drop(listener);
        let _ = stream.read(&mut [0; 4096]).unwrap();
        let events = format!("{HEAD}id: a\nretry: 20\ndata:\n\n");
        stream.write_all(events.as_bytes()).unwrap();
    });
    converse(target(&url), async |connection| {
        connection.send(request(1, "tools/call", OLD));
        let report = next(connection).await;
        let begin =
            "broken Some(1) Lost Yes: the stream ended and cannot be resumed: cannot reach ";
        assert!(report.starts_with(begin), "{report}");
    });
}

#[test]
fn a_modern_stream_is_not_resumed() {
    let server = streaming("id: a\nretry: 20\ndata:\n\n");
    converse(target(&server.url()), async |connection| {
        connection.send(request(1, "tools/call", NEW));
        assert_eq!(next(connection).await, "ended 1: ");
    });
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_silent_listening_stream_counts_as_open() {
    let server = Server::start(|request, peer| {
        match request.method.as_str() {
            "GET" => {
                peer.write(HEAD);
                sleep(Duration::from_millis(400));
                peer.write("data: {\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\"}\n\n");
                return peer.wait_for_hang_up().is_none();
            }
            _ if request.id() == "null" => peer.accepted(),
            _ => peer.result(request, "{}"),
        }
        true
    });
    converse(target(&server.url()), async |connection| {
        connection.send(notification("notifications/initialized", OLD));
        connection.send(Outgoing::Listen(revision(OLD)));
        assert_eq!(next(connection).await, "listening");
        connection.send(request(1, "tools/call", OLD));
        assert_eq!(next(connection).await, "response 1 {}");
        assert_eq!(next(connection).await, "request 5 ping");
    });
    let requests = server.requests();
    let methods: Vec<_> = requests.iter().map(|request| request.method.as_str()).collect();
    assert_eq!(methods, ["POST", "GET", "POST"]);
}

#[test]
fn a_server_without_a_listening_stream_is_no_failure() {
    for status in ["405 Method Not Allowed", "404 Not Found", "401 Unauthorized"] {
        let server = Server::start(move |request, peer| {
            match request.method.as_str() {
                "GET" => peer.answer(status, "Content-Type: text/html\r\n", "<h1>no</h1>"),
                _ => peer.result(request, "{}"),
            }
            true
        });
        converse(target(&server.url()), async |connection| {
            connection.send(Outgoing::Listen(revision(OLD)));
            let refused = format!("not listening: {}", &status[..3]);
            assert_eq!(next(connection).await, refused);
            connection.send(request(1, "tools/call", OLD));
            assert_eq!(next(connection).await, "response 1 {}");
        });
        assert_eq!(server.with_method("GET").len(), 1);
    }
}

#[test]
fn a_listening_stream_is_opened_again() {
    let count = AtomicUsize::new(0);
    let server = Server::start(move |_, peer| {
        peer.write(HEAD);
        match count.fetch_add(1, Ordering::SeqCst) {
            0 => peer.write("id: a\nretry: 30\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"one\"}\n\n"),
            1 => peer.write("data: {\"jsonrpc\":\"2.0\",\"method\":\"two\"}\n\n"),
            _ => (),
        }
        false
    });
    converse(target(&server.url()), async |connection| {
        connection.send(Outgoing::Listen(revision(OLD)));
        assert_eq!(next(connection).await, "listening");
        assert_eq!(next(connection).await, "notification one");
        assert_eq!(next(connection).await, "again in 30ms");
        assert_eq!(next(connection).await, "notification two");
        assert_eq!(next(connection).await, "again in 30ms");
        // Five attempts bring nothing more.
        for wait in ["30ms", "60ms", "120ms", "240ms"] {
            assert_eq!(next(connection).await, format!("again in {wait}"));
        }
        assert_eq!(next(connection).await, "not listening");
        nothing(connection, Duration::from_millis(100)).await;
    });
    let requests = server.requests();
    assert_eq!(requests.len(), 7);
    assert_eq!(requests[0].header("last-event-id"), None);
    assert!(requests[1..].iter().all(|request| request.header("last-event-id") == Some("a")));
}
