//! A person logs in.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::Instant;

use serde_json::json;

use crate::support::{Scratch, finish, run};
use crate::world::{World, get, with_browser};

const PINNED: [&str; 2] = ["--protocol", "2026-07-28"];

#[test]
fn one_login_lasts() {
    let (world, scratch) = (World::new(), Scratch::new());
    let url = world.url();
    let outcome = run(with_browser(&scratch, &mut scratch.mcpmini(["login", &url])));
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(outcome.out, format!("logged in to {url}\n"));
    assert!(outcome.err.contains(&format!("{}/authorize?response_type=code", world.origin)));
    let registration = world.state().registrations[0].clone();
    assert_eq!(registration["application_type"], "native");
    assert_eq!(registration["grant_types"][1], "refresh_token");

    for _ in 0..2 {
        let called = run(&mut scratch.mcpmini(["call", &url, "echo"].into_iter().chain(PINNED)));
        assert_eq!((called.code, called.out.as_str()), (0, "hello\n"), "{called:?}");
        assert_eq!(called.err, "");
    }
    assert_eq!(world.count("GET /authorize"), 1);
    assert_eq!(world.count("POST /token"), 1);
    // With a token there is nothing to find out.
    assert_eq!(world.count("GET /.well-known"), 2);
}

#[test]
fn an_issuer_may_be_listed_with_the_slash_of_an_empty_path() {
    let (world, scratch) = (World::new(), Scratch::new());
    let listed = json!([format!("{}/", world.origin)]);
    world.state().resource.insert("authorization_servers".to_owned(), listed);
    world.log_in(&scratch, &[]);
    // It stays the same one: neither is a new client registered nor somebody asked to log in.
    world.forget_tokens();
    let called = run(&mut scratch.mcpmini(["call", &world.url(), "echo"]));
    assert_eq!((called.code, called.out.as_str()), (0, "hello\n"), "{called:?}");
    assert_eq!(world.count("POST /register"), 1);
    assert_eq!(world.count("POST /token refresh_token"), 1);
}

#[test]
fn no_other_command_opens_a_browser() {
    let (world, scratch) = (World::new(), Scratch::new());
    let url = world.url();
    for words in [["call", &url, "echo"].as_slice(), &["tools", &url], &["token", &url]] {
        let outcome = run(with_browser(&scratch, &mut scratch.mcpmini(words)));
        assert_eq!(outcome.code, 7, "{outcome:?}");
        assert!(outcome.err.contains(&format!("mcpmini login {url}")), "{outcome:?}");
    }
    assert!(scratch.lines("urls").is_empty());
    assert_eq!(world.count("GET"), 0, "nothing is looked up for a login that cannot be");
}

#[test]
fn a_command_that_is_allowed_to_opens_one() {
    for (allow, variable) in [(["--login"].as_slice(), ""), (&[], "auto")] {
        let (world, scratch) = (World::new(), Scratch::new());
        let url = world.url();
        let words = ["call", &url, "echo"].into_iter().chain(allow.iter().copied());
        let mut command = scratch.mcpmini(words);
        command.env("MCPMINI_LOGIN", variable);
        let outcome = run(with_browser(&scratch, &mut command));
        assert_eq!((outcome.code, outcome.out.as_str()), (0, "hello\n"), "{outcome:?}");
    }
}

#[test]
fn the_answer_can_be_pasted() {
    let (world, scratch) = (World::new(), Scratch::new());
    let mut command = scratch.mcpmini(["login", &world.url(), "--no-browser", "--json"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut shown = String::new();
    BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut shown).unwrap();
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    let (status, location) = get(shown["login"]["url"].as_str().unwrap());
    assert_eq!(status, 302);
    let mut stdin = child.stdin.take().unwrap();
    let pasted = location.unwrap();
    writeln!(stdin, "\nwhat?\n{}", pasted.replace("state=", "state=x")).unwrap();
    writeln!(stdin, "  {pasted}").unwrap();
    let outcome = finish(child, Instant::now());
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let told: serde_json::Value = serde_json::from_str(&outcome.out).unwrap();
    assert_eq!(told["issuer"], world.origin.as_str());
    assert_eq!(told["refreshable"], true);
}

#[test]
fn a_login_on_another_device_needs_no_browser() {
    let (world, scratch) = (World::new(), Scratch::new());
    let pending = serde_json::json!({ "error": "authorization_pending" });
    world.state().answers.push((400, pending));
    let outcome = run(&mut scratch.mcpmini(["login", &world.url(), "--device"]));
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.err.contains("/activate\nand type AB-12\n"), "{outcome:?}");
    let state = world.state();
    assert_eq!(state.forms[1]["device_code"], "device-code");
    assert_eq!(state.forms.len(), 3);
    let device = "urn:ietf:params:oauth:grant-type:device_code";
    assert_eq!(state.registrations[0]["grant_types"][0], device);
}

#[test]
fn who_has_a_secret_proves_it_when_a_login_on_another_device_begins() {
    let (world, scratch) = (World::new(), Scratch::new());
    let (url, secret) = (world.url(), scratch.write("secret", "s"));
    let words = ["login", &url, "--device", "--client-id", "c", "--client-secret-file", &secret];
    let outcome = run(&mut scratch.mcpmini(words));
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let begun = world.state().forms[0].clone();
    assert_eq!((begun["client_id"].as_str(), begun["authorization"].as_str()), ("c", "Basic Yzpz"));
}

#[test]
fn foreign_answers_are_sent_away() {
    let (world, scratch) = (World::new(), Scratch::new());
    let mut command = scratch.mcpmini(["login", &world.url(), "--no-browser", "--json"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut shown = String::new();
    BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut shown).unwrap();
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    let (_, location) = get(shown["login"]["url"].as_str().unwrap());
    let location = location.unwrap();
    let (there, _) = location.split_once('?').unwrap();
    assert_eq!(get(&format!("{there}?code=evil&state=guess")).0, 400);
    assert_eq!(get(&there.replace("callback", "favicon.ico")).0, 404);
    assert_eq!(get(&location).0, 200);
    let outcome = finish(child, Instant::now());
    assert_eq!(outcome.code, 0, "{outcome:?}");
}

#[test]
fn missing_scopes_are_asked_for_together_with_those_that_are_there() {
    let (world, scratch) = (World::new(), Scratch::new());
    world.state().needs_scope = Some("write");
    let url = world.url();
    world.log_in(&scratch, &["--scope", "read"]);
    let words = ["call", &url, "echo"].into_iter().chain(PINNED);
    let outcome = run(&mut scratch.mcpmini(words.clone()));
    assert_eq!(outcome.code, 7, "{outcome:?}");
    let hint = format!("mcpmini login {url} --scope 'read write'");
    assert!(outcome.err.contains(&hint), "{outcome:?}");

    let outcome = run(with_browser(&scratch, &mut scratch.mcpmini(words.chain(["--login"]))));
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let asked = scratch.lines("urls").pop().unwrap();
    assert!(asked.ends_with("scope=read+write"), "{asked}");
}

#[test]
fn the_client_stays_the_same_until_it_is_logged_out() {
    let (world, scratch) = (World::new(), Scratch::new());
    world.log_in(&scratch, &[]);
    world.log_in(&scratch, &[]);
    assert_eq!(world.state().registrations.len(), 1);
    let urls = scratch.lines("urls");
    let redirect = |url: &String| url.split('&').nth(2).unwrap().to_owned();
    assert_eq!(redirect(&urls[0]), redirect(&urls[1]), "the same port");

    let url = world.url();
    let outcome = run(&mut scratch.mcpmini(["logout", &url]));
    assert_eq!((outcome.code, outcome.out), (0, format!("logged out of {url}\n")));
    let revoked = world.state().forms.last().unwrap().clone();
    assert!(revoked["token"].starts_with("refresh-token-"), "{revoked:?}");
    assert_eq!(revoked["token_type_hint"], "refresh_token");
    let outcome = run(&mut scratch.mcpmini(["logout", &url]));
    assert_eq!((outcome.code, outcome.out), (0, format!("was not logged in to {url}\n")));
    assert_eq!(run(&mut scratch.mcpmini(["tools", &url])).code, 7);
    world.log_in(&scratch, &[]);
    assert_eq!(world.state().registrations.len(), 2);
}

#[test]
fn a_browser_that_cannot_open_is_told_about() {
    let (world, scratch) = (World::new(), Scratch::new());
    let check = |browser: &str, expected: &str| {
        let mut command = scratch.mcpmini(["login", &world.url()]);
        let outcome = run(command.env("BROWSER", browser));
        assert_eq!(outcome.code, 7, "{outcome:?}");
        assert!(outcome.err.contains(expected), "{outcome:?}");
        assert!(outcome.err.contains("--no-browser"), "{outcome:?}");
    };
    check("false", "the browser ended with exit status: 1");
    check("no-such-browser", "\"no-such-browser\": No such file");
}

#[test]
fn an_open_server_needs_no_login() {
    let scratch = Scratch::new();
    let demo = crate::support::HttpDemo::start(&[]);
    let outcome = run(&mut scratch.mcpmini(["login", &demo.url]));
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.err.contains("lets everybody in"), "{outcome:?}");
    let outcome = run(&mut scratch.mcpmini(["login", &crate::support::demo("")]));
    assert_eq!(outcome.code, 2, "{outcome:?}");
    assert!(outcome.err.contains("--env"), "{outcome:?}");
}
