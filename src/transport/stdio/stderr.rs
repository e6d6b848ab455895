//! What a server writes on its standard error: always read, so that it never blocks the server.

use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;


use crate::reactor::Reader;
use crate::reactor::queue::{self, Receiver, Sender};
use crate::transport::tail::Tail;

/// What to do with a server's standard error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StderrPolicy {
    /// Nothing, not even on failure.
    Quiet,
    /// Show the last lines when a call fails.
    Tail,
    /// Copy it to our own standard error as it comes.
    Inherit,
    /// Append it to a file.
    File(PathBuf),
}

/// Reads a server's standard error and keeps its end.
#[derive(Debug)]
pub(super) struct Stderr {
    pipe: RefCell<Option<Reader>>,
    /// Where the end is kept; `None` when nobody wants it.
    tail: Option<Tail>,
    copy: RefCell<Option<Sink>>,
    open: RefCell<Option<Sender<()>>>,
    ended: Receiver<()>,
}

#[derive(Debug)]
enum Sink {
    Own,
    File(File),
}

impl Stderr {
    pub(super) fn new(pipe: Reader, policy: &StderrPolicy, tail: Tail) -> Stderr {
        let copy = match policy {
            StderrPolicy::Quiet | StderrPolicy::Tail => None,
            StderrPolicy::Inherit => Some(Sink::Own),
            // What cannot be written is lost; a log file is no reason to fail a call.
            StderrPolicy::File(path) => {
                let open = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
                open.ok().map(Sink::File)
            }
        };
        let (open, ended) = queue::bounded(1);
        Stderr {
            pipe: RefCell::new(Some(pipe)),
            tail: (*policy == StderrPolicy::Tail).then_some(tail),
            copy: RefCell::new(copy),
            open: RefCell::new(Some(open)),
            ended,
        }
    }

    /// Reads until the end.
    pub(super) async fn drain(&self) {
        let Some(mut pipe) = self.pipe.take() else { return };
        let mut copy = self.copy.take();
        while let Ok(1..) = pipe.read_with(|chunk| self.take(chunk, &mut copy)).await {}
        self.open.take();
    }

    fn take(&self, chunk: &[u8], copy: &mut Option<Sink>) {
        let written = match copy {
            None => Ok(()),
            Some(Sink::Own) => std::io::stderr().write_all(chunk),
            Some(Sink::File(file)) => file.write_all(chunk),
        };
        if written.is_err() {
            *copy = None;
        }
        if let Some(tail) = &self.tail {
            tail.push(chunk);
        }
    }

    /// Waits for the end.
    pub(super) async fn ended(&self) {
        let _ = self.ended.recv().await;
    }
}
