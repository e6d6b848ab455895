//! The checks over HTTP: each finds the fault that it is there for, and nothing on a right server.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, LazyLock, Mutex, OnceLock};

use serde_json::Value;

use crate::domain::Domain;
use crate::server::{Kind, Site, TOKEN};
use crate::support::{Outcome, Scratch, run};

/// Examines a server of a kind with a fault; `more` are further words of the command line.
fn examine(kind: Kind, fault: &'static str, more: &[&str]) -> (Outcome, Site) {
    let (scratch, site) = (Scratch::new(), Site::start(kind, fault));
    let mut words = vec!["doctor", "--json", "-t", "3s"];
    let header = format!("Authorization: Bearer {TOKEN}");
    if kind == Kind::Guarded {
        words.extend(["-H", &header]);
    }
    words.extend(more);
    words.push(&site.url);
    (run(&mut scratch.mcpmini(words)), site)
}

/// The verdict and the evidence of each check.
fn verdicts(outcome: &Outcome) -> BTreeMap<String, (String, String)> {
    let text = |line: &Value, name: &str| line[name].as_str().unwrap().to_owned();
    let lines = outcome.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let lines = lines.map(|it| (text(&it, "check"), (text(&it, "verdict"), text(&it, "evidence"))));
    lines.collect()
}

#[test]
fn a_server_that_is_right_has_no_faults() {
    // What is to be said of each kind; everything else passes, or does not apply.
    let check = |kind, expected: &[(&str, &str)], code| {
        let (outcome, site) = examine(kind, "", &[]);
        let found = verdicts(&outcome);
        let told = found.iter().filter(|(_, (verdict, _))| verdict != "pass" && verdict != "skip");
        let told: Vec<(&str, &str)> = told.map(|(id, (verdict, _))| (&**id, &**verdict)).collect();
        assert_eq!(told, expected, "{kind:?}: {found:#?}");
        assert_eq!((outcome.code, &*outcome.err), (code, ""), "{kind:?}");
        assert_eq!(site.open_sessions(), 0, "{kind:?}: sessions are left open");
    };
    check(Kind::Legacy, &[("auth-none", "warn")], 0);
    check(Kind::Modern, &[("auth-none", "warn")], 0);
    check(Kind::Guarded, &[("auth-query", "unknown")], 0);
    check(Kind::Sse, &[("auth-none", "warn"), ("card-live", "unknown"), ("speech", "warn")], 0);
}

#[test]
fn nothing_is_done_at_the_server() {
    for kind in [Kind::Legacy, Kind::Modern, Kind::Guarded, Kind::Sse] {
        let (_, site) = examine(kind, "", &[]);
        let harmless = [
            "OPTIONS ",
            "GET ",
            "DELETE ",
            "POST ",
            "POST initialize",
            "POST notifications/initialized",
            "POST ping",
            "POST server/discover",
            "POST tools/list",
            "POST resources/list",
            "POST resources/templates/list",
            "POST prompts/list",
            "POST doctor/no-such-method",
        ];
        for seen in site.seen() {
            assert!(harmless.contains(&&*seen), "{kind:?}: {seen}");
        }
    }
}

/// A finding: the check and its verdict.
type Findings = BTreeMap<String, (String, String)>;

/// What a whole examination finds, of which every server is made once.
fn found(kind: Kind, fault: &'static str) -> Findings {
    type Known = HashMap<(Kind, &'static str), Arc<OnceLock<Findings>>>;
    static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);
    let cell = KNOWN.lock().unwrap().entry((kind, fault)).or_default().clone();
    cell.get_or_init(|| verdicts(&examine(kind, fault, &[]).0)).clone()
}

/// Whether a check comes to a verdict on a server with a fault, and no other check to another
/// verdict than on the server without it.
#[track_caller]
fn check(kind: Kind, fault: &'static str, id: &str, expected: &str) {
    check_all(kind, fault, &[&format!("{id} {expected}")]);
}

/// The same for a fault that several checks are about. All of them stand here.
#[track_caller]
fn check_all(kind: Kind, fault: &'static str, expected: &[&str]) {
    let (clean, found) = (found(kind, ""), found(kind, fault));
    let differ = |(id, (verdict, _)): &(&String, &(String, String))| clean[*id].0 != *verdict;
    let changed: Vec<_> = found.iter().filter(differ).collect();
    let names = changed.iter().map(|(id, (verdict, _))| format!("{id} {verdict}"));
    let names: BTreeSet<String> = names.collect();
    let expected: BTreeSet<String> = expected.iter().map(|it| (*it).to_owned()).collect();
    assert_eq!(names, expected, "{kind:?}, {fault:?}: {changed:#?}");
}

/// Whether one check fails on a server of which then nothing else can be told, and no other does.
fn check_mute(kind: Kind, fault: &'static str, expected: &str) {
    let found = found(kind, fault);
    let failed = found.iter().filter(|(_, (verdict, _))| verdict == "fail" || verdict == "warn");
    let failed: Vec<String> = failed.map(|(id, (verdict, _))| format!("{id} {verdict}")).collect();
    assert_eq!(failed, [expected], "{kind:?}, {fault:?}: {found:#?}");
    for id in ["speech", "era", "ping", "auth-none", "host-bad", "parse", "session-modern"] {
        assert_eq!(found[id].0, "unknown", "{kind:?}, {fault:?}, {id}");
    }
}

#[test]
fn faults_of_the_connection_are_found() {
    check(Kind::Legacy, "answers GET", "verbs", "fail");
    check(Kind::Modern, "answers GET", "verbs", "warn");
    check(Kind::Modern, "does not say what it speaks", "era", "warn");
    for (fault, expected) in [
        ("opens sessions in a revision to come", "unknown"),
        ("opens sessions in no revision", "fail"),
    ] {
        let (outcome, _) = examine(Kind::Legacy, fault, &["--only", "era"]);
        assert_eq!(verdicts(&outcome)["era"].0, expected, "{fault}: {}", outcome.out);
    }
    check(Kind::Legacy, "bound to everything", "bind", "warn");
    check(Kind::Legacy, "never answers GET", "verbs", "unknown");
    let (outcome, _) = examine(Kind::Legacy, "opens a silent stream", &["--only", "verbs"]);
    let (verdict, evidence) = &verdicts(&outcome)["verbs"];
    assert_eq!((&**verdict, &**evidence), ("pass", "GET → HTTP 200, an event stream"));
}

#[test]
fn faults_of_where_messages_are_posted_are_found() {
    check(Kind::Sse, "takes every message", "sse-origin", "fail");
    check(Kind::Sse, "one stream for all", "sse-session", "fail");
    check(Kind::Sse, "numbered streams", "sse-session", "warn");
    check(Kind::Sse, "short streams", "sse-session", "warn");
}

#[test]
fn faults_with_browsers_are_found() {
    for kind in [Kind::Legacy, Kind::Modern] {
        check_all(
            kind,
            "takes every origin",
            &[
                "csrf-simple fail",
                "host-bad fail",
                "origin-bad fail",
                "origin-null warn",
                "origin-suffix fail",
            ],
        );
        check_all(
            kind,
            "refuses origins by 400",
            &["origin-bad warn", "origin-null warn", "origin-suffix warn"],
        );
        check_all(
            kind,
            "lists tools for every origin",
            &["origin-bad fail", "origin-null warn", "origin-suffix fail"],
        );
        check_all(
            kind,
            "refuses by 200",
            &[
                "csrf-simple warn",
                "host-bad warn",
                "origin-bad warn",
                "origin-null warn",
                "origin-suffix warn",
            ],
        );
        check(kind, "takes the origin null", "origin-null", "warn");
        check(kind, "takes what begins like localhost", "origin-suffix", "fail");
        check(kind, "takes what begins like its address", "origin-suffix", "fail");
        check(kind, "takes what has its address in it", "origin-suffix", "fail");
        check(kind, "takes what ends like localhost", "origin-suffix", "fail");
        check(kind, "takes what ends like localhost and its port", "origin-suffix", "fail");
        check(kind, "takes hosts that begin like its address", "host-bad", "warn");
        check(kind, "takes hosts that end like localhost", "host-bad", "warn");
        check_mute(kind, "wants an origin", "origin-none fail");
        check(kind, "takes every host", "host-bad", "warn");
        check(kind, "knows itself by number only", "host-good", "warn");
        check(kind, "takes text", "csrf-simple", "warn");
    }
}

#[test]
fn what_an_older_revision_leaves_open_is_no_fault() {
    let (outcome, _) = examine(Kind::Legacy, "is of June and refuses origins by 400", &[]);
    let found = verdicts(&outcome);
    for id in ["origin-bad", "origin-null", "origin-suffix"] {
        assert_eq!(found[id].0, "pass", "{id}: {found:#?}");
    }
}

#[test]
fn faults_with_other_sites_are_found() {
    let kind = Kind::Legacy;
    check_all(
        kind,
        "lets every origin in",
        &[
            "cors-preflight fail",
            "cors-reflect fail",
            "cors-suffix skip",
            "origin-bad fail",
            "origin-null warn",
            "origin-suffix fail",
        ],
    );
    check_all(
        kind,
        "lets every origin in but refuses it",
        &["cors-preflight warn", "cors-reflect warn", "cors-suffix skip"],
    );
    check_all(
        kind,
        "reflects the origin",
        &[
            "cors-preflight fail",
            "cors-reflect fail",
            "cors-suffix fail",
            "origin-bad fail",
            "origin-null warn",
            "origin-suffix fail",
        ],
    );
    check_all(
        kind,
        "lets every origin in with credentials",
        &[
            "cors-preflight fail",
            "cors-reflect fail",
            "cors-star-cred fail",
            "cors-suffix skip",
            "origin-bad fail",
            "origin-null warn",
            "origin-suffix fail",
        ],
    );
    check_all(
        kind,
        "lets in what begins like localhost",
        &["cors-suffix fail", "origin-suffix fail"],
    );
    check_all(
        kind,
        "lets in what ends like localhost",
        &["cors-suffix fail", "origin-suffix fail"],
    );
    check_all(kind, "reflects the origin at GET", &["cors-reflect warn", "cors-star-cred fail"]);
    check(kind, "weak cookie", "cookie", "warn");
    check(kind, "weak cookie in Latin", "cookie", "warn");
    let (outcome, _) = examine(kind, "strong cookie", &["--only", "cookie"]);
    assert_eq!(verdicts(&outcome)["cookie"].0, "pass", "{}", outcome.out);
}

/// A guard at the greeting alone is none.
#[test]
fn what_other_sites_may_read_is_seen_behind_the_greeting() {
    let kind = Kind::Legacy;
    check_all(
        kind,
        "reflects the origin at tools/list",
        &[
            "cors-reflect fail",
            "cors-star-cred fail",
            "cors-suffix fail",
            "origin-bad fail",
            "origin-null warn",
            "origin-suffix fail",
        ],
    );
}

/// What answers everything alike lets nobody in and keeps nobody out.
#[test]
fn no_answer_is_no_proof() {
    for fault in ["fails at everything", "leads everything elsewhere"] {
        let found = found(Kind::Legacy, fault);
        for id in ["host-good", "cors-preflight", "cors-reflect", "cors-star-cred", "cors-suffix"] {
            let (verdict, evidence) = &found[id];
            assert_eq!(verdict, "unknown", "{fault}, {id}: {evidence}");
            let expected = "no MCP server answers here: HTTP ";
            assert!(evidence.starts_with(expected), "{fault}, {id}: {evidence}");
        }
    }
}

#[test]
fn faults_of_guards_are_found() {
    let kind = Kind::Guarded;
    check(kind, "lists tools for everybody", "auth-none", "fail");
    check(kind, "ends sessions for everybody", "auth-none", "fail");
    check_all(
        kind,
        "begins with everybody",
        &[
            "auth-challenge skip",
            "auth-garbage skip",
            "auth-metadata skip",
            "auth-none warn",
            "auth-query skip",
        ],
    );
    check(kind, "takes any token", "auth-garbage", "fail");
    check(kind, "takes any token in a session", "auth-garbage", "fail");
    check(kind, "fails on bad tokens", "auth-garbage", "fail");
    check(kind, "no challenge", "auth-challenge", "fail");
    check_all(kind, "refuses strangers by 403", &["auth-challenge fail", "auth-garbage fail"]);
    check_all(kind, "no metadata at all", &["auth-challenge warn", "auth-metadata skip"]);
    check(kind, "metadata of another", "auth-metadata", "fail");
    check(kind, "no issuer", "auth-metadata", "fail");
    check(kind, "another issuer", "auth-metadata", "fail");
    check(kind, "an issuer with a slash more", "auth-metadata", "fail");
    check_all(kind, "an issuer with the slash of the root", &[]);
    check(kind, "no S256", "auth-metadata", "fail");
    check(kind, "takes tokens in the URL", "auth-query", "fail");
    check(kind, "repeats the token", "leak", "fail");
    let (outcome, _) = examine(kind, "challenge without metadata", &["--only", "auth-challenge"]);
    assert_eq!(verdicts(&outcome)["auth-challenge"].0, "pass", "it is at its usual place");
}

#[test]
fn faults_in_messages_are_found() {
    for kind in [Kind::Legacy, Kind::Modern] {
        check(kind, "calls JSON text", "ct", "fail");
        check(kind, "may be sniffed", "nosniff", "warn");
        check(kind, "silent to who takes JSON alone", "accept", "fail");
        check(kind, "silent to who takes anything", "accept", "fail");
        check(kind, "answers with text ids", "id-echo", "fail");
        let hints: &[&str] = if kind == Kind::Modern { &["cache-mcp fail"] } else { &[] };
        check_all(kind, "knows every method", &[&["unknown-method fail"], hints].concat());
        check(kind, "drops what is not JSON", "parse", "fail");
        check(kind, "takes what is not JSON", "parse", "fail");
        check(kind, "takes batches", "batch", "warn");
        check(kind, "cuts a character in half", "json", "warn");
        check(kind, "shows its inside", "leak", "warn");
    }
    check(Kind::Legacy, "does not know ping", "ping", "fail");
    check(Kind::Legacy, "has its own code for methods", "unknown-method", "warn");
    check(Kind::Modern, "says 200 of unknown methods", "unknown-method", "fail");
    check(Kind::Legacy, "answers notifications by 200", "notif", "fail");
    check(Kind::Legacy, "answers notifications with a body", "notif", "fail");
}

#[test]
fn faults_with_revisions_are_found() {
    check(Kind::Legacy, "speaks every version", "version-offer", "fail");
    check(Kind::Legacy, "refuses unknown versions", "version-offer", "fail");
    check(Kind::Legacy, "takes any version", "version-hdr", "fail");
    check(Kind::Modern, "takes any version", "version-hdr", "fail");
    check(Kind::Modern, "has its own code for versions", "version-hdr", "fail");
    check(Kind::Modern, "does not list versions", "version-hdr", "fail");
    check_all(Kind::Modern, "does not read Mcp-Method", &["hdr-mismatch fail", "hdr-missing fail"]);
    check(Kind::Modern, "does not miss Mcp-Method", "hdr-missing", "fail");
    check(Kind::Modern, "does not compare versions", "hdr-version", "fail");
    check(Kind::Modern, "needs no context", "meta-missing", "fail");
}

#[test]
fn faults_of_sessions_are_found() {
    let kind = Kind::Legacy;
    check_all(kind, "short session ids", &["session-fresh warn", "session-id warn"]);
    check(kind, "counts sessions", "session-fresh", "warn");
    check(kind, "much in common between session ids", "session-fresh", "warn");
    check(kind, "one session for all", "session-fresh", "fail");
    check(kind, "needs no session", "session-missing", "warn");
    check_all(kind, "takes any session", &["session-bogus fail", "session-delete fail"]);
    check_all(
        kind,
        "says 400 of a session that is gone",
        &["session-bogus warn", "session-delete fail"],
    );
    check_all(kind, "forgets sessions", &["session-sticky fail"]);
    check(kind, "sessions go on", "session-delete", "fail");
    check(kind, "fails to end sessions", "session-delete", "fail");
    check(Kind::Modern, "hands out sessions", "session-modern", "warn");
    let (outcome, _) = examine(kind, "sessions cannot be ended", &["--only", "session-delete"]);
    assert_eq!(verdicts(&outcome)["session-delete"].0, "pass", "405 is an answer");
    let (outcome, _) = examine(kind, "keeps no sessions", &["--only", "session-*"]);
    assert!(verdicts(&outcome).values().all(|(verdict, _)| verdict == "skip"), "{}", outcome.out);
}

#[test]
fn faults_of_caching_are_found() {
    for kind in [Kind::Legacy, Kind::Modern] {
        check(kind, "cacheable", "cache-post", "fail");
        check(kind, "out of a cache", "cache-hit", "warn");
    }
    check(Kind::Modern, "negative life", "cache-mcp", "fail");
    check(Kind::Modern, "no cache scope", "cache-mcp", "fail");
    check(Kind::Modern, "another cache scope on another page", "cache-mcp", "fail");
    check_all(Kind::Modern, "streams that proxies hold back", &["accept warn", "sse-ttfb warn"]);
    check_all(Kind::Modern, "streams", &["accept warn", "sse-ttfb pass"]);
}

#[test]
fn faults_of_documents_are_found() {
    let kind = Kind::Legacy;
    check_all(kind, "documents called JSON", &["card-type warn", "catalog warn"]);
    check_all(kind, "documents called text", &["card-type fail", "catalog fail"]);
    check(kind, "card without a version", "card-schema", "fail");
    check_all(kind, "documents for nobody", &["card-cors fail", "catalog fail"]);
    check(kind, "no ETag", "card-etag", "warn");
    check(kind, "no 304", "card-etag", "warn");
    check(kind, "card of another version", "card-live", "warn");
    check(kind, "card of another URL", "card-live", "warn");
    check(kind, "card of another name", "card-live", "warn");
    check(kind, "card of another revision", "card-live", "warn");
    check(Kind::Modern, "card of another revision", "card-live", "warn");
    for kind in [Kind::Legacy, Kind::Modern] {
        check_all(
            kind,
            "card as a resource",
            &[
                "card-cors skip",
                "card-etag skip",
                "card-resource warn",
                "card-type skip",
                "catalog skip",
            ],
        );
        check_all(
            kind,
            "card as a resource of another version",
            &[
                "card-cors skip",
                "card-etag skip",
                "card-live warn",
                "card-resource warn",
                "card-type skip",
                "catalog skip",
            ],
        );
    }
    let (outcome, site) = examine(kind, "card as a resource", &["--only", "card-*"]);
    assert_eq!(verdicts(&outcome)["card-schema"].0, "pass", "{}", outcome.out);
    assert!(site.seen().contains(&"POST resources/read".to_owned()));
    let (_, site) = examine(kind, "no documents", &["--only", "card-*"]);
    assert!(!site.seen().contains(&"POST resources/read".to_owned()), "it is not listed");
    check(kind, "empty catalog", "catalog", "fail");
    check_all(
        kind,
        "no documents",
        &[
            "card-cors skip",
            "card-etag skip",
            "card-live skip",
            "card-schema skip",
            "card-type skip",
            "catalog skip",
        ],
    );
}

#[test]
#[cfg(feature = "sigstore")]
fn signatures_of_cards_are_verified() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/own/root.json");
    let check = |fault, trusted: Option<&str>, expected: &str, evidence: &str| {
        let (scratch, site) = (Scratch::new(), Site::start(Kind::Legacy, fault));
        let words = ["doctor", "--json", "--only", "card-signature", &site.url];
        let mut command = scratch.mcpmini(words);
        trusted.map(|root| command.env("MCPMINI_TRUSTED_ROOT", root));
        // Nobody in the world is asked for the keys of a domain.
        command.env("HTTPS_PROXY", "http://127.0.0.1:9").env("NO_PROXY", "127.0.0.1");
        let outcome = run(&mut command);
        let (verdict, found) = &verdicts(&outcome)["card-signature"];
        assert_eq!(format!("card-signature {verdict}"), expected, "{fault}: {}", outcome.out);
        assert!(found.contains(evidence), "{fault}: {found}");
    };
    let root = Some(root);
    check("signed card", root, "card-signature pass", "signed by https://github.com/acme/weather/");
    check("signed card", None, "card-signature warn", "MCPMINI_TRUSTED_ROOT names others");
    check("signed card that has changed", root, "card-signature fail", "");
    check("signed card with a broken signature", root, "card-signature fail", "");
    check("signed card by a key", root, "card-signature unknown", "by a key of the publisher's");
    check(
        "signed card and a page instead of a bundle",
        root,
        "card-signature skip",
        "the card is not signed",
    );
    let by = "signed by https://github.com/acme/weather/";
    check("signed card by its catalog", root, "card-signature pass", by);
    let other = "the bundle data: has another hash than the catalog says";
    check("signed card by its catalog with another hash", root, "card-signature fail", other);
    let keys = "https://example.com/.well-known/did.json: ";
    check("signed card by its catalog alone", root, "card-signature unknown", keys);
    check("signed card by its catalog badly", root, "card-signature fail", "");
    // A card without a signature is no fault, and neither is a server without a card.
    check("", root, "card-signature skip", "the card is not signed");
    check("no documents", root, "card-signature skip", "no card at");
}

/// What a domain has signed is verified with the keys that it publishes at that moment.
#[test]
fn signatures_of_domains_are_verified() {
    let domain = Domain::start();
    let vector = |name: &str| {
        let root = env!("CARGO_MANIFEST_DIR");
        std::fs::read_to_string(format!("{root}/tests/vectors/own/{name}")).unwrap()
    };
    let publish = |path: &str, text: &str| domain.publish(path, "200 OK", text);
    let check = |told: &str, expected: &str, evidence: &str| {
        let words = ["doctor", "--json", "--only", "card-signature", "https://example.com/"];
        let outcome = domain.run(&words);
        let (verdict, found) = &verdicts(&outcome)["card-signature"];
        assert_eq!(format!("card-signature {verdict}"), expected, "{told}: {outcome:?}");
        assert!(found.contains(evidence), "{told}: {found}");
    };
    let (card, keys) = (vector("card.json"), vector("did.json"));
    publish("/.well-known/did.json", &keys);
    for (catalog, expected, evidence) in [
        ("catalog.json", "card-signature pass", "signed by did:web:example.com"),
        ("catalog-url-only.json", "card-signature warn", "only its URL is signed"),
        ("catalog-number.json", "card-signature fail", "has the hash 7"),
        ("catalog-other-publisher.json", "card-signature fail", "is not example.com"),
        (
            "catalog-opaque.json",
            "card-signature pass",
            "the identifier of the entry names no domain",
        ),
    ] {
        publish("/server-card", &card);
        publish("/.well-known/ai-catalog.json", &vector(catalog));
        check(catalog, expected, evidence);
    }
    publish("/.well-known/ai-catalog.json", &vector("catalog.json"));
    publish("/server-card", &card.replacen(' ', "  ", 1));
    check("another card", "card-signature fail", "what is signed has the hash");
    publish("/server-card", &card);
    // A key that was taken back, another one, and the document of somebody else.
    for (from, to) in [
        ("assertionMethod", "authentication"),
        ("\"x\":\"D", "\"x\":\"E"),
        ("\"id\":\"did:web:example.com\"", "\"id\":\"did:web:evil.example\""),
    ] {
        let changed = keys.replace(from, to);
        assert_ne!(changed, keys);
        publish("/.well-known/did.json", &changed);
        check(to, "card-signature fail", "");
    }
    domain.publish("/.well-known/did.json", "404 Not Found", "{}");
    let gone = "no keys at https://example.com/.well-known/did.json: HTTP 404";
    check("no keys", "card-signature unknown", gone);
}

/// Who has no token sees it as well: a guard at the greeting alone is none.
#[test]
fn who_has_no_token_sees_what_is_open() {
    let (scratch, site) = (
        Scratch::new(),
        Site::start(Kind::Guarded, "lists tools for everybody, outside a session"),
    );
    let outcome = run(&mut scratch.mcpmini(["doctor", "--json", "--only", "auth-none", &site.url]));
    let (verdict, evidence) = &verdicts(&outcome)["auth-none"];
    assert_eq!(verdict, "fail", "{evidence}");
    assert!(evidence.ends_with("but tools/list is answered"), "{evidence}");
}

#[test]
fn who_has_no_token_cannot_tell() {
    let (scratch, site) = (Scratch::new(), Site::start(Kind::Guarded, ""));
    let outcome = run(&mut scratch.mcpmini(["doctor", "--json", &site.url]));
    let found = verdicts(&outcome);
    let check = |id: &str, expected: &str| assert_eq!(found[id].0, expected, "{id}: {found:#?}");
    check("auth-none", "pass");
    check("auth-challenge", "pass");
    check("auth-metadata", "pass");
    check("origin-bad", "pass");
    check("host-bad", "pass");
    for id in ["speech", "era", "ping", "unknown-method", "session-id", "version-hdr", "parse"] {
        check(id, "unknown");
    }
    assert_eq!(outcome.code, 0, "what cannot be told is no failure");
}
