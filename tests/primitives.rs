//! Resources, prompts, completion, tasks, and the parts of an answer, against the demo server: over
//! stdio and HTTP, in both eras.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Stdio;
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use support::{HttpDemo, LIMIT, Outcome, Scratch, demo, demo_path, finish, run, wait_until};

const ERAS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// Whether this build checks answers by their schemas.
const HAS_SCHEMA: bool = cfg!(feature = "schema");

/// Runs a check against the demo server with these flags, over each binding and in each era. The
/// check gets what runs `mcpmini COMMAND SERVER WORD...`.
fn everywhere(flags: &str, check: impl Fn(&dyn Fn(&[&str]) -> Outcome)) {
    let flags: Vec<&str> = flags.split_whitespace().collect();
    let http = HttpDemo::start(&flags);
    for server in [demo(&flags.join(" ")), http.url.clone()] {
        for era in ERAS {
            let scratch = Scratch::new();
            check(&|words: &[&str]| {
                let (command, rest) = words.split_first().unwrap();
                let words =
                    [*command, &server, "--protocol", era].into_iter().chain(rest.iter().copied());
                run(&mut scratch.mcpmini(words))
            });
        }
    }
}

#[track_caller]
fn check(outcome: &Outcome, code: i32, out: &str) {
    assert_eq!((outcome.code, outcome.out.as_str()), (code, out), "stderr: {}", outcome.err);
}

/// Checks an error: its exit code, that nothing is on standard output, and what it says.
#[track_caller]
fn check_error(outcome: &Outcome, code: i32, says: &[&str]) {
    check(outcome, code, "");
    for part in says {
        assert!(outcome.err.contains(part), "{part}: {}", outcome.err);
    }
}

/// What a JSON Lines output has under a name, line by line.
#[track_caller]
fn column(outcome: &Outcome, name: &str) -> Vec<String> {
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    let read = |line: &str| serde_json::from_str::<Value>(line).unwrap();
    let text = |value: Value| value[name].as_str().unwrap_or("-").to_owned();
    outcome.out.lines().map(read).map(text).collect()
}

// --------------------------------------------------------------------------------- resources

#[test]
fn all_pages_of_resources_and_templates_are_listed() {
    everywhere("", |mcpmini| {
        let expected = "demo://note\tnote\ttext/plain\tA short text\n\
                        demo://logo\tLogo\timage/png\t\n\
                        demo://bytes\tbytes\t\t\n\
                        demo://pair\tpair\t\t\n\
                        demo://escape\tescape\ttext/plain\t\n";
        let template = "demo://greeting/{name}\tgreeting\t\tGreets by name\n";
        let outcome = mcpmini(&["resources"]);
        check(&outcome, 0, &format!("{expected}{template}"));
        assert_eq!(outcome.err, "");
        check(&mcpmini(&["templates"]), 0, template);
        let json = mcpmini(&["resources", "--json"]);
        let uris =
            ["demo://note", "demo://logo", "demo://bytes", "demo://pair", "demo://escape", "-"];
        assert_eq!(column(&json, "uri"), uris);
        assert_eq!(column(&json, "uriTemplate")[5], "demo://greeting/{name}");
    });
}

#[test]
fn resources_are_printed_byte_for_byte() {
    everywhere("", |mcpmini| {
        check(&mcpmini(&["read", "demo://note"]), 0, "first\nsecond");
        check(&mcpmini(&["read", "demo://pair"]), 0, "one\ntwo\n");
        check(&mcpmini(&["read", "demo://escape"]), 0, "\u{1b}[2Jred\n");
        let several = ["read", "demo://greeting/Ada", "demo://pair", "demo://greeting/Bob"];
        check(&mcpmini(&several), 0, "hello, Ada\none\ntwo\nhello, Bob\n");
        let json = mcpmini(&["read", "-j", "demo://pair", "demo://note"]);
        let lines: Vec<Value> =
            json.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines[0]["contents"][1]["text"], "two\n");
        assert_eq!(lines[1]["contents"][0]["text"], "first\nsecond");
        check(
            &mcpmini(&["read", "demo://pair", "--select", "/contents/-/text"]),
            0,
            "one\n\ntwo\n\n",
        );
    });
}

#[test]
fn bytes_are_decoded() {
    let every_byte: Vec<u8> = (0..=255).collect();
    let scratch = Scratch::new();
    let read = |more: &[&str]| {
        let words = ["read", &demo(""), "demo://bytes"];
        scratch.mcpmini(words.iter().chain(more)).output().unwrap()
    };
    assert_eq!(read(&[]).stdout, every_byte);
    assert_eq!(read(&["-o", "raw"]).stdout, every_byte);
    assert_eq!(read(&["--out", "file"]).stdout, b"");
    assert_eq!(fs::read(scratch.path("file")).unwrap(), every_byte);
}

#[test]
fn a_resource_that_is_not_there_leaves_what_was_printed_before_and_no_file() {
    let scratch = Scratch::new();
    let words = ["read", &demo(""), "demo://greeting/Ada", "demo://not"];
    let outcome = run(&mut scratch.mcpmini(words));
    check(&outcome, 3, "hello, Ada\n");
    let outcome = run(scratch.mcpmini(words).args(["--out", "file"]));
    check(&outcome, 3, "");
    assert!(!scratch.path("file").exists());
}

#[test]
fn a_misspelled_name_gets_a_suggestion() {
    everywhere("", |mcpmini| {
        check_error(&mcpmini(&["read", "demo://nota"]), 3, &["did you mean \"demo://note\"?"]);
        check_error(&mcpmini(&["prompt", "reviev"]), 3, &["did you mean \"review\"?"]);
        check_error(&mcpmini(&["tools", "ecko"]), 3, &["did you mean \"echo\"?"]);
        check_error(
            &mcpmini(&["read", "other://thing/far/away"]),
            3,
            &["mcpmini resources SERVER"],
        );
        check_error(&mcpmini(&["prompt", "x"]), 3, &["mcpmini prompts SERVER"]);
    });
}

// ----------------------------------------------------------------------- prompts, completion

#[test]
fn prompts_are_listed_and_filled_in() {
    everywhere("", |mcpmini| {
        let expected = "review\treview(code, language?)\tAsks for a review of code\n\
                        chat\tchat()\tA talk that has begun\npicture\tpicture()\t\n";
        check(&mcpmini(&["prompts"]), 0, expected);
        assert_eq!(column(&mcpmini(&["prompts", "-j"]), "name"), ["review", "chat", "picture"]);
        let filled = mcpmini(&["prompt", "review", "code=a=b", "language=rust"]);
        check(&filled, 0, "Review this rust: a=b\n");
        check(&mcpmini(&["prompt", "chat"]), 0, "user: Hello\nassistant: Hi,\nwhat can I do?\n");
        let json: Value =
            serde_json::from_str(&mcpmini(&["prompt", "chat", "--json"]).out).unwrap();
        assert_eq!(json["description"], "what it is for");
        let role = mcpmini(&["prompt", "chat", "--select", "/messages/-/role"]);
        check(&role, 0, "user\nassistant\n");
        let picture = mcpmini(&["prompt", "picture"]);
        check(&picture, 0, "user:\nuser: What is this?\n");
        assert!(picture.err.contains("block 1: image/png 70 B, use --save DIR"), "{}", picture.err);
    });
}

#[test]
fn the_arguments_of_a_prompt_are_texts() {
    everywhere("", |mcpmini| {
        check_error(&mcpmini(&["prompt", "review", "code:=5"]), 2, &["code", "KEY=TEXT"]);
        check(&mcpmini(&["prompt", "review", "code:=\"5\""]), 0, "Review this some language: 5\n");
        check_error(&mcpmini(&["prompt", "review"]), 3, &["the prompt needs code"]);
    });
}

#[test]
fn arguments_are_completed() {
    everywhere("", |mcpmini| {
        check(&mcpmini(&["complete", "review", "language"]), 0, "python\nrust\nruby\n");
        check(&mcpmini(&["complete", "review", "language", "ru"]), 0, "rust\nruby\n");
        let known = ["complete", "review", "language", "ru", "--context", "code=fn"];
        check(&mcpmini(&known), 0, "rust\n");
        check(&mcpmini(&["complete", "review", "language", "x"]), 0, "");
        check(&mcpmini(&["complete", "demo://greeting/{name}", "name", "A"]), 0, "Ada\nAlan\n");
        check(&mcpmini(&["complete", "ref/prompt:review", "language", "p"]), 0, "python\n");
        let json = mcpmini(&["complete", "review", "language", "p", "-j"]);
        let json: Value = serde_json::from_str(&json.out).unwrap();
        assert_eq!(json["completion"]["total"], 1);
        check_error(&mcpmini(&["complete", "nothing", "x"]), 3, &["Nothing to complete"]);
        let number = ["complete", "review", "language", "--context", "code:=1"];
        check_error(&mcpmini(&number), 2, &["code must be a text"]);
    });
}

#[test]
fn a_server_that_has_no_such_thing_is_told_of_clearly() {
    everywhere("--fault bare", |mcpmini| {
        check_error(&mcpmini(&["resources"]), 3, &["the server has no resources"]);
        check_error(&mcpmini(&["templates"]), 3, &["the server has no resource templates"]);
        check_error(&mcpmini(&["prompts"]), 3, &["the server has no prompts"]);
        check_error(&mcpmini(&["complete", "a", "b"]), 3, &["the server completes nothing"]);
        check_error(&mcpmini(&["read", "a:b"]), 3, &["Method not found"]);
        check_error(&mcpmini(&["prompt", "a"]), 3, &["Method not found"]);
    });
}

#[test]
fn a_list_without_an_end_ends() {
    everywhere("--fault endless", |mcpmini| {
        let outcome = mcpmini(&["prompts", "-j"]);
        assert_eq!(column(&outcome, "name"), ["review", "chat"]);
        assert!(outcome.err.contains("the list of prompts has no end"), "{}", outcome.err);
    });
}

// --------------------------------------------------------------------------------------- tools

#[test]
fn one_tool_is_shown_whole() {
    everywhere("", |mcpmini| {
        let outcome = mcpmini(&["tools", "add"]);
        assert_eq!(outcome.code, 0);
        for part in
            ["Adds two numbers", "  a  number  required\n", "readOnlyHint: true", " add a=1 b=1\n"]
        {
            assert!(outcome.out.contains(part), "{part}: {}", outcome.out);
        }
        let json: Value = serde_json::from_str(&mcpmini(&["tools", "add", "-j"]).out).unwrap();
        assert_eq!(json["name"], "add");
        assert_eq!(json["inputSchema"]["required"][1], "b");
    });
}

#[test]
fn tools_are_searched() {
    let scratch = Scratch::new();
    let names = |words: &[&str]| {
        let server = demo("");
        let outcome = run(&mut scratch.mcpmini(["tools", &server, "-j"].iter().chain(words)));
        column(&outcome, "name")
    };
    assert_eq!(names(&["--grep", "^ec|dot$"]), ["echo", "image"]);
    assert_eq!(names(&["--grep", "gives the"]), ["echo"]);
    assert_eq!(names(&["*e*", "--grep", "number"]), ["numbers"]);
    assert_eq!(names(&["m*"]), ["media", "misfit"]);
}

#[test]
fn tools_that_nobody_finds_are_an_error() {
    let scratch = Scratch::new();
    for pattern in ["nothing like it", "GIVES THE TEXT"] {
        let outcome = run(&mut scratch.mcpmini(["tools", &demo(""), "--grep", pattern]));
        check_error(&outcome, 11, &["no tool fits", pattern]);
        assert_eq!(outcome.err.lines().count(), 1, "{}", outcome.err);
    }
    // A pattern is looked for, a name is meant.
    let tools = |word: &str| run(&mut scratch.mcpmini(["tools", &demo(""), word]));
    check_error(&tools("zz*"), 11, &["no tool fits \"zz*\""]);
    check_error(&tools("zzzz"), 3, &["unknown tool \"zzzz\""]);
    let outcome = run(&mut scratch.mcpmini(["tools", &demo(""), "--grep", "("]));
    check_error(&outcome, 2, &["regular expression"]);
}

/// The configuration of a user with several servers, of which one cannot be started and one is off.
fn configure(scratch: &Scratch) {
    let servers = format!(
        r#"{{"mcpServers":{{"one":{{"command":"{demo}"}},"two":{{"command":"{demo}","args":["--era","modern"]}},
            "broken":{{"command":"/no/such/program"}},"off":{{"command":"{demo}","disabled":true}}}}}}"#,
        demo = demo_path()
    );
    fs::create_dir_all(scratch.path(".config/mcpmini")).unwrap();
    scratch.write(".config/mcpmini/config.json", servers);
    let project = format!(r#"{{"mcpServers":{{"stranger":{{"command":"{}"}}}}}}"#, demo_path());
    scratch.write(".mcp.json", project);
}

#[test]
fn all_servers_are_searched_and_those_that_cannot_be_are_named() {
    let scratch = Scratch::new();
    configure(&scratch);
    let find = |words: &[&str]| run(&mut scratch.mcpmini(["find"].iter().chain(words)));

    // Nothing is started before somebody wants it.
    let outcome = find(&["echo"]);
    let not_stored = "nothing is stored of one, two, broken; --refresh asks";
    check_error(&outcome, 8, &["stranger: ", "not approved", not_stored]);
    assert!(!outcome.err.contains("off:"), "{}", outcome.err);

    let found = "one\techo\techo(text: string)\tGives the text back\n\
                 two\techo\techo(text: string)\tGives the text back\n";
    let outcome = find(&["--refresh", "gives the text back"]);
    // The first that failed decides, as with `tools --all`, though something was found.
    check(&outcome, 8, found);
    assert!(outcome.err.contains("broken: cannot start"), "{}", outcome.err);
    assert!(outcome.err.contains("stranger: "), "{}", outcome.err);
    assert!(outcome.err.contains("not approved"), "{}", outcome.err);

    // From now on the lists are there, and no server is started.
    scratch.write(".mcp.json", "{}");
    let (first, _) = found.split_at(found.find("two").unwrap());
    check(&find(&["GIVES THE TEXT", "-i", "one"]), 0, first);
    let outcome = find(&["gives the text"]);
    check(&outcome, 0, found);
    let warning = "mcpmini: warning: nothing is stored of broken; --refresh asks\n";
    assert_eq!(outcome.err, warning);
    let outcome = find(&["zzzz"]);
    check_error(
        &outcome,
        11,
        &["no tool of 2 servers fits \"zzzz\"", "hint: nothing is stored of"],
    );
    let asked = [find(&["--refresh", "zzzz"]), find(&["--refresh", "echo"])];
    assert_eq!(asked.map(|outcome| outcome.code), [4, 4]);
    let all = |words: &[&str]| run(&mut scratch.mcpmini(["tools", "--all"].iter().chain(words)));
    assert_eq!([all(&["zzzz"]), all(&["echo"])].map(|outcome| outcome.code), [4, 4]);
    let json = find(&["-jE", "^(fail|crash)$", "two"]);
    assert_eq!(column(&json, "server"), ["two", "two"]);
    check_error(&find(&["no such thing", "one", "two"]), 11, &["no tool of 2 servers fits"]);
    check_error(&find(&["no such thing", "one"]), 11, &["no tool of 1 server fits"]);
    scratch.write(".mcp.json", "{");
    check(&find(&["gives the text"]), 9, found);
    check_error(&find(&["-E", "("]), 2, &["regular expression"]);
}

// ------------------------------------------------------------------------- parts of an answer

#[test]
fn a_part_of_an_answer_is_printed_alone() {
    everywhere("", |mcpmini| {
        let select = |words: &[&str]| {
            let all = ["call", "numbers"].iter().chain(words);
            mcpmini(&all.copied().collect::<Vec<_>>())
        };
        check(&select(&["--select", "/structuredContent/id"]), 0, "12345678901234567890123\n");
        check(&select(&["--select", "/structuredContent/price"]), 0, "1.50\n");
        check(&mcpmini(&["call", "echo", "text=a\"b", "--select", "/content/-/text"]), 0, "a\"b\n");
        let json = ["call", "echo", "text=a\"b", "--select", "/content/0/text", "-j"];
        check(&mcpmini(&json), 0, "\"a\\\"b\"\n");
        check_error(
            &select(&["--select", "/structuredContent/no"]),
            11,
            &["/structuredContent/no", "\"price\""],
        );
        check_error(&mcpmini(&["call", "fail", "--select", "/content"]), 1, &["it did not work"]);
        check(&mcpmini(&["rpc", "tools/list", "--select", "/tools/0/name"]), 0, "echo\n");
    });
}

#[test]
fn an_answer_must_be_as_expected() {
    everywhere("", |mcpmini| {
        let add = |words: &[&str]| {
            let all = ["call", "add", "a=1", "b=2"].iter().chain(words);
            mcpmini(&all.copied().collect::<Vec<_>>())
        };
        check(&add(&["--expect", "/structuredContent/sum=3"]), 0, "3\n");
        check(
            &add(&["--expect", "/structuredContent/sum=3.0", "--expect", "/content/0/text=3"]),
            0,
            "3\n",
        );
        check_error(&add(&["--expect", "/structuredContent/sum=4"]), 11, &["expected 4", "3.0"]);
        check_error(&add(&["--expect", "/x=1"]), 11, &["there is nothing"]);
        // Who wants the whole answer gets it, like that of a tool that failed.
        let whole = add(&["--expect", "/x=1", "-j"]);
        assert_eq!(whole.code, 11);
        assert!(whole.out.contains("\"sum\":3.0"), "{}", whole.out);
    });
}

#[test]
fn an_answer_that_is_not_as_expected_leaves_a_file_alone() {
    let scratch = Scratch::new();
    scratch.write("file", "before");
    let words = ["call", &demo(""), "add", "a=1", "b=2", "--out", "file"];
    for demand in [["--expect", "/x=1"], ["--select", "/x"]] {
        check(&run(scratch.mcpmini(words).args(demand)), 11, "");
        assert_eq!(scratch.lines("file"), ["before"]);
    }
    check(&run(scratch.mcpmini(words).args(["--select", "/content/0/text"])), 0, "");
    assert_eq!(scratch.lines("file"), ["3"]);
}

#[test]
fn an_answer_is_checked_by_its_schema_or_the_build_says_that_it_cannot() {
    let scratch = Scratch::new();
    let log = scratch.write("log", "");
    let server = demo(&format!("--log {log}"));
    let call = |words: &[&str]| {
        run(&mut scratch.mcpmini(["call", &server, "--check-output"].iter().chain(words)))
    };
    if !HAS_SCHEMA {
        check_error(&call(&["add", "a=1", "b=2"]), 2, &["--check-output", "feature \"schema\""]);
        assert_eq!(scratch.lines("log"), [""; 0]);
        return;
    }
    check(&call(&["add", "a=1", "b=2"]), 0, "3\n");
    check_error(&call(&["misfit", "{}"]), 11, &["does not fit", "/sum"]);
    check_error(&call(&["misfit", "mode=missing"]), 11, &["no structured content"]);
    check_error(&call(&["misfit", "mode=failed"]), 1, &["important text 7"]);
    let whole = call(&["misfit", "{}", "-j"]);
    assert_eq!((whole.code, whole.out.contains("\"sum\":\"seven\"")), (11, true));
    check_error(&call(&["echo", "text=a"]), 11, &["no output schema"]);
    let calls = scratch.lines("log").into_iter().filter(|line| line.contains("\"echo\""));
    assert_eq!(calls.count(), 0, "a tool that cannot be checked does not run");
}

#[test]
fn text_is_not_lost_when_structured_content_is_missing() {
    everywhere("", |mcpmini| {
        check(&mcpmini(&["call", "misfit", "mode=missing"]), 0, "important text 7\n");
    });
}

// ------------------------------------------------------------------------------- saved blocks

#[test]
fn every_block_is_told_of_and_can_be_saved() {
    everywhere("", |mcpmini| {
        let outcome = mcpmini(&["call", "media"]);
        check(&outcome, 0, "some media\n# a\n");
        for note in [
            "block 2: image/png 70 B, use --save DIR or -o raw",
            "block 3: audio/wav 4 B",
            "block 4: link to demo://note (note), see -o json",
            "block 6: resource ../../b, x/../y 3 B",
            "block 7: a block of type hologram, see -o json",
        ] {
            assert!(outcome.err.contains(note), "{note}: {}", outcome.err);
        }
        let whole: Value = serde_json::from_str(&mcpmini(&["call", "media", "-j"]).out).unwrap();
        assert_eq!(whole["content"][6]["data"][1], 2, "what nobody knows is passed through");
    });
}

#[test]
fn blocks_become_files_with_names_of_our_own() {
    let scratch = Scratch::new();
    let words = ["call", &demo(""), "media", "--save", "some/where"];
    let outcome = run(&mut scratch.mcpmini(words));
    check(&outcome, 0, "some media\n# a\n");
    let mut names: Vec<_> = fs::read_dir(scratch.path("some/where"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["0001.txt", "0002.png", "0003.wav", "0005.md", "0006.bin"]);
    assert_eq!(fs::read(scratch.path("some/where/0006.bin")).unwrap(), [0, 1, 2]);
    assert_eq!(fs::read(scratch.path("some/where/0001.txt")).unwrap(), b"some media");
    let saved: Vec<Value> = outcome
        .err
        .lines()
        .filter(|line| line.starts_with("{\"saved\""))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(saved.len(), 5);
    let picture = &saved[1]["saved"];
    assert_eq!(picture["path"], "some/where/0002.png");
    assert_eq!((&picture["block"], &picture["bytes"]), (&2.into(), &70.into()));
    assert_eq!(picture["mimeType"], "image/png");
}

#[test]
fn nothing_is_saved_outside_of_the_directory() {
    let scratch = Scratch::new();
    scratch.write("outside", "before");
    fs::create_dir(scratch.path("dir")).unwrap();
    symlink(scratch.path("outside"), scratch.path("dir/0001.txt")).unwrap();
    let words = ["read", &demo(""), "--save", "dir", "demo://note", "demo://logo"];
    let outcome = run(&mut scratch.mcpmini(words));
    check(&outcome, 0, "");
    assert_eq!(scratch.lines("outside"), ["before"]);
    assert_eq!(scratch.lines("dir/0001.txt"), ["first", "second"]);
    assert!(scratch.path("dir/0002.png").exists());
}

#[test]
fn a_directory_that_cannot_be_made_is_told_of_before_the_call() {
    let scratch = Scratch::new();
    let log = scratch.write("log", "");
    scratch.write("file", "");
    let server = demo(&format!("--log {log}"));
    let outcome = run(&mut scratch.mcpmini(["call", &server, "image", "--save", "file/dir"]));
    check_error(&outcome, 9, &["file/dir"]);
    assert_eq!(scratch.lines("log"), [""; 0]);
}

// --------------------------------------------------------------------------------------- tasks

#[test]
fn a_task_is_waited_for() {
    everywhere("", |mcpmini| {
        let wait = ["call", "work", "--task", "--wait", "questions=3"];
        let outcome = mcpmini(&wait);
        check(&outcome, 0, "the work is done\n");
        assert_eq!(outcome.err, "");
        let failed = mcpmini(&["call", "work", "--task", "--wait", "kind=fail"]);
        check_error(&failed, 3, &["the disk is full"]);
    });
}

#[test]
fn a_task_that_asks_is_answered() {
    // Over HTTP the demo server cannot ask by a request of its own.
    let scratch = Scratch::new();
    let http = HttpDemo::start(&[]);
    let servers = [(demo(""), ERAS[0]), (demo(""), ERAS[1]), (http.url.clone(), ERAS[1])];
    for (server, era) in &servers {
        let words = ["call", server, "work", "kind=ask", "--task", "--wait", "--protocol", era];
        let outcome = run(scratch.mcpmini(words).args(["--answer", "name=Ada"]));
        check(&outcome, 0, "hello, Ada\n");
        let outcome = run(&mut scratch.mcpmini(words));
        check_error(&outcome, 10, &["What is your name?"]);
    }
}

#[test]
fn a_task_outlives_the_run_that_began_it() {
    for era in ERAS {
        let http = HttpDemo::start(&[]);
        let scratch = Scratch::new();
        let mcpmini = |words: &[&str]| run(scratch.mcpmini(words).args(["--protocol", era]));
        let begun = mcpmini(&["call", &http.url, "work", "questions=3", "--task"]);
        check(&begun, 0, "task-0\n");
        assert_eq!(begun.err, "");
        let id = begun.out.trim();
        check(&mcpmini(&["task", "get", &http.url, id]), 0, "working\t2 questions left\n");
        let json = mcpmini(&["task", "get", &http.url, id, "--select", "/statusMessage"]);
        check(&json, 0, "1 questions left\n");
        check(&mcpmini(&["task", "result", &http.url, id]), 0, "the work is done\n");
        let part = mcpmini(&["task", "result", &http.url, id, "--select", "/content/0/type"]);
        check(&part, 0, "text\n");

        let begun = mcpmini(&["call", &http.url, "work", "questions=1000", "--detach", "-j"]);
        let handle: Value = serde_json::from_str(&begun.out).unwrap();
        let handle = if era == ERAS[0] { &handle["task"] } else { &handle };
        assert_eq!((&handle["taskId"], &handle["status"]), (&"task-1".into(), &"working".into()));
        check(&mcpmini(&["task", "cancel", &http.url, "task-1"]), 0, "");
        check(&mcpmini(&["task", "get", &http.url, "task-1"]), 0, "cancelled\n");
        check_error(&mcpmini(&["task", "result", &http.url, "task-1"]), 3, &["was cancelled"]);
        check_error(&mcpmini(&["task", "get", &http.url, "task-9"]), 3, &["Task not found"]);
    }
}

#[test]
fn a_task_is_answered_from_another_run() {
    let http = HttpDemo::start(&[]);
    let scratch = Scratch::new();
    let mcpmini = |words: &[&str]| run(&mut scratch.mcpmini(words));
    for (number, words) in
        [&["--answer", "name=Ada"][..], &[r#"name:={"action":"accept","content":{"name":"Ada"}}"#]]
            .into_iter()
            .enumerate()
    {
        let id = format!("task-{number}");
        let begun = mcpmini(&["call", &http.url, "work", "kind=ask", "questions=1", "--task"]);
        check(&begun, 0, &format!("{id}\n"));
        check(&mcpmini(&["task", "get", &http.url, &id]), 0, "input_required\n");
        check_error(&mcpmini(&["task", "update", &http.url, &id]), 10, &["What is your name?"]);
        let update = ["task", "update", &http.url, &id];
        check(&mcpmini(&update.iter().chain(words).copied().collect::<Vec<_>>()), 0, "");
        check(&mcpmini(&["task", "result", &http.url, &id]), 0, "hello, Ada\n");
    }
}

#[test]
fn only_whoever_wants_tasks_says_so() {
    let scratch = Scratch::new();
    let log = scratch.write("log", "");
    let server = demo(&format!("--log {log}"));
    let declared = || {
        let lines = scratch.lines("log");
        fs::write(&log, "").unwrap();
        let calls: Vec<_> = lines.into_iter().filter(|line| line.contains("tools/call")).collect();
        assert_eq!(calls.len(), 1);
        (calls[0].contains("io.modelcontextprotocol/tasks"), calls[0].contains("\"task\":{}"))
    };
    for (era, task, expected) in [
        (ERAS[0], false, (false, false)),
        (ERAS[0], true, (false, true)),
        (ERAS[1], false, (false, false)),
        (ERAS[1], true, (true, false)),
    ] {
        let mut command = scratch.mcpmini(["call", &server, "work", "--protocol", era]);
        if task {
            command.arg("--task");
        }
        let outcome = run(&mut command);
        assert_eq!(outcome.code, if task { 0 } else { 3 }, "{}", outcome.err);
        assert!(task || outcome.err.contains("--task"), "{}", outcome.err);
        assert_eq!(declared(), expected, "{era} {task}");
    }
}

#[test]
fn what_cannot_become_a_task_runs_without() {
    let scratch = Scratch::new();
    let call = |era: &str| {
        run(&mut scratch.mcpmini([
            "call",
            &demo(""),
            "echo",
            "text=a",
            "--task",
            "--protocol",
            era,
        ]))
    };
    for (era, says) in [
        ("2025-06-18", "revision 2025-06-18 has no tasks"),
        (ERAS[0], "the tool does not run as a task"),
        (ERAS[1], "the server has answered at once"),
    ] {
        let outcome = call(era);
        check(&outcome, 0, "a\n");
        assert!(outcome.err.contains(says), "{}", outcome.err);
        assert_eq!(outcome.err.lines().count(), 1, "{}", outcome.err);
    }
}

#[test]
fn whoever_stops_waiting_ends_the_task() {
    for era in ERAS {
        let scratch = Scratch::new();
        let log = scratch.write("log", "");
        let http = HttpDemo::start(&["--log", &log]);
        for server in [demo(&format!("--log {log}")), http.url.clone()] {
            fs::write(&log, "").unwrap();
            let seen = |method: &str| scratch.lines("log").iter().any(|line| line.contains(method));
            let words = ["call", &server, "work", "questions=100000", "--task", "--wait"];
            let begin = Instant::now();
            let mut command = scratch.mcpmini(words);
            command.args(["--protocol", era]).stdout(Stdio::piped()).stderr(Stdio::piped());
            let child = command.spawn().unwrap();
            wait_until("a question about the task", || seen("tasks/get"));
            kill_process(Pid::from_raw(child.id() as i32).unwrap(), Signal::INT).unwrap();
            let outcome = finish(child, begin);
            check(&outcome, 130, "");
            assert!(seen("tasks/cancel"), "{era} {server}: {:?}", scratch.lines("log"));
            assert!(outcome.took < LIMIT / 4);

            fs::write(&log, "").unwrap();
            let outcome = run(scratch.mcpmini(words).args(["--protocol", era, "-T", "1500ms"]));
            check_error(&outcome, 124, &["task-", "asked to end"]);
            assert!(seen("tasks/cancel"), "{era} {server}: {:?}", scratch.lines("log"));
        }
    }
}

// ------------------------------------------------------------------------------------ terminals

/// Runs a command on a terminal that is that wide; `None` when there is no `script` to make one.
#[expect(clippy::print_stdout, reason = "a test that is skipped says why")]
fn on_a_terminal(
    scratch: &Scratch,
    columns: u32,
    variables: &[(&str, &str)],
    words: &[&str],
) -> Option<String> {
    let version = scratch.command("script").arg("--version").output();
    if !version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("util-linux")) {
        println!("skipped: there is no script(1) of util-linux to make a terminal");
        return None;
    }
    let line = format!("stty cols {columns}; exec \"$mcpmini\" {}", words.join(" "));
    let mut command = scratch.command("script");
    command.args(["-qec", &line, "/dev/null"]);
    command.env("mcpmini", env!("CARGO_BIN_EXE_mcpmini")).env("demo", demo(""));
    command.env("SHELL", "/bin/sh").envs(variables.iter().copied());
    let outcome = run(&mut command);
    assert_eq!(outcome.code, 0, "{}{}", outcome.out, outcome.err);
    Some(outcome.out.replace("\r\n", "\n"))
}

#[test]
fn a_terminal_gets_a_table_that_fits() {
    let scratch = Scratch::new();
    let plain = [("TERM", "xterm"), ("NO_COLOR", "1")];
    let tools = run(&mut scratch.mcpmini(["tools", &demo("")])).out.lines().count();
    for columns in [50, 80, 300] {
        let words = ["tools", "\"$demo\""];
        let Some(text) = on_a_terminal(&scratch, columns, &plain, &words) else { return };
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("NAME") && lines[0].contains("DESCRIPTION"), "{text}");
        assert!(lines.iter().all(|line| line.chars().count() <= columns as usize), "{text}");
        assert_eq!(lines.len(), 1 + tools, "{text}");
        assert!(!text.contains('\t'), "{text}");
        assert_eq!(text.contains('…'), columns < 300, "{text}");
    }
    let colored = on_a_terminal(&scratch, 80, &[("TERM", "xterm")], &["prompts", "\"$demo\""]);
    assert!(colored.unwrap().starts_with("\u{1b}[1mNAME"));
}

#[test]
fn a_terminal_is_not_steered_by_a_resource() {
    let scratch = Scratch::new();
    let words = ["read", "\"$demo\"", "demo://escape", "demo://bytes"];
    let Some(text) = on_a_terminal(&scratch, 80, &[("TERM", "xterm")], &words) else { return };
    assert!(text.starts_with("[2Jred\n"), "{text:?}");
    assert!(text.contains("bytes 256 B, use --save DIR or -o raw"), "{text:?}");
    let words = ["read", "\"$demo\"", "demo://bytes", "-o", "raw"];
    let text = on_a_terminal(&scratch, 80, &[("TERM", "xterm")], &words).unwrap();
    assert!(text.contains("ABC") && !text.contains(['\u{1b}', '\u{7}']), "{text:?}");
}

#[test]
fn a_picture_is_shown_where_the_terminal_shows_pictures() {
    let scratch = Scratch::new();
    let image = ["call", "\"$demo\"", "image"];
    let show = |variables: &[(&str, &str)]| on_a_terminal(&scratch, 80, variables, &image);
    let Some(plain) = show(&[("TERM", "xterm")]) else { return };
    assert!(plain.contains("block 2: image/png 70 B"), "{plain:?}");
    assert!(!plain.contains("\u{1b}_G") && !plain.contains("\u{1b}]"), "{plain:?}");
    let kitty = show(&[("TERM", "xterm-kitty")]).unwrap();
    assert!(kitty.contains("a red dot\n\u{1b}_Ga=T,f=100,q=2,m=0;iVBOR"), "{kitty:?}");
    assert!(!kitty.contains("block 2"), "{kitty:?}");
    let iterm = show(&[("TERM", "xterm"), ("TERM_PROGRAM", "iTerm.app")]).unwrap();
    assert!(iterm.contains("\u{1b}]1337;File=inline=1;size=70:iVBOR"), "{iterm:?}");
    // A pipe gets none, whatever the variables say.
    let mut piped = scratch.mcpmini(["call", &demo(""), "image"]);
    check(&run(piped.env("TERM", "xterm-kitty")), 0, "a red dot\n");
}
