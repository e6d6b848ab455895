//! What may go on with a server as it is, and what is told of it.

use std::collections::BTreeMap;

use super::Consent;
use crate::cli::catalog::Catalog;
use crate::cli::contact::Contact;
use crate::cli::errors::Error;
use crate::config::Digest;
use crate::trust::pins::{Action, Change, Facets, Mode, Record, Use, Verdict};

impl Consent<'_> {
    /// Whether the server has to say anew what it is, at the cost of a request: it said last that it
    /// is another than was accepted.
    pub(in crate::cli) fn is_in_doubt(&self) -> bool {
        let nothing = Use::new();
        let stops = |change: &Change| change.action(self.mode, &nothing) == Action::Block;
        let is_stopped = |record: &Record| record.pending().iter().any(stops);
        self.is_locked() || self.record.as_ref().is_some_and(is_stopped)
    }

    /// Whether a tool must be looked at before it is called, at the cost of a request.
    pub(in crate::cli) fn doubts(&self, tool: &str) -> bool {
        // Strictly, what a tool was the last time is not enough.
        let tool = self.named(tool);
        let doubts = |record: &Record| self.mode == Mode::Strict || record.doubts(tool, self.mode);
        self.is_locked() || self.enforces && self.record.as_ref().is_some_and(doubts)
    }

    /// Whether tools are to be held to those that were accepted, and were not looked at since the
    /// connection was opened, or said to have changed, or too long ago. One that was not among them
    /// is looked at as well: it is new, or it is none that the server shows.
    pub(in crate::cli) fn holds(&self) -> bool {
        !self.looks.count() && self.is_held()
    }

    /// The same while other calls are under way: strictly it makes no difference.
    pub(in crate::cli) fn holds_meanwhile(&self) -> bool {
        match self.mode {
            Mode::Strict => self.holds(),
            _ => !self.looks.count_meanwhile() && self.is_held(),
        }
    }

    /// Whether tools are to be held to those that were accepted.
    pub(in crate::cli) fn is_held(&self) -> bool {
        let has_tools = || self.accepted_tools().is_some_and(|tools| !tools.is_empty());
        self.enforces && self.mode != Mode::Off && (self.is_locked() || has_tools())
    }

    /// The number of the connection on which the tools were looked at; `None` where that did not
    /// matter, since a list was at hand.
    pub(in crate::cli) fn looked_on(&self) -> Option<u32> {
        self.looks.connection()
    }

    /// The tools that the server is held to.
    pub(super) fn accepted_tools(&self) -> Option<&BTreeMap<String, Digest>> {
        let record = || self.record.as_ref().map(|record| &record.accepted);
        self.locked.as_ref().or_else(record)?.tools.as_ref()
    }

    /// Whether everything is to be looked at before anything is asked of the server, and was not
    /// yet, or too long ago.
    pub(in crate::cli) fn wants_everything(&self) -> bool {
        self.is_locked() && self.enforces && !self.looks.count() && !self.looking
    }

    /// Says that a tool is going to be called.
    pub(in crate::cli) fn intend(&mut self, tool: &str) {
        if self.mode != Mode::Off && !self.used.contains(self.named(tool)) {
            self.used.insert(self.named(tool).to_owned());
        }
    }

    /// Makes sure that a tool may be called, by what was seen of it.
    pub(in crate::cli) fn admit(&mut self, name: &str) -> Result<(), Error> {
        if self.mode == Mode::Off || !self.enforces {
            return Ok(());
        }
        if self.is_locked() && self.observed.tools.is_none() {
            return Err(self.unseen(name));
        }
        let tool = self.named(name).to_owned();
        self.check_for(&Use::from([tool.clone()]))?;
        if self.is_unlisted(&tool) {
            match self.mode {
                Mode::Strict => return Err(self.unlisted(&tool)),
                _ => {
                    let text = self.unlisted(&tool).message;
                    self.run.warn(&format!("{}: {text}", self.key.name));
                }
            }
        }
        self.intend(name);
        Ok(())
    }

    /// Whether a tool is none of those that the server lists, now or when it was accepted. A list that
    /// came before is not read once more: it is what was accepted.
    fn is_unlisted(&self, tool: &str) -> bool {
        let has = |tools: &BTreeMap<String, Digest>| tools.contains_key(tool);
        let lists_it = match &self.observed.tools {
            Some(tools) => has(tools),
            None => !self.looks.count(),
        };
        self.is_held() && !lists_it && !self.accepted_tools().is_some_and(has)
    }

    /// What is accepted, and what the server is as far as that is known.
    pub(in crate::cli) fn sides(&self) -> (Facets, Facets) {
        match (&self.locked, &self.record) {
            (Some(locked), _) => (locked.clone(), self.observed.clone()),
            (None, Some(record)) => (record.accepted.clone(), record.current(&self.observed)),
            (None, None) => (Facets::default(), self.observed.clone()),
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
    pub(in crate::cli) fn check(&self) -> Result<(), Error> {
        self.check_for(&self.used)
    }

    /// Makes sure that nothing about the server waits to be accepted.
    pub(in crate::cli) fn check_all(&self) -> Result<(), Error> {
        let Some(record) = &self.record else { return Ok(()) };
        let now = record.current(&self.observed);
        match Verdict::of_all(&record.accepted, &now, self.mode) {
            verdict if verdict.changes.is_empty() => Ok(()),
            verdict => Err(self.refused(&verdict)),
        }
    }

    fn check_for(&self, used: &Use) -> Result<(), Error> {
        if self.mode == Mode::Off || !self.enforces || !self.differs() {
            return Ok(());
        }
        match self.verdict(used).filter(|verdict| !verdict.blocking().is_empty()) {
            Some(verdict) => Err(self.unusable(&verdict)),
            None => Ok(()),
        }
    }

    /// Whether there is anything to judge: most servers are what they were.
    fn differs(&self) -> bool {
        let is_new = |record: &Record| record.seen.is_some() || record.lacks(&self.observed);
        self.locked.is_some() || self.record.as_ref().is_some_and(is_new)
    }

    /// Tells what has changed and was not told before, and does not stop the command.
    pub(super) fn tell_news(&mut self) {
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
}

impl Contact<'_> {
    /// Makes sure that a tool may be called of which only the name is given. One that is in
    /// doubt, or was accepted, is looked at.
    pub(in crate::cli) async fn admit_tool(&mut self, name: &str) -> Result<(), Error> {
        self.watcher.consent.intend(name);
        if self.watcher.consent.doubts(name) {
            Catalog::look(self, name).await?;
        } else {
            Catalog::glance(self, name).await?;
        }
        self.watcher.consent.admit(name)
    }
}
