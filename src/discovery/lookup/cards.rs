//! From documents to servers: catalogs are opened, pointers followed, hashes compared.

use super::super::catalog::{self, Entry, Kind, NoCatalog};
use super::super::claim::{Claim, Remark};
use super::super::document;
use super::super::documents::{Document, Miss};
use super::super::normalise::{Normal, normalise};
use super::{Candidate, Conflict, Finder, Findings, Way};
use crate::config::Digest;
use crate::net::{Address, Source, together};
use crate::protocol::canonical::canonical;

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
        let mut seen = vec![document.address.clone(), document.requested.clone()];
        let mut level = vec![document.clone()];
        for _ in 0..=DEPTH {
            let mut next = Vec::new();
            for document in level {
                let nested = self.take_entries(&document, way, findings).await;
                for (entry, address) in nested {
                    if seen.contains(&address) {
                        continue;
                    }
                    seen.push(address.clone());
                    let source = Source::Document(document.zone);
                    let Ok(found) = self.documents.get(&address, source, self.catalog()).await
                    else {
                        continue;
                    };
                    if digest_holds(&entry, &found.body) == Some(false) {
                        findings.notes.push(format!(
                            "{address}: it is not the catalog that {} lists: another hash",
                            document.address
                        ));
                        continue;
                    }
                    next.push(found);
                }
            }
            if next.is_empty() {
                return;
            }
            level = next;
        }
        findings.notes.push(format!("catalogs in catalogs were followed {DEPTH} levels deep"));
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
        findings.notes.extend(catalog.faults.iter().map(|fault| format!("{place}: {fault}")));
        let (mut nested, mut cards) = (Vec::new(), Vec::new());
        let is_clear = !document::repeats(&document.body);
        let signed = |entry: &Entry| entry.has_manifest.then(|| document.clone());
        for entry in catalog.entries {
            match (&entry.place, entry.kind) {
                (catalog::Place::Data(data), Kind::Card) => {
                    let mut embedded = self.embedded(data, document, way);
                    let holds = value_holds(&entry, data, is_clear);
                    for candidate in &mut embedded {
                        candidate.catalog = signed(&entry);
                        candidate.entry = Some(entry.clone());
                        candidate.digest_holds = holds;
                    }
                    findings.candidates.extend(embedded);
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
            findings.candidates.extend(fetched.await.into_iter().flatten().map(|candidate| {
                let catalog = candidate.entry.as_ref().and_then(signed);
                Candidate { catalog, ..candidate }
            }));
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
    ) -> Vec<Candidate> {
        // Not even on its own host: the name of that may stand for another address by now.
        let source = Source::Document(catalog.zone);
        let bare = || bare(entry, catalog, way);
        let Ok(card) = self.documents.get(address, source, self.card()).await else {
            return vec![bare()];
        };
        let holds = digest_holds(entry, &card.body);
        let mut findings = Findings::default();
        self.take_card(&card, way, &mut findings).await;
        if findings.candidates.is_empty() {
            let miss = Miss::Other("it is about no server");
            self.documents.reject(card.requested.as_str(), miss);
            return vec![bare()];
        }
        for candidate in &mut findings.candidates {
            candidate.entry = Some(entry.clone());
            // The hash of a document that points to the card says nothing about the card.
            let is_listed =
                candidate.document.as_ref().is_some_and(|it| it.requested == card.requested);
            candidate.digest_holds = holds.map(|holds| holds && is_listed);
        }
        findings.candidates
    }

    /// A card or a document of an older form. A card that it points to is fetched, once.
    pub(super) async fn take_card(&self, document: &Document, way: Way, findings: &mut Findings) {
        let Some(Normal { claims, pointer }) = read(document) else { return };
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

/// Whether the hash in an entry is that of the bytes of a document; `None` when it has none. A document
/// that can be read in two ways has no hash that says anything.
fn digest_holds(entry: &Entry, body: &[u8]) -> Option<bool> {
    let said = entry.digest.as_ref()?;
    Some(*said == Digest::of(body).to_string() && !document::repeats(body))
}

/// The same for what stands in the entry itself, in a catalog that can be read in one way: the hash is
/// that of its value (RFC 8785).
fn value_holds(entry: &Entry, data: &document::Object, is_clear: bool) -> Option<bool> {
    let said = entry.digest.as_ref()?;
    let text = serde_json::to_string(data).expect("a JSON value always serializes");
    let value = canonical(&text).ok().filter(|_| is_clear);
    Some(value.is_some_and(|value| *said == Digest::of(value.as_bytes()).to_string()))
}

/// What the catalog itself says about a server.
fn bare(entry: &Entry, catalog: &Document, way: Way) -> Candidate {
    let (title, version) = (entry.display_name.clone(), entry.version.clone());
    Candidate {
        document: None,
        entry: Some(entry.clone()),
        ..Candidate::of(Claim { title, version, ..Claim::default() }, way, catalog)
    }
}

/// Where a manifest names an endpoint that the card does not.
fn conflict(manifest: &Claim, card: &Claim, card_wins: bool) -> Option<Conflict> {
    let said = &manifest.remotes.first()?.url;
    let urls: Vec<_> = card.remotes.iter().map(|remote| remote.url.clone()).collect();
    let is_there = urls.iter().any(|url| url.trim_end_matches('/') == said.trim_end_matches('/'));
    (!is_there).then(|| Conflict { manifest: said.clone(), card: urls, card_wins })
}
