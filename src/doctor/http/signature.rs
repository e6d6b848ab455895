//! Whether the signature of the server's card holds, if it has one.
//!
//! Who has signed is told, and judged by nobody here: `mcpmini card verify` and policies say who
//! must have.

use std::time::SystemTime;

use super::documents::{card, get};
use super::site::Site;
use crate::discovery::document;
use crate::doctor::Check;
use crate::doctor::finding::{Finding, Need, excerpt};
use crate::net::Address;
use crate::trust::signature::{BUNDLE_SUFFIX, Evidence, Refusal, Signer, Step, Verified};

pub(super) const CHECKS: &[Check<Site>] = &[Check {
    id: "card-signature",
    title: "the signature of the card, if there is one beside it, is good and about this card",
    clause: "Sigstore bundle format; a convention of mcpmini (`mcpmini help card`), as MCP has none",
    fix: "Sign the card anew whenever a byte of it changes, and publish both together; or take \
          the bundle away.",
    run: |site| Box::pin(signature(site)),
}];

/// What a bundle is asked for as.
const BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json, application/json;q=0.9";

async fn signature(site: &Site) -> Finding {
    let (card, address) = match card(site).await {
        Ok(found) => found,
        Err(finding) => return finding,
    };
    let Ok(place) = Address::parse(&format!("{}{BUNDLE_SUFFIX}", address.as_str())) else {
        return Finding::skip("no place for a bundle");
    };
    let bundle = match get(site, place.clone(), BUNDLE).await {
        Ok(answer) => answer,
        Err(no_answer) => return no_answer.into(),
    };
    let object = document::read(bundle.body.as_bytes()).ok();
    // Some endpoints answer every path alike, and with something else.
    let material = object.as_ref().and_then(|it| it.get("verificationMaterial"));
    let Some(material) = material.filter(|_| bundle.is_taken()) else {
        let status = bundle.status.as_u16();
        return Finding::skip(format!(
            "the card is not signed: no bundle at {place}: HTTP {status}"
        ));
    };
    if material.get("publicKey").is_some() {
        return Finding::unknown("it is signed by a key of the publisher's", Need::Key);
    }
    let evidence = Evidence::Bundle { bundle: bundle.body.into_bytes(), key: None };
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let root = &site.options.root;
    let now = now.as_secs().cast_signed();
    judge(evidence.verify(card.body.as_bytes(), Some(address.as_str()), root, now))
}

fn judge(verdict: Result<Verified, Refusal>) -> Finding {
    match verdict.map(|verified| verified.signer) {
        Ok(Signer::Certificate(by)) => Finding::pass(format!(
            "signed by {}, for whom {} vouches",
            excerpt(&by.identity),
            excerpt(&by.issuer)
        )),
        Ok(Signer::Key { .. } | Signer::DidWeb { .. }) => Finding::pass("it holds"),
        Err(refusal @ Refusal::NotBuilt) => Finding::unknown(refusal.to_string(), Need::Newer),
        // It may be good for those who trust other authorities.
        Err(refusal @ Refusal::Step { step: Step::Log | Step::Certificate | Step::Time, .. }) => {
            Finding::warn(excerpt(&format!(
                "it does not hold by the authorities that are trusted (MCPMINI_TRUSTED_ROOT names \
                 others): {refusal}"
            )))
        }
        Err(refusal) => Finding::fail(excerpt(&refusal.to_string())),
    }
}
