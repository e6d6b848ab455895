//! Who may reach the server through a browser: `Origin`, `Host`, and where it is bound.
//!
//! A page of any site can make the browser of its visitor send requests, also to servers on the
//! visitor's own machine and, when its name is made to point there (DNS rebinding), as if it were
//! that machine's own page.

use http::StatusCode;

use super::probe::{Answer, Probe};
use super::site::Site;
use super::speech::Speech;
use super::{EVIL, EVIL_HOST, bind, refusal};
use crate::doctor::finding::Finding;
use crate::doctor::{Check, Verdict};
use crate::protocol::Revision;

const ORIGIN: &str = "MCP 2025-11-25, Transports, Security Warning, item 1 (403 since then); \
                      2026-07-28, Streamable HTTP, Security & Endpoint, item 1";

pub(super) const CHECKS: &[Check<Site>] = &[
    Check {
        id: "origin-bad",
        title: "a request from a page of another site is refused",
        clause: ORIGIN,
        fix: "Compare Origin, if it is there, with a list of the origins that you serve, and \
              answer any other with 403. SDKs have a switch for it.",
        run: |site| Box::pin(of(site, &[EVIL])),
    },
    Check {
        id: "origin-null",
        title: "a request from a page without an origin is refused",
        clause: "MCP 2025-11-25, Transports, Security Warning, item 1; 2026-07-28, Streamable \
                 HTTP, Security & Endpoint, item 1; RFC 6454, section 7",
        fix: "Treat `Origin: null` as any other origin that you do not know: 403. Files and \
              sandboxed frames send it.",
        run: |site| Box::pin(null(site)),
    },
    Check {
        id: "origin-suffix",
        title: "an origin that only begins or ends like one of the server's is refused",
        clause: ORIGIN,
        fix: "Compare the whole origin (scheme, host and port), not how it begins or ends.",
        run: |site| Box::pin(suffix(site)),
    },
    Check {
        id: "origin-none",
        title: "a client that is no browser sends no Origin and is not refused for that",
        clause: "MCP 2025-11-25, Transports, Security Warning, item 1; 2026-07-28, Streamable \
                 HTTP, Security & Endpoint, item 1 (\"if present\")",
        fix: "Let requests without Origin through: clients that are no browsers send none.",
        run: |site| Box::pin(none(site)),
    },
    Check {
        id: "host-bad",
        title: "a local server refuses requests for a host that it is not (DNS rebinding)",
        clause: "MCP 2025-11-25, Transports, Security Warning; 2026-07-28, Streamable HTTP, \
                 Security & Endpoint; RFC 9110, section 7.4 (421)",
        fix: "Take only the hosts that you are (localhost, 127.0.0.1, [::1], each with your port) \
              and answer others with 421 or 403.",
        run: |site| Box::pin(host_bad(site)),
    },
    Check {
        id: "host-good",
        title: "a local server is reached by its names and by its address alike",
        clause: "RFC 9110, section 7.2; RFC 6761, section 6.3",
        fix: "Put localhost, 127.0.0.1 and [::1] on the list of hosts that you take.",
        run: |site| Box::pin(host_good(site)),
    },
    Check {
        id: "bind",
        title: "a local server listens on this machine's loopback only",
        clause: "MCP 2025-11-25, Transports, Security Warning, item 2; 2026-07-28, Streamable \
                 HTTP, Security & Endpoint, item 2",
        fix: "Listen on 127.0.0.1 (or ::1) and not on 0.0.0.0 or ::, or ask for credentials.",
        run: |site| Box::pin(bind::check(site)),
    },
    Check {
        id: "csrf-simple",
        title: "what a page can send without asking first (text/plain) is not acted on",
        clause: "MCP 2025-11-25, Transports, Security Warning; 2026-07-28, Streamable HTTP, \
                 Security & Endpoint; Fetch, CORS-safelisted request-header",
        fix: "Refuse a POST whose Content-Type is not application/json with 415 before you look \
              at its body.",
        run: |site| Box::pin(csrf(site)),
    },
];

/// A question as a page of that origin has it sent.
fn from(site: &Site, origin: &str) -> Probe {
    site.greeting().with("origin", origin)
}

/// Whether what the server speaks names the status of a refusal.
fn must_be_403(site: &Site) -> bool {
    let spoken = site.revision().and_then(Revision::named);
    site.is_modern()
        || site.speech() != Speech::Sse && spoken.is_none_or(|revision| revision.origin_forbidden)
}

async fn of(site: &Site, origins: &[&str]) -> Finding {
    if let Some(finding) = refusal::no_server(site) {
        return finding;
    }
    let mut findings = Vec::new();
    for origin in origins {
        let answer = match site.ask(&from(site, origin)).await {
            Ok(answer) => answer,
            Err(no_answer) => return no_answer.into(),
        };
        let is_refused = answer.status.is_client_error() && !refusal::is_usual(site, &answer);
        let found = match is_refused && !must_be_403(site) {
            true => Finding::pass(answer.summary()),
            false => refusal::of(site, &answer, &[StatusCode::FORBIDDEN]),
        };
        let lists = match site.lists_for(|probe| probe.with("origin", origin)).await {
            Ok(lists) => lists,
            Err(no_answer) => return no_answer.into(),
        };
        let found = match lists.iter().find(|it| it.has_result()) {
            Some(listed) if found.verdict != Verdict::Fail => Finding::fail(format!(
                "{}, but tools/list is answered: {}",
                found.evidence,
                listed.summary()
            )),
            _ => found,
        };
        findings
            .push(Finding {
                evidence: format!("Origin: {origin} → {}", found.evidence), ..found
            });
    }
    Finding::worst(findings).unwrap_or_else(|| Finding::skip("there is nothing to try"))
}

/// Files and sandboxed frames have no origin. Some servers let them in on purpose.
async fn null(site: &Site) -> Finding {
    let found = of(site, &["null"]).await;
    match found.verdict {
        Verdict::Fail => Finding::warn(found.evidence),
        _ => found,
    }
}

async fn suffix(site: &Site) -> Finding {
    of(site, &like_own_origins(site).iter().map(String::as_str).collect::<Vec<_>>()).await
}

/// Hosts that are not the server, and that it takes for itself if it looks only at how a name begins,
/// how it ends, or whether its own is somewhere in it. A local server is meant by localhost as well.
fn like_own_hosts(site: &Site) -> Vec<String> {
    let own = site.address.host();
    let mut hosts = Vec::new();
    let is_local = site.address.is_loopback() && own != "localhost";
    // Nothing can stand before or after the brackets of an IPv6 address.
    let own = Some(own).filter(|own| !own.starts_with('['));
    for name in own.into_iter().chain(is_local.then_some("localhost")) {
        hosts.extend([format!("{name}.{EVIL_HOST}"), format!("evil{name}")]);
        hosts.extend([format!("evil-{name}"), format!("evil-{name}.{EVIL_HOST}")]);
    }
    hosts
}

/// The origins of pages there. Who looks at the end of an origin may mean the port as well.
pub(super) fn like_own_origins(site: &Site) -> Vec<String> {
    let scheme = if site.address.is_tls() { "https" } else { "http" };
    let port = site.address.port();
    let origins = like_own_hosts(site).into_iter().flat_map(|host| {
        let with_port = (!host.ends_with(EVIL_HOST)).then(|| format!("{scheme}://{host}:{port}"));
        [Some(format!("{scheme}://{host}")), with_port].into_iter().flatten()
    });
    origins.collect()
}

async fn none(site: &Site) -> Finding {
    if let Some(finding) = refusal::no_server(site) {
        return finding;
    }
    match site.greeted() {
        Ok(answer) if answer.is_taken() => Finding::pass(answer.summary()),
        Ok(answer) if answer.status == StatusCode::FORBIDDEN => {
            // It may be refused for something else.
            match site.ask(&from(site, &site.address.origin())).await {
                Ok(own) if own.status != StatusCode::FORBIDDEN => Finding::fail(answer.summary()),
                Ok(_) => refusal::untold(site, &answer.summary()),
                Err(no_answer) => no_answer.into(),
            }
        }
        Ok(answer) => refusal::untold(site, &answer.summary()),
        Err(no_answer) => no_answer.clone().into(),
    }
}

/// Why the checks of a local server do not apply.
pub(super) fn not_local(site: &Site) -> Option<Finding> {
    if site.settings.unix_socket.is_some() {
        return Some(Finding::skip("the server is on a Unix socket, which no browser can reach"));
    }
    let why = "the server is not on this machine, so its name leads nobody there by surprise";
    (!site.address.is_loopback()).then(|| Finding::skip(why))
}

/// Whether an answer refuses by its JSON-RPC error only: the status is that of a success.
fn is_refused_in_words(answer: &Answer) -> bool {
    answer.is_taken() && answer.code().is_some()
}

/// The first of two answers that refuses so.
fn in_words<'a>(one: &'a Answer, other: &'a Answer) -> Option<&'a Answer> {
    [one, other].into_iter().find(|answer| is_refused_in_words(answer))
}

fn with_port(site: &Site, host: &str) -> String {
    format!("{host}:{}", site.address.port())
}

async fn host_bad(site: &Site) -> Finding {
    if let Some(finding) = not_local(site).or_else(|| refusal::no_server(site)) {
        return finding;
    }
    let found = rebound(site, EVIL_HOST).await;
    if found.verdict != Verdict::Pass {
        return found;
    }
    for host in like_own_hosts(site) {
        let alike = rebound(site, &host).await;
        if alike.verdict != Verdict::Pass {
            return alike;
        }
    }
    found
}

/// What becomes of a page whose host was made to point here.
async fn rebound(site: &Site, host: &str) -> Finding {
    let host = with_port(site, host);
    // Such a page sends both; a GET of the same page only the host.
    let rebound = from(site, &format!("http://{host}")).with("host", &host);
    let alone = site.greeting().with("host", &host);
    let (rebound, alone) = match (site.ask(&rebound).await, site.ask(&alone).await) {
        (Ok(rebound), Ok(alone)) => (rebound, alone),
        (Err(no_answer), _) | (_, Err(no_answer)) => return no_answer.into(),
    };
    let told = |answer: &Answer| format!("Host: {host} → {}", answer.summary());
    let refused = |answer: &Answer| answer.status.is_client_error() || is_refused_in_words(answer);
    match (refused(&rebound), refused(&alone)) {
        _ if refusal::is_usual(site, &rebound) && !rebound.is_taken() => {
            refusal::untold(site, &format!("everything is refused: {}", rebound.summary()))
        }
        (true, true) => {
            let wanted = [StatusCode::MISDIRECTED_REQUEST, StatusCode::FORBIDDEN];
            match in_words(&rebound, &alone) {
                Some(answer) => refusal::of(site, answer, &wanted),
                None => Finding::pass(told(&alone)),
            }
        }
        (true, false) => Finding::warn(format!(
            "the Origin alone gives the request away; without one, {}",
            told(&alone)
        )),
        (false, _) => Finding::fail(told(&rebound)),
    }
}

async fn host_good(site: &Site) -> Finding {
    if let Some(finding) = not_local(site).or_else(|| refusal::no_server(site)) {
        return finding;
    }
    let usual = match site.greeted() {
        Ok(answer) => answer,
        Err(no_answer) => return no_answer.clone().into(),
    };
    if let Some(host) = &site.other_host {
        return Finding::warn(format!("only by Host: {host}; else {}", usual.summary()));
    }
    if let Some(unknown) = refusal::no_answer(site, usual) {
        return unknown;
    }
    let mut findings = Vec::new();
    for name in ["localhost", "127.0.0.1"] {
        let host = with_port(site, name);
        let found = match site.ask(&site.greeting().with("host", &host)).await {
            Ok(answer) => answer,
            Err(no_answer) => return no_answer.into(),
        };
        let evidence = format!("Host: {host} → {}", found.summary());
        findings.push(match found.status == usual.status {
            true => Finding::pass(evidence),
            false => Finding::warn(evidence),
        });
    }
    Finding::worst(findings).unwrap_or_else(|| Finding::skip("there is nothing to try"))
}

async fn csrf(site: &Site) -> Finding {
    if let Some(finding) = refusal::no_server(site) {
        return finding;
    }
    let plain = || site.greeting().with("content-type", "text/plain");
    if plain().request(&site.address).body.is_none() {
        return Finding::skip("the server takes no messages at this URL");
    }
    let asked = (site.ask(&plain().with("origin", EVIL)).await, site.ask(&plain()).await);
    let (from_page, alone) = match asked {
        (Ok(from_page), Ok(alone)) => (from_page, alone),
        (Err(no_answer), _) | (_, Err(no_answer)) => return no_answer.into(),
    };
    let taken = |answer: &Answer| answer.is_taken() && !is_refused_in_words(answer);
    match (taken(&from_page), taken(&alone), in_words(&from_page, &alone)) {
        (true, ..) => Finding::fail(format!("text/plain from {EVIL} → {}", from_page.summary())),
        (false, true, _) => Finding::warn(format!(
            "only the Origin keeps such a request out; without one, text/plain → {}",
            alone.summary()
        )),
        (false, false, Some(answer)) => {
            refusal::of(site, answer, &[StatusCode::UNSUPPORTED_MEDIA_TYPE])
        }
        (false, false, None) if refusal::is_usual(site, &alone) => {
            refusal::untold(site, &format!("everything is refused: {}", alone.summary()))
        }
        (false, false, None) => Finding::pass(format!("text/plain → {}", alone.summary())),
    }
}
