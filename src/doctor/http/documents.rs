//! What the server publishes about itself: its card and the catalog of its host.
//!
//! A card is a claim. These checks look at its form, at how it is served, and at whether it agrees
//! with the server that answers; whom to believe is the business of `trust`.

use http::{Method, StatusCode};
use serde_json::Value;

use super::probe::{Answer, NoAnswer, Probe};
use super::refusal::untold;
use super::resource;
use super::site::Site;
use crate::discovery::Remote;
use crate::discovery::catalog::{CARD as CARD_TYPE, CATALOG as CATALOG_TYPE};
use crate::discovery::compare::{Live, differences};
use crate::discovery::document::{self, Object};
use crate::discovery::lint;
use crate::discovery::normalise::normalise;
use crate::discovery::place::card_beside;
use crate::doctor::Check;
use crate::doctor::finding::{Finding, Need, excerpt};
use crate::net::Address;

const CARD: &str = "MCP Server Card extension (ext-server-card), Discovery";

pub(super) const CHECKS: &[Check<Site>] = &[
    Check {
        id: "card-type",
        title: "the card of the server is served as what it is",
        clause: CARD,
        fix: "Serve the card as application/mcp-server-card+json.",
        run: |site| Box::pin(card_type(site)),
    },
    Check {
        id: "card-schema",
        title: "the card has what a card must have",
        clause: "MCP Server Card extension (ext-server-card), schema v1",
        fix: "Correct the card; `mcpmini card check URL` lists everything that is wrong with it.",
        run: |site| Box::pin(card_schema(site)),
    },
    Check {
        id: "card-cors",
        title: "pages of any site may read the card (Access-Control-Allow-Origin: *)",
        clause: CARD,
        fix: "Send Access-Control-Allow-Origin: * with the card: it is public, and web clients \
              read it.",
        run: |site| Box::pin(card_cors(site)),
    },
    Check {
        id: "card-etag",
        title: "whoever has the card already is told that it has not changed (304)",
        clause: "RFC 9110, section 13.1.2; MCP Server Card extension (ext-server-card), Discovery",
        fix: "Send an ETag and Cache-Control: public, max-age=3600 with the card, and answer \
              If-None-Match with 304.",
        run: |site| Box::pin(card_etag(site)),
    },
    Check {
        id: "card-live",
        title: "the card agrees with the server",
        clause: CARD,
        fix: "Make the card from the same source as the server's own answers, and publish it with \
              each release.",
        run: |site| Box::pin(card_live(site)),
    },
    Check {
        id: "card-resource",
        title: "the card is not only a resource of the server",
        clause: CARD,
        fix: "Serve the card at URL/server-card, where clients look for it before they connect.",
        run: |site| Box::pin(card_resource(site)),
    },
    Check {
        id: "catalog",
        title: "the catalog of the host is served as what it is, for every site, and lists something",
        clause: "AI Catalog, Well-Known URI; MCP Server Card extension (ext-server-card), \
                 Discovery",
        fix: "List the card in /.well-known/ai-catalog.json, served as \
              application/ai-catalog+json with Access-Control-Allow-Origin: *.",
        run: |site| Box::pin(catalog(site)),
    },
];

pub(super) async fn get(
    site: &Site,
    address: Address,
    accept: &'static str,
) -> Result<Answer, NoAnswer> {
    site.ask(&question(address, accept)).await
}

fn question(address: Address, accept: &'static str) -> Probe {
    // Documents are for everybody, so nothing of the user's goes along.
    Probe::new(Method::GET).to(address).with("accept", accept).bare()
}

/// The card as it is served at its place, and that place; else why there is none to check.
pub(super) async fn card(site: &Site) -> Result<(Answer, Address), Finding> {
    let address = card_beside(&site.address);
    let answer = get(site, address.clone(), CARD_TYPE).await.map_err(Finding::from)?;
    match answer.is_taken() && object_with(&answer, &CARD_MEMBERS).is_some() {
        true => Ok((answer, address)),
        false => {
            Err(Finding::skip(format!("no card at {address}: HTTP {}", answer.status.as_u16())))
        }
    }
}

/// What a card has some of, whatever is wrong with it.
const CARD_MEMBERS: [&str; 4] = ["$schema", "name", "remotes", "packages"];

/// What a catalog has some of.
const CATALOG_MEMBERS: [&str; 2] = ["specVersion", "entries"];

/// The object in an answer, when it has one of these members: some endpoints answer every path alike,
/// and with something else.
fn object_with(answer: &Answer, members: &[&str]) -> Option<Object> {
    let object = document::read(answer.body.as_bytes()).ok()?;
    members.iter().any(|name| object.get(*name).is_some()).then_some(object)
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

/// What the card says, wherever it is; else why there is none to check.
async fn content(site: &Site) -> Result<Object, Finding> {
    let why_not = match card(site).await {
        Ok((answer, _)) => {
            return Ok(object_with(&answer, &CARD_MEMBERS).unwrap_or_default());
        }
        Err(finding) => finding,
    };
    match resource::card(site).await {
        Ok(Some(text)) => document::read(text.as_bytes()).map_err(|malformed| {
            Finding::fail(excerpt(&format!("{}: {malformed}", resource::CARD)))
        }),
        Ok(None) => Err(why_not),
        Err(no_answer) => Err(no_answer.into()),
    }
}

async fn card_resource(site: &Site) -> Finding {
    match resource::card(site).await {
        Ok(None) => Finding::skip(format!("no resource {}", resource::CARD)),
        Err(no_answer) => no_answer.into(),
        Ok(Some(_)) => match card(site).await {
            Ok((_, address)) => {
                Finding::pass(format!("{} for old clients, beside {address}", resource::CARD))
            }
            Err(_) => Finding::warn(format!(
                "only as the resource {}, which drafts of the extension had until March 2026",
                resource::CARD
            )),
        },
    }
}

async fn card_schema(site: &Site) -> Finding {
    let card = match content(site).await {
        Ok(card) => card,
        Err(finding) => return finding,
    };
    match lint::check(&card).first() {
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
    let card = match content(site).await {
        Ok(card) => card,
        Err(finding) => return finding,
    };
    let Some(live) = live(site) else {
        return untold(site, "the server does not say what it is");
    };
    let normal = normalise(&card, Some(&site.address)).unwrap_or_default();
    let Some(claim) = normal.claims.first() else {
        return Finding::unknown("the card is about no server", Need::Sound);
    };
    // A template stands for many.
    let leads_here =
        |remote: &&Remote| remote.url.contains('{') || remote.url == site.address.as_str();
    let remote = claim.remotes.iter().find(leads_here);
    let versions = remote.map(|remote| remote.versions.as_slice()).unwrap_or_default();
    let differing = differences(claim, versions, &live);
    let differing = differing.iter().map(|it| Finding::warn(excerpt(&it.to_string())));
    let elsewhere = (remote.is_none() && !claim.remotes.is_empty()).then(|| {
        let urls: Vec<&str> = claim.remotes.iter().map(|remote| remote.url.as_str()).collect();
        Finding::warn(format!("the card leads to {}", excerpt(&urls.join(", "))))
    });
    let agrees = Finding::pass("the same name, version and revisions, and this URL");
    Finding::worst(differing.chain(elsewhere)).unwrap_or(agrees)
}

/// What the server says about itself; `None` when it says nothing.
fn live(site: &Site) -> Option<Live> {
    let result =
        |answer: &Result<Answer, NoAnswer>| answer.as_ref().ok().and_then(Answer::result).cloned();
    let (modern, legacy) = (result(&site.discovered), result(&site.initialized));
    let mut live = Live::default();
    for said in [&modern, &legacy].into_iter().flatten() {
        let info = said.pointer("/_meta/io.modelcontextprotocol~1serverInfo");
        let info = said.get("serverInfo").or(info);
        let text = |name: &str| Some(info?.get(name)?.as_str()?.to_owned());
        live.name = live.name.or_else(|| text("name"));
        live.version = live.version.or_else(|| text("version"));
        let supported = said.get("supportedVersions").and_then(Value::as_array);
        let supported = supported.into_iter().flatten().chain(said.get("protocolVersion"));
        live.versions.extend(supported.filter_map(|it| it.as_str().map(str::to_owned)));
        let capabilities = said.get("capabilities").and_then(Value::as_object);
        live.capabilities.extend(capabilities.into_iter().flat_map(|it| it.keys().cloned()));
    }
    (modern.is_some() || legacy.is_some()).then_some(live)
}

/// The catalog of the host as it is served, what is in it and where it is; else why there is none to
/// check.
pub(super) async fn host_catalog(site: &Site) -> Result<(Answer, Object, Address), Finding> {
    let place = site.address.join("/.well-known/ai-catalog.json");
    let address = place.map_err(|_| Finding::skip("no place for a catalog"))?;
    let answer = get(site, address.clone(), CATALOG_TYPE).await.map_err(Finding::from)?;
    match object_with(&answer, &CATALOG_MEMBERS).filter(|_| answer.is_taken()) {
        Some(document) => Ok((answer, document, address)),
        None => {
            let status = answer.status.as_u16();
            Err(Finding::skip(format!("no catalog at {address}: HTTP {status}")))
        }
    }
}

async fn catalog(site: &Site) -> Finding {
    let (answer, document, _) = match host_catalog(site).await {
        Ok(found) => found,
        Err(finding) => return finding,
    };
    let entries = document.get("entries").and_then(Value::as_array);
    let listed = match entries.map_or(0, Vec::len) {
        0 => Finding::fail("the catalog has no entries"),
        count => Finding::pass(format!("{count} entries")),
    };
    let findings = [listed, of_type(&answer, CATALOG_TYPE), for_every_site(&answer)];
    Finding::worst(findings).unwrap_or_else(|| Finding::skip("there is nothing to look at"))
}
