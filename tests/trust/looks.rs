//! A tool that was accepted is looked at before it is called, and as seldom as that can be.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::support::{HttpDemo, Scratch, answer, http_server, run, run_with_input};
use super::world::World;
use super::{ECHO, ERAS};

const OBJECT: &str = r#"{"text":"hi"}"#;
const REQUEST: &str = r#"{"name":"echo","arguments":{"text":"hi"}}"#;

/// Calls of a tool that need no list of tools for themselves.
const PLAIN: &[&[&str]] = &[
    &["call", "demo", "echo", OBJECT],
    &["call", "demo", "echo", r#"text:="hi""#],
    &["call", "demo", "echo", "--no-schema", "text=hi"],
    &["rpc", "demo", "tools/call", REQUEST],
];

#[test]
fn the_first_call_of_a_changed_tool_does_not_go_out() {
    for era in ERAS {
        for words in PLAIN {
            let world = World::new(era);
            world.expect(&ECHO, 0, "hi\n");
            world.patch(json!({ "tools": { "echo": { "description": "another" } } }));
            world.requests();
            let told = world.expect(words, 8, "");
            assert!(told.contains("the tool \"echo\" has changed"), "{era} {words:?}: {told}");
            let sent = world.requests();
            assert!(!sent.contains(&"tools/call".to_owned()), "{era} {words:?}: {sent:?}");
        }
    }
}

#[test]
fn a_batch_is_held_and_asks_once() {
    for era in ERAS {
        let world = World::new(era);
        let line = format!("{{\"tool\":\"echo\",\"arguments\":{OBJECT}}}\n");
        let batch = |world: &World| {
            let input = line.repeat(5);
            let words = ["batch", "demo", "-", "--keep-going"];
            run_with_input(&mut world.scratch.mcpmini(words), Some(input.as_bytes())).code
        };
        world.expect(&ECHO, 0, "hi\n");
        world.requests();
        assert_eq!(batch(&world), 0);
        let sent = world.requests();
        let count = |method: &str| sent.iter().filter(|sent| *sent == method).count();
        assert_eq!((count("tools/list"), count("tools/call")), (1, 5), "{era}");
        world.patch(json!({ "tools": { "echo": { "title": "Other" } } }));
        assert_eq!(batch(&world), 8, "{era}");
        assert!(!world.requests().contains(&"tools/call".to_owned()), "{era}");
    }
}

#[test]
fn a_session_asks_once_for_all_its_calls() {
    for era in ERAS {
        let world = World::new(era);
        world.expect(&ECHO, 0, "hi\n");
        let script = r#"
            for number in 1 2 3; do "$0" call demo echo '{"text":"hi"}' || echo $?; done
            grep -c '"method":"tools/list"' log
            printf '{"tools":{"echo":{"title":"Other"}}}' > patch
            "$0" tools demo >/dev/null 2>&1
            "$0" call demo echo '{"text":"hi"}' 2>/dev/null || echo $?"#;
        world.requests();
        let words = ["session", "demo", "--", "sh", "-c", script, env!("CARGO_BIN_EXE_mcpmini")];
        let mut command = world.scratch.mcpmini(words);
        let outcome = run(command.env("TMPDIR", world.scratch.path("")));
        let expected = "hi\nhi\nhi\n1\n8\n";
        assert_eq!((outcome.code, &*outcome.out), (0, expected), "{era}: {}", outcome.err);
    }
}

#[test]
fn while_the_servers_own_time_has_not_passed_a_call_is_one_request() {
    let scratch = Scratch::new();
    let server = HttpDemo::start(&["--era", "modern", "--ttl", "600000"]);
    let call = |object: &str| {
        let words = ["call", &*server.url, "echo", object, "--trace", "trace"];
        let outcome = run(&mut scratch.mcpmini(words));
        assert_eq!((outcome.code, &*outcome.out), (0, "hi\n"), "{}", outcome.err);
        let requests = scratch.lines("trace");
        requests.iter().filter(|line| line.contains("\"method\":\"")).count()
    };
    call(OBJECT);
    assert_eq!(call(OBJECT), 1);
}

#[test]
fn nothing_is_asked_for_where_nothing_was_accepted_or_nothing_counts() {
    for era in ERAS {
        let world = World::new(era);
        // The tool is not known, since nobody has looked.
        world.expect(PLAIN[0], 0, "hi\n");
        world.requests();
        world.expect(PLAIN[0], 0, "hi\n");
        assert!(!world.requests().contains(&"tools/list".to_owned()), "{era}");
        world.expect(&ECHO, 0, "hi\n");
        world.requests();
        world.patch(json!({ "tools": { "echo": { "title": "Other" } } }));
        let off = run(world.scratch.mcpmini(PLAIN[0]).env("MCPMINI_TRUST", "off"));
        assert_eq!((off.code, &*off.out), (0, "hi\n"));
        assert!(!world.requests().contains(&"tools/list".to_owned()), "{era}");
    }
}

/// A server in the shell, of the legacy era: `tools` is the list, if there is one, `code` the error in
/// its place, and `log` tells what was asked for. After the call that `change` is there for, the list has changed, and
/// instead of the answer that `die` is there for, the server ends.
pub(super) const SERVER: &str = r#"
answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
error() {
    printf '{"jsonrpc":"2.0","id":%s,"error":{"code":%s,"message":"no"}}\n' "$id" "${1:--32601}"
}
while IFS= read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    case $line in
    *'"method":"initialize"'*)
        answer '{"protocolVersion":"2025-11-25","serverInfo":{"name":"sh","version":"1"},
                 "capabilities":{"tools":{"listChanged":true}}}' | tr -d '\n'; echo ;;
    *'"method":"tools/list"'*)
        echo list >> log
        if test -e hang; then continue; fi
        if test -e code; then error "$(cat code)"
        elif test -e tools; then answer "$(cat tools)"; else error; fi ;;
    *'"method":"tools/call"'*)
        echo call >> log
        if test -e die; then
            rm die
            if test -e change; then mv change tools; fi
            exit
        fi
        if test -e change; then
            cp change tools; rm change
            echo '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
        fi
        answer '{"content":[{"type":"text","text":"done"}]}' ;;
    *'"id":'*) error ;;
    esac
done"#;

fn tools(description: &str) -> String {
    let schema = json!({ "type": "object" });
    let tool = |name: &str, description: &str| {
        let repeatable = json!({ "readOnlyHint": true });
        json!({ "name": name, "description": description, "inputSchema": schema, "annotations": repeatable })
    };
    json!({ "tools": [tool("go", description), tool("stop", "Stops")] }).to_string()
}

fn shell_server() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("server.sh", SERVER);
    scratch.write("tools", tools("Goes"));
    let outcome = run(&mut scratch.mcpmini(["tools", "exec:sh server.sh"]));
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    scratch.write("log", "");
    scratch
}

#[test]
fn a_list_that_changes_in_the_middle_is_looked_at_again() {
    let scratch = shell_server();
    scratch.write("change", tools("Goes elsewhere"));
    let input = "{\"tool\":\"go\"}\n{\"tool\":\"stop\"}\n{\"tool\":\"go\"}\n{\"tool\":\"stop\"}\n";
    let words = ["batch", "exec:sh server.sh", "-", "--keep-going", "--ordered", "--jobs", "1"];
    let outcome = run_with_input(&mut scratch.mcpmini(words), Some(input.as_bytes()));
    let exits: Vec<_> = outcome.out.lines().map(|line| line.contains("\"exit\":0")).collect();
    assert_eq!(exits, [true, true, false, true], "{} {}", outcome.out, outcome.err);
    assert_eq!(scratch.lines("log"), ["list", "call", "list", "call", "call"]);
}

/// A server need not say that its tools are others now. What was seen of them does not count for ever.
#[test]
fn a_long_batch_looks_again_from_time_to_time() {
    let line = format!("{{\"tool\":\"echo\",\"arguments\":{OBJECT}}}\n");
    let check = |options: &[&str], trust: &str| {
        let world = World::with("modern", &["--ttl", "1000"]);
        assert_eq!(world.run(&["tools", "demo"]).code, 0);
        assert_eq!(world.run(&["lock", "demo"]).code, 0);
        let words = ["batch", "demo", "-", "--keep-going", "--jobs", "2"];
        let mut command = world.scratch.mcpmini(words);
        command.args(options).env("MCPMINI_TRUST", trust);
        let mut batch = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (mut lines, outcomes) = (batch.stdin.take().unwrap(), batch.stdout.take().unwrap());
        let mut outcomes = BufReader::new(outcomes).lines();
        let mut exit_of = |times: usize| {
            lines.write_all(line.repeat(times).as_bytes()).unwrap();
            let exits = (0..times).map(|_| outcomes.next().unwrap().unwrap());
            let exits =
                exits.map(|line| serde_json::from_str::<Value>(&line).unwrap()["exit"].clone());
            exits.collect::<Vec<_>>()
        };
        assert_eq!(exit_of(2), [0, 0], "{options:?} {trust}");
        world.patch(json!({ "tools": { "echo": { "description": "another" } } }));
        thread::sleep(Duration::from_millis(1_100));
        assert_eq!(exit_of(2), [8, 8], "{options:?} {trust}");
        drop(lines);
        assert_eq!(batch.wait().unwrap().code(), Some(8), "{options:?} {trust}");
    };
    check(&[], "tofu");
    check(&[], "strict");
    check(&["--lock", "mcpmini.lock.json"], "tofu");
}

/// The ways to call a tool of the server in the shell.
const GOES: &[&[&str]] = &[
    &["call", "exec:sh server.sh", "go", "{}"],
    &["call", "exec:sh server.sh", "go"],
    &["call", "exec:sh server.sh", "go", "x=1", "--no-check"],
    &["rpc", "exec:sh server.sh", "tools/call", r#"{"name":"go"}"#],
    &["batch", "exec:sh server.sh", "lines"],
    &["batch", "exec:sh server.sh", "lines", "--no-schema"],
    &["bench", "exec:sh server.sh", "go", "-n", "2"],
];

#[test]
fn a_server_that_was_lost_is_looked_at_again() {
    const RETRIES: &[&[&str]] = &[
        &["call", "exec:sh server.sh", "go", "{}", "--retry", "2", "--retry-delay", "10ms"],
        &["rpc", "exec:sh server.sh", "tools/call", r#"{"name":"go"}"#],
        &["batch", "exec:sh server.sh", "lines"],
        &["batch", "exec:sh server.sh", "lines", "--no-schema"],
    ];
    for words in RETRIES {
        let scratch = shell_server();
        scratch.write("lines", "{\"tool\":\"go\"}\n");
        let after = |change: Option<String>| {
            scratch.write("log", "");
            scratch.write("die", "");
            change.map(|change| scratch.write("change", change));
            let outcome = run(&mut scratch.mcpmini(*words));
            (outcome.code, scratch.lines("log"))
        };
        let is_repeated = words[0] != "rpc";
        let (code, log) = after(None);
        match is_repeated {
            true => assert_eq!((code, log), (0, lines("list call list call")), "{words:?}"),
            false => assert_eq!((code, log), (5, lines("list call")), "{words:?}"),
        }
        let (code, log) = after(Some(tools("Goes elsewhere")));
        match is_repeated {
            true => assert_eq!((code, log), (8, lines("list call list")), "{words:?}"),
            false => assert_eq!(code, 5, "{words:?}"),
        }
    }
}

fn lines(words: &str) -> Vec<String> {
    words.split(' ').map(str::to_owned).collect()
}

#[test]
fn a_tool_that_the_server_hides_is_not_called() {
    for list in [Some(r#"{"tools":[]}"#), None] {
        for words in GOES {
            let scratch = shell_server();
            scratch.write("lines", "{\"tool\":\"go\"}\n");
            match list {
                Some(list) => drop(scratch.write("tools", list)),
                None => std::fs::remove_file(scratch.path("tools")).unwrap(),
            }
            for _ in 0..2 {
                let outcome = run(&mut scratch.mcpmini(*words));
                let told = format!("{words:?} {list:?}: {} {}", outcome.out, outcome.err);
                assert_eq!(outcome.code, 3, "{told}");
                let told = told.replace("\\\"", "\"");
                assert!(told.contains("the tool \"go\" is gone"), "{told}");
                assert!(!scratch.lines("log").contains(&"call".to_owned()), "{told}");
            }
            // Another tool is nobody's business, and does not make up for the one that is hidden.
            if list.is_some() {
                scratch.write("tools", tools("Goes").replace("\"go\"", "\"gone\""));
                let stop = run(&mut scratch.mcpmini(["call", "exec:sh server.sh", "stop", "{}"]));
                assert_eq!((stop.code, &*stop.out), (0, "done\n"), "{}", stop.err);
                assert_eq!(run(&mut scratch.mcpmini(*words)).code, 3);
            }
        }
    }
}

#[test]
fn a_tool_that_is_hidden_is_called_when_that_is_accepted() {
    let scratch = shell_server();
    let call = || run(&mut scratch.mcpmini(["call", "exec:sh server.sh", "go", "{}"]));
    scratch.write("tools", r#"{"tools":[]}"#);
    let refused = call();
    assert_eq!(refused.code, 3);
    let strict = ["call", "exec:sh server.sh", "go", "{}"];
    assert_eq!(run(scratch.mcpmini(strict).env("MCPMINI_TRUST", "strict")).code, 8);
    let shown = run(&mut scratch.mcpmini(["trust", "list"]));
    assert!(shown.out.contains("\tchanged\t"), "{}", shown.out);
    let digest = super::digest_in(&refused.err);
    let accept = ["trust", "accept", "exec:sh server.sh", "--accept", &digest];
    assert_eq!(run(&mut scratch.mcpmini(accept)).code, 0, "{}", refused.err);
    let outcome = call();
    assert_eq!((outcome.code, &*outcome.out), (0, "done\n"), "{}", outcome.err);
}

#[test]
fn a_tool_that_comes_back_is_held_to_what_it_was() {
    let scratch = shell_server();
    let call = || run(&mut scratch.mcpmini(["call", "exec:sh server.sh", "go", "{}"]));
    scratch.write("tools", r#"{"tools":[]}"#);
    assert_eq!(call().code, 3);
    scratch.write("tools", tools("Goes"));
    let outcome = call();
    assert_eq!((outcome.code, &*outcome.err), (0, ""));
    scratch.write("tools", r#"{"tools":[]}"#);
    assert_eq!(call().code, 3);
    scratch.write("tools", tools("Goes elsewhere"));
    scratch.write("log", "");
    assert_eq!((call().code, scratch.lines("log")), (8, vec!["list".to_owned()]));
}

#[test]
fn a_list_that_fails_for_a_moment_may_be_asked_for_again() {
    for words in GOES {
        let scratch = shell_server();
        scratch.write("lines", "{\"tool\":\"go\"}\n");
        scratch.write("code", "-32603");
        let trust = |mode: &str| {
            let mut command = scratch.mcpmini(*words);
            run(command.arg("--json-errors").env("MCPMINI_TRUST", mode))
        };
        let outcome = trust("tofu");
        let told = format!("{words:?}: {} {}", outcome.out, outcome.err);
        assert_eq!(outcome.code, 4, "{told}");
        for part in ["to hold", "\"sent\":\"no\"", "\"retryable\":true"] {
            assert!(told.contains(part), "{part}: {told}");
        }
        assert!(!scratch.lines("log").contains(&"call".to_owned()), "{told}");
        // Where only what was accepted counts, it is not the same without a look.
        assert_eq!(trust("strict").code, 8, "{words:?}");
        assert!(!scratch.lines("log").contains(&"call".to_owned()), "{words:?}");
        let needs_list = words.contains(&"x=1");
        assert_eq!(trust("off").code, if needs_list { 3 } else { 0 }, "{words:?}");
    }
}

#[test]
fn a_list_that_does_not_come_is_told_to_be_the_reason() {
    let scratch = shell_server();
    scratch.write("hang", "");
    let words = ["call", "exec:sh server.sh", "go", "{}", "--timeout", "500ms"];
    let outcome = run(&mut scratch.mcpmini(words));
    assert_eq!((outcome.code, &*outcome.out), (124, ""), "{}", outcome.err);
    let told = "the tools were asked for, to hold \"go\" to what was accepted";
    assert!(outcome.err.contains(told), "{}", outcome.err);
    assert!(outcome.err.contains("MCPMINI_TRUST=off"), "{}", outcome.err);
    let off = run(scratch.mcpmini(&words[..4]).env("MCPMINI_TRUST", "off"));
    assert_eq!((off.code, &*off.out), (0, "done\n"));
}

#[test]
fn a_session_whose_server_was_lost_looks_at_it_again() {
    let scratch = shell_server();
    scratch.write("lines", "{\"tool\":\"go\"}\n");
    let script = "\"$0\" batch 'exec:sh server.sh' lines >/dev/null 2>&1; echo $?";
    let binary = env!("CARGO_BIN_EXE_mcpmini");
    let words = ["session", "exec:sh server.sh", "--", "sh", "-c", script, binary];
    let after = |change: Option<String>| {
        scratch.write("log", "");
        scratch.write("die", "");
        change.map(|change| scratch.write("change", change));
        let outcome = run(scratch.mcpmini(words).env("TMPDIR", scratch.path("")));
        (outcome.out, scratch.lines("log"))
    };
    assert_eq!(after(None), ("0\n".to_owned(), lines("list call list call")));
    let (out, log) = after(Some(tools("Goes elsewhere")));
    assert_eq!((&*out, log), ("8\n", lines("list call list")));
}

/// The server might take the other one of two names.
#[test]
fn a_call_names_one_tool() {
    let scratch = shell_server();
    let params = r#"{"name":"go","n\u0061me":"stop"}"#;
    let call = format!("{{\"method\":\"tools/call\",\"params\":{params}}}\n");
    scratch.write("lines", call);
    for words in [
        &["rpc", "exec:sh server.sh", "tools/call", params][..],
        &["batch", "exec:sh server.sh", "lines"],
    ] {
        let outcome = run(&mut scratch.mcpmini(words));
        assert_eq!(outcome.code, 2, "{words:?}: {} {}", outcome.out, outcome.err);
        assert!(outcome.err.contains("which tool is meant?"), "{words:?}: {}", outcome.err);
    }
    assert!(!scratch.lines("log").contains(&"call".to_owned()));
}

/// What a tool is, such a list does not say; and that is told once.
#[test]
fn a_tool_of_a_list_without_end_is_not_called() {
    let scratch = shell_server();
    let mut list: Value = serde_json::from_str(&tools("Goes")).unwrap();
    list["nextCursor"] = "again".into();
    scratch.write("tools", list.to_string());
    for words in GOES.iter().copied().chain([&["tools", "exec:sh server.sh"][..]]) {
        scratch.write("lines", "{\"tool\":\"go\"}\n");
        let outcome = run(&mut scratch.mcpmini(words));
        assert_eq!(outcome.code, 6, "{words:?}: {} {}", outcome.out, outcome.err);
        assert_eq!(outcome.err.matches("has no end").count(), 1, "{words:?}: {}", outcome.err);
        assert!(!outcome.err.contains("warning"), "{words:?}: {}", outcome.err);
    }
    assert!(!scratch.lines("log").contains(&"call".to_owned()));
}

#[test]
fn news_is_told_in_few_lines() {
    let scratch = shell_server();
    let tool = |number: usize| json!({ "name": format!("t{number}"), "inputSchema": {} });
    let list: Value = serde_json::from_str(&tools("Goes")).unwrap();
    let mut all = list["tools"].as_array().unwrap().clone();
    all.extend((0..300).map(tool));
    scratch.write("tools", json!({ "tools": all }).to_string());
    let outcome = run(&mut scratch.mcpmini(["call", "exec:sh server.sh", "go", "{}"]));
    assert_eq!((outcome.code, &*outcome.out), (0, "done\n"), "{}", outcome.err);
    assert!(outcome.err.contains("… (280 lines more)"), "{}", outcome.err);
}

/// A server may call a tool what a second one of the same name is called here.
#[test]
fn a_tool_is_not_mistaken_for_a_second_one_of_another_name() {
    let scratch = shell_server();
    let tool = |name: &str, description: &str| json!({ "name": name, "description": description, "inputSchema": { "type": "object" } });
    let list = |description: &str| {
        json!({ "tools": [tool("a", "one"), tool("a", "two"), tool("a#1", description)] })
            .to_string()
    };
    scratch.write("tools", list("three"));
    let words = ["call", "exec:sh server.sh", "a#1", "{}"];
    assert_eq!(run(&mut scratch.mcpmini(["trust", "revoke", "exec:sh server.sh"])).code, 0);
    let add = run(&mut scratch.mcpmini(["trust", "add", "exec:sh server.sh"]));
    let digest = super::digest_in(&add.err);
    let add = ["trust", "add", "exec:sh server.sh", "--accept", &digest];
    assert_eq!(run(&mut scratch.mcpmini(add)).code, 0);
    assert_eq!(run(&mut scratch.mcpmini(words)).code, 0);
    scratch.write("tools", list("another"));
    let outcome = run(&mut scratch.mcpmini(words));
    assert_eq!(outcome.code, 8, "{}", outcome.err);
    assert!(outcome.err.contains("the tool \"a#1\" has changed"), "{}", outcome.err);
}

/// A server over HTTP that forgets its first session when a tool is called, and then has changed.
fn forgetful_server(changes: bool) -> (String, Arc<Mutex<Vec<String>>>) {
    let log = Arc::new(Mutex::new(Vec::new()));
    let seen = log.clone();
    let url = http_server(move |request| {
        let body = request.split("\r\n\r\n").nth(1).unwrap_or_default();
        let message: Value = serde_json::from_str(body).unwrap_or_default();
        let method = message["method"].as_str().unwrap_or_default().to_owned();
        let mut seen = seen.lock().unwrap();
        let opened = seen.iter().filter(|method| *method == "initialize").count();
        let is_first = request.to_ascii_lowercase().contains("mcp-session-id: s1");
        seen.push(method.clone());
        let result = match &*method {
            "initialize" => json!({
                "protocolVersion": "2025-11-25", "serverInfo": { "name": "f", "version": "1" },
                "capabilities": { "tools": {} },
            }),
            "tools/list" if changes && 1 < opened => {
                serde_json::from_str(&tools("Goes elsewhere")).unwrap()
            }
            "tools/list" => serde_json::from_str(&tools("Goes")).unwrap(),
            "tools/call" if is_first => return answer("404 Not Found", "{}"),
            "tools/call" => json!({ "content": [{ "type": "text", "text": "done" }] }),
            method if method.starts_with("notifications/") => return answer("202 Accepted", ""),
            _ => {
                let error = json!({ "code": -32601, "message": "no" });
                let reply = json!({ "jsonrpc": "2.0", "id": message["id"], "error": error });
                return answer("200 OK", &reply.to_string());
            }
        };
        let reply = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
        let reply = answer("200 OK", &reply.to_string());
        match &*method {
            "initialize" => {
                reply.replacen("\r\n", &format!("\r\nMcp-Session-Id: S{}\r\n", opened + 1), 1)
            }
            _ => reply,
        }
    });
    (url, log)
}

#[test]
fn a_session_that_the_server_has_forgotten_is_looked_at_again() {
    for (changes, code) in [(false, 0), (true, 8)] {
        for kind in ["call", "batch", "rpc"] {
            let scratch = Scratch::new();
            scratch.write("lines", "{\"tool\":\"go\"}\n");
            let (url, log) = forgetful_server(changes);
            let listed = run(&mut scratch.mcpmini(["tools", &url, "--protocol", "2025-11-25"]));
            assert_eq!(listed.code, 0, "{}", listed.err);
            log.lock().unwrap().clear();
            let words = match kind {
                "call" => vec!["call", &*url, "go", "{}"],
                "rpc" => vec!["rpc", &*url, "tools/call", r#"{"name":"go"}"#],
                _ => vec!["batch", &*url, "lines"],
            };
            let mut command = scratch.mcpmini(words);
            let outcome = run(command.args(["--protocol", "2025-11-25"]));
            let told = format!("{kind}: {} {}", outcome.out, outcome.err);
            assert_eq!(outcome.code, code, "{told}");
            let log = log.lock().unwrap();
            let about_tools: Vec<_> = log.iter().filter(|it| it.starts_with("tools/")).collect();
            let expected = ["tools/list", "tools/call", "tools/list", "tools/call"];
            let count = if changes { 3 } else { 4 };
            assert_eq!(about_tools, expected[..count], "{told}");
        }
    }
}

/// While a list is good by the server's own word, a lost server is not asked for another.
#[test]
fn a_list_that_is_good_is_good_on_the_next_connection() {
    let world = World::with("modern", &["--ttl", "600000", "--crash-after", "0"]);
    assert_eq!(world.run(&["tools", "demo"]).code, 0);
    std::fs::remove_dir_all(world.scratch.path(".cache/mcpmini/mcp")).unwrap();
    let line = format!("{{\"tool\":\"echo\",\"arguments\":{OBJECT}}}\n");
    let words = ["batch", "demo", "-", "--keep-going", "--retry", "0", "--jobs", "1"];
    world.requests();
    let mut command = world.scratch.mcpmini(words);
    let outcome = run_with_input(&mut command, Some(line.repeat(2).as_bytes()));
    let sent = world.requests();
    assert_eq!(sent, ["tools/list", "tools/call", "tools/call"], "{}", outcome.out);
    let exits: Vec<_> = outcome.out.lines().map(|line| line.contains("\"exit\":5")).collect();
    assert_eq!(exits, [true, true], "{} {}", outcome.out, outcome.err);
}

#[test]
fn a_tool_that_was_not_accepted_is_looked_at_before_it_is_called() {
    for era in ERAS {
        let world = World::new(era);
        assert_eq!(world.run(&["tools", "demo"]).code, 0);
        let add = r#"{"a":1,"b":2}"#;
        let new = ["call", "demo", "echo2", r#"{"text":"hi"}"#, "--no-schema"];
        let strict =
            |words: &[&str]| run(world.scratch.mcpmini(words).env("MCPMINI_TRUST", "strict"));
        // One that nobody lists is held to nothing, which is told; strictly it is not called.
        world.requests();
        let outcome = world.run(&new);
        let told = "the tool \"echo2\" is none that the server lists, now or before";
        assert!(outcome.code != 8 && outcome.err.contains(told), "{era}: {}", outcome.err);
        let requests = world.requests();
        assert_eq!(requests.iter().filter(|it| *it == "tools/list").count(), 1, "{requests:?}");
        assert_eq!(strict(&new).code, 3, "{era}");
        let request = r#"{"name":"echo2","arguments":{}}"#;
        let rpc = ["rpc", "demo", "tools/call", request];
        let outcome = strict(&rpc);
        assert!(outcome.code == 8 && outcome.err.contains(told), "{era}: {}", outcome.err);
        assert!(!world.requests().contains(&"tools/call".to_owned()), "{era}");
        assert_eq!(world.run(&["lock", "demo"]).code, 0);
        let locked = world.run(&[&rpc[..], &["--lock", "mcpmini.lock.json"]].concat());
        assert!(locked.code == 8 && locked.err.contains(told), "{era}: {}", locked.err);
        // A new one is told, and held to what it was from then on.
        world.patch(json!({ "tools": { "echo2": { "description": "one" } } }));
        let outcome = world.run(&new);
        assert!(outcome.err.contains("there is a new tool, \"echo2\""), "{era}: {}", outcome.err);
        assert!(!world.run(&new).err.contains("new tool"), "{era}");
        assert_eq!(world.run(&["call", "demo", "add", add]).code, 0);
        world.patch(json!({ "tools": { "echo2": { "description": "another" } } }));
        assert_eq!(world.run(&new).code, 8, "{era}");
    }
}

#[test]
fn reading_a_very_long_list_ends_with_the_limit_of_time() {
    let scratch = Scratch::new();
    let members = r#""inputSchema":{"type":"object","properties":{"a":{"type":"string"}}}"#;
    let tools: Vec<_> =
        (0..100_000).map(|number| format!(r#"{{"name":"tool-{number}",{members}}}"#)).collect();
    scratch.write("tools", format!(r#"{{"tools":[{}]}}"#, tools.join(",")));
    scratch.write("server.sh", SERVER);
    for words in [
        &["tools", "exec:sh server.sh"][..],
        &["call", "exec:sh server.sh", "tool-1", "a=b"],
        &["lock", "exec:sh server.sh"],
    ] {
        let outcome = run(&mut scratch.mcpmini([words, &["--max-time", "1s"]].concat()));
        assert_eq!(outcome.code, 124, "{words:?}: {}", outcome.err);
        assert!(!scratch.lines("log").contains(&"call".to_owned()), "{words:?}");
    }
}
