//! Lists of a server: asked for page by page, or remembered while the server says they are good.

use std::time::Duration;

use super::answer;
use super::contact::Contact;
use super::errors::{Error, Phase};
use super::exit::Exit;
use crate::cache::{Key, Scope};
use crate::client::{NoResult, Pages, RepeatedPage};
use crate::protocol::Revision;
use crate::protocol::json::Json;
use crate::protocol::jsonrpc::{ErrorObject, scan};
use crate::protocol::method;

/// Who looks at the pages of a list, one by one as they come.
pub(super) type Look<'l> = &'l mut dyn FnMut(&Json) -> Result<(), Error>;

/// The pages of a list as far as they are remembered and still good; `None` when the server must be
/// asked.
pub(super) fn recall(contact: &Contact<'_>, method: &str) -> Option<Vec<Json>> {
    let revision = contact.known_revision().filter(|revision| revision.cacheable)?;
    let pages = contact.lists.get(&key(contact, revision, method), contact.run.env.now())?;
    Some(pages.into_iter().map(Json::from).collect())
}

/// The pages of a list as they were when the server was last asked, good or not, and the revision
/// it spoke; `None` when nobody has asked, or what it said is gone.
pub(super) fn stored(
    contact: &Contact<'_>,
    method: &str,
) -> Option<(Vec<Json>, &'static Revision)> {
    let revision = contact.known_revision()?;
    let found = contact.lists.find(&key(contact, revision, method), contact.run.env.now())?;
    Some((found.pages.into_iter().map(Json::from).collect(), revision))
}

/// Asks the server for all pages of a list, and stores them. They count as remembered for as long as
/// the server says that they are good.
pub(super) async fn fetch(
    contact: &mut Contact<'_>,
    method: &'static str,
    look: Look<'_>,
) -> Result<Vec<Json>, Error> {
    let mut pages: Vec<Json> = Vec::new();
    let mut place = Pages::default();
    loop {
        let page = match contact.try_request(method, place.params(), Vec::new()).await? {
            Ok(page) => page,
            Err(no_result) => return Err(unlisted(contact, method, no_result)),
        };
        let repeated = pages.last() == Some(&page);
        let more = if repeated { Err(RepeatedPage) } else { place.turn(&page) };
        if !repeated {
            answer::validate(&page)?;
            look(&page)?;
            pages.push(page);
        }
        match more {
            Ok(true) => (),
            Ok(false) => break,
            Err(RepeatedPage) => {
                let text =
                    format!("the list of {} has no end: one of its pages came again", what(method));
                contact.run.warn(&text);
                break;
            }
        }
    }
    let Some(revision) = contact.known_revision() else {
        return Err(Error::new(Exit::Bug, "a session without a revision has answered"));
    };
    let ttl = time_to_live(&pages).filter(|_| revision.cacheable).unwrap_or_default();
    let texts: Vec<String> = pages.iter().map(|page| page.as_str().to_owned()).collect();
    let key = key(contact, revision, method);
    contact.lists.put(&key, &texts, ttl, scope(&pages), contact.run.env.now());
    Ok(pages)
}

/// Shows all pages of a list, remembered or asked for.
pub(super) async fn show(
    contact: &mut Contact<'_>,
    method: &'static str,
    look: Look<'_>,
) -> Result<(), Error> {
    match recall(contact, method) {
        Some(pages) => pages.iter().try_for_each(look),
        None => fetch(contact, method, look).await.map(drop),
    }
}

/// Makes a list count as out of date.
pub(super) fn forget(contact: &Contact<'_>, method: &str) {
    if let Some(revision) = contact.known_revision() {
        contact.lists.forget(&key(contact, revision, method));
    }
}

/// The key under which a list is remembered.
pub(super) fn key(contact: &Contact<'_>, revision: &Revision, method: &str) -> Key {
    contact.lists.key(&contact.server, revision, method, "{}", "")
}

/// The elements that a page of a list has, each as its text.
pub(super) fn items<'p>(page: &'p Json, method: &str) -> scan::Elements<'p> {
    let name = method::facts(method).pages.unwrap_or_default();
    scan::elements(scan::member(page.as_str(), name).unwrap_or("[]"))
}

/// Whether an error says that the server has no lists of that kind.
pub(super) fn is_unlisted(error: &Error) -> bool {
    error.code == Some(ErrorObject::METHOD_NOT_FOUND)
}

/// Why there is no list.
fn unlisted(contact: &Contact<'_>, method: &str, no_result: NoResult) -> Error {
    match no_result {
        NoResult::Error(error) if error.code == ErrorObject::METHOD_NOT_FOUND => {
            let text = format!("the server has no {}: it does not know {method}", what(method));
            let error = Error { message: text, ..Error::from(&error) };
            error.phase(Phase::Request).server(contact.server.name.clone())
        }
        no_result => contact.explain(no_result),
    }
}

/// What a list is about, for people.
fn what(method: &str) -> &'static str {
    match method::facts(method).pages {
        Some("resourceTemplates") => "resource templates",
        Some(name) => name,
        None => "such things",
    }
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
