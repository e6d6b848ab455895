//! From bytes to messages. The only reader of the wire.

mod plain;
mod recover;

use std::borrow::Cow;

use super::scan::{self, Envelope, Span};
use super::{Answer, ErrorObject, Id, Message, Notification, Request, Response};
use crate::json::Json;
use crate::method;

use recover::recover;

/// What a frame may be at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The length of one message, in bytes.
    pub message: usize,
    /// How deep arrays and objects may nest.
    pub depth: usize,
}

impl Default for Limits {
    /// 128 MiB and 512 levels.
    fn default() -> Limits {
        Limits { message: 128 << 20, depth: 512 }
    }
}

/// What [`decode`] finds in a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decoded {
    /// A message.
    Message(Message),
    /// The next message is in a form that is tolerated but not right.
    Unusual(Unusual),
    /// Something that is no message.
    Malformed(Malformed),
}

/// A form of message that is tolerated but not right. `--strict` makes it an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unusual {
    /// Bytes that are not UTF-8 were replaced by U+FFFD.
    InvalidUtf8,
    /// Several messages stand on one line.
    SeveralOnALine,
    /// Several messages stand in an array, which only 2025-03-26 allows.
    Batch,
    /// The member `jsonrpc` is missing or is not `"2.0"`.
    NoVersion,
    /// A response has a result and an error.
    ResultAndError,
    /// It came over HTTP with a content type that does not stand for JSON.
    ContentType,
}

/// Bytes that are no JSON-RPC message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Malformed {
    /// Not JSON.
    Json {
        /// The beginning, at most 200 bytes, with control characters escaped.
        excerpt: String,
    },
    /// JSON, but neither request, response nor notification.
    Shape {
        /// The id, if there is one.
        id: Option<Id>,
        /// The beginning, at most 200 bytes, with control characters escaped.
        excerpt: String,
    },
    /// Nested deeper than the limit.
    TooDeep {
        /// The id, if it was found before the limit was passed.
        id: Option<Id>,
        /// The limit that was passed.
        limit: usize,
    },
}

impl Malformed {
    /// The id, if one was found.
    pub fn id(&self) -> Option<&Id> {
        match self {
            Malformed::Json { .. } => None,
            Malformed::Shape { id, .. } | Malformed::TooDeep { id, .. } => id.as_ref(),
        }
    }
}

/// Reads the messages in a frame and hands each to `take`, in order.
///
/// A well-formed frame is one message, and is moved into it. What else servers send is made the
/// best of: see [`Unusual`]. A frame without any message is reported as [`Malformed`] once; an
/// empty one is not reported.
///
/// ```
/// use mcpmini_protocol::jsonrpc::{Limits, decode};
/// let frame = br#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#.to_vec();
/// let mut found = Vec::new();
/// decode(frame, &Limits::default(), &mut |decoded| found.push(decoded));
/// assert_eq!(found.len(), 1);
/// ```
pub fn decode(frame: Vec<u8>, limits: &Limits, take: &mut dyn FnMut(Decoded)) {
    let text = match String::from_utf8(frame) {
        Ok(text) => text,
        Err(error) => return recover::invalid_utf8(&error.into_bytes(), limits, take),
    };
    if let Some((method, params)) = plain::notification(&text, limits.depth) {
        let (method, params) = (Cow::Borrowed(method), Some(Json::new(text, params)));
        return take(Decoded::Message(Message::Notification(Notification { method, params })));
    }
    match scan::envelope(&text, limits.depth) {
        Ok(envelope) if is_blank(&text[envelope.end..]) => deliver(text, &envelope, take),
        _ => recover(&text, limits, take),
    }
}

/// Hands over the message that `text` is.
fn deliver(text: String, envelope: &Envelope, take: &mut dyn FnMut(Decoded)) {
    // There is nothing odd about most notifications, however they are written.
    if let Envelope { jsonrpc: Some(version), id: None, method: Some(method), .. } = envelope
        && let Envelope { params, result: None, error: None, .. } = envelope
        && scan::is_string(&text[version.clone()], "2.0")
        && let Some(method) = method::name_of_json(&text[method.clone()])
    {
        let params = params.clone().map(|span| Json::new(text, span));
        return take(Decoded::Message(Message::Notification(Notification { method, params })));
    }
    let parts = Parts::of(&text, envelope);
    let no_version = !parts.has_version;
    let both = parts.result.is_some() && parts.error.is_some();
    let decoded = parts.decoded(text);
    if let Decoded::Message(_) = decoded {
        if no_version {
            take(Decoded::Unusual(Unusual::NoVersion));
        }
        if both {
            take(Decoded::Unusual(Unusual::ResultAndError));
        }
    }
    take(decoded);
}

/// The members of a message that count.
struct Parts {
    has_version: bool,
    id: Option<Id>,
    method: Option<Cow<'static, str>>,
    params: Option<Span>,
    result: Option<Span>,
    /// The longest array or object in the result.
    longest: Span,
    input_required: bool,
    has_type: bool,
    error: Option<Span>,
}

impl Parts {
    fn of(text: &str, envelope: &Envelope) -> Parts {
        let says = |member: &Option<Span>, word: &str| {
            member.clone().is_some_and(|span| scan::is_string(&text[span], word))
        };
        let unless_null =
            |member: &Option<Span>| member.clone().filter(|span| &text[span.clone()] != "null");
        let id = unless_null(&envelope.id).map(|span| Id::from_json(&text[span]));
        let method = envelope.method.clone().and_then(|span| method::name_of_json(&text[span]));
        // Log lines that are JSON objects like to have a member called `error`.
        let answers = envelope.id.is_some() || envelope.jsonrpc.is_some();
        let error = unless_null(&envelope.error).filter(|_| answers);
        // Null is a result. Beside a method or an error, though, it comes from an encoder that
        // writes out every member it knows, as JSON-RPC 1.0 wanted.
        let alone = method.is_none() && error.is_none();
        let result = if alone { envelope.result.clone() } else { unless_null(&envelope.result) };
        Parts {
            has_version: says(&envelope.jsonrpc, "2.0"),
            id,
            method,
            params: envelope.params.clone(),
            result: result.filter(|_| answers),
            longest: envelope.longest.clone(),
            has_type: envelope.result_type.is_some(),
            input_required: says(&envelope.result_type, "input_required"),
            error,
        }
    }

    fn decoded(self, text: String) -> Decoded {
        let Parts { id, params, longest, input_required, has_type, .. } = self;
        Decoded::Message(match (self.error, self.result, self.method) {
            (Some(error), _, _) => {
                Message::Response(Response { id, outcome: Err(Box::new(read_error(text, error))) })
            }
            (None, Some(result), _) => {
                let result = Json::passing(text, result, longest);
                let answer = Answer { result, input_required, has_type };
                Message::Response(Response { id, outcome: Ok(answer) })
            }
            (None, None, Some(method)) => {
                let params = params.map(|span| Json::new(text, span));
                match id {
                    Some(id) => Message::Request(Request { id, method, params }),
                    // JSON-RPC 2.0 discourages null as an id, and nobody waits for its answer.
                    None => Message::Notification(Notification { method, params }),
                }
            }
            (None, None, None) => {
                return Decoded::Malformed(Malformed::Shape { id, excerpt: excerpt(&text) });
            }
        })
    }
}

/// Reads an error object. What does not have its form is an error all the same, and its text
/// becomes the message.
fn read_error(text: String, error: Span) -> ErrorObject {
    let json = &text[error.clone()];
    let mut object = ErrorObject { code: 0, message: String::new(), data: None, source: None };
    let mut message = None;
    let mut data = None;
    for (key, value) in scan::members(json) {
        match &*key {
            "code" => object.code = integer(value).unwrap_or(0),
            "message" => message = Some(value),
            "data" => data = Some(value),
            _ => (),
        }
    }
    object.message = match scan::unescape(message.unwrap_or(json)) {
        Some(message) => message.into_owned(),
        None => excerpt(message.unwrap_or(json)),
    };
    object.data = data.map(Json::from);
    object.source = Some(Json::new(text, error));
    object
}

/// An integer, also when it was written as a float or a string.
fn integer(json: &str) -> Option<i64> {
    let digits = json.trim_matches('"');
    let float = |digits: &str| digits.parse::<f64>().ok().filter(|code| code.fract() == 0.0);
    digits.parse().ok().or_else(|| float(digits).map(|code| code as i64))
}

/// Whether there is nothing but white space, as RFC 8259 defines it.
fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
}

/// The beginning of a text, for people: at most 200 bytes, with control characters escaped.
fn excerpt(text: &str) -> String {
    const LONGEST: usize = 200;
    let mut excerpt = String::new();
    for character in text.chars() {
        let before = excerpt.len();
        match character.is_control() {
            true => excerpt.extend(character.escape_default()),
            false => excerpt.push(character),
        }
        if excerpt.len() > LONGEST {
            excerpt.truncate(before);
            break;
        }
    }
    excerpt
}

#[cfg(test)]
mod tests {
    use super::super::scan::random::Random;
    use super::*;

    /// What a frame holds, one line for each thing.
    fn read(frame: &[u8]) -> Vec<String> {
        let mut found = Vec::new();
        let limits = Limits { depth: 5, ..Limits::default() };
        decode(frame.to_vec(), &limits, &mut |decoded| {
            found.push(match decoded {
                Decoded::Message(message) => show(&message),
                Decoded::Unusual(unusual) => format!("{unusual:?}"),
                Decoded::Malformed(Malformed::Json { excerpt }) => format!("not JSON: {excerpt}"),
                Decoded::Malformed(Malformed::Shape { id, excerpt }) => {
                    format!("no message {}: {excerpt}", or_dash(id))
                }
                Decoded::Malformed(Malformed::TooDeep { id, limit }) => {
                    format!("deeper than {limit} {}", or_dash(id))
                }
            });
        });
        found
    }

    fn show(message: &Message) -> String {
        match message {
            Message::Request(Request { id, method, params }) => {
                format!("request {id} {method} {}", or_dash(params.as_ref().map(Json::as_str)))
            }
            Message::Notification(Notification { method, params }) => {
                format!("notification {method} {}", or_dash(params.as_ref().map(Json::as_str)))
            }
            Message::Response(Response { id, outcome: Ok(answer) }) => {
                let asks = if answer.input_required { "asks " } else { "" };
                format!("result {} {asks}{:?}", or_dash(id.as_ref()), answer.result)
            }
            Message::Response(Response { id, outcome: Err(error) }) => {
                let data = or_dash(error.data.as_ref().map(Json::as_str));
                format!("error {} {} {:?} {data}", or_dash(id.as_ref()), error.code, error.message)
            }
        }
    }

    fn or_dash(part: Option<impl std::fmt::Display>) -> String {
        part.map_or("-".into(), |part| part.to_string())
    }

    #[track_caller]
    fn check(frame: impl AsRef<[u8]>, expected: &[&str]) {
        assert_eq!(read(frame.as_ref()), expected);
    }

    /// Checks the members of a message apart from `jsonrpc`.
    #[track_caller]
    fn check_message(members: &str, expected: &[&str]) {
        check(format!(r#"{{"jsonrpc":"2.0",{members}}}"#), expected);
        check(format!(" {{ {members} , \"jsonrpc\" : \"2.0\" }}\t"), expected);
    }

    #[test]
    fn requests_and_notifications_have_a_method() {
        check_message(r#""id":1,"method":"ping""#, &["request 1 ping -"]);
        check_message(
            r#""id":"a\n","method":"m","params":{"n":1.0}"#,
            &[r#"request "a\n" m {"n":1.0}"#],
        );
        check_message(
            r#""method":"notifications\/x","params":[1]"#,
            &["notification notifications/x [1]"],
        );
        check_message(r#""id":null,"method":"n""#, &["notification n -"]);
        check_message(r#""\u0069d":1,"m\u0065thod":"n""#, &["request 1 n -"]);
        check_message(r#""method":"a","method":"b""#, &["notification b -"]);
    }

    #[test]
    fn responses_have_a_result_or_an_error() {
        check_message(
            r#""id":1,"result":{"b":9007199254740993,"a":1.50}"#,
            &[r#"result 1 {"b":9007199254740993,"a":1.50}"#],
        );
        check_message(r#""id":"1","result":null"#, &[r#"result "1" null"#]);
        check_message(
            r#""id":1,"error":{"code":-1,"message":"m\u0021","data":{"d":[]}}"#,
            &[r#"error 1 -1 "m!" {"d":[]}"#],
        );
        check_message(
            r#""id":null,"error":{"code":-32700,"message":"m"}"#,
            &[r#"error - -32700 "m" -"#],
        );
        check_message(r#""error":{"code":-32700,"message":"m"}"#, &[r#"error - -32700 "m" -"#]);
    }

    #[test]
    fn an_answer_tells_whether_it_asks_for_input() {
        let asks = r#"{"resultType":"input_required"}"#;
        check_message(&format!(r#""id":1,"result":{asks}"#), &[&format!("result 1 asks {asks}")]);
        let asks = r#"{"a":[],"result\u0054ype":"input\u005frequired"}"#;
        check_message(&format!(r#""id":1,"result":{asks}"#), &[&format!("result 1 asks {asks}")]);
        let done = r#"{"resultType":"input_required","resultType":"complete"}"#;
        check_message(&format!(r#""id":1,"result":{done}"#), &[&format!("result 1 {done}")]);
        let done = r#"{"a":{"resultType":"input_required"}}"#;
        check_message(&format!(r#""id":1,"result":{done}"#), &[&format!("result 1 {done}")]);
        check_message(&format!(r#""id":1,"result":{asks},"result":[]"#), &["result 1 []"]);
    }

    #[test]
    fn the_error_counts_when_there_is_a_result_too() {
        check_message(
            r#""id":1,"result":{},"error":{"code":-1,"message":"m"}"#,
            &["ResultAndError", r#"error 1 -1 "m" -"#],
        );
        // JSON-RPC 1.0 wants both members, one of them null.
        check_message(r#""id":1,"result":{},"error":null"#, &["result 1 {}"]);
        check_message(
            r#""id":1,"result":null,"error":{"code":-1,"message":"m"}"#,
            &[r#"error 1 -1 "m" -"#],
        );
        check_message(r#""id":1,"method":"m","result":null,"error":null"#, &["request 1 m -"]);
        check_message(r#""id":1,"method":"","result":{}"#, &["result 1 {}"]);
    }

    #[test]
    fn an_error_in_a_wrong_form_is_an_error() {
        let check = |error: &str, expected: &str| {
            check_message(&format!(r#""id":1,"error":{error}"#), &[&format!("error 1 {expected}")]);
        };
        check(r#""broken \u00e9""#, r#"0 "broken é" -"#);
        check("{}", r#"0 "{}" -"#);
        check(r#"{"code":-5}"#, r#"-5 "{\"code\":-5}" -"#);
        check(r#"{"code":-32601.0,"message":"m"}"#, r#"-32601 "m" -"#);
        check(r#"{"code":"-32601","message":"m"}"#, r#"-32601 "m" -"#);
        check(r#"{"code":"E_FAIL","message":"m"}"#, r#"0 "m" -"#);
        check(r#"{"code":1e400,"message":["m"]}"#, r#"0 "[\"m\"]" -"#);
        check("[1]", r#"0 "[1]" -"#);
        check("5", r#"0 "5" -"#);
    }

    #[test]
    fn a_message_without_the_version_is_taken() {
        check(r#"{"id":1,"result":{}}"#, &["NoVersion", "result 1 {}"]);
        check(r#"{"jsonrpc":2.0,"method":"n"}"#, &["NoVersion", "notification n -"]);
        check(r#"{"jsonrpc":"1.0","id":1,"error":"e"}"#, &["NoVersion", r#"error 1 0 "e" -"#]);
        check(r#"{"jsonrpc":"2\u002e0","method":"n"}"#, &["notification n -"]);
    }

    #[test]
    fn what_is_no_message_is_reported_with_its_id() {
        check_message_shape(r#"{"jsonrpc":"2.0","id":7}"#, "7");
        check_message_shape(r#"{"id":"x","method":5}"#, "\"x\"");
        check_message_shape(r#"{"id":1,"error":null}"#, "1");
        check_message_shape(r#"{"level":"info","error":"disk full"}"#, "-");
        check_message_shape(r#"{"result":1}"#, "-");
        for text in ["{}", "[]", "[1]", "null", "7", "\"text\""] {
            check_message_shape(text, "-");
        }
    }

    #[track_caller]
    fn check_message_shape(frame: &str, id: &str) {
        check(frame, &[&format!("no message {id}: {frame}")]);
    }

    #[test]
    fn what_is_no_json_is_reported_once() {
        for text in
            ["hello", "{\"half\":", "[INFO] up", "5 files", "{}}", "{\"a\":1} [", "nan", "[1] x"]
        {
            check(text, &[&format!("not JSON: {text}")]);
        }
        check("\u{1b}[31mred\u{7f}", &["not JSON: \\u{1b}[31mred\\u{7f}"]);
        check(b"\xff\xfe", &["not JSON: \u{fffd}\u{fffd}"]);
        check("", &[]);
        check(" \r\n", &[]);
    }

    #[test]
    fn an_excerpt_ends_between_characters() {
        check("é".repeat(150), &[&format!("not JSON: {}", "é".repeat(100))]);
        check("\0".repeat(150), &[&format!("not JSON: {}", "\\u{0}".repeat(40))]);
    }

    #[test]
    fn nesting_is_limited() {
        check_message(r#""id":1,"result":[[[[]]]]"#, &["result 1 [[[[]]]]"]);
        check_message(r#""id":1,"result":[[[[[]]]]]"#, &["deeper than 5 1"]);
        check_message(r#""result":{"a":{"b":{"c":[[]]}}},"id":1"#, &["deeper than 5 1"]);
        check_message(r#""method":"m","params":[[[[[1]]]]]"#, &["deeper than 5 -"]);
        check_message(r#""id":1,"result":"[[[[[[[[[""#, &[r#"result 1 "[[[[[[[[[""#]);
    }

    #[test]
    fn frames_that_are_not_one_message_are_recovered() {
        let a = r#"{"jsonrpc":"2.0","method":"a"}"#;
        let b = r#"{"jsonrpc":"2.0","method":"b"}"#;
        check(format!("\u{feff}{a}"), &["notification a -"]);
        check(format!("{a} {b}"), &["notification a -", "SeveralOnALine", "notification b -"]);
        check(
            format!("[{a},7, {b}]"),
            &["Batch", "notification a -", "no message -: 7", "notification b -"],
        );
        check(
            format!("[{a}][{b}]"),
            &["Batch", "notification a -", "SeveralOnALine", "notification b -"],
        );
        check(format!("{a} done"), &["notification a -", "not JSON:  done"]);
        check(format!("{a}{{\"id\":"), &["notification a -", "not JSON: {\"id\":"]);
        check(
            b"{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"params\":\"\xff\"}",
            &["InvalidUtf8", "notification a \"\u{fffd}\""],
        );
        check("{\"id\":1}{\"half\"", &["no message 1: {\"id\":1}", "not JSON: {\"half\""]);
        check(
            "7[{\"id\":1},{\"id\":2}]",
            &["no message -: 7", "no message 1: {\"id\":1}", "no message 2: {\"id\":2}"],
        );
        check(
            r#"{"jsonrpc":"2.0","id":1,"result":{"a" 1}}"#,
            &[r#"not JSON: {"jsonrpc":"2.0","id":1,"result":{"a" 1}}"#],
        );
    }

    #[test]
    fn a_large_result_is_not_copied() {
        let frame =
            format!(r#"{{"jsonrpc":"2.0","id":1,"result":"{}"}}"#, "x".repeat(1000)).into_bytes();
        let place = frame.as_ptr();
        decode(frame, &Limits::default(), &mut |decoded| match decoded {
            Decoded::Message(Message::Response(Response { outcome: Ok(answer), .. })) => {
                let text = answer.result.as_str();
                assert_eq!(
                    text.as_ptr().addr() - place.addr(),
                    r#"{"jsonrpc":"2.0","id":1,"result":"#.len()
                );
            }
            other => panic!("{other:?}"),
        });
    }

    #[test]
    fn the_members_of_a_result_are_found_whatever_was_passed() {
        let (mut random, mut results, mut nests) = (Random::new(7), 0, 0);
        for _ in 0..50_000 {
            let text = random.message();
            decode(text.clone().into_bytes(), &Limits::default(), &mut |decoded| {
                let Decoded::Message(Message::Response(Response { outcome: Ok(answer), .. })) =
                    decoded
                else {
                    return;
                };
                results += 1;
                let (json, alone) = (&answer.result, scan::members(answer.result.as_str()));
                assert!(json.members().eq(alone.clone()), "{text}");
                for (key, value) in alone {
                    nests += usize::from(value.starts_with(['[', '{']));
                    assert_eq!(json.member(&key), scan::member(json.as_str(), &key), "{text}");
                }
            });
        }
        assert!(results > 1000 && nests > 1000, "{results} results with {nests} nests");
    }

    #[test]
    fn no_frame_is_lost_however_broken() {
        let mut random = Random::new(6);
        for _ in 0..50_000 {
            let text = random.message();
            let mut frame = text.clone().into_bytes();
            if random.below(2) == 0 {
                frame = random.damage(&text).into_bytes();
            }
            if random.below(4) == 0 {
                let at = random.below(frame.len() + 1);
                frame.insert(at, 0x80);
            }
            let is_blank = frame.trim_ascii().is_empty();
            let found = read(&frame);
            assert_eq!(found.is_empty(), is_blank, "{}", String::from_utf8_lossy(&frame));
        }
    }
}
