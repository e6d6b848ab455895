//! The HTTP+SSE binding of 2024-11-05: one event stream for all that the server says, and an
//! endpoint, named by its first event, to which messages are posted.
//!
//! It shares everything but the way answers come with the [`super::http`] binding.

use super::Port;
use super::http::Target;
use super::http::endpoint::{Binding, Endpoint};
use super::http::events::EventReader;
use super::http::outcome::Unanswered;
use super::http::refusal;
use crate::net::Reply;
use crate::protocol::jsonrpc::Limits;
use crate::protocol::message::{Ending, Fault, FaultKind, Sent};

/// Carries messages until the port is closed or the stream has ended.
pub async fn run(target: Target, limits: Limits, port: Port) {
    super::http::carry(target, Binding::SseClosed, limits, port).await;
}

/// Opens the stream and waits for the endpoint. A failure is one of the request `id`, which was to
/// be delivered there.
pub(super) async fn open(endpoint: &Endpoint, id: u64) -> Result<EventReader, Unanswered> {
    let reply = endpoint.get_home().await.map_err(not_delivered)?;
    if !reply.status.is_success() {
        let refused = refusal::read(endpoint, reply, Some(id), false).await;
        return Err(Unanswered::Refused(Box::new(refused)));
    }
    check_type(&reply)?;
    let mut events = EventReader::new(endpoint.limits.message);
    events.attach(reply.body);
    loop {
        match events.next().await.map_err(not_delivered)? {
            Some(event) if event.name == "endpoint" => {
                use_endpoint(endpoint, &event.data).map_err(Unanswered::Broken)?;
                return Ok(events);
            }
            Some(_) => (),
            None => {
                let why = "the event stream ended before it named an endpoint".to_owned();
                return Err(Unanswered::Ended(Ending::Early(why)));
            }
        }
    }
}

/// What failed was the GET; the request itself was never sent.
fn not_delivered(fault: Fault) -> Unanswered {
    let kind = match fault.kind {
        FaultKind::Lost => FaultKind::Unreachable,
        kind => kind,
    };
    Unanswered::Broken(Fault { kind, sent: Sent::No, ..fault })
}

fn check_type(reply: &Reply) -> Result<(), Unanswered> {
    match reply.content_type().as_str() {
        "text/event-stream" => Ok(()),
        other => Err(Unanswered::Ended(Ending::NoAnswer(format!(
            "the server answered with {}, not with an event stream",
            if other.is_empty() { "no content type" } else { other }
        )))),
    }
}

/// Posts go where the server says, but never to another origin: they carry our credentials.
fn use_endpoint(endpoint: &Endpoint, data: &[u8]) -> Result<(), Fault> {
    let named = String::from_utf8_lossy(data);
    let home = endpoint.home();
    let text = match home.join(named.trim()) {
        Ok(address) if address.same_origin(home) => {
            endpoint.open_at(address);
            return Ok(());
        }
        Ok(address) => {
            format!("the server at {} wants messages sent to {address}", home.origin())
        }
        Err(error) => format!("the server at {} names no endpoint: {error}", home.origin()),
    };
    Err(Fault { kind: FaultKind::Protocol, text, sent: Sent::No })
}

/// Reports what comes on the stream until it ends.
pub(super) async fn read(endpoint: &Endpoint, mut events: EventReader) -> Fault {
    loop {
        match events.next().await {
            Ok(Some(event)) => {
                endpoint.deliver_event(event, None).await;
            }
            Ok(None) => {
                return Fault {
                    kind: FaultKind::Lost,
                    text: format!("the event stream of {} has ended", endpoint.home()),
                    sent: Sent::Maybe,
                };
            }
            Err(fault) => return fault,
        }
    }
}
