//! What a login is refused for: each test is a server that somebody has bent, and a client that
//! does not go on.

use serde_json::{Map, Value, json};

use crate::support::{Outcome, Scratch, run};
use crate::world::{World, with_browser};

fn members(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

/// Logs in to a world that must not be logged in to.
#[track_caller]
fn refused(world: &World, words: &[&str], expected: &str) -> Outcome {
    let scratch = Scratch::new();
    let url = world.url();
    let login = ["login", &url].into_iter().chain(words.iter().copied());
    let outcome = run(with_browser(&scratch, &mut scratch.mcpmini(login)));
    assert_eq!(outcome.code, 7, "{outcome:?}");
    assert!(outcome.err.contains(expected), "{outcome:?}");
    assert_eq!(outcome.out, "");
    assert_eq!(world.count("POST /token"), 0, "no token was asked for");
    outcome
}

#[test]
fn the_metadata_of_another_server() {
    let world = World::new();
    world.state().resource = members(json!({ "resource": "https://evil.example.com/mcp" }));
    refused(&world, &[], "is about another server, https://evil.example.com/mcp");
    assert_eq!(world.count("GET /.well-known/oauth-authorization-server"), 0);
}

#[test]
fn the_metadata_of_another_issuer() {
    let world = World::new();
    for said in ["https://honest.example".to_owned(), format!("{}//", world.origin)] {
        world.state().server = members(json!({ "issuer": said }));
        refused(&world, &[], &format!("is by another issuer, {said}"));
    }
    assert_eq!(world.count("POST /register") + world.count("GET /authorize"), 0);
}

#[test]
fn an_answer_from_another_issuer() {
    let world = World::new();
    // It is asked as one issuer and answers as the origin, which is another.
    let tenant = World::new();
    world.state().server = members(json!({
        "authorization_endpoint": format!("{}/authorize", tenant.origin),
    }));
    refused(&world, &[], "came from another issuer; it is not used");
    assert_eq!(tenant.count("GET /authorize"), 1);
    // Here not even the slash of an empty path is let through.
    let world = World::new();
    world.state().server = members(json!({ "issuer": format!("{}/", world.origin) }));
    refused(&world, &[], "came from another issuer; it is not used");
    assert_eq!(world.count("GET /authorize"), 1);
}

#[test]
fn a_login_that_nothing_ties_to_us() {
    for methods in [Value::Null, json!([]), json!(["plain"])] {
        let world = World::new();
        world.state().server = members(json!({ "code_challenge_methods_supported": methods }));
        refused(&world, &[], "does not offer PKCE with S256");
        assert_eq!(world.count("POST /register") + world.count("GET /authorize"), 0);
    }
}

#[test]
fn an_authorization_server_without_encryption() {
    let world = World::new();
    let issuer = "http://192.0.2.1/";
    world.state().resource = members(json!({ "authorization_servers": [issuer] }));
    refused(&world, &[], "is not encrypted");
    // Neither may its endpoints be.
    world.state().resource = Map::new();
    let endpoint = json!({ "authorization_endpoint": "http://192.0.2.1/authorize" });
    world.state().server = members(endpoint);
    refused(&world, &[], "is not encrypted");
    world.state().server = members(json!({ "authorization_endpoint": "file:///etc/passwd" }));
    refused(&world, &[], "must begin with http:// or https://");
    world.state().server = members(json!({ "authorization_endpoint": "javascript:alert(1)" }));
    refused(&world, &[], "must begin with http:// or https://");
}

#[test]
fn the_secrets_of_a_cloud() {
    for host in ["169.254.169.254", "[::ffff:a9fe:a9fe]", "0xa9fea9fe", "2852039166"] {
        let world = World::new();
        let issuer = format!("https://{host}");
        world.state().resource = members(json!({ "authorization_servers": [issuer] }));
        refused(&world, &["--allow-private"], "nothing is fetched there");
    }
}

#[test]
fn a_server_that_names_nobody() {
    let world = World::new();
    world.state().resource = members(json!({ "authorization_servers": [] }));
    refused(&world, &[], "names no authorization server");
    world.state().resource = members(json!({ "authorization_servers": ["urn:x"] }));
    refused(&world, &[], "cannot be the issuer");
}

#[test]
fn a_client_that_belongs_to_another_issuer() {
    let (world, other, scratch) = (World::new(), World::new(), Scratch::new());
    let words = ["--issuer", &other.origin, "--client-id", "c"];
    refused(&world, &words, "belongs to the issuer");

    // The issuer that a client id was first used with counts, and another never sees it.
    let secret = scratch.write("secret", "s");
    let url = world.url();
    let words = [
        "tools",
        &url,
        "--grant",
        "client-credentials",
        "--client-id",
        "c",
        "--client-secret-file",
        &secret,
    ];
    assert_eq!(run(&mut scratch.mcpmini(words)).code, 0);
    world.forget_tokens();
    world.state().resource = members(json!({ "authorization_servers": [other.origin] }));
    let outcome = run(&mut scratch.mcpmini(words));
    assert_eq!(outcome.code, 7, "{outcome:?}");
    assert!(outcome.err.contains("is guarded by"), "{outcome:?}");
    assert_eq!(other.count("POST"), 0);
    let moved = words.iter().copied().chain(["--issuer", &other.origin]);
    run(&mut scratch.mcpmini(moved));
    assert_eq!(other.count("POST /token"), 1, "who says so may go on");
}

#[test]
fn tokens_that_are_not_bound_although_they_should_be() {
    let world = World::new();
    refused(&world, &["--dpop"], "does not offer tokens that are bound");
    world.state().server = members(json!({ "dpop_signing_alg_values_supported": ["ES256"] }));
    let scratch = Scratch::new();
    let url = world.url();
    let outcome = run(with_browser(&scratch, &mut scratch.mcpmini(["login", &url, "--dpop"])));
    assert_eq!(outcome.code, 7, "{outcome:?}");
    assert!(outcome.err.contains("a token that is not bound to our key"), "{outcome:?}");
}

#[test]
fn a_registration_that_is_not_offered_or_refused() {
    let world = World::new();
    world.state().server = members(json!({ "registration_endpoint": null }));
    let outcome = refused(&world, &[], "it takes a client id");
    assert!(outcome.err.contains("--client-id"), "{outcome:?}");
    let nowhere = json!({ "registration_endpoint": format!("{}/nowhere", world.origin) });
    world.state().server = members(nowhere);
    refused(&world, &[], "refused the registration: HTTP 404");
    let device = json!({ "device_authorization_endpoint": null });
    world.state().server = members(device);
    refused(&world, &["--device"], "does not offer a login on another device");
}

#[test]
fn a_secret_in_an_error_is_not_shown() {
    let (world, scratch) = (World::new(), Scratch::new());
    world.log_in(&scratch, &[]);
    let url = world.url();
    let token = run(&mut scratch.mcpmini(["token", &url])).out;
    let token = token.trim().rsplit(' ').next().unwrap().to_owned();
    world.forget_tokens();
    let refusal = format!("bad token {token} or refresh-token-2 or key hunter2 or swordfish");
    world.state().refusal = Some(refusal);
    world.state().answers = vec![(400, json!({ "error": "invalid_grant" })); 2];
    let keys = ["-HX-Access-Key: hunter2", "-HX-Password: swordfish"];
    let words = [&["tools", &url, "-vv"][..], &keys].concat();
    let outcome = run(&mut scratch.mcpmini(&words));
    assert_eq!(outcome.code, 7, "{outcome:?}");
    assert!(outcome.err.contains("bad token ***"), "{outcome:?}");
    for secret in [token.as_str(), "refresh-token-2", "hunter2", "swordfish"] {
        assert!(!outcome.err.contains(secret), "{outcome:?}");
    }
    let json = run(&mut scratch.mcpmini(words.iter().chain(&["--json"])));
    assert!(!json.err.contains(&token) && !json.err.contains("hunter2"), "{json:?}");
}
