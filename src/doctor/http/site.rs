//! An endpoint under examination: the connections to it, and what it said so far.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use futures_lite::FutureExt;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::connection;
use super::probe::{Answer, NoAnswer, Probe, SESSION};
use super::read;
use super::refusal;
use super::speech::Speech;
use crate::doctor::{Check, Options, Subject, Unusable};
use crate::net::{Address, Authorization, Glance, Headers, Lanes, Reply, Settings};
use crate::protocol::message::{Fault, FaultKind, Sent};
use crate::protocol::method;
use crate::protocol::revision::Era;
use crate::reactor::Timer;
use crate::transport::http::Target;

/// How long the server may take to end its sessions when everything else is done.
const FAREWELL: Duration = Duration::from_secs(2);

/// How long a stream must be silent, at least, to be taken for an open one.
const SILENCE: Duration = Duration::from_secs(1);

/// How long to wait before a stream is asked for again that a server takes for open still.
const PAUSE: Duration = Duration::from_millis(50);

/// The most sessions that are ended one by one.
const SESSIONS: usize = 64;

/// An endpoint under examination.
#[derive(Debug)]
pub(in crate::doctor) struct Site {
    pub(super) address: Address,
    pub(super) settings: Settings,
    pub(super) options: Options,
    /// Connections with the user's headers and credentials.
    lanes: Lanes,
    /// Connections with nothing of the user's.
    bare: Lanes,
    /// Why there is no server to ask, if that is so.
    unreached: Option<Fault>,
    /// The host by which the server takes requests that it refuses by the one in its URL.
    pub(super) other_host: Option<String>,
    /// What `server/discover` was answered with.
    pub(super) discovered: Result<Answer, NoAnswer>,
    /// What `initialize` was answered with.
    pub(super) initialized: Result<Answer, NoAnswer>,
    /// What GET was answered with, of a server that takes neither.
    pub(super) streamed: Option<Result<Answer, NoAnswer>>,
    /// The sessions that were opened and not ended.
    sessions: RefCell<Vec<String>>,
    asked: RefCell<Vec<String>>,
    heard: RefCell<Vec<Answer>>,
    number: Cell<u64>,
}

impl Subject for Site {
    fn checks() -> Vec<&'static Check<Site>> {
        super::GROUPS.iter().flat_map(|group| group.iter()).collect()
    }

    fn take_requests(&self) -> Vec<String> {
        self.asked.take()
    }
}

impl Site {
    /// An endpoint that was not asked anything yet. Errors when no connection can be prepared.
    pub(in crate::doctor) fn new(target: Target, options: &Options) -> Result<Site, Fault> {
        let Target { address, settings, .. } = target;
        let lanes = |settings| Lanes::new(&address, settings).map_err(|error| unprepared(&error));
        let (lanes, bare) = (lanes(settings.clone())?, lanes(without_credentials(&settings))?);
        Ok(Site {
            settings,
            options: options.clone(),
            lanes,
            bare,
            unreached: None,
            other_host: None,
            discovered: Err(NoAnswer::NotAsked),
            initialized: Err(NoAnswer::NotAsked),
            streamed: None,
            sessions: RefCell::default(),
            asked: RefCell::default(),
            heard: RefCell::default(),
            number: Cell::new(1),
            address,
        })
    }

    /// Finds out what the server speaks.
    pub(in crate::doctor) async fn open(&mut self) {
        if self.options.tries(Era::Modern) {
            self.discovered = self.meet(&Probe::modern(method::DISCOVER)).await;
        }
        if self.options.tries(Era::Legacy) {
            self.initialized = self.meet(&Probe::initialize(self.options.offer())).await;
        }
        if self.speech() == Speech::Legacy {
            // A session begins with it. What it is answered with is looked at by a check.
            let begun = json!({ "jsonrpc": "2.0", "method": method::INITIALIZED });
            let _ = self.ask(&self.in_session(Probe::message(&begun))).await;
        }
        if self.speech() == Speech::Nothing {
            self.streamed = Some(self.meet(&Probe::stream()).await);
        }
        if self.speech() == Speech::Nothing && self.address.is_loopback() {
            self.other_host = self.find_host().await;
        }
    }

    /// The host of this machine by which the server takes what it refuses to everybody otherwise.
    async fn find_host(&self) -> Option<String> {
        self.greeted().as_ref().ok().filter(|answer| refusal::is_closed(answer))?;
        for name in ["localhost", "127.0.0.1"] {
            let host = format!("{name}:{}", self.address.port());
            let answer = self.ask(&self.greeting().with("host", &host)).await;
            if answer.is_ok_and(|answer| answer.is_taken()) {
                return Some(host);
            }
        }
        None
    }

    /// Asks a server of which it is not certain that there is one. Where there is none, nobody is
    /// asked any more.
    async fn meet(&mut self, probe: &Probe) -> Result<Answer, NoAnswer> {
        let met = self.ask(probe).await;
        if let Err(NoAnswer::Broken(fault)) = &met
            && fault.sent == Sent::No
        {
            self.unreached = Some(fault.clone());
            return Err(NoAnswer::Unreached(fault.clone()));
        }
        met
    }

    /// Why there is nothing to examine, if that is so.
    pub(in crate::doctor) fn unusable(&self) -> Option<Unusable> {
        if self.speech() != Speech::Nothing {
            return None;
        }
        match self.greeted() {
            Err(NoAnswer::Broken(fault) | NoAnswer::Unreached(fault)) => {
                Some(Unusable::Fault(fault.clone()))
            }
            Err(NoAnswer::Late(patience)) => Some(Unusable::Silent(*patience)),
            Err(NoAnswer::Busy(status)) => Some(Unusable::Busy(*status)),
            // Neither says anything about the server.
            Err(NoAnswer::TimeOver | NoAnswer::NotAsked) => None,
            Ok(answer) => match answer.status {
                _ if refusal::is_closed(answer) => {
                    let host = self.other_host.clone();
                    Some(Unusable::Refused { said: answer.summary(), host })
                }
                // How it guards itself can be examined.
                StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => None,
                status @ (StatusCode::BAD_GATEWAY | StatusCode::GATEWAY_TIMEOUT) => {
                    Some(Unusable::Busy(status))
                }
                _ => Some(Unusable::NotMcp(connection::no_mcp(self, answer))),
            },
        }
    }

    /// Why there is no server to ask, if that is so.
    pub(super) fn unreached(&self) -> Option<&Fault> {
        self.unreached.as_ref()
    }

    /// An id that no other request has.
    pub(super) fn next_id(&self) -> Value {
        let number = self.number.get();
        self.number.set(number + 1);
        json!(format!("doctor-{number}"))
    }

    /// Asks, and waits for the response in the answer.
    pub(super) async fn ask(&self, probe: &Probe) -> Result<Answer, NoAnswer> {
        self.exchange_on(self.lanes_for(probe), probe, self.options.patience).await
    }

    /// Opens the stream on which the server sends what no request asked for. One on which nothing
    /// happens sends nothing, not even its head to us: after a silence that is far longer than the
    /// server takes for other answers, only the head is looked at, where that can be done.
    pub(super) async fn listen(&self, probe: &Probe) -> Result<Answer, NoAnswer> {
        let usual = self.greeted().as_ref().map_or(Duration::ZERO, |answer| answer.first_byte);
        let patience = self.options.patience.min(SILENCE + 5 * usual);
        let lanes = self.lanes_for(probe);
        match self.exchange_on(lanes, probe, patience).await {
            Err(NoAnswer::Late(_)) => {
                let glance = self.glance(lanes, probe, patience).await;
                glance.and_then(Answer::silent).ok_or(NoAnswer::Late(patience))
            }
            other => other,
        }
    }

    /// Looks at the head alone. Servers have one such stream in a session, and answer 409 until they
    /// have seen that we hung up on the one before.
    async fn glance(&self, lanes: &Lanes, probe: &Probe, patience: Duration) -> Option<Glance> {
        let until = Instant::now() + patience;
        loop {
            let headers = lanes.headers(&probe.request(&self.address));
            let glance = Glance::of(&self.address, headers, &self.settings, patience).await?;
            if glance.status != StatusCode::CONFLICT.as_u16() {
                return Some(glance);
            }
            if until < Instant::now() {
                return None;
            }
            Timer::after(PAUSE).await;
        }
    }

    /// The same over a connection that nothing else was sent on.
    pub(super) async fn ask_afresh(&self, probe: &Probe) -> Result<Answer, NoAnswer> {
        self.ask_with(self.settings.clone(), probe).await
    }

    /// Asks another origin, with nothing of the user's.
    pub(super) async fn ask_elsewhere(&self, probe: &Probe) -> Result<Answer, NoAnswer> {
        let nothing = Settings { unix_socket: None, ..without_credentials(&self.settings) };
        self.ask_with(nothing, probe).await
    }

    async fn ask_with(&self, settings: Settings, probe: &Probe) -> Result<Answer, NoAnswer> {
        let address = probe.address.as_ref().unwrap_or(&self.address);
        let lanes = Lanes::new(address, settings);
        let lanes = lanes.map_err(|error| NoAnswer::Broken(unprepared(&error)))?;
        self.exchange_on(&lanes, probe, self.options.patience).await
    }

    /// The same, with the answer left open: of a stream there is what has come so far.
    pub(super) async fn open_stream(&self, probe: &Probe) -> Result<(Reply, Answer), NoAnswer> {
        self.begin_on(self.lanes_for(probe), probe, self.options.patience).await
    }

    fn lanes_for(&self, probe: &Probe) -> &Lanes {
        if probe.is_bare { &self.bare } else { &self.lanes }
    }

    async fn exchange_on(
        &self,
        lanes: &Lanes,
        probe: &Probe,
        patience: Duration,
    ) -> Result<Answer, NoAnswer> {
        self.begin_on(lanes, probe, patience).await.map(|(_, answer)| answer)
    }

    async fn begin_on(
        &self,
        lanes: &Lanes,
        probe: &Probe,
        patience: Duration,
    ) -> Result<(Reply, Answer), NoAnswer> {
        if let Some(fault) = &self.unreached {
            return Err(NoAnswer::Unreached(fault.clone()));
        }
        let begun = Instant::now();
        let left = self.options.until.saturating_duration_since(begun);
        if left.is_zero() {
            return Err(NoAnswer::TimeOver);
        }
        let is_last = left < patience;
        let patience = patience.min(left);
        self.asked.borrow_mut().push(probe.command_line(&self.address));
        let too_late = async {
            Timer::after(patience).await;
            Err(if is_last { NoAnswer::TimeOver } else { NoAnswer::Late(patience) })
        };
        let sending =
            async { lanes.send(probe.request(&self.address)).await.map_err(NoAnswer::Broken) };
        let mut reply: Reply = sending.or(too_late).await?;
        let first_byte = begun.elapsed();
        let rest = patience.saturating_sub(begun.elapsed());
        let found = read::body(&mut reply, probe.id.as_ref(), rest).await;
        let answer = Answer {
            status: reply.status,
            headers: reply.headers.clone(),
            body: found.text,
            response: found.response,
            odd: found.odd,
            first_byte,
        };
        self.note(&answer);
        let busy = [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE];
        if busy.contains(&answer.status) {
            return Err(NoAnswer::Busy(answer.status));
        }
        Ok((reply, answer))
    }

    /// Remembers what was said, and which session it may have opened.
    fn note(&self, answer: &Answer) {
        let opened = answer.header(SESSION).filter(|_| answer.is_taken());
        let mut sessions = self.sessions.borrow_mut();
        if let Some(id) = opened
            && sessions.len() < SESSIONS
            && !sessions.iter().any(|known| known == id)
        {
            sessions.push(id.to_owned());
        }
        self.heard.borrow_mut().push(answer.digest());
    }

    /// Everything that the server has said so far.
    pub(super) fn heard(&self) -> std::cell::Ref<'_, Vec<Answer>> {
        self.heard.borrow()
    }

    /// The question that ends a session.
    pub(super) fn end_of(&self, session: &str) -> Probe {
        self.in_session(Probe::new(Method::DELETE)).with(SESSION, session)
    }

    /// Takes note that a session has ended.
    pub(super) fn forget(&self, session: &str) {
        self.sessions.borrow_mut().retain(|known| known != session);
    }

    /// Ends the sessions that were opened, also when the time for everything else is over.
    pub(in crate::doctor) async fn close(mut self) {
        self.options.until = Instant::now() + FAREWELL;
        let sessions = self.sessions.take();
        for session in sessions {
            let _ = self.ask(&self.end_of(&session)).await;
        }
    }
}

/// The same settings with nothing of what tells who is calling.
fn without_credentials(settings: &Settings) -> Settings {
    let mut settings = settings.clone();
    settings.headers = Headers::default();
    settings.authorization = Authorization::none();
    (settings.tls.certificate, settings.tls.key) = (None, None);
    settings
}

/// The fault of connections that cannot be prepared.
fn unprepared(error: &impl std::fmt::Display) -> Fault {
    Fault::new(FaultKind::Unreachable, error.to_string(), Sent::No)
}
