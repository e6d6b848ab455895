//! What a server shows of itself while it is used.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Consent;
use crate::auth::TokenRecord;
use crate::cli::args::Command;
use crate::cli::contact::Contact;
use crate::cli::errors::Error;
use crate::client::Link;
use crate::config::Digest;
use crate::protocol::Session;
use crate::protocol::json::Json;
use crate::protocol::jsonrpc::scan;
use crate::protocol::model::server;
use crate::protocol::model::tool::Tool;
use crate::trust::pins::{self, Auth, Facets, Mode, Texts};

impl Consent<'_> {
    /// Takes in that a session with the server is open; false when it must go no further.
    pub(in crate::cli) fn introduced(&mut self, session: &Session) -> bool {
        // Another process may be behind another connection.
        if self.opened {
            self.looks.forget();
        }
        self.opened = true;
        if let Some(tools) = session.about().and_then(|about| about.tools.as_deref()) {
            self.note_shared_tools(tools);
        }
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
    pub(in crate::cli) fn greet(&mut self, greeting: &str) -> Result<(), Error> {
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
        self.observed.identity = server::info(greeting).map(|info| self.identity_in(info));
        let declared = scan::member(greeting, "capabilities").unwrap_or("{}");
        let capabilities = pins::capabilities(declared);
        self.observed.capabilities = Some(self.kept_capabilities(capabilities));
        let instructions = scan::member(greeting, "instructions").and_then(scan::unescape);
        let instructions = instructions.unwrap_or_default();
        self.observed.instructions = Some(Digest::of(instructions.as_bytes()));
        self.texts.instructions = Some(instructions.into_owned());
    }

    /// Takes in what a server says about itself beside a result, if it does. The result is there
    /// already: what has changed counts for the next command.
    pub(in crate::cli) fn note_result(&mut self, info: Option<&str>) {
        self.met = true;
        let Some(info) = info.filter(|_| self.mode != Mode::Off) else { return };
        let identity = self.identity_in(info);
        if self.observed.identity.as_ref() != Some(&identity) {
            self.observed.identity = Some(identity);
            match self.check() {
                Ok(()) => self.tell_news(),
                Err(error) => self.run.warn(&format!("{}: {}", self.key.name, error.message)),
            }
        }
    }

    /// The same for one of many results, which are all of the same server.
    pub(in crate::cli) fn note_first_result(&mut self, result: &Json) {
        if self.observed.identity.is_none() {
            self.note_result(server::info_beside(result));
        }
    }

    /// Takes in where the tools are looked at: on the connection with this number, or in a list that is
    /// at hand.
    pub(in crate::cli) fn begin_look(&mut self, connection: Option<u32>) {
        self.looks.begin(connection);
    }

    /// What the server has said of itself so far, but for its tools, and the texts in that.
    pub(in crate::cli) fn greeting(&self) -> (Facets, Texts) {
        let Facets { identity, capabilities, instructions, .. } = self.observed.clone();
        let facets = Facets { identity, capabilities, instructions, ..Facets::default() };
        let instructions = self.texts.instructions.clone();
        (facets, Texts { instructions, ..Texts::default() })
    }

    /// Takes in all tools of the server, each as its JSON text, from a list that is good for so long by
    /// the server's word.
    ///
    /// # Errors
    /// When the time for everything is over, or a signal has come: there may be very many.
    pub(in crate::cli) fn note_tools(
        &mut self,
        tools: &[&str],
        good_for: Option<Duration>,
    ) -> Result<(), Error> {
        self.met = true;
        self.looks.note(good_for);
        if self.mode == Mode::Off {
            return Ok(());
        }
        let list = Digest::of(tools.concat().as_bytes());
        self.list = Some(list);
        if self.is_known_list(list) {
            self.note_known_tools();
            return Ok(());
        }
        let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for tool in tools.iter().filter_map(|text| Tool::read(text).ok()) {
            self.run.go_on()?;
            let text = pins::tool_text(tool.as_json());
            let name = self.kept_tool(&tool.name).into_owned();
            texts.entry(name).or_default().push(text);
        }
        // Which of several tools with one name the server runs is its secret: together they are one.
        let mut hashes = BTreeMap::new();
        for (name, texts) in texts {
            let text = pins::text_of_all(texts);
            hashes.insert(name.clone(), Digest::of(text.as_bytes()));
            self.texts.tools.insert(name, text);
        }
        self.observed.tools = Some(hashes);
        self.tell_news();
        Ok(())
    }

    /// Takes in that the server does not list its tools: if it did, they are not there any more.
    pub(in crate::cli) fn note_no_list(&mut self) {
        self.looks.note(None);
        if self.accepted_tools().is_some() {
            self.observed.tools = Some(Default::default());
        }
    }

    /// Whether a tool that is used and was accepted is not there.
    pub(in crate::cli) fn misses(&self, is_there: impl Fn(&str) -> bool) -> bool {
        let accepted = self.accepted_tools();
        let is_missed = |name: &String| {
            accepted.is_some_and(|tools| tools.contains_key(name)) && !is_there(name)
        };
        self.used.iter().any(is_missed)
    }

    /// Takes in what stands for the tools of the server, which others have asked for on this
    /// connection.
    fn note_shared_tools(&mut self, tools: &str) {
        let is_known = |list: &Digest| self.is_known_list(*list);
        if tools.parse().ok().as_ref().is_some_and(is_known) && self.mode != Mode::Off {
            self.looks.note_others();
            self.note_known_tools();
        }
    }

    /// Whether a list of tools is the one that came last, so that no tool needs a look.
    fn is_known_list(&self, list: Digest) -> bool {
        let known = self.record.as_ref().and_then(|record| record.list);
        // Whoever locks the server wants to know what the tools have.
        let locks = matches!(self.run.command(), Command::Lock(_));
        known == Some(list) && self.enforces && self.locked.is_none() && !locks
    }

    fn note_known_tools(&mut self) {
        let seen = self.record.as_ref().and_then(|record| record.seen.as_ref());
        self.observed.tools = seen.and_then(|seen| seen.tools.clone());
    }

    /// Takes in that the tools are not what they were.
    pub(in crate::cli) fn note_changed_list(&mut self) {
        self.looks.forget();
    }

    /// Takes in who issued the token that the server gets, and what it allows.
    fn note_token(&mut self, token: &TokenRecord) {
        let scopes = token.scopes().iter().map(str::to_owned).collect();
        self.observed.auth = Some(Auth { issuer: token.issuer.clone(), scopes });
    }

    /// Makes sure that the server may have the token that is kept for it.
    pub(in crate::cli) fn admit_token(&mut self, token: Option<&TokenRecord>) -> Result<(), Error> {
        let Some(token) = token else { return Ok(()) };
        self.note_token(token);
        if let (Some(record), true) = (&mut self.record, self.attended) {
            self.amended |= record.accepted.auth != self.observed.auth;
            record.accepted.auth.clone_from(&self.observed.auth);
        }
        self.check()
    }

    /// Whether the list of tools was not looked at, and should be if it is at hand.
    pub(in crate::cli) fn wants_tools(&self) -> bool {
        !self.looks.count() && self.mode != Mode::Off
    }
}

impl Contact<'_> {
    /// Takes in for what token the server was used in the end.
    pub(in crate::cli) fn note_auth(&mut self) {
        let authorizer = self.link.as_deref_mut().and_then(Link::authorizer);
        if let Some(token) = authorizer.and_then(|authorizer| authorizer.record()) {
            self.watcher.consent.note_token(token);
        }
    }
}
