//! Tokens that are kept: renewed, shared by processes, and out of reach for others.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::Instant;

use crate::support::{Scratch, finish, run, wait_until};
use crate::world::World;

pub(crate) const STORE: &str = ".local/state/mcpmini/credentials/store.json";

pub(crate) fn call(scratch: &Scratch, world: &World) -> std::process::Command {
    scratch.mcpmini(["call", &world.url(), "echo", "--protocol", "2026-07-28"])
}

/// Lets the token that is kept end.
pub(crate) fn end_token(scratch: &Scratch) {
    let text = fs::read_to_string(scratch.path(STORE)).unwrap();
    let mut records: serde_json::Value = serde_json::from_str(&text).unwrap();
    for record in records["tokens"].as_object_mut().unwrap().values_mut() {
        (record["issued_at"], record["expires_at"]) = (1000.into(), 2000.into());
    }
    fs::write(scratch.path(STORE), records.to_string()).unwrap();
}

#[test]
fn tokens_are_private() {
    let (world, scratch) = (World::new(), Scratch::new());
    world.log_in(&scratch, &[]);
    let mode = |name: &str| fs::metadata(scratch.path(name)).unwrap().permissions().mode() & 0o777;
    let directory = STORE.rsplit_once('/').unwrap().0;
    assert_eq!((mode(STORE), mode(directory)), (0o600, 0o700));
    for (name, loose, right) in [(STORE, 0o640, 0o600), (directory, 0o755, 0o700)] {
        fs::set_permissions(scratch.path(name), Permissions::from_mode(loose)).unwrap();
        let outcome = run(&mut call(&scratch, &world));
        assert_eq!(outcome.code, 9, "{outcome:?}");
        assert!(outcome.err.contains("chmod go-rwx"), "{outcome:?}");
        fs::set_permissions(scratch.path(name), Permissions::from_mode(right)).unwrap();
    }
    assert_eq!(run(&mut call(&scratch, &world)).code, 0);
}

#[test]
fn a_token_is_renewed_before_it_ends() {
    let (world, scratch) = (World::new(), Scratch::new());
    world.log_in(&scratch, &[]);
    end_token(&scratch);
    assert_eq!(run(&mut call(&scratch, &world)).code, 0);
    assert_eq!(world.count("POST /token refresh_token"), 1);
    let form = world.state().forms.last().unwrap().clone();
    assert_eq!(form["resource"], world.url());
    assert_eq!(form["client_id"], "client-1");
    assert_eq!(run(&mut call(&scratch, &world)).code, 0);
    assert_eq!(world.count("POST /token refresh_token"), 1);
}

#[test]
fn tokens_that_end_at_once_are_not_renewed_for_ever() {
    let (world, scratch) = (World::new(), Scratch::new());
    world.state().life = 0;
    world.log_in(&scratch, &[]);
    assert_eq!(run(&mut call(&scratch, &world)).code, 0);
    assert!(world.count("POST /token refresh_token") < 2);
}

#[test]
fn a_token_that_is_taken_back_is_renewed_once() {
    let (world, scratch) = (World::new(), Scratch::new());
    world.log_in(&scratch, &[]);
    world.forget_tokens();
    assert_eq!(run(&mut call(&scratch, &world)).code, 0);
    assert_eq!(world.count("POST /token refresh_token"), 1);

    // What it is renewed for has been taken back as well.
    world.forget_tokens();
    world.state().answers.push((400, serde_json::json!({ "error": "invalid_grant" })));
    let outcome = run(&mut call(&scratch, &world));
    assert_eq!(outcome.code, 7, "{outcome:?}");
    assert!(outcome.err.contains("mcpmini login"), "{outcome:?}");
    assert_eq!(world.count("POST /token refresh_token"), 2);
}

#[test]
fn many_calls_at_once_renew_once() {
    let (world, scratch) = (World::new(), Scratch::new());
    world.log_in(&scratch, &[]);
    world.forget_tokens();
    let lines = "{\"tool\": \"echo\"}\n".repeat(20);
    let input = scratch.write("calls", lines);
    let words = ["batch", &world.url(), "-P", "8", "--protocol", "2026-07-28", &input];
    let outcome = run(&mut scratch.mcpmini(words));
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(outcome.out.matches("hello").count(), 20, "{outcome:?}");
    assert_eq!(world.count("POST /token refresh_token"), 1);
}

#[test]
fn a_token_that_is_good_for_nothing_is_not_renewed_for_ever() {
    let (world, scratch) = (World::new(), Scratch::new());
    world.log_in(&scratch, &[]);
    world.forget_tokens();
    let bad = serde_json::json!({ "access_token": "bad", "token_type": "Bearer" });
    world.state().answers = vec![(200, bad); 10];
    let outcome = run(&mut call(&scratch, &world));
    assert_eq!(outcome.code, 7, "{outcome:?}");
    assert_eq!(world.count("POST /token refresh_token"), 1);
}

#[test]
fn eight_processes_renew_once() {
    let (world, scratch) = (World::new(), Scratch::new());
    world.log_in(&scratch, &[]);
    end_token(&scratch);
    world.state().single = true;
    world.state().hold = true;
    let spawn = || {
        let mut command = call(&scratch, &world);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = (0..8).map(|_| spawn()).collect();
    wait_until("a renewal", || world.count("POST /token refresh_token") == 1);
    world.release();
    for child in children {
        let outcome = finish(child, Instant::now());
        assert_eq!((outcome.code, outcome.out.as_str()), (0, "hello\n"), "{outcome:?}");
    }
    assert_eq!(world.count("POST /token refresh_token"), 1);
}

#[test]
fn eight_processes_renew_after_one_was_killed_in_the_middle() {
    let (world, scratch) = (World::new(), Scratch::new());
    world.log_in(&scratch, &[]);
    end_token(&scratch);
    world.state().hold = true;
    let spawn = || {
        let mut command = call(&scratch, &world);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    // The first one holds the lock, and its request is at the server, when it dies.
    let mut first = spawn();
    wait_until("a renewal", || world.count("POST /token refresh_token") == 1);
    let children: Vec<_> = (0..7).map(|_| spawn()).collect();
    // The server does not take the request of a client that has gone.
    world.state().lost = Some(2);
    first.kill().unwrap();
    first.wait().unwrap();
    world.release();
    for child in children {
        let outcome = finish(child, Instant::now());
        assert_eq!((outcome.code, outcome.out.as_str()), (0, "hello\n"), "{outcome:?}");
    }
    assert_eq!(world.count("POST /token refresh_token"), 2, "the lock was given back");
}

#[test]
fn what_one_account_sees_is_not_shown_to_another() {
    let (world, scratch) = (World::new(), Scratch::new());
    let url = world.url();
    world.state().ttl = 60_000;
    let tools = |variables: &[(&str, &str)]| {
        let mut command = scratch.mcpmini(["tools", &url, "--protocol", "2026-07-28"]);
        let outcome = run(command.envs(variables.iter().copied()));
        (outcome.code, world.count("mcp tools/list"))
    };
    world.log_in(&scratch, &[]);
    let asked = world.count("mcp tools/list");
    assert_eq!(tools(&[]), (0, asked + 1));
    assert_eq!(tools(&[]), (0, asked + 1), "it is remembered");
    end_token(&scratch);
    assert_eq!(tools(&[]), (0, asked + 1), "by whatever token");
    assert_eq!(tools(&[("MCPMINI_TOKEN", "of somebody else")]), (7, asked + 2));
    assert_eq!(run(&mut scratch.mcpmini(["logout", &url])).code, 0);
    assert_eq!(tools(&[]), (7, asked + 3));
}

#[test]
fn the_header_is_for_other_programs() {
    let (world, scratch) = (World::new(), Scratch::new());
    let url = world.url();
    world.log_in(&scratch, &[]);
    let outcome = run(&mut scratch.mcpmini(["token", &url]));
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""), "{outcome:?}");
    assert_eq!(outcome.out, "Authorization: Bearer access-token-2\n");
    let outcome = run(&mut scratch.mcpmini(["token", &url, "--json"]));
    let told: serde_json::Value = serde_json::from_str(&outcome.out).unwrap();
    assert_eq!(told["Authorization"], "Bearer access-token-2");
}

#[test]
fn another_program_can_keep_the_tokens() {
    let (world, scratch) = (World::new(), Scratch::new());
    // What a credential helper of Docker does, with a file for each URL.
    let helper = scratch.write(
        "helper",
        "#!/bin/sh\ncd \"$(dirname \"$0\")\" || exit 1\necho \"$1\" >>actions\n\
         case $1 in\n\
         store) cat >in; url=$(sed 's/.*\"ServerURL\":\"\\([^\"]*\\)\".*/\\1/' in); mv in \"kept-$(echo \"$url\" | cksum | cut -d' ' -f1)\" ;;\n\
         get) read -r url; cat \"kept-$(echo \"$url\" | cksum | cut -d' ' -f1)\" 2>/dev/null || { echo 'credentials not found in native keychain'; exit 1; } ;;\n\
         erase) test -e stuck && exit 1; read -r url; rm -f \"kept-$(echo \"$url\" | cksum | cut -d' ' -f1)\" ;;\n\
         esac\n",
    );
    fs::set_permissions(&helper, Permissions::from_mode(0o755)).unwrap();
    let url = world.url();
    let with_helper = |words: &[&str]| {
        let mut command = scratch.mcpmini(words);
        command.env("MCPMINI_CREDENTIAL_HELPER", format!("'{helper}'"));
        crate::world::with_browser(&scratch, &mut command);
        run(&mut command)
    };
    assert_eq!(with_helper(&["tools", &url]).code, 7);
    let outcome = with_helper(&["login", &url]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(with_helper(&["tools", &url]).code, 0);
    assert!(!scratch.path(STORE).exists());
    scratch.write("stuck", "");
    let outcome = with_helper(&["logout", &url]);
    assert_eq!(outcome.code, 9, "{outcome:?}");
    assert!(outcome.err.contains("cannot erase the token"), "{outcome:?}");
    fs::remove_file(scratch.path("stuck")).unwrap();
    assert_eq!(with_helper(&["logout", &url]).code, 0);
    assert_eq!(with_helper(&["tools", &url]).code, 7);
    let broken = |helper: &str, expected: &str| {
        let mut command = scratch.mcpmini(["tools", &url]);
        let outcome = run(command.env("MCPMINI_CREDENTIAL_HELPER", helper));
        assert_eq!(outcome.code, 9, "{outcome:?}");
        assert!(outcome.err.contains(expected), "{outcome:?}");
    };
    broken("'", "is no command line");
    broken("/no/such/helper", "cannot start");
    broken("sh -c 'echo broken; exit 3'", "fails: broken");
}

#[test]
fn without_a_home_a_token_lasts_as_long_as_the_process() {
    let (world, scratch) = (World::new(), Scratch::new());
    let url = world.url();
    let mut command = scratch.mcpmini(["call", &url, "echo", "--login"]);
    command.env_remove("HOME");
    let outcome = run(crate::world::with_browser(&scratch, &mut command));
    assert_eq!((outcome.code, outcome.out.as_str()), (0, "hello\n"), "{outcome:?}");
}

#[test]
fn a_token_that_allows_more_or_is_from_somebody_else_is_not_shown_unasked() {
    for (member, value, told) in [
        ("granted", "read admin", "its token allows more: admin"),
        ("issuer", "https://evil.example", "somebody else issues its tokens: http://127.0.0.1"),
    ] {
        let (world, scratch) = (World::new(), Scratch::new());
        world.log_in(&scratch, &["--scope", "read"]);
        let outcome = run(&mut call(&scratch, &world));
        assert_eq!((outcome.code, outcome.err.as_str()), (0, ""));
        let change = |value: &str| {
            let text = fs::read_to_string(scratch.path(STORE)).unwrap();
            let mut records: serde_json::Value = serde_json::from_str(&text).unwrap();
            for record in records["tokens"].as_object_mut().unwrap().values_mut() {
                record[member] = value.into();
            }
            fs::write(scratch.path(STORE), records.to_string()).unwrap();
        };
        change(value);
        let before = world.count("mcp ");
        let outcome = run(&mut call(&scratch, &world));
        assert_eq!(outcome.code, 8, "{outcome:?}");
        assert!(outcome.err.contains(told), "{outcome:?}");
        assert_eq!(world.count("mcp "), before, "the token is not shown to anybody");
        if member == "granted" {
            // What is asked for by name is what is wanted.
            let asked = run(call(&scratch, &world).args(["--scope", "read admin"]));
            assert_eq!(asked.code, 0, "{asked:?}");
            assert_eq!(run(&mut call(&scratch, &world)).code, 0);
            // Less is no danger.
            change("read");
            assert_eq!(run(&mut call(&scratch, &world)).code, 0);
        }
    }
}
