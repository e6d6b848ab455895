//! Sessions: ids that nobody can guess, that count for one client, and that end.

use http::{Method, StatusCode};

use super::probe::{Answer, NoAnswer, Probe, SESSION};
use super::refusal::untold;
use super::site::Site;
use super::speech::Speech;
use crate::doctor::Check;
use crate::doctor::finding::Finding;
use crate::protocol::jsonrpc::ErrorObject;
use crate::protocol::method;

/// How many bits of an id must be another's in every session, so that none is guessed from others.
pub(super) const OWN_BITS: f64 = 64.0;

/// How many bits an id must look like to be out of reach of guessing.
pub(super) const BITS: f64 = 100.0;

const SESSIONS: &str = "MCP 2025-11-25, Transports, Session Management";

pub(super) const CHECKS: &[Check<Site>] = &[
    Check {
        id: "session-id",
        title: "session ids are visible ASCII and too long to be guessed",
        clause: "MCP 2025-11-25, Transports, Session Management, item 1",
        fix: "Make session ids of 128 random bits or more, for example a random UUID.",
        run: |site| Box::pin(async { id(site) }),
    },
    Check {
        id: "session-fresh",
        title: "every client gets a session of its own, whose id does not follow from others",
        clause: "MCP 2025-11-25, Transports, Session Management, item 1; Security Best Practices, \
                 Session Hijacking",
        fix: "Make each session id from a source of random numbers that is made for secrets, not \
              from a counter or the time.",
        run: |site| Box::pin(fresh(site)),
    },
    Check {
        id: "session-missing",
        title: "a request without the id of its session is refused with 400",
        clause: "MCP 2025-11-25, Transports, Session Management, item 2",
        fix: "Answer a request without Mcp-Session-Id, other than initialize, with 400.",
        run: |site| Box::pin(missing(site)),
    },
    Check {
        id: "session-bogus",
        title: "a session that there never was is answered with 404",
        clause: "MCP 2025-11-25, Transports, Session Management, items 3 and 4",
        fix: "Answer a session id that you do not know with 404, so that clients begin a new \
              session.",
        run: |site| Box::pin(bogus(site)),
    },
    Check {
        id: "session-sticky",
        title: "a session is known on every connection (load balancers)",
        clause: SESSIONS,
        fix: "Keep sessions where every instance finds them, or let the load balancer route by \
              Mcp-Session-Id.",
        run: |site| Box::pin(sticky(site)),
    },
    Check {
        id: "session-delete",
        title: "a session can be ended, and is gone then; or the server says that it cannot be",
        clause: "MCP 2025-11-25, Transports, Session Management, items 3 and 5",
        fix: "Answer DELETE with 2xx and the id with 404 from then on, or DELETE with 405 if \
              clients may not end sessions.",
        run: |site| Box::pin(delete(site)),
    },
    Check {
        id: "session-modern",
        title: "no session ids are handed out in the era without sessions",
        clause: "MCP 2026-07-28, Streamable HTTP, Earlier Streamable HTTP Revisions",
        fix: "Send no Mcp-Session-Id in 2026-07-28.",
        run: |site| Box::pin(async { modern(site) }),
    },
];

/// The id of the session that was opened first, or why there is nothing to check.
fn session(site: &Site) -> Result<&str, Finding> {
    match (site.session(), site.is_legacy(), site.speech()) {
        (Some(session), true, _) => Ok(session),
        (None, true, _) => Err(Finding::skip("the server keeps no sessions")),
        (_, false, Speech::Modern) => Err(Finding::skip("2026-07-28 has no sessions")),
        (_, false, Speech::Sse) => Err(Finding::skip("HTTP+SSE has other sessions")),
        (_, false, _) => Err(untold(site, "no session could be opened")),
    }
}

fn id(site: &Site) -> Finding {
    let Some(Ok(answer)) = site.is_legacy().then_some(site.initialized.as_ref()) else {
        return session(site).err().unwrap_or_else(|| untold(site, "no session was opened"));
    };
    let Some(value) = answer.headers.get(SESSION) else {
        return Finding::skip("the server keeps no sessions");
    };
    let bytes = value.as_bytes();
    if !bytes.iter().all(|byte| (0x21..=0x7e).contains(byte)) {
        return Finding::fail("the id has other characters than 0x21 to 0x7e");
    }
    let id = String::from_utf8_lossy(bytes);
    let bits = bits(&id);
    let evidence = format!("{} characters, which can tell {bits:.0} bits at most", id.len());
    match BITS <= bits {
        true => Finding::pass(evidence),
        false => Finding::warn(format!("{evidence}; 128 random bits cannot be guessed")),
    }
}

/// How many bits a text can tell at most, by its length and the kinds of its characters. It may
/// tell far less: a counter looks like a random number.
pub(super) fn bits(id: &str) -> f64 {
    let has = |kind: fn(u8) -> bool| id.bytes().any(kind);
    // Dashes in a UUID tell nothing.
    let telling = id.bytes().filter(u8::is_ascii_alphanumeric).count();
    let is_hex = id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let mut alphabet = 0.0;
    for (there, size) in [
        (has(|byte| byte.is_ascii_digit()), 10.0),
        (has(|byte| byte.is_ascii_lowercase()), if is_hex { 6.0 } else { 26.0 }),
        (has(|byte| byte.is_ascii_uppercase()), if is_hex { 6.0 } else { 26.0 }),
    ] {
        alphabet += if there { size } else { 0.0 };
    }
    telling as f64 * f64::log2(f64::max(alphabet, 1.0))
}

/// How many bits texts of one kind can tell at most by the places in which they differ: what they
/// have in common tells nothing.
pub(super) fn telling_bits(ids: &[&str]) -> f64 {
    let Some(longest) = ids.iter().max_by_key(|id| id.len()) else { return 0.0 };
    let tells = |at: usize, here: u8| ids.iter().any(|id| id.as_bytes().get(at) != Some(&here));
    let places = longest.bytes().enumerate().filter(|(at, here)| tells(*at, *here));
    bits(&places.map(|(_, here)| char::from(here)).collect::<String>())
}

async fn open(site: &Site) -> Result<Answer, NoAnswer> {
    site.ask(&Probe::initialize(site.options.offer())).await
}

async fn fresh(site: &Site) -> Finding {
    let first = match session(site) {
        Ok(first) => first,
        Err(finding) => return finding,
    };
    let second = match open(site).await {
        Ok(answer) => answer,
        Err(no_answer) => return no_answer.into(),
    };
    let Some(second) = second.header(SESSION) else {
        return untold(site, &format!("no second session: {}", second.summary()));
    };
    // Chance makes two ids alike in some places, but hardly three.
    let third = match open(site).await {
        Ok(answer) => answer.header(SESSION).map(str::to_owned),
        Err(no_answer) => return no_answer.into(),
    };
    let bits = telling_bits(&[first, second, third.as_deref().unwrap_or(second)]);
    match bits {
        _ if first == second => Finding::fail("two clients got the same session"),
        // How many they are to a digit is chance, and two runs are to say the same.
        bits if bits < OWN_BITS => Finding::warn(format!(
            "what differs between ids can tell less than {OWN_BITS} bits, so others can be guessed"
        )),
        _ => Finding::pass("ids have little in common"),
    }
}

async fn missing(site: &Site) -> Finding {
    if let Err(finding) = session(site) {
        return finding;
    }
    let probe = in_legacy(site).without(SESSION);
    match site.ask(&probe).await {
        Ok(answer) if answer.status == StatusCode::BAD_REQUEST => Finding::pass(answer.summary()),
        Ok(answer) if answer.status.is_client_error() => {
            Finding::warn(format!("not 400: {}", answer.summary()))
        }
        Ok(answer) => Finding::warn(format!("taken: {}", answer.summary())),
        Err(no_answer) => no_answer.into(),
    }
}

/// A sign of life in the session that was opened first.
pub(super) fn in_legacy(site: &Site) -> Probe {
    let message =
        super::probe::request("doctor-session".into(), method::PING, serde_json::json!({}));
    site.in_session(Probe::message(&message))
}

async fn bogus(site: &Site) -> Finding {
    if let Err(finding) = session(site) {
        return finding;
    }
    let probe = in_legacy(site).with(SESSION, "00000000-0000-4000-8000-000000000000");
    match site.ask(&probe).await {
        Ok(answer) if answer.status == StatusCode::NOT_FOUND => Finding::pass(answer.summary()),
        Ok(answer) if answer.status.is_client_error() => Finding::warn(format!(
            "not 404, so a client does not know that it must begin anew: {}",
            answer.summary()
        )),
        Ok(answer) => Finding::fail(format!("taken: {}", answer.summary())),
        Err(no_answer) => no_answer.into(),
    }
}

/// Whether an answer says that the session is not known: a 404 that is not about the method.
fn is_lost(answer: &Answer) -> bool {
    let about_method = answer.code() == Some(ErrorObject::METHOD_NOT_FOUND);
    matches!(answer.status.as_u16(), 400 | 404) && !about_method
}

async fn sticky(site: &Site) -> Finding {
    if let Err(finding) = session(site) {
        return finding;
    }
    let connections = site.options.connections;
    // A front may know some of them by heart.
    let methods = [method::PING, method::LIST_TOOLS, method::LIST_PROMPTS];
    for (number, method) in (1..=connections).zip(methods.into_iter().cycle()) {
        let message = super::probe::request("doctor-sticky".into(), method, serde_json::json!({}));
        match site.ask_afresh(&site.in_session(Probe::message(&message))).await {
            Ok(answer) if is_lost(&answer) => {
                return Finding::fail(format!(
                    "connection {number} of {connections}, {method} → {}",
                    answer.summary()
                ));
            }
            Ok(_) => (),
            Err(no_answer) => return no_answer.into(),
        }
    }
    Finding::pass(format!("known on {connections} fresh connections"))
}

async fn delete(site: &Site) -> Finding {
    if let Err(finding) = session(site) {
        return finding;
    }
    // Another than the first, which other checks need.
    let opened = match open(site).await {
        Ok(answer) => answer,
        Err(no_answer) => return no_answer.into(),
    };
    let Some(session) = opened.header(SESSION) else {
        return untold(site, &format!("no further session: {}", opened.summary()));
    };
    let ended = match site.ask(&site.end_of(session)).await {
        Ok(answer) => answer,
        Err(no_answer) => return no_answer.into(),
    };
    let summary = format!("{} → HTTP {}", Method::DELETE, ended.status.as_u16());
    if ended.status == StatusCode::METHOD_NOT_ALLOWED {
        return Finding::pass(format!("{summary}: sessions end by themselves"));
    }
    if !ended.is_taken() {
        return Finding::fail(format!("{summary}, which is neither success nor 405"));
    }
    site.forget(session);
    match site.ask(&in_legacy(site).with(SESSION, session)).await {
        Ok(then) if then.status == StatusCode::NOT_FOUND => {
            Finding::pass(format!("{summary}, and then 404"))
        }
        Ok(then) if then.status.is_client_error() => {
            Finding::fail(format!("{summary}, but then not 404: {}", then.summary()))
        }
        Ok(then) => Finding::fail(format!("{summary}, but it goes on: {}", then.summary())),
        Err(no_answer) => no_answer.into(),
    }
}

fn modern(site: &Site) -> Finding {
    if !site.is_modern() {
        return match site.speech() {
            Speech::Nothing => untold(site, "the server takes no request"),
            _ => Finding::skip("the server does not speak 2026-07-28"),
        };
    }
    match &site.discovered {
        Ok(answer) if answer.headers.contains_key(SESSION) => {
            Finding::warn("server/discover is answered with an Mcp-Session-Id")
        }
        Ok(_) => Finding::pass("no Mcp-Session-Id"),
        Err(no_answer) => no_answer.clone().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_can_be_guessed_look_so() {
        let check =
            |id: &str, expected| assert_eq!(BITS <= bits(id), expected, "{id} {}", bits(id));
        check("2f1c5b0e-6f0a-4a53-9a53-0d6c7a1b2c3d", true);
        check("2f1c5b0e6f0a4a539a530d6c7a1b2c3d", true);
        check("bKx0Q3yYp2n9T_4vWzR7sA", true);
        check("demo-session", false);
        check("S1", false);
        check("12345678901234567890", false);
        check("------------------------------------------", false);
        check("", false);
    }

    #[test]
    fn what_ids_have_in_common_tells_nothing() {
        let check = |ids: &[&str], expected| assert_eq!(telling_bits(ids).round(), expected);
        check(&["0000aaaaaaaaaaaabeef", "0001aaaaaaaaaaaaf00d"], 20.0);
        check(&["aaaaaaaa", "aaaaaaaa"], 0.0);
        check(&["ab12", "ab34", "cd12"], 16.0);
        check(&["a", "abcd"], 8.0);
        check(&[], 0.0);
    }
}
