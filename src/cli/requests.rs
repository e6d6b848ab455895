//! Requests to a server that a command works with: one, or many at a time.

use std::future::Future;
use std::time::{Duration, Instant};

use futures_lite::FutureExt;

use super::args::values::Assigned;
use super::contact::Contact;
use super::errors::Error;
use crate::auth::Authorizer;
use crate::client::retry::Policy;
use crate::client::{self, Flights, Landed, Link, NoResult, Observer, Reply, Terms};
use crate::protocol::json::{self, Json};
use crate::protocol::message::Sent;
use crate::protocol::method;
use crate::protocol::params::Params;
use crate::protocol::revision::Era;
use crate::protocol::session::{Call, Failure, Limit, Question, TimedOut};
use crate::protocol::{Outgoing, Revision};
use crate::reactor::Timer;

impl<'a> Contact<'a> {
    /// Opens the session, waits until the revision is settled, and tells which it is.
    pub(super) async fn settle(&mut self) -> Result<&'static Revision, Error> {
        self.hold_to_lock().await?;
        let (ended, policy) = (self.ended(), self.policy());
        let (link, watcher) = self.link()?;
        let settled = link.settle(&policy, watcher).or(async { Err(ended.await) }).await;
        settled.map_err(|no_result| self.explain(no_result))
    }

    /// The same, once the server has answered something: one that was remembered may still start.
    pub(super) async fn warm_up(&mut self) -> Result<&'static Revision, Error> {
        let revision = self.settle().await?;
        let has_greeted = self.about().is_some_and(|about| about.greeting.is_some());
        if revision.era == Era::Legacy || has_greeted {
            return Ok(revision);
        }
        let answered = self.request(method::DISCOVER, Params::new(), Vec::new()).await;
        let revision = self.settle().await?;
        // A server that is of the legacy era by now has no such method, and has greeted instead.
        if revision.era == Era::Modern {
            answered?;
        }
        Ok(revision)
    }

    /// What the server says about itself, once its revision is settled.
    pub(super) async fn greeting(&mut self) -> Result<Json, Error> {
        if let Some(greeting) = self.about().and_then(|about| about.greeting.clone()) {
            return Ok(greeting);
        }
        // A server whose era was remembered has not introduced itself in this run.
        let greeting = self.request(method::DISCOVER, Params::new(), Vec::new()).await?;
        self.watcher.consent.greet(greeting.as_str())?;
        Ok(greeting)
    }

    /// Waits that long between two requests, unless the run must end before.
    pub(super) async fn pause(&mut self, time: Duration) -> Result<(), NoResult> {
        let (ended, Some(link)) = (self.ended(), &mut self.link) else { return Ok(()) };
        let passed = async {
            link.meanwhile(Timer::after(time), &mut self.watcher).await;
            Ok(())
        };
        passed.or(async { Err(ended.await) }).await
    }

    /// Answers what the server asks through a task.
    ///
    /// # Errors
    /// When nothing answers it, or the run must end before something does.
    pub(super) async fn answer_task(&mut self, question: &Question) -> Result<String, Error> {
        let ended = self.ended();
        let (link, watcher) = self.link()?;
        let answer = match watcher.asked(question) {
            Reply::Answer(answer) => Ok(answer),
            Reply::Later(answer) => {
                let found = async { Ok(link.meanwhile(answer, watcher).await) };
                found.or(async { Err(ended.await) }).await
            }
            Reply::End => Err(NoResult::Asked(question.clone())),
        };
        let answer =
            answer.and_then(|answer| answer.map_err(|_| NoResult::Asked(question.clone())));
        answer.map_err(|no_result| self.explain(no_result))
    }

    /// Makes a request and waits for its result.
    pub(super) async fn request(
        &mut self,
        method: &str,
        params: Params,
        mirrored: Vec<(String, String)>,
    ) -> Result<Json, Error> {
        let result = self.try_request(method, params, mirrored).await?;
        result.map_err(|no_result| self.explain(no_result))
    }

    /// Makes a last request for which nobody waits longer than that, whatever else has ended, and
    /// whose answer does not matter.
    pub(super) async fn request_last(&mut self, method: &str, params: Params, time: Duration) {
        let Some(link) = &mut self.link else { return };
        let call = Call {
            method: method.to_owned().into(),
            params,
            deadline: Some(Instant::now() + time),
            ..Call::default()
        };
        // The next signal is for the end of the conversation.
        let mut flights = Flights::new(Policy::ONCE);
        flights.begin((), call, false);
        flights.landed(link, &mut self.watcher).await;
    }

    /// Makes a request; on failure tells what happened, for callers that can do something about it.
    pub(super) async fn try_request(
        &mut self,
        method: &str,
        params: Params,
        mirrored: Vec<(String, String)>,
    ) -> Result<Result<Json, NoResult>, Error> {
        let call = self.prepare(method, params, mirrored);
        self.try_call(call, method::facts(method).repeatable).await
    }

    /// A request, with the limits that hold for this server.
    pub(super) fn prepare(
        &self,
        method: &str,
        params: Params,
        mirrored: Vec<(String, String)>,
    ) -> Call {
        Call {
            method: method.to_owned().into(),
            params: self.with_meta(params),
            idle: self.answer_timeout(),
            deadline: self.deadline,
            mirrored,
            bound: false,
        }
    }

    /// Makes a request that may be sent again if it is `repeatable`.
    async fn try_call(
        &mut self,
        call: Call,
        repeatable: bool,
    ) -> Result<Result<Json, NoResult>, Error> {
        self.try_call_on(call, Terms { repeatable, ..Terms::default() }).await
    }

    /// The same on other terms.
    pub(super) async fn try_call_on(
        &mut self,
        call: Call,
        terms: Terms,
    ) -> Result<Result<Json, NoResult>, Error> {
        self.hold_to_lock().await?;
        let mut flights = Flights::new(self.policy());
        flights.begin_on((), call, terms);
        // The session knows the limit as well, but is not asked while a token is renewed.
        let ended = self.ended();
        let landed = async { Ok(self.landed(&mut flights).await) };
        let result = match landed.or(async { Err(ended.await) }).await {
            Ok(landed) => landed?.result,
            Err(ended) => {
                let given_up = self.cancel(&mut flights, "interrupted");
                Err(given_up_by(ended, given_up.iter().any(|(_, sent)| *sent != Sent::No)))
            }
        };
        if let Err(NoResult::Failed(Failure::NoCommonRevision(_) | Failure::TimedOut(_))) = &result
        {
            // What was remembered may be the reason.
            self.eras.forget(&self.server.identity);
        }
        self.heed_changes(result.as_ref().ok());
        Ok(result)
    }

    /// Waits for the next of many calls to end, see [`Flights::landed`].
    pub(super) async fn landed<T>(&mut self, flights: &mut Flights<T>) -> Result<Landed<T>, Error> {
        let (link, watcher) = self.link()?;
        Ok(flights.landed(link, watcher).await)
    }

    /// Gives up all calls, see [`Flights::cancel`].
    pub(super) fn cancel<T>(&mut self, flights: &mut Flights<T>, reason: &str) -> Vec<(T, Sent)> {
        match self.link() {
            Ok((link, _)) => flights.cancel(link, reason, |_| true),
            // Where the server is cannot be told, so nothing was ever sent.
            Err(_) => Vec::new(),
        }
    }

    /// How often the server was started or reached.
    pub(super) fn starts(&self) -> u32 {
        self.link.as_deref().map_or(0, Link::starts)
    }

    /// The number of the connection that requests go out on now.
    pub(super) fn connection(&self) -> u32 {
        self.link.as_deref().map_or(1, Link::number)
    }

    /// How often requests are sent again.
    pub(super) fn policy(&self) -> Policy {
        Policy {
            asked: self.run.globals.retry.unwrap_or(0),
            unasked: 0,
            pause: self.run.globals.retry_delay.unwrap_or(Policy::ONCE.pause),
        }
    }

    /// Everything that would go out for a request, its own message last. `authorizer` is what gets
    /// tokens for the server.
    pub(super) fn rehearse(
        &self,
        method: &str,
        params: Params,
        mirrored: Vec<(String, String)>,
        authorizer: Option<&Authorizer>,
    ) -> Vec<Outgoing> {
        let call = self.prepare(method, params, mirrored);
        let mut profile = self.profile();
        profile.extensions.extend(authorizer.into_iter().flat_map(Authorizer::extensions));
        client::rehearse(self.certainty(), profile, call)
    }

    fn with_meta(&self, params: Params) -> Params {
        self.run.globals.meta.iter().fold(params, |params, assignment| {
            let value = match &assignment.value {
                Assigned::Text(text) => json::string(text),
                Assigned::Json(json) => json.clone(),
            };
            params.with_meta(assignment.key.clone(), value)
        })
    }

    /// Ready when the run must end without an answer: by a signal, or because its time is over.
    pub(super) fn ended(&self) -> impl Future<Output = NoResult> + use<'a> {
        let (run, deadline) = (self.run, self.deadline);
        let interrupted =
            async move { NoResult::Interrupted { signal: run.interrupted().await, sent: false } };
        let expired = async move {
            Timer::at(deadline).await;
            let (limit, after) = (Limit::Total, Duration::ZERO);
            let timed_out = TimedOut { limit, after, sent: false, streaming: false };
            NoResult::Failed(Failure::TimedOut(timed_out))
        };
        interrupted.or(expired)
    }
}

/// What a call has ended with that was given up because the run must end.
pub(super) fn given_up_by(ended: NoResult, sent: bool) -> NoResult {
    match ended {
        NoResult::Interrupted { signal, .. } => NoResult::Interrupted { signal, sent },
        NoResult::Failed(Failure::TimedOut(late)) => {
            NoResult::Failed(Failure::TimedOut(TimedOut { sent, ..late }))
        }
        other => other,
    }
}
