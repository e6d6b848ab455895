//! HTTP+SSE of 2024-11-05, asked for and fallen back to.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mcpmini::protocol::Outgoing;
use mcpmini::transport::http::Target;

use crate::client::{
    cancel, converse, converse_over_sse, next, nothing, notification, request, revision, target,
};
use crate::server::{Server, result_of};

const OLD: &str = "2024-11-05";

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";

/// A server of 2024-11-05 that names `endpoint`, in which `ORIGIN` stands for itself. A call of
/// `end` ends its stream.
fn old_server(endpoint: &'static str) -> Server {
    let (say, said) = channel::<String>();
    let (say, said): (Mutex<Sender<_>>, Arc<Mutex<Receiver<_>>>) =
        (Mutex::new(say), Arc::new(Mutex::new(said)));
    Server::start(move |request, peer| {
        if request.method == "GET" {
            let endpoint = endpoint.replace("ORIGIN", &peer.origin);
            peer.write(HEAD);
            peer.write(&format!(": hi\n\nevent: endpoint\ndata: {endpoint}\n\n"));
            let said = said.lock().unwrap();
            while let Ok(message) = said.recv_timeout(Duration::from_secs(5)) {
                if message.is_empty() {
                    return false;
                }
                peer.write(&format!("event: message\ndata: {message}\n\n"));
            }
            return false;
        }
        if request.path.starts_with("/sse") {
            peer.answer("405 Method Not Allowed", "Allow: GET\r\n", "");
            return true;
        }
        peer.answer("202 Accepted", "Content-Type: text/plain\r\n", "Accepted");
        let message = match request.is("end") {
            true => String::new(),
            false => result_of(request, "{}"),
        };
        if request.id() != "null" {
            say.lock().unwrap().send(message).unwrap();
        }
        true
    })
}

fn sse_target(server: &Server) -> Target {
    let mut target = target(&format!("{}/sse", server.origin));
    target.sse_fallback = true;
    target.settings.headers.add("X-Api-Key", "k").unwrap();
    target
}

fn lines(server: &Server) -> Vec<String> {
    let requests = server.requests().into_iter();
    requests.map(|request| format!("{} {}", request.method, request.path)).collect()
}

#[test]
fn messages_are_posted_to_the_endpoint_and_answered_on_the_stream() {
    for endpoint in
        ["/messages?id=7&x=1%202", "messages?id=7&x=1%202", "ORIGIN/messages?id=7&x=1%202"]
    {
        let server = old_server(endpoint);
        converse_over_sse(sse_target(&server), async |connection| {
            connection.send(request(1, "initialize", OLD));
            assert_eq!(next(connection).await, "response 1 {}");
            connection.send(notification("notifications/initialized", OLD));
            connection.send(Outgoing::Listen(revision(OLD)));
            connection.send(request(2, "tools/call", OLD));
            assert_eq!(next(connection).await, "listening");
            assert_eq!(next(connection).await, "response 2 {}");
        });
        let post = "POST /messages?id=7&x=1%202";
        assert_eq!(lines(&server), ["GET /sse", post, post, post]);
        let requests = server.requests();
        assert!(requests.iter().all(|request| request.header("x-api-key") == Some("k")));
        assert_eq!(requests[0].header("accept"), Some("text/event-stream"));
    }
}

#[test]
fn a_refused_initialize_leads_to_the_old_binding() {
    let server = old_server("/messages");
    converse(sse_target(&server), async |connection| {
        connection.send(request(1, "initialize", "2025-11-25"));
        assert_eq!(next(connection).await, "response 1 {}");
        connection.send(request(2, "tools/call", OLD));
        assert_eq!(next(connection).await, "response 2 {}");
    });
    let post = "POST /messages";
    assert_eq!(lines(&server), ["POST /sse", "GET /sse", post, post]);
}

#[test]
fn nothing_but_a_refused_initialize_leads_there() {
    let server = old_server("/messages");
    let check = |message: Outgoing, fallback: bool, expected: &str| {
        let mut target = sse_target(&server);
        target.sse_fallback = fallback;
        converse(target, async |connection| {
            connection.send(message);
            assert_eq!(next(connection).await, expected);
        });
    };
    check(request(1, "tools/call", "2026-07-28"), true, "refused Some(1) 405");
    check(request(1, "initialize", "2025-11-25"), false, "refused Some(1) 405");
    assert!(server.with_method("GET").is_empty());
}

#[test]
fn the_first_refusal_is_told_when_the_old_binding_is_not_there_either() {
    let answers: HashMap<&str, &'static str> = HashMap::from([
        ("refused", "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"),
        ("html", "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi"),
        (
            "empty",
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 0\r\n\r\n",
        ),
        ("gone", ""),
    ]);
    for (case, answer) in answers {
        let server = Server::start(move |request, peer| {
            match request.method.as_str() {
                "GET" => peer.write(answer),
                _ => peer.answer("404 Not Found", "", "nothing here"),
            }
            !answer.is_empty() || request.method == "POST"
        });
        converse(sse_target(&server), async |connection| {
            connection.send(request(1, "initialize", "2025-11-25"));
            assert_eq!(next(connection).await, "refused Some(1) 404", "{case}");
        });
        // libcurl repeats a GET when a kept connection dies.
        let mut lines = lines(&server);
        lines.dedup();
        assert_eq!(lines, ["POST /sse", "GET /sse"]);
    }
}

#[test]
fn an_endpoint_on_another_origin_gets_nothing() {
    let elsewhere = Server::start(|_, _| panic!("nothing may come here"));
    let endpoint: &'static str = format!("{}/messages", elsewhere.origin).leak();
    let server = old_server(endpoint);
    let report = |over_sse: bool| {
        let script = async |connection: &mcpmini::transport::Connection| {
            connection.send(request(1, "initialize", OLD));
            next(connection).await
        };
        match over_sse {
            true => converse_over_sse(sse_target(&server), script),
            false => converse(sse_target(&server), script),
        }
    };
    for over_sse in [true, false] {
        let expected = format!(
            "broken Some(1) Protocol No: the server at {} wants messages sent to {endpoint}",
            server.origin
        );
        assert_eq!(report(over_sse), expected);
    }
    assert!(elsewhere.requests().is_empty());
}

#[test]
fn the_end_of_the_stream_is_the_end_of_the_connection() {
    let server = old_server("/messages");
    converse_over_sse(sse_target(&server), async |connection| {
        connection.send(request(1, "initialize", OLD));
        assert_eq!(next(connection).await, "response 1 {}");
        connection.send(request(2, "end", OLD));
        let expected = format!("closed Lost: the event stream of {}/sse has ended", server.origin);
        assert_eq!(next(connection).await, expected);
        assert_eq!(next(connection).await, "gone");
    });
}

#[test]
fn a_stream_that_is_refused_refuses_the_request() {
    let server = Server::start(|_, peer| {
        peer.answer("401 Unauthorized", "WWW-Authenticate: Bearer\r\n", "");
        true
    });
    converse_over_sse(sse_target(&server), async |connection| {
        connection.send(request(1, "initialize", OLD));
        assert_eq!(next(connection).await, "refused Some(1) 401");
        // After a login it can be tried again.
        connection.send(request(2, "initialize", OLD));
        assert_eq!(next(connection).await, "refused Some(2) 401");
    });
}

#[test]
fn a_stream_that_breaks_before_the_endpoint_has_not_taken_the_request() {
    let server = Server::start(|_, peer| {
        peer.stream_events();
        peer.write("ff\r\nevent: endp");
        false
    });
    converse_over_sse(sse_target(&server), async |connection| {
        connection.send(request(1, "initialize", OLD));
        let report = next(connection).await;
        assert!(report.starts_with("broken Some(1) Unreachable No: "), "{report}");
    });
}

#[test]
fn a_server_that_names_no_endpoint_does_not_hold_us_up() {
    let server = Server::start(|_, peer| {
        peer.write(HEAD);
        peer.wait_for_hang_up().is_none()
    });
    let begun = Instant::now();
    converse_over_sse(sse_target(&server), async |connection| {
        connection.send(request(1, "initialize", OLD));
        nothing(connection, Duration::from_millis(200)).await;
        connection.send(cancel(1, OLD));
    });
    assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
}

#[test]
fn a_cancellation_is_posted() {
    let server = old_server("/messages");
    converse_over_sse(sse_target(&server), async |connection| {
        connection.send(request(1, "initialize", OLD));
        assert_eq!(next(connection).await, "response 1 {}");
        connection.send(request(2, "tools/call", OLD));
        assert_eq!(next(connection).await, "response 2 {}");
        connection.send(cancel(2, OLD));
        connection.send(request(3, "ping", OLD));
        assert_eq!(next(connection).await, "response 3 {}");
    });
    assert_eq!(server.messages("notifications/cancelled").len(), 1);
}
