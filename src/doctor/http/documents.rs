//! What the server publishes about itself: its card and the catalog of its host.
//!
//! A card is a claim. These checks look at its form, at how it is served, and at whether it agrees
//! with the server that answers; whom to believe is the business of `trust`.

use http::{Method, StatusCode};
use serde_json::Value;

use super::probe::{Answer, NoAnswer, Probe};
use super::site::Site;
use crate::discovery::catalog::{CARD as CARD_TYPE, CATALOG as CATALOG_TYPE};
use crate::discovery::document::{self, Object};
use crate::discovery::lint;
use crate::discovery::place::card_beside;
use crate::doctor::Check;
use crate::doctor::finding::{Finding, excerpt};
use crate::net::Address;

const CARD: &str = "MCP Server Card extension (ext-server-card), Discovery";

pub(super) const CHECKS: &[Check<Site>] = &[
    Check {
        id: "card-type",
        title: "the card of the server is served as what it is",
        clause: CARD,
        run: |site| Box::pin(card_type(site)),
    },
    Check {
        id: "card-schema",
        title: "the card has what a card must have",
        clause: "MCP Server Card extension (ext-server-card), schema v1",
        run: |site| Box::pin(card_schema(site)),
    },
    Check {
        id: "card-cors",
        title: "pages of any site may read the card (Access-Control-Allow-Origin: *)",
        clause: CARD,
        run: |site| Box::pin(card_cors(site)),
    },
    Check {
        id: "card-etag",
        title: "whoever has the card already is told that it has not changed (304)",
        clause: "RFC 9110, section 13.1.2; MCP Server Card extension (ext-server-card), Discovery",
        run: |site| Box::pin(card_etag(site)),
    },
    Check {
        id: "card-live",
        title: "the card agrees with the server",
        clause: CARD,
        run: |site| Box::pin(card_live(site)),
    },
    Check {
        id: "catalog",
        title: "the catalog of the host is served as what it is, for every site, and lists something",
        clause: "AI Catalog, Well-Known URI; MCP Server Card extension (ext-server-card), Discovery",
        run: |site| Box::pin(catalog(site)),
    },
];

async fn get(site: &Site, address: Address, accept: &'static str) -> Result<Answer, NoAnswer> {
    site.ask(&question(address, accept)).await
}

fn question(address: Address, accept: &'static str) -> Probe {
    // Documents are for everybody, so nothing of the user's goes along.
    Probe::new(Method::GET).to(address).with("accept", accept).bare()
}

/// The card and where it is; else why there is none to check.
async fn card(site: &Site) -> Result<(Answer, Address), Finding> {
    let address = card_beside(&site.address);
    let answer = get(site, address.clone(), CARD_TYPE).await.map_err(Finding::from)?;
    // Some endpoints answer every path alike, and with something else.
    let is_card =
        answer.is_taken() && object(&answer).is_some_and(|it| it.get("jsonrpc").is_none());
    match is_card {
        true => Ok((answer, address)),
        false => {
            Err(Finding::skip(format!("no card at {address}: HTTP {}", answer.status.as_u16())))
        }
    }
}

fn object(answer: &Answer) -> Option<Object> {
    document::read(answer.body.as_bytes()).ok()
}

async fn card_type(site: &Site) -> Finding {
    match card(site).await {
        Ok((answer, _)) => of_type(&answer, CARD_TYPE),
        Err(finding) => finding,
    }
}

fn of_type(answer: &Answer, wanted: &str) -> Finding {
    match answer.content_type() {
        right if right == wanted => Finding::pass(right),
        // What served it does not know better, and every reader takes it.
        json if json == "application/json" => Finding::warn(format!("{json} instead of {wanted}")),
        other => Finding::fail(format!("{} instead of {wanted}", excerpt(&other))),
    }
}

async fn card_schema(site: &Site) -> Finding {
    let (answer, _) = match card(site).await {
        Ok(found) => found,
        Err(finding) => return finding,
    };
    match lint::check(&object(&answer).unwrap_or_default()).first() {
        Some(broken) => Finding::fail(excerpt(&format!("{} {}", broken.at, broken.rule))),
        None => Finding::pass("it breaks no rule of the schema"),
    }
}

async fn card_cors(site: &Site) -> Finding {
    match card(site).await {
        Ok((answer, _)) => for_every_site(&answer),
        Err(finding) => finding,
    }
}

fn for_every_site(answer: &Answer) -> Finding {
    match answer.header("access-control-allow-origin") {
        Some("*") => Finding::pass("Access-Control-Allow-Origin: *"),
        Some(other) => Finding::fail(format!("Access-Control-Allow-Origin: {}", excerpt(other))),
        None => Finding::fail("no Access-Control-Allow-Origin"),
    }
}

async fn card_etag(site: &Site) -> Finding {
    let (answer, address) = match card(site).await {
        Ok(found) => found,
        Err(finding) => return finding,
    };
    let Some(etag) = answer.header("etag") else { return Finding::warn("no ETag") };
    let again = question(address, CARD_TYPE).with("if-none-match", etag);
    match site.ask(&again).await {
        Ok(again) if again.status == StatusCode::NOT_MODIFIED => {
            match answer.header("cache-control") {
                Some(value) => Finding::pass(format!("304; Cache-Control: {}", excerpt(value))),
                None => Finding::warn("304, but no Cache-Control"),
            }
        }
        Ok(again) => Finding::warn(format!("If-None-Match → HTTP {}", again.status.as_u16())),
        Err(no_answer) => no_answer.into(),
    }
}

async fn card_live(site: &Site) -> Finding {
    let (answer, _) = match card(site).await {
        Ok(found) => found,
        Err(finding) => return finding,
    };
    let card = object(&answer).unwrap_or_default();
    let Some(live) = live(site) else {
        return Finding::unknown("the server does not say what it is");
    };
    let said = card.get("version").and_then(Value::as_str);
    let is = live.get("version").and_then(Value::as_str);
    if let (Some(said), Some(is)) = (said, is)
        && said != is
    {
        return Finding::warn(format!(
            "the card is of version {}, the server of {}",
            excerpt(said),
            excerpt(is)
        ));
    }
    let remotes = card.get("remotes").and_then(Value::as_array);
    let urls = remotes.into_iter().flatten().filter_map(|remote| remote.get("url")?.as_str());
    let urls: Vec<&str> = urls.collect();
    // A template stands for many.
    let leads_here = |url: &&str| url.contains('{') || *url == site.address.as_str();
    match urls.is_empty() || urls.iter().any(leads_here) {
        true => Finding::pass("the same version, and this URL"),
        false => Finding::warn(format!("the card leads to {}", excerpt(&urls.join(", ")))),
    }
}

/// What the server says about itself.
fn live(site: &Site) -> Option<Value> {
    let info = |answer: &Result<Answer, NoAnswer>| {
        let result = answer.as_ref().ok()?.result()?;
        let modern = result.pointer("/_meta/io.modelcontextprotocol~1serverInfo");
        result.get("serverInfo").or(modern).cloned()
    };
    info(&site.discovered).or_else(|| info(&site.initialized))
}

async fn catalog(site: &Site) -> Finding {
    let url = format!("{}/.well-known/ai-catalog.json", site.address.origin());
    let Ok(address) = Address::parse(&url) else { return Finding::skip("no place for a catalog") };
    let answer = match get(site, address, CATALOG_TYPE).await {
        Ok(answer) => answer,
        Err(no_answer) => return no_answer.into(),
    };
    let document = object(&answer).filter(|it| answer.is_taken() && it.get("jsonrpc").is_none());
    let Some(document) = document else {
        return Finding::skip(format!("no catalog at {url}: HTTP {}", answer.status.as_u16()));
    };
    let entries = document.get("entries").and_then(Value::as_array);
    let listed = match entries.map_or(0, Vec::len) {
        0 => Finding::fail("the catalog has no entries"),
        count => Finding::pass(format!("{count} entries")),
    };
    let findings = [listed, of_type(&answer, CATALOG_TYPE), for_every_site(&answer)];
    Finding::worst(findings).unwrap_or_else(|| Finding::skip("there is nothing to look at"))
}
