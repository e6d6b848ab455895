//! What the user gives a server in confidence is shown nowhere: not in answers about the server, not
//! in errors, not in what to do about them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use support::{HttpDemo, Outcome, Scratch, answer, closed_url, demo, demo_path, http_server, run};

/// A secret, long enough to be looked for wherever it may stand.
const SECRET: &str = "hunter2-hunter2";

/// One that shows by its form that it is none of our business, wherever it stands.
const DRAWN: &str = "Zk3xQ9vT7bN1mW5cR8pL2dF6hJ4sA0yE";

#[track_caller]
fn check_hidden(outcome: &Outcome, words: &[&str]) {
    let Outcome { code, out, err, .. } = outcome;
    let shown = format!("{out}{err}");
    let is_open = [SECRET, DRAWN].iter().any(|secret| shown.contains(secret));
    assert!(!is_open, "{words:?} ({code})\n{out}\n{err}");
}

/// The documents that a run has kept say nothing either.
#[track_caller]
fn check_cache(scratch: &Scratch, words: &[&str]) {
    let inside =
        |folder: std::path::PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten();
    for file in inside(scratch.path(".cache/mcpmini/http")).flat_map(|entry| inside(entry.path())) {
        let text = String::from_utf8_lossy(&std::fs::read(file.path()).unwrap()).into_owned();
        assert!(![SECRET, DRAWN].iter().any(|it| text.contains(it)), "{words:?}: {text}");
    }
}

/// The command lines that name a server, with `URL` in its place.
const COMMANDS: &[&[&str]] = &[
    &["call", "URL", "add", "a=1", "b=2"],
    &["call", "URL", "no-such-tool", "{}"],
    &["call", "URL", "add", "{}", "--dry-run", "-v"],
    &["call", "URL", "add", "{}", "--transport", "stdio"],
    &["tools", "URL"],
    &["tools", "URL", "URL"],
    &["tools", "URL", "no-such-pattern"],
    &["schema", "URL", "add"],
    &["schema", "URL", "add", "--example"],
    &["find", "no-such-pattern", "URL", "--refresh"],
    &["find", "add", "URL", "--refresh"],
    &["tools", "URL", "add"],
    &["resources", "URL"],
    &["read", "URL", "demo://none"],
    &["prompts", "URL"],
    &["prompt", "URL", "none"],
    &["skills", "URL"],
    &["complete", "URL", "prompt:none", "a", ""],
    &["task", "get", "URL", "none"],
    &["info", "URL"],
    &["ping", "URL"],
    &["rpc", "URL", "no/such/method"],
    &["batch", "URL", "calls.ndjson"],
    &["bench", "URL", "add", "{}", "-n", "1"],
    &["session", "URL", "--", "true"],
    &["watch", "URL", "-T", "300ms"],
    &["servers", "URL", "--check"],
    &["doctor", "URL", "--only", "era"],
    &["doctor", "URL", "--only", "verbs", "--write-baseline", "known.txt"],
    &["approve", "URL"],
    &["trust", "show", "URL"],
    &["trust", "diff", "URL"],
    &["trust", "accept", "URL"],
    &["lock", "URL"],
    &["policy", "check", "URL"],
    &["login", "URL", "-T", "3s"],
    &["logout", "URL"],
    &["token", "URL"],
    &["discover", "URL"],
    &["card", "show", "URL"],
    &["card", "URL", "--connect"],
    &["card", "verify", "URL", "--identity", "a@b.example", "--issuer", "URL"],
    &["card", "check", "URL"],
    &["add", "x", "URL"],
    &["add", "URL"],
    &["remove", "URL"],
    &["config", "show", "URL"],
    &["cache", "clear", "URL"],
    // Mistakes.
    &["ping", "URL", "one-more", "URL"],
    &["URL"],
];

/// How answers and errors may be wanted. Each command is tried with each, and another URL.
const FORMS: [&[&str]; 3] = [&[], &["--json-errors", "-v"], &["-j"]];

#[track_caller]
fn check_everywhere(base: &str, before: impl Fn(&Scratch)) {
    let urls = [
        format!("{base}?token={SECRET}&a=1"),
        format!("{base}?a=1&api%5Fkey={SECRET}#access_token={SECRET}"),
        base.replacen("://", &format!("://u:{SECRET}@"), 1),
        format!("{base}/s/{DRAWN}?k={DRAWN}&pw={SECRET}"),
    ];
    for (number, url) in urls.into_iter().enumerate() {
        for (words, form) in COMMANDS.iter().zip(FORMS.iter().cycle().skip(number)) {
            let scratch = Scratch::new();
            scratch.write("calls.ndjson", "{\"tool\":\"add\"}\n");
            before(&scratch);
            let words = words.iter().map(|word| if *word == "URL" { &url } else { *word });
            let words: Vec<&str> = form.iter().copied().chain(words).collect();
            check_hidden(&run(&mut scratch.mcpmini(&words)), &words);
            check_cache(&scratch, &words);
        }
    }
}

#[test]
fn the_secrets_of_a_url_are_not_shown_when_nobody_listens() {
    check_everywhere(&closed_url(), |_| ());
}

#[test]
fn the_secrets_of_a_url_are_not_shown_when_it_works() {
    let demo = HttpDemo::start(&[]);
    check_everywhere(&demo.url, |_| ());
}

#[test]
fn the_secrets_of_a_url_are_not_shown_when_it_is_no_endpoint() {
    check_everywhere(&http_server(|_| answer("404 Not Found", "{}")), |_| ());
}

#[test]
fn the_secrets_of_a_url_are_not_shown_when_it_wants_a_login() {
    check_everywhere(&http_server(|_| answer("401 Unauthorized", "{}")), |_| ());
}

#[test]
fn the_secrets_of_a_url_are_not_shown_when_a_policy_denies_it() {
    check_everywhere(&closed_url(), |scratch| {
        std::fs::create_dir_all(scratch.path(".config/mcpmini")).unwrap();
        scratch.write(".config/mcpmini/policy.toml", "require_signature = true\n");
    });
}

/// What has to be pasted says what is missing in it.
#[test]
fn a_hint_with_a_secret_left_out_says_so() {
    let scratch = Scratch::new();
    let url = http_server(|_| answer("401 Unauthorized", "{}")) + "?token=" + SECRET;
    let outcome = run(&mut scratch.mcpmini(["call", &url, "add", "{}"]));
    assert_eq!(outcome.code, 7);
    assert!(outcome.err.contains("?token=***'"), "{}", outcome.err);
    assert!(outcome.err.contains("your secret in the place of ***"), "{}", outcome.err);
}

/// A server that prints what it was given must not make us print it.
#[test]
fn a_server_cannot_make_its_secrets_shown() {
    let check = |words: &[&str]| {
        let scratch = Scratch::new();
        let leak = format!("printf 'x %s y %s\\n' \"$GIVEN\" \"$LEVEL\" >&2; {}", "exit 3");
        let script = scratch.write("s.sh", leak);
        let config = format!(
            r#"{{"mcpServers":{{"s":{{"command":"sh","args":["{script}"],
                "env":{{"GIVEN":"${{SOURCE}}","LEVEL":"debug"}}}}}}}}"#
        );
        std::fs::create_dir_all(scratch.path(".config/mcpmini")).unwrap();
        scratch.write(".config/mcpmini/config.json", config);
        let outcome = run(scratch.mcpmini(words).env("SOURCE", SECRET));
        check_hidden(&outcome, words);
        assert!(format!("{}{}", outcome.out, outcome.err).contains("x *** y debug"), "{outcome:?}");
    };
    check(&["call", "s", "add", "{}"]);
    check(&["call", "s", "add", "{}", "--json-errors"]);
    check(&["call", "s", "add", "{}", "-vv"]);
    check(&["call", "s", "add", "{}", "--stderr", "inherit"]);
    check(&["session", "s", "-vv", "--", "true"]);
    check(&["tools", "--all"]);
    check(&["tools", "--all", "-j"]);
    check(&["servers", "--check", "-j"]);
    check(&["session", "s", "--", "true"]);
}

/// Some services have the token in the path. Where it stands in a reference, it is known.
#[test]
fn a_secret_that_a_reference_puts_into_a_path_is_not_shown() {
    let demo = HttpDemo::start(&[]);
    let refusing = http_server(|request| {
        let path = request.split(' ').nth(1).unwrap().to_owned();
        answer("403 Forbidden", &format!("not for {path}"))
    });
    for base in [&demo.url, &refusing, &closed_url()] {
        for (words, form) in COMMANDS.iter().zip(FORMS.iter().cycle()) {
            let scratch = Scratch::new();
            let url = format!("{}/v1/${{SOURCE}}/mcp", base.trim_end_matches("/mcp"));
            let config = format!(r#"{{"mcpServers":{{"s":{{"url":"{url}"}}}}}}"#);
            std::fs::create_dir_all(scratch.path(".config/mcpmini")).unwrap();
            scratch.write(".config/mcpmini/config.json", config);
            scratch.write("calls.ndjson", "{\"tool\":\"add\"}\n");
            let words = words.iter().map(|word| if *word == "URL" { "s" } else { *word });
            let words: Vec<&str> =
                form.iter().copied().chain(words).chain(["--trace", "trace"]).collect();
            check_hidden(&run(scratch.mcpmini(&words).env("SOURCE", SECRET)), &words);
            let trace = scratch.lines("trace").join("\n");
            assert!(!trace.contains(SECRET), "{words:?}\n{trace}");
        }
    }
}

/// What is copied as it comes has no secrets, wherever it goes and however they are written.
#[test]
fn a_server_cannot_have_its_secrets_copied() {
    let escaped: String = SECRET.bytes().map(|byte| format!("\\u{byte:04X}")).collect();
    for written in [SECRET, &escaped, &escaped.replacen("\\u0068", "h", 1)] {
        for (copy, is_file) in [("-vv", false), ("--stderr=inherit", false), ("--stderr=log", true)]
        {
            let scratch = Scratch::new();
            scratch.write("said", format!("x {written} y\n"));
            let server = format!("sh {}", scratch.write("s.sh", "cat said >&2; exit 3"));
            let given = format!("GIVEN={SECRET}");
            let words = ["call", &server, "add", "{}", "--env", &given, copy];
            let outcome = run(&mut scratch.mcpmini(words));
            let shown = if is_file { scratch.lines("log").join("\n") } else { outcome.err };
            assert!(shown.contains("x *** y") && !shown.contains(written), "{words:?} {shown}");
            if is_file {
                let log = std::fs::metadata(scratch.path("log")).unwrap();
                assert_eq!(log.permissions().mode() & 0o777, 0o600);
            }
        }
    }
}

/// Nor one that prints its command line.
#[test]
fn a_server_cannot_make_its_arguments_shown() {
    let check = |server: &str, words: &[&str]| {
        let scratch = Scratch::new();
        let script = scratch.write("s.sh", "echo \"my arguments: $*\" >&2; exit 3");
        let config = format!(
            r#"{{"mcpServers":{{"s":{{"command":"sh","args":["{script}","--api-key","{SECRET}"]}}}}}}"#
        );
        std::fs::create_dir_all(scratch.path(".config/mcpmini")).unwrap();
        scratch.write(".config/mcpmini/config.json", config);
        let server = server.replace("SCRIPT", &script);
        let words: Vec<&str> =
            words.iter().map(|word| if *word == "S" { &server } else { *word }).collect();
        let outcome = run(&mut scratch.mcpmini(&words));
        check_hidden(&outcome, &words);
        let shown = format!("{}{}", outcome.out, outcome.err);
        assert!(shown.contains("my arguments: --"), "{words:?} {outcome:?}");
    };
    for server in [
        "s".to_owned(),
        format!("sh SCRIPT --api-key {SECRET}"),
        format!("sh SCRIPT --api-key '{SECRET}'"),
        format!("sh SCRIPT --header 'Authorization: Bearer {SECRET}'"),
    ] {
        check(&server, &["call", "S", "add", "{}"]);
        check(&server, &["call", "S", "add", "{}", "-vv"]);
        check(&server, &["call", "S", "add", "{}", "--stderr", "inherit"]);
        check(&server, &["tools", "S", "-vv"]);
        check(&server, &["session", "S", "-vv", "--", "true"]);
        check(&server, &["doctor", "S", "-vv", "--only", "era"]);
    }
}

/// However a server writes its secrets in an error, they are not shown.
#[test]
fn a_server_cannot_hide_its_secrets_in_escapes() {
    let check = |secret: &str, json: &str| {
        for words in [&["call", "S", "add", "{}"][..], &["call", "S", "add", "{}", "--json-errors"]]
        {
            let scratch = Scratch::new();
            let error = format!(r#"{{"code":-32000,"message":{json},"data":{{"x":[{json}]}}}}"#);
            scratch.write("error.json", error);
            let script = scratch.write(
                "s.sh",
                "cat error.json >&2; while read -r line; do \
                 id=$(printf %s \"$line\" | sed -n 's/.*\"id\":\\(\"[^\"]*\"\\|[0-9]*\\).*/\\1/p'); \
                 [ -z \"$id\" ] || \
                 printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":%s}\\n' \"$id\" \"$(cat error.json)\"; \
                 done",
            );
            let server = format!("sh {script}");
            let given = format!("GIVEN={secret}");
            let words = words.iter().map(|word| if *word == "S" { &server } else { *word });
            let words: Vec<&str> = words.chain(["--env", &given]).collect();
            let Outcome { err, .. } = run(&mut scratch.mcpmini(&words));
            assert!(err.contains("***"), "{words:?} {err}");
            for told in [secret, json, json.trim_matches('"'), "\\u0068", "unter2"] {
                assert!(!err.contains(told), "{told} {words:?}\n{err}");
            }
        }
    };
    check("hunter2/ab&cd+ef", r#""hunter2\/ab&cd+ef""#);
    check("hunter2/ab&cd+ef", r#""hunter2/ab\u0026cd\u002bef""#);
    check("hunter2/ab&cd+ef", r#""hunter2/ab&amp;cd+ef""#);
    check("hunter2x", r#""\u0068\u0075\u006e\u0074\u0065\u0072\u0032x""#);
}

/// What the server says in an answer is data, and passes through.
#[test]
fn an_answer_is_not_masked() {
    let scratch = Scratch::new();
    let text = format!("text={SECRET}");
    let given = format!("A={SECRET}");
    let outcome = run(&mut scratch.mcpmini(["call", &demo(""), "echo", &text, "--env", &given]));
    assert_eq!((outcome.code, outcome.out), (0, format!("{SECRET}\n")));
}

/// The secrets of a command line are where options and variables are.
#[test]
fn the_secrets_of_a_command_are_not_shown() {
    let check = |server: &str, words: &[&str]| {
        let scratch = Scratch::new();
        let words: Vec<&str> =
            words.iter().map(|word| if *word == "S" { server } else { *word }).collect();
        check_hidden(&run(&mut scratch.mcpmini(&words)), &words);
        let mut files = Command::new("grep");
        let files = files.args(["-rlF", SECRET, "."]).current_dir(scratch.path(""));
        let files = String::from_utf8(files.output().unwrap().stdout).unwrap();
        assert_eq!(files, "", "{words:?}");
    };
    for server in [
        format!("env API_TOKEN={SECRET} {}", demo_path()),
        format!("{} --token {SECRET} --fault exit", demo_path()),
        format!("{} --fault exit --token '{SECRET}", demo_path()),
        format!("sh -c 'no-such-program --api-key {SECRET}'"),
    ] {
        for words in [
            &["call", "S", "add", "{}"][..],
            &["call", "S", "add", "{}", "--json-errors"],
            &["info", "S", "-v"],
            &["doctor", "S", "--only", "era"],
            &["trust", "show", "S"],
            &["policy", "check", "S", "-j"],
            &["tools", "S", "S"],
            &["lock", "S"],
            &["call", "S", "echo", "text=a", "--trace", "t.jsonl"],
        ] {
            check(&server, words);
        }
    }
}
