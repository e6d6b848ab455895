//! `mcpmini watch`: what a server notifies about, as it happens.
//!
//! A modern server is asked by one request that stays open, a legacy one by `resources/subscribe`
//! and, over HTTP, by the stream of what no request asked for. What breaks off after it stood is
//! opened again.

mod backoff;
mod wanted;

use std::time::{Duration, Instant};

use futures_lite::FutureExt;
use smol::LocalExecutor;

use self::backoff::Backoff;
use self::wanted::Wanted;
use super::args::primitives::Watch;
use super::contact::Contact;
use super::duration;
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::output;
use super::run::Run;
use super::watcher::text_of;
use crate::client::{Flights, Happening, Landed, NoResult, Observer, Reply};
use crate::protocol::json::{self, Json};
use crate::protocol::jsonrpc::{ErrorObject, Notification};
use crate::protocol::message::{Fault, Listening, Refused, Sent};
use crate::protocol::method;
use crate::protocol::params::Params;
use crate::protocol::revision::{Revision, SubscribeBy};
use crate::protocol::session::{Call, Failure, Limit, Question, TimedOut};
use crate::reactor::Timer;

/// Prints notifications until there were enough, or the time is over.
pub(super) async fn run(
    run: &Run<'_>,
    watch: &Watch,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    if run.globals.out.is_some() {
        let text = "watch prints as it goes, and has no answer for --out";
        return Err(Error::new(Exit::Usage, text).phase(Phase::Usage).sent(Sent::No));
    }
    let mut contact = Contact::find(run, &watch.server, executor)?;
    contact.listen();
    let mut watching = Watching {
        run,
        flights: Flights::new(contact.policy()),
        contact,
        wanted: Wanted::new(watch),
        left: watch.count,
        backoff: Backoff::default(),
        stood: false,
        revision: None,
    };
    let watched = watching.go_on().await;
    watching.contact.finish(watched).await
}

/// One run of the command.
struct Watching<'a> {
    run: &'a Run<'a>,
    contact: Contact<'a>,
    flights: Flights<Tag>,
    wanted: Wanted,
    /// How many notifications are still wanted; `None` for all.
    left: Option<usize>,
    backoff: Backoff,
    /// Whether notifications could come at least once.
    stood: bool,
    /// The revision by which was subscribed.
    revision: Option<&'static Revision>,
}

/// What a request is for.
#[derive(Debug)]
enum Tag {
    /// It stays open as long as the server notifies.
    Listen,
    /// It subscribes to one resource.
    Subscribe,
    /// It makes a server that has forgotten the session open another.
    Revive,
}

/// How one conversation ends.
enum End {
    /// All is done.
    Enough,
    /// The time is over.
    Late,
    /// It broke off.
    Broken(Error),
    /// The server turned out to be of the other era.
    OtherEra,
}

/// What comes next.
enum Next {
    Happened(Happening<Tag>),
    Interrupted(i32),
    Late,
}

impl Watching<'_> {
    /// Watches over all interruptions.
    async fn go_on(&mut self) -> Result<Exit, Error> {
        loop {
            let end = match self.begin().await {
                Ok(()) => self.read().await?,
                Err(error) => broken(error, false)?,
            };
            self.contact.cancel(&mut self.flights, "the client has seen enough");
            match end {
                End::Enough => return Ok(Exit::Ok),
                End::Late => return self.late(),
                End::OtherEra => (),
                End::Broken(error) => {
                    if let Some(exit) = self.wait_after(error).await? {
                        return Ok(exit);
                    }
                }
            }
        }
    }

    /// Waits before the next attempt. What never stood is not opened again: it is an error like
    /// that of any other command.
    async fn wait_after(&mut self, error: Error) -> Result<Option<Exit>, Error> {
        let Some(wait) = self.backoff.next(Instant::now()).filter(|_| self.stood) else {
            return Err(error);
        };
        self.tell_break(&error.message, wait);
        match self.contact.pause(wait).await {
            Ok(()) => Ok(None),
            Err(NoResult::Failed(Failure::TimedOut(_))) => self.late().map(Some),
            Err(no_result) => Err(self.contact.explain(no_result)),
        }
    }

    /// Opens the server, and asks for what is wanted.
    async fn begin(&mut self) -> Result<(), Error> {
        let revision = self.contact.settle().await?;
        self.revision = Some(revision);
        match revision.subscribe {
            SubscribeBy::Listen => {
                let filter = Params::new().with("notifications", self.wanted.filter());
                self.request(Tag::Listen, method::LISTEN, filter);
            }
            SubscribeBy::Resource => {
                let greeting = self.contact.about().and_then(|about| about.greeting.clone());
                let greeting = greeting.as_ref().map_or("{}", Json::as_str);
                self.check(self.wanted.missing_in_capabilities(greeting))?;
                for uri in self.wanted.uris().to_vec() {
                    let params = Params::new().with("uri", json::string(&uri));
                    self.request(Tag::Subscribe, method::SUBSCRIBE, params);
                }
                if self.stood && self.flights.is_empty() {
                    self.request(Tag::Revive, method::PING, Params::new());
                }
                self.stood = true;
            }
        }
        Ok(())
    }

    fn request(&mut self, tag: Tag, method: &str, params: Params) {
        let call = self.contact.prepare(method, params, Vec::new());
        // That the time is over is no failure of a request.
        self.flights.begin(tag, Call { deadline: None, ..call }, false);
    }

    /// Prints what comes until there is enough, or nothing more can come.
    async fn read(&mut self) -> Result<End, Error> {
        loop {
            let end = match self.next().await? {
                Next::Happened(happening) => self.heed(happening)?,
                Next::Late => Some(End::Late),
                Next::Interrupted(signal) => {
                    let no_result = NoResult::Interrupted { signal, sent: true };
                    return Err(self.contact.explain(no_result));
                }
            };
            if let Some(end) = end {
                return Ok(end);
            }
        }
    }

    async fn next(&mut self) -> Result<Next, Error> {
        let (run, deadline) = (self.run, self.contact.deadline);
        let (link, _) = self.contact.link()?;
        let happened = async { Next::Happened(self.flights.next(link).await) };
        let late = async {
            Timer::at(deadline).await;
            Next::Late
        };
        let interrupted = async { Next::Interrupted(run.interrupted().await) };
        Ok(interrupted.or(happened).or(late).await)
    }

    /// Deals with what has happened; tells how the conversation ends, if it does.
    fn heed(&mut self, happening: Happening<Tag>) -> Result<Option<End>, Error> {
        match happening {
            Happening::Notified(notification) => return self.print(&notification),
            Happening::Landed(landed) => return self.land(landed),
            Happening::Listening(listening) => return self.listening(&listening),
            Happening::Closed(fault) => return self.closed(fault),
            Happening::Subscribed(filter) => {
                self.stood = true;
                self.backoff.stands(Instant::now());
                self.check(self.wanted.missing_in_filter(filter.as_str()))?;
            }
            Happening::Asked(question) => self.answer(question)?,
            Happening::Opened(_) => {
                let (link, watcher) = self.contact.link()?;
                link.introduce(watcher);
            }
            Happening::Odd(oddity) => {
                let (_, watcher) = self.contact.link()?;
                if !watcher.odd(&oddity) {
                    return Err(self.contact.explain(NoResult::Odd(oddity)));
                }
            }
            Happening::Withdrawn(_) => (),
        }
        Ok(None)
    }

    /// Prints a notification, if it is wanted.
    fn print(&mut self, notification: &Notification) -> Result<Option<End>, Error> {
        self.contact.watcher.notified(notification);
        // What is remembered of a list that has changed is no longer good.
        self.contact.heed_changes(None);
        if !self.wanted.includes(&notification.method) {
            return Ok(None);
        }
        let line = text_of(notification);
        if json::validate(&line).is_err() {
            self.run.warn("left out a notification that is not JSON");
            return Ok(None);
        }
        output::write_line(self.run, &line)?;
        self.backoff.reset();
        self.left = self.left.map(|left| left - 1);
        Ok((self.left == Some(0)).then_some(End::Enough))
    }

    /// A request has ended. One that listens never should.
    fn land(&mut self, landed: Landed<Tag>) -> Result<Option<End>, Error> {
        let no_result = match (landed.tag, landed.result) {
            (Tag::Subscribe | Tag::Revive, Ok(_)) => return Ok(None),
            (Tag::Listen, Ok(_)) => NoResult::Failed(Failure::Unsubscribed),
            (_, Err(no_result)) => no_result,
        };
        let code = match &no_result {
            NoResult::Error(error) => Some(error.code),
            _ => None,
        };
        let is_final = matches!(no_result, NoResult::Failed(Failure::Unsubscribed));
        let error = self.contact.explain(no_result);
        match code {
            Some(ErrorObject::METHOD_NOT_FOUND) if self.is_of_other_era() => {
                Ok(Some(End::OtherEra))
            }
            Some(ErrorObject::METHOD_NOT_FOUND) => {
                Err(error.hint("the server notifies about nothing"))
            }
            _ => broken(error, is_final).map(Some),
        }
    }

    /// Whether the server speaks another revision than was thought.
    fn is_of_other_era(&self) -> bool {
        self.contact.known_revision() != self.revision
    }

    /// The connection is gone. Where a request was open, that it has failed tells so.
    fn closed(&self, fault: Fault) -> Result<Option<End>, Error> {
        if !self.flights.is_empty() {
            return Ok(None);
        }
        let error = self.contact.explain(NoResult::Failed(Failure::Broken(fault)));
        broken(error, false).map(Some)
    }

    /// How it stands with the stream of a legacy server over HTTP.
    fn listening(&mut self, listening: &Listening) -> Result<Option<End>, Error> {
        let error = |exit, text: &str| {
            let error = Error::new(exit, text).phase(Phase::Request).sent(Sent::Yes);
            error.server(self.contact.server.name.clone())
        };
        match listening {
            Listening::Open => {
                self.backoff.stands(Instant::now());
                Ok(None)
            }
            Listening::Broken { again_in } => {
                self.tell_break("the stream broke off", *again_in);
                Ok(None)
            }
            Listening::Refused { status: 405 } => {
                let text = "HTTP 405: the server has no stream of notifications";
                Err(error(Exit::Rpc, text).status(405))
            }
            // The session is over; a new one can be had.
            Listening::Refused { status: 404 } if self.backoff.has_stood() => {
                let text = "the server has ended the session";
                Ok(Some(End::Broken(error(Exit::Lost, text))))
            }
            Listening::Refused { status } => {
                let refused = Refused { status: *status, ..Refused::default() };
                let failure = Failure::Refused(Box::new(refused));
                Err(self.contact.explain(NoResult::Failed(failure)))
            }
            Listening::Lost => Err(error(Exit::Lost, "the stream broke off again and again")),
        }
    }

    /// Answers a question as the command line says.
    fn answer(&mut self, question: Question) -> Result<(), Error> {
        let (link, watcher) = self.contact.link()?;
        match watcher.asked(&question) {
            Reply::Answer(answer) => self.flights.answer(link, question.from, answer),
            Reply::Later(answer) => link.ponder(question.from, answer),
            Reply::End => return Err(self.contact.explain(NoResult::Asked(question))),
        }
        Ok(())
    }

    fn tell_break(&self, what: &str, wait: Duration) {
        self.run.tell(&format!("{what}; trying again in {}", duration::show(wait)));
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
        Err(error.server(self.contact.server.name.clone()))
    }

    /// The time is over: that is the end that was asked for, unless a number was asked for.
    fn late(&self) -> Result<Exit, Error> {
        let Some(left) = self.left else { return Ok(Exit::Ok) };
        let (limit, after) = (Limit::Total, Duration::ZERO);
        let timed_out = TimedOut { limit, after, sent: true, streaming: true };
        let error = self.contact.explain(NoResult::Failed(Failure::TimedOut(timed_out)));
        let message = format!("{}; {left} more notifications were wanted", error.message);
        Err(Error { message, ..error }.hint("--max-time gives it more time"))
    }
}

/// What broke off can be opened again; any other error stays what it is.
fn broken(error: Error, is_final: bool) -> Result<End, Error> {
    match error.exit {
        Exit::Lost | Exit::Unreachable if !is_final => Ok(End::Broken(error)),
        _ => Err(error),
    }
}
