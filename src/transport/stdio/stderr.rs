//! What a server writes on its standard error: always read, so that it never blocks the server.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use async_channel::{Receiver, Sender};
use async_process::ChildStderr;
use futures_lite::AsyncReadExt;

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

/// How much is kept for a report, in bytes.
const TAIL: usize = 64 * 1024;

/// How many of the last lines a report shows.
const TAIL_LINES: usize = 20;

/// Reads a server's standard error and keeps its end.
#[derive(Debug)]
pub(super) struct Stderr {
    pipe: RefCell<Option<ChildStderr>>,
    tail: RefCell<VecDeque<u8>>,
    keep: bool,
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
    pub(super) fn new(pipe: ChildStderr, policy: &StderrPolicy) -> Stderr {
        let copy = match policy {
            StderrPolicy::Quiet | StderrPolicy::Tail => None,
            StderrPolicy::Inherit => Some(Sink::Own),
            // What cannot be written is lost; a log file is no reason to fail a call.
            StderrPolicy::File(path) => {
                let open = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
                open.ok().map(Sink::File)
            }
        };
        let (open, ended) = async_channel::bounded(1);
        Stderr {
            pipe: RefCell::new(Some(pipe)),
            tail: RefCell::default(),
            keep: *policy == StderrPolicy::Tail,
            copy: RefCell::new(copy),
            open: RefCell::new(Some(open)),
            ended,
        }
    }

    /// Reads until the end.
    pub(super) async fn drain(&self) {
        let Some(mut pipe) = self.pipe.take() else { return };
        let mut copy = self.copy.take();
        let mut chunk = [0; 8 * 1024];
        while let Ok(length @ 1..) = pipe.read(&mut chunk).await {
            let chunk = &chunk[..length];
            let written = match &mut copy {
                None => Ok(()),
                Some(Sink::Own) => std::io::stderr().write_all(chunk),
                Some(Sink::File(file)) => file.write_all(chunk),
            };
            if written.is_err() {
                copy = None;
            }
            if self.keep {
                let mut tail = self.tail.borrow_mut();
                tail.extend(chunk);
                let surplus = tail.len().saturating_sub(TAIL);
                tail.drain(..surplus);
            }
        }
        self.open.take();
    }

    /// Waits for the end.
    pub(super) async fn ended(&self) {
        let _ = self.ended.recv().await;
    }

    /// The last lines.
    pub(super) fn tail(&self) -> String {
        let tail: Vec<u8> = self.tail.borrow().iter().copied().collect();
        let text = String::from_utf8_lossy(&tail);
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
    }
}
