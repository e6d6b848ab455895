//! Answers with another status than success.

use std::time::{Duration, SystemTime};

use super::endpoint::Endpoint;
use super::page;
use crate::net::Reply;
use crate::protocol::jsonrpc::decode::Decoded;
use crate::protocol::jsonrpc::{ErrorObject, Limits, Message, decode};
use crate::protocol::message::Refused;
use crate::protocol::rfc3339;
use crate::protocol::trace::Direction;

/// How much of the body is looked at for a message, in bytes.
const LONGEST: usize = 64 << 10;

/// How much of the body is kept as text, in bytes.
const LONGEST_TEXT: usize = 2 << 10;

/// How long the body may take to come.
const PATIENCE: Duration = Duration::from_secs(2);

/// Reads what a server says that does not take a message.
pub(in crate::transport) async fn read(
    endpoint: &Endpoint,
    mut reply: Reply,
    id: Option<u64>,
    in_session: bool,
) -> Refused {
    let body = reply.body.read_up_to(LONGEST, PATIENCE).await;
    endpoint.trace.frame(Direction::In, &body);
    let challenges = reply.headers.get_all("www-authenticate").iter();
    let challenges =
        challenges.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect();
    let location = if reply.status.is_redirection() { reply.location() } else { None };
    let retry_after = reply.header("retry-after");
    Refused {
        id,
        status: reply.status.as_u16(),
        text: text(&body, &reply),
        challenges,
        auth_server: reply.header("mcp-auth-server").map(str::to_owned),
        location,
        retry_after: retry_after.and_then(|value| retry_seconds(value, SystemTime::now())),
        in_session,
        message: message(body).map(Box::new),
    }
}

/// Whether the refusal of an `initialize` leaves it open that the server speaks 2024-11-05
/// (2026-07-28, Backward Compatibility).
pub(super) fn may_speak_sse(refused: &Refused) -> bool {
    let error = match refused.message.as_deref() {
        Some(Message::Response(response)) => response.outcome.as_ref().err(),
        _ => None,
    };
    match refused.status {
        // Whoever complains in JSON-RPC has read the message, which servers of 2024-11-05 do not do
        // where their stream is.
        400 => error.is_none(),
        404 | 405 => !error.is_some_and(is_modern),
        _ => false,
    }
}

/// Whether it is an error with which modern servers refuse a request.
fn is_modern(error: &ErrorObject) -> bool {
    [
        ErrorObject::HEADER_MISMATCH,
        ErrorObject::MISSING_CAPABILITY,
        ErrorObject::UNSUPPORTED_VERSION,
        ErrorObject::METHOD_NOT_FOUND,
    ]
    .contains(&error.code)
}

fn text(body: &[u8], reply: &Reply) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(LONGEST_TEXT)]);
    // A character that was cut in two is no bad character of the server's.
    let text = if body.len() > LONGEST_TEXT { text.trim_end_matches('\u{fffd}') } else { &text };
    let reason = || reply.status.canonical_reason().unwrap_or("no reason given").to_owned();
    if page::is_page(reply.header("content-type"), text) {
        return match page::title(&String::from_utf8_lossy(body)) {
            Some(title) => format!("{}, a page with the title \"{title}\"", reason()),
            None => format!("{}, a page without a title", reason()),
        };
    }
    match text.trim() {
        "" => reason(),
        text => text.to_owned(),
    }
}

/// The response in the body, if it is one.
fn message(body: Vec<u8>) -> Option<Message> {
    let mut found = None;
    decode(body, &Limits::default(), &mut |decoded| {
        if let Decoded::Message(message @ Message::Response(_)) = decoded {
            found.get_or_insert(message);
        }
    });
    found
}

/// The value of `Retry-After` in seconds: a number, or a date (RFC 9110, section 10.2.3).
fn retry_seconds(value: &str, now: SystemTime) -> Option<u64> {
    if let Ok(seconds) = value.parse() {
        return Some(seconds);
    }
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(http_date(value)?);
    Some(at.duration_since(now).unwrap_or_default().as_secs())
}

/// The seconds since 1970 of a date as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
fn http_date(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut words = text.split_once(", ")?.1.split(' ');
    let day = words.next()?.parse().ok()?;
    let month = words.next()?;
    let month = 1 + MONTHS.iter().position(|name| *name == month)? as i64;
    let year = words.next()?.parse().ok()?;
    let mut clock = words.next()?.split(':').map(|part| part.parse().ok());
    let time = [clock.next()??, clock.next()??, clock.next()??];
    if words.next()? != "GMT" {
        return None;
    }
    rfc3339::seconds([year, month, day], time)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_a_number_or_a_date() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let check = |value: &str, expected: Option<u64>| {
            assert_eq!(retry_seconds(value, now), expected, "{value}");
        };
        check("120", Some(120));
        check("Sun, 06 Nov 1994 08:49:37 GMT", Some(0));
        check("Sun, 06 Nov 1994 08:50:37 GMT", Some(60));
        check("Mon, 07 Nov 1994 08:49:37 GMT", Some(86_400));
        check("Thu, 29 Feb 1996 00:00:00 GMT", Some(825_552_000 - 784_111_777));
        check("Thu, 01 Jan 1970 00:00:00 GMT", Some(0));
        check("Fri, 29 Feb 1995 00:00:00 GMT", None);
        check("Sun, 06 Nov 99999999999999999 08:49:37 GMT", None);
        check("soon", None);
        check("-1", None);
        check("Sun, 06 Nov 1994 08:49:37 CET", None);
        check("Sun, 06 Nov 1994", None);
    }

    #[test]
    fn only_some_refusals_leave_the_old_binding_open() {
        let check = |status: u16, body: &str, expected: bool| {
            let message = message(body.into()).map(Box::new);
            let refused = Refused { status, message, ..Refused::default() };
            assert_eq!(may_speak_sse(&refused), expected, "{status} {body}");
        };
        check(405, "", true);
        check(404, "<h1>not here</h1>", true);
        check(400, r#"{"error":"bad request"}"#, true);
        let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"m"}}"#;
        check(405, error, true);
        check(400, error, false);
        check(400, r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"m"}}"#, false);
        check(404, r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"m"}}"#, false);
        check(401, "", false);
        check(500, "", false);
    }
}
