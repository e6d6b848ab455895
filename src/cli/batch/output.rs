//! The outcomes of a batch: in order if that is wanted, and written beside the calls.

use std::collections::BTreeMap;
use std::path::PathBuf;

use futures_lite::future;
use smol::Task;

use crate::cli::errors::Error;
use crate::cli::output::{self, Growing};
use crate::cli::run::Run;
use crate::cli::terminal::Stream;
use crate::env::streams::ENDLESS;

/// While that many bytes wait to be written, no further line is begun.
const FULL: usize = 256 << 10;
/// How many lines may be ahead of the oldest that has no outcome yet, when they must be in order.
const AHEAD: u64 = 1_000;

/// Outcomes on their way out.
///
/// They are written in a thread of their own: whoever reads them may be slow, and signals, answers
/// and time do not wait for that.
#[derive(Debug)]
pub(super) struct Output {
    order: Option<Order>,
    queue: String,
    writing: Option<Task<Result<(), Error>>>,
    file: Option<Growing>,
}

/// Outcomes that came too early, by the place of their line.
#[derive(Debug)]
struct Order {
    next: u64,
    early: BTreeMap<u64, String>,
}

impl Output {
    /// Nothing is written yet.
    pub(super) fn new(run: &Run<'_>, ordered: bool) -> Result<Output, Error> {
        let path: Option<PathBuf> = run.globals.out.as_ref().map(|path| run.env.absolute(path));
        Ok(Output {
            order: ordered.then(|| Order { next: 1, early: BTreeMap::new() }),
            queue: String::new(),
            writing: None,
            file: path.map(|path| Growing::begin(run, &path)).transpose()?,
        })
    }

    /// Whether another line may be begun: `place` is that of the last that was.
    pub(super) fn has_room(&self, place: u64) -> bool {
        let in_window = self.order.as_ref().is_none_or(|order| place < order.next + AHEAD);
        self.queue.len() < FULL && in_window
    }

    /// Adds the outcome of the line at a place: one line of text with its line end.
    pub(super) fn push(&mut self, place: u64, outcome: String) {
        let Some(order) = &mut self.order else { return self.queue.push_str(&outcome) };
        order.early.insert(place, outcome);
        while let Some(outcome) = order.early.remove(&order.next) {
            self.queue.push_str(&outcome);
            order.next += 1;
        }
    }

    /// Whether all was written.
    pub(super) fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.writing.is_none()
    }

    /// Waits for the end of the next write. Never ready when there is nothing to write. Dropping
    /// the future loses nothing.
    pub(super) async fn written(&mut self) -> Result<(), Error> {
        if self.writing.is_none() && !self.queue.is_empty() {
            let text = std::mem::take(&mut self.queue);
            self.writing = Some(match &self.file {
                Some(file) => {
                    let handle = file.handle().clone();
                    smol::unblock(move || handle.write(text.as_bytes(), ENDLESS))
                }
                None => smol::unblock(move || {
                    // A thread of its own may wait: what it waits for is dropped when the run ends.
                    Stream::Stdout.write_text(&text, &|| true).map_err(output::unwritten)
                }),
            });
        }
        let Some(writing) = &mut self.writing else { return future::pending().await };
        let written = writing.await;
        self.writing = None;
        written
    }

    /// Puts the file, if it is one, into its place.
    pub(super) fn finish(&mut self) -> Result<(), Error> {
        self.file.take().map_or(Ok(()), Growing::finish)
    }
}
