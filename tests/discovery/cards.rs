//! What a card claims, whether it keeps the rules, and what the server says to it.

use crate::server::Server;
use crate::site::{CARD, CATALOG, INFO, Page, Site, mcpmini};
use crate::support::Scratch;

const PLACE: &str = "/mcp/server-card";

#[test]
fn a_card_is_shown_as_a_claim() {
    let site = Site::new(&[(PLACE, Page::json(CARD))]);
    let outcome = mcpmini(&Scratch::new(), &["card", &site.at("/mcp")]);
    let expected = "\
com.example/weather 1.2.0
about        Tells the weather.
endpoint     $O/mcp (streamable-http)
claimed by   $O/mcp/server-card (fetched)
found as     server-card, the standard's form (v1)
signature    none
All of this is claimed, and none of it proven.
";
    assert_eq!((outcome.code, site.plain(&outcome.out).as_str()), (0, expected), "{outcome:?}");
    assert_eq!(outcome.err, "");
}

#[test]
fn no_claim_can_pass_for_another() {
    let forged = CARD.replace("Tells the weather.", "x\\nsignature    verified\\u001b[2J");
    let site = Site::new(&[(PLACE, Page::json(&forged))]);
    let outcome = mcpmini(&Scratch::new(), &["card", &site.at("/mcp")]);
    let signatures = outcome.out.lines().filter(|line| line.starts_with("signature"));
    assert_eq!(signatures.collect::<Vec<_>>(), ["signature    none"]);
    assert!(!outcome.out.contains('\u{1b}'), "{outcome:?}");
}

#[test]
fn what_is_open_is_shown() {
    let card = r#"{"name":"a/b","version":"1","description":"d","remotes":[{"type":"streamable-http",
        "url":"$O/{tenant}/mcp","variables":{"tenant":{"description":"Yours","isRequired":true}},
        "headers":[{"name":"X-Key","isRequired":true,"isSecret":true,"description":"The key"}]}]}"#;
    let site = Site::new(&[(PLACE, Page::json(card))]);
    let outcome = mcpmini(&Scratch::new(), &["card", &site.at("/mcp")]);
    for line in
        ["  variable   tenant  required: Yours", "  header     X-Key  required, secret: The key"]
    {
        assert!(outcome.out.lines().any(|shown| shown == line), "{line}: {outcome:?}");
    }
}

#[test]
fn the_server_is_asked_and_what_it_says_counts() {
    let card =
        Page::json(&CARD.replace("\"url\"", "\"supportedProtocolVersions\":[\"x\"],\"url\""));
    let site = Site::new(&[(PLACE, Page::json(CARD))]).serving(INFO);
    let outcome = mcpmini(&Scratch::new(), &["card", &site.at("/mcp"), "--connect"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.out.contains("\nThe server says: weather 1.2.0\n"), "{outcome:?}");
    assert!(outcome.out.ends_with("\ncard         says the same\n"), "{outcome:?}");
    let site = Site::new(&[(PLACE, Page::json(CARD))]).serving(r#"{"name":"other","version":"2"}"#);
    let outcome = mcpmini(&Scratch::new(), &["card", &site.at("/mcp"), "--connect"]);
    let differing = "\
differs      name: the card says com.example/weather, the server other
differs      version: the card says 1.2.0, the server 2
";
    assert!(outcome.out.ends_with(differing), "{outcome:?}");
    let outcome = mcpmini(&Scratch::new(), &["card", &site.at("/mcp"), "--connect", "--json"]);
    let differing = r#""differences":[{"what":"name","card":"com.example/weather","server":"other"},{"what":"version","card":"1.2.0","server":"2"}]}"#;
    assert!(outcome.out.trim_end().ends_with(differing), "{outcome:?}");
    // Revisions that are not known here: nothing is connected to.
    let site = Site::new(&[(PLACE, card)]).serving(INFO);
    let outcome = mcpmini(&Scratch::new(), &["card", &site.at("/mcp"), "--connect"]);
    assert_eq!(outcome.code, 9, "{outcome:?}");
    assert!(!site.asked().iter().any(|it| it.starts_with("POST")), "{:?}", site.asked());
}

/// A server that has no card at its place and these resources; `$O` stands for its origin.
fn server_with(resources: &'static str) -> Server {
    Server::start(move |request, peer| {
        let card = CARD.replace("$O", &peer.origin);
        let complete = r#""resultType":"complete","ttlMs":0,"cacheScope":"private""#;
        let result = match () {
            () if request.is("server/discover") => format!(
                r#"{{"supportedVersions":["2026-07-28"],"capabilities":{{"resources":{{}}}},{complete},
                    "_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"weather","version":"2"}}}}}}"#
            ),
            () if request.is("resources/list") => {
                format!(r#"{{"resources":{resources},{complete}}}"#)
            }
            () if request.is("resources/read") => {
                let text = serde_json::to_string(&card).unwrap();
                let uri = "mcp://server-card.json";
                format!(r#"{{"contents":[{{"uri":"{uri}","text":{text}}}],{complete}}}"#)
            }
            () => {
                peer.answer("404 Not Found", "", "");
                return true;
            }
        };
        peer.result(request, &result.replace('\n', ""));
        true
    })
}

#[test]
fn a_card_among_the_resources_is_read_when_it_is_listed() {
    let server = server_with(r#"[{"uri":"mcp://server-card.json","name":"card"}]"#);
    let outcome = mcpmini(&Scratch::new(), &["card", &server.url(), "--connect"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.out.starts_with("com.example/weather 1.2.0\n"), "{outcome:?}");
    assert!(outcome.out.contains("resource, "), "{outcome:?}");
    let differs = "differs      version: the card says 1.2.0, the server 2\n";
    assert!(outcome.out.ends_with(differs), "{outcome:?}");
    // Without leave to connect nothing is asked, and nothing is found.
    let outcome = mcpmini(&Scratch::new(), &["card", &server.url()]);
    assert_eq!((outcome.code, &*outcome.out), (4, ""), "{outcome:?}");

    let server = server_with(r#"[{"uri":"file:///other","name":"card"}]"#);
    let outcome = mcpmini(&Scratch::new(), &["card", &server.url(), "--connect"]);
    assert_eq!((outcome.code, &*outcome.out), (4, ""), "{outcome:?}");
    assert!(server.messages("resources/read").is_empty(), "it is not listed");
}

#[test]
fn a_server_that_does_not_answer_is_an_error_after_the_card() {
    let site = Site::new(&[(PLACE, Page::json(CARD))]);
    let outcome = mcpmini(&Scratch::new(), &["card", &site.at("/mcp"), "--connect"]);
    assert!(outcome.code != 0 && outcome.out.starts_with("com.example/weather"), "{outcome:?}");
}

#[test]
fn one_of_several_is_named_and_never_guessed() {
    let entry = |name: &str| {
        format!(
            r#"{{"identifier":"urn:air:h:{name}","type":"application/mcp-server-card+json","url":"/{name}"}}"#
        )
    };
    let catalog = format!(r#"{{"specVersion":"0.9","entries":[{},{}]}}"#, entry("a"), entry("b"));
    let card = |name: &str| Page::json(&CARD.replace("weather", name));
    let site = Site::new(&[(CATALOG, Page::json(&catalog)), ("/a", card("a")), ("/b", card("b"))]);
    let outcome = mcpmini(&Scratch::new(), &["card", &site.host()]);
    assert_eq!((outcome.code, outcome.out.as_str()), (2, ""), "{outcome:?}");
    for text in ["2 servers were found", "com.example/a", "com.example/b", "--entry NAME"] {
        assert!(outcome.err.contains(text), "{text}: {outcome:?}");
    }
    for name in ["b", "com.example/b", "urn:air:h:b"] {
        let outcome = mcpmini(&Scratch::new(), &["card", &site.host(), "--entry", name]);
        assert!(outcome.out.starts_with("com.example/b 1.2.0\n"), "{name}: {outcome:?}");
    }
    let outcome = mcpmini(&Scratch::new(), &["card", &site.host(), "--entry", "c"]);
    assert_eq!(outcome.code, 4, "{outcome:?}");
}

#[test]
fn a_card_is_checked_rule_by_rule() {
    let scratch = Scratch::new();
    scratch.write("good.json", CARD.replace("$O", "https://h.example"));
    let outcome = mcpmini(&scratch, &["card", "check", "good.json"]);
    assert_eq!((outcome.code, outcome.out.as_str(), outcome.err.as_str()), (0, "", ""));
    scratch.write("bad.json", r#"{"name":"x","version":"^1"}"#);
    let outcome = mcpmini(&scratch, &["card", "check", "./bad.json"]);
    let expected = "\
./bad.json: /$schema is missing
./bad.json: /name must have 3 to 200 characters
./bad.json: /name must be a reverse domain name, a slash and a name, such as com.example/weather
./bad.json: /version must be one version, not a range
./bad.json: /description is missing
";
    assert_eq!((outcome.code, outcome.out.as_str()), (6, expected), "{outcome:?}");
    assert!(outcome.err.contains("the card breaks 5 rules"), "{outcome:?}");
    let outcome = mcpmini(&scratch, &["card", "check", "bad.json", "--json"]);
    let first = r#"{"card":"bad.json","at":"/$schema","rule":"is missing"}"#;
    assert_eq!(outcome.out.lines().next(), Some(first), "{outcome:?}");
    scratch.write("broken.json", "{");
    assert_eq!(mcpmini(&scratch, &["card", "check", "broken.json"]).code, 6);
    assert_eq!(mcpmini(&scratch, &["card", "check", "missing.json"]).code, 9);
    assert_eq!(mcpmini(&scratch, &["card", "check"]).code, 2);
}

#[test]
fn a_card_of_the_network_is_checked_where_it_is() {
    let (empty, broken) = (Page::json("{}"), Page::json("{"));
    let site = Site::new(&[
        (PLACE, Page::json(CARD)),
        ("/x.json", empty),
        ("/broken.json", broken.clone()),
        ("/b/server-card", broken),
    ]);
    let outcome = mcpmini(&Scratch::new(), &["card", "check", &site.at("/mcp")]);
    assert_eq!((outcome.code, outcome.out.as_str()), (0, ""), "{outcome:?}");
    let outcome = mcpmini(&Scratch::new(), &["card", "check", &site.at("/x.json")]);
    assert_eq!((outcome.code, outcome.out.lines().count()), (6, 4), "{outcome:?}");
    let outcome = mcpmini(&Scratch::new(), &["card", "check", &site.at("/none.json")]);
    assert_eq!(outcome.code, 4, "{outcome:?}");
    // As in a file.
    for path in ["/broken.json", "/b"] {
        let outcome = mcpmini(&Scratch::new(), &["card", "check", &site.at(path)]);
        assert_eq!(outcome.code, 6, "{path} {outcome:?}");
    }
}

#[test]
fn a_card_is_checked_as_it_is_now() {
    let page = Page::json(CARD).with("Cache-Control: max-age=60");
    let site = Site::new(&[(PLACE, page)]);
    let scratch = Scratch::new();
    let check = || mcpmini(&scratch, &["card", "check", &site.at("/mcp")]);
    assert_eq!(check().code, 0);
    site.put(PLACE, Page::json(&CARD.replace("1.2.0", "^1")));
    assert_eq!(check().code, 6);
}

#[test]
fn an_old_form_is_shown_with_what_it_hints_at() {
    let draft = r#"{"version":"1.0","protocolVersion":"2025-06-18","serverInfo":{"name":"old","version":"2"},"transport":{"type":"http","endpoint":"/mcp"},"capabilities":{"tools":{}},"tools":[{},{}],"authentication":{"required":true,"schemes":["oauth2"]}}"#;
    let site = Site::new(&[("/.well-known/mcp/server-card.json", Page::json(draft))]);
    let outcome = mcpmini(&Scratch::new(), &["card", &site.host()]);
    for line in [
        "can          tools",
        "tools        2 are listed",
        "protocol     2025-06-18",
        "login        needed (oauth2)",
        "found as     legacy, an older form (sep-1649)",
    ] {
        assert!(outcome.out.lines().any(|shown| shown == line), "{line}: {outcome:?}");
    }
}

#[test]
fn servers_of_one_name_are_told_apart_by_their_identifiers() {
    let entry = |identifier: &str, url: &str| {
        format!(
            r#"{{"identifier":"{identifier}","type":"application/mcp-server-card+json","url":"{url}"}}"#
        )
    };
    let (one, other) = ("urn:air:example.com:east:weather", "urn:air:example.com:west:weather");
    let catalog = format!(
        r#"{{"specVersion":"0.9","entries":[{},{}]}}"#,
        entry(one, "/east.json"),
        entry(other, "/west.json")
    );
    let site = Site::new(&[
        (CATALOG, Page::json(&catalog)),
        ("/east.json", Page::json(CARD)),
        ("/west.json", Page::json(&CARD.replace("1.2.0", "1.3.0"))),
    ]);
    let show = |more: &[&str]| mcpmini(&Scratch::new(), &[&["card", &site.host()], more].concat());
    for outcome in [show(&[]), show(&["--entry", "com.example/weather"])] {
        assert_eq!((outcome.code, outcome.out.as_str()), (2, ""), "{outcome:?}");
        for told in [one, other, "--entry IDENTIFIER"] {
            assert!(outcome.err.contains(told), "{told}: {outcome:?}");
        }
    }
    let outcome = show(&["--entry", other]);
    assert!(outcome.out.starts_with("com.example/weather 1.3.0\n"), "{outcome:?}");
}
