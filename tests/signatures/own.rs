//! Bundles and a manifest of our own (see `tests/vectors/make`): one that holds of each kind, and
//! the ways to break them.

use std::fs;

use mcpmini::trust::signature::did_web::offers;
use mcpmini::trust::signature::sigstore::{self, TrustRoot};
use mcpmini::trust::signature::{
    Covers, Evidence, PublicKey, Refusal, Signer, Verified, Wanted, verify_by_key_alone,
};
use serde_json::json;

const IDENTITY: &str =
    "https://github.com/acme/weather/.github/workflows/release.yml@refs/tags/v1.2.0";
const ISSUER: &str = "https://token.actions.githubusercontent.com";

fn file(name: &str) -> Vec<u8> {
    fs::read(format!("tests/vectors/own/{name}")).unwrap()
}

fn card() -> String {
    String::from_utf8(file("card.json")).unwrap()
}

fn root(name: &str) -> Result<TrustRoot, Refusal> {
    match name {
        "public" => TrustRoot::production(),
        file_name => TrustRoot::from_json(&file(file_name)),
    }
}

fn verify(card: &str, bundle: &str, trusted: &str) -> Result<Verified, Refusal> {
    let bundle = file(&format!("{bundle}.sigstore.json"));
    let verified = sigstore::verify(card.as_bytes(), &bundle, &root(trusted)?)?;
    verified.require(&Wanted::Certificate { identity: IDENTITY.into(), issuer: ISSUER.into() })?;
    Ok(verified)
}

#[track_caller]
fn check(verdict: Result<Verified, Refusal>, expected: &str) {
    let refusal = verdict.expect_err(&format!("accepted, and not: {expected}")).to_string();
    assert!(refusal.contains(expected), "{refusal}, and not: {expected}");
}

#[test]
fn good_bundles_say_who_signed_what_and_when() {
    for (bundle, covers) in [
        ("card.json", Covers::Bytes),
        ("attested", Covers::Bytes),
        ("attested-value", Covers::Value),
    ] {
        let verified = verify(&card(), bundle, "root.json").unwrap();
        assert_eq!(verified.covers, covers, "{bundle}");
        // 2025-06-01, at noon.
        assert_eq!(verified.signed_at, Some(1_748_779_200), "{bundle}");
        assert_eq!(verified.log.iter().map(|entry| entry.index).collect::<Vec<_>>(), [7]);
        let Signer::Certificate(certificate) = verified.signer else { panic!("{bundle}") };
        assert_eq!((&*certificate.identity, &*certificate.issuer), (IDENTITY, ISSUER));
        let numbers = (certificate.repository_id.as_deref(), certificate.owner_id.as_deref());
        assert_eq!(numbers, (Some("4711"), Some("42")));
        assert_eq!(certificate.repository.as_deref(), Some("https://github.com/acme/weather"));
        assert!(30 < certificate.serial.len(), "{}", certificate.serial);
    }
}

#[test]
fn broken_bundles_are_refused_for_what_is_broken() {
    let broken = |bundle: &str, expected: &str| {
        check(verify(&card(), bundle, "root.json"), expected);
    };
    broken("attested-other", "about something else");
    broken("key", "no signing certificate");
    broken(
        "other-identity",
        "the signer is https://github.com/acme/weather/.github/workflows/release.yml@refs/tags/v1.2.0.evil",
    );
    broken("other-case", "the signer is https://github.com/Acme/");
    broken(
        "other-issuer",
        "the issuer that vouches for the signer is https://token.actions.githubusercontent.com/,",
    );
    broken("expired", "the certificate does not hold");
    broken("not-yet", "the certificate does not hold");
    broken("future", "in the future");
    broken("no-entry", "inclusion proof");
    broken("no-proof", "inclusion proof");
    broken("no-promise", "no trusted time");
    broken("moved-in-log", "the entry in the log does not hold");
    broken("swapped-signature", "the signature does not hold");
    broken("swapped-entry", "hash");
    broken("swapped-certificate", "the certificate does not hold");
    broken("uncertified", "the certificate does not hold");
}

#[test]
fn a_changed_card_is_not_the_one_that_was_signed() {
    let changed =
        |card: String| check(verify(&card, "card.json", "root.json"), "about something else");
    changed(card().replace("1.2.0", "1.3.0"));
    changed(card() + "\n");
    changed(card().replace('\n', "\r\n"));
    changed(String::new());
    // An attestation is about the bytes, or about the value of the card as it is.
    let other = card().replace("1.2.0", "1.3.0");
    check(verify(&other, "attested", "root.json"), "about something else");
    check(verify(&other, "attested-value", "root.json"), "about something else");
    let spaced = card().replace('{', "{ ");
    assert!(verify(&spaced, "attested-value", "root.json").is_ok());
    check(verify(&spaced, "attested", "root.json"), "about something else");
    // A value that can be read in two ways is none.
    let twice = card().replace("\"version\"", "\"version\": \"0\", \"version\"");
    check(verify(&twice, "attested-value", "root.json"), "about something else");
}

#[test]
fn only_the_trusted_root_counts() {
    let rooted = |root: &str, expected: &str| check(verify(&card(), "card.json", root), expected);
    rooted("other-root.json", "the entry in the log does not hold");
    rooted("public", "the entry in the log does not hold");
    rooted("root-without-log.json", "the entry in the log does not hold");
    rooted("root-without-authority.json", "the certificate does not hold");
    rooted("card.json", "the trusted root cannot be read");
    rooted("key.pub", "the trusted root cannot be read");
    let text = String::from_utf8(file("root.json")).unwrap();
    for other in ["version=0.1", "mediaType"] {
        let refusal = TrustRoot::from_json(text.replace(other, "other").as_bytes()).err().unwrap();
        assert!(refusal.to_string().contains("which is not known"), "{refusal}");
    }
}

#[test]
fn bundles_that_can_be_read_in_two_ways_are_refused() {
    let trusted = root("root.json").unwrap();
    let good = String::from_utf8(file("card.json.sigstore.json")).unwrap();
    let read = |bundle: &str, expected: &str| {
        check(sigstore::verify(card().as_bytes(), bundle.as_bytes(), &trusted), expected);
    };
    read("", "the bundle cannot be read");
    read("{}", "the bundle cannot be read");
    read(&good.replacen('{', "{\"mediaType\":\"x\",", 1), "the name \"mediaType\" is repeated");
    read(&format!("{good}{}", " ".repeat(256 << 10)), "the bundle has more than 262144 bytes");
    read(&good.replace("bundle.v0.3", "bundle.v0.9"), "the bundle cannot be read");
    // Without a version, with parts that others would read, or with none of them.
    let edit = |edit: &dyn Fn(&mut serde_json::Value)| {
        let mut bundle = serde_json::from_str(&good).unwrap();
        edit(&mut bundle);
        bundle.to_string()
    };
    let material = |name: &str, value: serde_json::Value| {
        edit(&|bundle| bundle["verificationMaterial"][name] = value.clone())
    };
    let without = |name: &str| edit(&|bundle| drop(bundle.as_object_mut().unwrap().remove(name)));
    read(&without("mediaType"), "it has no mediaType");
    read(&edit(&|bundle| bundle["mediaType"] = serde_json::Value::Null), "cannot be read");
    read(&without("verificationMaterial"), "the bundle cannot be read");
    read(&without("messageSignature"), "the bundle cannot be read");
    read(&material("publicKey", json!({ "hint": "" })), "both certificate and publicKey");
    let chain = json!({ "certificates": [] });
    read(&material("x509CertificateChain", chain), "both certificate and x509CertificateChain");
    read(&edit(&|bundle| bundle["dsseEnvelope"] = json!({})), "both messageSignature and dsse");
    let chained = edit(&|bundle| {
        bundle["mediaType"] = json!("application/vnd.dev.sigstore.bundle+json;version=0.2");
        let material = bundle["verificationMaterial"].as_object_mut().unwrap();
        material.remove("certificate");
        material.insert("x509CertificateChain".to_owned(), json!({ "certificates": [] }));
    });
    read(&chained, "a chain of no certificate");
    read(&material("tlogEntries", json!([])), "the bundle cannot be used");
    for (number, value) in [("logIndex", "-1"), ("treeSize", "-1"), ("logIndex", "1e3")] {
        let negative = edit(&|bundle| {
            let entry = &mut bundle["verificationMaterial"]["tlogEntries"][0];
            entry["inclusionProof"][number] = json!(value);
        });
        read(&negative, "the bundle cannot be read");
    }
    let negative = edit(&|bundle| {
        bundle["verificationMaterial"]["tlogEntries"][0]["logIndex"] = json!("-1");
    });
    read(&negative, "the bundle cannot be read");
    for cut in (0..good.len()).step_by(97) {
        read(&good[..cut], "the bundle cannot be read");
    }
}

#[test]
fn a_pinned_key_has_signed_or_has_not() {
    let trusted = root("root.json").unwrap();
    let verify = |card: &str, bundle: &str, key: &str| {
        let key = PublicKey::from_pem(&file(key)).unwrap();
        let bundle = file(&format!("{bundle}.sigstore.json"));
        sigstore::verify_with_key(card.as_bytes(), &bundle, &key, &trusted)
    };
    let verified = verify(&card(), "key", "key.pub").unwrap();
    let spki = PublicKey::from_pem(&file("key.pub")).unwrap().digest();
    assert_eq!(verified.signer, Signer::Key { spki });
    assert_eq!(verified.require(&Wanted::Key { spki }), Ok(()));
    let identity = Wanted::Certificate { identity: IDENTITY.into(), issuer: ISSUER.into() };
    assert!(matches!(verified.require(&identity), Err(Refusal::OtherSigner { .. })));
    check(verify(&card(), "key", "other-key.pub"), "the signature does not hold");
    check(verify(&(card() + " "), "key", "key.pub"), "about something else");
    check(verify(&card(), "card.json", "key.pub"), "it carries a certificate");
    assert!(PublicKey::from_pem(&file("card.json")).is_err());
}

#[test]
fn the_word_of_a_key_alone_counts_only_where_it_is_asked_for() {
    let trusted = root("root.json").unwrap();
    let verify = |card: &str, bundle: &str, key: &str, alone: bool| {
        let key = PublicKey::from_pem(&file(key)).unwrap();
        let bundle = file(&format!("{bundle}.sigstore.json"));
        match alone {
            true => verify_by_key_alone(card.as_bytes(), &bundle, &key, &trusted),
            false => sigstore::verify_with_key(card.as_bytes(), &bundle, &key, &trusted),
        }
    };
    check(verify(&card(), "key-unlogged", "key.pub", false), "stands in no log of signatures");
    let verified = verify(&card(), "key-unlogged", "key.pub", true).unwrap();
    assert_eq!((verified.signed_at, verified.log.len()), (None, 0));
    assert_eq!(verified.covers, Covers::Bytes);
    let does_not_hold = |card: &str, bundle: &str, key: &str, expected: &str| {
        check(verify(card, bundle, key, true), expected);
    };
    does_not_hold(&card(), "key-unlogged", "other-key.pub", "the signature does not hold");
    let changed = card().replace("1.2.0", "1.3.0");
    does_not_hold(&changed, "key-unlogged", "key.pub", "the signature does not hold");
    does_not_hold(&card(), "anywhere-unlogged", "key.pub", "the signature does not hold");
    does_not_hold(&card(), "no-entry", "key.pub", "it carries a certificate");
    let twice = card().replacen("\"version\"", "\"version\":\"0\",\"version\"", 1);
    does_not_hold(&twice, "key-unlogged", "key.pub", "the name \"version\" is repeated");
    // What is there of a log must hold.
    assert_eq!(verify(&card(), "key", "key.pub", true).unwrap().log.len(), 1);
    let strange = root("other-root.json").unwrap();
    let key = PublicKey::from_pem(&file("key.pub")).unwrap();
    let logged = file("key.sigstore.json");
    check(
        verify_by_key_alone(card().as_bytes(), &logged, &key, &strange),
        "the entry in the log does not hold",
    );
}

#[test]
fn a_card_that_can_be_read_in_two_ways_is_not_signed() {
    let trusted = root("root.json").unwrap();
    let evidence = Evidence::Bundle { bundle: file("card.json.sigstore.json"), key: None };
    let check = |from: &str, to: &str, expected: &str| {
        let card = card().replacen(from, to, 1);
        check(evidence.verify(card.as_bytes(), None, &trusted, NOW), expected);
    };
    assert!(evidence.verify(card().as_bytes(), None, &trusted, NOW).is_ok());
    check("\"version\"", "\"version\":\"0\",\"version\"", "the name \"version\" is repeated");
    check("1.2.0", r"\ud800", "the card cannot be read: unexpected end of hex escape");
    check("\"1.2.0\"", "1e400", "the card cannot be read: number out of range");
    check("1.2.0", "1.3.0", "about something else");
}

/// 2027-01-15.
const NOW: i64 = 1_800_000_000;

fn manifest(catalog: &str, card: &[u8]) -> Result<Verified, Refusal> {
    let url = Some("https://example.com/server-card");
    let offers = offers(&file(catalog), card, url)?;
    let [offer] = &offers[..] else { panic!("{} manifests", offers.len()) };
    offer.verify(card, &file("did.json"), NOW)
}

#[test]
fn manifests_say_what_of_the_card_they_are_about() {
    let wanted = Wanted::DidWeb { did: "did:web:example.com".into() };
    let holds = |catalog: &str, expected: Covers, published: bool| {
        let verified = manifest(catalog, &file("card.json")).unwrap();
        assert_eq!(verified.covers, expected, "{catalog}");
        let Signer::DidWeb { publishes, .. } = verified.signer else { panic!("{catalog}") };
        assert_eq!(publishes, published, "{catalog}");
        verified.require(&wanted)
    };
    assert_eq!(holds("catalog.json", Covers::Bytes, true), Ok(()));
    assert_eq!(holds("catalog-inside.json", Covers::Value, true), Ok(()));
    assert_eq!(holds("catalog-opaque.json", Covers::Bytes, false), Ok(()));
    // Where a card is says nothing about what is in it.
    assert_eq!(holds("catalog-url-only.json", Covers::UrlOnly, true), Err(Refusal::UrlOnly));
    // Nobody signs for another domain, not even for one above or below.
    let card = file("card.json");
    check(manifest("catalog-other-publisher.json", &card), "the publisher of urn:air:example.org");
    check(manifest("catalog-subdomain.json", &card), "the publisher of urn:air:www.example.com");
    // A hash that is none is not the same as no hash.
    check(manifest("catalog-number.json", &card), "what is signed has the hash 7, ");
    check(manifest("catalog.json", b"{}"), "what is signed has the hash");
    let spaced = String::from_utf8(card).unwrap().replace('{', "{ ");
    assert!(manifest("catalog-inside.json", spaced.as_bytes()).is_ok());
    assert_eq!(manifest("catalog-inside.json", b"{}").err(), Some(Refusal::NotListed));
}
