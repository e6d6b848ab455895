//! A question over HTTP, and what came back.

use std::sync::Arc;
use std::time::Duration;

use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName};
use http::{HeaderValue, Method, StatusCode};
use serde_json::{Value, json};

use crate::config::quoting;
use crate::doctor::finding::{Finding, Need, excerpt, not_reached};
use crate::doctor::reading::Odd;
use crate::net::{Address, Glance, Request, header_value, is_untrusted};
use crate::protocol::mask;
use crate::protocol::message::Fault;
use crate::protocol::method;
use crate::protocol::revision::{Era, Revision};

/// A method that no revision and no extension has.
pub(in crate::doctor) const NO_METHOD: &str = "doctor/no-such-method";

/// The field that carries the id of a session.
pub(super) const SESSION: &str = "mcp-session-id";
/// The field that carries the revision.
pub(super) const VERSION: &str = "mcp-protocol-version";

/// How much of an answer is kept until the end, in bytes.
const KEPT: usize = 16 << 10;

/// How long a command line may be to be shown, in bytes.
const LINE: usize = 8 << 10;

const BOTH: &str = "application/json, text/event-stream";

/// A question.
#[derive(Debug, Clone)]
pub(super) struct Probe {
    method: Method,
    /// Where to; the endpoint when `None`.
    pub(super) address: Option<Address>,
    fields: HeaderMap,
    body: Option<String>,
    /// Whether the user's headers and credentials stay behind.
    pub(super) is_bare: bool,
    /// The id of the request in the body.
    pub(super) id: Option<Value>,
}

impl Probe {
    /// A question without a body.
    pub(super) fn new(method: Method) -> Probe {
        Probe {
            method,
            address: None,
            fields: HeaderMap::new(),
            body: None,
            is_bare: false,
            id: None,
        }
    }

    /// A POST of any text.
    pub(super) fn post(body: impl Into<String>) -> Probe {
        let probe = Probe { body: Some(body.into()), ..Probe::new(Method::POST) };
        probe.with(CONTENT_TYPE.as_str(), "application/json").with(ACCEPT.as_str(), BOTH)
    }

    /// A POST of a JSON-RPC message.
    pub(super) fn message(message: &Value) -> Probe {
        Probe { id: message.get("id").cloned(), ..Probe::post(message.to_string()) }
    }

    /// The request that opens a session, with an offer of that revision.
    pub(super) fn initialize(revision: &str) -> Probe {
        Probe::message(&initialize(json!("doctor-open"), revision))
    }

    /// A request of the modern era.
    pub(super) fn modern(method: &str) -> Probe {
        let revision = Revision::newest(Era::Modern).date;
        let probe = Probe::message(&modern(json!("doctor-ask"), method, revision));
        probe.with(VERSION, revision).with("mcp-method", method)
    }

    /// The question that opens the stream of HTTP+SSE, or that of a session.
    pub(super) fn stream() -> Probe {
        Probe::new(Method::GET).with(ACCEPT.as_str(), "text/event-stream")
    }

    /// The same with another value of a field.
    pub(super) fn with(mut self, name: &'static str, value: &str) -> Probe {
        // A value that cannot be sent was never received either: it came from a header.
        if let Ok(value) = header_value(name, value) {
            self.fields.insert(HeaderName::from_static(name), value);
        }
        self
    }

    /// The same with another body, in which nothing asks for an answer.
    pub(super) fn saying(self, body: &str) -> Probe {
        Probe { body: Some(body.to_owned()), id: None, ..self }
    }

    /// The same without a field.
    pub(super) fn without(mut self, name: &str) -> Probe {
        self.fields.remove(name);
        self
    }

    /// Whether it has a field.
    pub(super) fn has(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    /// The same without the user's headers and credentials.
    pub(super) fn bare(self) -> Probe {
        Probe { is_bare: true, ..self }
    }

    /// The same to another address.
    pub(super) fn to(self, address: Address) -> Probe {
        Probe { address: Some(address), ..self }
    }

    pub(super) fn request(&self, endpoint: &Address) -> Request {
        Request {
            method: self.method.clone(),
            address: self.address.as_ref().unwrap_or(endpoint).clone(),
            headers: self.fields.clone(),
            body: self.body.as_ref().map(|body| Arc::new(body.clone().into_bytes())),
        }
    }

    /// A command line that asks the same.
    pub(super) fn command_line(&self, endpoint: &Address) -> String {
        let mut line = format!("curl -sS -i -X {}", self.method);
        for (name, value) in &self.fields {
            let field = match name.as_str() {
                // The shell is to fill it in.
                SESSION => format!("\"{name}: $SESSION\""),
                // The server has chosen some of them (`ETag`, the revision), and whoever tries the
                // line by hand must not run what it says.
                _ => quoting::quote(&format!("{name}: {}", value.to_str().unwrap_or_default())),
            };
            line.push_str(&format!(" -H {field}"));
        }
        if let Some(body) = &self.body {
            line.push_str(&format!(" --data-raw {}", quoting::quote(body)));
        }
        let address = self.address.as_ref().unwrap_or(endpoint);
        line.push_str(&format!(" {}", quoting::quote(&mask::url(address.as_str()))));
        match line.len() {
            ..=LINE => line,
            // A cursor of the server may be of any length.
            length => format!("# a request of {length} bytes, too long to show"),
        }
    }
}

/// What the client says about itself.
fn client_info() -> Value {
    json!({ "name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION") })
}

/// `initialize`, with an offer of that revision.
pub(in crate::doctor) fn initialize(id: Value, revision: &str) -> Value {
    let params = json!({
        "protocolVersion": revision, "capabilities": {}, "clientInfo": client_info(),
    });
    request(id, method::INITIALIZE, params)
}

/// A request of the modern era, in that revision.
pub(in crate::doctor) fn modern(id: Value, method: &str, revision: &str) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": revision,
        "io.modelcontextprotocol/clientInfo": client_info(),
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    request(id, method, json!({ "_meta": meta }))
}

/// A request.
pub(in crate::doctor) fn request(id: Value, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// The revisions that the result of `server/discover` lists.
pub(in crate::doctor) fn listed(discovered: &Value) -> Vec<&str> {
    let dates = discovered.get("supportedVersions").and_then(Value::as_array);
    dates.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Whether the result of `server/discover` lists a revision of the modern era that is known here.
pub(in crate::doctor) fn is_modern(discovered: &Value) -> bool {
    let mut known = listed(discovered).into_iter().filter_map(Revision::named);
    known.any(|revision| revision.era == Era::Modern)
}

/// What came back.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    /// The body, or its beginning.
    pub(super) body: String,
    /// The JSON-RPC response in the body: the one to the question, or one without an id.
    pub(super) response: Option<Value>,
    /// What is odd about the messages in the body.
    pub(super) odd: Option<Odd>,
    /// How long the first byte of the body took.
    pub(super) first_byte: Duration,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoAnswer {
    /// Nothing came within that time.
    Late(Duration),
    /// The server is too busy to be examined.
    Busy(StatusCode),
    /// The connection broke, or there was none.
    Broken(Fault),
    /// There is no server to ask, as was found out when the examination began.
    Unreached(Fault),
    /// The time for everything was over.
    TimeOver,
    /// It was not asked: the user wants another era.
    NotAsked,
}

impl From<NoAnswer> for Finding {
    /// Without an answer nothing can be told.
    fn from(no_answer: NoAnswer) -> Finding {
        match no_answer {
            NoAnswer::Late(patience) => {
                Finding::unknown(format!("no answer within {patience:?}"), Need::Patience)
            }
            NoAnswer::Busy(status) => {
                let why = format!("the server is too busy (HTTP {})", status.as_u16());
                Finding::unknown(why, Need::Leisure)
            }
            NoAnswer::Broken(fault) => Finding::unknown(fault.text, Need::Connection),
            NoAnswer::Unreached(fault) => {
                let is_untrusted = is_untrusted(&fault);
                let need = if is_untrusted { Need::Certificate } else { Need::Reach };
                Finding::unknown(format!("not reached: {}", fault.text), need)
            }
            NoAnswer::TimeOver => not_reached(),
            NoAnswer::NotAsked => Finding::unknown("it was not asked", Need::Era),
        }
    }
}

impl Answer {
    /// What is known of an answer of which only the head has come; `None` when it is no such head.
    pub(super) fn silent(glance: Glance) -> Option<Answer> {
        let content_type = HeaderValue::from_str(&glance.content_type).ok()?;
        Some(Answer {
            status: StatusCode::from_u16(glance.status).ok()?,
            headers: HeaderMap::from_iter([(CONTENT_TYPE, content_type)]),
            body: String::new(),
            response: None,
            odd: None,
            first_byte: Duration::ZERO,
        })
    }

    /// What is kept of it until the end: a long body loses its end, and its response what is in it.
    pub(super) fn digest(&self) -> Answer {
        if self.body.len() <= KEPT {
            return self.clone();
        }
        let mut end = KEPT;
        while !self.body.is_char_boundary(end) {
            end -= 1;
        }
        let code = self.code();
        let response = self.response.as_ref().map(|_| match code {
            Some(code) => json!({ "error": { "code": code } }),
            None => json!({ "result": {} }),
        });
        Answer {
            status: self.status,
            headers: self.headers.clone(),
            body: self.body[..end].to_owned(),
            response,
            odd: self.odd.clone(),
            first_byte: self.first_byte,
        }
    }

    /// The value of a header field, when it is there and readable.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// All values of a header field.
    pub(super) fn all(&self, name: &str) -> Vec<String> {
        let values = self.headers.get_all(name).iter();
        values.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect()
    }

    /// The type of the body, without parameters and in lower case.
    pub(super) fn content_type(&self) -> String {
        let value = self.header("content-type").unwrap_or_default();
        value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }

    /// Whether the status says that the question was taken.
    pub(super) fn is_taken(&self) -> bool {
        self.status.is_success()
    }

    /// Whether it is what was asked for, and no error.
    pub(super) fn has_result(&self) -> bool {
        self.is_taken() && self.result().is_some()
    }

    /// The result in the response.
    pub(super) fn result(&self) -> Option<&Value> {
        self.response.as_ref()?.get("result")
    }

    /// The code of the error in the response.
    pub(super) fn code(&self) -> Option<i64> {
        self.response.as_ref()?.get("error")?.get("code")?.as_i64()
    }

    /// What came back, in a few words: the status, and the error if there is one.
    pub(super) fn summary(&self) -> String {
        let status = format!("HTTP {}", self.status.as_u16());
        let error = self.response.as_ref().and_then(|response| response.get("error"));
        match (error, self.result()) {
            (Some(error), _) => {
                let code = error.get("code").map(Value::to_string).unwrap_or_default();
                let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
                excerpt(&format!("{status}, error {code}: {message}"))
            }
            (None, Some(_)) => format!("{status} with a result"),
            (None, None) if self.body.trim().is_empty() => status,
            // What opens a stream may have a session in it.
            (None, None) if self.content_type() == "text/event-stream" => {
                format!("{status}, an event stream without an answer")
            }
            (None, None) => excerpt(&format!("{status}: {}", self.body)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_can_be_tried_by_hand() {
        let address = Address::parse("http://h/mcp?a='b'").unwrap();
        let probe = Probe::post("it's").with(SESSION, "secret-id").with("origin", "null");
        let expected = "curl -sS -i -X POST -H 'content-type: application/json' \
                        -H 'accept: application/json, text/event-stream' \
                        -H \"mcp-session-id: $SESSION\" -H 'origin: null' \
                        --data-raw 'it'\\''s' 'http://h/mcp?a=%27b%27'";
        assert_eq!(probe.command_line(&address), expected);
        let etag = Probe::new(Method::GET).with("if-none-match", "\"$(reboot)'`\"");
        let expected = r#"curl -sS -i -X GET -H 'if-none-match: "$(reboot)'\''`"' http://h/mcp"#;
        assert_eq!(etag.command_line(&Address::parse("http://h/mcp").unwrap()), expected);
        let secret = Address::parse("http://h/mcp?api_key=hunter2").unwrap();
        assert!(!Probe::new(Method::GET).command_line(&secret).contains("hunter2"));
        let long = Probe::post("x".repeat(LINE)).command_line(&address);
        assert!(long.starts_with("# a request of 8") && long.len() < 100, "{long}");
    }
}
