//! Many requests on one connection: `batch` and `bench`, retries and restarts.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use support::{
    HttpDemo, Outcome, Scratch, answer, closed_url, demo, finish, http_server, processes_with, run,
    run_with_input, wait_until,
};

/// Runs a batch of the demo server, with flags of its own and of the command.
#[track_caller]
fn batch(scratch: &Scratch, server: &str, flags: &[&str], input: &str) -> Outcome {
    let words = ["batch", server, "-"].into_iter().chain(flags.iter().copied());
    run_with_input(&mut scratch.mcpmini(words), Some(input.as_bytes()))
}

/// The outcomes, by their ids as text.
#[track_caller]
fn outcomes(outcome: &Outcome) -> BTreeMap<String, Value> {
    let lines = outcome.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let lines: Vec<Value> = lines.collect();
    let count = lines.len();
    let by_id: BTreeMap<_, _> =
        lines.into_iter().map(|line| (line["id"].to_string(), line)).collect();
    assert_eq!(by_id.len(), count, "an id came twice:\n{}", outcome.out);
    by_id
}

/// The ids in the order in which they came.
fn ids(outcome: &Outcome) -> Vec<u64> {
    let id = |line| serde_json::from_str::<Value>(line).unwrap()["id"].as_u64().unwrap();
    outcome.out.lines().map(id).collect()
}

/// So many lines that call `echo`, each with a text of its own.
fn echoes(count: usize) -> String {
    let mut input = String::new();
    for number in 1..=count {
        let arguments = json!({ "text": number.to_string() });
        writeln!(input, r#"{{"tool":"echo","arguments":{arguments}}}"#).unwrap();
    }
    input
}

/// How many messages of a method came to the server.
fn received(scratch: &Scratch, method: &str) -> usize {
    let text = format!("\"method\":\"{method}\"");
    scratch.lines("log").iter().filter(|line| line.contains(&text)).count()
}

/// A server that writes what it receives into the log.
fn logging(scratch: &Scratch, flags: &str) -> String {
    demo(&format!("--log {} {flags}", scratch.path("log").display()))
}

// ------------------------------------------------------------------------------ the outcomes

#[test]
fn a_line_in_is_a_line_out() {
    let input = concat!(
        "{\"tool\":\"echo\",\"arguments\":{\"text\":\"a\"},\"id\":\"x\"}\n",
        "\n",
        "{\"method\":\"tools/list\",\"id\":{\"n\":1.0}}\r\n",
        "{\"tool\":\"fail\",\"arguments\":{\"message\":\"no disk\"}}\n",
        "{\"tool\":\"none\",\"id\":null}\n",
        "{\"method\":\"no/such\"}\n",
        "oops\n",
        "{\"tool\":\"numbers\"}",
    );
    let http = HttpDemo::start(&[]);
    for server in [&demo("--era modern"), &demo("--era legacy"), &http.url] {
        let scratch = Scratch::new();
        let outcome = batch(&scratch, server, &["--keep-going"], input);
        assert_eq!(outcome.code, 1, "{}", outcome.err);
        let found = outcomes(&outcome);
        let exit = |id: &str| found[id]["exit"].as_u64().unwrap();
        assert_eq!(found.len(), 7, "{}", outcome.out);
        assert_eq!(found["\"x\""]["result"]["content"][0]["text"], "a");
        assert!(found["{\"n\":1.0}"]["result"]["tools"].is_array());
        assert_eq!((exit("4"), &found["4"]["result"]["isError"]), (1, &json!(true)));
        assert_eq!((exit("null"), &found["null"]["error"]["code"]), (3, &json!(-32602)));
        assert_eq!((exit("6"), &found["6"]["error"]["class"]), (3, &json!("rpc_error")));
        assert_eq!((exit("7"), &found["7"]["error"]["class"]), (2, &json!("usage")));
        assert_eq!(exit("8"), 0);
        // Numbers as the server sent them.
        assert!(outcome.out.contains(r#""id":12345678901234567890123,"edge":9007199254740993"#));
        assert!(outcome.err.contains("4 of 7 lines failed, the first is line 4: no disk"));
    }
}

#[test]
fn the_first_failure_ends_a_batch_and_is_its_exit_code() {
    let scratch = Scratch::new();
    let server = logging(&scratch, "");
    let input = format!("{{\"tool\":\"add\"}}\n{}", echoes(50));
    let outcome = batch(&scratch, &server, &["-P1"], &input);
    assert_eq!((outcome.code, ids(&outcome)), (3, vec![1]), "{}", outcome.err);
    assert_eq!(received(&scratch, "tools/call"), 1);
    assert!(outcome.err.contains("--keep-going"), "{}", outcome.err);
}

#[test]
fn outcomes_come_when_they_are_there_or_in_order() {
    let server = HttpDemo::start(&[]);
    let mut input =
        String::from("{\"tool\":\"slow\",\"arguments\":{\"steps\":1,\"pause_ms\":700}}\n");
    input += &echoes(20);
    let scratch = Scratch::new();
    let outcome = batch(&scratch, &server.url, &[], &input);
    assert_eq!((outcome.code, ids(&outcome).last()), (0, Some(&1)), "{}", outcome.err);
    let outcome = batch(&scratch, &server.url, &["--ordered"], &input);
    assert_eq!((outcome.code, ids(&outcome)), (0, (1..=21).collect()), "{}", outcome.err);
}

/// A line has the number that an editor shows, in order or not.
#[test]
fn blank_lines_are_counted() {
    let scratch = Scratch::new();
    let input = format!("\n{} \t\r\n\n{}", echoes(1), echoes(2).trim_end());
    for flags in [&[][..], &["--ordered"]] {
        let outcome = batch(&scratch, &demo(""), flags, &input);
        assert_eq!((outcome.code, ids(&outcome)), (0, vec![2, 5, 6]), "{}", outcome.err);
    }
}

/// The error of the whole tells whether its first line may have run.
#[test]
fn a_byte_order_mark_is_no_part_of_the_first_line() {
    let scratch = Scratch::new();
    let outcome = batch(&scratch, &demo(""), &[], &format!("\u{feff}{}", echoes(2)));
    assert_eq!((outcome.code, ids(&outcome)), (0, vec![1, 2]), "{}", outcome.out);
}

#[test]
fn bench_tells_what_was_lost_from_what_has_failed() {
    let scratch = Scratch::new();
    let server = demo("");
    let words = ["bench", &server, "crash", "{}", "-n", "3", "--keep-going", "-j"];
    let outcome = run(&mut scratch.mcpmini(words));
    let tally: Value = serde_json::from_str(&outcome.out).unwrap();
    assert_eq!((outcome.code, &tally["lost"]), (5, &json!(3)), "{}", outcome.out);
    assert_eq!(tally["failed"], json!({}), "{}", outcome.out);
}

#[test]
fn the_error_of_the_whole_tells_whether_it_was_sent() {
    let scratch = Scratch::new();
    let check = |server: &str, line: &str, sent: &str| {
        let outcome = batch(&scratch, server, &["--json-errors"], line);
        let error: Value = serde_json::from_str(outcome.err.lines().last().unwrap()).unwrap();
        assert_eq!(error["error"]["sent"], sent, "{}", outcome.err);
    };
    check(&demo(""), "oops", "no");
    check(&demo(""), r#"{"tool":"fail","arguments":{"message":"no"}}"#, "yes");
    check(&demo(""), r#"{"tool":"none"}"#, "yes");
    check(&closed_url(), r#"{"tool":"none"}"#, "no");
}

#[test]
fn a_line_has_a_limit_of_its_own() {
    let scratch = Scratch::new();
    let input = concat!(
        r#"{"tool":"slow","arguments":{"steps":1,"pause_ms":60000},"timeout":"200ms"}"#,
        "\n",
        r#"{"tool":"echo","arguments":{"text":"a"},"timeout":20}"#,
    );
    // The demo server does one thing at a time on stdio, and many over HTTP.
    let server = HttpDemo::start(&[]);
    let outcome = batch(&scratch, &server.url, &["--keep-going"], input);
    let found = outcomes(&outcome);
    assert_eq!((outcome.code, found["1"]["exit"].as_u64()), (124, Some(124)));
    assert_eq!(found["2"]["exit"], 0);
}

#[test]
fn what_is_not_to_be_read_is_told() {
    let scratch = Scratch::new();
    let check = |words: &[&str], input: &str, code, named: &str| {
        let outcome = run_with_input(&mut scratch.mcpmini(words), Some(input.as_bytes()));
        assert_eq!(outcome.code, code, "{words:?}: {}", outcome.err);
        assert!(outcome.err.contains(named), "{words:?}: {}", outcome.err);
    };
    let server = demo("");
    // Standard input is read only by who asks for it.
    check(&["batch", &server], "{}", 2, "FILE|-");
    check(&["batch", &server, "no-such-file"], "", 2, "no-such-file");
    check(&["batch", &server, "/"], "", 2, "/");
    check(&["batch", &server, "-", "-P0"], "", 2, "--jobs");
    let long = format!("{}\n{}", echoes(1), "x".repeat(200_000));
    check(&["batch", &server, "-", "--max-message=64KiB"], &long, 2, "line 3 is longer");
    let long = format!("\n{}\n\n{}", echoes(1), "x".repeat(200_000));
    check(&["batch", &server, "-", "--max-message=64KiB"], &long, 2, "line 5 is longer");
    check(&["batch", &server, "-"], "", 0, "");
    check(&["batch", &server, "-"], "\n\n", 0, "");
    check(&["batch", &closed_url(), "-"], &echoes(3), 4, "refused");
}

// ------------------------------------------------------------------------------- the arguments

/// Arguments that do not fit are not sent, as in `call`, and the other lines go on.
#[test]
fn arguments_are_held_against_the_schema() {
    let input = concat!(
        "{\"tool\":\"add\",\"arguments\":{\"a\":1,\"b\":2}}\n",
        "{\"tool\":\"add\",\"arguments\":{\"a\":\"x\",\"b\":2}}\n",
        "{\"tool\":\"add\"}\n",
        "{\"tool\":\"echo\",\"arguments\":{\"txt\":\"a\",\"text\":\"b\"}}\n",
        "{\"tool\":\"echo\",\"arguments\":{\"text\":\"b\"}}\n",
        "{\"method\":\"tools/call\",\"params\":{\"name\":\"add\"}}\n",
    );
    let scratch = Scratch::new();
    for era in ["modern", "legacy"] {
        let server = logging(&scratch, &format!("--era {era}"));
        // The second run may remember the list.
        for run in 1..=2 {
            std::fs::write(scratch.path("log"), "").unwrap();
            let outcome =
                batch(&scratch, &server, &["--keep-going", "-P2", "--check-arguments"], input);
            let found = outcomes(&outcome);
            let exits: Vec<_> = found.values().map(|line| line["exit"].as_u64().unwrap()).collect();
            assert_eq!(exits, [0, 2, 2, 2, 0, 3], "{era} {run}: {}", outcome.out);
            let error = &found["2"]["error"];
            assert_eq!((&error["class"], &error["sent"]), (&json!("usage"), &json!("no")));
            let message = |id: &str| found[id]["error"]["message"].as_str().unwrap().to_owned();
            assert!(message("2").contains("expected number, found \"x\""), "{}", message("2"));
            assert!(message("3").contains("missing"), "{}", message("3"));
            assert!(message("4").contains("did you mean text"), "{}", message("4"));
            assert_eq!(received(&scratch, "tools/call"), 3);
            assert!(received(&scratch, "tools/list") <= 1);
        }
    }
}

/// JSON is sent as it is written unless --check-arguments is given, in a batch as in a call.
#[test]
fn json_is_judged_only_if_that_is_wanted() {
    let scratch = Scratch::new();
    let server = logging(&scratch, "");
    let line = r#"{"tool":"add","arguments":{"a":"x","b":2}}"#;
    let arguments = r#"{"a":"x","b":2}"#;
    for flags in [&[][..], &["--no-schema"]] {
        let outcome = batch(&scratch, &server, flags, line);
        assert_eq!((outcome.code, ids(&outcome)), (3, vec![1]), "{}", outcome.err);
        let call = ["call", &server, "add", arguments];
        assert_eq!(run(&mut scratch.mcpmini(call.iter().chain(flags))).code, 3);
    }
    assert_eq!(received(&scratch, "tools/list"), 0);
    assert_eq!(received(&scratch, "tools/call"), 4);
    assert_eq!(batch(&scratch, &server, &["--check-arguments"], line).code, 2);
    let outcome =
        run(&mut scratch.mcpmini(["call", &server, "add", arguments, "--check-arguments"]));
    assert_eq!(outcome.code, 2, "{}", outcome.err);
    assert!(outcome.err.contains("expected number"), "{}", outcome.err);
    assert_eq!(received(&scratch, "tools/call"), 4);
}

/// Many servers report a tool that they do not have as a tool that failed. Their list tells them
/// apart, and is asked for once.
#[test]
fn a_tool_that_is_not_there_has_not_failed() {
    let scratch = Scratch::new();
    let server = logging(&scratch, "--era legacy --fault unknown-fails");
    let none = "{\"tool\":\"none\"}\n".repeat(3);
    let fails = r#"{"tool":"fail","arguments":{"message":"no"}}"#;
    let input = format!("{}{none}{fails}\n", echoes(1));
    let outcome = batch(&scratch, &server, &["--keep-going"], &input);
    let found = outcomes(&outcome);
    let exits: Vec<_> = found.values().map(|line| line["exit"].as_u64().unwrap()).collect();
    assert_eq!(exits, [0, 3, 3, 3, 1], "{}", outcome.out);
    assert_eq!(received(&scratch, "tools/list"), 1);
}

/// A list that was remembered is asked for anew, once, before it says that a tool is not there.
#[test]
fn a_tool_that_is_new_is_looked_up_once() {
    let scratch = Scratch::new();
    let server = logging(&scratch, "--era modern");
    assert_eq!(run(&mut scratch.mcpmini(["tools", &server])).code, 0);
    let before = received(&scratch, "tools/list");
    let none = "{\"tool\":\"none\"}\n".repeat(3);
    let flags = ["--keep-going", "--check-arguments"];
    let outcome = batch(&scratch, &server, &flags, &format!("{}{none}", echoes(1)));
    assert_eq!(outcome.code, 3, "{}", outcome.err);
    assert_eq!(received(&scratch, "tools/list"), before + 1);
}

/// A server that lists no tools is the judge of its own calls.
#[test]
fn a_server_without_a_list_judges_by_itself() {
    let scratch = Scratch::new();
    let server = http_server(|request| {
        let id = serde_json::from_str::<Value>(request.split("\r\n\r\n").nth(1).unwrap())
            .map(|it| it["id"].clone());
        let result = |result: Value| {
            let message = json!({ "jsonrpc": "2.0", "id": id.as_ref().unwrap(), "result": result });
            answer("200 OK", &message.to_string())
        };
        let none = || {
            let error = json!({ "code": -32601, "message": "no such method" });
            let message = json!({ "jsonrpc": "2.0", "id": id.as_ref().unwrap(), "error": error });
            answer("200 OK", &message.to_string())
        };
        match request {
            text if text.contains("tools/call") => result(json!({ "content": [] })),
            text if text.contains("\"initialize\"") => result(json!({
                "protocolVersion": "2025-06-18", "capabilities": {},
                "serverInfo": { "name": "bare", "version": "1" },
            })),
            text if text.contains("notifications/") => answer("202 Accepted", ""),
            _ => none(),
        }
    });
    let outcome = batch(&scratch, &server, &["--check-arguments"], &echoes(3));
    assert_eq!((outcome.code, ids(&outcome).len()), (0, 3), "{}", outcome.err);
}

#[test]
fn outcomes_go_into_a_file_as_a_whole() {
    let scratch = Scratch::new();
    let outcome = batch(&scratch, &demo(""), &["--out", "answers"], &echoes(300));
    assert_eq!((outcome.code, outcome.out.as_str(), scratch.lines("answers").len()), (0, "", 300));
    let files = std::fs::read_dir(scratch.path("")).unwrap().filter_map(Result::ok);
    let left: Vec<_> =
        files.filter(|file| file.path().extension() == Some("tmp".as_ref())).collect();
    assert!(left.is_empty(), "{left:?}");
}

// ----------------------------------------------------------------------------- back-pressure

/// Whoever reads slowly slows down the reading of lines, and the server gets no more of them.
#[test]
fn a_slow_reader_slows_the_server_down() {
    let scratch = Scratch::new();
    let server = logging(&scratch, "");
    let line = r#"{"tool":"text","arguments":{"bytes":50000}}"#;
    let input = format!("{line}\n").repeat(200);
    let path = scratch.write("input", input);
    let mut command = scratch.mcpmini(["batch", &server, &path]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    out.read_line(&mut first).unwrap();
    thread::sleep(Duration::from_millis(700));
    let while_stalled = received(&scratch, "tools/call");
    assert!(while_stalled < 40, "{while_stalled} calls were made for one that was read");
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!((rest.lines().count(), child.wait().unwrap().code()), (199, Some(0)));
}

/// A server that is slow is not buried under lines, and what it has done is there at once.
#[test]
fn lines_are_read_when_they_can_be_sent() {
    let scratch = Scratch::new();
    let server = logging(&scratch, "");
    let mut command = scratch.mcpmini(["batch", &server, "-", "-P2"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    for number in 1..=3 {
        // The input is still open: the outcome does not wait for more lines.
        writeln!(input, r#"{{"tool":"count"}}"#).unwrap();
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let outcome: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(outcome["result"]["content"][0]["text"], number.to_string());
    }
    for _ in 0..50 {
        writeln!(input, r#"{{"tool":"slow","arguments":{{"steps":1,"pause_ms":60000}}}}"#).unwrap();
    }
    wait_until("the calls", || received(&scratch, "tools/call") == 5);
    thread::sleep(Duration::from_millis(200));
    assert_eq!(received(&scratch, "tools/call"), 5);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The peak of memory does not depend on how many lines there are.
#[test]
fn memory_is_flat() {
    let scratch = Scratch::new();
    let peak = |count: usize| {
        let path = scratch.write("input", echoes(count));
        let mut command = scratch.mcpmini(["batch", &demo(""), &path, "-P16", "--ordered"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let status = format!("/proc/{}/status", child.id());
        let (mut lines, mut kilobytes) = (0, 0);
        let mut line = String::new();
        while 0 < out.read_line(&mut line).unwrap() {
            line.clear();
            lines += 1;
            if lines % (count / 10) == 0 {
                let text = std::fs::read_to_string(&status).unwrap_or_default();
                let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
                let peak = peak.and_then(|text| text.trim().trim_end_matches(" kB").parse().ok());
                kilobytes = kilobytes.max(peak.unwrap_or(0));
            }
        }
        assert_eq!((lines, child.wait().unwrap().code()), (count, Some(0)));
        kilobytes
    };
    let (few, many) = (peak(1_000), peak(10_000));
    assert!(0 < few && many < few + 2_048, "{few} kB for 1000 lines, {many} kB for 10000");
}

// ------------------------------------------------------------------------ restarts and retries

/// A server that ends in the middle: every line says what became of it, none is lost or doubled.
#[test]
fn a_server_that_ends_is_started_again_and_no_call_is_repeated() {
    for era in ["legacy", "modern"] {
        let scratch = Scratch::new();
        let server = logging(&scratch, &format!("--era {era} --crash-after 40"));
        let outcome = batch(&scratch, &server, &["--keep-going", "-P4"], &echoes(100));
        let found = outcomes(&outcome);
        assert_eq!((outcome.code, found.len()), (5, 100), "{}", outcome.err);
        let of = |exit: u64| found.values().filter(|line| line["exit"] == exit).count();
        let (answered, not_run, unknown) = (of(0), of(4), of(5));
        assert_eq!(answered + not_run + unknown, 100);
        // Two processes end, each with at most four calls in flight.
        assert!((2..=8).contains(&unknown), "{unknown} are unknown");
        let mut texts: Vec<String> = scratch.lines("log");
        texts.retain(|line| line.contains("\"tools/call\""));
        let mut sent: Vec<u64> = texts
            .iter()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .map(|call| call["params"]["arguments"]["text"].as_str().unwrap().parse().unwrap())
            .collect();
        sent.sort_unstable();
        let count = sent.len();
        sent.dedup();
        assert_eq!(sent.len(), count, "a call was repeated");
        for line in found.values().filter(|line| line["exit"] == 5) {
            assert!(line["error"]["message"].as_str().unwrap().contains("exit status 3"), "{line}");
            assert_eq!(line["error"]["sent"], "maybe");
        }
        wait_until("the end of all servers", || {
            processes_with(scratch.path("log").to_str().unwrap()).is_empty()
        });
    }
}

/// A tool that says that it changes nothing may run again after it was lost.
#[test]
fn a_lost_call_of_a_tool_that_may_run_twice_is_repeated() {
    for flags in [&[][..], &["--retry", "1"]] {
        let scratch = Scratch::new();
        let server = logging(&scratch, "--crash-after 1");
        let line = r#"{"tool":"add","arguments":{"a":1,"b":2}}"#;
        let input = format!("{line}\n{line}\n{line}\n");
        let flags = [&["--retry-delay", "10ms", "-P1"], flags].concat();
        let outcome = batch(&scratch, &server, &flags, &input);
        assert_eq!((outcome.code, ids(&outcome)), (0, vec![1, 2, 3]), "{}", outcome.err);
        assert_eq!(received(&scratch, "tools/call"), 5);
    }
    let scratch = Scratch::new();
    let server = logging(&scratch, "--crash-after 1");
    let line = r#"{"tool":"add","arguments":{"a":1,"b":2}}"#;
    let outcome = batch(&scratch, &server, &["--retry", "0", "-P1"], &format!("{line}\n{line}\n"));
    assert_eq!((outcome.code, received(&scratch, "tools/call")), (5, 2), "{}", outcome.err);
}

/// A list is asked for again, but not for ever; a call of a tool is not.
#[test]
fn lists_are_repeated_and_calls_are_not() {
    let check = |line: &str, flags: &[&str], code, method: &str, count| {
        let scratch = Scratch::new();
        let server = logging(&scratch, "--fault crash");
        let flags = [&["--retry-delay", "10ms"], flags].concat();
        let outcome = batch(&scratch, &server, &flags, line);
        assert_eq!(outcome.code, code, "{}", outcome.err);
        assert_eq!(received(&scratch, method), count, "{line} {flags:?}");
    };
    let list = r#"{"method":"tools/list"}"#;
    let call = r#"{"tool":"echo","arguments":{"text":"a"}}"#;
    check(list, &[], 5, "tools/list", 5);
    check(list, &["--retry", "2"], 5, "tools/list", 3);
    check(list, &["--retry", "0"], 5, "tools/list", 1);
    check(call, &["--retry", "0", "--no-schema"], 5, "tools/call", 1);
    check(call, &["--retry", "3", "--no-schema"], 5, "tools/call", 1);
    check(call, &["--no-schema"], 5, "tools/call", 1);
    // The tools are listed before a call that is to be checked, which is then not sent.
    check(call, &["--check-arguments"], 4, "tools/call", 0);
}

/// A server that cannot live is not started without end, and the lines do not wait for it.
#[test]
fn a_server_that_ends_at_once_is_started_five_times() {
    let scratch = Scratch::new();
    let marks = scratch.path("starts");
    let server = format!("exec:sh -c 'echo start >>{}; exit 3'", marks.display());
    let outcome = batch(&scratch, &server, &["--keep-going", "-P1"], &echoes(200));
    assert_eq!((outcome.code, outcomes(&outcome).len()), (4, 200), "{}", outcome.err);
    assert_eq!(scratch.lines("starts").len(), 5);
    assert!(outcome.took < Duration::from_secs(20), "{:?}", outcome.took);
    assert!(outcome.out.lines().last().unwrap().contains("not started again for now"));
}

#[test]
fn a_server_that_is_not_there_holds_up_no_line() {
    let scratch = Scratch::new();
    let flags = ["--keep-going", "-P", "1", "--max-time", "20s"];
    // Nothing listens there. Without the limit a line would wait for half a minute.
    let outcome = batch(&scratch, "http://127.0.0.1:1/mcp", &flags, &echoes(12));
    let exits: Vec<Value> = outcomes(&outcome).into_values().map(|it| it["exit"].clone()).collect();
    assert_eq!((outcome.code, exits), (4, vec![json!(4); 12]), "{}", outcome.err);
}

/// `call --retry`: what was not carried out is tried again.
#[test]
fn a_call_waits_for_a_server_that_is_not_there_yet() {
    let scratch = Scratch::new();
    let server = format!(
        "exec:sh -c 'test -e ready || {{ touch ready; exit 1; }}; exec \"$0\"' {}",
        support::demo_path()
    );
    let call = |flags: &[&str]| {
        let words = ["call", &server, "echo", "text=hi", "--retry-delay=10ms"];
        run(&mut scratch.mcpmini(words.iter().chain(flags)))
    };
    assert_eq!(call(&[]).code, 4);
    std::fs::remove_file(scratch.path("ready")).unwrap();
    let outcome = call(&["--retry", "2"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (0, "hi\n"), "{}", outcome.err);
}

/// A server that is overloaded has not acted, so the request may be sent again by who wants that.
#[test]
fn an_overloaded_server_is_asked_again() {
    let scratch = Scratch::new();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let url = http_server(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        answer("503 Service Unavailable", "")
    });
    for (retry, expected) in [("0", 1), ("2", 3)] {
        asked.store(0, Ordering::Relaxed);
        let words = ["call", &url, "echo", "{}", "--retry", retry, "--retry-delay", "10ms"];
        assert_eq!(run(&mut scratch.mcpmini(words)).code, 4);
        assert_eq!(asked.load(Ordering::Relaxed), expected);
    }
}

#[test]
fn a_call_that_was_lost_is_repeated_only_where_that_does_no_harm() {
    let check = |tool: &[&str], code, count| {
        let scratch = Scratch::new();
        let server = logging(&scratch, "--crash-after 0");
        let words = [&["call", &server][..], tool, &["--retry=2", "--retry-delay=10ms"]].concat();
        let outcome = run(&mut scratch.mcpmini(words));
        assert_eq!(outcome.code, code, "{}", outcome.err);
        assert_eq!(received(&scratch, "tools/call"), count, "{tool:?}");
    };
    check(&["add", "a=1", "b=2"], 5, 3);
    check(&["echo", "text=a"], 5, 1);
    check(&["count"], 5, 1);
}

// ------------------------------------------------------------------------------------ signals

/// Time that is up is up for whoever reads the outcomes, too.
#[test]
fn a_stalled_reader_does_not_hold_up_the_limit() {
    let scratch = Scratch::new();
    let line = r#"{"tool":"text","arguments":{"bytes":1000000}}"#;
    let path = scratch.write("input", format!("{line}\n").repeat(3));
    let mut command = scratch.mcpmini(["batch", &demo(""), &path, "-T1s"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("the end", || child.try_wait().unwrap().is_some());
    assert_eq!(child.wait().unwrap().code(), Some(124));
}

/// After a signal every line that was read has an outcome, and the calls are taken back.
#[test]
fn an_interrupted_batch_reports_what_was_in_flight() {
    for era in ["legacy", "modern"] {
        let scratch = Scratch::new();
        let server = logging(&scratch, &format!("--era {era}"));
        let slow = r#"{"tool":"slow","arguments":{"steps":600}}"#;
        let path = scratch.write("input", format!("{}{slow}\n{slow}\n{slow}\n", echoes(2)));
        let mut command = scratch.mcpmini(["batch", &server, &path, "-P3"]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait_until("the calls", || received(&scratch, "tools/call") == 5);
        let begin = Instant::now();
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let outcome = finish(child, begin);
        assert_eq!(outcome.code, 130, "{}", outcome.err);
        let found = outcomes(&outcome);
        let exits: Vec<u64> = found.values().map(|line| line["exit"].as_u64().unwrap()).collect();
        assert_eq!(exits, [0, 0, 130, 130, 130], "{}", outcome.out);
        assert_eq!(found["4"]["error"]["sent"], "maybe");
        assert!(outcome.took < Duration::from_secs(5), "{:?}", outcome.took);
        wait_until("the end of input", || {
            scratch.lines("log").last().is_some_and(|line| line == "EOF")
        });
        assert_eq!(received(&scratch, "notifications/cancelled"), 3);
    }
}

/// A reader that has stopped does not keep a signal from ending the batch.
#[test]
fn a_stalled_reader_does_not_hold_up_a_signal() {
    let scratch = Scratch::new();
    let line = r#"{"tool":"text","arguments":{"bytes":1000000}}"#;
    let path = scratch.write("input", format!("{line}\n").repeat(20));
    let mut command = scratch.mcpmini(["batch", &logging(&scratch, ""), &path]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("a call", || received(&scratch, "tools/call") > 0);
    thread::sleep(Duration::from_millis(300));
    let begin = Instant::now();
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    wait_until("the end", || child.try_wait().unwrap().is_some());
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
}

#[test]
fn who_stops_reading_ends_the_batch() {
    let scratch = Scratch::new();
    let path = scratch.write("input", echoes(100_000));
    let script = format!("{{ \"$mcpmini\" batch \"$demo\" {path}; echo $? >code; }} | head -n 2");
    let outcome = run(&mut scratch.shell(&script));
    assert_eq!((outcome.out.lines().count(), outcome.err.as_str()), (2, ""));
    assert_eq!(scratch.lines("code"), ["141"]);
}

// -------------------------------------------------------------------------------------- bench

#[test]
fn bench_measures_calls() {
    let scratch = Scratch::new();
    let server = logging(&scratch, "");
    let bench = |words: &[&str]| run(&mut scratch.mcpmini(["bench", &server].iter().chain(words)));
    let outcome = bench(&["add", "a=1", "b=2", "-n", "25", "-P3", "--json"]);
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""));
    let found: Value = serde_json::from_str(&outcome.out).unwrap();
    assert_eq!((&found["answered"], &found["failed"]), (&json!(25), &json!({})));
    let ms = |name: &str| found["ms"][name].as_f64().unwrap();
    assert!(ms("p50") <= ms("p90") && ms("p90") <= ms("p99") && ms("p99") <= ms("max"));
    assert_eq!(received(&scratch, "tools/call"), 25);

    let outcome = bench(&["count", "-n2"]);
    assert_eq!((outcome.code, outcome.out.lines().count()), (0, 8), "{}", outcome.out);
    // The first failure ends it, and is its exit code.
    let outcome = bench(&["fail", "-n", "50"]);
    assert_eq!(outcome.code, 1, "{}", outcome.out);
    assert!(outcome.out.contains("1 (tool_error)"), "{}", outcome.out);
    let outcome = bench(&["fail", "-n", "50", "--keep-going"]);
    assert!(outcome.out.contains("50 (tool_error)"), "{}", outcome.out);
    assert_eq!(bench(&["add", "a=1"]).code, 2);
    assert_eq!(bench(&["none", "--", "--a", "1"]).code, 3);
}
