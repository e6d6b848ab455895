//! The places of a host, one after the other until something is found.

use std::collections::HashSet;

use super::super::documents::{Document, Miss};
use super::super::links;
use super::super::place::card_beside;
use super::{Finder, Findings, Way};
use crate::net::{Address, Source, together};

const CATALOG: &str = "/.well-known/ai-catalog.json";

/// Where drafts put cards and manifests, and hosts do still: the first that is there counts.
const LEGACY: [&str; 8] = [
    "/.well-known/mcp/catalog.json",
    "/.well-known/mcp/server-card.json",
    "/.well-known/mcp/server-card",
    "/.well-known/mcp-server-card",
    "/.well-known/mcp-server-card.json",
    "/.well-known/mcp.json",
    "/.well-known/mcp",
    "/mcp/server-card",
];

/// How many of them are asked for side by side.
const SIDE_BY_SIDE: usize = 4;

/// How much of a page is looked at, in bytes.
const PAGE: usize = 256 << 10;

impl Finder<'_> {
    pub(super) async fn host(&self, host: &Address, findings: &mut Findings) {
        let is_there = self.catalog_of(host, findings).await;
        if self.options.standard || !findings.candidates.is_empty() || !is_there {
            return;
        }
        self.links_of(host, findings).await;
        if findings.candidates.is_empty() {
            self.legacy(host, findings).await;
        }
    }

    /// What belongs to one endpoint.
    pub(super) async fn endpoint(&self, endpoint: &Address, findings: &mut Findings) {
        let reserved = card_beside(endpoint);
        match self.documents.get(&reserved, Source::User, self.card()).await {
            Ok(card) => self.take(card, Way::ServerCard, findings).await,
            Err(miss) if miss.is_of_host() => return,
            Err(_) => (),
        }
        if findings.candidates.is_empty() {
            let mut others = Findings::default();
            self.catalog_of(endpoint, &mut others).await;
            if !self.options.standard
                && !others.candidates.iter().any(|it| it.has_endpoint(endpoint))
            {
                self.legacy(endpoint, &mut others).await;
            }
            others.candidates.retain(|candidate| candidate.has_endpoint(endpoint));
            findings.candidates = others.candidates;
            findings.notes.extend(others.notes);
        }
    }

    /// Looks into the catalog of a host; tells whether the host is there at all.
    async fn catalog_of(&self, host: &Address, findings: &mut Findings) -> bool {
        let address = host.join(CATALOG).expect("a path is a URL on every host");
        match self.documents.get(&address, Source::User, self.catalog()).await {
            Ok(catalog) => self.take(catalog, Way::Catalog, findings).await,
            Err(miss) => return !miss.is_of_host(),
        }
        true
    }

    /// Catalogs that the root of the host links to, in its header or in its page.
    async fn links_of(&self, host: &Address, findings: &mut Findings) {
        let root = host.join("/").expect("a path is a URL on every host");
        let fields = self.documents.links(&root, Source::User).await;
        let mut targets: Vec<_> = fields.iter().flat_map(|value| links::of_header(value)).collect();
        if targets.is_empty() && self.options.html {
            let page = self.documents.page(&root, Source::User, PAGE).await;
            let text = page.map(|page| String::from_utf8_lossy(&page.body).into_owned());
            targets.extend(text.iter().flat_map(|text| links::of_page(text)));
        }
        let Some(target) = targets.first() else { return };
        let Ok(address) = root.join(target) else { return };
        let count = targets.iter().collect::<HashSet<_>>().len();
        if 1 < count {
            let told = format!("links to {count} catalogs, and only the first was read: {address}");
            findings.notes.push(format!("{root} {told}"));
        }
        // Whoever wrote the header is as near as the host itself.
        let source = match address.same_origin(&root) {
            true => Source::User,
            false => match self.documents.zone(&root).await {
                Ok(zone) => Source::Document(zone),
                Err(_) => return,
            },
        };
        if let Ok(catalog) = self.documents.get(&address, source, self.catalog()).await {
            self.take(catalog, Way::Link, findings).await;
        }
    }

    async fn legacy(&self, host: &Address, findings: &mut Findings) {
        for places in LEGACY.chunks(SIDE_BY_SIDE) {
            let at = |place: &str| host.join(place).expect("a path is a URL on every host");
            let tried = self.documents.tried();
            // The last of them may be the one beside the endpoint.
            let is_new = |place: &&str| tried.iter().all(|it| it.url != at(place).as_str());
            let fetch = |place: &'static str| async move {
                let address = at(place);
                self.documents.get(&address, Source::User, self.card()).await.map(|it| (place, it))
            };
            for (place, document) in together(places.iter().copied().filter(is_new).map(fetch))
                .await
                .into_iter()
                .flatten()
            {
                self.take(document, Way::Legacy(place), findings).await;
                if !findings.candidates.is_empty() {
                    return;
                }
            }
        }
    }

    /// Takes what a document says, whichever kind it is.
    pub(super) async fn take(&self, document: Document, way: Way, findings: &mut Findings) {
        let before = findings.candidates.len();
        self.take_any(&document, way, findings).await;
        if findings.candidates.len() == before {
            let miss = Miss::Other("it is about no server");
            self.documents.reject(document.requested.as_str(), miss);
        }
    }
}
