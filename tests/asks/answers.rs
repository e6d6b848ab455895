//! Answers from words, files and programs, and what becomes of questions without one.

use serde_json::{Value, json};

use super::support::{Scratch, demo, processes_with, run, wait_until};
use super::{Way, check, every_way};

/// Calls a tool over each way and checks what comes of it.
#[track_caller]
fn over_every_way(words: &[&str], code: i32, out: &str, err: &[&str]) {
    for way in every_way(&[]) {
        let scratch = Scratch::new();
        let outcome = run(&mut scratch.mcpmini(["call", &way.server].iter().chain(words)));
        check(&way, &outcome, code, out);
        for text in err {
            assert!(outcome.err.contains(text), "{}: no {text} in {}", way.name, outcome.err);
        }
        assert!(code != 0 || outcome.err.is_empty(), "{}: {}", way.name, outcome.err);
    }
}

#[test]
fn a_form_is_filled_by_words() {
    let words = [
        "form",
        "--answer",
        "name=Ada",
        "--answer",
        "age=36",
        "--answer",
        "height:=1.650",
        "--answer",
        "email=ada@example.com",
        "--answer",
        "page=https://example.com",
        "--answer",
        "born=1815-12-10",
        "--answer",
        "now=1842-01-01T00:00:00Z",
        "--answer",
        "happy=no",
        "--answer",
        "size=small",
        "--answer",
        "colour=green",
        "--answer",
        "pet=Dog",
        "--answer",
        "tags=a",
        "--answer",
        "tags=c",
        "--answer",
        "fish=Trout",
    ];
    let content = json!({
        "name": "Ada", "age": 36, "height": 1.65, "email": "ada@example.com",
        "page": "https://example.com", "born": "1815-12-10", "now": "1842-01-01T00:00:00Z",
        "happy": false, "size": "small", "colour": "#0f0", "pet": "p2", "tags": ["a", "c"],
        "fish": ["f2"],
    });
    let expected = json!({ "form": { "action": "accept", "content": content } });
    over_every_way(&words, 0, &format!("{expected}\n"), &[]);
}

#[test]
fn a_form_is_filled_by_a_file_and_by_defaults() {
    let scratch = Scratch::new();
    let file = scratch.write("answers.json", r#"{"name": "Bo", "age": 18, "other": []}"#);
    let filled = json!({ "form": { "action": "accept", "content": { "name": "Bo", "age": 18 } } });
    over_every_way(&["form", "--answers", &file], 0, &format!("{filled}\n"), &[]);
    let content = json!({
        "name": "Bo", "age": 18, "height": 1.5, "happy": true, "size": "large", "fish": ["f1"],
    });
    let filled = json!({ "form": { "action": "accept", "content": content } });
    let words = ["form", "--accept-defaults", "--answers", &file];
    over_every_way(&words, 0, &format!("{filled}\n"), &[]);
}

#[test]
fn an_answer_that_does_not_fit_is_named_and_not_sent() {
    let check = |word: &str, text: &str| {
        let scratch = Scratch::new();
        let log = scratch.write("log", "");
        let server = demo(&format!("--log {log}"));
        let words = ["call", &server, "form", "--answer", "name=Ada", "--answer", "age=36"];
        let outcome = run(scratch.mcpmini(words).args(["--answer", word]));
        assert_eq!((outcome.code, outcome.out.as_str()), (10, ""), "{word}");
        assert!(outcome.err.contains(text), "{word}: {}", outcome.err);
        assert!(!scratch.lines("log").iter().any(|line| line.contains("Ada")));
    };
    check("age=17", "the answer to \"age\" does not fit: it must be at least 18");
    check("age=18.5", "it must be a whole number");
    check("name=A", "it must have at least 2 characters");
    check("email=ada", "it must be an e-mail address");
    check("page=example", "it must be a URL");
    check("born=1815-02-29", "it must be a date");
    check("now=noon", "it must be a date with time");
    check("happy=perhaps", "it must be yes or no");
    check("size=medium", "it must be one of small, large");
    check("colour:=\"Red\"", "it must be one of Red, Green");
    check("tags:=\"a\"", "it must be a list");
    check("fish:=[]", "there must be at least 1");
}

#[test]
fn a_program_fills_a_form_and_agrees_to_a_page() {
    let content = r#"{"name":"Cy","age":20}"#;
    let prog = format!(
        "cmd:grep -q requestedSchema && echo '{{\"action\":\"accept\",\"content\":{content}}}'"
    );
    let filled = format!("{{\"form\":{{\"action\":\"accept\",\"content\":{content}}}}}\n");
    over_every_way(&["form", "--elicit", &prog], 0, &filled, &[]);
    let prog = r#"cmd:grep -q https://demo.example/connect && echo '{"action":"accept"}'"#;
    let agreed = "{\"connect\":{\"action\":\"accept\"}}\n";
    over_every_way(&["connect", "--elicit", prog], 0, agreed, &[]);
    let prog = r#"cmd:echo '{"action":"accept","content":{"name":"Cy","age":2}}'"#;
    let text = "its answer to \"age\" does not fit: it must be at least 18";
    over_every_way(&["form", "--elicit", prog], 10, "", &[text]);
}

#[test]
fn a_program_stands_in_for_a_model() {
    let answer = |text: &str| {
        let content = json!({ "type": "text", "text": text });
        let message = json!({
            "role": "assistant", "content": content, "stopReason": "endTurn", "model": "command",
        });
        format!("{}\n", json!({ "sample": message }))
    };
    let prog = r#"cmd:echo "$MCPMINI_SERVER" | grep -q . && grep -o 'capital' "#;
    let words = ["sample", "prompt=the capital?", "--sample", prog];
    over_every_way(&words, 0, &answer("capital"), &[]);
    let whole = r#"{"role":"assistant","content":{"type":"text","text":"x"},"model":"m"}"#;
    let scratch = Scratch::new();
    let prog = scratch.write("model.sh", format!("#!/bin/sh\ncat >/dev/null; echo '{whole}'\n"));
    std::process::Command::new("chmod").args(["+x", &prog]).status().unwrap();
    let words = ["sample", "--sampling-command", &prog];
    over_every_way(&words, 0, &format!("{{\"sample\":{whole}}}\n"), &[]);
}

#[test]
fn a_program_that_fails_is_an_error_for_the_server_and_for_us() {
    for (prog, text) in [
        ("false", "false: it ended with exit status 1"),
        ("no-such-program-anywhere", "there is no such program"),
        ("true", "it printed nothing"),
    ] {
        over_every_way(&["sample", "--sampling-command", prog], 10, "", &[text]);
    }
}

#[test]
fn roots_are_listed() {
    let scratch = Scratch::new();
    let root = scratch.path("a b").into_os_string().into_string().unwrap();
    std::fs::create_dir(&root).unwrap();
    let uri = format!("file://{}", root.replace(' ', "%20"));
    let listed = json!({ "roots": { "roots": [{ "uri": uri, "name": "a b" }] } });
    over_every_way(&["roots", "--root", &root], 0, &format!("{listed}\n"), &[]);
}

#[test]
fn several_questions_are_answered_in_several_rounds() {
    for way in every_way(&[]) {
        let scratch = Scratch::new();
        let words =
            ["interview", "--answer", "name=Ada", "--sample", "cmd:echo yes", "--root", "/"];
        let outcome = run(&mut scratch.mcpmini(["call", &way.server].iter().chain(&words)));
        let said: Value = serde_json::from_str(&outcome.out).unwrap();
        assert_eq!(said["form"]["content"]["name"], "Ada", "{}", way.name);
        assert_eq!(said["sample"]["content"]["text"], "yes", "{}", way.name);
        assert_eq!(said["roots"]["roots"][0]["uri"], "file:///", "{}", way.name);
    }
    // One that is missing is enough.
    let words = ["interview", "--answer", "name=Ada", "--sample", "cmd:echo yes"];
    over_every_way(&words, 10, "", &["roots/list", "--root DIR"]);
}

#[test]
fn a_question_without_an_answer_is_shown_with_its_schema() {
    for way in every_way(&[]) {
        let scratch = Scratch::new();
        let words = ["call", &way.server, "form", "--elicit", "fail", "--json"];
        let outcome = run(&mut scratch.mcpmini(words));
        check(&way, &outcome, 10, "");
        let error: Value = serde_json::from_str(&outcome.err).unwrap();
        let error = &error["error"];
        assert_eq!((&error["class"], &error["exit"]), (&json!("input_required"), &json!(10)));
        let schema = &error["data"]["requestedSchema"];
        assert_eq!(schema["properties"]["age"]["minimum"], 18, "{}", way.name);
        assert!(error["hint"].as_str().unwrap().contains("--answer name=TEXT --answer age=NUMBER"));
    }
}

#[test]
fn a_page_that_must_be_opened_first_is_named() {
    over_every_way(&["locked"], 10, "", &["-32042", "open https://demo.example/connect?id=7"]);
}

#[test]
fn nobody_is_asked_off_a_terminal() {
    for flag in ["--interactive", "--elicit=ask"] {
        over_every_way(&["form", flag], 10, "", &["the server asks back"]);
        over_every_way(&["connect", flag], 10, "", &["https://demo.example/connect?id=7"]);
    }
}

/// What the client has declared to a server that wrote a log.
fn declared(lines: &[String], way: &Way) -> Value {
    let method = if way.modern { "\"tools/call\"" } else { "\"initialize\"" };
    let line = lines.iter().find(|line| line.contains(method)).expect(way.name);
    let params = &serde_json::from_str::<Value>(line).unwrap()["params"];
    let key = "io.modelcontextprotocol/clientCapabilities";
    if way.modern { params["_meta"][key].clone() } else { params["capabilities"].clone() }
}

#[test]
fn only_what_can_be_met_is_declared() {
    let forms = json!({ "elicitation": { "form": {} } });
    let both = json!({ "elicitation": { "form": {}, "url": {} } });
    let rows: &[(&[&str], Value)] = &[
        (&[], json!({})),
        (&["--elicit", "fail"], json!({})),
        (&["--elicit", "ask"], json!({})),
        (&["--sample", "fail"], json!({})),
        (&["--answer", "a=b"], forms.clone()),
        (&["--accept-defaults"], forms),
        (&["--decline"], both.clone()),
        (&["--elicit", "cancel"], both.clone()),
        (&["--elicit", "cmd:true"], both),
        (&["--sample", "cmd:true"], json!({ "sampling": {} })),
        (&["--root", "/"], json!({ "roots": {} })),
    ];
    for (words, expected) in rows {
        let scratch = Scratch::new();
        let log = scratch.write("log", "");
        for way in every_way(&["--log", &log]) {
            let call = ["call", &way.server, "echo", "{\"text\":\"a\"}"];
            let outcome = run(scratch.mcpmini(call).args(*words));
            check(&way, &outcome, 0, "a\n");
            let found = declared(&scratch.lines("log"), &way);
            assert_eq!(found, *expected, "{}: {words:?}", way.name);
            scratch.write("log", "");
        }
    }
}

#[test]
fn a_slow_program_does_not_make_the_call_time_out() {
    let words = ["sample", "--sample", "cmd:sleep 1.5; echo late", "--timeout", "1s"];
    for way in every_way(&[]) {
        let scratch = Scratch::new();
        let outcome = run(&mut scratch.mcpmini(["call", &way.server].iter().chain(&words)));
        assert_eq!(outcome.code, 0, "{}: {}", way.name, outcome.err);
    }
}

#[test]
fn a_program_is_gone_when_the_call_is_over() {
    let sleep = format!("sleep 63.{}", std::process::id());
    let prog = format!("cmd:{sleep} & {sleep}");
    for way in every_way(&[]) {
        let scratch = Scratch::new();
        let words = ["call", &way.server, "sample", "--sample", &prog, "--max-time", "700ms"];
        check(&way, &run(&mut scratch.mcpmini(words)), 124, "");
        let program = sleep.replace(' ', "\0");
        wait_until("the end of the program", || processes_with(&program).is_empty());
    }
}

#[test]
fn a_declined_question_is_told_even_if_the_call_succeeds() {
    let scratch = Scratch::new();
    let outcome = run(&mut scratch.mcpmini(["call", &demo("--era legacy"), "form"]));
    assert_eq!(outcome.out, "{\"form\":{\"action\":\"decline\"}}\n");
    assert_eq!(outcome.code, 0);
    assert!(outcome.err.contains("was declined"), "{}", outcome.err);
}
