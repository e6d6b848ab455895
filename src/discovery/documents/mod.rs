//! Documents, from the network or from disk, under one set of rules.
//!
//! ```text
//!             fresh ─────────────────────────────▶ the stored one
//! stored? ──┤ stale ── ask, unless still "v1" ──▶ 304: the stored one, its clock begun anew
//!             none  ── ask ─────────────────────▶ 200: the new one
//!                                └─ no answer ──▶ the stale one, for a week, and it is told
//! ```
//! Whatever is fetched is counted: one command asks a dozen times at most, and for ten seconds unless
//! the user says otherwise.

mod freshness;
mod outcome;
mod shelf;

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use http::header::{ETAG, HeaderMap, HeaderName, LAST_MODIFIED, LINK};

pub use self::outcome::{Miss, Tried};
use self::shelf::{Kept, Label, Shelf, seconds};
use super::document::{self, Object};
use crate::config::Digest;
use crate::env::Env;
use crate::net::{Address, FetchError, Fetched, Fetcher, Query, Source, Zone};

/// How many requests one command makes.
const REQUESTS: usize = 12;

/// How long requests may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// One of them, its body included.
    pub each: Duration,
    /// All of them together.
    pub all: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { each: Duration::from_secs(5), all: Duration::from_secs(10) }
    }
}

/// How long a stale document is better than none.
const STALE: Duration = Duration::from_secs(7 * 24 * 3600);

/// How long it is remembered that there is no document.
const ABSENT: Duration = Duration::from_secs(600);

/// How stored documents are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reuse {
    /// As long as they are good.
    Fresh,
    /// Only if the host says that they are good still.
    Checked,
    /// Not at all, and none are stored.
    Never,
    /// However old they are, and nobody is asked.
    Only,
}

/// A kind of document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// The media types to ask for.
    pub accept: &'static str,
    /// The longest one, in bytes.
    pub limit: usize,
    /// How long one is good when the host does not say.
    pub unsaid: Duration,
}

/// Gets documents.
#[derive(Debug)]
pub struct Documents {
    fetcher: Fetcher,
    shelf: Shelf,
    reuse: Reuse,
    /// Whether connections that are not encrypted may leave this machine.
    allow_http: bool,
    /// Whether a stale document may stand for one that cannot be had.
    pub takes_stale: bool,
    now: SystemTime,
    deadline: Instant,
    requests: Cell<usize>,
    tried: RefCell<Vec<Tried>>,
}

/// A document. Many servers may stand in one, each of which has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// What is in it.
    pub object: Arc<Object>,
    /// It, byte for byte.
    pub body: Arc<[u8]>,
    /// What was asked for.
    pub requested: Address,
    /// Where it came from, after redirects.
    pub address: Address,
    /// How near that is.
    pub zone: Zone,
    /// How it was had.
    pub origin: Origin,
}

/// How a document was had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// It was fetched.
    Network,
    /// The host says that the stored one is good still.
    Revalidated,
    /// It was stored, and is good still.
    Stored,
    /// It was stored so long ago, and nobody could be asked.
    Stale(Duration),
}

/// Forgets every document that is stored.
pub fn forget_all(env: &Env) {
    Shelf::new(env).clear();
}

impl Documents {
    /// Documents as this fetcher gets them, within these limits from now on.
    pub fn new(
        fetcher: Fetcher,
        limits: Limits,
        reuse: Reuse,
        allow_http: bool,
        env: &Env,
    ) -> Documents {
        let begun = Instant::now();
        Documents {
            fetcher: fetcher.with_patience(limits.each).within(limits.all, begun),
            shelf: Shelf::new(env),
            reuse,
            allow_http,
            takes_stale: true,
            now: env.now(),
            deadline: begun + limits.all,
            requests: Cell::new(0),
            tried: RefCell::default(),
        }
    }

    /// The same, but that the hosts are asked whether what is stored is still good: for who wants to know
    /// what has changed.
    #[must_use]
    pub fn checked(self) -> Documents {
        let reuse = if self.reuse == Reuse::Fresh { Reuse::Checked } else { self.reuse };
        Documents { reuse, takes_stale: false, ..self }
    }

    /// Every place that was looked at, in its order.
    pub fn tried(&self) -> Vec<Tried> {
        self.tried.borrow().clone()
    }

    /// Says that a document that came was not what it should be.
    pub fn reject(&self, url: &str, miss: Miss) {
        let mut tried = self.tried.borrow_mut();
        if let Some(known) = tried.iter_mut().find(|known| known.url == url) {
            known.miss = Some(miss);
        }
    }

    /// Notes that a place is looked at. They stand in the order in which that was begun.
    fn try_at(&self, url: String) -> usize {
        let mut tried = self.tried.borrow_mut();
        tried.push(Tried { url, miss: None, is_stored: false });
        tried.len() - 1
    }

    fn missed(&self, place: usize, miss: Option<&Miss>) {
        self.tried.borrow_mut()[place].miss = miss.cloned();
    }

    /// Whether something else may be asked for.
    pub fn has_budget(&self) -> bool {
        self.requests.get() < REQUESTS && Instant::now() < self.deadline
    }

    /// Whether somebody may be sent to an address that a document has named.
    pub async fn admits(&self, address: &Address, from: Zone) -> Result<(), FetchError> {
        self.fetcher.admits(address, Source::Document(from)).await
    }

    /// How near an address is.
    pub async fn zone(&self, address: &Address) -> Result<Zone, FetchError> {
        self.fetcher.zone(address).await
    }

    /// Gets a document.
    pub async fn get(
        &self,
        address: &Address,
        source: Source,
        wanted: Wanted,
    ) -> Result<Document, Miss> {
        let place = self.try_at(address.to_string());
        let found = self.find(address, source, wanted).await;
        if self.reuse == Reuse::Fresh && found.as_ref().is_ok_and(|it| it.origin == Origin::Stored)
        {
            self.tried.borrow_mut()[place].is_stored = true;
        }
        let outcome = found.and_then(Found::read);
        self.missed(place, outcome.as_ref().err());
        outcome
    }

    /// Gets a document as it is now, whatever is stored.
    pub async fn get_anew(
        &self,
        address: &Address,
        source: Source,
        wanted: Wanted,
    ) -> Result<Document, Miss> {
        let place = self.try_at(address.to_string());
        let outcome = self.ask(address, source, &Query::get(wanted.accept, wanted.limit)).await;
        let outcome = outcome.and_then(|fetched| self.take(address, wanted, fetched, None).read());
        self.missed(place, outcome.as_ref().err());
        outcome
    }

    /// The `Link` fields of an address.
    pub async fn links(&self, address: &Address, source: Source) -> Vec<String> {
        let place = self.try_at(format!("HEAD {address}"));
        let outcome = self.ask(address, source, &Query::head("*/*")).await;
        let links = outcome.map(|fetched| fields(&fetched.headers, LINK));
        let links = links.and_then(|links| match links.is_empty() {
            true => Err(Miss::Other("no Link header")),
            false => Ok(links),
        });
        self.missed(place, links.as_ref().err());
        links.unwrap_or_default()
    }

    /// The beginning of a page for browsers, and where it came from.
    pub async fn page(&self, address: &Address, source: Source, limit: usize) -> Option<Fetched> {
        let place = self.try_at(address.to_string());
        let outcome = self.ask(address, source, &Query::get("text/html", limit)).await;
        let outcome = outcome.and_then(|page| match page.status.is_success() {
            true => Ok(page),
            false => Err(Miss::Status(page.status.as_u16())),
        });
        self.missed(place, outcome.as_ref().err());
        outcome.ok()
    }

    async fn find(&self, address: &Address, source: Source, wanted: Wanted) -> Result<Found, Miss> {
        let stored = match self.reuse {
            Reuse::Never => None,
            _ => self.shelf.find(address.as_str(), wanted.accept),
        };
        // What was let in from far away is not let in by being stored.
        let stored =
            stored.filter(|kept| source == Source::User || may_name(source, kept.label.zone()));
        let found = |kept: Kept, origin| Found { kept, origin, requested: address.clone() };
        match stored {
            Some(kept) if self.reuse == Reuse::Only => {
                let origin = match kept.label.is_fresh(self.now) {
                    true => Origin::Stored,
                    false => Origin::Stale(kept.label.age(self.now).unwrap_or_default()),
                };
                Ok(found(kept, origin))
            }
            None if self.reuse == Reuse::Only => Err(Miss::Offline),
            Some(kept) if self.reuse == Reuse::Fresh && kept.label.is_fresh(self.now) => {
                Ok(found(kept, Origin::Stored))
            }
            stored => {
                let known = stored.as_ref().map(|kept| &kept.label);
                let query = Query::get(wanted.accept, wanted.limit).unless_still(
                    known.and_then(|label| label.etag.as_deref()),
                    known.and_then(|label| label.last_modified.as_deref()),
                );
                match self.ask(address, source, &query).await {
                    Ok(fetched) => Ok(self.take(address, wanted, fetched, stored)),
                    Err(miss) => {
                        self.stale(stored, miss).map(|(kept, age)| found(kept, Origin::Stale(age)))
                    }
                }
            }
        }
    }

    /// Takes what came, and stores it as the host allows.
    fn take(
        &self,
        address: &Address,
        wanted: Wanted,
        fetched: Fetched,
        stored: Option<Kept>,
    ) -> Found {
        let status = fetched.status.as_u16();
        let unsaid = if matches!(status, 404 | 410) { ABSENT } else { wanted.unsaid };
        let keeping = freshness::keeping(&fetched.headers, unsaid);
        let is_json = fetched.is_json();
        let first = |name| fields(&fetched.headers, name).into_iter().next();
        let (etag, last_modified) = (first(ETAG), first(LAST_MODIFIED));
        let (origin, kept) = match stored {
            Some(Kept { mut label, body }) if status == 304 => {
                // What it does not say is as it was (RFC 9111, section 3.2).
                if freshness::is_said(&fetched.headers) {
                    label.fresh_for = keeping.fresh_for.as_secs();
                    label.must_ask = keeping.must_ask;
                }
                let label = Label {
                    etag: etag.or(label.etag),
                    last_modified: last_modified.or(label.last_modified),
                    at: seconds(self.now),
                    ..label
                };
                (Origin::Revalidated, Kept { label, body })
            }
            _ => {
                // Of what is no document, nothing is kept but that it was none.
                let is_document = fetched.status.is_success() && is_json;
                let body = if is_document { fetched.body } else { Vec::new() };
                let label = Label {
                    url: address.to_string(),
                    accept: wanted.accept.to_owned(),
                    final_url: fetched.address.to_string(),
                    zone: match fetched.zone {
                        Zone::Loopback => 0,
                        Zone::Private => 1,
                        Zone::Public => 2,
                    },
                    status,
                    is_json,
                    etag: etag.filter(|_| is_document),
                    last_modified: last_modified.filter(|_| is_document),
                    at: seconds(self.now),
                    fresh_for: keeping.fresh_for.as_secs(),
                    must_ask: keeping.must_ask,
                    sha256: Digest::of(&body).hex(),
                };
                (Origin::Network, Kept { label, body })
            }
        };
        let is_worth_it = matches!(kept.label.status, 200 | 404 | 410);
        match keeping.may_store && is_worth_it && self.reuse != Reuse::Never {
            true => self.shelf.put(&kept),
            false => self.shelf.forget(address.as_str(), wanted.accept),
        }
        Found { kept, origin, requested: address.clone() }
    }

    /// A document that is stale, in the place of one that cannot be had.
    fn stale(&self, stored: Option<Kept>, miss: Miss) -> Result<(Kept, Duration), Miss> {
        let is_away = matches!(&miss, Miss::Failed(error) if error.may_pass());
        let is_allowed = is_away && self.takes_stale;
        let stored = stored
            .filter(|Kept { label, .. }| is_allowed && label.status == 200 && !label.must_ask);
        let aged = stored.and_then(|kept| Some((kept.label.age(self.now)?, kept)));
        match aged.filter(|(age, _)| *age <= STALE) {
            Some((age, kept)) => Ok((kept, age)),
            None => Err(miss),
        }
    }

    async fn ask(&self, address: &Address, source: Source, query: &Query) -> Result<Fetched, Miss> {
        if self.reuse == Reuse::Only {
            return Err(Miss::Offline);
        }
        if !self.has_budget() {
            return Err(Miss::Spent);
        }
        self.requests.set(self.requests.get() + 1);
        if !address.is_tls() && !address.is_loopback() && !self.allow_http {
            return Err(Miss::Failed(FetchError::NotEncrypted(address.clone())));
        }
        self.fetcher.fetch(address, source, query).await.map_err(Miss::Failed)
    }
}

/// Whether a document from that zone may name one that came from there.
fn may_name(source: Source, zone: Zone) -> bool {
    match source {
        Source::User => true,
        Source::Document(from) => from <= zone,
    }
}

/// What was found, before it is read.
struct Found {
    kept: Kept,
    origin: Origin,
    requested: Address,
}

impl Found {
    fn read(self) -> Result<Document, Miss> {
        let Kept { label, body } = self.kept;
        if label.status != 200 {
            return Err(Miss::Status(label.status));
        }
        if !label.is_json {
            return Err(Miss::NotJson);
        }
        let object = Arc::new(document::read(&body).map_err(Miss::Malformed)?);
        let body = body.into();
        let zone = label.zone();
        let address = Address::parse(&label.final_url).unwrap_or_else(|_| self.requested.clone());
        Ok(Document { object, body, requested: self.requested, address, zone, origin: self.origin })
    }
}

/// All values of a header field that are text.
fn fields(headers: &HeaderMap, name: HeaderName) -> Vec<String> {
    let values = headers.get_all(name).iter();
    values.filter_map(|value| value.to_str().ok()).map(str::to_owned).collect()
}
