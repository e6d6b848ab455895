//! Attacks, and accidents that look like some: each of these went wrong once.

use std::process::Stdio;
use std::time::Instant;

use serde_json::{Value, json};

use crate::kept::{STORE, call, end_token};
use crate::support::{Scratch, finish, run, wait_until};
use crate::world::{World, with_browser};

const PINNED: [&str; 2] = ["--protocol", "2026-07-28"];

fn members(value: Value) -> serde_json::Map<String, Value> {
    value.as_object().unwrap().clone()
}

/// The codes of `tools` with these options.
#[track_caller]
fn tools(world: &World, scratch: &Scratch, words: &[&str], code: i32, expected: &str) {
    let url = world.url();
    let all = ["tools", &url].into_iter().chain(PINNED).chain(words.iter().copied());
    let outcome = run(&mut scratch.mcpmini(all));
    assert_eq!(outcome.code, code, "{outcome:?}");
    assert!(outcome.err.contains(expected), "{outcome:?}");
}

#[test]
fn a_server_that_wants_another_nonce_each_time_is_left() {
    let (world, scratch) = (World::new(), Scratch::new());
    world.state().restless = true;
    world.state().server = members(json!({ "dpop_signing_alg_values_supported": ["ES256"] }));
    world.state().answers = vec![(200, json!({ "access_token": "bound", "token_type": "DPoP" }))];
    let url = world.url();
    let words = ["call", &url, "echo", "--login"].into_iter().chain(PINNED);
    let outcome = run(with_browser(&scratch, &mut scratch.mcpmini(words)));
    assert_eq!(outcome.code, 7, "{outcome:?}");
    assert!(outcome.err.contains("refuses the request (HTTP 401)"), "{outcome:?}");
    assert_eq!(world.count("mcp"), 4);
}

#[test]
fn a_kept_token_is_used_only_if_it_is_what_was_asked_for() {
    let (world, scratch) = (World::new(), Scratch::new());
    world.log_in(&scratch, &[]);
    tools(&world, &scratch, &[], 0, "");
    tools(&world, &scratch, &["--dpop"], 7, "mcpmini login");
    tools(&world, &scratch, &["--issuer", "https://other.example"], 7, "mcpmini login");
    tools(&world, &scratch, &["--issuer", &format!("{}/", world.origin)], 0, "");

    let secret = scratch.write("secret", "s");
    let grant = ["--grant", "client-credentials", "--client-id", "c", "--client-secret-file"];
    let check = |scope: &str, asked: usize| {
        let words = [grant.as_slice(), &[&secret, "--scope", scope]].concat();
        tools(&world, &scratch, &words, 0, "");
        assert_eq!(world.count("POST /token client_credentials"), asked, "{scope}");
    };
    check("a b", 1);
    check("b", 1);
    check("c", 2);
}

#[test]
fn a_job_never_uses_the_token_of_another_identity() {
    let (world, idp, scratch) = (World::new(), World::new(), Scratch::new());
    let endpoint = format!("{}/token", idp.origin);
    let file = scratch.path("identity").into_os_string().into_string().unwrap();
    let command = format!("cat '{file}'");
    let grants: [&[&str]; 3] = [
        &["jwt-bearer", "--assertion-file", &file],
        &["jwt-bearer", "--assertion-command", &command],
        &[
            "id-jag",
            "--idp-token-endpoint",
            &endpoint,
            "--idp-client-id",
            "i",
            "--idp-id-token-file",
            &file,
        ],
    ];
    for (number, grant) in grants.iter().enumerate() {
        let id = format!("client-{number}");
        let words: Vec<&str> =
            ["--client-id", &id, "--grant"].into_iter().chain(grant.iter().copied()).collect();
        for identity in ["alice", "bob", "alice"] {
            scratch.write("identity", identity);
            let jag = json!({ "access_token": format!("jag-{identity}"), "token_type": "N_A" });
            idp.state().answers = vec![(200, jag)];
            let before = world.state().forms.len();
            tools(&world, &scratch, &words, 0, "");
            let state = world.state();
            // The token of one's own may be used again.
            if let Some(form) = state.forms.get(before) {
                assert!(form["assertion"].ends_with(identity), "{form:?}");
            } else {
                assert_eq!((identity, state.forms.len()), ("alice", before));
                assert!(state.forms.iter().any(|form| form["assertion"].ends_with("bob")));
            }
        }
        assert!(world.state().forms.iter().any(|form| form["assertion"].ends_with("bob")));
        world.state().forms.clear();
    }
}

#[test]
fn a_renewal_survives_whoever_interrupts_it() {
    for (how, words) in [
        ("before a request", ["call", "echo"].as_slice()),
        ("after a refusal", &["call", "echo"]),
        ("for another program", &["token"]),
    ] {
        let (world, scratch) = (World::new(), Scratch::new());
        world.log_in(&scratch, &[]);
        match how {
            "after a refusal" => world.forget_tokens(),
            _ => end_token(&scratch),
        }
        world.state().single = true;
        world.state().hold = true;
        let url = world.url();
        let words = [words[0], &url].into_iter().chain(words[1..].iter().copied()).chain(PINNED);
        let mut command = scratch.mcpmini(words);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait_until("a renewal", || world.count("POST /token refresh_token") == 1);
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(100));
        world.release();
        let outcome = finish(child, Instant::now());
        assert_eq!(outcome.code, 128 + 15, "{how}: {outcome:?}");
        let outcome = run(&mut call(&scratch, &world));
        assert_eq!((outcome.code, outcome.out.as_str()), (0, "hello\n"), "{how}: {outcome:?}");
        assert_eq!(world.count("POST /token refresh_token"), 1, "{how}");
    }
}

#[test]
fn who_has_logged_out_stays_logged_out() {
    let (world, scratch) = (World::new(), Scratch::new());
    world.state().server = members(json!({ "revocation_endpoint": null }));
    world.log_in(&scratch, &[]);
    end_token(&scratch);
    let kept = std::fs::read_to_string(scratch.path(STORE)).unwrap();
    // A call waits for the renewal of another, and finds when it is its turn that the token is gone.
    world.state().hold = true;
    let spawn = || {
        let mut command = call(&scratch, &world);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let mut first = spawn();
    wait_until("a renewal", || world.count("POST /token refresh_token") == 1);
    let second = spawn();
    std::thread::sleep(std::time::Duration::from_millis(300));
    let mut records: Value = serde_json::from_str(&kept).unwrap();
    records["tokens"] = json!({});
    std::fs::write(scratch.path(STORE), records.to_string()).unwrap();
    first.kill().unwrap();
    first.wait().unwrap();
    world.forget_tokens();
    world.release();
    let outcome = finish(second, Instant::now());
    assert_eq!(outcome.code, 7, "{outcome:?}");
    assert_eq!(world.count("POST /token refresh_token"), 1);
    let records = std::fs::read_to_string(scratch.path(STORE)).unwrap();
    assert!(!records.contains("refresh_token"), "{records}");
}

#[test]
fn the_next_authorization_server_is_asked_when_the_first_is_away() {
    let (world, away, scratch) = (World::new(), World::new(), Scratch::new());
    let listed = |first: &str| members(json!({ "authorization_servers": [first, world.origin] }));
    world.state().resource = listed("http://127.0.0.1:9");
    world.log_in(&scratch, &[]);
    away.state().pages.insert("/.well-known/oauth-authorization-server", (503, json!({})));
    world.state().resource = listed(&away.origin);
    world.log_in(&scratch, &[]);
    // One that is there and lies is not passed over.
    away.state().pages.clear();
    away.state().server = members(json!({ "issuer": world.origin }));
    let outcome = run(&mut scratch.mcpmini(["login", &world.url()]));
    assert_eq!(outcome.code, 7, "{outcome:?}");
    assert!(outcome.err.contains("is by another issuer"), "{outcome:?}");
    // Who is chosen is not replaced.
    let outcome = run(&mut scratch.mcpmini(["login", &world.url(), "--issuer", &away.origin]));
    assert_eq!(outcome.code, 7, "{outcome:?}");
    world.state().resource = members(json!({}));
    let outcome = run(&mut scratch.mcpmini(["login", &world.url(), "--issuer", &away.origin]));
    assert!(outcome.err.contains(&format!("and not by {}", away.origin)), "{outcome:?}");
}

#[test]
fn an_answer_about_nothing_is_no_metadata() {
    let (world, scratch) = (World::new(), Scratch::new());
    let error = (200, json!({ "error": "not found" }));
    let resource = json!({ "resource": world.url(), "authorization_servers": [world.origin] });
    let server = json!({
        "issuer": world.origin,
        "authorization_endpoint": format!("{}/authorize", world.origin),
        "token_endpoint": format!("{}/token", world.origin),
        "registration_endpoint": format!("{}/register", world.origin),
        "code_challenge_methods_supported": ["S256"],
        "client_id_metadata_document_supported": null,
    });
    world.state().pages = [
        ("/.well-known/oauth-protected-resource/mcp", error.clone()),
        ("/.well-known/oauth-protected-resource", (200, resource)),
        ("/.well-known/oauth-authorization-server", error),
        ("/.well-known/openid-configuration", (200, server)),
    ]
    .into();
    world.log_in(&scratch, &[]);
}

#[test]
fn a_client_that_was_forgotten_is_registered_anew() {
    let (world, scratch) = (World::new(), Scratch::new());
    world.log_in(&scratch, &[]);
    world.state().forgotten = Some("client-1");
    let url = world.url();
    let outcome = run(with_browser(&scratch, &mut scratch.mcpmini(["login", &url])));
    assert_eq!(outcome.code, 7, "{outcome:?}");
    assert!(outcome.err.contains("has forgotten that this client"), "{outcome:?}");
    world.log_in(&scratch, &[]);
    assert_eq!(world.state().registrations.len(), 2);
    // A renewal tells it as well, and then no login is in vain.
    world.state().forgotten = Some("client-2");
    world.forget_tokens();
    tools(&world, &scratch, &[], 7, "mcpmini login");
    world.log_in(&scratch, &[]);
    assert_eq!(world.state().registrations.len(), 3);
}

#[test]
fn a_login_on_another_device_outlasts_a_restart_and_needs_a_safe_page() {
    let (world, scratch) = (World::new(), Scratch::new());
    world.state().answers.push((503, json!({})));
    let outcome = run(&mut scratch.mcpmini(["login", &world.url(), "--device"]));
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let page = json!({
        "device_code": "d", "user_code": "u", "verification_uri": "http://192.0.2.1/", "interval": 1,
    });
    world.state().pages.insert("/device", (200, page));
    let outcome = run(&mut scratch.mcpmini(["login", &world.url(), "--device"]));
    assert_eq!(outcome.code, 7, "{outcome:?}");
    assert!(outcome.err.contains("is not encrypted"), "{outcome:?}");
}

#[test]
fn secrets_leave_this_machine_encrypted_or_not_at_all() {
    let (world, scratch) = (World::new(), Scratch::new());
    let token = scratch.write("id", "an-id-token");
    let words = [
        "--grant",
        "id-jag",
        "--client-id",
        "c",
        "--idp-client-id",
        "i",
        "--idp-id-token-file",
        &token,
        "--idp-token-endpoint",
        "http://192.0.2.1/token",
    ];
    tools(&world, &scratch, &words, 7, "http://192.0.2.1/token is not encrypted");
}

#[test]
fn where_nothing_can_be_written_a_job_does_without() {
    let (world, scratch) = (World::new(), Scratch::new());
    let url = world.url();
    scratch.write("file", "");
    let secret = scratch.write("secret", "s");
    let state = scratch.path("file").join("below");
    let words = ["tools", &url, "--grant", "client-credentials", "--client-id", "c"];
    let words = words.into_iter().chain(["--client-secret-file", &secret]).chain(PINNED);
    let mut command = scratch.mcpmini(words);
    let outcome = run(command.env("XDG_STATE_HOME", &state));
    assert_eq!(outcome.code, 0, "{outcome:?}");
    // Nobody logs in for nothing.
    let outcome = run(scratch.mcpmini(["login", &url]).env("XDG_STATE_HOME", &state));
    assert_eq!(outcome.code, 9, "{outcome:?}");
    let outcome = run(scratch.mcpmini(["login", &url]).env_remove("HOME"));
    assert_eq!(outcome.code, 9, "{outcome:?}");
    assert!(outcome.err.contains("HOME is not set to a directory"), "{outcome:?}");
    assert_eq!(world.count("GET /authorize"), 0);
}

#[test]
fn a_store_of_a_newer_version_is_left_alone() {
    let (world, scratch) = (World::new(), Scratch::new());
    world.log_in(&scratch, &[]);
    let text = std::fs::read_to_string(scratch.path(STORE)).unwrap();
    let newer = text.replace("\"version\": 1", "\"version\": 2");
    assert_ne!(text, newer);
    std::fs::write(scratch.path(STORE), &newer).unwrap();
    let outcome = run(&mut scratch.mcpmini(["login", &world.url()]));
    assert_eq!(outcome.code, 9, "{outcome:?}");
    assert_eq!(std::fs::read_to_string(scratch.path(STORE)).unwrap(), newer);
}

#[test]
fn a_helper_that_leaves_something_running_is_not_waited_for() {
    let (world, scratch) = (World::new(), Scratch::new());
    let mut command = scratch.mcpmini(["tools", &world.url()]);
    let helper = "sh -c 'echo credentials not found; sleep 20 & exit 1'";
    let outcome = run(command.env("MCPMINI_CREDENTIAL_HELPER", helper));
    assert_eq!(outcome.code, 7, "{outcome:?}");
    assert!(outcome.took.as_secs() < 15, "{outcome:?}");
}

#[test]
fn a_trace_of_everything_has_no_secret_in_it() {
    let (world, scratch) = (World::new(), Scratch::new());
    let url = world.url();
    let registered = json!({
        "client_id": "registered", "client_secret": "the-client-secret",
        "registration_access_token": "the-registration-token",
        "token_endpoint_auth_method": "client_secret_basic",
    });
    world.state().pages.insert("/register", (201, registered));
    world.log_in(&scratch, &["--trace", "login"]);
    end_token(&scratch);
    let words = ["call", &url, "echo", "--trace", "call"].into_iter().chain(PINNED);
    let outcome = run(&mut scratch.mcpmini(words));
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let before = world.state().seen.len();
    let words = ["call", &url, "echo", "--dry-run"].into_iter().chain(PINNED);
    let dry = run(&mut scratch.mcpmini(words));
    assert!(dry.out.contains("Authorization: Bearer ***"), "{dry:?}");
    assert_eq!(world.state().seen.len(), before, "a dry run asks nobody");
    let traced = [scratch.lines("login"), scratch.lines("call")].concat().join("\n");
    for there in ["/register", "/token", "/mcp", "Bearer ***", "Basic ***"] {
        assert!(traced.contains(there), "{there}");
    }
    for secret in
        ["access-token-", "refresh-token-", "code-", "the-client-secret", "the-registration"]
    {
        assert!(!traced.contains(secret), "{secret}");
        assert!(!dry.out.contains(secret) && !dry.err.contains(secret), "{secret}");
    }
}

#[test]
fn scopes_that_are_not_granted_are_not_asked_for_again_and_again() {
    let (world, scratch) = (World::new(), Scratch::new());
    world.state().needs_scope = Some("write");
    world.state().grants = Some("read");
    let (url, secret) = (world.url(), scratch.write("secret", "s"));
    let input = scratch.write("calls", "{\"tool\": \"echo\"}\n".repeat(12));
    let words = ["batch", &url, &input, "--keep-going", "--grant", "client-credentials"];
    let words = words.into_iter().chain(["--client-id", "c", "--client-secret-file", &secret]);
    let outcome = run(&mut scratch.mcpmini(words.chain(PINNED)));
    assert_eq!(outcome.code, 7, "{outcome:?}");
    assert_eq!(outcome.out.matches("no token was given for them").count(), 12, "{outcome:?}");
    assert!(world.count("POST /token") <= 3, "{:?}", world.state().seen);
}

#[test]
fn a_token_for_one_server_goes_to_no_other() {
    let (one, other, scratch) = (World::new(), World::new(), Scratch::new());
    let servers = json!({ "one": { "url": one.url() }, "other": { "url": other.url() } });
    let config = scratch.write("c.json", json!({ "mcpServers": servers }).to_string());
    let sent = |words: &[&str]| {
        let mut command = scratch.mcpmini(words.iter().chain(&["--config", &config]));
        command.env("MCPMINI_TOKEN", "the-token").env("MCPMINI_TOKEN_OTHER", "for-other");
        command.env("MCPMINI_CLIENT_ID", "c").env("MCPMINI_CLIENT_SECRET", "s");
        let outcome = run(&mut command);
        assert_ne!(outcome.code, 2, "{outcome:?}");
        [&one, &other].map(|world| {
            let mut state = world.state();
            let tokens: std::collections::BTreeSet<String> = state.given.drain(..).collect();
            tokens.into_iter().collect::<Vec<_>>().join(" ")
        })
    };
    assert_eq!(sent(&["tools", "one"]), ["Bearer the-token", ""]);
    assert_eq!(sent(&["tools", "other"]), ["", "Bearer for-other"]);
    assert_eq!(sent(&["tools", "--all"]), ["", "Bearer for-other"]);
    assert_eq!(sent(&["servers", "--check"]), ["", "Bearer for-other"]);
    assert_eq!(sent(&["servers", "--check", "one"]), ["Bearer the-token", ""]);
    assert_eq!(sent(&["find", "x", "one", "other", "--refresh"]), ["", "Bearer for-other"]);
    sent(&["tools", "--all", "--grant", "client-credentials"]);
    assert_eq!(one.count("POST /token") + other.count("POST /token"), 0);
}

#[test]
fn a_token_in_the_clear_is_warned_of() {
    let (world, scratch) = (World::new(), Scratch::new());
    let port = world.origin.rsplit(':').next().unwrap();
    let url = format!("http://mcp.example:{port}/mcp");
    let place = format!("mcp.example:{port}:127.0.0.1");
    let check = |url: &str, token: Option<&str>, expected: bool| {
        let words = ["tools", url, "--resolve", &place].into_iter().chain(PINNED);
        let mut command = scratch.mcpmini(words);
        command.envs(token.map(|token| ("MCPMINI_TOKEN", token)));
        let outcome = run(&mut command);
        assert_eq!(outcome.err.contains("is not encrypted"), expected, "{outcome:?}");
    };
    check(&url, Some("the-token"), true);
    check(&url, None, false);
    check(&world.url(), Some("the-token"), false);
}

#[test]
fn a_client_secret_stays_with_its_issuer_whoever_it_acts_for() {
    let (world, other, idp, scratch) = (World::new(), World::new(), World::new(), Scratch::new());
    let (secret, id) = (scratch.write("secret", "s"), scratch.write("id", "alice"));
    let endpoint = format!("{}/token", idp.origin);
    let jag = json!({ "access_token": "the-jag", "token_type": "N_A" });
    idp.state().answers = vec![(200, jag.clone()), (200, jag)];
    let words = [
        &["--grant", "id-jag", "--client-id", "c", "--client-secret-file", &secret][..],
        &["--idp-client-id", "i", "--idp-id-token-file", &id, "--idp-token-endpoint", &endpoint],
    ]
    .concat();
    tools(&world, &scratch, &words, 0, "");
    world.state().resource = members(json!({ "authorization_servers": [other.origin] }));
    scratch.write("id", "bob");
    tools(&world, &scratch, &words, 7, "the client id belongs to the issuer");
    assert_eq!(other.count("POST"), 0);
}

#[test]
fn a_batch_does_not_get_a_token_for_each_call_that_is_refused() {
    let (world, scratch) = (World::new(), Scratch::new());
    let bad = json!({ "access_token": "good for nothing", "token_type": "Bearer" });
    world.state().answers = vec![(200, bad); 100];
    let (url, secret) = (world.url(), scratch.write("secret", "s"));
    let input = scratch.write("calls", "{\"tool\": \"echo\"}\n".repeat(12));
    let words = ["batch", &url, &input, "--keep-going", "--grant", "client-credentials"];
    let words = words.into_iter().chain(["--client-id", "c", "--client-secret-file", &secret]);
    let outcome = run(&mut scratch.mcpmini(words.chain(PINNED)));
    assert_eq!(outcome.code, 7, "{outcome:?}");
    assert_eq!(outcome.out.lines().count(), 12, "{outcome:?}");
    assert!(world.count("POST /token") <= 3, "{:?}", world.state().seen);
}
