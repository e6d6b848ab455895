//! Whether a card is signed, as far as a command knows.

use super::Access;
use crate::cli::errors::Error;
use crate::cli::originals::{Originals, Place, Wanted};
use crate::cli::run::Run;
use crate::cli::signed;
use crate::discovery::Candidate;
use crate::net::{Policy, Source};
use crate::protocol::json;
use crate::protocol::params::Members;
use crate::trust::policy::seconds;
use crate::trust::signature::{BUNDLE_LIMIT, BUNDLE_SUFFIX, Evidence, Refusal, Verified};

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
    candidate: &Candidate,
    access: &Access<'_>,
) -> Signature {
    if access.offline {
        return of(candidate);
    }
    match judge(run, candidate, access).await {
        Ok(Some(Ok(verified))) => Signature::Signed(Box::new(verified)),
        Ok(Some(Err(refusal))) => Signature::Broken(refusal),
        Ok(None) => match of(candidate) {
            Signature::NotChecked => Signature::None,
            with_manifest => with_manifest,
        },
        Err(error) => {
            run.remark(&format!("whether the card is signed is not known: {}", error.message));
            of(candidate)
        }
    }
}

async fn judge(
    run: &Run<'_>,
    candidate: &Candidate,
    access: &Access<'_>,
) -> Result<Option<Result<Verified, Refusal>>, Error> {
    let Some(document) = &candidate.document else { return Ok(None) };
    let policy = Policy { allow_private: run.access.allow_private, allow_http: access.allow_http };
    let place = Place::Url(document.requested.clone()).with_suffix(BUNDLE_SUFFIX);
    let wanted = Wanted {
        what: "the bundle",
        accept: signed::BUNDLE,
        limit: BUNDLE_LIMIT,
        source: Source::Document(document.zone),
    };
    let bundle = Originals::new(run, policy, access.offline).find(&place, wanted).await?;
    let Some(bundle) = bundle else { return Ok(None) };
    let (root, _) = signed::root(run, None)?;
    let evidence = Evidence::Bundle { bundle, key: None };
    let url = Some(document.requested.as_str());
    Ok(Some(evidence.verify(&document.body, url, &root, seconds(run.env.now()))))
}

impl Signature {
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
