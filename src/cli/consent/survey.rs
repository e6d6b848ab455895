//! All there is to know of a server, asked for at once.

use std::path::Path;

use super::Consent;
use crate::cli::catalog::Catalog;
use crate::cli::contact::Contact;
use crate::cli::errors::{Error, Phase};
use crate::cli::exit::Exit;
use crate::cli::run::Run;
use crate::cli::{discover, listing, policy};
use crate::config::{Overrides, Resolved};
use crate::protocol::message::Sent;
use crate::trust::pins::{
    Action, Facets, Mode, Parts, Record, State, Texts, Use, compare, of_definition, tool_parts,
};

/// Remembers what a server has said of itself before it stood in a file, so that the first look at it
/// afterwards finds nothing that was never seen. Of a server that is known already that decides nothing.
pub(in crate::cli) fn note_greeting(
    run: &Run<'_>,
    resolved: &Resolved,
    overrides: &Overrides,
    (facets, texts): (Facets, Texts),
) -> Result<(), Error> {
    let mut consent = Consent::unchecked(run, resolved, overrides, policy::load(run)?);
    consent.load()?;
    let has_greeted = |record: &Record| {
        record.revoked.is_some()
            || record.accepted.identity.is_some()
            || record.accepted.capabilities.is_some()
    };
    if consent.record.as_ref().is_some_and(has_greeted) {
        return Ok(());
    }
    let Facets { identity, capabilities, instructions, .. } = facets;
    consent.observed = Facets { identity, capabilities, instructions, ..consent.observed };
    (consent.texts, consent.met) = (texts, true);
    consent.save();
    Ok(())
}

impl Contact<'_> {
    /// Asks the server what it is and what it can do, and for all its tools.
    pub(in crate::cli) async fn survey(&mut self) -> Result<(), Error> {
        self.settle().await?;
        self.greeting().await?;
        match Catalog::fetch(self).await {
            Ok(_) => {}
            Err(error) if listing::is_unlisted(&error) => {
                self.watcher.consent.note_tools(&[], None)?;
            }
            Err(error) => return Err(error),
        }
        self.note_auth();
        self.note_publisher().await?;
        self.watcher.consent.check()
    }

    /// Looks who has signed the card that the definition of this server was made from, if it was made
    /// from one.
    ///
    /// # Errors
    /// When that cannot be told now, it was known, and only what was accepted is used: then not to know
    /// it is no pass.
    async fn note_publisher(&mut self) -> Result<(), Error> {
        let consent = &mut self.watcher.consent;
        let Some(card) = consent.resolved.definition.card.clone() else { return Ok(()) };
        let known = consent.record.as_ref().and_then(|record| record.accepted.publisher.clone());
        let locked = consent.locked.as_ref().and_then(|locked| locked.publisher.clone());
        let known = locked.or(known);
        match discover::publisher(self.run, &card, known.as_ref()).await {
            Some(publisher) => consent.note_publisher(publisher),
            None if consent.mode == Mode::Strict && known.is_some_and(|it| !it.is_none()) => {
                let text = format!("who has signed the card of this server cannot be told: {card}");
                let error = Error::new(Exit::Unreachable, text).phase(Phase::Trust).sent(Sent::No);
                return Err(error
                    .retryable(true)
                    .hint("that is an error because trust is strict here"));
            }
            None => {}
        }
        Ok(())
    }
}

impl Contact<'_> {
    /// Under `--lock`, looks at all of the server before anything else is asked of it, or said about
    /// it.
    pub(in crate::cli) async fn hold_to_lock(&mut self) -> Result<(), Error> {
        if !self.watcher.consent.wants_everything() {
            return Ok(());
        }
        self.watcher.consent.looking = true;
        // It makes requests of its own, which come here again.
        let looked = Box::pin(self.look_at_everything()).await;
        self.watcher.consent.looking = false;
        looked
    }

    async fn look_at_everything(&mut self) -> Result<(), Error> {
        self.settle().await?;
        match Catalog::get(self).await {
            Ok(_) => {}
            Err(error) if listing::is_unlisted(&error) => {
                self.watcher.consent.note_tools(&[], None)?;
            }
            Err(error) => return Err(self.watcher.consent.unlooked(None, error)),
        }
        self.watcher.consent.check()
    }
}

impl Consent<'_> {
    /// Whether the definition leads to another place or another command than the one that was
    /// accepted. Then it is neither started nor reached to look at it.
    pub(in crate::cli) fn is_elsewhere(&self) -> bool {
        let accepted = || self.record.as_ref().map(|record| &record.accepted);
        let accepted = self.locked.as_ref().or_else(accepted);
        let stops = |accepted: &Facets| {
            let changes = compare(accepted, &self.definition);
            changes.iter().any(|change| change.action(Mode::FirstUse, &Use::new()) == Action::Block)
        };
        accepted.is_some_and(stops)
    }

    /// How it stands with the server, as far as it was looked at; `None` when it was never used.
    pub(in crate::cli) fn state(&self) -> Option<State> {
        self.record.as_ref().map(|record| record.state(&self.observed))
    }

    /// What the server is now, as far as it was looked at.
    pub(in crate::cli) fn current(&self) -> Facets {
        match &self.record {
            Some(record) => record.current(&self.observed),
            None => self.observed.clone(),
        }
    }

    /// The same, for a lock file.
    pub(in crate::cli) fn current_for(&self, lock: &Path) -> Facets {
        let (resolved, overrides) = (&self.resolved, &self.overrides);
        of_definition(resolved, overrides, self.run.env, Some(lock)).or(&self.current())
    }

    /// The hashes of the members of the tools, for a lock file.
    pub(in crate::cli) fn parts(&self) -> Parts {
        let tools = self.texts.tools.iter();
        tools.map(|(name, text)| (name.clone(), tool_parts(text))).collect()
    }

    /// Writes down what was seen of a server that is known, so that it can be accepted as it is.
    pub(in crate::cli) fn save_seen(&mut self) {
        // What a lock file is about is more than that.
        if self.record.is_none() || self.is_locked() {
            return;
        }
        let (observed, list) = (&self.observed, self.list);
        let texts = self.kept_texts(self.texts.clone());
        let saved = self.store.change(&self.key, self.run.env.now(), |record, kept| {
            let before = record.clone();
            self.tell_apart(record);
            record.learn(observed, Mode::Strict, &Use::new());
            record.list = list.or(record.list);
            kept.settle(texts, &record.accepted, record.seen.as_ref());
            (*record != before, record.clone())
        });
        match saved {
            Ok(record) => self.record = Some(record),
            Err(error) => {
                let name = &self.key.name;
                self.run.warn(&format!("{name}: what was seen cannot be remembered: {error}"));
            }
        }
    }
}
