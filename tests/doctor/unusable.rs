//! Servers that cannot be examined, or not to the end: what could be told is printed, and the exit
//! code is no success.

use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::server::{Kind, Site};
use crate::support::{Outcome, Scratch, answer, closed_url, demo_path, http_server, run};

/// The check, the verdict, the evidence, and what is to do.
type Line = [String; 4];

fn examine(words: &[&str]) -> (Vec<Line>, Outcome) {
    let outcome = run(&mut Scratch::new().mcpmini(["doctor", "--json"].iter().chain(words)));
    let lines = outcome.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let text = |line: &Value, name: &str| line[name].as_str().unwrap().to_owned();
    let lines =
        lines.map(|line| ["check", "verdict", "evidence", "fix"].map(|name| text(&line, name)));
    (lines.collect(), outcome)
}

fn find<'l>(lines: &'l [Line], id: &str) -> &'l Line {
    lines.iter().find(|line| line[0] == id).unwrap_or_else(|| panic!("{id}: {lines:#?}"))
}

/// Whether every check has a line, exactly these say something else than that it cannot be told or
/// does not apply, and what cannot be told says what to do.
#[track_caller]
fn check(words: &[&str], code: i32, error: &str, told: &[&str]) {
    let (lines, outcome) = examine(words);
    assert_eq!(outcome.code, code, "{words:?}: {}", outcome.err);
    assert!(outcome.err.contains(error), "{words:?}: {}", outcome.err);
    let stdio = lines.iter().filter(|line| line[0].starts_with("stdio-")).count();
    assert!([0, lines.len()].contains(&stdio) && 15 < lines.len(), "{words:?}: {lines:#?}");
    let others = lines.iter().filter(|line| !["unknown", "skip"].contains(&&*line[1]));
    let others: Vec<String> = others.map(|line| format!("{} {}", line[0], line[1])).collect();
    assert_eq!(others, told, "{words:?}: {lines:#?}");
    for [id, verdict, _, fix] in &lines {
        let is_advice = fix.ends_with('.') && 20 < fix.len();
        assert!(verdict != "unknown" || is_advice, "{words:?}, {id}: {fix}");
    }
    // Neither a baseline nor a threshold makes a success of it.
    let quiet = examine(&[&["--fail-on", "never"], words].concat()).1;
    assert_eq!(quiet.code, code, "{words:?}: {}", quiet.err);
}

/// A server that answers everything so.
fn always(status: &'static str, body: &'static str) -> String {
    http_server(move |_| answer(status, body))
}

#[test]
fn a_url_without_a_server_that_can_be_used_is_no_success() {
    let here = ["bind pass", "cookie pass"];
    let spoken: &[&str] = &["speech fail", "bind pass", "cookie pass"];
    check(&[&closed_url()], 4, "connection refused", &[]);
    check(
        &["http://no-such-host.invalid/mcp"],
        4,
        "cannot find no-such-host.invalid",
        &["tls fail"],
    );
    let failed = [spoken, &["leak pass"]].concat();
    check(&[&always("503 Busy", "")], 4, "HTTP 503", &[&here[..], &["leak pass"]].concat());
    check(&[&always("429 Busy", "")], 4, "HTTP 429", &[&here[..], &["leak pass"]].concat());
    check(&[&always("502 Bad", "")], 4, "HTTP 502", &failed);
    check(&[&always("404 None", "")], 6, "no MCP server: HTTP 404", &failed);
    check(&[&always("500 Oops", "")], 6, "no MCP server: HTTP 500", &failed);
    check(&[&always("200 OK", "{\"hello\":1}")], 6, "no MCP server: HTTP 200", spoken);
    check(&[&always("200 OK", "<html></html>")], 6, "no MCP server: HTTP 200", spoken);
    let silent = http_server(|_| {
        thread::sleep(Duration::from_secs(30));
        String::new()
    });
    let words = ["-t", "50ms", &silent];
    check(&words, 124, "did not answer within 50ms", &["bind pass"]);
}

#[test]
fn a_server_that_takes_nobody_says_so() {
    let site = Site::start(Kind::Modern, "speaks a revision to come");
    let (lines, outcome) = examine(&[&site.url]);
    assert_eq!(outcome.code, 6, "{}", outcome.err);
    let expected = "no common revision: the server speaks 2099-01-01";
    assert!(outcome.err.contains(expected), "{}", outcome.err);
    assert_eq!(find(&lines, "speech")[2], expected);

    // It is there, but by another name.
    let site = Site::start(Kind::Legacy, "knows itself by name only");
    let (lines, outcome) = examine(&[&site.url]);
    assert_eq!(outcome.code, 7, "{}", outcome.err);
    assert!(outcome.err.contains("http://localhost:"), "{}", outcome.err);
    assert_eq!(find(&lines, "host-good")[1], "warn");
    let [_, verdict, _, fix] = find(&lines, "origin-none");
    assert_eq!(verdict, "unknown", "it is not for want of an Origin");
    assert!(fix.contains("host-good"), "{fix}");
    let by_name = site.url.replace("127.0.0.1", "localhost");
    assert_eq!(examine(&[&by_name]).1.code, 0);
}

#[test]
fn a_command_without_a_server_that_can_be_used_is_no_success() {
    let check = |server: &str, code, error: &str, told: &[&str]| {
        let server = format!("exec:{}", server.replace("DEMO", &format!("'{}'", demo_path())));
        // Only where there is no answer, it is waited for in vain.
        let start = if code == 124 { "2s" } else { "20s" };
        check(&["--start-timeout", start, "-t", "1s", &server], code, error, told);
    };
    let command = "stdio-command pass";
    check("/no/such/program", 4, "no such file", &[command]);
    check("DEMO --fault exit", 4, "exit status 3; its last words: fatal: the database", &[command]);
    check("DEMO --fault silent", 124, "did not answer within 2s", &[command]);
    check("yes", 124, "did not answer within 2s", &["stdio-stdout fail", command]);
    let refused = "no MCP server: initialize → error -32602: not today";
    let (lines, outcome) = examine(&[
        "--protocol",
        "2025-11-25",
        &format!("exec:'{}' --fault no-session", demo_path()),
    ]);
    assert_eq!(outcome.code, 6, "{}", outcome.err);
    assert!(outcome.err.contains(refused), "{}", outcome.err);
    assert_eq!(find(&lines, "stdio-era")[1], "fail");
}

#[test]
fn what_was_found_before_the_time_ran_out_is_printed() {
    // It answers until it is asked for its tools.
    let script = format!("'{}' --fault dawdle", demo_path());
    let server = format!("exec:{script}");
    let words = ["-t", "30s", "--max-time", "4s", &server];
    let (lines, outcome) = examine(&words);
    assert_eq!(outcome.code, 124, "{}", outcome.err);
    assert!(outcome.took < Duration::from_secs(10), "{:?}", outcome.took);
    let verdict = |id: &str| find(&lines, id)[1].clone();
    for id in ["stdio-era", "stdio-ping", "stdio-unknown-method", "stdio-command"] {
        assert_eq!(verdict(id), "pass", "{id}: {lines:#?}");
    }
    let not_reached: Vec<&Line> = lines.iter().filter(|line| line[1] == "unknown").collect();
    for [id, _, evidence, fix] in &not_reached {
        assert_eq!(evidence, "not reached: the time ran out", "{id}");
        assert!(fix.contains("--max-time"), "{id}: {fix}");
    }
    let ids: Vec<&str> = not_reached.iter().map(|line| &*line[0]).collect();
    for id in ["stdio-stdout", "stdio-version", "stdio-eof", "stdio-sigterm"] {
        assert!(ids.contains(&id), "{id}: {ids:?}");
    }
    // A baseline of half an examination would make the other half new findings.
    let scratch = Scratch::new();
    let file = scratch.path("known").display().to_string();
    let written = examine(&[&["--write-baseline", &file], &words[..]].concat()).1;
    assert_eq!((written.code, scratch.path("known").exists()), (124, false), "{}", written.err);
}

#[test]
fn sessions_are_ended_also_when_the_time_ran_out() {
    let site = Site::start(Kind::Legacy, "silent to who takes JSON alone");
    let (lines, outcome) = examine(&["-t", "30s", "--max-time", "4s", &site.url]);
    assert_eq!(outcome.code, 124, "{}", outcome.err);
    assert_eq!(site.open_sessions(), 0);
    assert_eq!(find(&lines, "speech")[1], "pass");
    assert_eq!(find(&lines, "origin-bad")[1], "pass");
    // What was heard before can be judged after.
    assert_eq!(find(&lines, "cache-post")[1], "pass");
    let [_, verdict, evidence, _] = find(&lines, "batch");
    assert_eq!((&**verdict, &**evidence), ("unknown", "not reached: the time ran out"));
    // No request went out after the end.
    let last = site.seen().into_iter().rfind(|seen| seen != "DELETE ");
    assert_eq!(last.as_deref(), Some("POST ping"), "{:?}", site.seen());
}
