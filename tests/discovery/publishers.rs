//! Who has signed the card of a server, from the time it is added.

use std::fs;

use serde_json::Value;

use crate::site::{INFO, Page, Site};
use crate::support::{Outcome, Scratch, run};

const PLACE: &str = "/card.json";
const BUNDLE: &str = "/card.json.sigstore.json";
const IDENTITY: &str =
    "https://github.com/acme/weather/.github/workflows/release.yml@refs/tags/v1.2.0";

fn vector(name: &str) -> String {
    fs::read_to_string(format!("tests/vectors/own/{name}")).unwrap()
}

/// A home, and a site whose card is signed.
struct World {
    scratch: Scratch,
    site: Site,
}

impl World {
    fn new() -> World {
        let (card, bundle) = (vector("anywhere.json"), vector("anywhere.json.sigstore.json"));
        let site = Site::new(&[(PLACE, Page::json(&card)), (BUNDLE, Page::json(&bundle))]);
        let scratch = Scratch::new();
        scratch.write("root.json", vector("root.json"));
        World { scratch, site: site.serving(INFO) }
    }

    fn run(&self, words: &[&str]) -> Outcome {
        let mut command = self.scratch.mcpmini(words);
        run(command.env("MCPMINI_TRUSTED_ROOT", "root.json").env("MCPMINI_CACHE", "off"))
    }

    fn add(&self, more: &[&str]) -> Outcome {
        let card = format!("card:{}", self.site.at(PLACE));
        let base = format!("base={}", self.site.at(""));
        self.run(&[&["add", "weather", &card, "--var", &base], more].concat())
    }

    /// Who is known to have signed the card of the server that was added.
    fn publisher(&self) -> Value {
        let folder = self.scratch.path(".local/state/mcpmini/known-servers");
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let records = files.filter(|path| path.extension().is_some_and(|it| it == "json"));
        let mut records =
            records.map(|it| serde_json::from_slice::<Value>(&fs::read(it).unwrap()).unwrap());
        let record = records.find(|record| record["name"] == "weather").unwrap();
        record["accepted"]["publisher"].clone()
    }

    #[track_caller]
    fn expect(&self, words: &[&str], code: i32, told: &str) -> Outcome {
        let outcome = self.run(words);
        assert_eq!(outcome.code, code, "{words:?} {outcome:?}");
        assert!(outcome.out.contains(told) || outcome.err.contains(told), "{told}: {outcome:?}");
        outcome
    }
}

/// The digest that is to be accepted.
fn digest(outcome: &Outcome) -> String {
    let (_, rest) = outcome.err.rsplit_once("--accept ").unwrap_or_else(|| panic!("{outcome:?}"));
    rest.split_whitespace().next().unwrap().to_owned()
}

#[test]
fn who_has_signed_is_remembered_when_a_server_is_added() {
    let world = World::new();
    let added = world.add(&[]);
    assert_eq!(added.code, 0, "{added:?}");
    let publisher = world.publisher();
    assert_eq!(
        (&publisher["kind"], &publisher["identity"]),
        (&"sigstore".into(), &IDENTITY.into())
    );
    assert_eq!(publisher["issuer"], "https://token.actions.githubusercontent.com");
    assert_eq!(publisher["repositoryId"], "4711");
    world.expect(&["tools", "weather"], 0, "");
    world.expect(&["trust", "show", "weather"], 0, &format!("publisher    sigstore {IDENTITY}"));
    assert_eq!(world.expect(&["trust", "diff", "weather"], 0, "").out, "");
    world.expect(&["card", "weather"], 0, "signature    by ");
    world.expect(&["tools", "weather"], 0, "");
    assert_eq!(world.publisher(), publisher);
}

#[test]
fn a_signature_that_is_gone_or_of_somebody_else_stops_a_server_until_it_is_accepted() {
    let gone = Page { status: "404 Not Found", ..Page::json("{}") };
    let other = Page::json(&vector("anywhere-other.sigstore.json"));
    let broken = Page::json(&vector("expired.sigstore.json"));
    let not_any_more = "it is not signed any more; it was by https://github.com/acme/weather/";
    for (bundle, told) in [
        (gone, not_any_more),
        (broken, not_any_more),
        (other, "somebody else has signed it: https://github.com/acme/weather/"),
    ] {
        let world = World::new();
        assert_eq!(world.add(&[]).code, 0);
        world.expect(&["tools", "weather"], 0, "");
        world.site.put(BUNDLE, bundle);
        // A use does not look at the card. Whoever looks is told, and from then on it counts.
        world.expect(&["tools", "weather"], 0, "");
        world.expect(&["card", "weather"], 8, told);
        world.expect(&["tools", "weather"], 8, told);
        let diff = world.expect(&["trust", "diff", "weather"], 8, told);
        assert!(diff.out.starts_with(told), "{diff:?}");
        let json = world.expect(&["trust", "diff", "weather", "--json"], 8, "");
        assert!(json.out.contains(r#""facet":"publisher""#), "{json:?}");
        // To add it again is no way around that.
        let again = world.add(&["--force"]);
        assert_eq!(again.code, 8, "{again:?}");
        assert!(again.err.contains(told), "{again:?}");
        world.expect(&["tools", "weather"], 8, told);
        world.expect(&["trust", "accept", "weather", "--accept", &digest(&diff)], 0, "");
        world.expect(&["tools", "weather"], 0, "");
        world.expect(&["card", "weather"], 0, "");
        assert_eq!(world.add(&["--force"]).code, 0);
    }
}

#[test]
fn another_release_of_the_same_publisher_is_told_and_taken() {
    for bundle in ["anywhere-next", "anywhere-renamed"] {
        let world = World::new();
        assert_eq!(world.add(&[]).code, 0);
        world.expect(&["tools", "weather"], 0, "");
        world.site.put(BUNDLE, Page::json(&vector(&format!("{bundle}.sigstore.json"))));
        let told = "its publisher has signed another release: https://github.com/acme/weather/";
        let shown = world.expect(&["card", "weather"], 0, told);
        assert!(shown.err.contains("@refs/tags/v1.2.0 → https://github.com/acme/"), "{shown:?}");
        world.expect(&["tools", "weather"], 0, "");
        let publisher = world.publisher();
        let is_next = |it: &Value| it.as_str().is_some_and(|it| it != IDENTITY);
        assert!(is_next(&publisher["identity"]) && publisher["ownerId"] == "42", "{publisher}");
        assert_eq!(world.expect(&["card", "weather"], 0, "").err, "");
    }
}

#[test]
fn a_branch_and_a_name_that_was_taken_over_are_of_somebody_else() {
    for (bundle, told) in [
        (
            "anywhere-branch",
            "→ https://github.com/acme/weather/.github/workflows/release.yml@refs/heads/main ",
        ),
        ("anywhere-taken", "repository 4712, owner 42)"),
    ] {
        let world = World::new();
        assert_eq!(world.add(&[]).code, 0);
        world.site.put(BUNDLE, Page::json(&vector(&format!("{bundle}.sigstore.json"))));
        let refused = world.expect(&["card", "weather"], 8, "somebody else has signed it: ");
        assert!(refused.err.contains(told), "{told}: {refused:?}");
        world.expect(&["tools", "weather"], 8, told);
    }
}

#[test]
fn a_card_that_is_signed_later_is_told_and_one_that_is_not_stays_so() {
    let world = World::new();
    let gone = Page { status: "404 Not Found", ..Page::json("{}") };
    world.site.put(BUNDLE, gone);
    assert_eq!(world.add(&[]).code, 0);
    world.expect(&["card", "weather"], 0, "signature    none");
    world.expect(&["tools", "weather"], 0, "");
    world.site.put(BUNDLE, Page::json(&vector("anywhere.json.sigstore.json")));
    world.expect(&["card", "weather"], 0, "signature    by ");
    assert_eq!(world.publisher()["identity"], IDENTITY);
    // What a policy or a lock file wants strictly includes the publisher.
    world.expect(&["lock", "weather"], 0, "");
    let lock = fs::read_to_string(world.scratch.path("mcpmini.lock.json")).unwrap();
    assert!(lock.contains(IDENTITY), "{lock}");
}

#[test]
fn what_is_stored_is_asked_for_again_by_who_wants_to_know_what_has_changed() {
    for words in [&["trust", "diff", "weather"][..], &["card", "weather"]] {
        let world = World::new();
        let day = "Cache-Control: max-age=86400";
        for (path, name) in [(PLACE, "anywhere.json"), (BUNDLE, "anywhere.json.sigstore.json")] {
            world.site.put(path, Page::json(&vector(name)).with(day));
        }
        let stored = |words: &[&str]| {
            let mut command = world.scratch.mcpmini(words);
            run(command.env("MCPMINI_TRUSTED_ROOT", "root.json"))
        };
        let (card, base) = (format!("card:{}", world.site.at(PLACE)), world.site.at(""));
        assert_eq!(stored(&["add", "weather", &card, "--var", &format!("base={base}")]).code, 0);
        assert_eq!(stored(&["tools", "weather"]).code, 0);
        world.site.put(BUNDLE, Page { status: "404 Not Found", ..Page::json("{}") });
        let shown = stored(&["card", &card]);
        assert!(shown.out.contains("signature    by "), "what is stored is good for a day");
        let told = stored(words);
        let all = format!("{}{}", told.out, told.err);
        assert!(told.code == 8 && all.contains("it is not signed any more"), "{told:?}");
    }
}

#[test]
fn a_root_that_cannot_be_read_is_told() {
    let world = World::new();
    world.scratch.write("root.json", "{}");
    let told = "no signature can be verified: MCPMINI_TRUSTED_ROOT root.json: ";
    world.expect(&["card", &format!("card:{}", world.site.at(PLACE))], 0, told);
}

#[test]
fn who_has_signed_is_not_known_when_it_cannot_be_asked() {
    let world = World::new();
    assert_eq!(world.add(&[]).code, 0);
    world.expect(&["tools", "weather"], 0, "");
    let down = Page { status: "503 Service Unavailable", ..Page::json("{}") };
    world.site.put(BUNDLE, down);
    world.expect(&["card", "weather"], 0, "signature    not checked");
    let told = "who has signed the card of this server cannot be told now";
    assert_eq!(world.expect(&["trust", "diff", "weather"], 0, told).out, "");
    assert_eq!(world.publisher()["identity"], IDENTITY);
    // Where only what was accepted is used, not to know is no pass.
    for words in [&["trust", "diff", "weather"][..], &["lock", "weather"]] {
        let mut command = world.scratch.mcpmini(words);
        let strict = run(command.env("MCPMINI_TRUST", "strict").env("MCPMINI_CACHE", "off"));
        assert!(strict.code == 4 && strict.err.contains("cannot be told"), "{strict:?}");
    }
}

#[test]
fn keys_and_domains_are_remembered_when_they_are_verified() {
    let vectors = format!("{}/tests/vectors/own", env!("CARGO_MANIFEST_DIR"));
    let vectors = |name: &str| format!("{vectors}/{name}");
    let key = (vectors("key.pub"), vectors("anywhere-key.sigstore.json"));
    let domain = (vectors("catalog-anywhere.json"), vectors("did.json"));
    for (words, kind, identity) in [
        (
            ["--public-key", &key.0, "--bundle", &key.1, "--trusted-root", "root.json"],
            "key",
            "sha256:",
        ),
        (
            ["--did", "did:web:example.com", "--catalog", &domain.0, "--did-document", &domain.1],
            "did-web",
            "did:web:example.com",
        ),
    ] {
        let world = World::new();
        world.site.put(BUNDLE, Page { status: "404 Not Found", ..Page::json("{}") });
        let url = world.site.at(PLACE);
        assert_eq!(world.add(&[]).code, 0);
        world.expect(&[&["card", "verify", &url], &words[..]].concat(), 0, "is signed");
        let publisher = world.publisher();
        assert_eq!(publisher["kind"], kind);
        assert!(publisher["identity"].as_str().unwrap().starts_with(identity), "{publisher}");
        assert_eq!(publisher["keyId"].is_string(), kind == "did-web", "{publisher}");
        // That nothing lies beside the card says nothing about these.
        world.expect(&["card", "weather"], 0, "signature    none");
        assert_eq!(world.publisher(), publisher);
    }
}
