//! Whether the server asks who is calling, and whether it tells how to prove it.

use http::StatusCode;
use serde_json::Value;

use super::probe::{Answer, NoAnswer, Probe, SESSION};
use super::refusal::{self, is_refusal, untold};
use super::session::in_legacy;
use super::site::Site;
use crate::auth::challenge::Challenge;
use crate::auth::{is_named, is_resource_of, resource_locations, server_locations};
use crate::doctor::Check;
use crate::doctor::finding::{Finding, Need, excerpt};
use crate::net::{Address, Fetched, Fetcher, Policy, Source, Zone};
use crate::protocol::method;

/// How long a metadata document may be, in bytes.
const LIMIT: usize = 256 << 10;

/// A token that nobody has issued.
const GARBAGE: &str = "mcpmini-doctor-no-such-token";

pub(super) const CHECKS: &[Check<Site>] = &[
    Check {
        id: "auth-none",
        title: "without credentials nothing is answered",
        clause: "MCP 2025-11-25, Transports, Security Warning, item 3; 2026-07-28, Streamable \
                 HTTP, Security & Endpoint, item 3; Authorization, Token Handling",
        fix: "Answer every request without a token (POST, GET and DELETE) with 401. If the server \
              is open on purpose, put this into a --baseline.",
        run: |site| Box::pin(none(site)),
    },
    Check {
        id: "auth-garbage",
        title: "a token that nobody has issued is refused with 401, also within a session",
        clause: "MCP 2026-07-28, Authorization, Token Handling; RFC 6750, section 3.1",
        fix: "Answer a token that you cannot verify with 401 and error=\"invalid_token\", never \
              with 200, 403 or 5xx.",
        run: |site| Box::pin(garbage(site)),
    },
    Check {
        id: "auth-challenge",
        title: "the refusal tells where the metadata of the server is",
        clause: "RFC 9728, section 5.1; MCP 2026-07-28, Authorization; RFC 9110, section 15.5.2",
        fix: "Send WWW-Authenticate: Bearer resource_metadata=\"URL of your metadata\" with each \
              401.",
        run: |site| Box::pin(challenge(site)),
    },
    Check {
        id: "auth-metadata",
        title: "the metadata is about this server, and its issuer protects logins (S256)",
        clause: "RFC 9728, section 3.3; RFC 8414, section 3.3; MCP 2026-07-28, Authorization \
                 Server Discovery (PKCE: code_challenge_methods_supported)",
        fix: "Publish /.well-known/oauth-protected-resource with this URL as its resource; its \
              issuer must name itself exactly so, and offer S256.",
        run: |site| Box::pin(metadata(site)),
    },
    Check {
        id: "auth-query",
        title: "a token in the URL is not taken",
        clause: "MCP 2026-07-28, Authorization, Token Requirements, item 2",
        fix: "Take tokens from the Authorization header only: URLs end up in logs.",
        run: |site| Box::pin(query(site)),
    },
];

/// What a server without sessions or before one is asked: the greeting, with nothing of the user's.
async fn greeted_bare(site: &Site) -> Result<Answer, NoAnswer> {
    site.ask(&site.greeting().bare()).await
}

/// Why nothing can be told where everybody is refused alike: by 403, which may be about anything.
fn closed_to_all(site: &Site, answer: &Answer) -> Option<Finding> {
    (refusal::is_closed(answer) && refusal::is_usual(site, answer)).then(|| {
        untold(site, &format!("everybody is refused, with or without: {}", answer.summary()))
    })
}

/// The refusal for want of credentials; else why there is none.
async fn refused(site: &Site) -> Result<Answer, Finding> {
    match greeted_bare(site).await {
        Ok(answer) if is_refusal(&answer) => match closed_to_all(site, &answer) {
            Some(finding) => Err(finding),
            None => Ok(answer),
        },
        Ok(answer) if answer.is_taken() => Err(refusal::no_server(site)
            .unwrap_or_else(|| Finding::skip("no credentials are asked for"))),
        Ok(answer) => Err(untold(site, &answer.summary())),
        Err(no_answer) => Err(no_answer.into()),
    }
}

async fn none(site: &Site) -> Finding {
    if let Some(finding) = refusal::no_server(site) {
        return finding;
    }
    let greeting = match greeted_bare(site).await {
        Ok(answer) => answer,
        Err(no_answer) => return no_answer.into(),
    };
    if !greeting.is_taken() && !is_refusal(&greeting) {
        return untold(site, &greeting.summary());
    }
    if let Some(finding) = closed_to_all(site, &greeting) {
        return finding;
    }
    // What belongs to a session is asked in one that its owner has opened.
    let (mut open, mut closed, mut silent) = (Vec::new(), Vec::new(), None);
    match site.listen(&site.in_session(Probe::stream()).bare()).await {
        Ok(answer) if answer.is_taken() => open.push("GET"),
        Ok(answer) if is_refusal(&answer) => closed.push("GET"),
        // What the server does not have is neither.
        Ok(_) => (),
        Err(NoAnswer::Late(_)) => {
            let why = "GET is silent, so whether it is open to all cannot be seen";
            silent = Some(Finding::unknown(why, Need::Person));
        }
        Err(no_answer) => return no_answer.into(),
    }
    match site.lists_for(Probe::bare).await {
        Ok(lists) if lists.iter().any(Answer::has_result) => open.push("tools/list"),
        Ok(lists) if lists.iter().any(is_refusal) => closed.push("tools/list"),
        Ok(_) => (),
        Err(no_answer) => return no_answer.into(),
    }
    if is_refusal(&greeting) && site.session().is_some() {
        match ends_for_all(site).await {
            Ok(true) => open.push("DELETE"),
            Ok(false) => (),
            Err(no_answer) => return no_answer.into(),
        }
    }
    match silent {
        // What is found without it counts, and what would be right may not be.
        Some(silent) if is_refusal(&greeting) && open.is_empty() => silent,
        _ => verdict(site, &greeting, &open, &closed),
    }
}

/// Whether a session that was opened with credentials can be ended without.
async fn ends_for_all(site: &Site) -> Result<bool, NoAnswer> {
    let opened = site.ask(&Probe::initialize(site.options.offer())).await?;
    let Some(session) = opened.header(SESSION) else { return Ok(false) };
    let ended = site.ask(&site.end_of(session).bare()).await?;
    if !ended.is_taken() {
        return Ok(false);
    }
    let then = site.ask(&site.routine(method::PING).with(SESSION, session)).await?;
    Ok(then.status == StatusCode::NOT_FOUND)
}

fn verdict(site: &Site, greeting: &Answer, open: &[&str], closed: &[&str]) -> Finding {
    let summary = greeting.summary();
    match (greeting.is_taken(), open.is_empty(), closed.is_empty()) {
        (false, true, _) => Finding::pass(summary),
        (false, false, _) => {
            Finding::fail(format!("{summary}, but {} is answered", open.join(", ")))
        }
        (true, _, false) => Finding::warn(format!(
            "{} is refused, but the conversation can be begun: {summary}",
            closed.join(", ")
        )),
        (true, _, true) if site.options.require_auth => {
            Finding::fail(format!("everything is answered: {summary}"))
        }
        (true, _, true) if site.settings.authorization.is_set() => {
            Finding::warn("everything is answered, also without the credentials that were given")
        }
        (true, _, true) => Finding::warn(format!("everything is answered: {summary}")),
    }
}

async fn garbage(site: &Site) -> Finding {
    if let Err(finding) = refused(site).await {
        return finding;
    }
    let begun = with_garbage(site, site.greeting()).await;
    if site.session().is_none() {
        return begun;
    }
    // Whoever has got hold of the id of a session must not be let in by it.
    let within = with_garbage(site, in_legacy(site)).await;
    let within =
        Finding { evidence: format!("in another's session: {}", within.evidence), ..within };
    Finding::worst([begun, within]).unwrap_or_else(|| Finding::skip("there is nothing to try"))
}

async fn with_garbage(site: &Site, probe: Probe) -> Finding {
    let probe = probe.bare().with("authorization", &format!("Bearer {GARBAGE}"));
    match site.ask(&probe).await {
        Ok(answer) if answer.status == StatusCode::UNAUTHORIZED => Finding::pass(answer.summary()),
        Ok(answer) if answer.is_taken() => Finding::fail(format!("taken: {}", answer.summary())),
        Ok(answer) => Finding::fail(format!("not 401: {}", answer.summary())),
        Err(no_answer) => no_answer.into(),
    }
}

async fn challenge(site: &Site) -> Finding {
    let answer = match refused(site).await {
        Ok(answer) => answer,
        Err(finding) => return finding,
    };
    if answer.status != StatusCode::UNAUTHORIZED {
        return Finding::fail(format!("not 401: {}", answer.summary()));
    }
    let fields = answer.all("www-authenticate");
    if fields.is_empty() {
        return Finding::fail("HTTP 401 without WWW-Authenticate");
    }
    let shown = excerpt(&format!("WWW-Authenticate: {}", fields.join(", ")));
    match named(&fields) {
        Some(_) => Finding::pass(shown),
        None => match find_resource(site, None).await {
            Ok(Some(found)) => {
                Finding::pass(format!("{shown}; the metadata is at {}", found.address))
            }
            Ok(None) => Finding::warn(format!("{shown}; there is no metadata anywhere")),
            Err(finding) => finding,
        },
    }
}

/// Where the metadata is, as a challenge says.
fn named(fields: &[String]) -> Option<String> {
    let challenges = Challenge::parse_all(fields);
    Challenge::choose(&challenges)?.resource_metadata().map(str::to_owned)
}

fn fetcher(site: &Site) -> Fetcher {
    let fetcher = Fetcher::new(&site.settings, &site.address, Policy::default());
    fetcher.with_patience(site.options.patience)
}

/// Fetches a document that the server has named.
pub(super) async fn fetch(site: &Site, url: &str) -> Result<Fetched, Finding> {
    let unknown = |error: &dyn std::fmt::Display| {
        Finding::unknown(excerpt(&error.to_string()), Need::Document)
    };
    let fetcher = fetcher(site);
    let zone = fetcher.zone(&site.address).await.map_err(|error| unknown(&error))?;
    fetch_from(&fetcher, url, zone).await
}

async fn fetch_from(fetcher: &Fetcher, url: &str, zone: Zone) -> Result<Fetched, Finding> {
    let unknown = |error: &dyn std::fmt::Display| {
        Finding::unknown(excerpt(&format!("{url}: {error}")), Need::Document)
    };
    let address = Address::parse(url).map_err(|error| unknown(&error))?;
    let fetched = fetcher.get(&address, Source::Document(zone), "application/json", LIMIT).await;
    fetched.map_err(|error| unknown(&error))
}

/// The metadata of the server: where the challenge says, or where it should be.
async fn find_resource(site: &Site, named: Option<&str>) -> Result<Option<Fetched>, Finding> {
    let locations = match named {
        Some(url) => vec![url.to_owned()],
        None => resource_locations(&site.address),
    };
    for location in locations {
        let fetched = fetch(site, &location).await?;
        if fetched.status.is_success() && document(&fetched).is_some() {
            return Ok(Some(fetched));
        }
    }
    Ok(None)
}

fn document(fetched: &Fetched) -> Option<Value> {
    serde_json::from_slice::<Value>(&fetched.body).ok().filter(Value::is_object)
}

async fn metadata(site: &Site) -> Finding {
    let answer = match refused(site).await {
        Ok(answer) => answer,
        Err(finding) => return finding,
    };
    let named = named(&answer.all("www-authenticate"));
    let found = match find_resource(site, named.as_deref()).await {
        Ok(Some(found)) => found,
        Ok(None) if named.is_some() => {
            return Finding::fail("there is no metadata where the challenge says");
        }
        Ok(None) => return Finding::skip("there is no metadata, so no OAuth either"),
        Err(finding) => return finding,
    };
    let resource = document(&found).unwrap_or_default();
    match resource.get("resource").and_then(Value::as_str) {
        Some(named) if is_resource_of(named, &site.address) => (),
        Some(named) => return Finding::fail(format!("the metadata is about {}", excerpt(named))),
        None => return Finding::fail("the metadata does not say what it is about (resource)"),
    }
    let issuers = resource.get("authorization_servers").and_then(Value::as_array);
    let Some(issuer) = issuers.and_then(|all| all.first()).and_then(Value::as_str) else {
        return Finding::fail("the metadata names no authorization server");
    };
    check_issuer(site, issuer, found.zone).await
}

/// Looks at the metadata of an authorization server.
async fn check_issuer(site: &Site, issuer: &str, zone: Zone) -> Finding {
    let Some(locations) = server_locations(issuer) else {
        return Finding::fail(format!("{} cannot be an issuer", excerpt(issuer)));
    };
    let fetcher = fetcher(site);
    for location in locations {
        let fetched = match fetch_from(&fetcher, &location, zone).await {
            Ok(fetched) => fetched,
            Err(finding) => return finding,
        };
        let Some(metadata) = document(&fetched).filter(|_| fetched.status.is_success()) else {
            continue;
        };
        let says = metadata.get("issuer").and_then(Value::as_str).unwrap_or_default();
        if !is_named(says, issuer) {
            return Finding::fail(format!(
                "the issuer {} calls itself {}",
                excerpt(issuer),
                excerpt(says)
            ));
        }
        let methods = metadata.get("code_challenge_methods_supported").and_then(Value::as_array);
        let has_s256 = methods.is_some_and(|methods| methods.iter().any(|it| it == "S256"));
        return match has_s256 {
            true => Finding::pass(format!("issuer {} with S256", excerpt(issuer))),
            false => Finding::fail(format!("the issuer {} does not tell S256", excerpt(issuer))),
        };
    }
    Finding::fail(format!("the issuer {} publishes no metadata", excerpt(issuer)))
}

/// Only a token that nobody has issued is tried: yours would stand in the logs of everybody on the
/// way.
async fn query(site: &Site) -> Finding {
    if let Err(finding) = refused(site).await {
        return finding;
    }
    let url = site.address.as_str();
    let joint = if url.contains('?') { '&' } else { '?' };
    let Ok(address) = Address::parse(&format!("{url}{joint}access_token={GARBAGE}")) else {
        return Finding::unknown("the URL takes no query", Need::Person);
    };
    match site.ask(&site.greeting().bare().to(address)).await {
        Ok(answer) if answer.is_taken() => Finding::fail(format!("taken: {}", answer.summary())),
        Ok(answer) => {
            let why = "a right one was not tried, since URLs end up in logs";
            let summary = answer.summary();
            Finding::unknown(format!("a wrong token is refused ({summary}); {why}"), Need::Person)
        }
        Err(no_answer) => no_answer.into(),
    }
}
