//! Every rule, kept and broken.

use std::fs;
use std::path::Path;

use super::*;
use crate::discovery::document;

/// A card that breaks no rule and has every member.
const CARD: &str = r#"{
    "$schema": "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
    "name": "com.example/weather", "version": "1.2.0-rc.1", "description": "d", "title": "t",
    "websiteUrl": "https://example.com/", "x-unknown": [1],
    "repository": {"url": "https://h/r", "source": "github", "subfolder": "a/b", "id": "1"},
    "icons": [{"src": "data:image/png;base64,", "mimeType": "image/png",
        "sizes": ["48x48", "any"], "theme": "dark"}],
    "remotes": [{"type": "streamable-http", "url": "https://{t}.example.com/mcp",
        "headers": [{"name": "X-Key", "isRequired": true, "isSecret": true, "format": "string",
            "value": "{k}", "variables": {"k": {"default": "x", "choices": ["x"]}}}],
        "variables": {"t": {"placeholder": "p", "description": "d"}},
        "supportedProtocolVersions": ["2026-07-28"]}],
    "_meta": {"com.example/x": 1}
}"#;

/// What is found when a part of the card is another text.
#[track_caller]
fn check(from: &str, to: &str, expected: &[&str]) {
    assert!(CARD.contains(from), "{from}");
    let text = CARD.replacen(from, to, 1);
    let card = document::read(text.as_bytes()).unwrap();
    let found: Vec<_> =
        super::check(&card).iter().map(|it| format!("{} {}", it.at, it.rule)).collect();
    assert_eq!(found, expected, "{from} -> {to}");
}

#[test]
fn a_whole_card_and_a_small_one_are_right() {
    check("1", "1", &[]);
    let small =
        format!(r#"{{"$schema":"{SCHEMA}","name":"a.b/c","version":"","description":"d"}}"#);
    assert_eq!(super::check(&document::read(small.as_bytes()).unwrap()), []);
}

#[test]
fn what_must_be_there_is_missed() {
    for name in ["$schema", "name", "version", "description"] {
        check(&format!("\"{name}\":"), "\"other\":", &[&format!("/{name} is missing")]);
    }
    check("\"src\"", "\"s\"", &["/icons/0/src is missing"]);
    check("\"url\": \"https://h/r\", ", "", &["/repository/url is missing"]);
    check("\"source\"", "\"s\"", &["/repository/source is missing"]);
    check("\"type\"", "\"t\"", &["/remotes/0/type is missing"]);
    check("\"url\": \"https://{t}.example.com/mcp\",", "", &["/remotes/0/url is missing"]);
    check("\"name\": \"X-Key\",", "", &["/remotes/0/headers/0/name is missing"]);
}

#[test]
fn members_have_their_types() {
    let text = "must be a string";
    check("\"com.example/weather\"", "1", &[&format!("/name {text}")]);
    check("\"1.2.0-rc.1\"", "null", &[&format!("/version {text}")]);
    check("[\"x\"]", "[1]", &[&format!("/remotes/0/headers/0/variables/k/choices/0 {text}")]);
    check("[\"x\"]", "\"x\"", &["/remotes/0/headers/0/variables/k/choices must be an array"]);
    check(
        "\"isRequired\": true",
        "\"isRequired\": \"yes\"",
        &["/remotes/0/headers/0/isRequired must be true or false"],
    );
    check("{\"com.example/x\": 1}", "[]", &["/_meta must be an object"]);
    check(
        "{\"placeholder\": \"p\", \"description\": \"d\"}",
        "1",
        &["/remotes/0/variables/t must be an object"],
    );
    check("[\"2026-07-28\"]", "[1]", &[&format!("/remotes/0/supportedProtocolVersions/0 {text}")]);
    check("\"d\", \"title\"", "[], \"title\"", &[&format!("/description {text}")]);
}

#[test]
fn texts_have_their_lengths() {
    let description = |length: usize| format!("\"{}\", \"title\"", "ä".repeat(length));
    check("\"d\", \"title\"", &description(100), &[]);
    let long = "/description must have 1 to 100 characters";
    check("\"d\", \"title\"", &description(101), &[long]);
    check("\"d\", \"title\"", &description(0), &[long]);
    check("\"t\",\n", "\"\",\n", &["/title must have 1 to 100 characters"]);
    check("1.2.0-rc.1", &"1".repeat(256), &["/version must have at most 255 characters"]);
    check("weather", &"w".repeat(189), &["/name must have 3 to 200 characters"]);
    check("weather", &"w".repeat(188), &[]);
}

#[test]
fn names_are_of_a_domain() {
    for bad in ["weather", "com.example/a/b", "com example/a", "/a", "a/", "com_x/a", "ä.b/c"] {
        let expected: &[&str] = &[
            "/name must be a reverse domain name, a slash and a name, such as com.example/weather",
        ];
        let short = ["/name must have 3 to 200 characters", expected[0]];
        check("com.example/weather", bad, if bad.len() < 3 { &short } else { expected });
    }
    check("com.example/weather", "a-1.B/c_D.e-", &[]);
}

#[test]
fn versions_are_one_version() {
    for bad in ["^1", "~1.2", ">=1.0.0", "<2", "=1", "1.x", "1.2.X", "1.*", "*", "1 - 2", "1 || 2"]
    {
        check("1.2.0-rc.1", bad, &["/version must be one version, not a range"]);
    }
    for good in ["1", "2026.11", "v1.0.0", "1.0.0-x.7.z.92", "1.0.0+build.x", "latest", "1.0-x"] {
        check("1.2.0-rc.1", good, &[]);
    }
}

#[test]
fn urls_are_what_they_are_for() {
    check("https://example.com/", "example.com", &["/websiteUrl must be a URI"]);
    check("https://h/r", "not a uri", &["/repository/url must be a URI"]);
    check(
        "data:image/png;base64,",
        "file:///x",
        &["/icons/0/src must be an http, https or data URI"],
    );
    let remote = "/remotes/0/url must begin with http://, https:// or a {variable}";
    for bad in ["ftp://h/", "/mcp", "https://", "https://h/ x", "{}/x", "{1a}/x", "{a-b}/x", "{a"] {
        check("https://{t}.example.com/mcp", bad, &[remote]);
    }
    for good in ["http://h", "https://h/{a}/b", "{base}", "{_b1}/mcp"] {
        check("https://{t}.example.com/mcp", good, &[]);
    }
    check("/schemas/v1/", "/schemas/2025-12-11/", &[&format!("/$schema must be {SCHEMA}")]);
}

#[test]
fn words_sizes_paths_and_keys_are_of_their_kind() {
    check("streamable-http", "http", &["/remotes/0/type must be one of streamable-http, sse"]);
    check("\"dark\"", "\"grey\"", &["/icons/0/theme must be one of light, dark"]);
    check(
        "\"string\"",
        "\"date\"",
        &["/remotes/0/headers/0/format must be one of string, number, boolean, filepath"],
    );
    for bad in ["48", "48x", "x48", "48X48", "ANY"] {
        check("48x48", bad, &["/icons/0/sizes/0 must be WIDTHxHEIGHT or any"]);
    }
    for bad in ["/a", "../a", "a/../b", "./a", "a//b", "a/", "", "a\\\\b"] {
        check("a/b", bad, &["/repository/subfolder must be a clean relative path"]);
    }
    for bad in ["x", "x/y", "com..x/y", "/y"] {
        let at = bad.replace('/', "~1");
        let expected = format!("/_meta/{at} must be a reverse domain name, a slash and a name");
        check("com.example/x", bad, &[&expected]);
    }
}

#[test]
fn what_could_be_better_is_advice() {
    let check = |from: &str, to: &str, expected: &[&str]| {
        let card = document::read(CARD.replacen(from, to, 1).as_bytes()).unwrap();
        let found: Vec<_> = advice(&card).iter().map(ToString::to_string).collect();
        assert_eq!(found, expected, "{to}");
    };
    check("1", "1", &[]);
    check("\"remotes\"", "\"x\"", &["without a remote nobody can connect to the server"]);
    check("1.2.0-rc.1", "2026.11", &["the version should be one of Semantic Versioning"]);
    check("1.2.0-rc.1", "^1", &[]);
    check("https://{t}.example.com/mcp", "http://a/mcp", &["http://a/mcp should be https"]);
    check("https://{t}.example.com/mcp", "http://[::1]:1/mcp", &[]);
}

/// The examples of the extension's repository, where `MCPMINI_SERVER_CARDS` says they are: `valid`
/// and `invalid` below it.
#[test]
fn the_official_examples_are_judged_as_they_should_be() {
    let Some(folder) = std::env::var_os("MCPMINI_SERVER_CARDS") else {
        println!(
            "skipped: the examples of github.com/modelcontextprotocol/experimental-ext-server-card \
             are not copied into this tree; clone it, and set MCPMINI_SERVER_CARDS to its \
             examples/ServerCard"
        );
        return;
    };
    let judge = |kind: &str, is_valid: bool| {
        let files = fs::read_dir(Path::new(&folder).join(kind)).unwrap();
        files
            .map(|file| file.unwrap().path())
            .inspect(|path| {
                let card = document::read(&fs::read(path).unwrap()).unwrap();
                let found = super::check(&card);
                assert_eq!(found.is_empty(), is_valid, "{}: {found:?}", path.display());
            })
            .count()
    };
    assert!(2 <= judge("valid", true) && 5 <= judge("invalid", false));
}
