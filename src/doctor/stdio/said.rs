//! What the server has said in the first run, check by check.

use serde_json::Value;

use super::Runs;
use crate::doctor::finding::{Finding, Need, excerpt};
use crate::doctor::http::probe::listed;
use crate::doctor::http::unknown_revision;
use crate::doctor::reading::{JSON, JSON_FIX};
use crate::doctor::{Check, sockets};
use crate::protocol::jsonrpc::ErrorObject;
use crate::protocol::mask;
use crate::protocol::revision::Revision;

/// How much a pipe holds that nobody reads, in bytes (Linux; other systems have less).
const PIPE: usize = 64 << 10;

pub(super) const CHECKS: &[Check<Runs>] = &[
    Check {
        id: "stdio-era",
        title: "the server answers, and says which revision it speaks",
        clause: "MCP 2026-07-28, stdio, Backward Compatibility; 2025-11-25, Lifecycle, \
                 Initialization",
        fix: "Answer server/discover, or initialize with a protocolVersion.",
        run: |runs| Box::pin(async { era(runs) }),
    },
    Check {
        id: "stdio-stdout",
        title: "standard output carries messages and nothing else",
        clause: "MCP 2025-11-25, Transports, stdio; 2026-07-28, stdio (\"MUST NOT write anything \
                 … that is not a valid MCP message\")",
        fix: "Write logs and banners to standard error; print nothing but messages on standard \
              output, also in libraries.",
        run: |runs| Box::pin(async { stdout(runs) }),
    },
    Check {
        id: "stdio-json",
        title: "messages are text that every program can read: UTF-8, whole characters, numbers that fit",
        clause: JSON,
        fix: JSON_FIX,
        run: |runs| Box::pin(async { json(runs) }),
    },
    Check {
        id: "stdio-ping",
        title: "a sign of life is answered, with the id of the request as it was",
        clause: "MCP 2025-11-25, Ping; 2026-07-28, Versioning (servers MUST implement \
                 server/discover); JSON-RPC 2.0, section 5",
        fix: "Answer ping (server/discover in 2026-07-28), with the id as it came and of the same \
              type.",
        run: |runs| Box::pin(async { ping(runs) }),
    },
    Check {
        id: "stdio-unknown-method",
        title: "a method that does not exist is answered with -32601",
        clause: "JSON-RPC 2.0, section 5.1; MCP 2026-07-28, Base Protocol, Error Codes",
        fix: "Answer a method that you do not have with error -32601.",
        run: |runs| Box::pin(async { unknown_method(runs) }),
    },
    Check {
        id: "stdio-notification",
        title: "a notification that is not known is not answered, and does no harm",
        clause: "JSON-RPC 2.0, section 4.1; MCP 2025-11-25 and 2026-07-28, Base Protocol, \
                 Notifications",
        fix: "Ignore notifications that you do not know, without an answer.",
        run: |runs| Box::pin(async { notification(runs) }),
    },
    Check {
        id: "stdio-version",
        title: "an offer of an unknown revision is answered with one that the server speaks",
        clause: "MCP 2025-11-25, Lifecycle, Version Negotiation; 2026-07-28, Versioning, Protocol \
                 Version Negotiation (-32022)",
        fix: "Look at the revision of every request: offer another in initialize, and in \
              2026-07-28 answer with error -32022 and data.supported.",
        run: |runs| Box::pin(async { version(runs) }),
    },
    Check {
        id: "stdio-parse",
        title: "a line that is no message does no harm to the rest of the conversation",
        clause: "JSON-RPC 2.0, section 5.1 (-32700)",
        fix: "Skip a line that is no JSON (or answer it with -32700) and read on.",
        run: |runs| Box::pin(async { parse(runs) }),
    },
    Check {
        id: "stdio-listen",
        title: "the server opens no port",
        clause: "MCP 2026-07-28, stdio; Security Best Practices, Local MCP Server Compromise",
        fix: "Open no port in a server that speaks on its standard streams; if it must, on \
              127.0.0.1 and with a secret.",
        run: |runs| Box::pin(async { listen(runs) }),
    },
    Check {
        id: "stdio-requests",
        title: "in 2026-07-28 the server sends no requests of its own",
        clause: "MCP 2026-07-28, stdio, Receiving Messages (\"MUST NOT write JSON-RPC requests\")",
        fix: "Ask for input by a result of the type input_required, and not by a request.",
        run: |runs| Box::pin(async { requests(runs) }),
    },
    Check {
        id: "stdio-stderr",
        title: "so little comes on standard error that a client that does not read it is no harm",
        clause: "MCP 2025-11-25 and 2026-07-28, stdio (the client MAY ignore it); pipe(7), Pipe \
                 capacity",
        fix: "Write less to standard error, or drop what does not go out at once: who does not \
              read it stops the server.",
        run: |runs| Box::pin(async { stderr(runs) }),
    },
    Check {
        id: "stdio-secrets",
        title: "standard error shows none of the secrets that the server was given",
        clause: "MCP 2026-07-28, Logging, Security; CWE-532",
        fix: "Leave the values of keys and tokens out of logs.",
        run: |runs| Box::pin(async { secrets(runs) }),
    },
];

/// What an answer is, in a few words.
pub(super) fn summary(answer: &Value) -> String {
    match answer.get("error") {
        Some(error) => {
            let code = error.get("code").map(Value::to_string).unwrap_or_default();
            let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
            excerpt(&format!("error {code}: {message}"))
        }
        None => "a result".to_owned(),
    }
}

fn era(runs: &Runs) -> Finding {
    let Some(opened) = &runs.talk.opened else { return runs.untold() };
    if let Some(discovered) = &opened.discovered {
        return Finding::pass(excerpt(&listed(discovered).join(", ")));
    }
    match (opened.revision(), opened.refusal()) {
        (Some(date), _) if Revision::named(date).is_none() => unknown_revision(date),
        (Some(revision), _) => Finding::pass(format!("a session in {revision}")),
        (None, refusal) => Finding::fail(refusal.unwrap_or_default()),
    }
}

fn stdout(runs: &Runs) -> Finding {
    match runs.talk.noise.first() {
        None if runs.talk.ending.is_none() => runs.untold(),
        None => Finding::pass("every line was a message"),
        Some(line) => {
            Finding::fail(format!("{} other lines, the first: {line}", runs.talk.noise.len()))
        }
    }
}

fn json(runs: &Runs) -> Finding {
    match &runs.talk.odd {
        Some(odd) => odd.finding(),
        None if runs.talk.ending.is_none() => runs.untold(),
        None => Finding::pass("nothing odd in any message"),
    }
}

/// Why there is no answer, when the server is not there any more.
fn silence(runs: &Runs, usually: &str) -> Finding {
    let has_ended = runs.talk.ending.as_ref().is_some_and(|ending| !ending.was_there);
    Finding::fail(match has_ended {
        true => "no answer: the server has ended in the middle of the conversation",
        false => usually,
    })
}

fn ping(runs: &Runs) -> Finding {
    let is_error = |answer: &Value| answer.get("result").is_none();
    match (&runs.talk.ping, &runs.talk.number) {
        (Some(Some(answer)), _) | (_, Some(Some(answer))) if is_error(answer) => {
            Finding::fail(summary(answer))
        }
        (Some(None), _) => silence(runs, "no answer with the id of the request, a text"),
        (_, Some(None)) => {
            silence(runs, "no answer with the id of the request, the number 9007199254740991")
        }
        (Some(_), Some(_)) => Finding::pass("a text and a large number came back as ids"),
        (_, None) | (None, _) => runs.untold(),
    }
}

fn unknown_method(runs: &Runs) -> Finding {
    let Some(answer) = &runs.talk.unknown else { return runs.untold() };
    let Some(answer) = answer else {
        return silence(runs, "no answer at all, so the client waits until its time is over");
    };
    let code = answer.pointer("/error/code").and_then(Value::as_i64);
    match code {
        Some(ErrorObject::METHOD_NOT_FOUND) => Finding::pass(summary(answer)),
        Some(_) => Finding::warn(format!("not -32601: {}", summary(answer))),
        None => Finding::fail(format!("no error: {}", summary(answer))),
    }
}

fn notification(runs: &Runs) -> Finding {
    match &runs.talk.notified {
        None => runs.untold(),
        Some((_, false)) => silence(runs, "after it, requests are not answered any more"),
        Some((Some(answer), true)) => Finding::fail(format!("answered: {}", summary(answer))),
        Some((None, true)) => Finding::pass("no answer, and the conversation goes on"),
    }
}

fn version(runs: &Runs) -> Finding {
    let never = Revision::NEVER;
    let (Some(answer), Some(opened)) = (&runs.talk.version, &runs.talk.opened) else {
        return runs.untold();
    };
    let Some(answer) = answer else { return Finding::unknown("no answer", Need::Sound) };
    if opened.is_modern() {
        let code = answer.pointer("/error/code").and_then(Value::as_i64);
        let supported = answer.pointer("/error/data/supported").and_then(Value::as_array);
        let lists_some = supported.is_some_and(|dates| !dates.is_empty());
        return match code == Some(ErrorObject::UNSUPPORTED_VERSION) && lists_some {
            true => Finding::pass(summary(answer)),
            false => {
                let evidence = summary(answer);
                Finding::fail(format!(
                    "asked in {never} after other requests, not -32022 with what is supported: \
                     {evidence}"
                ))
            }
        };
    }
    match answer.pointer("/result/protocolVersion").and_then(Value::as_str) {
        Some(date) if date == never => Finding::fail(format!("it claims to speak {never}")),
        Some(date) => Finding::pass(format!("it offers {}", excerpt(date))),
        // The session was open already, and a server may have only one.
        None => {
            let why = format!("a second initialize → {}", summary(answer));
            Finding::unknown(why, Need::Person)
        }
    }
}

fn parse(runs: &Runs) -> Finding {
    let (Some((_, goes_on)), Some(after_noise)) = (&runs.talk.notified, runs.talk.after_noise)
    else {
        return runs.untold();
    };
    match (goes_on, after_noise) {
        (false, _) => {
            Finding::unknown("requests were not answered any more before that", Need::Sound)
        }
        (true, true) => Finding::pass("the next request is answered"),
        (true, false) => Finding::warn("after it, requests are not answered any more"),
    }
}

fn listen(runs: &Runs) -> Finding {
    let Some(listeners) = &runs.talk.listeners else { return runs.untold() };
    let Some(listeners) = listeners else {
        return Finding::unknown("this system does not tell which sockets listen", Need::Linux);
    };
    let shown = |listener: &sockets::Listener| format!("{} port {}", listener.ip, listener.port);
    let texts: Vec<String> = listeners.iter().map(shown).collect();
    let texts = texts.join(", ");
    match listeners.iter().all(|listener| listener.ip.is_loopback()) {
        true if listeners.is_empty() => Finding::pass("none of its processes listens"),
        true => Finding::warn(format!("it listens on {texts}")),
        false => Finding::fail(format!("it listens for everybody on {texts}")),
    }
}

fn requests(runs: &Runs) -> Finding {
    match &runs.talk.opened {
        None => return runs.untold(),
        Some(opened) if !opened.is_modern() => {
            return Finding::skip("the server does not speak 2026-07-28");
        }
        Some(_) => (),
    }
    match runs.talk.requests.first() {
        None if runs.talk.ending.is_none() => runs.untold(),
        None => Finding::pass("none came"),
        Some(method) => {
            let count = runs.talk.requests.len();
            Finding::fail(format!("{count} came, the first: {method}"))
        }
    }
}

fn stderr(runs: &Runs) -> Finding {
    // How much it was exactly is another number at every run.
    match runs.talk.complained < PIPE {
        true if runs.talk.ending.is_none() => runs.untold(),
        true => Finding::pass(format!("less than the {PIPE} bytes that a pipe holds")),
        false => Finding::warn(format!("more than the {PIPE} bytes that a pipe holds")),
    }
}

fn secrets(runs: &Runs) -> Finding {
    let complaints = &runs.talk.complaints;
    let given = runs.target.env.iter().filter_map(|(name, value)| {
        let (name, value) = (name.to_str()?, value.to_str()?);
        (mask::is_secret(name) && 8 <= value.len()).then_some((name, value))
    });
    let given: Vec<_> = given.collect();
    match given.iter().find(|(_, value)| complaints.contains(value)) {
        Some((name, _)) => Finding::fail(format!("the value of {name} is in it")),
        None if given.is_empty() => Finding::skip("the server was given no secrets by variables"),
        None if runs.talk.ending.is_none() => runs.untold(),
        None => Finding::pass(format!("none of {} is in it", given.len())),
    }
}
