//! A session that another process has open, shared over its Unix socket (see
//! [`relay`]).
//!
//! The conversation ends with the socket, or when the client closes the connection. Nothing of the
//! server is ours: it stays.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use async_io::Async;
use futures_lite::{AsyncReadExt, AsyncWriteExt, FutureExt};

use super::{LONGER, Port};
use crate::protocol::framing::jsonl::Lines;
use crate::protocol::jsonrpc::decode::Decoded;
use crate::protocol::jsonrpc::id::Echo;
use crate::protocol::jsonrpc::{Limits, Message, Notification, Response, decode};
use crate::protocol::message::{Delivery, Fault, FaultKind, Incoming, Listening, Outgoing, Sent};
use crate::protocol::relay::{self, Opening};
use crate::protocol::trace::{Direction, Trace};

/// What to share.
#[derive(Debug, Clone)]
pub struct Target {
    /// The socket of the process that has the session.
    pub socket: PathBuf,
    /// The server.
    pub opening: Opening,
    /// Who is told of every message.
    pub trace: Trace,
}

/// Connects to the socket and carries messages until the conversation ends.
pub async fn run(target: Target, limits: Limits, port: Port) {
    let stream = match Async::<UnixStream>::connect(&target.socket).await {
        Ok(stream) => stream,
        Err(error) => {
            let text = match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                    "the session is over (MCPMINI_SESSION)".to_owned()
                }
                _ => format!("cannot reach the session (MCPMINI_SESSION): {error}"),
            };
            let fault = Fault::new(FaultKind::Unreachable, text, Sent::No)
                .lasting()
                .hint("MCPMINI_SESSION= mcpmini … starts a server of its own");
            let _ = port.inbox.send(Incoming::Closed(fault)).await;
            return;
        }
    };
    let ended =
        read(&stream, limits, &target.trace, &port).or(write(&stream, &target, &port)).await;
    if let Some(fault) = ended {
        let _ = port.inbox.send(Incoming::Closed(fault)).await;
    }
}

/// Reads messages until the socket ends.
async fn read(
    mut stream: &Async<UnixStream>,
    limits: Limits,
    trace: &Trace,
    port: &Port,
) -> Option<Fault> {
    let mut lines = Lines::new(limits.message);
    loop {
        match stream.read(lines.spare()).await {
            Ok(0) => return Some(lost("the session has ended".to_owned())),
            Ok(length) => lines.filled(length),
            Err(error) => return Some(lost(format!("the session was lost: {error}"))),
        }
        loop {
            match lines.next_line() {
                Ok(Some(line)) => {
                    trace.frame(Direction::In, &line);
                    report(line, &limits, port).await;
                }
                Ok(None) => break,
                Err(too_long) => {
                    let limit = too_long.limit;
                    let text = format!("the session sent a message longer than {limit} bytes");
                    let fault = Fault::new(FaultKind::Protocol, text, Sent::Maybe);
                    return Some(fault.hint(LONGER));
                }
            }
        }
    }
}

async fn report(line: Vec<u8>, limits: &Limits, port: &Port) {
    let mut found = Vec::with_capacity(1);
    decode(line, limits, &mut |decoded| found.push(incoming(decoded)));
    for incoming in found {
        // Nobody reads the reports once the client has closed the connection.
        let _ = port.inbox.send(incoming).await;
    }
}

/// What a message means: most come from the server, some from the process between.
fn incoming(decoded: Decoded) -> Incoming {
    match &decoded {
        Decoded::Message(Message::Response(Response { id: Some(id), outcome: Ok(answer) }))
            if id.echo(false) == Some(Echo::Exact(relay::OPENING_ID)) =>
        {
            let opened = relay::read_opened(answer.result.as_str());
            opened.map_or_else(other_version, Incoming::Joined)
        }
        Decoded::Message(Message::Notification(Notification { method, params }))
            if &**method == relay::FAILED =>
        {
            let failed = params.as_ref().and_then(|params| relay::read_failed(params.as_str()));
            let reported = failed.map(|(id, report, fate)| Incoming::Reported { id, report, fate });
            reported.unwrap_or_else(other_version)
        }
        _ => decoded.into(),
    }
}

fn other_version() -> Incoming {
    let text = "the session is held by another version of this program".to_owned();
    Incoming::Closed(
        Fault::new(FaultKind::Protocol, text, Sent::No).hint("end it and begin it anew"),
    )
}

/// Writes what the client sends until it closes the connection.
async fn write(mut stream: &Async<UnixStream>, target: &Target, port: &Port) -> Option<Fault> {
    let mut text = target.opening.to_line() + "\n";
    loop {
        if stream.write_all(text.as_bytes()).await.is_err() {
            // What was sent before is still to be read, and its end will say the rest.
            return futures_lite::future::pending().await;
        }
        text = match port.outbox.recv().await {
            Ok(outgoing) => lines(outgoing, &target.trace, port),
            Err(_) => return None,
        };
    }
}

/// What goes over the socket, with line ends.
fn lines(outgoing: Outgoing, trace: &Trace, port: &Port) -> String {
    let delivery = match outgoing {
        Outgoing::Deliver(delivery) => delivery,
        Outgoing::Cancel { notice: Some(delivery), .. } => delivery,
        Outgoing::Cancel { notice: None, .. } => return String::new(),
        Outgoing::Listen(_) => {
            // One channel carries everything: it is open already.
            let _ = port.inbox.push(Incoming::Listening(Listening::Open));
            return String::new();
        }
    };
    let Delivery { id, head, body } = delivery;
    trace.frame(Direction::Out, body.as_bytes());
    match id {
        Some(id) if !head.mirrored.is_empty() => {
            format!("{}\n{body}\n", relay::headers(id, &head.mirrored))
        }
        _ => body + "\n",
    }
}

fn lost(text: String) -> Fault {
    Fault::new(FaultKind::Lost, text, Sent::Maybe)
}
