//! The MCP endpoint: where messages go, and what has to be remembered between two of them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use http::header::HeaderValue;

use super::head;
use crate::net::{Address, InvalidHeader, Lanes, Reply, Request};
use crate::protocol::Incoming;
use crate::protocol::jsonrpc::Limits;
use crate::protocol::message::{Fault, FaultKind, Head, Sent};
use crate::protocol::method::INITIALIZE;
use crate::protocol::revision::{Era, Revision};
use crate::protocol::trace::Trace;
use crate::reactor::queue::Sender;

/// How answers come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::transport) enum Binding {
    /// In reply to the POST: Streamable HTTP.
    Streamable,
    /// On one stream for all, which is not open yet: HTTP+SSE of 2024-11-05.
    SseClosed,
    /// On one stream for all, which is open.
    SseOpen,
}

/// One server, as both HTTP bindings see it.
#[derive(Debug)]
pub(in crate::transport) struct Endpoint {
    lanes: Lanes,
    /// Where the user said the server is.
    home: Address,
    /// Where messages go: there, or where the server has moved to.
    address: RefCell<Address>,
    pub(in crate::transport) binding: Rc<Cell<Binding>>,
    pub(in crate::transport) sse_fallback: bool,
    /// The `Mcp-Session-Id` of a legacy session.
    session: RefCell<Option<HeaderValue>>,
    /// The revision that is spoken in the session.
    revision: Cell<Option<&'static Revision>>,
    pub(in crate::transport) limits: Limits,
    inbox: Sender<Incoming>,
    /// Who is told of the messages that come in; of those that go out the lanes tell.
    pub(in crate::transport) trace: Trace,
    /// Held while the stream of 2024-11-05 is being opened.
    pub(in crate::transport) opening: smol::lock::Mutex<()>,
}

impl Endpoint {
    pub(super) fn new(
        lanes: Lanes,
        home: Address,
        binding: Rc<Cell<Binding>>,
        sse_fallback: bool,
        limits: Limits,
        inbox: Sender<Incoming>,
        trace: Trace,
    ) -> Endpoint {
        Endpoint {
            lanes,
            address: RefCell::new(home.clone()),
            home,
            binding,
            sse_fallback,
            session: RefCell::default(),
            revision: Cell::new(None),
            limits,
            inbox,
            trace,
            opening: smol::lock::Mutex::new(()),
        }
    }

    /// Tells the client. Waits while it has much to read; that is what slows a fast server down.
    pub(in crate::transport) async fn report(&self, incoming: Incoming) {
        // A client that has gone does not want to know.
        let _ = self.inbox.send(incoming).await;
    }

    /// Waits until the client has gone.
    pub(super) async fn abandoned(&self) {
        self.inbox.closed().await;
    }

    pub(in crate::transport) fn home(&self) -> &Address {
        &self.home
    }

    /// Uses the endpoint that a server of 2024-11-05 has named.
    pub(in crate::transport) fn open_at(&self, address: Address) {
        self.address.replace(address);
        self.binding.set(Binding::SseOpen);
    }

    /// Whether a message goes out as part of a session.
    pub(super) fn in_session(&self, head: &Head) -> bool {
        let begins_one = head.method == INITIALIZE;
        !begins_one && head.revision.era == Era::Legacy && self.session.borrow().is_some()
    }

    /// Delivers a message and waits for the head of the answer.
    pub(super) async fn post(&self, head: &Head, body: &Arc<Vec<u8>>) -> Result<Reply, Fault> {
        let initializes = head.method == INITIALIZE;
        if initializes {
            self.session.take();
        }
        self.revision.set(Some(head.revision));
        let headers = head::post(head, self.session.borrow().as_ref()).map_err(not_sent)?;
        let address = self.address.borrow().clone();
        let reply = self.lanes.send(Request::post(address, headers, body.clone())).await?;
        if reply.moved {
            self.address.replace(reply.address.clone());
        }
        if initializes && reply.status.is_success() {
            self.begin_session(&reply)?;
        }
        Ok(reply)
    }

    /// Remembers the session that the answer to `initialize` begins (2025-11-25, Session
    /// Management). No other answer can begin or replace one.
    fn begin_session(&self, reply: &Reply) -> Result<(), Fault> {
        let Some(id) = reply.headers.get(head::SESSION_ID) else { return Ok(()) };
        let visible = |byte: &u8| matches!(byte, b'!'..=b'~');
        if id.is_empty() || !id.as_bytes().iter().all(visible) {
            return Err(Fault::new(
                FaultKind::Protocol,
                "the server handed out a session id that is not visible ASCII",
                Sent::Yes,
            ));
        }
        self.session.replace(Some(id.clone()));
        Ok(())
    }

    /// Opens an event stream of a legacy revision, or goes on with one.
    pub(super) async fn get(
        &self,
        revision: &'static Revision,
        last_event_id: Option<&str>,
    ) -> Result<Reply, Fault> {
        let session = self.session.borrow().clone();
        let headers = head::get(revision, session.as_ref(), last_event_id).map_err(not_sent)?;
        let address = self.address.borrow().clone();
        self.lanes.send(Request::get(address, headers)).await
    }

    /// Opens the stream of 2024-11-05.
    pub(in crate::transport) async fn get_home(&self) -> Result<Reply, Fault> {
        self.lanes.send(Request::get(self.home.clone(), head::event_stream())).await
    }

    /// Ends the session, if there is one. The server may refuse; there is nothing to be done then.
    pub(super) async fn end_session(&self) {
        let Some(session) = self.session.take() else { return };
        let Some(revision) = self.revision.get() else { return };
        let address = self.address.borrow().clone();
        let request = Request::delete(address, head::delete(revision, &session));
        let _ = self.lanes.send(request).await;
    }
}

/// The fault of a message that no header can announce.
fn not_sent(error: InvalidHeader) -> Fault {
    Fault::new(FaultKind::Protocol, error.to_string(), Sent::No)
}
