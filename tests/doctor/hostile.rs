//! Servers that are made to harm who looks at them: every one is examined to the end, in bounded
//! time, and nothing of it comes to the terminal or stays behind.

use std::io::Write;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::scripted::{Peer, Request, Server};
use crate::support::{Outcome, Scratch, demo_path, processes_with, run};

/// Longer than any of these may take: 20 seconds, which is the limit that they are given, and time
/// to leave.
const PATIENCE: Duration = Duration::from_secs(35);

/// How long an answer may take, when the program may end with these codes: long on a machine that has
/// other things to do, unless none is to be expected.
fn patience(codes: &[i32]) -> &'static str {
    if codes.contains(&124) { "300ms" } else { "10s" }
}

fn examine(url: &str, codes: &[i32]) -> Outcome {
    let words = ["doctor", "-t", patience(codes), "--max-time", "20s", url];
    let outcome = run(&mut Scratch::new().mcpmini(words));
    assert!(outcome.took < PATIENCE, "{:?}", outcome.took);
    assert!(!outcome.err.contains("panicked"), "{}", outcome.err);
    assert!(!outcome.out.bytes().any(|byte| byte < b' ' && byte != b'\t' && byte != b'\n'));
    assert!(codes.contains(&outcome.code), "{} {}{}", outcome.code, outcome.out, outcome.err);
    outcome
}

/// What a hostile server finds no way around: it is no server that is right, and the program ends
/// with one of these codes.
#[track_caller]
fn survives(
    name: &str,
    codes: &[i32],
    script: impl Fn(&Request, &mut Peer) -> bool + Send + Sync + 'static,
) {
    let server = Server::start(script);
    let outcome = examine(&server.url(), codes);
    let passed = outcome.out.lines().filter(|line| line.starts_with("PASS\t"));
    let passed: Vec<&str> = passed.filter_map(|line| line.split('\t').nth(1)).collect();
    // What says something of what the server speaks cannot be right.
    for id in ["speech", "era", "ping", "id-echo", "unknown-method", "version-hdr", "session-id"] {
        assert!(!passed.contains(&id), "{name}: {}", outcome.out);
    }
}

#[test]
fn endless_streams_end() {
    survives("events", &[6, 124], |_, peer| {
        peer.write("HTTP/1.1 200 -\r\nContent-Type: text/event-stream\r\n\r\n");
        while peer.stream.write_all(b"data: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n").is_ok() {}
        false
    });
    survives("one event", &[6, 124], |_, peer| {
        peer.write("HTTP/1.1 200 -\r\nContent-Type: text/event-stream\r\n\r\ndata: ");
        while peer.stream.write_all(&[b'x'; 4096]).is_ok() {}
        false
    });
    survives("JSON", &[6, 124], |_, peer| {
        peer.write("HTTP/1.1 200 -\r\nContent-Type: application/json\r\n\r\n[");
        while peer.stream.write_all(&[b'['; 4096]).is_ok() {}
        false
    });
}

#[test]
fn endless_heads_end() {
    survives("fields", &[4, 5, 6, 124], |_, peer| {
        peer.write("HTTP/1.1 200 -\r\n");
        while peer.stream.write_all(b"X-More: and more and more and more\r\n").is_ok() {}
        false
    });
    survives("one field", &[4, 5, 6, 124], |_, peer| {
        peer.write("HTTP/1.1 200 -\r\nX-More: ");
        while peer.stream.write_all(&[b'x'; 4096]).is_ok() {}
        false
    });
}

#[test]
fn slow_bytes_are_not_waited_for() {
    survives("head", &[6, 124], |_, peer| {
        for letter in "HTTP/1.1 200 -\r\nContent-Type: application/json\r\n\r\n".bytes().cycle() {
            thread::sleep(Duration::from_millis(100));
            if peer.stream.write_all(&[letter]).is_err() {
                break;
            }
        }
        false
    });
    survives("body", &[6, 124], |_, peer| {
        peer.write("HTTP/1.1 200 -\r\nContent-Type: application/json\r\n\r\n");
        while peer.stream.write_all(b" ").is_ok() {
            thread::sleep(Duration::from_millis(100));
        }
        false
    });
}

#[test]
fn a_page_for_people_is_no_server() {
    survives("HTML", &[6], |_, peer| {
        let body = "<html>\u{1b}[2J\u{7}Welcome</html>";
        peer.answer(
            "200 OK",
            "Content-Type: text/html\r\nAccess-Control-Allow-Origin: *\r\n",
            body,
        );
        true
    });
}

#[test]
fn a_server_that_hangs_up_is_not_judged() {
    survives("at once", &[5], |_, _| false);
    survives("in the middle", &[5, 6], |_, peer| {
        peer.write("HTTP/1.1 200 -\r\nContent-Length: 100\r\n\r\n{");
        false
    });
    // It dies of the second question, and of each that comes then.
    let count = Arc::new(AtomicUsize::new(0));
    survives("from then on", &[5], move |request, peer| {
        if 0 < count.fetch_add(1, Ordering::SeqCst) {
            return false;
        }
        peer.result(request, "{}");
        true
    });
}

#[test]
fn long_lists_and_strange_names_are_taken_as_they_are() {
    let server = Server::start(|request, peer| {
        let name = r"\u001b]0;x\u0007\u202e\u0000name\n\tPASS";
        // All of it is read: it is shorter than what an answer may be.
        let list = format!("\"{name}\",").repeat(1000);
        let result = format!(
            r#"{{"supportedVersions":[{list}"2026-07-28"],"capabilities":{{}},"ttlMs":-1,
                "cacheScope":"{name}","tools":[{list}1],"nextCursor":"{name}","resources":[{list}1],
                "serverInfo":{{"name":"{name}","version":"{name}"}},"protocolVersion":"{name}"}}"#
        );
        peer.result(request, &result);
        true
    });
    let outcome = examine(&server.url(), &[1]);
    // No line is longer than a person reads.
    let longest = outcome.out.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(longest < 2000, "{longest}");
    assert!(outcome.out.lines().all(|line| line.split('\t').count() == 6), "{}", outcome.out);
}

#[test]
fn nobody_is_led_elsewhere() {
    let inside = TcpListener::bind("127.0.0.1:0").unwrap();
    inside.set_nonblocking(true).unwrap();
    let address = inside.local_addr().unwrap();
    for status in ["301 -", "302 -", "307 -", "308 -"] {
        let to = format!("Location: http://{address}/latest/meta-data\r\n");
        let fields = format!(
            "{to}WWW-Authenticate: Bearer resource_metadata=\"http://{address}/metadata\"\r\n\
             Link: <http://{address}/catalog>; rel=\"ai-catalog\"\r\n"
        );
        survives(status, &[6], move |_, peer| {
            peer.answer(status, &fields, "");
            true
        });
        assert!(inside.accept().is_err(), "{status}: it was followed");
    }
    // The address of the metadata of clouds is asked by nobody, whoever names it.
    survives("metadata", &[0, 1], |_, peer| {
        let metadata = "http://169.254.169.254/latest/meta-data";
        let fields = format!("WWW-Authenticate: Bearer resource_metadata=\"{metadata}\"\r\n");
        peer.answer("401 -", &fields, "");
        true
    });
}

/// Examines a shell script as a server; the program ends with one of these codes. Tells how often it was
/// started.
#[track_caller]
fn examine_script(script: &str, codes: &[i32]) -> usize {
    let scratch = Scratch::new();
    let starts = scratch.path("starts");
    let script = format!("echo >> '{}'\n{script}", starts.display());
    let file = scratch.path("server.sh");
    std::fs::File::create(&file).unwrap().write_all(script.as_bytes()).unwrap();
    let server = format!("exec:sh '{}' '{}'", file.display(), demo_path());
    let start = if codes.contains(&124) { "2s" } else { "10s" };
    let limits = ["-t", patience(codes), "--start-timeout", start, "--max-time", "20s"];
    let words = [&["doctor"], &limits[..], &[&server]].concat();
    let outcome = run(&mut scratch.mcpmini(words));
    assert!(outcome.took < PATIENCE, "{script}: {:?}", outcome.took);
    assert!(!outcome.err.contains("panicked"), "{}", outcome.err);
    let left = processes_with(&file.display().to_string());
    assert!(left.is_empty(), "{script}: {left:?} are left");
    assert!(codes.contains(&outcome.code), "{script}: {} {}", outcome.code, outcome.err);
    std::fs::read_to_string(&starts).unwrap().lines().count()
}

#[test]
fn processes_are_started_a_few_times_and_never_stay() {
    let check = |script: &str, codes: &[i32]| {
        let starts = examine_script(script, codes);
        assert!((1..=3).contains(&starts), "{script}: {starts} starts");
    };
    check("exit 0", &[4]);
    check("kill -9 $$", &[4]);
    check("read line; exit 1", &[4]);
    check("while :; do read line || exit; done", &[124]);
    check("trap '' TERM; sleep 60", &[124]);
    check("yes", &[124]);
    check("yes >&2", &[124]);
    check("tr '\\0' x < /dev/zero", &[4, 124]);
    check("yes '{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"id\":1}'", &[124]);
    // It dies at every question but the first.
    check("head -n 1 | \"$1\"", &[0, 1, 4]);
    check("\"$1\" --era legacy & sleep 60 & wait", &[124]);
    check("setsid sh -c 'sleep 60' & exec \"$1\"", &[0, 1]);
    // It answers when it has been asked in both eras.
    check("sleep 1; exec \"$1\"", &[0, 1]);
}
