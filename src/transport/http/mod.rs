//! The Streamable HTTP binding: one POST per message, one JSON body or event stream in reply.
//!
//! It serves all revisions since 2025-03-26, which differ in headers, sessions, streams that can be
//! resumed and the way to cancel; what a message needs is in the [`Revision`] of its head. When a
//! server refuses `initialize` in the way that servers of 2024-11-05 do, it turns to their binding
//! by itself, so that the session sees nothing but the answer.
//!
//! | file | what it does |
//! |---|---|
//! | `carrier` | what goes out when |
//! | `exchange`, `outcome` | one message and its reply, and what became of them |
//! | `follow`, `events`, `messages` | event streams, and the messages in them |
//! | `listen` | the stream that no request asked for |
//! | `refusal` | replies that are no success |
//! | `preview` | what would go out |
//! | `endpoint`, `head` | session, address, header fields |
//!
//! [`Revision`]: crate::protocol::Revision

mod carrier;
pub(super) mod endpoint;
pub(super) mod events;
mod exchange;
mod follow;
mod head;
mod listen;
mod messages;
pub(super) mod outcome;
mod page;
mod preview;
pub(super) mod refusal;

use smol::LocalExecutor;

use self::carrier::Carrier;
use self::endpoint::{Binding, Endpoint};
pub use self::preview::{Impossible, Preview, preview};
use super::Port;
use crate::net::{Address, Lanes, Settings};
use crate::protocol::Incoming;
use crate::protocol::jsonrpc::Limits;
use crate::protocol::message::{Fault, FaultKind, Sent};
use crate::reactor::with_tasks;

/// A server that is reached over HTTP.
#[derive(Debug, Clone)]
pub struct Target {
    /// Its address.
    pub address: Address,
    /// How to reach it.
    pub settings: Settings,
    /// Whether to try the binding of 2024-11-05 when `initialize` is refused.
    pub sse_fallback: bool,
    /// Whether to end the session when the connection is closed. Without that another process can
    /// go on with it.
    pub end_session: bool,
}

/// Carries messages until the port is closed or the connection is gone.
pub async fn run(target: Target, limits: Limits, port: Port) {
    carry(target, Binding::Streamable, limits, port).await;
}

/// Carries messages over either binding.
pub(super) async fn carry(target: Target, binding: Binding, limits: Limits, port: Port) {
    let Target { address, settings, sse_fallback, end_session } = target;
    let trace = settings.trace.clone();
    let lanes = match Lanes::new(&address, settings) {
        Ok(lanes) => lanes,
        Err(error) => {
            let fault = Fault::new(FaultKind::Unreachable, error.to_string(), Sent::No).lasting();
            let _ = port.inbox.send(Incoming::Closed(fault)).await;
            return;
        }
    };
    port.binding.set(binding);
    let binding = port.binding;
    let endpoint = Endpoint::new(lanes, address, binding, sse_fallback, limits, port.inbox, trace);
    let exchanges = LocalExecutor::new();
    let carrier = Carrier::new(&endpoint, &exchanges, end_session);
    with_tasks(&exchanges, carrier.carry(&port.outbox, &port.calm)).await;
}
