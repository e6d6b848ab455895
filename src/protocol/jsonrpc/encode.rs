//! From messages to bytes. Every message is one line of JSON, without its line end.
//!
//! Parameters and results come as JSON text and go out as they came: numbers keep their digits and
//! members their order. Only line breaks between tokens become blanks, because the stdio binding
//! forbids them inside a message (2026-07-28, Transports).

use super::super::json;
use super::{ErrorObject, Id};

/// A request. `text_id` sends the id as a string, for servers that do not take numbers. `params` is
/// an object as JSON text; when it is empty, the member is left out.
///
/// ```
/// use mcpmini_protocol::jsonrpc::encode;
/// assert_eq!(
///     encode::request(1, false, "ping", "{}"),
///     r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}"#
/// );
/// ```
pub fn request(id: u64, text_id: bool, method: &str, params: &str) -> String {
    let (id, mut line) = (id.to_string(), begin(method.len() + params.len()));
    push_head(&mut line, &id, text_id, method);
    push_params(&mut line, params);
    line
}

/// A request whose `params` are appended by `write`, on one line. `id` is the number in decimal, and
/// `room` how long the parameters are, roughly: the line is not written twice then.
pub fn request_with(
    id: &str,
    text_id: bool,
    method: &str,
    room: usize,
    write: impl FnOnce(&mut String),
) -> String {
    let mut line = begin(id.len() + method.len() + room);
    push_head(&mut line, id, text_id, method);
    line.push_str(",\"params\":");
    write(&mut line);
    line.push('}');
    line
}

/// A notification. `params` is as in [`request`].
///
/// ```
/// use mcpmini_protocol::jsonrpc::encode;
/// assert_eq!(
///     encode::notification("notifications/initialized", None),
///     r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#
/// );
/// ```
pub fn notification(method: &str, params: Option<&str>) -> String {
    let params = params.unwrap_or_default();
    let mut line = begin(method.len() + params.len());
    push_method(&mut line, method);
    push_params(&mut line, params);
    line
}

/// A response: a result as JSON text, or an error.
///
/// ```
/// use mcpmini_protocol::jsonrpc::{Id, encode};
/// assert_eq!(
///     encode::response(&Id::from_json("7"), Ok("{}")),
///     r#"{"jsonrpc":"2.0","id":7,"result":{}}"#
/// );
/// ```
pub fn response(id: &Id, outcome: Result<&str, &ErrorObject>) -> String {
    let mut line = begin(outcome.map_or(64, str::len));
    push_member(&mut line, "id", id.as_json());
    match outcome {
        Ok(result) => push_member(&mut line, "result", result),
        Err(error) => push_member(&mut line, "error", &error_object(error)),
    }
    line.push('}');
    line
}

fn error_object(error: &ErrorObject) -> String {
    let mut object = format!("{{\"code\":{},\"message\":", error.code);
    json::push_string(&mut object, &error.message);
    if let Some(data) = &error.data {
        push_member(&mut object, "data", data.as_str());
    }
    object.push('}');
    object
}

/// The beginning of every message. `length` is how much follows, roughly.
fn begin(length: usize) -> String {
    let mut line = String::with_capacity(length + 80);
    line.push_str(r#"{"jsonrpc":"2.0""#);
    line
}

/// The id and the method of a request.
fn push_head(line: &mut String, id: &str, text_id: bool, method: &str) {
    let quote = if text_id { "\"" } else { "" };
    [",\"id\":", quote, id, quote].iter().for_each(|part| line.push_str(part));
    push_method(line, method);
}

fn push_method(line: &mut String, method: &str) {
    line.push_str(",\"method\":");
    json::push_string(line, method);
}

/// The parameters and the end.
fn push_params(line: &mut String, params: &str) {
    if !params.is_empty() {
        push_member(line, "params", params);
    }
    line.push('}');
}

/// Appends a member whose value is JSON text.
fn push_member(line: &mut String, key: &str, value: &str) {
    line.push_str(",\"");
    line.push_str(key);
    line.push_str("\":");
    json::push_on_one_line(line, value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Json;

    #[track_caller]
    fn check(line: String, expected: &str) {
        assert_eq!(line, expected);
    }

    #[test]
    fn requests_carry_their_id_as_the_server_wants_it() {
        check(
            request(2, false, "tools/list", r#"{"cursor":"a"}"#),
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"a"}}"#,
        );
        check(request(2, true, "ping", ""), r#"{"jsonrpc":"2.0","id":"2","method":"ping"}"#);
        check(
            request(u64::MAX, false, "a\"\n", ""),
            r#"{"jsonrpc":"2.0","id":18446744073709551615,"method":"a\"\n"}"#,
        );
    }

    #[test]
    fn parameters_go_out_as_they_came_on_one_line() {
        check(
            notification("n", Some("{\"n\": 1.0,\"n\": 123456789012345678901234567890}")),
            r#"{"jsonrpc":"2.0","method":"n","params":{"n": 1.0,"n": 123456789012345678901234567890}}"#,
        );
        check(
            notification("n", Some("{\r\n  \"a\\n\": [\n1\n]\n}\n")),
            r#"{"jsonrpc":"2.0","method":"n","params":{    "a\n": [ 1 ] } }"#,
        );
    }

    #[test]
    fn responses_return_the_id_unchanged() {
        check(
            response(&Id::from_json("\"a-1\""), Ok(r#"{"roots":[]}"#)),
            r#"{"jsonrpc":"2.0","id":"a-1","result":{"roots":[]}}"#,
        );
        check(
            response(&Id::from_json("1.0"), Err(&ErrorObject::method_not_found())),
            r#"{"jsonrpc":"2.0","id":1.0,"error":{"code":-32601,"message":"Method not found"}}"#,
        );
        let data = Some(Json::from("[1]"));
        check(
            response(
                &Id::from_json("1"),
                Err(&ErrorObject { code: 0, message: "\"".into(), data, source: None }),
            ),
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":0,"message":"\"","data":[1]}}"#,
        );
    }
}
