//! Starting or reaching a server.

use std::time::Instant;

use smol::LocalExecutor;

use super::guard::Guard;
use super::{Answering, Client};
use crate::protocol::Session;
use crate::protocol::jsonrpc::Limits;
use crate::protocol::opening::Certainty;
use crate::protocol::session::Profile;
use crate::transport::{Connection, http, shared, sse, stdio};

/// Where a server is and how it is spoken to.
#[derive(Debug, Clone)]
pub enum Server {
    /// A process to start.
    Stdio(stdio::Target),
    /// An endpoint that speaks Streamable HTTP, or turns out to speak HTTP+SSE.
    Http(http::Target),
    /// An endpoint that speaks HTTP+SSE, of 2024-11-05.
    Sse(http::Target),
    /// A session that another process has open.
    Shared(shared::Target),
}

/// Starts or reaches a server. Never fails: what goes wrong is reported to the first call.
pub fn open(
    executor: &LocalExecutor<'static>,
    server: Server,
    limits: Limits,
    certainty: Certainty,
    profile: Profile,
) -> Client {
    let (connection, port) = Connection::new();
    let session = match &server {
        Server::Shared(_) => Session::join(profile, Instant::now()),
        _ => Session::new(certainty, profile, Instant::now()),
    };
    let transport = match server {
        Server::Stdio(target) => executor.spawn(stdio::run(target, limits, port)),
        Server::Http(target) => executor.spawn(http::run(target, limits, port)),
        Server::Sse(target) => executor.spawn(sse::run(target, limits, port)),
        Server::Shared(target) => executor.spawn(shared::run(target, limits, port)),
    };
    let (guard, answering) = (Guard::default(), Answering::default());
    Client { session, connection, transport, answering, guard }
}
