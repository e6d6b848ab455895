//! Checks of a server that is started: a process that speaks on its standard streams.
//!
//! ```text
//! first run    handshake, requests, a notification, a line that is no message, end of input
//! second run   handshake, SIGTERM
//! ```
//!
//! The first run is over before the first check, or broken off when the time is; the checks look at
//! what it has brought to light by then.

mod command;
mod ending;
mod family;
mod process;
mod said;
mod talk;

pub(crate) use command::unpinned;

use std::cell::RefCell;
use std::time::Instant;

use futures_lite::FutureExt;

use self::talk::{Silence, Talk};
use super::finding::not_reached;
use super::{Check, Finding, Need, Options, Subject, Unusable};
use crate::protocol::message::{Fault, FaultKind, Sent};
use crate::reactor::Timer;
use crate::transport::stdio::Target;

/// All groups, in the order in which they are run.
const GROUPS: &[&[Check<Runs>]] = &[said::CHECKS, ending::CHECKS, command::CHECKS];

/// The runs of a server.
#[derive(Debug)]
pub(super) struct Runs {
    target: Target,
    options: Options,
    /// What came of the first run so far.
    talk: Talk,
    /// What the server was sent in the first run.
    asked: RefCell<Vec<String>>,
}

impl Subject for Runs {
    fn checks() -> Vec<&'static Check<Runs>> {
        GROUPS.iter().flat_map(|group| group.iter()).collect()
    }

    fn take_requests(&self) -> Vec<String> {
        self.asked.take()
    }
}

impl Runs {
    /// A server that was not started yet.
    pub(super) fn new(target: Target, options: &Options) -> Runs {
        let (talk, asked) = (Talk::default(), RefCell::default());
        Runs { target, options: options.clone(), talk, asked }
    }

    /// Runs the server for the first time, as long as there is time.
    pub(super) async fn open(&mut self) {
        let mut process = None;
        let talking = self.talk.hold(&mut process, &self.target, &self.options);
        let until = self.options.until;
        let too_late = async {
            Timer::at(until).await;
        };
        talking.or(too_late).await;
        if let Some(process) = &mut process {
            self.talk.take_from(process);
            self.asked.replace(std::mem::take(&mut process.sent));
            process.kill().await;
        }
    }

    /// Why the server cannot be examined, if that is so.
    pub(super) fn unusable(&self) -> Option<Unusable> {
        let unreachable = |text: &str| Fault::new(FaultKind::Unreachable, text, Sent::No);
        match (&self.talk.silence, &self.talk.opened) {
            (Some(Silence::NotStarted(text) | Silence::Ended(text)), _) => {
                Some(Unusable::Fault(unreachable(text)))
            }
            (Some(Silence::Late(patience, _)), _) => Some(Unusable::Silent(*patience)),
            (None, Some(opened)) => opened.refusal().map(Unusable::NotMcp),
            (None, None) => None,
        }
    }

    /// The finding of a check for which the first run did not come far enough.
    fn untold(&self) -> Finding {
        match &self.talk.silence {
            Some(silence @ Silence::Late(..)) => Finding::unknown(silence.to_string(), Need::Start),
            Some(silence) => Finding::unknown(silence.to_string(), Need::Reach),
            None => not_reached(),
        }
    }

    /// Whether the time for everything is over.
    fn is_late(&self) -> bool {
        self.options.until <= Instant::now()
    }

    /// Nothing is left: every run ends its process.
    pub(super) async fn close(self) {}
}
