//! Whether the signature of the server's card holds, if it has one.
//!
//! It is looked for where `mcpmini card` looks: in a bundle that the catalog of the host names, in one
//! beside the card, and in the manifests of the catalog. The first that is there decides. Who has signed
//! is told, and judged by nobody here: `mcpmini card verify` and policies say who must have.

use std::time::SystemTime;

use super::auth::fetch;
use super::documents::{card, get, host_catalog};
use super::site::Site;
use crate::config::Digest;
use crate::discovery::attestation::Whereabouts;
use crate::discovery::{catalog, document};
use crate::doctor::Check;
use crate::doctor::finding::{Finding, Need, excerpt};
use crate::net::Address;
use crate::trust::signature::did_web;
use crate::trust::signature::{BUNDLE_SUFFIX, Covers, Evidence, Refusal, Signer, Step, Verified};

pub(super) const CHECKS: &[Check<Site>] = &[Check {
    id: "card-signature",
    title: "the signature of the card, if it has one, is good and about this card",
    clause: "Sigstore bundle format; AI Catalog, Trust Manifests (did-web-v1); a convention of mcpmini \
             (`mcpmini help card`), as MCP has none",
    fix: "Sign the card anew whenever a byte of it changes, and publish both together; or take \
          the signature away.",
    run: |site| Box::pin(signature(site)),
}];

/// What a bundle is asked for as.
const BUNDLE: &str = "application/vnd.dev.sigstore.bundle.v0.3+json, application/json;q=0.9";

/// The card of a server.
struct Signed<'s> {
    site: &'s Site,
    card: Vec<u8>,
    address: Address,
}

/// An entry of the catalog that is about the card, and the catalog.
struct Listed {
    entry: catalog::Entry,
    catalog: Vec<u8>,
}

async fn signature(site: &Site) -> Finding {
    let (answer, address) = match card(site).await {
        Ok(found) => found,
        Err(finding) => return finding,
    };
    let signed = Signed { site, card: answer.body.into_bytes(), address };
    let listed = signed.listed().await;
    if let Some(listed) = &listed
        && let Some(finding) = signed.attested(listed).await
    {
        return finding;
    }
    let beside = signed.beside().await;
    let is_none = matches!(&beside, Err(finding) if finding.need.is_none());
    match (beside, &listed) {
        (Ok(finding), _) => finding,
        (Err(_), Some(listed)) if is_none && listed.entry.has_manifest => {
            signed.manifest(listed).await
        }
        (Err(finding), _) => finding,
    }
}

impl Signed<'_> {
    /// The entry about the card in the catalog of the host, if there is one.
    async fn listed(&self) -> Option<Listed> {
        let (answer, object, address) = host_catalog(self.site).await.ok()?;
        let digest = Digest::of(&self.card).to_string();
        let is_meant = |entry: &catalog::Entry| match &entry.place {
            catalog::Place::Url(url) => {
                entry.digest.as_ref() == Some(&digest)
                    || address.join(url).is_ok_and(|place| place == self.address)
            }
            catalog::Place::Data(_) => false,
        };
        let entry = catalog::read(&object).ok()?.entries.into_iter().find(is_meant)?;
        Some(Listed { entry, catalog: answer.body.into_bytes() })
    }

    /// What the first bundle is worth that the catalog names, and that is there.
    async fn attested(&self, listed: &Listed) -> Option<Finding> {
        for attestation in &listed.entry.attestations {
            let place = excerpt(attestation.place());
            let bundle = match attestation.whereabouts() {
                Some(Whereabouts::Here(bundle)) => bundle,
                Some(Whereabouts::Url(address)) => match fetch(self.site, address.as_str()).await {
                    Ok(fetched) if fetched.status.is_success() => fetched.body,
                    Ok(_) => continue,
                    Err(finding) => return Some(finding),
                },
                None => {
                    let why = format!("the catalog names a bundle at {place}, which is no place");
                    return Some(Finding::fail(why));
                }
            };
            if !attestation.is(&bundle) {
                let why = format!("the bundle {place} has another hash than the catalog says");
                return Some(Finding::fail(why));
            }
            return Some(self.of_bundle(bundle));
        }
        None
    }

    /// What the bundle beside the card is worth; else why there is none.
    async fn beside(&self) -> Result<Finding, Finding> {
        let place = Address::parse(&format!("{}{BUNDLE_SUFFIX}", self.address.as_str()));
        let place = place.map_err(|_| Finding::skip("no place for a bundle"))?;
        let bundle = get(self.site, place.clone(), BUNDLE).await.map_err(Finding::from)?;
        // Some endpoints answer every path alike, and with something else.
        let object = document::read(bundle.body.as_bytes()).unwrap_or_default();
        match bundle.is_taken() && object.contains_key("verificationMaterial") {
            true => Ok(self.of_bundle(bundle.body.into_bytes())),
            false => {
                let status = bundle.status.as_u16();
                let why = format!("the card is not signed: no bundle at {place}: HTTP {status}");
                Err(Finding::skip(why))
            }
        }
    }

    fn of_bundle(&self, bundle: Vec<u8>) -> Finding {
        let object = document::read(&bundle).unwrap_or_default();
        let material = object.get("verificationMaterial");
        if material.is_some_and(|material| material.get("publicKey").is_some()) {
            return Finding::unknown("it is signed by a key of the publisher's", Need::Key);
        }
        self.judge(&Evidence::Bundle { bundle, key: None }, self.address.as_str())
    }

    /// What the manifests about the card are worth, by the keys that their domains publish now. One
    /// that holds is enough.
    async fn manifest(&self, listed: &Listed) -> Finding {
        let catalog::Place::Url(url) = &listed.entry.place else {
            return Finding::skip("the card is not signed");
        };
        let offers = match did_web::offers(&listed.catalog, &self.card, Some(url)) {
            Ok(offers) => offers,
            Err(Refusal::Unsigned | Refusal::NotListed) => {
                return Finding::skip("the card is not signed");
            }
            Err(refusal @ Refusal::UnknownProfile(_)) => {
                return Finding::unknown(excerpt(&refusal.to_string()), Need::Newer);
            }
            Err(refusal) => return Finding::fail(excerpt(&refusal.to_string())),
        };
        let mut findings = Vec::new();
        for keys in did_web::signers(&offers).into_iter().filter_map(did_web::document_url) {
            findings.push(match fetch(self.site, &keys).await {
                Ok(fetched) if fetched.status.is_success() => {
                    let (catalog, document) = (listed.catalog.clone(), fetched.body);
                    self.judge(&Evidence::Manifest { catalog, document }, url)
                }
                Ok(fetched) => {
                    let why = format!("no keys at {keys}: HTTP {}", fetched.status.as_u16());
                    Finding::unknown(why, Need::Document)
                }
                Err(finding) => finding,
            });
        }
        let best = findings.into_iter().min_by_key(|finding| finding.verdict);
        best.unwrap_or_else(|| Finding::skip("the card is not signed"))
    }

    fn judge(&self, evidence: &Evidence, url: &str) -> Finding {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let (root, now) = (&self.site.options.root, now.as_secs().cast_signed());
        of_verdict(evidence.verify(&self.card, Some(url), root, now))
    }
}

fn of_verdict(verdict: Result<Verified, Refusal>) -> Finding {
    match verdict {
        Ok(Verified { covers: Covers::UrlOnly, .. }) => {
            Finding::warn("only its URL is signed, and not what is there")
        }
        Ok(Verified { signer: Signer::Certificate(by), .. }) => Finding::pass(format!(
            "signed by {}, for whom {} vouches",
            excerpt(&by.identity),
            excerpt(&by.issuer)
        )),
        Ok(Verified { signer: Signer::DidWeb { did, publishes: false, .. }, .. }) => {
            Finding::pass(format!("signed by {did}; the identifier of the entry names no domain"))
        }
        Ok(Verified { signer, .. }) => Finding::pass(format!("signed by {signer}")),
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
