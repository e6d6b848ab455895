//! The first run of a server: the whole conversation, and what came of it.

use std::fmt;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::ending::{self, Ending};
use super::process::Process;
use super::said;
use crate::doctor::finding::excerpt;
use crate::doctor::http::probe::{NO_METHOD, initialize, is_modern, modern, request};
use crate::doctor::reading::Odd;
use crate::doctor::{Options, sockets};
use crate::protocol::method;
use crate::protocol::revision::{Era, Revision};
use crate::transport::stdio::Target;

/// How long a server may leave a probe of the modern era unanswered.
const PROBE: Duration = Duration::from_secs(2);

/// How long to listen for an answer that should not come.
const SILENCE: Duration = Duration::from_millis(300);

/// A notification that no revision and no extension has.
const NO_NOTIFICATION: &str = "notifications/doctor/no-such";

/// What came of a step of the conversation; `None` when it did not come to that.
pub(super) type Step<T> = Option<T>;

/// What came of the first run.
#[derive(Debug, Default)]
pub(super) struct Talk {
    /// Why there was no conversation.
    pub(super) silence: Option<Silence>,
    /// How it began.
    pub(super) opened: Step<Opened>,
    /// The answer to a sign of life, asked with a text as the id.
    pub(super) ping: Step<Option<Value>>,
    /// The same with a large number.
    pub(super) number: Step<Option<Value>>,
    /// The answer to a method that does not exist.
    pub(super) unknown: Step<Option<Value>>,
    /// The answer to a revision that there never was.
    pub(super) version: Step<Option<Value>>,
    /// What came after a notification that is not known, and whether requests were answered then.
    pub(super) notified: Step<(Option<Value>, bool)>,
    /// The sockets on which the server listened; the inner `None` where the system does not tell.
    pub(super) listeners: Step<Option<Vec<sockets::Listener>>>,
    /// Whether requests were answered after a line that is no message.
    pub(super) after_noise: Step<bool>,
    /// How it ended when its input did.
    pub(super) ending: Step<Ending>,
    /// The lines that were no messages.
    pub(super) noise: Vec<String>,
    /// What is odd about the messages that came, the first of it.
    pub(super) odd: Option<Odd>,
    /// The methods of the requests that came from the server.
    pub(super) requests: Vec<String>,
    /// What came on standard error, or the beginning.
    pub(super) complaints: String,
    /// How much that was, in bytes.
    pub(super) complained: usize,
}

/// Why a server did not say anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Silence {
    /// It cannot be started: what the system says.
    NotStarted(String),
    /// It ended before it answered: how.
    Ended(String),
    /// It did not answer within that time; its last words on standard error.
    Late(Duration, String),
}

impl fmt::Display for Silence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Silence::NotStarted(text) | Silence::Ended(text) => f.write_str(text),
            Silence::Late(patience, last_words) => {
                write!(f, "the server did not answer within {patience:?}{last_words}")
            }
        }
    }
}

/// How the conversation began.
#[derive(Debug)]
pub(super) struct Opened {
    /// The result of `server/discover`.
    pub(super) discovered: Option<Value>,
    /// The answer to `initialize`.
    pub(super) initialized: Option<Value>,
    /// Whether it was asked in the one era before it answered in the other.
    is_mixed: bool,
}

impl Opened {
    /// Whether the era is the modern one.
    pub(super) fn is_modern(&self) -> bool {
        self.discovered.is_some()
    }

    /// What was said instead of opening a session, in a few words; `None` when one was opened, or
    /// none is needed.
    pub(super) fn refusal(&self) -> Option<String> {
        let opens = self.is_modern() || self.revision().is_some();
        let said = || match &self.initialized {
            Some(answer) => format!("no MCP server: initialize → {}", said::summary(answer)),
            None => "server/discover is answered with no revision that is known here".to_owned(),
        };
        (!opens).then(said)
    }

    /// The revision of the session.
    pub(super) fn revision(&self) -> Option<&str> {
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
    let until = Instant::now() + options.start;
    if options.tries(Era::Modern) {
        let discover = modern(json!(probe), method::DISCOVER, spoken).to_string();
        process.write(&discover, options.patience).await;
        let patience = if options.tries(Era::Legacy) { PROBE } else { options.start };
        let answer = process.expect(|it| is_answer(it, probe), patience.min(options.start)).await;
        let result = answer.as_ref().and_then(|answer| answer.get("result").cloned());
        let discovered = result.filter(is_modern);
        if discovered.is_some() || !options.tries(Era::Legacy) {
            return answer.map(|_| Opened { discovered, initialized: None, is_mixed: false });
        }
    }
    let message = initialize(json!(open), options.offer()).to_string();
    process.write(&message, options.patience).await;
    // A server that is slow to start answers the first question now.
    let either = |it: &Value| is_answer(it, open) || it.get("result").is_some_and(is_modern);
    let rest = until.saturating_duration_since(Instant::now());
    let answer = process.expect(either, rest).await?;
    if !is_answer(&answer, open) {
        let discovered = answer.get("result").cloned();
        return Some(Opened { discovered, initialized: None, is_mixed: true });
    }
    let begun = json!({ "jsonrpc": "2.0", "method": method::INITIALIZED }).to_string();
    process.write(&begun, options.patience).await;
    Some(Opened { discovered: None, initialized: Some(answer), is_mixed: false })
}

/// Starts a server and opens a conversation with it. The process is put where it outlives this
/// future. Errors when the server says nothing.
pub(super) async fn begin<'p>(
    place: &'p mut Option<Process>,
    target: &Target,
    options: &Options,
) -> Result<(&'p mut Process, Opened), Silence> {
    let opened = start(place, target, options).await?;
    let opened = match opened.is_mixed {
        false => opened,
        true => {
            // It has had questions of both eras, and what holds after that no revision says.
            if let Some(process) = place {
                process.kill().await;
            }
            let modern =
                Options { revision: Some(Revision::newest(Era::Modern)), ..options.clone() };
            start(place, target, &modern).await?
        }
    };
    Ok((place.as_mut().expect("it was started"), opened))
}

async fn start(
    place: &mut Option<Process>,
    target: &Target,
    options: &Options,
) -> Result<Opened, Silence> {
    let process = place.insert(Process::start(target).map_err(Silence::NotStarted)?);
    match open(process, options).await {
        Some(opened) => Ok(opened),
        None => {
            process.listen(SILENCE).await;
            Err(why_silent(process, options).await)
        }
    }
}

impl Talk {
    /// How to open the conversation once more: in the era that is known now, so that no start is
    /// spent on finding it out.
    pub(super) fn again(&self, options: &Options) -> Options {
        let spoken = match &self.opened {
            Some(opened) if opened.is_modern() => Some(Revision::newest(Era::Modern)),
            Some(opened) => opened.revision().and_then(Revision::named),
            None => None,
        };
        Options { revision: spoken.or(options.revision), ..options.clone() }
    }

    /// Holds the whole conversation of the first run. What it has come to stands here also when this
    /// future is dropped in the middle.
    pub(super) async fn hold(
        &mut self,
        place: &mut Option<Process>,
        target: &Target,
        options: &Options,
    ) {
        let (process, opened) = match begin(place, target, options).await {
            Ok(begun) => begun,
            Err(silence) => {
                self.silence = Some(silence);
                return;
            }
        };
        let is_modern = self.opened.insert(opened).is_modern();
        let mut turn = Turn { process, options, is_modern };
        let live = if is_modern { method::DISCOVER } else { method::PING };
        self.ping = Some(turn.ask(json!("doctor-ping"), live).await);
        self.number = Some(turn.ask(json!(9_007_199_254_740_991_u64), live).await);
        self.unknown = Some(turn.ask(json!("doctor-unknown"), NO_METHOD).await);
        turn.ask(json!("doctor-list"), method::LIST_TOOLS).await;
        self.version = Some(turn.offer().await);
        self.notified = Some(turn.notify(live).await);
        self.listeners = Some(sockets_of(turn.process));
        turn.process.write("{ this is no message", options.patience).await;
        self.after_noise = Some(turn.ask(json!("doctor-again"), live).await.is_some());
        self.ending = Some(ending::by_closing(turn.process).await);
    }

    /// Takes what the server has written besides its answers.
    pub(super) fn take_from(&mut self, process: &mut Process) {
        self.complaints = String::from_utf8_lossy(&process.complaints).into_owned();
        self.complained = process.complained;
        self.noise = std::mem::take(&mut process.noise);
        self.odd = process.odd.take();
        self.requests = std::mem::take(&mut process.requests);
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
        // Without the context of its era it would be a message of the other one.
        let revision = Revision::newest(Era::Modern).date;
        let mut message = match self.is_modern {
            true => modern(Value::Null, NO_NOTIFICATION, revision),
            false => request(Value::Null, NO_NOTIFICATION, json!({})),
        };
        if let Some(members) = message.as_object_mut() {
            members.remove("id");
        }
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

async fn why_silent(process: &mut Process, options: &Options) -> Silence {
    let last = String::from_utf8_lossy(&process.complaints).into_owned();
    let last = last.lines().rev().find(|line| !line.trim().is_empty()).map(excerpt);
    let last = last.map_or_else(String::new, |line| format!("; its last words: {line}"));
    if !process.has_ended().await {
        return Silence::Late(options.start, last);
    }
    let ending = process.ending().map_or_else(String::new, |(text, _)| format!(", {text}"));
    Silence::Ended(format!("the server ended before it answered{ending}{last}"))
}

/// The sockets on which a server listens, or what it has started.
fn sockets_of(process: &Process) -> Option<Vec<sockets::Listener>> {
    let processes = process.family.members()?;
    let own: Vec<u64> = processes.into_iter().filter_map(sockets::sockets_of).flatten().collect();
    let all = sockets::listeners()?;
    Some(all.into_iter().filter(|listener| own.contains(&listener.inode)).collect())
}
