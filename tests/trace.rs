//! `--trace`, `replay` and `--dry-run`: what goes over the wire, written down, said again, and shown
//! without being sent.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;
use support::{
    HttpDemo, Outcome, Scratch, answer, demo, demo_path, http_server, run, run_with_input,
};

#[track_caller]
fn mcpmini(scratch: &Scratch, words: &[&str]) -> Outcome {
    run(&mut scratch.mcpmini(words))
}

#[track_caller]
fn check(outcome: &Outcome, code: i32, out: &str) {
    assert_eq!((outcome.code, outcome.out.as_str()), (code, out), "stderr: {}", outcome.err);
}

fn values(lines: &[String]) -> Vec<Value> {
    lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The lines of a trace.
fn trace(scratch: &Scratch, name: &str) -> Vec<Value> {
    values(&scratch.lines(name))
}

/// What replays a trace, as SERVER.
fn replay(trace: &str) -> String {
    format!("exec:'{}' replay '{trace}'", env!("CARGO_BIN_EXE_mcpmini"))
}

// ----------------------------------------------------------------------------------- --trace

#[test]
fn a_trace_has_every_message_as_it_was() {
    let scratch = Scratch::new();
    let server = demo("--log log");
    let words = ["call", &server, "arguments", r#"{"id": 12345678901234567890123, "price": 1.50}"#];
    let outcome = mcpmini(&scratch, &[&words[..], &["--trace", "t.jsonl"]].concat());
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    let mode = fs::metadata(scratch.path("t.jsonl")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let lines = scratch.lines("t.jsonl");
    let sent = lines.iter().filter(|line| line.contains(r#""dir":"out""#));
    let sent: Vec<_> = sent.map(|line| line.split_once(r#""msg":"#).unwrap().1).collect();
    let mut received = scratch.lines("log");
    assert_eq!(received.pop().as_deref(), Some("EOF"));
    let received: Vec<_> = received.iter().map(|line| format!("{line}}}")).collect();
    assert_eq!(sent, received, "byte by byte what the server received");

    let values = values(&lines);
    for pair in values.windows(2) {
        assert!(pair[0]["t"].as_f64().unwrap() <= pair[1]["t"].as_f64().unwrap());
    }
    for (value, line) in values.iter().zip(&lines) {
        let message = line.split_once(r#""msg":"#).unwrap().1;
        assert_eq!(value["bytes"], message.len() - 1, "{line}");
        assert_eq!(value["server"], server);
    }
    let answer = lines.last().unwrap();
    assert!(answer.contains(r#""dir":"in""#) && answer.contains("12345678901234567890123"));
}

#[test]
fn headers_may_come_through_a_pipe() {
    let scratch = Scratch::new();
    let server = HttpDemo::start(&[]);
    let words = ["ping", &server.url, "--trace", "t.jsonl", "--header-file", "/dev/stdin"];
    let outcome = run_with_input(&mut scratch.mcpmini(words), Some(b"X-Team: red\n"));
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    let sent: Vec<_> =
        trace(&scratch, "t.jsonl").into_iter().filter(|line| line["dir"] == "out").collect();
    assert!(!sent.is_empty());
    assert!(sent.iter().all(|line| line["http"]["headers"]["x-team"] == "***"), "{sent:?}");
}

#[test]
fn a_trace_of_http_has_heads_without_secrets() {
    let scratch = Scratch::new();
    let server = HttpDemo::start(&["--era", "legacy"]);
    scratch.write("token", "hunter2\n");
    let outcome = run(&mut scratch.mcpmini([
        "call",
        &format!("{}?api_key=hunter2", server.url),
        "echo",
        "{\"text\":\"hi\"}",
        "--bearer-file=token",
        "-HX-Own: hunter2",
        "--trace=t.jsonl",
    ]));
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    assert!(!scratch.lines("t.jsonl").concat().contains("hunter2"));

    let words = ["call", &server.url, "echo", "{\"text\":\"hi\"}", "--bearer-file=token"];
    check(&mcpmini(&scratch, &[&words[..], &["--trace=t.jsonl"]].concat()), 0, "hi\n");
    let lines = trace(&scratch, "t.jsonl");
    assert!(!scratch.lines("t.jsonl").concat().contains("hunter2"));
    let requests: Vec<_> = lines.iter().filter(|line| line["http"]["method"].is_string()).collect();
    let methods: Vec<_> = requests.iter().map(|line| line["msg"]["method"].as_str()).collect();
    let opening = [Some("server/discover"), Some("initialize"), Some("notifications/initialized")];
    assert_eq!(methods, [&opening[..], &[Some("tools/call"), None]].concat());
    for request in &requests {
        assert_eq!(request["http"]["headers"]["authorization"], "Bearer ***");
    }
    let last = requests.last().unwrap();
    assert_eq!(last["http"]["method"], "DELETE");
    assert_eq!(last["http"]["headers"]["mcp-session-id"], "***");
    let replies: Vec<_> = lines.iter().filter_map(|line| line["http"]["status"].as_u64()).collect();
    assert_eq!(replies, [200, 200, 202, 200, 200]);
}

#[test]
fn a_refusal_is_in_the_trace() {
    let scratch = Scratch::new();
    let url = http_server(|_| answer("401 Unauthorized", "go away"));
    assert_eq!(mcpmini(&scratch, &["ping", &url, "--trace", "t.jsonl"]).code, 7);
    let lines = trace(&scratch, "t.jsonl");
    assert_eq!(lines[1]["http"]["status"], 401);
    assert_eq!(lines[2]["text"], "go away");
}

#[test]
fn a_trace_goes_where_it_is_wanted() {
    let scratch = Scratch::new();
    let count = |name: &str| scratch.lines(name).len();
    let call = r#""$mcpmini" call "$demo" echo '{"text":"hi"}'"#;
    let shell = |script: &str| {
        check(&run(&mut scratch.shell(&script.replace("CALL", call))), 0, "hi\n");
    };
    shell("CALL --trace a");
    let lines = count("a");
    shell("CALL --trace a");
    assert_eq!(count("a"), lines - 2, "made anew; the era is known by now");
    shell("MCPMINI_TRACE=b CALL");
    shell("MCPMINI_TRACE=b CALL >/dev/null && MCPMINI_TRACE=b CALL");
    assert_eq!(count("b"), 3 * (lines - 2), "appended to");
    shell("CALL --trace fd:3 3>c");
    assert_eq!(count("c"), lines - 2);
    shell("CALL --trace fd:5 5>&1 >/dev/null | grep -c '\"t\":' >d; echo hi");
    assert_eq!(scratch.lines("d"), [(lines - 2).to_string()]);

    fs::set_permissions(scratch.path("a"), fs::Permissions::from_mode(0o644)).unwrap();
    shell("CALL --trace a");
    let mode = fs::metadata(scratch.path("a")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let full =
        mcpmini(&scratch, &["call", &demo(""), "echo", "{\"text\":\"hi\"}", "--trace=/dev/full"]);
    check(&full, 0, "hi\n");
    assert!(full.err.contains("the trace in /dev/full is not complete"), "{}", full.err);
    for bad in ["no/such/directory/t", "fd:9", "."] {
        assert_eq!(mcpmini(&scratch, &["ping", &demo(""), "--trace", bad]).code, 9, "{bad}");
    }
    assert_eq!(mcpmini(&scratch, &["ping", &demo(""), "--trace", "fd:1"]).code, 2);
}

// ------------------------------------------------------------------------------------ replay

#[test]
fn a_trace_answers_as_the_server_did() {
    let scratch = Scratch::new();
    for era in ["legacy", "modern"] {
        let trace = scratch.path(&format!("{era}.jsonl")).display().to_string();
        let server = demo(&format!("--era {era}"));
        let commands: [&[&str]; 6] = [
            &["tools"],
            &["call", "echo", "text=hi"],
            &["call", "fail", "message=no"],
            &["call", "numbers", "{}", "-j"],
            &["call", "greet", "{}", "--answer", "name=Ada"],
            &["rpc", "no/such/method"],
        ];
        let ask = |server: &str, words: &[&str], trace: Option<&str>| {
            let words = [&words[..1], &[server], &words[1..]].concat();
            let mut command = scratch.mcpmini(words);
            command.envs(trace.map(|trace| ("MCPMINI_TRACE", trace)));
            let outcome = run(&mut command);
            // Errors name the server.
            (outcome.code, outcome.out, outcome.err.replace(server, "SERVER"))
        };
        let recorded: Vec<_> =
            commands.iter().map(|words| ask(&server, words, Some(&trace))).collect();
        for _ in 0..2 {
            let replayed: Vec<_> =
                commands.iter().map(|words| ask(&replay(&trace), words, None)).collect();
            assert_eq!(replayed, recorded, "{era}");
        }
        let (code, _, err) = ask(&replay(&trace), &["call", "echo", "text=other"], None);
        assert_eq!(code, 3);
        assert!(
            err.contains("not in the trace: tools/call {\"arguments\":{\"text\":\"other\"}"),
            "{err}"
        );
    }
}

#[test]
fn progress_is_replayed_with_the_token_of_now() {
    let scratch = Scratch::new();
    let words = ["slow", "{\"steps\":2,\"pause_ms\":1}", "--notifications"];
    let recorded = mcpmini(&scratch, &[&["call", &demo(""), "--trace=t"], &words[..]].concat());
    let replayed = mcpmini(&scratch, &[&["call", &replay("t")], &words[..]].concat());
    check(&replayed, 0, &recorded.out);
    assert_eq!(recorded.err.lines().count(), 2);
    // Here the era must be found out first, so that the ids are others.
    assert_eq!(replayed.err.lines().count(), 2, "{}", replayed.err);
}

#[test]
fn a_replay_is_a_plain_filter() {
    let scratch = Scratch::new();
    let request = r#"{"jsonrpc":"2.0","id":"x","method":"ping"}"#;
    let line = |dir: &str, message: &str| format!("{{\"dir\":\"{dir}\",\"msg\":{message}}}\n");
    let trace = line("out", r#"{"id":1,"method":"ping"}"#) + &line("in", r#"{"id":1,"result":{}}"#);
    scratch.write("t.jsonl", &trace);
    let mut command = scratch.mcpmini(["replay", "t.jsonl"]);
    let outcome = run_with_input(&mut command, Some(request.as_bytes()));
    check(&outcome, 0, "{\"id\":\"x\",\"result\":{}}\n");
    assert_eq!(outcome.err, "");

    let both = format!("{trace}{}", trace.replace("{\"dir\"", "{\"server\":\"s\",\"dir\""));
    scratch.write("both.jsonl", both);
    for (words, code, text) in [
        (&["both.jsonl"][..], 9, "choose one: , s"),
        (&["both.jsonl", "s"], 0, ""),
        (&["both.jsonl", "x"], 9, "not in it"),
        (&["none.jsonl"], 9, "none.jsonl"),
        (&["/dev/null"], 9, "no request in it"),
        (&[], 2, "FILE"),
        (&["t.jsonl", "-j"], 2, "json"),
    ] {
        let outcome = mcpmini(&scratch, &[&["replay"], words].concat());
        assert_eq!((outcome.code, outcome.out.as_str()), (code, ""), "{}", outcome.err);
        assert!(outcome.err.contains(text), "{words:?}: {}", outcome.err);
    }
}

// --------------------------------------------------------------------------------- --dry-run

#[test]
fn a_dry_run_shows_what_the_call_then_sends() {
    let scratch = Scratch::new();
    for flags in ["--protocol=2025-06-18", "--protocol=2026-07-28", "--id-format=string"] {
        let server = demo("--log log");
        let words = ["call", &server, "echo", "text:=\"hi\"", "--meta", "k=v", flags];
        let shown = mcpmini(&scratch, &[&words[..], &["--dry-run"]].concat());
        assert!(!scratch.path("log").exists(), "nothing is started");
        check(&mcpmini(&scratch, &words), 0, "hi\n");
        let mut sent = scratch.lines("log");
        assert_eq!(sent.pop().as_deref(), Some("EOF"));
        check(&shown, 0, &(sent.join("\n") + "\n"));
        fs::remove_file(scratch.path("log")).unwrap();
    }
}

#[test]
fn a_dry_run_says_what_is_not_known() {
    let scratch = Scratch::new();
    let server = demo("");
    let words = ["call", &server, "echo", "{\"text\":\"hi\"}", "--dry-run"];
    let shown = mcpmini(&scratch, &words);
    assert_eq!(shown.code, 0);
    assert!(shown.err.contains("it is not known which revision the server speaks"));
    let methods: Vec<_> = values(&shown.out.lines().map(str::to_owned).collect::<Vec<_>>())
        .iter()
        .map(|line| line["method"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(methods, ["server/discover", "tools/call"]);

    let typed = ["call", &server, "add", "a=1", "b=2", "--dry-run"];
    let shown = mcpmini(&scratch, &typed);
    check(&shown, 2, "");
    assert!(shown.err.contains("the schema of the tool \"add\" is not stored"), "{}", shown.err);
    assert_eq!(mcpmini(&scratch, &["tools", &server]).code, 0);
    let shown = mcpmini(&scratch, &typed);
    assert_eq!(shown.code, 0, "{}", shown.err);
    assert!(shown.out.contains("\"arguments\":{\"a\":1,\"b\":2}"), "{}", shown.out);
    assert_eq!(mcpmini(&scratch, &["call", &server, "add", "a=x", "b=2", "--dry-run"]).code, 2);
    assert_eq!(mcpmini(&scratch, &["call", &server, "ad", "a=1", "--dry-run"]).code, 3);
}

#[test]
fn a_dry_run_says_what_it_would_start_without_secrets() {
    let scratch = Scratch::new();
    let entry = r#"{"command": "s", "args": ["${T}", "--key", "hunter2", "-v"]}"#;
    fs::create_dir_all(scratch.path(".config/mcpmini")).unwrap();
    let file = format!(r#"{{"mcpServers": {{"s": {entry}}}}}"#);
    scratch.write(".config/mcpmini/config.json", file);
    let words = ["call", "s", "t", "{}", "--dry-run", "-v", "--arg=--token=hunter2"];
    let shown = run(scratch.mcpmini(words).env("T", "hunter2"));
    assert_eq!(shown.code, 0, "{}", shown.err);
    let line = "would start s '***' --key '***' -v '--token=***'\n";
    assert!(shown.err.contains(line), "{}", shown.err);
    assert!(!shown.err.contains("hunter2"), "{}", shown.err);
}

#[test]
fn a_dry_run_of_http_shows_the_request_without_secrets() {
    let scratch = Scratch::new();
    // Nothing listens there, and no name server knows it.
    let words = [
        "rpc",
        "https://host.invalid/mcp?key=hunter2",
        "tools/call",
        "{\"name\": \"näme\", \"n\": 1.50}",
        "--protocol=2026-07-28",
        "-HX-Team: hunter2",
        "--bearer-command=touch ran; echo hunter2",
        "--dry-run",
    ];
    let shown = mcpmini(&scratch, &words);
    let version = env!("CARGO_PKG_VERSION");
    let body = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"näme\",\
         \"n\":1.50,\"_meta\":{{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\
         \"io.modelcontextprotocol/clientInfo\":{{\"name\":\"mcpmini\",\"version\":\"{version}\"}},\
         \"io.modelcontextprotocol/clientCapabilities\":{{}},\"progressToken\":1}}}}}}"
    );
    let expected = format!(
        "POST https://host.invalid/mcp?key=***\nX-Team: ***\nUser-Agent: mcpmini/{version}\n\
         Authorization: Bearer ***\nContent-Type: application/json\n\
         Accept: application/json, text/event-stream\nMcp-Protocol-Version: 2026-07-28\n\
         Mcp-Method: tools/call\nMcp-Name: =?base64?bsOkbWU=?=\n\n{body}\n\n"
    );
    check(&shown, 0, &expected);
    assert_eq!(shown.err, "");
    assert!(!scratch.path("ran").exists(), "no command is run");
    let line = mcpmini(&scratch, &[&words[..], &["-j"]].concat()).out;
    let value: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(value["http"]["headers"]["mcp-method"], "tools/call");
    assert_eq!(value["bytes"], body.len());
    assert!(!line.contains("hunter2"));
}

#[test]
fn a_dry_run_runs_no_command_of_the_configuration() {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.path(".config/mcpmini")).unwrap();
    scratch.write(
        ".config/mcpmini/config.json",
        format!(
            r#"{{"mcpServers": {{
                "web": {{"url": "http://h/", "headers": {{"X-Key": "!touch ran; echo x"}}}},
                "demo": {{"command": "{}", "args": ["--log", "log"], "env": {{"K": "!touch ran"}}}} }} }}"#,
            demo_path()
        ),
    );
    for server in ["web", "demo"] {
        let words = ["rpc", server, "ping", "--protocol=2025-06-18", "--dry-run"];
        let shown = mcpmini(&scratch, &words);
        assert_eq!((shown.code, shown.err.as_str()), (0, ""));
    }
    assert!(!scratch.path("ran").exists() && !scratch.path("log").exists());
}

#[test]
fn headers_from_a_pipe_are_not_lost() {
    let scratch = Scratch::new();
    let words = ["call", "http://127.0.0.1:9/mcp", "echo", "--dry-run", "--no-schema"];
    let mut command = scratch.mcpmini([&words[..], &["--header-file=/dev/stdin"]].concat());
    let outcome = run_with_input(&mut command, Some(b"X-Own: hunter2\n"));
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    assert!(outcome.out.contains("\nX-Own: ***\n"), "{}", outcome.out);
}
