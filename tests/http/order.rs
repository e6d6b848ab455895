//! What goes out when: order, cancellation, many at once, and the end.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::client::{cancel, converse, next, nothing, notification, request, response, target};
use crate::server::Server;

const NEW: &str = "2026-07-28";
const OLD: &str = "2025-11-25";

#[test]
fn a_request_waits_until_the_notification_before_it_has_arrived() {
    let server = Server::start(|request, peer| {
        match request.is("notifications/initialized") {
            true => {
                sleep(Duration::from_millis(200));
                peer.accepted();
            }
            false => peer.result(request, "{}"),
        }
        true
    });
    converse(target(&server.url()), async |connection| {
        connection.send(notification("notifications/initialized", OLD));
        connection.send(request(1, "tools/call", OLD));
        assert_eq!(next(connection).await, "response 1 {}");
    });
    let requests = server.requests();
    assert!(requests[1].at - requests[0].at >= Duration::from_millis(200));
}

#[test]
fn a_server_that_does_not_acknowledge_does_not_stop_the_rest() {
    let server = Server::start(|request, peer| {
        match request.is("notifications/initialized") {
            true => drop(peer.wait_for_hang_up()),
            false => peer.result(request, "{}"),
        }
        true
    });
    let begun = Instant::now();
    converse(target(&server.url()), async |connection| {
        connection.send(notification("notifications/initialized", OLD));
        connection.send(request(1, "tools/call", OLD));
        assert_eq!(next(connection).await, "response 1 {}");
    });
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
}

#[test]
fn the_answer_to_a_question_goes_out_while_the_asking_stream_is_open() {
    let (answered, wait) = mpsc::channel();
    let wait = Mutex::new(wait);
    let server = Server::start(move |request, peer| {
        if request.is("tools/call") {
            peer.stream_events();
            peer.event(r#"{"jsonrpc":"2.0","id":"q","method":"ping"}"#);
            wait.lock().unwrap().recv_timeout(Duration::from_secs(5)).unwrap();
            peer.event(&crate::server::result_of(request, "{}"));
            peer.end_events();
        } else {
            answered.send(request.body.clone()).unwrap();
            peer.accepted();
        }
        true
    });
    converse(target(&server.url()), async |connection| {
        connection.send(request(1, "tools/call", OLD));
        assert_eq!(next(connection).await, r#"request "q" ping during 1"#);
        connection.send(response("\"q\"", OLD));
        assert_eq!(next(connection).await, "response 1 {}");
    });
}

/// A server that answers no `tools/call` and tells how long the client takes to hang up.
fn silent(begin: &'static str) -> (Server, mpsc::Receiver<Option<Duration>>) {
    let (tell, hung_up) = mpsc::channel();
    let server = Server::start(move |request, peer| {
        if request.is("tools/call") {
            peer.write(begin);
            tell.send(peer.wait_for_hang_up()).unwrap();
            return false;
        }
        peer.accepted();
        true
    });
    (server, hung_up)
}

#[test]
fn to_cancel_is_to_hang_up() {
    let streaming = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: hi\n\n";
    let waiting = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
    for begin in ["", waiting, streaming] {
        let (server, hung_up) = silent(begin);
        converse(target(&server.url()), async |connection| {
            connection.send(request(1, "tools/call", NEW));
            nothing(connection, Duration::from_millis(300)).await;
            let cancelled = Instant::now();
            connection.send(cancel(1, NEW));
            nothing(connection, Duration::from_millis(300)).await;
            let waited = hung_up.try_recv().expect("the socket is closed by now");
            assert!(waited.is_some(), "{begin}");
            assert!(cancelled.elapsed() < Duration::from_millis(500));
        });
        assert_eq!(server.messages("notifications/cancelled").len(), 0);
    }
}

#[test]
fn a_legacy_cancellation_is_a_notice_and_then_a_hang_up() {
    let (server, hung_up) = silent("");
    converse(target(&server.url()), async |connection| {
        connection.send(request(1, "tools/call", OLD));
        nothing(connection, Duration::from_millis(100)).await;
        connection.send(cancel(1, OLD));
        nothing(connection, Duration::from_millis(300)).await;
        assert!(hung_up.try_recv().expect("the socket is closed by now").is_some());
    });
    assert_eq!(server.messages("notifications/cancelled").len(), 1);
}

#[test]
fn a_cancellation_is_delivered_even_when_the_connection_closes_at_once() {
    let (server, hung_up) = silent("");
    converse(target(&server.url()), async |connection| {
        connection.send(request(1, "tools/call", OLD));
        nothing(connection, Duration::from_millis(100)).await;
        connection.send(cancel(1, OLD));
    });
    assert_eq!(server.messages("notifications/cancelled").len(), 1);
    assert!(hung_up.recv_timeout(Duration::from_secs(1)).unwrap().is_some());
}

#[test]
fn many_requests_are_in_flight_and_use_their_connections_again() {
    let most = Arc::new(AtomicUsize::new(0));
    let (now, peak) = (AtomicUsize::new(0), most.clone());
    let server = Server::start(move |request, peer| {
        peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        sleep(Duration::from_millis(200));
        now.fetch_sub(1, Ordering::SeqCst);
        peer.result(request, "{}");
        true
    });
    converse(target(&server.url()), async |connection| {
        for round in 0..3 {
            for id in 0..64 {
                connection.send(request(round * 64 + id, "tools/call", NEW));
            }
            for _ in 0..64 {
                let seen = next(connection).await;
                assert!(seen.starts_with("response"), "{seen}");
            }
        }
    });
    assert_eq!(most.load(Ordering::SeqCst), 64);
    let requests = server.requests();
    let connections = requests.iter().map(|request| request.connection).max().unwrap() + 1;
    assert_eq!((requests.len(), connections), (192, 64));
}

#[test]
fn answers_in_streams_keep_the_connection_too() {
    let server = Server::start(|request, peer| {
        peer.stream_events();
        peer.event(&crate::server::result_of(request, "{}"));
        peer.end_events();
        true
    });
    converse(target(&server.url()), async |connection| {
        for id in 0..5 {
            connection.send(request(id, "tools/call", NEW));
            assert!(next(connection).await.starts_with("response"));
            nothing(connection, Duration::from_millis(20)).await;
        }
    });
    assert_eq!(server.requests().last().unwrap().connection, 0);
}

#[test]
fn closing_hangs_up_what_is_open() {
    let (server, hung_up) = silent("");
    let begun = Instant::now();
    converse(target(&server.url()), async |connection| {
        connection.send(request(1, "tools/call", NEW));
        nothing(connection, Duration::from_millis(100)).await;
    });
    assert!(begun.elapsed() < Duration::from_secs(1));
    assert!(hung_up.recv_timeout(Duration::from_secs(1)).unwrap().is_some());
}

#[test]
fn a_client_that_does_not_listen_loses_nothing() {
    let server = Server::start(|request, peer| {
        peer.stream_events();
        for n in 0..1000 {
            peer.event(&format!(r#"{{"jsonrpc":"2.0","method":"n{n}"}}"#));
        }
        peer.event(&crate::server::result_of(request, "{}"));
        peer.end_events();
        true
    });
    converse(target(&server.url()), async |connection| {
        connection.send(request(1, "tools/call", NEW));
        mcpmini::reactor::Timer::after(Duration::from_millis(300)).await;
        for n in 0..1000 {
            assert_eq!(next(connection).await, format!("notification n{n}"));
        }
        assert_eq!(next(connection).await, "response 1 {}");
    });
}
