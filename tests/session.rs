//! Servers that stay open for the life of a command: `session`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::fs;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use support::{
    HttpDemo, Outcome, Scratch, answer, demo, demo_path, finish, http_server, processes_with, run,
    wait_until,
};

/// A session with a server, `$server` in the script that it runs. Sockets are in the scratch
/// directory.
fn session(scratch: &Scratch, server: &str, script: &str) -> Command {
    let mut command = scratch.mcpmini(["session", server, "--", "sh", "-c", script]);
    command.env("mcpmini", env!("CARGO_BIN_EXE_mcpmini")).env("server", server);
    command.env("TMPDIR", scratch.path(""));
    command
}

/// A server that writes what it receives into the log.
fn logging(scratch: &Scratch, flags: &str) -> String {
    demo(&format!("--log {} {flags}", scratch.path("log").display()))
}

/// How many messages with a text came to the server.
fn received(scratch: &Scratch, text: &str) -> usize {
    scratch.lines("log").iter().filter(|line| line.contains(text)).count()
}

#[track_caller]
fn check(outcome: &Outcome, code: i32, out: &str) {
    assert_eq!((outcome.code, outcome.out.as_str()), (code, out), "stderr: {}", outcome.err);
}

/// Nothing of a session is left: no socket, no server.
#[track_caller]
fn check_gone(scratch: &Scratch) {
    let entries = fs::read_dir(scratch.path("")).unwrap().filter_map(Result::ok);
    let names = entries.map(|entry| entry.file_name().into_string().unwrap());
    let left: Vec<String> = names.filter(|name| name.starts_with("mcpmini-session")).collect();
    assert_eq!(left, Vec::<String>::new());
    let log = scratch.path("log").to_str().unwrap().to_owned();
    wait_until("the end of the server", || processes_with(&log).is_empty());
}

// ------------------------------------------------------------------------- what it is there for

#[test]
fn what_a_server_keeps_in_memory_lasts_from_call_to_call() {
    let script = r#"for i in 1 2 3; do "$mcpmini" call "$server" count; done"#;
    for era in ["legacy", "modern"] {
        let scratch = Scratch::new();
        let server = logging(&scratch, &format!("--era {era}"));
        let outcome = run(&mut session(&scratch, &server, script));
        check(&outcome, 0, "1\n2\n3\n");
        assert_eq!(outcome.err, "");
        assert_eq!(received(&scratch, "\"tools/call\""), 3);
        // One handshake for all.
        assert!(received(&scratch, "\"initialize\"") <= 1);
        check_gone(&scratch);
    }
    for era in ["legacy", "modern"] {
        let scratch = Scratch::new();
        let server = HttpDemo::start(&["--era", era]);
        check(&run(&mut session(&scratch, &server.url, script)), 0, "1\n2\n3\n");
        check_gone(&scratch);
    }
    // Apart from a session every call has a server of its own.
    let scratch = Scratch::new();
    let script = r#"for i in 1 2; do MCPMINI_SESSION= "$mcpmini" call "$server" count; done"#;
    check(&run(&mut session(&scratch, &demo(""), script)), 0, "1\n1\n");
}

#[test]
fn every_command_uses_the_session() {
    let script = r#"
        "$mcpmini" call "$server" count
        "$mcpmini" call "$server" add a=1 b=2
        printf '{"tool":"count"}\n{"tool":"count"}\n' | "$mcpmini" batch -P1 "$server" - | grep -o '"text":"."'
        "$mcpmini" tools "$server" "coun*" | cut -f1
        "$mcpmini" rpc "$server" tools/call '{"name":"count"}' | grep -o '"text":"."'
        "$mcpmini" info --json "$server" | grep -o '"name":"demo-server"'
        "$mcpmini" ping "$server" >/dev/null && echo up
    "#;
    for era in ["legacy", "modern"] {
        let scratch = Scratch::new();
        let server = demo(&format!("--era {era}"));
        let expected = "1\n3\n\"text\":\"2\"\n\"text\":\"3\"\ncount\n\"text\":\"4\"\n\
                        \"name\":\"demo-server\"\nup\n";
        check(&run(&mut session(&scratch, &server, script)), 0, expected);
    }
}

#[test]
fn the_exit_code_is_that_of_the_command() {
    let scratch = Scratch::new();
    let server = logging(&scratch, "");
    let check = |script: &str, code| {
        let outcome = run(&mut session(&scratch, &server, script));
        assert_eq!(outcome.code, code, "{}", outcome.err);
        check_gone(&scratch);
    };
    check("exit 0", 0);
    check("exit 42", 42);
    check("kill -TERM $$", 143);
    check("kill -KILL $$", 137);
    check(r#""$mcpmini" call "$server" fail"#, 1);
    let with =
        |words: &[&str]| run(&mut scratch.mcpmini(["session", "--"].iter().chain(words))).code;
    assert_eq!(with(&["/no/such/command"]), 127);
    assert_eq!(with(&["no-such-command-anywhere"]), 127);
    assert_eq!(with(&["/etc/passwd"]), 126);
    assert_eq!(with(&["true"]), 0);
    assert_eq!(run(&mut scratch.mcpmini(["session", &server])).code, 2);
}

/// Without its servers the command makes no sense.
#[test]
fn a_command_is_not_run_when_its_server_cannot_be_opened() {
    let scratch = Scratch::new();
    let check = |server: &str, code| {
        let outcome = run(&mut session(&scratch, server, "touch ran"));
        assert_eq!(outcome.code, code, "{}", outcome.err);
        assert!(!scratch.path("ran").exists(), "{server}");
        check_gone(&scratch);
    };
    check("exec:/no/such/program", 4);
    check(&logging(&scratch, "--fault exit"), 4);
    check(&support::closed_url(), 4);
    check("nobody", 9);
}

#[test]
fn the_socket_is_private() {
    let scratch = Scratch::new();
    let script = r#"stat -c %a "$MCPMINI_SESSION" "$(dirname "$MCPMINI_SESSION")""#;
    check(&run(&mut session(&scratch, &demo(""), script)), 0, "600\n700\n");
}

// --------------------------------------------------------------------------- calls side by side

/// Each call hears of its own progress, under the token that it knows.
#[test]
fn calls_do_not_mix_up() {
    let scratch = Scratch::new();
    let server = HttpDemo::start(&[]);
    let script = r#"
        for steps in 2 3 4; do
            "$mcpmini" call "$server" slow steps=$steps pause_ms=100 --notifications >out$steps 2>err$steps &
        done
        wait
    "#;
    check(&run(&mut session(&scratch, &server.url, script)), 0, "");
    for steps in 2..=4 {
        assert_eq!(scratch.lines(&format!("out{steps}")), [format!("{steps} steps done")]);
        let progress = scratch.lines(&format!("err{steps}"));
        assert_eq!(progress.len(), steps, "{progress:?}");
        let total = format!("\"total\":{steps}");
        assert!(progress.iter().all(|line| line.contains(&total)), "{progress:?}");
    }
}

#[test]
fn a_call_that_is_given_up_is_taken_back() {
    let script = r#""$mcpmini" call "$server" slow steps=1 pause_ms=60000 --timeout 1s; echo $?"#;
    for era in ["legacy", "modern"] {
        let scratch = Scratch::new();
        let server = logging(&scratch, &format!("--era {era}"));
        check(&run(&mut session(&scratch, &server, script)), 0, "124\n");
        assert_eq!(received(&scratch, "notifications/cancelled"), 1);
        check_gone(&scratch);
    }
    // A caller that is killed cannot say so itself.
    let scratch = Scratch::new();
    let script = r#"
        "$mcpmini" call "$server" slow steps=600 &
        while ! grep -q '"tools/call"' log; do sleep 0.05; done
        kill -9 $!
        while ! grep -q notifications/cancelled log; do sleep 0.05; done
    "#;
    check(&run(&mut session(&scratch, &logging(&scratch, ""), script)), 0, "");
    check_gone(&scratch);
}

#[test]
fn a_question_is_answered_by_the_call_that_it_is_about() {
    let script = r#"
        "$mcpmini" call "$server" greet --answer name=Ada
        "$mcpmini" call "$server" greet --accept-defaults
        "$mcpmini" call "$server" greet --elicit fail 2>err; echo $?
    "#;
    for era in ["legacy", "modern"] {
        let scratch = Scratch::new();
        let server = demo(&format!("--era {era}"));
        let outcome = run(&mut session(&scratch, &server, script));
        check(&outcome, 0, "hello, Ada\nhello, friend\n10\n");
    }
    // What the session itself answers is for calls that have no answer of their own.
    let scratch = Scratch::new();
    let server = demo("--era legacy");
    let mut command = scratch.mcpmini(["session", "--answer", "name=Eve", &server]);
    command.args(["--", "sh", "-c", r#""$mcpmini" call "$server" greet"#]);
    command.env("mcpmini", env!("CARGO_BIN_EXE_mcpmini")).env("server", &server);
    check(&run(&mut command), 0, "hello, Eve\n");
}

/// Over HTTP a question comes on the stream of the call that it is about. On a pipe nothing tells: it is
/// refused, and nobody is asked what is not theirs to answer.
#[test]
fn a_question_among_several_calls_goes_to_no_wrong_one() {
    let script = r#"
        "$mcpmini" call "$server" slow steps=1 pause_ms=1500 --answer name=Eve >/dev/null &
        sleep 0.7
        "$mcpmini" call "$server" form --answer name=Ada --answer age=36 >form 2>&1 &
        sleep 0.2
        "$mcpmini" call "$server" slow steps=1 pause_ms=1500 --answer name=Eve >/dev/null &
        wait
        cat form
    "#;
    let http = HttpDemo::start(&["--era", "legacy"]);
    let scratch = Scratch::new();
    let outcome = run(&mut session(&scratch, &http.url, script));
    let answered = "{\"form\":{\"action\":\"accept\",\"content\":{\"name\":\"Ada\",\"age\":36}}}\n";
    check(&outcome, 0, answered);
    assert_eq!(outcome.err, "");
    let scratch = Scratch::new();
    let outcome = run(&mut session(&scratch, &demo("--era legacy"), script));
    assert!(outcome.out.contains("no answer to form"), "{outcome:?}");
    assert!(outcome.err.contains("(elicitation/create) was refused"), "{outcome:?}");
    assert!(!outcome.out.contains("Eve"), "{outcome:?}");
}

// ------------------------------------------------------------------------------- other servers

#[test]
fn a_server_that_was_not_named_is_opened_when_it_is_used() {
    let scratch = Scratch::new();
    let log = scratch.write("log", "");
    let servers = |flags: &str| {
        format!(r#"{{"mcpServers":{{"s":{{"command":"{}","args":[{flags}]}}}}}}"#, demo_path())
    };
    scratch.write("config", servers(&format!(r#""--log","{log}""#)));
    let script = r#"
        for i in 1 2; do "$mcpmini" call s count; done
        "$mcpmini" call nobody count 2>/dev/null; echo $?
        MCPMINI_CONFIG=other "$mcpmini" call s count 2>err; echo $?
        for i in 1 2; do "$mcpmini" call "$server" count; done
    "#;
    scratch.write("other", servers(r#""--era","legacy""#));
    let mut command = scratch.mcpmini(["session", "--", "sh", "-c", script]);
    command.env("mcpmini", env!("CARGO_BIN_EXE_mcpmini")).env("server", demo(""));
    command.env("TMPDIR", scratch.path("")).env("MCPMINI_CONFIG", "config");
    check(&run(&mut command), 0, "1\n2\n9\n9\n1\n2\n");
    assert!(scratch.lines("err")[0].contains("another server"), "{:?}", scratch.lines("err"));
    check_gone(&scratch);
}

#[test]
fn a_server_that_is_not_approved_is_not_opened() {
    let scratch = Scratch::new();
    scratch
        .write(".mcp.json", format!(r#"{{"mcpServers":{{"s":{{"command":"{}"}}}}}}"#, demo_path()));
    let script = r#""$mcpmini" call s count; echo $?"#;
    let mut command = scratch.mcpmini(["session", "--", "sh", "-c", script]);
    let outcome = run(command.env("mcpmini", env!("CARGO_BIN_EXE_mcpmini")));
    check(&outcome, 0, "8\n");
    assert!(outcome.err.contains("not approved"), "{}", outcome.err);
    assert_eq!(run(&mut session(&scratch, "s", "true")).code, 8);
}

/// What the session adds to the command line of a server does not make it another server.
#[test]
fn options_of_the_session_hold_for_its_calls() {
    let scratch = Scratch::new();
    let server = demo("");
    let words =
        ["session", "--arg=--era", "--arg=legacy", "--env", "A=1", &server, "--", "sh", "-c"];
    let script = r#""$mcpmini" info --json "$server" | grep -o '"era":"[a-z]*"'"#;
    let mut command = scratch.mcpmini(words.into_iter().chain([script]));
    command.env("mcpmini", env!("CARGO_BIN_EXE_mcpmini")).env("server", &server);
    check(&run(&mut command), 0, "\"era\":\"legacy\"\n");
}

#[test]
fn options_that_come_too_late_are_refused() {
    let check_option = |server: &str, option: &str| {
        let script = format!(r#""$mcpmini" call "$server" count {option}; echo $?"#);
        let outcome = run(&mut session(&Scratch::new(), server, &script));
        check(&outcome, 0, "2\n");
        let flag = option.split(' ').next().unwrap();
        let text = format!("{flag} has no effect in a session");
        assert!(outcome.err.contains(&text), "{}", outcome.err);
    };
    check_option(&demo(""), "--env A=1");
    check_option(&HttpDemo::start(&[]).url, "--client-id me");
}

// ------------------------------------------------------------------------------------- the end

/// A server that ends is started again for the next call; the call that was lost is not repeated.
#[test]
fn a_server_that_ends_is_started_again() {
    let script = r#"
        "$mcpmini" call "$server" count
        "$mcpmini" call "$server" count 2>err; echo $?
        "$mcpmini" call "$server" count
    "#;
    for era in ["legacy", "modern"] {
        let scratch = Scratch::new();
        let server = logging(&scratch, &format!("--era {era} --crash-after 1"));
        let outcome = run(&mut session(&scratch, &server, script));
        check(&outcome, 0, "1\n5\n1\n");
        assert_eq!(received(&scratch, "\"tools/call\""), 3);
        let lost = scratch.lines("err").join("\n");
        assert!(lost.contains("exit status 3") && lost.contains("out of paper"), "{lost}");
        assert!(outcome.err.contains("was started anew"), "{}", outcome.err);
        check_gone(&scratch);
    }
}

#[test]
fn a_lost_call_that_may_run_twice_is_repeated_when_that_is_asked_for() {
    let scratch = Scratch::new();
    let server = logging(&scratch, "--crash-after 0");
    let script = r#""$mcpmini" call "$server" add a=1 b=2 --retry 1 --retry-delay 10ms; echo $?"#;
    let outcome = run(&mut session(&scratch, &server, script));
    check(&outcome, 0, "5\n");
    assert_eq!(received(&scratch, "\"tools/call\""), 2);
}

#[test]
fn signals_go_to_the_command() {
    for (signal, name) in [(Signal::TERM, "TERM"), (Signal::HUP, "HUP"), (Signal::INT, "INT")] {
        let scratch = Scratch::new();
        let server = logging(&scratch, "");
        let script = format!(
            "trap 'echo got {name}; exit 9' {name}; touch up; while :; do sleep 0.05; done"
        );
        let mut command = session(&scratch, &server, &script);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait_until("the command", || scratch.path("up").exists());
        let begin = Instant::now();
        kill_process(Pid::from_child(&child), signal).unwrap();
        check(&finish(child, begin), 9, &format!("got {name}\n"));
        check_gone(&scratch);
    }
}

/// A signal while a server is being opened ends the session before its command.
#[test]
fn a_signal_ends_a_session_that_does_not_stand_yet() {
    let scratch = Scratch::new();
    let server = logging(&scratch, "--fault silent");
    let mut command = session(&scratch, &server, "touch ran");
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("the server", || received(&scratch, "server/discover") == 1);
    let begin = Instant::now();
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let outcome = finish(child, begin);
    check(&outcome, 143, "");
    assert!(outcome.took < Duration::from_secs(5), "{:?}", outcome.took);
    assert!(!scratch.path("ran").exists());
    check_gone(&scratch);
}

#[test]
fn a_command_has_its_time() {
    let scratch = Scratch::new();
    let server = logging(&scratch, "");
    let mut command = session(&scratch, &server, "exec sleep 60");
    let outcome = run(command.env("MCPMINI_MAX_TIME", "500ms"));
    check(&outcome, 124, "");
    assert!(outcome.took < Duration::from_secs(10), "{:?}", outcome.took);
    check_gone(&scratch);
}

#[test]
fn a_session_that_is_over_is_told() {
    let scratch = Scratch::new();
    let mut command = scratch.mcpmini(["call", &demo(""), "count"]);
    let outcome = run(command.env("MCPMINI_SESSION", scratch.path("gone/socket")));
    check(&outcome, 4, "");
    assert!(outcome.err.contains("the session is over"), "{}", outcome.err);
}

/// Killed without a chance to clean up, a session leaves no server behind.
#[test]
fn a_killed_session_leaves_no_server_behind() {
    let scratch = Scratch::new();
    let server = logging(&scratch, "");
    let mut command =
        session(&scratch, &server, r#""$mcpmini" call "$server" count; touch up; exec sleep 30"#);
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    wait_until("the command", || scratch.path("up").exists());
    child.kill().unwrap();
    child.wait().unwrap();
    let log = scratch.path("log").to_str().unwrap().to_owned();
    wait_until("the end of the server", || {
        processes_with(&log).iter().all(|pid| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            !String::from_utf8_lossy(&line).contains("demo-server\0")
        })
    });
}

/// A legacy server that forgets each session after so many calls of its tool. Tells how many sessions it
/// has begun, and how many calls it has run.
fn forgetful(calls: usize) -> (String, Arc<AtomicUsize>, Arc<AtomicUsize>) {
    let (sessions, run) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
    let (begun, ran) = (sessions.clone(), run.clone());
    let left = AtomicUsize::new(0);
    let url = http_server(move |request| {
        let (head, body) = request.split_once("\r\n\r\n").unwrap_or_default();
        let body: Value = serde_json::from_str(body).unwrap_or_default();
        let session = format!("mcp-session-id: session-{}", begun.load(Ordering::SeqCst));
        let is_known = head.to_ascii_lowercase().contains(&session);
        let reply = |result: Value| {
            let reply = json!({ "jsonrpc": "2.0", "id": body["id"], "result": result });
            answer("200 OK", &reply.to_string())
        };
        match body["method"].as_str() {
            Some("initialize") => {
                left.store(calls, Ordering::SeqCst);
                let number = begun.fetch_add(1, Ordering::SeqCst) + 1;
                let result = json!({ "protocolVersion": "2025-06-18", "capabilities": { "tools": {} },
                                     "serverInfo": { "name": "forgetful", "version": "1" } });
                let id = format!("200 OK\r\nMcp-Session-Id: session-{number}");
                reply(result).replacen("200 OK", &id, 1)
            }
            Some("server/discover") => answer("400 Bad Request", ""),
            _ if !is_known => answer("404 Not Found", ""),
            Some("notifications/initialized") => answer("202 Accepted", ""),
            Some("tools/list") => {
                let tool = json!({ "name": "add", "inputSchema": { "type": "object" } });
                reply(json!({ "tools": [tool] }))
            }
            Some("tools/call") if left.load(Ordering::SeqCst) == 0 => answer("404 Not Found", ""),
            Some("tools/call") => {
                left.fetch_sub(1, Ordering::SeqCst);
                ran.fetch_add(1, Ordering::SeqCst);
                reply(json!({ "content": [{ "type": "text", "text": "done" }] }))
            }
            _ => answer("200 OK", ""),
        }
    });
    (url, sessions, run)
}

/// What is refused with 404 has not run: it is sent again in a new session, which nobody has to ask for.
#[test]
fn a_session_that_the_server_has_forgotten_costs_no_call() {
    let check = |words: &[&str], accepted: bool| {
        let (url, sessions, run_calls) = forgetful(5);
        let scratch = Scratch::new();
        if accepted {
            let outcome = run(&mut scratch.mcpmini(["call", &url, "add", "a=1"]));
            assert_eq!((outcome.code, &*outcome.out), (0, "done\n"), "{}", outcome.err);
        }
        let (before, begun) = (run_calls.load(Ordering::SeqCst), sessions.load(Ordering::SeqCst));
        scratch.write("calls.ndjson", "{\"tool\":\"add\"}\n".repeat(12));
        let mut command =
            scratch.mcpmini(words.iter().map(|it| if *it == "URL" { &url } else { *it }));
        let outcome = run(command.env("mcpmini", env!("CARGO_BIN_EXE_mcpmini")).env("url", &url));
        assert_eq!(outcome.code, 0, "{words:?} {accepted}: {} {}", outcome.out, outcome.err);
        assert_eq!(run_calls.load(Ordering::SeqCst) - before, 12, "{words:?} {accepted}");
        assert!(2 < sessions.load(Ordering::SeqCst) - begun, "{words:?} {accepted}");
    };
    let script =
        "for n in 1 2 3 4 5 6 7 8 9 10 11 12; do \"$mcpmini\" call \"$url\" add a=1 || exit; done";
    for accepted in [false, true] {
        check(&["batch", "URL", "calls.ndjson", "-P", "1"], accepted);
        check(&["batch", "URL", "calls.ndjson"], accepted);
        check(&["session", "URL", "--", "sh", "-c", script], accepted);
        check(&["bench", "URL", "add", "{}", "-n", "12"], accepted);
    }
}
