//! A line of a batch: which request it wants made.

use std::time::Duration;

use crate::cli::duration;
use crate::protocol::json;
use crate::protocol::jsonrpc::scan;
use crate::protocol::method;
use crate::protocol::params::Params;

/// A line that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    /// Its place among the lines that are not blank, from 1.
    pub(super) place: u64,
    /// Its number among all lines, as an editor shows it.
    pub(super) number: u64,
    /// What its outcome is known by, JSON text: its `id`, or else its number.
    pub(super) id: String,
}

/// A request that a line wants made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Request {
    /// The method.
    pub(super) method: String,
    /// Its parameters.
    pub(super) params: Params,
    /// The limit for this request alone: `Some(None)` for none at all.
    pub(super) idle: Option<Option<Duration>>,
    /// Whether it was written as the call of a tool, whose arguments are to be judged. A method
    /// with its parameters is sent as it is written.
    pub(super) is_judged: bool,
}

impl Request {
    /// The arguments of the tool that is called, the text of an object.
    pub(super) fn arguments(&self) -> &str {
        self.params.get("arguments").unwrap_or("{}")
    }

    /// The tool that is called, if one is.
    pub(super) fn tool(&self) -> Option<String> {
        if self.method != method::CALL_TOOL {
            return None;
        }
        self.params.tool().ok()
    }
}

/// Reads a line; tells what is wrong with it when it is no request.
pub(super) fn read(bytes: &[u8], place: u64, number: u64) -> (Line, Result<Request, String>) {
    let mut line = Line { place, number, id: number.to_string() };
    let request = match std::str::from_utf8(bytes) {
        Ok(text) => request(text.trim(), &mut line.id),
        Err(_) => Err("the line is not UTF-8".to_owned()),
    };
    (line, request)
}

fn request(text: &str, id: &mut String) -> Result<Request, String> {
    json::validate(text).map_err(|invalid| format!("the line is no JSON: {}", invalid.reason))?;
    if !text.starts_with('{') {
        return Err("the line is no JSON object".to_owned());
    }
    if let Some(given) = scan::member(text, "id") {
        *id = given.to_owned();
    }
    let (mut tool, mut arguments) = (None, None);
    let (mut method, mut params, mut idle) = (None, None, None);
    for (name, value) in scan::members(text) {
        match &*name {
            "id" => (),
            "tool" => tool = Some(string("tool", value)?),
            "arguments" => arguments = Some(object("arguments", value)?),
            "method" => method = Some(string("method", value)?),
            "params" => params = Some(object("params", value)?),
            "timeout" => idle = Some(limit(value)?),
            _ => return Err(format!("the line has an unknown member \"{name}\"")),
        }
    }
    let is_judged = tool.is_some();
    let (method, params) = match (tool, method) {
        (Some(_), Some(_)) => return Err("the line has both \"tool\" and \"method\"".to_owned()),
        (None, None) => return Err("the line has neither \"tool\" nor \"method\"".to_owned()),
        (Some(_), None) if params.is_some() => {
            return Err("the line has \"params\", which goes with \"method\"".to_owned());
        }
        (None, Some(_)) if arguments.is_some() => {
            return Err("the line has \"arguments\", which goes with \"tool\"".to_owned());
        }
        (Some(tool), None) => {
            let params = Params::new().with("name", json::string(&tool));
            (method::CALL_TOOL.to_owned(), params.with("arguments", arguments.unwrap_or("{}")))
        }
        (None, Some(method)) => {
            let params = Params::from_object(params.unwrap_or("{}"));
            let params = params.map_err(|invalid| invalid.reason)?;
            if method == method::CALL_TOOL {
                params.tool()?;
            }
            (method, params)
        }
    };
    Ok(Request { method, params, idle, is_judged })
}

fn string(name: &str, value: &str) -> Result<String, String> {
    let text = scan::unescape(value).filter(|_| value.starts_with('"'));
    let text = text.filter(|text| !text.is_empty());
    text.map(Into::into).ok_or_else(|| format!("\"{name}\" must be a string, and not empty"))
}

fn object<'a>(name: &str, value: &'a str) -> Result<&'a str, String> {
    match value.starts_with('{') {
        true => Ok(value),
        false => Err(format!("\"{name}\" must be an object")),
    }
}

/// `"300ms"` or a number of seconds, as `--timeout` has it.
fn limit(value: &str) -> Result<Option<Duration>, String> {
    let text = if value.starts_with('"') { scan::unescape(value) } else { Some(value.into()) };
    let limit = text.unwrap_or_default().parse::<duration::Limit>();
    limit.map(duration::Limit::duration).map_err(|invalid| format!("\"timeout\": {invalid}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, id: &str, expected: Result<(&str, &str), &str>) {
        let (line, request) = read(text.as_bytes(), 5, 7);
        let shown = request.map(|request| (request.method.clone(), request.params.to_json()));
        let expected = expected.map(|(method, params)| (method.to_owned(), params.to_owned()));
        assert_eq!((line.id.as_str(), shown), (id, expected.map_err(str::to_owned)), "{text}");
    }

    #[test]
    fn a_line_is_a_tool_call_or_any_request() {
        check(r#"{"tool":"a"}"#, "7", Ok(("tools/call", r#"{"name":"a","arguments":{}}"#)));
        check(
            r#" {"arguments": {"n": 1.0, "n":12345678901234567890}, "tool":"\u0061\"", "id":"x"} "#,
            r#""x""#,
            Ok((
                "tools/call",
                r#"{"name":"a\"","arguments":{"n": 1.0, "n":12345678901234567890}}"#,
            )),
        );
        check(r#"{"method":"ping","id":null}"#, "null", Ok(("ping", "{}")));
        check(
            r#"{"method":"tools/call","params":{"name":"a"},"id":[1, {}]}"#,
            "[1, {}]",
            Ok(("tools/call", r#"{"name":"a"}"#)),
        );
    }

    #[test]
    fn what_is_wrong_with_a_line_is_told() {
        check("[]", "7", Err("the line is no JSON object"));
        check("12", "7", Err("the line is no JSON object"));
        check(r#"{"id":1}"#, "1", Err("the line has neither \"tool\" nor \"method\""));
        check(
            r#"{"id":1,"tool":"a","method":"b"}"#,
            "1",
            Err("the line has both \"tool\" and \"method\""),
        );
        check(r#"{"tool":"a","args":{}}"#, "7", Err("the line has an unknown member \"args\""));
        check(
            r#"{"tool":"a","params":{}}"#,
            "7",
            Err("the line has \"params\", which goes with \"method\""),
        );
        check(
            r#"{"method":"a","arguments":{}}"#,
            "7",
            Err("the line has \"arguments\", which goes with \"tool\""),
        );
        check(r#"{"tool":7}"#, "7", Err("\"tool\" must be a string, and not empty"));
        check(r#"{"tool":""}"#, "7", Err("\"tool\" must be a string, and not empty"));
        let nameless = "the parameters of tools/call must have a \"name\" that is a string";
        check(r#"{"method":"tools/call","params":{"name":["a"]}}"#, "7", Err(nameless));
        check(r#"{"method":"tools/call"}"#, "7", Err(nameless));
        check(r#"{"tool":"a","arguments":[]}"#, "7", Err("\"arguments\" must be an object"));
        assert!(read(b"{oops", 1, 1).1.unwrap_err().starts_with("the line is no JSON: "));
        assert_eq!(read(b"\xff", 1, 1).1, Err("the line is not UTF-8".to_owned()));
    }

    #[test]
    fn a_line_has_its_own_limit() {
        let check = |value: &str, expected: Result<Option<u64>, &str>| {
            let (_, request) =
                read(format!(r#"{{"tool":"a","timeout":{value}}}"#).as_bytes(), 1, 1);
            let idle = request.map(|request| request.idle.unwrap());
            let expected = expected.map(|limit| limit.map(Duration::from_millis));
            assert_eq!(idle, expected.map_err(str::to_owned));
        };
        check("\"300ms\"", Ok(Some(300)));
        check("2.5", Ok(Some(2_500)));
        check("0", Ok(None));
        let hint = "is no duration; write it like 300ms, 30s, 2m or 1h";
        check("true", Err(&format!("\"timeout\": \"true\" {hint}")));
        check("-1", Err(&format!("\"timeout\": \"-1\" {hint}")));
    }
}
