//! What an error tells besides its exit code: whether another attempt can help, and what to do next.
//!
//! Most rows are what somebody stumbled over who had read nothing but the README.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::time::Duration;

use serde_json::Value;
use support::{HttpDemo, Outcome, Scratch, answer, closed_url, demo, demo_path, http_server, run};

/// Runs a command in a directory of its own.
fn mcpmini(words: &[&str]) -> Outcome {
    run(&mut Scratch::new().mcpmini(words))
}

/// The error that a command ends with, as programs read it.
#[track_caller]
fn error_of(words: &[&str], code: i32) -> Value {
    let outcome = mcpmini(&[words, &["--json-errors"]].concat());
    assert_eq!((outcome.code, &*outcome.out), (code, ""), "{words:?}: {}", outcome.err);
    let last = outcome.err.lines().last().unwrap_or_default();
    let line: Value = serde_json::from_str(last).unwrap_or_else(|_| panic!("{words:?}: {last}"));
    assert_eq!(line["error"]["exit"], code, "{words:?}: {last}");
    line["error"].clone()
}

/// A command that fails, and what to do about it.
#[track_caller]
fn check(words: &[&str], code: i32, hint: &str) {
    let error = error_of(words, code);
    let told = error["hint"].as_str().unwrap_or_default();
    assert!(told.contains(hint), "{words:?} lacks {hint:?}: {error}");
}

/// What another attempt could change is told by its cause, not by the exit code alone.
#[test]
fn whether_to_try_again_is_told_by_the_cause() {
    let check = |server: &str, code: i32, retryable: bool| {
        let error = error_of(&["call", server, "echo", "{}"], code);
        let told = (&error["sent"], &error["retryable"]);
        assert_eq!(told, (&"no".into(), &retryable.into()), "{server}: {error}");
    };
    check(&closed_url(), 4, true);
    check("http://no-such-host.invalid/mcp", 4, true);
    check(&http_server(|_| answer("503 Service Unavailable", "")), 4, true);
    check(&demo("--fault exit"), 4, true);
    // Somebody has to do something first.
    check("exec:/no/such/program", 4, false);
    check("exec:no-such-program-anywhere", 4, false);
    check("exec:/etc", 4, false);
    check("exec:/etc/passwd", 4, false);
}

/// What would fail again is not tried again, however often it may be.
#[test]
fn what_somebody_has_to_mend_is_not_tried_again() {
    let retry = ["--retry", "5", "--retry-delay", "2s"];
    let words = [&["call", "exec:no-such-program-anywhere", "echo", "{}"][..], &retry].concat();
    let outcome = mcpmini(&words);
    assert_eq!(outcome.code, 4, "{}", outcome.err);
    assert!(outcome.took < Duration::from_secs(2), "{outcome:?}");
}

/// The code, `sent` and `retryable` say the same of a limit.
#[test]
fn a_limit_tells_whether_the_call_may_have_run() {
    let silent = demo("--fault silent");
    let check = |words: &[&str], sent: &str, hint: &str| {
        let error = error_of(words, 124);
        let told = (&error["class"], &error["sent"], &error["retryable"]);
        let expected = (&"timeout".into(), &sent.into(), &(sent == "no").into());
        assert_eq!(told, expected, "{words:?}: {error}");
        assert!(error["hint"].as_str().unwrap().contains(hint), "{words:?}: {error}");
    };
    let call = |limit: &'static str| ["call", &silent, "echo", "{}", limit, "300ms"];
    check(&call("--start-timeout"), "no", "the call was not sent");
    check(&call("--max-time"), "no", "nothing was run");
    let slow = demo("");
    check(&["call", &slow, "slow", "{}", "--max-time", "300ms"], "maybe", "it may have run");
    check(&["call", &slow, "slow", "{}", "--timeout", "50ms"], "maybe", "it may have run");
}

/// `watch` ends well by itself, unless a number was wanted that did not come.
#[test]
fn a_watch_ends_with_what_was_wanted() {
    let ticking = demo("--tick 100");
    let check = |words: &[&str], code: i32, told: &str| {
        let outcome = mcpmini(&[&["watch", &ticking][..], words].concat());
        assert_eq!(outcome.code, code, "{words:?}: {}", outcome.err);
        assert!(outcome.err.contains(told), "{words:?}: {}", outcome.err);
    };
    check(&["--count", "1"], 0, "");
    check(&["--max-time", "1s"], 0, "");
    check(&["--count", "1000", "--max-time", "1s"], 124, "more notifications were wanted");
}

#[test]
fn a_tool_that_is_not_there_leads_to_those_that_are() {
    let server = demo("");
    for arguments in ["{}", "a=1"] {
        check(&["call", &server, "frobnicate", arguments], 3, "what there is: mcpmini tools ");
    }
    check(&["call", &server, "ad", "a=1"], 3, "did you mean \"add\"?");
    // JSON asks for no list. One that is remembered tells.
    let scratch = Scratch::new();
    let remembering = |tool: &str| {
        assert_eq!(run(&mut scratch.mcpmini(["tools", &server])).code, 0);
        run(&mut scratch.mcpmini(["call", &server, tool, "{}"])).err
    };
    let told = remembering("ad");
    assert!(told.contains("did you mean \"add\"?"), "{told}");
    let told = remembering("frobnicate");
    assert!(!told.contains("mcpmini schema"), "{told}");
    // It is there, and takes something else.
    let told = remembering("add");
    assert!(told.contains("mcpmini schema "), "{told}");
}

#[test]
fn what_is_missing_is_told_with_how_to_make_it() {
    let server = demo("");
    check(&["call", &server, "echo", "{}", "--lock", "x.lock"], 9, "mcpmini lock --lock /");
    let dry = ["call", &server, "add", "a=1", "b=2", "--dry-run"];
    check(&dry, 2, "run `mcpmini tools 'exec:");
    check(&["call", "localhost:3000", "echo"], 2, "a URL begins with https://");
    let mention = ["call", &server, "echo", "text=@bob"];
    check(&mention, 2, "KEY=@@TEXT");
    let Outcome { code, err, .. } = mcpmini(&["call", &server, "echo", "--", "-o", "json"]);
    assert!(code == 2 && err.contains("options of the command come before"), "{code} {err}");
    let sample = ["call", &server, "sample", "prompt=x", "--sampling-command", "no-such-program"];
    let told = error_of(&sample, 10)["message"].as_str().unwrap().to_owned();
    let expected = "--sampling-command no-such-program: there is no such program";
    assert!(told.contains(expected), "{told}");
    let registry = ["--registry", "https://no-such-host.invalid"];
    let add = [&["add", "registry:com.example/x"][..], &registry].concat();
    check(&add, 4, "is the name spelled right");
    check(&["login", "https://no-such-host.invalid/mcp"], 4, "is the name spelled right");
    check(&["call", "https://no-such-host.invalid/mcp", "x"], 4, "is the name spelled right");
}

/// A home that is none is not taken for a variable that is not set.
#[test]
fn a_home_that_is_none_is_told() {
    let scratch = Scratch::new();
    for home in ["/etc/passwd", "/no/such/directory", "relative", ""] {
        let mut command = scratch.mcpmini(["add", "x", "https://x.example/mcp"]);
        let outcome = run(command.env("HOME", home));
        assert_eq!(outcome.code, 9, "{home}: {}", outcome.err);
        assert!(outcome.err.contains("HOME is not set to a directory"), "{home}: {}", outcome.err);
    }
}

/// Without arguments a call is judged where its tool is looked up anyway, whatever is remembered.
#[test]
fn a_call_without_arguments_is_judged_at_no_cost() {
    let scratch = Scratch::new();
    let log = scratch.write("log", "");
    let http = HttpDemo::start(&["--era", "modern", "--log", &log]);
    let sent = || scratch.lines("log").iter().any(|line| line.contains("tools/call"));
    let call = |server: &str, more: &[&str]| {
        run(&mut scratch.mcpmini([&["call", server, "add"][..], more].concat()))
    };
    for _ in 0..2 {
        let outcome = call(&http.url, &[]);
        assert_eq!(outcome.code, 2, "{}", outcome.err);
        assert!(outcome.err.contains("missing: a, b"), "{}", outcome.err);
    }
    assert!(!sent());
    // JSON is sent as it is written.
    assert_eq!(call(&http.url, &["{}"]).code, 3);
    assert!(sent());
    let server = demo("");
    assert_eq!(call(&server, &["--retry", "1"]).code, 2);
    // Here the look would be a request more, so that the server judges, also once it is remembered.
    assert_eq!(run(&mut scratch.mcpmini(["tools", &server])).code, 0);
    for dry in [&[][..], &["--dry-run"]] {
        assert_eq!(call(&server, dry).code, if dry.is_empty() { 3 } else { 0 });
    }
}

/// What is no tool's name is not sent past the look at what the tool was.
#[test]
fn a_call_by_rpc_names_its_tool() {
    let server = demo("");
    let check = |params: &[&str], told: &str| {
        let outcome = mcpmini(&[&["rpc", &server, "tools/call"][..], params].concat());
        assert_eq!(outcome.code, 2, "{params:?}: {}", outcome.err);
        assert!(outcome.err.contains(told), "{params:?}: {}", outcome.err);
    };
    check(&[], "must have a \"name\"");
    check(&["{}"], "must have a \"name\"");
    check(&[r#"{"name":["echo"],"arguments":{"text":"x"}}"#], "must have a \"name\"");
    check(&[r#"{"name":null}"#], "must have a \"name\"");
    check(&[r#"{"Name":"echo"}"#], "must have a \"name\"");
    check(&[r#"{"name":"echo","n\u0061me":"add"}"#], "twice");
    check(&[r#"{"name":"echo","NAME":"add"}"#], "twice");
}

/// A name is a name in every command, until it may be something else.
#[test]
fn a_name_that_no_server_has_is_told_everywhere() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.path(".config/mcpmini")).unwrap();
    let config = format!(r#"{{"mcpServers":{{"weather":{{"command":"{}"}}}}}}"#, demo_path());
    scratch.write(".config/mcpmini/config.json", config);
    for command in [&["info"][..], &["card"], &["card", "check"], &["discover"], &["trust", "diff"]]
    {
        let outcome = run(&mut scratch.mcpmini([command, &["wether"]].concat()));
        assert_eq!(outcome.code, 9, "{command:?}: {}", outcome.err);
        let told = "unknown server \"wether\": did you mean \"weather\"?";
        assert!(outcome.err.contains(told), "{command:?}: {}", outcome.err);
    }
}

/// What is printed in the place of a task's ID, and an ID that may be worth nothing, are told.
#[test]
fn a_task_that_is_none_is_told() {
    let server = demo("--era modern");
    let outcome = mcpmini(&["call", &server, "echo", "text=a", "--task"]);
    assert_eq!((outcome.code, &*outcome.out), (0, "a\n"), "{}", outcome.err);
    assert!(outcome.err.contains("there is no task"), "{}", outcome.err);
    let outcome = mcpmini(&["call", &server, "work", "{}", "--task"]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    assert!(outcome.err.contains("--wait"), "{}", outcome.err);
    assert!(outcome.err.contains("mcpmini session"), "{}", outcome.err);
    let outcome = mcpmini(&["call", &server, "work", "{}", "--task", "--wait"]);
    assert_eq!((outcome.code, &*outcome.err), (0, ""));
}
