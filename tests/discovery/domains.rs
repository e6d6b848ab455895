//! Cards that the owner of a domain has signed in a catalog: `example.com`, as a proxy shows it.

use std::fs;

use crate::domain::Domain;
use crate::site::{CATALOG, INFO, Page, Site};

fn vector(name: &str) -> String {
    fs::read_to_string(format!("tests/vectors/own/{name}")).unwrap()
}

#[test]
fn a_card_is_signed_when_the_keys_that_its_domain_publishes_now_say_so() {
    let domain = Domain::start();
    let site = Site::new(&[(CATALOG, Page::json(&vector("catalog-inside.json")))]);
    let card = || domain.run(&["card", &site.host()]);
    let check = |told: &str| {
        let outcome = card();
        assert!(outcome.code == 0 && outcome.out.contains(told), "{told}: {outcome:?}");
    };
    domain.publish("/.well-known/did.json", "200 OK", &vector("did.json"));
    check("signature    by did:web:example.com");
    // A key that was taken back, another one, and a domain that does not say.
    let keys = vector("did.json");
    let other = keys.replace("\"x\":\"", "\"x\":\"A");
    for changed in [keys.replace("assertionMethod", "authentication"), other] {
        domain.publish("/.well-known/did.json", "200 OK", &changed);
        check("signature    DOES NOT HOLD: ");
    }
    domain.publish("/.well-known/did.json", "503 Service Unavailable", "{}");
    check("signature    not checked (a trust manifest comes with it)");
    // The same for what the catalog says about a card that lies elsewhere.
    let tampered = vector("catalog-inside.json").replace("2125-06-01", "2126-06-01");
    site.put(CATALOG, Page::json(&tampered));
    domain.publish("/.well-known/did.json", "200 OK", &keys);
    check("signature    DOES NOT HOLD: ");
}

#[test]
fn the_domain_that_has_signed_is_remembered_when_a_server_is_added() {
    let domain = Domain::start();
    let site = Site::new(&[(CATALOG, Page::json(&vector("catalog-anywhere.json")))]).serving(INFO);
    domain.publish("/server-card", "200 OK", &vector("anywhere.json"));
    domain.publish("/server-card.sigstore.json", "404 Not Found", "{}");
    domain.publish("/.well-known/did.json", "200 OK", &vector("did.json"));
    let (host, base) = (site.host(), format!("base={}", site.at("")));
    let add = ["add", "weather", &host, "--var", &base, "--allow-private"];
    let refused = domain.run(&add);
    assert_eq!(refused.code, 8, "{refused:?}");
    let (_, digest) = refused.err.rsplit_once("--accept ").unwrap();
    let added = domain.run(&[&add[..], &["--accept", digest.trim()]].concat());
    assert_eq!(added.code, 0, "{added:?}");
    assert!(added.out.contains("signature    by did:web:example.com"), "{added:?}");
    let shown = domain.run(&["tools", "weather"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let shown = domain.run(&["trust", "show", "weather"]);
    assert!(shown.out.contains("publisher    did-web did:web:example.com"), "{shown:?}");
    // From then on it is missed where it is gone, by whoever looks.
    assert_eq!(domain.run(&["trust", "diff", "weather", "--allow-private"]).out, "");
    let unsigned = vector("catalog-anywhere.json").replace("trustManifests", "others");
    site.put(CATALOG, Page::json(&unsigned));
    for words in [["trust", "diff"], ["tools", ""]] {
        let words: Vec<_> = words.into_iter().filter(|word| !word.is_empty()).collect();
        let stopped = domain.run(&[&words[..], &["weather", "--allow-private"]].concat());
        let told = "it is not signed any more; it was by did:web:example.com";
        assert!(stopped.code == 8 && format!("{stopped:?}").contains(told), "{stopped:?}");
    }
}

#[test]
fn a_card_inside_of_a_catalog_that_is_not_signed_any_more_is_missed() {
    let domain = Domain::start();
    let site = Site::new(&[(CATALOG, Page::json(&vector("catalog-inside.json")))]);
    domain.publish("/.well-known/did.json", "200 OK", &vector("did.json"));
    let (catalog, entry) = (site.at(CATALOG), "urn:air:example.com:mcp:weather");
    fs::create_dir_all(domain.scratch.path(".config/mcpmini")).unwrap();
    domain.scratch.write(
        ".config/mcpmini/config.json",
        format!(
            r#"{{"mcpServers":{{"weather":{{"url":"https://example.com/mcp","card":"{catalog}","cardEntry":"{entry}"}}}}}}"#
        ),
    );
    let card = || domain.run(&["card", "weather"]);
    let shown = card();
    assert!(shown.code == 0 && shown.out.contains("by did:web:example.com"), "{shown:?}");
    let unsigned = vector("catalog-inside.json").replace("trustManifests", "others");
    site.put(CATALOG, Page::json(&unsigned));
    let stopped = card();
    let told = "it is not signed any more; it was by did:web:example.com";
    assert!(stopped.code == 8 && format!("{stopped:?}").contains(told), "{stopped:?}");
}
