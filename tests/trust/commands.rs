//! `mcpmini trust`.

use serde_json::{Value, json};

use super::support::{HttpDemo, Scratch, demo, demo_path, run};
use super::terminal::{CTRL_D, Terminal};
use super::world::{CONFIG, World, digest_in};
use super::{ADD, ECHO, ERAS, with_full_disk};

const ZEROS: &str = "sha256:0000000000000000000000000000000000000000000000000000000000000000";

#[test]
fn a_change_is_accepted_by_its_hash_and_by_no_other() {
    for era in ERAS {
        let world = World::new(era);
        world.expect(&ECHO, 0, "hi\n");
        world.patch(json!({ "tools": { "echo": { "title": "Other" } } }));
        let told = world.expect(&ECHO, 8, "");
        let digest = digest_in(&told);
        world.requests();
        let told = world.expect(&["trust", "accept", "demo"], 8, "");
        assert_eq!(digest_in(&told), digest, "the command to accept it is told");
        let told = world.expect(&["trust", "accept", "demo", "--accept", ZEROS], 8, "");
        assert!(told.contains("it is not what you accept; it is now"), "{told}");
        assert!(told.contains("/title"), "{told}");
        let told = world.expect(&["trust", "accept", "demo", "--accept", "sha256:1"], 2, "");
        assert!(told.contains("64 hexadecimal digits"), "{told}");
        world.expect(&["trust", "accept", "demo", "--accept", &digest], 0, "");
        assert_eq!(world.requests(), [] as [String; 0], "nothing is started for that");
        assert_eq!(world.expect(&ECHO, 0, "hi\n"), "");
        assert_eq!(world.records()[0]["consent"], "user");
        world.expect(&["trust", "accept", "demo"], 0, "");
    }
}

#[test]
fn what_changes_once_more_is_not_what_was_accepted() {
    let world = World::new("legacy");
    world.expect(&ECHO, 0, "hi\n");
    world.patch(json!({ "tools": { "echo": { "title": "Other" } } }));
    let first = digest_in(&world.expect(&ECHO, 8, ""));
    world.patch(json!({ "tools": { "echo": { "title": "Yet another" } } }));
    let second = digest_in(&world.expect(&ECHO, 8, ""));
    world.expect(&["trust", "accept", "demo", "--accept", &first], 8, "");
    world.expect(&["trust", "accept", "demo", "--accept", &second], 0, "");
    // What was accepted is not what is there now.
    world.patch(json!({ "tools": { "echo": { "title": "Other" } } }));
    world.expect(&ECHO, 8, "");
}

#[test]
fn differences_are_shown_in_words_and_as_json() {
    for era in ERAS {
        let world = World::new(era);
        world.expect(&["trust", "diff", "demo"], 8, "");
        world.expect(&ECHO, 0, "hi\n");
        world.expect(&["trust", "diff", "demo"], 0, "");
        world.patch(json!({
            "info": { "version": "2" }, "capabilities": { "x": {} },
            "tools": { "echo": { "description": "A\u{202e}B" }, "new": {}, "add": null },
        }));
        let shown = world.run(&["trust", "diff", "demo"]);
        assert_eq!(shown.code, 8);
        let expected = "it is of another version: 1.0.0 → 2\n\
             it can do more: x\n\
             the tool \"echo\" has changed:\n  /description\n    - \"Gives the text back\"\n    \
             + \"A\\u{202e}B\"\n\
             there is a new tool, \"new\"\n\
             the tool \"add\" is gone\n";
        assert_eq!(shown.out, expected);
        let json = world.run(&["trust", "diff", "demo", "--json"]);
        let json: Value = serde_json::from_str(&json.out).unwrap();
        let facets: Vec<_> = json["changes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|change| format!("{} {}", change["facet"], change["change"]).replace('"', ""))
            .collect();
        let expected =
            ["version changed", "capabilities added", "tool changed", "tool added", "tool removed"];
        assert_eq!(facets, expected);
        assert_eq!(json["digest"], digest_in(&shown.err));
        // What was shown is what is accepted.
        world.expect(&["trust", "accept", "demo", "--accept", &digest_in(&shown.err)], 0, "");
        world.expect(&["trust", "diff", "demo"], 0, "");
    }
}

#[test]
fn a_server_is_shown_as_it_is_and_listed_as_it_is_known() {
    let world = World::new("legacy");
    let listed = |world: &World| world.run(&["trust", "list", "--json"]).out;
    assert_eq!(listed(&world), "");
    let shown = world.run(&["trust", "show", "demo"]);
    assert_eq!(shown.code, 0, "{}", shown.err);
    for part in
        ["name         demo\n", "state        unknown\n", "identity     demo-server 1.0.0\n"]
    {
        assert!(shown.out.contains(part), "{part}: {}", shown.out);
    }
    assert_eq!(listed(&world), "", "to look is not to trust");
    world.expect(&ECHO, 0, "hi\n");
    let shown: Value =
        serde_json::from_str(&world.run(&["trust", "show", "demo", "-j"]).out).unwrap();
    assert_eq!((&shown["state"], &shown["name"]), (&"accepted".into(), &"demo".into()));
    assert_eq!(shown["facets"]["tools"].as_object().unwrap().len(), 23);
    let row: Value = serde_json::from_str(&listed(&world)).unwrap();
    assert_eq!((&row["name"], &row["state"]), (&"demo".into(), &"accepted".into()));
    assert_eq!((&row["consent"], &row["digest"]), (&"first-use".into(), &shown["digest"]));
    world.patch(json!({ "tools": { "echo": { "title": "Other" } } }));
    world.expect(&ECHO, 8, "");
    assert!(listed(&world).contains(r#""state":"changed""#));
}

#[test]
fn a_revoked_server_is_not_used_until_it_is_added_again() {
    for era in ERAS {
        let world = World::new(era);
        world.expect(&ECHO, 0, "hi\n");
        world.expect(&["trust", "revoke", "demo"], 0, "");
        world.requests();
        for words in [&ECHO[..], &["tools", "demo"], &["ping", "demo"], &["trust", "diff", "demo"]]
        {
            let told = world.expect(words, 8, "");
            assert!(told.contains("the trust in it was taken back"), "{told}");
            assert!(told.contains("mcpmini trust add demo"), "{told}");
        }
        for more in [&["--env", "A=b"][..], &["--arg=--ttl", "--arg=5"]] {
            let told = world.expect(&[&ECHO[..], more].concat(), 8, "");
            assert!(told.contains("mcpmini trust add demo\n"), "{told}");
        }
        assert_eq!(world.requests(), [] as [String; 0]);
        assert!(world.run(&["trust", "list"]).out.starts_with("demo\trevoked\t"));
        world.expect(&["trust", "accept", "demo", "--accept", ZEROS], 8, "");
        let told = world.expect(&["trust", "add", "demo"], 8, "");
        assert!(told.contains("identity     demo-server 1.0.0"), "{told}");
        world.expect(&["trust", "add", "demo", "--accept", ZEROS], 8, "");
        world.expect(&ECHO, 8, "");
        world.expect(&["trust", "add", "demo", "--accept", &digest_in(&told)], 0, "");
        assert_eq!(world.expect(&ECHO, 0, "hi\n"), "");
    }
}

#[test]
fn strictly_only_the_users_word_counts() {
    for era in ERAS {
        let world = World::new(era);
        let strict =
            |words: &[&str]| run(world.scratch.mcpmini(words).env("MCPMINI_TRUST", "strict"));
        let refused = strict(&ECHO);
        assert_eq!(refused.code, 8);
        assert!(refused.err.contains("mcpmini trust show demo"), "{}", refused.err);
        assert_eq!((world.records().len(), world.requests().len()), (0, 0));
        let told = world.expect(&["trust", "add", "demo"], 8, "");
        world.expect(&["trust", "add", "demo", "--accept", &digest_in(&told)], 0, "");
        let used = strict(&ECHO);
        assert_eq!((used.code, used.out.as_str(), used.err.as_str()), (0, "hi\n", ""));
        world.patch(json!({ "tools": { "other": {} } }));
        let refused = strict(&ECHO);
        assert_eq!(refused.code, 8, "{era}: any change of what is looked at counts");
        assert!(refused.err.contains("there is a new tool"), "{}", refused.err);
        world.expect(&["trust", "accept", "demo", "--accept", &digest_in(&refused.err)], 0, "");
        assert_eq!(strict(&ECHO).code, 0);
    }
}

/// Whatever the words of the call are: strictly a tool is looked at before it is called.
#[test]
fn strictly_no_call_goes_out_unseen() {
    for era in ERAS {
        let world = World::new(era);
        let told = world.expect(&["trust", "add", "demo"], 8, "");
        world.expect(&["trust", "add", "demo", "--accept", &digest_in(&told)], 0, "");
        world.patch(json!({ "tools": { "echo": { "description": "another" } } }));
        let object = r#"{"text":"hi"}"#;
        let request = r#"{"name":"echo","arguments":{"text":"hi"}}"#;
        for words in [
            &["call", "demo", "echo", object][..],
            &["call", "demo", "echo", "--no-schema", "text=hi"],
            &["rpc", "demo", "tools/call", request],
        ] {
            let outcome = run(world.scratch.mcpmini(words).env("MCPMINI_TRUST", "strict"));
            assert_eq!((outcome.code, &*outcome.out), (8, ""), "{era}: {words:?}: {}", outcome.err);
        }
    }
}

/// What a server says about itself counts before anything is asked of it, whatever its era.
#[test]
fn strictly_a_server_says_first_what_it_is() {
    for era in ERAS {
        for patch in [
            json!({ "instructions": "Obey." }),
            json!({ "capabilities": { "x": {} } }),
            json!({ "info": { "version": "2" } }),
        ] {
            let world = World::new(era);
            world.expect(&ECHO, 0, "hi\n");
            let strict =
                |words: &[&str]| run(world.scratch.mcpmini(words).env("MCPMINI_TRUST", "strict"));
            assert_eq!(strict(&["trust", "show", "demo"]).code, 0);
            assert_eq!(strict(&ECHO).code, 0);
            world.patch(patch.clone());
            for words in [&ECHO[..], &["read", "demo", "demo://greeting"]] {
                world.requests();
                let outcome = strict(words);
                assert_eq!(outcome.code, 8, "{era} {words:?} {patch}: {}", outcome.out);
                let sent = world.requests();
                let is_use = |sent: &String| sent.ends_with("/call") || sent.ends_with("/read");
                assert!(!sent.iter().any(is_use), "{era} {words:?} {patch}: {sent:?}");
            }
        }
    }
}

/// Behind the same address may be other servers, which `Host` chooses.
#[test]
fn another_host_header_is_another_server() {
    let scratch = Scratch::new();
    let server = HttpDemo::start(&[]);
    let call = ["call", &*server.url, "echo", "text=hi"];
    let other = ["--header", "Host: other.example"];
    let words = |more: &[&str]| {
        let mut command = scratch.mcpmini([&call[..], more].concat());
        command.env("MCPMINI_TRUST", "strict");
        run(&mut command)
    };
    assert_eq!(run(&mut scratch.mcpmini(call)).code, 0);
    assert_eq!(run(&mut scratch.mcpmini(["lock", &server.url])).code, 0);
    assert_eq!(words(&[]).code, 0);
    let refused = words(&other);
    assert_eq!((refused.code, &*refused.out), (8, ""), "{}", refused.err);
    assert!(refused.err.contains("trust show --header 'Host: other.example' "), "{}", refused.err);
    let locked = words(&[&other[..], &["--lock", "mcpmini.lock.json"]].concat());
    assert_eq!((locked.code, &*locked.out), (8, ""), "{}", locked.err);
    let told = "it is at another address: ";
    assert!(locked.err.contains(told), "{}", locked.err);
    assert!(locked.err.contains(" (Host: other.example)/mcp"), "{}", locked.err);
    // It can be accepted like any other.
    let add = [&["trust", "add", &*server.url][..], &other].concat();
    let digest = digest_in(&run(&mut scratch.mcpmini(&add)).err);
    let add = [&add[..], &["--accept", &digest]].concat();
    assert_eq!(run(&mut scratch.mcpmini(add)).code, 0);
    let accepted = words(&other);
    assert_eq!((accepted.code, &*accepted.out), (0, "hi\n"), "{}", accepted.err);
    // And what is revoked stays so under any other name.
    assert_eq!(run(&mut scratch.mcpmini(["trust", "revoke", &server.url])).code, 0);
    assert_eq!(words(&other).code, 8);
}

/// What a variable stands for may choose who answers.
#[test]
fn a_variable_that_leads_elsewhere_is_noticed() {
    let scratch = Scratch::new();
    let [one, other] = [HttpDemo::start(&[]), HttpDemo::start(&[])];
    let servers = json!({
        "net": { "url": "${BASE}/mcp" },
        "run": { "command": "${PROGRAM}" },
    });
    std::fs::create_dir_all(scratch.path(".config/mcpmini")).unwrap();
    scratch.write(CONFIG, json!({ "mcpServers": servers }).to_string());
    for (name, variable, values) in [
        ("net", "BASE", [one.url.trim_end_matches("/mcp"), other.url.trim_end_matches("/mcp")]),
        ("run", "PROGRAM", [&*demo_path(), &*copy_of_demo(&scratch)]),
    ] {
        let call = |value: &str| {
            let mut command = scratch.mcpmini(["call", name, "echo", "text=hi"]);
            run(command.env(variable, value))
        };
        let [first, second] = values;
        assert_eq!(call(first).code, 0, "{name}");
        let refused = call(second);
        assert_eq!((refused.code, &*refused.out), (8, ""), "{name}: {}", refused.err);
        assert_eq!(call(first).code, 0, "{name}");
    }
}

fn copy_of_demo(scratch: &Scratch) -> String {
    let copy = scratch.path("demo");
    std::fs::copy(demo_path(), &copy).unwrap();
    copy.to_str().unwrap().to_owned()
}

#[test]
fn a_variable_does_not_loosen_a_strict_policy() {
    let world = World::new("modern");
    let off = || run(world.scratch.mcpmini(ECHO).env("MCPMINI_TRUST", "off"));
    world.expect(&ECHO, 0, "hi\n");
    world.patch(json!({ "tools": { "echo": { "description": "another" } } }));
    assert_eq!(off().code, 0);
    let command = json!([super::support::demo_path(), "*"]);
    let policy =
        format!("mode = \"strict\"\n[[allow]]\nkind = \"command\"\ncommand = {}\n", command);
    world.scratch.write(".config/mcpmini/policy.toml", policy);
    let refused = off();
    assert_eq!(refused.code, 8, "{}", refused.err);
    assert!(refused.err.contains("description"), "{}", refused.err);
}

#[test]
fn the_command_to_accept_means_the_same_server() {
    let scratch = Scratch::new();
    let patch = scratch.write("patch", "{}");
    let server = demo(&format!("--patch {patch}"));
    let words =
        ["call", &server, "echo", "text=hi", "--arg", "--ttl", "--arg", "5", "--env", "A=b c"];
    assert_eq!(run(&mut scratch.mcpmini(words)).code, 0);
    scratch.write("patch", r#"{"tools":{"echo":{"title":"Other"}}}"#);
    let told = run(&mut scratch.mcpmini(words));
    assert_eq!(told.code, 8);
    let command =
        told.err.lines().find_map(|line| line.split("if that is right: ").nth(1)).unwrap();
    let command = command.replacen("mcpmini", "\"$mcpmini\"", 1);
    let accepted = run(&mut scratch.shell(&command));
    assert_eq!((accepted.code, accepted.err.as_str()), (0, ""), "{command}");
    assert_eq!(run(&mut scratch.mcpmini(words)).code, 0);
    // Without these arguments it is another one, which nobody has used yet.
    assert_eq!(run(&mut scratch.mcpmini(["trust", "accept", &server])).code, 8);
}

#[test]
fn at_a_terminal_a_change_is_accepted_by_a_yes_and_nothing_else() {
    let world = World::new("legacy");
    world.expect(&ECHO, 0, "hi\n");
    world.patch(json!({ "tools": { "echo": { "description": "Evil\u{1b}[2J" } } }));
    world.expect(&ECHO, 8, "");
    for (answer, code) in [("\n", 8), ("n\n", 8), ("what?\n", 8), (CTRL_D, 8), ("y\n", 0)] {
        let Some(mut terminal) = Terminal::open() else { return };
        let mut command = world.scratch.mcpmini(["trust", "accept", "demo"]);
        let mut child = terminal.attach(&mut command).spawn().unwrap();
        drop(command);
        terminal.expect(r#"+ "Evil\u001b[2J""#);
        terminal.expect("Accept that? [y/N] ");
        terminal.press(answer);
        assert_eq!(child.wait().unwrap().code(), Some(code), "{answer:?}");
    }
    world.expect(&ECHO, 0, "hi\n");
}

#[test]
fn a_call_never_asks() {
    let world = World::new("legacy");
    world.expect(&ADD, 0, "3\n");
    world.patch(json!({ "tools": { "add": { "title": "Other" } } }));
    let Some(terminal) = Terminal::open() else { return };
    let mut command = world.scratch.mcpmini(ADD);
    let mut child = terminal.attach(&mut command).spawn().unwrap();
    drop(command);
    assert_eq!(child.wait().unwrap().code(), Some(8));
    let shown = terminal.close();
    assert!(shown.contains("mcpmini trust accept demo --accept sha256:"), "{shown}");
}

#[test]
fn words_that_make_no_sense_are_told() {
    let world = World::new("legacy");
    let check = |words: &[&str], expected: &str| {
        let told = world.expect(words, 2, "");
        assert!(told.contains(expected), "{words:?}: {told}");
    };
    check(&["trust"], "trust needs ACTION");
    check(&["trust", "believe", "demo"], "is none of list, show, diff, add, accept, revoke");
    check(&["trust", "show"], "trust needs SERVER");
    check(&["trust", "list", "demo"], "does not take so many words");
    check(
        &["trust", "diff", "demo", "--accept", ZEROS],
        "--accept needs trust add or trust accept",
    );
    world.expect(&["trust", "revoke", "nobody"], 9, "");
}

#[test]
fn what_is_revoked_is_so_however_its_url_is_spelled() {
    let scratch = Scratch::new();
    let server = HttpDemo::start(&[]);
    let url = &server.url;
    let call = |url: &str| run(&mut scratch.mcpmini(["call", url, "echo", "text=hi"])).code;
    assert_eq!(call(url), 0);
    let config = json!({ "mcpServers": { "named": { "url": "${WHERE}" } } });
    std::fs::create_dir_all(scratch.path(".config/mcpmini")).unwrap();
    scratch.write(".config/mcpmini/config.json", config.to_string());
    let named = |words: &[&str]| run(scratch.mcpmini(words).env("WHERE", url));
    assert_eq!(named(&["call", "named", "echo", "text=hi"]).code, 0);
    // One tenant is revoked, and that is the place.
    assert_eq!(run(&mut scratch.mcpmini(["trust", "revoke", &format!("{url}?tenant=a")])).code, 0);
    let encoded = url.replace("/mcp", "/%6dc%70");
    let spellings = [
        url.clone(),
        format!("{url}?x=1"),
        format!("{url}/"),
        format!("{url}#x"),
        encoded,
        url.replace("http", "HTTP"),
        url.replace("127.0.0.1", "localhost"),
    ];
    for spelling in &spellings {
        assert_eq!(call(spelling), 8, "{spelling}");
    }
    let refused = named(&["call", "named", "echo", "text=hi"]);
    assert_eq!(refused.code, 8);
    let localhost = url.replace("127.0.0.1", "localhost");
    let told = format!("the trust in {localhost} was taken back");
    assert!(refused.err.contains(&told), "{}", refused.err);
    assert!(named(&["trust", "show", "named"]).out.contains("state        revoked"));
    assert_eq!(named(&["trust", "diff", "named"]).code, 8);
    assert_ne!(call(&url.replace("/mcp", "/other")), 8, "another path is another place");
    // Who adds it again trusts the place, and only that tenant.
    let told = named(&["trust", "add", "named"]).err;
    let digest = digest_in(&told);
    assert_eq!(named(&["trust", "add", "named", "--accept", &digest]).code, 0);
    assert_eq!(named(&["call", "named", "echo", "text=hi"]).code, 0);
    assert_eq!((call(url), call(&format!("{url}?tenant=a"))), (0, 8));
}

#[test]
fn a_revoked_command_is_so_under_any_name() {
    let world = World::new("legacy");
    let text = std::fs::read_to_string(world.scratch.path(CONFIG)).unwrap();
    let mut config: Value = serde_json::from_str(&text).unwrap();
    let servers = config["mcpServers"].as_object_mut().unwrap();
    let demo = servers["demo"].clone();
    servers.insert("other".to_owned(), demo);
    world.scratch.write(CONFIG, config.to_string());
    let call =
        |name: &str, more: &[&str]| world.run(&[&["call", name, "echo", "text=hi"], more].concat());
    assert_eq!((call("demo", &[]).code, call("other", &[]).code), (0, 0));
    assert_eq!(world.run(&["trust", "list"]).out.lines().count(), 2);
    let revoked = world.run(&["trust", "revoke", "demo", "-v"]);
    assert!(revoked.err.contains("nor is exec:/"), "{}", revoked.err);
    for (name, more) in [("demo", &[][..]), ("other", &[]), ("other", &["--env", "A=1"])] {
        let refused = call(name, more);
        assert_eq!((refused.code, &*refused.out), (8, ""), "{name}: {}", refused.err);
        let hint = format!("mcpmini trust add {name}\n");
        assert!(refused.err.contains(&hint), "{name} {more:?}: {}", refused.err);
    }
    // It is one more server that is listed, not two.
    assert_eq!(world.run(&["trust", "list"]).out.lines().count(), 2);
    let digest = digest_in(&world.run(&["trust", "add", "demo"]).err);
    world.expect(&["trust", "add", "demo", "--accept", &digest], 0, "");
    assert_eq!((call("demo", &[]).code, call("other", &[]).code), (0, 0));
}

/// What is revoked is what is started, however that is written.
#[test]
fn a_revoked_command_is_so_in_every_spelling() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.path("sub")).unwrap();
    std::os::unix::fs::symlink(demo_path(), scratch.path("ds")).unwrap();
    scratch.write("fs.sh", format!("exec {}\n", demo_path()));
    scratch.write("other.sh", format!("exec {}\n", demo_path()));
    let home = scratch.path("").display().to_string();
    let home = home.trim_end_matches('/');
    let call = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|word| word.replace("DIR", home)).collect();
        let outcome = run(&mut scratch.mcpmini([&["call".to_owned()], &*words].concat()));
        assert!([0, 8].contains(&outcome.code), "{words:?}: {}", outcome.err);
        outcome.code
    };
    let echo = ["echo", "text=hi"];
    let check = |commands: &[&str], expected: i32| {
        for command in commands {
            assert_eq!(call(&[&[*command], &echo[..]].concat()), expected, "{command}");
        }
    };
    let spellings = ["./ds", "DIR/ds", "DIR/./ds", "DIR//ds", "./sub/../ds", "env ./ds"];
    check(&spellings, 0);
    assert_eq!(run(&mut scratch.mcpmini(["trust", "revoke", "./ds"])).code, 0);
    check(&spellings, 8);
    check(&["sh DIR/fs.sh"], 0);
    assert_eq!(call(&["./ds", "--env", "A=1", "echo", "text=hi"]), 8);
    assert_eq!(call(&["DIR/ds", "--cwd", "DIR/sub", "echo", "text=hi"]), 8);
    assert_eq!(call(&["env ./ds", "--arg=--ttl", "--arg=1", "echo", "text=hi"]), 8);
    // The same of the script of an interpreter, in whatever definition.
    let script = scratch.path("fs.sh").display().to_string();
    let servers = json!({
        "revoked": { "command": "sh", "args": [script] },
        "refers": { "command": "sh", "args": ["${HOME}/fs.sh"] },
        "varies": { "command": "/bin/sh", "args": [script], "env": { "A": "1" }, "cwd": "/tmp" },
        "wraps": { "command": "/usr/bin/env", "args": ["A=1", "sh", script] },
        "other": { "command": "sh", "args": ["${HOME}/other.sh"] },
        "more": { "command": "sh", "args": [script, "--ttl", "1"] },
    });
    std::fs::create_dir_all(scratch.path(".config/mcpmini")).unwrap();
    scratch.write(CONFIG, json!({ "mcpServers": servers }).to_string());
    let stored = ["revoked", "refers", "varies", "wraps"];
    check(&stored, 0);
    assert_eq!(run(&mut scratch.mcpmini(["trust", "revoke", "revoked"])).code, 0);
    check(&stored, 8);
    check(&["other", "more"], 0);
    // Who trusts one of them anew trusts what it starts.
    let told = run(&mut scratch.mcpmini(["trust", "add", "wraps"])).err;
    let accept = ["trust", "add", "wraps", "--accept", &digest_in(&told)];
    assert_eq!(run(&mut scratch.mcpmini(accept)).code, 0);
    check(&["refers", "varies", "wraps"], 0);
    check(&["revoked", "./ds"], 8);
}

#[test]
fn entries_of_one_name_are_told_apart() {
    let world = World::new("legacy");
    world.expect(&ECHO, 0, "hi\n");
    world.expect(&[&ECHO[..], &["--arg=--ttl", "--arg=1"]].concat(), 0, "hi\n");
    let list = world.run(&["trust", "list"]).out;
    let rows: Vec<Vec<_>> = list.lines().map(|row| row.split('\t').collect()).collect();
    let file = world.scratch.path(CONFIG);
    for row in &rows {
        assert_eq!((row[0], row[5]), ("demo", file.to_str().unwrap()), "{list}");
        assert!(row[4].contains("demo-server --patch"), "{list}");
    }
    let with_more = rows.iter().filter(|row| row[4].ends_with(" --ttl 1")).count();
    assert_eq!((rows.len(), with_more), (2, 1), "{list}");
    // What is likely a secret is not written down.
    world.expect(&["trust", "revoke", "demo", "--arg=--token", "--arg=s3cret"], 0, "");
    let list = world.run(&["trust", "list", "--json"]).out;
    assert!(list.contains("--token ") && !list.contains("s3cret"), "{list}");
}

#[test]
fn a_revoked_url_is_listed_once() {
    let scratch = Scratch::new();
    for word in ["https://a.example/mcp", "exec:nobody"] {
        assert_eq!(run(&mut scratch.mcpmini(["trust", "revoke", word])).code, 0);
    }
    let listed = run(&mut scratch.mcpmini(["trust", "list"])).out;
    let names: Vec<_> = listed.lines().filter_map(|line| line.split('\t').next()).collect();
    assert_eq!(names, ["exec:nobody", "https://a.example/mcp"]);
}

/// What there is to say about a server is the same whoever says it.
#[test]
fn lists_and_differences_agree_about_a_server() {
    let world = World::new("legacy");
    let state = || {
        let row = world.run(&["trust", "list", "--json"]).out;
        let row: Value = serde_json::from_str(&row).unwrap();
        let shown: Value =
            serde_json::from_str(&world.run(&["trust", "show", "demo", "--json"]).out).unwrap();
        assert_eq!(row["state"], shown["state"]);
        (row["state"].as_str().unwrap().to_owned(), world.run(&["trust", "diff", "demo"]).code)
    };
    // Nobody has looked at the tools.
    world.expect(&["call", "demo", "echo", r#"{"text":"hi"}"#], 0, "hi\n");
    let strict = |words: &[&str]| run(world.scratch.mcpmini(words).env("MCPMINI_TRUST", "strict"));
    assert_eq!(strict(&["trust", "show", "demo"]).code, 0);
    assert_eq!(state(), ("incomplete".to_owned(), 8));
    assert_eq!(strict(&ECHO).code, 8);
    let digest = digest_in(&strict(&ECHO).err);
    world.expect(&["trust", "accept", "demo", "--accept", &digest], 0, "");
    assert_eq!(state(), ("accepted".to_owned(), 0));
    world.patch(json!({ "tools": { "add": null } }));
    assert_eq!(world.run(&["tools", "demo"]).code, 0);
    assert_eq!(state(), ("changed".to_owned(), 8));
}

#[test]
fn what_cannot_be_written_is_a_matter_of_files() {
    let world = World::new("legacy");
    world.expect(&ECHO, 0, "hi\n");
    world.patch(json!({ "tools": { "echo": { "title": "Other" } } }));
    let digest = digest_in(&world.expect(&ECHO, 8, ""));
    let full = |words: &[&str]| with_full_disk(&world.scratch.mcpmini(words));
    for words in
        [&["trust", "revoke", "demo"][..], &["trust", "accept", "demo", "--accept", &digest]]
    {
        let outcome = full(words);
        assert_eq!(outcome.code, 9, "{words:?}: {}", outcome.err);
        assert!(outcome.err.contains("known-servers"), "{}", outcome.err);
    }
    let servers = json!({ "p": { "command": "true" } });
    world.scratch.write(".mcp.json", json!({ "mcpServers": servers }).to_string());
    let digest = digest_in(&world.run(&["approve", "p"]).err);
    let outcome = full(&["approve", "p", "--accept", &digest]);
    assert_eq!(outcome.code, 9, "{}", outcome.err);
    assert_eq!(world.run(&["approve", "p", "--accept", "sha256:1"]).code, 2);
}

/// What was accepted once does not count for what was accepted instead.
#[test]
fn a_list_of_earlier_times_is_not_taken_for_what_was_added_anew() {
    let world = World::new("legacy");
    world.expect(&ECHO, 0, "hi\n");
    world.expect(&["trust", "revoke", "demo"], 0, "");
    world.patch(json!({ "tools": { "echo": { "title": "Better" } } }));
    let digest = digest_in(&world.expect(&["trust", "add", "demo"], 8, ""));
    world.expect(&["trust", "add", "demo", "--accept", &digest], 0, "");
    world.patch(json!({}));
    let told = world.expect(&ECHO, 8, "");
    assert!(told.contains("the tool \"echo\" has changed"), "{told}");
}
