//! What a server writes on its standard error: always read, so that it never blocks the server.

use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::time::Duration;

use futures_lite::future;

use super::hiding::Hiding;
use crate::env::Secret;
use crate::env::streams::{self, Unwritten, write_now};
use crate::protocol::visible::for_terminal;
use crate::reactor::queue::{self, Receiver, Sender};
use crate::reactor::{Reader, Timer};
use crate::transport::tail::Tail;

/// How long to wait for whoever reads our own standard error.
const PAUSE: Duration = Duration::from_millis(10);

/// What to do with a server's standard error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StderrPolicy {
    /// Nothing, not even on failure.
    Quiet,
    /// Show the last lines when a call fails.
    Tail,
    /// Copy it to our own standard error as it comes, without these.
    Inherit(Vec<Secret>),
    /// Append it to a file, without these.
    File(PathBuf, Vec<Secret>),
}

/// Reads a server's standard error and keeps its end.
#[derive(Debug)]
pub(super) struct Stderr {
    pipe: RefCell<Option<Reader>>,
    /// Where the end is kept; `None` when nobody wants it.
    tail: Option<Tail>,
    copy: RefCell<Copy>,
    open: RefCell<Option<Sender<()>>>,
    ended: Receiver<()>,
}

/// A copy of a server's standard error, for whoever wants to read it.
#[derive(Debug, Default)]
pub(crate) struct Copy(Option<Sink>);

#[derive(Debug)]
enum Sink {
    Own(Hiding),
    File(File, Hiding),
}

impl Copy {
    /// The copy that a policy asks for, if it does.
    pub(crate) fn new(policy: &StderrPolicy) -> Copy {
        Copy(match policy {
            StderrPolicy::Quiet | StderrPolicy::Tail => None,
            StderrPolicy::Inherit(secrets) => Some(Sink::Own(Hiding::new(secrets))),
            // What cannot be written is lost; a log file is no reason to fail a call.
            StderrPolicy::File(path, secrets) => {
                let mut options = OpenOptions::new();
                options.append(true).create(true).mode(0o600);
                let open = streams::open_to_write(&mut options, path, &|| false);
                open.ok().map(|file| Sink::File(file, Hiding::new(secrets)))
            }
        })
    }

    /// Adds what was read. When it cannot be written, nothing is any more.
    pub(crate) async fn push(&mut self, chunk: &[u8]) {
        let is_kept = match &mut self.0 {
            None => true,
            Some(Sink::Own(hiding)) => copy_to_own(&hiding.pass(chunk)).await.is_ok(),
            Some(Sink::File(file, hiding)) => file.write_all(&hiding.pass(chunk)).is_ok(),
        };
        if !is_kept {
            self.0 = None;
        }
    }

    /// Adds what was held back, at the end.
    pub(crate) async fn finish(&mut self) {
        // Who does not read any more does not miss it.
        match &mut self.0 {
            None => {}
            Some(Sink::Own(hiding)) => drop(copy_to_own(&hiding.rest()).await),
            Some(Sink::File(file, hiding)) => drop(file.write_all(&hiding.rest())),
        }
    }
}

impl Stderr {
    pub(super) fn new(pipe: Reader, policy: &StderrPolicy, tail: Tail) -> Stderr {
        let (open, ended) = queue::bounded(1);
        Stderr {
            pipe: RefCell::new(Some(pipe)),
            tail: (*policy == StderrPolicy::Tail).then_some(tail),
            copy: RefCell::new(Copy::new(policy)),
            open: RefCell::new(Some(open)),
            ended,
        }
    }

    /// Reads until the end.
    pub(super) async fn drain(&self) {
        let Some(mut pipe) = self.pipe.take() else { return };
        let mut copy = self.copy.take();
        while let Ok(chunk) = pipe.read_some().await {
            if chunk.is_empty() {
                copy.finish().await;
                break;
            }
            copy.push(&chunk).await;
            if let Some(tail) = &self.tail {
                tail.push(&chunk);
            }
            // A server that never pauses must not keep the others from their turn.
            future::yield_now().await;
        }
        self.open.take();
    }

    /// Waits for the end.
    pub(super) async fn ended(&self) {
        let _ = self.ended.recv().await;
    }
}

/// Copies to our own standard error. While nobody reads there, the rest of the program goes on. A
/// server must not steer the user's terminal.
async fn copy_to_own(chunk: &[u8]) -> Result<(), Unwritten> {
    let stderr = rustix::stdio::stderr();
    let text = rustix::termios::isatty(stderr).then(|| String::from_utf8_lossy(chunk));
    let text = text.as_deref().map(for_terminal);
    let mut rest = text.as_ref().map_or(chunk, |text| text.as_bytes());
    while !rest.is_empty() {
        match write_now(stderr, rest)? {
            0 => Timer::after(PAUSE).await,
            written => rest = &rest[written..],
        }
    }
    Ok(())
}
