//! Carrying messages.
//!
//! A binding is one async function that runs until its [`Port`] is closed. The other end, the
//! [`Connection`], is what the client sees: two queues, and nothing that could be called in the
//! wrong order.

pub mod http;
pub mod shared;
pub mod sse;
pub mod stdio;
pub mod tail;

use std::cell::Cell;
use std::convert::Infallible;
use std::rc::Rc;

use self::http::endpoint::Binding;
use self::tail::Tail;
use crate::protocol::{Incoming, Outgoing};
use crate::reactor::queue::{self, Receiver, Sender};

/// The client's end of a transport.
#[derive(Debug)]
pub struct Connection {
    outbox: Sender<Outgoing>,
    inbox: Receiver<Incoming>,
    calm: Sender<Infallible>,
    stderr: Tail,
    binding: Rc<Cell<Binding>>,
}

/// The transport's end.
#[derive(Debug)]
pub struct Port {
    /// What the transport is to carry out. Ends when the client closes the connection.
    pub outbox: Receiver<Outgoing>,
    /// What the transport reports. Bounded: a client that does not listen slows the server down.
    pub inbox: Sender<Incoming>,
    /// Ends when there is no more time to be polite.
    pub calm: Receiver<Infallible>,
    /// Where the transport keeps what the server writes on its standard error, if it has one.
    pub stderr: Tail,
    /// Where a transport over HTTP keeps how answers come back.
    binding: Rc<Cell<Binding>>,
}

/// How many reports may wait for the client before the transport stops reading. Few: what the client
/// has to say to them goes out as soon as they are dealt with, so that the server works on it while the
/// next ones are read. With four times as many, a server with 64 calls open waits half of the time.
const INBOX: usize = 16;

/// What to do about a message that is too long.
const LONGER: &str = "--max-message lets them be longer";

/// How much may wait to be sent before the client stops listening. A client that has so many calls
/// open does not exist; a server that asks and asks and does not take the answers does.
pub(crate) const OUTBOX: usize = 1024;

impl Connection {
    /// Two ends that belong together.
    pub fn new() -> (Connection, Port) {
        // Unbounded on the way out: a writer that could block the reader would deadlock two full
        // pipes. The client stops listening when it is crowded.
        let (outbox, from_client) = queue::unbounded();
        let (to_client, inbox) = queue::bounded(INBOX);
        let (calm, until_calm_ends) = queue::bounded(1);
        let stderr = Tail::default();
        let binding = Rc::new(Cell::new(Binding::Streamable));
        let port = Port {
            outbox: from_client,
            inbox: to_client,
            calm: until_calm_ends,
            stderr: stderr.clone(),
            binding: binding.clone(),
        };
        (Connection { outbox, inbox, calm, stderr, binding }, port)
    }

    /// Queues something for the transport. Nothing happens when the transport has ended.
    pub fn send(&self, outgoing: Outgoing) {
        let _ = self.outbox.push(outgoing);
    }

    /// Whether so much waits to be sent that no more reports should be taken.
    pub fn is_crowded(&self) -> bool {
        OUTBOX <= self.outbox.len()
    }

    /// The next report; `None` when the transport has ended and all its reports were read.
    pub async fn receive(&self) -> Option<Incoming> {
        self.inbox.recv().await.ok()
    }

    /// The next report, if there is one already.
    pub fn receive_now(&self) -> Option<Incoming> {
        self.inbox.try_recv().ok()
    }

    /// Tells the transport to finish: deliver what is queued, then shut down.
    pub fn close(&self) {
        self.outbox.close();
        // A transport that waits for room in the inbox must not wait for ever.
        self.inbox.close();
    }

    /// Whether the server is spoken to by HTTP+SSE, of 2024-11-05, as far as is known by now.
    pub fn is_sse(&self) -> bool {
        self.binding.get() != Binding::Streamable
    }

    /// The last lines that the server wrote on its standard error.
    pub fn stderr_tail(&self) -> String {
        self.stderr.text()
    }

    /// Tells a transport that shuts down to do it at once.
    pub fn hurry(&self) {
        self.calm.close();
    }
}
