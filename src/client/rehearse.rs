//! What would go out for a call, found out by the session that would send it, and without sending.

use std::time::Instant;

use crate::protocol::json::Json;
use crate::protocol::jsonrpc::{Answer, Id, Message, Response};
use crate::protocol::message::{Delivery, Incoming, Listening, Outgoing};
use crate::protocol::method;
use crate::protocol::opening::Certainty;
use crate::protocol::revision::{Era, Revision};
use crate::protocol::session::{Call, Output, Profile};
use crate::protocol::{Session, json};

/// Everything that a session would transmit for one call, in order.
///
/// The opening is answered in the way of a server of the known revision, or else of the newest one,
/// so that the call comes to be sent. The call itself is not answered.
pub fn rehearse(certainty: Certainty, profile: Profile, call: Call) -> Vec<Outgoing> {
    let now = Instant::now();
    let mut session = Session::new(certainty, profile, now);
    session.call(call);
    let mut transmitted = Vec::new();
    loop {
        match session.poll(now) {
            Output::Transmit(outgoing) => {
                if let Some(incoming) = stand_in(&outgoing, certainty) {
                    session.handle_incoming(incoming, now);
                }
                transmitted.push(outgoing);
            }
            Output::Event(_) => (),
            Output::Wait(_) => return transmitted,
        }
    }
}

/// What a server would say to the opening of a session.
fn stand_in(outgoing: &Outgoing, certainty: Certainty) -> Option<Incoming> {
    let Delivery { id, head, .. } = match outgoing {
        Outgoing::Deliver(delivery) => delivery,
        Outgoing::Listen(_) => return Some(Incoming::Listening(Listening::Open)),
        Outgoing::Cancel { .. } => return None,
    };
    let result = match &*head.method {
        method::DISCOVER => {
            let revision = json::string(Revision::newest(Era::Modern).date);
            format!("{{\"supportedVersions\":[{revision}],\"capabilities\":{{}}}}")
        }
        method::INITIALIZE => {
            let revision = match certainty {
                Certainty::Pinned(revision) | Certainty::Remembered(revision) => revision,
                Certainty::Unknown => head.revision,
            };
            let revision = json::string(revision.date);
            format!("{{\"protocolVersion\":{revision},\"capabilities\":{{}}}}")
        }
        _ => return None,
    };
    let answer = Answer { result: Json::from(result), input_required: false, has_type: false };
    let id = id.as_ref().map(|id| Id::from_json(&id.to_string()));
    Some(Incoming::Message(Message::Response(Response { id, outcome: Ok(answer) })))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::protocol::session::Abilities;

    #[test]
    fn a_call_is_shown_with_what_goes_before_it() {
        let check = |certainty, listen, expected: &[&str]| {
            let profile = Profile {
                client: ("c", "1"),
                abilities: Abilities::default(),
                probe_timeout: Duration::from_secs(1),
                start_timeout: None,
                greets: false,
                text_ids: false,
                listen,
                tasks: false,
                relays: false,
                authorizes: false,
                extensions: Vec::new(),
                log_level: None,
            };
            let call = Call { method: method::CALL_TOOL.into(), ..Call::default() };
            let transmitted = rehearse(certainty, profile, call);
            let shown = transmitted.iter().map(|outgoing| match outgoing {
                Outgoing::Deliver(delivery) => format!(
                    "{} {} {}",
                    delivery.head.revision.date,
                    delivery.head.method,
                    delivery.id.unwrap_or_default()
                ),
                other => format!("{other:?}").split('(').next().unwrap_or_default().to_owned(),
            });
            assert_eq!(shown.collect::<Vec<_>>(), expected, "{certainty:?}");
        };
        let named = |date| Revision::named(date).unwrap();
        check(
            Certainty::Unknown,
            false,
            &["2026-07-28 server/discover 1", "2026-07-28 tools/call 2"],
        );
        check(Certainty::Pinned(named("2026-07-28")), true, &["2026-07-28 tools/call 1"]);
        check(
            Certainty::Pinned(named("2025-06-18")),
            false,
            &[
                "2025-06-18 initialize 1",
                "2025-06-18 notifications/initialized 0",
                "2025-06-18 tools/call 2",
            ],
        );
        check(
            Certainty::Remembered(named("2025-06-18")),
            true,
            &[
                "2025-11-25 initialize 1",
                "2025-06-18 notifications/initialized 0",
                "Listen",
                "2025-06-18 tools/call 2",
            ],
        );
    }
}
