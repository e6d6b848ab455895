//! Servers behind TLS: how long the steps to them take, and how long they may take.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "support/tls.rs"]
mod encrypted;
mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use rustls::{ServerConnection, StreamOwned};
use serde_json::Value;

use encrypted::{Authority, Times};
use support::{HttpDemo, Scratch, run};

/// Stands before a server and speaks TLS, but not before `pause` is over. Returns its URL.
fn front(server: &HttpDemo, authority: &Authority, pause: Duration) -> String {
    let config = authority.certify("localhost", Times::Days(90)).config();
    let behind =
        server.url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap().to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://localhost:{}/mcp", listener.local_addr().unwrap().port());
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let (config, behind) = (config.clone(), behind.clone());
            thread::spawn(move || {
                thread::sleep(pause);
                let connection = ServerConnection::new(config).unwrap();
                let mut stream = BufReader::new(StreamOwned::new(connection, stream));
                // A client that hangs up is no event.
                let _ = exchange(&mut stream, &behind);
                stream.get_mut().conn.send_close_notify();
                let _ = stream.get_mut().flush();
            });
        }
    });
    url
}

/// One request, to the server behind, and its answer back.
fn exchange<S: Read + Write>(stream: &mut BufReader<S>, behind: &str) -> std::io::Result<()> {
    let (mut head, mut length) = (String::new(), 0);
    while !head.ends_with("\r\n\r\n") {
        let start = head.len();
        if stream.read_line(&mut head)? == 0 {
            return Ok(());
        }
        let line = head[start..].to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    let mut server = TcpStream::connect(behind)?;
    server.write_all(&[head.as_bytes(), &body].concat())?;
    // There is no other request on this connection.
    server.shutdown(Shutdown::Write)?;
    let mut answer = String::new();
    server.read_to_string(&mut answer)?;
    let answer = answer.replacen("\r\n", "\r\nConnection: close\r\n", 1);
    stream.get_mut().write_all(answer.as_bytes())
}

#[test]
fn info_tells_how_long_encryption_takes() {
    let scratch = Scratch::new();
    let authority = Authority::new();
    let certificate = authority.file(&scratch);
    let server = HttpDemo::start(&[]);
    let url = front(&server, &authority, Duration::from_millis(300));
    let info = |words: &[&str]| {
        let command = ["info", &url, "--cacert", &certificate];
        let outcome = run(&mut scratch.mcpmini(command.iter().chain(words)));
        assert_eq!((outcome.code, &*outcome.err), (0, ""));
        outcome.out
    };
    let told: Value = serde_json::from_str(&info(&["-j"])).unwrap();
    let ms = |value: &Value| value.as_f64().unwrap();
    let timings = told["timings"].as_object().unwrap();
    let names: Vec<_> = timings.keys().map(String::as_str).collect();
    assert_eq!(names, ["resolveMs", "connectMs", "tlsMs", "discoverMs"]);
    assert!(300.0 <= ms(&timings["tlsMs"]) && ms(&timings["connectMs"]) < 300.0, "{timings:?}");
    let sum: f64 = timings.values().map(ms).sum();
    assert!((sum - ms(&told["openedMs"])).abs() < 0.01, "{told}");
    let text = info(&[]);
    let line = text.lines().find(|line| line.starts_with("opened in")).unwrap_or_default();
    assert!(line.contains(", tls "), "{text}");
}

/// Connecting, TLS included, may take as long as the start of the server, where that is said, and ten
/// seconds where it is not.
#[test]
fn the_start_limit_is_one_for_connecting_too() {
    let scratch = Scratch::new();
    let authority = Authority::new();
    let certificate = authority.file(&scratch);
    let server = HttpDemo::start(&[]);
    let url = front(&server, &authority, Duration::from_millis(10_500));
    let check = |flags: &'static [&'static str], code: i32, error: &'static str| {
        let command = ["ping", &url, "--cacert", &certificate];
        let mut command = scratch.mcpmini(command.iter().chain(flags));
        thread::spawn(move || {
            let outcome = run(&mut command);
            assert_eq!(outcome.code, code, "{flags:?}: {}", outcome.err);
            assert!(outcome.err.contains(error), "{flags:?}: {}", outcome.err);
            outcome.took
        })
    };
    let enough = check(&["--start-timeout", "40s"], 0, "");
    let unsaid = check(&[], 4, "no connection within 10s");
    let short = check(&["--start-timeout", "1s"], 124, "timed out after 1000ms");
    let took = [enough, unsaid, short].map(|check| check.join().unwrap());
    assert!(Duration::from_secs(10) <= took[0] && took[2] < Duration::from_secs(8), "{took:?}");
}
