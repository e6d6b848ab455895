//! What a server says on its standard streams.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Runs;
use super::ending::{self, Ending};
use super::process::Process;
use crate::doctor::finding::{Finding, excerpt};
use crate::doctor::http::probe::{initialize, modern, request};
use crate::doctor::{Check, Options, sockets};
use crate::protocol::jsonrpc::ErrorObject;
use crate::protocol::mask;
use crate::protocol::method;
use crate::protocol::revision::{Era, Revision};
use crate::transport::stdio::Target;

/// How long a server may leave a probe of the modern era unanswered.
const PROBE: Duration = Duration::from_secs(2);

/// How long to listen for an answer that should not come.
const SILENCE: Duration = Duration::from_millis(300);

const NO_METHOD: &str = "doctor/no-such-method";

pub(super) const CHECKS: &[Check<Runs>] = &[
    Check {
        id: "stdio-era",
        title: "the server answers, and says which revision it speaks",
        clause: "MCP 2026-07-28, stdio, Backward Compatibility; 2025-11-25, Lifecycle",
        run: |runs| Box::pin(async { era(runs) }),
    },
    Check {
        id: "stdio-stdout",
        title: "standard output carries messages and nothing else",
        clause: "MCP 2026-07-28, stdio (\"MUST NOT write anything … that is not a valid MCP message\")",
        run: |runs| Box::pin(async { stdout(runs) }),
    },
    Check {
        id: "stdio-ping",
        title: "a sign of life is answered, with the id of the request as it was",
        clause: "MCP 2025-11-25, Ping; 2026-07-28, Versioning; JSON-RPC 2.0, section 5",
        run: |runs| Box::pin(async { ping(runs) }),
    },
    Check {
        id: "stdio-unknown-method",
        title: "a method that does not exist is answered with -32601",
        clause: "JSON-RPC 2.0, section 5.1; MCP 2026-07-28, Base Protocol, Error Codes",
        run: |runs| Box::pin(async { unknown_method(runs) }),
    },
    Check {
        id: "stdio-notification",
        title: "a notification that is not known is not answered, and does no harm",
        clause: "JSON-RPC 2.0, section 4.1; MCP 2026-07-28, Base Protocol, Notifications",
        run: |runs| Box::pin(async { notification(runs) }),
    },
    Check {
        id: "stdio-version",
        title: "an offer of an unknown revision is answered with one that the server speaks",
        clause: "MCP 2025-11-25, Lifecycle, Version Negotiation; 2026-07-28, Versioning (-32022)",
        run: |runs| Box::pin(async { version(runs) }),
    },
    Check {
        id: "stdio-parse",
        title: "a line that is no message does no harm to the rest of the conversation",
        clause: "JSON-RPC 2.0, section 5.1 (-32700)",
        run: |runs| Box::pin(async { parse(runs) }),
    },
    Check {
        id: "stdio-listen",
        title: "the server opens no port",
        clause: "MCP 2026-07-28, stdio (one process, one client)",
        run: |runs| Box::pin(async { listen(runs) }),
    },
    Check {
        id: "stdio-secrets",
        title: "standard error shows none of the secrets that the server was given",
        clause: "MCP 2026-07-28, Logging, Security; CWE-532",
        run: |runs| Box::pin(async { secrets(runs) }),
    },
];

/// What came of the first run.
#[derive(Debug)]
pub(super) struct Talk {
    opened: Opened,
    /// How long the first answer took.
    started: Duration,
    ping: Option<Value>,
    number: Option<Value>,
    unknown: Option<Value>,
    /// What came after a notification that is not known.
    to_notification: Option<Value>,
    after_notification: bool,
    version: Option<Value>,
    after_noise: bool,
    noise: Vec<String>,
    complaints: String,
    /// The sockets on which the server listened; `None` where the system does not tell.
    listeners: Option<Vec<sockets::Listener>>,
    /// How it ended when its input did.
    pub(super) ending: Ending,
}

/// How the conversation began.
#[derive(Debug)]
struct Opened {
    /// The result of `server/discover`.
    discovered: Option<Value>,
    /// The answer to `initialize`.
    initialized: Option<Value>,
}

impl Opened {
    fn is_modern(&self) -> bool {
        self.discovered.is_some()
    }

    fn revision(&self) -> Option<&str> {
        self.initialized.as_ref()?.pointer("/result/protocolVersion")?.as_str()
    }
}

/// Whether a message answers the request with that id.
fn is_answer(message: &Value, id: &str) -> bool {
    message.get("id").is_some_and(|it| it == id) && message.get("method").is_none()
}

/// Opens a conversation: asks for the modern era first, and for a session when that is not known.
async fn open(process: &mut Process, options: &Options) -> Option<Opened> {
    let (probe, open) = ("doctor-discover", "doctor-open");
    let spoken = Revision::newest(Era::Modern).date;
    let discover = modern(json!(probe), method::DISCOVER, spoken).to_string();
    process.write(&discover, options.patience).await;
    let until = Instant::now() + options.start;
    let discovered = process.expect(|it| is_answer(it, probe), PROBE.min(options.start)).await;
    let discovered = discovered.and_then(|answer| answer.get("result").cloned());
    if discovered.as_ref().is_some_and(|it| it.get("supportedVersions").is_some()) {
        return Some(Opened { discovered, initialized: None });
    }
    let message = initialize(json!(open), Revision::newest(Era::Legacy).date).to_string();
    process.write(&message, options.patience).await;
    // A server that is slow to start answers the first question now.
    let either =
        |it: &Value| is_answer(it, open) || it.pointer("/result/supportedVersions").is_some();
    let rest = until.saturating_duration_since(Instant::now());
    let answer = process.expect(either, rest).await?;
    if !is_answer(&answer, open) {
        return Some(Opened { discovered: answer.get("result").cloned(), initialized: None });
    }
    let begun = json!({ "jsonrpc": "2.0", "method": method::INITIALIZED }).to_string();
    process.write(&begun, options.patience).await;
    Some(Opened { discovered: None, initialized: Some(answer) })
}

/// Starts a server and opens a conversation with it.
pub(super) async fn begin(target: &Target, options: &Options) -> Result<Process, String> {
    let mut process = Process::start(target)?;
    match open(&mut process, options).await {
        Some(_) => Ok(process),
        None => Err("it did not answer when it was started once more".to_owned()),
    }
}

impl Talk {
    /// Holds the whole conversation of the first run; tells what came of it, and what was sent.
    pub(super) async fn hold(
        target: &Target,
        options: &Options,
    ) -> Result<(Talk, Vec<String>), String> {
        let mut process = Process::start(target)?;
        let begun = Instant::now();
        let Some(opened) = open(&mut process, options).await else {
            process.listen(SILENCE).await;
            return Err(why_silent(&mut process, options).await);
        };
        let started = begun.elapsed();
        let mut turn = Turn { process: &mut process, options, is_modern: opened.is_modern() };
        let live = if opened.is_modern() { method::DISCOVER } else { method::PING };
        let ping = turn.ask(json!("doctor-ping"), live).await;
        let number = turn.ask(json!(9_007_199_254_740_991_u64), live).await;
        let unknown = turn.ask(json!("doctor-unknown"), NO_METHOD).await;
        turn.ask(json!("doctor-list"), method::LIST_TOOLS).await;
        let (to_notification, after_notification) = turn.notify(live).await;
        let version = turn.offer().await;
        let listeners = sockets_of_group(turn.process.id());
        turn.process.write("{ this is no message", options.patience).await;
        let after_noise = turn.ask(json!("doctor-again"), live).await.is_some();
        let ending = ending::by_closing(&mut process).await;
        let complaints = String::from_utf8_lossy(&process.complaints).into_owned();
        let noise = std::mem::take(&mut process.noise);
        let sent = std::mem::take(&mut process.sent);
        process.kill().await;
        let talk = Talk {
            opened,
            started,
            ping,
            number,
            unknown,
            to_notification,
            after_notification,
            version,
            after_noise,
            noise,
            complaints,
            listeners,
            ending,
        };
        Ok((talk, sent))
    }
}

/// A server in conversation.
struct Turn<'p> {
    process: &'p mut Process,
    options: &'p Options,
    is_modern: bool,
}

impl Turn<'_> {
    /// Asks, and waits for the answer.
    async fn ask(&mut self, id: Value, method: &str) -> Option<Value> {
        let message = match self.is_modern {
            true => modern(id.clone(), method, Revision::newest(Era::Modern).date),
            false => request(id.clone(), method, json!({})),
        };
        self.exchange(&message, &id).await
    }

    async fn exchange(&mut self, message: &Value, id: &Value) -> Option<Value> {
        let patience = self.options.patience;
        if !self.process.write(&message.to_string(), patience).await {
            return None;
        }
        let answers = |it: &Value| it.get("id") == Some(id) && it.get("method").is_none();
        self.process.expect(answers, patience).await
    }

    /// Sends a notification that nobody knows; tells what it is answered with, and whether the
    /// conversation goes on.
    async fn notify(&mut self, live: &str) -> (Option<Value>, bool) {
        let message = json!({ "jsonrpc": "2.0", "method": "notifications/doctor/no-such" });
        self.process.write(&message.to_string(), self.options.patience).await;
        // An answer would have no id, or would be an error.
        let answer =
            |it: &Value| it.get("method").is_none() && it.get("id").is_none_or(Value::is_null);
        let answer = self.process.expect(answer, SILENCE).await;
        (answer, self.ask(json!("doctor-still"), live).await.is_some())
    }

    /// Offers a revision that there never was.
    async fn offer(&mut self) -> Option<Value> {
        let id = json!("doctor-never");
        let message = match self.is_modern {
            true => modern(id.clone(), method::DISCOVER, Revision::NEVER),
            false => initialize(id.clone(), Revision::NEVER),
        };
        self.exchange(&message, &id).await
    }
}

async fn why_silent(process: &mut Process, options: &Options) -> String {
    let last = String::from_utf8_lossy(&process.complaints).into_owned();
    let last = last.lines().rev().find(|line| !line.trim().is_empty()).map(excerpt);
    let last = last.map_or_else(String::new, |line| format!("; its last words: {line}"));
    let what = match process.has_ended().await {
        true => {
            let ending = process.ending().map_or_else(String::new, |(text, _)| format!(", {text}"));
            format!("the server ended before it answered{ending}")
        }
        false => format!("the server did not answer within {:?}", options.start),
    };
    process.kill().await;
    what + &last
}

/// The sockets on which the processes of a group listen.
fn sockets_of_group(group: u32) -> Option<Vec<sockets::Listener>> {
    let processes = sockets::processes_of_group(group)?;
    let own: Vec<u64> = processes.into_iter().filter_map(sockets::sockets_of).flatten().collect();
    let all = sockets::listeners()?;
    Some(all.into_iter().filter(|listener| own.contains(&listener.inode)).collect())
}

/// What an answer is, in a few words.
fn summary(answer: &Value) -> String {
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
    let Talk { opened, started, .. } = &runs.talk;
    let after = format!("after {} ms", started.as_millis());
    let dates = opened.discovered.as_ref().and_then(|it| it.get("supportedVersions")?.as_array());
    if let Some(dates) = dates {
        let dates: Vec<&str> = dates.iter().filter_map(Value::as_str).collect();
        return Finding::pass(format!("{} {after}", dates.join(", ")));
    }
    match (opened.revision(), &opened.initialized) {
        (Some(revision), _) => Finding::pass(format!("a session in {revision} {after}")),
        (None, Some(answer)) => Finding::fail(format!("initialize → {}", summary(answer))),
        (None, None) => Finding::unknown("neither server/discover nor initialize was answered"),
    }
}

fn stdout(runs: &Runs) -> Finding {
    match runs.talk.noise.first() {
        None => Finding::pass("every line was a message"),
        Some(line) => {
            Finding::fail(format!("{} other lines, the first: {line}", runs.talk.noise.len()))
        }
    }
}

fn ping(runs: &Runs) -> Finding {
    let has_result = |answer: &Option<Value>| {
        answer.as_ref().is_some_and(|answer| answer.get("result").is_some())
    };
    match (has_result(&runs.talk.ping), has_result(&runs.talk.number)) {
        (true, true) => Finding::pass("a text and a large number came back as ids"),
        (false, _) => Finding::fail(match &runs.talk.ping {
            Some(answer) => summary(answer),
            None => "no answer with the id of the request, a text".to_owned(),
        }),
        (true, false) => {
            Finding::fail("no answer with the id of the request, the number 9007199254740991")
        }
    }
}

fn unknown_method(runs: &Runs) -> Finding {
    let Some(answer) = &runs.talk.unknown else {
        return Finding::fail("no answer at all, so the client waits until its time is over");
    };
    let code = answer.pointer("/error/code").and_then(Value::as_i64);
    match code {
        Some(ErrorObject::METHOD_NOT_FOUND) => Finding::pass(summary(answer)),
        Some(_) => Finding::warn(format!("not -32601: {}", summary(answer))),
        None => Finding::fail(format!("no error: {}", summary(answer))),
    }
}

fn notification(runs: &Runs) -> Finding {
    match (&runs.talk.to_notification, runs.talk.after_notification) {
        (_, false) => Finding::fail("after it, requests are not answered any more"),
        (Some(answer), true) => Finding::fail(format!("answered: {}", summary(answer))),
        (None, true) => Finding::pass("no answer, and the conversation goes on"),
    }
}

fn version(runs: &Runs) -> Finding {
    let never = Revision::NEVER;
    let Some(answer) = &runs.talk.version else { return Finding::unknown("no answer") };
    if runs.talk.opened.is_modern() {
        let code = answer.pointer("/error/code").and_then(Value::as_i64);
        let supported = answer.pointer("/error/data/supported").and_then(Value::as_array);
        let lists_some = supported.is_some_and(|dates| !dates.is_empty());
        return match code == Some(ErrorObject::UNSUPPORTED_VERSION) && lists_some {
            true => Finding::pass(summary(answer)),
            false => {
                Finding::fail(format!("not -32022 with what is supported: {}", summary(answer)))
            }
        };
    }
    match answer.pointer("/result/protocolVersion").and_then(Value::as_str) {
        Some(date) if date == never => Finding::fail(format!("it claims to speak {never}")),
        Some(date) => Finding::pass(format!("it offers {}", excerpt(date))),
        // The session was open already, and a server may have only one.
        None => Finding::unknown(format!("a second initialize → {}", summary(answer))),
    }
}

fn parse(runs: &Runs) -> Finding {
    if !runs.talk.after_notification {
        return Finding::unknown("requests were not answered any more before that");
    }
    match runs.talk.after_noise {
        true => Finding::pass("the next request is answered"),
        false => Finding::warn("after it, requests are not answered any more"),
    }
}

fn listen(runs: &Runs) -> Finding {
    let Some(listeners) = &runs.talk.listeners else {
        return Finding::unknown("this system does not tell which sockets listen");
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
        None => Finding::pass(format!("none of {} in {} bytes", given.len(), complaints.len())),
    }
}
