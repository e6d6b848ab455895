//! Trust manifests of AI Catalogs: one that holds, and all the ways in which it would not.

use std::fs;

use mcpmini::trust::signature::did_web::offers;
use mcpmini::trust::signature::{Covers, Refusal, Signer, Verified, Wanted};

/// 2026-12-01, while the manifest holds.
const NOW: i64 = 1_796_083_200;
/// When it was issued, and when it expires: 2026-11-29 and 2027-11-29, at ten.
const ISSUED: i64 = 1_795_946_400;
const EXPIRES: i64 = 1_827_482_400;

const DID: &str = "did:web:example.com";

fn vector(name: &str) -> String {
    fs::read_to_string(format!("tests/vectors/did-web/{name}")).unwrap()
}

fn verify(catalog: &str, card: &str, document: &str, now: i64) -> Result<Verified, Refusal> {
    let url = "https://example.com/mcp/server-card";
    let offers = offers(catalog.as_bytes(), card.as_bytes(), Some(url))?;
    let [offer] = &offers[..] else { panic!("{} manifests", offers.len()) };
    assert_eq!(offer.did(), DID);
    let verified = offer.verify(card.as_bytes(), document.as_bytes(), now)?;
    verified.require(&Wanted::DidWeb { did: DID.to_owned() })?;
    Ok(verified)
}

#[test]
fn a_signed_entry_vouches_for_its_card() {
    let (catalog, card) = (vector("catalog.json"), vector("card.json"));
    let verified = verify(&catalog, &card, &vector("did.json"), NOW).unwrap();
    let signer = Signer::DidWeb { did: DID.into(), kid: format!("{DID}#k1"), publishes: true };
    assert_eq!(verified.signer, signer);
    assert_eq!(verified.covers, Covers::Bytes);
    assert_eq!((verified.signed_at, verified.expires_at), (Some(ISSUED), Some(EXPIRES)));
    let other = Wanted::DidWeb { did: "did:web:example.org".into() };
    assert!(matches!(verified.require(&other), Err(Refusal::OtherSigner { .. })));
}

#[test]
fn a_manifest_that_holds_is_enough_whatever_stands_beside_it() {
    let (card, document) = (vector("card.json"), vector("did.json"));
    let beside = |broken: &str| {
        let catalog = vector("catalog.json");
        let whole =
            catalog.replace("\"trustManifests\": [", &format!("\"trustManifests\": [{broken},"));
        assert_ne!(whole, catalog);
        verify(&whole, &card, &document, NOW).map(|verified| verified.signer.to_string())
    };
    for broken in [
        "7",
        "{}",
        r#"{"signature":{"profile":"other"}}"#,
        r#"{"signature":{"profile":"did-web-v1"}}"#,
        r#"{"subject":{},"signature":{"profile":"did-web-v1","signer":"did:web:127.0.0.1"}}"#,
    ] {
        assert_eq!(beside(broken), Ok(DID.to_owned()), "{broken}");
    }
}

#[test]
fn a_manifest_holds_for_its_time() {
    let (catalog, card, document) =
        (vector("catalog.json"), vector("card.json"), vector("did.json"));
    let check = |now: i64, expected: Option<Refusal>| {
        assert_eq!(verify(&catalog, &card, &document, now).err(), expected, "{now}");
    };
    check(ISSUED - 61, Some(Refusal::NotYet(ISSUED)));
    check(ISSUED - 60, None);
    check(EXPIRES, None);
    check(EXPIRES + 60, Some(Refusal::Expired(EXPIRES)));
    check(i64::from(u32::MAX), Some(Refusal::Expired(EXPIRES)));
}

/// The description of the key in a domain's document.
fn method_in(document: &str) -> &str {
    let method = &document[document.find("{\n   \"id\"").unwrap()..];
    let end = "}\n  }";
    &method[..method.find(end).unwrap() + end.len()]
}

/// Changes one thing in the catalog, the card or the document, and expects this to be found.
#[track_caller]
fn check(file: &str, from: &str, to: &str, found: &str) {
    let read = |name: &str| {
        let text = vector(name);
        if name != file {
            return text;
        }
        assert!(text.contains(from), "{name} does not contain {from}");
        text.replace(from, to)
    };
    let verdict = verify(&read("catalog.json"), &read("card.json"), &read("did.json"), NOW);
    let refusal = verdict.expect_err(&format!("{from} → {to} is accepted")).to_string();
    assert!(refusal.contains(found), "{from} → {to}: {refusal}");
}

#[test]
fn a_changed_catalog_does_not_hold() {
    let c = "catalog.json";
    // What is signed.
    check(c, "2027-11-29T10", "2028-11-29T10", "signature does not hold");
    check(c, "2026-11-29T10", "2026-11-28T10", "signature does not hold");
    check(c, "1.2.0", "1.2.1", "signature does not hold");
    check(c, "\"contributor\"", "\"more\": 1, \"contributor\"", "signature does not hold");
    check(c, "mcp:weather", "mcp:other", "signature does not hold");
    check(c, "Rrtpy6at", "Rrtpy6aT", "signature does not hold");
    // Which entry it is about.
    check(
        c,
        "\"version\": \"1.2.0\",\n   \"url\"",
        "\"version\": \"9\",\n   \"url\"",
        "its version",
    );
    check(c, "\"version\": \"1.2.0\",\n   \"url\"", "\"url\"", "its version");
    check(c, "weather\",\n   \"type\"", "storm\",\n   \"type\"", "its identifier");
    check(
        c,
        "com/mcp/server-card\",",
        "com/other\",\"url\":\"x\",",
        "the name \"url\" is repeated",
    );
    // Who signs it.
    check(
        c,
        "\"contributor\": \"did:web:example.com\"",
        "\"contributor\": \"did:web:x.example\"",
        "contributed it",
    );
    check(
        c,
        "\"signer\": \"did:web:example.com\"",
        "\"signer\": \"did:web:example.com:x\"",
        "not did:web:DOMAIN",
    );
    check(c, "did-web-v1", "did-web-v2", "profile that is not known: did-web-v2");
    check(c, "\"trustManifests\"", "\"trustManifest\"", "profile that is not known: trustManifest");
    check(c, "\"trustManifests\"", "\"others\"", "not signed");
    check(c, "\"entries\"", "\"others\"", "no entry for the card");
    check(c, "\"jws\"", "\"jvs\"", "no jws");
    check(c, "\"expiresAt\"", "\"until\"", "no expiresAt");
    check(c, "\"subject\"", "\"object\"", "no subject");
    check(c, "..Rrtpy", ".Rrtpy", "not a detached JWS");
    check(c, "..Rrtpy", "..!", "not base64url");
}

#[test]
fn headers_that_change_the_rules_are_refused() {
    let plain =
        r#"{"alg":"ES256","typ":"ai-catalog-trust-manifest+jws","kid":"did:web:example.com#k1"}"#;
    let header = |from: &str, to: &str, found: &str| {
        use base64::Engine;
        let encode = |text: &str| base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(text);
        assert!(plain.contains(from), "{from}");
        check("catalog.json", &encode(plain), &encode(&plain.replace(from, to)), found);
    };
    header("ES256", "none", "alg of the signature is \"none\"");
    header("ES256", "HS256", "alg of the signature");
    header("\"alg\":\"ES256\",", "", "alg of the signature is \"\"");
    header("trust-manifest+jws", "x+jws", "typ of the signature");
    header("#k1", "#k2", "does not list the key");
    header("example.com#k1", "example.org#k1", "is not the signer's");
    header("#k1", "", "is not the signer's");
    header("#k1", "#", "is not the signer's");
    header("}", ",\"b64\":false}", "has b64");
    header("}", ",\"crit\":[\"x\"]}", "has crit");
    header("}", ",\"jku\":\"https://evil.example/\"}", "has jku");
    header("}", ",\"jwk\":{}}", "has jwk");
    header("}", ",\"x5u\":\"\"}", "has x5u");
    header("}", ",\"x5c\":[]}", "has x5c");
    header("}", ",\"alg\":\"ES256\"}", "\"alg\" is repeated");
    header("{", "[", "header of the signature");
}

#[test]
fn a_changed_card_is_not_the_one_that_was_signed() {
    check("card.json", "1.2.0", "1.3.0", "what is signed has the hash sha256:345bdb96");
    check("card.json", "Weather.", "Weather. ", "what is signed has the hash");
}

#[test]
fn the_document_of_the_domain_decides_about_the_key() {
    let d = "did.json";
    check(d, "\"assertionMethod\"", "\"authentication\"", "does not list the key");
    check(d, "\"did:web:example.com#k1\"\n ]", "\"did:web:example.com#k2\"\n ]", "does not list");
    check(
        d,
        "\"id\": \"did:web:example.com\",",
        "\"id\": \"did:web:evil.example\",",
        "that of \"did:web:evil",
    );
    check(
        d,
        "\"controller\": \"did:web:example.com\"",
        "\"controller\": \"did:web:evil.example\"",
        "controlled by",
    );
    check(d, "\"verificationMethod\"", "\"others\"", "does not describe it");
    check(d, "P-256", "P-384", "crv of the key");
    check(d, "\"EC\"", "\"OKP\"", "kty of the key");
    check(d, "\"crv\"", "\"d\": \"AAAA\", \"crv\"", "private key is published");
    check(d, "U_Cz", "U_Cy", "signature does not hold");
    check(d, "U_CzIQ", "", "not a point of P-256");
    check(d, "publicKeyJwk", "publicKeyMultibase", "not given as a JWK");
    check(d, "\"kty\"", "\"kty\": \"EC\", \"kty\"", "the name \"kty\" is repeated");
    // The same key, twice.
    let document = vector(d);
    let method = method_in(&document);
    check(d, method, &format!("{method}, {method}"), "more than once");
}

/// `NOW` is 2026-12-01T00:00:00Z.
#[test]
fn a_key_counts_until_it_is_revoked_or_expires() {
    let d = "did.json";
    let in_document = |member: &str| format!("{{\n {member},\n \"@context\"");
    let top = "{\n \"@context\"";
    check(d, top, &in_document("\"deactivated\": true"), "its document is deactivated");
    check(d, top, &in_document("\"deactivated\": \"yes\""), "its document is deactivated");
    let kind = "\"type\": \"JsonWebKey2020\"";
    let in_method = |member: &str| format!("{kind}, {member}");
    for (member, found) in [
        ("\"revoked\": \"2026-12-01T00:00:00Z\"", "the key was revoked at 2026-12-01T00:00:00Z"),
        ("\"revoked\": \"2024-01-01T00:00:00+01:00\"", "revoked at 2023-12-31T23:00:00Z"),
        ("\"revoked\": \"yesterday\"", "the revoked of the key, \"yesterday\", is no time"),
        ("\"revoked\": true", "the revoked of the key is no time"),
        ("\"expires\": \"2026-12-01T00:00:00Z\"", "the key expired at 2026-12-01T00:00:00Z"),
        ("\"expires\": \"2026-12-01\"", "the expires of the key, \"2026-12-01\", is no time"),
    ] {
        check(d, kind, &in_method(member), found);
    }
    let (catalog, card) = (vector("catalog.json"), vector("card.json"));
    for (from, to) in [
        (top, in_document("\"deactivated\": false")),
        (kind, in_method("\"revoked\": \"2026-12-01T00:00:01Z\"")),
        (kind, in_method("\"expires\": \"2026-12-01T00:00:01Z\"")),
    ] {
        let document = vector(d).replace(from, &to);
        assert_eq!(verify(&catalog, &card, &document, NOW).err(), None, "{to}");
    }
}

#[test]
fn names_of_keys_may_be_relative_or_embedded() {
    let (catalog, card, document) =
        (vector("catalog.json"), vector("card.json"), vector("did.json"));
    let relative = document.replace("did:web:example.com#k1", "#k1");
    assert!(verify(&catalog, &card, &relative, NOW).is_ok());
    let method = method_in(&document);
    let embedded = document
        .replace(method, "")
        .replace("\"did:web:example.com#k1\"\n ]", &format!("{method} ]"));
    assert!(verify(&catalog, &card, &embedded, NOW).is_ok(), "{embedded}");
}

#[test]
fn the_card_is_found_by_its_hash_or_by_its_url() {
    let (catalog, card) = (vector("catalog.json"), vector("card.json"));
    let count = |card: &str, url: Option<&str>| {
        offers(catalog.as_bytes(), card.as_bytes(), url).map(|offers| offers.len())
    };
    assert_eq!(count(&card, None), Ok(1));
    assert_eq!(count("{}", Some("https://example.com/mcp/server-card")), Ok(1));
    assert_eq!(count("{}", Some("https://example.com/other")), Err(Refusal::NotListed));
    assert_eq!(count("{}", None), Err(Refusal::NotListed));
    let long = " ".repeat((4 << 20) + 1);
    assert!(matches!(offers(long.as_bytes(), b"", None), Err(Refusal::TooLong { .. })));
}
