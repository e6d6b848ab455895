//! From documents to servers: catalogs are opened, pointers followed, hashes compared.

use std::collections::HashSet;
use std::sync::Arc;

use super::super::catalog::{self, Entry, Kind, NoCatalog};
use super::super::claim::{Claim, Remark};
use super::super::document;
use super::super::documents::{Document, Miss};
use super::super::normalise::{Normal, normalise};
use super::{Candidate, Conflict, Finder, Findings, Way};
use crate::config::Digest;
use crate::net::{Address, Source, together};
use crate::protocol::canonical::canonical;
use crate::protocol::mask;

/// How deep catalogs may stand in catalogs.
const DEPTH: usize = 4;

/// How many cards are fetched side by side.
const SIDE_BY_SIDE: usize = 4;

impl Finder<'_> {
    /// Takes what a document says: it is a catalog, or about servers.
    pub(super) async fn take_any(&self, document: &Document, way: Way, findings: &mut Findings) {
        match catalog::read(&document.object) {
            Ok(_) => self.take_catalog(document, way, findings).await,
            Err(error @ NoCatalog::Version(_)) => {
                findings.notes.push(format!("{}: {error}", document.address));
            }
            Err(NoCatalog::Other) => self.take_card(document, way, findings).await,
        }
    }

    /// A catalog, and those in it, each but once.
    async fn take_catalog(&self, document: &Document, way: Way, findings: &mut Findings) {
        let mut seen =
            HashSet::from([&document.address, &document.requested].map(Address::to_string));
        let mut level = vec![document.clone()];
        let mut unasked = 0;
        for _ in 0..=DEPTH {
            let mut next = Vec::new();
            for document in level {
                let nested = self.take_entries(&document, way, findings).await;
                if self.has_found(findings) {
                    return;
                }
                for (entry, address) in nested {
                    if !seen.insert(address.to_string()) {
                        continue;
                    }
                    if !self.documents.has_budget() {
                        unasked += 1;
                        continue;
                    }
                    match self.nested(&entry, &address, &document).await {
                        Ok(found) => next.push(found),
                        Err(miss) => findings.notes.push(format!(
                            "{}, which is listed in {}, was not read: {miss}",
                            mask::url(address.as_str()),
                            document.address
                        )),
                    }
                }
            }
            level = next;
        }
        if 0 < unasked {
            let told = format!("catalogs that are listed were not read: {unasked}");
            findings.notes.push(format!("{}: {told}, {}", document.address, Miss::Spent));
        }
        if !level.is_empty() {
            findings.notes.push(format!("catalogs in catalogs were followed {DEPTH} levels deep"));
        }
    }

    /// Whether the one that is wanted is there, by what only it can have. Others may have its name.
    fn has_found(&self, findings: &Findings) -> bool {
        let is_wanted = |candidate: &Candidate| {
            self.wanted.is_some_and(|it| candidate.is_entry(it) || candidate.is_at(it))
        };
        findings.candidates.iter().any(is_wanted)
    }

    /// A catalog that another one lists.
    async fn nested(
        &self,
        entry: &Entry,
        address: &Address,
        catalog: &Document,
    ) -> Result<Document, Miss> {
        let source = Source::Document(catalog.zone);
        let found = self.documents.get(address, source, self.catalog()).await?;
        if digest_holds(entry, &found.body) == Some(false) {
            return Err(Miss::Other("it has another hash than is listed"));
        }
        match catalog::read(&found.object) {
            Ok(_) => Ok(found),
            Err(NoCatalog::Version(_)) => Err(Miss::Other("it is of a version that is not known")),
            Err(NoCatalog::Other) => Err(Miss::Other("it is no catalog")),
        }
    }

    /// The servers of one catalog; gives back the catalogs that it names.
    async fn take_entries(
        &self,
        document: &Document,
        way: Way,
        findings: &mut Findings,
    ) -> Vec<(Entry, Address)> {
        let Ok(catalog) = catalog::read(&document.object) else { return Vec::new() };
        let place = &document.address;
        findings.notes.extend(catalog.notes().iter().map(|note| format!("{place}: {note}")));
        let (mut nested, mut cards) = (Vec::new(), Vec::new());
        let is_clear = !document::repeats(&document.body);
        let signed = |entry: &Entry| entry.has_manifest.then(|| document.clone());
        for entry in catalog.entries {
            match (&entry.place, entry.kind) {
                (catalog::Place::Data(data), Kind::Card) => {
                    let embedded = embedded(data, document, way);
                    findings.notes.extend(embedded.notes.iter().map(|it| format!("{place}: {it}")));
                    let holds = value_holds(&entry, data, is_clear);
                    findings.candidates.extend(embedded.candidates.into_iter().map(|candidate| {
                        let (catalog, entry) = (signed(&entry), Some(entry.clone()));
                        Candidate { catalog, entry, digest_holds: holds, ..candidate }
                    }));
                }
                (catalog::Place::Data(_), Kind::Catalog) => {
                    findings.notes.push(format!("{place}: a catalog inside of it was left out"));
                }
                (catalog::Place::Url(url), kind) => match document.address.join(url) {
                    Ok(address) if kind == Kind::Catalog => nested.push((entry, address)),
                    Ok(address) => cards.push((entry, address)),
                    Err(why) => findings.notes.push(format!("{place}: {url:?}: {why}")),
                },
            }
        }
        if let Some(wanted) = self.wanted {
            let is_meant = |(entry, address): &(Entry, Address)| {
                address.as_str() == wanted || bare(entry, document, way).is_called(wanted)
            };
            // A name that only the card has is found by fetching them all.
            if cards.iter().any(is_meant) {
                cards.retain(is_meant);
            }
        }
        for several in cards.chunks(SIDE_BY_SIDE) {
            let fetched = together(
                several.iter().map(|(entry, address)| self.listed(entry, address, document, way)),
            );
            for found in fetched.await {
                findings.notes.extend(found.notes);
                findings.candidates.extend(found.candidates.into_iter().map(|candidate| {
                    let catalog = candidate.entry.as_ref().and_then(signed);
                    Candidate { catalog, ..candidate }
                }));
            }
        }
        nested
    }

    /// The servers of an entry: what its card says, or, without the card, what the catalog says.
    async fn listed(
        &self,
        entry: &Entry,
        address: &Address,
        catalog: &Document,
        way: Way,
    ) -> Findings {
        // Not even on its own host: the name of that may stand for another address by now.
        let source = Source::Document(catalog.zone);
        let mut findings = Findings::default();
        let bare = bare(entry, catalog, way);
        let Ok(card) = self.documents.get(address, source, self.card()).await else {
            findings.candidates.push(bare);
            return findings;
        };
        let holds = digest_holds(entry, &card.body);
        self.take_card(&card, way, &mut findings).await;
        if findings.candidates.is_empty() {
            let miss = Miss::Other("it is about no server");
            self.documents.reject(card.requested.as_str(), miss);
            findings.candidates.push(bare);
            return findings;
        }
        for candidate in &mut findings.candidates {
            candidate.entry = Some(entry.clone());
            // The hash of a document that points to the card says nothing about the card.
            let is_listed =
                candidate.document.as_ref().is_some_and(|it| it.requested == card.requested);
            candidate.digest_holds = holds.map(|holds| holds && is_listed);
        }
        findings
    }

    /// A card or a document of an older form. A card that it points to is fetched, once.
    pub(super) async fn take_card(&self, document: &Document, way: Way, findings: &mut Findings) {
        let Some(normal) = read(document) else { return };
        findings.notes.extend(normal.note().map(|note| format!("{}: {note}", document.address)));
        let Normal { claims, pointer, .. } = normal;
        let is_one_of_several = 1 < claims.len();
        let of = |claim: &Claim| Candidate {
            is_one_of_several,
            ..Candidate::of(claim.clone(), way, document)
        };
        let target = pointer.as_deref().and_then(|it| document.address.join(it).ok());
        let is_needed = claims.iter().all(|claim| !claim.form.is_current());
        let Some(target) = target.filter(|target| is_needed && *target != document.address) else {
            findings.candidates.extend(claims.iter().map(of));
            return;
        };
        let is_near = target.same_origin(&document.address);
        let source = Source::Document(document.zone);
        let card = self.documents.get(&target, source, self.card()).await.ok();
        let pointed = card.as_ref().and_then(|card| {
            // It points nowhere any more.
            Some((card, read(card)?.claims.into_iter().next()?))
        });
        let Some((card, claim)) = pointed else {
            findings.candidates.extend(claims.iter().map(of));
            return;
        };
        let conflict = claims.first().and_then(|manifest| conflict(manifest, &claim, is_near));
        let kept = match &conflict {
            Some(Conflict { card_wins: false, .. }) => claims.first().map(of),
            _ => Some(Candidate::of(claim, way, card)),
        };
        findings.candidates.extend(kept.map(|kept| Candidate { conflict, ..kept }));
    }
}

/// What a document says about servers, and whether others may read another thing in it.
fn read(document: &Document) -> Option<Normal> {
    let mut normal = normalise(&document.object, Some(&document.address))?;
    if document::repeats(&document.body) {
        normal.claims.iter_mut().for_each(|claim| claim.remarks.push(Remark::Repeated));
    }
    Some(normal)
}

/// The servers of a card that stands in a catalog itself.
fn embedded(data: &document::Object, catalog: &Document, way: Way) -> Findings {
    let mut findings = Findings::default();
    let Some(normal) = normalise(data, Some(&catalog.address)) else {
        findings.notes.push("what stands in one of its entries is about no server".to_owned());
        return findings;
    };
    findings.notes.extend(normal.note());
    let (object, body) = (Arc::new(data.clone()), Arc::default());
    let document = Document { object, body, ..catalog.clone() };
    let claims = normal.claims.into_iter();
    findings.candidates.extend(claims.map(|claim| Candidate::of(claim, way, &document)));
    findings
}

/// Whether the hash in an entry is that of the bytes of a document; `None` when it has none. A document
/// that can be read in two ways has no hash that says anything.
fn digest_holds(entry: &Entry, body: &[u8]) -> Option<bool> {
    let said = entry.digest.as_ref()?;
    Some(*said == Digest::of(body).to_string() && !document::repeats(body))
}

/// The same for what stands in the entry itself, in a catalog that can be read in one way: the hash is
/// that of its value (RFC 8785).
pub(super) fn value_holds(entry: &Entry, data: &document::Object, is_clear: bool) -> Option<bool> {
    let said = entry.digest.as_ref()?;
    let text = serde_json::to_string(data).expect("a JSON value always serializes");
    let value = canonical(&text).ok().filter(|_| is_clear);
    Some(value.is_some_and(|value| *said == Digest::of(value.as_bytes()).to_string()))
}

/// What the catalog itself says about a server.
fn bare(entry: &Entry, catalog: &Document, way: Way) -> Candidate {
    let claimed = Candidate::of(claim_of(entry), way, catalog);
    Candidate { document: None, entry: Some(entry.clone()), ..claimed }
}

/// The same as a claim.
pub(super) fn claim_of(entry: &Entry) -> Claim {
    let (title, version) = (entry.display_name.clone(), entry.version.clone());
    Claim { title, version, ..Claim::default() }
}

/// Where a manifest names an endpoint that the card does not.
fn conflict(manifest: &Claim, card: &Claim, card_wins: bool) -> Option<Conflict> {
    let said = &manifest.remotes.first()?.url;
    let urls: Vec<_> = card.remotes.iter().map(|remote| remote.url.clone()).collect();
    let is_there = urls.iter().any(|url| url.trim_end_matches('/') == said.trim_end_matches('/'));
    (!is_there).then(|| Conflict { manifest: said.clone(), card: urls, card_wins })
}
