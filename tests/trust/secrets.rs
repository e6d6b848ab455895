//! What a server was given is not kept of what it says.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::support::{HttpDemo, Outcome, demo_path, run};
use super::world::{CONFIG, World};
use super::{ECHO, ERAS};

const SECRET: &str = "tok-4f9a8c7e6d5b3a21";
const OTHER: &str = "tok-0123456789abcdef";

/// A server that gets a secret, and says it wherever it says something.
fn telling(era: &str, secret: &str) -> World {
    let world = World::new(era);
    define(&world, era, secret);
    tell(&world, secret);
    world
}

fn define(world: &World, era: &str, secret: &str) {
    let (patch, log) = (world.scratch.path("patch"), world.scratch.path("log"));
    let (patch, log) = (patch.to_str().unwrap(), log.to_str().unwrap());
    let args = ["--patch", patch, "--log", log, "--era", era];
    let demo = json!({ "command": demo_path(), "args": args, "env": { "TOKEN": secret } });
    world.scratch.write(CONFIG, json!({ "mcpServers": { "demo": demo } }).to_string());
}

fn tell(world: &World, secret: &str) {
    world.patch(json!({
        "info": { "name": format!("server of {secret}"), "version": secret, "title": secret },
        "capabilities": { "experimental": { "key": { secret: true, "is": secret } } },
        "instructions": format!("Say {secret}."),
        "tools": {
            secret: { "description": secret },
            "echo": { "description": format!("Knows {secret}.") },
        },
    }));
}

/// All that is kept: records and their texts, and lock files.
fn kept(world: &World) -> String {
    fn read(path: &Path, text: &mut String) {
        match fs::read_dir(path) {
            Ok(entries) => entries.for_each(|entry| read(&entry.unwrap().path(), text)),
            Err(_) => text.push_str(&fs::read_to_string(path).unwrap_or_default()),
        }
    }
    let mut text = String::new();
    read(&world.scratch.path(world.store), &mut text);
    read(&world.scratch.path("mcpmini.lock.json"), &mut text);
    text
}

#[test]
fn neither_the_store_nor_a_lock_file_has_the_secrets_of_a_server() {
    for era in ERAS {
        let world = telling(era, SECRET);
        let own = ["call", "demo", SECRET, "{}"];
        let lock = ["--lock", "mcpmini.lock.json"];
        for words in [&["tools", "demo"][..], &ECHO, &["lock", "demo"], &["trust", "show", "demo"]]
        {
            assert_eq!(world.run(words).code, 0, "{era} {words:?}");
        }
        assert!(kept(&world).contains("server of *** (sha256:"), "{era}: {}", kept(&world));
        assert!(!kept(&world).contains(SECRET), "{era}: {}", kept(&world));
        // It is known again, also by that name of a tool.
        let again = |words: &[&str]| {
            let outcome = world.run(words);
            (outcome.code, outcome.err)
        };
        assert_eq!(again(&ECHO), (0, String::new()), "{era}");
        assert_eq!(again(&[&ECHO[..], &lock].concat()), (0, String::new()), "{era}");
        let unknown = again(&own);
        assert!(unknown.0 != 8, "{era}: {}", unknown.1);
        assert_eq!(again(&["trust", "diff", "demo"]), (0, String::new()), "{era}");
        // What it is given now is no part of what it was.
        define(&world, era, OTHER);
        assert_eq!(again(&ECHO), (0, String::new()), "{era}");
        // Nor are two servers the same since both give away what they got.
        tell(&world, OTHER);
        for words in [&ECHO[..], &[&ECHO[..], &lock].concat()] {
            let Outcome { code, err, .. } = world.run(words);
            assert_eq!(code, 8, "{era}: {err}");
            assert!(err.contains("it says that it is another server"), "{era}: {err}");
            assert!(!err.contains(OTHER), "{era}: {err}");
        }
        assert!(!kept(&world).contains(OTHER), "{era}: {}", kept(&world));
    }
}

#[test]
fn nor_have_they_the_token_of_a_server_on_the_network() {
    let world = World::new("modern");
    tell(&world, SECRET);
    let patch = world.scratch.path("patch");
    let http = HttpDemo::start(&["--patch", patch.to_str().unwrap()]);
    let header = format!("Authorization: Bearer {SECRET}");
    for words in [&["tools", &http.url][..], &["lock", &http.url]] {
        let outcome = run(&mut world.scratch.mcpmini([words, &["-H", &header]].concat()));
        assert_eq!(outcome.code, 0, "{}", outcome.err);
    }
    let kept = kept(&world);
    assert!(kept.contains("server of *** (sha256:") && !kept.contains(SECRET), "{kept}");
}

#[test]
fn long_names_are_told_apart_to_their_end() {
    for era in ERAS {
        let world = World::new(era);
        let name = |end: &str| json!({ "info": { "name": format!("{}{end}", "x".repeat(300)) } });
        world.patch(name("a"));
        assert_eq!(world.run(&ECHO).code, 0);
        assert_eq!(world.run(&ECHO).err, "");
        let name_in = |record: &Value| record["accepted"]["identity"]["name"].to_string();
        assert!(name_in(&world.records()[0]).len() < 300);
        world.patch(name("b"));
        assert_eq!(world.run(&ECHO).code, 8);
    }
}
