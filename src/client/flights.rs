//! Any number of calls at a time on one link, each sent again as the policy says.
//!
//! ```text
//!   begin ──▶ waiting ──▶ flying ──▶ landed ──▶ caller
//!                ▲           │
//!                └── pause ──┘    no result, and it may be sent again
//! ```

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use futures_lite::{FutureExt, future};

use super::link::{Link, Readiness, untried};
use super::retry::Policy;
use super::{NoResult, Observer, Reply};
use crate::protocol::json::Json;
use crate::protocol::jsonrpc::{ErrorObject, Notification};
use crate::protocol::message::{Fault, Listening, Sent};
use crate::protocol::revision::Revision;
use crate::protocol::session::{
    Asker, Call, Event, Failure, Fate, Limit, Oddity, Question, Ticket, TimedOut,
};
use crate::reactor::Timer;

/// Calls in flight. `T` is what the caller knows a call by.
#[derive(Debug)]
pub struct Flights<T> {
    policy: Policy,
    waiting: Vec<Waiting<T>>,
    flying: BTreeMap<Ticket, Flight<T>>,
    landed: VecDeque<Landed<T>>,
}

/// A call, with what it takes to send it again.
#[derive(Debug)]
struct Flight<T> {
    tag: T,
    call: Call,
    terms: Terms,
}

/// On which terms a call is sent.
#[derive(Debug, Clone, Copy, Default)]
pub struct Terms {
    /// Whether running it twice does what running it once does.
    pub repeatable: bool,
    /// How often it was sent so far.
    pub attempts: u32,
    /// The connection that it may go out on, by its [number](Link::number), if it must not go out on
    /// another one, nor in another session on it. Then it ends as [`NoResult::Moved`].
    pub connection: Option<u32>,
}

/// A call that is to be sent, again or for the first time.
#[derive(Debug)]
struct Waiting<T> {
    not_before: Instant,
    flight: Flight<T>,
}

/// A call that has ended.
#[derive(Debug)]
pub struct Landed<T> {
    /// The call.
    pub tag: T,
    /// How it ended.
    pub result: Result<Json, NoResult>,
}

/// What happens on a link.
#[derive(Debug)]
pub enum Happening<T> {
    /// A call has ended.
    Landed(Landed<T>),
    /// The era of the server is known for certain.
    Opened(&'static Revision),
    /// The server said something unasked.
    Notified(Notification),
    /// The server asks something.
    Asked(Question),
    /// The server no longer wants the answer to a question that it asked.
    Withdrawn(Asker),
    /// The server has taken up a subscription, and will notify about what this filter says.
    Subscribed(Json),
    /// How it stands with the stream of what no request asked for.
    Listening(Listening),
    /// The connection is gone. Calls that were open end by themselves.
    Closed(Fault),
    /// Something was not as it should be.
    Odd(Oddity),
}

impl<T> Flights<T> {
    /// No calls yet; those to come are sent again as `policy` says.
    pub fn new(policy: Policy) -> Flights<T> {
        Flights { policy, waiting: Vec::new(), flying: BTreeMap::new(), landed: VecDeque::new() }
    }

    /// How many calls have not ended.
    pub fn len(&self) -> usize {
        self.waiting.len() + self.flying.len() + self.landed.len()
    }

    /// Whether all calls have ended.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a call. `repeatable` tells whether running it twice does what running it once does.
    pub fn begin(&mut self, tag: T, call: Call, repeatable: bool) {
        self.begin_on(tag, call, Terms { repeatable, ..Terms::default() });
    }

    /// The same on other terms.
    pub fn begin_on(&mut self, tag: T, call: Call, terms: Terms) {
        let flight = Flight { tag, call, terms };
        self.waiting.push(Waiting { not_before: Instant::now(), flight });
    }

    /// Adds a call that was made once, without a result, and turned out to be repeatable.
    pub fn again(&mut self, tag: T, call: Call, terms: Terms, no_result: NoResult) {
        let flight = Flight { tag, call, terms: Terms { attempts: 1, ..terms } };
        self.touch_down(flight, Err(no_result));
    }

    /// The call that has this ticket.
    pub fn tag(&self, ticket: Ticket) -> Option<&T> {
        self.flying.get(&ticket).map(|flight| &flight.tag)
    }

    /// The calls that have been sent.
    pub fn flying(&self) -> impl Iterator<Item = &T> {
        self.flying.values().map(|flight| &flight.tag)
    }

    /// Waits for the next call to end, and does what is to be done beside it. Never ready while
    /// there are no calls, but the conversation with an open server goes on.
    ///
    /// Dropping the future loses nothing.
    pub async fn landed(&mut self, link: &mut Link<'_>, observer: &mut dyn Observer) -> Landed<T> {
        loop {
            match self.next(link).await {
                Happening::Landed(landed) => return landed,
                Happening::Opened(_) => link.introduce(observer),
                Happening::Notified(notification) => observer.notified(&notification),
                Happening::Odd(oddity) => {
                    if !observer.odd(&oddity) {
                        self.reject(link, &oddity);
                    }
                }
                Happening::Asked(question) => match observer.asked(&question) {
                    Reply::Answer(answer) => self.answer(link, question.from, answer),
                    Reply::Later(answer) => link.ponder(question.from, answer),
                    Reply::End => self.end(link, question),
                },
                Happening::Withdrawn(_)
                | Happening::Subscribed(_)
                | Happening::Listening(_)
                | Happening::Closed(_) => (),
            }
        }
    }

    /// Waits for whatever happens next. Dropping the future loses nothing.
    pub async fn next(&mut self, link: &mut Link<'_>) -> Happening<T> {
        loop {
            let until = self.launch(link);
            if let Some(landed) = self.landed.pop_front() {
                return Happening::Landed(landed);
            }
            if let Some(happening) = self.step(link, until).await {
                return happening;
            }
        }
    }

    /// Answers a question.
    pub fn answer(&self, link: &mut Link<'_>, to: Asker, answer: Result<String, ErrorObject>) {
        if let Some(client) = link.client_mut() {
            client.session.answer(to, answer);
        }
    }

    /// Ends all calls because of something that is not tolerated: nobody can tell which of them it
    /// belongs to.
    pub fn reject(&mut self, link: &mut Link<'_>, oddity: &Oddity) {
        for (tag, _) in self.cancel(link, "the client gave up", |_| true) {
            self.landed.push_back(Landed { tag, result: Err(NoResult::Odd(oddity.clone())) });
        }
    }

    /// Gives up the calls that `chosen` names: tells the server, and returns what was given up and
    /// whether it may have been sent.
    pub fn cancel(
        &mut self,
        link: &mut Link<'_>,
        reason: &str,
        mut chosen: impl FnMut(&T) -> bool,
    ) -> Vec<(T, Sent)> {
        let mut given_up = Vec::new();
        let flying: Vec<Ticket> = self.flying.keys().copied().collect();
        for ticket in flying {
            if !self.tag(ticket).is_some_and(&mut chosen) {
                continue;
            }
            let Some(flight) = self.flying.remove(&ticket) else { continue };
            let was_sent = link.client_mut().is_some_and(|client| {
                let was_sent = client.session.was_sent(ticket);
                client.session.cancel(ticket, reason);
                was_sent
            });
            given_up.push((flight.tag, if was_sent { Sent::Maybe } else { Sent::No }));
        }
        let waiting = self.waiting.extract_if(.., |waiting| chosen(&waiting.flight.tag));
        given_up.extend(waiting.map(|waiting| (waiting.flight.tag, Sent::No)));
        given_up
    }

    /// Sends the calls whose time has come, and opens the connection for them if it can be.
    /// Returns when there is more to send; `None` when only an event can tell.
    fn launch(&mut self, link: &mut Link<'_>) -> Option<Instant> {
        if self.waiting.is_empty() {
            return None;
        }
        let now = Instant::now();
        self.expire(now);
        let next = self.waiting.iter().map(|waiting| waiting.not_before).min()?;
        let deadline = self.waiting.iter().filter_map(|waiting| waiting.flight.call.deadline).min();
        let or_deadline = |at: Instant| Some(deadline.map_or(at, |deadline| deadline.min(at)));
        if now < next {
            return or_deadline(next);
        }
        match link.readiness(now) {
            Readiness::Open => (),
            Readiness::Draining | Readiness::Ending => return deadline,
            Readiness::OpensAt(at) if at <= now => (),
            Readiness::OpensAt(at) => {
                if link.is_hopeless() {
                    self.refuse_hopeless(link);
                }
                return or_deadline(at);
            }
        }
        let number = link.number();
        let is_due = |waiting: &mut Waiting<T>| waiting.not_before <= now;
        let (due, moved): (Vec<_>, Vec<_>) = self
            .waiting
            .extract_if(.., is_due)
            .map(|waiting| waiting.flight)
            .partition(|flight| flight.terms.connection.is_none_or(|only| only == number));
        for Flight { tag, terms, .. } in moved {
            self.moved(tag, terms.attempts);
        }
        if !due.is_empty() {
            let client = link.open();
            for mut flight in due {
                flight.terms.attempts += 1;
                let bound = flight.terms.connection.is_some();
                let ticket = client.begin(Call { bound, ..flight.call.clone() });
                self.flying.insert(ticket, flight);
            }
        }
        self.waiting.iter().map(|waiting| waiting.not_before).min().and_then(or_deadline)
    }

    /// A call was not sent where it was to be sent.
    fn moved(&mut self, tag: T, attempts: u32) {
        self.landed.push_back(Landed { tag, result: Err(NoResult::Moved { attempts }) });
    }

    /// A call whose last moment has come while it waited.
    fn expire(&mut self, now: Instant) {
        let over = |waiting: &mut Waiting<T>| {
            waiting.flight.call.deadline.is_some_and(|deadline| deadline <= now)
        };
        let over = self.waiting.extract_if(.., over);
        let timed_out =
            TimedOut { limit: Limit::Total, after: Duration::ZERO, sent: false, streaming: false };
        self.landed.extend(over.map(|waiting| Landed {
            tag: waiting.flight.tag,
            result: Err(NoResult::Failed(Failure::TimedOut(timed_out))),
        }));
    }

    /// While the server may not be started because it always ends at once, calls fail as the last
    /// ones did. Only those wait that the user wants to be sent again.
    fn refuse_hopeless(&mut self, link: &Link<'_>) {
        let Some(failure) = link.last_failure() else { return };
        let asked = self.policy.asked;
        let hopeless = |waiting: &mut Waiting<T>| asked == 0 || waiting.flight.terms.attempts == 0;
        self.landed.extend(self.waiting.extract_if(.., hopeless).map(|waiting| {
            let was_sent = 0 < waiting.flight.terms.attempts;
            let failure = if was_sent { failure.clone() } else { untried(failure) };
            Landed { tag: waiting.flight.tag, result: Err(NoResult::Failed(failure)) }
        }));
    }

    /// Does the next thing on the link; it may be something to tell.
    async fn step(&mut self, link: &mut Link<'_>, until: Option<Instant>) -> Option<Happening<T>> {
        let until = async {
            match until {
                Some(until) => Timer::at(until).await,
                None => future::pending().await,
            }
            None
        };
        let event = link.step().or(until).await;
        self.take(link, event?)
    }

    fn take(&mut self, link: &mut Link<'_>, event: Event) -> Option<Happening<T>> {
        match event {
            Event::Answered(ticket, answer) => {
                link.answered();
                let flight = self.flying.remove(&ticket)?;
                self.touch_down(flight, answer.map_err(NoResult::Error));
            }
            Event::Failed(ticket, failure) => {
                let flight = self.flying.remove(&ticket)?;
                if is_moved(&failure, &flight.terms) {
                    self.moved(flight.tag, flight.terms.attempts.saturating_sub(1));
                    return None;
                }
                link.note_failure(&failure);
                self.touch_down(flight, Err(NoResult::Failed(failure)));
            }
            // The client answers challenges by itself.
            Event::Challenged(_) => (),
            Event::Closed(fault) => return Some(Happening::Closed(fault)),
            Event::Withdrawn(asker) => return Some(Happening::Withdrawn(asker)),
            Event::Subscribed(_, filter) => return Some(Happening::Subscribed(filter)),
            Event::Listening(listening) => return Some(Happening::Listening(listening)),
            Event::Opened(revision) => return Some(Happening::Opened(revision)),
            Event::Notified(notification) => return Some(Happening::Notified(notification)),
            Event::Oddity(oddity) => return Some(Happening::Odd(oddity)),
            Event::Asked(question) => return Some(Happening::Asked(question)),
        }
        None
    }

    /// A call has an outcome: it is over, or is sent again after a pause.
    fn touch_down(&mut self, flight: Flight<T>, result: Result<Json, NoResult>) {
        let pause = result.as_ref().err().and_then(|no_result| {
            self.policy.plan(no_result, flight.terms.repeatable, flight.terms.attempts)
        });
        let again = pause.map(|pause| Instant::now() + pause);
        // There is no use in waiting for a moment that comes too late.
        let again = again.filter(|at| flight.call.deadline.is_none_or(|deadline| *at < deadline));
        match again {
            Some(not_before) => self.waiting.push(Waiting { not_before, flight }),
            None => self.landed.push_back(Landed { tag: flight.tag, result }),
        }
    }

    /// Ends the call that a question belongs to, if that is known; else refuses the question.
    fn end(&mut self, link: &mut Link<'_>, question: Question) {
        let ticket = question.during.or(match &question.from {
            Asker::Request(_) if self.flying.len() == 1 => self.flying.keys().next().copied(),
            _ => None,
        });
        let flight = ticket.and_then(|ticket| Some((ticket, self.flying.remove(&ticket)?)));
        let Some((ticket, flight)) = flight else {
            let refusal = Err(ErrorObject::method_not_found());
            return self.answer(link, question.from, refusal);
        };
        if let Some(client) = link.client_mut() {
            client.session.cancel(ticket, "the client gave up");
        }
        let result = Err(NoResult::Asked(question));
        self.landed.push_back(Landed { tag: flight.tag, result });
    }
}

/// Whether a call can go out only where nobody has looked yet: in another session, or, as whoever keeps
/// the session reports, at a server that was lost.
fn is_moved(failure: &Failure, terms: &Terms) -> bool {
    match failure {
        Failure::Reopened => true,
        Failure::Reported { fate: Fate::NotRun, .. } => terms.connection.is_some(),
        _ => false,
    }
}
