//! A server that a command works with: found, admitted, and opened when it is first needed.

use std::cell::{OnceCell, RefCell};
use std::time::{Duration, Instant};

use smol::LocalExecutor;

use super::args::choices::{IdFormat, Protocol};
use super::args::settings;
use super::consent::Consent;
use super::duration;
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::explain::{self, Place};
use super::person;
use super::policy;
use super::run::Run;
use super::session::join;
use super::target;
use super::terminal;
use super::watcher::Watcher;
use crate::auth::{Authorizer, How, Person};
use crate::cache::{Eras, Lists};
use crate::client::{Access, Link, NoResult, Server};
use crate::config::{self, Endpoint, Overrides};
use crate::env::Secret;
use crate::net::Address;
use crate::protocol::Revision;
use crate::protocol::opening::Certainty;
use crate::protocol::session::{Abilities, About, Failure, Profile, Question, Session};
use crate::reactor::Timer;
use crate::trust;
use crate::trust::policy::Asked;

/// How long a server may leave a probe unanswered before it gets `initialize` beside it. A process
/// that does not know the probe is often silent; over HTTP silence is rare, and a slow network is
/// not.
const PROBE_TIMEOUT_STDIO: Duration = Duration::from_secs(2);
const PROBE_TIMEOUT_HTTP: Duration = Duration::from_secs(10);

/// How long a server that is not waited for may take to go when its input has ended.
const HURRY: Duration = Duration::from_millis(50);

/// A server that a command works with.
#[derive(Debug)]
pub(super) struct Contact<'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) server: config::Server,
    pub(super) lists: Lists,
    pub(super) eras: Eras,
    /// When everything must be over.
    pub(super) deadline: Option<Instant>,
    /// How long that was at the beginning.
    max_time: Option<duration::Limit>,
    certainty: OnceCell<Certainty>,
    executor: &'a LocalExecutor<'static>,
    pub(super) link: Option<Box<Link<'a>>>,
    pub(super) watcher: Watcher<'a>,
    /// What the server said about itself when it gave the list that was recalled, JSON text.
    pub(super) listed_by: RefCell<Option<String>>,
    tasks: bool,
    extensions: Vec<&'static str>,
    /// Whether the stream of what no request asked for is wanted.
    listens: bool,
    hurries: bool,
    /// The token that was given, once it was looked for.
    pub(super) token: OnceCell<Result<Option<Secret>, Box<Error>>>,
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
        run.redaction.know_word(word);
        let resolved = config::resolve(word, run.env, &overrides).map_err(explain::config)?;
        Contact::admitted(run, &resolved, &overrides, executor)
    }

    /// Makes sure that a server that was found may be used.
    pub(super) fn of(
        run: &'a Run<'a>,
        resolved: &config::Resolved,
        executor: &'a LocalExecutor<'static>,
    ) -> Result<Contact<'a>, Error> {
        Contact::admitted(run, resolved, &target::overrides(run)?, executor)
    }

    fn admitted(
        run: &'a Run<'a>,
        resolved: &config::Resolved,
        overrides: &Overrides,
        executor: &'a LocalExecutor<'static>,
    ) -> Result<Contact<'a>, Error> {
        trust::admit(resolved, run.env, overrides).map_err(explain::trust)?;
        let policies = policy::load(run)?;
        let mut consent = Consent::open(run, resolved, overrides, policies)?;
        let mut server = config::expand(resolved, overrides, run.env).map_err(explain::config)?;
        run.redaction.know_server(&server);
        run.redaction.know(config::references(resolved, run.env));
        consent.strip(&mut server);
        consent.check_place(&server)?;
        target::check_options(run, &server)?;
        let publisher = consent.publisher();
        let asked = Asked { server: &server, resolved, overrides, publisher };
        policy::admit(run, policies, &asked)?;
        let mode = run.cache_mode();
        Ok(Contact {
            run,
            watcher: Watcher::new(run, &server.name, consent)?,
            lists: Lists::new(run.env, mode),
            eras: Eras::new(run.env, mode),
            deadline: run.deadline,
            max_time: run.settings.max_time,
            certainty: OnceCell::new(),
            server,
            executor,
            link: None,
            listed_by: RefCell::default(),
            tasks: false,
            extensions: Vec::new(),
            listens: false,
            hurries: false,
            token: OnceCell::new(),
            person: match run.settings.login {
                true => person::person(run, How::Browser),
                false => Person::absent(),
            },
            anew: false,
        })
    }

    /// Sets a limit for everything, unless the command line has one.
    pub(super) fn finish_within(&mut self, limit: duration::Limit, begun: Instant) {
        if self.deadline.is_none() {
            self.deadline = limit.duration().map(|limit| begun + limit);
            self.max_time = Some(limit);
        }
    }

    /// Gives up on a server that is still being opened: nobody waits until it has started and gone
    /// again.
    pub(super) fn hurry(&mut self) {
        self.hurries = true;
    }

    /// Tells the server, once it is opened, that it may make tasks of calls.
    pub(super) fn allow_tasks(&mut self) {
        self.tasks = true;
    }

    /// Tells the server, once it is opened, that this client makes use of an extension.
    pub(super) fn declare(&mut self, extension: &'static str) {
        self.extensions.push(extension);
    }

    /// Says that what no request asked for is wanted. To be said before the server is opened.
    pub(super) fn listen(&mut self) {
        self.listens = true;
    }

    /// Whether the server is reached over HTTP.
    pub(super) fn is_http(&self) -> bool {
        matches!(self.server.endpoint, Endpoint::Http(_))
    }

    /// Whether the server is one that a session holds.
    pub(super) fn is_shared(&self) -> bool {
        self.run.settings.session.is_some() && !self.run.command().is_relay()
    }

    /// Whether the command line or a token makes something of the server that its name alone does
    /// not mean, so that what is stored about it is stored apart.
    pub(super) fn is_varied(&self) -> bool {
        let globals = self.run.globals;
        let started = !globals.arg.is_empty() || !globals.env.is_empty() || globals.cwd.is_some();
        let reached = !globals.header.is_empty() || globals.header_file.is_some();
        started || reached || !self.account().is_empty()
    }

    /// The revision that is spoken, as far as it is known without asking the server.
    pub(super) fn known_revision(&self) -> Option<&'static Revision> {
        self.about().map(|about| about.revision).or_else(|| match self.certainty() {
            Certainty::Pinned(revision) | Certainty::Remembered(revision) => Some(revision),
            Certainty::Unknown => None,
        })
    }

    /// What the server said about itself; `None` before the session is open.
    pub(super) fn about(&self) -> Option<&About> {
        self.session()?.about()
    }

    /// The session; `None` before it is begun.
    pub(super) fn session(&self) -> Option<&Session> {
        self.link.as_ref()?.session()
    }

    /// The error for a request without a result.
    pub(super) fn explain(&self, no_result: NoResult) -> Error {
        if let (NoResult::Failed(Failure::Unwanted), Some(refusal)) =
            (&no_result, self.watcher.consent.refusal())
        {
            return refusal;
        }
        let place = Place {
            stdio: matches!(self.server.endpoint, Endpoint::Stdio(_)),
            is_open: self.watcher.opened().is_some(),
            server: &self.server.name,
            max_time: self.max_time,
            why_unanswered: self.watcher.why_refused(),
            origin: self.origin(),
        };
        let error = explain::no_result(no_result, &place).server(self.server.name.clone());
        let error = self.with_denial(error);
        self.without_secrets(match (&self.link, error.exit) {
            _ if error.stderr_tail.is_some() => error,
            (Some(link), Exit::Unreachable | Exit::Lost) => error.stderr_tail(link.last_words()),
            (Some(link), Exit::Protocol | Exit::Timeout) => error.stderr_tail(link.stderr_tail()),
            // When the server has answered, its other words do not help.
            _ => error,
        })
    }

    /// Where other endpoints of the server's host could be found: not behind a socket of this machine.
    fn origin(&self) -> Option<String> {
        match &self.server.endpoint {
            Endpoint::Http(http) if http.socket.is_none() => {
                Address::parse(&http.url).ok().map(|address| address.origin())
            }
            Endpoint::Http(_) | Endpoint::Stdio(_) => None,
        }
    }

    /// What the server was refused in this run, if anything.
    pub(super) fn refused_question(&self) -> Option<Question> {
        self.watcher.refused()
    }

    /// Ends the conversation: what is still to be said is said, and nothing of the server is left.
    /// A signal makes it hurry; its number is returned.
    pub(super) async fn close(&mut self) -> Option<i32> {
        self.heed_changes(None);
        self.note_auth();
        self.watcher.consent.save();
        let mut link = self.link.take()?;
        terminal::clear_status();
        self.watcher.note_unused_answers();
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
        // A revision that was remembered is settled at once, whether the server is there or not.
        let is_opening = self.watcher.opened().is_none();
        let hurry = async {
            if self.hurries && is_opening {
                Timer::after(HURRY).await;
            } else {
                signal = Some(self.run.interrupted().await);
            }
        };
        link.close(hurry).await;
        signal
    }

    /// Ends the conversation after the answer is out, or after the error that is returned. An error
    /// is reported first: the server may take its time to go.
    pub(super) async fn finish(&mut self, outcome: Result<Exit, Error>) -> Result<Exit, Error> {
        let run = self.run;
        let exit = match outcome {
            Ok(exit) => exit,
            Err(error) => {
                let error = run.over_or(error);
                let error = match error.server {
                    None if error.phase != Some(Phase::Output) || error.exit == Exit::Mismatch => {
                        error.server(&self.server.name)
                    }
                    _ => error,
                };
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
                let authorizer = match self.is_http() {
                    true => self.loaded_authorizer(&access.server)?,
                    false => None,
                };
                let token = authorizer.as_deref().and_then(Authorizer::record);
                self.watcher.consent.admit_token(token)?;
                self.warn_of_exposure(&access.server);
                Box::new(Link::new(access, authorizer))
            }
        };
        Ok((self.link.insert(link), &mut self.watcher))
    }

    /// What the session is told about us.
    pub(super) fn profile(&self) -> Profile {
        let abilities = self.watcher.abilities();
        Profile {
            client: (env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")),
            abilities,
            probe_timeout: if self.is_http() { PROBE_TIMEOUT_HTTP } else { PROBE_TIMEOUT_STDIO },
            start_timeout: self.start_timeout(),
            greets: self.greets(),
            tasks: self.tasks,
            text_ids: self.run.globals.id_format == Some(IdFormat::String),
            relays: self.run.command().is_relay(),
            listen: self.is_http() && self.has_use_for_stream(abilities),
            log_level: self.run.globals.log_level,
            authorizes: false,
            extensions: self.extensions.clone(),
        }
    }

    /// Over HTTP a legacy server may put its questions and its log on the stream that belongs to no
    /// request.
    fn has_use_for_stream(&self, abilities: Abilities) -> bool {
        let logs = self.run.globals.log_level.is_some();
        self.listens || logs || abilities != Abilities::default()
    }

    fn access(&self) -> Result<Access<'a>, Error> {
        let (executor, limits, certainty) = (self.executor, self.run.limits(), self.certainty());
        let profile = self.profile();
        let consent = &self.watcher.consent;
        let shared = match self.anew {
            // Whoever logs in wants to hear from the server itself.
            true => None,
            false => join::target(self.run, &self.server.name, consent, profile.abilities)?,
        };
        let server = match shared {
            Some(shared) => Server::Shared(shared),
            None => self.target()?,
        };
        Ok(Access { executor, server, limits, certainty, profile })
    }

    /// How long a server may take to start: what is said about it, else what is said about every answer.
    pub(super) fn start_timeout(&self) -> Option<Duration> {
        let said = self.run.settings.start_timeout.or(match self.server.start_timeout {
            Some(_) => None,
            None => self.run.settings.timeout,
        });
        self.limit(said, self.server.start_timeout, settings::START_TIMEOUT)
    }

    /// Whether a server has to say what it is although that is remembered: where it has more or less
    /// time for its start than for an answer, so that the two must be told apart, and where it is held
    /// to all that it says.
    fn greets(&self) -> bool {
        self.start_timeout() != self.answer_timeout() || self.watcher.consent.is_strict()
    }

    /// The limit for a server without a sign of life.
    pub(super) fn answer_timeout(&self) -> Option<Duration> {
        self.limit(self.run.settings.timeout, self.server.timeout, settings::TIMEOUT)
    }

    /// Flag or variable, else configuration (where zero is no limit), else default.
    pub(super) fn limit(
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
            // A server that is in doubt has to say what it is.
            let is_in_doubt = self.watcher.consent.is_in_doubt();
            match self.eras.recall(&self.server.identity, self.run.env.now()) {
                Some(revision) if !is_in_doubt => Certainty::Remembered(revision),
                _ => Certainty::Unknown,
            }
        })
    }
}
