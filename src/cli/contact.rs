//! A server that a command works with: found, admitted, and opened when it is first needed.

use std::cell::OnceCell;
use std::time::{Duration, Instant};

use futures_lite::FutureExt;
use smol::LocalExecutor;

use super::args::choices::{IdFormat, Protocol};
use super::args::settings;
use super::args::values::Assigned;
use super::authorize;
use super::duration;
use super::errors::Error;
use super::exit::Exit;
use super::explain::{self, Place};
use super::run::Run;
use super::session;
use super::target;
use super::watcher::Watcher;
use crate::auth::{Authorizer, How, Person};
use crate::cache::{Eras, Lists};
use crate::client::retry::Policy;
use crate::client::{self, Access, Flights, Landed, Link, NoResult, Observer, Reply, Server};
use crate::config::{self, Endpoint};
use crate::protocol::json::{self, Json};
use crate::protocol::message::Sent;
use crate::protocol::method;
use crate::protocol::opening::Certainty;
use crate::protocol::params::Params;
use crate::protocol::session::{
    Abilities, About, Call, Failure, Limit, Profile, Question, Session, TimedOut,
};
use crate::protocol::{Outgoing, Revision};
use crate::trust;

/// How long a server may leave a probe unanswered before it gets `initialize` beside it. A process
/// that does not know the probe is often silent; over HTTP silence is rare, and a slow network is
/// not.
const PROBE_TIMEOUT_STDIO: Duration = Duration::from_secs(2);
const PROBE_TIMEOUT_HTTP: Duration = Duration::from_secs(10);

/// How often a repeatable request is sent again by commands that make many, unless `--retry` says
/// otherwise.
const RETRIES: u32 = 4;

/// A server that a command works with.
#[derive(Debug)]
pub(super) struct Contact<'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) server: config::Server,
    pub(super) lists: Lists,
    eras: Eras,
    certainty: OnceCell<Certainty>,
    executor: &'a LocalExecutor<'static>,
    pub(super) link: Option<Link<'a>>,
    watcher: Watcher<'a>,
    tasks: bool,
    /// Who can log in.
    pub(super) person: Person,
    /// Whether a token that is kept does not count.
    pub(super) anew: bool,
}

impl<'a> Contact<'a> {
    /// Finds the server that `word` means and makes sure that it may be used. Nothing is started or
    /// contacted yet.
    pub(super) fn find(
        run: &'a Run<'a>,
        word: &str,
        executor: &'a LocalExecutor<'static>,
    ) -> Result<Contact<'a>, Error> {
        let overrides = target::overrides(run)?;
        let resolved = config::resolve(word, run.env, &overrides).map_err(explain::config)?;
        trust::admit(&resolved, run.env, &overrides).map_err(explain::trust)?;
        let server = config::expand(&resolved, &overrides, run.env).map_err(explain::config)?;
        target::check_options(run, &server)?;
        let mode = run.cache_mode();
        Ok(Contact {
            run,
            watcher: Watcher::new(run)?,
            lists: Lists::new(run.env, mode),
            eras: Eras::new(run.env, mode),
            certainty: OnceCell::new(),
            server,
            executor,
            link: None,
            tasks: false,
            person: match run.settings.login {
                true => authorize::person(run, How::Browser),
                false => Person::absent(),
            },
            anew: false,
        })
    }

    /// Tells the server, once it is opened, that it may make tasks of calls.
    pub(super) fn allow_tasks(&mut self) {
        self.tasks = true;
    }

    /// Whether the server is reached over HTTP.
    pub(super) fn is_http(&self) -> bool {
        matches!(self.server.endpoint, Endpoint::Http(_))
    }

    /// The revision that is spoken, as far as it is known without asking the server.
    pub(super) fn known_revision(&self) -> Option<&'static Revision> {
        self.about().map(|about| about.revision).or_else(|| match self.certainty() {
            Certainty::Pinned(revision) | Certainty::Remembered(revision) => Some(revision),
            Certainty::Unknown => None,
        })
    }

    /// Opens the session, waits until the revision is settled, and tells which it is.
    pub(super) async fn settle(&mut self) -> Result<&'static Revision, Error> {
        let (run, policy) = (self.run, self.policy());
        let (link, watcher) = self.link()?;
        let settled = link.settle(&policy, watcher).or(async { Err(ended(run).await) }).await;
        settled.map_err(|no_result| self.explain(no_result))
    }

    /// Waits that long between two requests, unless the run must end before.
    pub(super) async fn pause(&mut self, time: Duration) -> Result<(), NoResult> {
        let (run, Some(link)) = (self.run, &mut self.link) else { return Ok(()) };
        let passed = async {
            link.pause(Instant::now() + time, &mut self.watcher).await;
            Ok(())
        };
        passed.or(async { Err(ended(run).await) }).await
    }

    /// Answers what the server asks through a task; `None` when nothing answers it.
    pub(super) fn answer_task(&mut self, question: &Question) -> Option<String> {
        match self.watcher.asked(question) {
            Reply::Answer(answer) => answer.ok(),
            Reply::End => None,
        }
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
            idle: self.limit(self.run.settings.timeout, self.server.timeout, settings::TIMEOUT),
            deadline: self.run.deadline,
            mirrored,
        }
    }

    /// Makes a request that may be sent again if it is `repeatable`.
    pub(super) async fn try_call(
        &mut self,
        call: Call,
        repeatable: bool,
    ) -> Result<Result<Json, NoResult>, Error> {
        let run = self.run;
        let mut flights = Flights::new(self.policy());
        flights.begin((), call, repeatable);
        let landed = async { Ok(self.landed(&mut flights).await) };
        let interrupted = async { Err(run.interrupted().await) };
        let result = match landed.or(interrupted).await {
            Ok(landed) => landed?.result,
            Err(signal) => {
                let given_up = self.cancel(&mut flights, "interrupted");
                let sent = given_up.iter().any(|(_, sent)| *sent != Sent::No);
                Err(NoResult::Interrupted { signal, sent })
            }
        };
        if let Err(NoResult::Failed(Failure::NoCommonRevision(_) | Failure::TimedOut(_))) = &result
        {
            // What was remembered may be the reason.
            self.eras.forget(&self.server.identity);
        }
        Ok(result)
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
        self.link.as_ref().map_or(0, Link::starts)
    }

    /// How often requests are sent again.
    pub(super) fn policy(&self) -> Policy {
        Policy {
            asked: self.run.globals.retry.unwrap_or(0),
            unasked: match self.run.globals.retry {
                None if self.run.command().is_long() => RETRIES,
                _ => 0,
            },
            pause: self.run.globals.retry_delay.unwrap_or(Policy::ONCE.pause),
        }
    }

    fn with_meta(&self, params: Params) -> Params {
        self.run.globals.meta.iter().fold(params, |params, assignment| {
            let value = match &assignment.value {
                Assigned::Text(text) => json::string(text),
                Assigned::Json(json) => json.clone(),
            };
            params.with_meta(&assignment.key, value)
        })
    }

    /// What the server said about itself; `None` before the session is open.
    pub(super) fn about(&self) -> Option<&About> {
        self.link.as_ref()?.session()?.about()
    }

    /// The error for a request without a result.
    pub(super) fn explain(&self, no_result: NoResult) -> Error {
        let stdio = matches!(self.server.endpoint, Endpoint::Stdio(_));
        let place =
            Place { stdio, server: &self.server.name, max_time: self.run.settings.max_time };
        let error = explain::no_result(no_result, &place).server(self.server.name.clone());
        let error = self.without_secrets(self.with_denial(error));
        if error.stderr_tail.is_some() {
            return error;
        }
        match (&self.link, error.exit) {
            (Some(link), Exit::Unreachable | Exit::Lost) => error.stderr_tail(link.last_words()),
            (Some(link), Exit::Protocol | Exit::Timeout) => error.stderr_tail(link.stderr_tail()),
            // When the server has answered, its other words do not help.
            _ => error,
        }
    }

    /// What the server was refused in this run, if anything.
    pub(super) fn refused_question(&self) -> Option<&Question> {
        self.watcher.refused()
    }

    /// Ends the conversation: what is still to be said is said, and nothing of the server is left.
    /// A signal makes it hurry; its number is returned.
    pub(super) async fn close(&mut self) -> Option<i32> {
        let link = self.link.take()?;
        if let Some(revision) = self.watcher.opened()
            && self.pin().is_none()
        {
            self.eras.remember(&self.server.identity, revision, self.run.env.now());
        }
        let counts = link.session().map(Session::counts).unwrap_or_default();
        if 0 < counts.unknown + counts.late + counts.skipped {
            self.run.remark(&format!(
                "ignored {} answers that nobody asked for, {} late ones and {} lines that are no messages",
                counts.unknown, counts.late, counts.skipped
            ));
        }
        let mut signal = None;
        link.close(async { signal = Some(self.run.interrupted().await) }).await;
        signal
    }

    /// Ends the conversation after the answer is out, or after the error that is returned. An error
    /// is reported first: the server may take its time to go.
    pub(super) async fn finish(&mut self, outcome: Result<Exit, Error>) -> Result<Exit, Error> {
        let run = self.run;
        let exit = match outcome {
            Ok(exit) => exit,
            Err(error) => {
                run.report(&error);
                error.exit
            }
        };
        match (exit, self.close().await) {
            // Whoever interrupts us while we clean up wants to see that it was an interruption,
            // unless the answer is out already.
            (Exit::Ok, _) | (_, None) => Ok(exit),
            (_, Some(signal)) => Ok(Exit::Signal(signal as u8)),
        }
    }

    /// The link to the server, which may not be open yet, and who is told what happens on it.
    pub(super) fn link(&mut self) -> Result<(&mut Link<'a>, &mut Watcher<'a>), Error> {
        let link = match self.link.take() {
            Some(link) => link,
            None => {
                let access = self.access()?;
                let authorizer = self.loaded_authorizer(&access.server)?;
                Link::new(access, authorizer)
            }
        };
        Ok((self.link.insert(link), &mut self.watcher))
    }

    /// What the session is told about us.
    fn profile(&self) -> Profile {
        let abilities = self.watcher.abilities();
        Profile {
            client: (env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")),
            abilities,
            probe_timeout: if self.is_http() { PROBE_TIMEOUT_HTTP } else { PROBE_TIMEOUT_STDIO },
            start_timeout: self.start_timeout(),
            tasks: self.tasks,
            text_ids: self.run.globals.id_format == Some(IdFormat::String),
            relays: self.run.command().is_relay(),
            // Over HTTP a legacy server may put its questions on the stream that nobody asked for.
            listen: self.is_http() && abilities != Abilities::default(),
            authorizes: false,
            extensions: Vec::new(),
        }
    }

    fn access(&self) -> Result<Access<'a>, Error> {
        let (executor, limits, certainty) = (self.executor, self.run.limits(), self.certainty());
        let profile = self.profile();
        let shared = match self.anew {
            // Whoever logs in wants to hear from the server itself.
            true => None,
            false => session::target(self.run, &self.server, profile.abilities)?,
        };
        let server = match shared {
            Some(shared) => Server::Shared(shared),
            None => target::server(self.run, &self.server)?,
        };
        Ok(Access { executor, server, limits, certainty, profile })
    }

    /// The limit for the start: what is said about it, else what is said about every answer.
    fn start_timeout(&self) -> Option<Duration> {
        let said = self.run.settings.start_timeout.or(match self.server.start_timeout {
            Some(_) => None,
            None => self.run.settings.timeout,
        });
        self.limit(said, self.server.start_timeout, settings::START_TIMEOUT)
    }

    /// Flag or variable, else configuration (where zero is no limit), else default.
    fn limit(
        &self,
        said: Option<duration::Limit>,
        configured: Option<Duration>,
        default: duration::Limit,
    ) -> Option<Duration> {
        match (said, configured) {
            (Some(said), _) => said.duration(),
            (None, Some(configured)) => Some(configured).filter(|limit| !limit.is_zero()),
            (None, None) => default.duration(),
        }
    }

    fn pin(&self) -> Option<&'static Revision> {
        match self.run.settings.protocol {
            Some(Protocol::Only(revision)) => Some(revision),
            Some(Protocol::Auto) => None,
            None => self.server.protocol,
        }
    }

    /// What is known about the revision before the server is asked. Looked up once.
    pub(super) fn certainty(&self) -> Certainty {
        *self.certainty.get_or_init(|| {
            if let Some(pinned) = self.pin() {
                return Certainty::Pinned(pinned);
            }
            match self.eras.recall(&self.server.identity, self.run.env.now()) {
                Some(revision) => Certainty::Remembered(revision),
                None => Certainty::Unknown,
            }
        })
    }
}

/// Ready when the run must end without an answer: by a signal, or because its time is over.
async fn ended(run: &Run<'_>) -> NoResult {
    let interrupted =
        async { NoResult::Interrupted { signal: run.interrupted().await, sent: false } };
    let expired = async {
        match run.deadline {
            Some(deadline) => crate::reactor::Timer::at(deadline).await,
            None => futures_lite::future::pending().await,
        };
        let (limit, after) = (Limit::Total, Duration::ZERO);
        let timed_out = TimedOut { limit, after, sent: false, streaming: false };
        NoResult::Failed(Failure::TimedOut(timed_out))
    };
    interrupted.or(expired).await
}
