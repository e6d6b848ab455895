//! Whether a card is signed, as far as a command knows.

use std::time::Duration;

use crate::cli::originals::Place;
use crate::cli::run::Run;
use crate::cli::signed;
use crate::discovery::documents::{Document, Miss, Wanted};
use crate::discovery::{Candidate, Documents};
use crate::net::Source;
use crate::protocol::json;
use crate::protocol::params::Members;
use crate::trust::pins::Publisher;
use crate::trust::policy::seconds;
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

/// Looks for a bundle beside the card, and whether it holds.
pub(in crate::cli) async fn look(
    run: &Run<'_>,
    documents: &Documents,
    candidate: &Candidate,
) -> Signature {
    let unknown = |why: &str| {
        run.remark(&format!("whether the card is signed is not known: {why}"));
        of(candidate)
    };
    let Some(document) = &candidate.document else { return of(candidate) };
    // A card that stands in a catalog has no place of its own, and so nothing beside it.
    if document.body.is_empty() {
        return of(candidate);
    }
    match bundle(documents, document).await {
        Ok(bundle) => match signed::root(run, None) {
            Ok((root, _)) => {
                let evidence = Evidence::Bundle { bundle, key: None };
                let url = Some(document.requested.as_str());
                match evidence.verify(&document.body, url, &root, seconds(run.env.now())) {
                    Ok(verified) => Signature::Signed(Box::new(verified)),
                    Err(refusal) => Signature::Broken(refusal),
                }
            }
            Err(error) => unknown(&error.message),
        },
        Err(Miss::Status(404 | 410) | Miss::NotJson) => match of(candidate) {
            Signature::NotChecked => Signature::None,
            with_manifest => with_manifest,
        },
        Err(miss) => unknown(&miss.to_string()),
    }
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
