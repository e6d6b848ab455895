//! The commands that change and show the configuration, as scripts use them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::thread;

use serde_json::Value;
use support::{Outcome, Scratch, demo_path, run};

const USER: &str = ".config/mcpmini/config.json";

#[track_caller]
fn mcpmini(scratch: &Scratch, words: &[&str]) -> Outcome {
    run(&mut scratch.mcpmini(words))
}

#[track_caller]
fn check(outcome: &Outcome, code: i32, out: &str, err: &str) {
    assert_eq!(
        (outcome.code, outcome.out.as_str(), outcome.err.as_str()),
        (code, out, err),
        "{outcome:?}"
    );
}

fn mode(scratch: &Scratch, name: &str) -> u32 {
    fs::metadata(scratch.path(name)).unwrap().permissions().mode() & 0o777
}

fn read(scratch: &Scratch, name: &str) -> String {
    fs::read_to_string(scratch.path(name)).unwrap()
}

/// Writes the user's configuration.
fn configure(scratch: &Scratch, text: &str) {
    fs::create_dir_all(scratch.path(".config/mcpmini")).unwrap();
    scratch.write(USER, text);
}

#[test]
fn a_server_is_added_called_and_removed() {
    let scratch = Scratch::new();
    let (demo, config) = (demo_path(), scratch.path(USER).display().to_string());
    let added =
        mcpmini(&scratch, &["add", "demo", "--env", "X=${HOME}", "--", &demo, "--era", "modern"]);
    check(&added, 0, &format!("added demo to {config}\n"), "");
    assert_eq!(mode(&scratch, USER), 0o600);
    let entry: Value = serde_json::from_str(&read(&scratch, USER)).unwrap();
    let expected = serde_json::json!({
        "command": demo, "args": ["--era", "modern"], "env": { "X": "${HOME}" },
    });
    assert_eq!(entry["mcpServers"]["demo"], expected);

    check(&mcpmini(&scratch, &["call", "demo", "echo", "text=hi"]), 0, "hi\n", "");
    let again = mcpmini(&scratch, &["add", "demo", "http://h/"]);
    let err = format!("mcpmini: server \"demo\" is in {config} already; --force replaces it\n");
    check(&again, 9, "", &err);
    let removed = mcpmini(&scratch, &["remove", "demo", "--json"]);
    let line = format!(
        "{{\"name\":\"demo\",\"action\":\"removed\",\"layer\":\"user\",\"path\":\"{config}\"}}\n"
    );
    check(&removed, 0, &line, "");
    assert_eq!(mcpmini(&scratch, &["call", "demo", "echo", "{}"]).code, 9);
    assert_eq!(mcpmini(&scratch, &["remove", "demo"]).code, 9);
}

#[test]
fn everything_that_is_said_about_a_server_is_stored() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path("work")).unwrap();
    let entry = |words: &[&str]| -> Value {
        let outcome = mcpmini(&scratch, &[&["add", "s", "--force"], words].concat());
        check(&outcome, 0, &format!("added s to {}\n", scratch.path(USER).display()), "");
        let whole: Value = serde_json::from_str(&read(&scratch, USER)).unwrap();
        whole["mcpServers"]["s"].clone()
    };
    let home = scratch.path("").display().to_string();
    let home = home.trim_end_matches('/');
    assert_eq!(entry(&["https://h/mcp"]), serde_json::json!({ "url": "https://h/mcp" }));
    assert_eq!(
        entry(&[
            "https://${HOST}/mcp",
            "-H",
            "Authorization: Bearer ${T}",
            "-HX-Team: red",
            "--transport=sse",
            "--protocol",
            "2024-11-05",
            "-t5s",
            "--start-timeout",
            "0",
        ]),
        serde_json::json!({
            "type": "sse", "url": "https://${HOST}/mcp",
            "headers": { "Authorization": "Bearer ${T}", "X-Team": "red" },
            "timeout": 5000, "startupTimeout": 0, "protocol": "2024-11-05",
        })
    );
    assert_eq!(entry(&["unix:/s#/mcp"]), serde_json::json!({ "url": "unix:/s#/mcp" }));
    assert_eq!(
        entry(&["exec:npx -y 'a b'", "--arg", "-x", "--cwd", "work", "--inherit-env"]),
        serde_json::json!({
            "command": "npx", "args": ["-y", "a b", "-x"],
            "cwd": format!("{home}/work"), "inheritEnv": true,
        })
    );
    // A relative path means the same later, from anywhere.
    assert_eq!(
        entry(&["--", "./work/../srv"]),
        serde_json::json!({ "command": format!("{home}/work/../srv") })
    );
}

#[test]
fn what_cannot_be_stored_is_refused_and_nothing_changes() {
    let check = |words: &[&str], code: i32, text: &str| {
        let scratch = Scratch::new();
        fs::write(scratch.path("card.json"), "{}").unwrap();
        let outcome = mcpmini(&scratch, &[&["add"], words].concat());
        assert_eq!((outcome.code, outcome.out.as_str()), (code, ""), "{words:?}: {}", outcome.err);
        assert!(outcome.err.contains(text), "{words:?}: {}", outcome.err);
        assert!(!scratch.path(USER).exists());
    };
    check(&["s"], 2, "a URL, or a command after --");
    check(&["s", "http://h/", "--", "x"], 2, "not both");
    check(&["s", "word"], 2, "word is no URL");
    check(&["s", "./card.json"], 2, "./card.json is a file that cannot be executed");
    check(&["s", "--", "./card.json", "x"], 2, "./card.json is a file that cannot be executed");
    check(&["s", "ftp://h/"], 2, "none of http, https and unix");
    check(&["s", "http://h/", "--env", "A=1"], 2, "--env does not fit");
    check(&["s", "-H", "A: b", "--", "x"], 2, "-H does not fit");
    check(&["s", "http://h/", "--insecure"], 2, "--insecure cannot be stored");
    check(&["s", "http://h/", "--bearer-command", "x"], 2, "--bearer-command cannot be stored");
    check(&["a b", "http://h/"], 2, "no name of a server");
    check(&["s", "http://h/", "--transport", "stdio"], 2, "stdio");
    check(&["s", "http://h/", "--project", "--config", "x"], 2, "--project and --config");
}

#[test]
fn a_secret_that_is_written_out_is_noticed() {
    let scratch = Scratch::new();
    let outcome = mcpmini(&scratch, &["add", "s", "http://h/", "-H", "Authorization: Bearer abc"]);
    assert!(outcome.err.contains("the value of Authorization is stored"), "{}", outcome.err);
    let outcome = mcpmini(&scratch, &["add", "t", "--env", "API_KEY=abc", "--", "x"]);
    assert!(outcome.err.contains("the value of API_KEY is stored"), "{}", outcome.err);
    let outcome = mcpmini(&scratch, &["add", "u", "--env", "API_KEY=!pass x", "--", "x"]);
    assert_eq!(outcome.err, "");
}

#[test]
fn a_server_of_the_project_is_approved_when_it_is_added() {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.path("work/.git")).unwrap();
    fs::create_dir_all(scratch.path("work/sub")).unwrap();
    let here = |words: &[&str]| {
        let mut command = scratch.mcpmini(words);
        run(command.current_dir(scratch.path("work/sub")))
    };
    let file = scratch.path("work/.mcp.json").display().to_string();
    let added = here(&["add", "demo", "--project", "--cwd", "..", "--", &demo_path()]);
    check(&added, 0, &format!("added demo to {file}\n"), "");
    assert!(read(&scratch, "work/.mcp.json").contains("\"command\""));
    assert_ne!(mode(&scratch, "work/.mcp.json"), 0o600, "others read it, too");
    check(&here(&["call", "demo", "echo", "text=hi"]), 0, "hi\n", "");
    check(
        &here(&["add", "web", "https://h/", "--project"]),
        0,
        &format!("added web to {file}\n"),
        "",
    );
    assert!(read(&scratch, "work/.mcp.json").contains("\"type\": \"http\""));

    // A change by somebody else must be approved again.
    let changed =
        read(&scratch, "work/.mcp.json").replace("\"cwd\"", "\"envFile\": \"x\", \"cwd\"");
    scratch.write("work/.mcp.json", changed);
    assert_eq!(here(&["call", "demo", "echo", "text=hi"]).code, 8);
    check(&here(&["remove", "demo", "--project"]), 0, &format!("removed demo from {file}\n"), "");

    // One of the user's that the project hides.
    let outcome = here(&["add", "web", "https://other/"]);
    assert!(outcome.err.contains("project:web comes first here"), "{}", outcome.err);
}

#[test]
fn comments_and_order_stay() {
    let scratch = Scratch::new();
    let text = "{\n  // mine\n  \"mcpServers\": {\n    \"z\": {\"command\": \"x\"}, // last letter\n    /* web */\n    \"a\": {\"url\": \"http://h/\"}\n  }\n}\n";
    configure(&scratch, text);
    assert_eq!(mcpmini(&scratch, &["add", "m", "http://m/"]).code, 0);
    let added = text.replace(
        "\"http://h/\"}\n",
        "\"http://h/\"},\n    \"m\": {\n      \"url\": \"http://m/\"\n    }\n",
    );
    assert_eq!(read(&scratch, USER), added);
    assert_eq!(mcpmini(&scratch, &["remove", "m"]).code, 0);
    assert_eq!(read(&scratch, USER), text);
}

#[test]
fn nothing_is_lost_when_many_add_at_once() {
    let scratch = Scratch::new();
    thread::scope(|scope| {
        for number in 0..8 {
            let scratch = &scratch;
            scope.spawn(move || {
                let name = format!("s{number}");
                assert_eq!(mcpmini(scratch, &["add", &name, "http://h/"]).code, 0);
            });
        }
    });
    let whole: Value = serde_json::from_str(&read(&scratch, USER)).unwrap();
    assert_eq!(whole["mcpServers"].as_object().unwrap().len(), 8);
}

#[test]
fn the_list_shows_origins_and_states() {
    let scratch = Scratch::new();
    configure(
        &scratch,
        r#"{"mcpServers": {"a": {"command": "x", "args": ["y z"]}, "b": {"url": "http://b/?key=hunter2"},
            "c": {"command": "x", "disabled": true}, "d": {"command": 1}}}"#,
    );
    scratch.write(".mcp.json", r#"{"mcpServers": {"b": {"url": "http://p/"}}}"#);
    let listed = mcpmini(&scratch, &["config", "list"]);
    let path = scratch.path(USER).display().to_string();
    let expected = format!(
        "b\tproject\tunapproved\thttp://p/\na\tuser\tready\tx 'y z'\n\
         b\tuser\thidden by project\thttp://b/?key=***\nc\tuser\tdisabled\t\n\
         d\tuser\tinvalid\t{path}:2:71: Server \"d\": \"command\" must be a string or an array of \
         strings, and is a number\n"
    );
    check(&listed, 0, &expected, "");
    let lines = mcpmini(&scratch, &["config", "list", "-j"]).out;
    let states: Vec<_> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["state"].clone())
        .collect();
    assert_eq!(states, ["unapproved", "ready", "hidden", "disabled", "invalid"]);

    scratch.write(".mcp.json", "{");
    let listed = mcpmini(&scratch, &["config", "list"]);
    assert_eq!((listed.code, listed.out.lines().count()), (9, 4), "half a list is no list");
    assert!(listed.err.contains(".mcp.json:1:1: not JSON"), "{}", listed.err);
}

#[test]
fn a_definition_is_shown_without_its_secrets() {
    let scratch = Scratch::new();
    configure(
        &scratch,
        r#"{"mcpServers": {"s": {"command": "x", "args": ["${T}"], "env": {"P": "!touch ran"}},
                           "t": {"url": "http://h/", "headers": {"A": "${UNSET}"}}}}"#,
    );
    let path = scratch.path(USER).display().to_string();
    let shown = run(scratch.mcpmini(["config", "show", "s"]).env("T", "hunter2"));
    let expected = format!(
        "name\ts\nlayer\tuser\npath\t{path}\ntype\tstdio\ncommand\tx\nargs[0]\t***\t${{T}}\n\
         env.P\t***\t!touch ran\n"
    );
    check(&shown, 0, &expected, "");
    assert!(!scratch.path("ran").exists(), "no command is run");
    let shown = mcpmini(&scratch, &["config", "show", "t", "-j"]);
    assert_eq!(shown.code, 9);
    let object: Value = serde_json::from_str(&shown.out).unwrap();
    assert!(object["values"]["headers.A"]["error"].as_str().unwrap().contains("UNSET"));
    assert_eq!(mcpmini(&scratch, &["config", "show", "u"]).code, 9);
    assert_eq!(mcpmini(&scratch, &["config", "show"]).code, 2);
}

#[test]
fn a_field_that_is_not_known_is_told_and_fails_nothing() {
    let scratch = Scratch::new();
    let place = scratch.path(USER).display().to_string();
    configure(&scratch, r#"{"mcpServers": {"s": {"command": "x", "envs": {}, "icon": 1}}}"#);
    let near = "Server \"s\": \"envs\" is not known; did you mean \"env\"?";
    let lines = format!(
        "{place}:1:39: warning: {near}\n{place}:1:51: note: Server \"s\": \"icon\" is not known, and left alone\n"
    );
    check(&mcpmini(&scratch, &["config", "check"]), 0, &lines, "");
    let lines = mcpmini(&scratch, &["config", "check", "-j"]).out;
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!((&first["warning"], &first["column"]), (&near.into(), &39.into()));
}

#[test]
fn a_check_names_every_mistake() {
    let scratch = Scratch::new();
    check(&mcpmini(&scratch, &["config", "check"]), 0, "", "");
    configure(
        &scratch,
        "{\"mcpServers\": {\n  \"s\": {\"command\": 1,\n    \"args\": 2},\n  \"t\": {\"url\": \"${NO}\"}\n}}",
    );
    let path = scratch.path(USER).display().to_string();
    let outcome = mcpmini(&scratch, &["config", "check"]);
    let expected = format!(
        "{path}:2:20: Server \"s\": \"command\" must be a string or an array of strings, and is a \
         number\n{path}:3:13: Server \"s\": \"args\" must be an array of strings, and is a number\n\
         {path}:4:16: Server \"t\": \"url\" needs the variable NO, which is not set\n"
    );
    check(&outcome, 9, &expected, "mcpmini: the configuration has 3 errors\n");
    let lines = mcpmini(&scratch, &["config", "check", "-j"]).out;
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!((&first["line"], &first["column"]), (&2.into(), &20.into()));
}

#[test]
fn servers_of_other_programs_are_shown_and_copied() {
    let scratch = Scratch::new();
    let nothing = mcpmini(&scratch, &["config", "import", "cursor"]);
    assert_eq!(nothing.code, 9);
    assert!(nothing.err.contains(".cursor/mcp.json; see --from"), "{}", nothing.err);

    fs::create_dir_all(scratch.path("p/.cursor")).unwrap();
    fs::create_dir_all(scratch.path("p/sub")).unwrap();
    let project = scratch.write("p/.cursor/mcp.json", r#"{"mcpServers": {}}"#);
    let mut command = scratch.mcpmini(["config", "import", "cursor"]);
    let nothing = run(command.current_dir(scratch.path("p/sub")));
    assert!(nothing.err.contains(&format!("--from {project}")), "{}", nothing.err);
    for copy in [&[][..], &["--copy"]] {
        let words = [&["config", "import", "cursor", "--from", &project][..], copy].concat();
        let told = format!("mcpmini: warning: there are no servers in {project}\n");
        check(&mcpmini(&scratch, &words), 0, "", &told);
    }

    fs::create_dir(scratch.path(".cursor")).unwrap();
    let demo = demo_path();
    scratch.write(
        ".cursor/mcp.json",
        format!(
            r#"{{"mcpServers": {{
                "demo": {{"command": "{demo}", "env": {{"API_KEY": "hunter2", "A": "${{env:A}}"}}, "trust": true}},
                "web": {{"url": "https://h/mcp"}},
                "folder": {{"command": "${{workspaceFolder}}/x"}} }} }}"#
        ),
    );
    let shown = mcpmini(&scratch, &["config", "import", "cursor"]);
    let expected = format!(
        "demo\t{demo}\tleft out: trust\nweb\thttps://h/mcp\nfolder\tcannot be imported: command: \
         \"workspaceFolder\" means nothing outside of the other program\n"
    );
    check(&shown, 0, &expected, "");
    let line = mcpmini(&scratch, &["config", "import", "cursor", "demo", "-j"]).out;
    let object: Value = serde_json::from_str(&line).unwrap();
    let env = serde_json::json!({ "API_KEY": "***", "A": "${A}" });
    assert_eq!(object["entry"]["env"], env);
    assert!(!scratch.path(USER).exists(), "nothing is changed without --copy");

    let copied = mcpmini(&scratch, &["config", "import", "cursor", "--copy"]);
    let file = scratch.path(USER).display().to_string();
    assert_eq!(copied.code, 9, "one of them could not be copied");
    assert_eq!(copied.out, format!("added demo to {file}\nadded web to {file}\n"));
    assert!(copied.err.contains("folder cannot be imported"), "{}", copied.err);
    let called = run(scratch.mcpmini(["call", "demo", "echo", "text=hi"]).env("A", "1"));
    check(&called, 0, "hi\n", "");
    assert!(read(&scratch, USER).contains("hunter2"), "the file is the user's own");
    assert_eq!(mode(&scratch, USER), 0o600);

    let again = mcpmini(&scratch, &["config", "import", "cursor", "--copy", "web"]);
    assert_eq!(again.code, 9);
    assert!(again.err.contains("already"), "{}", again.err);
    let forced = mcpmini(&scratch, &["config", "import", "cursor", "--copy", "--force", "web"]);
    check(&forced, 0, &format!("added web to {file}\n"), "");
    for words in [&["cursr"][..], &[], &["cursor", "--force"]] {
        assert_eq!(mcpmini(&scratch, &[&["config", "import"], words].concat()).code, 2);
    }
    let unknown = mcpmini(&scratch, &["config", "import", "cursor", "dem"]);
    assert_eq!(unknown.code, 9);
    assert!(unknown.err.contains("did you mean demo?"), "{}", unknown.err);
}

#[test]
fn the_file_can_be_named() {
    let scratch = Scratch::new();
    let file = scratch.path("own.json").display().to_string();
    let added = mcpmini(&scratch, &["add", "s", "http://h/", "--config", "own.json"]);
    check(&added, 0, &format!("added s to {file}\n"), "");
    let listed = run(scratch.mcpmini(["config", "list"]).env("MCPMINI_CONFIG", "own.json"));
    check(&listed, 0, "s\tnamed\tready\thttp://h/\n", "");
    let removed = run(scratch.mcpmini(["remove", "s"]).env("MCPMINI_CONFIG", "own.json"));
    check(&removed, 0, &format!("removed s from {file}\n"), "");
}
