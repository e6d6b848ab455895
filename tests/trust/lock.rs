//! `mcpmini lock`, and `--lock`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::support::{HttpDemo, Outcome, run, run_with_input};
use super::world::World;
use super::{ECHO, ERAS};

/// Runs as a machine that has never seen the server, with the lock file.
fn ci(world: &World, words: &[&str]) -> Outcome {
    let mut command = world.scratch.mcpmini(words);
    command.args(["--lock", "mcpmini.lock.json"]);
    run(command
        .env("XDG_STATE_HOME", world.scratch.path("ci/state"))
        .env("XDG_CACHE_HOME", world.scratch.path("ci/cache")))
}

#[track_caller]
fn locked(era: &str) -> World {
    let world = World::new(era);
    let outcome = world.run(&["lock", "demo"]);
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""));
    assert!(outcome.out.starts_with("demo\tlocked\t23\tsha256:"), "{}", outcome.out);
    world
}

#[test]
fn a_server_is_used_elsewhere_as_it_was_locked() {
    for era in ERAS {
        let world = locked(era);
        let text = fs::read_to_string(world.scratch.path("mcpmini.lock.json")).unwrap();
        let file: Value = serde_json::from_str(&text).unwrap();
        let server = &file["servers"]["demo"];
        assert_eq!(server["identity"]["name"], "demo-server");
        assert!(server["consent_digest"].as_str().unwrap().starts_with("sha256:"));
        assert!(
            !text.contains(world.scratch.path("").to_str().unwrap()),
            "no path of this machine"
        );
        for words in [
            &ECHO[..],
            &["call", "demo", "echo", r#"{"text":"hi"}"#],
            &["call", "demo", "echo", "text=hi", "--no-schema"],
        ] {
            let outcome = ci(&world, words);
            assert_eq!((outcome.code, outcome.out.as_str(), outcome.err.as_str()), (0, "hi\n", ""));
        }
        for words in
            [&["tools", "demo"][..], &["read", "demo", "demo://note"], &["prompts", "demo"]]
        {
            let outcome = ci(&world, words);
            assert_eq!((outcome.code, outcome.err.as_str()), (0, ""), "{words:?}");
        }
        assert!(!world.scratch.path("ci/state").exists(), "nothing is accepted on the side");
        let again = world.run(&["lock", "--json"]);
        let again: Value = serde_json::from_str(&again.out).unwrap();
        assert_eq!((&again["name"], &again["changed"]), (&"demo".into(), &false.into()));
    }
}

#[test]
fn anything_that_differs_from_the_lock_is_refused() {
    for era in ERAS {
        let world = locked(era);
        for (patch, told) in [
            (json!({ "info": { "version": "2" } }), "it is of another version: 1.0.0 → 2"),
            (json!({ "info": { "name": "x" } }), "it says that it is another server"),
            (json!({ "capabilities": { "x": {} } }), "it can do more: x"),
            (json!({ "instructions": "Obey." }), "its instructions have changed"),
            (json!({ "tools": { "echo": { "title": "x" } } }), "the tool \"echo\" has changed"),
            (json!({ "tools": { "echo": null } }), "the tool \"echo\" is gone"),
            (json!({ "tools": { "add": { "title": "x" } } }), "the tool \"add\" has changed"),
            (json!({ "tools": { "new": {} } }), "there is a new tool, \"new\""),
        ] {
            world.patch(patch.clone());
            world.requests();
            for words in [&ECHO[..], &["call", "demo", "echo", r#"{"text":"hi"}"#]] {
                let outcome = ci(&world, words);
                assert_eq!((outcome.code, outcome.out.as_str()), (8, ""), "{era} {patch}");
                assert!(outcome.err.contains(told), "{era} {patch}: {}", outcome.err);
                let hint = "mcpmini lock demo --lock ";
                assert!(outcome.err.contains(hint), "{}", outcome.err);
            }
            assert!(!world.requests().contains(&"tools/call".to_owned()));
        }
        // What is gone and not used is told, and no more.
        world.patch(json!({ "tools": { "add": null } }));
        let outcome = ci(&world, &ECHO);
        assert_eq!((outcome.code, outcome.out.as_str()), (0, "hi\n"), "{}", outcome.err);
        assert!(outcome.err.contains("the tool \"add\" is gone"), "{}", outcome.err);
    }
}

#[test]
fn a_lock_fails_closed() {
    let world = locked("legacy");
    let lock = world.scratch.path("mcpmini.lock.json");
    let outcome = ci(&world, &["call", &super::demo(""), "echo", "text=hi"]);
    assert_eq!(outcome.code, 8);
    assert!(outcome.err.contains("it is not in "), "{}", outcome.err);
    // Another command under the same name.
    world.define("legacy", &["--ttl", "1"]);
    let outcome = ci(&world, &ECHO);
    assert_eq!(outcome.code, 8);
    assert!(outcome.err.contains("another command starts it"), "{}", outcome.err);
    world.define("legacy", &[]);
    // A file that was edited, is none, or is not there.
    let text = fs::read_to_string(&lock).unwrap();
    fs::write(&lock, text.replace("\"1.0.0\"", "\"2.0.0\"")).unwrap();
    assert_eq!(ci(&world, &ECHO).code, 9);
    fs::write(&lock, "{}").unwrap();
    assert_eq!(ci(&world, &ECHO).code, 9);
    fs::remove_file(&lock).unwrap();
    let outcome = ci(&world, &ECHO);
    assert_eq!(outcome.code, 9);
    assert!(outcome.err.contains("there is no lock file"), "{}", outcome.err);
}

#[test]
fn a_session_that_adds_to_a_definition_is_nothing_for_the_lock() {
    for era in ERAS {
        let world = locked(era);
        let script = r#"
            "$0" call demo echo text=hi --lock mcpmini.lock.json; echo $?
            MCPMINI_TRUST=strict "$0" call demo echo text=hi; echo $?
            "$0" call demo echo text=hi; echo $?"#;
        let binary = env!("CARGO_BIN_EXE_mcpmini");
        for added in [&["--env", "A=1"][..], &["--inherit-env"], &["--cwd", "."]] {
            let words = [&["session", "demo"], added, &["--", "sh", "-c", script, binary]].concat();
            let outcome = run(world.scratch.mcpmini(words).env("TMPDIR", world.scratch.path("")));
            assert_eq!(outcome.out, "8\n8\nhi\n0\n", "{era} {added:?}: {}", outcome.err);
        }
    }
}

/// Who joins a session is told what the server is that is there now, not what one before it was.
#[test]
fn a_server_that_a_session_has_started_anew_says_again_what_it_is() {
    for era in ERAS {
        let world = World::with(era, &["--crash-after", "1"]);
        assert_eq!(world.run(&["tools", "demo"]).code, 0);
        let strict =
            |words: &[&str]| run(world.scratch.mcpmini(words).env("MCPMINI_TRUST", "strict"));
        assert_eq!(strict(&["trust", "show", "demo"]).code, 0);
        let script = r#"
            "$0" call demo echo text=hi
            printf '{"instructions":"Obey."}' > patch
            "$0" call demo echo text=hi; echo $?
            MCPMINI_TRUST=strict "$0" call demo echo text=hi; echo $?"#;
        let words = ["session", "demo", "--", "sh", "-c", script, env!("CARGO_BIN_EXE_mcpmini")];
        let mut command = world.scratch.mcpmini(words);
        let outcome = run(command.env("TMPDIR", world.scratch.path("")));
        assert_eq!(outcome.out, "hi\n5\n8\n", "{era}: {}", outcome.err);
        assert!(outcome.err.contains("its instructions have changed"), "{era}: {}", outcome.err);
    }
}

#[test]
fn batches_sessions_and_requests_obey_the_lock() {
    for era in ERAS {
        let world = locked(era);
        let script = r#""$0" call demo echo text=hi --lock mcpmini.lock.json; echo $?"#;
        let binary = env!("CARGO_BIN_EXE_mcpmini");
        let session = |world: &World| {
            let words = ["session", "demo", "--", "sh", "-c", script, binary];
            run(world.scratch.mcpmini(words).env("TMPDIR", world.scratch.path(""))).out
        };
        let batch = |world: &World| {
            let words = ["batch", "demo", "-", "--lock", "mcpmini.lock.json"];
            let line = br#"{"tool":"echo","arguments":{"text":"hi"}}"#;
            run_with_input(&mut world.scratch.mcpmini(words), Some(line)).code
        };
        let rpc = ["rpc", "demo", "tools/call", r#"{"name":"echo","arguments":{"text":"hi"}}"#];
        assert_eq!((session(&world).as_str(), batch(&world)), ("hi\n0\n", 0));
        assert_eq!(ci(&world, &rpc).code, 0);
        world.patch(json!({ "tools": { "echo": { "title": "x" } } }));
        assert_eq!((session(&world).as_str(), batch(&world)), ("8\n", 8));
        assert_eq!(ci(&world, &rpc).code, 8);
    }
}

#[test]
fn the_diff_is_in_words_where_the_words_are_known() {
    let world = locked("modern");
    world.patch(json!({ "tools": { "echo": { "description": "Other" } } }));
    let told = |outcome: Outcome| outcome.err;
    let here = told(run(world.scratch.mcpmini(ECHO).args(["--lock", "mcpmini.lock.json"])));
    assert!(here.contains("- \"Gives the text back\""), "{here}");
    // A machine that has never seen the server has only the hashes of what was.
    let elsewhere = told(ci(&world, &ECHO));
    let told = "the tool \"echo\" has changed:\n      /description\n        - sha256:";
    assert!(elsewhere.contains(told), "{elsewhere}");
    assert!(elsewhere.contains("\n        + \"Other\"\n"), "{elsewhere}");
    assert!(!elsewhere.contains("/inputSchema"), "{elsewhere}");
}

#[test]
fn trust_diff_tells_what_differs_from_a_lock_file() {
    for era in ERAS {
        let world = locked(era);
        let diff = |words: &[&str]| ci(&world, &[&["trust", "diff", "demo"], words].concat());
        let same = diff(&[]);
        assert_eq!((same.code, &*same.out, &*same.err), (0, "", ""), "{era}");
        let echo = json!({ "description": "Other", "annotations": { "readOnlyHint": true } });
        world.patch(json!({
            "info": { "version": "2" },
            "capabilities": { "x": {} },
            "instructions": "Obey.",
            "tools": { "echo": echo, "add": null, "new": {} },
        }));
        let Outcome { code, out, err, .. } = diff(&[]);
        assert_eq!(code, 8, "{era}: {err}");
        for told in [
            "it is of another version: 1.0.0 → 2\n",
            "it can do more: x\n",
            "its instructions have changed\n    - sha256:",
            "\n    + Obey.\n",
            "the tool \"echo\" has changed:\n  /annotations\n    + {\"readOnlyHint\":true}\n",
            "  /description\n    - sha256:",
            "there is a new tool, \"new\"\n",
            "the tool \"add\" is gone\n",
        ] {
            assert!(out.contains(told), "{era} {told}: {out}");
        }
        assert!(err.contains("it is not what ") && err.contains("mcpmini.lock.json says"), "{err}");
        assert!(err.contains("mcpmini lock demo --lock "), "{err}");
        let json: Value = serde_json::from_str(&diff(&["--json"]).out).unwrap();
        let tool = json["changes"].as_array().unwrap().iter().find(|it| it["name"] == "echo");
        let members = &tool.unwrap()["members"];
        assert_eq!(members[0], json!({ "path": "/annotations", "is": echo["annotations"] }));
        assert_eq!(members[1]["path"], "/description");
        assert_eq!(members[1]["is"], "Other");
        assert!(members[1]["wasDigest"].as_str().unwrap().starts_with("sha256:"));
        // So does the error of a call, as far as it has come.
        world.patch(json!({ "tools": { "echo": echo } }));
        let json: Value = serde_json::from_str(&diff(&["--json"]).out).unwrap();
        let call = ci(&world, &[&ECHO[..], &["--json-errors"]].concat());
        let error: Value = serde_json::from_str(call.err.lines().last().unwrap()).unwrap();
        assert_eq!(error["error"]["trust"]["changes"], json["changes"], "{era}");
        // Another command is not started to look at it.
        world.requests();
        world.define(era, &["--ttl", "1"]);
        let Outcome { code, out, .. } = diff(&[]);
        assert_eq!((code, out.lines().count()), (8, 1), "{era}: {out}");
        assert!(out.starts_with("another command starts it: sha256:"), "{era}: {out}");
        assert_eq!(world.requests(), [""; 0], "{era}");
        assert!(!world.scratch.path("ci/state").exists(), "{era}: nothing is remembered");
    }
}

#[test]
fn a_lock_file_of_before_is_good_and_trust_takes_it_for_nothing_else() {
    let world = locked("modern");
    let path = world.scratch.path("mcpmini.lock.json");
    let mut file: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let members = file["servers"]["demo"].as_object_mut().unwrap().remove("members").unwrap();
    assert!(members["echo"]["description"].as_str().unwrap().starts_with("sha256:"));
    fs::write(&path, file.to_string()).unwrap();
    assert_eq!(ci(&world, &ECHO).code, 0);
    world.patch(json!({ "tools": { "echo": { "description": "Other" } } }));
    let outcome = ci(&world, &ECHO);
    assert!(outcome.err.contains("the tool \"echo\" has changed: sha256:"), "{}", outcome.err);
    for words in [&["trust", "show", "demo"][..], &["trust", "list"], &["trust", "revoke", "demo"]]
    {
        assert_eq!(ci(&world, words).code, 2, "{words:?}");
    }
}

#[test]
fn several_servers_are_locked_and_all_of_them_or_none() {
    let world = locked("legacy");
    let http = HttpDemo::start(&[]);
    let outcome = world.run(&["lock", &http.url, "http://127.0.0.1:9/mcp"]);
    assert_eq!(outcome.code, 4);
    let servers = |world: &World| {
        let text = fs::read_to_string(world.scratch.path("mcpmini.lock.json")).unwrap();
        let file: Value = serde_json::from_str(&text).unwrap();
        file["servers"].as_object().unwrap().keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(servers(&world), ["demo"]);
    assert_eq!(world.run(&["lock", &http.url]).code, 0);
    assert_eq!(servers(&world), ["demo", http.url.as_str()]);
    let outcome = ci(&world, &["call", &http.url, "echo", "text=hi"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (0, "hi\n"), "{}", outcome.err);
    let none = world.run(&["lock", "--lock", "other.json"]);
    assert_eq!(none.code, 2, "{}", none.err);
}

#[test]
fn a_lock_goes_with_nothing_that_it_could_not_hold() {
    let world = locked("modern");
    let check = |words: &[&str], named: &str| {
        let outcome = ci(&world, words);
        assert_eq!((outcome.code, &*outcome.out), (2, ""), "{words:?}: {}", outcome.err);
        assert!(outcome.err.contains(named), "{words:?}: {}", outcome.err);
    };
    check(&["call", "demo", "echo", "text=hi", "--cwd", "/"], "--cwd");
    check(&["call", "demo", "echo", "text=hi", "--inherit-env"], "--inherit-env");
    // What follows `--` is the command.
    let outcome = world.run(&["session", "--lock", "mcpmini.lock.json", "demo", "--", "true"]);
    assert_eq!(outcome.code, 2, "{}", outcome.err);
}

#[test]
fn a_lock_is_of_all_there_is_whatever_else_is_said_about_trust() {
    let world = World::new("modern");
    let outcome = run(world.scratch.mcpmini(["lock", "demo"]).env("MCPMINI_TRUST", "off"));
    assert_eq!(outcome.code, 0, "{}", outcome.err);
    assert_eq!(ci(&world, &ECHO).code, 0);
    world.patch(json!({ "info": { "name": "somebody-else" } }));
    let mut command = world.scratch.mcpmini(ECHO);
    let outcome = run(command.args(["--lock", "mcpmini.lock.json"]).env("MCPMINI_TRUST", "off"));
    assert_eq!(outcome.code, 8);
}

/// A script that is a server as `demo` is, and says that it was started.
fn script(world: &World, name: &str) {
    let text = format!(
        "#!/bin/sh\necho \"$0\" >> {}\nexec {} \"$@\"\n",
        world.scratch.path("started").display(),
        super::support::demo_path()
    );
    let path = world.scratch.path(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_relative_command_is_that_of_its_directory() {
    let world = World::new("modern");
    script(&world, "p/srv");
    script(&world, "evil/srv");
    let started = || {
        let lines = world.scratch.lines("started");
        world.scratch.write("started", "");
        lines
    };
    let at = |directory: &str, words: &[&str]| {
        let mut command = world.scratch.mcpmini(words);
        run(command.current_dir(world.scratch.path(directory)))
    };
    for word in ["./srv", "exec:sh srv", "exec:./srv"] {
        let outcome = at("p", &["lock", word]);
        assert_eq!(outcome.code, 0, "{}", outcome.err);
        let call = |directory: &str, lock: &str| {
            started();
            at(directory, &["call", word, "echo", "text=hi", "--lock", lock])
        };
        let outcome = call("p", "mcpmini.lock.json");
        assert_eq!((outcome.code, &*outcome.out), (0, "hi\n"), "{word}: {}", outcome.err);
        let outcome = call("evil", "../p/mcpmini.lock.json");
        assert_eq!((outcome.code, &*outcome.out), (8, ""), "{word}: {}", outcome.err);
        assert_eq!(started(), [] as [String; 0], "{word}");
        // The checkout of another machine.
        script(&world, "q/srv");
        fs::copy(world.scratch.path("p/mcpmini.lock.json"), world.scratch.path("q/lock")).unwrap();
        let outcome = call("q", "lock");
        assert_eq!((outcome.code, &*outcome.out), (0, "hi\n"), "{word}: {}", outcome.err);
    }
}

#[test]
fn a_relative_command_of_a_file_is_that_of_the_files_directory() {
    let world = World::new("modern");
    fs::create_dir_all(world.scratch.path("p/.git")).unwrap();
    script(&world, "p/srv");
    script(&world, "p/evil/srv");
    let file = json!({ "mcpServers": { "s": { "command": "./srv" } } }).to_string();
    world.scratch.write("p/.mcp.json", file);
    let at = |directory: &str, words: &[&str]| {
        let mut command = world.scratch.mcpmini(words);
        run(command.current_dir(world.scratch.path(directory)))
    };
    let told = at("p", &["approve", "s"]).err;
    let digest = super::digest_in(&told);
    assert_eq!(at("p", &["approve", "s", "--accept", &digest]).code, 0);
    for words in
        [&["call", "s", "echo", "text=hi"][..], &["call", "s", "echo", "text=hi", "--cwd", "."]]
    {
        let outcome = at("p/evil", words);
        assert_eq!((outcome.code, &*outcome.out), (0, "hi\n"), "{}", outcome.err);
    }
    let srv = world.scratch.path("p/./srv").into_os_string().into_string().unwrap();
    assert_eq!(world.scratch.lines("started"), [&*srv, &*srv]);
}

#[test]
fn a_lock_holds_what_the_command_line_adds() {
    let world = locked("modern");
    let given = |more: &[&str]| ci(&world, &[&ECHO[..], more].concat());
    for more in [
        &["--env", "LD_PRELOAD=/tmp/evil.so"][..],
        &["--env", "TOKEN=x"],
        &["--arg=--ttl", "--arg=5"],
    ] {
        let outcome = given(more);
        assert_eq!((outcome.code, &*outcome.out), (8, ""), "{more:?}: {}", outcome.err);
        assert!(
            outcome.err.contains("with what --arg and --env add it is not what"),
            "{}",
            outcome.err
        );
    }
    // What was given when it was locked may be given, and nothing else.
    let locked = world.run(&["lock", "demo", "--env", "TOKEN=x", "--env", "PYTHONPATH=/lib"]);
    assert_eq!(locked.code, 0, "{}", locked.err);
    let outcome = given(&["--env", "TOKEN=another", "--env", "PYTHONPATH=/lib"]);
    assert_eq!((outcome.code, &*outcome.out), (0, "hi\n"), "{}", outcome.err);
    assert_eq!(given(&["--env", "TOKEN=x", "--env", "PYTHONPATH=/evil"]).code, 8);
    assert_eq!(given(&[]).code, 8);
}

/// The commands that call no tool, and what they ask the server for.
const QUIET: &[(&[&str], &str)] = &[
    (&["info", "demo"], "-"),
    (&["ping", "demo"], "ping"),
    (&["tools", "demo"], "-"),
    (&["find", "echo", "demo"], "-"),
    (&["schema", "demo", "echo"], "-"),
    (&["resources", "demo"], "resources/list"),
    (&["read", "demo", "demo://note"], "resources/read"),
    (&["prompts", "demo"], "prompts/list"),
    (&["prompt", "demo", "chat"], "prompts/get"),
    (&["complete", "demo", "prompt:review", "language", "ru"], "completion/complete"),
    (&["rpc", "demo", "tools/list"], "-"),
    (&["rpc", "demo", "resources/list"], "resources/list"),
    (&["skills", "demo"], "resources/read"),
    (&["watch", "demo", "--max-time", "5s"], "subscriptions/listen"),
    (&["doctor", "demo", "--max-time", "20s"], "-"),
];

#[test]
fn under_a_lock_every_command_looks_at_the_tools_before_it_prints() {
    for era in ERAS {
        for (words, request) in QUIET {
            let world = locked(era);
            world.patch(json!({ "tools": { "add": { "description": "another" } } }));
            world.requests();
            let outcome = ci(&world, words);
            assert_eq!((outcome.code, &*outcome.out), (8, ""), "{era} {words:?}: {}", outcome.err);
            let told = "the tool \"add\" has changed";
            assert!(outcome.err.contains(told), "{era} {words:?}: {}", outcome.err);
            let sent = world.requests();
            assert!(!sent.contains(&(*request).to_owned()), "{era} {words:?}: {sent:?}");
            assert!(sent.contains(&"tools/list".to_owned()), "{era} {words:?}: {sent:?}");
        }
    }
}

#[test]
fn under_a_lock_a_batch_of_other_requests_looks_first() {
    for era in ERAS {
        let world = locked(era);
        let batch = |world: &World| {
            let words = ["batch", "demo", "-", "--lock", "mcpmini.lock.json", "--keep-going"];
            let lines = "{\"method\":\"resources/list\"}\n{\"method\":\"prompts/list\"}\n";
            run_with_input(&mut world.scratch.mcpmini(words), Some(lines.as_bytes())).code
        };
        assert_eq!(batch(&world), 0, "{era}");
        world.patch(json!({ "tools": { "add": { "description": "another" } } }));
        world.requests();
        assert_eq!(batch(&world), 8, "{era}");
        assert!(!world.requests().contains(&"resources/list".to_owned()), "{era}");
    }
}

#[test]
fn under_a_lock_the_tools_are_asked_for_once() {
    for era in ERAS {
        let world = locked(era);
        for (words, _) in QUIET {
            if ["doctor", "watch", "rpc", "skills", "complete"].contains(&words[0]) {
                continue;
            }
            world.requests();
            let outcome = ci(&world, words);
            assert_eq!((outcome.code, &*outcome.err), (0, ""), "{era} {words:?}");
            let sent = world.requests();
            let lists = sent.iter().filter(|sent| *sent == "tools/list").count();
            assert_eq!(lists, 1, "{era} {words:?}: {sent:?}");
        }
    }
}

/// What waits to be accepted here is not written down as good for others.
#[test]
fn a_server_that_has_changed_is_not_locked() {
    for era in ERAS {
        for (patch, told) in [
            (json!({ "tools": { "echo": { "title": "x" } } }), "the tool \"echo\" has changed"),
            (json!({ "tools": { "echo": null } }), "the tool \"echo\" is gone"),
            (json!({ "tools": { "new": {} } }), "there is a new tool, \"new\""),
            (json!({ "info": { "name": "x" } }), "it says that it is another server"),
            (json!({ "instructions": "Obey." }), "its instructions have changed"),
        ] {
            let world = World::new(era);
            world.expect(&ECHO, 0, "hi\n");
            world.patch(patch);
            for trust in ["tofu", "strict", "off"] {
                let mut command = world.scratch.mcpmini(["lock", "demo"]);
                let outcome = run(command.env("MCPMINI_TRUST", trust));
                assert_eq!((outcome.code, &*outcome.out), (8, ""), "{era} {trust} {told}");
                assert!(outcome.err.contains(told), "{told}: {}", outcome.err);
                assert!(!world.scratch.path("mcpmini.lock.json").exists());
            }
            let digest = super::digest_in(&world.expect(&["lock", "demo"], 8, ""));
            world.expect(&["trust", "accept", "demo", "--accept", &digest], 0, "");
            assert_eq!(world.run(&["lock", "demo"]).code, 0, "{told}");
        }
    }
}

/// A server in the shell that writes down its variables when it is started.
fn writes_variables(world: &World) {
    let text = format!("#!/bin/sh\nenv > variables\nexec {} \"$@\"\n", super::support::demo_path());
    fs::write(world.scratch.path("srv"), text).unwrap();
    let path = world.scratch.path("srv");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let server = json!({ "command": path, "inheritEnv": true });
    world.scratch.write(super::CONFIG, json!({ "mcpServers": { "demo": server } }).to_string());
}

#[test]
fn what_was_accepted_is_not_steered_by_variables_of_the_day() {
    let world = World::new("modern");
    writes_variables(&world);
    let call = |more: &[&str], trust: &str| {
        let mut command = world.scratch.mcpmini(ECHO);
        command
            .args(more)
            .env("MCPMINI_TRUST", trust)
            .env("NODE_OPTIONS", "-r x")
            .env("OTHER", "y");
        let outcome = run(&mut command);
        assert_eq!((outcome.code, &*outcome.out), (0, "hi\n"), "{}", outcome.err);
        let got = world.scratch.lines("variables");
        let has = |name: &str| got.iter().any(|line| line.starts_with(name));
        ([has("NODE_OPTIONS="), has("OTHER=")], outcome.err)
    };
    assert_eq!(call(&[], "tofu").0, [true, true]);
    assert_eq!(world.run(&["lock", "demo"]).code, 0);
    assert_eq!(call(&["--lock", "mcpmini.lock.json"], "tofu").0, [false, true]);
    let (got, told) = call(&[], "strict");
    assert_eq!((got, &*told), ([false, true], ""));
    let (got, told) = call(&["--inherit-env"], "strict");
    assert_eq!(got, [false, true]);
    assert!(told.contains("what chooses code is not taken over: NODE_OPTIONS"), "{told}");
}

#[test]
fn what_was_accepted_strictly_runs_where_its_definition_says() {
    let world = World::new("modern");
    let define = |command: &str, args: &[&str]| {
        let server = json!({ "command": command, "args": args, "cwd": "/" });
        world.scratch.write(super::CONFIG, json!({ "mcpServers": { "demo": server } }).to_string());
    };
    let call = |trust: &str| {
        let mut command = world.scratch.mcpmini(["ping", "demo", "--cwd", "."]);
        run(command.env("MCPMINI_TRUST", trust))
    };
    define("sh", &["-c", "exit 7"]);
    let outcome = call("strict");
    assert_eq!(outcome.code, 2, "{}", outcome.err);
    assert!(outcome.err.contains("--cwd does not go with strict trust"), "{}", outcome.err);
    assert_eq!(call("tofu").code, 4);
    define(super::support::demo_path().as_ref(), &[]);
    assert_eq!(call("strict").code, 8, "it was never accepted");
}
