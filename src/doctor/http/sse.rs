//! HTTP+SSE (2024-11-05): the messages of a client go elsewhere than where its stream comes from, and what
//! guards the one need not guard the other.

use super::probe::Probe;
use super::refusal::untold;
use super::session::{BITS, OWN_BITS, bits, telling_bits};
use super::site::Site;
use super::speech::Speech;
use super::{EVIL, EVIL_HOST};
use crate::doctor::Check;
use crate::doctor::finding::{Finding, excerpt};
use crate::net::{Address, Reply};

pub(super) const CHECKS: &[Check<Site>] = &[
    Check {
        id: "sse-origin",
        title: "messages from a page of another site are refused where they are posted, too",
        clause: "MCP 2024-11-05, Transports, HTTP with SSE, Security Warning, item 1",
        fix: "Compare Origin and Host where messages are posted as well as where the stream is \
              opened.",
        run: |site| Box::pin(origin(site)),
    },
    Check {
        id: "sse-session",
        title: "where a client's messages go cannot be guessed by others",
        clause: "MCP 2025-11-25, Security Best Practices, Session Hijacking",
        fix: "Put a session id of 128 random bits or more into the endpoint, for example a random \
              UUID.",
        run: |site| Box::pin(session(site)),
    },
];

/// A stream that is open, and where its messages go.
struct Stream {
    endpoint: Address,
    /// When it is dropped, the server hangs up.
    _reply: Reply,
}

async fn open(site: &Site) -> Result<Stream, Finding> {
    match site.speech() {
        Speech::Sse => {}
        Speech::Modern | Speech::Legacy => {
            return Err(Finding::skip("the server does not speak HTTP+SSE"));
        }
        Speech::Nothing => return Err(untold(site, "no stream could be opened")),
    }
    let (reply, answer) = site.open_stream(&Probe::stream()).await.map_err(Finding::from)?;
    let named = answer.body.lines().skip_while(|line| line.trim_end() != "event: endpoint").nth(1);
    let Some(named) = named.and_then(|line| line.strip_prefix("data:")) else {
        return Err(untold(site, &format!("no endpoint is named: {}", answer.summary())));
    };
    match site.address.join(named.trim()) {
        Ok(endpoint) if endpoint.same_origin(&site.address) => {
            Ok(Stream { endpoint, _reply: reply })
        }
        _ => Err(Finding::fail(format!("messages are wanted at {}", excerpt(named.trim())))),
    }
}

async fn origin(site: &Site) -> Finding {
    let stream = match open(site).await {
        Ok(stream) => stream,
        Err(finding) => return finding,
    };
    let begin = || Probe::initialize(site.options.offer()).to(stream.endpoint.clone());
    let host = format!("{EVIL_HOST}:{}", site.address.port());
    let mut foreign = vec![(format!("Origin: {EVIL}"), begin().with("origin", EVIL))];
    if site.address.is_loopback() {
        foreign.push((format!("Host: {host}"), begin().with("host", &host)));
    }
    let mut findings = Vec::new();
    for (what, probe) in foreign {
        let answer = match site.ask(&probe).await {
            Ok(answer) => answer,
            Err(no_answer) => return no_answer.into(),
        };
        let evidence = format!("POST, {what} → {}", answer.summary());
        findings.push(match answer.is_taken() {
            true => Finding::fail(evidence),
            false => Finding::pass(evidence),
        });
    }
    match site.ask(&begin()).await {
        Ok(usual) if usual.is_taken() => {
            Finding::worst(findings).unwrap_or_else(|| Finding::skip("there is nothing to try"))
        }
        Ok(usual) => untold(site, &format!("no message is taken: {}", usual.summary())),
        Err(no_answer) => no_answer.into(),
    }
}

async fn session(site: &Site) -> Finding {
    let (one, other) = match (open(site).await, open(site).await) {
        (Ok(one), Ok(other)) => (one, other),
        (Err(finding), _) | (_, Err(finding)) => return finding,
    };
    let (one, other) = (one.endpoint.as_str(), other.endpoint.as_str());
    // What all clients have in common tells nothing.
    let common = one.bytes().zip(other.bytes()).take_while(|(left, right)| left == right).count();
    let begin = one[..common].rfind(['=', '/']).map_or(0, |at| at + 1);
    let id = &one[begin..];
    let bits = bits(id);
    match telling_bits(&[one, other]) {
        _ if one == other => Finding::fail("two clients have the same endpoint"),
        differing if differing < OWN_BITS => Finding::warn(format!(
            "what differs between endpoints can tell less than {OWN_BITS} bits, so others can be \
             guessed"
        )),
        _ if bits < BITS => Finding::warn(format!(
            "{} characters, which can tell {bits:.0} bits; 128 random bits cannot be guessed",
            id.len()
        )),
        _ => Finding::pass(format!("{} characters, which can tell {bits:.0} bits", id.len())),
    }
}
