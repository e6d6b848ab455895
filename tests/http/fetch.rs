//! Fetching what documents name: bounded, without credentials, and never where a redirect should
//! not lead.

use std::net::{Ipv4Addr, Ipv6Addr};

use mcpmini::net::{
    Address, Authorization, FetchError, Fetched, Fetcher, Policy, Settings, Source,
};

use crate::server::Server;

const JSON: &str = "application/json";

fn fetch(settings: &Settings, url: &str, limit: usize) -> Result<Fetched, FetchError> {
    let address = Address::parse(url).unwrap();
    let fetcher = Fetcher::new(settings, &address, Policy::default());
    mcpmini::reactor::block_on(fetcher.get(&address, Source::User, JSON, limit))
}

#[test]
fn a_document_is_fetched_without_anything_of_the_user() {
    let server = Server::start(|_, peer| {
        peer.json("{\"a\":1}");
        true
    });
    let mut settings =
        Settings { authorization: Authorization::bearer("t").unwrap(), ..Settings::default() };
    settings.headers.add("Cookie", "c").unwrap();
    settings.headers.add("X-Api-Key", "k").unwrap();
    let url = format!("{}/document?x=1", server.origin);
    let fetched = fetch(&settings, &url, 100).unwrap();
    assert_eq!((fetched.status.as_u16(), fetched.body.as_slice()), (200, b"{\"a\":1}".as_slice()));
    assert!(fetched.is_json());
    assert_eq!(fetched.address.as_str(), url);
    let request = &server.requests()[0];
    assert_eq!((request.method.as_str(), request.path.as_str()), ("GET", "/document?x=1"));
    assert_eq!(request.header("accept"), Some(JSON));
    for name in ["authorization", "cookie", "x-api-key"] {
        assert_eq!(request.header(name), None, "{name}");
    }
}

#[test]
fn three_redirects_are_followed() {
    let server = Server::start(|request, peer| {
        let left: usize = request.path[1..].parse().unwrap();
        if left == 0 {
            peer.json("{}");
        } else {
            let status = ["301 M", "302 F", "303 S", "307 T", "308 P"][left % 5];
            peer.answer(status, &format!("Location: /{}\r\n", left - 1), "");
        }
        true
    });
    let follow =
        |count: usize| fetch(&Settings::default(), &format!("{}/{count}", server.origin), 100);
    assert!(follow(3).unwrap().address.as_str().ends_with("/0"));
    assert!(matches!(follow(4), Err(FetchError::TooManyRedirects(_))));
}

#[test]
fn redirects_to_elsewhere_are_judged() {
    let check = |location: &'static str, expected: &str| {
        let server = Server::start(move |_, peer| {
            peer.answer("302 Found", &format!("Location: {location}\r\n"), "");
            true
        });
        let error = fetch(&Settings::default(), &format!("{}/", server.origin), 100).unwrap_err();
        assert!(error.to_string().contains(expected), "{location}: {error}");
    };
    check("file:///etc/passwd", "redirects to something that cannot be used");
    check("http://user:word@127.0.0.1/", "redirects to something that cannot be used");
    check("http://169.254.169.254/latest/meta-data/", "nothing is fetched there");
    check("http://192.0.2.1/", "is not encrypted");
}

#[test]
fn a_document_is_cut_off_at_its_limit() {
    let server = Server::start(|_, peer| {
        peer.stream_events();
        for _ in 0..100 {
            peer.chunk(&"x".repeat(1000));
        }
        false
    });
    let url = format!("{}/", server.origin);
    let error = fetch(&Settings::default(), &url, 50_000).unwrap_err();
    assert!(matches!(error, FetchError::TooLong { limit: 50_000, .. }), "{error}");
}

#[test]
fn a_busy_server_is_asked_once_more() {
    let check = |wait: &'static str, expected: usize| {
        let server = Server::start(move |_, peer| {
            let fields = format!("Retry-After: {wait}\r\n");
            peer.answer("503 Service Unavailable", &fields, "");
            true
        });
        let fetched = fetch(&Settings::default(), &format!("{}/", server.origin), 100).unwrap();
        assert_eq!(fetched.status.as_u16(), 503);
        assert_eq!(server.requests().len(), expected, "{wait}");
    };
    check("0", 2);
    check("6", 1);
    check("soon", 1);
}

#[test]
fn every_address_of_a_name_is_tried() {
    let server = Server::start(|_, peer| {
        peer.json("{}");
        true
    });
    let url = format!("{}/", server.origin.replace("127.0.0.1", "localhost"));
    let address = Address::parse(&url).unwrap();
    // The server listens on the second one only.
    let fetcher = Fetcher::new(&Settings::default(), &address, Policy::default())
        .with_resolver(|_| vec![Ipv6Addr::LOCALHOST.into(), Ipv4Addr::LOCALHOST.into()]);
    let fetched = mcpmini::reactor::block_on(fetcher.get(&address, Source::User, JSON, 100));
    assert_eq!(fetched.unwrap().status.as_u16(), 200);
}

#[test]
fn only_json_counts_as_json() {
    let check = |fields: &'static str, body: &'static str, expected: bool| {
        let server = Server::start(move |_, peer| {
            peer.answer("200 OK", fields, body);
            true
        });
        let fetched = fetch(&Settings::default(), &format!("{}/", server.origin), 100).unwrap();
        assert_eq!(fetched.is_json(), expected, "{fields}");
    };
    check("Content-Type: application/json; charset=utf-8\r\n", "{}", true);
    check("Content-Type: application/mcp-server-card+json\r\n", "{}", true);
    check("Content-Type: text/html\r\n", "{}", false);
    check("Content-Type: text/plain\r\n", " {}", true);
    check("Content-Type: text/plain\r\n", "hello", false);
    check("", "{}", true);
    check("", "<html>", false);
}
