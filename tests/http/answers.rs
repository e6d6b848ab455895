//! What is sent, and what the kinds of answers become.

use mcpmini::net::{Authorization, Headers};
use mcpmini::protocol::message::{Delivery, Head};
use mcpmini::protocol::{Incoming, Outgoing};

use crate::client::{converse, next, notification, request, revision, target};
use crate::server::{Server, result_of};

const NEW: &str = "2026-07-28";
const OLD: &str = "2025-11-25";

#[test]
fn a_request_carries_the_headers_of_its_revision_and_of_the_user() {
    let server = Server::start(|request, peer| {
        peer.result(request, "{}");
        true
    });
    let mut target = target(&server.url());
    let mut headers = Headers::default();
    headers.add("X-Api-Key", "k").unwrap();
    target.settings.headers = headers;
    target.settings.authorization = Authorization::bearer("T").unwrap();
    let head = Head {
        revision: revision(NEW),
        method: "tools/call".into(),
        name: Some("名前".into()),
        mirrored: vec![("Region".into(), "eu".into()), ("Empty".into(), String::new())],
    };
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#;
    converse(target, async |connection| {
        connection.send(Outgoing::Deliver(Delivery { id: Some(1), head, body: body.into() }));
        assert_eq!(next(connection).await, "response 1 {}");
    });
    let sent = &server.requests()[0];
    assert_eq!(
        (sent.method.as_str(), sent.path.as_str(), sent.body.as_str()),
        ("POST", "/mcp", body)
    );
    let check =
        |name: &str, expected: Option<&str>| assert_eq!(sent.header(name), expected, "{name}");
    check("content-type", Some("application/json"));
    check("accept", Some("application/json, text/event-stream"));
    check("user-agent", Some(concat!("mcpmini/", env!("CARGO_PKG_VERSION"))));
    check("mcp-protocol-version", Some(NEW));
    check("mcp-method", Some("tools/call"));
    check("mcp-name", Some("=?base64?5ZCN5YmN?="));
    check("mcp-param-region", Some("eu"));
    check("mcp-param-empty", Some(""));
    check("x-api-key", Some("k"));
    check("authorization", Some("Bearer T"));
    check("content-length", Some(&body.len().to_string()));
    for absent in ["origin", "cookie", "expect", "mcp-session-id", "transfer-encoding"] {
        check(absent, None);
    }
}

#[test]
fn bodies_are_judged_by_type_and_content() {
    let check = |status: &'static str,
                 content_type: &'static str,
                 body: &'static str,
                 expected: &[&str]| {
        let server = Server::start(move |request, peer| {
            let fields = match content_type {
                "" => String::new(),
                _ => format!("Content-Type: {content_type}\r\n"),
            };
            peer.answer(status, &fields, &body.replace("ID", &request.id()));
            true
        });
        converse(target(&server.url()), async |connection| {
            connection.send(request(7, "tools/call", OLD));
            for expected in expected {
                assert_eq!(next(connection).await, *expected, "{status} {content_type} {body}");
            }
        });
    };
    let ok = r#"{"jsonrpc":"2.0","id":ID,"result":{}}"#;
    check("200 OK", "application/json", ok, &["response 7 {}"]);
    check("200 OK", "Application/JSON; Charset=UTF-8", ok, &["response 7 {}"]);
    check("200 OK", "application/vnd.x+json", ok, &["response 7 {}"]);
    check("200 OK", "text/plain", ok, &["unusual ContentType", "response 7 {}"]);
    check("200 OK", "", ok, &["unusual ContentType", "response 7 {}"]);
    check("201 Created", "application/json", ok, &["response 7 {}"]);
    let batch = r#"[{"jsonrpc":"2.0","method":"n"},{"jsonrpc":"2.0","id":ID,"result":{}}]"#;
    let expected = &["unusual Batch", "notification n", "response 7 {}"];
    check("200 OK", "application/json", batch, expected);
    // The exchange tells whose error it is.
    let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"m"}}"#;
    check("200 OK", "application/json", error, &["error 7 -1"]);
    let error = r#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-1,"message":"m"}}"#;
    check("200 OK", "application/json", error, &["error 7 -1"]);
    // But not whose result.
    let other = r#"{"jsonrpc":"2.0","id":"zz","result":{}}"#;
    let expected = &[r#"response "zz" {}"#, r#"ended 7: the answer is for request "zz", not 7"#];
    check("200 OK", "application/json", other, expected);
    let expected = &["skipped", "ended 7: the answer is not JSON: {oops"];
    check("200 OK", "application/json", "{oops", expected);
    let none = r#"{"jsonrpc":"2.0","id":ID}"#;
    let why = r#"ended 7: the answer is no JSON-RPC message: {"jsonrpc":"2.0","id":7}"#;
    check("200 OK", "application/json", none, &["skipped", why]);
    let expected = &["ended 7: the server answered with text/html, which is not MCP"];
    check("200 OK", "text/html; charset=utf-8", "<html>Sign in</html>", expected);
    check("200 OK", "", "", &["ended 7: the server answered HTTP 200 without a body"]);
    check("202 Accepted", "", "", &["ended 7: the server answered HTTP 202 without a body"]);
}

#[test]
fn a_refusal_brings_all_that_the_server_says() {
    let server = Server::start(|_, peer| {
        let fields = "Content-Type: text/plain\r\nWWW-Authenticate: Bearer realm=\"a\"\r\n\
                      WWW-Authenticate: DPoP\r\nMcp-Auth-Server: https://as.example\r\n\
                      Retry-After: 3\r\n";
        peer.answer("401 Unauthorized", fields, &"x".repeat(5000));
        true
    });
    let refused = converse(target(&server.url()), async |connection| {
        connection.send(request(7, "tools/call", OLD));
        match connection.receive().await {
            Some(Incoming::Refused(refused)) => refused,
            other => panic!("{other:?}"),
        }
    });
    assert_eq!((refused.id, refused.status, refused.retry_after), (Some(7), 401, Some(3)));
    assert_eq!(refused.text, "x".repeat(2048));
    assert_eq!(refused.challenges, ["Bearer realm=\"a\"", "DPoP"]);
    assert_eq!(refused.auth_server.as_deref(), Some("https://as.example"));
    assert!(!refused.in_session);
    assert_eq!((refused.location, refused.message), (None, None));
}

#[test]
fn a_refusal_carries_the_error_in_its_body() {
    let check = |status: &'static str, body: &'static str, code: Option<i64>, text: &str| {
        let server = Server::start(move |_, peer| {
            peer.answer(status, "Content-Type: application/json\r\n", body);
            true
        });
        converse(target(&server.url()), async |connection| {
            connection.send(request(7, "tools/call", OLD));
            let Some(Incoming::Refused(refused)) = connection.receive().await else { panic!() };
            let found = refused.message.map(|message| match *message {
                mcpmini::protocol::jsonrpc::Message::Response(response) => {
                    response.outcome.unwrap_err().code
                }
                other => panic!("{other:?}"),
            });
            assert_eq!((found, refused.text.as_str()), (code, text), "{status} {body}");
        });
    };
    let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"m"}}"#;
    check("400 Bad Request", error, Some(-32000), error);
    let error = r#"{"jsonrpc":"2.0","error":{"code":-32601,"message":"m"}}"#;
    check("404 Not Found", error, Some(-32601), error);
    check("400 Bad Request", r#"{"error":"unauthorized"}"#, None, r#"{"error":"unauthorized"}"#);
    check("502 Bad Gateway", "", None, "Bad Gateway");
}

#[test]
fn any_success_acknowledges_a_notification() {
    let check = |answer: &'static str, expected: Option<&str>| {
        let server = Server::start(move |request, peer| {
            match request.is("n") {
                true => peer.write(answer),
                false => peer.json(&result_of(request, "{}")),
            }
            true
        });
        converse(target(&server.url()), async |connection| {
            connection.send(notification("n", OLD));
            connection.send(request(1, "ping", OLD));
            if let Some(expected) = expected {
                assert_eq!(next(connection).await, expected, "{answer}");
            }
            assert_eq!(next(connection).await, "response 1 {}", "{answer}");
        });
    };
    check("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", None);
    check("HTTP/1.1 204 No Content\r\n\r\n", None);
    check(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\nnull",
        None,
    );
    check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", None);
    check("HTTP/1.1 202 Accepted\r\nContent-Length: 8\r\n\r\nAccepted", None);
    let refused = Some("refused None 400");
    check("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", refused);
}

#[test]
fn compressed_answers_are_understood() {
    // printf '{"jsonrpc":"2.0","id":1,"result":{}}' | gzip -n | xxd -i
    const GZIP: &[u8] = include_bytes!("answer.gz");
    let server = Server::start(|request, peer| {
        assert!(request.header("accept-encoding").unwrap().contains("gzip"));
        let length = GZIP.len();
        peer.write(&format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n\
             Content-Length: {length}\r\n\r\n"
        ));
        peer.stream.write_all(GZIP).unwrap();
        true
    });
    converse(target(&server.url()), async |connection| {
        connection.send(request(1, "ping", OLD));
        assert_eq!(next(connection).await, "response 1 {}");
    });
}
