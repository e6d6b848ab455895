//! Tokens without a person: given ones, and grants for jobs.

use crate::support::{Outcome, Scratch, run};
use crate::world::World;

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

fn tools(scratch: &Scratch, url: &str, words: &[&str], variables: &[(&str, &str)]) -> Outcome {
    let pinned = ["tools", url, "--protocol", "2026-07-28"];
    let mut command = scratch.mcpmini(pinned.iter().chain(words));
    run(command.envs(variables.iter().copied()))
}

/// A token that the server takes, got in another way.
fn good_token(world: &World, scratch: &Scratch) -> String {
    world.log_in(scratch, &[]);
    let outcome = run(&mut scratch.mcpmini(["token", &world.url()]));
    assert_eq!(run(&mut scratch.mcpmini(["logout", &world.url()])).code, 0);
    outcome.out.trim().rsplit(' ').next().unwrap().to_owned()
}

#[test]
fn a_token_can_be_given_by_a_variable() {
    let (world, scratch) = (World::new(), Scratch::new());
    let (url, token) = (world.url(), good_token(&world, &scratch));
    let config = format!("{{\"mcpServers\": {{\"my-server\": {{\"url\": \"{url}\"}}}}}}");
    let config = scratch.write("c.json", config);
    let check = |server: &str, variables: &[(&str, &str)], code: i32| {
        let outcome = tools(&scratch, server, &["--config", &config], variables);
        assert_eq!(outcome.code, code, "{server} {variables:?} {outcome:?}");
        assert!(!outcome.err.contains(&token), "{outcome:?}");
        outcome
    };
    check(&url, &[("MCPMINI_TOKEN", &token)], 0);
    check("my-server", &[("MCPMINI_TOKEN", &token)], 0);
    check("my-server", &[("MCPMINI_TOKEN_MY_SERVER", &token)], 0);
    check("my-server", &[("MCPMINI_TOKEN", "other"), ("MCPMINI_TOKEN_MY_SERVER", &token)], 0);
    check("my-server", &[("MCPMINI_TOKEN_OTHER", &token)], 7);
    let refused = check(&url, &[("MCPMINI_TOKEN", "other")], 7);
    assert!(refused.err.contains("does not take the token"), "{refused:?}");
    check(&url, &[("MCPMINI_TOKEN", "two\nlines")], 7);
    // Where documents may lead says nothing about tokens.
    let outcome = tools(&scratch, &url, &["--allow-private"], &[("MCPMINI_TOKEN", &token)]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
}

#[test]
fn a_client_asks_for_itself_and_once() {
    let (world, scratch) = (World::new(), Scratch::new());
    let secret = scratch.write("secret", "a secret: & more\n");
    let words =
        ["--grant", "client-credentials", "--client-id", "ci job", "--client-secret-file", &secret];
    for _ in 0..2 {
        let outcome = tools(&scratch, &world.url(), &words, &[]);
        assert_eq!(outcome.code, 0, "{outcome:?}");
    }
    let state = world.state();
    assert_eq!(state.forms.len(), 1, "the second job uses the token of the first");
    assert_eq!(state.forms[0]["grant_type"], "client_credentials");
    assert_eq!(state.forms[0]["resource"], world.url());
    // `ci+job:a+secret%3A+%26+more`
    let basic = "Basic Y2kram9iOmErc2VjcmV0JTNBKyUyNittb3Jl";
    assert_eq!(state.forms[0]["authorization"], basic);
    drop(state);

    let outcome = tools(&scratch, &world.url(), &["--client-id", "other", words[0], words[1]], &[]);
    assert_eq!(outcome.code, 9, "{outcome:?}");
    assert!(outcome.err.contains("--client-secret-file or --client-key"), "{outcome:?}");
    let variables = [("MCPMINI_CLIENT_ID", "env"), ("MCPMINI_CLIENT_SECRET", "s")];
    let outcome = tools(&scratch, &world.url(), &words[..2], &variables);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let outcome = run(&mut scratch.mcpmini(["token", &world.url()].iter().chain(&words)));
    assert!(outcome.out.starts_with("Authorization: Bearer access-token-"), "{outcome:?}");
}

#[test]
fn a_workload_shows_its_assertion() {
    let (world, scratch) = (World::new(), Scratch::new());
    let file = scratch.write("jwt", "from-file\n");
    let oidc = format!("{}/oidc?api=1", world.origin);
    let github =
        [("ACTIONS_ID_TOKEN_REQUEST_URL", oidc.as_str()), ("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "gh")];
    let audience: String = url::form_urlencoded::byte_serialize(world.origin.as_bytes()).collect();
    let from_github = format!("jwt:Bearer gh:{audience}");
    let check = |id: &str, words: &[&str], variables: &[(&str, &str)], expected: &str| {
        let grant = ["--grant", "jwt-bearer", "--client-id", id];
        let words: Vec<&str> = grant.iter().chain(words).copied().collect();
        let outcome = tools(&scratch, &world.url(), &words, variables);
        assert_eq!(outcome.code, 0, "{outcome:?}");
        let form = world.state().forms.last().unwrap().clone();
        assert_eq!(form["grant_type"], JWT_BEARER);
        assert_eq!((form["assertion"].as_str(), form["client_id"].as_str()), (expected, id));
    };
    check("a", &["--assertion-file", &file], &[], "from-file");
    check("b", &["--assertion-command", "echo from-command"], &[], "from-command");
    check("c", &[], &github, &from_github);
}

#[test]
fn an_assertion_that_is_refused_is_not_tried_again() {
    let (world, scratch) = (World::new(), Scratch::new());
    let file = scratch.write("jwt", "eyJ-secret-assertion");
    let told = serde_json::json!({
        "error": "invalid_grant", "error_description": "eyJ-secret-assertion has expired",
    });
    world.state().answers.push((400, told));
    let words = ["--grant", "jwt-bearer", "--client-id", "w", "--assertion-file", &file];
    let outcome = tools(&scratch, &world.url(), &words, &[]);
    assert_eq!(outcome.code, 7, "{outcome:?}");
    assert!(outcome.err.contains("invalid_grant: … has expired"), "{outcome:?}");
    assert_eq!(world.count("POST /token"), 1);
    let missing = tools(&scratch, &world.url(), &words[..4], &[]);
    assert_eq!(missing.code, 9, "{missing:?}");
    let gone = ["--grant", "jwt-bearer", "--client-id", "w", "--assertion-file", "/no/such"];
    let outcome = tools(&scratch, &world.url(), &gone, &[]);
    assert_eq!(outcome.code, 7, "{outcome:?}");
    assert!(outcome.err.contains("/no/such is not there"), "{outcome:?}");
}

#[test]
fn an_identity_token_goes_to_its_provider_only() {
    let (world, idp, scratch) = (World::new(), World::new(), Scratch::new());
    let id_token = scratch.write("id", "the-id-token\n");
    let jag = serde_json::json!({
        "access_token": "the-jag", "token_type": "N_A",
        "issued_token_type": "urn:ietf:params:oauth:token-type:id-jag",
    });
    idp.state().answers.push((200, jag));
    let endpoint = format!("{}/token", idp.origin);
    let words = [
        "--grant",
        "id-jag",
        "--client-id",
        "c",
        "--idp-token-endpoint",
        &endpoint,
        "--idp-client-id",
        "idp-c",
        "--idp-id-token-file",
        &id_token,
    ];
    let outcome = tools(&scratch, &world.url(), &words, &[]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let exchange = idp.state().forms[0].clone();
    assert_eq!(exchange["subject_token"], "the-id-token");
    assert_eq!((&exchange["audience"], &exchange["resource"]), (&world.origin, &world.url()));
    let form = world.state().forms[0].clone();
    assert_eq!((form["grant_type"].as_str(), form["assertion"].as_str()), (JWT_BEARER, "the-jag"));
    assert!(!format!("{form:?}").contains("the-id-token"));
}

#[test]
fn the_configuration_can_say_it_all() {
    let (world, scratch) = (World::new(), Scratch::new());
    scratch.write("secret", "from-config\n");
    let config = serde_json::json!({ "mcpServers": { "s": {
        "url": world.url(),
        "oauth": {
            "grant": "client-credentials", "clientId": "cfg", "clientSecret": "${file:secret}",
            "scopes": ["a", "b"],
        },
    } } });
    let config = scratch.write("c.json", config.to_string());
    let outcome = tools(&scratch, "s", &["--config", &config], &[]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let form = world.state().forms[0].clone();
    assert_eq!(
        (form["scope"].as_str(), form["authorization"].as_str()),
        ("a b", "Basic Y2ZnOmZyb20tY29uZmln")
    );

    let check = |oauth: serde_json::Value, expected: &str| {
        let config =
            serde_json::json!({ "mcpServers": { "s": { "url": world.url(), "oauth": oauth } } });
        let config = scratch.write("bad.json", config.to_string());
        let outcome = tools(&scratch, "s", &["--config", &config], &[]);
        assert_eq!(outcome.code, 9, "{outcome:?}");
        assert!(outcome.err.contains(expected), "{outcome:?}");
    };
    check(serde_json::json!({ "grant": "nothing" }), "oauth.grant");
    check(serde_json::json!({ "clientId": 7 }), "\"oauth.clientId\" must be a string");
    check(serde_json::json!({ "callbackPort": 70_000 }), "\"oauth.callbackPort\" must be a port");
    check(serde_json::json!("yes"), "\"oauth\" must be an object");
    check(serde_json::json!({ "clientSecretEnv": "UNSET_7" }), "UNSET_7");
}

#[test]
fn options_without_effect_are_mistakes() {
    let (world, scratch) = (World::new(), Scratch::new());
    let check = |server: &str, words: &[&str], expected: &str| {
        let outcome = tools(&scratch, server, words, &[]);
        assert_eq!(outcome.code, 2, "{outcome:?}");
        assert!(outcome.err.contains(expected), "{outcome:?}");
    };
    let url = world.url();
    check(&url, &["--assertion-file", "x"], "only with --grant jwt-bearer");
    check(&url, &["--idp-client-id", "x"], "only with --grant id-jag");
    let grant = ["--grant", "client-credentials", "--callback-port", "8123"];
    check(&url, &grant, "only with --grant authorization-code");
    check(&crate::support::demo(""), &["--dpop"], "--dpop has no effect on");
    assert!(world.state().seen.is_empty());
}

#[test]
fn a_key_must_be_one() {
    let (world, scratch) = (World::new(), Scratch::new());
    let check = |pem: &str, expected: &str| {
        let key = scratch.write("key.pem", pem);
        let words = ["--grant", "client-credentials", "--client-id", "c", "--client-key", &key];
        let outcome = tools(&scratch, &world.url(), &words, &[]);
        assert_eq!(outcome.code, 9, "{outcome:?}");
        assert!(outcome.err.contains(expected), "{outcome:?}");
    };
    check("no key", "is no private key in PEM");
    check("\n", "the file is empty");
    let encrypted =
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    check(encrypted, "is no private key in PEM");
}
