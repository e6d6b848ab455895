//! The stream on which a legacy server says what no request has asked for.

use std::time::{Duration, Instant};

use super::endpoint::Endpoint;
use super::events::EventReader;
use super::follow::{RECONNECTION_TIME, is_event_stream};
use crate::net::Reply;
use crate::protocol::Incoming;
use crate::protocol::message::Listening;
use crate::protocol::revision::Revision;
use crate::reactor::{Timer, timeout};

/// After what time a stream counts as open although the server has said nothing.
///
/// The HTTP library reports the head of an answer only with the first byte of its body, which may
/// be long in coming. What must not happen is that a later request overtakes this one: the server
/// would answer with a question on a stream that it does not have yet. The request is written
/// within a millisecond when a connection is idle, and one usually is.
const GRACE: Duration = Duration::from_millis(100);

/// How many streams in a row may end early without having brought anything.
const ATTEMPTS: u32 = 5;

/// A stream that has lasted so long has not ended early.
const STEADY: Duration = Duration::from_secs(30);

/// Opens the stream and reports what comes on it, over all its interruptions, until the server
/// refuses it (2025-11-25, Listening for Messages from the Server).
pub(super) async fn listen(endpoint: &Endpoint, revision: &'static Revision) {
    let mut events = EventReader::new(endpoint.limits.message);
    let mut fruitless = 0;
    let mut is_first = true;
    while fruitless < ATTEMPTS {
        let begun = Instant::now();
        let last = events.last_event_id().map(str::to_owned);
        let opening = endpoint.get(revision, last.as_deref());
        let reply = match std::mem::take(&mut is_first) {
            true => announce(endpoint, opening).await,
            false => opening.await,
        };
        let mut is_new = false;
        match reply {
            Ok(reply) if is_event_stream(&reply) => {
                events.attach(reply.body);
                while let Ok(Some(event)) = events.next().await {
                    is_new = true;
                    endpoint.deliver_event(event, None).await;
                }
            }
            // The server has no such stream, or no longer the session.
            Ok(mut reply) => {
                reply.body.discard().await;
                let status = reply.status.as_u16();
                return endpoint.report(Incoming::Listening(Listening::Refused { status })).await;
            }
            Err(_) => (),
        }
        fruitless = if is_new || begun.elapsed() > STEADY { 0 } else { fruitless + 1 };
        if fruitless < ATTEMPTS {
            let wait = events.reconnection_time().unwrap_or(RECONNECTION_TIME);
            let again_in = wait.saturating_mul(1 << fruitless.saturating_sub(1));
            endpoint.report(Incoming::Listening(Listening::Broken { again_in })).await;
            Timer::after(again_in).await;
        }
    }
    endpoint.report(Incoming::Listening(Listening::Lost)).await;
}

/// Waits for the stream to open, and tells the client when it has or when it may be taken to have.
async fn announce<T>(
    endpoint: &Endpoint,
    opening: impl Future<Output = Result<Reply, T>>,
) -> Result<Reply, T> {
    let mut opening = std::pin::pin!(opening);
    let early = timeout(GRACE, opening.as_mut()).await;
    if early.as_ref().is_none_or(|reply| reply.as_ref().is_ok_and(is_event_stream)) {
        endpoint.report(Incoming::Listening(Listening::Open)).await;
    }
    match early {
        Some(reply) => reply,
        None => opening.await,
    }
}
