//! Encryption: the certificate, and what is answered without one.

use std::io::{Read, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use rustls::ServerConfig;

use crate::encrypted::{Authority, Served, Times, answer_once, self_signed};
use crate::support::{Outcome, Scratch, run};

/// A server that refuses everything, over TLS; with `plain` it answers on the same port without
/// encryption as well, and takes everything. Returns its URL.
fn serve(served: Served, plain: bool) -> String {
    let config = served.config();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://localhost:{}/mcp", listener.local_addr().unwrap().port());
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let config = config.clone();
            // A client that hangs up is no event.
            thread::spawn(move || drop(answer(stream, config, plain)));
        }
    });
    url
}

fn answer(mut stream: TcpStream, config: Arc<ServerConfig>, plain: bool) -> Result<()> {
    let mut first = [0];
    if plain && stream.peek(&mut first).is_ok() && first == *b"P" {
        let _ = stream.read(&mut [0; 8 << 10])?;
        let answer = "HTTP/1.1 200 -\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
        return stream.write_all(answer.as_bytes());
    }
    answer_once(stream, config, |_| {
        "HTTP/1.1 404 -\r\nContent-Length: 0\r\nConnection: close\r\n\
         Strict-Transport-Security: max-age=60\r\n\r\n"
            .to_owned()
    })
}

fn doctor(scratch: &Scratch, words: &[&str]) -> Outcome {
    let only = ["doctor", "-t", "5s", "--only", "tls*"];
    run(&mut scratch.mcpmini(only.iter().chain(words)))
}

/// What two checks say of a certificate, each as verdict and a part of the evidence, and whether the
/// server was reached.
struct Expected<'a> {
    tls: (&'a str, &'a str),
    expiry: (&'a str, &'a str),
    code: i32,
}

/// The server speaks no MCP, which is all that is wrong with it when it is reached.
const REACHED: i32 = 6;
const UNREACHED: i32 = 4;

#[track_caller]
fn check(words: &[&str], served: Served, expected: &Expected<'_>) {
    let scratch = Scratch::new();
    let url = serve(served, false);
    let outcome = doctor(&scratch, &[words, &[&url]].concat());
    let lines: Vec<Vec<&str>> =
        outcome.out.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(lines.len(), 3, "{}{}", outcome.out, outcome.err);
    for (line, (verdict, evidence)) in lines.iter().zip([expected.tls, expected.expiry]) {
        assert_eq!(format!("{} {}", line[0], line[1]), verdict, "{}", outcome.out);
        assert!(line[3].contains(evidence), "{verdict}: {}", outcome.out);
    }
    assert_eq!(outcome.code, expected.code, "{}", outcome.err);
}

#[test]
fn certificates_are_good_for_a_time() {
    let authority = Authority::new();
    let scratch = Scratch::new();
    let file = authority.file(&scratch);
    let words: &[&str] = &["--cacert", &file];
    let strict = "Strict-Transport-Security: max-age=60";
    let check = |times, tls, expiry, code| {
        let served = authority.certify("localhost", times);
        check(words, served, &Expected { tls, expiry, code });
    };
    let trusted = ("PASS tls", strict);
    check(Times::Days(90), trusted, ("PASS tls-expiry", "good for 89 days; TLS 1.3"), REACHED);
    check(Times::Days(5), trusted, ("WARN tls-expiry", "good for 4 days; TLS 1.3"), REACHED);
    let over = ("FAIL tls-expiry", "its time was over at 2021-01-01T00:00:00Z; TLS 1.3");
    check(Times::Years(2020, 2021), ("FAIL tls", "xpired"), over, UNREACHED);
    let early = ("FAIL tls-expiry", "it is not good before 2090-01-01T00:00:00Z; TLS 1.3");
    check(Times::Years(2090, 2099), ("FAIL tls", "NotValidYet"), early, UNREACHED);
}

#[test]
fn certificates_name_their_host_and_an_authority() {
    let authority = Authority::new();
    let scratch = Scratch::new();
    let file = authority.file(&scratch);
    let of = |host| authority.certify(host, Times::Days(90));
    let good = ("PASS tls-expiry", "good for 89 days");
    let untrusted =
        |evidence| Expected { tls: ("FAIL tls", evidence), expiry: good, code: UNREACHED };
    check(&["--cacert", &file], of("other.example"), &untrusted("NotValidForName"));
    check(&[], of("localhost"), &untrusted("UnknownIssuer"));
    check(&[], self_signed(), &untrusted("no certificate that is trusted"));
    // Another authority than the one that has signed.
    let other = Scratch::new();
    let file = Authority::new().file(&other);
    check(&["--cacert", &file], of("localhost"), &untrusted("no certificate that is trusted"));
    let blind = Expected { tls: ("UNKNOWN tls", "--insecure"), expiry: good, code: REACHED };
    check(&["--insecure"], self_signed(), &blind);
    let over = ("FAIL tls-expiry", "its time was over at 2021-01-01T00:00:00Z");
    let blind = Expected { expiry: over, ..blind };
    check(&["--insecure"], authority.certify("localhost", Times::Years(2020, 2021)), &blind);
}

#[test]
fn what_cannot_be_reached_has_no_certificate() {
    let url = crate::support::closed_url().replace("http://", "https://");
    let outcome = doctor(&Scratch::new(), &[&url]);
    let verdicts: Vec<&str> =
        outcome.out.lines().filter_map(|line| line.split('\t').next()).collect();
    assert_eq!(verdicts, ["UNKNOWN"; 3], "{}", outcome.out);
    assert_eq!(outcome.code, UNREACHED, "{}", outcome.err);
    // Something that speaks, but no TLS.
    let url = crate::support::http_server(|_| crate::support::answer("200 OK", "{}"));
    let outcome = doctor(&Scratch::new(), &[&url.replace("http://", "https://")]);
    assert!(outcome.out.starts_with("UNKNOWN\ttls\t"), "{}", outcome.out);
    assert_eq!(outcome.code, UNREACHED, "{}", outcome.err);
}

#[test]
fn what_is_answered_without_encryption_is_found() {
    let authority = Authority::new();
    let scratch = Scratch::new();
    let file = authority.file(&scratch);
    let check = |plain, expected: &str| {
        let url = serve(authority.certify("localhost", Times::Days(90)), plain);
        let outcome = doctor(&scratch, &["--cacert", &file, &url]);
        let line = outcome.out.lines().find(|line| line.contains("\ttls-downgrade\t")).unwrap();
        assert!(line.replace('\t', " ").starts_with(expected), "{}", outcome.out);
    };
    check(false, "PASS tls-downgrade ");
    check(true, "FAIL tls-downgrade ");
}
