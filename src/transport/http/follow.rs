//! The event stream that answers a request: following it, and going on when it breaks off.

use std::time::Duration;

use super::endpoint::Endpoint;
use super::events::EventReader;
use super::messages::Asked;
use super::outcome::Unanswered;
use crate::net::{Body, Reply};
use crate::protocol::message::{Ending, Fault, FaultKind, Sent};
use crate::protocol::revision::Revision;
use crate::reactor::{Timer, timeout};

/// How long to wait before reconnecting when the server does not say.
pub(super) const RECONNECTION_TIME: Duration = Duration::from_secs(1);

/// How many attempts in a row may bring nothing new.
const ATTEMPTS: usize = 3;

/// How long the end of a stream may follow the response. Servers end it at once, and then its
/// connection can be used again.
const LINGER: Duration = Duration::from_secs(1);

/// Reports what comes on the stream until the response to the request is among it.
///
/// A stream of a legacy revision that ends early is resumed after its last event ID. The request
/// itself is never sent again: the server has it (2025-11-25, Resumability and Redelivery).
pub(super) async fn answer(
    endpoint: &Endpoint,
    body: Body,
    revision: &'static Revision,
    asked: Asked<'_>,
) -> Result<(), Unanswered> {
    let mut events = EventReader::new(endpoint.limits.message);
    events.attach(body);
    let mut end = read(endpoint, &mut events, asked).await;
    let mut fruitless = 0;
    while revision.resumable && fruitless < ATTEMPTS && end.may_go_on() {
        let Some(last) = events.last_event_id().map(str::to_owned) else { break };
        Timer::after(events.reconnection_time().unwrap_or(RECONNECTION_TIME)).await;
        end = match endpoint.get(revision, Some(&last)).await {
            Ok(reply) if is_event_stream(&reply) => {
                events.attach(reply.body);
                read(endpoint, &mut events, asked).await
            }
            Ok(mut reply) => {
                reply.body.discard().await;
                let status = reply.status.as_u16();
                let why = format!("the stream ended and is not resumed (HTTP {status})");
                return Err(Unanswered::Ended(Ending::Early(why)));
            }
            // Whatever became of the GET, the request itself was sent.
            Err(Fault { text, .. }) => {
                End::Broken(lost(format!("the stream ended and cannot be resumed: {text}")))
            }
        };
        let is_new = events.last_event_id() != Some(&last);
        fruitless = if is_new { 0 } else { fruitless + 1 };
    }
    match end {
        End::Answered => {
            linger(endpoint, events).await;
            Ok(())
        }
        End::Ended => Err(Unanswered::Ended(Ending::Early(match events.was_cut() {
            true => "the stream ended in the middle of an event".to_owned(),
            false => String::new(),
        }))),
        End::Broken(fault) => Err(Unanswered::Broken(fault)),
    }
}

/// The fault of a stream that was lost, and the response with it.
fn lost(text: String) -> Fault {
    Fault { kind: FaultKind::Lost, text, sent: Sent::Yes }
}

/// Whether it is an event stream.
pub(super) fn is_event_stream(reply: &Reply) -> bool {
    reply.status.is_success() && reply.content_type() == "text/event-stream"
}

/// How a stream ended.
#[derive(Debug)]
enum End {
    /// The response came.
    Answered,
    /// It ended without.
    Ended,
    /// It broke.
    Broken(Fault),
}

impl End {
    fn may_go_on(&self) -> bool {
        match self {
            End::Answered => false,
            End::Ended => true,
            End::Broken(fault) => fault.kind != FaultKind::Protocol,
        }
    }
}

async fn read(endpoint: &Endpoint, events: &mut EventReader, asked: Asked<'_>) -> End {
    loop {
        match events.next().await {
            Ok(Some(event)) => {
                if endpoint.deliver_event(event, Some(asked)).await {
                    return End::Answered;
                }
            }
            Ok(None) => return End::Ended,
            Err(fault) => return End::Broken(fault),
        }
    }
}

/// Reports what follows the response, until the stream ends or enough time has passed.
async fn linger(endpoint: &Endpoint, mut events: EventReader) {
    let reading = async {
        while let Ok(Some(event)) = events.next().await {
            endpoint.deliver_event(event, None).await;
        }
    };
    timeout(LINGER, reading).await;
}
