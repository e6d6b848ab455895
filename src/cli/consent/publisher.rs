//! Who has signed the card of a server, held against who had when it was accepted.
//!
//! Nobody looks for that when a server is used: it is looked at when a server is added, when its card
//! is shown, and when all of it is looked at (`trust show`, `lock`). What was found then counts from
//! then on.

use super::Consent;
use crate::cli::errors::Error;
use crate::cli::policy;
use crate::cli::run::Run;
use crate::config::{Overrides, Resolved};
use crate::trust::pins::{Action, Change, Facets, Mode, Publisher, Use};

/// Holds who has signed the card of a server against who had, and remembers who has. Of a server that
/// is not known yet it is the first thing that is known.
///
/// # Errors
/// When it was signed, and is not any more, or is by somebody else.
pub(in crate::cli) fn hold_publisher(
    run: &Run<'_>,
    resolved: &Resolved,
    overrides: &Overrides,
    publisher: Publisher,
) -> Result<(), Error> {
    let mut consent = Consent::unchecked(run, resolved, overrides, policy::load(run)?);
    consent.load()?;
    let is_strict = consent.mode == Mode::Strict;
    let is_revoked = consent.record.as_ref().is_some_and(|record| record.revoked.is_some());
    if consent.mode == Mode::Off || is_revoked || is_strict && consent.record.is_none() {
        return Ok(());
    }
    consent.note_publisher(publisher);
    if consent.observed.publisher.is_none() {
        return Ok(());
    }
    consent.met = true;
    let observed = Facets { publisher: consent.observed.publisher.clone(), ..Facets::default() };
    let verdict =
        consent.record.as_ref().map(|record| record.judge(&observed, consent.mode, &Use::new()));
    let is_told = |(_, action): &&(Change, Action)| *action < Action::Block;
    let news: Vec<_> = verdict.iter().flat_map(|it| &it.changes).filter(is_told).collect();
    consent.news(&news).iter().for_each(|text| run.warn(text));
    consent.save();
    match verdict {
        Some(verdict) if !verdict.blocking().is_empty() => Err(consent.refused(&verdict)),
        _ => Ok(()),
    }
}

/// Who is known to have signed the card of a server.
pub(in crate::cli) fn known_publisher(
    run: &Run<'_>,
    resolved: &Resolved,
    overrides: &Overrides,
) -> Result<Option<Publisher>, Error> {
    let mut consent = Consent::unchecked(run, resolved, overrides, policy::load(run)?);
    consent.load()?;
    Ok(consent.record.and_then(|record| record.accepted.publisher))
}

impl Consent<'_> {
    /// Who is known to have signed the card.
    pub(in crate::cli) fn publisher(&self) -> Option<&Publisher> {
        let record = || self.record.as_ref().and_then(|record| record.accepted.publisher.as_ref());
        self.locked.as_ref().and_then(|locked| locked.publisher.as_ref()).or_else(record)
    }

    /// Takes down who has signed the card. That nobody has says something only where somebody had, and
    /// who has signed in one way says nothing about who has in another.
    pub(super) fn note_publisher(&mut self, publisher: Publisher) {
        let known = self.record.as_ref().and_then(|record| record.accepted.publisher.as_ref());
        let says_something = match known {
            None => !publisher.is_none(),
            Some(known) => {
                let is_gone = known.is_missing_from(&publisher);
                known.is_none() || known.kind == publisher.kind || is_gone
            }
        };
        if says_something {
            self.observed.publisher = Some(publisher);
        }
    }
}
