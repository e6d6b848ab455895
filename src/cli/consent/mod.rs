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
//! No request is made for it: what is not at hand is not looked at. Only `--lock` wants all of it.

mod judge;
mod observe;
mod refusal;
mod survey;

pub(super) use refusal::no_lock;

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::args::Command;
use super::args::settings::Trust;
use super::errors::Error;
use super::run::Run;
use crate::config::{self, Digest, Layer, Overrides, Resolved};
use crate::env::Env;
use crate::trust::pins::{Change, Facets, Key, LockFile, Mode, Record, Store, Texts, Use};
use crate::trust::policy;

/// What a server is held to, and what is learnt of it.
#[derive(Debug)]
pub(super) struct Consent<'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) store: Store,
    pub(super) key: Key,
    mode: Mode,
    /// The server, as it was found.
    resolved: Resolved,
    overrides: Overrides,
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
    pub(super) record: Option<Record>,
    pub(super) observed: Facets,
    pub(super) texts: Texts,
    /// The hash of the list of tools as it came.
    list: Option<Digest>,
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
        policy: policy::Mode,
    ) -> Result<Box<Consent<'a>>, Error> {
        let lock = run.globals.lock.as_ref().filter(|_| !matches!(run.command(), Command::Lock(_)));
        if lock.is_some() && (overrides.cwd.is_some() || overrides.inherit_env) {
            return Err(refusal::elsewhere());
        }
        let looks = matches!(run.command(), Command::Trust(_) | Command::Lock(_));
        let mode = match (lock, run.settings.trust) {
            (Some(_), _) | (None, Trust::Strict) => Mode::Strict,
            // A variable does not loosen what a policy wants to be strict.
            (None, Trust::Off) if !looks && policy != policy::Mode::Strict => Mode::Off,
            (None, Trust::FirstUse | Trust::Off) => Mode::FirstUse,
        };
        let layer = resolved.origin.layer();
        let (key, observed) = Key::and_definition(resolved, overrides, run.env);
        let mut consent = Box::new(Consent {
            run,
            store: Store::new(run.env),
            key,
            mode,
            resolved: resolved.clone(),
            overrides: overrides.clone(),
            enforces: !matches!(run.command(), Command::Trust(_) | Command::Logout(_)),
            lock: lock.map(|path| run.env.absolute(path)),
            approved: !layer.is_none_or(Layer::is_own),
            attended: run.settings.login
                || matches!(run.command(), Command::Login(_))
                || run.access.scope.is_some()
                || run.access.issuer.is_some(),
            locked: None,
            record: None,
            observed,
            texts: Texts::default(),
            list: None,
            used: BTreeSet::new(),
            met: false,
            amended: false,
            refusal: None,
            told: Vec::new(),
        });
        consent.look_up()?;
        consent.check()?;
        Ok(consent)
    }

    /// The hash of the server's definition alone, whatever the command line adds to it.
    pub(super) fn definition(&self) -> Digest {
        self.resolved.identity()
    }

    fn look_up(&mut self) -> Result<(), Error> {
        let record = self.store.load(&self.key).map_err(|error| refusal::unreadable(&error))?;
        if let Some(record) = &record
            && record.revoked.is_some()
            && self.enforces
        {
            return Err(self.revoked());
        }
        self.record = record;
        if !self.enforces || self.mode == Mode::Off {
            return Ok(());
        }
        if let Some(path) = &self.lock {
            let file = LockFile::read(path).map_err(|error| refusal::no_lock(&error))?;
            let locked = file.get(&self.key.name).cloned();
            self.locked = Some(locked.ok_or_else(|| self.not_locked(path))?);
        } else if self.mode == Mode::Strict && self.record.is_none() {
            return Err(self.not_accepted());
        }
        if let (Some(record), true) = (&mut self.record, self.approved) {
            self.amended |= record.lacks(&self.observed);
            record.accepted.endpoint.clone_from(&self.observed.endpoint);
            record.accepted.command = self.observed.command;
        }
        Ok(())
    }

    /// Whether the server must be as a lock file says, in every respect.
    pub(super) fn is_locked(&self) -> bool {
        self.locked.is_some()
    }

    /// The error for the server that was refused when it introduced itself.
    pub(super) fn refusal(&self) -> Option<Error> {
        self.refusal.clone()
    }

    /// Writes down what was learnt, if there is anything new. What cannot be written is learnt anew
    /// the next time.
    pub(super) fn save(&mut self) {
        let is_remembered = self.locked.is_none() && self.mode != Mode::Off && self.enforces;
        if !is_remembered || !self.met || !self.is_news() {
            return;
        }
        let (mode, approved, attended) = (self.mode, self.approved, self.attended);
        let (observed, used, list) = (&self.observed, &self.used, self.list);
        let texts = std::mem::take(&mut self.texts);
        let saved = self.store.change(&self.key, self.run.env.now(), |record, kept| {
            let before = record.clone();
            if approved {
                record.accepted.endpoint.clone_from(&observed.endpoint);
                record.accepted.command = observed.command;
            }
            if attended && observed.auth.is_some() {
                record.accepted.auth.clone_from(&observed.auth);
            }
            record.learn(observed, mode, used);
            record.list = list.or(record.list);
            kept.settle(texts, &record.accepted, record.seen.as_ref());
            (*record != before, ())
        });
        if let Err(error) = saved {
            let name = &self.key.name;
            self.run.remark(&format!("{name}: what it is cannot be remembered: {error}"));
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

/// Forgets what a server of a file was accepted as: the user has just written, or removed, its
/// definition. What was revoked stays so.
pub(super) fn forget(run: &Run<'_>, layer: Layer, name: &str, overrides: &Overrides) {
    let word = match layer {
        Layer::Named => name.to_owned(),
        layer => format!("{layer}:{name}"),
    };
    let Ok(resolved) = config::resolve(&word, run.env, overrides) else { return };
    let (store, key) = (Store::new(run.env), Key::of(&resolved, overrides, run.env));
    let is_revoked = |record: Record| record.revoked.is_some();
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
