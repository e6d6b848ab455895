//! A conversation with a server, as a state machine.
//!
//! ```text
//!            call, answer, cancel                    handle_incoming, handle_timeout
//!   caller ───────────────────────▶  Session  ◀──────────────────────────────────── transport
//!          ◀───────────────────────           ────────────────────────────────────▶
//!            poll → Event                            poll → Transmit, Wait
//! ```
//!
//! Drive it like this: call [`Session::poll`] until it says `Wait`; then feed it what the
//! transport reports, or tell it that the time has come. It never blocks and cannot fail.

mod call;
mod challenge;
mod deadlines;
mod declare;
mod doubt;
mod era;
mod event;
mod input;
mod listen;
mod log_level;
mod write;

use std::collections::VecDeque;
use std::time::{Duration, Instant};

pub use call::{Call, Ticket};
pub use challenge::Challenged;
pub use event::{Asker, Event, Failure, Fate, Limit, Oddity, Question, TimedOut};
pub use listen::SUBSCRIPTION;

use self::call::OpenCall;
use self::challenge::Parked;
use self::deadlines::Deadlines;
use self::declare::Context;
use self::era::Stage;
use self::input::Requests;
use super::json::Json;
use super::jsonrpc::id::Echo;
use super::jsonrpc::{self, ErrorObject, Id, Malformed, Message, Notification, Response, scan};
use super::message::{Fault, Incoming, Outgoing};
use super::method;
use super::model::log::Level;
use super::opening::Certainty;
use super::pending::{Found, Pending};
use super::revision::{Questions, Revision};

/// The longest id of a request that is answered, in bytes. It has to be sent back, and a server that
/// asks faster than it listens must not fill the memory.
const LONGEST_ID: usize = 1024;

/// What the session needs to know about its client.
#[derive(Debug, Clone)]
pub struct Profile {
    /// The client's name and version.
    pub client: (&'static str, &'static str),
    /// What the client can be asked for. Only this is declared.
    pub abilities: Abilities,
    /// Whether the server may make tasks of calls, where that is the server's decision.
    pub tasks: bool,
    /// How long a probe may stay unanswered before `initialize` is sent beside it.
    pub probe_timeout: Duration,
    /// How long opening the session may take; `None` for no limit.
    pub start_timeout: Option<Duration>,
    /// Whether a server is asked what it is although its era is known, so that the time for the
    /// opening ends with its answer and not before it was heard of.
    pub greets: bool,
    /// Whether request ids are sent as strings.
    pub text_ids: bool,
    /// Whether calls are carried for others, who answer themselves what a result asks for.
    pub relays: bool,
    /// Whether the binding has a stream for what no request asked for, opened by
    /// [`Outgoing::Listen`], and it should be open before the first call.
    pub listen: bool,
    /// Which log messages the server should send; `None` for what it sends unasked.
    pub log_level: Option<Level>,
    /// Whether the caller can get other credentials when a server refuses a request for want of
    /// them. If not, such a refusal ends the call.
    pub authorizes: bool,
    /// The extensions that the client uses (2026-07-28, Extension Negotiation).
    pub extensions: Vec<&'static str>,
}

/// What a server may ask this client for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Abilities {
    /// `elicitation/create` that shows a form.
    pub forms: bool,
    /// `elicitation/create` that shows a URL.
    pub urls: bool,
    /// `sampling/createMessage`.
    pub sampling: bool,
    /// `roots/list`.
    pub roots: bool,
}

/// What the session wants next.
#[derive(Debug)]
pub enum Output {
    /// Give this to the transport.
    Transmit(Outgoing),
    /// Tell the caller.
    Event(Event),
    /// Nothing, until something comes in or that instant has come.
    Wait(Option<Instant>),
}

/// What the server said about itself when the session was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// The revision in use.
    pub revision: &'static Revision,
    /// The result of `initialize` or `server/discover`; `None` when neither was needed.
    pub greeting: Option<Json>,
    /// What stands for the list of tools that this session has seen last, where others share it.
    pub tools: Option<Box<str>>,
}

/// What was ignored, for `-v`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Responses that no request ever asked for.
    pub unknown: u64,
    /// Responses that came late or twice.
    pub late: u64,
    /// Frames that were no messages.
    pub skipped: u64,
}

/// What a request in flight is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Discover,
    Initialize,
    SetLogLevel,
    Call(Ticket),
}

/// A conversation with a server.
#[derive(Debug)]
pub struct Session {
    profile: Profile,
    /// What the requests of the revision carry that the last one was written in.
    context: Option<Context>,
    certainty: Certainty,
    stage: Stage,
    about: Option<About>,
    pending: Pending<Purpose>,
    calls: Pending<Box<OpenCall>>,
    /// Calls that can be sent as soon as the session is open.
    ready: VecDeque<Ticket>,
    deadlines: Deadlines,
    /// Requests of the server's own.
    requests: Requests,
    output: VecDeque<Output>,
    counts: Counts,
    parked: Parked,
}

impl Session {
    /// A session that begins to open at `now`.
    pub fn new(certainty: Certainty, profile: Profile, now: Instant) -> Session {
        let mut session = Session::unopened(certainty, profile, now);
        session.begin(now);
        session
    }

    /// A session that somebody else has open and that we share, once the transport says so.
    pub fn join(profile: Profile, now: Instant) -> Session {
        Session::unopened(Certainty::Unknown, profile, now)
    }

    fn unopened(certainty: Certainty, profile: Profile, now: Instant) -> Session {
        Session {
            stage: Stage::begin(&profile, now),
            profile,
            context: None,
            certainty,
            about: None,
            pending: Pending::default(),
            calls: Pending::default(),
            ready: VecDeque::new(),
            deadlines: Deadlines::default(),
            requests: Requests::default(),
            output: VecDeque::new(),
            counts: Counts::default(),
            parked: Parked::default(),
        }
    }

    /// What the server said about itself; `None` until the session is open.
    pub fn about(&self) -> Option<&About> {
        self.about.as_ref()
    }

    /// Whether it is settled which revision is spoken, or that there will be none.
    pub fn is_settled(&self) -> bool {
        self.stage.revision().is_some() || self.stage.failure().is_some()
    }

    /// Whether it has ended, or will never be open: every further call fails.
    pub fn is_over(&self) -> bool {
        self.stage.failure().is_some()
    }

    /// Whether [`Session::poll`] is going to tell that the session is open.
    pub fn has_opened(&self) -> bool {
        let tells = |output: &Output| matches!(output, Output::Event(Event::Opened(_)));
        self.output.iter().any(tells)
    }

    /// Whether [`Session::poll`] has something to say at once.
    pub fn has_more_to_say(&self) -> bool {
        !self.output.is_empty()
    }

    /// The revision that is spoken, or why there is none, as a call that was not sent sees it.
    ///
    /// # Panics
    /// When the session is not settled.
    pub fn settled(&self) -> Result<&'static Revision, Failure> {
        match self.stage.failure() {
            Some(failure) => Err(failure.clone().unsent()),
            None => Ok(self.stage.revision().expect("a settled session has a revision")),
        }
    }

    /// What was ignored so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// What to do next. Call it again until it says [`Output::Wait`].
    pub fn poll(&mut self, now: Instant) -> Output {
        self.resume_calls(now);
        self.send_ready_calls(now);
        self.output.pop_front().unwrap_or_else(|| Output::Wait(self.next_deadline()))
    }

    /// Takes in what a transport reports.
    pub fn handle_incoming(&mut self, incoming: Incoming, now: Instant) {
        match incoming {
            Incoming::Message(message) => self.handle_message(message, now),
            Incoming::Asked { during, request } => self.handle_request(request, Some(during)),
            Incoming::Unusual(unusual) => self.odd(Oddity::Unusual(unusual)),
            Incoming::Refused(refused) => self.handle_refused(*refused, now),
            Incoming::Responding(id) => self.handle_responding(id),
            Incoming::Ended { id, how } => self.handle_ended(id, how),
            Incoming::Broken { id: Some(id), fault } => self.handle_broken(id, fault),
            Incoming::Broken { id: None, fault } => self.odd(Oddity::Undelivered(fault.text)),
            Incoming::Listening(listening) => self.handle_listening(listening),
            Incoming::Joined(about) => self.handle_joined(about),
            Incoming::Reported { id, report, fate } => self.handle_reported(id, report, fate),
            Incoming::Skipped(malformed) => self.handle_malformed(malformed),
            Incoming::Closed(fault) => self.handle_closed(&fault),
        }
    }

    /// Takes in that time has passed.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.expire_stage(now);
        self.expire_calls(now);
    }

    fn next_deadline(&mut self) -> Option<Instant> {
        let calls = self.first_due().map(|(at, _)| at);
        calls.into_iter().chain(self.stage.deadline()).min()
    }

    fn handle_message(&mut self, message: Message, now: Instant) {
        match message {
            Message::Response(response) => self.handle_response(response, now),
            Message::Notification(notification) => self.handle_notification(notification, now),
            Message::Request(request) => self.handle_request(request, None),
        }
    }

    fn handle_response(&mut self, response: Response, now: Instant) {
        let Response { id, mut outcome } = response;
        let echo = id.as_ref().and_then(|id| id.echo(self.profile.text_ids));
        let number = match echo {
            Some(Echo::Exact(number) | Echo::Retyped(number)) => number,
            None => return self.ignore(id, false),
        };
        let purpose = match self.pending.complete(number) {
            Found::Waiting(purpose) => purpose,
            Found::Over => return self.ignore(id, true),
            Found::Unknown => return self.ignore(id, false),
        };
        if let (Some(Echo::Retyped(_)), Some(id)) = (echo, id) {
            self.odd(Oddity::RetypedId(id));
        }
        if let Ok(answer) = &mut outcome
            && let Err(invalid) = answer.result.check()
        {
            return self.spoil(purpose, Failure::Invalid(invalid));
        }
        match (purpose, outcome.map_err(|error| *error)) {
            (Purpose::Discover, outcome) => self.handle_discovered(outcome),
            (Purpose::Initialize, Ok(answer)) => self.handle_initialized(answer.result),
            (Purpose::Initialize, Err(error)) => self.handle_not_initialized(error, now),
            (Purpose::SetLogLevel, outcome) => self.handle_log_level(outcome.err()),
            (Purpose::Call(ticket), Ok(answer)) => self.handle_result(ticket, answer),
            (Purpose::Call(ticket), Err(error)) => self.handle_error(ticket, error, now),
        }
    }

    fn handle_notification(&mut self, notification: Notification, now: Instant) {
        let params = notification.params.as_ref().map_or("{}", Json::as_str);
        if self.is_of_no_subscription(params) {
            self.counts.late += 1;
            return;
        }
        // Few say something to the session, and those are short.
        let mut told = None;
        match &*notification.method {
            method::PROGRESS => self.note_progress(params, now),
            method @ (method::ACKNOWLEDGED | method::CANCELLED) => {
                told = Some((method == method::CANCELLED, params.to_owned()));
            }
            _ => (),
        }
        self.emit(Event::Notified(notification));
        match told {
            Some((true, params)) => self.handle_cancelled(&params),
            Some((false, params)) => self.handle_acknowledged(&params),
            None => (),
        }
    }

    /// A call shows a sign of life, so its idle time begins anew.
    fn note_progress(&mut self, params: &str, now: Instant) {
        if let Some(ticket) = self.call_of_progress(params) {
            self.rearm(ticket, now);
        }
    }

    /// The call that a notification with these parameters is about: it has the token of its
    /// progress, or the id of a subscription (2026-07-28, Subscriptions).
    pub fn call_of_notification(&self, params: &str) -> Option<Ticket> {
        self.call_of_progress(params).or_else(|| self.call_of_subscription(params))
    }

    /// The call that a `notifications/progress` with these parameters is about.
    fn call_of_progress(&self, params: &str) -> Option<Ticket> {
        let token = scan::member(params, "progressToken")?;
        let (Echo::Exact(number) | Echo::Retyped(number)) = Id::from_json(token).echo(false)?;
        match self.pending.get(number) {
            Some(&Purpose::Call(ticket)) => Some(ticket),
            _ => None,
        }
    }

    /// Takes in what the server asks; on the stream of which request of ours, if on one.
    fn handle_request(&mut self, request: jsonrpc::Request, during: Option<u64>) {
        let jsonrpc::Request { id, method, params } = request;
        let revision = self.stage.revision();
        if revision.is_some_and(|revision| revision.questions == Questions::InputRequired) {
            return self.odd(Oddity::RequestInModernEra(method));
        }
        if LONGEST_ID < id.as_json().len() {
            let excerpt =
                format!("a request ({method}) with an id of {} bytes", id.as_json().len());
            return self.odd(Oddity::Skipped(Malformed::Shape { id: None, excerpt }));
        }
        match &*method {
            method::PING => self.respond(&id, &Ok("{}".to_owned())),
            method::LIST_ROOTS | method::ELICIT | method::SAMPLE => {
                let during = during.and_then(|request| match self.pending.get(request) {
                    Some(&Purpose::Call(ticket)) => Some(ticket),
                    _ => None,
                });
                self.ask_by_request(id, method, params, during);
            }
            _ => self.respond(&id, &Err(ErrorObject::method_not_found())),
        }
    }

    fn handle_malformed(&mut self, malformed: Malformed) {
        let number = malformed.id().and_then(|id| id.echo(self.profile.text_ids));
        if let Some(Echo::Exact(number) | Echo::Retyped(number)) = number
            && let Found::Waiting(purpose) = self.pending.complete(number)
        {
            return self.spoil(purpose, Failure::Malformed(malformed));
        }
        self.counts.skipped += 1;
        self.odd(Oddity::Skipped(malformed));
    }

    /// The answer to a request came, and cannot be read.
    fn spoil(&mut self, purpose: Purpose, failure: Failure) {
        match purpose {
            Purpose::Call(ticket) => self.fail(ticket, failure),
            Purpose::Discover => self.not_modern(),
            Purpose::Initialize => self.give_up(&failure),
            Purpose::SetLogLevel => self.handle_log_level(None),
        }
    }

    fn handle_closed(&mut self, fault: &Fault) {
        self.give_up(&Failure::Broken(fault.clone()));
        self.emit(Event::Closed(fault.clone()));
    }

    fn ignore(&mut self, id: Option<Id>, known: bool) {
        match known {
            true => self.counts.late += 1,
            false => self.counts.unknown += 1,
        }
        self.odd(Oddity::Stranger { id, known });
    }

    fn odd(&mut self, oddity: Oddity) {
        self.emit(Event::Oddity(oddity));
    }

    fn emit(&mut self, event: Event) {
        self.output.push_back(Output::Event(event));
    }

    fn transmit(&mut self, outgoing: Outgoing) {
        self.output.push_back(Output::Transmit(outgoing));
    }
}
