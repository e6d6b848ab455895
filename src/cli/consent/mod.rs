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

mod refusal;
mod survey;

pub(super) use refusal::no_lock;

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::args::Command;
use super::args::settings::Trust;
use super::catalog::Catalog;
use super::contact::Contact;
use super::errors::Error;
use super::run::Run;
use crate::auth::TokenRecord;
use crate::client::Link;
use crate::config::{self, Digest, Layer, Overrides, Resolved};
use crate::env::Env;
use crate::protocol::Session;
use crate::protocol::json::Json;
use crate::protocol::jsonrpc::scan;
use crate::protocol::model::server;
use crate::protocol::model::tool::Tool;
use crate::trust::pins::{
    self, Action, Auth, Change, Facets, Identity, Key, LockFile, Mode, Record, Store, Texts, Use,
    Verdict,
};

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
    /// Whether somebody logs in, who sees what the token is for.
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
    ) -> Result<Consent<'a>, Error> {
        let lock = run.globals.lock.as_ref().filter(|_| !matches!(run.command(), Command::Lock(_)));
        let mode = match (lock, run.settings.trust) {
            (Some(_), _) | (None, Trust::Strict) => Mode::Strict,
            (None, Trust::FirstUse) => Mode::FirstUse,
            (None, Trust::Off) => Mode::Off,
        };
        let layer = resolved.origin.layer();
        let mut consent = Consent {
            run,
            store: Store::new(run.env),
            key: Key::of(resolved, overrides, run.env),
            mode,
            resolved: resolved.clone(),
            overrides: overrides.clone(),
            enforces: !matches!(run.command(), Command::Trust(_) | Command::Logout(_)),
            lock: lock.map(|path| run.env.absolute(path)),
            approved: !layer.is_none_or(Layer::is_own),
            attended: run.settings.login || matches!(run.command(), Command::Login(_)),
            locked: None,
            record: None,
            observed: pins::of_definition(resolved),
            texts: Texts::default(),
            list: None,
            used: BTreeSet::new(),
            met: false,
            refusal: None,
            told: Vec::new(),
        };
        consent.look_up()?;
        consent.check()?;
        Ok(consent)
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

    /// Takes in that a session with the server is open; false when it must go no further.
    pub(super) fn introduced(&mut self, session: &Session) -> bool {
        let Some(greeting) = session.about().and_then(|about| about.greeting.as_ref()) else {
            self.met = true;
            if self.is_locked() {
                self.refusal = Some(self.unintroduced());
            }
            return !self.is_locked();
        };
        self.refusal = self.greet(greeting.as_str()).err();
        self.refusal.is_none()
    }

    /// Takes in what a server says about itself, and makes sure that it may be used.
    pub(super) fn greet(&mut self, greeting: &str) -> Result<(), Error> {
        self.note_greeting(greeting);
        self.check()?;
        self.tell_news();
        Ok(())
    }

    /// Takes in what a server says about itself: the result of `initialize` or `server/discover`.
    fn note_greeting(&mut self, greeting: &str) {
        self.met = true;
        if self.mode == Mode::Off {
            return;
        }
        self.observed.identity = server::info(greeting).map(Identity::read);
        let declared = scan::member(greeting, "capabilities").unwrap_or("{}");
        self.observed.capabilities = Some(pins::capabilities(declared));
        let instructions = scan::member(greeting, "instructions").and_then(scan::unescape);
        let instructions = instructions.unwrap_or_default();
        self.observed.instructions = Some(Digest::of(instructions.as_bytes()));
        self.texts.instructions = Some(instructions.into_owned());
    }

    /// Takes in what a server says about itself beside a result. The result is there already: what
    /// has changed counts for the next command.
    pub(super) fn note_result(&mut self, result: &Json) {
        self.met = true;
        let Some(info) = server::info(result.as_str()).filter(|_| self.mode != Mode::Off) else {
            return;
        };
        let identity = Identity::read(info);
        if self.observed.identity.as_ref() != Some(&identity) {
            self.observed.identity = Some(identity);
            self.tell_news();
        }
    }

    /// The same for one of many results, which are all of the same server.
    pub(super) fn note_first_result(&mut self, result: &Json) {
        if self.observed.identity.is_none() {
            self.note_result(result);
        }
    }

    /// Takes in all tools of the server, each as its JSON text.
    pub(super) fn note_tools<'t>(&mut self, tools: impl Iterator<Item = &'t str> + Clone) {
        self.met = true;
        if self.mode == Mode::Off {
            return;
        }
        let whole: String = tools.clone().collect();
        let list = Digest::of(whole.as_bytes());
        self.list = Some(list);
        let known = self.record.as_ref().and_then(|record| record.list);
        if known == Some(list) && self.enforces && self.locked.is_none() {
            let seen = self.record.as_ref().and_then(|record| record.seen.as_ref());
            self.observed.tools = seen.and_then(|seen| seen.tools.clone());
            return;
        }
        self.observed.tools = Some(Default::default());
        for text in tools {
            if let Ok(tool) = Tool::read(text) {
                self.note_tool(&tool);
            }
        }
        self.tell_news();
    }

    fn note_tool(&mut self, tool: &Tool) {
        let text = pins::tool_text(tool.as_json());
        let hash = Digest::of(text.as_bytes());
        if let Some(tools) = &mut self.observed.tools {
            tools.insert(tool.name.clone(), hash);
            self.texts.tools.insert(tool.name.clone(), text);
        }
    }

    /// Takes in who issued the token that the server gets, and what it allows.
    fn note_token(&mut self, token: &TokenRecord) {
        let scopes = token.scopes().iter().map(str::to_owned).collect();
        self.observed.auth = Some(Auth { issuer: token.issuer.clone(), scopes });
    }

    /// Makes sure that the server may have the token that is kept for it.
    pub(super) fn admit_token(&mut self, token: Option<&TokenRecord>) -> Result<(), Error> {
        let Some(token) = token else { return Ok(()) };
        self.note_token(token);
        self.check()
    }

    /// Whether the list of tools was never looked at, and should be if it is at hand.
    pub(super) fn wants_tools(&self) -> bool {
        let known = self.record.as_ref().is_some_and(|record| record.accepted.tools.is_some());
        self.observed.tools.is_none() && (self.is_locked() || !known) && self.mode != Mode::Off
    }

    /// Whether something was seen that is not accepted, so that the server has to say anew what it is.
    pub(super) fn is_in_doubt(&self) -> bool {
        let has_seen = |record: &Record| record.seen.is_some();
        self.mode != Mode::Off && (self.is_locked() || self.record.as_ref().is_some_and(has_seen))
    }

    /// Whether a tool must be looked at before it is called, at the cost of a request.
    pub(super) fn doubts(&self, tool: &str) -> bool {
        let doubts = |record: &Record| record.doubts(tool, self.mode);
        self.is_locked() || self.enforces && self.record.as_ref().is_some_and(doubts)
    }

    /// Says that a tool is going to be called.
    pub(super) fn intend(&mut self, tool: &str) {
        if self.mode != Mode::Off && !self.used.contains(tool) {
            self.used.insert(tool.to_owned());
        }
    }

    /// Makes sure that a tool may be called: by its definition, if that is at hand, else by what was
    /// seen of it before.
    pub(super) fn admit(&mut self, name: &str, tool: Option<&Tool>) -> Result<(), Error> {
        if self.mode == Mode::Off || !self.enforces {
            return Ok(());
        }
        if let Some(tool) = tool {
            self.compare_tool(tool);
        }
        if self.is_locked() && self.observed.tools.is_none() {
            return Err(self.unseen(name));
        }
        self.check_for(&Use::from([name.to_owned()]))?;
        self.intend(name);
        Ok(())
    }

    /// Holds a tool that was remembered against what is known of it.
    fn compare_tool(&mut self, tool: &Tool) {
        if self.observed.tools.is_some() {
            return;
        }
        let record = self.record.as_ref();
        let known = record.and_then(|it| it.seen.as_ref().unwrap_or(&it.accepted).tools.as_ref());
        let Some(known) = known else { return };
        let hash = Digest::of(pins::tool_text(tool.as_json()).as_bytes());
        if known.get(&tool.name) != Some(&hash) {
            self.observed.tools = Some(known.clone());
            self.note_tool(tool);
        }
    }

    /// What is accepted, and what the server is as far as that is known.
    pub(super) fn sides(&self) -> (Facets, Facets) {
        let nothing = || Record::new(&self.key.name, 0);
        match (&self.locked, &self.record) {
            (Some(locked), _) => (locked.clone(), self.observed.clone()),
            (None, Some(record)) => (record.accepted.clone(), record.current(&self.observed)),
            (None, None) => (Facets::default(), nothing().current(&self.observed)),
        }
    }

    fn verdict(&self, used: &Use) -> Option<Verdict> {
        let judge = |record: &Record| record.judge(&self.observed, self.mode, used);
        match &self.locked {
            Some(locked) => Some(Verdict::of(locked, &self.observed, self.mode, used)),
            None => self.record.as_ref().map(judge),
        }
    }

    /// Makes sure that the command may go on with the server as it is.
    pub(super) fn check(&self) -> Result<(), Error> {
        self.check_for(&self.used)
    }

    fn check_for(&self, used: &Use) -> Result<(), Error> {
        if self.mode == Mode::Off || !self.enforces || !self.differs() {
            return Ok(());
        }
        match self.verdict(used).filter(|verdict| !verdict.blocking().is_empty()) {
            Some(verdict) => Err(self.refused(&verdict)),
            None => Ok(()),
        }
    }

    /// Whether there is anything to judge: most servers are what they were.
    fn differs(&self) -> bool {
        let is_new = |record: &Record| record.seen.is_some() || record.lacks(&self.observed);
        self.locked.is_some() || self.record.as_ref().is_some_and(is_new)
    }

    /// Tells what has changed and was not told before, and does not stop the command.
    fn tell_news(&mut self) {
        if !self.enforces || !self.differs() {
            return;
        }
        let Some(verdict) = self.verdict(&self.used) else { return };
        let known = self.record.as_ref().map(Record::pending).unwrap_or_default();
        let is_told = [Action::Tell, Action::Warn];
        let is_news = |(change, action): &&(Change, Action)| {
            is_told.contains(action) && !known.contains(change) && !self.told.contains(change)
        };
        let news: Vec<_> = verdict.changes.iter().filter(is_news).collect();
        let text = self.news(&news);
        let told: Vec<_> = news.into_iter().map(|(change, _)| change.clone()).collect();
        self.told.extend(told);
        if let Some(text) = text {
            self.run.warn(&text);
        }
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
        record.lacks(&self.observed) || has_new_list || !self.used.iter().all(is_taken)
    }
}

impl Contact<'_> {
    /// Takes in for what token the server was used in the end.
    pub(super) fn note_auth(&mut self) {
        let authorizer = self.link.as_mut().and_then(Link::authorizer);
        if let Some(token) = authorizer.and_then(|authorizer| authorizer.record()) {
            self.watcher.consent.note_token(token);
        }
    }

    /// Makes sure that a tool may be called of which only the name is given. One that is in
    /// doubt is looked at.
    pub(super) async fn admit_tool(&mut self, name: &str) -> Result<(), Error> {
        self.watcher.consent.intend(name);
        if self.watcher.consent.doubts(name) {
            Catalog::fetch(self).await?;
        }
        self.watcher.consent.admit(name, None)
    }
}

/// The words of a command line that mean this very server: options first, and then its name.
fn words(resolved: &Resolved, overrides: &Overrides, env: &Env) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(config) = &overrides.config {
        words.extend(["--config".to_owned(), config.to_string_lossy().into_owned()]);
    }
    for argument in &overrides.args {
        words.push(format!("--arg={argument}"));
    }
    for (name, _) in &overrides.env {
        // Its value may be a secret, and does not matter.
        words.extend(["--env".to_owned(), format!("{name}=")]);
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
