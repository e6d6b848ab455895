//! Redirects: which are followed, and where the others lead is told.

use mcpmini::protocol::Incoming;

use crate::client::{converse, next, notification, request, target};
use crate::server::Server;

const OLD: &str = "2025-11-25";

/// A server whose `/mcp` redirects to `location`, in which `ORIGIN` stands for itself.
fn redirecting(status: &'static str, location: &'static str) -> Server {
    Server::start(move |request, peer| {
        if request.path == "/mcp" || location == "/mcp" {
            let location = location.replace("ORIGIN", &peer.origin);
            peer.answer(status, &format!("Location: {location}\r\n"), "");
        } else if request.id() == "null" {
            peer.accepted();
        } else {
            peer.result(request, "{}");
        }
        true
    })
}

#[test]
fn redirects_that_keep_the_method_are_followed_within_the_origin() {
    let check = |status: &'static str, location: &'static str, path: &str| {
        let server = redirecting(status, location);
        let mut target = target(&server.url());
        target.settings.headers.add("X-Api-Key", "k").unwrap();
        converse(target, async |connection| {
            connection.send(request(1, "tools/call", OLD));
            assert_eq!(next(connection).await, "response 1 {}");
        });
        let requests = server.requests();
        assert_eq!(requests.len(), 2);
        assert_eq!((requests[1].method.as_str(), requests[1].path.as_str()), ("POST", path));
        assert_eq!(requests[0].body, requests[1].body);
        assert_eq!(requests[0].headers, requests[1].headers);
    };
    check("307 Temporary Redirect", "/two", "/two");
    check("307 Temporary Redirect", "mcp/", "/mcp/");
    check("308 Permanent Redirect", "ORIGIN/v2/mcp?a=b", "/v2/mcp?a=b");
}

#[test]
fn a_permanent_redirect_is_remembered() {
    let check = |status: &'static str, paths: &[&str]| {
        let server = redirecting(status, "/two");
        converse(target(&server.url()), async |connection| {
            for id in 1..3 {
                connection.send(request(id, "tools/call", OLD));
                assert_eq!(next(connection).await, format!("response {id} {{}}"));
            }
        });
        let requests = server.requests();
        let found: Vec<_> = requests.iter().map(|request| request.path.as_str()).collect();
        assert_eq!(found, paths, "{status}");
    };
    check("308 Permanent Redirect", &["/mcp", "/two", "/two"]);
    check("307 Temporary Redirect", &["/mcp", "/two", "/mcp", "/two"]);
}

#[test]
fn other_redirects_are_refused_and_say_where_they_lead() {
    let elsewhere = Server::start(|_, _| panic!("nothing may come here"));
    let elsewhere: &'static str = elsewhere.url().leak();
    let check = |status: &'static str, location: &'static str, expected: &str| {
        let server = redirecting(status, location);
        converse(target(&server.url()), async |connection| {
            connection.send(request(1, "tools/call", OLD));
            let Some(Incoming::Refused(refused)) = connection.receive().await else { panic!() };
            let expected = expected.replace("ORIGIN", &server.origin);
            assert_eq!(refused.id, Some(1));
            assert_eq!(refused.status.to_string(), status[..3]);
            assert_eq!(refused.location.as_deref(), Some(&*expected));
        });
        assert!(server.requests().iter().all(|request| request.method == "POST"));
    };
    check("302 Found", "/two", "ORIGIN/two");
    check("301 Moved Permanently", "/mcp/", "ORIGIN/mcp/");
    check("303 See Other", "/two", "ORIGIN/two");
    check("307 Temporary Redirect", elsewhere, elsewhere);
    check("308 Permanent Redirect", "file:///etc/passwd", "file:///etc/passwd");
}

#[test]
fn a_redirect_loop_ends() {
    let server = redirecting("307 Temporary Redirect", "/mcp");
    converse(target(&server.url()), async |connection| {
        connection.send(request(1, "tools/call", OLD));
        assert_eq!(next(connection).await, "refused Some(1) 307");
    });
    assert_eq!(server.requests().len(), 6);
}

#[test]
fn notifications_follow_too() {
    let server = redirecting("307 Temporary Redirect", "/two");
    converse(target(&server.url()), async |connection| {
        connection.send(notification("n", OLD));
        connection.send(request(1, "tools/call", OLD));
        assert_eq!(next(connection).await, "response 1 {}");
    });
    assert_eq!(server.requests().len(), 4);
}
