//! What the server lets others keep: browsers, proxies, gateways.

use serde_json::Value;

use super::messages::{hear_list, mute};
use super::probe::{Answer, NoAnswer};
use super::site::Site;
use super::speech::Speech;
use crate::doctor::Check;
use crate::doctor::finding::{Finding, Need, excerpt};
use crate::protocol::method;

/// How many pages of a list are looked at.
const PAGES: usize = 3;

pub(super) const CHECKS: &[Check<Site>] = &[
    Check {
        id: "cache-post",
        title: "answers to messages are not kept by anybody on the way",
        clause: "RFC 9111, section 5.2.2; RFC 9110, section 9.3.3 (POST)",
        fix: "Send Cache-Control: no-store with answers to POST, or no Cache-Control at all.",
        run: |site| Box::pin(async { post(site) }),
    },
    Check {
        id: "cache-hit",
        title: "answers come from the server, not out of somebody's cache",
        clause: "RFC 9111, section 5.1 (Age)",
        fix: "Let the proxy or CDN in front pass POST through, without a cache.",
        run: |site| Box::pin(hit(site)),
    },
    Check {
        id: "cache-mcp",
        title: "lists tell for how long and for whom they hold (ttlMs, cacheScope), on all pages alike",
        clause: "MCP 2026-07-28, Caching, Cacheable Results",
        fix: "Put ttlMs (0 or more) and cacheScope (public or private) into each of these \
              results, with one cacheScope for all pages.",
        run: |site| Box::pin(result(site)),
    },
    Check {
        id: "sse-ttfb",
        title: "proxies are told not to hold event streams back (X-Accel-Buffering: no)",
        clause: "MCP 2026-07-28, Streamable HTTP, Receiving Messages",
        fix: "Send X-Accel-Buffering: no with event streams.",
        run: |site| Box::pin(buffering(site)),
    },
];

/// The directives of `Cache-Control`, in lower case.
fn directives(answer: &Answer) -> Vec<String> {
    let values = answer.all("cache-control").join(",").to_ascii_lowercase();
    values.split(',').map(|it| it.trim().to_owned()).filter(|it| !it.is_empty()).collect()
}

/// The directive that lets an answer be kept, if there is one.
fn keeping(answer: &Answer) -> Option<String> {
    let all = directives(answer);
    if all.iter().any(|it| it == "no-store") {
        return None;
    }
    let lives = |it: &&String| match it.split_once('=') {
        Some(("max-age" | "s-maxage", seconds)) => seconds.trim_matches('"') != "0",
        _ => *it == "public" || *it == "immutable",
    };
    all.iter().find(lives).cloned()
}

fn post(site: &Site) -> Finding {
    if let Some(mute) = mute(site) {
        return mute;
    }
    let answer = match site.greeted() {
        Ok(answer) => answer,
        Err(no_answer) => return no_answer.clone().into(),
    };
    match keeping(answer) {
        Some(directive) => Finding::fail(format!("Cache-Control: {}", excerpt(&directive))),
        None => match answer.header("cache-control") {
            Some(value) => Finding::pass(format!("Cache-Control: {}", excerpt(value))),
            None => Finding::pass("no Cache-Control, without which a POST is not kept"),
        },
    }
}

async fn hit(site: &Site) -> Finding {
    if let Err(finding) = hear_list(site).await {
        return finding;
    }
    let of_cache = |answer: &Answer| {
        let age = answer.header("age").filter(|age| *age != "0").map(|age| format!("Age: {age}"));
        let named = ["x-cache", "cf-cache-status", "x-cache-status"].into_iter().find_map(|name| {
            let value = answer.header(name)?;
            let is_hit = value.to_ascii_lowercase().contains("hit");
            is_hit.then(|| format!("{name}: {value}"))
        });
        age.or(named)
    };
    match site.heard().iter().filter(|answer| answer.result().is_some()).find_map(of_cache) {
        Some(evidence) => Finding::warn(excerpt(&evidence)),
        None => Finding::pass("no Age, no X-Cache hit"),
    }
}

async fn result(site: &Site) -> Finding {
    if let Some(mute) = mute(site) {
        return mute;
    }
    if !site.is_modern() {
        return Finding::skip("the server does not speak 2026-07-28");
    }
    let mut findings = Vec::new();
    for method in [
        method::DISCOVER,
        method::LIST_TOOLS,
        method::LIST_RESOURCES,
        method::LIST_TEMPLATES,
        method::LIST_PROMPTS,
    ] {
        match pages(site, method).await {
            Ok(found) => findings.extend(found),
            Err(no_answer) => return no_answer.into(),
        }
    }
    match Finding::worst(findings) {
        Some(found) if found.verdict == crate::doctor::Verdict::Pass => {
            Finding::pass("every list has both")
        }
        Some(found) => found,
        None => Finding::unknown("no list was answered", Need::Sound),
    }
}

/// Looks at the pages of a list, as far as they are asked for. What the server does not have it need
/// not describe.
async fn pages(site: &Site, method: &str) -> Result<Vec<Finding>, NoAnswer> {
    let mut findings = Vec::new();
    let mut first = None;
    let mut cursor: Option<String> = None;
    for _ in 0..PAGES {
        let params: Vec<(&str, &str)> = cursor.iter().map(|it| ("cursor", it.as_str())).collect();
        let answer = site.ask(&site.request(method, &params)).await?;
        let Some(result) = answer.result() else {
            if answer.is_taken() && answer.code().is_none() {
                let why = format!("{method}: {}", answer.summary());
                findings.push(Finding::unknown(why, Need::Sound));
            }
            break;
        };
        if !is_complete(result) {
            break;
        }
        findings.push(hints(site, method, result));
        let scope = result.get("cacheScope").cloned();
        if first.get_or_insert_with(|| scope.clone()) != &scope {
            findings.push(Finding::fail(format!("{method}: another cacheScope on another page")));
        }
        cursor = result.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    Ok(findings)
}

/// Whether a result is one that carries hints: those that ask for input first do not.
fn is_complete(result: &Value) -> bool {
    result.get("resultType").is_none_or(|kind| kind == "complete")
}

fn hints(site: &Site, method: &str, result: &Value) -> Finding {
    let scope = result.get("cacheScope");
    match result.get("ttlMs").map(Value::as_u64) {
        Some(Some(_)) => (),
        Some(None) => {
            return Finding::fail(format!("{method}: ttlMs is no whole number from 0 on"));
        }
        None => return Finding::fail(format!("{method}: no ttlMs")),
    }
    match scope.and_then(Value::as_str) {
        Some("public") if site.settings.authorization.is_set() => Finding::warn(format!(
            "{method}: cacheScope is public, though the server asks who is calling"
        )),
        Some("public" | "private") => Finding::pass(format!("{method}: both")),
        Some(other) => Finding::fail(format!("{method}: cacheScope is {}", excerpt(other))),
        None => Finding::fail(format!("{method}: no cacheScope")),
    }
}

async fn buffering(site: &Site) -> Finding {
    if let Err(finding) = hear_list(site).await {
        return finding;
    }
    let heard = site.heard();
    let mut streams = heard.iter().filter(|it| it.content_type() == "text/event-stream").peekable();
    if streams.peek().is_none() {
        return Finding::skip("nothing was answered with an event stream");
    }
    if site.speech() != Speech::Modern {
        return Finding::skip("revisions before 2026-07-28 do not ask for it");
    }
    let told = |answer: &&Answer| {
        answer.header("x-accel-buffering").is_some_and(|value| value.eq_ignore_ascii_case("no"))
    };
    match streams.all(|answer| told(&answer)) {
        true => Finding::pass("every event stream says so"),
        false => Finding::warn("event streams without X-Accel-Buffering: no"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http::StatusCode;
    use http::header::{CACHE_CONTROL, HeaderMap, HeaderValue};
    use serde_json::json;

    use super::*;

    #[test]
    fn interim_results_carry_no_hints() {
        let check =
            |result: Value, expected| assert_eq!(is_complete(&result), expected, "{result}");
        check(json!({ "tools": [], "resultType": "complete" }), true);
        check(json!({ "tools": [] }), true);
        check(json!({ "resultType": "input_required" }), false);
    }

    #[test]
    fn what_may_be_kept_is_told_from_what_may_not() {
        let check = |value: &'static str, expected: Option<&str>| {
            let headers = HeaderMap::from_iter([(CACHE_CONTROL, HeaderValue::from_static(value))]);
            let answer = Answer {
                status: StatusCode::OK,
                headers,
                body: String::new(),
                response: None,
                odd: None,
                first_byte: Duration::ZERO,
            };
            assert_eq!(keeping(&answer).as_deref(), expected, "{value}");
        };
        check("no-store", None);
        check("no-cache", None);
        check("private, max-age=0", None);
        check("max-age=60", Some("max-age=60"));
        check("Public", Some("public"));
        check("no-store, public", None);
        check("s-maxage=5", Some("s-maxage=5"));
    }
}
