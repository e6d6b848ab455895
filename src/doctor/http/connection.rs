//! What answers at the URL, and which eras it speaks.

use http::{Method, StatusCode};

use super::probe::{Answer, NoAnswer, Probe, listed};
use super::refusal;
use super::site::Site;
use super::speech::Speech;
use crate::doctor::Check;
use crate::doctor::finding::{Finding, Need, excerpt};
use crate::protocol::Revision;

pub(super) const CHECKS: &[Check<Site>] = &[
    Check {
        id: "speech",
        title: "the URL is that of an MCP server, and not of the deprecated binding",
        clause: "MCP 2026-07-28, Streamable HTTP; HTTP+SSE Transport (2024-11-05) (deprecated)",
        fix: "Give the URL of the MCP endpoint itself, often ending in /mcp. A server of HTTP+SSE \
              should offer Streamable HTTP beside it.",
        run: |site| Box::pin(async { speech(site) }),
    },
    Check {
        id: "era",
        title: "clients of either era find out what is spoken",
        clause: "MCP 2026-07-28, Versioning, Backward Compatibility with Initialization-Based \
                 Versions",
        fix: "Answer initialize with an error whose text or data names the revisions that you \
              speak.",
        run: |site| Box::pin(async { era(site) }),
    },
    Check {
        id: "verbs",
        title: "GET opens an event stream or is refused with 405; without sessions so is DELETE",
        clause: "MCP 2025-11-25, Transports, Listening, item 3; 2026-07-28, Streamable HTTP, \
                 Earlier Streamable HTTP Revisions",
        fix: "Answer GET with text/event-stream, or with 405 if you offer no stream; without \
              sessions answer DELETE with 405 as well.",
        run: |site| Box::pin(verbs(site)),
    },
];

fn speech(site: &Site) -> Finding {
    match site.speech() {
        Speech::Modern => Finding::pass("server/discover is answered"),
        Speech::Legacy => Finding::pass("initialize is answered"),
        Speech::Sse => Finding::warn("it speaks only HTTP+SSE, the binding of 2024-11-05"),
        Speech::Nothing => match site.greeted() {
            Ok(answer) if refusal::is_closed(answer) => {
                let why = "the server refuses everybody who comes like this";
                refusal::untold(site, &format!("{why}: {}", answer.summary()))
            }
            Ok(answer) if refusal::is_refusal(answer) => {
                let why = "the server wants credentials, so most cannot be told";
                Finding::unknown(format!("{why}: {}", answer.summary()), Need::Credentials)
            }
            Ok(answer) if answer.status.is_redirection() => Finding::fail(format!(
                "the server is elsewhere: {} {}",
                answer.summary(),
                excerpt(answer.header("location").unwrap_or_default())
            )),
            Ok(answer) => Finding::fail(no_mcp(site, answer)),
            Err(no_answer) => no_answer.clone().into(),
        },
    }
}

/// What is wrong with what answers at a URL and speaks no MCP that is known here.
pub(super) fn no_mcp(site: &Site, answer: &Answer) -> String {
    match spoken(site).as_slice() {
        [] => format!("no MCP server: {}", answer.summary()),
        dates => format!("no common revision: the server speaks {}", excerpt(&dates.join(", "))),
    }
}

/// The revisions that the server lists.
fn spoken(site: &Site) -> Vec<&str> {
    site.discovered.as_ref().ok().and_then(Answer::result).map(listed).unwrap_or_default()
}

fn era(site: &Site) -> Finding {
    let spoken = excerpt(&spoken(site).join(", "));
    let legacy = site.revision().map(excerpt);
    if let Some(date) = &legacy
        && Revision::named(date).is_none()
    {
        return unknown_revision(date);
    }
    match (site.is_modern(), legacy) {
        (true, Some(revision)) => {
            Finding::pass(format!("both: {spoken}, and a session in {revision}"))
        }
        (false, Some(revision)) => Finding::pass(format!("a session in {revision}")),
        (true, None) => {
            // People with an old client see nothing but this error.
            let told = site.initialized.as_ref().map(|answer| answer.body.as_str());
            let names_one =
                |body: &str| Revision::all().iter().any(|revision| body.contains(revision.date));
            match told {
                Ok(body) if names_one(body) => Finding::pass(format!("{spoken} only, and says so")),
                Ok(_) => Finding::warn(format!(
                    "{spoken} only, but the error for initialize does not say so"
                )),
                Err(no_answer) => no_answer.clone().into(),
            }
        }
        (false, None) if site.speech() == Speech::Sse => Finding::skip("HTTP+SSE has one revision"),
        (false, None) => {
            let why = "neither server/discover nor initialize is answered";
            refusal::untold(site, why)
        }
    }
}

/// The finding for a session in a revision that is not known here.
pub(in crate::doctor) fn unknown_revision(date: &str) -> Finding {
    let is_date = date.len() == 10
        && date.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    match is_date {
        true => Finding::unknown(format!("a session in {date}, not known here"), Need::Newer),
        false => Finding::fail(format!("the protocolVersion is no revision: {}", excerpt(date))),
    }
}

async fn verbs(site: &Site) -> Finding {
    match site.speech() {
        Speech::Modern | Speech::Legacy => (),
        Speech::Sse => return Finding::skip("HTTP+SSE is another binding"),
        Speech::Nothing => return refusal::untold(site, "no MCP request is answered"),
    }
    let listen = site.in_session(Probe::stream());
    let get = match site.listen(&listen).await {
        Err(NoAnswer::Late(_)) if site.is_legacy() => {
            let why = "GET is silent, as an open stream may be; its head cannot be seen here";
            return Finding::unknown(why, Need::Person);
        }
        Err(no_answer) => return no_answer.into(),
        Ok(answer) => answer,
    };
    let is_stream = get.is_taken() && get.content_type() == "text/event-stream";
    let what = if is_stream { ", an event stream" } else { "" };
    let summary = format!("GET → HTTP {}{what}", get.status.as_u16());
    let is_refused = get.status == StatusCode::METHOD_NOT_ALLOWED;
    if site.is_legacy() {
        return match is_stream || is_refused {
            true => Finding::pass(summary),
            false => Finding::fail(format!("{summary} {}", get.content_type())),
        };
    }
    let delete = match site.ask(&Probe::new(Method::DELETE)).await {
        Ok(answer) => answer,
        Err(no_answer) => return no_answer.into(),
    };
    let summary = format!("{summary}, DELETE → HTTP {}", delete.status.as_u16());
    match is_refused && delete.status == StatusCode::METHOD_NOT_ALLOWED {
        true => Finding::pass(summary),
        false => Finding::warn(summary),
    }
}
