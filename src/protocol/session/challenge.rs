//! Requests that an HTTP server refuses for want of credentials.
//!
//! They were not run, so they can be sent again once there are others. Until then they are parked:
//!
//! ```text
//! request ──▶ refused 401 ──▶ parked ── retry ──▶ sent again
//!                                    └─ forgo ──▶ failed with the refusal
//! ```

use std::time::Instant;

use super::era::{Probe, Step};
use super::event::{Event, Failure};
use super::{Purpose, Session};
use crate::message::Refused;
use crate::revision::Era;

/// A refusal that other credentials may turn into an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Challenged {
    /// What the server said.
    pub refused: Refused,
    /// How often it has refused this call, or the opening of the session, this time included.
    pub round: u32,
}

/// What was refused and waits for other credentials.
#[derive(Debug, Default)]
pub(super) struct Parked {
    requests: Vec<(Purpose, Refused)>,
    /// How often the opening was refused.
    openings: u32,
    /// How often the credentials were replaced.
    pub(super) credentials: u32,
    /// Whether a message that nobody waits for was refused.
    notice: bool,
}

impl Refused {
    /// Whether other credentials may help: there are none, they are not good, or they are good for
    /// too little (RFC 9110, section 15.5.2; RFC 6750, section 3.1).
    fn wants_credentials(&self) -> bool {
        let too_little = |field: &String| field.contains("insufficient_scope");
        self.status == 401 || self.status == 403 && self.challenges.iter().any(too_little)
    }
}

impl Session {
    /// There are other credentials: sends everything again that was refused.
    pub fn retry(&mut self, now: Instant) {
        self.parked.credentials += 1;
        let mut opening = None;
        for (purpose, _) in std::mem::take(&mut self.parked.requests) {
            match purpose {
                Purpose::Discover | Purpose::Initialize => opening = Some(purpose),
                Purpose::SetLogLevel => self.handle_log_level(None),
                Purpose::Call(ticket) => self.ready.push_back(ticket),
            }
        }
        // Now that all calls wait that may be bound to the session that was.
        if let Some(purpose) = opening {
            self.reopen_after_refusal(purpose, now);
        }
        if std::mem::take(&mut self.parked.notice) {
            self.open_anew(now);
        }
    }

    /// There are no other credentials: everything that was refused fails.
    pub fn forgo(&mut self) {
        for (purpose, refused) in std::mem::take(&mut self.parked.requests) {
            let failure = Failure::Refused(Box::new(refused));
            match purpose {
                Purpose::Discover | Purpose::Initialize => self.give_up(&failure),
                Purpose::SetLogLevel => self.handle_log_level(None),
                Purpose::Call(ticket) => self.fail(ticket, failure),
            }
        }
    }

    /// Takes in a refusal that other credentials may help against. Returns it when they do not, or
    /// when nobody could get them.
    pub(super) fn park(&mut self, purpose: Purpose, refused: Refused) -> Option<Refused> {
        if !self.profile.authorizes || !refused.wants_credentials() {
            return Some(refused);
        }
        let round = match purpose {
            Purpose::Discover if matches!(self.stage.step, Step::Initializing) => {
                // The probe has company already, whose answer decides.
                self.stage.probe = Probe::Done;
                return None;
            }
            Purpose::Discover | Purpose::Initialize => {
                self.stage.step = Step::Refused;
                self.parked.openings += 1;
                self.parked.openings
            }
            // The call that follows will be refused as well.
            Purpose::SetLogLevel => return Some(refused),
            Purpose::Call(ticket) => {
                let credentials = self.parked.credentials;
                let open = self.calls.get_mut(ticket.0)?;
                open.request = None;
                if open.credentials != credentials {
                    // They were replaced while this request was under way.
                    self.requeue(ticket);
                    return None;
                }
                open.refusals += 1;
                let round = open.refusals;
                self.disarm(ticket);
                round
            }
        };
        let is_first = self.parked.requests.is_empty();
        self.parked.requests.push((purpose, refused.clone()));
        if is_first {
            self.emit(Event::Challenged(Box::new(Challenged { refused, round })));
        }
        None
    }

    /// A message that nobody waits for was refused. True when the session will be opened anew for
    /// it, with the credentials that the next request will be refused without.
    pub(super) fn park_notice(&mut self, refused: &Refused) -> bool {
        let parks = self.profile.authorizes && refused.wants_credentials();
        self.parked.notice |= parks;
        parks
    }

    /// A legacy server has missed that the session is open, and perhaps more.
    fn open_anew(&mut self, now: Instant) {
        if let Step::Ready(revision) = self.stage.step
            && revision.era == Era::Legacy
        {
            self.begin_anew(now);
            self.initialize(revision);
        }
    }
}
