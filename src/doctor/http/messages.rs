//! Messages: what the server makes of good ones and of bad ones.

use http::StatusCode;
use serde_json::{Value, json};

use super::probe::{Answer, NO_METHOD, NoAnswer, Probe, request};
use super::refusal::{self, untold};
use super::site::Site;
use super::speech::Speech;
use crate::doctor::Check;
use crate::doctor::finding::{Finding, excerpt};
use crate::protocol::Revision;
use crate::protocol::jsonrpc::ErrorObject;
use crate::protocol::method;
use crate::protocol::sorting::sort;

pub(super) const CHECKS: &[Check<Site>] = &[
    Check {
        id: "ct",
        title: "answers are application/json or text/event-stream",
        clause: "MCP 2025-11-25, Transports, Sending Messages, item 5; 2026-07-28, Streamable \
                 HTTP, Sending Messages, item 6",
        fix: "Answer a request with Content-Type: application/json or text/event-stream.",
        run: |site| Box::pin(content_type(site)),
    },
    Check {
        id: "nosniff",
        title: "browsers are told not to guess what answers are",
        clause: "Fetch, X-Content-Type-Options header",
        fix: "Send X-Content-Type-Options: nosniff with every answer.",
        run: |site| Box::pin(async { nosniff(site) }),
    },
    Check {
        id: "accept",
        title: "a client that takes JSON alone, or does not say, gets an answer or a refusal at once",
        clause: "RFC 9110, section 12.5.1; MCP 2026-07-28, Streamable HTTP, Sending Messages, \
                 item 2",
        fix: "Answer with JSON when Accept has no text/event-stream, or refuse with 406, and do \
              not keep the client waiting.",
        run: |site| Box::pin(accept(site)),
    },
    Check {
        id: "ping",
        title: "a sign of life is answered",
        clause: "MCP 2025-11-25, Ping; 2026-07-28, Versioning (servers MUST implement \
                 server/discover)",
        fix: "Answer ping with an empty result (server/discover in 2026-07-28) at any time.",
        run: |site| Box::pin(ping(site)),
    },
    Check {
        id: "id-echo",
        title: "responses carry the id of their request, as it is",
        clause: "JSON-RPC 2.0, section 5; MCP 2025-11-25 and 2026-07-28, Base Protocol, Responses",
        fix: "Send the id back as it came, with its type: \"7\" is not 7.",
        run: |site| Box::pin(id_echo(site)),
    },
    Check {
        id: "unknown-method",
        title: "a method that does not exist is answered with -32601 (and 404 since 2026-07-28)",
        clause: "JSON-RPC 2.0, section 5.1; MCP 2026-07-28, Streamable HTTP, Protocol Version \
                 Header (404)",
        fix: "Answer a method that you do not have with error -32601, in 2026-07-28 with the \
              status 404.",
        run: |site| Box::pin(unknown_method(site)),
    },
    Check {
        id: "notif",
        title: "a notification is answered with 202 and no body",
        clause: "MCP 2025-11-25, Transports, Sending Messages, item 4",
        fix: "Answer a notification with 202 and an empty body.",
        run: |site| Box::pin(notification(site)),
    },
    Check {
        id: "parse",
        title: "what is not JSON, or nothing at all, is refused by a status 4xx, and does no harm",
        clause: "JSON-RPC 2.0, section 5.1 (-32700); RFC 9110, section 15.5.1 (400)",
        fix: "Answer a body that is no JSON with 400 and error -32700, and go on.",
        run: |site| Box::pin(parse(site)),
    },
    Check {
        id: "batch",
        title: "several messages in an array are refused (since 2025-06-18)",
        clause: "MCP 2025-11-25, Transports, Sending Messages, item 3; 2026-07-28, Streamable \
                 HTTP, Sending Messages, item 4 (\"a single\")",
        fix: "Answer an array with 400: gateways look at one message only, so the others would go \
              past them.",
        run: |site| Box::pin(batch(site)),
    },
];

/// Why nothing can be told of messages; `None` when messages are taken.
pub(super) fn mute(site: &Site) -> Option<Finding> {
    match site.speech() {
        Speech::Modern | Speech::Legacy => None,
        Speech::Sse => Some(Finding::skip("HTTP+SSE answers elsewhere")),
        Speech::Nothing => Some(match site.greeted() {
            Ok(answer) => untold(site, &format!("no request is taken: {}", answer.summary())),
            Err(no_answer) => no_answer.clone().into(),
        }),
    }
}

/// Asks for what every server has, so that there is something to look at among what was heard.
pub(super) async fn hear_list(site: &Site) -> Result<(), Finding> {
    match mute(site) {
        Some(mute) => Err(mute),
        None => site.ask(&site.routine(method::LIST_TOOLS)).await.map(drop).map_err(Finding::from),
    }
}

async fn content_type(site: &Site) -> Finding {
    if let Err(finding) = hear_list(site).await {
        return finding;
    }
    let heard = site.heard();
    let with_response = heard.iter().filter(|answer| answer.result().is_some());
    let mut types: Vec<String> = with_response.map(Answer::content_type).collect();
    sort(&mut types);
    types.dedup();
    let odd = types.iter().find(|it| !matches!(&***it, "application/json" | "text/event-stream"));
    match odd {
        Some(odd) => Finding::fail(format!("Content-Type: {}", excerpt(odd))),
        None => Finding::pass(types.join(" and ")),
    }
}

fn nosniff(site: &Site) -> Finding {
    if let Some(finding) = refusal::no_server(site) {
        return finding;
    }
    match site.greeted() {
        Ok(answer) => match answer.header("x-content-type-options") {
            Some(value) if value.eq_ignore_ascii_case("nosniff") => Finding::pass("nosniff"),
            Some(value) => Finding::warn(format!("X-Content-Type-Options: {}", excerpt(value))),
            None => Finding::warn("no X-Content-Type-Options: nosniff"),
        },
        Err(no_answer) => no_answer.clone().into(),
    }
}

async fn accept(site: &Site) -> Finding {
    if let Some(mute) = mute(site) {
        return mute;
    }
    let json = judge_accept(site, site.ping().with("accept", "application/json")).await;
    let any = judge_accept(site, site.ping().without("accept")).await;
    let any = Finding { evidence: format!("without Accept: {}", any.evidence), ..any };
    Finding::worst([json, any]).unwrap_or_else(|| Finding::skip("there is nothing to try"))
}

/// Whether a client that does not take everything gets something that it takes, or a refusal.
async fn judge_accept(site: &Site, probe: Probe) -> Finding {
    let takes_any = !probe.has("accept");
    match site.ask(&probe).await {
        Ok(answer)
            if !takes_any && answer.is_taken() && answer.content_type() == "text/event-stream" =>
        {
            Finding::warn("an event stream, which the client does not take")
        }
        Ok(answer) if answer.is_taken() || answer.status.is_client_error() => {
            Finding::pass(answer.summary())
        }
        Ok(answer) => Finding::warn(answer.summary()),
        Err(NoAnswer::Late(patience)) => Finding::fail(format!("silence for {patience:?}")),
        Err(no_answer) => no_answer.into(),
    }
}

async fn ping(site: &Site) -> Finding {
    if let Some(mute) = mute(site) {
        return mute;
    }
    match site.ask(&site.ping()).await {
        Ok(answer) if answer.result().is_some_and(Value::is_object) => {
            Finding::pass(answer.summary())
        }
        Ok(answer) => Finding::fail(answer.summary()),
        Err(NoAnswer::Late(patience)) => Finding::fail(format!("silence for {patience:?}")),
        Err(no_answer) => no_answer.into(),
    }
}

async fn id_echo(site: &Site) -> Finding {
    if let Some(mute) = mute(site) {
        return mute;
    }
    let method = if site.is_modern() { method::DISCOVER } else { method::PING };
    // The largest number that every JSON parser takes, a text that looks like a number, and zero.
    for id in [json!(9_007_199_254_740_991_u64), json!("7"), json!(0)] {
        let answer = match site.ask(&site.routine_as(id.clone(), method)).await {
            Ok(answer) => answer,
            Err(no_answer) => return no_answer.into(),
        };
        match answer.response.as_ref().map(|response| response.get("id")) {
            Some(Some(came)) if *came == id => (),
            Some(Some(came)) => return Finding::fail(format!("asked as {id}, answered as {came}")),
            _ => return Finding::fail(format!("asked as {id}, no answer: {}", answer.summary())),
        }
    }
    Finding::pass("a large number, a text and zero came back")
}

async fn unknown_method(site: &Site) -> Finding {
    if let Some(mute) = mute(site) {
        return mute;
    }
    let answer = match site.ask(&site.routine(NO_METHOD)).await {
        Ok(answer) => answer,
        Err(no_answer) => return no_answer.into(),
    };
    let summary = answer.summary();
    match answer.code() {
        Some(ErrorObject::METHOD_NOT_FOUND) => {
            match site.is_modern() && answer.status != StatusCode::NOT_FOUND {
                true => Finding::fail(format!("not 404: {summary}")),
                false => Finding::pass(summary),
            }
        }
        // The code is a MUST since 2026-07-28 only.
        Some(_) if !site.is_modern() => Finding::warn(format!("not -32601: {summary}")),
        _ => Finding::fail(format!("not -32601: {summary}")),
    }
}

async fn notification(site: &Site) -> Finding {
    if let Some(mute) = mute(site) {
        return mute;
    }
    if site.is_modern() {
        return Finding::skip("2026-07-28 has no notification that a client would send over HTTP");
    }
    let message = json!({ "jsonrpc": "2.0", "method": method::INITIALIZED });
    match site.ask(&site.in_session(Probe::message(&message))).await {
        Ok(answer) if answer.status == StatusCode::ACCEPTED && answer.body.is_empty() => {
            Finding::pass("HTTP 202")
        }
        Ok(answer) => Finding::fail(answer.summary()),
        Err(no_answer) => no_answer.into(),
    }
}

async fn parse(site: &Site) -> Finding {
    if let Some(mute) = mute(site) {
        return mute;
    }
    let mut findings = Vec::new();
    for body in ["{", ""] {
        let what = if body.is_empty() { "no body" } else { body };
        let probe = site.ping().saying(body);
        let answer = match site.ask(&probe).await {
            Ok(answer) => answer,
            // Whether that was the server or the network, the sign of life below tells.
            Err(NoAnswer::Broken(fault)) => {
                findings.push(Finding::fail(format!("{what} → {}", fault.text)));
                continue;
            }
            Err(NoAnswer::Late(patience)) => {
                findings.push(Finding::fail(format!("{what} → silence for {patience:?}")));
                continue;
            }
            Err(no_answer) => return no_answer.into(),
        };
        let evidence = format!("{what} → {}", answer.summary());
        findings.push(match answer.status {
            status if status.is_client_error() => Finding::pass(evidence),
            status if status.is_server_error() || answer.code().is_some() => {
                Finding::warn(evidence)
            }
            _ => Finding::fail(evidence),
        });
    }
    match site.ask(&site.ping()).await {
        // That it does not know `ping` is a matter of another check.
        Ok(answer) if answer.response.is_some() && !answer.status.is_server_error() => (),
        Ok(answer) => findings.push(Finding::fail(format!("and then: {}", answer.summary()))),
        Err(no_answer) => return no_answer.into(),
    }
    Finding::worst(findings).unwrap_or_else(|| Finding::skip("there is nothing to try"))
}

async fn batch(site: &Site) -> Finding {
    if let Some(mute) = mute(site) {
        return mute;
    }
    let spoken = site.revision().and_then(Revision::named);
    if !site.is_modern() && spoken.is_some_and(|revision| revision.batches) {
        return Finding::skip("the revision of the session allows it");
    }
    let ping = |id: &str| request(json!(id), method::PING, json!({}));
    let body = json!([ping("doctor-a"), ping("doctor-b")]).to_string();
    match site.ask(&site.ping().saying(&body)).await {
        Ok(answer) if answer.status.is_client_error() => Finding::pass(answer.summary()),
        Ok(answer) if answer.code().is_some() => Finding::pass(answer.summary()),
        Ok(answer) if answer.status.is_server_error() => Finding::warn(answer.summary()),
        Ok(answer) => Finding::warn(format!("taken: {}", answer.summary())),
        Err(no_answer) => no_answer.into(),
    }
}
