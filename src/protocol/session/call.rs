//! Calls: what the caller asked for, across every request that takes.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use super::event::{Event, Failure, Fate, Limit, Question, TimedOut};
use super::input::Input;
use super::{Abilities, Output, Purpose, Session};
use crate::json::Json;
use crate::jsonrpc::{Answer, ErrorObject};
use crate::message::{Delivery, Ending, Fault, Outgoing};
use crate::method;
use crate::params::Params;
use crate::pending::Found;

/// Names a call for as long as it lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub(super) u64);

/// A request the caller wants made.
#[derive(Debug, Clone, Default)]
pub struct Call {
    /// The method.
    pub method: Cow<'static, str>,
    /// The parameters. The session adds what the revision demands.
    pub params: Params,
    /// How long the call may show no sign of life; progress counts as one. `None` for no limit.
    pub idle: Option<Duration>,
    /// When to give up, whatever happens. `None` for no limit.
    pub deadline: Option<Instant>,
    /// Arguments to mirror into headers: the part after `Mcp-Param-`, and the value.
    pub mirrored: Vec<(String, String)>,
    /// Whether it must not be sent in another session of the same connection. It fails as
    /// [`Failure::Reopened`] then.
    pub bound: bool,
}

/// A call that has no answer yet.
#[derive(Debug)]
pub(super) struct OpenCall {
    pub(super) call: Call,
    /// The request under way; `None` while the call waits for the opening or for answers.
    pub(super) request: Option<u64>,
    /// When its idle time ends; `None` while nothing is under way.
    idle_until: Option<Instant>,
    /// Whether events have begun to arrive for the request under way.
    streaming: bool,
    /// Whether a request of this call was ever handed to the transport.
    sent: bool,
    /// Whether the session was lost under this call once.
    pub(super) reopened: bool,
    /// How often the session had been opened anew when the request under way was sent.
    pub(super) reopenings: u32,
    /// The error that answered it, as long as it is open whether that says something about the era.
    pub(super) doubted: Option<ErrorObject>,
    /// How often it was refused for want of credentials.
    pub(super) refusals: u32,
    /// Which credentials the request under way was sent with.
    pub(super) credentials: u32,
    /// What the server asked for, and what was answered so far.
    pub(super) input: Input,
}

impl OpenCall {
    fn due(&self) -> Option<Instant> {
        self.idle_until.into_iter().chain(self.call.deadline).min()
    }
}

impl Session {
    /// Begins a call.
    pub fn call(&mut self, call: Call) -> Ticket {
        let due = call.deadline;
        let open = OpenCall {
            call,
            request: None,
            idle_until: None,
            streaming: false,
            sent: false,
            reopened: false,
            reopenings: 0,
            doubted: None,
            refusals: 0,
            credentials: 0,
            input: Input::default(),
        };
        let ticket = Ticket(self.calls.register(Box::new(open)));
        due.into_iter().for_each(|due| self.enter_due(due, ticket));
        match self.stage.failure().cloned() {
            Some(failure) => self.fail(ticket, failure),
            None => self.ready.push_back(ticket),
        }
        ticket
    }

    /// Gives up a call: tells the server as the revision demands. A late answer is ignored.
    pub fn cancel(&mut self, ticket: Ticket, reason: &str) {
        let Some(open) = self.close_call(ticket) else { return };
        if let Some(id) = open.request {
            self.pending.complete(id);
            self.transmit_cancel(id, reason);
        }
    }

    /// Gives up every call.
    pub fn cancel_all(&mut self, reason: &str) {
        let tickets: Vec<Ticket> = self.tickets().collect();
        tickets.into_iter().for_each(|ticket| self.cancel(ticket, reason));
    }

    /// The calls that have no answer yet, the oldest first.
    pub(super) fn tickets(&self) -> impl Iterator<Item = Ticket> {
        self.calls.iter().map(|(ticket, _)| Ticket(ticket))
    }

    fn transmit_cancel(&mut self, id: u64, reason: &str) {
        let Some(revision) = self.stage.revision() else { return };
        let number = match self.profile.text_ids {
            true => format!("\"{id}\""),
            false => id.to_string(),
        };
        let reason = crate::json::string(reason);
        let params = Params::new().with("requestId", number).with("reason", reason);
        let notice = self.notification(revision, method::CANCELLED, &params);
        self.transmit(Outgoing::Cancel { id, notice: Some(notice) });
    }

    /// Whether a call was ever handed to the transport, so that the server may have run it.
    pub fn was_sent(&self, ticket: Ticket) -> bool {
        self.calls.get(ticket.0).is_some_and(|open| open.sent)
    }

    /// What this client can be asked for.
    pub fn abilities(&self) -> Abilities {
        self.profile.abilities
    }

    pub(super) fn send_ready_calls(&mut self, now: Instant) {
        let Some(revision) = self.stage.open() else { return };
        while let Some(ticket) = self.ready.pop_front() {
            if self.settle_doubt(ticket, revision) {
                continue;
            }
            let Some(open) = self.calls.get_mut(ticket.0) else { continue };
            // Nobody looks at it meanwhile, and its arguments may be long.
            let call = std::mem::take(&mut open.call);
            let more = open.input.take_retry();
            let more: Vec<(&str, &str)> =
                more.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let id = self.request(Purpose::Call(ticket), revision, &call, &more);
            if let Some(open) = self.calls.get_mut(ticket.0) {
                open.call = call;
                (open.request, open.sent, open.streaming) = (Some(id), true, false);
                open.credentials = self.parked.credentials;
                open.reopenings = self.stage.reopenings;
            }
            self.rearm(ticket, now);
        }
    }

    /// Begins the idle time of a call anew.
    pub(super) fn rearm(&mut self, ticket: Ticket, now: Instant) {
        self.set_idle(ticket, |call| call.idle.map(|idle| now + idle));
    }

    /// Begins the idle time of all calls anew when the server has got the answers it waited for.
    pub(super) fn resume_calls(&mut self, now: Instant) {
        if !self.requests.take_answered() {
            return;
        }
        let waits = self.calls.iter().filter(|(_, open)| open.idle_until.is_some());
        let waiting: Vec<Ticket> = waits.map(|(ticket, _)| Ticket(ticket)).collect();
        waiting.into_iter().for_each(|ticket| self.rearm(ticket, now));
    }

    /// Stops the idle time of a call while it waits for the caller.
    pub(super) fn disarm(&mut self, ticket: Ticket) {
        self.set_idle(ticket, |_| None);
    }

    fn set_idle(&mut self, ticket: Ticket, until: impl FnOnce(&Call) -> Option<Instant>) {
        let Some(open) = self.calls.get_mut(ticket.0) else { return };
        let before = open.due();
        open.idle_until = until(&open.call);
        // One that is later needs no place of its own.
        let sooner = open.due().filter(|due| before.is_none_or(|before| *due < before));
        sooner.into_iter().for_each(|due| self.enter_due(due, ticket));
    }

    fn enter_due(&mut self, due: Instant, ticket: Ticket) {
        self.deadlines.enter(due, ticket);
        if self.deadlines.are_many_for(self.calls.count()) {
            let calls = self.calls.iter();
            let dues = calls.filter_map(|(ticket, open)| Some((open.due()?, Ticket(ticket))));
            self.deadlines.renew(dues);
        }
    }

    /// The call that is due first, and when.
    pub(super) fn first_due(&mut self) -> Option<(Instant, Ticket)> {
        let calls = &self.calls;
        self.deadlines.first(|ticket| calls.get(ticket.0)?.due())
    }

    pub(super) fn handle_responding(&mut self, id: u64) {
        let Some(&Purpose::Call(ticket)) = self.pending.get(id) else { return };
        if let Some(open) = self.calls.get_mut(ticket.0) {
            open.streaming = true;
        }
    }

    pub(super) fn expire_calls(&mut self, now: Instant) {
        while let Some((_, ticket)) = self.first_due().filter(|(at, _)| *at <= now) {
            let Some(open) = self.calls.get(ticket.0) else { continue };
            let total = open.call.deadline.is_some_and(|deadline| deadline <= now);
            if !total && self.requests.are_open() {
                // The server is not silent: it waits for us.
                self.rearm(ticket, now);
                continue;
            }
            let failure = Failure::TimedOut(TimedOut {
                limit: if total { Limit::Total } else { Limit::Idle },
                after: if total { Duration::ZERO } else { open.call.idle.unwrap_or_default() },
                sent: open.sent,
                streaming: open.streaming,
            });
            self.cancel(ticket, "timeout");
            self.emit(Event::Failed(ticket, failure));
        }
    }

    pub(super) fn handle_result(&mut self, ticket: Ticket, answer: Answer) {
        if answer.has_type {
            self.prove();
        }
        if answer.input_required && self.stage.asks_by_result() && !self.profile.relays {
            return self.ask(ticket, &answer.result);
        }
        if self.close_call(ticket).is_some() {
            self.emit(Event::Answered(ticket, Ok(answer.result)));
        }
    }

    pub(super) fn handle_error(&mut self, ticket: Ticket, error: ErrorObject, now: Instant) {
        let Some(error) = self.judge_error(ticket, error, now) else { return };
        if self.close_call(ticket).is_some() {
            self.emit(Event::Answered(ticket, Err(error)));
        }
    }

    pub(super) fn handle_ended(&mut self, id: u64, how: Ending) {
        match self.pending.complete(id) {
            Found::Waiting(Purpose::Call(ticket)) => {
                self.fail(ticket, Failure::NoResponse { id, how });
            }
            // No legacy server knows the probe; one that answers it with nonsense is one, too.
            Found::Waiting(Purpose::Discover) => self.not_modern(),
            Found::Waiting(Purpose::Initialize) => self.give_up(&Failure::NoResponse { id, how }),
            Found::Waiting(Purpose::SetLogLevel) => self.handle_log_level(None),
            Found::Over | Found::Unknown => (),
        }
    }

    pub(super) fn handle_broken(&mut self, id: u64, fault: Fault) {
        match self.pending.complete(id) {
            Found::Waiting(Purpose::Call(ticket)) => self.fail(ticket, Failure::Broken(fault)),
            Found::Waiting(_) => self.give_up(&Failure::Broken(fault)),
            Found::Over | Found::Unknown => (),
        }
    }

    pub(super) fn handle_reported(&mut self, id: Option<u64>, report: Json, fate: Fate) {
        let failure = Failure::Reported { report, fate };
        match id.map(|id| self.pending.complete(id)) {
            None => self.give_up(&failure),
            Some(Found::Waiting(Purpose::Call(ticket))) => self.fail(ticket, failure),
            Some(Found::Waiting(_)) => self.give_up(&failure),
            Some(Found::Over | Found::Unknown) => (),
        }
    }

    /// Puts a call back in the queue.
    pub(super) fn requeue(&mut self, ticket: Ticket) {
        if let Some(open) = self.calls.get_mut(ticket.0) {
            open.request = None;
            self.disarm(ticket);
            self.ready.push_back(ticket);
        }
    }

    pub(super) fn fail(&mut self, ticket: Ticket, failure: Failure) {
        let Some(mut open) = self.close_call(ticket) else { return };
        if let Some(error) = open.doubted.take() {
            return self.emit(Event::Answered(ticket, Err(error)));
        }
        // What the transport cannot know: whether this call had been handed to it at all.
        let failure = if open.sent { failure } else { failure.unsent() };
        self.emit(Event::Failed(ticket, failure));
    }

    /// Ends the session because the caller does not want the server, now that it knows what it is.
    ///
    /// Said at once when [`Event::Opened`] tells about the server, it comes before any call: those
    /// that are to be sent are not.
    pub fn refuse(&mut self) {
        let mut unsent = Vec::new();
        let (pending, output) = (&self.pending, &mut self.output);
        output.retain(|output| {
            let Output::Transmit(Outgoing::Deliver(Delivery { id: Some(id), .. })) = output else {
                return true;
            };
            let Some(&Purpose::Call(ticket)) = pending.get(*id) else { return true };
            unsent.push(ticket);
            false
        });
        for ticket in unsent {
            if let Some(open) = self.calls.get_mut(ticket.0) {
                open.sent = false;
            }
        }
        self.give_up(&Failure::Unwanted);
    }

    /// Ends the session: every open call fails, and so will every later one.
    pub(super) fn give_up(&mut self, failure: &Failure) {
        self.stage.end(failure.clone());
        let tickets: Vec<Ticket> = self.tickets().collect();
        tickets.into_iter().for_each(|ticket| self.fail(ticket, failure.clone()));
    }

    pub(super) fn close_call(&mut self, ticket: Ticket) -> Option<Box<OpenCall>> {
        self.calls.remove(ticket.0)
    }

    pub(super) fn ask_caller(&mut self, question: Question) {
        self.emit(Event::Asked(question));
    }
}
