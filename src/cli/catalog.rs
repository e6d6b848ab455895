//! The tools of a server: asked for page by page, or remembered while the server says they are
//! good.

use std::time::Duration;

use super::contact::Contact;
use super::errors::{Error, Phase};
use super::exit::Exit;
use crate::cache::{Key, Scope};
use crate::client::{Pages, RepeatedPage};
use crate::protocol::Revision;
use crate::protocol::headers;
use crate::protocol::json::Json;
use crate::protocol::jsonrpc::scan;
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
    pub(super) fn recall(contact: &Contact<'_>) -> Option<Catalog> {
        let revision = contact.known_revision().filter(|revision| revision.cacheable)?;
        let key = key(contact, revision);
        let pages = contact.lists.get(&key, contact.run.env.now())?;
        let pages: Vec<Json> = pages.into_iter().map(Json::from).collect();
        Some(Catalog { remembered: true, ..Catalog::read(contact, &pages, revision) })
    }

    /// The tools as far as they are remembered, good or not.
    pub(super) fn stored(contact: &Contact<'_>) -> Option<Catalog> {
        let revision = contact.known_revision()?;
        let found = contact.lists.find(&key(contact, revision), contact.run.env.now())?;
        if !found.is_fresh {
            contact.run.warn("the stored list of tools is out of date");
        }
        let pages: Vec<Json> = found.pages.into_iter().map(Json::from).collect();
        Some(Catalog { remembered: true, ..Catalog::read(contact, &pages, revision) })
    }

    /// Asks the server for its tools, and remembers them if the server allows it.
    pub(super) async fn fetch(contact: &mut Contact<'_>) -> Result<Catalog, Error> {
        let mut pages = Vec::new();
        let mut place = Pages::default();
        loop {
            let page = contact.request(method::LIST_TOOLS, place.params(), Vec::new()).await?;
            let repeated = pages.last() == Some(&page);
            let more = if repeated { Err(RepeatedPage) } else { place.turn(&page) };
            if !repeated {
                pages.push(page);
            }
            match more {
                Ok(true) => (),
                Ok(false) => break,
                Err(RepeatedPage) => {
                    contact.run.warn("the list of tools has no end: one of its pages came again");
                    break;
                }
            }
        }
        let Some(revision) = contact.known_revision() else {
            return Err(Error::new(Exit::Bug, "a session without a revision has answered"));
        };
        // What the server does not want to be relied on still helps where nobody can wait for it.
        let ttl = time_to_live(&pages).filter(|_| revision.cacheable).unwrap_or_default();
        let texts: Vec<String> = pages.iter().map(|page| page.as_str().to_owned()).collect();
        let key = key(contact, revision);
        contact.lists.put(&key, &texts, ttl, scope(&pages), contact.run.env.now());
        Ok(Catalog::read(contact, &pages, revision))
    }

    /// The tools, remembered or asked for.
    pub(super) async fn get(contact: &mut Contact<'_>) -> Result<Catalog, Error> {
        match Catalog::recall(contact) {
            Some(catalog) => Ok(catalog),
            None => Catalog::fetch(contact).await,
        }
    }

    /// Makes the server's list count as out of date.
    pub(super) fn forget(contact: &Contact<'_>) {
        if let Some(revision) = contact.known_revision() {
            contact.lists.forget(&key(contact, revision));
        }
    }

    /// The tool of that name. A list that was remembered is asked for anew before it says no.
    pub(super) async fn find(contact: &mut Contact<'_>, name: &str) -> Result<Tool, Error> {
        let catalog = Catalog::get(contact).await?;
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

    /// Why there is no tool of that name.
    fn missing(&self, name: &str, contact: &Contact<'_>) -> Error {
        let server = contact.server.name.clone();
        if let Some((_, why)) = self.rejected.iter().find(|(rejected, _)| rejected == name) {
            let text = format!("the tool \"{name}\" must not be called: {why}");
            return Error::new(Exit::Protocol, text)
                .phase(Phase::Request)
                .sent(Sent::No)
                .server(server);
        }
        let error = Error::new(Exit::Rpc, format!("unknown tool \"{name}\""));
        let error = error.phase(Phase::Request).sent(Sent::No).server(server);
        match tool::nearest(name, &self.tools) {
            Some(nearest) => error.hint(format!("did you mean \"{nearest}\"?")),
            None => error.hint("`mcpmini tools SERVER` lists the tools"),
        }
    }

    fn read(contact: &Contact<'_>, pages: &[Json], revision: &Revision) -> Catalog {
        let mut catalog = Catalog { tools: Vec::new(), rejected: Vec::new(), remembered: false };
        let mirrors = contact.is_http() && revision.mirrored_headers;
        for page in pages {
            let tools = scan::member(page.as_str(), "tools").unwrap_or("[]");
            for text in scan::elements(tools) {
                catalog.add(contact, text, mirrors);
            }
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
        let annotations = headers::mirrored(tool.input_schema().unwrap_or("{}"));
        match annotations {
            Err(why) if mirrors => {
                contact.run.warn(&format!("left out the tool \"{}\": {why}", tool.name));
                self.rejected.push((tool.name, why.to_string()));
            }
            _ => self.tools.push(tool),
        }
    }
}

fn key(contact: &Contact<'_>, revision: &Revision) -> Key {
    contact.lists.key(&contact.server, revision, method::LIST_TOOLS, "{}", "")
}

/// How long all pages are good; `None` when they are not to be remembered.
fn time_to_live(pages: &[Json]) -> Option<Duration> {
    let ttl = |page: &Json| scan::member(page.as_str(), "ttlMs")?.parse::<u64>().ok();
    let ttls: Option<Vec<u64>> = pages.iter().map(ttl).collect();
    ttls?.into_iter().min().filter(|ttl| 0 < *ttl).map(Duration::from_millis)
}

/// For whom the pages are good: for everybody only if each of them is.
fn scope(pages: &[Json]) -> Scope {
    let of = |page: &Json| {
        let scope = scan::member(page.as_str(), "cacheScope").and_then(scan::unescape);
        Scope::named(scope.as_deref())
    };
    match pages.iter().all(|page| of(page) == Scope::Public) {
        true => Scope::Public,
        false => Scope::Private,
    }
}
