//! How long documents are used, and how a host is asked whether they are good still.

use crate::site::{CARD, Page, Site, mcpmini};
use crate::support::{Scratch, run};

const PLACE: &str = "/mcp/server-card";

/// The `If-None-Match` of every request for the card.
fn validators(site: &Site) -> Vec<Option<String>> {
    let requests = site.requests();
    requests.iter().map(|it| it.header("if-none-match").map(str::to_owned)).collect()
}

fn site(fields: &[&str]) -> Site {
    let page = fields.iter().fold(Page::json(CARD), |page, field| page.with(field));
    Site::new(&[(PLACE, page)])
}

#[track_caller]
fn look(scratch: &Scratch, site: &Site, more: &[&str], expected: &str) {
    let url = site.at("/mcp");
    let words = [&["card", &url], more].concat();
    let outcome = mcpmini(scratch, &words);
    let shown = outcome.out.lines().find_map(|line| line.strip_prefix("claimed by   "));
    let how = shown.and_then(|it| it.rsplit('(').next()).unwrap_or(&outcome.err);
    assert_eq!(how.trim_end_matches(')'), expected, "{outcome:?}");
}

const STILL_GOOD: &str = "stored; the host says that it is good still";

#[test]
fn a_document_is_used_as_long_as_its_host_says() {
    let (scratch, site) =
        (Scratch::new(), site(&["Cache-Control: public, max-age=60", "ETag: \"v1\""]));
    look(&scratch, &site, &[], "fetched");
    look(&scratch, &site, &[], "stored");
    assert_eq!(site.asked().len(), 1);
    look(&scratch, &site, &["--refresh"], STILL_GOOD);
    assert_eq!(validators(&site), [None, Some("\"v1\"".to_owned())]);
    look(&scratch, &site, &["--no-cache"], "fetched");
    assert_eq!(validators(&site)[2], None);
}

#[test]
fn a_document_that_must_be_checked_is_checked_each_time() {
    for control in ["no-cache", "max-age=0", "max-age=60, no-cache"] {
        let site = site(&[&format!("Cache-Control: {control}"), "ETag: W/\"a, b\""]);
        let scratch = Scratch::new();
        look(&scratch, &site, &[], "fetched");
        look(&scratch, &site, &[], STILL_GOOD);
        look(&scratch, &site, &[], STILL_GOOD);
        assert_eq!(validators(&site)[2].as_deref(), Some("W/\"a, b\""), "byte for byte");
        // A new version is taken.
        let new = Page::json(&CARD.replace("1.2.0", "2.0.0")).with("ETag: \"v2\"");
        site.put(PLACE, new);
        look(&scratch, &site, &[], "fetched");
    }
}

#[test]
fn what_must_not_be_stored_is_not() {
    let (scratch, site) = (Scratch::new(), site(&["Cache-Control: no-store", "ETag: \"v1\""]));
    look(&scratch, &site, &[], "fetched");
    look(&scratch, &site, &[], "fetched");
    assert_eq!(validators(&site), [None, None]);
    // That there is no bundle beside the card may be stored, and is.
    let folder = scratch.path(".cache/mcpmini/http");
    let holds_card = format!("grep -rq com.example/weather '{}'", folder.display());
    assert_eq!(run(&mut scratch.shell(&holds_card)).code, 1);
}

#[test]
fn a_date_will_do_where_there_is_no_tag() {
    let date = "Mon, 30 Nov 2026 10:00:00 GMT";
    let site = site(&[&format!("Last-Modified: {date}"), "Cache-Control: no-cache"]);
    let scratch = Scratch::new();
    look(&scratch, &site, &[], "fetched");
    look(&scratch, &site, &[], "fetched");
    assert_eq!(site.requests()[1].header("if-modified-since"), Some(date));
}

#[test]
fn that_there_is_nothing_is_remembered_for_a_while() {
    let (scratch, site) = (Scratch::new(), Site::new(&[]));
    let discover = |more: &[&str]| {
        let host = site.host();
        mcpmini(&scratch, &[&["discover", "--standard", &host], more].concat())
    };
    assert_eq!(discover(&[]).code, 4);
    assert_eq!(discover(&[]).code, 4);
    assert_eq!(site.asked().len(), 1);
    assert_eq!(discover(&["--refresh"]).code, 4);
    assert_eq!(site.asked().len(), 2);
}

#[test]
fn what_is_judged_or_written_down_is_asked_for_again() {
    let (scratch, site) = (Scratch::new(), site(&["Cache-Control: max-age=3600", "ETag: \"v1\""]));
    let url = site.at("/mcp");
    assert_eq!(mcpmini(&scratch, &["card", "check", &url]).code, 0);
    look(&scratch, &site, &[], "stored");
    assert_eq!(mcpmini(&scratch, &["card", "check", &url]).code, 0);
    assert_eq!(validators(&site), [None, Some("\"v1\"".to_owned())]);
    // What is there now counts, and so does that nothing is.
    site.put(PLACE, Page::json("{\"name\":\"x\",\"remotes\":[]}").with("ETag: \"v2\""));
    let checked = mcpmini(&scratch, &["card", "check", &url]);
    assert_eq!(checked.code, 6, "{checked:?}");
    site.put(PLACE, Page { status: "404 Not Found", ..Page::json("{}") });
    assert_eq!(mcpmini(&scratch, &["card", "check", &url]).code, 4);
    site.put(PLACE, Page::json(CARD));
    assert_eq!(mcpmini(&scratch, &["card", "check", &url]).code, 0);
    assert_eq!(mcpmini(&scratch, &["card", "check", "--offline", &url]).code, 0);
    // A server is not added by a card of yesterday.
    let site = site.serving(crate::site::INFO);
    site.put(PLACE, Page::json(&CARD.replace("/mcp", "/new")).with("Cache-Control: max-age=9"));
    let added = mcpmini(&scratch, &["add", &url]);
    assert!(site.plain(&added.out).contains("endpoint     $O/new"), "{added:?}");
}

#[test]
fn that_nothing_was_there_is_told_with_how_to_look_again() {
    let (scratch, site) = (Scratch::new(), Site::new(&[]));
    let discover = || mcpmini(&scratch, &["discover", "--standard", &site.host()]);
    assert!(!discover().err.contains("--refresh"));
    let stored = discover();
    assert!(stored.err.contains("ai-catalog.json: HTTP 404 (stored)"), "{stored:?}");
    assert!(stored.err.contains("--refresh asks again"), "{stored:?}");
}

#[test]
fn offline_uses_what_is_stored_and_asks_nobody() {
    let (scratch, site) = (Scratch::new(), site(&["Cache-Control: max-age=0"]));
    let url = site.at("/mcp");
    let outcome = mcpmini(&scratch, &["card", "--offline", &url]);
    assert_eq!(outcome.code, 4, "{outcome:?}");
    assert!(outcome.err.contains("/mcp/server-card: not stored"), "{outcome:?}");
    look(&scratch, &site, &[], "fetched");
    look(&scratch, &site, &["--offline"], "stored, and out of date");
    assert_eq!(site.asked().len(), 1);
}

/// The URL of a server that answers once, and then closes every connection.
fn one_answer(control: &'static str) -> String {
    let count = std::sync::atomic::AtomicUsize::new(0);
    let server = crate::server::Server::start(move |_, peer| {
        let first = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0;
        if first {
            let fields = format!("Content-Type: application/json\r\nCache-Control: {control}\r\n");
            peer.answer("200 OK", &fields, &CARD.replace("$O", &peer.origin.clone()));
        }
        first
    });
    server.url()
}

#[test]
fn a_host_that_wants_to_be_asked_is_not_stood_in_for() {
    for control in ["must-revalidate, max-age=0", "no-cache"] {
        let (scratch, url) = (Scratch::new(), one_answer(control));
        assert_eq!(mcpmini(&scratch, &["card", &url]).code, 0);
        let outcome = mcpmini(&scratch, &["card", &url]);
        assert_eq!(outcome.code, 4, "{control}: {outcome:?}");
    }
}

#[test]
fn a_stale_document_is_better_than_none_and_is_told() {
    let (scratch, url) = (Scratch::new(), one_answer("max-age=0"));
    assert_eq!(mcpmini(&scratch, &["card", &url]).code, 0);
    let outcome = mcpmini(&scratch, &["card", &url]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.err.contains("s ago, and may have changed since"), "{outcome:?}");
    let strict = run(scratch.mcpmini(["card", &url]).env("MCPMINI_TRUST", "strict"));
    assert_eq!(strict.code, 4, "{strict:?}");
    // What is written down is not made of it.
    let outcome = mcpmini(&scratch, &["add", &url]);
    assert_ne!(outcome.code, 0, "{outcome:?}");
}

#[test]
fn a_stored_document_that_was_touched_is_not_believed() {
    let (scratch, site) = (Scratch::new(), site(&["Cache-Control: max-age=60"]));
    look(&scratch, &site, &[], "fetched");
    let folder = scratch.path(".cache/mcpmini/http");
    for inner in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        for file in std::fs::read_dir(inner).unwrap().map(|entry| entry.unwrap().path()) {
            let text = std::fs::read_to_string(&file).unwrap();
            std::fs::write(&file, text.replace("Tells", "Sells")).unwrap();
        }
    }
    look(&scratch, &site, &[], "fetched");
}

#[test]
fn a_document_that_is_too_long_is_none() {
    let long = CARD.replace("\"name\"", &format!("\"x\":\"{}\",\"name\"", "y".repeat(1 << 20)));
    let site = Site::new(&[(PLACE, Page::json(&long))]);
    let url = site.at("/mcp");
    let outcome = mcpmini(&Scratch::new(), &["card", &url]);
    assert_eq!(outcome.code, 4, "{outcome:?}");
    assert!(outcome.err.contains("answers with more than 1048576 bytes"), "{outcome:?}");
    let outcome = mcpmini(&Scratch::new(), &["card", &url, "--max-card-bytes", "2MiB"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let outcome = mcpmini(&Scratch::new(), &["card", &url, "--max-card-bytes", "9MiB"]);
    assert_eq!(outcome.code, 2, "{outcome:?}");
}

#[test]
fn what_is_stored_can_be_forgotten() {
    let (scratch, site) = (Scratch::new(), site(&["Cache-Control: max-age=60"]));
    look(&scratch, &site, &[], "fetched");
    assert_eq!(mcpmini(&scratch, &["cache", "clear"]).code, 0);
    look(&scratch, &site, &[], "fetched");
}
