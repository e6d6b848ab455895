//! What errors and warnings say: enough to go on, and nothing that leads astray.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;

use serde_json::Value;
use support::{HttpDemo, Outcome, Scratch, answer, demo, http_server, run};

#[track_caller]
fn mcpmini(scratch: &Scratch, words: &[&str]) -> Outcome {
    run(&mut scratch.mcpmini(words))
}

/// Checks how a run ends, and what it says and does not say on standard error.
#[track_caller]
fn check(outcome: &Outcome, code: i32, says: &[&str], says_not: &[&str]) {
    assert_eq!(outcome.code, code, "{}", outcome.err);
    for part in says {
        assert!(outcome.err.contains(part), "{part:?} is not in {}", outcome.err);
    }
    for part in says_not {
        assert!(!outcome.err.contains(part), "{part:?} is in {}", outcome.err);
    }
}

/// The member `sent` of the error of a run.
#[track_caller]
fn sent(outcome: &Outcome) -> Value {
    let line = outcome.err.lines().last().unwrap();
    serde_json::from_str::<Value>(line).unwrap()["error"]["sent"].clone()
}

#[test]
fn words_that_make_no_sense_are_shown() {
    let scratch = Scratch::new();
    let check_words = |words: &[&str], says: &[&str]| {
        check(&mcpmini(&scratch, words), 2, says, &["positional", "Error parsing"]);
    };
    check_words(&["cache", "foo"], &["ls|clear: \"foo\" is none of ls, clear"]);
    check_words(&["task", "wait", "s", "7"], &["ACTION: \"wait\" is none of"]);
    check_words(&["completions", "dash"], &["\"dash\" is none of"]);
    check_words(&["config", "foo"], &["\"foo\" is none of"]);
    check_words(&["approve", "x", "--accept", "sha256:123"], &["--accept", "sha256:123"]);
    let odd = OsStr::from_bytes(b"caf\xe9=1");
    let words = ["call", "s", "t"].map(OsStr::new);
    let outcome = run(&mut scratch.mcpmini(words.into_iter().chain([odd])));
    check(&outcome, 2, &["argument 4 is not UTF-8: \"caf\u{fffd}=1\""], &[]);
}

#[test]
fn the_version_is_told_with_any_command() {
    let scratch = Scratch::new();
    for words in [&["call", "--version"][..], &["-V", "tools", "s"]] {
        let outcome = mcpmini(&scratch, words);
        assert_eq!((outcome.code, outcome.err.as_str()), (0, ""), "{words:?}");
        assert!(outcome.out.starts_with("mcpmini 0."), "{}", outcome.out);
    }
}

#[test]
fn a_full_disk_is_told() {
    let scratch = Scratch::new();
    for words in [&["help"][..], &["--version"], &["help", "--man"], &["call", "--help"]] {
        let mut command = scratch.mcpmini(words);
        command.stdout(File::options().write(true).open("/dev/full").unwrap());
        let output = command.output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(9), "{words:?}");
        assert!(err.contains("cannot write the answer"), "{words:?}: {err}");
    }
    // A mistake stays one where it cannot be told.
    let mut command = scratch.mcpmini(["no-such-command"]);
    command.stderr(File::options().write(true).open("/dev/full").unwrap());
    assert_eq!(command.status().unwrap().code(), Some(2));
}

#[test]
fn json_errors_tell_whether_it_was_sent() {
    let scratch = Scratch::new();
    scratch.write("token", "t");
    let server = demo("");
    for words in [
        &["call", &server, "echo", "--bearer-file", "token"][..],
        &["call", "https://x.example/", "echo", "--transport", "stdio"],
        &["login", "https://x.example/", "--no-browser", "--device"],
        &["approve", "--accept", &format!("sha256:{:064}", 0)],
        &["call", "no-such-name", "echo"],
        &["call", "echo"],
    ] {
        let outcome = mcpmini(&scratch, &[words, &["--json-errors"]].concat());
        assert_eq!(sent(&outcome), "no", "{words:?}: {}", outcome.err);
    }
}

#[test]
fn raw_bytes_of_several_blocks_are_a_mismatch_after_the_call() {
    let scratch = Scratch::new();
    let words = ["call", &demo(""), "media", "-o", "raw"];
    let outcome = mcpmini(&scratch, &[&words[..], &["--json-errors"]].concat());
    check(
        &outcome,
        11,
        &["the tool has run, and its answer has 7 content blocks", "--save DIR"],
        &[],
    );
    assert_eq!((sent(&outcome), outcome.out.as_str()), ("yes".into(), ""));
}

#[test]
fn a_dry_run_hints_at_what_helps() {
    let server = HttpDemo::start(&[]);
    let dry = |scratch: &Scratch, more: &[&str]| {
        let words = ["call", &server.url, "echo", "text=a", "--dry-run"];
        mcpmini(scratch, &[&words, more].concat())
    };
    let scratch = Scratch::new();
    let first = format!("hint: run `mcpmini tools {}` first, write", server.url);
    check(&dry(&scratch, &[]), 2, &[&first], &[]);
    check(&dry(&scratch, &["--no-cache"]), 2, &["leave out --no-cache"], &["mcpmini tools"]);
    for options in [["-H", "X-Team: red"], ["--bearer-file", "token"]] {
        let scratch = Scratch::new();
        scratch.write("token", "hunter2");
        check(&dry(&scratch, &options), 2, &["first, with the same options and token"], &[]);
        // What the hint says helps.
        assert_eq!(mcpmini(&scratch, &[&["tools", &server.url], &options[..]].concat()).code, 0);
        check(&dry(&scratch, &options), 0, &[], &[]);
    }
}

#[test]
fn defaults_are_not_suggested_where_they_do_not_suffice() {
    let scratch = Scratch::new();
    let call = |words: &[&str]| mcpmini(&scratch, &[&["call", &demo("")], words].concat());
    let outcome = call(&["form", "--accept-defaults"]);
    check(&outcome, 10, &["--answer name=TEXT"], &["--accept-defaults"]);
    check(&call(&["greet", "--elicit", "fail"]), 10, &["--accept-defaults"], &[]);
}

#[test]
fn answers_that_nobody_asked_for_are_told() {
    let scratch = Scratch::new();
    for era in ["legacy", "modern"] {
        let server = demo(&format!("--era {era}"));
        let greet = |words: &[&str]| mcpmini(&scratch, &[&["call", &server], words].concat());
        let outcome = greet(&["greet", "--answer", "nmae=Ada"]);
        let says = "--answer nmae: the server has asked for no such field";
        check(&outcome, 0, &[says], &[]);
        let outcome = greet(&["greet", "--answer", "name=Ada"]);
        assert_eq!((outcome.out.as_str(), outcome.err.as_str()), ("hello, Ada\n", ""));
        // Whoever answers just in case is not told that nobody has asked.
        assert_eq!(greet(&["echo", "text=a", "--answer", "name=Ada"]).err, "");
    }
}

#[test]
fn arguments_that_a_prompt_lacks_are_refused() {
    let scratch = Scratch::new();
    let server = demo("");
    let prompt =
        |words: &[&str]| mcpmini(&scratch, &[&["prompt", &server, "review"], words].concat());
    let outcome = prompt(&["code=x", "langauge=rust"]);
    check(&outcome, 2, &["has no argument \"langauge\"", "did you mean \"language\"?"], &[]);
    check(&prompt(&["code=x", "zzzz=rust"]), 2, &["it has code, language"], &[]);
    let outcome = prompt(&["code=x", "language=rust"]);
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""));
}

#[test]
fn a_token_that_nobody_keeps_is_not_what_the_server_wants() {
    let scratch = Scratch::new();
    let outcome = mcpmini(&scratch, &["token", "https://x.example/mcp"]);
    check(&outcome, 7, &["no usable token is kept", "mcpmini login"], &["the server wants"]);
}

/// A server that refuses everything and knows nothing of OAuth.
#[test]
fn a_login_that_is_not_offered_is_told_with_a_way_out() {
    let scratch = Scratch::new();
    let url = http_server(|request| match request.starts_with("POST /mcp") {
        true => answer("401 Unauthorized", "{}"),
        false => answer("404 Not Found", "{}"),
    });
    let outcome = mcpmini(&scratch, &["login", &url, "--no-browser"]);
    check(&outcome, 7, &["registration", "hint: ", "--client-id", "--bearer-file"], &[]);
}

#[test]
fn a_missing_home_and_a_missing_temporary_directory_are_not_made() {
    let scratch = Scratch::new();
    let (home, temporary) = (scratch.path("nobody"), scratch.path("tmp"));
    let mut call = scratch.mcpmini(["call", &demo(""), "echo", "text=a"]);
    let outcome = run(call.env("HOME", &home));
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""));
    let mut session = scratch.mcpmini(["session", "--", "true"]);
    let outcome = run(session.env("TMPDIR", &temporary).env_remove("XDG_RUNTIME_DIR"));
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""));
    assert!(!home.exists() && !temporary.exists());
}

/// In a session the server lives on, and its task with it.
#[test]
fn a_task_in_a_session_is_not_in_danger() {
    let scratch = Scratch::new();
    let call = "\"$mcpmini\" call \"$demo\" work questions:=1 --task";
    check(&run(&mut scratch.shell(call)), 0, &["the server ends with this run"], &[]);
    let session = format!("\"$mcpmini\" session \"$demo\" -- sh -c '{call}'");
    let outcome = run(&mut scratch.shell(&session));
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""), "{}", outcome.out);
}

/// The demo server gives back what it was given, whatever it makes of it itself.
#[test]
fn the_demo_server_gives_arguments_back_character_by_character() {
    let scratch = Scratch::new();
    let check = |word: &str, expected: &str| {
        let outcome = mcpmini(&scratch, &["call", &demo(""), "arguments", word, "--no-check"]);
        assert_eq!((outcome.code, outcome.out.trim_end()), (0, expected), "{}", outcome.err);
    };
    check("price:=1e400", "{\"price\":1e400}");
    check("pin:=\"\\ud800\"", "{\"pin\":\"\\ud800\"}");
    check("{\"price\":1e400, \"price\" : -0.0}", "{\"price\":1e400, \"price\" : -0.0}");
}

/// A process that may open few files fails in good order, wherever it meets the limit.
#[test]
fn few_open_files_are_told() {
    let scratch = Scratch::new();
    let http = HttpDemo::start(&[]);
    let servers = [demo(""), http.url.clone()];
    for (limit, server) in (4..=20).flat_map(|limit| servers.iter().map(move |it| (limit, it))) {
        let call = format!(
            "ulimit -n {limit} && exec \"$mcpmini\" call \"$server\" echo text=a --no-schema"
        );
        let mut call = scratch.shell(&call);
        let outcome = run(call.env("RUST_BACKTRACE", "0").env("server", server));
        // 8 and 9: what is known of the server, or a policy, cannot be read.
        assert!([0, 4, 8, 9].contains(&outcome.code), "{limit} {server}: {outcome:?}");
        let told = outcome.err.contains("oo many open files") || outcome.code == 0;
        assert!(told && !outcome.err.contains("panicked"), "{limit}: {}", outcome.err);
    }
}

#[test]
fn the_way_to_a_server_is_told() {
    let scratch = Scratch::new();
    let (http, sse) = (HttpDemo::start(&[]), HttpDemo::start_sse(&["--era", "legacy"]));
    let check = |server: &str, transport: &str| {
        let outcome = mcpmini(&scratch, &["info", "-j", server]);
        let info: Value = serde_json::from_str(&outcome.out).unwrap();
        assert_eq!(info["transport"], transport, "{server}: {}", outcome.out);
        // The steps to the server, and together they are the whole.
        let timings = info["timings"].as_object().unwrap();
        let way = if transport == "stdio" { "spawnMs" } else { "resolveMs" };
        let names: Vec<_> = timings.keys().collect();
        assert_eq!(names.first().unwrap().as_str(), way, "{}", outcome.out);
        assert_eq!(names.last().unwrap().as_str(), "discoverMs", "{}", outcome.out);
        let ms = |value: &Value| value.as_f64().unwrap();
        let sum: f64 = timings.values().map(ms).sum();
        assert!(timings.values().all(|step| 0.0 < ms(step)), "{}", outcome.out);
        assert!((sum - ms(&info["openedMs"])).abs() < 0.01, "{}", outcome.out);
    };
    check(&demo(""), "stdio");
    check(&http.url, "http");
    check(&sse.url, "sse");
    let text = mcpmini(&scratch, &["info", &demo("")]).out;
    let line = text.lines().find(|line| line.starts_with("opened in")).unwrap_or_default();
    assert!(line.contains("(spawn ") && line.contains("discover "), "{text}");
}
