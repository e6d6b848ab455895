//! What the server lets pages of other sites read (Fetch, section 3.2, CORS protocol).

use http::Method;

use super::probe::{Answer, NoAnswer, Probe};
use super::site::Site;
use super::speech::Speech;
use super::{EVIL, origin, refusal};
use crate::doctor::finding::{Finding, excerpt};
use crate::doctor::{Check, Verdict};

const ALLOW_ORIGIN: &str = "access-control-allow-origin";
const ALLOW_CREDENTIALS: &str = "access-control-allow-credentials";
const FETCH: &str =
    "Fetch, CORS protocol; MCP 2026-07-28, Streamable HTTP, Security & Endpoint, item 1";

pub(super) const CHECKS: &[Check<Site>] = &[
    Check {
        id: "cors-preflight",
        title: "a page of another site is not told that it may send messages",
        clause: FETCH,
        fix: "Send Access-Control-Allow-Origin to the origins on your list only; leave it out for \
              others, and do not send *.",
        run: |site| Box::pin(preflight(site)),
    },
    Check {
        id: "cors-reflect",
        title: "a page of another site may not read answers",
        clause: FETCH,
        fix: "Do not copy Origin into Access-Control-Allow-Origin and do not send *: name the \
              origins that may read answers.",
        run: |site| Box::pin(reflect(site)),
    },
    Check {
        id: "cors-star-cred",
        title: "no page may read answers to requests with the visitor's cookies",
        clause: "Fetch, CORS protocol and credentials",
        fix: "Leave out Access-Control-Allow-Credentials, and let clients send Authorization \
              instead of cookies.",
        run: |site| Box::pin(star_with_credentials(site)),
    },
    Check {
        id: "cors-suffix",
        title: "an origin that only begins or ends like the server's own may not read answers",
        clause: FETCH,
        fix: "Compare the whole origin (scheme, host and port), not how it begins or ends.",
        run: |site| Box::pin(suffix(site)),
    },
    Check {
        id: "cookie",
        title: "cookies, if there are any, stay within the site and out of reach of scripts",
        clause: "RFC 6265bis, section 5.6.7 (SameSite), 5.6.6 (HttpOnly)",
        fix: "Set SameSite=Strict (or Lax), HttpOnly and Secure, or better no cookies: clients of \
              MCP send Authorization.",
        run: |site| Box::pin(async { cookie(site) }),
    },
];

/// What an answer lets a page of `origin` do: nothing, or the value that says so.
fn allowed<'a>(answer: &'a Answer, origin: &str) -> Option<&'a str> {
    answer.header(ALLOW_ORIGIN).filter(|value| *value == "*" || *value == origin)
}

async fn ask_preflight(site: &Site, origin: &str) -> Result<Answer, NoAnswer> {
    let probe = Probe::new(Method::OPTIONS)
        .with("origin", origin)
        .with("access-control-request-method", "POST")
        .with("access-control-request-headers", "content-type,authorization,mcp-protocol-version");
    // Browsers send no credentials with this question.
    site.ask(&probe.bare()).await
}

/// How bad it is that pages of other sites are let in: a server on this machine is there for one
/// person, and a public one may be there for everybody, as long as it looks at tokens alone.
fn let_in(site: &Site, evidence: String) -> Finding {
    match site.address.is_loopback() {
        true => Finding::fail(evidence),
        false => Finding::warn(evidence),
    }
}

async fn preflight(site: &Site) -> Finding {
    if let Some(finding) = refusal::no_server(site) {
        return finding;
    }
    let answer = match ask_preflight(site, EVIL).await {
        Ok(answer) => answer,
        Err(no_answer) => return no_answer.into(),
    };
    let Some(value) = allowed(&answer, EVIL) else {
        let evidence = format!("OPTIONS → {}, no {ALLOW_ORIGIN} for {EVIL}", short(&answer));
        // A browser lets the page send after a success only, so a failure is a refusal as well.
        return refusal::alike(site, &answer).unwrap_or_else(|| Finding::pass(evidence));
    };
    let evidence = format!("OPTIONS → {}, {ALLOW_ORIGIN}: {value}", short(&answer));
    // That it may ask does not help a page that is refused then.
    match site.ask(&site.greeting().with("origin", EVIL)).await {
        Ok(then) if !then.is_taken() => Finding::warn(format!(
            "{evidence}, though the request itself is refused: {}",
            then.summary()
        )),
        _ => let_in(site, evidence),
    }
}

fn short(answer: &Answer) -> String {
    format!("HTTP {}", answer.status.as_u16())
}

/// What a page of `origin` gets for the greeting, and for `tools/list`.
async fn ask_from(site: &Site, origin: &str) -> Result<(Answer, Vec<Answer>), NoAnswer> {
    let dress = |probe: Probe| probe.with("origin", origin);
    Ok((site.ask(&dress(site.greeting())).await?, site.lists_for(dress).await?))
}

/// The answer that lets a page of `origin` read it, if there is one; else the one to the greeting.
fn most_open(greeting: Answer, lists: Vec<Answer>, origin: &str) -> Answer {
    let opens = |answer: &Answer| answer.is_taken() && allowed(answer, origin).is_some();
    let with_credentials = |answer: &Answer| answer.header(ALLOW_CREDENTIALS) == Some("true");
    let mut open: Vec<Answer> =
        lists.into_iter().filter(|it| it.has_result() && opens(it)).collect();
    match open.iter().position(with_credentials) {
        Some(at) => open.swap_remove(at),
        None if opens(&greeting) => greeting,
        None => open.pop().unwrap_or(greeting),
    }
}

async fn reflect(site: &Site) -> Finding {
    if let Some(finding) = refusal::no_server(site) {
        return finding;
    }
    let answer = match ask_from(site, EVIL).await {
        Ok((greeting, lists)) => most_open(greeting, lists, EVIL),
        Err(no_answer) => return no_answer.into(),
    };
    let of_post = reflected(site, &answer).unwrap_or_else(|| {
        refusal::no_answer(site, &answer).unwrap_or_else(|| {
            Finding::pass(format!("{}, no {ALLOW_ORIGIN} for {EVIL}", short(&answer)))
        })
    });
    let of_get = ask_get(site).await.and_then(|answer| reflected(site, &answer));
    let of_get =
        of_get.map(|found| Finding { evidence: format!("GET: {}", found.evidence), ..found });
    match of_get {
        Some(of_get) if of_post.verdict < of_get.verdict => of_get,
        _ => of_post,
    }
}

/// What a page gets for a GET, which some servers answer by other code than a POST.
async fn ask_get(site: &Site) -> Option<Answer> {
    let is_greeting = site.speech() == Speech::Sse;
    let probe = Probe::stream().with("origin", EVIL);
    if is_greeting { None } else { site.listen(&probe).await.ok() }
}

/// The finding for an answer that lets a page of another site read it.
fn reflected(site: &Site, answer: &Answer) -> Option<Finding> {
    Some(match allowed(answer, EVIL)? {
        value if answer.is_taken() => {
            let_in(site, format!("{}, {ALLOW_ORIGIN}: {value}", short(answer)))
        }
        value => Finding::warn(format!(
            "{ALLOW_ORIGIN}: {value}, though the request is refused: {}",
            answer.summary()
        )),
    })
}

async fn star_with_credentials(site: &Site) -> Finding {
    if let Some(finding) = refusal::no_server(site) {
        return finding;
    }
    let (preflight, (greeting, lists)) =
        match (ask_preflight(site, EVIL).await, ask_from(site, EVIL).await) {
            (Ok(preflight), Ok(asked)) => (preflight, asked),
            (Err(no_answer), _) | (_, Err(no_answer)) => return no_answer.into(),
        };
    let of_get = ask_get(site).await;
    let answers: Vec<Answer> = [Some(preflight), of_get, Some(most_open(greeting, lists, EVIL))]
        .into_iter()
        .flatten()
        .collect();
    let is_open = |answer: &&Answer| {
        let with_credentials = answer.header(ALLOW_CREDENTIALS) == Some("true");
        with_credentials && allowed(answer, EVIL).is_some()
    };
    match answers.iter().find(is_open) {
        Some(answer) => Finding::fail(format!(
            "{ALLOW_ORIGIN}: {}, {ALLOW_CREDENTIALS}: true",
            answer.header(ALLOW_ORIGIN).unwrap_or_default()
        )),
        None => {
            let asked = answers.last().and_then(|answer| refusal::no_answer(site, answer));
            let closed = || Finding::pass(format!("no {ALLOW_CREDENTIALS} for {EVIL}"));
            asked.unwrap_or_else(closed)
        }
    }
}

async fn suffix(site: &Site) -> Finding {
    if let Some(finding) = refusal::no_server(site) {
        return finding;
    }
    let mut found = None;
    for origin in origin::like_own_origins(site) {
        let next = lets_in(site, &origin).await;
        if next.verdict != Verdict::Pass {
            return next;
        }
        found.get_or_insert(next);
    }
    found.unwrap_or_else(|| Finding::skip("no origin is like that of the server"))
}

/// Whether the pages of an origin that is like the server's own may read answers.
async fn lets_in(site: &Site, origin: &str) -> Finding {
    let asked = ask_from(site, origin).await;
    match asked.map(|(greeting, lists)| most_open(greeting, lists, origin)) {
        Ok(answer) if answer.header(ALLOW_ORIGIN) == Some("*") => {
            Finding::skip("every origin is let in, see cors-reflect")
        }
        Ok(answer) if answer.header(ALLOW_ORIGIN) == Some(origin) => {
            match answer.header(ALLOW_CREDENTIALS) {
                Some("true") => {
                    Finding::fail(format!("{ALLOW_ORIGIN}: {origin}, with credentials"))
                }
                _ => let_in(site, format!("{ALLOW_ORIGIN}: {origin}")),
            }
        }
        Ok(answer) => refusal::no_answer(site, &answer).unwrap_or_else(|| {
            Finding::pass(format!("{}, no {ALLOW_ORIGIN}: {origin}", short(&answer)))
        }),
        Err(no_answer) => no_answer.into(),
    }
}

fn cookie(site: &Site) -> Finding {
    let heard = site.heard();
    let mut cookies = heard.iter().flat_map(|answer| answer.all("set-cookie"));
    let mut weak = Vec::new();
    let mut count = 0;
    for cookie in cookies.by_ref() {
        count += 1;
        let attributes = cookie.to_ascii_lowercase();
        let has = |name: &str| attributes.split(';').skip(1).any(|it| it.trim().starts_with(name));
        let wanted = [("samesite=", "SameSite"), ("httponly", "HttpOnly")];
        let mut missing: Vec<&str> =
            wanted.iter().filter(|(name, _)| !has(name)).map(|(_, shown)| *shown).collect();
        if site.address.is_tls() && !has("secure") {
            missing.push("Secure");
        }
        if !missing.is_empty() && weak.is_empty() {
            let name = excerpt(cookie.split('=').next().unwrap_or_default());
            weak.push(format!("the cookie {name} lacks {}", missing.join(", ")));
        }
    }
    match (count, weak.pop()) {
        (0, _) if heard.is_empty() => refusal::untold(site, "no answer came"),
        (0, _) => Finding::pass("no cookies are set"),
        (_, None) => Finding::pass("every cookie has SameSite and HttpOnly"),
        (_, Some(weak)) => Finding::warn(weak),
    }
}
