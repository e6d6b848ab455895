//! Whether a card is signed, as far as a command knows.

use std::time::Duration;

use crate::cli::originals::Place;
use crate::cli::run::Run;
use crate::cli::signed::{self, DID_DOCUMENT};
use crate::cli::whence::Whence;
use crate::discovery::attestation::Whereabouts;
use crate::discovery::documents::{Document, Miss, Wanted};
use crate::discovery::{Candidate, Documents, catalog};
use crate::net::{Address, Source, Zone};
use crate::protocol::canonical::canonical;
use crate::protocol::json;
use crate::protocol::params::Members;
use crate::trust::pins::Publisher;
use crate::trust::policy::seconds;
use crate::trust::signature::did_web;
use crate::trust::signature::{
    BUNDLE_LIMIT, BUNDLE_SUFFIX, Covers, Evidence, Part, Refusal, Verified,
};

/// How long a bundle is good when its host does not say.
const UNSAID: Duration = Duration::from_secs(300);

/// What is known about the signature of a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum Signature {
    /// Nothing was looked for.
    NotChecked,
    /// A trust manifest comes with the card, and was not looked into.
    ManifestNotChecked,
    /// A trust manifest comes with the card, signed in a way that is not known here.
    UnknownProfile(String),
    /// There is no bundle beside the card, and no catalog knows one.
    None,
    /// Somebody has signed the card; whether it is somebody who may, the user must say.
    Signed(Box<Verified>, Whence),
    /// There is a signature, and it does not hold.
    Broken(Refusal, Whence),
}

/// What is known about the signature of a card before it is looked for.
pub(in crate::cli) fn of(candidate: &Candidate) -> Signature {
    match candidate.entry.as_ref().is_some_and(|entry| entry.has_manifest) {
        true => Signature::ManifestNotChecked,
        false => Signature::NotChecked,
    }
}

/// Looks for a bundle that the catalog names, else for one beside the card, else at the manifests in the
/// catalog, and whether they hold. The first that is there decides.
pub(in crate::cli) async fn look(
    run: &Run<'_>,
    documents: &Documents,
    candidate: &Candidate,
) -> Signature {
    let Some(document) = &candidate.document else { return of(candidate) };
    let card = bytes_of(document);
    let found = match attested(run, documents, candidate, document).await {
        // A card in a catalog has no place of its own, and so nothing beside it.
        Ok(None) if !document.body.is_empty() => beside(run, documents, candidate, document).await,
        attested => attested,
    };
    match found {
        Ok(Some((bundle, whence))) => {
            let evidence = Evidence::Bundle { bundle, key: None };
            judge(run, candidate, &evidence, whence, &card, Some(document.requested.as_str()))
        }
        Ok(None) => match of(candidate) {
            // The registry has no place where a signature would be.
            Signature::NotChecked if !document.body.is_empty() || candidate.entry.is_some() => {
                Signature::None
            }
            Signature::ManifestNotChecked => manifest(run, documents, candidate, &card).await,
            other => other,
        },
        Err(signature) => signature,
    }
}

/// The bytes of a card. One that stands in a catalog has only a value: its canonical text stands for
/// it, as for its hash.
fn bytes_of(document: &Document) -> Vec<u8> {
    if !document.body.is_empty() {
        return document.body.to_vec();
    }
    let text = serde_json::to_string(&*document.object).expect("a JSON value always serializes");
    canonical(&text).unwrap_or(text).into_bytes()
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
    whence: Whence,
    card: &[u8],
    url: Option<&str>,
) -> Signature {
    match signed::root(run, None) {
        Ok((root, _)) => match evidence.verify(card, url, &root, seconds(run.env.now())) {
            Ok(verified) => Signature::Signed(Box::new(verified), whence),
            Err(refusal) => Signature::Broken(refusal, whence),
        },
        Err(error) => {
            run.warn(&format!("no signature can be verified: {}", error.message));
            of(candidate)
        }
    }
}

/// A bundle and where it was, if there is one; else what is known all the same.
type Found = Result<Option<(Vec<u8>, Whence)>, Signature>;

/// The first bundle that is named by a trust manifest in the catalog's entry, and is there.
async fn attested(
    run: &Run<'_>,
    documents: &Documents,
    candidate: &Candidate,
    document: &Document,
) -> Found {
    let Some((catalog, entry)) = candidate.catalog.as_ref().zip(candidate.entry.as_ref()) else {
        return Ok(None);
    };
    for attestation in &entry.attestations {
        let (uri, catalog) = (attestation.place().to_owned(), catalog.requested.to_string());
        let whence = Whence::Attestation { uri, catalog };
        let found = match attestation.whereabouts() {
            Some(Whereabouts::Here(bundle)) => Ok(Some((bundle, whence))),
            // The card is nowhere nearer than the catalog that names both.
            Some(Whereabouts::Url(address)) => {
                fetch(run, documents, candidate, (&address, document.zone), whence).await
            }
            None => Err(unreadable("it is at no place that can be looked at", whence)),
        };
        match found? {
            None => {}
            Some((bundle, whence)) if attestation.is(&bundle) => {
                return Ok(Some((bundle, whence)));
            }
            Some((_, whence)) => {
                return Err(unreadable("it has another hash than the catalog says", whence));
            }
        }
    }
    Ok(None)
}

/// The bundle beside a card.
async fn beside(
    run: &Run<'_>,
    documents: &Documents,
    candidate: &Candidate,
    document: &Document,
) -> Found {
    let place = Place::Url(document.requested.clone()).with_suffix(BUNDLE_SUFFIX);
    let Place::Url(address) = place else { return Ok(None) };
    let whence = Whence::Beside(address.to_string());
    fetch(run, documents, candidate, (&address, document.zone), whence).await
}

/// A bundle at an address that somebody in this zone has named.
async fn fetch(
    run: &Run<'_>,
    documents: &Documents,
    candidate: &Candidate,
    (address, zone): (&Address, Zone),
    whence: Whence,
) -> Found {
    let wanted = Wanted { accept: signed::BUNDLE, limit: BUNDLE_LIMIT, unsaid: UNSAID };
    match documents.get(address, Source::Document(zone), wanted).await {
        Ok(found) => Ok(Some((found.body.to_vec(), whence))),
        Err(Miss::Status(404 | 410) | Miss::NotJson) => Ok(None),
        // There is one, and nobody could read another thing in it.
        Err(Miss::Malformed(why)) => Err(unreadable(&why.to_string(), whence)),
        Err(miss) => Err(unknown(run, candidate, &format!("{address}: {miss}"))),
    }
}

fn unreadable(why: &str, whence: Whence) -> Signature {
    let refusal = Refusal::Malformed { part: Part::Bundle, reason: why.to_owned() };
    Signature::Broken(refusal, whence)
}

/// Looks at the trust manifests in the catalog's entry about the card, with the keys that their
/// domains publish now. One that holds is enough.
async fn manifest(
    run: &Run<'_>,
    documents: &Documents,
    candidate: &Candidate,
    card: &[u8],
) -> Signature {
    let Some((catalog, entry)) = candidate.catalog.as_ref().zip(candidate.entry.as_ref()) else {
        return of(candidate);
    };
    let url = match &entry.place {
        catalog::Place::Url(url) => Some(url.as_str()),
        catalog::Place::Data(_) => None,
    };
    let whence = || Whence::Manifest { catalog: catalog.requested.to_string() };
    let offers = match did_web::offers(&catalog.body, card, url) {
        Ok(offers) => offers,
        Err(Refusal::Unsigned | Refusal::NotListed) => return Signature::None,
        Err(Refusal::UnknownProfile(profile)) => return Signature::UnknownProfile(profile),
        Err(refusal) => return Signature::Broken(refusal, whence()),
    };
    let mut found = of(candidate);
    for did in did_web::signers(&offers) {
        let keys = did_web::document_url(did).and_then(|url| Address::parse(&url).ok());
        let Some(keys) = keys else { continue };
        let wanted =
            Wanted { accept: DID_DOCUMENT, limit: did_web::DOCUMENT_LIMIT, unsaid: Duration::ZERO };
        // Whoever wrote the catalog has chosen the domain. A key that was taken back does not count.
        let keys = documents.get_anew(&keys, Source::Document(Zone::Public), wanted).await;
        found = match keys {
            Ok(keys) => {
                let evidence = Evidence::Manifest {
                    catalog: catalog.body.to_vec(),
                    document: keys.body.to_vec(),
                };
                judge(run, candidate, &evidence, whence(), card, url)
            }
            Err(miss) => unknown(run, candidate, &format!("the keys of {did}: {miss}")),
        };
        if matches!(found, Signature::Signed(..)) {
            break;
        }
    }
    found
}

impl Signature {
    /// Whom that makes the publisher of the server; `None` when that is not known.
    pub(in crate::cli) fn publisher(&self) -> Option<Publisher> {
        match self {
            Signature::NotChecked | Signature::ManifestNotChecked => None,
            Signature::None | Signature::UnknownProfile(_) | Signature::Broken(..) => {
                Some(Publisher::none())
            }
            Signature::Signed(verified, _) if verified.covers == Covers::UrlOnly => {
                Some(Publisher::none())
            }
            Signature::Signed(verified, whence) => {
                Some(Publisher::of(&verified.signer).found_in(whence.catalog()))
            }
        }
    }

    /// Adds it to an answer for programs.
    pub(in crate::cli) fn push(&self, members: &mut Members) {
        let word = match self {
            Signature::NotChecked
            | Signature::ManifestNotChecked
            | Signature::UnknownProfile(_) => "not-checked",
            Signature::None => "none",
            Signature::Signed(..) => "signed",
            Signature::Broken(..) => "broken",
        };
        members.push("signature", &json::string(word));
        match self {
            Signature::Signed(verified, whence) => {
                members.push("signer", &signed::signer(&verified.signer));
                whence.push(members);
            }
            Signature::Broken(refusal, whence) => {
                members.push("signatureFault", &json::string(&refusal.to_string()));
                whence.push(members);
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
            Signature::UnknownProfile(profile) => {
                format!("not checked (a trust manifest of the profile {profile:?} comes with it)")
            }
            Signature::None => "none".to_owned(),
            Signature::Signed(verified, _) => {
                format!("by {}; whether that is who should, you must know", verified.signer)
            }
            Signature::Broken(refusal, _) => format!("DOES NOT HOLD: {refusal}"),
        }
    }

    /// Where it was found, if there is one.
    pub(in crate::cli) fn whence(&self) -> Option<&Whence> {
        match self {
            Signature::Signed(_, whence) | Signature::Broken(_, whence) => Some(whence),
            Signature::NotChecked
            | Signature::ManifestNotChecked
            | Signature::UnknownProfile(_)
            | Signature::None => None,
        }
    }
}
