//! Opening the session: climbing the ladder of [`Opening`], and falling back.

use std::time::Instant;

use super::event::{Event, Failure, Limit, TimedOut};
use super::{About, Call, Profile, Purpose, Session, Ticket};
use crate::json::{self, Json};
use crate::jsonrpc::{Answer, ErrorObject, Message, Response, scan};
use crate::message::{Listening, Outgoing, Refused};
use crate::method;
use crate::opening::{Certainty, Opening, Verdict, choose, judge, supported};
use crate::params::Params;
use crate::pending::Found;
use crate::revision::{Era, Questions, Revision};

/// How far the opening has come.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) step: Step,
    /// When opening the session must be done.
    start_by: Option<Instant>,
    /// Whether `server/discover` was sent, and whether its answer may still come.
    pub(super) probe: Probe,
    /// Legacy revisions that were proposed, so that none is proposed twice.
    proposed: Vec<&'static str>,
    /// Whether the modern era is certain: the server answered in its way.
    pub(super) proven: bool,
    /// How often the session was opened anew.
    pub(super) reopenings: u32,
}

#[derive(Debug)]
pub(super) enum Step {
    /// Waiting for the answer to the probe; at that instant `initialize` is sent beside it.
    Probing { until: Option<Instant> },
    /// Waiting for the answer to `initialize`.
    Initializing,
    /// Waiting for the stream of what no request asked for.
    Listening(&'static Revision),
    /// Waiting until the server knows which log messages are wanted.
    SettingLogLevel(&'static Revision),
    /// Waiting for credentials.
    Refused,
    /// Open.
    Ready(&'static Revision),
    /// It will never be open.
    Failed(Failure),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Probe {
    Unsent,
    Waiting,
    Done,
}

impl Stage {
    pub(super) fn begin(profile: &Profile, now: Instant) -> Stage {
        Stage {
            step: Step::Probing { until: None },
            start_by: profile.start_timeout.map(|limit| now + limit),
            probe: Probe::Unsent,
            proposed: Vec::new(),
            proven: false,
            reopenings: 0,
        }
    }

    /// The revision in use; `None` before it is settled.
    pub(super) fn revision(&self) -> Option<&'static Revision> {
        match self.step {
            Step::Ready(revision) | Step::Listening(revision) | Step::SettingLogLevel(revision) => {
                Some(revision)
            }
            _ => None,
        }
    }

    /// The revision in use, when calls may be sent.
    pub(super) fn open(&self) -> Option<&'static Revision> {
        match self.step {
            Step::Ready(revision) => Some(revision),
            _ => None,
        }
    }

    pub(super) fn asks_by_result(&self) -> bool {
        self.revision().is_some_and(|revision| revision.questions == Questions::InputRequired)
    }

    pub(super) fn failure(&self) -> Option<&Failure> {
        match &self.step {
            Step::Failed(failure) => Some(failure),
            _ => None,
        }
    }

    pub(super) fn end(&mut self, failure: Failure) {
        if self.failure().is_none() {
            self.step = Step::Failed(failure);
        }
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        match self.step {
            Step::Probing { until } => until.into_iter().chain(self.start_by).min(),
            Step::Initializing | Step::Listening(_) | Step::SettingLogLevel(_) => self.start_by,
            // Somebody who logs in takes the time that it takes.
            Step::Refused | Step::Ready(_) | Step::Failed(_) => None,
        }
    }
}

impl Session {
    pub(super) fn begin(&mut self, now: Instant) {
        match self.certainty.opening() {
            Opening::Probe => self.discover(now),
            Opening::Initialize(revision) => self.initialize(revision),
            Opening::Modern(_) if self.profile.greets => {
                self.discover(now);
                // That it is not of the legacy era is known.
                self.stage.step = Step::Probing { until: None };
            }
            Opening::Modern(revision) => self.open(revision, None),
        }
    }

    pub(super) fn discover(&mut self, now: Instant) {
        self.stage.step = Step::Probing { until: Some(now + self.profile.probe_timeout) };
        self.stage.probe = Probe::Waiting;
        let call = Call { method: method::DISCOVER.into(), ..Call::default() };
        self.request(Purpose::Discover, Revision::newest(Era::Modern), &call, &[]);
    }

    pub(super) fn initialize(&mut self, revision: &'static Revision) {
        self.stage.step = Step::Initializing;
        self.stage.proposed.push(revision.date);
        let params = Params::new()
            .with("protocolVersion", json::string(revision.date))
            .with("capabilities", self.profile.capabilities(revision))
            .with("clientInfo", self.profile.client_info());
        let call = Call { method: method::INITIALIZE.into(), params, ..Call::default() };
        self.request(Purpose::Initialize, revision, &call, &[]);
    }

    /// Opens the session anew after it was refused for want of credentials.
    pub(super) fn reopen_after_refusal(&mut self, purpose: Purpose, now: Instant) {
        let proposed = self.stage.proposed.last().and_then(|date| Revision::named(date));
        self.begin_anew(now);
        match (purpose, proposed) {
            (Purpose::Initialize, Some(revision)) => self.initialize(revision),
            _ => self.discover(now),
        }
    }

    /// The session is to be opened once more, and has as much time for it as the first time. Calls that
    /// wait and are bound to the session that was fail, unless they have an answer already (see
    /// [`Session::settle_doubt`]).
    pub(super) fn begin_anew(&mut self, now: Instant) {
        self.stage.start_by = self.profile.start_timeout.map(|limit| now + limit);
        self.stage.proposed.clear();
        self.stage.reopenings += 1;
        let is_bound = |ticket: &Ticket| {
            let open = self.calls.get(ticket.0);
            open.is_some_and(|it| it.call.bound && it.doubted.is_none())
        };
        let bound: Vec<Ticket> = self.ready.iter().copied().filter(is_bound).collect();
        bound.into_iter().for_each(|ticket| self.fail(ticket, Failure::Reopened));
    }

    fn open(&mut self, revision: &'static Revision, greeting: Option<Json>) {
        self.stage.proven = greeting.is_some();
        self.about = Some(About { revision, greeting, tools: None });
        match self.profile.listen && revision.listen_stream {
            true => {
                self.stage.step = Step::Listening(revision);
                self.transmit(Outgoing::Listen(revision));
            }
            false => self.set_log_level(revision),
        }
        if self.stage.proven {
            self.emit(Event::Opened(revision));
        }
    }

    pub(super) fn handle_joined(&mut self, about: About) {
        if !self.is_settled() {
            self.open(about.revision, about.greeting);
            self.about = self.about.take().map(|opened| About { tools: about.tools, ..opened });
        }
    }

    pub(super) fn handle_listening(&mut self, listening: Listening) {
        self.emit(Event::Listening(listening));
        if let Step::Listening(revision) = self.stage.step {
            self.set_log_level(revision);
        }
    }

    /// Tells a server that must be told which log messages are wanted; then calls may be sent.
    fn set_log_level(&mut self, revision: &'static Revision) {
        let waits = self.request_log_level(revision);
        self.stage.step =
            if waits { Step::SettingLogLevel(revision) } else { Step::Ready(revision) };
    }

    pub(super) fn handle_log_level(&mut self, refusal: Option<ErrorObject>) {
        if let Some(error) = refusal {
            self.odd(super::Oddity::NoLogLevel(error.message));
        }
        if let Step::SettingLogLevel(revision) = self.stage.step {
            self.stage.step = Step::Ready(revision);
        }
    }

    /// The server has said what only a modern one says.
    pub(super) fn prove(&mut self) {
        let Step::Ready(revision) = self.stage.step else { return };
        if !self.stage.proven && revision.era == Era::Modern {
            self.stage.proven = true;
            self.emit(Event::Opened(revision));
        }
    }

    pub(super) fn handle_discovered(&mut self, outcome: Result<Answer, ErrorObject>) {
        self.stage.probe = Probe::Done;
        if let Certainty::Pinned(revision) = self.certainty {
            return self.open(revision, outcome.ok().map(|answer| answer.result));
        }
        match outcome {
            Ok(answer) => match listed(answer.result.as_str()) {
                Some(dates) => match choose(&dates) {
                    Some(revision) => self.speak(revision, Some(answer.result)),
                    None => self.give_up(&Failure::NoCommonRevision(dates)),
                },
                None => self.not_modern(),
            },
            Err(error) => match judge(&error) {
                Verdict::Speaks(revision) => self.speak(revision, None),
                Verdict::NoCommonRevision(dates) => self.give_up(&Failure::NoCommonRevision(dates)),
                Verdict::Modern => self.speak(Revision::newest(Era::Modern), None),
                Verdict::Legacy => self.not_modern(),
            },
        }
    }

    /// The server told which revision it speaks.
    pub(super) fn speak(&mut self, revision: &'static Revision, greeting: Option<Json>) {
        match revision.era {
            Era::Modern => self.open(revision, greeting),
            Era::Legacy => self.initialize(revision),
        }
    }

    /// The probe found no modern server.
    pub(super) fn not_modern(&mut self) {
        self.stage.probe = Probe::Done;
        match (&self.stage.step, self.certainty) {
            (Step::Probing { .. }, Certainty::Pinned(revision)) => self.open(revision, None),
            (Step::Probing { .. }, _) => self.initialize(Revision::newest(Era::Legacy)),
            _ => (),
        }
    }

    pub(super) fn handle_initialized(&mut self, result: Json) {
        if !matches!(self.stage.step, Step::Initializing) {
            return; // A probe that was answered late has opened the session meanwhile.
        }
        let version = scan::member(result.as_str(), "protocolVersion");
        let version = version.and_then(scan::unescape).unwrap_or_default().into_owned();
        let known = Revision::named(&version).filter(|revision| revision.era == Era::Legacy);
        let Some(revision) = known else {
            return self.give_up(&Failure::NoCommonRevision(vec![version]));
        };
        let notice = self.notification(revision, method::INITIALIZED, &Params::new());
        self.transmit(Outgoing::Deliver(notice));
        self.open(revision, Some(result));
    }

    pub(super) fn handle_not_initialized(&mut self, error: ErrorObject, now: Instant) {
        if !matches!(self.stage.step, Step::Initializing) {
            return;
        }
        let dates = supported(&error);
        let proposed = |date: &String| self.stage.proposed.iter().any(|proposed| proposed == date);
        let others: Vec<String> = dates.iter().filter(|date| !proposed(date)).cloned().collect();
        let next = choose(&others);
        let pinned = matches!(self.certainty, Certainty::Pinned(_));
        match (next, self.stage.probe) {
            (Some(revision), _) if revision.era == Era::Legacy => self.initialize(revision),
            // A server that was legacy the last time may be modern now.
            (_, Probe::Unsent) if !pinned => self.discover(now),
            // The probe found a slow modern server: it refuses `initialize` first.
            (_, Probe::Waiting) => self.stage.step = Step::Probing { until: None },
            (Some(revision), _) if !pinned => self.open(revision, None),
            _ if others.is_empty() || next.is_some() => self.give_up(&Failure::NotOpened(error)),
            _ => self.give_up(&Failure::NoCommonRevision(dates)),
        }
    }

    pub(super) fn expire_stage(&mut self, now: Instant) {
        if self.stage.deadline().is_none_or(|deadline| now < deadline) {
            return;
        }
        if self.stage.start_by.is_some_and(|start_by| start_by <= now) {
            let after = self.profile.start_timeout.unwrap_or_default();
            let timed_out = TimedOut { limit: Limit::Start, after, sent: false, streaming: false };
            return self.give_up(&Failure::TimedOut(timed_out));
        }
        // Silence: a legacy server that ignores what it does not know, or a slow start. The probe
        // stays open, and whichever answer comes decides.
        self.initialize(Revision::newest(Era::Legacy));
    }

    pub(super) fn handle_refused(&mut self, refused: Refused, now: Instant) {
        let Some(id) = refused.id else {
            if self.park_notice(&refused) {
                return;
            }
            return self.odd(super::Oddity::Undelivered(format!(
                "HTTP {}: {}",
                refused.status, refused.text
            )));
        };
        let Found::Waiting(purpose) = self.pending.complete(id) else { return };
        let Some(refused) = self.park(purpose, refused) else { return };
        let error = match refused.message.as_deref() {
            // Whoever is not let in has been told nothing about the request, whatever the body says.
            _ if refused.status == 401 => None,
            Some(Message::Response(Response { outcome: Err(error), .. })) => {
                Some((**error).clone())
            }
            _ => None,
        };
        // Only these may say that the server knows no such request; 401, 302 or 503 say nothing.
        let unknown = matches!(refused.status, 400 | 404 | 405 | 406 | 410 | 415 | 422 | 501);
        match purpose {
            Purpose::Discover => match error {
                Some(error) => self.handle_discovered(Err(error)),
                None if unknown => self.not_modern(),
                None => self.give_up(&Failure::Refused(Box::new(refused))),
            },
            Purpose::Initialize => match error {
                Some(error) if refused.status < 401 || unknown => {
                    self.handle_not_initialized(error, now);
                }
                _ => self.give_up(&Failure::Refused(Box::new(refused))),
            },
            Purpose::SetLogLevel => self.handle_log_level(error),
            Purpose::Call(ticket) => {
                self.handle_refused_call(ticket, refused, error, unknown, now);
            }
        }
    }

    fn handle_refused_call(
        &mut self,
        ticket: Ticket,
        refused: Refused,
        error: Option<ErrorObject>,
        unknown: bool,
        now: Instant,
    ) {
        if refused.status == 404 && refused.in_session && self.reopen(ticket, now) {
            return;
        }
        match error {
            Some(error) => self.handle_error(ticket, error, now),
            None if unknown && self.doubt(ticket, None, now) => (),
            None => self.fail(ticket, Failure::Refused(Box::new(refused))),
        }
    }

    /// The server has forgotten the session: opens a new one and sends the call again, which a 404
    /// proves was not run (2025-11-25, Session Management). Once per call, and not those that are
    /// bound to the old one.
    fn reopen(&mut self, ticket: Ticket, now: Instant) -> bool {
        let Some(open) = self.calls.get_mut(ticket.0) else { return false };
        let revision = match self.stage.step {
            Step::Ready(revision) if open.reopenings == self.stage.reopenings => Some(revision),
            // Another call was told before this one.
            _ => None,
        };
        if open.call.bound && revision.is_none() {
            self.fail(ticket, Failure::Reopened);
            return true;
        }
        if std::mem::replace(&mut open.reopened, true) {
            return false;
        }
        self.requeue(ticket);
        let Some(revision) = revision else { return true };
        self.begin_anew(now);
        self.initialize(revision);
        true
    }
}

/// The `supportedVersions` of a `server/discover` result; `None` when it is no such result.
fn listed(result: &str) -> Option<Vec<String>> {
    serde_json::from_str(scan::member(result, "supportedVersions")?).ok()
}
