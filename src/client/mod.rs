//! A session and a connection, driven together.
//!
//! The only loop of the program is [`Client::next_event`]. Everything else asks for something and
//! waits for the event that answers it.
//!
//! ```text
//! Flights   calls, each sent again as the policy of `retry` says
//!   Link    a server, opened when it is needed and anew after it was lost
//!   Client  one session and one connection
//! ```

pub mod retry;

mod answering;
mod flights;
mod guard;
mod link;
mod open;
mod pages;
mod rehearse;

use std::future::Future;
use std::time::{Duration, Instant};

use futures_lite::FutureExt;

use self::answering::Answering;
pub use self::answering::Pondered;
pub use self::flights::{Flights, Happening, Landed, Terms};
use self::guard::Guard;
pub use self::link::{Access, Link};
pub use self::open::{Server, open};
pub use self::pages::{Pages, RepeatedPage};
pub use self::rehearse::rehearse;
use crate::protocol::Session;
use crate::protocol::jsonrpc::{ErrorObject, Notification};
use crate::protocol::message::Incoming;
use crate::protocol::session::{
    Asker, Call, Event, Failure, Fate, Oddity, Output, Question, Ticket,
};
use crate::reactor::Timer;
use crate::transport::Connection;

/// How long to wait before looking again whether the server takes what waits for it.
const CROWDED: Duration = Duration::from_millis(10);

/// A server that can be asked.
#[derive(Debug)]
pub struct Client {
    session: Session,
    connection: Connection,
    transport: smol::Task<()>,
    answering: Answering,
    guard: Guard,
}

/// Who is told what happens beside the answer to a call.
pub trait Observer {
    /// The era of the server is known for certain, and maybe what it says about itself. True to go
    /// on, false to have nothing to do with it.
    fn opened(&mut self, session: &Session) -> bool;
    /// The server said something unasked.
    fn notified(&mut self, notification: &Notification);
    /// Something was not as it should be. True to go on, false to end the call.
    fn odd(&mut self, oddity: &Oddity) -> bool;
    /// The server asks something.
    fn asked(&mut self, question: &Question) -> Reply;
}

/// What an [`Observer`] says to a question.
#[derive(Debug)]
pub enum Reply {
    /// The answer, JSON text, or why there is none.
    Answer(Result<String, ErrorObject>),
    /// The same, but it takes time. The conversation goes on meanwhile.
    Later(Pondered),
    /// The call must end.
    End,
}

/// Why there is no result.
#[derive(Debug)]
pub enum NoResult {
    /// The server answered with an error.
    Error(ErrorObject),
    /// The call ended without an answer.
    Failed(Failure),
    /// The observer would not tolerate this.
    Odd(Oddity),
    /// The observer ended the call at this question.
    Asked(Question),
    /// It was not carried out: the connection or the session that it was to go out on is gone.
    Moved {
        /// How often it had been sent before.
        attempts: u32,
    },
    /// A signal came.
    Interrupted {
        /// Its number.
        signal: i32,
        /// Whether the call had been handed to the transport.
        sent: bool,
    },
}

/// What comes next.
enum Next {
    Incoming(Incoming),
    Timeout,
    /// Whether there are other credentials now.
    Authorized(bool),
    /// The answer to a question.
    Answered(Asker, Result<String, ErrorObject>),
}

impl NoResult {
    /// How far the request came.
    pub fn fate(&self) -> Fate {
        match self {
            NoResult::Failed(failure) => failure.fate(),
            NoResult::Moved { .. } => Fate::NotRun,
            NoResult::Error(_)
            | NoResult::Odd(_)
            | NoResult::Asked(_)
            | NoResult::Interrupted { .. } => Fate::Settled,
        }
    }

    /// Whether another attempt would fail in the same way, until somebody mends what is wrong.
    pub fn lasts(&self) -> bool {
        matches!(self, NoResult::Failed(failure) if failure.lasts())
    }
}

impl Client {
    /// The session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The last lines that the server wrote on its standard error.
    pub fn stderr_tail(&self) -> String {
        self.connection.stderr_tail()
    }

    /// Waits until it is settled which revision is spoken, or that none will be, and the observer was
    /// told about the server.
    pub async fn settle(&mut self, observer: &mut dyn Observer) {
        while !self.session.is_settled() || self.session.has_opened() {
            if let Some(event) = self.step().await {
                self.note(event, observer);
            }
        }
    }

    /// Waits for something, and deals with what the server says meanwhile.
    pub async fn meanwhile<T>(
        &mut self,
        what: impl Future<Output = T>,
        observer: &mut dyn Observer,
    ) -> T {
        let mut what = std::pin::pin!(what);
        loop {
            let done = async { Ok(what.as_mut().await) };
            match done.or(async { Err(self.next_event().await) }).await {
                Ok(done) => return done,
                Err(event) => self.note(event, observer),
            }
        }
    }

    /// Deals with an event while no call of ours waits.
    fn note(&mut self, event: Event, observer: &mut dyn Observer) {
        match event {
            Event::Opened(_) => {
                if !observer.opened(&self.session) {
                    self.session.refuse();
                }
            }
            Event::Notified(notification) => observer.notified(&notification),
            Event::Oddity(oddity) => drop(observer.odd(&oddity)),
            Event::Asked(question) => match observer.asked(&question) {
                Reply::Answer(answer) => self.session.answer(question.from, answer),
                Reply::Later(answer) => self.ponder(question.from, answer),
                Reply::End => {
                    let refusal = ErrorObject::method_not_found();
                    self.session.answer(question.from, Err(refusal));
                }
            },
            Event::Answered(..) | Event::Failed(..) | Event::Closed(_) | Event::Challenged(_) => (),
            Event::Withdrawn(_) | Event::Subscribed(..) | Event::Listening(_) => (),
        }
    }

    /// Finds the answer to a question beside everything else, and gives it to whoever asks.
    pub fn ponder(&mut self, to: Asker, answer: Pondered) {
        self.answering.begin(to, answer);
    }

    /// Begins a call.
    pub fn begin(&mut self, call: Call) -> Ticket {
        self.session.call(call)
    }

    /// Carries on until the session has something to say.
    ///
    /// Dropping the future loses nothing: all state is in the session and the connection.
    pub async fn next_event(&mut self) -> Event {
        loop {
            if let Some(event) = self.step().await {
                return event;
            }
        }
    }

    /// Does the next thing that the session wants, and what follows from it at once; it may be to tell
    /// something. Whoever waits for something else than an event can look after every step.
    async fn step(&mut self) -> Option<Event> {
        self.guard.prepare().await;
        let now = Instant::now();
        loop {
            match self.session.poll(now) {
                Output::Event(Event::Challenged(challenged)) => self.guard.challenge(*challenged),
                Output::Event(event) => {
                    self.answering.heed(&event);
                    return Some(event);
                }
                Output::Transmit(outgoing) => self.connection.send(outgoing),
                Output::Wait(until) => match self.report_at_hand() {
                    // They may be many: nothing is set up to wait for them, nor is the clock asked.
                    Some(incoming) => self.session.handle_incoming(incoming, now),
                    None => {
                        self.wait(until).await;
                        return None;
                    }
                },
            }
            if !self.session.has_more_to_say() {
                return None;
            }
        }
    }

    /// A report that is there already, unless something else comes first.
    fn report_at_hand(&self) -> Option<Incoming> {
        let waits = self.guard.is_answering() || self.connection.is_crowded();
        if waits { None } else { self.connection.receive_now() }
    }

    /// Waits for what comes first: something from the server, other credentials, the answer to a
    /// question, or that instant.
    async fn wait(&mut self, until: Option<Instant>) {
        let authorized = async { Next::Authorized(self.guard.answered().await) };
        let received =
            async { receive(&self.connection, until).await.map_or(Next::Timeout, Next::Incoming) };
        let answered = async {
            let (asker, answer) = self.answering.next().await;
            Next::Answered(asker, answer)
        };
        let next = authorized.or(received).or(answered).await;
        let now = Instant::now();
        match next {
            Next::Incoming(incoming) => self.session.handle_incoming(incoming, now),
            Next::Timeout => self.session.handle_timeout(now),
            Next::Authorized(true) => self.session.retry(now),
            Next::Authorized(false) => self.session.forgo(),
            Next::Answered(asker, answer) => self.session.answer(asker, answer),
        }
    }

    /// Gives up what is still open, hands what the session has to say to the transport, and waits
    /// until the transport has shut down. When `hurry` is ready, there is no more time to be polite.
    pub async fn close(mut self, hurry: impl Future) {
        let now = Instant::now();
        // Nobody is asked any more.
        self.answering = Answering::default();
        self.session.cancel_all("the client gave up");
        loop {
            match self.session.poll(now) {
                Output::Transmit(outgoing) => self.connection.send(outgoing),
                Output::Event(_) => (),
                Output::Wait(_) => break,
            }
        }
        self.connection.close();
        let connection = &self.connection;
        let impatient = async {
            hurry.await;
            connection.hurry();
            futures_lite::future::pending().await
        };
        self.transport.or(impatient).await;
    }
}

async fn receive(connection: &Connection, until: Option<Instant>) -> Option<Incoming> {
    let incoming = async {
        while connection.is_crowded() {
            Timer::after(CROWDED).await;
        }
        match connection.receive().await {
            Some(incoming) => Some(incoming),
            // The transport has reported its end before; only time can still end a call.
            None => futures_lite::future::pending().await,
        }
    };
    match until {
        None => incoming.await,
        Some(until) => {
            let timeout = async {
                Timer::at(until).await;
                None
            };
            incoming.or(timeout).await
        }
    }
}
