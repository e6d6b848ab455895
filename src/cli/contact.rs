//! A server that a command works with: found, admitted, and opened when it is first needed.

use std::cell::OnceCell;
use std::time::{Duration, Instant};

use futures_lite::FutureExt;
use smol::LocalExecutor;

use super::args::choices::{IdFormat, Protocol};
use super::args::settings;
use super::args::values::Assigned;
use super::duration;
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::explain::{self, Place};
use super::run::Run;
use super::target;
use super::watcher::Watcher;
use crate::cache::{Eras, Lists, Mode};
use crate::client::{self, Client, NoResult, Observer, Reply, Server};
use crate::config::{self, Binding, Endpoint};
use crate::protocol::Revision;
use crate::protocol::json::{self, Json};
use crate::protocol::jsonrpc::Limits;
use crate::protocol::opening::Certainty;
use crate::protocol::params::Params;
use crate::protocol::session::{
    Abilities, About, Call, Failure, Limit, Profile, Question, TimedOut,
};
use crate::trust;

/// How long a server may leave a probe unanswered before it gets `initialize` beside it. A process
/// that does not know the probe is often silent; over HTTP silence is rare, and a slow network is
/// not.
const PROBE_TIMEOUT_STDIO: Duration = Duration::from_secs(2);
const PROBE_TIMEOUT_HTTP: Duration = Duration::from_secs(10);

/// A server that a command works with.
#[derive(Debug)]
pub(super) struct Contact<'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) server: config::Server,
    pub(super) lists: Lists,
    eras: Eras,
    certainty: OnceCell<Certainty>,
    executor: &'a LocalExecutor<'static>,
    client: Option<Client>,
    watcher: Watcher<'a>,
    tasks: bool,
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
        if resolved.definition.disabled {
            let text = format!("the server \"{}\" is disabled in the configuration", resolved.name);
            return Err(Error::new(Exit::Config, text).phase(Phase::Config));
        }
        trust::admit(&resolved, run.env, &overrides).map_err(explain::trust)?;
        let server = config::expand(&resolved, &overrides, run.env).map_err(explain::config)?;
        target::check_options(run, &server)?;
        let mode = match run.settings.cache {
            settings::Cache::On => Mode::On,
            settings::Cache::Refresh => Mode::Refresh,
            settings::Cache::Off => Mode::Off,
        };
        Ok(Contact {
            run,
            watcher: Watcher::new(run)?,
            lists: Lists::new(run.env, mode),
            eras: Eras::new(run.env, mode),
            certainty: OnceCell::new(),
            server,
            executor,
            client: None,
            tasks: false,
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
        let spoken = self.client.as_ref().and_then(|client| client.session().about());
        spoken.map(|about| about.revision).or_else(|| match self.certainty() {
            Certainty::Pinned(revision) | Certainty::Remembered(revision) => Some(revision),
            Certainty::Unknown => None,
        })
    }

    /// Opens the session and waits until the revision is settled; then it tells which it is. `None`
    /// when the session cannot be opened: the next request says why.
    pub(super) async fn settle(&mut self) -> Result<Option<&'static Revision>, Error> {
        self.open()?;
        let (run, Some(client)) = (self.run, &mut self.client) else { return Ok(None) };
        let settled = async {
            client.settle(&mut self.watcher).await;
            None
        };
        match settled.or(ended(run)).await {
            Some(no_result) => Err(self.explain(no_result)),
            None => Ok(self.about().map(|about| about.revision)),
        }
    }

    /// Waits that long between two requests, unless the run must end before.
    pub(super) async fn pause(&mut self, time: Duration) -> Result<(), NoResult> {
        let (run, Some(client)) = (self.run, &mut self.client) else { return Ok(()) };
        let passed = async {
            client.pause(Instant::now() + time, &mut self.watcher).await;
            None
        };
        passed.or(ended(run)).await.map_or(Ok(()), Err)
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
        let Some(client) = &mut self.client else { return };
        let call = Call {
            method: method.to_owned().into(),
            params,
            deadline: Some(Instant::now() + time),
            ..Call::default()
        };
        // The next signal is for the end of the conversation.
        let uninterrupted = futures_lite::future::pending();
        drop(client.call(call, &mut self.watcher, uninterrupted).await);
    }

    /// Makes a request; on failure tells what happened, for callers that can do something about it.
    pub(super) async fn try_request(
        &mut self,
        method: &str,
        params: Params,
        mirrored: Vec<(String, String)>,
    ) -> Result<Result<Json, NoResult>, Error> {
        self.open()?;
        let call = Call {
            method: method.to_owned().into(),
            params: self.with_meta(params),
            idle: self.limit(self.run.settings.timeout, self.server.timeout, settings::TIMEOUT),
            deadline: self.run.deadline,
            mirrored,
        };
        let client = self.client.as_mut().expect("open() has just made it");
        let result = client.call(call, &mut self.watcher, self.run.interrupted()).await;
        if let Err(NoResult::Failed(Failure::NoCommonRevision(_) | Failure::TimedOut(_))) = &result
        {
            // What was remembered may be the reason.
            self.eras.forget(self.server.identity.digest());
        }
        Ok(result)
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
        self.client.as_ref().and_then(|client| client.session().about())
    }

    /// The error for a request without a result.
    pub(super) fn explain(&self, no_result: NoResult) -> Error {
        let stdio = matches!(self.server.endpoint, Endpoint::Stdio(_));
        let place =
            Place { stdio, server: &self.server.name, max_time: self.run.settings.max_time };
        let error = explain::no_result(no_result, &place).server(self.server.name.clone());
        match &self.client {
            Some(client) if shows_stderr(&error) => error.stderr_tail(client.stderr_tail()),
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
        let client = self.client.take()?;
        if let Some(revision) = self.watcher.opened()
            && self.pin().is_none()
        {
            self.eras.remember(self.server.identity.digest(), revision, self.run.env.now());
        }
        let counts = client.session().counts();
        if 0 < counts.unknown + counts.late + counts.skipped {
            self.run.remark(&format!(
                "ignored {} answers that nobody asked for, {} late ones and {} lines that are no messages",
                counts.unknown, counts.late, counts.skipped
            ));
        }
        let mut signal = None;
        client.close(async { signal = Some(self.run.interrupted().await) }).await;
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

    fn open(&mut self) -> Result<(), Error> {
        if self.client.is_some() {
            return Ok(());
        }
        let abilities = self.watcher.abilities();
        let profile = Profile {
            client: (env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")),
            abilities,
            probe_timeout: if self.is_http() { PROBE_TIMEOUT_HTTP } else { PROBE_TIMEOUT_STDIO },
            start_timeout: self.start_timeout(),
            tasks: self.tasks,
            text_ids: self.run.globals.id_format == Some(IdFormat::String),
            // Over HTTP a legacy server may put its questions on the stream that nobody asked for.
            listen: self.is_http() && abilities != Abilities::default(),
        };
        let limits = Limits {
            message: self.run.globals.max_message.unwrap_or(Limits::default().message),
            depth: self.run.globals.max_depth.unwrap_or(Limits::default().depth),
        };
        let server = self.target()?;
        let certainty = || self.certainty();
        let client = client::open(self.executor, server, limits, certainty, profile);
        self.client = Some(client);
        Ok(())
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
    fn certainty(&self) -> Certainty {
        *self.certainty.get_or_init(|| {
            if let Some(pinned) = self.pin() {
                return Certainty::Pinned(pinned);
            }
            match self.eras.recall(self.server.identity.digest(), self.run.env.now()) {
                Some(revision) => Certainty::Remembered(revision),
                None => Certainty::Unknown,
            }
        })
    }

    fn target(&self) -> Result<Server, Error> {
        match &self.server.endpoint {
            Endpoint::Stdio(endpoint) => Ok(Server::Stdio(target::stdio(self.run, endpoint))),
            Endpoint::Http(endpoint) => {
                let target = target::http(self.run, endpoint)?;
                Ok(match endpoint.binding {
                    Binding::Sse => Server::Sse(target),
                    Binding::Auto | Binding::Http => Server::Http(target),
                })
            }
        }
    }
}

/// Ready when the run must end without an answer: by a signal, or because its time is over.
async fn ended(run: &Run<'_>) -> Option<NoResult> {
    let interrupted = async { NoResult::Interrupted(run.interrupted().await) };
    let expired = async {
        match run.deadline {
            Some(deadline) => crate::reactor::Timer::at(deadline).await,
            None => futures_lite::future::pending().await,
        };
        let (limit, after) = (Limit::Total, Duration::ZERO);
        let timed_out = TimedOut { limit, after, sent: false, streaming: false };
        NoResult::Failed(Failure::TimedOut(timed_out))
    };
    Some(interrupted.or(expired).await)
}

/// Whether the server's own words help to understand an error. When it has answered, they do not.
fn shows_stderr(error: &Error) -> bool {
    matches!(error.exit, Exit::Unreachable | Exit::Lost | Exit::Protocol | Exit::Timeout)
}
