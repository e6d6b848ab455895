//! Encryption: the certificate, and what is answered without one.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use rustls::{ServerConnection, StreamOwned};

use crate::encrypted::{certificate, config};
use crate::support::{Outcome, Scratch, run};

/// A server that refuses everything, over TLS; with `plain` it answers on the same port without
/// encryption as well, and takes everything. Returns its URL.
fn serve(certificate: &str, key: &str, plain: bool) -> String {
    let config = config(certificate, key);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/mcp", listener.local_addr().unwrap());
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut first = [0];
            if plain && stream.peek(&mut first).is_ok() && first == *b"P" {
                let _ = stream.read(&mut [0; 8 << 10]);
                let head = "HTTP/1.1 200 -\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
                let _ = stream.write_all(head.as_bytes());
                continue;
            }
            let connection = ServerConnection::new(config.clone()).unwrap();
            let mut stream = StreamOwned::new(connection, stream);
            // A client that hangs up is no event.
            let _ = stream.read(&mut [0; 8 << 10]);
            let head = "HTTP/1.1 404 -\r\nContent-Length: 0\r\nConnection: close\r\n";
            let strict = "Strict-Transport-Security: max-age=60\r\n\r\n";
            let _ = stream.write_all(format!("{head}{strict}").as_bytes());
            stream.conn.send_close_notify();
            let _ = stream.flush();
        }
    });
    url
}

fn doctor(scratch: &Scratch, words: &[&str]) -> Outcome {
    let only = ["doctor", "-t", "5s", "--only", "tls*"];
    run(&mut scratch.mcpmini(only.iter().chain(words)))
}

#[test]
fn certificates_end() {
    let check = |days, expected: &str, evidence: &str| {
        let scratch = Scratch::new();
        let Some((certificate, key)) = certificate(&scratch, days) else { return };
        let url = serve(&certificate, &key, false);
        let outcome = doctor(&scratch, &["--cacert", &certificate, &url]);
        let lines: Vec<Vec<&str>> =
            outcome.out.lines().map(|line| line.split('\t').collect()).collect();
        assert_eq!(lines.len(), 3, "{}{}", outcome.out, outcome.err);
        assert_eq!(lines[0][..2], ["PASS", "tls"], "{}", outcome.out);
        assert!(lines[0][3].ends_with("Strict-Transport-Security: max-age=60"), "{}", outcome.out);
        assert_eq!(lines[1][..2].join(" "), expected, "{}", outcome.out);
        assert!(lines[1][3].starts_with(evidence), "{}", outcome.out);
    };
    check(90, "PASS tls-expiry", "good for 89 days; TLS 1.3");
    check(5, "WARN tls-expiry", "good for 4 days; TLS 1.3");
}

#[test]
fn what_is_answered_without_encryption_is_found() {
    let scratch = Scratch::new();
    let Some((certificate, key)) = certificate(&scratch, 90) else { return };
    let check = |plain, expected: &str| {
        let url = serve(&certificate, &key, plain);
        let outcome = doctor(&scratch, &["--cacert", &certificate, &url]);
        let line = outcome.out.lines().find(|line| line.contains("\ttls-downgrade\t")).unwrap();
        assert!(line.replace('\t', " ").starts_with(expected), "{}", outcome.out);
    };
    check(false, "PASS tls-downgrade ");
    check(true, "FAIL tls-downgrade ");
}

#[test]
fn a_certificate_that_nobody_trusts_is_no_connection() {
    let scratch = Scratch::new();
    let Some((certificate, key)) = certificate(&scratch, 90) else { return };
    let url = serve(&certificate, &key, false);
    let outcome = doctor(&scratch, &[&url]);
    assert_eq!((outcome.code, &*outcome.out), (4, ""), "{}", outcome.err);
    assert!(outcome.err.contains("no certificate that is trusted"), "{}", outcome.err);
    let outcome = doctor(&scratch, &["--insecure", &url]);
    assert!(outcome.out.starts_with("UNKNOWN\ttls\t"), "{}{}", outcome.out, outcome.err);
}
