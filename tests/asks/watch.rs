//! `mcpmini watch`.

use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::support::{HttpDemo, Scratch, closed_url, demo, finish, run, wait_until};
use super::{Way, check, every_way};

/// The methods and URIs of notifications, one a line.
fn notified(out: &str) -> Vec<String> {
    let line = |line: &str| {
        let notification: Value = serde_json::from_str(line).unwrap();
        let method = notification["method"].as_str().unwrap();
        let method = method.trim_start_matches("notifications/");
        match notification["params"]["uri"].as_str() {
            Some(uri) => format!("{method} {uri}"),
            None => method.to_owned(),
        }
    };
    out.lines().map(line).collect()
}

#[track_caller]
fn watch(way: &Way, words: &[&str], expected: &[&str]) -> String {
    let scratch = Scratch::new();
    let outcome = run(scratch.mcpmini(["watch", &way.server]).args(words));
    assert_eq!(outcome.code, 0, "{}: {words:?}: {}", way.name, outcome.err);
    assert_eq!(notified(&outcome.out), expected, "{}: {words:?}", way.name);
    outcome.err
}

#[test]
fn what_is_wanted_is_printed_as_often_as_it_is_wanted() {
    const TOOLS: &str = "tools/list_changed";
    const ONE: &str = "resources/updated a:1";
    const TWO: &str = "resources/updated b:2";
    for way in every_way(&["--tick", "30"]) {
        assert_eq!(watch(&way, &["--count", "2"], &[TOOLS, TOOLS]), "", "{}", way.name);
        assert_eq!(watch(&way, &["--count", "1", "--tools"], &[TOOLS]), "", "{}", way.name);
    }
    for way in every_way(&["--tick", "30"]) {
        let words = ["watch", &way.server, "--resources", "a:1", "b:2", "--count", "9"];
        let outcome = run(&mut Scratch::new().mcpmini(words));
        assert_eq!((outcome.code, &*outcome.err), (0, ""), "{}", way.name);
        // A server that is asked for one after the other may notify about one before the other.
        let seen = notified(&outcome.out);
        assert_eq!(seen.len(), 9, "{}", way.name);
        let of = |one: &str| seen.iter().filter(|other| *other == one).count();
        assert!(of(ONE) + of(TWO) == 9 && of(ONE) != 0 && of(TWO) != 0, "{}: {seen:?}", way.name);
    }
}

#[test]
fn what_the_server_does_not_notify_about_is_told() {
    for way in every_way(&["--tick", "30"]) {
        let err = watch(&way, &["--count", "1", "--tools", "--prompts"], &["tools/list_changed"]);
        let expected = "mcpmini: warning: the server does not notify about prompts\n";
        assert_eq!(err, expected, "{}", way.name);
        let scratch = Scratch::new();
        let outcome = run(&mut scratch.mcpmini(["watch", &way.server, "--prompts"]));
        check(&way, &outcome, 3, "");
        assert!(outcome.err.contains("does not notify about prompts"), "{}", outcome.err);
    }
}

#[test]
fn the_end_of_the_time_is_an_end_unless_a_number_is_wanted() {
    for way in every_way(&["--tick", "60000"]) {
        let scratch = Scratch::new();
        let words = ["watch", &way.server, "--max-time", "1500ms"];
        check(&way, &run(&mut scratch.mcpmini(words)), 0, "");
        check(&way, &run(scratch.mcpmini(words).args(["--count", "1"])), 124, "");
    }
}

#[test]
fn what_breaks_off_is_opened_again_and_told() {
    for way in every_way(&["--tick", "20", "--fault", "drop"]) {
        if way.name == "SSE" {
            continue; // the demo server does not break that one off
        }
        let err = watch(&way, &["--count", "5", "--tools"], &["tools/list_changed"; 5]);
        let told = err.lines().filter(|line| line.contains("; trying again in ")).count();
        assert_eq!((told, err.lines().count()), (2, 2), "{}: {err}", way.name);
    }
}

#[test]
fn what_the_server_ends_in_order_is_not_opened_again() {
    let flags = ["--tick", "20", "--fault", "finish"];
    for way in every_way(&flags).into_iter().filter(|way| way.modern) {
        let scratch = Scratch::new();
        let outcome = run(&mut scratch.mcpmini(["watch", &way.server]));
        assert_eq!((outcome.code, notified(&outcome.out).len()), (5, 2), "{}", way.name);
        assert!(outcome.err.contains("the server has ended the subscription"), "{}", outcome.err);
    }
}

#[test]
fn where_there_is_nothing_to_watch_it_says_so() {
    for way in every_way(&[]) {
        let expected = match way.name {
            "HTTP, legacy" => "HTTP 405: the server has no stream of notifications",
            "stdio, modern" | "HTTP, modern" => "the server notifies about nothing",
            // On the one channel of the others something might come one day.
            _ => continue,
        };
        let scratch = Scratch::new();
        let outcome = run(&mut scratch.mcpmini(["watch", &way.server]));
        check(&way, &outcome, 3, "");
        assert!(outcome.err.contains(expected), "{}: {}", way.name, outcome.err);
    }
}

#[test]
fn what_was_never_there_is_not_tried_again() {
    let scratch = Scratch::new();
    let begin = Instant::now();
    for server in [closed_url(), demo("--fault exit"), "exec:/no/such/program".to_owned()] {
        let outcome = run(&mut scratch.mcpmini(["watch", &server]));
        assert_eq!((outcome.code, outcome.out.as_str()), (4, ""), "{}", outcome.err);
    }
    assert!(begin.elapsed() < Duration::from_secs(10));
    let outcome = run(&mut scratch.mcpmini(["watch", &demo(""), "--out", "file"]));
    assert_eq!(outcome.code, 2, "{}", outcome.err);
}

#[test]
fn a_watch_is_taken_back_when_it_ends() {
    for (signal, code) in [(Some(Signal::INT), 130), (Some(Signal::TERM), 143), (None, 0)] {
        let scratch = Scratch::new();
        let log = scratch.write("log", "");
        let flags = ["--tick", "100", "--log", &log];
        for way in every_way(&flags).into_iter().filter(|way| way.modern) {
            scratch.write("log", "");
            let mut command = scratch.mcpmini(["watch", &way.server]);
            if signal.is_none() {
                command.args(["--count", "1"]);
            }
            let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let asked = || scratch.lines("log").join("\n").contains("subscriptions/listen");
            wait_until("the subscription", asked);
            if let Some(signal) = signal {
                kill_process(Pid::from_child(&child), signal).unwrap();
            }
            let outcome = finish(child, Instant::now());
            assert_eq!(outcome.code, code, "{}: {}", way.name, outcome.err);
            // Over HTTP a hang-up says it, which the server notices with its next notification.
            let http = way.name.starts_with("HTTP");
            let word = if http { "HANGUP" } else { "notifications/cancelled" };
            wait_until(word, || scratch.lines("log").join("\n").contains(word));
            let notices = scratch.lines("log").join("\n").contains("notifications/cancelled");
            assert_eq!(notices, !http, "{}", way.name);
        }
    }
}

#[test]
fn a_reader_that_has_seen_enough_ends_the_watch_quietly() {
    let scratch = Scratch::new();
    let script = r#"{ "$mcpmini" watch "$demo"; echo $? >code; } | head -1 | wc -l"#;
    let server = HttpDemo::start(&["--tick", "20"]);
    for server in [demo("--tick 20"), server.url.clone()] {
        let outcome = run(scratch.shell(script).env("demo", server));
        let what = (outcome.out.trim(), outcome.err.as_str(), scratch.lines("code"));
        assert_eq!(what, ("1", "", vec!["141".to_owned()]));
    }
}
