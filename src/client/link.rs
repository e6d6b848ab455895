//! A server whose connection is opened when it is needed, and anew after it was lost.

use std::convert::Infallible;
use std::time::Instant;

use futures_lite::{FutureExt, future};
use smol::LocalExecutor;

use super::guard::Guard;
use super::retry::{Breaker, Policy};
use super::{Client, NoResult, Observer, Pondered, Server, open};
use crate::auth::{AuthError, Authorizer};
use crate::env::Secret;
use crate::protocol::jsonrpc::Limits;
use crate::protocol::message::Fault;
use crate::protocol::opening::Certainty;
use crate::protocol::session::{Asker, Event, Failure, Profile};
use crate::protocol::{Revision, Session};
use crate::reactor::Timer;
use crate::reactor::queue::{self, Sender};

/// All it takes to open a server, again and again.
#[derive(Debug, Clone)]
pub struct Access<'a> {
    /// Where transports run.
    pub executor: &'a LocalExecutor<'static>,
    /// The server.
    pub server: Server,
    /// The bounds on messages.
    pub limits: Limits,
    /// What is known about its era.
    pub certainty: Certainty,
    /// What the session needs to know about this client. Whether it authorizes is told by whether
    /// the link has an authorizer.
    pub profile: Profile,
}

/// A server whose connection is opened when it is needed, and anew after it was lost.
///
/// There is never more than one connection: the next one is opened when nothing is left of the
/// last, because two processes of one server may want the same files.
#[derive(Debug)]
pub struct Link<'a> {
    access: Access<'a>,
    client: Option<Client>,
    ending: Option<Ending>,
    breaker: Breaker,
    starts: u32,
    /// The last lines that the server of the last lost connection wrote on its standard error.
    last_words: String,
    /// Why the last call failed that did.
    last_failure: Option<Failure>,
    /// Answers refusals for want of credentials, on one connection after the other. It is with the
    /// client while there is one.
    guard: Guard,
}

/// A lost connection that is being cleaned up.
#[derive(Debug)]
struct Ending {
    done: smol::Task<()>,
    /// Dropped when there is no more time to be polite.
    calm: Sender<Infallible>,
}

/// Whether a connection can be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Readiness {
    /// It is open.
    Open,
    /// It can be opened at that instant; at once when it is not in the future.
    OpensAt(Instant),
    /// The last one is lost, and [`Link::step`] still has to tell what became of its calls.
    Draining,
    /// Something is left of the last one; [`Link::step`] waits until it is gone.
    Ending,
}

impl<'a> Link<'a> {
    /// A link that is not open yet. Without an authorizer, a refusal for want of credentials ends
    /// the call.
    pub fn new(access: Access<'a>, authorizer: Option<Box<Authorizer>>) -> Link<'a> {
        let (breaker, last_words) = (Breaker::default(), String::new());
        let mut access = access;
        access.profile.authorizes = authorizer.is_some();
        access
            .profile
            .extensions
            .extend(authorizer.iter().flat_map(|authorizer| authorizer.extensions()));
        let guard = Guard::new(authorizer);
        let (client, ending, last_failure) = (None, None, None);
        Link { access, client, ending, breaker, starts: 0, last_words, last_failure, guard }
    }

    fn guard(&self) -> &Guard {
        self.client.as_ref().map_or(&self.guard, |client| &client.guard)
    }

    /// What answers refusals for want of credentials; `None` when nothing does, or when it is at
    /// work.
    pub fn authorizer(&mut self) -> Option<&mut Authorizer> {
        match &mut self.client {
            Some(client) => client.guard.authorizer(),
            None => self.guard.authorizer(),
        }
    }

    /// Why the last refusal for want of credentials had no answer; `None` when it had one.
    pub fn denial(&self) -> Option<&AuthError> {
        self.guard().denial()
    }

    /// Who the server sees, as far as its answers may depend on it; `None` when it sees nobody.
    pub fn account(&self) -> Option<String> {
        self.guard().account()
    }

    /// What must not be shown in a message.
    pub fn secrets(&self) -> Vec<Secret> {
        self.guard().secrets()
    }

    /// The client, to be driven.
    pub(super) fn client_mut(&mut self) -> Option<&mut Client> {
        self.client.as_mut()
    }

    /// The session; `None` before the connection is opened for the first time.
    pub fn session(&self) -> Option<&Session> {
        self.client.as_ref().map(Client::session)
    }

    /// Tells an observer that the era of the server is known, and has nothing more to do with the
    /// server if the observer wants that.
    pub fn introduce(&mut self, observer: &mut dyn Observer) {
        if let Some(client) = &mut self.client
            && !observer.opened(&client.session)
        {
            client.session.refuse();
        }
    }

    /// The last lines that the server wrote on its standard error.
    pub fn stderr_tail(&self) -> String {
        self.client.as_ref().map_or_else(|| self.last_words.clone(), Client::stderr_tail)
    }

    /// The last lines of the server whose connection was lost last.
    pub fn last_words(&self) -> String {
        match &self.client {
            Some(client) if client.session().is_over() => client.stderr_tail(),
            _ => self.last_words.clone(),
        }
    }

    /// Whether the server is spoken to by HTTP+SSE, of 2024-11-05.
    pub fn is_sse(&self) -> bool {
        self.client.as_ref().is_some_and(|client| client.connection.is_sse())
    }

    /// How often the connection was opened.
    pub fn starts(&self) -> u32 {
        self.starts
    }

    /// The number of the connection that a call goes out on now: the one that is open, or else the
    /// next one. The first is 1.
    pub fn number(&self) -> u32 {
        let is_open = self.session().is_some_and(|session| !session.is_over());
        if is_open { self.starts } else { self.starts + 1 }
    }

    /// The client, with its connection opened if that never happened before. What goes wrong is
    /// reported to the first call.
    pub fn open(&mut self) -> &mut Client {
        let (access, starts, breaker) = (&self.access, &mut self.starts, &mut self.breaker);
        let guard = &mut self.guard;
        self.client.get_or_insert_with(|| {
            *starts += 1;
            breaker.started(Instant::now());
            let Access { executor, server, limits, certainty, profile } = access.clone();
            let client = open(executor, server, limits, certainty, profile);
            Client { guard: std::mem::take(guard), ..client }
        })
    }

    /// Opens the connection and waits until it is settled which revision is spoken. It is tried
    /// again as the policy says.
    pub async fn settle(
        &mut self,
        policy: &Policy,
        observer: &mut dyn Observer,
    ) -> Result<&'static Revision, NoResult> {
        let mut attempts = 0;
        loop {
            if let (true, 0, Some(failure)) = (self.is_barred(), policy.asked, &self.last_failure) {
                return Err(NoResult::Failed(untried(failure)));
            }
            let client = self.reopen().await;
            client.settle(observer).await;
            let failure = match client.session().settled() {
                Ok(revision) => return Ok(revision),
                Err(failure) => failure,
            };
            self.note_failure(&failure);
            let no_result = NoResult::Failed(failure);
            attempts += 1;
            let Some(pause) = policy.plan(&no_result, false, attempts) else {
                return Err(no_result);
            };
            Timer::after(pause).await;
        }
    }

    /// Waits for something, and deals with what the server says meanwhile.
    pub async fn meanwhile<T>(
        &mut self,
        what: impl Future<Output = T>,
        observer: &mut dyn Observer,
    ) -> T {
        match &mut self.client {
            Some(client) => client.meanwhile(what, observer).await,
            None => what.await,
        }
    }

    /// Finds the answer to a question beside everything else, and gives it to whoever asks.
    pub fn ponder(&mut self, to: Asker, answer: Pondered) {
        if let Some(client) = &mut self.client {
            client.ponder(to, answer);
        }
    }

    /// The client, with its connection opened anew if it was lost.
    async fn reopen(&mut self) -> &mut Client {
        loop {
            let now = Instant::now();
            match self.readiness(now) {
                Readiness::Open => break,
                Readiness::Draining | Readiness::Ending => drop(self.step().await),
                Readiness::OpensAt(at) if at <= now => break,
                Readiness::OpensAt(at) => Timer::at(at).await,
            }
        }
        self.open()
    }

    /// Whether a connection is open or can be. A lost one begins to be cleaned up here.
    pub(super) fn readiness(&mut self, now: Instant) -> Readiness {
        match self.session() {
            Some(session) if !session.is_over() => return Readiness::Open,
            Some(session) if session.has_more_to_say() => return Readiness::Draining,
            Some(_) | None => self.discard(),
        }
        match self.ending {
            Some(_) => Readiness::Ending,
            None => Readiness::OpensAt(self.breaker.opens_at(now)),
        }
    }

    /// Whether opening the connection was in vain so often that waiting is no use.
    pub(super) fn is_hopeless(&self) -> bool {
        self.breaker.is_hopeless()
    }

    /// Whether the server may not be started for now, because that was in vain too often.
    fn is_barred(&self) -> bool {
        let now = Instant::now();
        let is_open = self.session().is_some_and(|session| !session.is_over());
        !is_open && self.is_hopeless() && now < self.breaker.opens_at(now)
    }

    /// Why the last call failed that did.
    pub(super) fn last_failure(&self) -> Option<&Failure> {
        self.last_failure.as_ref()
    }

    /// Takes in why a call has failed.
    pub(super) fn note_failure(&mut self, failure: &Failure) {
        self.last_failure = Some(failure.clone());
    }

    /// Takes in that the server has answered.
    pub(super) fn answered(&mut self) {
        self.breaker.answered();
    }

    fn discard(&mut self) {
        let Some(mut client) = self.client.take() else { return };
        self.guard = std::mem::take(&mut client.guard);
        self.last_words = client.stderr_tail();
        if let (Certainty::Unknown, Some(about)) = (self.access.certainty, client.session().about())
        {
            // It will speak what it spoke; if not, the session finds out.
            self.access.certainty = Certainty::Remembered(about.revision);
        }
        let (calm, until_calm_ends) = queue::bounded::<Infallible>(1);
        let hurry = async move { until_calm_ends.recv().await };
        let done = self.access.executor.spawn(async move { client.close(hurry).await });
        self.ending = Some(Ending { done, calm });
    }

    /// Carries on until there is something to tell, or nothing is left of a lost connection
    /// (`None`). Never ready while nothing is open. Dropping the future loses nothing.
    pub(super) async fn step(&mut self) -> Option<Event> {
        match (&mut self.client, &mut self.ending) {
            (Some(client), _) => Some(client.next_event().await),
            (None, None) => future::pending().await,
            (None, Some(ending)) => {
                (&mut ending.done).await;
                self.ending = None;
                None
            }
        }
    }

    /// Ends the connection: what is still to be said is said, and nothing of the server is left.
    /// When `hurry` is ready, there is no more time to be polite.
    pub async fn close(&mut self, hurry: impl Future) {
        self.discard();
        let Some(Ending { done, calm }) = self.ending.take() else { return };
        let impatient = async move {
            hurry.await;
            drop(calm);
            future::pending().await
        };
        let leaving = async {
            future::zip(done, self.guard.finish()).await;
        };
        leaving.or(impatient).await;
    }
}

/// The failure of a call that was not even tried, because others have failed so.
pub(super) fn untried(failure: &Failure) -> Failure {
    match failure.clone().unsent() {
        Failure::Broken(fault) => {
            let text = format!("the server is not started again for now: {}", fault.text);
            Failure::Broken(Fault { text, ..fault })
        }
        other => other,
    }
}
