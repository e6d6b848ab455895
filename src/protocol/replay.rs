//! A server that says again what another one said, by the trace of a conversation with it.
//!
//! A request is known again by its method and its parameters, without `_meta` and id. What came
//! between it and its answer (notifications, questions) comes again in the same order, with the
//! ids and progress tokens of now. A request that was made several times gets its answers in their
//! order, and after the last one the last one again. One that was never answered is not answered.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use super::canonical::push_tree;
use super::json;
use super::jsonrpc::{ErrorObject, Id, encode, scan};
use super::method;
use super::params::Members;
use super::session::SUBSCRIPTION;
use super::tree::Tree;

/// The member of `_meta` in which a modern request names its revision.
const REVISION: &str = "io.modelcontextprotocol/protocolVersion";

/// How much of a request that is not in the trace is told, in characters.
const SHOWN: usize = 200;

/// A server that says again what another one said.
#[derive(Debug, Default)]
pub struct Replay {
    exchanges: BTreeMap<Key, Exchanges>,
    /// The revision of the modern requests, as it was written; `None` when there are none.
    modern: Option<String>,
    /// Questions that the client has not answered yet.
    waiting: Vec<Waiting>,
}

/// Why a trace cannot be replayed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadTrace {
    /// A line is no line of a trace.
    Line {
        /// The line, beginning with 1.
        number: usize,
    },
    /// Several servers are in it, and none was chosen.
    Several(Vec<String>),
    /// The server that was chosen is not in it.
    NoSuchServer(Vec<String>),
    /// There is no request in it.
    Empty,
}

/// What a request is known again by: the method, and the canonical text of the parameters.
type Key = (String, String);

/// What followed a request, each time it was made.
#[derive(Debug, Default)]
struct Exchanges {
    recorded: Vec<Vec<Step>>,
    /// How many of them were played.
    played: usize,
}

/// Something the server said, as the text of the message.
#[derive(Debug, Clone)]
enum Step {
    /// A notification.
    Notify(String),
    /// A request of its own. The answer is waited for.
    Ask(String),
    /// The answer.
    Answer(String),
}

/// A request of now: what goes in the place of the recorded id and progress token.
#[derive(Debug, Clone)]
struct Caller {
    id: String,
    token: Option<String>,
}

/// An exchange that goes on when the client has answered a question.
#[derive(Debug)]
struct Waiting {
    question: String,
    steps: VecDeque<Step>,
    caller: Caller,
}

impl Replay {
    /// Reads a trace, a line after the other. Of several servers in it, `server` is replayed.
    pub fn read(trace: &str, server: Option<&str>) -> Result<Replay, BadTrace> {
        let mut reader = Reader::default();
        let mut servers = BTreeSet::new();
        for (index, line) in trace.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let bad = || BadTrace::Line { number: index + 1 };
            json::validate(line).map_err(|_| bad())?;
            let direction = text_of(line, "dir").ok_or_else(bad)?;
            let Some(message) = scan::member(line, "msg") else { continue };
            let name = text_of(line, "server").unwrap_or_default().into_owned();
            if server.is_none_or(|server| server == name) {
                match &*direction {
                    "out" => reader.sent(message),
                    "in" => reader.received(message),
                    _ => return Err(bad()),
                }
            }
            servers.insert(name);
        }
        match (server, servers.len()) {
            (Some(server), _) if !servers.contains(server) => {
                Err(BadTrace::NoSuchServer(servers.into_iter().collect()))
            }
            (None, 2..) => Err(BadTrace::Several(servers.into_iter().collect())),
            _ if reader.replay.exchanges.is_empty() => Err(BadTrace::Empty),
            _ => Ok(reader.replay),
        }
    }

    /// What the server says to a message of the client: messages, each on a line.
    pub fn answer(&mut self, message: &str) -> Vec<String> {
        let Some(id) = scan::member(message, "id") else { return Vec::new() };
        let Some(method) = text_of(message, "method") else { return self.go_on(id) };
        let params = scan::member(message, "params").unwrap_or("{}");
        let meta = scan::member(params, "_meta").unwrap_or("{}");
        let token = scan::member(meta, "progressToken").map(str::to_owned);
        match self.exchanges.get_mut(&key(&method, params)) {
            Some(exchanges) => {
                let steps = exchanges.next().clone().into();
                self.play(steps, Caller { id: id.to_owned(), token })
            }
            None => vec![self.without_a_record(&method, params, id)],
        }
    }

    fn play(&mut self, mut steps: VecDeque<Step>, caller: Caller) -> Vec<String> {
        let mut said = Vec::new();
        while let Some(step) = steps.pop_front() {
            match step {
                Step::Notify(message) => said.push(caller.notify(&message)),
                Step::Answer(message) => said.push(with_member(&message, "id", &caller.id)),
                Step::Ask(message) => {
                    let question = scan::member(&message, "id").unwrap_or("null").to_owned();
                    said.push(message);
                    self.waiting.push(Waiting { question, steps, caller });
                    break;
                }
            }
        }
        said
    }

    /// Goes on after a question that the client has answered.
    fn go_on(&mut self, id: &str) -> Vec<String> {
        let Some(at) = self.waiting.iter().position(|waiting| waiting.question == id) else {
            return Vec::new();
        };
        let Waiting { steps, caller, .. } = self.waiting.remove(at);
        self.play(steps, caller)
    }

    /// The answer to a request that is not in the trace.
    fn without_a_record(&self, method: &str, params: &str, id: &str) -> String {
        if let (method::DISCOVER, Some(revision)) = (method, &self.modern) {
            // The client knew the era when the trace was made, and so did not ask.
            let mut result = Members::new();
            result.push("resultType", "\"complete\"");
            result.push("supportedVersions", &format!("[{revision}]"));
            result.push("capabilities", "{\"tools\":{},\"resources\":{},\"prompts\":{}}");
            return encode::response(&Id::from_json(id), Ok(&result.finish()));
        }
        let known = self.exchanges.keys().any(|(known, _)| known == method);
        let code = match known {
            true => ErrorObject::INVALID_PARAMS,
            false => ErrorObject::METHOD_NOT_FOUND,
        };
        let shown: String = canonical(params).chars().take(SHOWN).collect();
        let message = format!("not in the trace: {method} {shown}");
        let error = ErrorObject { code, message, data: None, source: None };
        encode::response(&Id::from_json(id), Err(&error))
    }
}

impl Exchanges {
    /// What is played next: the first that was not, or else the last one again.
    fn next(&mut self) -> &Vec<Step> {
        let at = self.played.min(self.recorded.len() - 1);
        self.played += 1;
        &self.recorded[at]
    }
}

/// Reads a trace into exchanges.
#[derive(Debug, Default)]
struct Reader {
    replay: Replay,
    /// Requests without an answer, the latest last.
    open: Vec<Open>,
}

/// A request without an answer: its id, and its exchange.
#[derive(Debug, Clone)]
struct Open {
    id: String,
    key: Key,
    index: usize,
}

impl Reader {
    /// A message of the client.
    fn sent(&mut self, message: &str) {
        let (Some(id), Some(method)) = (scan::member(message, "id"), text_of(message, "method"))
        else {
            return;
        };
        let params = scan::member(message, "params").unwrap_or("{}");
        let meta = scan::member(params, "_meta").unwrap_or("{}");
        if let Some(revision) = scan::member(meta, REVISION) {
            self.replay.modern = Some(revision.to_owned());
        }
        let key = key(&method, params);
        let exchanges = self.replay.exchanges.entry(key.clone()).or_default();
        self.open.push(Open { id: plain(id), key, index: exchanges.recorded.len() });
        exchanges.recorded.push(Vec::new());
    }

    /// A message of the server.
    fn received(&mut self, message: &str) {
        let id = scan::member(message, "id");
        let is_call = scan::member(message, "method").is_some();
        let message = message.to_owned();
        let (open, step) = match (id, is_call) {
            (Some(id), false) => {
                let id = plain(id);
                let Some(at) = self.open.iter().rposition(|open| open.id == id) else { return };
                (self.open.remove(at), Step::Answer(message))
            }
            (Some(_), true) => match self.open.last() {
                Some(open) => (open.clone(), Step::Ask(message)),
                None => return,
            },
            (None, _) => match self.concerned(&message) {
                Some(open) => (open.clone(), Step::Notify(message)),
                None => return,
            },
        };
        if let Some(exchanges) = self.replay.exchanges.get_mut(&open.key) {
            exchanges.recorded[open.index].push(step);
        }
    }

    /// The request that a notification is about: the one it names, else the latest.
    fn concerned(&self, notification: &str) -> Option<&Open> {
        let params = scan::member(notification, "params").unwrap_or("{}");
        let meta = scan::member(params, "_meta").unwrap_or("{}");
        let named = scan::member(params, "progressToken").or(scan::member(meta, SUBSCRIPTION));
        let named = named.map(plain);
        // The tokens of this client are the ids of its requests.
        let about = |open: &&Open| named.as_ref() == Some(&open.id);
        self.open.iter().rev().find(about).or(self.open.last())
    }
}

impl Caller {
    /// A recorded notification with the token and the id of now.
    fn notify(&self, message: &str) -> String {
        let Some(params) = scan::member(message, "params") else { return message.to_owned() };
        let mut params = Cow::Borrowed(params);
        if let (Some(_), Some(token)) = (scan::member(&params, "progressToken"), &self.token) {
            params = with_member(&params, "progressToken", token).into();
        }
        let meta = scan::member(&params, "_meta").unwrap_or("{}").to_owned();
        if scan::member(&meta, SUBSCRIPTION).is_some() {
            let meta = with_member(&meta, SUBSCRIPTION, &self.id);
            params = with_member(&params, "_meta", &meta).into();
        }
        with_member(message, "params", &params)
    }
}

/// An object with another value for one of its members.
fn with_member(object: &str, name: &str, value: &str) -> String {
    let mut members = Members::new();
    for (key, old) in scan::members(object) {
        members.push(&key, if key == name { value } else { old });
    }
    members.finish()
}

/// An id without the difference between 1 and "1".
fn plain(id: &str) -> String {
    scan::unescape(id).map_or_else(|| id.to_owned(), Cow::into_owned)
}

fn text_of<'a>(object: &'a str, name: &str) -> Option<Cow<'a, str>> {
    scan::unescape(scan::member(object, name)?)
}

/// What a request is known again by. What a client says about itself when it opens a session does
/// not matter.
fn key(method: &str, params: &str) -> Key {
    let params = if method == method::INITIALIZE { String::new() } else { canonical(params) };
    (method.to_owned(), params)
}

/// The same text for the same parameters: without `_meta`, members in order, no blanks.
fn canonical(params: &str) -> String {
    let mut text = String::new();
    if let Ok(mut tree) = Tree::parse(params) {
        if let Tree::Object(members) = &mut tree {
            members.retain(|(name, _)| name != "_meta");
        }
        // Numbers stay as they were spelled.
        push_tree(&mut text, &tree, String::push_str);
    }
    text
}

impl fmt::Display for BadTrace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadTrace::Line { number } => write!(f, "line {number} is no line of a trace"),
            BadTrace::Several(servers) => {
                write!(f, "there are several servers in it, choose one: {}", servers.join(", "))
            }
            BadTrace::NoSuchServer(servers) => {
                write!(f, "that server is not in it, but {}", servers.join(", "))
            }
            BadTrace::Empty => f.write_str("there is no request in it"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn out(message: &str) -> String {
        format!("{{\"t\":1.5,\"server\":\"s\",\"dir\":\"out\",\"bytes\":1,\"msg\":{message}}}\n")
    }

    fn came(message: &str) -> String {
        out(message).replace("\"out\"", "\"in\"")
    }

    #[track_caller]
    fn check(replay: &mut Replay, message: &str, expected: &[&str]) {
        assert_eq!(replay.answer(message), expected, "{message}");
    }

    #[test]
    fn requests_are_known_by_method_and_parameters() {
        let trace = [
            out(r#"{"id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":1,"y":"\u0041"},"_meta":{"m":1}}}"#),
            came(r#"{"id":1,"result":{"n":1.50}}"#),
            out(r#"{"id":2,"method":"tools/call","params":{"name":"a","arguments":{"x":12345678901234567891}}}"#),
            came(r#"{"id":2,"error":{"code":-1,"message":"no"}}"#),
            out(r#"{"id":3,"method":"tools/list"}"#),
            came(r#"{"id":"3","result":{}}"#),
        ]
        .concat();
        let mut replay = Replay::read(&trace, None).unwrap();
        let same = r#"{"id":"x","method":"tools/call","params":{"arguments":{"y":"A", "x":1},"name":"a"}}"#;
        check(&mut replay, same, &[r#"{"id":"x","result":{"n":1.50}}"#]);
        check(&mut replay, same, &[r#"{"id":"x","result":{"n":1.50}}"#]);
        let big = r#"{"id":7,"method":"tools/call","params":{"name":"a","arguments":{"x":12345678901234567891}}}"#;
        check(&mut replay, big, &[r#"{"id":7,"error":{"code":-1,"message":"no"}}"#]);
        check(
            &mut replay,
            &big.replace("7891", "7890"),
            &[
                r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"not in the trace: tools/call {\"arguments\":{\"x\":12345678901234567890},\"name\":\"a\"}"}}"#,
            ],
        );
        let empty = r#"{"id":8,"method":"tools/list","params":{"_meta":{}}}"#;
        check(&mut replay, empty, &[r#"{"id":8,"result":{}}"#]);
        check(
            &mut replay,
            r#"{"id":9,"method":"ping"}"#,
            &[
                r#"{"jsonrpc":"2.0","id":9,"error":{"code":-32601,"message":"not in the trace: ping {}"}}"#,
            ],
        );
        check(&mut replay, r#"{"method":"notifications/initialized"}"#, &[]);
    }

    #[test]
    fn answers_come_in_their_order_and_the_last_one_again() {
        let ping = r#"{"id":1,"method":"ping"}"#;
        let trace = out(ping) + &came(r#"{"id":1,"result":1}"#) + &out(ping);
        let trace = trace + &came(r#"{"id":1,"result":2}"#);
        let mut replay = Replay::read(&trace, None).unwrap();
        check(&mut replay, ping, &[r#"{"id":1,"result":1}"#]);
        check(&mut replay, ping, &[r#"{"id":1,"result":2}"#]);
        check(&mut replay, ping, &[r#"{"id":1,"result":2}"#]);
    }

    #[test]
    fn what_came_in_between_comes_again() {
        let progress = r#"{"method":"p","params":{"progressToken":1,"progress":1}}"#;
        let event =
            r#"{"method":"e","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":2}}}"#;
        let trace = [
            out(r#"{"id":1,"method":"slow"}"#),
            out(r#"{"id":2,"method":"listen"}"#),
            came(progress),
            came(event),
            came(r#"{"method":"log","params":{}}"#),
            came(r#"{"id":1,"result":{}}"#),
        ]
        .concat();
        let mut replay = Replay::read(&trace, None).unwrap();
        check(
            &mut replay,
            r#"{"id":5,"method":"slow","params":{"_meta":{"progressToken":"t"}}}"#,
            &[&progress.replace(":1,\"p", ":\"t\",\"p"), r#"{"id":5,"result":{}}"#],
        );
        check(
            &mut replay,
            r#"{"id":6,"method":"listen"}"#,
            &[&event.replace(":2", ":6"), r#"{"method":"log","params":{}}"#],
        );
    }

    #[test]
    fn questions_are_asked_again() {
        let ask = r#"{"id":"q","method":"elicitation/create","params":{}}"#;
        let trace = [
            out(r#"{"id":1,"method":"greet"}"#),
            came(ask),
            out(r#"{"id":"q","result":{}}"#),
            came(r#"{"id":1,"result":{}}"#),
        ]
        .concat();
        let mut replay = Replay::read(&trace, None).unwrap();
        check(&mut replay, r#"{"id":4,"method":"greet"}"#, &[ask]);
        check(&mut replay, r#"{"id":5,"result":{}}"#, &[]);
        check(&mut replay, r#"{"id":"q","result":{"any":1}}"#, &[r#"{"id":4,"result":{}}"#]);
        check(&mut replay, r#"{"id":"q","result":{}}"#, &[]);
    }

    #[test]
    fn a_session_is_opened_as_it_was() {
        let opened = [
            out(r#"{"id":1,"method":"initialize","params":{"clientInfo":{"version":"1"}}}"#),
            came(r#"{"id":1,"result":{"protocolVersion":"x"}}"#),
        ]
        .concat();
        let mut replay = Replay::read(&opened, None).unwrap();
        let other = r#"{"id":2,"method":"initialize","params":{"clientInfo":{"version":"2"}}}"#;
        check(&mut replay, other, &[r#"{"id":2,"result":{"protocolVersion":"x"}}"#]);

        // The revision was remembered, and nobody asked for it.
        let modern = r#"{"id":1,"method":"m","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"x"}}}"#;
        let mut replay = Replay::read(&out(modern), None).unwrap();
        let said = replay.answer(r#"{"id":3,"method":"server/discover"}"#).concat();
        assert!(said.contains("\"supportedVersions\":[\"x\"]"), "{said}");
    }

    #[test]
    fn a_request_without_an_answer_gets_none() {
        let mut replay = Replay::read(&out(r#"{"id":1,"method":"m"}"#), None).unwrap();
        check(&mut replay, r#"{"id":1,"method":"m"}"#, &[]);
    }

    #[test]
    fn one_server_is_replayed() {
        let check = |trace: &str, server: Option<&str>, expected: Option<BadTrace>| {
            assert_eq!(Replay::read(trace, server).err(), expected, "{trace}");
        };
        let s = out(r#"{"id":1,"method":"m"}"#);
        let other = s.replace("\"s\"", "\"o\"");
        let both = || vec!["o".to_owned(), "s".to_owned()];
        check(&s, None, None);
        check(&s, Some("s"), None);
        check(&s, Some("x"), Some(BadTrace::NoSuchServer(vec!["s".to_owned()])));
        check(&format!("{s}{other}"), None, Some(BadTrace::Several(both())));
        check(&format!("{s}{other}"), Some("o"), None);
        check("", None, Some(BadTrace::Empty));
        check(&came(r#"{"id":1,"method":"m"}"#), None, Some(BadTrace::Empty));
        check(&format!("\n{s}oops\n"), None, Some(BadTrace::Line { number: 3 }));
        check("{}", None, Some(BadTrace::Line { number: 1 }));
        check(r#"{"dir":"in","http":{"status":200}}"#, None, Some(BadTrace::Empty));
    }
}
