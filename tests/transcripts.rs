//! Conversations with the session, one text file each: no process, no socket, no waiting.
//!
//! ```text
//! open probe | initialize DATE | modern | remembered DATE | pinned DATE [WORD...]
//!                                            how the session begins; `ask`: every ability is there,
//!                                            `forms`, `urls`: only that one, `listen`, `text-ids`,
//!                                            `tasks`, `log=LEVEL`;
//!                                            `relay`: calls are carried for others;
//!                                            `authorizes`: refusals may be answered
//! join                                       the session is somebody else's
//! joined DATE                                … and it is open
//! reported N | - {...}                       … who has no answer, or cannot open it
//! call METHOD {"param": ...}                 the caller begins a call: 30 s idle, no total limit
//! call-within 5000ms METHOD {...}            … with a limit on the whole
//! answer {...}  |  refuse                    the caller answers the oldest question, or cannot
//! retry  |  forgo                            there are other credentials, or there are none
//! unwanted                                   the caller does not want the server that it was told of
//! cancel                                     the caller gives up the newest call
//! cancel-all                                 … or all of them
//! > METHOD id=N key=value…                   the session must send this next
//! > cancel N METHOD                          … or give up that request, with that notice
//! > listen                                   … or open the stream
//! < {"id": 1, …}                             the server sends this
//! refused N STATUS [in-session] [scope] {…}  the HTTP server refuses a request, perhaps for want of
//!                                            a scope; N is `-` for a message without an answer
//! responding N                               events begin to arrive for a request
//! ended N                                    the response stream ends
//! broken N TEXT                              one exchange fails
//! listening [refused STATUS | lost]          the stream is open, or never will be
//! closed TEXT                                the connection is gone
//! wait 1500ms                                nothing is left to do, and time passes
//! ! EVENT                                    the caller must be told this next
//! # …                                        a remark
//! ```

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use mcpmini::protocol::jsonrpc::{Limits, decode};
use mcpmini::protocol::message::{Ending, Fault, FaultKind, Listening, Refused, Sent};
use mcpmini::protocol::model::log::Level;
use mcpmini::protocol::opening::Certainty;
use mcpmini::protocol::params::Params;
use mcpmini::protocol::session::{
    Abilities, About, Asker, Call, Event, Failure, Fate, Oddity, Output, Profile, Ticket,
};
use mcpmini::protocol::{Incoming, Outgoing, Revision, Session};
use serde_json::Value;

#[test]
fn transcripts() {
    let mut count = 0;
    let mut paths: Vec<_> = std::fs::read_dir("tests/transcripts")
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    for path in paths {
        let script = std::fs::read_to_string(&path).unwrap();
        let mut player = Player::new();
        for (number, line) in script.lines().enumerate() {
            player.place = format!("{}:{}", path.display(), number + 1);
            player.step(line.trim());
        }
        assert_eq!(player.next(), "wait", "{}: more was to come", player.place);
        count += 1;
    }
    assert!(40 <= count, "only {count} transcripts");
}

struct Player {
    session: Session,
    now: Instant,
    tickets: Vec<Ticket>,
    questions: VecDeque<Asker>,
    place: String,
}

impl Player {
    fn new() -> Player {
        let now = Instant::now();
        let session = Session::new(Certainty::Unknown, profile(""), now);
        let (tickets, questions) = (Vec::new(), VecDeque::new());
        Player { session, now, tickets, questions, place: String::new() }
    }

    fn step(&mut self, line: &str) {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        match verb {
            "" | "#" => (),
            "open" => self.session = Session::new(certainty(rest), profile(rest), self.now),
            "join" => self.session = Session::join(profile(rest), self.now),
            "cancel-all" => self.session.cancel_all("test"),
            "call" => self.call(rest, None, false),
            "call-bound" => self.call(rest, None, true),
            "call-within" => {
                let (limit, rest) = rest.split_once(' ').unwrap();
                self.call(rest, Some(self.now + milliseconds(limit)), false);
            }
            "answer" => {
                let to = self.questions.pop_front().expect("a question is open");
                self.session.answer(to, Ok(rest.to_owned()));
            }
            "refuse" => {
                let to = self.questions.pop_front().expect("a question is open");
                let error = mcpmini::protocol::jsonrpc::ErrorObject::method_not_found();
                self.session.answer(to, Err(error));
            }
            "retry" => self.session.retry(self.now),
            "forgo" => self.session.forgo(),
            "unwanted" => self.session.refuse(),
            "cancel" => self.session.cancel(*self.tickets.last().unwrap(), "test"),
            "wait" => {
                self.next_is("wait");
                self.now += milliseconds(rest);
                self.session.handle_timeout(self.now);
            }
            ">" | "!" => self.next_is(line),
            _ => self.hear(verb, rest),
        }
    }

    /// Something comes from the transport.
    fn hear(&mut self, verb: &str, rest: &str) {
        let (number, more) = rest.split_once(' ').unwrap_or((rest, ""));
        let id = number.parse().unwrap_or(0);
        let incoming = match verb {
            "<" => {
                let mut heard = Vec::new();
                decode(rest.as_bytes().to_vec(), &Limits::default(), &mut |one| heard.push(one));
                heard
                    .into_iter()
                    .for_each(|one| self.session.handle_incoming(one.into(), self.now));
                return;
            }
            "refused" => Incoming::Refused(Box::new(refused(number.parse().ok(), more))),
            "responding" => Incoming::Responding(id),
            "ended" => Incoming::Ended { id, how: Ending::Early(more.to_owned()) },
            "broken" => Incoming::Broken { id: Some(id), fault: fault(more) },
            "listening" => Incoming::Listening(match number {
                "refused" => Listening::Refused { status: more.parse().unwrap() },
                "lost" => Listening::Lost,
                _ => Listening::Open,
            }),
            "closed" => Incoming::Closed(fault(rest)),
            "joined" => Incoming::Joined(About {
                revision: Revision::named(number).unwrap(),
                greeting: Some("{}".into()),
                tools: None,
            }),
            "reported" => {
                let id = number.parse().ok();
                Incoming::Reported { id, report: more.into(), fate: Fate::Unknown }
            }
            _ => panic!("{}: {verb}?", self.place),
        };
        self.session.handle_incoming(incoming, self.now);
    }

    fn call(&mut self, rest: &str, deadline: Option<Instant>, bound: bool) {
        let (method, params) = rest.split_once(' ').unwrap_or((rest, "{}"));
        let call = Call {
            method: method.to_owned().into(),
            params: Params::from_object(params).unwrap(),
            idle: Some(Duration::from_secs(30)),
            deadline,
            bound,
            ..Call::default()
        };
        self.tickets.push(self.session.call(call));
    }

    #[track_caller]
    fn next_is(&mut self, expected: &str) {
        let got = self.next();
        assert_eq!(got, expected, "{}", self.place);
    }

    fn next(&mut self) -> String {
        match self.session.poll(self.now) {
            Output::Wait(_) => "wait".to_owned(),
            Output::Transmit(Outgoing::Listen(_)) => "> listen".to_owned(),
            Output::Transmit(Outgoing::Cancel { id, notice }) => {
                let notice = notice.map(|notice| notice.body).unwrap_or_default();
                let notice: Value = serde_json::from_str(&notice).unwrap();
                assert_eq!(notice["params"]["requestId"], id);
                format!("> cancel {id} {}", notice["method"].as_str().unwrap())
            }
            Output::Transmit(Outgoing::Deliver(delivery)) => sent(&delivery.body),
            Output::Event(event) => self.told(event),
        }
    }

    fn told(&mut self, event: Event) -> String {
        match event {
            Event::Opened(revision) => format!("! opened {}", revision.date),
            Event::Answered(_, Ok(result)) => format!("! answered {}", result.as_str()),
            Event::Answered(_, Err(error)) => format!("! error {} {}", error.code, error.message),
            Event::Asked(question) => {
                self.questions.push_back(question.from);
                format!("! asked {}", question.method)
            }
            Event::Withdrawn(Asker::Request(id)) => format!("! withdrawn {id}"),
            Event::Withdrawn(Asker::Call(_, name) | Asker::Task(name)) => {
                format!("! withdrawn {name}")
            }
            Event::Subscribed(_, filter) => format!("! subscribed {}", filter.as_str()),
            Event::Listening(listening) => match listening {
                Listening::Open => "! listening".to_owned(),
                Listening::Broken { again_in } => format!("! again in {again_in:?}"),
                Listening::Refused { status } => format!("! not listening {status}"),
                Listening::Lost => "! not listening".to_owned(),
            },
            Event::Notified(notification) => format!("! notified {}", notification.method),
            Event::Failed(_, failure) => format!("! failed {}", failure_text(&failure)),
            Event::Challenged(challenged) => {
                format!("! challenged {} round {}", challenged.refused.status, challenged.round)
            }
            Event::Oddity(oddity) => format!("! odd {}", oddity_text(&oddity)),
            Event::Closed(fault) => format!("! closed {}", fault.text),
        }
    }
}

/// What was sent, as far as transcripts look at it.
fn sent(body: &str) -> String {
    let body: Value = serde_json::from_str(body).unwrap();
    let mut text = match body["method"].as_str() {
        Some(method) => format!("> {method}"),
        None if body.get("error").is_some() => format!("> error {}", body["error"]["code"]),
        None => format!("> response {}", body["result"]),
    };
    if let Some(id) = body.get("id") {
        text += &format!(" id={id}");
    }
    let params = &body["params"];
    let meta = &params["_meta"]["io.modelcontextprotocol/protocolVersion"];
    if let Some(version) = meta.as_str().or(params["protocolVersion"].as_str()) {
        text += &format!(" {version}");
    }
    let declared = params["capabilities"].as_object();
    if let Some(declared) = declared.filter(|declared| !declared.is_empty()) {
        let names: Vec<_> = declared.keys().map(String::as_str).collect();
        text += &format!(" can={}", names.join(","));
    }
    let modes = params["capabilities"]["elicitation"].as_object();
    if let Some(modes) = modes.filter(|modes| !modes.is_empty()) {
        let names: Vec<_> = modes.keys().map(String::as_str).collect();
        text += &format!(" modes={}", names.join(","));
    }
    if let Some(level) = params["_meta"]["io.modelcontextprotocol/logLevel"].as_str() {
        text += &format!(" log={level}");
    }
    let capabilities = &params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    if let Some(extensions) = capabilities["extensions"].as_object() {
        let names: Vec<_> = extensions.keys().map(String::as_str).collect();
        text += &format!(" extensions={}", names.join(","));
    }
    for key in ["level", "notifications", "inputResponses", "requestState"] {
        if let Some(value) = params.get(key) {
            text += &format!(" {key}={value}");
        }
    }
    text
}

fn failure_text(failure: &Failure) -> String {
    match failure {
        Failure::TimedOut(at) => {
            let streaming = if at.streaming { " streaming" } else { "" };
            let sent = if at.sent { "" } else { " unsent" };
            format!("{:?} {}ms{sent}{streaming}", at.limit, at.after.as_millis())
        }
        Failure::Refused(refused) => format!("refused {}", refused.status),
        Failure::NoResponse { id, .. } => format!("no response {id}"),
        Failure::Broken(fault) => format!("broken {:?} {}", fault.sent, fault.text),
        Failure::Malformed(_) => "malformed".to_owned(),
        Failure::Invalid(_) => "invalid".to_owned(),
        Failure::NoCommonRevision(theirs) => format!("no common revision {}", theirs.join(",")),
        Failure::NotOpened(error) => format!("not opened {}", error.code),
        Failure::Unopened(why) => format!("unopened {}", failure_text(why)),
        Failure::TooManyRounds => "too many rounds".to_owned(),
        Failure::Unanswered(question) => format!("unanswered {}", question.method),
        Failure::Unsubscribed => "unsubscribed".to_owned(),
        Failure::Unwanted => "unwanted".to_owned(),
        Failure::Reopened => "reopened".to_owned(),
        Failure::Reported { report, .. } => format!("reported {}", report.as_str()),
    }
}

fn oddity_text(oddity: &Oddity) -> String {
    match oddity {
        Oddity::Skipped(_) => "skipped".to_owned(),
        Oddity::Unusual(unusual) => format!("{unusual:?}"),
        Oddity::RetypedId(id) => format!("retyped {id}"),
        Oddity::Stranger { id: None, .. } => "stranger null".to_owned(),
        Oddity::Stranger { id: Some(id), known } => {
            format!("{} {id}", if *known { "late" } else { "stranger" })
        }
        Oddity::RequestInModernEra(method) => format!("request {method}"),
        Oddity::NoLogLevel(text) => format!("no log level {text}"),
        Oddity::Undelivered(text) => format!("undelivered {text}"),
    }
}

fn refused(id: Option<u64>, rest: &str) -> Refused {
    let mut words = rest.splitn(2, ' ');
    let status = words.next().unwrap().parse().unwrap();
    let mut rest = words.next().unwrap_or("").trim();
    let mut takes = |word| match rest.strip_prefix(word) {
        Some(after) => {
            rest = after.trim();
            true
        }
        None => false,
    };
    let (in_session, scope) = (takes("in-session"), takes("scope"));
    let challenges = match scope {
        true => vec!["Bearer error=\"insufficient_scope\", scope=\"s\"".to_owned()],
        false => Vec::new(),
    };
    let mut message = None;
    decode(rest.as_bytes().to_vec(), &Limits::default(), &mut |one| {
        if let mcpmini::protocol::jsonrpc::decode::Decoded::Message(one) = one {
            message = Some(Box::new(one));
        }
    });
    Refused { id, status, in_session, challenges, message, ..Refused::default() }
}

fn fault(text: &str) -> Fault {
    let kind = FaultKind::Lost;
    Fault::new(kind, text, Sent::Maybe)
}

fn milliseconds(text: &str) -> Duration {
    Duration::from_millis(text.strip_suffix("ms").unwrap().parse().unwrap())
}

fn certainty(words: &str) -> Certainty {
    let words: Vec<&str> = words.split(' ').collect();
    let revision = || Revision::named(words[1]).unwrap();
    match words[0] {
        "probe" => Certainty::Unknown,
        "remembered" => Certainty::Remembered(revision()),
        "pinned" => Certainty::Pinned(revision()),
        other => panic!("{other}?"),
    }
}

fn profile(words: &str) -> Profile {
    let ask = words.split(' ').any(|word| word == "ask");
    let level = words.split_once("log=").map(|(_, level)| level.split(' ').next().unwrap());
    Profile {
        client: ("test", "0"),
        abilities: Abilities {
            forms: ask || words.contains("forms"),
            urls: ask || words.contains("urls"),
            sampling: ask,
            roots: ask,
        },
        probe_timeout: Duration::from_millis(2000),
        start_timeout: Some(Duration::from_secs(30)),
        greets: words.contains("greets"),
        text_ids: words.contains("text-ids"),
        relays: words.contains("relay"),
        listen: words.contains("listen"),
        log_level: level.map(|level| Level::named(level).unwrap()),
        authorizes: words.contains("authorizes"),
        extensions: Vec::new(),
        tasks: words.contains("tasks"),
    }
}
