//! Several servers at the same time, and what is stored about them: `servers`, `tools --all`,
//! `cache`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use support::{Outcome, Scratch, demo, demo_path, finish, processes_with, run, wait_until};

/// Writes the user's configuration: servers by their name, each a command line for the shell in
/// which `$demo` is the demo server.
fn configure(scratch: &Scratch, servers: &[(&str, &str)]) {
    let log = scratch.path("log").display().to_string();
    let mut all = serde_json::Map::new();
    for (name, line) in servers {
        let line = line.replace("$demo", &format!("{} --log {log}.{name}", demo_path()));
        all.insert((*name).to_owned(), json!({ "command": "sh", "args": ["-c", line] }));
    }
    fs::create_dir_all(scratch.path(".config/mcpmini")).unwrap();
    let text = json!({ "mcpServers": all }).to_string();
    scratch.write(".config/mcpmini/config.json", text);
}

/// A few servers: two that answer, one that cannot be started, and one that says nothing.
const SERVERS: [(&str, &str); 4] = [
    ("good", "exec $demo"),
    ("gone", "exec /no/such/program"),
    ("mute", "exec $demo --fault silent"),
    ("old", "exec $demo --era legacy"),
];

#[track_caller]
fn run_words(scratch: &Scratch, words: &[&str]) -> Outcome {
    run(&mut scratch.mcpmini(words))
}

/// The lines of an outcome, as JSON.
#[track_caller]
fn rows(outcome: &Outcome) -> Vec<Value> {
    outcome.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[track_caller]
fn row<'r>(rows: &'r [Value], name: &str) -> &'r Value {
    rows.iter().find(|row| row["name"] == name || row["server"] == name).unwrap()
}

// ------------------------------------------------------------------------------------- servers

#[test]
fn servers_are_listed_with_their_state() {
    let scratch = Scratch::new();
    configure(&scratch, &[("mine", "exec $demo"), ("both", "exec $demo")]);
    scratch.write(
        ".mcp.json",
        r#"{"mcpServers":{"both":{"command":"a","env":{"HOME":"/tmp/x","A_TOKEN":"t","B":"${B:-b}"}},
            "web":{"url":"https://x.example/mcp","headers":{"X-A":"a","Authorization":"Bearer t"}},
            "sse":{"type":"sse","url":"https://x.example/sse"},
            "off":{"command":"b","disabled":true},"bad":{"command":7}}}"#,
    );
    let outcome = run_words(&scratch, &["servers", "--json"]);
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""));
    let found = rows(&outcome);
    let check = |at: usize, name: &str, kind: Value, state: &str, layer: Value| {
        let row = &found[at];
        let shown = [&row["name"], &row["kind"], &row["state"], &row["layer"]];
        assert_eq!(shown, [&json!(name), &kind, &json!(state), &layer], "{row}");
    };
    check(0, "both", json!("stdio"), "unapproved", json!("project"));
    check(1, "web", json!("http"), "unapproved", json!("project"));
    check(2, "sse", json!("sse"), "unapproved", json!("project"));
    check(3, "off", Value::Null, "disabled", Value::Null);
    check(4, "bad", Value::Null, "broken", Value::Null);
    check(5, "mine", json!("stdio"), "ready", json!("user"));
    check(6, "both", json!("stdio"), "hidden", json!("user"));
    assert!(found[4]["error"]["message"].as_str().unwrap().contains("\"command\""));

    let waiting = rows(&run_words(&scratch, &["approve", "-j"]));
    assert_eq!(waiting[0]["env"], json!({"HOME": "/tmp/x", "A_TOKEN": "***", "B": "${B:-b}"}));
    assert_eq!(waiting[1]["headers"], json!({"X-A": "a", "Authorization": "Bearer ***"}));
    let refused = run_words(&scratch, &["call", "both", "t"]);
    let digest = refused.err.split_whitespace().find(|word| word.starts_with("sha256:")).unwrap();
    assert_eq!(run_words(&scratch, &["approve", "both", "--accept", digest]).code, 0);
    let outcome = run_words(&scratch, &["servers", "both"]);
    let states: Vec<_> = outcome.out.lines().map(|line| line.split('\t').nth(2).unwrap()).collect();
    assert_eq!(states, ["approved", "hidden"]);
    // What cannot be used is not ready.
    configure(&scratch, &[("mine", "exec $demo")]);
    let definitions = [
        r#"{"url":"ftp://x"}"#,
        r#"{"url":"https://x.example/${NO_SUCH_VARIABLE}"}"#,
        r#"{"command":"a","cwd":"/no/such/directory"}"#,
    ];
    for definition in definitions {
        scratch.write(".mcpmini.json", format!("{{\"mcpServers\":{{\"bad\":{definition}}}}}"));
        let waits = run_words(&scratch, &["approve", "-j"]);
        let digest = rows(&waits)[0]["sha256"].as_str().unwrap().to_owned();
        assert_eq!(run_words(&scratch, &["approve", "bad", "--accept", &digest]).code, 0);
        let found = rows(&run_words(&scratch, &["servers", "-j", "bad"]));
        assert_eq!(found[0]["state"], "broken", "{definition}: {found:?}");
        assert!(found[0]["error"]["message"].as_str().unwrap().contains("\"bad\""), "{found:?}");
    }
    let outcome = run_words(&scratch, &["servers", "nobody"]);
    assert_eq!(outcome.code, 9);
    assert!(outcome.err.contains("nobody"), "{}", outcome.err);
}

#[test]
fn no_servers_are_no_error_in_a_list_and_one_where_some_are_needed() {
    let scratch = Scratch::new();
    let outcome = run_words(&scratch, &["servers"]);
    assert_eq!((outcome.code, outcome.out.as_str(), outcome.err.as_str()), (0, "", ""));
    assert_eq!(run_words(&scratch, &["servers", "--check"]).code, 9);
    assert_eq!(run_words(&scratch, &["tools", "--all"]).code, 9);
    scratch.write("broken", "{");
    for words in [&["servers"][..], &["servers", "--check"], &["tools", "--all"]] {
        let outcome = run_words(&scratch, &[words, &["--config", "broken"]].concat());
        assert_eq!(outcome.code, 9, "{words:?}");
        assert!(outcome.err.contains("broken"), "{words:?}: {}", outcome.err);
    }
}

#[test]
fn all_servers_are_tried_side_by_side_with_one_deadline() {
    let scratch = Scratch::new();
    configure(&scratch, &SERVERS);
    let outcome = run_words(&scratch, &["servers", "--check", "--json", "-T", "2s"]);
    // The first that failed in the order of the configuration.
    assert_eq!(outcome.code, 4, "{}", outcome.err);
    assert!(outcome.took < Duration::from_secs(8), "{:?}", outcome.took);
    let found = rows(&outcome);
    assert_eq!(found.len(), 4, "{}", outcome.out);
    let good = row(&found, "good");
    assert_eq!((&good["exit"], &good["era"]), (&json!(0), &json!("modern")));
    assert!(3 < good["tools"].as_u64().unwrap());
    assert_eq!(row(&found, "old")["protocolVersion"], "2025-11-25");
    assert_eq!(row(&found, "gone")["error"]["class"], "unreachable");
    let mute = row(&found, "mute");
    assert_eq!((&mute["exit"], &mute["error"]["class"]), (&json!(124), &json!("timeout")));
    let error: Value = serde_json::from_str(&outcome.err).unwrap();
    assert_eq!(error["error"]["server"], "gone");

    let outcome = run_words(&scratch, &["servers", "--check", "good", "old"]);
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""), "{}", outcome.out);
    let outcome = run_words(&scratch, &["servers", "--check", "good", "nobody"]);
    assert_eq!(outcome.code, 9);
    let log = scratch.path("log").display().to_string();
    wait_until("the end of all servers", || processes_with(&log).is_empty());
}

/// Everybody is told of a signal, and nobody is left behind.
#[test]
fn a_signal_ends_a_look_at_many_servers() {
    for words in [&["servers", "--check"][..], &["tools", "--all"]] {
        let scratch = Scratch::new();
        let silent = "exec $demo --fault silent";
        configure(&scratch, &[("a", silent), ("b", silent), ("c", silent)]);
        let mut command = scratch.mcpmini(words);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let asked = |name: &&str| !scratch.lines(&format!("log.{name}")).is_empty();
        wait_until("the servers", || ["a", "b", "c"].iter().all(asked));
        let begin = Instant::now();
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        let outcome = finish(child, begin);
        assert_eq!((outcome.code, outcome.out.as_str()), (143, ""), "{}", outcome.err);
        assert!(outcome.took < Duration::from_secs(5), "{:?}", outcome.took);
        let log = scratch.path("log").display().to_string();
        wait_until("the end of all servers", || processes_with(&log).is_empty());
    }
}

// ----------------------------------------------------------------------------------- tools --all

#[test]
fn the_tools_of_all_servers_are_listed_and_each_error_is_told() {
    let scratch = Scratch::new();
    configure(&scratch, &SERVERS);
    let words = ["tools", "--all", "ec?o", "-T", "2s"];
    let outcome = run_words(&scratch, &words);
    assert_eq!(outcome.code, 4, "{}", outcome.err);
    let mut lines: Vec<_> = outcome.out.lines().collect();
    lines.sort_unstable();
    let expected = ["good", "old"]
        .map(|name| format!("{name}\techo\techo(text: string)\tGives the text back"));
    assert_eq!(lines, expected);
    assert!(outcome.err.contains("mcpmini: gone: "), "{}", outcome.err);
    assert!(outcome.err.contains("mcpmini: mute: "), "{}", outcome.err);

    let outcome = run_words(&scratch, &[&words[..], &["--json"]].concat());
    let found = rows(&outcome);
    assert_eq!((outcome.code, found.len()), (4, 4), "{}", outcome.out);
    assert_eq!(row(&found, "old")["tool"]["name"], "echo");
    assert_eq!(row(&found, "mute")["error"]["exit"], 124);

    // Nothing found, when all have answered.
    configure(&scratch, &[("good", "exec $demo"), ("old", "exec $demo --era legacy")]);
    for words in [&["zzzz"][..], &["zz*"], &["--grep", "zzzz"], &["echo", "--grep", "zzzz"]] {
        let outcome = run_words(&scratch, &[&["tools", "--all"], words].concat());
        assert_eq!((outcome.code, outcome.out.as_str()), (11, ""), "{words:?}: {}", outcome.err);
        assert!(outcome.err.contains("no tool of any server fits"), "{}", outcome.err);
        assert_eq!(outcome.err.lines().count(), 1, "{}", outcome.err);
    }
    assert_eq!(run_words(&scratch, &["tools"]).code, 2);
    assert_eq!(run_words(&scratch, &["tools", "--all", "a", "b"]).code, 2);
}

/// A server that is slow to start is stood in for by what is stored about it.
#[test]
fn a_slow_server_is_stood_in_for_by_its_stored_list() {
    let scratch = Scratch::new();
    let slow = "test -e slow && sleep 30; exec $demo";
    configure(&scratch, &[("fast", "exec $demo"), ("slow", slow)]);
    // Nothing is stored yet: the list is waited for.
    let outcome = run_words(&scratch, &["tools", "--all", "echo", "--json"]);
    assert_eq!((outcome.code, rows(&outcome).len()), (0, 2), "{}", outcome.err);
    scratch.write("slow", "");
    let outcome = run_words(&scratch, &["tools", "--all", "echo", "--json"]);
    let found = rows(&outcome);
    assert_eq!((outcome.code, found.len()), (0, 2), "{}", outcome.err);
    assert_eq!(
        (&row(&found, "slow")["stale"], &row(&found, "fast")["stale"]),
        (&json!(true), &Value::Null)
    );
    assert!(outcome.err.contains("slow: the list is stale"), "{}", outcome.err);
    assert!(outcome.took < Duration::from_secs(5), "{:?}", outcome.took);
    let outcome = run_words(&scratch, &["tools", "--all", "echo"]);
    assert!(
        outcome.out.contains("slow\techo\techo(text: string)\t(stale) Gives"),
        "{}",
        outcome.out
    );

    // However many are slow, one line says so.
    configure(&scratch, &[("slow", slow), ("slow2", slow)]);
    fs::remove_file(scratch.path("slow")).unwrap();
    assert_eq!(run_words(&scratch, &["tools", "--all", "echo"]).code, 0);
    scratch.write("slow", "");
    let outcome = run_words(&scratch, &["tools", "--all", "echo"]);
    assert_eq!((outcome.code, outcome.err.lines().count()), (0, 1), "{}", outcome.err);
    assert!(outcome.err.contains("slow, slow2: the lists are stale"), "{}", outcome.err);

    // One server alone is waited for, unless that is not wanted.
    let outcome = run_words(&scratch, &["tools", "slow", "e*", "--cached-ok", "100ms"]);
    assert_eq!((outcome.code, outcome.out.lines().count()), (0, 1), "{}", outcome.err);
    assert!(outcome.took < Duration::from_secs(5), "{:?}", outcome.took);
    let words = ["tools", "slow", "e*", "-T", "300ms"];
    assert_eq!(run_words(&scratch, &words).code, 124);
    // Which revision it speaks is forgotten after that, and its list is not.
    let outcome = run_words(&scratch, &["tools", "slow", "e*", "--cached-ok", "100ms"]);
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    let words = ["tools", "slow", "e*", "--cached-ok", "1ms", "--no-cache", "-T", "500ms"];
    assert_eq!(run_words(&scratch, &words).code, 124);
    let log = scratch.path("log").display().to_string();
    wait_until("the end of all servers", || processes_with(&log).is_empty());
}

// --------------------------------------------------------------------------- what is stored

/// How often the server was asked for its tools.
fn lists(scratch: &Scratch) -> usize {
    let asked = |line: &&String| line.contains("\"tools/list\"");
    scratch.lines("log.s").iter().filter(asked).count()
}

#[test]
fn a_list_is_stored_as_long_as_it_is_good() {
    let scratch = Scratch::new();
    configure(&scratch, &[("s", "exec $demo --ttl 60000")]);
    let tools = |words: &[&str]| {
        let outcome = run_words(&scratch, &[&["tools", "s"], words].concat());
        assert_eq!(outcome.code, 0, "{}", outcome.err);
        lists(&scratch)
    };
    assert_eq!(tools(&[]), 1);
    assert_eq!(tools(&[]), 1);
    assert_eq!(tools(&["--no-cache"]), 2);
    assert_eq!(tools(&["--refresh"]), 3);
    assert_eq!(tools(&[]), 3);
    let file = fs::read_dir(scratch.path(".cache/mcpmini/mcp")).unwrap().next().unwrap().unwrap();
    let file = fs::read_dir(file.path()).unwrap().next().unwrap().unwrap();
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    // Another definition of the same name is another server, which has to be accepted first.
    configure(&scratch, &[("s", "exec $demo --ttl 60001")]);
    assert_eq!(run_words(&scratch, &["tools", "s"]).code, 8);
    fs::remove_dir_all(scratch.path(".local/state")).unwrap();
    assert_eq!(tools(&[]), 4);
    assert_eq!(tools(&[]), 4);
}

#[test]
fn a_server_that_says_so_has_changed() {
    let scratch = Scratch::new();
    configure(&scratch, &[("s", "exec $demo --ttl 60000")]);
    for (calls, expected) in [(0, 1), (1, 2), (0, 2)] {
        for _ in 0..calls {
            assert_eq!(run_words(&scratch, &["call", "s", "change", "{}"]).code, 0);
        }
        assert_eq!(run_words(&scratch, &["tools", "s"]).code, 0);
        assert_eq!(lists(&scratch), expected);
    }
}

#[test]
fn a_server_of_another_version_has_changed() {
    let scratch = Scratch::new();
    let version = scratch.write("version", "1");
    configure(&scratch, &[("s", &format!("exec $demo --ttl 60000 --version-file {version}"))]);
    let echo = || {
        assert_eq!(run_words(&scratch, &["call", "s", "echo", "text=a"]).code, 0);
        lists(&scratch)
    };
    assert_eq!((echo(), echo()), (1, 1));
    scratch.write("version", "2");
    // The call tells that the server is another, and the next one asks what it can do.
    assert_eq!((echo(), echo(), echo()), (1, 2, 2));
}

#[test]
fn what_is_stored_is_listed_and_forgotten() {
    let scratch = Scratch::new();
    configure(&scratch, &[("s", "exec $demo --ttl 60000"), ("t", "exec $demo")]);
    let other = demo("");
    for server in ["s", "t", &other] {
        assert_eq!(run_words(&scratch, &["tools", server]).code, 0);
    }
    let stored = |words: &[&str]| {
        let outcome = run_words(&scratch, &[&["cache", "ls", "--json"], words].concat());
        assert_eq!((outcome.code, outcome.err.as_str()), (0, ""));
        rows(&outcome)
    };
    let all = stored(&[]);
    assert_eq!(all.len(), 3);
    let (s, t) = (row(&all, "s"), row(&all, "t"));
    assert_eq!(
        (&s["method"], &s["fresh"], &t["fresh"]),
        (&json!("tools/list"), &json!(true), &json!(false))
    );
    // Of a command line nothing is stored that tells what it was.
    assert!(all.iter().any(|row| row["server"].is_null()));
    assert_eq!(stored(&[&other]).len(), 1);
    let text = run_words(&scratch, &["cache", "ls", "s"]).out;
    assert!(text.starts_with("s\ttools/list\tfresh\t"), "{text}");

    assert_eq!(run_words(&scratch, &["cache", "clear", "s"]).code, 0);
    assert_eq!((stored(&["s"]).len(), stored(&[]).len()), (0, 2));
    assert_eq!(run_words(&scratch, &["cache", "clear"]).code, 0);
    assert_eq!(stored(&[]).len(), 0);
    assert_eq!(run_words(&scratch, &["tools", "s"]).code, 0);
    assert_eq!(lists(&scratch), 2);
    assert_eq!(run_words(&scratch, &["cache", "ls", "nobody"]).code, 9);
    assert_eq!(run_words(&scratch, &["cache", "frobnicate"]).code, 2);
}
