//! What a script sees of it: lines, exit codes, time.

use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::server::{Kind, Site};
use crate::support::{Outcome, Scratch, demo, finish, processes_with, run, wait_until};

fn doctor(words: &[&str]) -> Outcome {
    run(&mut Scratch::new().mcpmini(["doctor"].iter().chain(words)))
}

#[test]
fn a_line_has_verdict_check_title_evidence_and_clause() {
    let site = Site::start(Kind::Legacy, "takes every origin");
    let outcome = doctor(&["--only", "origin-bad", "--only", "ping", &site.url]);
    let lines: Vec<Vec<&str>> =
        outcome.out.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(lines.len(), 2, "{}", outcome.out);
    assert_eq!(lines[0][..2], ["FAIL", "origin-bad"]);
    assert_eq!(lines[0][3], "Origin: https://evil.example → taken: HTTP 200 with a result");
    assert!(lines[0][4].starts_with("MCP 2025-11-25, Transports, Security"), "{lines:?}");
    assert!(lines[0][5].starts_with("Compare Origin"), "{lines:?}");
    assert_eq!(lines[1][..2], ["PASS", "ping"]);
    assert_eq!(lines[1][5], "", "nothing is to do");
    assert!(lines.iter().all(|line| line.len() == 6), "{lines:?}");
}

#[test]
fn a_json_line_has_the_requests_too() {
    let site = Site::start(Kind::Legacy, "");
    let outcome = doctor(&["-j", "--only", "session-bogus", &site.url]);
    let line: Value = serde_json::from_str(outcome.out.trim_end()).unwrap();
    let names: Vec<&String> = line.as_object().unwrap().keys().collect();
    let expected = ["check", "verdict", "title", "evidence", "clause", "fix", "ms", "requests"];
    assert_eq!(names, expected);
    let request = line["requests"][0].as_str().unwrap();
    assert!(request.starts_with("curl -sS -i -X POST "), "{request}");
    assert!(request.contains("mcp-session-id: $SESSION"), "{request}");
    assert!(request.ends_with(&format!(" {}", site.url)), "{request}");
}

#[test]
fn a_request_can_be_tried_by_hand() {
    let site = Site::start(Kind::Legacy, "");
    let outcome = doctor(&["-j", "--only", "origin-bad", &site.url]);
    let line: Value = serde_json::from_str(outcome.out.trim_end()).unwrap();
    // The requests of the opening stand in the first line that is printed.
    let request = line["requests"].as_array().unwrap().last().unwrap().as_str().unwrap();
    let scratch = Scratch::new();
    if !run(&mut scratch.shell("command -v curl")).out.contains("curl") {
        println!("skipped: there is no curl");
        return;
    }
    let tried = run(&mut scratch.shell(request));
    assert!(tried.out.starts_with("HTTP/1.1 403"), "{request}\n{}{}", tried.out, tried.err);
}

#[test]
fn the_exit_code_is_as_asked_for() {
    let check = |fault, words: &[&str], expected| {
        let site = Site::start(Kind::Legacy, fault);
        let words: Vec<&str> = words.iter().copied().chain([&*site.url]).collect();
        let outcome = doctor(&words);
        assert_eq!(outcome.code, expected, "{fault} {words:?}: {}{}", outcome.out, outcome.err);
        assert_eq!(outcome.err, "", "{words:?}");
    };
    let origin: &[&str] = &["--only", "origin-bad"];
    let of = |level| [origin, &["--fail-on", level]].concat();
    check("takes every origin", origin, 1);
    check("takes every origin", &of("never"), 0);
    check("", origin, 0);
    check("", &of("unknown"), 0);
    check("refuses origins by 400", origin, 0);
    check("refuses origins by 400", &of("fail"), 0);
    check("refuses origins by 400", &of("warn"), 1);
    check("refuses origins by 400", &of("unknown"), 1);
    let guard: &[&str] = &["--only", "auth-none"];
    check("", guard, 0);
    check("", &[guard, &["--require-auth"]].concat(), 1);
}

#[test]
fn what_cannot_be_told_fails_only_when_asked_for() {
    let site = Site::start(Kind::Guarded, "");
    let check = |words: &[&str], expected| {
        let words: Vec<&str> = ["--only", "ping", &site.url].iter().chain(words).copied().collect();
        let outcome = doctor(&words);
        assert!(outcome.out.starts_with("UNKNOWN\tping\t"), "{}", outcome.out);
        assert_eq!(outcome.code, expected, "{words:?}");
    };
    check(&[], 0);
    check(&["--fail-on", "warn"], 0);
    check(&["--fail-on", "unknown"], 1);
}

#[test]
fn mistakes_on_the_command_line_are_told() {
    let check = |words: &[&str], code, expected: &str| {
        let outcome = doctor(words);
        assert_eq!((outcome.code, &*outcome.out), (code, ""), "{}", outcome.err);
        assert!(outcome.err.contains(expected), "{}", outcome.err);
    };
    check(&[], 2, "doctor needs SERVER");
    check(&["--fail-on", "worst", "s"], 2, "\"worst\" is none of fail, warn, unknown, never");
    check(&["--only", "orign-bad", "s"], 2, "did you mean origin-bad?");
    check(&["--sticky", "0", "s"], 2, "--sticky");
    check(&["--sticky", "101", "s"], 2, "101 is not between 1 and 100");
    check(&["no-such-server"], 9, "no-such-server");
    check(&["--only", "origin-*", &demo("")], 2, "no such check is for a server that is reached");
}

#[test]
fn stickiness_is_tried_as_often_as_asked_for() {
    let site = Site::start(Kind::Legacy, "");
    let outcome = doctor(&["--only", "session-sticky", "--sticky", "7", &site.url]);
    assert!(outcome.out.contains("known on 7 fresh connections"), "{}", outcome.out);
}

#[test]
fn the_time_is_over_for_all_together() {
    let url = crate::support::http_server(|_| {
        std::thread::sleep(Duration::from_secs(30));
        String::new()
    });
    let outcome = doctor(&["--max-time", "1s", &url]);
    assert_eq!(outcome.code, 124, "{}", outcome.err);
    assert!(outcome.took < Duration::from_secs(10), "{:?}", outcome.took);
}

#[test]
fn the_era_can_be_chosen() {
    let check = |words: &[&str], server: &str, id: &str, expected: &str| {
        let outcome = doctor(&[&["--only", id, "-t", "2s"], words, &[server]].concat());
        let fields: Vec<&str> = outcome.out.trim_end().split('\t').collect();
        let found = format!("{} {}", fields[0], fields[3]);
        assert!(found.starts_with(expected), "{words:?} {server}: {}{}", outcome.out, outcome.err);
    };
    let demo = demo("");
    check(&[], &demo, "stdio-era", "PASS 2026-07-28");
    check(&["--protocol", "2025-11-25"], &demo, "stdio-era", "PASS a session in 2025-11-25");
    check(&["--protocol", "2025-06-18"], &demo, "stdio-era", "PASS a session in 2025-06-18");
    let (legacy, modern) = (Site::start(Kind::Legacy, ""), Site::start(Kind::Modern, ""));
    check(&["--protocol", "2025-11-25"], &legacy.url, "era", "PASS a session in 2025-11-25");
    check(&["--protocol", "2025-11-25"], &modern.url, "era", "UNKNOWN neither");
    check(&["--protocol", "2026-07-28"], &modern.url, "era", "UNKNOWN it was not asked");
    let sse = Site::start(Kind::Sse, "");
    check(&["--transport", "sse"], &sse.url, "speech", "WARN it speaks only HTTP+SSE");
    assert!(sse.seen().iter().all(|seen| !seen.starts_with("POST")), "{:?}", sse.seen());
}

#[test]
fn a_server_elsewhere_is_judged_by_what_matters_there() {
    // By its name it is on another machine; only this run knows the address.
    let check = |fault, id: &str, expected: &str| {
        let site = Site::start(Kind::Legacy, fault);
        let port = site.url.rsplit(':').next().unwrap().strip_suffix("/mcp").unwrap();
        let resolve = format!("mcp.test:{port}:127.0.0.1");
        let url = format!("http://mcp.test:{port}/mcp");
        let outcome = doctor(&["--only", id, "--resolve", &resolve, &url]);
        assert!(outcome.out.starts_with(expected), "{fault} {id}: {}{}", outcome.out, outcome.err);
    };
    check("", "tls", "FAIL");
    check("", "host-bad", "SKIP");
    check("", "bind", "SKIP");
    check("", "cors-reflect", "PASS");
    check("takes every origin", "origin-bad", "FAIL");
    // Whoever looks at tokens alone may let every page in.
    check("lets every origin in", "cors-preflight", "WARN");
    check("reflects the origin", "cors-reflect", "WARN");
    check("lets every origin in with credentials", "cors-star-cred", "FAIL");
}

#[test]
fn what_was_not_reached_in_time_is_unknown() {
    let site = Site::start(Kind::Legacy, "silent to who takes JSON alone");
    let words = ["--max-time", "2s", "--only", "accept", "--only", "batch", "--only", "ping"];
    let words: Vec<&str> = words.into_iter().chain(["-t", "30s", &site.url]).collect();
    let outcome = doctor(&words);
    let verdicts: Vec<&str> =
        outcome.out.lines().filter_map(|line| line.split('\t').next()).collect();
    assert_eq!(verdicts, ["UNKNOWN"; 3], "{}", outcome.out);
    assert_eq!(outcome.code, 124, "{}", outcome.err);
    assert!(outcome.took < Duration::from_secs(10), "{:?}", outcome.took);
}

#[test]
fn a_signal_ends_it_at_once_and_leaves_nothing() {
    let scratch = Scratch::new();
    let log = scratch.path("log");
    let server = demo(&format!("--fault silent --log {}", log.display()));
    // As words of its own it is on the command line of the server alone.
    let mark = format!("--log\0{}", log.display());
    let mut command = scratch.mcpmini(["doctor", "-t", "30s", "--start-timeout", "30s", &server]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("the server runs", || !processes_with(&mark).is_empty());
    let begin = Instant::now();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let outcome = finish(child, begin);
    assert_eq!((outcome.code, &*outcome.err), (130, ""));
    assert!(outcome.took < Duration::from_secs(10), "{:?}", outcome.took);
    wait_until("nothing is left", || processes_with(&mark).is_empty());
}

#[test]
fn a_signal_leaves_no_session_open() {
    let site = Site::start(Kind::Legacy, "silent to who takes JSON alone");
    let scratch = Scratch::new();
    let mut command = scratch.mcpmini(["doctor", "-t", "30s", &site.url]);
    let begin = Instant::now();
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("the silence", || site.waits());
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let outcome = finish(child, begin);
    assert_eq!((outcome.code, &*outcome.err), (130, ""), "{}", outcome.out);
    assert_eq!(site.open_sessions(), 0);
}

#[test]
fn a_server_cannot_steer_the_terminal() {
    let body = r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"\u001b[2J\nPASS\tall"}}"#;
    let url = crate::support::http_server(move |_| crate::support::answer("400 Bad Request", body));
    let outcome = doctor(&["--only", "speech", "-t", "2s", &url]);
    assert_eq!(outcome.out.lines().count(), 1, "{}", outcome.out);
    assert!(!outcome.out.contains('\u{1b}'), "{:?}", outcome.out);
}
