//! Where servers are looked for, in which order, and what was found.
//!
//! ```text
//! host      catalog ─▶ Link header ─▶ (page) ─▶ the places of older drafts, by their priority
//! endpoint  <endpoint>/server-card ─▶ catalog, a card with this endpoint ─▶ older places, the same
//! document  it
//! ```
//! Nothing is guessed: what is found is listed, and whoever needs one of several says which.

mod cards;
mod file;
mod host;

use std::time::Duration;

pub use self::file::read_file;
use super::catalog::{self, Entry, NoCatalog};
use super::claim::Claim;
use super::compare::{Contradiction, contradictions};
use super::documents::{Document, Documents, Miss, Origin, Tried, Wanted};
use super::place::Place;
use crate::net::{Address, FetchError, Source, Zone};

/// How long a document is good when its host does not say.
const UNSAID: Duration = Duration::from_secs(300);

/// The longest catalog, in bytes.
const CATALOG_LIMIT: usize = 4 << 20;

/// The longest card unless something else is said, in bytes.
pub const CARD_LIMIT: usize = 1 << 20;

/// What catalogs are asked for as.
pub const CATALOG_TYPES: &str = "application/ai-catalog+json, application/json;q=0.9";

/// What cards are asked for as.
pub const CARD_TYPES: &str = "application/mcp-server-card+json, application/json;q=0.9";

/// What is asked for where it is not known which of both is there.
const DOCUMENT_TYPES: &str =
    "application/mcp-server-card+json, application/ai-catalog+json, application/json;q=0.9";

/// How to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Only where the standard says.
    pub standard: bool,
    /// Into the page of the host for a link, too.
    pub html: bool,
    /// The longest card, in bytes.
    pub card_limit: usize,
}

/// A server that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// What is claimed about it.
    pub claim: Claim,
    /// Where that stands.
    pub way: Way,
    /// The document; `None` for a card that was not fetched.
    pub document: Option<Document>,
    /// The entry of the catalog, if one led here.
    pub entry: Option<Entry>,
    /// The catalog, if a trust manifest stands in the entry.
    pub catalog: Option<Document>,
    /// Whether its document is about other servers, too.
    pub is_one_of_several: bool,
    /// How near the one who claims it is.
    pub zone: Zone,
    /// Where a manifest and the card that it points to disagree.
    pub conflict: Option<Conflict>,
    /// Whether the hash in the catalog is that of the card; `None` when there is none to compare.
    pub digest_holds: Option<bool>,
}

/// How a server was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// In the AI Catalog of the host.
    Catalog,
    /// In a catalog that a `Link` points to.
    Link,
    /// At the place reserved beside the endpoint.
    ServerCard,
    /// At a place of an older draft.
    Legacy(&'static str),
    /// In the document that was asked for.
    Named,
    /// In a file.
    File,
    /// In a registry.
    Registry,
    /// Among the resources of the server itself.
    Resource,
}

/// A manifest whose endpoint is not in the card that it points to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The endpoint of the manifest.
    pub manifest: String,
    /// The endpoints of the card.
    pub card: Vec<String>,
    /// Whether the card counts: it is on the host of the manifest.
    pub card_wins: bool,
}

/// What was found, and where it was looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// The servers.
    pub candidates: Vec<Candidate>,
    /// Every place that was looked at.
    pub tried: Vec<Tried>,
    /// What people should know.
    pub notes: Vec<String>,
}

/// Looks for servers.
#[derive(Debug)]
pub struct Finder<'a> {
    documents: &'a Documents,
    options: Options,
    /// The one server that is wanted, by its name or identifier.
    wanted: Option<&'a str>,
}

impl<'a> Finder<'a> {
    /// Whoever looks into these documents.
    pub fn new(documents: &'a Documents, options: Options) -> Finder<'a> {
        Finder { documents, options, wanted: None }
    }

    /// Looks for one server, so that no card of another has to be fetched.
    #[must_use]
    pub fn only(self, wanted: Option<&'a str>) -> Finder<'a> {
        Finder { wanted, ..self }
    }

    /// Looks at a place of the network.
    pub async fn find(&self, place: &Place) -> Findings {
        let mut findings = Findings::default();
        match place {
            Place::Host(host) => self.host(host, &mut findings).await,
            Place::Endpoint(endpoint) => self.endpoint(endpoint, &mut findings).await,
            Place::Document(address) => {
                if let Ok(document) = self.fetch(address).await {
                    self.take(document, Way::Named, &mut findings).await;
                }
            }
            // Files are read by whoever has the file system, and the registry has an API.
            Place::File(_) | Place::Registry { .. } | Place::Search(_) => (),
        }
        findings.keep(self.wanted);
        findings.tried = self.documents.tried();
        findings
    }

    /// Fetches a document that the user has named: a catalog, or something shorter.
    pub async fn fetch(&self, address: &Address) -> Result<Document, Miss> {
        let (accept, limit) = (DOCUMENT_TYPES, self.options.card_limit);
        let wanted = Wanted { accept, limit: limit.max(CATALOG_LIMIT), unsaid: UNSAID };
        let document = self.documents.get(address, Source::User, wanted).await?;
        let is_catalog = catalog::read(&document.object) != Err(NoCatalog::Other);
        if !is_catalog && limit < document.body.len() {
            let miss = Miss::Failed(FetchError::TooLong { address: address.clone(), limit });
            self.documents.reject(address.as_str(), miss.clone());
            return Err(miss);
        }
        Ok(document)
    }

    fn catalog(&self) -> Wanted {
        Wanted { accept: CATALOG_TYPES, limit: CATALOG_LIMIT, unsaid: UNSAID }
    }

    fn card(&self) -> Wanted {
        Wanted { accept: CARD_TYPES, limit: self.options.card_limit, unsaid: UNSAID }
    }
}

impl Findings {
    /// Leaves out what is not called by the name that is wanted, if one is. Others may call
    /// themselves by the identifier of an entry.
    fn keep(&mut self, wanted: Option<&str>) {
        let Some(wanted) = wanted else { return };
        match self.candidates.iter().any(|candidate| candidate.is_entry(wanted)) {
            true => self.candidates.retain(|candidate| candidate.is_entry(wanted)),
            false => self.candidates.retain(|candidate| candidate.is_called(wanted)),
        }
    }
}

impl Candidate {
    /// A claim that a document makes.
    pub(super) fn of(claim: Claim, way: Way, document: &Document) -> Candidate {
        Candidate {
            claim,
            way,
            zone: document.zone,
            document: Some(document.clone()),
            entry: None,
            catalog: None,
            is_one_of_several: false,
            conflict: None,
            digest_holds: None,
        }
    }

    /// What to call it: the name in the catalog, else the title, else the end of the identifier.
    pub fn shown_name(&self) -> String {
        let claim = &self.claim;
        let identifier = self.entry.as_ref().map(|entry| entry.identifier.as_str());
        let end = identifier.and_then(|it| it.rsplit([':', '/']).next());
        let name = claim.name.as_deref().or(claim.title.as_deref()).or(end);
        name.unwrap_or("(no name)").to_owned()
    }

    /// Whether that is one of its names: of the card, of the catalog, whole or their last part, or the
    /// URL of the card.
    pub fn is_called(&self, name: &str) -> bool {
        let entry = self.entry.as_ref();
        let names = [
            self.claim.name.as_deref(),
            self.claim.title.as_deref(),
            entry.map(|entry| entry.identifier.as_str()),
            entry.and_then(|entry| entry.display_name.as_deref()),
        ];
        let is_end = |known: &str| known.rsplit(['/', ':']).next() == Some(name);
        self.is_at(name) || names.into_iter().flatten().any(|known| known == name || is_end(known))
    }

    /// Whether it stands in the entry of a catalog with that identifier.
    pub fn is_entry(&self, identifier: &str) -> bool {
        self.entry.as_ref().is_some_and(|entry| entry.identifier == identifier)
    }

    /// Whether its document is the one at that URL.
    fn is_at(&self, url: &str) -> bool {
        self.document.as_ref().is_some_and(|it| it.requested.as_str() == url)
    }

    /// Whether one of its remotes is this endpoint.
    fn has_endpoint(&self, endpoint: &Address) -> bool {
        let same = |url: &str| Address::parse(url).is_ok_and(|address| is_same(&address, endpoint));
        self.claim.remotes.iter().any(|remote| same(&remote.url))
    }

    /// Where the catalog that lists the card contradicts it.
    pub fn contradictions(&self) -> Vec<Contradiction> {
        let entry = self.entry.as_ref().filter(|_| self.document.is_some());
        entry.map(|entry| contradictions(entry, &self.claim)).unwrap_or_default()
    }

    /// Where the document came from.
    pub fn address(&self) -> Option<&Address> {
        self.document.as_ref().map(|document| &document.address)
    }

    /// How the document was had.
    pub fn origin(&self) -> Option<Origin> {
        self.document.as_ref().map(|document| document.origin)
    }
}

/// Whether two URLs are one endpoint: a slash at the end makes no difference.
fn is_same(one: &Address, other: &Address) -> bool {
    one.as_str().trim_end_matches('/') == other.as_str().trim_end_matches('/')
}

impl Way {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Way::Catalog => "ai-catalog",
            Way::Link => "link",
            Way::ServerCard => "server-card",
            Way::Legacy(_) => "legacy",
            Way::Named => "document",
            Way::File => "file",
            Way::Registry => "registry",
            Way::Resource => "resource",
        }
    }
}
