//! What was accepted of one server, and what was seen of it since.

use serde::{Deserialize, Serialize};

use super::Mode;
use super::change::{Action, Change, Use, compare};
use super::facets::Facets;
use crate::config::Digest;

/// The version of the form that this program writes.
pub(super) const VERSION: u32 = 1;

/// What is known of one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The version of this form.
    pub(super) version: u32,
    /// The server, as it was named when this began.
    pub name: String,
    /// The command that starts it, for people, if it is started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_line: Option<String>,
    /// The file that defines it, if one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// When it was first used, in seconds since 1970.
    pub first_seen: u64,
    /// When this was last written, in seconds since 1970.
    pub last_seen: u64,
    /// By whose word it is trusted.
    pub consent: Consent,
    /// When the trust was taken back, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked: Option<u64>,
    /// The hash of the list of tools as it came last: while it is the same, no tool needs a look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<Digest>,
    /// What was accepted.
    pub accepted: Facets,
    /// What was seen last, if it differs from that so that it must be accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<Facets>,
}

/// By whose word a server is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Consent {
    /// By nobody's but that it was used.
    FirstUse,
    /// The user accepted it by its hash, or at the terminal.
    User,
}

impl Consent {
    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Consent::FirstUse => "first-use",
            Consent::User => "user",
        }
    }
}

/// How it stands with a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// The trust in it was taken back.
    Revoked,
    /// It is not what was accepted.
    Changed,
    /// It is what was accepted, and there is more to it that nobody has accepted yet.
    Incomplete,
    /// It is what was accepted.
    Accepted,
}

impl State {
    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            State::Revoked => "revoked",
            State::Changed => "changed",
            State::Incomplete => "incomplete",
            State::Accepted => "accepted",
        }
    }
}

/// How a server differs from what was accepted, for one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The differences that are not simply taken, and what each leads to.
    pub changes: Vec<(Change, Action)>,
    /// The hash of what the server is now: what there is to accept.
    pub digest: Digest,
}

impl Verdict {
    /// The differences between what was accepted and what is now, for a command that uses these
    /// tools.
    pub fn of(accepted: &Facets, now: &Facets, mode: Mode, used: &Use) -> Verdict {
        let judged = compare(accepted, now).into_iter().map(|change| {
            let action = change.action(mode, used);
            (change, action)
        });
        let changes = judged.filter(|(_, action)| *action != Action::Accept).collect();
        Verdict { changes, digest: now.digest() }
    }

    /// The differences that wait to be accepted, for a command that uses all there is.
    pub fn of_all(accepted: &Facets, now: &Facets, mode: Mode) -> Verdict {
        let waits = compare(accepted, now).into_iter().filter(|change| change.is_pending(mode));
        let changes = waits.map(|change| (change, Action::Block)).collect();
        Verdict { changes, digest: now.digest() }
    }

    /// The differences that stop the command.
    pub fn blocking(&self) -> Vec<&Change> {
        let stops = self.changes.iter().filter(|(_, action)| *action == Action::Block);
        stops.map(|(change, _)| change).collect()
    }
}

impl Record {
    /// The record of a server of which nothing is known yet.
    pub fn new(name: &str, now: u64) -> Record {
        Record {
            version: VERSION,
            name: name.to_owned(),
            command_line: None,
            file: None,
            first_seen: now,
            last_seen: now,
            consent: Consent::FirstUse,
            revoked: None,
            list: None,
            accepted: Facets::default(),
            seen: None,
        }
    }

    /// The server as it is, as far as that is known: what was observed now, else what was seen last,
    /// else what was accepted.
    pub fn current(&self, observed: &Facets) -> Facets {
        observed.clone().or(self.seen.as_ref().unwrap_or(&self.accepted))
    }

    /// Whether what was observed differs from what is known, or adds to it.
    pub fn lacks(&self, observed: &Facets) -> bool {
        observed.add_to(self.seen.as_ref().unwrap_or(&self.accepted))
    }

    /// What follows from what was observed for a command that uses these tools. What was seen
    /// earlier and is pending does not count: it is looked at anew (see [`Record::doubts`]), since
    /// the server may be what it was again.
    pub fn judge(&self, observed: &Facets, mode: Mode, used: &Use) -> Verdict {
        let seen = self.seen.as_ref();
        let publisher = || seen.and_then(|seen| seen.publisher.clone());
        let package = || seen.and_then(|seen| seen.package.clone());
        // These are looked at only when a server is discovered or added.
        let now = Facets {
            publisher: observed.publisher.clone().or_else(publisher),
            package: observed.package.clone().or_else(package),
            ..observed.clone()
        };
        let verdict = Verdict::of(&self.accepted, &now, mode, used);
        Verdict { digest: self.current(observed).digest(), ..verdict }
    }

    /// Whether a tool was seen to be another than was accepted, so that it must be looked at before
    /// it is called. Strictly, any tool counts.
    pub fn doubts(&self, tool: &str, mode: Mode) -> bool {
        let seen = self.seen.as_ref().and_then(|seen| seen.tools.as_ref());
        let (Some(seen), Some(accepted)) = (seen, &self.accepted.tools) else { return false };
        match mode {
            Mode::Off => false,
            Mode::FirstUse => {
                let pair = accepted.get(tool).zip(seen.get(tool));
                pair.is_some_and(|(accepted, seen)| accepted != seen)
            }
            Mode::Strict => seen != accepted,
        }
    }

    /// How it stands with the server, after what was observed of it.
    pub fn state(&self, observed: &Facets) -> State {
        let is_change = |change: &Change| !matches!(change, Change::Unknown(_));
        let changes = compare(&self.accepted, &self.current(observed));
        match &self.revoked {
            Some(_) => State::Revoked,
            None if changes.iter().any(is_change) => State::Changed,
            None if !changes.is_empty() => State::Incomplete,
            None => State::Accepted,
        }
    }

    /// What is pending: differences that were seen and not accepted.
    pub fn pending(&self) -> Vec<Change> {
        self.seen.as_ref().map_or_else(Vec::new, |seen| compare(&self.accepted, seen))
    }

    /// Takes in what was observed. What may be taken is accepted, the rest is pending.
    pub fn learn(&mut self, observed: &Facets, mode: Mode, used: &Use) {
        let current = self.current(observed);
        if mode == Mode::FirstUse {
            self.accepted = std::mem::take(&mut self.accepted).or(&current);
        }
        for change in compare(&self.accepted, &current) {
            if change.action(mode, used) == Action::Tell {
                self.take(&change, &current);
            }
        }
        // Where a signature stands says nothing about who has signed; it is where to look next time.
        let publishers = self.accepted.publisher.as_mut().zip(current.publisher.as_ref());
        if let Some((accepted, now)) = publishers.filter(|(accepted, now)| accepted.is(now)) {
            accepted.clone_from(now);
        }
        let stays = |change: &Change| change.is_pending(mode);
        let is_pending = compare(&self.accepted, &current).iter().any(stays);
        self.seen = is_pending.then_some(current);
    }

    /// Accepts one difference.
    fn take(&mut self, change: &Change, current: &Facets) {
        match change {
            Change::Path { is, .. } => self.accepted.endpoint = Some(is.clone()),
            Change::Version { .. } => {
                let name = |facets: &Facets| facets.identity.as_ref().map(|it| it.name.clone());
                // The version of a server with another name is that server's.
                if name(&self.accepted) == name(current) {
                    self.accepted.identity = current.identity.clone();
                }
            }
            Change::Signed { by: is } | Change::Release { is, .. } => {
                self.accepted.publisher = Some(is.clone());
            }
            Change::NewTool { name } => {
                let hash = current.tools.as_ref().and_then(|tools| tools.get(name));
                if let (Some(tools), Some(hash)) = (&mut self.accepted.tools, hash) {
                    tools.insert(name.clone(), *hash);
                }
            }
            _ => {}
        }
    }

    /// Accepts the server as it is.
    pub fn accept(&mut self, current: Facets) {
        (self.accepted, self.seen, self.revoked) = (current, None, None);
        // The last list may have been another one than what is accepted.
        (self.consent, self.list) = (Consent::User, None);
    }
}

#[cfg(test)]
mod tests {
    use super::super::facets::Identity;
    use super::super::publisher::Publisher;
    use super::*;

    fn tools(tools: &[(&str, &str)]) -> Facets {
        let hashes =
            tools.iter().map(|(name, text)| ((*name).to_owned(), Digest::of(text.as_bytes())));
        Facets { tools: Some(hashes.collect()), ..Facets::default() }
    }

    fn identity(name: &str, version: &str) -> Facets {
        let identity = Identity { name: name.into(), version: version.into() };
        Facets { identity: Some(identity), ..Facets::default() }
    }

    fn used(names: &[&str]) -> Use {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn known(observed: &[Facets]) -> Record {
        let mut record = Record::new("s", 7);
        for facets in observed {
            record.learn(facets, Mode::FirstUse, &Use::new());
        }
        record
    }

    #[test]
    fn what_is_first_seen_is_accepted_whenever_that_is() {
        let mut record = known(&[identity("n", "1")]);
        assert_eq!(record.seen, None);
        record.learn(&tools(&[("a", "1")]), Mode::FirstUse, &Use::new());
        assert_eq!(record.seen, None);
        assert_eq!(record.accepted.tools, tools(&[("a", "1")]).tools);
        assert_eq!(record.accepted.identity, identity("n", "1").identity);
        assert!(
            record.judge(&tools(&[("a", "1")]), Mode::Strict, &used(&["a"])).changes.is_empty()
        );
    }

    #[test]
    fn a_changed_tool_is_pending_until_it_is_accepted_or_as_it_was() {
        let mut record = known(&[tools(&[("a", "1"), ("b", "1")])]);
        let changed = tools(&[("a", "2"), ("b", "1")]);
        record.learn(&changed, Mode::FirstUse, &Use::new());
        let verdict = |record: &Record, tool| {
            record.judge(&changed, Mode::FirstUse, &used(&[tool])).blocking().len()
        };
        let doubts = |record: &Record| ["a", "b"].map(|tool| record.doubts(tool, Mode::FirstUse));
        assert_eq!((verdict(&record, "a"), verdict(&record, "b")), (1, 0));
        assert_eq!((doubts(&record), record.doubts("b", Mode::Strict)), ([true, false], true));
        let mut other = record.clone();
        other.learn(&tools(&[("a", "1"), ("b", "1")]), Mode::FirstUse, &Use::new());
        assert_eq!((other.seen.is_none(), doubts(&other)), (true, [false, false]));
        let current = record.current(&Facets::default());
        record.accept(current);
        assert_eq!((record.seen.is_none(), verdict(&record, "a")), (true, 0));
        assert_eq!(record.consent, Consent::User);
    }

    #[test]
    fn a_tool_that_comes_back_is_held_to_what_it_was() {
        let mut record = known(&[tools(&[("a", "1"), ("b", "1")])]);
        record.learn(&tools(&[("b", "1")]), Mode::FirstUse, &Use::new());
        assert_eq!(record.pending(), [Change::NoTool { name: "a".into() }]);
        let verdict =
            record.judge(&tools(&[("a", "2"), ("b", "1")]), Mode::FirstUse, &used(&["a"]));
        assert_eq!(verdict.blocking(), [&Change::Tool { name: "a".into() }]);
    }

    #[test]
    fn a_new_tool_is_taken_when_it_is_used_and_is_pending_until_then() {
        let mut record = known(&[tools(&[("a", "1")])]);
        let more = tools(&[("a", "1"), ("new", "1")]);
        record.learn(&more, Mode::FirstUse, &used(&["a"]));
        assert_eq!(record.pending(), [Change::NewTool { name: "new".into() }]);
        record.learn(&more, Mode::FirstUse, &used(&["new"]));
        assert_eq!((record.pending().len(), record.accepted.tools), (0, more.tools));
    }

    #[test]
    fn a_version_is_taken_and_a_name_is_not() {
        let mut record = known(&[identity("n", "1")]);
        record.learn(&identity("n", "2"), Mode::FirstUse, &Use::new());
        assert_eq!(
            (&record.accepted.identity, &record.seen),
            (&identity("n", "2").identity, &None)
        );
        for other in [identity("m", "2"), identity("m", "3")] {
            record.learn(&other, Mode::FirstUse, &Use::new());
            assert_eq!(record.accepted.identity, identity("n", "2").identity);
            assert_eq!(record.seen.as_ref(), Some(&other));
            assert!(matches!(record.pending()[0], Change::Name { .. }));
        }
    }

    #[test]
    fn nothing_is_accepted_where_only_the_users_word_counts() {
        let mut record = known(&[identity("n", "1")]);
        let before = record.accepted.clone();
        let now = tools(&[("a", "1")]).or(&identity("n", "2"));
        record.learn(&now, Mode::Strict, &used(&["a"]));
        assert_eq!((&record.accepted, record.seen.as_ref()), (&before, Some(&now)));
    }

    #[test]
    fn who_has_signed_counts_though_nobody_looks_again() {
        let signed = |by: &str| Facets {
            publisher: Some(Publisher {
                kind: "sigstore".into(),
                identity: by.into(),
                issuer: Some("https://token.example".into()),
                ..Publisher::default()
            }),
            ..Facets::default()
        };
        let mut record = known(&[signed("acme"), identity("n", "1")]);
        assert!(record.judge(&identity("n", "1"), Mode::FirstUse, &Use::new()).changes.is_empty());
        record.learn(&signed("evil"), Mode::FirstUse, &Use::new());
        let verdict = record.judge(&identity("n", "1"), Mode::FirstUse, &Use::new());
        assert!(matches!(verdict.blocking()[..], [Change::Publisher { .. }]));
        // Whoever verified the card for the user, who saw it, says so.
        record.accept(record.current(&Facets::default()));
        assert!(record.judge(&identity("n", "1"), Mode::FirstUse, &Use::new()).changes.is_empty());
    }

    #[test]
    fn a_record_reads_back() {
        let mut record = known(&[tools(&[("a", "1")]).or(&identity("n", "1"))]);
        record.learn(&tools(&[("a", "2")]), Mode::FirstUse, &Use::new());
        record.revoked = Some(9);
        let text = serde_json::to_string(&record).unwrap();
        assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), record);
    }
}
