//! The stdio binding: a child process that reads and writes one message per line.
//!
//! ```text
//!   outbox ──▶ write ──▶ stdin │       │ stdout ──▶ read ──▶ inbox
//!                              │ child │
//!                              │       │ stderr ──▶ drain ──▶ tail, file or our own stderr
//! ```
//!
//! The three run side by side and never wait for one another: a server may fill one pipe while we
//! fill another. The conversation ends with the child's output, or when the client closes the
//! connection. Then the child gets the end of its input, SIGTERM and SIGKILL, each after some
//! patience, and so does everything else in its process group (2025-11-25, Lifecycle, Shutdown).

mod child;
mod hiding;
mod lifeline;
mod stderr;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use futures_lite::{FutureExt, future};

pub(crate) use self::child::{ExitText, Group, Pipes};
pub(crate) use self::stderr::Copy;
use self::stderr::Stderr;
pub use self::stderr::StderrPolicy;
use super::{LONGER, Port};
use crate::net::Meter;
use crate::protocol::framing::jsonl::Lines;
use crate::protocol::jsonrpc::decode::Decoded;
use crate::protocol::jsonrpc::{Limits, decode};
use crate::protocol::message::{Fault, FaultKind, Incoming, Listening, Outgoing, Sent};
use crate::protocol::trace::{Direction, Trace};
use crate::reactor::{Reader, Writer, timeout};

/// What to start.
#[derive(Debug, Clone)]
pub struct Target {
    /// The program: a path, or a name to be found in the child's `PATH`.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its whole environment; nothing is inherited.
    pub env: Vec<(OsString, OsString)>,
    /// Its working directory; ours when `None`.
    pub cwd: Option<PathBuf>,
    /// What to do with what it writes on its standard error.
    pub stderr: StderrPolicy,
    /// How long to wait for it to go.
    pub patience: Patience,
    /// Who is told of every message.
    pub trace: Trace,
    /// Who is told how long its start takes.
    pub meter: Meter,
}

/// How long to wait for a server to go, step by step.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// After its input was closed, before SIGTERM.
    pub after_close: Duration,
    /// After SIGTERM, before SIGKILL.
    pub after_term: Duration,
}

impl Default for Patience {
    /// Half a second, then one and a half.
    fn default() -> Patience {
        Patience {
            after_close: Duration::from_millis(500),
            after_term: Duration::from_millis(1500),
        }
    }
}

/// How many bytes may be queued into one write.
const BATCH: usize = 64 * 1024;

/// How long a server whose output has ended may take to exit by itself, so that its exit status
/// and its last words can be reported.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// How long what a server has written may take to arrive after it ended with an error. Something
/// that it started may hold its output open for ever.
const LAST_MESSAGES: Duration = Duration::from_secs(1);

/// Starts the server, at once, and carries messages until the conversation ends; then sees to it
/// that nothing of the server is left.
pub fn run(target: Target, limits: Limits, port: Port) -> impl Future<Output = ()> {
    let begun = Instant::now();
    let started = Group::spawn(&target);
    target.meter.started(begun.elapsed());
    carry(started, target, limits, port)
}

async fn carry(started: Result<(Group, Pipes), Fault>, target: Target, limits: Limits, port: Port) {
    let (mut group, Pipes { stdin, stdout, stderr }) = match started {
        Ok(started) => started,
        Err(fault) => {
            let _ = port.inbox.send(Incoming::Closed(fault)).await;
            return;
        }
    };
    let stderr = Stderr::new(stderr, &target.stderr, port.stderr.clone());
    let drained = async {
        stderr.drain().await;
        future::pending().await
    };
    let conversation = async {
        let mut reading = std::pin::pin!(read(stdout, limits, &target.trace, &port));
        let writing = write(stdin, &target.trace, &port).or(too_late(&port, target.patience));
        match reading.as_mut().or(writing).or(group.failed(LAST_MESSAGES)).await {
            Some(end) => {
                let status = group.last_words(&stderr, LAST_WORDS).await;
                let fault = farewell(&end, status);
                let _ = port.inbox.send(Incoming::Closed(fault)).await;
                group.end(target.patience, &port.calm).await;
            }
            None => {
                // What the server still writes is read and thrown away: it should be able to
                // finish its sentence.
                let discard = async {
                    reading.await;
                    future::pending().await
                };
                group.end(target.patience, &port.calm).or(discard).await;
            }
        }
    };
    conversation.or(drained).await;
}

/// How the server's output ended.
enum End {
    /// It closed its output.
    Eof {
        /// Whether the last line was cut off.
        truncated: bool,
    },
    /// The server ended with an error; its output is still open.
    Exited,
    /// It could not be read any further.
    Error(String),
    /// One line was longer than allowed.
    TooLong(usize),
}

/// Reads messages until the output ends. What comes after the client has closed the connection is
/// thrown away.
async fn read(mut stdout: Reader, limits: Limits, trace: &Trace, port: &Port) -> Option<End> {
    let mut lines = Lines::new(limits.message);
    let end = loop {
        match stdout.read(lines.spare()).await {
            Ok(0) => break End::Eof { truncated: lines.unfinished() > 0 },
            Ok(length) => lines.filled(length),
            Err(error) => break End::Error(error.to_string()),
        }
        // A server that never pauses must not keep the others from their turn: neither the clock
        // nor whoever ends it.
        future::yield_now().await;
        if port.inbox.is_closed() {
            lines = Lines::new(limits.message);
            continue;
        }
        loop {
            match lines.next_line() {
                Ok(Some(line)) => drop(report(line, &limits, trace, port).await),
                Ok(None) => break,
                Err(too_long) => return Some(End::TooLong(too_long.limit)),
            }
        }
    };
    let Some(line) = lines.finish() else { return Some(end) };
    // A last line without its line feed counts if it is whole.
    let whole = report(line, &limits, trace, port).await;
    Some(match end {
        End::Eof { .. } => End::Eof { truncated: !whole },
        other => other,
    })
}

/// Reports what a line holds; tells whether it held messages only.
async fn report(line: Vec<u8>, limits: &Limits, trace: &Trace, port: &Port) -> bool {
    trace.frame(Direction::In, &line);
    let mut whole = true;
    // A line has one message, and what has several is in memory anyway.
    port.inbox.room().await;
    decode(line, limits, &mut |decoded| {
        whole &= !matches!(decoded, Decoded::Malformed(_));
        // Nobody reads the reports once the client has closed the connection.
        let _ = port.inbox.push(decoded.into());
    });
    whole
}

/// Writes what the client sends until it closes the connection, and then closes the input.
///
/// Never gives up halfway through a message: a half line would spoil the next one.
async fn write(stdin: Writer, trace: &Trace, port: &Port) -> Option<End> {
    let mut stdin = Some(stdin);
    let mut batch = Vec::new();
    while let Ok(outgoing) = port.outbox.recv().await {
        batch.clear();
        let mut next = Some(outgoing);
        while let Some(outgoing) = next {
            if let Outgoing::Listen(_) = outgoing {
                // One channel carries everything: it is open already.
                let _ = port.inbox.push(Incoming::Listening(Listening::Open));
            }
            push_line(&mut batch, outgoing, trace);
            next = if batch.len() < BATCH { port.outbox.try_recv().ok() } else { None };
        }
        let Some(pipe) = &mut stdin else { continue };
        if pipe.write_all(&batch).await.is_err() {
            // The server closed its input. What it wrote before is still to be read, and the end
            // of its output will say the rest.
            stdin = None;
        }
    }
    None
}

/// Waits until the client has closed the connection, and then as long as a server may take to read
/// what is still queued for it. One that does not read its input would hold us for ever.
async fn too_late(port: &Port, patience: Patience) -> Option<End> {
    port.inbox.closed().await;
    // Nothing is sent on the channel; it closes.
    timeout(patience.after_close, port.calm.recv()).await;
    None
}

fn push_line(batch: &mut Vec<u8>, outgoing: Outgoing, trace: &Trace) {
    let delivery = match outgoing {
        Outgoing::Deliver(delivery) => delivery,
        Outgoing::Cancel { notice: Some(delivery), .. } => delivery,
        Outgoing::Cancel { notice: None, .. } | Outgoing::Listen(_) => return,
    };
    trace.frame(Direction::Out, delivery.body.as_bytes());
    match batch.is_empty() {
        true => *batch = delivery.body.into_bytes(),
        false => batch.extend_from_slice(delivery.body.as_bytes()),
    }
    batch.push(b'\n');
}

fn farewell(end: &End, status: Option<ExitText>) -> Fault {
    let exit = status.map(|status| format!(" ({status})")).unwrap_or_default();
    let text = match end {
        End::Eof { truncated: false } | End::Exited => format!("Transport closed{exit}"),
        End::Eof { truncated: true } => format!("Transport closed mid-message{exit}"),
        End::Error(error) => format!("Transport closed: {error}{exit}"),
        End::TooLong(limit) => {
            let text = format!("the server sent a message longer than {limit} bytes");
            return Fault::new(FaultKind::Protocol, text, Sent::Maybe).hint(LONGER);
        }
    };
    Fault::new(FaultKind::Lost, text, Sent::Maybe)
}
