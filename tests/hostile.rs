//! Servers that flood, lie and do not listen, and readers that do not read: a call ends all the
//! same, in time, and says nothing that is not so.
//!
//! The servers are shell scripts. They are told by `--protocol` which revision is spoken, so that
//! the first line they get is the call, with the id 1.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::time::Duration;

use support::{Outcome, Scratch, run};

/// No limit in these tests is longer than a second; the rest is for a loaded machine.
const SOON: Duration = Duration::from_secs(20);

/// The answer to the first request.
const ANSWER: &str =
    r#"echo '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"ok"}]}}'"#;

/// Calls a tool of a server that is a shell script.
#[track_caller]
fn call(script: &str, words: &[&str]) -> Outcome {
    let scratch = Scratch::new();
    let server = format!("exec:sh {}", scratch.write("server.sh", script));
    let fixed = ["call", &server, "tool", "--protocol", "2026-07-28"];
    let outcome = run(&mut scratch.mcpmini(fixed.iter().chain(words)));
    assert!(outcome.took < SOON, "{:?}", outcome.took);
    outcome
}

#[track_caller]
fn check(outcome: &Outcome, code: i32, out: &str) {
    assert_eq!((outcome.code, outcome.out.as_str()), (code, out), "stderr: {}", outcome.err);
}

// --------------------------------------------------------------------------------- floods

#[test]
fn a_server_that_never_stops_talking_is_ended() {
    for line in ["garbage", "", r#"{"jsonrpc":"2.0","method":"notifications/message"}"#] {
        // Several, because together they write faster than anyone reads.
        let flood = format!("yes '{line}' & yes '{line}' & exec yes '{line}'");
        let outcome = call(&format!("read -r _; {ANSWER}; {flood}"), &["{}"]);
        check(&outcome, 0, "ok\n");
        let outcome = call(&format!("read -r _; {flood}"), &["{}", "-T", "1s"]);
        check(&outcome, 124, "");
    }
}

#[test]
fn a_server_that_floods_its_standard_error_is_heard() {
    let flood = "yes noise >&2 & yes noise >&2 & yes noise >&2 &";
    check(&call(&format!("{flood} read -r _; {ANSWER}"), &["{}"]), 0, "ok\n");
}

#[test]
fn a_server_that_does_not_read_is_ended() {
    // More than a pipe holds.
    let big = format!("x={}", "y".repeat(100_000));
    for limit in ["-t", "-T"] {
        check(&call("exec sleep 100", &[&big, "--no-schema", limit, "500ms"]), 124, "");
    }
}
