//! What a catalog says about a card, held against the card.

use crate::site::{CARD, CATALOG, INFO, Page, Site, mcpmini};
use crate::support::{Outcome, Scratch, run};

/// A site whose catalog lists its card, with these members in the entry.
fn site(identifier: &str, members: &str) -> Site {
    let entry = format!(
        r#"{{"identifier":"{identifier}","type":"application/mcp-server-card+json","url":"/card"{members}}}"#
    );
    let catalog = format!(r#"{{"specVersion":"0.9","entries":[{entry}]}}"#);
    Site::new(&[(CATALOG, Page::json(&catalog)), ("/card", Page::json(CARD))]).serving(INFO)
}

fn strict(words: &[&str]) -> Outcome {
    run(Scratch::new().mcpmini(words).env("MCPMINI_TRUST", "strict"))
}

#[test]
fn a_digest_that_is_none_is_not_the_same_as_no_digest() {
    for digest in ["7", "true", "{}", "[]", "\"\"", "\" \"", "\"sha512:00\""] {
        let site = site("urn:air:h:weather", &format!(",\"digest\":{digest}"));
        let found = mcpmini(&Scratch::new(), &["discover", &site.host()]);
        assert!(found.out.contains("not the card that the catalog lists"), "{digest}: {found:?}");
        let added = mcpmini(&Scratch::new(), &["add", &site.host()]);
        assert_eq!((added.code, added.out.as_str()), (8, ""), "{digest}: {added:?}");
    }
    let site = site("urn:air:h:weather", ",\"digest\":null");
    let added = mcpmini(&Scratch::new(), &["add", &site.host()]);
    assert_eq!(added.code, 0, "{added:?}");
}

#[test]
fn a_card_that_is_not_as_its_catalog_says_is_told_and_not_taken_where_trust_is_strict() {
    let version = "version: the catalog says 1.1.0, the card 1.2.0";
    let name = "name: the catalog says time, the card weather";
    for (identifier, members, told) in [
        ("urn:air:example.com:weather", ",\"version\":\"1.1.0\"", version),
        ("urn:air:example.com:mcp:time", ",\"version\":\"1.2.0\"", name),
    ] {
        let site = site(identifier, members);
        let found = mcpmini(&Scratch::new(), &["discover", &site.host()]);
        assert!(found.code == 0 && found.out.contains(told), "{found:?}");
        let shown = mcpmini(&Scratch::new(), &["card", &site.host()]);
        assert!(shown.out.contains(&format!("\ndiffers      {told}\n")), "{shown:?}");
        let json = mcpmini(&Scratch::new(), &["card", &site.host(), "--json"]);
        assert!(json.out.contains(&format!("\"notes\":[\"{told}\"]")), "{json:?}");
        let added = mcpmini(&Scratch::new(), &["add", &site.host()]);
        assert!(added.code == 0 && added.out.contains(told), "{added:?}");
        for words in [vec!["add", &site.host()], vec!["card", &site.host(), "--connect"]] {
            let asked = site.asked().len();
            let refused = strict(&words);
            assert_eq!(refused.code, 8, "{refused:?}");
            assert!(refused.err.contains(told), "{refused:?}");
            let more = site.asked().split_off(asked);
            assert!(!more.contains(&"POST /mcp".to_owned()), "{more:?}");
        }
    }
    // A name for people, and an identifier that says nothing, contradict nothing.
    for (identifier, members) in [
        ("urn:air:example.com:weather", ",\"version\":\"1.2.0\",\"displayName\":\"The Time\""),
        ("7f3a", ""),
    ] {
        let site = site(identifier, members);
        let shown = strict(&["card", &site.host(), "--connect"]);
        assert!(shown.code == 0 && !shown.out.contains("differs"), "{shown:?}");
    }
}
