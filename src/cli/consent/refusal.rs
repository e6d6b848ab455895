//! Why a server must not be used, and what to do about it.

use std::path::Path;

use super::{Consent, words};
use crate::cli::errors::{Error, Phase};
use crate::cli::exit::Exit;
use crate::config::{Digest, quoting};
use crate::protocol::json;
use crate::protocol::message::Sent;
use crate::protocol::params::Members;
use crate::trust::pins::{
    self, Action, Change, Facets, Key, LockError, Mode, PinError, Sides, Texts, TextsOfBoth,
    Verdict,
};

/// How many lines of differences are shown, and of those that do not stop the command.
const LINES: usize = 200;
const LINES_OF_NEWS: usize = 20;

/// What is known to tell about a difference, in words.
#[derive(Debug)]
pub(in crate::cli) struct Both {
    was: Facets,
    is: Facets,
    was_texts: Texts,
    is_texts: Texts,
}

impl Both {
    /// The two sides.
    pub(in crate::cli) fn sides(&self) -> Sides<'_> {
        let Both { was, is, was_texts, is_texts } = self;
        Sides { was, is, was_texts, is_texts }
    }

    /// Differences for people, none of which hides anything.
    pub(in crate::cli) fn lines<'c>(
        &self,
        changes: impl Iterator<Item = &'c Change>,
    ) -> Vec<String> {
        self.first_lines(changes, LINES)
    }

    /// The first so many of them, and how many more there are.
    fn first_lines<'c>(
        &self,
        changes: impl Iterator<Item = &'c Change>,
        most: usize,
    ) -> Vec<String> {
        let mut lines: Vec<_> =
            changes.flat_map(|change| pins::lines(change, self.sides())).collect();
        if most < lines.len() {
            let more = lines.len() - most;
            lines.truncate(most);
            lines.push(format!("… ({more} lines more)"));
        }
        lines
    }

    /// Differences for programs, with the hash to accept and the command that does it.
    pub(in crate::cli) fn json(
        &self,
        changes: &[(Change, Action)],
        digest: &Digest,
        command: &str,
    ) -> String {
        let changes: Vec<_> = changes
            .iter()
            .map(|(change, action)| pins::json(change, *action, self.sides()))
            .collect();
        let mut members = Members::new();
        members.push("code", &json::string("trust_changed"));
        members.push("changes", &format!("[{}]", changes.join(",")));
        members.push("digest", &json::string(&digest.to_string()));
        members.push("accept", &json::string(command));
        members.finish()
    }
}

impl Consent<'_> {
    /// What is known to tell in words how the server differs from what was accepted.
    pub(in crate::cli) fn both(&self) -> Both {
        let TextsOfBoth { mut accepted, pending } = self.store.texts(&self.key);
        let mut is_texts = pending;
        // What is not pending is as it was accepted.
        for (name, text) in &accepted.tools {
            is_texts.tools.entry(name.clone()).or_insert_with(|| text.clone());
        }
        is_texts.tools.extend(self.texts.tools.clone());
        is_texts.instructions = self.texts.instructions.clone().or(is_texts.instructions);
        let (was, is) = self.sides();
        keep_those_of(&mut accepted, &was);
        accepted.parts.clone_from(&self.locked_parts);
        Both { was, is, was_texts: accepted, is_texts }
    }

    /// A command line that does something about this server.
    pub(in crate::cli) fn command(&self, command: &str, more: &[&str]) -> String {
        // Nothing is started to accept it, so that values do not matter.
        let value = if command == "trust accept" { "" } else { "VALUE" };
        let words = words(&self.resolved, &self.overrides, self.run.env, value);
        let words = words.iter().map(String::as_str).chain(more.iter().copied());
        format!("mcpmini {command} {}", quoting::join(words))
    }

    /// The command line that takes the server as it is now.
    pub(in crate::cli) fn remedy(&self, verdict: &Verdict) -> String {
        match &self.lock {
            Some(path) => self.command("lock", &["--lock", &path.to_string_lossy()]),
            None => self.command("trust accept", &["--accept", &verdict.digest.to_string()]),
        }
    }

    /// The error for a server that differs from what was accepted.
    pub(super) fn refused(&self, verdict: &Verdict) -> Error {
        let both = self.both();
        let blocking = verdict.blocking();
        let lines = both.lines(blocking.into_iter()).join("\n");
        let command = self.remedy(verdict);
        let what = match &self.lock {
            Some(path) => {
                let given = !self.overrides.args.is_empty() || !self.overrides.env.is_empty();
                let with = if given { "with what --arg and --env add " } else { "" };
                format!("{with}it is not what {} says", path.display())
            }
            None => "it is not what was accepted".to_owned(),
        };
        let trust = both.json(&verdict.changes, &verdict.digest, &command);
        let error = self.error(format!("{what}:\n{lines}"));
        error.hint(format!("if that is right: {command}")).trust(trust)
    }

    /// The error for a command that uses what is not there, or not what was accepted. That a tool is in
    /// the list no more is no attack where it is not called: servers hide tools from those who offer
    /// less than they need.
    pub(super) fn unusable(&self, verdict: &Verdict) -> Error {
        let error = self.refused(verdict);
        let is_gone = |change: &&Change| matches!(change, Change::NoTool { .. });
        if self.mode != Mode::FirstUse || !verdict.blocking().iter().all(is_gone) {
            return error;
        }
        let command = self.remedy(verdict);
        let hint = format!(
            "it may need more than is offered (--sampling-command, --interactive, --root); \
             if it was removed: {command}"
        );
        Error { exit: Exit::Rpc, ..error }.hint(hint)
    }

    /// The error for a server whose trust was taken back.
    pub(in crate::cli) fn revoked(&self) -> Error {
        let hint = format!("if it is to be used again: {}", self.command("trust add", &[]));
        self.error("the trust in it was taken back".to_owned()).hint(hint)
    }

    /// The error for a server whose place is one whose trust was taken back.
    pub(super) fn revoked_place(&self, place: &Key) -> Error {
        let hint = format!("if it is to be used again: {}", self.command("trust add", &[]));
        self.error(format!("the trust in {} was taken back", self.place_name(place))).hint(hint)
    }

    /// The error for a server that nobody has accepted, where only the user's word counts.
    pub(super) fn not_accepted(&self) -> Error {
        let hint = format!("to look at it: {}", self.command("trust show", &[]));
        self.error("it was never accepted, and trust is strict".to_owned()).hint(hint)
    }

    /// The error for a server that is not in the lock file.
    pub(super) fn not_locked(&self, path: &Path) -> Error {
        let path = path.to_string_lossy();
        let hint = format!("to lock it: {}", self.command("lock", &["--lock", &path]));
        self.error(format!("it is not in {path}")).hint(hint)
    }

    /// The error for a tool, or for all of the server, that cannot be looked at because the list of
    /// tools does not come. Nothing was called. Where only the user's word counts it is not to be used
    /// then; else the list may come another time.
    pub(in crate::cli) fn unlooked(&self, tool: Option<&str>, error: Error) -> Error {
        let held = tool.map_or("it".to_owned(), |tool| format!("\"{}\"", pins::visible(tool)));
        let why = &error.message;
        let text = format!("the tools were asked for, to hold {held} to what was accepted: {why}");
        let error = match error.exit {
            Exit::Rpc if self.mode == Mode::Strict => return self.error(text),
            // The server answers, and may have the list in a moment.
            Exit::Rpc if error.code.is_some() => {
                Error { exit: Exit::Unreachable, ..error }.retryable(true)
            }
            Exit::Rpc | Exit::Timeout | Exit::Protocol => error,
            _ => return error,
        };
        let error = Error { message: text, ..error }.sent(Sent::No);
        error.hint("MCPMINI_TRUST=off asks for none, and holds the server to nothing")
    }

    /// The error for a tool that the server does not show, so that there is nothing to hold it to.
    pub(super) fn unlisted(&self, tool: &str) -> Error {
        let tool = pins::visible(tool);
        self.error(format!("the tool \"{tool}\" is none that the server lists, now or before"))
            .hint(self.command("tools", &[]))
    }

    /// The error for a tool whose definition is not known where it must be.
    pub(super) fn unseen(&self, tool: &str) -> Error {
        let tool = pins::visible(tool);
        self.error(format!("the tool \"{tool}\" cannot be held against the lock file"))
    }

    /// The error for a server that has not said what it is, where it must be held to that.
    pub(super) fn unintroduced(&self) -> Error {
        let text = "it was not asked what it is, so that it cannot be held against the lock file";
        self.error(text.to_owned()).hint("leave out --protocol")
    }

    /// The error for a server of which nothing is known.
    pub(in crate::cli) fn never_used(&self) -> Error {
        let hint = self.command("trust add", &[]);
        self.error("it was never used, so that nothing was accepted".to_owned()).hint(hint)
    }

    pub(in crate::cli) fn error(&self, text: String) -> Error {
        let error = Error::new(Exit::Trust, text).phase(Phase::Trust).sent(Sent::No);
        error.server(self.key.name.clone())
    }

    /// What is told of differences that do not stop the command; `None` when there are none.
    pub(super) fn news(&self, news: &[&(Change, Action)]) -> Option<String> {
        if news.is_empty() {
            return None;
        }
        let both = self.both();
        let news_of = news.iter().map(|(change, _)| change);
        let lines = both.first_lines(news_of, LINES_OF_NEWS).join("\n");
        let is_pending = news.iter().any(|(_, action)| *action == Action::Warn);
        let how = match is_pending && !self.is_locked() {
            true => format!("\nto accept it: {}", self.command("trust accept", &[])),
            false => String::new(),
        };
        Some(format!("{}: {lines}{how}", self.key.name))
    }
}

/// Keeps of some texts those that the hashes stand for: a lock file may have others.
fn keep_those_of(texts: &mut Texts, facets: &Facets) {
    let hash = |text: &String| Digest::of(text.as_bytes());
    let tools = facets.tools.as_ref();
    texts.tools.retain(|name, text| tools.and_then(|tools| tools.get(name)) == Some(&hash(text)));
    let instructions = texts.instructions.take();
    texts.instructions = instructions.filter(|text| facets.instructions == Some(hash(text)));
}

/// The error for pins that cannot be read: nobody knows what they say.
pub(super) fn unreadable(error: &PinError) -> Error {
    let text = Error::new(Exit::Trust, error.to_string()).phase(Phase::Trust).sent(Sent::No);
    match error {
        PinError::Garbled(path) => {
            let path = path.to_string_lossy();
            text.hint(format!("to trust the server anew as it is: rm {}", quoting::quote(&path)))
        }
        _ => text,
    }
}

/// A command that runs elsewhere, or with other variables, is not what was locked.
pub(super) fn elsewhere() -> Error {
    let text =
        "--cwd and --inherit-env do not go with --lock: what is locked runs as its definition says";
    Error::new(Exit::Usage, text).phase(Phase::Usage).sent(Sent::No)
}

/// The same where trust is strict, of a command that is what its directory makes of it.
pub(super) fn led_elsewhere() -> Error {
    let text =
        "--cwd does not go with strict trust here: what this command runs, its directory decides";
    let error = Error::new(Exit::Usage, text).phase(Phase::Usage).sent(Sent::No);
    error.hint("its definition can have another \"cwd\"")
}

/// The error for a lock file that cannot be used.
pub(in crate::cli) fn no_lock(error: &LockError) -> Error {
    let text = format!("--lock: {error}");
    let refused = Error::new(Exit::Config, text).phase(Phase::Trust).sent(Sent::No);
    match error {
        LockError::Missing(path) => {
            let path = quoting::quote(&path.to_string_lossy());
            refused.hint(format!(
                "to make it, of servers as they are now: mcpmini lock --lock {path} SERVER…"
            ))
        }
        _ => refused,
    }
}
