//! The tools of a server: those that can be called, and those that must not be.

use super::contact::Contact;
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::explain::SLOW;
use super::listing;
use crate::config::quoting;
use crate::protocol::Revision;
use crate::protocol::headers;
use crate::protocol::json::Json;
use crate::protocol::message::Sent;
use crate::protocol::method;
use crate::protocol::model::tool::{self, Tool};

/// The tools of a server.
#[derive(Debug)]
pub(super) struct Catalog {
    /// Those that can be called.
    pub(super) tools: Vec<Tool>,
    /// Those that must not be, and why.
    rejected: Vec<(String, String)>,
    /// Whether they were remembered from an earlier run.
    pub(super) remembered: bool,
}

impl Catalog {
    /// The tools as far as they are remembered and still good; `None` when the server must be
    /// asked.
    ///
    /// # Errors
    /// When they are not what was accepted.
    fn recall(contact: &mut Contact<'_>) -> Result<Option<Catalog>, Error> {
        let is_changed = contact.watcher.changes.contain(method::LIST_TOOLS);
        let pages = listing::recall(contact, method::LIST_TOOLS).filter(|_| !is_changed);
        let Some((pages, revision)) = pages.zip(contact.known_revision()) else { return Ok(None) };
        let texts = texts(&pages);
        let catalog = Catalog { remembered: true, ..Catalog::read(contact, &texts, revision) };
        let consent = &mut contact.watcher.consent;
        if consent.wants_tools() {
            if consent.misses(|name| catalog.lists(name)) {
                // It may be there again. The server is asked before it counts as removed.
                return Ok(None);
            }
            consent.begin_look(None);
            consent.note_tools(&texts, None)?;
            consent.check()?;
        }
        Ok(Some(catalog))
    }

    /// The tools as they were when the server was last asked, good or not; `None` when nobody has
    /// asked, or what it said is gone.
    pub(super) fn stored(contact: &Contact<'_>) -> Option<Catalog> {
        let (pages, revision) = listing::stored(contact, method::LIST_TOOLS)?;
        Some(Catalog { remembered: true, ..Catalog::read(contact, &texts(&pages), revision) })
    }

    /// The tools, as far as they are remembered, whose arguments go into headers as well, so that none
    /// of them can be called without its schema (2026-07-28, Custom Headers from Tool Parameters).
    pub(super) fn mirroring(contact: &Contact<'_>) -> Vec<String> {
        let mirrors = contact.known_revision().is_none_or(|revision| revision.mirrored_headers);
        let stored = Some(contact).filter(|contact| mirrors && contact.is_http());
        let tools = stored.and_then(Catalog::stored).map(|catalog| catalog.tools);
        let is_mirrored = |tool: &Tool| {
            let annotated = tool.input_schema().map(headers::mirrored);
            annotated.is_some_and(|it| it.is_ok_and(|annotated| !annotated.is_empty()))
        };
        tools.into_iter().flatten().filter(is_mirrored).map(|tool| tool.name).collect()
    }

    /// Asks the server for its tools, and remembers them if the server allows it.
    pub(super) async fn fetch(contact: &mut Contact<'_>) -> Result<Catalog, Error> {
        let mut pages = Vec::new();
        let keep = &mut |page| {
            pages.push(page);
            Ok(())
        };
        contact.watcher.consent.begin_look(Some(contact.connection()));
        let is_looking = std::mem::replace(&mut contact.watcher.consent.looking, true);
        let fetched = listing::fetch(contact, method::LIST_TOOLS, keep).await;
        contact.watcher.consent.looking = is_looking;
        if fetched.as_ref().is_err_and(listing::is_unlisted) {
            contact.watcher.consent.note_no_list();
            contact.watcher.consent.check()?;
        }
        let good_for = fetched?;
        let Some(revision) = contact.known_revision() else {
            return Err(Error::new(Exit::Bug, "a session without a revision has answered"));
        };
        let texts = texts(&pages);
        contact.watcher.consent.note_tools(&texts, good_for)?;
        contact.watcher.consent.check()?;
        let catalog = Catalog::read(contact, &texts, revision);
        contact.run.go_on()?;
        Ok(catalog)
    }

    /// The tools, remembered or asked for.
    pub(super) async fn get(contact: &mut Contact<'_>) -> Result<Catalog, Error> {
        match Catalog::recall(contact)? {
            Some(catalog) => Ok(catalog),
            None => Catalog::fetch(contact).await,
        }
    }

    /// A look at the tools before one is called, once some were accepted: at the list that is
    /// remembered while it is good, else the server is asked, on each connection and in each minute
    /// once. The tools of a server that does not list them any more count as removed.
    ///
    /// # Errors
    /// When the tool is not what was accepted, or cannot be looked at.
    pub(super) async fn glance(
        contact: &mut Contact<'_>,
        name: &str,
    ) -> Result<Option<Catalog>, Error> {
        if !contact.watcher.consent.holds() {
            return Ok(None);
        }
        if contact.is_shared() {
            // Others may have asked already.
            contact.settle().await?;
            if !contact.watcher.consent.holds() {
                return Ok(None);
            }
        }
        let remembered = Catalog::recall(contact)?;
        if remembered.as_ref().is_some_and(|catalog| catalog.named(name).is_some()) {
            return Ok(remembered);
        }
        match Catalog::fetch(contact).await {
            Ok(catalog) => Ok(Some(catalog)),
            // What the tool is by now is for the caller to judge.
            Err(_) if !contact.watcher.consent.holds() => Ok(None),
            Err(error) => Err(Catalog::unlooked(contact, name, error)),
        }
    }

    /// Why a tool cannot be called: the list does not come, and the tool is to be held to what was
    /// accepted.
    fn unlooked(contact: &Contact<'_>, name: &str, error: Error) -> Error {
        let consent = &contact.watcher.consent;
        match consent.holds() || consent.doubts(name) && !listing::is_unlisted(&error) {
            true => consent.unlooked(Some(name), error),
            false => error,
        }
    }

    /// The tools as they must be known to hold one of them against what was accepted: where the last
    /// list was not what was accepted, the server is asked whether it still is not.
    pub(super) async fn look(contact: &mut Contact<'_>, name: &str) -> Result<Catalog, Error> {
        let looked = match contact.watcher.consent.is_locked() {
            true => Catalog::get(contact).await,
            false => Catalog::fetch(contact).await,
        };
        looked.map_err(|error| Catalog::unlooked(contact, name, error))
    }

    /// Makes the server's list count as out of date.
    pub(super) fn forget(contact: &Contact<'_>) {
        listing::forget(contact, method::LIST_TOOLS);
    }

    /// The tool of that name. A list that was remembered is asked for anew before it says no.
    pub(super) async fn find(contact: &mut Contact<'_>, name: &str) -> Result<Tool, Error> {
        let known = Catalog::get(contact).await;
        let catalog = known.map_err(|error| Catalog::unlooked(contact, name, error))?;
        if let Some(tool) = catalog.named(name) {
            return Ok(tool.clone());
        }
        let catalog = match catalog.remembered {
            true => Catalog::fetch(contact).await?,
            false => catalog,
        };
        catalog.require(name, contact).cloned()
    }

    /// The tool of that name, or the error that there is none.
    pub(super) fn require(&self, name: &str, contact: &Contact<'_>) -> Result<&Tool, Error> {
        self.named(name).ok_or_else(|| self.missing(name, contact))
    }

    fn named(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// Whether there is a tool of that name, be it one that must not be called.
    fn lists(&self, name: &str) -> bool {
        self.named(name).is_some() || self.rejected(name).is_some()
    }

    /// The tool of that name that must not be called, and why.
    fn rejected(&self, name: &str) -> Option<&(String, String)> {
        self.rejected.iter().find(|(rejected, _)| rejected == name)
    }

    /// Why there is no tool of that name.
    fn missing(&self, name: &str, contact: &Contact<'_>) -> Error {
        let server = contact.server.name.clone();
        if let Some((_, why)) = self.rejected(name) {
            let text = format!("the tool \"{name}\" must not be called: {why}");
            return Error::new(Exit::Protocol, text)
                .phase(Phase::Request)
                .sent(Sent::No)
                .server(server);
        }
        let error = Error::new(Exit::Rpc, format!("unknown tool \"{name}\""));
        let error = error.phase(Phase::Request).sent(Sent::No).server(server);
        let list = format!("what there is: mcpmini tools {}", quoting::quote(&contact.server.name));
        match tool::nearest(name, &self.tools) {
            Some(nearest) => error.hint(format!("did you mean \"{nearest}\"? {list}")),
            None => error.hint(list),
        }
    }

    fn read(contact: &Contact<'_>, texts: &[&str], revision: &Revision) -> Catalog {
        let mut catalog = Catalog { tools: Vec::new(), rejected: Vec::new(), remembered: false };
        let mirrors = contact.is_http() && revision.mirrored_headers;
        for text in texts {
            // There may be very many. Nobody uses some of them.
            if contact.run.is_over() {
                return catalog;
            }
            catalog.add(contact, text, mirrors);
        }
        catalog
    }

    fn add(&mut self, contact: &Contact<'_>, text: &str, mirrors: bool) {
        let tool = match Tool::read(text) {
            Ok(tool) => tool,
            Err(bad) => return contact.run.warn(&format!("left out a tool: {bad}")),
        };
        // A tool whose arguments cannot be mirrored as it demands must not be called (2026-07-28,
        // Schema Extension). Elsewhere than over HTTP nothing is mirrored.
        let annotated = mirrors.then(|| headers::mirrored(tool.input_schema().unwrap_or("{}")));
        match annotated {
            Some(Err(why)) => {
                contact.run.warn(&format!("left out the tool \"{}\": {why}", tool.name));
                self.rejected.push((tool.name, why.to_string()));
            }
            Some(Ok(_)) | None => self.tools.push(tool),
        }
    }
}

/// The tools of some pages, each as its JSON text.
fn texts(pages: &[Json]) -> Vec<&str> {
    pages.iter().flat_map(|page| listing::items(page, method::LIST_TOOLS)).collect()
}

/// The error for a call that was not sent because more had to be known about its tool first. Whatever
/// became of that request, the tool was not run.
pub(super) fn unsent(error: Error) -> Error {
    let message = format!("the tools could not be listed: {}", error.message);
    match (error.phase, error.exit) {
        (Some(Phase::Request), Exit::Lost) => Error { exit: Exit::Unreachable, message, ..error }
            .retryable(true)
            .hint("the call itself was not sent; try again"),
        (Some(Phase::Request), Exit::Timeout) => match error.hint.as_deref() {
            Some(SLOW) => Error { message, ..error }
                .hint("the call itself was not sent; --timeout gives the server more time"),
            // Somebody knows better.
            _ => Error { message, ..error },
        },
        _ => error,
    }
    .sent(Sent::No)
}
