//! Servers that flood, lie and do not listen, and readers that do not read: a call ends all the
//! same, in time, and says nothing that is not so.
//!
//! The servers are shell scripts. They are told by `--protocol` which revision is spoken, so that
//! the first line they get is the call, with the id 1.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use support::{Outcome, Scratch, closed_url, demo, processes_with, run, wait_until};

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

#[test]
fn a_server_that_failed_is_not_waited_for() {
    // What it leaves behind keeps its output open.
    let outcome = call("read -r _; sleep 100 & exit 3", &["{}", "-t", "60s"]);
    check(&outcome, 5, "");
    assert!(outcome.err.contains("exit status 3"), "{}", outcome.err);
    // What it wrote before counts, however late it is read.
    check(&call(&format!("read -r _; sleep 100 & {ANSWER}; exit 3"), &["{}"]), 0, "ok\n");
    // One that ends well may have handed its pipes on.
    let heir = format!("(sleep 1.5; {ANSWER}) & exit 0");
    check(&call(&format!("read -r _; {heir}"), &["{}"]), 0, "ok\n");
}

#[test]
fn an_error_names_the_server_without_secrets() {
    let scratch = Scratch::new();
    let url = format!("{}/?a=1&api_key=hunter2", closed_url());
    let servers = [
        (&*url, "a=1&api_key=***"),
        ("exec:nosuch --token hunter2 x", "--token *** x"),
        ("./nosuch --token hunter2 x", "--token *** x"),
        ("nosuch --header 'Authorization: Bearer hunter2'", "--header 'Authorization: ***'"),
    ];
    for (server, shown) in servers {
        for form in [&["--json-errors"][..], &[]] {
            let words = ["call", server, "tool", "{}"];
            let outcome = run(&mut scratch.mcpmini(words.iter().chain(form)));
            assert_eq!(outcome.code, 4, "{}", outcome.err);
            assert!(outcome.err.contains(shown), "{}", outcome.err);
            assert!(!outcome.err.contains("hunter2"), "{}", outcome.err);
        }
    }
}

#[test]
fn answers_that_a_server_does_not_take_do_not_fill_the_memory() {
    let scratch = Scratch::new();
    let ping = format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"ping"}}"#, "x".repeat(1000));
    let hello = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}"#;
    let script = format!("read -r _; echo '{hello}'; exec yes '{ping}'");
    let server = format!("exec:sh {}", scratch.write("server.sh", script));
    let words = ["call", &server, "tool", "{}", "--protocol", "2025-11-25", "-T", "3s"];
    let mut child = scratch.mcpmini(words).stderr(Stdio::null()).spawn().unwrap();
    let mut kilobytes = 0;
    wait_until("the end", || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
        let status = status.unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.parse().ok());
        kilobytes = peak.unwrap_or(kilobytes);
        child.try_wait().unwrap().is_some()
    });
    assert_eq!(child.wait().unwrap().code(), Some(124));
    assert!((1..32_000).contains(&kilobytes), "{kilobytes} kB");
}

#[test]
fn a_command_that_prints_a_token_leaves_nothing_behind() {
    let scratch = Scratch::new();
    // A length of sleep that no other process has.
    let sleep = format!("sleep 62.{}", std::process::id());
    let token = format!("{sleep} >/dev/null & echo token");
    let words = ["call", &closed_url(), "tool", "{}", "--bearer-command", &token];
    let outcome = run(&mut scratch.mcpmini(words));
    check(&outcome, 4, "");
    assert!(outcome.took < SOON, "{:?}", outcome.took);
    wait_until("the end of the command", || processes_with(&sleep).is_empty());
}

#[test]
fn a_command_that_prints_a_token_is_within_every_limit() {
    let url = closed_url();
    let words = |command| ["call", &*url, "echo", "{}", "--bearer-command", command];
    let slow = words("sleep 100");
    check_stuck_command(&slow, Some(Signal::INT), 130);
    check_stuck_command(&slow, Some(Signal::TERM), 143);
    check_stuck_command(&[&slow[..], &["-T", "300ms"]].concat(), None, 124);
    // One that fails is not tried again.
    let scratch = Scratch::new();
    let outcome = run(&mut scratch.mcpmini(words("echo x >>ran; false")));
    check(&outcome, 7, "");
    assert_eq!(scratch.lines("ran"), ["x"]);
}

// ----------------------------------------------------------------------------------- lies

/// Runs a command on a server that says one thing when it is asked for something.
#[track_caller]
fn check_json(answer: &str, words: &[&str], code: i32) {
    let scratch = Scratch::new();
    let script = format!("read -r _; cat <<'EOF'\n{answer}\nEOF\n");
    let server = format!("exec:sh {}", scratch.write("server.sh", script));
    let fixed = ["--protocol", "2026-07-28"];
    let words = words.iter().map(|word| if *word == "S" { &server } else { *word });
    let outcome = run(&mut scratch.mcpmini(words.chain(fixed)));
    assert_eq!(outcome.code, code, "{}", outcome.err);
    for line in outcome.out.lines().chain(outcome.err.lines()) {
        let value = serde_json::from_str::<serde_json::Value>(line);
        assert!(value.is_ok(), "{line}");
    }
}

#[test]
fn what_is_not_json_is_not_passed_on_as_json() {
    let call = ["call", "S", "tool", "{}", "--json-errors"];
    let more = |words: &'static [&'static str]| [&call[..], words].concat();
    for bad in ["{\"x\":[1,,]}", "{\"x\":nope}", "{\"x\":[{]}}", "{\"x\":\"a\tb\"}"] {
        let result =
            format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[],"more":{bad}}}}}"#);
        check_json(&result, &more(&["-j"]), 6);
        check_json(&result, &["rpc", "S", "m", "--json-errors"], 6);
        check_json(&result, &["rpc", "S", "m", "--json-errors", "--envelope"], 6);
        let tools = format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{{"name":"t","inputSchema":{bad}}}]}}}}"#
        );
        check_json(&tools, &["tools", "S", "-j"], 6);
        check_json(&tools, &["schema", "S", "t", "-j"], 6);
        let error = format!(
            r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":1,"message":"m","data":{bad}}}}}"#
        );
        check_json(&error, &more(&[]), 3);
        check_json(&error, &more(&["-o", "events"]), 3);
        check_json(&error, &["rpc", "S", "m", "--json-errors", "--envelope"], 6);
        let notice =
            format!(r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{bad}}}"#);
        let fine = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;
        check_json(&format!("{notice}\n{fine}"), &more(&["-o", "events"]), 0);
        check_json(&format!("{notice}\n{fine}"), &more(&["--notifications"]), 0);
    }
}

#[test]
fn a_list_without_end_is_cut_off() {
    // Every page is a few megabytes of something, and every cursor is a new one.
    let script = r#"
        big=$(head -c 4000000 /dev/zero | tr '\0' x)
        page='{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"t%s"}],"nextCursor":"%s","x":"%s"}}\n'
        while read -r _; do
            n=$((n + 1))
            printf "$page" $n $n $n "$big"
        done
    "#;
    let scratch = Scratch::new();
    let server = format!("exec:sh {}", scratch.write("server.sh", script));
    let outcome = run(&mut scratch.mcpmini(["tools", &server, "--protocol", "2026-07-28"]));
    assert_eq!((outcome.code, outcome.out.lines().count()), (0, 17));
    assert!(outcome.err.contains("cut off at 64 MiB"), "{}", outcome.err);
}

#[test]
fn what_is_no_tool_result_is_no_success() {
    let contents = ["\"done\"", "{}", "7"].map(|it| format!(r#"{{"content":{it}}}"#));
    for result in ["null", "[]", "\"done\"", "7"].into_iter().chain(contents.iter().map(|it| &**it))
    {
        let answer = format!(r#"echo '{{"jsonrpc":"2.0","id":1,"result":{result}}}'"#);
        for form in ["text", "json", "raw"] {
            check(&call(&format!("read -r _; {answer}"), &["{}", "-o", form]), 6, "");
        }
        let scratch = Scratch::new();
        let script = scratch.write("server.sh", format!("read -r _; {answer}"));
        let line = scratch.write("line", r#"{"tool":"t"}"#);
        let batch = ["batch", &format!("exec:sh {script}"), &line, "--protocol", "2026-07-28"];
        let outcome = run(&mut scratch.mcpmini(batch));
        assert!(outcome.code == 6 && outcome.out.contains("no tool result"), "{}", outcome.out);
    }
}

#[test]
fn blocks_that_are_no_text_are_told_with_the_way_to_get_them() {
    let block = r#"{"type":"image","data":"aGk=","mimeType":"image/png"}"#;
    let check = |blocks: &str, note: &str| {
        let answer = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{blocks}]}}}}"#);
        let outcome = call(&format!("read -r _; echo '{answer}'"), &["{}"]);
        assert_eq!((outcome.code, outcome.err.trim_end()), (0, note));
    };
    check(block, "mcpmini: warning: block 1: image/png 2 B, use --save DIR or -o raw");
    let two = format!(r#"{{"type":"text","text":"a"}},{block}"#);
    check(&two, "mcpmini: warning: block 2: image/png 2 B, use --save DIR or -o raw");
}

// ------------------------------------------------------------------- readers and writers

/// Starts a call among pipes that nobody serves, sends it a signal if there is one, and checks how
/// it ends.
#[track_caller]
fn check_stuck(words: &[&str], signal: Option<Signal>, code: i32) {
    check_stuck_command(&[&["call", &demo("")], words].concat(), signal, code);
}

#[track_caller]
fn check_stuck_command(words: &[&str], signal: Option<Signal>, code: i32) {
    let scratch = Scratch::new();
    let (_reader, stdout) = std::io::pipe().unwrap();
    let (stdin, _writer) = std::io::pipe().unwrap();
    let mut command = scratch.mcpmini(words);
    let mut child = command.stdin(stdin).stdout(stdout).stderr(Stdio::null()).spawn().unwrap();
    if let Some(signal) = signal {
        // Long enough to get stuck.
        std::thread::sleep(Duration::from_millis(500));
        assert_eq!(child.try_wait().unwrap(), None);
        kill_process(Pid::from_child(&child), signal).unwrap();
    }
    wait_until("the end", || child.try_wait().unwrap().is_some());
    let status = child.wait().unwrap();
    assert_eq!(status.code().unwrap_or_else(|| 128 + status.signal().unwrap()), code);
}

#[test]
fn a_call_that_waits_for_its_input_can_be_ended() {
    check_stuck(&["add", "-"], Some(Signal::INT), 130);
    check_stuck(&["echo", "text=@-"], Some(Signal::TERM), 143);
    check_stuck(&["add", "-", "-T", "300ms"], None, 124);
}

#[test]
fn a_call_that_waits_for_a_pipe_without_a_writer_can_be_ended() {
    let scratch = Scratch::new();
    let pipe = scratch.path("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
    let pipe = pipe.to_str().unwrap();
    let file = format!("text=@{pipe}");
    check_stuck_command(&["call", "name", "echo", "--config", pipe], Some(Signal::INT), 130);
    check_stuck_command(&["servers", "--config", pipe], Some(Signal::TERM), 143);
    check_stuck(&["echo", "{}", "--answers", pipe], Some(Signal::TERM), 143);
    check_stuck(&["echo", &file], Some(Signal::INT), 130);
    check_stuck(&["echo", &file, "-T", "300ms"], None, 124);
}

#[test]
fn no_file_that_the_command_line_names_is_waited_for_beyond_the_limit() {
    let scratch = Scratch::new();
    let pipe = scratch.path("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
    scratch.write("bundle", "{}");
    let server = demo("");
    let check = |words: &str, variables: &[(&str, &str)]| {
        let words = words.split(' ').map(|word| if word == "SERVER" { &*server } else { word });
        let mut command = scratch.mcpmini(words);
        command.envs(variables.iter().copied()).args(["--max-time", "300ms"]);
        let begun = Instant::now();
        let outcome = run(&mut command);
        assert_eq!(outcome.code, 124, "{command:?}: {}", outcome.err);
        // A pipe that stays silent is given up after ten seconds anyway.
        assert!(begun.elapsed() < Duration::from_secs(8), "{command:?}");
    };
    for words in [
        "call --config pipe s t",
        "call SERVER add a=1 b=2 --lock pipe",
        "lock SERVER --lock pipe",
        "call SERVER add a=1 b=2 --trace pipe",
        "call SERVER add a=1 b=2 --out pipe",
        "call SERVER add @pipe",
        "call SERVER echo {} --answers pipe",
        "batch SERVER pipe",
        "doctor SERVER --baseline pipe",
        "discover file:pipe",
        "card verify bundle --public-key pipe",
        "config import vscode --from pipe",
        "ping http://127.0.0.1:1/ --header-file pipe",
        "ping http://127.0.0.1:1/ --bearer-file pipe",
        "replay pipe",
    ] {
        check(words, &[]);
    }
    check("call SERVER add a=1 b=2", &[("MCPMINI_POLICY", "pipe")]);
    check("servers", &[("MCPMINI_CONFIG", "pipe")]);
}

/// Process substitution: `--config <(…)`.
#[test]
fn files_that_the_command_line_names_may_be_pipes() {
    let scratch = Scratch::new();
    let config =
        serde_json::json!({ "mcpServers": { "s": { "command": crate::support::demo_path() } } });
    scratch.write("config", config.to_string());
    scratch.write("arguments", r#"{"a":1,"b":2}"#);
    scratch.write("lines", r#"{"tool":"add","arguments":{"a":1,"b":2}}"#);
    let locked = run(&mut scratch.mcpmini(["lock", "s", "--config", "config", "--lock", "locked"]));
    assert_eq!(locked.code, 0, "{}", locked.err);
    let check = |words: &str, fed: &str| {
        // Opened by the shell, which may be there before the program or after it.
        let script = format!(
            "mkfifo pipe; cat {fed} >pipe & \"$mcpmini\" {words} --config config; code=$?; rm pipe; exit $code"
        );
        let script = match fed {
            "config" => script.replace(" --config config", ""),
            _ => script,
        };
        let outcome = run(&mut scratch.shell(&script));
        assert_eq!(outcome.code, 0, "{words}: {}", outcome.err);
        assert!(outcome.out.contains('3'), "{words}: {}", outcome.out);
    };
    check("call --config pipe s add a=1 b=2", "config");
    check("call s add a=1 b=2 --lock pipe", "locked");
    check("call s add @pipe", "arguments");
    check("batch s pipe", "lines");
    let reading =
        "mkfifo out; cat out & \"$mcpmini\" call --config config s add a=1 b=2 --out out; wait";
    assert_eq!(run(&mut scratch.shell(reading)).out, "3\n");
}

#[test]
fn a_call_whose_answer_nobody_reads_can_be_ended() {
    check_stuck(&["text", "bytes=1000000"], Some(Signal::INT), 130);
    check_stuck(&["text", "bytes=1000000"], Some(Signal::TERM), 143);
    check_stuck(&["log", "lines=20000", "-o", "events"], Some(Signal::TERM), 143);
    check_stuck(&["text", "bytes=1000000", "-T", "1s"], None, 124);
}

/// A signal that comes while a warning waits for its reader ends the call, and not only the wait.
#[test]
fn a_signal_is_not_lost_on_a_warning_that_nobody_reads() {
    let scratch = Scratch::new();
    let script = scratch.write("server.sh", "echo garbage; touch started; exec sleep 60");
    let (_reader, writer) = std::io::pipe().unwrap();
    rustix::io::ioctl_fionbio(&writer, true).unwrap();
    while rustix::io::write(&writer, &[b'x'; 4096]).is_ok() {}
    let mut command = scratch.mcpmini(["ping", &format!("exec:sh {script}")]);
    let mut child = command.stdout(Stdio::null()).stderr(writer).spawn().unwrap();
    wait_until("the server", || scratch.path("started").exists());
    std::thread::sleep(Duration::from_millis(300));
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    wait_until("the end", || child.try_wait().unwrap().is_some());
    assert_eq!(child.wait().unwrap().signal(), Some(15));
}
