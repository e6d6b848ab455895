//! Where servers are looked for, and in which order.

use crate::site::{CARD, CATALOG, INFO, Page, Site, mcpmini, rows};
use crate::support::{Scratch, closed_url};

/// Looks at the host of a site with these documents: name, version, URL and way of each server.
#[track_caller]
fn check(pages: &[(&str, Page)], expected: &[&str]) -> Site {
    let site = Site::new(pages);
    let outcome = mcpmini(&Scratch::new(), &["discover", &site.host()]);
    let out = site.plain(&outcome.out);
    let found: Vec<_> = rows(&out).iter().map(|row| row[..4].join(" ")).collect();
    assert_eq!(found, expected, "{outcome:?}");
    site
}

fn catalog(entries: &str) -> Page {
    Page::json(&format!(r#"{{"specVersion":"1.0","entries":[{entries}]}}"#))
}

fn entry(identifier: &str, url: &str) -> String {
    format!(
        r#"{{"identifier":"{identifier}","type":"application/mcp-server-card+json","url":"{url}"}}"#
    )
}

const WEATHER: &str = "com.example/weather 1.2.0 $O/mcp";

#[test]
fn the_catalog_comes_first_and_is_enough() {
    let entries = entry("urn:air:example.com:mcp:weather", "/cards/weather");
    let pages = [(CATALOG, catalog(&entries)), ("/cards/weather", Page::json(CARD))];
    let site = check(&pages, &[&format!("{WEATHER} ai-catalog")]);
    assert_eq!(site.asked(), [format!("GET {CATALOG}"), "GET /cards/weather".to_owned()]);
    let request = &site.server.requests()[1];
    let accept = "application/mcp-server-card+json, application/json;q=0.9";
    assert_eq!(request.header("accept"), Some(accept));
    for name in ["authorization", "cookie", "origin"] {
        assert_eq!(request.header(name), None, "{name}");
    }
}

#[test]
fn cards_may_stand_in_the_catalog_and_catalogs_in_catalogs() {
    let data =
        format!(r#"{{"identifier":"a","mediaType":"application/mcp-server+json","data":{CARD}}}"#);
    check(&[(CATALOG, catalog(&data))], &[&format!("{WEATHER} ai-catalog")]);
    let nested = |url: &str| {
        format!(r#"{{"identifier":"{url}","type":"application/ai-catalog+json","url":"{url}"}}"#)
    };
    // Each names the other, and itself.
    let pages = [
        (CATALOG, catalog(&format!("{},{}", nested("/more"), nested(CATALOG)))),
        ("/more", catalog(&format!("{},{}", nested(CATALOG), entry("b", "/card")))),
        ("/card", Page::json(CARD)),
    ];
    let site = check(&pages, &[&format!("{WEATHER} ai-catalog")]);
    assert_eq!(site.asked().len(), 3, "{:?}", site.asked());
}

#[test]
fn a_card_that_cannot_be_had_is_listed_as_the_catalog_says() {
    let entries = r#"{"identifier":"urn:air:x:gone","type":"application/mcp-server-card+json","url":"/gone","displayName":"Gone","version":"3"}"#;
    let site = check(&[(CATALOG, catalog(entries))], &["Gone 3  ai-catalog"]);
    let outcome = mcpmini(&Scratch::new(), &["discover", &site.host()]);
    assert!(outcome.out.trim_end().ends_with("its card was not fetched"), "{outcome:?}");
}

#[test]
fn a_catalog_that_cannot_be_had_is_told_where_another_lists_it() {
    let nested = r#"{"identifier":"n","type":"application/ai-catalog+json","url":"/more"}"#;
    let pages =
        [(CATALOG, catalog(&format!("{nested},{}", entry("b", "/c")))), ("/c", Page::json(CARD))];
    let site = Site::new(&pages);
    let outcome = mcpmini(&Scratch::new(), &["discover", &site.host()]);
    assert_eq!((outcome.code, outcome.out.lines().count()), (0, 1), "{outcome:?}");
    let told = "$O/more, which is listed in $O/.well-known/ai-catalog.json, was not read: HTTP 404";
    assert!(site.plain(&outcome.err).contains(told), "{outcome:?}");
}

#[test]
fn a_file_is_a_catalog_like_any_other() {
    let scratch = Scratch::new();
    let of = |name: &str| {
        let card = CARD.replace("weather", name).replace("$O", "https://h.example");
        format!(
            r#"{{"identifier":"urn:air:h:{name}","type":"application/mcp-server-card+json","data":{card}}}"#
        )
    };
    let listed = [of("a"), of("b"), entry("urn:air:h:c", "/c"), "7".to_owned()].join(",");
    scratch.write("catalog.json", catalog(&listed).body);
    let found = mcpmini(&scratch, &["discover", "./catalog.json", "--json"]);
    assert_eq!((found.code, found.out.lines().count()), (0, 3), "{found:?}");
    assert!(found.out.contains(r#""identifier":"urn:air:h:b""#), "{found:?}");
    assert!(found.out.contains("its card was not fetched"), "{found:?}");
    assert!(found.err.contains("./catalog.json: entries[3] is no object"), "{found:?}");
    let one = mcpmini(&scratch, &["card", "./catalog.json", "--entry", "urn:air:h:b"]);
    assert!(one.code == 0 && one.out.starts_with("com.example/b 1.2.0\n"), "{one:?}");
}

#[test]
fn a_link_of_the_host_leads_to_its_catalog() {
    let root = Page::json("{}").with("Link: <a>; rel=next, </c.json>; rel=\"ai-catalog\"");
    let entries = entry("a", "/card");
    let pages = [("/", root), ("/c.json", catalog(&entries)), ("/card", Page::json(CARD))];
    let site = check(&pages, &[&format!("{WEATHER} link")]);
    assert_eq!(site.asked()[1], "HEAD /");
    // Of several the first is read, and that there are more is told.
    let links = "Link: </c.json>; rel=\"ai-catalog\", </d.json>; rel=\"ai-catalog\", </c.json>; \
                 rel=\"ai-catalog\"";
    site.put("/", Page::json("{}").with(links));
    let outcome = mcpmini(&Scratch::new(), &["discover", &site.host()]);
    assert_eq!((outcome.code, outcome.out.lines().count()), (0, 1), "{outcome:?}");
    let told = "$O/ links to 2 catalogs, and only the first was read: $O/c.json";
    assert!(site.plain(&outcome.err).contains(told), "{outcome:?}");
}

#[test]
fn a_page_is_looked_into_only_on_demand() {
    let page = Page {
        status: "200 OK",
        fields: "Content-Type: text/html\r\n".to_owned(),
        body: "<html><head><link rel='ai-catalog' href='/c.json'></head>".to_owned(),
    };
    let entries = entry("a", "/card");
    let pages = [("/", page), ("/c.json", catalog(&entries)), ("/card", Page::json(CARD))];
    let site = check(&pages, &[]);
    let outcome = mcpmini(&Scratch::new(), &["discover", "--html", &site.host()]);
    assert_eq!((outcome.code, rows(&outcome.out)[0][3]), (0, "link"), "{outcome:?}");
}

#[test]
fn older_places_are_asked_last_and_by_their_priority() {
    let draft = r#"{"version":"1.0","serverInfo":{"name":"old","version":"9"},"transport":{"type":"streamable-http","endpoint":"/mcp"}}"#;
    let manifest = r#"{"mcp_version":"x","server_name":"older","server_version":"8","endpoints":{"streamable_http":"/mcp"}}"#;
    let list =
        r#"{"servers":[{"name":"a","url":"/a","transport":"http"},{"name":"b","command":"sh"}]}"#;
    let config = r#"{"mcpServers":{"c":{"url":"https://c.example/mcp"}}}"#;
    let old = "old 9 $O/mcp legacy";
    check(&[("/.well-known/mcp/server-card.json", Page::json(draft))], &[old]);
    check(&[("/.well-known/mcp", Page::json(manifest))], &["older 8 $O/mcp legacy"]);
    check(&[("/.well-known/mcp.json", Page::json(list))], &["a  $O/a legacy", "b   legacy"]);
    check(&[("/.well-known/mcp.json", Page::json(config))], &["c  https://c.example/mcp legacy"]);
    check(&[("/mcp/server-card", Page::json(CARD))], &[&format!("{WEATHER} legacy")]);
    let both = [
        ("/.well-known/mcp", Page::json(manifest)),
        ("/.well-known/mcp/server-card.json", Page::json(draft)),
    ];
    check(&both, &[old]);
}

#[test]
fn the_standard_alone_asks_once() {
    let draft = r#"{"name":"old","url":"/mcp"}"#;
    let site = Site::new(&[("/.well-known/mcp.json", Page::json(draft))]);
    let outcome = mcpmini(&Scratch::new(), &["discover", "--standard", &site.host()]);
    assert_eq!((outcome.code, site.asked().len()), (4, 1), "{outcome:?}");
}

#[test]
fn an_endpoint_has_its_card_beside_it() {
    let site = Site::new(&[("/a/mcp/server-card", Page::json(&CARD.replace("/mcp", "/a/mcp")))]);
    let outcome = mcpmini(&Scratch::new(), &["discover", &site.at("/a/mcp/?x=1")]);
    assert_eq!(site.plain(&outcome.out).split('\t').nth(3), Some("server-card"), "{outcome:?}");
    assert_eq!(site.asked(), ["GET /a/mcp/server-card"]);
    // Else it is in the catalog of the host, or in an older document, if that is about it.
    let entries = format!("{},{}", entry("a", "/card"), entry("b", "/other"));
    let other = CARD.replace("$O/mcp", "$O/other").replace("weather", "other");
    let pages =
        [(CATALOG, catalog(&entries)), ("/card", Page::json(CARD)), ("/other", Page::json(&other))];
    let site = Site::new(&pages);
    let outcome = mcpmini(&Scratch::new(), &["discover", &site.at("/mcp")]);
    assert_eq!(rows(&site.plain(&outcome.out))[0][..3].join(" "), WEATHER, "{outcome:?}");
    assert_eq!(outcome.out.lines().count(), 1, "{outcome:?}");
    let nowhere = mcpmini(&Scratch::new(), &["discover", &site.at("/elsewhere")]);
    assert_eq!(nowhere.code, 4, "{nowhere:?}");
}

#[test]
fn an_endpoint_is_never_asked_for_a_card_itself() {
    let site = Site::new(&[]).serving(INFO);
    let outcome = mcpmini(&Scratch::new(), &["card", &site.at("/mcp")]);
    assert_eq!(outcome.code, 4, "{outcome:?}");
    assert!(!site.asked().contains(&"GET /mcp".to_owned()), "{:?}", site.asked());
    assert!(outcome.err.contains("if that is a card itself, write card:http"), "{outcome:?}");
    let site = Site::new(&[("/mcp", Page::json(CARD))]);
    let outcome = mcpmini(&Scratch::new(), &["card", &format!("card:{}", site.at("/mcp"))]);
    assert_eq!((outcome.code, site.asked().len()), (0, 1), "{outcome:?}");
}

#[test]
fn a_pointer_is_followed_once_and_conflicts_are_told() {
    let manifest = |endpoint: &str, card: &str| {
        Page::json(&format!(r#"{{"endpoint":"{endpoint}","name":"m","serverCard":"{card}"}}"#))
    };
    let well_known = "/.well-known/mcp.json";
    let found = |site: &Site| {
        let outcome = mcpmini(&Scratch::new(), &["discover", &site.host()]);
        let out = site.plain(&outcome.out);
        (rows(&out)[0][..3].join(" "), site.plain(&outcome.err))
    };
    let card = ("/card.json", Page::json(CARD));
    let site = Site::new(&[(well_known, manifest("/mcp", "/card.json")), card.clone()]);
    assert_eq!(found(&site), (WEATHER.to_owned(), String::new()));
    let site = Site::new(&[(well_known, manifest("/other", "/card.json")), card]);
    let told = "mcpmini: warning: the manifest names the endpoint $O/other, and the card it points to \
                $O/mcp; the card counts\n";
    assert_eq!(found(&site), (WEATHER.to_owned(), told.to_owned()));
    // On another host the card does not count.
    let other = Site::new(&[("/card.json", Page::json(CARD))]);
    let site = Site::new(&[(well_known, manifest("/other", &other.at("/card.json")))]);
    let (server, told) = found(&site);
    assert_eq!(server, "m  $O/other");
    assert!(told.ends_with("; the manifest counts\n"), "{told}");
}

#[test]
fn what_is_protected_wants_a_login_and_a_name_of_the_registry_its_prefix() {
    let scratch = Scratch::new();
    for status in ["401 Unauthorized", "403 Forbidden"] {
        let site = Site::new(&[("/card.json", Page { status, ..Page::json("{}") })]);
        let outcome = mcpmini(&scratch, &["card", &format!("card:{}", site.at("/card.json"))]);
        assert_eq!(outcome.code, 7, "{outcome:?}");
        assert!(outcome.err.contains("protected"), "{outcome:?}");
    }
    for words in [["discover", "com.example/weather"], ["add", "com.example/weather"]] {
        let outcome = mcpmini(&scratch, &words);
        assert_eq!(outcome.code, 2, "{outcome:?}");
        assert!(outcome.err.contains("registry:com.example/weather"), "{outcome:?}");
    }
}

#[test]
fn what_was_not_found_is_told_with_every_place() {
    let site = Site::new(&[]);
    let outcome = mcpmini(&Scratch::new(), &["discover", &site.host()]);
    assert_eq!((outcome.code, outcome.out.as_str()), (4, ""));
    let places = outcome.err.lines().filter(|line| line.contains(": HTTP 404")).count();
    assert_eq!(places, 9, "{outcome:?}");
    assert!(site.asked().len() <= 12);
    let url = closed_url();
    let host = url.trim_start_matches("http://").trim_end_matches("/mcp");
    let outcome = mcpmini(&Scratch::new(), &["discover", host, "--json-errors"]);
    assert_eq!(outcome.code, 4);
    assert!(outcome.err.contains("\"retryable\":true"), "{outcome:?}");
    assert_eq!(outcome.err.matches(&url[..20]).count(), 1, "one place is enough: {outcome:?}");
}

#[test]
fn a_host_without_documents_can_be_asked_for_a_server() {
    let site = Site::new(&[]).serving(INFO);
    let outcome = mcpmini(&Scratch::new(), &["discover", "--probe", &site.host()]);
    let row = "weather 1.2.0 $O/mcp probe";
    let out = site.plain(&outcome.out);
    assert_eq!(rows(&out)[0][..4].join(" "), row, "{outcome:?}");
    let none = Site::new(&[]);
    let outcome = mcpmini(&Scratch::new(), &["discover", "--probe", &none.host()]);
    assert_eq!((outcome.code, outcome.out.as_str()), (4, ""), "{outcome:?}");
    assert!(outcome.err.contains("/mcp: no MCP server answers"), "{outcome:?}");
}

#[test]
fn pages_for_browsers_are_no_documents() {
    let html =
        Page { status: "200 OK", fields: "Content-Type: text/html\r\n".into(), body: "{}".into() };
    let site = Site::new(&[(CATALOG, html)]);
    let outcome = mcpmini(&Scratch::new(), &["discover", "--standard", &site.host()]);
    assert!(outcome.err.contains("ai-catalog.json: no JSON document"), "{outcome:?}");
}

#[test]
fn catalogs_of_the_future_are_not_guessed_at() {
    let site = Site::new(&[(CATALOG, Page::json(r#"{"specVersion":"2.0","entries":[]}"#))]);
    let outcome = mcpmini(&Scratch::new(), &["discover", "--standard", &site.host()]);
    assert_eq!(outcome.code, 4);
    assert!(outcome.err.contains("it is a catalog of version \"2.0\""), "{outcome:?}");
}

#[test]
fn json_lines_have_the_card_as_it_came() {
    let card = CARD.replace("\"description\"", "\"x\":12345678901234567890123, \"description\"");
    let site = Site::new(&[("/mcp/server-card", Page::json(&card))]);
    let outcome = mcpmini(&Scratch::new(), &["discover", "--json", &site.at("/mcp")]);
    let whole = format!("\"card\":{}}}\n", card.replace("$O", &site.server.origin));
    assert!(outcome.out.ends_with(&whole), "{outcome:?}");
    assert!(outcome.out.contains(r#""signature":"not-checked""#), "{outcome:?}");
    let status = r#""source":"server-card","form":"v1","status":"standard""#;
    assert!(outcome.out.contains(status), "{outcome:?}");
}

#[test]
fn a_silent_host_is_not_waited_for_longer_than_is_said() {
    let silent = crate::server::Server::start(|_, peer| {
        peer.wait_for_hang_up();
        false
    });
    let host = silent.origin.trim_start_matches("http://");
    let outcome = mcpmini(&Scratch::new(), &["discover", host, "-T", "300ms"]);
    assert_eq!(outcome.code, 124, "{outcome:?}");
    assert!(outcome.took < std::time::Duration::from_secs(4), "{outcome:?}");
}

#[test]
fn a_call_to_what_is_no_endpoint_tells_how_to_look_for_one_and_does_not() {
    let page = |status, body: &str| Page {
        status,
        fields: "Content-Type: text/html\r\n".to_owned(),
        body: body.to_owned(),
    };
    for (status, code) in [("404 Not Found", 3), ("405 Method Not Allowed", 3), ("200 OK", 6)] {
        for path in ["/", "/mcp"] {
            let site = Site::new(&[(path, page(status, "<html>")), (CATALOG, Page::json("{}"))]);
            let outcome = mcpmini(&Scratch::new(), &["call", &site.at(path), "x", "{}"]);
            assert_eq!(outcome.code, code, "{status}: {outcome:?}");
            let hint = "to look for one: mcpmini discover $O\n";
            assert!(site.plain(&outcome.err).ends_with(hint), "{status}: {outcome:?}");
            assert!(site.asked().iter().all(|it| it.ends_with(path)), "{:?}", site.asked());
            // What it says is a command that looks at the host.
            let found = mcpmini(&Scratch::new(), &["discover", &site.server.origin]);
            assert_eq!(found.code, 4, "{found:?}");
        }
    }
    let site = Site::new(&[("/", page("500 Oh", "<html>"))]);
    let outcome = mcpmini(&Scratch::new(), &["call", &site.at("/"), "x", "{}"]);
    assert!(!outcome.err.contains("discover"), "{outcome:?}");
}
