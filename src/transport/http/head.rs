//! What the protocol writes into the header fields of a request.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

use crate::net::{InvalidHeader, header_value};
use crate::protocol::message::Head;
use crate::protocol::method::INITIALIZE;
use crate::protocol::revision::{Era, Revision};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENT_STREAM: HeaderValue = HeaderValue::from_static("text/event-stream");
const JSON_OR_EVENT_STREAM: HeaderValue =
    HeaderValue::from_static("application/json, text/event-stream");

const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const PARAM_PREFIX: &str = "mcp-param-";
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// The field that carries the id of a session.
pub(super) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

/// The fields of a POST that delivers a message. Errors when a name or value of the message cannot
/// stand in a header at all.
pub(super) fn post(head: &Head, session: Option<&HeaderValue>) -> Result<HeaderMap, InvalidHeader> {
    let Head { revision, method, name, mirrored } = head;
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, JSON);
    headers.insert(ACCEPT, JSON_OR_EVENT_STREAM);
    // `initialize` is there to find out which version will be spoken.
    if method != INITIALIZE {
        add_context(&mut headers, revision, session);
    }
    if revision.mirrored_headers {
        headers.insert(METHOD, header_value(METHOD.as_str(), method)?);
        if let Some(name) = name {
            headers.insert(NAME, header_value(NAME.as_str(), &encode(name))?);
        }
        for (name, value) in mirrored {
            let name = format!("{PARAM_PREFIX}{name}");
            let key = HeaderName::from_bytes(name.as_bytes());
            let key = key.map_err(|_| InvalidHeader::Name(name.clone()))?;
            headers.insert(key, header_value(&name, &encode(value))?);
        }
    }
    Ok(headers)
}

/// The fields of a GET that opens an event stream, or goes on with one from the event it broke off
/// after.
pub(super) fn get(
    revision: &Revision,
    session: Option<&HeaderValue>,
    last_event_id: Option<&str>,
) -> Result<HeaderMap, InvalidHeader> {
    let mut headers = event_stream();
    add_context(&mut headers, revision, session);
    if let Some(id) = last_event_id {
        headers.insert(LAST_EVENT_ID, header_value(LAST_EVENT_ID.as_str(), id)?);
    }
    Ok(headers)
}

/// The fields of the GET that opens the stream of 2024-11-05.
pub(in crate::transport) fn event_stream() -> HeaderMap {
    HeaderMap::from_iter([(ACCEPT, EVENT_STREAM)])
}

/// The fields of the DELETE that ends a session.
pub(super) fn delete(revision: &Revision, session: &HeaderValue) -> HeaderMap {
    let mut headers = HeaderMap::new();
    add_context(&mut headers, revision, Some(session));
    headers
}

/// The revision and the session a request belongs to.
fn add_context(headers: &mut HeaderMap, revision: &Revision, session: Option<&HeaderValue>) {
    if revision.version_header {
        headers.insert(PROTOCOL_VERSION, HeaderValue::from_static(revision.date));
    }
    // A server that hands out an id wants it back, also one that settles for 2024-11-05, which did
    // not know sessions.
    if let Some(session) = session.filter(|_| revision.era == Era::Legacy) {
        headers.insert(SESSION_ID, session.clone());
    }
}

/// A value as a header can carry it (2026-07-28, Value Encoding).
// To be replaced by `protocol::headers::encode_value` when that is there.
fn encode(value: &str) -> String {
    let is_plain = value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let has_blank_edge = value.starts_with(' ') || value.ends_with(' ');
    let looks_encoded = value.starts_with("=?base64?") && value.ends_with("?=");
    if is_plain && !has_blank_edge && !looks_encoded {
        return value.to_owned();
    }
    format!("=?base64?{}?=", BASE64_STANDARD.encode(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn revision(date: &str) -> &'static Revision {
        Revision::named(date).unwrap()
    }

    fn text(headers: &HeaderMap) -> Vec<String> {
        let line = |(name, value): (&HeaderName, &HeaderValue)| {
            format!("{name}: {}", value.to_str().unwrap())
        };
        let mut lines: Vec<_> = headers.iter().map(line).collect();
        lines.sort();
        lines
    }

    #[test]
    fn every_revision_has_its_headers() {
        let session = HeaderValue::from_static("S1");
        let check = |date: &str, method: &'static str, expected: &[&str]| {
            let head = Head {
                revision: revision(date),
                method: method.into(),
                name: Some("tool".into()),
                mirrored: vec![("Region".into(), "eu".into())],
            };
            let both = ["accept: application/json, text/event-stream"];
            let mut lines = text(&post(&head, Some(&session)).unwrap());
            assert_eq!(lines.remove(0), both[0]);
            assert_eq!(lines.remove(0), "content-type: application/json");
            assert_eq!(lines, expected, "{date} {method}");
        };
        check("2024-11-05", "tools/call", &["mcp-session-id: S1"]);
        check("2025-03-26", "tools/call", &["mcp-session-id: S1"]);
        let with_version = &["mcp-protocol-version: 2025-11-25", "mcp-session-id: S1"];
        check("2025-11-25", "tools/call", with_version);
        check("2025-11-25", "", with_version);
        check("2025-11-25", "initialize", &[]);
        let mirrored = &[
            "mcp-method: tools/call",
            "mcp-name: tool",
            "mcp-param-region: eu",
            "mcp-protocol-version: 2026-07-28",
        ];
        check("2026-07-28", "tools/call", mirrored);
    }

    #[test]
    fn values_are_encoded_when_a_header_cannot_carry_them() {
        let check = |value: &str, expected: &str| assert_eq!(encode(value), expected, "{value:?}");
        check("us-west1", "us-west1");
        check("", "");
        check("file:///a%20b", "file:///a%20b");
        check("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?=");
        check(" padded ", "=?base64?IHBhZGRlZCA=?=");
        check("line1\nline2", "=?base64?bGluZTEKbGluZTI=?=");
        check("a\tb", "=?base64?YQli?=");
        check("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=");
    }

    #[test]
    fn what_cannot_be_a_header_is_an_error() {
        let check = |method: &str, param: &str, expected: bool| {
            let head = Head {
                revision: revision("2026-07-28"),
                method: method.to_owned().into(),
                name: None,
                mirrored: vec![(param.into(), "v".into())],
            };
            assert_eq!(post(&head, None).is_ok(), expected, "{method} {param}");
        };
        check("tools/call", "Region", true);
        check("m\u{e9}thode", "Region", false);
        check("tools/call", "Bad Name", false);
    }

    #[test]
    fn streams_are_resumed_by_their_last_event() {
        let headers = get(revision("2025-11-25"), None, Some("7")).unwrap();
        let expected =
            ["accept: text/event-stream", "last-event-id: 7", "mcp-protocol-version: 2025-11-25"];
        assert_eq!(text(&headers), expected);
        assert!(get(revision("2025-11-25"), None, Some("\u{e9}")).is_err());
    }
}
