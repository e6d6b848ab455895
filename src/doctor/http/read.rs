//! Reading the body of an answer, as far as the response in it.

use std::time::Duration;

use futures_lite::FutureExt;
use serde_json::Value;

use crate::doctor::reading::{self, Odd};
use crate::net::Reply;
use crate::protocol::framing::sse::Events;
use crate::reactor::Timer;

/// How much of a body is read, in bytes.
const LIMIT: usize = 4 << 20;

/// What a body holds.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Its text, or the beginning.
    pub(super) text: String,
    /// The response to the question, or one without an id.
    pub(super) response: Option<Value>,
    /// What is odd about the messages in it.
    pub(super) odd: Option<Odd>,
}

/// Reads a body to its end, to the response with that id, or as long as there is patience.
pub(super) async fn body(reply: &mut Reply, id: Option<&Value>, patience: Duration) -> Found {
    let is_stream = reply.content_type() == "text/event-stream";
    let mut bytes = Vec::new();
    let mut events = Events::new(LIMIT);
    let (mut response, mut odd) = (None, None);
    let reading = async {
        let mut block = vec![0; 16 << 10];
        while bytes.len() < LIMIT {
            let Ok(length @ 1..) = reply.body.read(&mut block).await else { return };
            bytes.extend_from_slice(&block[..length]);
            let mut chunk = &block[..length];
            while is_stream && let Ok(Some(event)) = events.next_event(&mut chunk) {
                // What opens the stream of HTTP+SSE is all that one wants to see of it.
                let is_endpoint = event.name == "endpoint";
                let read = message(&event.data);
                response = read.as_ref().map(|it| &it.0).filter(|it| answers(it, id)).cloned();
                odd = odd.take().or(read.and_then(|it| it.1));
                if is_endpoint || response.is_some() {
                    return;
                }
            }
        }
    };
    let too_late = async {
        Timer::after(patience).await;
    };
    reading.or(too_late).await;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if !is_stream {
        let read = message(&bytes).filter(|(message, _)| message.get("method").is_none());
        (response, odd) = read.map_or((None, None), |(message, odd)| (Some(message), odd));
    }
    Found { text, response, odd }
}

fn message(bytes: &[u8]) -> Option<(Value, Option<Odd>)> {
    reading::read(bytes).filter(|(message, _)| message.is_object())
}

/// Whether a message is a response to the question, or says that the question was not understood.
fn answers(message: &Value, id: Option<&Value>) -> bool {
    let is_response = message.get("result").is_some() || message.get("error").is_some();
    let of = message.get("id").filter(|id| !id.is_null());
    is_response && (of.is_none() || of == id || id.is_none())
}
