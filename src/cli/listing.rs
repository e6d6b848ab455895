//! Lists of a server: asked for page by page, or remembered while the server says they are good.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use super::contact::Contact;
use super::errors::{Error, Phase};
use super::exit::Exit;
use crate::cache::{Key, Scope};
use crate::client::{NoResult, Pages, RepeatedPage};
use crate::protocol::Revision;
use crate::protocol::json::Json;
use crate::protocol::jsonrpc::{ErrorObject, scan};
use crate::protocol::method;
use crate::protocol::model::server;

/// The longest list that is read, in bytes. One that is longer has no end.
const LONGEST: usize = 64 << 20;

/// The longest list of which a copy is kept to store it, in bytes.
const LONGEST_STORED: usize = 8 << 20;

/// Who takes the pages of a list, one by one as they come.
pub(super) type Look<'l> = &'l mut dyn FnMut(Json) -> Result<(), Error>;

/// The pages of a list as far as they are remembered and still good; `None` when the server must be
/// asked.
pub(super) fn recall(contact: &Contact<'_>, method: &str) -> Option<Vec<Json>> {
    let revision = contact.known_revision().filter(|revision| revision.cacheable)?;
    let pages = contact.lists.get(&key(contact, revision, method), contact.run.env.now())?;
    let pages: Vec<Json> = pages.into_iter().map(Json::from).collect();
    let info = pages.first().and_then(|page| server::info_beside(page));
    *contact.listed_by.borrow_mut() = info.map(str::to_owned);
    Some(pages)
}

/// The pages of a list as they were when the server was last asked, good or not, and the revision
/// it spoke; `None` when nobody has asked, or what it said is gone.
pub(super) fn stored(
    contact: &Contact<'_>,
    method: &str,
) -> Option<(Vec<Json>, &'static Revision)> {
    // Which revision it speaks may have been forgotten since.
    let known = contact.known_revision();
    known.into_iter().chain(Revision::all()).find_map(|revision| {
        let key = key(contact, revision, method);
        let found = contact.lists.find(&key, contact.run.env.now())?;
        Some((found.pages.into_iter().map(Json::from).collect(), revision))
    })
}

/// Asks the server for all pages of a list, and stores them. They count as remembered for as long as
/// the server says that they are good, which is returned.
pub(super) async fn fetch(
    contact: &mut Contact<'_>,
    method: &'static str,
    look: Look<'_>,
) -> Result<Option<Duration>, Error> {
    contact.watcher.changes.expect(method);
    let mut place = Pages::default();
    let mut copy = Copy::default();
    let is_whole = loop {
        let page = match contact.try_request(method, place.params(), Vec::new()).await? {
            Ok(page) => page,
            Err(no_result) => return Err(unlisted(contact, method, no_result)),
        };
        let is_new = copy.add(&page);
        let more = if is_new { place.turn(&page) } else { Err(RepeatedPage) };
        if is_new {
            look(page)?;
        }
        match more {
            Ok(true) if copy.size <= LONGEST => (),
            Ok(false) => break true,
            Ok(true) => {
                let text =
                    format!("the list of {} is cut off at {} MiB", what(method), LONGEST >> 20);
                contact.run.warn(&text);
                break false;
            }
            Err(RepeatedPage) => {
                let list = what(method);
                let text = format!("the list of {list} has no end: one of its pages came again");
                if method == method::LIST_TOOLS {
                    // What a tool is, and whether there is one, a list without end does not say.
                    let error = Error::new(Exit::Protocol, text).phase(Phase::Request);
                    return Err(error.server(contact.server.name.clone()));
                }
                contact.run.warn(&text);
                break false;
            }
        }
    };
    let Some(revision) = contact.known_revision() else {
        return Err(Error::new(Exit::Bug, "a session without a revision has answered"));
    };
    let is_good = is_whole && !contact.watcher.changes.contain(method);
    let good_for = copy.time_to_live.filter(|_| revision.cacheable);
    if let Some(pages) = copy.pages.filter(|_| is_good) {
        let ttl = good_for.unwrap_or_default();
        let scope = if copy.is_public { Scope::Public } else { Scope::Private };
        let key = key(contact, revision, method);
        contact.lists.put(&key, &pages, ttl, scope, contact.run.env.now());
    }
    Ok(good_for)
}

/// Shows all pages of a list, remembered or asked for.
pub(super) async fn show(
    contact: &mut Contact<'_>,
    method: &'static str,
    look: Look<'_>,
) -> Result<(), Error> {
    match recall(contact, method) {
        Some(pages) => pages.into_iter().try_for_each(look),
        None => fetch(contact, method, look).await.map(drop),
    }
}

impl Contact<'_> {
    /// Forgets the lists that are no longer good: because the server has said so, or because
    /// `result` is from another version of the server than they are.
    pub(super) fn heed_changes(&mut self, result: Option<&Json>) {
        for list in self.watcher.changes.news() {
            self.run.remark(&format!("{}: the answer to {list} has changed", self.server.name));
            forget(self, list);
        }
        let Some(result) = result else { return };
        let info = server::info_beside(result);
        self.watcher.consent.note_result(info);
        let Some(info) = info else { return };
        let other = |listed_by: &String| listed_by != info;
        if self.listed_by.borrow().as_ref().is_some_and(other) {
            self.run.remark(&format!("{}: the server is not what it was", self.server.name));
            method::lists().for_each(|list| forget(self, list));
            *self.listed_by.borrow_mut() = Some(info.to_owned());
        }
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
    contact.lists.key(&contact.server, revision, method, "{}", &contact.account())
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

/// What is stored of a list, and for how long it is good.
struct Copy {
    /// The pages; `None` when they are too long to be stored.
    pages: Option<Vec<String>>,
    /// How long the pages are together, in bytes.
    size: usize,
    /// A hash of the last page.
    last: Option<u64>,
    /// How long all pages are good; `None` when the server does not say it of each.
    time_to_live: Option<Duration>,
    /// Whether all pages are for everybody.
    is_public: bool,
}

impl Default for Copy {
    fn default() -> Copy {
        Copy {
            pages: Some(Vec::new()),
            size: 0,
            last: None,
            time_to_live: Some(Duration::MAX),
            is_public: true,
        }
    }
}

impl Copy {
    /// Adds a page; false when it is the last one once more.
    fn add(&mut self, page: &Json) -> bool {
        let text = page.as_str();
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let hash = hasher.finish();
        if self.last.replace(hash) == Some(hash) {
            return false;
        }
        self.size += text.len();
        match &mut self.pages {
            Some(pages) if self.size <= LONGEST_STORED => pages.push(text.to_owned()),
            _ => self.pages = None,
        }
        let time = scan::member(text, "ttlMs").and_then(|ttl| ttl.parse().ok());
        let time = time.map(Duration::from_millis);
        self.time_to_live = self.time_to_live.zip(time).map(|(least, time)| least.min(time));
        let scope = scan::member(text, "cacheScope").and_then(scan::unescape);
        self.is_public &= Scope::named(scope.as_deref()) == Scope::Public;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For how many milliseconds a list of these pages is good, and whether for everybody.
    fn copy(pages: &[&str]) -> (Option<u128>, bool) {
        let mut copy = Copy::default();
        for page in pages {
            assert!(copy.add(&Json::from(*page)));
        }
        (copy.time_to_live.map(|time| time.as_millis()), copy.is_public)
    }

    #[test]
    fn a_list_is_good_for_as_long_and_for_as_many_as_its_worst_page() {
        let check = |pages: &[&str], expected| assert_eq!(copy(pages), expected, "{pages:?}");
        let public = r#"{"ttlMs":500,"cacheScope":"public"}"#;
        check(&[public], (Some(500), true));
        check(&[public, r#"{"ttlMs":70,"cacheScope":"public"}"#], (Some(70), true));
        check(&[public, r#"{"ttlMs":900,"cacheScope":"private"}"#], (Some(500), false));
        check(&[public, "{}"], (None, false));
        check(&["{}", public], (None, false));
        check(&[r#"{"ttlMs":-1}"#], (None, false));
    }

    #[test]
    fn a_page_that_comes_again_is_noticed_and_a_long_list_is_not_stored() {
        let mut copy = Copy::default();
        let page = Json::from(format!("\"{}\"", "x".repeat(LONGEST_STORED / 2)));
        assert!(copy.add(&page));
        assert!(!copy.add(&page));
        assert!(copy.pages.is_some());
        assert!(copy.add(&Json::from("{}")));
        assert!(copy.add(&page));
        assert_eq!(copy.pages, None);
    }
}
