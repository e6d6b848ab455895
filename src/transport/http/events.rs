//! Reading event streams.

use std::mem;
use std::ops::Range;
use std::time::Duration;

use futures_lite::future;

use crate::net::Body;
use crate::protocol::framing::sse::{Event, Events};
use crate::protocol::json;
use crate::protocol::message::{Fault, FaultKind, Sent};
use crate::transport::LONGER;

/// How much is read at once, in bytes: as much as the HTTP library hands out at once.
pub(super) const BLOCK: usize = 16 << 10;
/// The same at first. Most bodies are shorter, and memory that is not used need not be had.
pub(super) const FIRST: usize = 2 << 10;

/// Reads events from a body, and goes on with another when that has ended.
#[derive(Debug)]
pub(in crate::transport) struct EventReader {
    body: Option<Body>,
    events: Events,
    block: Vec<u8>,
    unread: Range<usize>,
    /// Whether the last read has filled the block, so that there may be more.
    is_filled: bool,
    cut: bool,
}

impl EventReader {
    /// A reader that refuses events longer than `limit` bytes.
    pub(in crate::transport) fn new(limit: usize) -> EventReader {
        EventReader {
            body: None,
            events: Events::new(limit),
            block: vec![0; FIRST],
            unread: 0..0,
            is_filled: false,
            cut: false,
        }
    }

    /// Goes on with this body.
    pub(in crate::transport) fn attach(&mut self, body: Body) {
        self.body = Some(body);
        self.unread = 0..0;
    }

    /// The next event; `None` when the stream has ended. Errors when it broke, or when an event is
    /// too long.
    pub(in crate::transport) async fn next(&mut self) -> Result<Option<Event>, Fault> {
        loop {
            let mut chunk = &self.block[self.unread.clone()];
            let event =
                self.events.next_event(&mut chunk).map_err(|error| too_long(error.limit))?;
            self.unread.start = self.unread.end - chunk.len();
            if event.is_some() {
                return Ok(event);
            }
            let Some(body) = &mut self.body else { return Ok(None) };
            if mem::take(&mut self.is_filled) {
                self.block.resize(BLOCK, 0);
            }
            match body.read(&mut self.block).await {
                Ok(0) => {
                    self.body = None;
                    let rest = self.events.finish();
                    self.cut = rest.as_ref().is_some_and(|rest| !is_whole(rest));
                    return Ok(rest.filter(is_whole));
                }
                Ok(length) => {
                    self.unread = 0..length;
                    self.is_filled = length == self.block.len();
                    // A server that never pauses must not keep the others from their turn.
                    future::yield_now().await;
                }
                Err(fault) => {
                    self.body = None;
                    // What has not ended will be sent again if the stream can be resumed.
                    self.events.finish();
                    return Err(fault);
                }
            }
        }
    }

    /// Whether the stream ended in the middle of an event.
    pub(super) fn was_cut(&self) -> bool {
        self.cut
    }

    /// The event after which the stream can be resumed.
    pub(super) fn last_event_id(&self) -> Option<&str> {
        self.events.last_event_id()
    }

    /// How long the server asks us to wait before we reconnect.
    pub(super) fn reconnection_time(&self) -> Option<Duration> {
        self.events.reconnection_time()
    }
}

/// Whether an event that lacks its blank line has all its data: some servers never send that line.
fn is_whole(event: &Event) -> bool {
    str::from_utf8(&event.data).is_ok_and(|text| json::validate(text).is_ok())
}

/// The fault of a message over the limit, in bytes.
pub(super) fn too_long(limit: usize) -> Fault {
    let text = format!("the server sent a message longer than {limit} bytes");
    Fault::new(FaultKind::Protocol, text, Sent::Yes).hint(LONGER)
}
