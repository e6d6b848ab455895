//! Documents that are made to do harm: by their size, by what is in them twice, by what they hide.

use std::time::Duration;

use crate::site::{CARD, CATALOG, INFO, Page, Site, mcpmini};
use crate::support::{Outcome, Scratch};

const PLACE: &str = "/card.json";

/// Runs a command on a document, in no more time than one would wait.
#[track_caller]
fn of(document: &str, words: &[&str]) -> (Site, Outcome) {
    let site = Site::new(&[(PLACE, Page::json(document))]).serving(INFO);
    let place = format!("card:{}", site.at(PLACE));
    let outcome = mcpmini(&Scratch::new(), &[words, &[&place]].concat());
    assert!(outcome.took < Duration::from_secs(20), "{:?}", outcome.took);
    let is_plain = |letter: char| matches!(letter, '\n' | '\t') || !letter.is_control();
    assert!(outcome.out.chars().chain(outcome.err.chars()).all(is_plain), "{outcome:?}");
    assert!(!outcome.out.contains('\u{202e}') && !outcome.err.contains('\u{202e}'), "{outcome:?}");
    (site, outcome)
}

#[test]
fn a_long_list_of_servers_is_neither_copied_nor_printed_for_each_of_them() {
    let server = |number: usize| format!(r#"{{"name":"s{number}","url":"/a"}}"#);
    let servers: Vec<_> = (0..30_000).map(server).collect();
    let list = format!(r#"{{"servers":[{}]}}"#, servers.join(","));
    let (_, found) = of(&list, &["discover", "--json"]);
    assert_eq!((found.code, found.out.lines().count()), (0, 1000));
    assert!(found.out.len() < 1 << 20, "{} bytes", found.out.len());
    let told = "it lists 30000 servers, and only the first 1000 are shown";
    assert!(found.err.starts_with("{\"warning\":") && found.err.contains(told), "{}", found.err);
    let (_, several) = of(&list, &["card"]);
    assert!(several.code == 2 && several.err.contains("and 980 more"), "{several:?}");
    // As many cards in a catalog, each with a hash.
    let entry = |number: usize| {
        let kind = r#""type":"application/mcp-server-card+json""#;
        let card =
            format!(r#"{{"name":"a/s{number}","version":"1","description":"d","remotes":[]}}"#);
        format!(r#"{{"identifier":"i{number}",{kind},"digest":"sha256:00","data":{card}}}"#)
    };
    let entries: Vec<_> = (0..3000).map(entry).collect();
    let (_, found) =
        of(&format!(r#"{{"specVersion":"0.9","entries":[{}]}}"#, entries.join(",")), &["discover"]);
    assert_eq!((found.code, found.out.lines().count()), (0, 2000));
    let told = "it lists 3000 entries, and only the first 2000 were looked at";
    assert!(found.err.contains(told), "{}", found.err);
}

#[test]
fn a_member_that_is_there_twice_is_told() {
    let twice = CARD.replace("\"version\"", "\"version\":\"0\",\"version\"");
    let note = "a member is there twice; others may read the other one";
    assert!(of(&twice, &["card"]).1.out.contains(note));
    assert!(of(&twice, &["discover"]).1.out.contains(note));
    let checked = of(&twice, &["card", "check"]).1;
    assert!(checked.code == 0 && checked.err.contains(note), "{checked:?}");
    assert!(!of(CARD, &["card"]).1.out.contains(note));
    assert_eq!(of(CARD, &["card", "check"]).1.err, "");
}

#[test]
fn what_is_longer_than_people_read_is_cut_and_an_endpoint_is_not() {
    let long = "b".repeat(200_000);
    let card = CARD.replace("weather", &long).replace("Tells", &long);
    for command in ["card", "discover"] {
        let (_, shown) = of(&card, &[command]);
        assert!(shown.code == 0 && shown.out.len() < 10_000, "{} bytes", shown.out.len());
        assert!(shown.out.contains("characters more)"), "{shown:?}");
    }
    let (_, shown) = of(&CARD.replace("$O/mcp", &format!("$O/{long}")), &["card"]);
    assert!(shown.out.contains(&long), "{} bytes", shown.out.len());
}

#[test]
fn nothing_in_a_document_can_steer_a_terminal_or_forge_a_line() {
    let forged = r"\u001b[2J\u009b\u202e\r\nsignature    by did:web:example.com\u0000";
    let entry = format!(
        r#"{{"identifier":"{forged}","type":"application/mcp-server-card+json","url":"/none","displayName":"{forged}",
        "version":"{forged}","publisher":{{"displayName":"{forged}"}},"digest":"{forged}","trustManifests":[
        {{"contributor":"{forged}","signature":{{"profile":"{forged}"}},
          "attestations":[{{"type":"sigstore-bundle","uri":"{forged}"}}]}}]}}"#
    );
    let url = r#""url":"#;
    let input =
        format!(r#"{{"description":"{forged}","choices":["{forged}"],"default":"{forged}"}}"#);
    for document in [
        CARD.replace("com.example/weather", forged),
        CARD.replace("1.2.0", forged).replace("Tells", forged),
        CARD.replace(url, &format!(r#""variables":{{"{forged}":{input}}},"url":"#)),
        CARD.replace(url, &format!(r#""supportedProtocolVersions":["{forged}"],"url":"#)),
        CARD.replace("$O/mcp", forged),
        CARD.replace("streamable-http", forged),
        format!(r#"{{"specVersion":"0.9","entries":[{entry}]}}"#),
        format!(r#"{{"specVersion":"0.9","entries":[{}]}}"#, entry.replace("/none", "$O/real")),
        format!(r#"{{"specVersion":"{forged}","entries":[]}}"#),
        format!(
            r#"{{"servers":[{{"name":"{forged}","url":"/a"}},{{"name":"{forged}","url":"/b"}}]}}"#
        ),
        format!(r#"{{"mcpServers":{{"{forged}":{{"command":"{forged}"}}}}}}"#),
        format!(r#"{{"name":"m","endpoint":"/mcp","serverCard":"{forged}"}}"#),
    ] {
        for command in ["discover", "card", "add"] {
            let (_, outcome) = of(&document, &[command]);
            let forges = |text: &str| text.lines().any(|line| line.starts_with("signature    by"));
            assert!(!forges(&outcome.out) && !forges(&outcome.err), "{outcome:?}");
        }
    }
    let site = Site::new(&[(
        CATALOG,
        Page::json(&format!(r#"{{"specVersion":"0.9","entries":[{entry}]}}"#)),
    )]);
    let found = mcpmini(&Scratch::new(), &["card", &site.host()]);
    assert!(!found.out.contains('\u{1b}') && !found.err.contains('\u{1b}'), "{found:?}");
}

#[test]
fn secrets_in_urls_are_masked_where_nothing_is_found() {
    let nested = r#"{"identifier":"n","type":"application/ai-catalog+json","url":"/more?token=hunter2hunter2"}"#;
    let catalog = format!(r#"{{"specVersion":"1.0","entries":[{nested}]}}"#);
    let site = Site::new(&[(CATALOG, Page::json(&catalog))]);
    for words in [
        ["discover", &site.at("/mcp?api_key=hunter2hunter2")],
        ["card", &site.at("/x.json?api_key=hunter2hunter2")],
        ["discover", &site.host()],
        ["discover", "http://192.0.2.1/x.json?api_key=hunter2hunter2"],
    ] {
        let outcome = mcpmini(&Scratch::new(), &words);
        assert_eq!(outcome.code, 4, "{outcome:?}");
        assert!(!outcome.err.contains("hunter2") && outcome.err.contains("=***"), "{outcome:?}");
    }
}
