//! What goes over the wire, for whoever wants to look on (`--trace`).
//!
//! Transports tell a [`Trace`] of every frame and of the head of every HTTP exchange. What becomes
//! of that is the business of whoever made the trace; here is only the form of a line:
//!
//! ```text
//! {"t":1764488455.123456,"server":"files","dir":"out","bytes":61,"msg":{"jsonrpc":"2.0",…}}
//! {"t":1764488455.130001,"server":"files","dir":"in","bytes":12,"text":"what is no JSON"}
//! {"t":…,"dir":"out","http":{"method":"POST","url":"…","headers":{…}},"bytes":61,"msg":{…}}
//! {"t":…,"dir":"in","http":{"status":200,"headers":{…}}}
//! ```
//! Secrets in heads are masked, those that only the caller knows by the caller. Messages are written as
//! they went over the wire, so that a trace can be replayed; a tool that is given a password shows it
//! there.

use std::borrow::Cow;
use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use super::json;
use super::mask::{self, Author};
use super::params::Members;

/// Who is told of what goes over the wire. Nobody by default: then a record is not even made.
#[derive(Clone, Default)]
pub struct Trace(Option<Observer>);

type Observer = Rc<dyn Fn(&Record<'_>)>;

/// Takes what the caller knows to be secret out of a text.
pub type Hide<'a> = &'a dyn for<'t> Fn(&'t str) -> Cow<'t, str>;

/// Which way something went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// To the server.
    Out,
    /// From it.
    In,
}

/// Something that went over the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Record<'a> {
    /// A message, or what came in the place of one, without its framing.
    Frame(Direction, &'a [u8]),
    /// An HTTP request, with its body.
    Request {
        /// GET, POST or DELETE.
        method: &'a str,
        /// Where it goes.
        url: &'a str,
        /// Its header fields.
        headers: &'a [(&'a str, &'a str)],
        /// Its body.
        body: Option<&'a [u8]>,
    },
    /// The head of the answer to one.
    Reply {
        /// The status.
        status: u16,
        /// Its header fields.
        headers: &'a [(&'a str, &'a str)],
    },
}

impl Trace {
    /// A trace that tells `observer` of everything.
    pub fn new(observer: impl Fn(&Record<'_>) + 'static) -> Trace {
        Trace(Some(Rc::new(observer)))
    }

    /// Whether somebody wants to know.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Tells of a message.
    pub fn frame(&self, direction: Direction, bytes: &[u8]) {
        self.record(&Record::Frame(direction, bytes));
    }

    /// Tells of anything.
    pub fn record(&self, record: &Record<'_>) {
        if let Some(observer) = &self.0 {
            observer(record);
        }
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_on() { "Trace(…)" } else { "Trace" })
    }
}

impl Record<'_> {
    /// The record as a line of JSON, with its line feed. `since_1970` is when it was made, and
    /// `server` to whom it went or from whom it came: a name, or the word that stands for one.
    pub fn line(&self, since_1970: Duration, server: &str, hide: Hide<'_>) -> String {
        let mut line = Members::new();
        let micros = since_1970.subsec_micros();
        line.push("t", &format!("{}.{micros:06}", since_1970.as_secs()));
        line.push("server", &json::string(&hide(&mask::server(server))));
        match *self {
            Record::Frame(direction, bytes) => {
                line.push("dir", direction.word());
                push_frame(&mut line, bytes, hide);
            }
            Record::Request { method, url, headers, body } => {
                line.push("dir", Direction::Out.word());
                let mut http = Members::new();
                http.push("method", &json::string(method));
                http.push("url", &json::string(&hide(&mask::url(url))));
                http.push("headers", &object(headers, Author::Client, hide));
                line.push("http", &http.finish());
                match body {
                    Some(body) if is_json(headers) => push_frame(&mut line, body, hide),
                    // A form of OAuth, which is nothing but secrets.
                    Some(body) => line.push("bytes", &body.len().to_string()),
                    None => (),
                }
            }
            Record::Reply { status, headers } => {
                line.push("dir", Direction::In.word());
                let mut http = Members::new();
                http.push("status", &status.to_string());
                http.push("headers", &object(headers, Author::Server, hide));
                line.push("http", &http.finish());
            }
        }
        line.finish() + "\n"
    }
}

impl Direction {
    /// The word for it, as JSON.
    fn word(self) -> &'static str {
        match self {
            Direction::Out => "\"out\"",
            Direction::In => "\"in\"",
        }
    }
}

/// The length of a frame, and the frame: as it is when it is JSON, else as text, which nobody can replay.
fn push_frame(line: &mut Members, bytes: &[u8], hide: Hide<'_>) {
    line.push("bytes", &bytes.len().to_string());
    match str::from_utf8(bytes) {
        Ok(text) if json::validate(text).is_ok() => {
            // Line ends inside JSON can only stand between tokens.
            line.push("msg", &text.trim().replace(['\n', '\r'], " "));
        }
        _ => line.push("text", &json::string(&hide(&String::from_utf8_lossy(bytes)))),
    }
}

fn is_json(headers: &[(&str, &str)]) -> bool {
    let mut types = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    types.any(|(_, value)| value.starts_with("application/json"))
}

/// Header fields as an object. A name that is there several times is there several times.
fn object(headers: &[(&str, &str)], author: Author, hide: Hide<'_>) -> String {
    let mut members = Members::new();
    for (name, value) in headers {
        members.push(name, &json::string(&hide(&mask::field(name, value, author))));
    }
    members.finish()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[track_caller]
    fn check(record: Record<'_>, expected: &str) {
        fn hide(text: &str) -> Cow<'_, str> {
            text.replace("t0ken", "***").into()
        }
        let line = record.line(Duration::new(7, 1_234_567), "s\"1", &hide);
        let expected = format!("{{\"t\":7.001234,\"server\":\"s\\\"1\",{expected}}}\n");
        assert_eq!(line, expected);
        assert_eq!(json::validate(&line), Ok(()));
    }

    #[test]
    fn frames_are_written_as_they_are() {
        let message = r#"{"id":1,"n":1.50,"n":12345678901234567890123}"#;
        check(
            Record::Frame(Direction::Out, message.as_bytes()),
            &format!(r#""dir":"out","bytes":45,"msg":{message}"#),
        );
        check(Record::Frame(Direction::In, b"{\n}\r\n"), r#""dir":"in","bytes":5,"msg":{ }"#);
        check(Record::Frame(Direction::In, b"oops\xff"), r#""dir":"in","bytes":5,"text":"oops�""#);
        check(Record::Frame(Direction::In, b""), r#""dir":"in","bytes":0,"text":"""#);
    }

    #[test]
    fn what_is_no_message_is_written_without_secrets() {
        check(Record::Frame(Direction::In, b"a t0ken"), r#""dir":"in","bytes":7,"text":"a ***""#);
        check(Record::Frame(Direction::In, b"\"t0ken\""), r#""dir":"in","bytes":7,"msg":"t0ken""#);
    }

    #[test]
    fn heads_are_written_without_secrets() {
        let headers = [("authorization", "Bearer hunter2"), ("content-type", "application/json")];
        let request = |body| Record::Request {
            method: "POST",
            url: "https://h/t0ken/mcp?key=hunter2",
            headers: &headers,
            body,
        };
        let http = r#""dir":"out","http":{"method":"POST","url":"https://h/***/mcp?key=***","headers":{"authorization":"Bearer ***","content-type":"application/json"}}"#;
        check(request(None), http);
        check(request(Some(b"{}")), &format!("{http},\"bytes\":2,\"msg\":{{}}"));
        let form = [("content-type", "application/x-www-form-urlencoded")];
        let body = Some(&b"code=hunter2"[..]);
        check(
            Record::Request { method: "POST", url: "https://h/token", headers: &form, body },
            r#""dir":"out","http":{"method":"POST","url":"https://h/token","headers":{"content-type":"application/x-www-form-urlencoded"}},"bytes":12"#,
        );
        check(
            Record::Reply {
                status: 401,
                headers: &[("set-cookie", "a=hunter2"), ("x", "at t0ken")],
            },
            r#""dir":"in","http":{"status":401,"headers":{"set-cookie":"***","x":"at ***"}}"#,
        );
    }

    #[test]
    fn nobody_is_told_unless_somebody_asked() {
        assert!(!Trace::default().is_on());
        Trace::default().frame(Direction::In, b"");
        let told = Rc::new(Cell::new(0));
        let count = told.clone();
        let trace = Trace::new(move |_| count.set(count.get() + 1));
        trace.clone().frame(Direction::In, b"");
        assert_eq!((told.get(), trace.is_on()), (1, true));
    }
}
