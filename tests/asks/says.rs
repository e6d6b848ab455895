//! Progress and log messages.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::every_way;
use super::support::{HttpDemo, Scratch, run};
use super::terminal::Terminal;

#[test]
fn progress_is_json_where_that_is_wanted() {
    for way in every_way(&[]) {
        for how in ["json", "jsonl"] {
            let scratch = Scratch::new();
            let words = ["call", &way.server, "slow", "steps=2", "pause_ms=1", "--progress", how];
            let outcome = run(&mut scratch.mcpmini(words));
            assert_eq!((outcome.code, outcome.out.as_str()), (0, "2 steps done\n"), "{}", way.name);
            let expected = "{\"progress\":1,\"total\":2,\"message\":\"step 1\"}\n\
                            {\"progress\":2,\"total\":2,\"message\":\"step 2\"}\n";
            assert_eq!(outcome.err, expected, "{}", way.name);
        }
    }
}

/// A call that takes longer than that, the start of its server included, gets a bar.
const QUIET: Duration = Duration::from_millis(500);

/// Calls the slow tool at a terminal and returns what it shows, and how long it took.
fn bar(words: &[&str], environment: &[(&str, &str)]) -> Option<(String, Duration)> {
    let terminal = Terminal::open()?;
    let scratch = Scratch::new();
    let server = super::support::demo("");
    let mut command = scratch.mcpmini(["call", &server, "slow"].iter().chain(words));
    command.envs(environment.iter().copied());
    let begin = Instant::now();
    let child = terminal.attach(&mut command).spawn().unwrap();
    // It would hold the terminal open.
    drop(command);
    let output = child.wait_with_output().unwrap();
    let took = begin.elapsed();
    assert!(output.status.success(), "{}", terminal.shown());
    assert!(String::from_utf8(output.stdout).unwrap().ends_with(" steps done\n"));
    Some((terminal.close(), took))
}

#[test]
fn a_bar_is_shown_on_a_terminal_and_taken_away() {
    let Some((shown, took)) = bar(&["steps=4", "pause_ms=300"], &[]) else { return };
    assert!(shown.contains("] 100%  4/4  step 4\u{1b}[K"), "{shown:?}");
    assert!(shown.contains("#-"), "{shown:?}");
    // What is left of it is an empty line.
    assert!(shown.ends_with("step 4\u{1b}[K\r\u{1b}[K"), "{shown:?}");
    // The first step was over before a bar was worth it, unless the start took long.
    let after_the_first = Duration::from_millis(900);
    assert!(!shown.contains("step 1\u{1b}") || QUIET + after_the_first < took, "{shown:?}");
}

#[test]
fn no_bar_is_shown_where_it_would_only_disturb() {
    let slow = ["steps=4", "pause_ms=300"];
    let check = |words: &[&str], environment: &[(&str, &str)]| {
        let shown = bar(words, environment).map(|(shown, _)| shown);
        assert_eq!(shown.as_deref().unwrap_or_default(), "", "{words:?}");
    };
    let Some((shown, took)) = bar(&["steps=3", "pause_ms=1"], &[]) else { return };
    assert!(shown.is_empty() || QUIET < took, "{shown:?} after {took:?}");
    check(&[&slow[..], &["--progress", "none"]].concat(), &[]);
    check(&[&slow[..], &["--quiet"]].concat(), &[]);
    check(&slow, &[("TERM", "dumb")]);
}

#[test]
fn log_messages_are_shown_from_the_wanted_level_on() {
    for way in every_way(&[]) {
        let scratch = Scratch::new();
        let levels =
            |words: &[&str]| run(scratch.mcpmini(["call", &way.server, "levels"]).args(words));
        let outcome = levels(&["--log-level", "alert"]);
        assert_eq!((outcome.code, outcome.out.as_str()), (0, "2 messages\n"), "{}", way.name);
        let lines: Vec<_> = outcome.err.lines().collect();
        assert_eq!(lines.len(), 2, "{}: {lines:?}", way.name);
        for (line, level) in lines.iter().zip(["alert", "emergency"]) {
            assert!(line.starts_with("mcpmini: "), "{line}");
            assert!(line.ends_with(&format!(": {level} demo: this is {level}")), "{line}");
        }
        let outcome = levels(&["--log-level", "emergency", "--json-errors"]);
        let line: Value = serde_json::from_str(&outcome.err).unwrap();
        assert_eq!(line["log"]["level"], "emergency", "{}", way.name);
        assert_eq!(line["log"]["data"], "this is emergency", "{}", way.name);
        // Unasked, a modern server must not send any, and what others send is not shown.
        let outcome = levels(&[]);
        assert_eq!(outcome.err, "", "{}", way.name);
        assert_eq!(outcome.out == "nobody listens\n", way.modern, "{}", outcome.out);
    }
}

#[test]
fn each_era_has_its_way_to_ask_for_log_messages() {
    let scratch = Scratch::new();
    let log = scratch.write("log", "");
    for way in every_way(&["--log", &log]) {
        scratch.write("log", "");
        let words = ["call", &way.server, "echo", "text=a", "--log-level", "debug"];
        assert_eq!(run(&mut scratch.mcpmini(words)).out, "a\n", "{}", way.name);
        let lines = scratch.lines("log").join("\n");
        assert_eq!(lines.contains("logging/setLevel"), !way.modern, "{}", way.name);
        assert_eq!(lines.contains("/logLevel\":\"debug\""), way.modern, "{}", way.name);
    }
}

#[test]
fn who_wants_the_log_opens_the_stream_that_belongs_to_no_request() {
    let server = HttpDemo::start(&["--era", "legacy", "--tick", "10"]);
    let scratch = Scratch::new();
    let hears_changes = |words: &[&str]| {
        let call = ["call", &server.url, "slow", "steps=10", "pause_ms=100", "--notifications"];
        run(scratch.mcpmini(call).args(words)).err.contains("list_changed")
    };
    assert!(!hears_changes(&[]));
    assert!(hears_changes(&["--log-level", "debug"]));
}
