//! Servers that are looked up and written down.

use std::fs;

use crate::site::{CARD, INFO, Page, Site, mcpmini};
use crate::support::{Scratch, run};

const PLACE: &str = "/mcp/server-card";
const CONFIG: &str = ".config/mcpmini/config.json";

/// The entries of the configuration, as compact JSON.
fn entries(scratch: &Scratch) -> String {
    let text = fs::read_to_string(scratch.path(CONFIG)).unwrap_or_default();
    let whole: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    whole["mcpServers"].to_string()
}

/// The digest that an error tells.
fn digest(err: &str) -> String {
    let at = err.find("--accept sha256:").unwrap_or_else(|| panic!("{err}"));
    err[at + "--accept ".len()..].split_whitespace().next().unwrap().to_owned()
}

#[test]
fn a_server_of_the_host_that_was_named_is_added() {
    let scratch = Scratch::new();
    let site = Site::new(&[(PLACE, Page::json(CARD))]).serving(INFO);
    let outcome = mcpmini(&scratch, &["add", &site.at("/mcp")]);
    assert_eq!((outcome.code, outcome.err.as_str()), (0, ""), "{outcome:?}");
    assert!(outcome.out.starts_with("com.example/weather 1.2.0\n"), "{outcome:?}");
    assert!(outcome.out.contains("\nThe server says: weather 1.2.0\n"), "{outcome:?}");
    assert!(
        outcome.out.ends_with(&format!("\nadded weather to {}\n", scratch.path(CONFIG).display()))
    );
    let expected = r#"{"weather":{"type":"http","url":"$O/mcp","card":"$O/mcp/server-card"}}"#;
    assert_eq!(site.plain(&entries(&scratch)), expected);
    // From then on it is a server like any other, and its card is not asked for.
    let before = site.asked().len();
    assert_eq!(mcpmini(&scratch, &["tools", "weather"]).code, 0);
    assert!(site.asked()[before..].iter().all(|it| it == "POST /mcp"), "{:?}", site.asked());
    // Nor is it when somebody asks what the card says.
    let shown = mcpmini(&scratch, &["card", "weather"]);
    assert!(shown.out.starts_with("com.example/weather 1.2.0\n"), "{shown:?}");
    let again = mcpmini(&scratch, &["add", &site.at("/mcp")]);
    assert_eq!(again.code, 9, "{again:?}");
    let named = mcpmini(&scratch, &["add", "other", &site.host()]);
    assert!(named.out.contains("found as     legacy") && named.code == 0, "{named:?}");
}

#[test]
fn info_holds_a_server_against_its_card() {
    let scratch = Scratch::new();
    let site = Site::new(&[(PLACE, Page::json(CARD))]).serving(INFO);
    assert_eq!(mcpmini(&scratch, &["add", &site.at("/mcp")]).code, 0);
    let outcome = mcpmini(&scratch, &["info", "weather"]);
    assert!(
        site.plain(&outcome.out).contains("\ncard         $O/mcp/server-card\n"),
        "{outcome:?}"
    );
    assert!(!outcome.out.contains("differs"), "{outcome:?}");
    let site = site.serving(r#"{"name":"weather","version":"2"}"#);
    let outcome = mcpmini(&scratch, &["info", "weather"]);
    let differs = "\ndiffers      version: the card says 1.2.0, the server 2\n";
    assert!(outcome.out.contains(differs), "{outcome:?}");
    let outcome = mcpmini(&scratch, &["info", "weather", "--json"]);
    let differs = r#""differences":[{"what":"version","card":"1.2.0","server":"2"}]"#;
    assert!(outcome.out.contains(differs), "{outcome:?}");
    // Without the card, what the server is can be told still.
    site.put(PLACE, Page { status: "404 Not Found", ..Page::json("{}") });
    let outcome = mcpmini(&scratch, &["info", "weather", "--refresh"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.err.contains("the card of this server cannot be had"), "{outcome:?}");
}

#[test]
fn a_card_inside_of_a_catalog_is_looked_for_there_again() {
    let scratch = Scratch::new();
    let entry = |name: &str, card: &str| {
        format!(
            r#"{{"identifier":"urn:air:h:{name}","type":"application/mcp-server-card+json","data":{card}}}"#
        )
    };
    let catalog = |card: &str| {
        // The other one calls itself by the identifier of the one that is meant.
        let other = CARD.replace("com.example/weather", "urn:air:h:weather").replace("1.2.0", "9");
        // What else the catalog lists is not asked for: neither here nor without encryption.
        let more = r#"{"identifier":"m","type":"application/ai-catalog+json","url":"/more"}"#;
        let far = more.replace("/more", "http://192.0.2.1/");
        let entries = [entry("other", &other), entry("weather", card), more.into(), far].join(",");
        Page::json(&format!(r#"{{"specVersion":"0.9","entries":[{entries}]}}"#))
    };
    let site = Site::new(&[("/.well-known/ai-catalog.json", catalog(CARD))]).serving(INFO);
    let words = ["add", &site.host(), "--entry", "com.example/weather"];
    assert_eq!(mcpmini(&scratch, &words).code, 0);
    let expected = r#"{"weather":{"type":"http","url":"$O/mcp","card":"$O/.well-known/ai-catalog.json","cardEntry":"urn:air:h:weather"}}"#;
    assert_eq!(site.plain(&entries(&scratch)), expected);
    let place = "\ncard         $O/.well-known/ai-catalog.json, entry urn:air:h:weather\n";
    let told = mcpmini(&scratch, &["info", "weather"]);
    assert!(site.plain(&told.out).contains(place) && !told.out.contains("differs"), "{told:?}");
    let shown = mcpmini(&scratch, &["card", "weather"]);
    assert!(shown.out.starts_with("com.example/weather 1.2.0\n"), "{shown:?}");
    assert!(shown.err.is_empty() && told.err.is_empty(), "{shown:?} {told:?}");
    site.put("/.well-known/ai-catalog.json", catalog(&CARD.replace("1.2.0", "2")));
    let asked = site.asked().len();
    let told = mcpmini(&scratch, &["info", "weather", "--refresh"]);
    assert!(!site.asked()[asked..].contains(&"GET /more".to_owned()), "{:?}", site.asked());
    assert!(
        told.out.contains("\ndiffers      version: the card says 2, the server 1.2.0\n"),
        "{told:?}"
    );
}

#[test]
fn where_trust_is_strict_a_server_must_be_as_its_card_says() {
    let scratch = Scratch::new();
    let site = Site::new(&[(PLACE, Page::json(CARD))]);
    let strict = |words: &[&str]| run(scratch.mcpmini(words).env("MCPMINI_TRUST", "strict"));
    let differs = "the server is not as its card says: version: the card says 1.2.0, the server 2";
    let site = site.serving(r#"{"name":"weather","version":"2"}"#);
    let shown = strict(&["card", &site.at("/mcp"), "--connect"]);
    assert_eq!(shown.code, 8, "{shown:?}");
    assert!(
        shown.out.contains("\ndiffers      version") && shown.err.contains(differs),
        "{shown:?}"
    );
    let refused = strict(&["add", &site.at("/mcp")]);
    assert_eq!((refused.code, entries(&scratch).as_str()), (8, "null"), "{refused:?}");
    assert!(refused.err.contains(differs), "{refused:?}");
    let site = site.serving(INFO);
    assert_eq!(strict(&["card", &site.at("/mcp"), "--connect"]).code, 0);
    assert_eq!(strict(&["add", &site.at("/mcp")]).code, 0);
    // To add it is not yet to accept it.
    let unaccepted = strict(&["tools", "weather"]);
    assert_eq!(unaccepted.code, 8, "{unaccepted:?}");
    let shown = strict(&["trust", "show", "weather"]);
    let (_, digest) = shown.out.rsplit_once("digest       ").unwrap();
    assert_eq!(strict(&["trust", "add", "weather", "--accept", digest.trim()]).code, 0);
    assert_eq!(strict(&["tools", "weather"]).code, 0);
    assert_eq!(strict(&["info", "weather"]).code, 0);
    // Elsewhere it is a remark.
    let site = site.serving(r#"{"name":"weather","version":"3"}"#);
    assert_eq!(mcpmini(&scratch, &["card", &site.at("/mcp"), "--connect"]).code, 0);
}

#[test]
fn a_server_of_another_host_is_added_only_when_it_is_accepted() {
    let scratch = Scratch::new();
    let other = Site::new(&[]).serving(INFO);
    let card = CARD.replace("$O", &other.server.origin);
    let site = Site::new(&[(PLACE, Page::json(&card))]);
    // `localhost` is another host than `127.0.0.1`.
    let url = site.at("/mcp").replace("127.0.0.1", "localhost");
    let refused = mcpmini(&scratch, &["add", &url]);
    assert_eq!((refused.code, refused.out.as_str()), (8, ""), "{refused:?}");
    let whole = format!("mcpmini add {url} --accept sha256:");
    assert!(refused.err.contains(&whole), "{refused:?}");
    assert!(refused.err.contains(&format!("it contacts {}", other.at("/mcp"))), "{refused:?}");
    assert_eq!((entries(&scratch).as_str(), other.asked().len()), ("null", 0));
    let wrong = format!("sha256:{}", "0".repeat(64));
    let outcome = mcpmini(&scratch, &["add", &url, "--accept", &wrong]);
    assert_eq!(outcome.code, 8, "{outcome:?}");
    assert!(outcome.err.contains("is not what you accept"), "{outcome:?}");
    assert_eq!(mcpmini(&scratch, &["add", &url, "--accept", "yes"]).code, 2);
    let accepted = mcpmini(&scratch, &["add", &url, "--accept", &digest(&refused.err)]);
    assert_eq!(accepted.code, 0, "{accepted:?}");
    // What moves meanwhile is not what was accepted.
    site.put(PLACE, Page::json(&card.replace("/mcp\"", "/evil\"")));
    let words = ["add", &url, "--force", "--refresh", "--accept", &digest(&refused.err)];
    let moved = mcpmini(&scratch, &words);
    assert_eq!(moved.code, 8, "{moved:?}");
}

#[test]
fn a_policy_says_what_becomes_of_servers_of_other_hosts() {
    let scratch = Scratch::new();
    let other = Site::new(&[]).serving(INFO);
    let card = CARD.replace("$O", &other.server.origin);
    let site = Site::new(&[(PLACE, Page::json(&card))]);
    let url = site.at("/mcp").replace("127.0.0.1", "localhost");
    std::fs::create_dir_all(scratch.path(".config/mcpmini")).unwrap();
    let policy = |value: &str| {
        let text = format!("cross_domain = \"{value}\"\n");
        scratch.write(".config/mcpmini/policy.toml", text);
    };
    policy("ask");
    let asked = mcpmini(&scratch, &["add", &url]);
    assert_eq!((asked.code, other.asked().len()), (8, 0), "{asked:?}");
    let accept = ["add", &url, "--accept", &digest(&asked.err)];
    policy("deny");
    let denied = mcpmini(&scratch, &accept);
    assert_eq!((denied.code, other.asked().len()), (8, 0), "{denied:?}");
    assert!(denied.err.contains("it is on another host, and cross_domain is deny"), "{denied:?}");
    assert_eq!(entries(&scratch), "null");
    policy("allow");
    assert_eq!(mcpmini(&scratch, &["add", &url]).code, 0);
    // A file is no domain: what it says is always asked about.
    let file = format!("file:{}", scratch.write("card.json", &card));
    assert_eq!(mcpmini(&scratch, &["add", &file]).code, 8);
}

#[test]
fn what_is_open_is_filled_in_and_secrets_stay_outside() {
    let card = r#"{"name":"a/b","version":"1","description":"d","remotes":[{"type":"streamable-http",
        "url":"$O/{tenant}/mcp","variables":{"tenant":{"isRequired":true,"choices":["x","y z"]}},
        "headers":[{"name":"Authorization","value":"Bearer {token}","variables":{"token":
        {"isRequired":true,"isSecret":true,"description":"API token"}}},{"name":"X-Fix","value":"${HOME}"},
        {"name":"X-Opt"},{"name":"X-Def","default":"d"}]}]}"#;
    let site = Site::new(&[("/card.json", Page::json(card))]);
    let (scratch, url) = (Scratch::new(), format!("card:{}", site.at("/card.json")));
    let add = |more: &[&str]| mcpmini(&scratch, &[&["add", &url], more].concat());
    let missing = add(&[]);
    let told = "values are missing:\n    tenant [x, y z]\n    token (secret): API token\n";
    assert_eq!(missing.code, 9, "{missing:?}");
    assert!(missing.err.contains(told), "{missing:?}");
    let check = |more: &[&str], code: i32, told: &str| {
        let outcome = add(more);
        assert_eq!(outcome.code, code, "{outcome:?}");
        assert!(outcome.err.contains(told), "{outcome:?}");
        assert_eq!(entries(&scratch), "null");
    };
    let token = ["--var", "token=${TOKEN}"];
    check(&["--var", "tenant=z", token[0], token[1]], 9, "tenant must be one of x, y z");
    check(&["--var", "tenant=x", "--var", "token=hunter2"], 9, "token is a secret");
    let unknown = ["--var", "tenant=x", token[0], token[1], "--var", "user=x"];
    check(&unknown, 2, "--var user: the document leaves nothing of that name open");
    let mut command = scratch.mcpmini(["add", &url, "--var", "tenant=y z"]);
    let outcome = run(command.env("MCPMINI_VAR_TOKEN", "hunter2"));
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let expected = r#"{"b":{"type":"http","url":"$O/y%20z/mcp","headers":{"Authorization":"Bearer ${MCPMINI_VAR_TOKEN}","X-Fix":"$${HOME}","X-Def":"d"},"card":"$O/card.json"}}"#;
    assert_eq!(site.plain(&entries(&scratch)), expected);
    // The secret went to the server, and the document's words were not looked up.
    let posted = site.server.requests().into_iter().find(|it| it.method == "POST").unwrap();
    assert_eq!(posted.header("authorization"), Some("Bearer hunter2"));
    assert_eq!(posted.header("x-fix"), Some("${HOME}"));
}

#[test]
fn headers_that_steer_are_refused() {
    for (name, value) in [
        ("Host", "evil"),
        ("Cookie", "a=b"),
        ("Content-Length", "1"),
        ("mcp-session-id", "x"),
        ("Proxy-Authorization", "x"),
        ("X Y", "x"),
        ("X-Cmd", "!touch pwned"),
        ("X-Line", "a\\r\\nEvil: 1"),
    ] {
        let card = CARD.replace(
            "\"url\"",
            &format!("\"headers\":[{{\"name\":\"{name}\",\"value\":\"{value}\"}}],\"url\""),
        );
        let site = Site::new(&[(PLACE, Page::json(&card))]).serving(INFO);
        let scratch = Scratch::new();
        let outcome = mcpmini(&scratch, &["add", &site.at("/mcp")]);
        assert_eq!((outcome.code, entries(&scratch).as_str()), (9, "null"), "{name}: {outcome:?}");
        assert!(!scratch.path("pwned").exists(), "{name}");
        assert_eq!(site.asked().len(), 1, "{name}");
    }
}

#[test]
fn a_document_of_the_network_never_starts_a_command() {
    let documents = [
        r#"{"mcpServers":{"x":{"command":"touch","args":["pwned"]}}}"#,
        r#"{"servers":[{"name":"x","command":"touch","args":["pwned"]}]}"#,
        r#"{"name":"x","url":"exec:touch pwned"}"#,
        r#"{"name":"x","url":"unix:/tmp/x"}"#,
        r#"{"name":"x","url":"file:///etc/passwd"}"#,
        r#"{"name":"x","transport":{"type":"stdio","command":"touch","url":"x"}}"#,
    ];
    for document in documents {
        let site = Site::new(&[("/card.json", Page::json(document))]);
        let scratch = Scratch::new();
        let outcome = mcpmini(&scratch, &["add", &format!("card:{}", site.at("/card.json"))]);
        assert_eq!(
            (outcome.code, entries(&scratch).as_str()),
            (9, "null"),
            "{document}: {outcome:?}"
        );
        assert!(!scratch.path("pwned").exists(), "{document}");
    }
}

#[test]
fn a_card_that_is_not_the_one_of_the_catalog_is_refused() {
    let add = |digest: &str| {
        let catalog = format!(
            r#"{{"specVersion":"1.0","entries":[{{"identifier":"x","type":"application/mcp-server-card+json","url":"/card","digest":"{digest}"}}]}}"#
        );
        let card = CARD.replace("$O/mcp", "http://127.0.0.1:9/mcp");
        let site = Site::new(&[
            ("/.well-known/ai-catalog.json", Page::json(&catalog)),
            ("/card", Page::json(&card)),
        ]);
        (mcpmini(&Scratch::new(), &["add", &site.host()]), card)
    };
    let (outcome, card) = add(&format!("sha256:{}", "0".repeat(64)));
    assert_eq!(outcome.code, 8, "{outcome:?}");
    assert!(outcome.err.contains("is not the one that the catalog lists"), "{outcome:?}");
    let right = mcpmini::config::Digest::of(card.as_bytes()).to_string();
    let (outcome, _) = add(&right);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.out.contains("hash         is the one that the catalog lists"), "{outcome:?}");
    assert!(outcome.err.contains("the server could not be asked"), "{outcome:?}");
}

#[test]
fn the_hash_of_a_card_inside_of_a_catalog_is_that_of_its_value() {
    let card = CARD.replace("$O/mcp", "http://127.0.0.1:9/mcp");
    let value = mcpmini::protocol::canonical::canonical(&card).unwrap();
    let right = mcpmini::config::Digest::of(value.as_bytes()).to_string();
    let bytes = mcpmini::config::Digest::of(card.as_bytes()).to_string();
    let site = |digest: &str, card: &str| {
        let catalog = format!(
            r#"{{"specVersion":"1.0","entries":[{{"identifier":"x","type":"application/mcp-server-card+json","data":{card},"digest":"{digest}"}}]}}"#
        );
        Site::new(&[("/.well-known/ai-catalog.json", Page::json(&catalog))])
    };
    let spaced = card.replace(':', " : ").replace(" : //", "://").replace(" : 9", ":9");
    for card in [&card, &spaced] {
        let (site, scratch) = (site(&right, card), Scratch::new());
        let shown = mcpmini(&scratch, &["card", &site.host()]);
        assert!(shown.out.contains("hash         is the one that"), "{shown:?}");
        let found = mcpmini(&scratch, &["discover", &site.host(), "--json"]);
        assert!(found.out.contains(r#""digestHolds":true"#), "{found:?}");
        assert_eq!(mcpmini(&scratch, &["add", &site.host()]).code, 0);
    }
    // Of something else, of the text, or of what can be read in two ways.
    let twice = card.replace("\"version\"", "\"version\":\"0\",\"version\"");
    let other = card.replace("1.2.0", "1.2.1");
    for (digest, card) in
        [(&right, &other), (&bytes, &card), (&right, &twice), (&right.to_uppercase(), &card)]
    {
        let (site, scratch) = (site(digest, card), Scratch::new());
        let shown = mcpmini(&scratch, &["card", &site.host()]);
        assert_eq!(shown.code, 0, "{shown:?}");
        assert!(shown.out.contains("hash         is NOT the one"), "{shown:?}");
        let found = mcpmini(&scratch, &["discover", &site.host()]);
        assert!(found.out.contains("not the card that the catalog lists"), "{found:?}");
        let added = mcpmini(&scratch, &["add", &site.host()]);
        assert_eq!((added.code, entries(&scratch).as_str()), (8, "null"), "{added:?}");
    }
}

#[test]
fn a_hash_of_a_catalog_or_of_a_pointer_is_no_hash_of_the_card() {
    let hash = |text: &str| mcpmini::config::Digest::of(text.as_bytes()).to_string();
    let card = CARD.replace("$O/mcp", "http://127.0.0.1:9/mcp");
    let catalog =
        |entry: &str| Page::json(&format!(r#"{{"specVersion":"1.0","entries":[{entry}]}}"#));
    let inner = r#"{"specVersion":"1.0","entries":[{"identifier":"x","type":"application/mcp-server-card+json","url":"/card"}]}"#;
    let pointer = r#"{"name":"weather","serverCard":"/card"}"#;
    let site = |kind: &str, url: &str, digest: &str| {
        let entry = format!(
            r#"{{"identifier":"x","type":"application/{kind}","url":"{url}","digest":"{digest}"}}"#
        );
        Site::new(&[
            ("/.well-known/ai-catalog.json", catalog(&entry)),
            ("/inner", Page::json(inner)),
            ("/pointer", Page::json(pointer)),
            ("/card", Page::json(&card)),
        ])
    };
    let discover = |site: Site| mcpmini(&Scratch::new(), &["discover", "--standard", &site.host()]);
    let found = discover(site("ai-catalog+json", "/inner", &hash(inner)));
    assert!(found.out.starts_with("com.example/weather\t"), "{found:?}");
    let found = discover(site("ai-catalog+json", "/inner", &hash("other")));
    assert_eq!((found.code, found.out.as_str()), (4, ""), "{found:?}");
    assert!(found.err.contains("was not read: it has another hash than is listed"), "{found:?}");
    let found = discover(site("mcp-server-card+json", "/pointer", &hash(pointer)));
    assert!(found.out.contains("not the card that the catalog lists"), "{found:?}");
    let found = discover(site("mcp-server-card+json", "/card", &hash(&card)));
    assert!(!found.out.contains("not the card that the catalog lists"), "{found:?}");
}

#[test]
fn an_endpoint_without_a_card_is_added_when_a_server_answers() {
    let scratch = Scratch::new();
    let site = Site::new(&[]).serving(INFO);
    let outcome = mcpmini(&scratch, &["add", &site.at("/mcp")]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(site.plain(&entries(&scratch)), r#"{"127.0.0.1":{"type":"http","url":"$O/mcp"}}"#);
    assert!(outcome.out.starts_with("The server says: weather 1.2.0\n"), "{outcome:?}");
    let nothing = Site::new(&[]);
    let outcome = mcpmini(&scratch, &["add", "x", &format!("card:{}", nothing.at("/x"))]);
    assert_eq!(outcome.code, 4, "{outcome:?}");
    let outcome = mcpmini(&scratch, &["add", &nothing.at("/mcp"), "--force"]);
    assert_ne!(outcome.code, 0, "{outcome:?}");
}

#[test]
fn a_file_is_accepted_before_it_is_added() {
    let scratch = Scratch::new();
    let site = Site::new(&[]).serving(INFO);
    scratch.write("card.json", CARD.replace("$O", &site.server.origin));
    let refused = mcpmini(&scratch, &["add", "./card.json"]);
    assert_eq!(refused.code, 8, "{refused:?}");
    let words = ["add", "w", "card:./card.json", "--accept"];
    let other = mcpmini(&scratch, &[&words[..], &[&digest(&refused.err)]].concat());
    assert_eq!(other.code, 8, "the name is a part of what is accepted: {other:?}");
    let added = mcpmini(&scratch, &["add", "./card.json", "--accept", &digest(&refused.err)]);
    assert_eq!(added.code, 0, "{added:?}");
    assert_eq!(site.plain(&entries(&scratch)), r#"{"weather":{"type":"http","url":"$O/mcp"}}"#);
}

#[test]
fn a_json_line_tells_all_of_it() {
    let scratch = Scratch::new();
    let site = Site::new(&[(PLACE, Page::json(CARD))]).serving(INFO);
    let outcome = mcpmini(&scratch, &["add", "w", &format!("card:{}", site.at(PLACE)), "--json"]);
    let told: serde_json::Value = serde_json::from_str(&outcome.out).unwrap();
    assert_eq!((told["name"].as_str(), told["action"].as_str()), (Some("w"), Some("added")));
    assert_eq!(told["claimed"]["signature"].as_str(), Some("none"));
    assert_eq!(told["server"]["version"].as_str(), Some("1.2.0"));
    assert_eq!(told["differences"].as_array().map(Vec::len), Some(0));
    assert_eq!(outcome.out.lines().count(), 1);
}

#[test]
fn options_that_would_have_no_effect_are_told() {
    let scratch = Scratch::new();
    let check = |words: &[&str], told: &str| {
        let outcome = mcpmini(&scratch, &[&["add"], words].concat());
        assert_eq!(outcome.code, 2, "{words:?}: {outcome:?}");
        assert!(outcome.err.contains(told), "{words:?}: {outcome:?}");
    };
    check(&["s", "http://h/", "--var", "a=b"], "--var is for a server that is looked up");
    let digest = format!("sha256:{}", "0".repeat(64));
    check(&["s", "--accept", &digest, "--", "y"], "--accept is for a server that is looked up");
    check(&["w", "card:./card.json", "--accept", "x"], "is not sha256: and 64 hexadecimal digits");
    check(&["weather"], "add needs a server");
    check(&["npx -y x"], "a command needs a NAME");
    check(&["ftp://h/"], "a URL must begin with http:// or https://");
    check(&["registry:weather"], "mcpmini discover registry:weather looks for one");
    check(&["registry:a/b/c"], "is no name in a registry");
    check(&["a", "b", "c"], "add does not take so many words");
}

#[test]
fn credentials_stay_with_the_host_that_was_named() {
    let other = Site::new(&[]).serving(INFO);
    let site = Site::new(&[(PLACE, Page::json(&CARD.replace("$O", &other.server.origin)))]);
    let url = site.at("/mcp").replace("127.0.0.1", "localhost");
    let scratch = Scratch::new();
    let token = ["card", &url, "--connect", "-H", "Authorization: Bearer hunter2"];
    let refused = mcpmini(&scratch, &token);
    assert_eq!((refused.code, other.asked().len()), (8, 0), "{refused:?}");
    let asked = run(scratch.mcpmini(["card", &url, "--connect"]).env("MCPMINI_TOKEN", "hunter2"));
    assert_eq!(asked.code, 0, "{asked:?}");
    let refused = mcpmini(&scratch, &["add", &url, "-H", "X-Key: hunter2"]);
    assert!(refused.code == 8 && !refused.err.contains("hunter2"), "{refused:?}");
    let refused = mcpmini(&scratch, &["add", &url]);
    let mut add = scratch.mcpmini(["add", &url, "--accept", &digest(&refused.err)]);
    let added = run(add.env("MCPMINI_TOKEN", "hunter2"));
    assert_eq!(added.code, 0, "{added:?}");
    let requests = other.server.requests();
    assert!(2 <= requests.len() && requests.iter().all(|it| it.header("authorization").is_none()));
    // To a host that was named, they go.
    let named = Site::new(&[(PLACE, Page::json(CARD))]).serving(INFO);
    let mut show = scratch.mcpmini(["card", &named.at("/mcp"), "--connect"]);
    let shown = run(show.env("MCPMINI_TOKEN", "hunter2"));
    assert_eq!(shown.code, 0, "{shown:?}");
    let posted = named.server.requests().into_iter().find(|it| it.method == "POST").unwrap();
    assert_eq!(posted.header("authorization"), Some("Bearer hunter2"));
    let fetched = named.server.requests().into_iter().find(|it| it.method == "GET").unwrap();
    assert_eq!(fetched.header("authorization"), None);
}

/// One of each kind of what is not seen where it stands, as JSON escapes: those that reorder text,
/// those without a width, and tags.
const HIDDEN: [&str; 13] = [
    "\\u202e",
    "\\u2066",
    "\\u2069",
    "\\u200b",
    "\\u200e",
    "\\u200f",
    "\\ufeff",
    "\\u061c",
    "\\udb40\\udc41",
    "\\udb40\\udc7f",
    "\\u0007",
    "\\u009b",
    "\\u00ad",
];

/// Whether a text has a character in it that is not seen where it stands.
fn hides(text: &str) -> bool {
    HIDDEN.iter().any(|escape| {
        let hidden: String = serde_json::from_str(&format!("\"{escape}\"")).unwrap();
        text.contains(&hidden)
    })
}

#[test]
fn what_is_hidden_in_a_claim_is_shown_and_never_written_down() {
    for escape in HIDDEN {
        let seen: String = serde_json::from_str(&format!("\"{escape}\"")).unwrap();
        let seen = format!("\\u{{{:x}}}", u32::from(seen.chars().next().unwrap()));
        let hide = |text: &str| CARD.replace(text, &format!("{text}x{escape}y"));
        for (text, has_name) in [("com.example/weather", true), ("Tells", false), ("1.2.0", false)]
        {
            let site = Site::new(&[(PLACE, Page::json(&hide(text)))]).serving(INFO);
            let scratch = Scratch::new();
            for words in [["discover", &site.at("/mcp")], ["card", &site.at("/mcp")]] {
                let outcome = mcpmini(&scratch, &words);
                assert_eq!(outcome.code, 0, "{outcome:?}");
                assert!(!hides(&outcome.out) && !hides(&outcome.err), "{text} {outcome:?}");
                let is_shown = words[0] == "card" || text != "Tells";
                assert_eq!(outcome.out.contains(&seen), is_shown, "{seen} {outcome:?}");
            }
            let outcome = mcpmini(&scratch, &["add", &site.at("/mcp")]);
            assert!(!hides(&outcome.out) && !hides(&outcome.err), "{outcome:?}");
            let expected = if has_name { r#"{"weatherx-y":{"# } else { r#"{"weather":{"# };
            assert!(entries(&scratch).starts_with(expected), "{}", entries(&scratch));
        }
        // In an address or a header it is not taken.
        let headers =
            format!(r#""headers":[{{"name":"X-A","value":"a{escape}b"}}],"url":"$O/mcp""#);
        let site = Site::new(&[(PLACE, Page::json(&CARD.replace(r#""url":"$O/mcp""#, &headers)))]);
        let scratch = Scratch::new();
        let outcome = mcpmini(&scratch, &["add", &site.at("/mcp")]);
        assert!([8, 9].contains(&outcome.code), "{escape} {outcome:?}");
        assert!(!hides(&outcome.err) && entries(&scratch) == "null", "{outcome:?}");
        let site = Site::new(&[(PLACE, Page::json(&hide("$O/mcp")))]);
        let outcome = mcpmini(&scratch, &["add", &site.at("/mcp")]);
        assert!(!hides(&outcome.out) && !hides(&outcome.err), "{outcome:?}");
        assert!(!hides(&entries(&scratch)), "{outcome:?}");
    }
}

#[test]
fn what_is_hidden_in_a_command_line_is_not_written_down() {
    let scratch = Scratch::new();
    for letter in ['\u{202e}', '\u{200b}', '\u{e0041}', '\u{7}'] {
        let word = format!("a{letter}b");
        let url = format!("https://h.example/{letter}");
        for words in [
            &["add", "x", "--", &word][..],
            &["add", "x", "--", "true", &word],
            &["add", "x", &url],
            &["add", &word, "--", "true"],
        ] {
            let outcome = mcpmini(&scratch, words);
            assert!([2, 9].contains(&outcome.code), "{words:?} {outcome:?}");
            assert!(!outcome.err.contains(letter), "{outcome:?}");
            assert_eq!(entries(&scratch), "null");
        }
    }
    // Lines of a script are meant.
    let outcome = mcpmini(&scratch, &["add", "x", "--", "sh", "-c", "true\n\ttrue"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
}

#[test]
fn what_a_card_says_about_revisions_is_told_and_not_believed() {
    let claimed = r#""supportedProtocolVersions":["2025-06-18"],"url":"#;
    let card = CARD.replace(r#""url":"#, claimed);
    let site = Site::new(&[(PLACE, Page::json(&card))]).serving(INFO);
    let added = mcpmini(&Scratch::new(), &["add", &site.at("/mcp")]);
    let told = "\ndiffers      protocol: the card says 2025-06-18, the server 2026-07-28\n";
    assert!(added.code == 0 && added.out.contains(told), "{added:?}");
    assert_eq!(site.server.messages("server/discover").len(), 1);
    assert_eq!(site.server.messages("initialize").len(), 0);
}

#[test]
fn a_server_that_was_asked_when_it_was_added_is_not_probed_again() {
    let scratch = Scratch::new();
    let site = Site::new(&[(PLACE, Page::json(CARD))]).serving(INFO);
    site.offer(r#"{"name":"now","inputSchema":{"type":"object"}}"#);
    assert_eq!(mcpmini(&scratch, &["add", &site.at("/mcp")]).code, 0);
    assert_eq!(site.server.messages("server/discover").len(), 1);
    let called = mcpmini(&scratch, &["call", "weather", "now", "{}"]);
    assert_eq!((called.code, called.out.as_str()), (0, "sunny\n"), "{called:?}");
    assert_eq!(site.server.messages("server/discover").len(), 1);
}
