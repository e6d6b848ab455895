//! Printing notifications, a line each.

use super::super::errors::Error;
use super::super::output::unwritten;
use super::super::terminal::Stream;
use super::super::watcher::{Watcher, text_of};
use super::wanted::Wanted;
use crate::client::{Observer, Reply};
use crate::protocol::Session;
use crate::protocol::jsonrpc::Notification;
use crate::protocol::session::{Oddity, Question};

/// Prints what is wanted, and passes everything on to the watcher.
pub(super) struct Printer<'p, 'a> {
    watcher: &'p mut Watcher<'a>,
    wanted: &'p Wanted,
    /// How many are still wanted.
    left: &'p mut Option<usize>,
    full: Option<Full>,
}

/// What became of the last notification.
pub(super) enum Full {
    /// It was printed.
    Printed,
    /// It was printed, and it was the last that is wanted.
    Enough,
    /// It could not be printed.
    Unwritten(Error),
}

impl<'p, 'a> Printer<'p, 'a> {
    pub(super) fn new(
        watcher: &'p mut Watcher<'a>,
        wanted: &'p Wanted,
        left: &'p mut Option<usize>,
    ) -> Printer<'p, 'a> {
        Printer { watcher, wanted, left, full: None }
    }

    /// What became of the last notification; `None` when there was none to print.
    pub(super) fn full(self) -> Option<Full> {
        self.full
    }
}

impl Observer for Printer<'_, '_> {
    fn opened(&mut self, session: &Session) {
        self.watcher.opened(session);
    }

    fn notified(&mut self, notification: &Notification) {
        self.watcher.notified(notification);
        if !self.wanted.includes(&notification.method) || *self.left == Some(0) {
            return;
        }
        let line = text_of(notification) + "\n";
        self.full = Some(match Stream::Stdout.write_text(&line) {
            Err(failure) => Full::Unwritten(unwritten(failure)),
            Ok(()) => {
                *self.left = self.left.map(|left| left - 1);
                if *self.left == Some(0) { Full::Enough } else { Full::Printed }
            }
        });
    }

    fn odd(&mut self, oddity: &Oddity) -> bool {
        self.watcher.odd(oddity)
    }

    fn asked(&mut self, question: &Question) -> Reply {
        self.watcher.asked(question)
    }
}
