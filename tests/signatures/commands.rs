//! `mcpmini card verify` and policies, as scripts use them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

use crate::support::{Outcome, Scratch, answer, demo, http_server, run};

const IDENTITY: &str =
    "https://github.com/acme/weather/.github/workflows/release.yml@refs/tags/v1.2.0";
const ISSUER: &str = "https://token.actions.githubusercontent.com";
const CERTIFIED: [&str; 6] =
    ["--identity", IDENTITY, "--issuer", ISSUER, "--trusted-root", "root.json"];

fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/own")
}

/// A folder with the vectors in it.
fn world() -> Scratch {
    let scratch = Scratch::new();
    for entry in fs::read_dir(vectors()).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, scratch.path(path.file_name().unwrap().to_str().unwrap())).unwrap();
    }
    scratch
}

fn verify(scratch: &Scratch, words: &[&str]) -> Outcome {
    run(&mut scratch.mcpmini(["card", "verify"].iter().chain(words)))
}

#[track_caller]
fn check(outcome: &Outcome, code: i32, told: &str) {
    let Outcome { out, err, .. } = outcome;
    assert_eq!(outcome.code, code, "{out}{err}");
    assert!(out.contains(told) || err.contains(told), "{out}{err}");
    assert_eq!(code != 0 && !told.starts_with("refused"), out.is_empty(), "{out}");
    assert_eq!(code == 0 || told.starts_with("refused"), err.is_empty(), "{err}");
}

#[test]
fn a_file_is_verified_without_a_network() {
    let scratch = world();
    let certified = |words: &[&str]| verify(&scratch, &[words, &CERTIFIED[..]].concat());
    check(&certified(&["card.json"]), 0, "card.json is signed\n");
    for told in [
        IDENTITY,
        ISSUER,
        "2025-06-01T12:00:00Z",
        "7 in ",
        "the bytes of the card",
        "root.json",
        "not verified",
    ] {
        check(&certified(&["card.json"]), 0, told);
    }
    let json = certified(&["card.json", "--json"]);
    check(&json, 0, "");
    let json: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(json["signer"]["identity"], IDENTITY);
    assert_eq!(json["signer"]["issuer"], ISSUER);
    assert_eq!(json["signedAt"], "2025-06-01T12:00:00Z");
    assert_eq!(json["covers"], "bytes");
    let bundle = |name: &str| certified(&["card.json", "--bundle", name]);
    check(&bundle("attested.sigstore.json"), 0, "the bytes of the card");
    check(&bundle("attested-value.sigstore.json"), 0, "the value of the card");
    check(
        &bundle("tampered.sigstore.json"),
        9,
        "the bundle: there is no file tampered.sigstore.json",
    );
    for broken in [
        "attested-other",
        "key",
        "other-identity",
        "other-issuer",
        "expired",
        "no-entry",
        "swapped-signature",
    ] {
        check(&bundle(&format!("{broken}.sigstore.json")), 8, "card.json is not verified: ");
    }
    check(
        &certified(&["key.pub"]),
        8,
        "key.pub is not signed: there is no bundle at key.pub.sigstore.json",
    );
    check(&certified(&["gone.json"]), 9, "the card: there is no file gone.json");
    scratch.write("card.json", fs::read_to_string(scratch.path("card.json")).unwrap() + "\n");
    check(&certified(&["card.json"]), 8, "is not verified: the signature is about something else");
}

#[test]
fn the_signer_must_be_named_and_the_root_must_be_one() {
    let scratch = world();
    let usage = |words: &[&str], told: &str| check(&verify(&scratch, words), 2, told);
    usage(&["card.json"], "say who must have signed");
    usage(&["card.json", "--identity", IDENTITY], "--identity needs --issuer");
    usage(&["card.json", "--issuer", ISSUER], "--issuer needs --identity");
    usage(&["card.json", "--identity", "x", "--public-key", "key.pub"], "exclude each other");
    usage(&["card.json", "--did", "did:web:example.com", "--bundle", "x"], "exclude each other");
    usage(&["card.json", "--public-key", "key.pub", "--did-document", "x"], "needs --did");
    usage(&["card.json", "--public-key", "key.pub", "--bundle", "x", "--catalog", "y"], "exclude");
    usage(&["card.json", "--did", "did:web:127.0.0.1"], "not did:web:DOMAIN");
    let root = |root: &str, code: i32, told: &str| {
        let words =
            ["card.json", "--identity", IDENTITY, "--issuer", ISSUER, "--trusted-root", root];
        check(&verify(&scratch, &words), code, told);
    };
    root("other-root.json", 8, "hint: trusted was other-root.json");
    root("card.json", 9, "--trusted-root card.json: the trusted root cannot be read");
    root("gone.json", 9, "--trusted-root gone.json");
    let words = ["card", "verify", "card.json", "--identity", IDENTITY, "--issuer", ISSUER];
    check(&run(&mut scratch.mcpmini(words)), 8, "hint: trusted was the public sigstore");
    check(&run(scratch.mcpmini(words).env("MCPMINI_TRUSTED_ROOT", "root.json")), 0, "is signed");
}

#[test]
fn keys_and_domains_sign_as_well() {
    let scratch = world();
    let key = |key: &str| {
        let words = [
            "card.json",
            "--public-key",
            key,
            "--bundle",
            "key.sigstore.json",
            "--trusted-root",
            "root.json",
        ];
        verify(&scratch, &words)
    };
    check(&key("key.pub"), 0, "key             sha256:");
    check(&key("other-key.pub"), 8, "the signature does not hold");
    check(&key("card.json"), 9, "no public key in PEM");
    // A key's word without a log is taken only on demand, and kept for no policy.
    let alone = |more: &[&str]| {
        let words =
            ["card.json", "--public-key", "key.pub", "--bundle", "key-unlogged.sigstore.json"];
        verify(&scratch, &[&words[..], more].concat())
    };
    check(&alone(&[]), 8, "is not verified: the bundle stands in no log of signatures");
    check(&alone(&[]), 8, "hint: --without-log takes the word of the key alone");
    let taken = alone(&["--without-log"]);
    check(&taken, 0, "not verified    when it was signed\n");
    check(
        &taken,
        0,
        "not verified    that anybody but the signer could know of it: it is in no log\n",
    );
    assert!(!taken.out.contains("signed at") && !taken.out.contains("log entry"), "{taken:?}");
    check(&alone(&["--without-log", "--json"]), 0, "\"log\":[]");
    check(&alone(&["--without-log", "--remember"]), 2, "exclude each other");
    let certified = [&["card.json"], &CERTIFIED[..], &["--without-log"]].concat();
    check(&verify(&scratch, &certified), 2, "--without-log needs --public-key");
    let domain = |did: &str, document: &str| {
        verify(
            &scratch,
            &["card.json", "--did", did, "--catalog", "catalog.json", "--did-document", document],
        )
    };
    check(&domain("did:web:example.com", "did.json"), 0, "domain          did:web:example.com");
    check(&domain("did:web:example.org", "did.json"), 8, "the signer is did:web:example.com");
    check(&domain("did:web:example.com", "catalog.json"), 8, "does not vouch for the key");
    check(&domain("did:web:example.com", "gone.json"), 9, "the domain's keys: there is no file");
}

/// A server with the vectors at `/`, and a log of what it is asked for.
fn site() -> (String, Arc<Mutex<Vec<String>>>) {
    let log = Arc::new(Mutex::new(Vec::new()));
    let asked = Arc::clone(&log);
    let url = http_server(move |request| {
        let line = request.lines().next().unwrap_or_default().to_owned();
        let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
        asked.lock().unwrap().push(line);
        let path = path.split('?').next().unwrap();
        let name = path.trim_start_matches("/mcp/").replace("server-card", "card.json");
        match fs::read_to_string(vectors().join(name)) {
            Ok(text) => answer("200 OK", &text),
            Err(_) if path.contains("broken") => answer("503 Service Unavailable", ""),
            Err(_) if path.contains("closed") => answer("403 Forbidden", ""),
            Err(_) => answer("404 Not Found", ""),
        }
    });
    (url, log)
}

#[test]
fn a_card_is_fetched_with_the_bundle_beside_it() {
    let (scratch, (url, log)) = (world(), site());
    let certified = |words: &[&str]| verify(&scratch, &[words, &CERTIFIED[..]].concat());
    for words in [
        url.clone(),
        format!("{url}/"),
        format!("{url}/card.json"),
        format!("card:{url}/server-card?a=b"),
    ] {
        log.lock().unwrap().clear();
        check(&certified(&[&words]), 0, "is signed");
        assert_eq!(log.lock().unwrap().len(), 2);
    }
    let last = log.lock().unwrap().pop().unwrap();
    assert!(last.starts_with("GET /mcp/server-card.sigstore.json?a=b "), "{last}");
    check(&certified(&[&format!("{url}/root.json")]), 8, "is not signed: there is no bundle at ");
    check(&certified(&[&format!("{url}/gone.json")]), 4, "the card: there is nothing at ");
    check(&certified(&[&format!("{url}/broken.json")]), 4, "HTTP 503");
    check(&certified(&[&format!("{url}/closed.json")]), 7, "which is protected");
    check(&certified(&[&url, "--offline"]), 4, "would have to be fetched");
    let expired = format!("{url}/expired.sigstore.json");
    check(&certified(&[&url, "--bundle", &expired]), 8, "the certificate does not hold");
    check(
        &certified(&["card.json", "--bundle", &format!("{url}/card.json.sigstore.json")]),
        0,
        "is signed",
    );
    check(&certified(&[&url, "--max-card-bytes", "100"]), 4, "more than 100 bytes");
}

#[test]
fn documents_may_take_as_long_as_the_user_says_and_no_longer_than_ten_seconds() {
    let scratch = world();
    // It answers one after the other.
    let card = || {
        let url = http_server(|request| {
            if request.contains(".sigstore.json") {
                std::thread::sleep(Duration::from_secs(30));
            }
            answer("200 OK", &fs::read_to_string(vectors().join("card.json")).unwrap())
        });
        format!("{url}/card.json")
    };
    let late = |more: &[&str], seconds: f32, told: &str| {
        let card = card();
        let outcome = verify(&scratch, &[&[card.as_str()], &CERTIFIED[..], more].concat());
        check(&outcome, 124, told);
        let took = outcome.took.as_secs_f32();
        assert!((seconds..seconds + 2.0).contains(&took), "{took}");
    };
    late(&["--timeout", "300ms"], 0.3, "did not answer within 0.3 s");
    late(&["--max-time", "300ms"], 0.3, "300ms");
    late(&[], 5.0, "the bundle: ");
    // Where it is no matter of this command, it goes on without it.
    let shown =
        run(&mut scratch.mcpmini(["card", &format!("card:{}", card()), "--timeout", "300ms"]));
    check(&shown, 0, "signature    not checked");
    let begun = std::time::Instant::now();
    let nowhere = run(&mut scratch.mcpmini(["discover", &hanging(), "--timeout", "200ms"]));
    check(&nowhere, 4, "did not answer within 0.2 s");
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
}

/// A host that takes requests and never answers one.
fn hanging() -> String {
    let url = http_server(|_| {
        std::thread::sleep(Duration::from_secs(30));
        String::new()
    });
    url.trim_start_matches("http://").split('/').next().unwrap().to_owned()
}

#[test]
fn a_card_is_shown_with_who_has_signed_it() {
    let (scratch, (url, log)) = (world(), site());
    let card = |path: &str, root: &str| {
        let place = format!("card:{url}/{path}");
        run(scratch.mcpmini(["card", &place]).env("MCPMINI_TRUSTED_ROOT", root))
    };
    check(&card("card.json", "root.json"), 0, "signature    by https://github.com/acme/weather");
    check(
        &card("card.json", "other-root.json"),
        0,
        "signature    DOES NOT HOLD: the entry in the log",
    );
    assert_eq!(log.lock().unwrap().len(), 2, "both documents are stored");
    let json = run(scratch
        .mcpmini(["card", &format!("card:{url}/card.json"), "--json"])
        .env("MCPMINI_TRUSTED_ROOT", "root.json"));
    let json: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(
        (&json["signature"], &json["signer"]["identity"]),
        (&"signed".into(), &IDENTITY.into())
    );
}

#[test]
fn a_policy_refuses_before_anything_is_contacted() {
    let (scratch, (url, log)) = (Scratch::new(), site());
    let policy =
        scratch.write("policy.toml", "require_signature = true\n[[deny]]\nhost = \"localhost\"\n");
    let mcpmini = |words: &[&str]| run(scratch.mcpmini(words).env("MCPMINI_POLICY", &policy));
    let started = scratch.path("started");
    let command = format!("sh -c 'touch {}'", started.display());
    let localhost = url.replace("127.0.0.1", "localhost");
    for words in [
        vec!["call", &url, "echo"],
        vec!["tools", &url],
        vec!["info", &command],
        vec!["ping", &localhost],
        vec!["session", &url, "--", "true"],
        vec!["rpc", &command, "ping"],
    ] {
        let outcome = mcpmini(&words);
        check(&outcome, 8, "does not admit it");
        assert!(outcome.err.contains(&policy), "{}", outcome.err);
    }
    assert_eq!(*log.lock().unwrap(), [""; 0]);
    assert!(!started.exists());
    check(&mcpmini(&["policy", "check", &url]), 8, "refused\t");
    check(
        &mcpmini(&["policy", "check", &localhost]),
        8,
        &format!("refused\t{policy}:2\tdeny 1\thost localhost"),
    );
    let outcome = mcpmini(&["policy", "check", &command, "--json"]);
    assert_eq!(outcome.code, 8);
    let json: Value = serde_json::from_str(&outcome.out).unwrap();
    assert_eq!(
        (&json["admitted"], &json["decisions"][0]["rule"]),
        (&false.into(), &"require_signature".into())
    );
    assert!(!started.exists());
}

#[test]
fn what_a_policy_forbids_is_not_written_down() {
    let (scratch, (url, log)) = (Scratch::new(), site());
    let rules = "[[deny]]\nhost = \"*.evil.example\"\n\n[[deny]]\nname = \"bad\"\n";
    let policy = scratch.write("policy.toml", rules);
    let mcpmini = |words: &[&str]| run(scratch.mcpmini(words).env("MCPMINI_POLICY", &policy));
    let config = scratch.path(".config/mcpmini/config.json");
    for (words, line) in [
        (vec!["add", "x", "https://a.evil.example/mcp"], 1),
        (vec!["add", "x", "https://a.evil.example/mcp", "-H", "Authorization: Bearer ${GONE}"], 1),
        (vec!["add", "bad", "https://good.example/mcp"], 4),
        (vec!["add", "bad", "--", "true"], 4),
        (vec!["add", "bad", &url], 4),
    ] {
        let outcome = mcpmini(&words);
        check(&outcome, 8, "does not admit it");
        let rule = format!("{policy}:{line} does not admit it: deny ");
        assert!(outcome.err.contains(&rule), "{words:?}: {outcome:?}");
        assert!(!config.exists(), "{words:?}");
    }
    assert_eq!(*log.lock().unwrap(), [""; 0]);
    check(&mcpmini(&["add", "good", "https://good.example/mcp"]), 0, "added good");
    // What cannot be told now is told when it is used.
    let open = mcpmini(&["add", "open", "https://${HOST_OF_IT}/mcp"]);
    assert_eq!(open.code, 0, "{open:?}");
    assert!(open.err.contains("a policy judges it when it is used"), "{open:?}");
    let text = fs::read_to_string(config).unwrap();
    assert!(text.contains("good") && !text.contains("evil"), "{text}");
    // Nor is what comes from the configuration of another program.
    fs::create_dir(scratch.path(".cursor")).unwrap();
    let servers =
        r#"{"mcpServers":{"a":{"url":"https://x.evil.example/mcp"},"b":{"command":"true"}}}"#;
    scratch.write(".cursor/mcp.json", servers);
    let copied = mcpmini(&["config", "import", "cursor", "--copy"]);
    assert_eq!((copied.code, copied.out.lines().count()), (8, 1), "{copied:?}");
    assert!(copied.out.starts_with("added b ") && copied.err.contains("deny 1"), "{copied:?}");
    // A policy that cannot be read admits nothing.
    let outcome = run(scratch
        .mcpmini(["add", "more", "https://good.example/mcp"])
        .env("MCPMINI_POLICY", "gone.toml"));
    check(&outcome, 9, "there is no policy ");
}

#[test]
fn a_policy_that_cannot_be_read_refuses_everything() {
    let scratch = Scratch::new();
    let call = |policy: &str| {
        let server = demo("");
        run(scratch.mcpmini(["call", &server, "echo", "text=hi"]).env("MCPMINI_POLICY", policy))
    };
    let policy = scratch.write("policy.toml", "\nrequire_signatur = true\n");
    check(&call(&policy), 9, &format!("{policy}:2: unknown field"));
    check(&call("gone.toml"), 9, "there is no policy ");
    let policy = scratch.write("policy.toml", "mode = \"tofu\"\n");
    check(&call(&policy), 0, "hi");
    let home = Path::new(".config/mcpmini/policy.toml");
    fs::create_dir_all(scratch.path(".config/mcpmini")).unwrap();
    scratch.write(home.to_str().unwrap(), "mode = \"strict\"\n");
    let words = ["call", &demo(""), "echo", "text=hi"];
    check(&run(&mut scratch.mcpmini(words)), 8, "mode is strict: no rule allows it");
}

#[test]
fn a_card_that_is_remembered_admits_its_server() {
    let (scratch, (url, log)) = (world(), site());
    let policy =
        "trusted_root = \"root.json\"\nrequire_signature = true\n[[allow]]\nkind = \"sigstore\"\n";
    let policy =
        format!("{policy}issuer = \"{ISSUER}\"\nsan_prefix = \"https://github.com/acme/\"\n");
    scratch.write("policy.toml", policy);
    let mcpmini = |words: &[&str]| run(scratch.mcpmini(words).env("MCPMINI_POLICY", "policy.toml"));
    let signed = "https://example.com/mcp";
    check(&mcpmini(&["policy", "check", signed]), 8, "refused\t");
    let words = [&["card", "verify", &url, "--remember"], &CERTIFIED[..]].concat();
    check(&mcpmini(&words), 0, "remembered for  https://example.com/mcp\n");
    log.lock().unwrap().clear();
    check(
        &mcpmini(&["policy", "check", signed]),
        0,
        "allow 1\tsigned by https://github.com/acme/…",
    );
    check(&mcpmini(&["policy", "check", "https://example.com/other"]), 8, "refused\t");
    assert_eq!(*log.lock().unwrap(), [""; 0]);
    check(&mcpmini(&["ping", signed, "--insecure"]), 8, "with --insecure anybody may answer");
    // Whoever changes what is kept gains nothing.
    let folder = scratch.path(".local/state/mcpmini/signatures");
    let kept = fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(&kept).unwrap();
    fs::write(&kept, text.replace("for the whole world", "for a part of it")).unwrap();
    check(&mcpmini(&["policy", "check", signed]), 8, "refused\t");
}

#[test]
fn lists_of_what_is_revoked_are_asked_for_when_they_are_needed() {
    let scratch = world();
    let policy = "trusted_root = \"root.json\"\n[revocation]\nurls = [\"https://127.0.0.1:1/revoked.jsonl\"]\npublic_key = \"key.pub\"\n";
    scratch.write("policy.toml", policy);
    let mcpmini = |words: &[&str]| run(scratch.mcpmini(words).env("MCPMINI_POLICY", "policy.toml"));
    let outcome = mcpmini(&["call", &demo(""), "echo", "text=hi"]);
    check(&outcome, 8, "what is revoked is not known: ");
    check(&outcome, 8, "there is no copy of it");
    check(&mcpmini(&["policy", "refresh"]), 4, "connection refused");
    let outcome = mcpmini(&["servers"]);
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""), "it contacts nobody");
    scratch.write("policy.toml", format!("{policy}required = false\n"));
    let outcome = mcpmini(&["call", &demo(""), "echo", "text=hi", "-q"]);
    check(&outcome, 0, "hi");
}
