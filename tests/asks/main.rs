//! What servers ask in the middle of a call, and what they say beside the answer: every binding,
//! both eras, and a person at a terminal.

#![allow(clippy::print_stdout, reason = "what is skipped is told")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod answers;
mod cancel;
mod person;
mod says;
mod shared;
#[path = "../support/mod.rs"]
mod support;
#[path = "../support/terminal.rs"]
mod terminal;
mod watch;

use support::{HttpDemo, Outcome, demo};

/// A way to reach the demo server.
struct Way {
    /// For messages.
    name: &'static str,
    /// As SERVER.
    server: String,
    modern: bool,
    _http: Option<HttpDemo>,
}

/// Every way to reach the demo server.
fn every_way(flags: &[&str]) -> Vec<Way> {
    let way = |name, modern, http: Option<HttpDemo>, server: String| {
        let server = http.as_ref().map_or(server, |http| http.url.clone());
        Way { name, server, modern, _http: http }
    };
    let stdio = |era: &str| demo(&format!("--era {era} {}", flags.join(" ")));
    let http = |era: &str| Some(HttpDemo::start(&[&["--era", era][..], flags].concat()));
    let sse = HttpDemo::start_sse(&[&["--era", "legacy"][..], flags].concat());
    vec![
        way("stdio, legacy", false, None, stdio("legacy")),
        way("stdio, modern", true, None, stdio("modern")),
        way("HTTP, legacy", false, http("legacy"), String::new()),
        way("HTTP, modern", true, http("modern"), String::new()),
        way("SSE", false, Some(sse), String::new()),
    ]
}

#[track_caller]
fn check(way: &Way, outcome: &Outcome, code: i32, out: &str) {
    let what = (outcome.code, outcome.out.as_str());
    assert_eq!(what, (code, out), "{}: stderr: {}", way.name, outcome.err);
}
