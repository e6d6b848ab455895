//! Whether a card is signed, as far as a command knows.

use std::time::Duration;

use crate::cli::originals::Place;
use crate::cli::run::Run;
use crate::cli::signed::{self, DID_DOCUMENT};
use crate::discovery::documents::{Document, Miss, Wanted};
use crate::discovery::{Candidate, Documents, catalog};
use crate::net::{Address, Source, Zone};
use crate::protocol::json;
use crate::protocol::params::Members;
use crate::trust::pins::Publisher;
use crate::trust::policy::seconds;
use crate::trust::signature::did_web::{self, Offer};
use crate::trust::signature::{BUNDLE_LIMIT, BUNDLE_SUFFIX, Covers, Evidence, Refusal, Verified};

/// How long a bundle is good when its host does not say.
const UNSAID: Duration = Duration::from_secs(300);

/// What is known about the signature of a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum Signature {
    /// Nothing was looked for.
    NotChecked,
    /// A trust manifest comes with the card, and was not looked into.
    ManifestNotChecked,
    /// There is no bundle beside the card.
    None,
    /// Somebody has signed the card; whether it is somebody who may, the user must say.
    Signed(Box<Verified>),
    /// There is a bundle beside the card, and it does not hold.
    Broken(Refusal),
}

/// What is known about the signature of a card before it is looked for.
pub(in crate::cli) fn of(candidate: &Candidate) -> Signature {
    match candidate.entry.as_ref().is_some_and(|entry| entry.has_manifest) {
        true => Signature::ManifestNotChecked,
        false => Signature::NotChecked,
    }
}

/// Looks for a bundle beside the card, else at the manifests in the catalog, and whether they hold.
pub(in crate::cli) async fn look(
    run: &Run<'_>,
    documents: &Documents,
    candidate: &Candidate,
) -> Signature {
    let Some(document) = &candidate.document else { return of(candidate) };
    let found = match is_embedded(document) {
        // It has no place of its own, and so nothing beside it.
        true => Err(Miss::Status(404)),
        false => bundle(documents, document).await,
    };
    match found {
        Ok(bundle) => {
            let evidence = Evidence::Bundle { bundle, key: None };
            judge(run, candidate, &evidence, &document.body, Some(document.requested.as_str()))
        }
        Err(Miss::Status(404 | 410) | Miss::NotJson) => match of(candidate) {
            Signature::NotChecked if !is_embedded(document) => Signature::None,
            Signature::ManifestNotChecked => manifest(run, documents, candidate, document).await,
            other => other,
        },
        Err(miss) => unknown(run, candidate, &miss.to_string()),
    }
}

/// Whether a card stands in a catalog itself.
fn is_embedded(document: &Document) -> bool {
    document.body.is_empty()
}

fn unknown(run: &Run<'_>, candidate: &Candidate, why: &str) -> Signature {
    run.remark(&format!("whether the card is signed is not known: {why}"));
    of(candidate)
}

/// What some evidence says about a card.
fn judge(
    run: &Run<'_>,
    candidate: &Candidate,
    evidence: &Evidence,
    card: &[u8],
    url: Option<&str>,
) -> Signature {
    match signed::root(run, None) {
        Ok((root, _)) => match evidence.verify(card, url, &root, seconds(run.env.now())) {
            Ok(verified) => Signature::Signed(Box::new(verified)),
            Err(refusal) => Signature::Broken(refusal),
        },
        Err(error) => unknown(run, candidate, &error.message),
    }
}

/// Looks at the trust manifests in the catalog's entry about the card, with the keys that their
/// domains publish now. One that holds is enough.
async fn manifest(
    run: &Run<'_>,
    documents: &Documents,
    candidate: &Candidate,
    document: &Document,
) -> Signature {
    let Some((catalog, entry)) = candidate.catalog.as_ref().zip(candidate.entry.as_ref()) else {
        return of(candidate);
    };
    let card = match is_embedded(document) {
        true => serde_json::to_vec(&document.object).expect("a JSON value always serializes"),
        false => document.body.clone(),
    };
    let url = match &entry.place {
        catalog::Place::Url(url) => Some(url.as_str()),
        catalog::Place::Data(_) => None,
    };
    let offers = match did_web::offers(catalog, &card, url) {
        Ok(offers) => offers,
        Err(refusal) => return unknown(run, candidate, &refusal.to_string()),
    };
    let mut domains: Vec<&str> = offers.iter().map(Offer::did).collect();
    domains.dedup();
    let mut found = of(candidate);
    for did in domains {
        let keys = did_web::document_url(did).and_then(|url| Address::parse(&url).ok());
        let Some(keys) = keys else { continue };
        let wanted =
            Wanted { accept: DID_DOCUMENT, limit: did_web::DOCUMENT_LIMIT, unsaid: Duration::ZERO };
        // Whoever wrote the catalog has chosen the domain. A key that was taken back does not count.
        let keys = documents.get_anew(&keys, Source::Document(Zone::Public), wanted).await;
        found = match keys {
            Ok(keys) => {
                let (catalog, document) = (catalog.to_vec(), keys.body);
                judge(run, candidate, &Evidence::Manifest { catalog, document }, &card, url)
            }
            Err(miss) => unknown(run, candidate, &format!("the keys of {did}: {miss}")),
        };
        if matches!(found, Signature::Signed(_)) {
            break;
        }
    }
    found
}

async fn bundle(documents: &Documents, document: &Document) -> Result<Vec<u8>, Miss> {
    let place = Place::Url(document.requested.clone()).with_suffix(BUNDLE_SUFFIX);
    let Place::Url(address) = place else { return Err(Miss::NotJson) };
    let wanted = Wanted { accept: signed::BUNDLE, limit: BUNDLE_LIMIT, unsaid: UNSAID };
    let found = documents.get(&address, Source::Document(document.zone), wanted).await?;
    Ok(found.body)
}

impl Signature {
    /// Whom that makes the publisher of the server; `None` when that is not known.
    pub(in crate::cli) fn publisher(&self) -> Option<Publisher> {
        match self {
            Signature::NotChecked | Signature::ManifestNotChecked => None,
            Signature::None | Signature::Broken(_) => Some(Publisher::none()),
            Signature::Signed(verified) if verified.covers == Covers::UrlOnly => {
                Some(Publisher::none())
            }
            Signature::Signed(verified) => Some(Publisher::of(&verified.signer)),
        }
    }

    /// Adds it to an answer for programs.
    pub(in crate::cli) fn push(&self, members: &mut Members) {
        let word = match self {
            Signature::NotChecked | Signature::ManifestNotChecked => "not-checked",
            Signature::None => "none",
            Signature::Signed(_) => "signed",
            Signature::Broken(_) => "broken",
        };
        members.push("signature", &json::string(word));
        match self {
            Signature::Signed(verified) => {
                members.push("signer", &signed::signer(&verified.signer));
            }
            Signature::Broken(refusal) => {
                members.push("signatureFault", &json::string(&refusal.to_string()));
            }
            _ => {}
        }
    }

    /// The words for people.
    pub(in crate::cli) fn text(&self) -> String {
        match self {
            Signature::NotChecked => "not checked".to_owned(),
            Signature::ManifestNotChecked => {
                "not checked (a trust manifest comes with it)".to_owned()
            }
            Signature::None => "none".to_owned(),
            Signature::Signed(verified) => {
                format!("by {}; whether that is who should, you must know", verified.signer)
            }
            Signature::Broken(refusal) => format!("DOES NOT HOLD: {refusal}"),
        }
    }
}
