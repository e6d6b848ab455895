//! Revisions: what the server makes of one that it does not know, and of headers that do not fit.

use http::StatusCode;
use serde_json::{Value, json};

use super::messages::mute;
use super::probe::{Probe, VERSION, modern, request};
use super::refusal;
use super::site::Site;
use crate::doctor::Check;
use crate::doctor::finding::{Finding, Need, excerpt};
use crate::protocol::jsonrpc::ErrorObject;
use crate::protocol::method;
use crate::protocol::revision::{Era, Revision};

const VALIDATION: &str = "MCP 2026-07-28, Streamable HTTP, Server Validation (-32020)";

pub(super) const CHECKS: &[Check<Site>] = &[
    Check {
        id: "version-offer",
        title: "an offer of an unknown revision is answered with one that the server speaks",
        clause: "MCP 2025-11-25, Lifecycle, Version Negotiation",
        fix: "Answer initialize with a revision that you do speak, the newest, and leave it to \
              the client to go.",
        run: |site| Box::pin(offer(site)),
    },
    Check {
        id: "version-hdr",
        title: "a request in an unknown revision is refused with 400 (-32022 since 2026-07-28)",
        clause: "MCP 2025-11-25, Transports, Protocol Version Header; 2026-07-28, Versioning, \
                 Protocol Version Negotiation",
        fix: "Answer a revision that you do not speak with 400; in 2026-07-28 with error -32022 \
              and data.supported.",
        run: |site| Box::pin(header(site)),
    },
    Check {
        id: "hdr-mismatch",
        title: "a request whose Mcp-Method differs from its body is refused with 400, -32020",
        clause: VALIDATION,
        fix: "Compare Mcp-Method with the method in the body, and answer a difference with 400 \
              and error -32020.",
        run: |site| Box::pin(mismatch(site)),
    },
    Check {
        id: "hdr-missing",
        title: "a request without Mcp-Method is refused with 400, -32020",
        clause: VALIDATION,
        fix: "Answer a request without Mcp-Method with 400 and error -32020.",
        run: |site| Box::pin(missing(site)),
    },
    Check {
        id: "hdr-version",
        title: "a request whose MCP-Protocol-Version differs from its body is refused with 400, -32020",
        clause: "MCP 2026-07-28, Streamable HTTP, Protocol Version Header; Server Validation \
                 (-32020)",
        fix: "Compare MCP-Protocol-Version with the one in _meta, and answer a difference with \
              400 and error -32020.",
        run: |site| Box::pin(version_mismatch(site)),
    },
    Check {
        id: "meta-missing",
        title: "a request without the _meta that it must have is refused with 400",
        clause: "MCP 2026-07-28, Base Protocol, _meta (-32602)",
        fix: "Answer a request that lacks its _meta (revision, capabilities) with 400 and error \
              -32602.",
        run: |site| Box::pin(without_meta(site)),
    },
];

async fn offer(site: &Site) -> Finding {
    if let Some(mute) = mute(site) {
        return mute;
    }
    if !site.is_legacy() {
        return Finding::skip("the server opens no sessions");
    }
    let answer = match site.ask(&Probe::initialize(Revision::NEVER)).await {
        Ok(answer) => answer,
        Err(no_answer) => return no_answer.into(),
    };
    let settled = answer.result().and_then(|result| result.get("protocolVersion"));
    match settled.and_then(Value::as_str) {
        Some(Revision::NEVER) => Finding::fail(format!("it claims to speak {}", Revision::NEVER)),
        Some(date) if Revision::named(date).is_some() => Finding::pass(format!("it offers {date}")),
        Some(date) => {
            let why = format!("it offers {}, which this client does not know", excerpt(date));
            Finding::unknown(why, Need::Newer)
        }
        // Older servers refuse instead; clients cannot tell then what would do.
        None => Finding::fail(format!("it offers none: {}", answer.summary())),
    }
}

async fn header(site: &Site) -> Finding {
    if let Some(mute) = mute(site) {
        return mute;
    }
    if !site.is_modern() {
        let spoken = site.revision().and_then(Revision::named);
        if spoken.is_some_and(|revision| !revision.version_header) {
            return Finding::skip("the revision of the session has no such header");
        }
        return match site.ask(&site.ping().with(VERSION, Revision::NEVER)).await {
            Ok(answer) => refusal::of(site, &answer, &[StatusCode::BAD_REQUEST]),
            Err(no_answer) => no_answer.into(),
        };
    }
    let message = modern(json!("doctor-never"), method::DISCOVER, Revision::NEVER);
    let probe = Probe::message(&message);
    let probe = probe.with(VERSION, Revision::NEVER).with("mcp-method", method::DISCOVER);
    let answer = match site.ask(&probe).await {
        Ok(answer) => answer,
        Err(no_answer) => return no_answer.into(),
    };
    let response = answer.response.as_ref();
    let supported = response.and_then(|it| it.pointer("/error/data/supported")?.as_array());
    let lists_some = supported.is_some_and(|dates| !dates.is_empty());
    let is_right = answer.status == StatusCode::BAD_REQUEST
        && answer.code() == Some(ErrorObject::UNSUPPORTED_VERSION);
    match (is_right, lists_some) {
        (true, true) => Finding::pass(answer.summary()),
        (true, false) => Finding::fail(format!("without the supported ones: {}", answer.summary())),
        (false, _) => Finding::fail(answer.summary()),
    }
}

/// A request in the revision of the modern era, with these headers.
fn in_modern(method: Option<&str>, version: &str) -> Probe {
    let spoken = Revision::newest(Era::Modern).date;
    let message = modern(json!("doctor-header"), method::DISCOVER, spoken);
    let probe = Probe::message(&message).with(VERSION, version);
    match method {
        Some(method) => probe.with("mcp-method", method),
        None => probe,
    }
}

/// The finding for a request whose headers are wrong. Where `may_divert`, a server of both eras may
/// take it for one of the other era, and refuse it as such.
async fn header_fault(site: &Site, probe: Probe, may_divert: bool) -> Finding {
    if let Some(mute) = mute(site) {
        return mute;
    }
    if !site.is_modern() {
        return Finding::skip("the server does not speak 2026-07-28");
    }
    let answer = match site.ask(&probe).await {
        Ok(answer) => answer,
        Err(no_answer) => return no_answer.into(),
    };
    let is_right = answer.status == StatusCode::BAD_REQUEST
        && answer.code() == Some(ErrorObject::HEADER_MISMATCH);
    match is_right {
        true => Finding::pass(answer.summary()),
        false if may_divert && site.is_legacy() && answer.status == StatusCode::BAD_REQUEST => {
            Finding::warn(format!("refused, but not with -32020: {}", answer.summary()))
        }
        false => Finding::fail(answer.summary()),
    }
}

async fn mismatch(site: &Site) -> Finding {
    let spoken = Revision::newest(Era::Modern).date;
    header_fault(site, in_modern(Some(method::LIST_TOOLS), spoken), false).await
}

async fn missing(site: &Site) -> Finding {
    let spoken = Revision::newest(Era::Modern).date;
    header_fault(site, in_modern(None, spoken), false).await
}

async fn version_mismatch(site: &Site) -> Finding {
    let other = Revision::newest(Era::Legacy).date;
    header_fault(site, in_modern(Some(method::DISCOVER), other), true).await
}

async fn without_meta(site: &Site) -> Finding {
    if let Some(mute) = mute(site) {
        return mute;
    }
    if !site.is_modern() {
        return Finding::skip("the server does not speak 2026-07-28");
    }
    let message = request(json!("doctor-bare"), method::DISCOVER, json!({}));
    let probe = Probe::message(&message).with(VERSION, Revision::newest(Era::Modern).date);
    match site.ask(&probe.with("mcp-method", method::DISCOVER)).await {
        Ok(answer) if answer.status == StatusCode::BAD_REQUEST => Finding::pass(answer.summary()),
        Ok(answer) => Finding::fail(answer.summary()),
        Err(no_answer) => no_answer.into(),
    }
}
