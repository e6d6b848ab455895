//! From the frames of an answer to messages.

use super::endpoint::{Binding, Endpoint};
use crate::protocol::Incoming;
use crate::protocol::framing::sse::Event;
use crate::protocol::jsonrpc::decode::Decoded;
use crate::protocol::jsonrpc::id::Echo;
use crate::protocol::jsonrpc::{Id, Malformed, Message, decode, scan};
use crate::protocol::trace::Direction;

/// The request that a stream or a body answers.
#[derive(Debug, Clone, Copy)]
pub(in crate::transport) struct Asked<'a> {
    /// Its number.
    pub id: u64,
    /// The message.
    pub body: &'a [u8],
}

/// What was in a frame.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Whether the response to the request was there.
    pub answered: bool,
    /// The id of a response to something else.
    pub other_id: Option<Id>,
    /// What could not be read.
    pub malformed: Option<Malformed>,
}

impl Endpoint {
    /// Reports the messages in a frame, and tells what they were.
    pub(super) async fn deliver(&self, frame: Vec<u8>, asked: Option<Asked<'_>>) -> Found {
        self.trace.frame(Direction::In, &frame);
        let is_streamable = self.binding.get() == Binding::Streamable;
        let mut found = Found::default();
        let mut reports = Vec::with_capacity(1);
        decode(frame, &self.limits, &mut |mut decoded| {
            match &mut decoded {
                Decoded::Message(message) => found.note(asked, message),
                Decoded::Malformed(malformed) => found.malformed = Some(malformed.clone()),
                Decoded::Unusual(_) => (),
            }
            reports.push(match (decoded, asked) {
                // In HTTP+SSE there is one stream for all, whatever came in reply to what.
                (Decoded::Message(Message::Request(request)), Some(asked)) if is_streamable => {
                    Incoming::Asked { during: asked.id, request }
                }
                (decoded, _) => Incoming::from(decoded),
            });
        });
        for report in reports {
            self.report(report).await;
        }
        found
    }

    /// Reports the messages in an event. Events of other types than `message` are none.
    pub(in crate::transport) async fn deliver_event(
        &self,
        event: Event,
        asked: Option<Asked<'_>>,
    ) -> bool {
        // `[DONE]` ends streams of another protocol that gateways like to imitate.
        let says_nothing = event.data.is_empty() || event.data == b"[DONE]";
        if !event.name.is_empty() || says_nothing {
            return false;
        }
        self.deliver(event.data, asked).await.answered
    }
}

impl Found {
    fn note(&mut self, asked: Option<Asked<'_>>, message: &mut Message) {
        let (Some(asked), Message::Response(response)) = (asked, message) else { return };
        // A server that could not read the request answers with null or with an id it made up. The
        // exchange tells which request is meant (2025-11-25, Sending Messages to the Server).
        let names_none = response.id.as_ref().and_then(number).is_none();
        if response.outcome.is_err() && names_none {
            let text = str::from_utf8(asked.body).unwrap_or_default();
            response.id = scan::member(text, "id").map(Id::from_json);
        }
        match response.id.as_ref() {
            Some(id) if number(id) == Some(asked.id) => self.answered = true,
            other => self.other_id = other.cloned(),
        }
    }
}

/// The request number that an id stands for.
fn number(id: &Id) -> Option<u64> {
    let (Echo::Exact(number) | Echo::Retyped(number)) = id.echo(false)?;
    Some(number)
}
