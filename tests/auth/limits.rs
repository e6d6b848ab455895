//! The limit for everything ends each wait of a login, whoever keeps it waiting.

use std::net::TcpListener;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::kept::{call, end_token};
use crate::support::{Scratch, run};
use crate::world::World;

/// By how much the end may be later than the limit: a renewal that is under way may take five seconds
/// more, as it would be lost. What is not ended by the limit waits for ten at least.
const MARGIN: Duration = Duration::from_secs(9);

/// Runs a command with a limit of a second, which must end it.
#[track_caller]
fn check(what: &str, command: &mut Command) {
    let begun = Instant::now();
    let outcome = run(command.args(["--max-time", "1s"]));
    assert_eq!(outcome.code, 124, "{what}: {outcome:?}");
    assert!(outcome.err.contains("not done within 1s"), "{what}: {outcome:?}");
    assert!(begun.elapsed() < MARGIN, "{what}: {:?}", begun.elapsed());
}

#[test]
fn a_server_that_takes_connections_and_stays_silent() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let scratch = Scratch::new();
    let secret = scratch.write("secret", "s");
    let client = ["--client-id", "x", "--client-secret-file", &secret];
    check("login", &mut scratch.mcpmini(["login", &url]));
    check("device", &mut scratch.mcpmini(["login", &url, "--device"]));
    let grant = ["login", &url, "--grant", "client-credentials"];
    check("credentials", scratch.mcpmini(grant).args(client));
}

#[test]
fn an_authorization_server_that_stays_silent() {
    let mute = |path| {
        let world = World::new();
        world.state().mute = Some(path);
        world
    };
    let scratch = Scratch::new();
    for path in ["/.well-known/oauth-protected-resource/mcp", "/register", "/device", "/token"] {
        check(path, &mut scratch.mcpmini(["login", &mute(path).url(), "--device"]));
    }
    let world = World::new();
    // Nobody is at the browser.
    check("browser", scratch.mcpmini(["login", &world.url()]).env("BROWSER", "true"));
    world.log_in(&scratch, &[]);
    let url = world.url();
    world.state().mute = Some("/revoke");
    check("logout", &mut scratch.mcpmini(["logout", &url]));
    end_token(&scratch);
    world.state().mute = Some("/token");
    check("token", &mut scratch.mcpmini(["token", &url]));
    check("call", &mut call(&scratch, &world));
    check("bench", &mut scratch.mcpmini(["bench", &url, "echo", "--protocol", "2026-07-28"]));
}
