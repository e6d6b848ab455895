//! Bundles that the trust manifest of a catalog names.

use std::fs;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mcpmini::config::Digest;
use serde_json::Value;

use crate::site::{CATALOG, INFO, Page, Site};
use crate::support::{Outcome, Scratch, run};

const CARD: &str = "/card.json";
const BUNDLE: &str = "/bundles/weather.json";
const BESIDE: &str = "/card.json.sigstore.json";

fn vector(name: &str) -> String {
    fs::read_to_string(format!("tests/vectors/own/{name}")).unwrap()
}

fn good() -> String {
    vector("anywhere.json.sigstore.json")
}

/// A catalog whose entry has a manifest with these attestations.
fn catalog(attestations: &str) -> Page {
    let manifest = format!(r#"{{"contributor":"x","attestations":[{attestations}]}}"#);
    Page::json(&format!(
        r#"{{"specVersion":"0.9","entries":[{{"identifier":"urn:air:h:weather","type":"application/mcp-server-card+json",
        "url":"{CARD}","trustManifests":[{manifest}]}}]}}"#
    ))
}

fn attestation(uri: &str, more: &str) -> String {
    format!(r#"{{"type":"sigstore-bundle","uri":"{uri}"{more}}}"#)
}

/// A site with a signed card, whose bundle only a catalog names.
struct World {
    scratch: Scratch,
    site: Site,
}

impl World {
    fn new(attestations: &str) -> World {
        let site = Site::new(&[
            (CATALOG, catalog(attestations)),
            (CARD, Page::json(&vector("anywhere.json"))),
            (BUNDLE, Page::json(&good())),
        ]);
        let scratch = Scratch::new();
        scratch.write("root.json", vector("root.json"));
        World { scratch, site: site.serving(INFO) }
    }

    fn run(&self, words: &[&str]) -> Outcome {
        let mut command = self.scratch.mcpmini(words);
        run(command.env("MCPMINI_TRUSTED_ROOT", "root.json").env("MCPMINI_CACHE", "off"))
    }

    fn add(&self) {
        let base = format!("base={}", self.site.at(""));
        let added = self.run(&["add", "weather", &self.site.host(), "--var", &base]);
        assert_eq!(added.code, 0, "{added:?}");
        assert_eq!(self.run(&["tools", "weather"]).code, 0);
    }

    #[track_caller]
    fn expect(&self, words: &[&str], code: i32, told: &str) -> Outcome {
        let outcome = self.run(words);
        let all = self.site.plain(&format!("{}{}", outcome.out, outcome.err));
        assert_eq!(outcome.code, code, "{words:?} {outcome:?}");
        assert!(all.contains(told), "{told}: {outcome:?}");
        outcome
    }
}

#[test]
fn a_bundle_that_a_catalog_names_counts_before_the_one_beside_the_card() {
    let (at, by) = (format!("$O{BUNDLE}"), "\nsignature    by https://github.com/acme/weather/");
    let found =
        "\n  found      $O/bundles/weather.json, an attestation in the catalog $O/.well-known/";
    let hash = format!(r#","digest":"{}""#, Digest::of(good().as_bytes()));
    let inside = format!("data:application/json;base64,{}", STANDARD.encode(good()));
    let inside_found = "\n  found      data:, an attestation in the catalog ";
    let hashed = "\nsignature    DOES NOT HOLD: the bundle cannot be read: it has another hash";
    for (attestations, beside, signature, place) in [
        (attestation(&at, ""), None, by, found),
        (attestation(&at, &hash), None, by, found),
        (attestation(&inside, &hash), None, by, inside_found),
        // The first that is there decides.
        (attestation(&at, ""), Some("expired.sigstore.json"), by, found),
        (
            attestation("$O/gone.json", ""),
            Some("anywhere.json.sigstore.json"),
            by,
            "\n  found      $O/card.json.sigstore.json, beside the card\n",
        ),
        (format!("{},{}", attestation("$O/gone", ""), attestation(&at, "")), None, by, found),
        (
            attestation("data:,{}", ""),
            Some("anywhere.json.sigstore.json"),
            "\nsignature    DOES NOT HOLD: the bundle cannot be read",
            inside_found,
        ),
        (attestation(&at, r#","digest":"sha256:00""#), None, hashed, found),
        (attestation(&at, r#","digest":7"#), None, hashed, found),
        (attestation("file:///etc/passwd", ""), None, "the bundle cannot be read: it is at no", ""),
        // Others say nothing about the card.
        (
            attestation(&at, "").replace("sigstore-bundle", "SOC2"),
            None,
            "\nsignature    none\n",
            "",
        ),
    ] {
        let world = World::new(&attestations);
        beside.iter().for_each(|name| world.site.put(BESIDE, Page::json(&vector(name))));
        let shown = world.expect(&["card", &world.site.host()], 0, signature);
        assert!(world.site.plain(&shown.out).contains(place), "{attestations}: {shown:?}");
    }
    let world = World::new(&attestation(&at, ""));
    let shown = world.run(&["card", &world.site.host(), "--json"]);
    let shown: Value = serde_json::from_str(&world.site.plain(&shown.out)).unwrap();
    let said = ["signature", "signatureFrom", "bundle", "catalog"].map(|name| &shown[name]);
    let catalog = format!("$O{CATALOG}");
    assert_eq!(said, ["signed", "attestation", &at, &catalog]);
}

#[test]
fn a_bundle_that_its_catalog_names_no_more_is_missed() {
    let at = format!("$O{BUNDLE}");
    let gone = Page { status: "404 Not Found", ..Page::json("{}") };
    let not_any_more = "it is not signed any more; it was by https://github.com/acme/weather/";
    for (path, page) in [
        (CATALOG, catalog("")),
        (CATALOG, Page::json(r#"{"specVersion":"0.9","entries":[]}"#)),
        (CATALOG, gone.clone()),
        (BUNDLE, gone),
    ] {
        let world = World::new(&attestation(&at, ""));
        world.add();
        world.expect(&["trust", "show", "weather"], 0, "publisher    sigstore https://github.com");
        assert_eq!(world.run(&["trust", "diff", "weather"]).out, "");
        world.expect(&["card", "weather"], 0, "");
        world.site.put(path, page);
        // No use looks at the card.
        world.expect(&["tools", "weather"], 0, "");
        world.expect(&["trust", "diff", "weather"], 8, not_any_more);
        world.expect(&["lock", "weather"], 8, not_any_more);
        world.expect(&["card", "weather"], 8, not_any_more);
        world.expect(&["tools", "weather"], 8, not_any_more);
    }
    // A catalog that cannot be had says nothing, and a bundle may lie elsewhere from now on.
    let world = World::new(&attestation(&at, ""));
    world.add();
    let down = Page { status: "503 Service Unavailable", ..Page::json("{}") };
    world.site.put(CATALOG, down);
    world.expect(&["trust", "diff", "weather"], 0, "cannot be told now: $O/.well-known/ai-catalog");
    world.site.put(CATALOG, catalog(""));
    world.site.put(BESIDE, Page::json(&good()));
    assert_eq!(world.run(&["trust", "diff", "weather"]).out, "");
    world.expect(&["card", "weather"], 0, "");
    world.site.put(BESIDE, Page { status: "404 Not Found", ..Page::json("{}") });
    world.expect(&["card", "weather"], 8, not_any_more);
}

#[test]
fn a_bundle_of_a_catalog_is_verified_when_the_catalog_is_named() {
    let inside = format!("data:;base64,{}", STANDARD.encode(good()));
    let world = World::new(&attestation(&inside, ""));
    let (card, catalog) = (world.site.at(CARD), world.site.at(CATALOG));
    let verify = |catalog: &str, more: &[&str]| {
        let issuer = "https://token.actions.githubusercontent.com";
        let identity =
            "https://github.com/acme/weather/.github/workflows/release.yml@refs/tags/v1.2.0";
        let signer = ["--identity", identity, "--issuer", issuer, "--catalog", catalog];
        let words = [&["card", "verify", &card][..], &signer, more].concat();
        world.run(&words.iter().map(|word| &**word).collect::<Vec<_>>())
    };
    let signed = verify(&catalog, &[]);
    assert_eq!(signed.code, 0, "{signed:?}");
    let found =
        "found           data:, an attestation in the catalog $O/.well-known/ai-catalog.json\n";
    assert!(world.site.plain(&signed.out).contains(found), "{signed:?}");
    let json = verify(&catalog, &["--json"]);
    assert!(json.out.contains(r#""signatureFrom":"attestation","bundle":"data:","#), "{json:?}");
    assert_eq!(verify(&catalog, &["--bundle", "x"]).code, 2);
    // What a catalog leads to may not be nearer than the catalog. A file may be from anywhere.
    let near = self::catalog(&attestation(&format!("$O{BUNDLE}"), ""));
    world.scratch.write(
        "catalog.json",
        near.body
            .replace("$O", &world.site.at(""))
            .replace(&format!("\"{CARD}\""), &format!("{card:?}")),
    );
    world.site.put(CATALOG, near);
    assert_eq!(verify(&catalog, &[]).code, 0);
    assert_eq!(verify("catalog.json", &[]).code, 4);
    assert_eq!(verify("catalog.json", &["--allow-private"]).code, 0);
    // One that names none leaves the one beside the card.
    world.site.put(CATALOG, self::catalog(""));
    let unsigned = verify(&catalog, &[]);
    assert!(unsigned.code == 8 && unsigned.err.contains("is not signed"), "{unsigned:?}");
    world.site.put(CATALOG, self::catalog(&attestation("data:,{}", "")));
    world.site.put(BESIDE, Page::json(&good()));
    let broken = verify(&catalog, &[]);
    assert!(broken.code == 8 && broken.err.contains("the bundle cannot be read"), "{broken:?}");
}
