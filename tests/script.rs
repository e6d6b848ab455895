//! What shell scripts rely on: exit codes, clean outputs, exact data, no process left behind.
//!
//! Most names are complaints of users of other clients, turned into what must hold here.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use support::{
    HttpDemo, Outcome, Scratch, answer, closed_url, demo, demo_path, finish, http_server,
};
use support::{processes_with, run, run_with_input, wait_until};

/// Calls a tool of the demo server.
#[track_caller]
fn call(words: &[&str]) -> Outcome {
    let scratch = Scratch::new();
    let server = demo("");
    run(&mut scratch.mcpmini(["call", &server].iter().chain(words)))
}

#[track_caller]
fn check(outcome: &Outcome, code: i32, out: &str) {
    assert_eq!((outcome.code, outcome.out.as_str()), (code, out), "stderr: {}", outcome.err);
}

// ------------------------------------------------------------------------------ exit codes

#[test]
fn exit_0_success() {
    check(&call(&["echo", "text=hi"]), 0, "hi\n");
}

#[test]
fn exit_1_tool_error() {
    let outcome = call(&["fail", "message=no disk"]);
    check(&outcome, 1, "");
    assert!(outcome.err.contains("no disk"), "{}", outcome.err);
}

#[test]
fn exit_iserror() {
    let outcome = call(&["fail", "message=no disk", "--json"]);
    assert_eq!(outcome.code, 1);
    let result: Value = serde_json::from_str(&outcome.out).unwrap();
    assert_eq!(
        (&result["isError"], &result["content"][0]["text"]),
        (&true.into(), &"no disk".into())
    );
}

#[test]
fn exit_2_usage_and_nothing_is_sent() {
    for words in [&["add", "a=1"][..], &["echo", "text=a", "more=b"], &["add", "a=1", "b=x"]] {
        let scratch = Scratch::new();
        let log = scratch.write("log", "");
        let server = demo(&format!("--log {log}"));
        let outcome = run(&mut scratch.mcpmini(["call", &server].iter().chain(words)));
        check(&outcome, 2, "");
        let sent = scratch.lines("log").into_iter().find(|line| line.contains("tools/call"));
        assert_eq!(sent, None);
    }
}

#[test]
fn exit_2_names_the_server_the_tool_and_what_to_do() {
    for (words, fault) in [
        (&["add", "a=1", "b=x"][..], "b: expected number, found \"x\""),
        (&["add", "a=1"], "missing: b"),
    ] {
        let outcome = call(words);
        check(&outcome, 2, "");
        let told = format!("demo-server' : arguments of the tool \"add\": {fault}");
        assert!(outcome.err.contains(&told), "{}", outcome.err);
        assert!(outcome.err.contains("nothing was sent; what it takes: mcpmini schema"));
    }
}

#[test]
fn exit_3_error_of_the_server() {
    let scratch = Scratch::new();
    check(&run(&mut scratch.mcpmini(["rpc", &demo(""), "no/such/method"])), 3, "");
}

#[test]
fn exit_unknown_tool() {
    for words in [&["ecko"][..], &["ecko", "text=a"], &["ecko", "{}"]] {
        let outcome = call(words);
        check(&outcome, 3, "");
        assert!(outcome.err.contains("ecko"), "{}", outcome.err);
    }
}

#[test]
fn exit_4_unreachable() {
    let check = |server: &str, text: &str| {
        let scratch = Scratch::new();
        let outcome = run(&mut scratch.mcpmini(["call", server, "echo", "text=a"]));
        check(&outcome, 4, "");
        assert!(outcome.err.contains(text), "{}", outcome.err);
    };
    check(&closed_url(), "refused");
    check("http://no-such-host.invalid/mcp", "no-such-host.invalid");
    check("exec:/no/such/program", "/no/such/program");
    check("exec:no-such-program-anywhere --flag", "no-such-program-anywhere");
    check(&demo("--fault exit"), "the database is not there");
    check(&http_server(|_| answer("503 Service Unavailable", "")), "503");
    check(&http_server(|_| answer("429 Too Many Requests", "")), "429");
}

/// What an error leaves to guess is told: whose it is, whether the call has run, what to do.
#[test]
fn errors_name_the_server_and_what_to_do() {
    let check = |words: &[&str], code: i32, parts: &[&str]| {
        let outcome = call(words);
        assert_eq!(outcome.code, code, "{}", outcome.err);
        for part in parts.iter().chain(&["demo-server"]) {
            assert!(outcome.err.contains(part), "{words:?} lacks {part}: {}", outcome.err);
        }
    };
    check(&["media", "-o", "raw"], 11, &["the tool has run, and its answer has 7 content blocks"]);
    check(&["add", "a=1", "b=2", "--expect", "/x=1"], 11, &["/x"]);
    check(&["no-such", "{}"], 3, &["what there is: mcpmini tools", "mcpmini schema"]);
    check(&["slow", "{}", "-T", "300ms"], 124, &["it may have run; --max-time"]);
}

/// What a gateway shows to people is no message for a terminal.
#[test]
fn of_a_page_only_its_title_is_shown() {
    let scratch = Scratch::new();
    let page = "<!DOCTYPE html><html><head><title>It is\nnot here</title></head><p>x</html>";
    let server = http_server(move |_| answer("403 Forbidden", page));
    let outcome = run(&mut scratch.mcpmini(["call", &server, "echo", "{}"]));
    assert_eq!(outcome.code, 7, "{}", outcome.err);
    let told = "HTTP 403: Forbidden, a page with the title \"It is not here\"";
    assert!(outcome.err.contains(told), "{}", outcome.err);
    assert!(!outcome.err.contains('<'), "{}", outcome.err);
}

#[test]
fn exit_5_lost() {
    let outcome = call(&["crash", "{}"]);
    check(&outcome, 5, "");
    assert!(outcome.err.contains("panic: the disk is full"), "{}", outcome.err);
}

/// What is lost is the list that the call needs first: nothing was run, and a script may try again.
#[test]
fn exit_4_when_the_call_was_not_reached() {
    let scratch = Scratch::new();
    let server = demo("--fault crash");
    let words = ["call", &server, "add", "a=1", "b=2", "--json-errors"];
    let outcome = run(&mut scratch.mcpmini(words));
    check(&outcome, 4, "");
    let error: Value = serde_json::from_str(&outcome.err).unwrap();
    assert_eq!(
        (&error["error"]["sent"], &error["error"]["retryable"]),
        (&"no".into(), &true.into())
    );
    assert!(outcome.err.contains("the tools could not be listed"), "{}", outcome.err);
    assert!(!outcome.err.contains("may have run"), "{}", outcome.err);
}

#[test]
fn exit_6_protocol() {
    let scratch = Scratch::new();
    let garbage = http_server(|_| answer("200 OK", "{oops"));
    check(&run(&mut scratch.mcpmini(["call", &garbage, "echo", "{}"])), 6, "");
    let future = http_server(|request| {
        if !request.contains(r#""initialize""#) {
            return answer("400 Bad Request", "");
        }
        let id = request.split(r#""id":"#).nth(1).unwrap();
        let id = &id[..id.find([',', '}']).unwrap()];
        let info = r#"{"name":"future","version":"1"}"#;
        let result = format!(
            r#"{{"protocolVersion":"2099-01-01","capabilities":{{}},"serverInfo":{info}}}"#
        );
        answer("200 OK", &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
    });
    let outcome = run(&mut scratch.mcpmini(["call", &future, "echo", "{}"]));
    check(&outcome, 6, "");
    assert!(outcome.err.contains("2099-01-01"), "{}", outcome.err);
}

#[test]
fn exit_7_auth() {
    for status in ["401 Unauthorized", "403 Forbidden"] {
        let scratch = Scratch::new();
        let url = http_server(|_| answer(status, "who are you?"));
        let outcome = run(&mut scratch.mcpmini(["call", &url, "echo", "{}"]));
        check(&outcome, 7, "");
        assert!(outcome.err.contains("who are you?"), "{}", outcome.err);
    }
}

/// A project's own configuration file can name any command: it is not run before it is approved.
#[test]
fn exit_8_trust() {
    let scratch = Scratch::new();
    let servers = format!(r#"{{"mcpServers":{{"here":{{"command":"{}"}}}}}}"#, demo_path());
    scratch.write(".mcp.json", servers);
    let call = || run(&mut scratch.mcpmini(["call", "here", "echo", "text=a"]));
    let outcome = call();
    check(&outcome, 8, "");
    // What to approve is named by its digest, so that a script cannot approve it unseen.
    check(&run(&mut scratch.mcpmini(["approve", "here"])), 8, "");
    let digest = outcome.err.split_whitespace().find(|word| word.starts_with("sha256:")).unwrap();
    assert_eq!(run(&mut scratch.mcpmini(["approve", "here", "--accept", digest])).code, 0);
    check(&call(), 0, "a\n");
}

#[test]
fn exit_9_config() {
    let scratch = Scratch::new();
    let outcome = run(&mut scratch.mcpmini(["call", "nobody", "echo", "{}"]));
    check(&outcome, 9, "");
    assert!(outcome.err.contains("nobody"), "{}", outcome.err);
}

#[test]
fn exit_10_input_required() {
    for era in ["legacy", "modern"] {
        let scratch = Scratch::new();
        let server = demo(&format!("--era {era}"));
        let greet = |words: &[&str]| {
            run(&mut scratch.mcpmini(["call", &server, "greet", "{}"].iter().chain(words)))
        };
        check(&greet(&["--elicit", "fail"]), 10, "");
        check(&greet(&[]), 10, "");
        check(&greet(&["--decline"]), 1, "");
        check(&greet(&["--elicit", "defaults"]), 0, "hello, friend\n");
        let answered = greet(&["--answer", "name=Ada"]);
        check(&answered, 0, "hello, Ada\n");
        assert_eq!(answered.err, "");
        let misspelt = greet(&["--answer", "nmae=Ada"]);
        assert!(
            misspelt.err.contains("--answer nmae: the server has asked for no"),
            "{misspelt:?}"
        );
    }
}

#[test]
fn exit_124_timeout() {
    let outcome = call(&["slow", "steps=100", "--max-time", "300ms"]);
    check(&outcome, 124, "");
    assert!(outcome.err.contains("300ms"), "{}", outcome.err);
}

// --------------------------------------------------------------------------------- outputs

#[test]
fn pipe_200k_intact() {
    let scratch = Scratch::new();
    let outcome = run(&mut scratch.shell(r#""$mcpmini" call "$demo" text bytes=200001 | cat"#));
    assert_eq!((outcome.code, outcome.out.len()), (0, 200_002), "{}", outcome.err);
    assert!(outcome.out.ends_with("0123456789abcde\n0\n"));
}

#[test]
fn sigpipe_quiet() {
    let scratch = Scratch::new();
    let script = r#"{ "$mcpmini" call "$demo" text bytes=4000000; echo $? >code; } | head -c 5"#;
    let outcome = run(&mut scratch.shell(script));
    check(&outcome, 0, "01234");
    assert_eq!((outcome.err.as_str(), scratch.lines("code")), ("", vec!["141".into()]));
}

#[test]
fn sigpipe_quiet_with_json_errors() {
    let scratch = Scratch::new();
    let script = r#"{ "$mcpmini" call "$demo" text bytes=4000000 -j; echo $? >code; } | head -c 2"#;
    let outcome = run(&mut scratch.shell(script));
    check(&outcome, 0, "{\"");
    assert_eq!((outcome.err.as_str(), scratch.lines("code")), ("", vec!["141".into()]));
}

#[test]
fn a_file_stays_as_it_is_when_the_tool_fails() {
    let scratch = Scratch::new();
    scratch.write("out", "old\n");
    let fail = |words: &[&str]| {
        let server = demo("");
        run(&mut scratch.mcpmini(["call", &server, "fail", "{}"].iter().chain(words)))
    };
    check(&fail(&["--out", "out"]), 1, "");
    assert_eq!(scratch.lines("out"), ["old"]);
    check(&fail(&["--out", "new"]), 1, "");
    assert!(!scratch.path("new").exists());
    // In JSON the failure is part of the answer.
    check(&fail(&["--out", "new", "-j"]), 1, "");
    assert!(scratch.lines("new")[0].contains("\"isError\":true"));
}

/// Whatever is remembered of a server: a call that it has answered is not sent again.
#[test]
fn a_call_that_failed_is_not_sent_twice() {
    for fault in ["{}", "[]"] {
        let scratch = Scratch::new();
        let server = demo(&format!("--era modern --log {}", scratch.path("log").display()));
        let call = |arguments: &str| {
            let words = ["rpc", &server, "tools/call", arguments];
            run(&mut scratch.mcpmini(words))
        };
        assert_eq!(call(r#"{"name":"echo","arguments":{"text":"a"}}"#).code, 0);
        let failing = format!(r#"{{"name":"echo","arguments":{fault}}}"#);
        assert_eq!(call(&failing).code, 3);
        let calls = scratch.lines("log");
        assert_eq!(calls.iter().filter(|line| line.contains("tools/call")).count(), 2);
    }
}

/// What a remembered server takes to start is no part of a round trip: it has answered something
/// before the first one begins.
#[test]
fn a_round_trip_does_not_start_the_server() {
    let scratch = Scratch::new();
    let server = demo(&format!("--era modern --log {}", scratch.path("log").display()));
    let methods = |words: &[&str]| {
        scratch.write("log", "");
        let outcome = run(&mut scratch.mcpmini(words));
        assert_eq!(outcome.code, 0, "{}", outcome.err);
        let mut lines = scratch.lines("log");
        lines.retain(|line| line != "EOF");
        let method = |line: &String| {
            let request: serde_json::Value = serde_json::from_str(line).unwrap();
            request["method"].as_str().unwrap().to_owned()
        };
        lines.iter().map(method).collect::<Vec<_>>()
    };
    for _ in 0..2 {
        assert_eq!(methods(&["ping", &server]), ["server/discover"; 2]);
    }
    let words = ["bench", &server, "echo", "--no-schema", "text=a", "-n1"];
    assert_eq!(methods(&words), ["server/discover", "tools/call"]);
}

#[test]
fn json_is_json_for_every_result() {
    for words in [
        &["echo", "text=a\nb\u{1b}[31m"][..],
        &["add", "a=1", "b=2"],
        &["image"],
        &["numbers"],
        &["fail"],
        &["slow", "steps=1", "pause_ms=1"],
        &["text", "bytes=70000"],
    ] {
        let outcome = call(&[words, &["--json"]].concat());
        assert_eq!(outcome.out.matches('\n').count(), 1, "{}", outcome.out);
        let result: Value = serde_json::from_str(&outcome.out).unwrap();
        assert!(result["content"].is_array(), "{result}");
    }
}

#[test]
fn json_is_what_the_server_sent() {
    let outcome = call(&["numbers", "--json"]);
    let numbers = r#"{"id":12345678901234567890123,"edge":9007199254740993,"price":1.50,"big":1E+2,"half":0.5}"#;
    assert!(outcome.out.contains(numbers), "{}", outcome.out);
    check(&call(&["numbers", "--output", "structured"]), 0, &format!("{numbers}\n"));
}

#[test]
fn errors_are_json_when_a_variable_is_wrong_too() {
    let check = |words: &[&str], errors: Option<&str>| {
        let scratch = Scratch::new();
        let mut command = scratch.mcpmini(["call", &demo(""), "echo"].iter().chain(words));
        command.env("MCPMINI_TIMEOUT", "soon");
        errors.map(|value| command.env("MCPMINI_ERRORS", value));
        let outcome = run(&mut command);
        assert_eq!((outcome.code, outcome.err.matches('\n').count()), (2, 1), "{}", outcome.err);
        let line: Value = serde_json::from_str(&outcome.err).unwrap();
        assert_eq!(line["error"]["class"], "usage");
    };
    check(&["--json"], None);
    check(&["--json-errors"], None);
    check(&[], Some("json"));
}

#[test]
fn no_stderr_output_on_success() {
    let server = HttpDemo::start(&[]);
    for words in [
        &["call", "S", "echo", "text=a"][..],
        &["call", "S", "numbers", "--json"],
        &["call", "S", "slow", "steps=2", "pause_ms=1"],
        &["call", "S", "log", "lines=2"],
        &["tools", "S"],
        &["info", "S"],
        &["ping", "S"],
        &["rpc", "S", "tools/list"],
        &["--version"],
        &["--help"],
    ] {
        for name in [&demo(""), &demo("--era legacy"), &server.url] {
            let scratch = Scratch::new();
            let words = words.iter().map(|word| if *word == "S" { name } else { *word });
            let outcome = run(&mut scratch.mcpmini(words));
            assert_eq!((outcome.code, outcome.err.as_str()), (0, ""));
            assert_ne!(outcome.out, "");
        }
    }
}

// -------------------------------------------------------------------------------- arguments

/// Passes arguments and returns what came to the server.
#[track_caller]
fn check_arguments(words: &[&str], expected: &str) {
    check(&call(&[&["arguments"], words].concat()), 0, &format!("{expected}\n"));
}

#[test]
fn int64_exact() {
    check_arguments(&["id=9007199254740993"], r#"{"id":9007199254740993}"#);
    check_arguments(&["id=-9223372036854775808"], r#"{"id":-9223372036854775808}"#);
}

#[test]
fn u64_exact() {
    check_arguments(&["id=18446744073709551615"], r#"{"id":18446744073709551615}"#);
    check_arguments(&["id:=12345678901234567890123"], r#"{"id":12345678901234567890123}"#);
}

#[test]
fn float_text_kept() {
    check_arguments(&["price=1.50"], r#"{"price":1.50}"#);
    check_arguments(&["price=1E+2"], r#"{"price":1E+2}"#);
    check_arguments(&[r#"{"price":1.0}"#], r#"{"price":1.0}"#);
}

#[test]
fn leading_zero_kept() {
    check_arguments(&["pin=000123"], r#"{"pin":"000123"}"#);
    check_arguments(&["--", "--pin", "000123"], r#"{"pin":"000123"}"#);
}

#[test]
fn string_param_with_json_text_stays_string() {
    let text = r#"{"id":12345678901234567890}"#;
    check_arguments(&[&format!("pin={text}")], r#"{"pin":"{\"id\":12345678901234567890}"}"#);
    check_arguments(&["pin=true", "flag=true"], r#"{"pin":"true","flag":true}"#);
}

#[test]
fn stdin_pipe_file_heredoc_equal() {
    let scratch = Scratch::new();
    scratch.write("in.json", r#"{"pin":"0","price":1.50}"#);
    for script in [
        r#"cat in.json | "$mcpmini" call "$demo" arguments -"#,
        r#""$mcpmini" call "$demo" arguments - <in.json"#,
        "\"$mcpmini\" call \"$demo\" arguments - <<EOF\n{\"pin\":\"0\",\"price\":1.50}\nEOF",
        r#""$mcpmini" call "$demo" arguments @in.json"#,
        r#""$mcpmini" call "$demo" arguments "$(cat in.json)""#,
    ] {
        check(&run(&mut scratch.shell(script)), 0, "{\"pin\":\"0\",\"price\":1.50}\n");
    }
}

#[test]
fn stdin_untouched_without_dash() {
    let scratch = Scratch::new();
    let script = r#"while read -r line; do "$mcpmini" call "$demo" echo text="$line"; done"#;
    let outcome = run_with_input(&mut scratch.shell(script), Some(b"one\ntwo\nthree\n"));
    check(&outcome, 0, "one\ntwo\nthree\n");
}

// -------------------------------------------------------------------------------- processes

#[test]
fn child_does_not_hold_stdout() {
    let scratch = Scratch::new();
    let begin = Instant::now();
    let mut script =
        scratch.shell(r#"text=$("$mcpmini" call "$demo" echo text=hi); echo "$text!""#);
    let outcome = run(script.env("demo", demo("--fault orphan")));
    check(&outcome, 0, "hi!\n");
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
}

#[test]
fn group_killed_with_npx_like_chain() {
    let scratch = Scratch::new();
    let log = scratch.write("log", "");
    // The shell does not become the server, and hands no signal on.
    let inner = format!("sh -c \"'{}' --log {log} --fault stay; true\"; true", demo_path());
    let server = format!("exec:sh -c '{}'", inner.replace('\'', r"'\''"));
    check(&run(&mut scratch.mcpmini(["call", &server, "echo", "text=hi"])), 0, "hi\n");
    wait_until("the end of the server", || processes_with(&log).is_empty());
}

/// Starts a call that takes long, and sends a signal when the server is at it.
#[track_caller]
fn interrupt(signal: Signal, era: &str) -> (Outcome, Vec<Value>) {
    let scratch = Scratch::new();
    let log = scratch.write("log", "");
    let server = demo(&format!("--era {era} --log {log}"));
    let mut command = scratch.mcpmini(["call", &server, "slow", "steps=600"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let is_called = || scratch.lines("log").iter().any(|line| line.contains("tools/call"));
    wait_until("the call", is_called);
    let begin = Instant::now();
    kill_process(Pid::from_child(&child), signal).unwrap();
    let outcome = finish(child, begin);
    wait_until("the end of input", || {
        scratch.lines("log").last().is_some_and(|line| line == "EOF")
    });
    let messages = scratch.lines("log").into_iter().filter(|line| line != "EOF");
    (outcome, messages.map(|line| serde_json::from_str(&line).unwrap()).collect())
}

/// The last message must take back the call.
#[track_caller]
fn check_cancelled(messages: &[Value]) {
    let call = messages.iter().find(|message| message["method"] == "tools/call").unwrap();
    let last = messages.last().unwrap();
    assert_eq!(last["method"], "notifications/cancelled");
    assert_eq!(last["params"]["requestId"], call["id"]);
}

#[test]
fn sigint_sends_cancelled() {
    for era in ["legacy", "modern"] {
        let (outcome, messages) = interrupt(Signal::INT, era);
        check(&outcome, 130, "");
        check_cancelled(&messages);
        assert!(outcome.took < Duration::from_secs(5), "{:?}", outcome.took);
    }
}

#[test]
fn an_interrupted_call_tells_whether_it_may_have_run() {
    let check = |flags: &str, until: &str, sent: &str| {
        let scratch = Scratch::new();
        let log = scratch.write("log", "");
        let server = demo(&format!("{flags} --log {log}"));
        let words = ["call", &server, "slow", r#"{"steps":600}"#, "--json-errors"];
        let child = scratch.mcpmini(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let child = child.unwrap();
        wait_until(until, || scratch.lines("log").iter().any(|line| line.contains(until)));
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        let outcome = finish(child, Instant::now());
        assert_eq!(outcome.code, 143);
        let line: Value = serde_json::from_str(&outcome.err).unwrap();
        assert_eq!(
            (&line["error"]["class"], &line["error"]["sent"]),
            (&"aborted".into(), &sent.into())
        );
    };
    check("--fault silent", "server/discover", "no");
    check("", "tools/call", "maybe");
}

#[test]
fn sigterm_and_sighup_end_in_order_too() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129)] {
        let (outcome, messages) = interrupt(signal, "modern");
        check(&outcome, code, "");
        check_cancelled(&messages);
    }
}

#[test]
fn timeout_sends_cancelled() {
    for era in ["legacy", "modern"] {
        let scratch = Scratch::new();
        let log = scratch.write("log", "");
        let server = demo(&format!("--era {era} --log {log}"));
        let words = ["call", &server, "slow", "steps=1", "pause_ms=60000", "--timeout", "1s"];
        check(&run(&mut scratch.mcpmini(words)), 124, "");
        let messages = scratch.lines("log").into_iter().filter(|line| line != "EOF");
        let messages: Vec<_> = messages.map(|line| serde_json::from_str(&line).unwrap()).collect();
        check_cancelled(&messages);
    }
}

// ------------------------------------------------------------------------------------- time

#[test]
fn progress_resets_timer() {
    let server = HttpDemo::start(&[]);
    for name in [&demo(""), &demo("--era legacy"), &server.url] {
        let scratch = Scratch::new();
        let words = ["call", name, "slow", "steps=8", "pause_ms=250", "--timeout", "1s"];
        check(&run(&mut scratch.mcpmini(words)), 0, "8 steps done\n");
    }
}

#[test]
fn log_flood_does_not_starve() {
    check(&call(&["log", "lines=20000"]), 0, "20000 lines\n");
}

#[test]
fn silent_server_bounded() {
    let scratch = Scratch::new();
    let server = demo("--fault silent");
    let words = ["call", &server, "echo", "text=a", "--start-timeout", "500ms"];
    let outcome = run(&mut scratch.mcpmini(words));
    check(&outcome, 124, "");
    assert!(outcome.took < Duration::from_secs(6), "{:?}", outcome.took);
}

/// What goes into headers as well is told by the schema, so that a tool that is known to want that
/// is not called without.
#[test]
fn no_schema_is_refused_where_arguments_are_mirrored() {
    let scratch = Scratch::new();
    let schema = r#"{"properties":{"region":{"type":"string","x-mcp-header":"Region"}}}"#;
    let tool = format!(r#"{{"tools":{{"sql":{{"name":"sql","inputSchema":{schema}}}}}}}"#);
    let patch = scratch.write("patch.json", tool);
    let server = HttpDemo::start(&["--era", "modern", "--patch", &patch]);
    let words = ["call", &server.url, "sql", "region=eu", "--no-schema"];
    let unknown = run(&mut scratch.mcpmini(words));
    assert_ne!(unknown.code, 2, "nothing is known yet: {}", unknown.err);
    assert_eq!(run(&mut scratch.mcpmini(["tools", &server.url])).code, 0);
    for more in [&[][..], &["--dry-run"]] {
        let outcome = run(&mut scratch.mcpmini(words.iter().chain(more)));
        check(&outcome, 2, "");
        assert!(outcome.err.contains("leave out --no-schema"), "{}", outcome.err);
    }
    let line = r#"{"tool":"sql","arguments":{"region":"eu"}}"#;
    let words = ["batch", &server.url, "-", "--no-schema"];
    let outcome = run_with_input(&mut scratch.mcpmini(words), Some(line.as_bytes()));
    assert_eq!(outcome.code, 2, "{}", outcome.err);
    assert!(outcome.out.contains("x-mcp-header"), "{}", outcome.out);
}

/// The time for the start and that for an answer are told apart, also for a server of which the
/// era is remembered, so that the call would be the first thing it hears.
#[test]
fn start_timeout_binds_a_remembered_server() {
    for (era, protocol) in [("modern", "auto"), ("legacy", "auto"), ("modern", "2026-07-28")] {
        let scratch = Scratch::new();
        let server = format!(
            "exec:sh -c 'test -e slow && sleep 2; exec \"$0\" --era {era}' {}",
            demo_path()
        );
        let call = |limits: &[&str]| {
            let words = ["call", &server, "echo", r#"{"text":"hi"}"#, "--protocol", protocol];
            run(&mut scratch.mcpmini(words.iter().chain(limits)))
        };
        check(&call(&[]), 0, "hi\n");
        scratch.write("slow", "");
        let outcome = call(&["--start-timeout", "300ms", "-t", "20s"]);
        check(&outcome, 124, "");
        assert!(outcome.err.contains("timed out after 300ms"), "{era}: {}", outcome.err);
        assert!(outcome.err.contains("--start-timeout"), "{era}: {}", outcome.err);
        // It may take longer to start than to answer.
        check(&call(&["--start-timeout", "20s", "-t", "1s"]), 0, "hi\n");
        // And a call that is longer than the start may be is none of its business.
        std::fs::remove_file(scratch.path("slow")).unwrap();
        let slow = [&server, "slow", r#"{"steps":1,"pause_ms":2500}"#, "--protocol", protocol];
        let limits = ["--start-timeout", "2s", "-t", "20s"];
        let words = ["call"].into_iter().chain(slow.map(|word| word as &str)).chain(limits);
        assert_eq!(run(&mut scratch.mcpmini(words)).code, 0);
    }
}

#[test]
fn first_error_survives_sse_fallback() {
    let url = http_server(|request| {
        if request.starts_with("POST") {
            return answer("404 Not Found", "no MCP at this address");
        }
        answer("405 Method Not Allowed", "the wrong reason")
    });
    let scratch = Scratch::new();
    let outcome = run(&mut scratch.mcpmini(["call", &url, "echo", "{}"]));
    check(&outcome, 3, "");
    assert!(outcome.err.contains("404"), "{}", outcome.err);
    assert!(outcome.err.contains("no MCP at this address"), "{}", outcome.err);
}
