//! `mcpmini watch`: what a server notifies about, as it happens.
//!
//! A modern server is asked by one request that stays open, a legacy one by `resources/subscribe`
//! and, over HTTP, by the stream of what no request asked for. What breaks off after it stood is
//! opened again.

mod backoff;
mod printer;
mod wanted;

use std::time::{Duration, Instant};

use async_io::Timer;
use futures_lite::FutureExt;
use smol::LocalExecutor;

use self::backoff::Backoff;
use self::printer::{Full, Printer};
use self::wanted::Wanted;
use super::args::commands::Watch;
use super::contact::Contact;
use super::duration;
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::run::Run;
use crate::client::NoResult;
use crate::protocol::json;
use crate::protocol::jsonrpc::ErrorObject;
use crate::protocol::message::{Listening, Refused, Sent};
use crate::protocol::method;
use crate::protocol::params::Params;
use crate::protocol::revision::{Revision, SubscribeBy};
use crate::protocol::session::{Call, Event, Failure, Limit, Ticket, TimedOut};

/// Prints notifications until there were enough, or the time is over.
pub(super) async fn run(
    run: &Run<'_>,
    watch: &Watch,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    if run.globals.out.is_some() {
        let text = "watch prints as it goes, and has no answer for --out";
        return Err(Error::new(Exit::Usage, text).phase(Phase::Usage));
    }
    let mut contact = Contact::find(run, &watch.server, executor)?;
    contact.listen();
    let mut watching = Watching {
        run,
        server: contact.server.name.clone(),
        wanted: Wanted::new(watch),
        left: watch.count,
        backoff: Backoff::default(),
        stood: false,
    };
    let watched = watching.go_on(&mut contact).await;
    contact.finish(watched).await
}

/// One run of the command.
struct Watching<'a> {
    run: &'a Run<'a>,
    /// The server, as the command line names it.
    server: String,
    wanted: Wanted,
    /// How many notifications are still wanted; `None` for all.
    left: Option<usize>,
    backoff: Backoff,
    /// Whether notifications could come at least once.
    stood: bool,
}

/// How one conversation ends.
enum End {
    /// All is done.
    Enough,
    /// It broke off.
    Broken(Error),
    /// The server turned out to be of the other era.
    OtherEra,
}

impl Watching<'_> {
    /// Watches over all interruptions.
    async fn go_on(&mut self, contact: &mut Contact<'_>) -> Result<Exit, Error> {
        loop {
            let error = match self.converse(contact).await? {
                End::Enough => return Ok(Exit::Ok),
                End::OtherEra => continue,
                End::Broken(error) => error,
            };
            // What never stood is not opened again: it is an error like that of any other command.
            let Some(wait) = self.backoff.next(Instant::now()).filter(|_| self.stood) else {
                return Err(error);
            };
            let shown = duration::show(wait);
            self.run.tell(&format!("{}; trying again in {shown}", error.message));
            if let Some(signal) = contact.hang_up().await {
                return Err(contact.explain(NoResult::Interrupted(signal)));
            }
            match self.pause(wait).await {
                Ok(()) => (),
                Err(Pause::Over) => return self.over(contact),
                Err(Pause::Interrupted(signal)) => {
                    return Err(contact.explain(NoResult::Interrupted(signal)));
                }
            }
        }
    }

    /// One conversation, from its opening to its end.
    async fn converse(&mut self, contact: &mut Contact<'_>) -> Result<End, Error> {
        let revision = contact.settle().await?;
        let by = revision.map(|revision| revision.subscribe);
        match by {
            Some(SubscribeBy::Resource) => self.subscribe_to_resources(contact).await?,
            // What kept the session from opening is told to the next request.
            Some(SubscribeBy::Listen) | None => (),
        }
        let listen = Call {
            deadline: None,
            ..contact
                .prepare(method::LISTEN, Params::new().with("notifications", self.wanted.filter()))
        };
        let (client, _) = contact.parts()?;
        let ticket = (by != Some(SubscribeBy::Resource)).then(|| client.begin(listen));
        let end = self.read(contact, ticket, revision).await;
        if let Some(ticket) = ticket {
            contact.parts()?.0.cancel(ticket, "the client has seen enough");
        }
        end
    }

    /// Subscribes on a legacy server, and says what it will not notify about.
    async fn subscribe_to_resources(&mut self, contact: &mut Contact<'_>) -> Result<(), Error> {
        let capabilities = contact.about().and_then(|about| about.greeting.clone());
        let capabilities = capabilities.as_ref().map_or("{}", json::Json::as_str);
        self.check(self.wanted.missing_in_capabilities(capabilities))?;
        for uri in self.wanted.uris().to_vec() {
            let params = Params::new().with("uri", json::string(&uri));
            let call = contact.prepare(method::SUBSCRIBE, params);
            let run = self.run;
            let (client, watcher) = contact.parts()?;
            let mut printer = Printer::new(watcher, &self.wanted, &mut self.left);
            let subscribed = client.call(call, &mut printer, run.interrupted()).await;
            subscribed.map_err(|no_result| contact.explain(no_result))?;
        }
        self.stood = true;
        Ok(())
    }

    /// Prints what comes until there is enough, or nothing more can come.
    async fn read(
        &mut self,
        contact: &mut Contact<'_>,
        ticket: Option<Ticket>,
        revision: Option<&'static Revision>,
    ) -> Result<End, Error> {
        // Some may have come while resources were subscribed to.
        while self.left != Some(0) {
            let Some(event) = self.next_event(contact).await? else {
                return self.over(contact).map(|_| End::Enough);
            };
            let (client, watcher) = contact.parts()?;
            let mut printer = Printer::new(watcher, &self.wanted, &mut self.left);
            let told = client.tell(event, &mut printer);
            match printer.full() {
                Some(Full::Enough) => return Ok(End::Enough),
                Some(Full::Unwritten(error)) => return Err(error),
                Some(Full::Printed) => self.backoff.reset(),
                None => (),
            }
            let event = match told {
                Ok(Some(event)) => event,
                Ok(None) => continue,
                Err(no_result) => return Err(contact.explain(no_result)),
            };
            if let Some(end) = self.end(event, ticket, revision, contact)? {
                return Ok(end);
            }
        }
        Ok(End::Enough)
    }

    /// What an event means for the conversation; `None` when it goes on.
    fn end(
        &mut self,
        event: Event,
        ticket: Option<Ticket>,
        revision: Option<&'static Revision>,
        contact: &Contact<'_>,
    ) -> Result<Option<End>, Error> {
        match event {
            Event::Subscribed(_, filter) => {
                self.stood = true;
                self.backoff.stands(Instant::now());
                self.check(self.wanted.missing_in_filter(filter.as_str()))?;
                Ok(None)
            }
            Event::Listening(listening) => self.listening(&listening, contact),
            Event::Answered(of, outcome) if Some(of) == ticket => match outcome {
                Ok(_) => Err(contact.explain(NoResult::Failed(Failure::Unsubscribed))),
                Err(error) => {
                    let now = contact.known_revision();
                    let unknown = error.code == ErrorObject::METHOD_NOT_FOUND;
                    let explained = contact.explain(NoResult::Error(error));
                    match unknown {
                        true if now != revision => Ok(Some(End::OtherEra)),
                        true => Err(explained.hint("the server notifies about nothing")),
                        false => Err(explained),
                    }
                }
            },
            Event::Failed(of, failure) if Some(of) == ticket => {
                let is_final = failure == Failure::Unsubscribed;
                let error = contact.explain(NoResult::Failed(failure));
                match error.exit {
                    Exit::Lost | Exit::Unreachable if !is_final => Ok(Some(End::Broken(error))),
                    _ => Err(error),
                }
            }
            // With a subscription, that it has failed says more.
            Event::Closed(fault) if ticket.is_none() => {
                let error = contact.explain(NoResult::Failed(Failure::Broken(fault)));
                Ok(Some(End::Broken(error)))
            }
            _ => Ok(None),
        }
    }

    /// How it stands with the stream of a legacy server over HTTP.
    fn listening(
        &mut self,
        listening: &Listening,
        contact: &Contact<'_>,
    ) -> Result<Option<End>, Error> {
        let lost = |text: &str| {
            let error = Error::new(Exit::Lost, text).phase(Phase::Request);
            error.server(self.server.clone())
        };
        match listening {
            Listening::Open => {
                self.backoff.stands(Instant::now());
                Ok(None)
            }
            Listening::Broken { again_in } => {
                let wait = duration::show(*again_in);
                self.run.tell(&format!("the stream broke off; trying again in {wait}"));
                Ok(None)
            }
            Listening::Refused { status: 405 } => {
                let text = "HTTP 405: the server has no stream of notifications";
                let error = Error::new(Exit::Rpc, text).status(405).phase(Phase::Request);
                Err(error.sent(Sent::No).server(self.server.clone()))
            }
            // The session is over; a new one can be had.
            Listening::Refused { status: 404 } if self.backoff.has_stood() => {
                Ok(Some(End::Broken(lost("the server has ended the session"))))
            }
            Listening::Refused { status } => {
                let refused = Refused { status: *status, ..Refused::default() };
                Err(contact.explain(NoResult::Failed(Failure::Refused(Box::new(refused)))))
            }
            Listening::Lost => Err(lost("the stream broke off again and again")),
        }
    }

    /// Says what the server will not notify about, if that was chosen. Errors when nothing is left.
    fn check(&self, missing: Vec<&'static str>) -> Result<(), Error> {
        let text = format!("the server does not notify about {}", missing.join(", "));
        if missing.len() < self.wanted.count() {
            if self.wanted.is_chosen() && !missing.is_empty() {
                self.run.warn(&text);
            }
            return Ok(());
        }
        let error = Error::new(Exit::Rpc, text).phase(Phase::Request).sent(Sent::Yes);
        Err(error.server(self.server.clone()))
    }

    /// The next event; `None` when the time is over.
    async fn next_event(&self, contact: &mut Contact<'_>) -> Result<Option<Event>, Error> {
        let run = self.run;
        let (client, _) = contact.parts()?;
        let event = async { Ok(Some(client.next_event().await)) };
        let over = async {
            until(run.deadline).await;
            Ok(None)
        };
        let interrupted = async { Err(run.interrupted().await) };
        let happened = event.or(over).or(interrupted).await;
        happened.map_err(|signal| contact.explain(NoResult::Interrupted(signal)))
    }

    async fn pause(&self, wait: Duration) -> Result<(), Pause> {
        let waited = async {
            Timer::after(wait).await;
            Ok(())
        };
        let over = async {
            until(self.run.deadline).await;
            Err(Pause::Over)
        };
        let interrupted = async { Err(Pause::Interrupted(self.run.interrupted().await)) };
        waited.or(over).or(interrupted).await
    }

    /// The time is over: that is the end that was asked for, unless a number was asked for.
    fn over(&self, contact: &Contact<'_>) -> Result<Exit, Error> {
        if self.left.is_none() {
            return Ok(Exit::Ok);
        }
        let (limit, after) = (Limit::Total, Duration::ZERO);
        let timed_out = TimedOut { limit, after, sent: true, streaming: true };
        Err(contact.explain(NoResult::Failed(Failure::TimedOut(timed_out))))
    }
}

/// Why a pause ended early.
enum Pause {
    Over,
    Interrupted(i32),
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => drop(Timer::at(deadline).await),
        None => futures_lite::future::pending().await,
    }
}
