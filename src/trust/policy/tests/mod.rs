//! Policies as people write them, and what they say about servers.

mod files;
mod lists;
mod proof;

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::super::signature::{Evidence, PublicKey};
use super::*;
use crate::config::{Overrides, expand, resolve};
use crate::env::Clock;
use crate::store::scratch::Scratch;

/// 2026-12-01.
const NOW: u64 = 1_796_083_200;
/// The endpoint in the card of the vectors.
const SIGNED: &str = "https://example.com/mcp";
const SAN: &str = "https://github.com/acme/weather/.github/workflows/release.yml@refs/tags/v1.2.0";
const ISSUER: &str = "https://token.actions.githubusercontent.com";

fn vector(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/own").join(name)).unwrap()
}

/// A home with the trusted root of the vectors, and maybe policies.
struct World {
    scratch: Scratch,
    now: u64,
}

impl World {
    fn new() -> World {
        let scratch = Scratch::new();
        for directory in ["etc", "h/.config/mcpmini"] {
            let path = scratch.path(directory);
            fs::create_dir_all(&path).unwrap();
            for name in ["root.json", "revoked.jsonl", "revoked.jsonl.sigstore.json", "key.pub"] {
                fs::write(path.join(name), vector(name)).unwrap();
            }
        }
        World { scratch, now: NOW }
    }

    fn env(&self) -> Env {
        Env {
            cwd: Some(self.scratch.path("")),
            variables: [("HOME", self.scratch.path("h").to_str().unwrap())].into(),
            user: rustix::process::geteuid().as_raw(),
            system_dir: Some(self.scratch.path("etc")),
            clock: Clock::Stopped(SystemTime::UNIX_EPOCH + Duration::from_secs(self.now)),
            ..Env::default()
        }
    }

    fn with(self, file: &str, text: &str) -> World {
        self.scratch.write(file, text);
        self
    }

    fn user(self, policy: &str) -> World {
        self.with("h/.config/mcpmini/policy.toml", policy)
    }

    fn system(self, policy: &str) -> World {
        self.with("etc/policy.toml", policy)
    }

    /// Keeps the card of the vectors with that bundle.
    fn keeping(self, bundle: &str) -> World {
        let key = PublicKey::from_pem(&vector("key.pub")).ok().filter(|_| bundle == "key");
        let bundle = vector(&format!("{bundle}.sigstore.json"));
        self.kept(Evidence::Bundle { bundle, key })
    }

    fn keeping_manifest(self) -> World {
        let (catalog, document) = (vector("catalog.json"), vector("did.json"));
        self.kept(Evidence::Manifest { catalog, document })
    }

    fn kept(self, evidence: Evidence) -> World {
        let kept = Kept { card: vector("card.json"), url: None, evidence, verified_at: NOW as i64 };
        assert_eq!(kept.keep(&self.env()).unwrap(), [SIGNED]);
        assert_eq!(Kept::recall(SIGNED, &self.env()).unwrap(), Some(kept));
        self
    }

    /// What the first policy says that does not admit a server, else the last one.
    fn told(&self, word: &str) -> String {
        self.told_of(word, &Way::default(), None)
    }

    /// The same of a server that is reached in that way.
    fn told_on(&self, word: &str, way: &Way) -> String {
        self.told_of(word, way, None)
    }

    /// The same of a server whose card that publisher had signed when it was added.
    fn told_of(&self, word: &str, way: &Way, publisher: Option<&Publisher>) -> String {
        let (env, overrides) = (self.env(), Overrides::default());
        let resolved = resolve(word, &env, &overrides).unwrap();
        let server = expand(&resolved, &overrides, &env).unwrap();
        let asked =
            Asked { server: &server, resolved: &resolved, overrides: &overrides, publisher };
        let decisions = Policies::load(&env).and_then(|policies| policies.judge(&asked, way, &env));
        let decisions = match decisions {
            Ok(decisions) => decisions,
            Err(error) => {
                let directory = self.scratch.path("").display().to_string();
                return format!("error: {}", error.to_string().replace(&directory, ""));
            }
        };
        let refusing = decisions.iter().find(|decision| !decision.admits);
        let Some(decision) = refusing.or(decisions.last()) else { return "no policy".into() };
        let number = decision.rule.number().map_or(String::new(), |number| format!(" {number}"));
        let line = decision.line.map_or(String::new(), |line| format!(" (line {line})"));
        let verdict = if decision.admits { "admitted" } else { "refused" };
        let (layer, rule) = (decision.layer, decision.rule.word());
        format!("{verdict}: {layer} {rule}{number}{line}: {}", decision.why)
    }

    #[track_caller]
    fn check(&self, word: &str, expected: &str) {
        let told = self.told(word);
        assert!(told.starts_with(expected) || told.ends_with(expected), "{word}: {told}");
    }
}

fn sigstore(more: &str) -> String {
    format!(
        "trusted_root = \"root.json\"\nrequire_signature = true\n[[allow]]\nkind = \"sigstore\"\n\
         issuer = \"{ISSUER}\"\n{more}"
    )
}

#[test]
fn without_a_policy_every_server_is_admitted() {
    World::new().check(SIGNED, "no policy");
    World::new().user("").check(SIGNED, "admitted: user mode: nothing in it speaks against");
    World::new().user("").check("exec:server", "admitted: user mode");
}

#[test]
fn what_is_denied_is_refused_in_every_mode() {
    let check = |what: &str, word: &str, is_denied: bool| {
        for mode in ["off", "tofu", "strict"] {
            let all = "[[allow]]\nkind = \"host\"\nhosts = [\"*.example\", \"example.com\"]\n\
                       [[allow]]\nkind = \"command\"\ncommand = [\"server\", \"*\"]\n";
            let policy =
                format!("mode = \"{mode}\"\n[[deny]]\nhost = \"x.y\"\n[[deny]]\n{what}\n{all}");
            let expected = if is_denied { "refused: user deny 2 (line 4)" } else { "admitted: " };
            World::new().keeping("card.json").user(&policy).check(word, expected);
        }
    };
    check("host = \"evil.example\"", "https://evil.example/mcp", true);
    check("host = \"Evil.Example.\"", "https://EVIL.example.:8443/", true);
    check("host = \"evil.example\"", "https://not-evil.example/", false);
    check("host = \"*.evil.example\"", "https://a.b.evil.example/", true);
    check("host = \"*.evil.example\"", "https://evil.example/", false);
    check("host = \"*.evil.example\"", "https://notevil.example/", false);
    // An address that stands for another one, and this machine under its names.
    check("host = \"10.0.0.5\"", "http://[64:ff9b::a00:5]/", true);
    check("host = \"0xA000005\"", "http://10.0.0.5/", true);
    check("host = \"localhost\"", "http://127.0.0.1:3000/", true);
    check("host = \"127.0.0.1\"", "http://x.localhost/", true);
    check("host = \"[::1]\"", "http://127.9.9.9/", true);
    check("host = \"127.0.0.1\"", "https://localhost.example/", false);
    // What a command is told to go to.
    check("host = \"evil.example\"", "npx -y mcp-remote https://evil.example/sse", true);
    check("host = \"*.evil.example\"", "npx x --url=wss://u:p@A.evil.example:8443", true);
    // As Node reads URLs.
    for url in [
        "https:/evil.example/mcp",
        "https:evil.example/mcp",
        "HTTPS:///evil.example/mcp",
        "https://a,b@evil.example/mcp",
        "\"https://evil.example\\\\@good.example/mcp\"",
        "'https:\\\\evil.example'",
        "--url=https:evil.example",
        "https://\u{ff45}vil.example/",
        "https://evil\u{3002}example/",
        "'https://a b@evil.example/'",
        "https://good.example/,https://evil.example",
    ] {
        check("host = \"evil.example\"", &format!("npx -y mcp-remote {url}"), true);
    }
    check("host = \"evil.example\"", "exec:server https:good.example/evil.example", false);
    check("host = \"10.0.0.5\"", "sh -c 'curl \"http://0xa000005/\"'", true);
    check("host = \"evil.example\"", "exec:server https://example.com/evil.example", false);
    check("command = [\"npx\", \"-y\", \"evil\"]", "npx -y evil", true);
    check("command = [\"npx\", \"-y\", \"evil\"]", "npx -y evil --more", true);
    check("command = [\"npx\", \"-y\", \"evil\", \"*\"]", "npx -y evil --more", true);
    check("command = [\"server\"]", "exec:server -y fine", false);
    check("name = \"com.example/weather\"", SIGNED, true);
    check("name = \"com.example/weather@1.2.0\"", SIGNED, true);
    check("name = \"com.example/weather@1.2.1\"", SIGNED, false);
    check("name = \"com.example/other\"", SIGNED, false);
    let digest = Digest::of(&vector("card.json"));
    check(&format!("card_sha256 = \"{digest}\""), SIGNED, true);
    check(&format!("card_sha256 = \"{}\"", digest.hex().to_uppercase()), SIGNED, true);
    check(&format!("card_sha256 = \"{}\"", Digest::of(b"")), SIGNED, false);
    // All properties must be there.
    check("host = \"example.com\"\nname = \"com.example/weather\"", SIGNED, true);
    check("host = \"example.org\"\nname = \"com.example/weather\"", SIGNED, false);
}

#[test]
fn signers_can_be_denied() {
    let check = |bundle: &str, what: &str, expected: &str| {
        let policy = format!("trusted_root = \"root.json\"\n[[deny]]\n{what}");
        World::new().keeping(bundle).user(&policy).check(SIGNED, expected);
    };
    check("card.json", &format!("san = \"{SAN}\""), "refused: user deny 1");
    check("card.json", &format!("san = \"{SAN}x\""), "admitted");
    check("card.json", &format!("issuer = \"{ISSUER}\""), "refused: user deny 1");
    check("card.json", "log_index = 7", "refused: user deny 1");
    check("card.json", "log_index = 8", "admitted");
    check("card.json", "certificate_serial = \"0\"", "admitted");
    let key = PublicKey::from_pem(&vector("key.pub")).unwrap().digest();
    check("key", &format!("spki_sha256 = \"{key}\""), "refused: user deny 1");
    check("card.json", &format!("spki_sha256 = \"{key}\""), "admitted");
    // Who has signed is not known, and so it may be the one who is denied.
    check("expired", "san = \"x\"", "refused: user deny 1");
    let unknown = "trusted_root = \"root.json\"\n[[deny]]\nsan = \"x\"";
    World::new().user(unknown).check(SIGNED, "admitted");
    let policy = "trusted_root = \"root.json\"\n[[deny]]\ndid = \"did:web:example.com\"";
    World::new().keeping_manifest().user(policy).check(SIGNED, "refused: user deny 1");
}

#[test]
fn serial_numbers_are_compared_as_numbers() {
    use super::super::signature::{Signer, sigstore};
    let root = sigstore::TrustRoot::from_json(&vector("root.json")).unwrap();
    let bundle = vector("card.json.sigstore.json");
    let verified = sigstore::verify(&vector("card.json"), &bundle, &root).unwrap();
    let Signer::Certificate(certificate) = verified.signer else { panic!("no certificate") };
    let pairs: Vec<String> = format!("00{}", certificate.serial.to_uppercase())
        .as_bytes()
        .chunks(2)
        .map(|pair| String::from_utf8_lossy(pair).into_owned())
        .collect();
    for serial in [certificate.serial.clone(), pairs.join(":")] {
        let policy =
            format!("trusted_root = \"root.json\"\n[[deny]]\ncertificate_serial = \"{serial}\"");
        World::new().keeping("card.json").user(&policy).check(SIGNED, "refused: user deny 1");
    }
}

#[test]
fn only_signed_servers() {
    let only = "require_signature = true\ntrusted_root = \"root.json\"\n";
    let refused = |world: World, word: &str, why: &str| {
        world.user(only).check(word, &format!("refused: user require_signature: {why}"));
    };
    refused(World::new(), SIGNED, "no signed card of it is known");
    refused(World::new(), "exec:server", "a command has no signed card");
    refused(World::new(), "unix:/run/s", "a socket has no signed card");
    refused(World::new().keeping("expired"), SIGNED, "the signature of its card does not count");
    refused(World::new().keeping("swapped-signature"), SIGNED, "the signature of its card");
    refused(World::new().keeping("card.json"), "https://example.com/mcp2", "no signed card");
    refused(World::new().keeping("card.json"), "https://example.com:8443/mcp", "no signed card");
    refused(World::new().keeping("card.json"), "http://example.com/mcp", "no signed card");
    let good = World::new().keeping("card.json").user(only);
    good.check(SIGNED, "admitted: user require_signature: its card is signed by https://github");
    good.check("https://EXAMPLE.com:443/mcp", "admitted");
    World::new().keeping("key").user(only).check(SIGNED, "admitted: user require_signature");
    // Another root than the one the card was verified with.
    let public = "require_signature = true\n";
    World::new().keeping("card.json").user(public).check(SIGNED, "refused: user require_signature");
}

#[test]
fn only_signed_by_whom_a_rule_allows() {
    let check = |rule: &str, expected: &str| {
        World::new().keeping("card.json").user(&sigstore(rule)).check(SIGNED, expected);
    };
    check(&format!("san = \"{SAN}\""), "admitted: user allow 1 (line 3): signed by https://github");
    check("san_prefix = \"https://github.com/acme/\"", "admitted: user allow 1");
    check("san_prefix = \"https://github.com/acme/\"\nrepo_id = \"4711\"", "admitted");
    check("san_prefix = \"https://github.com/acme/\"\nhosts = [\"*.com\"]", "admitted");
    check(&format!("san = \"{SAN}x\""), "whom no rule allows for it");
    check("san_prefix = \"https://github.com/acm/\"", "refused: user require_signature");
    check("san_prefix = \"https://github.com/acme/\"\nrepo_id = \"4712\"", "refused");
    check("san_prefix = \"https://github.com/acme/\"\nhosts = [\"example.org\"]", "refused");
    let other = sigstore(&format!("san = \"{SAN}\"")).replace(ISSUER, "https://evil.example");
    World::new().keeping("card.json").user(&other).check(SIGNED, "refused: user require_signature");
    // A host that is allowed is not signed by that.
    let host = format!(
        "{}\n[[allow]]\nkind = \"host\"\nhosts = [\"example.com\"]",
        sigstore("san = \"x\"")
    );
    World::new().user(&host).check(SIGNED, "refused: user require_signature");
    let command = format!(
        "{}\n[[allow]]\nkind = \"command\"\ncommand = [\"server\", \"--safe\"]\n[[allow]]\nkind = \"socket\"\npath = \"/run/s\"",
        sigstore("san = \"x\"")
    );
    let world = World::new().user(&command);
    world.check("exec:server --safe", "admitted: user allow 2");
    world.check("exec:server --unsafe", "refused: user require_signature");
    world.check("unix:/run/s", "admitted: user allow 3");
    world.check("unix:/run/t", "refused: user require_signature");
}

#[test]
fn strict_is_only_what_a_rule_allows() {
    let strict = "mode = \"strict\"\n[[allow]]\nkind = \"host\"\nhosts = [\"a.example\"]\n";
    let world = World::new().user(strict);
    world.check("https://a.example/x", "admitted: user allow 1");
    world.check("https://b.example/x", "refused: user mode: mode is strict: no rule allows it");
    world.check("exec:server", "refused: user mode");
    let key = PublicKey::from_pem(&vector("key.pub")).unwrap().digest();
    let by_key = format!(
        "mode = \"strict\"\ntrusted_root = \"root.json\"\n[[allow]]\nkind = \"key\"\nspki_sha256 = \"{key}\""
    );
    World::new().keeping("key").user(&by_key).check(SIGNED, "admitted: user allow 1");
    World::new().keeping("card.json").user(&by_key).check(SIGNED, "refused: user mode");
    World::new().user(&by_key).check(SIGNED, "no signed card of it is known");
}

#[test]
fn what_a_domain_said_is_good_for_some_days() {
    let day = 24 * 60 * 60;
    let check = |days: u64, limit: &str, expected: &str| {
        let policy = format!(
            "mode = \"strict\"\n{limit}\n[[allow]]\nkind = \"did-web\"\ndid = \"did:web:example.com\""
        );
        let mut world = World::new().keeping_manifest().user(&policy);
        world.now += days * day;
        world.check(SIGNED, expected);
    };
    check(0, "", "admitted: user allow 1");
    check(7, "", "admitted: user allow 1");
    check(8, "", "refused: user mode");
    check(8, "card_max_age_days = 30", "admitted: user allow 1");
    check(2, "card_max_age_days = 1", "its card was last verified 2 days ago, and 1 are allowed");
    let aged = format!("card_max_age_days = 1\n{}", sigstore(&format!("san = \"{SAN}\"")));
    let mut world = World::new().keeping("card.json").user(&aged);
    world.check(SIGNED, "admitted");
    world.now += 2 * day;
    world.check(SIGNED, "refused: user require_signature");
}

#[test]
fn what_was_verified_at_a_time_to_come_is_not_good_for_ever() {
    let policy = format!("card_max_age_days = 30\n{}", sigstore(&format!("san = \"{SAN}\"")));
    let world = World::new().keeping("card.json").user(&policy);
    world.check(SIGNED, "admitted: user allow 1");
    let kept = Kept::recall(SIGNED, &world.env()).unwrap().unwrap();
    let kept = Kept { verified_at: kept.verified_at + 1_000_000, ..kept };
    kept.keep(&world.env()).unwrap();
    world.check(SIGNED, "refused: user require_signature");
}

#[test]
fn no_policy_loosens_the_other() {
    let deny = "[[deny]]\nhost = \"example.com\"\n";
    let allow = "mode = \"off\"\n[[allow]]\nkind = \"host\"\nhosts = [\"example.com\"]\n";
    World::new().system(deny).user(allow).check(SIGNED, "refused: system deny 1");
    World::new().system(allow).user(deny).check(SIGNED, "refused: user deny 1");
    World::new().system("mode = \"strict\"").user(allow).check(SIGNED, "refused: system mode");
    World::new().system(allow).user(allow).check(SIGNED, "admitted: user mode: mode is off");
    let mode = |system: &str, user: &str| {
        Policies::load(&World::new().system(system).user(user).env()).unwrap().mode()
    };
    assert_eq!(mode("", ""), Mode::Tofu);
    assert_eq!(mode("mode = \"strict\"", "mode = \"off\""), Mode::Strict);
    assert_eq!(mode("mode = \"off\"", "mode = \"off\""), Mode::Off);
}

#[test]
fn only_endpoints_that_prove_themselves_are_kept() {
    let check = |remotes: &str, expected: &[&str]| {
        let card = format!("{{\"remotes\":[{remotes}]}}");
        assert_eq!(kept::endpoints(card.as_bytes()), expected, "{remotes}");
    };
    check(
        r#"{"url":"https://A.example:443/mcp"},{"url":"https://b.example"}"#,
        &["https://a.example/mcp", "https://b.example/"],
    );
    check(
        r#"{"url":"http://a.example/mcp"},{"url":"http://127.0.0.1:3000/mcp"}"#,
        &["http://127.0.0.1:3000/mcp"],
    );
    check(r#"{"url":"https://{tenant}.example/mcp"},{"url":"{base}/mcp"},{"url":1},{}"#, &[]);
    check(r#"{"url":"ftp://a.example/"},{"url":"https://u:p@a.example/"}"#, &[]);
    check(r#"{"url":"https://a.example/","url":"https://b.example/"}"#, &[]);
}

#[test]
fn kept_cards_of_other_servers_are_not_taken() {
    let world = World::new().keeping("card.json").user("require_signature = true\n");
    let folder = world.scratch.path("h/.local/state/mcpmini/signatures");
    let file = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let other = folder.join(format!("{}.json", Digest::of(b"https://evil.example/mcp").hex()));
    fs::copy(&file, &other).unwrap();
    world.check("https://evil.example/mcp", "does not contain the signed card of its server");
    fs::write(&file, "{}").unwrap();
    world.check(SIGNED, "does not contain the signed card of its server");
}
