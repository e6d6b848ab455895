//! Checks of a server that is started: a process that speaks on its standard streams.
//!
//! ```text
//! first run    handshake, requests, a notification, a line that is no message, end of input
//! second run   handshake, SIGTERM
//! ```
//!
//! The first run is over before the first check; the checks look at what it has brought to light.

mod command;
mod ending;
mod process;
mod said;
mod talk;

use std::cell::RefCell;

use self::talk::Talk;
use super::{Check, Options, Subject};
use crate::protocol::message::{Fault, FaultKind, Sent};
use crate::transport::stdio::Target;

/// All groups, in the order in which they are run.
const GROUPS: &[&[Check<Runs>]] = &[said::CHECKS, ending::CHECKS, command::CHECKS];

/// The runs of a server.
#[derive(Debug)]
pub(super) struct Runs {
    target: Target,
    options: Options,
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
    /// Runs the server for the first time. Errors when it cannot be started, or says nothing.
    pub(super) async fn new(target: Target, options: &Options) -> Result<Runs, Fault> {
        let held = Talk::hold(&target, options).await;
        let (talk, asked) =
            held.map_err(|text| Fault::new(FaultKind::Unreachable, text, Sent::No))?;
        Ok(Runs { target, options: options.clone(), talk, asked: RefCell::new(asked) })
    }

    /// Nothing is left: every run ends its process.
    pub(super) async fn close(self) {}
}
