//! Who has to prove to be what a rule is about, and who is known to have done so.

use super::*;

#[test]
fn a_signature_and_a_host_count_only_for_who_proves_to_be_it() {
    let way = |insecure, detours: &[&str]| Way {
        detours: detours.iter().map(|&host| host.to_owned()).collect(),
        insecure,
    };
    let signed = || World::new().keeping("card.json");
    let ways = [way(false, &[]), way(false, &["10.0.0.1"]), way(true, &[])];
    let check = |world: &World, word: &str, way: &Way, expected: &str| {
        let told = world.told_on(word, way);
        assert!(told.starts_with(expected) || told.ends_with(expected), "{word} {way:?}: {told}");
    };
    let told = ["admitted: user", "admitted: user", "but with --insecure anybody may answer"];
    let by_signer = signed().user(&sigstore(&format!("san = \"{SAN}\"\n")));
    let by_host = World::new()
        .user("mode = \"strict\"\n[[allow]]\nkind = \"host\"\nhosts = [\"example.com\"]\n");
    for (way, expected) in ways.iter().zip(told) {
        check(&by_signer, SIGNED, way, expected);
        check(&by_host, SIGNED, way, expected);
    }
    // Without TLS whoever is reached may answer.
    let plain = "http://example.com/mcp";
    check(&by_host, plain, &ways[0], "admitted: user allow 1");
    check(&by_host, plain, &ways[1], "refused: user mode: mode is strict: no rule allows it");
    check(&by_host, plain, &way(false, &["EXAMPLE.com."]), "admitted: user allow 1");
    let here = "require_tls = true\n[[deny]]\nhost = \"10.0.0.1\"\n";
    let tls = World::new().user(here);
    for (word, way, expected) in [
        (SIGNED, way(false, &["10.0.0.2"]), "admitted: user mode"),
        (SIGNED, way(false, &["::ffff:10.0.0.1"]), "refused: user deny 1"),
        (SIGNED, way(true, &[]), "require_tls: with --insecure anybody may answer"),
        (plain, way(false, &[]), "require_tls: without TLS anybody on the way may answer"),
        ("http://localhost/mcp", way(true, &[]), "admitted: user mode"),
        ("http://localhost/mcp", way(false, &["10.0.0.2"]), "refused: user require_tls"),
        ("exec:server", way(true, &[]), "admitted: user mode"),
    ] {
        check(&tls, word, &way, expected);
    }
    let open = World::new().user(
        "require_tls = false\nmode = \"strict\"\n[[allow]]\nkind = \"host\"\nhosts = [\"example.com\"]\n",
    );
    check(&open, SIGNED, &ways[2], "admitted: user allow 1");
}

#[test]
fn who_had_signed_the_card_of_a_server_is_denied_wherever_that_card_was() {
    let publisher = |kind: &str, identity: &str| Publisher {
        kind: kind.into(),
        identity: identity.into(),
        issuer: Some(ISSUER.to_owned()).filter(|_| kind == "sigstore"),
        ..Publisher::default()
    };
    let key = format!("sha256:{}", "0a".repeat(32));
    let (build, domain) = (publisher("sigstore", SAN), publisher("did-web", "did:web:a.example"));
    let key = publisher("key", &key);
    for (rule, expected) in [
        (format!("san = \"{SAN}\""), [true, false, false]),
        (format!("issuer = \"{ISSUER}\""), [true, false, false]),
        (format!("san = \"{SAN}\"\nlog_index = 1"), [false; 3]),
        ("san = \"did:web:a.example\"".into(), [false; 3]),
        ("did = \"did:web:a.example\"".into(), [false, true, false]),
        (format!("spki_sha256 = \"{}\"", "0A".repeat(32)), [false, false, true]),
        ("host = \"other.example\"\ndid = \"did:web:a.example\"".into(), [false; 3]),
    ] {
        let world = World::new().user(&format!("[[deny]]\n{rule}\n"));
        let url = "https://tenant.example.com/mcp?x=1";
        let is_denied = |publisher| {
            world.told_of(url, &Way::default(), Some(publisher)).starts_with("refused: user deny 1")
        };
        assert_eq!([&build, &domain, &key].map(is_denied), expected, "{rule}");
    }
}
