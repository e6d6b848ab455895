//! A session and a connection, driven together.
//!
//! The only loop of the program is [`Client::next_event`]. Everything else asks for something and
//! waits for the event that answers it.

mod open;
mod pages;

use std::future::Future;
use std::time::Instant;

use futures_lite::FutureExt;

pub use self::open::{Server, open};
pub use self::pages::{Pages, RepeatedPage};
use crate::protocol::Session;
use crate::protocol::json::Json;
use crate::protocol::jsonrpc::{ErrorObject, Notification};
use crate::protocol::message::Incoming;
use crate::protocol::session::{Call, Event, Failure, Oddity, Output, Question, Ticket};
use crate::reactor::Timer;
use crate::transport::Connection;

/// A server that can be asked.
#[derive(Debug)]
pub struct Client {
    session: Session,
    connection: Connection,
    transport: smol::Task<()>,
}

/// Who is told what happens beside the answer to a call.
pub trait Observer {
    /// The era of the server is known for certain.
    fn opened(&mut self, session: &Session);
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
    /// A signal came, with this number.
    Interrupted(i32),
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

    /// Waits until it is settled which revision is spoken, or that none will be.
    pub async fn settle(&mut self, observer: &mut dyn Observer) {
        while !self.session.is_settled() {
            if let Some(event) = self.step().await {
                self.note(event, observer);
            }
        }
    }

    /// Lets time pass until that instant, and deals with what the server says meanwhile.
    pub async fn pause(&mut self, until: Instant, observer: &mut dyn Observer) {
        loop {
            let passed = async {
                Timer::at(until).await;
                None
            };
            match passed.or(async { Some(self.next_event().await) }).await {
                Some(event) => self.note(event, observer),
                None => return,
            }
        }
    }

    /// Deals with an event while no call of ours waits.
    fn note(&mut self, event: Event, observer: &mut dyn Observer) {
        match event {
            Event::Opened(_) => observer.opened(&self.session),
            Event::Notified(notification) => observer.notified(&notification),
            Event::Oddity(oddity) => drop(observer.odd(&oddity)),
            Event::Asked(question) => match observer.asked(&question) {
                Reply::Answer(answer) => self.session.answer(question.from, answer),
                Reply::End => {
                    let refusal = ErrorObject::method_not_found();
                    self.session.answer(question.from, Err(refusal));
                }
            },
            Event::Answered(..) | Event::Failed(..) | Event::Closed(_) => (),
        }
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

    /// Does the next thing that the session wants; it may be to tell something.
    async fn step(&mut self) -> Option<Event> {
        match self.session.poll(Instant::now()) {
            Output::Event(event) => return Some(event),
            Output::Transmit(outgoing) => self.connection.send(outgoing),
            Output::Wait(until) => match receive(&self.connection, until).await {
                Some(incoming) => self.session.handle_incoming(incoming, Instant::now()),
                None => self.session.handle_timeout(Instant::now()),
            },
        }
        None
    }

    /// Makes a call and waits for its end.
    pub async fn call(
        &mut self,
        call: Call,
        observer: &mut dyn Observer,
        interrupted: impl Future<Output = i32>,
    ) -> Result<Json, NoResult> {
        let ticket = self.begin(call);
        let outcome = async { Ok(self.finish(ticket, observer).await) };
        let outcome = outcome.or(async { Err(interrupted.await) }).await;
        match outcome {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(no_result)) => {
                // Only calls that still run are given up; for the others this does nothing.
                self.session.cancel(ticket, "the client gave up");
                Err(no_result)
            }
            Err(signal) => {
                self.session.cancel(ticket, "interrupted");
                Err(NoResult::Interrupted(signal))
            }
        }
    }

    async fn finish(
        &mut self,
        ticket: Ticket,
        observer: &mut dyn Observer,
    ) -> Result<Json, NoResult> {
        loop {
            match self.next_event().await {
                Event::Answered(answered, Ok(result)) if answered == ticket => return Ok(result),
                Event::Answered(answered, Err(error)) if answered == ticket => {
                    return Err(NoResult::Error(error));
                }
                Event::Failed(failed, failure) if failed == ticket => {
                    return Err(NoResult::Failed(failure));
                }
                Event::Answered(..) | Event::Failed(..) | Event::Closed(_) => (),
                Event::Opened(_) => observer.opened(&self.session),
                Event::Notified(notification) => observer.notified(&notification),
                Event::Oddity(oddity) => {
                    if !observer.odd(&oddity) {
                        return Err(NoResult::Odd(oddity));
                    }
                }
                Event::Asked(question) => match observer.asked(&question) {
                    Reply::Answer(answer) => self.session.answer(question.from, answer),
                    Reply::End => return Err(NoResult::Asked(question)),
                },
            }
        }
    }

    /// Hands what the session still has to say to the transport and waits until the transport has
    /// shut down. When `hurry` is ready, there is no more time to be polite.
    pub async fn close(mut self, hurry: impl Future) {
        let now = Instant::now();
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
