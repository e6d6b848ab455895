//! What a server is held to, and what is learnt of it, in one run.
//!
//! ```text
//!   before it is started or reached   where it is, what starts it, whether the trust was taken back
//!   when it has introduced itself     its name and version, what it can do, its instructions
//!   when its tools are listed         all of them
//!   when a tool is called             that one
//!   at the end                        what was learnt is written down, if it is anything new
//! ```
//!
//! Hardly any request is made for it: what is not at hand is not looked at. But a tool that was
//! accepted is called only after a look at it, on each connection and in each minute once, unless a list
//! of tools is at hand that the server calls good; and `--lock` wants all there is.

mod bond;
mod judge;
mod keep;
mod look;
mod observe;
mod place;
mod publisher;
mod refusal;
mod survey;

pub(super) use publisher::{hold_publisher, known_publisher};
pub(super) use refusal::no_lock;
pub(super) use survey::note_greeting;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use self::look::Looks;
use super::args::Command;
use super::args::settings::Trust;
use super::args::trust_commands::TrustAction;
use super::errors::Error;
use super::run::Run;
use crate::config::program::follows_directory;
use crate::config::steering::chooses_code;
use crate::config::{self, Digest, Endpoint, Layer, Overrides, Resolved, Server, Target};
use crate::env::Env;
use crate::trust::pins::{
    self, Change, Facets, Key, LockFile, Mode, Parts, PinError, Record, Store, Texts, Use,
};
use crate::trust::policy::{self, Policies};

/// What a server is held to, and what is learnt of it.
#[derive(Debug)]
pub(super) struct Consent<'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) store: Store,
    pub(super) key: Key,
    mode: Mode,
    /// Whether somebody has said that servers are to be held to what they were.
    is_relied_on: bool,
    /// The server, as it was found.
    pub(super) resolved: Resolved,
    overrides: Overrides,
    /// What its definition says, with what the command line adds.
    definition: Facets,
    /// Whether the command obeys; some are there to look at what is refused to others.
    enforces: bool,
    /// Whether the user has approved the definition by its hash.
    approved: bool,
    /// Whether somebody says what the token is for, or logs in and is shown it.
    attended: bool,
    /// The lock file that counts.
    lock: Option<PathBuf>,
    /// What it says.
    locked: Option<Facets>,
    /// And which members its tools have.
    locked_parts: Parts,
    pub(super) record: Option<Record>,
    /// Whether the trust in the place where it is was taken back.
    is_place_revoked: bool,
    pub(super) observed: Facets,
    pub(super) texts: Texts,
    /// The hash of the list of tools as it came.
    list: Option<Digest>,
    /// Looks at the tools, on this connection; one at none where the server has none to show.
    looks: Looks,
    /// Whether the tools are being looked at.
    pub(super) looking: bool,
    /// Whether a session with the server was open.
    opened: bool,
    used: Use,
    /// Whether the server has said anything, so that there is something to remember.
    met: bool,
    /// Whether something was accepted by the user's word, which is not written down yet.
    amended: bool,
    refusal: Option<Error>,
    /// The differences that were told.
    told: Vec<Change>,
}

impl<'a> Consent<'a> {
    /// Looks up what a server is held to, and makes sure that it may be started or reached.
    pub(super) fn open(
        run: &'a Run<'a>,
        resolved: &Resolved,
        overrides: &Overrides,
        policies: &Policies,
    ) -> Result<Box<Consent<'a>>, Error> {
        let mut consent = Consent::unchecked(run, resolved, overrides, policies);
        if consent.lock.is_some() && (overrides.cwd.is_some() || overrides.inherit_env) {
            return Err(refusal::elsewhere());
        }
        if consent.mode == Mode::Strict && overrides.cwd.is_some() && is_led_elsewhere(resolved) {
            return Err(refusal::led_elsewhere());
        }
        consent.look_up()?;
        consent.check()?;
        Ok(consent)
    }

    /// What a server is held to, which is not looked up yet.
    fn unchecked(
        run: &'a Run<'a>,
        resolved: &Resolved,
        overrides: &Overrides,
        policies: &Policies,
    ) -> Box<Consent<'a>> {
        let policy = policies.mode();
        let lock = run.globals.lock.as_ref().filter(|_| !matches!(run.command(), Command::Lock(_)));
        let looks = matches!(run.command(), Command::Trust(_) | Command::Lock(_));
        let layer = resolved.origin.layer();
        let approved = !layer.is_none_or(Layer::is_own);
        let mode = match (lock, wanted(run, resolved)) {
            (Some(_), _) | (None, Mode::Strict) => Mode::Strict,
            // Nobody loosens what a policy wants to be strict.
            (None, Mode::Off) if !looks && policy != policy::Mode::Strict => Mode::Off,
            (None, Mode::FirstUse | Mode::Off) => Mode::FirstUse,
        };
        let lock = lock.map(|path| run.env.absolute(path));
        let (key, definition) = pins::of_server(resolved, overrides, run.env, lock.as_deref());
        Box::new(Consent {
            run,
            store: Store::new(run.env),
            key,
            mode,
            is_relied_on: mode == Mode::Strict
                || !policies.is_empty() && policy != policy::Mode::Off,
            resolved: resolved.clone(),
            overrides: overrides.clone(),
            enforces: !matches!(run.command(), Command::Trust(_) | Command::Logout(_)),
            lock,
            observed: definition.clone(),
            definition,
            approved,
            attended: run.settings.login
                || matches!(run.command(), Command::Login(_))
                || run.access.scope.is_some()
                || run.access.issuer.is_some(),
            locked: None,
            locked_parts: Parts::new(),
            record: None,
            is_place_revoked: false,
            texts: Texts::default(),
            list: None,
            looks: Looks::default(),
            looking: false,
            opened: false,
            used: BTreeSet::new(),
            met: false,
            amended: false,
            refusal: None,
            told: Vec::new(),
        })
    }

    /// The hash of the server's definition alone, whatever the command line adds to it.
    pub(super) fn identity(&self) -> Digest {
        self.resolved.identity()
    }

    /// Takes out, where only what was accepted counts, what else decides which code a command runs:
    /// variables of ours that not every server gets. They were not looked at when it was accepted.
    pub(super) fn strip(&self, server: &mut Server) {
        let Endpoint::Stdio(endpoint) = &mut server.endpoint else { return };
        if self.mode != Mode::Strict {
            return;
        }
        let names = endpoint.environment.taken_over();
        let steering = names.filter(|name| chooses_code(&name.to_string_lossy()));
        let steering: Vec<OsString> = steering.map(OsStr::to_owned).collect();
        if steering.is_empty() {
            return;
        }
        let text = steering.iter().map(|name| name.to_string_lossy()).collect::<Vec<_>>().join(" ");
        let text = format!("{}: what chooses code is not taken over: {text}", self.key.name);
        match self.overrides.inherit_env {
            true => self.run.warn(&text),
            false => self.run.remark(&text),
        }
        endpoint.environment.remove(&steering);
    }

    /// Reads what is known of the server.
    fn load(&mut self) -> Result<(), Error> {
        let record = self.store.load(&self.key).map_err(|error| refusal::unreadable(&error))?;
        self.record = record.map(|record| *record);
        Ok(())
    }

    fn look_up(&mut self) -> Result<(), Error> {
        self.load()?;
        let load = |key| self.store.load(key).map_err(|error| refusal::unreadable(&error));
        let is_revoked = |record: &Record| record.revoked.is_some();
        if self.record.as_ref().is_some_and(is_revoked) && self.enforces {
            return Err(self.revoked());
        }
        let Overrides { args, env, .. } = &self.overrides;
        if !args.is_empty() || !env.is_empty() || self.overrides.host().is_some() {
            // What the command line adds does not make a revoked server a good one.
            let (args, env, headers) = (Vec::new(), Vec::new(), Vec::new());
            let plain = Overrides { args, env, headers, ..self.overrides.clone() };
            let known = load(&Key::of(&self.resolved, &plain, self.run.env))?;
            if known.is_some_and(|record| is_revoked(&record)) && self.enforces {
                // It is the plain one that is to be trusted again.
                self.overrides = plain;
                return Err(self.revoked());
            }
        }
        if let Some(path) = self.lock.as_ref().filter(|_| self.enforces || self.compares()) {
            let file = LockFile::read(path, self.run.env.deadline());
            let file = file.map_err(|error| refusal::no_lock(&error))?;
            let locked = file.get(&self.key.name).cloned();
            self.locked = Some(locked.ok_or_else(|| self.not_locked(path))?);
            self.locked_parts = file.parts(&self.key.name).cloned().unwrap_or_default();
        }
        if !self.enforces || self.mode == Mode::Off {
            return Ok(());
        }
        if self.lock.is_none()
            && self.mode == Mode::Strict
            && self.record.is_none()
            && !self.is_looked_over()
        {
            return Err(self.not_accepted());
        }
        if let (Some(record), true) = (&mut self.record, self.approved) {
            self.amended |= record.lacks(&self.observed);
            record.accepted.endpoint.clone_from(&self.observed.endpoint);
            record.accepted.command = self.observed.command;
        }
        Ok(())
    }

    /// Whether the server stands in no file yet, and the user wants to see whether it should.
    fn is_looked_over(&self) -> bool {
        !self.resolved.is_stored && matches!(self.run.command(), Command::Add(_) | Command::Card(_))
    }

    /// Whether the command shows how the server differs from what is accepted.
    fn compares(&self) -> bool {
        matches!(self.run.command(), Command::Trust(trust) if trust.action == TrustAction::Diff)
    }

    /// The file that says what the server is locked to, if one does.
    pub(super) fn lock(&self) -> Option<&Path> {
        self.lock.as_deref().filter(|_| self.is_locked())
    }

    /// Whether the server must be as a lock file says, in every respect.
    pub(super) fn is_locked(&self) -> bool {
        self.locked.is_some()
    }

    /// Whether only what the user has accepted is used.
    pub(super) fn is_strict(&self) -> bool {
        self.mode == Mode::Strict
    }

    /// Whether the server is started or reached as its definition says, and by nothing else: no option
    /// adds to it, and it gets no variables of the day.
    pub(super) fn is_as_defined(&self) -> bool {
        let Overrides { args, env, cwd, inherit_env, headers, .. } = &self.overrides;
        let adds = !args.is_empty() || !env.is_empty() || !headers.is_empty() || cwd.is_some();
        let target = &self.resolved.definition.target;
        let inherits = *inherit_env || matches!(target, Target::Stdio(it) if it.inherit_env);
        // Where trust was strict when it was started, it was judged with all that.
        self.is_strict() || !adds && !inherits
    }

    /// The error for the server that was refused when it introduced itself.
    pub(super) fn refusal(&self) -> Option<Error> {
        self.refusal.clone()
    }

    /// Makes sure that the trust in the place of a server, or in the command that starts it, was not
    /// taken back, under whatever name and with whatever query.
    pub(super) fn check_place(&mut self, server: &Server) -> Result<(), Error> {
        let is_command = matches!(server.endpoint, Endpoint::Stdio(_));
        if is_command && !self.store.has_revoked_commands() {
            return Ok(());
        }
        let whole = self.places(&server.endpoint).into_iter().map(|place| (place, false));
        let plain = self.plain_places(&server.endpoint).into_iter().map(|place| (place, true));
        for (place, is_plain) in whole.chain(plain) {
            let record = self.store.load(&place).map_err(|error| refusal::unreadable(&error))?;
            self.is_place_revoked |= record.is_some_and(|record| record.revoked.is_some());
            if self.is_place_revoked && self.enforces {
                // It is the plain one that is to be trusted again; variables make no other of it.
                if is_plain {
                    self.overrides.args.clear();
                }
                if is_command {
                    self.overrides.env.clear();
                }
                return Err(self.revoked_place(&place));
            }
        }
        Ok(())
    }

    /// Whether the trust in the server, or in the place where it is, was taken back.
    pub(super) fn is_revoked(&self) -> bool {
        let is_own = self.record.as_ref().is_some_and(|record| record.revoked.is_some());
        is_own || self.is_place_revoked
    }

    /// Writes down what was learnt, if there is anything new. What cannot be written is learnt anew
    /// the next time.
    pub(super) fn save(&mut self) {
        let is_remembered = self.locked.is_none() && self.mode != Mode::Off && self.enforces;
        // Strictly, nothing is known of a server but what the user has accepted.
        let is_unknown = self.mode == Mode::Strict && self.record.is_none();
        if !is_remembered || is_unknown || !self.met || !self.is_news() {
            return;
        }
        let (mode, approved, attended) = (self.mode, self.approved, self.attended);
        let texts = std::mem::take(&mut self.texts);
        let texts = self.kept_texts(texts);
        let (observed, used, list) = (&self.observed, &self.used, self.list);
        let saved = self.store.change(&self.key, self.run.env.now(), |record, kept| {
            let before = record.clone();
            self.tell_apart(record);
            if approved {
                record.accepted.endpoint.clone_from(&observed.endpoint);
                record.accepted.command = observed.command;
            }
            if attended && observed.auth.is_some() {
                record.accepted.auth.clone_from(&observed.auth);
            }
            record.learn(observed, mode, used);
            if observed.tools.is_some() {
                // What stood for the list before may stand for another one by now.
                record.list = list.or(record.list);
            }
            kept.settle(texts, &record.accepted, record.seen.as_ref());
            (*record != before, ())
        });
        if let Err(error) = saved {
            self.tell_unsaved(&error);
        }
    }

    /// Tells that changes will go unnoticed: to people, and to everybody where they were noticed so
    /// far, or somebody relies on that. A script that runs where nothing is ever written, as in many
    /// containers, knows.
    fn tell_unsaved(&self, error: &PinError) {
        let has_reader = self.run.env.terminals.stderr || 0 < self.run.globals.verbose;
        if has_reader || self.is_relied_on || self.store.is_in_use() {
            let text = "what servers are cannot be remembered, so that changes go unnoticed";
            self.run.warn(&format!("{text}: {error}"));
        }
    }

    /// Whether there is anything to write down.
    fn is_news(&self) -> bool {
        let Some(record) = &self.record else { return true };
        let is_taken = |tool: &String| {
            let accepted = record.accepted.tools.as_ref();
            accepted.is_none_or(|tools| tools.contains_key(tool))
        };
        let has_new_list = self.list.is_some() && self.list != record.list;
        self.amended
            || record.lacks(&self.observed)
            || has_new_list
            || !self.used.iter().all(is_taken)
    }
}

/// Whether another directory makes another command of the one that a definition has.
fn is_led_elsewhere(resolved: &Resolved) -> bool {
    match &resolved.definition.target {
        Target::Stdio(target) if resolved.is_stored => {
            follows_directory(&[vec![target.command.clone()], target.args.clone()].concat())
        }
        _ => false,
    }
}

/// How strict the variable and the definition want to be: the stricter of the two counts. The file of
/// a project may ask for more than usual, not for less.
fn wanted(run: &Run<'_>, resolved: &Resolved) -> Mode {
    let variable = run.settings.trust.map(|trust| match trust {
        Trust::Off => Mode::Off,
        Trust::FirstUse => Mode::FirstUse,
        Trust::Strict => Mode::Strict,
    });
    let is_own = resolved.origin.layer().is_some_and(Layer::is_own);
    let said = resolved.definition.trust.filter(|trust| is_own || *trust == Mode::Strict);
    variable.max(said).unwrap_or_default()
}

/// Forgets what a server of a file was accepted as: the user has just written, or removed, its
/// definition. What was revoked stays so.
pub(super) fn forget(run: &Run<'_>, layer: Layer, name: &str, overrides: &Overrides) {
    let word = match layer {
        Layer::Named => name.to_owned(),
        layer => format!("{layer}:{name}"),
    };
    let Ok(resolved) = config::resolve(&word, run.env, overrides) else { return };
    let (store, key) = (Store::new(run.env), Key::of(&resolved, overrides, run.env));
    let is_revoked = |record: Box<Record>| record.revoked.is_some();
    if let Ok(Some(false)) = store.load(&key).map(|record| record.map(is_revoked)) {
        // Otherwise the next use says that it has changed, which is true.
        let _ = store.forget(&key);
    }
}

/// The words of a command line that mean this very server: options first, and then its name.
/// `value` stands for the values of variables, which may be secrets.
fn words(resolved: &Resolved, overrides: &Overrides, env: &Env, value: &str) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(config) = &overrides.config {
        words.extend(["--config".to_owned(), config.to_string_lossy().into_owned()]);
    }
    for argument in &overrides.args {
        words.push(format!("--arg={argument}"));
    }
    for (name, _) in &overrides.env {
        words.extend(["--env".to_owned(), format!("{name}={value}")]);
    }
    if let Some(host) = overrides.host() {
        words.extend(["--header".to_owned(), format!("Host: {host}")]);
    }
    if let Some(cwd) = &overrides.cwd {
        words.extend(["--cwd".to_owned(), cwd.to_string_lossy().into_owned()]);
    }
    let plain = config::resolve(&resolved.name, env, overrides);
    let is_same = plain.is_ok_and(|plain| plain.origin == resolved.origin);
    words.push(match resolved.origin.layer() {
        Some(layer) if !is_same => format!("{layer}:{}", resolved.name),
        _ => resolved.name.clone(),
    });
    words
}
