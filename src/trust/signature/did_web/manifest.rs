//! A manifest: what somebody signs about an entry of a catalog.

use super::super::refusal::Refusal;
use super::super::verified::{Covers, Signer, Verified};
use super::document;
use super::entry::{Entry, value_of};
use super::jws::Jws;
use super::{digest, domain, text};
use crate::config::Digest;
use crate::protocol::tree::Tree;
use crate::protocol::{canonical, rfc3339};

/// How far clocks may be apart, in seconds.
const SKEW: i64 = 60;

/// A manifest that may turn out to be signed by the owner of a domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    entry: Entry,
    contributor: String,
    signer: String,
    domain: String,
    subject: Subject,
    issued_at: i64,
    expires_at: i64,
    /// What is signed.
    payload: String,
    jws: Jws,
}

/// What the manifest says about what it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Subject {
    identifier: Option<String>,
    media_type: Option<String>,
    version: Option<String>,
    digest: Option<String>,
    url: Option<String>,
}

impl Offer {
    /// Reads a manifest of an entry. Nothing of it is believed yet.
    pub(super) fn read(manifest: &Tree<'_>, entry: Entry) -> Result<Offer, Refusal> {
        let missing = |what: &str| Refusal::Manifest(format!("it has no {what}"));
        let signature = manifest.get("signature").ok_or_else(|| missing("signature"))?;
        let subject = manifest.get("subject").ok_or_else(|| missing("subject"))?;
        let moment = |name: &str| {
            let read = text(signature, name).and_then(|text| rfc3339::parse(&text));
            read.ok_or_else(|| missing(&format!("{name} that is a time")))
        };
        let signer = text(signature, "signer").ok_or_else(|| missing("signer"))?;
        let whole = domain(&signer)
            .ok_or_else(|| Refusal::Manifest(format!("\"{signer}\" is not did:web:DOMAIN")))?;
        let compact = text(signature, "jws").ok_or_else(|| missing("jws"))?;
        Ok(Offer {
            entry,
            contributor: text(manifest, "contributor").unwrap_or_default(),
            domain: whole.to_owned(),
            subject: Subject {
                identifier: text(subject, "identifier"),
                media_type: text(subject, "type"),
                version: text(subject, "version"),
                digest: digest(subject),
                url: text(subject, "url"),
            },
            issued_at: moment("issuedAt")?,
            expires_at: moment("expiresAt")?,
            payload: payload(manifest),
            jws: Jws::parse(&compact).map_err(Refusal::Manifest)?,
            signer,
        })
    }

    /// Who is said to have signed: `did:web:` and a domain.
    pub fn did(&self) -> &str {
        &self.signer
    }

    /// Verifies the manifest for a card, with the document that the domain publishes at this time
    /// (in seconds since 1970).
    pub fn verify(&self, card: &[u8], document: &[u8], now: i64) -> Result<Verified, Refusal> {
        self.check_signer()?;
        self.check_subject()?;
        let point = document::assertion_key(document, &self.signer, &self.jws.kid, now)?;
        if !self.jws.holds(&self.payload, &point) {
            return Err(Refusal::Manifest("the signature does not hold".into()));
        }
        if now + SKEW < self.issued_at {
            return Err(Refusal::NotYet(self.issued_at));
        }
        if self.expires_at <= now - SKEW {
            return Err(Refusal::Expired(self.expires_at));
        }
        Ok(Verified {
            covers: self.coverage(card)?,
            signer: Signer::DidWeb {
                did: self.signer.clone(),
                kid: self.jws.kid.clone(),
                publishes: self.publishes()?,
            },
            card: Digest::of(card),
            signed_at: Some(self.issued_at),
            expires_at: Some(self.expires_at),
            log: Vec::new(),
        })
    }

    fn check_signer(&self) -> Result<(), Refusal> {
        if self.contributor != self.signer {
            let text =
                format!("{} contributed it, and {} signed it", self.contributor, self.signer);
            return Err(Refusal::Manifest(text));
        }
        match self.jws.kid.strip_prefix(&self.signer) {
            Some(fragment) if fragment.len() > 1 && fragment.starts_with('#') => Ok(()),
            _ => Err(Refusal::Manifest(format!("the key {} is not the signer's", self.jws.kid))),
        }
    }

    /// Makes sure that the manifest is about the entry it stands in.
    fn check_subject(&self) -> Result<(), Refusal> {
        let (subject, entry) = (&self.subject, &self.entry);
        let pairs = [
            ("identifier", &subject.identifier, &entry.identifier),
            ("type", &subject.media_type, &entry.media_type),
            ("version", &subject.version, &entry.version),
            ("digest", &subject.digest, &entry.digest),
        ];
        if let Some((name, ..)) = pairs.iter().find(|(_, signed, said)| signed != said) {
            return Err(Refusal::Manifest(format!("its {name} is not that of the entry")));
        }
        if subject.identifier.is_none() || subject.media_type.is_none() {
            return Err(Refusal::Manifest("it does not say what it is about".into()));
        }
        if subject.url.is_some() && subject.url != entry.url {
            return Err(Refusal::Manifest("its url is not that of the entry".into()));
        }
        if subject.url.is_none() && subject.digest.is_none() {
            return Err(Refusal::Manifest(
                "it says neither what the card contains nor where".into(),
            ));
        }
        Ok(())
    }

    /// What of the card is signed.
    fn coverage(&self, card: &[u8]) -> Result<Covers, Refusal> {
        let Some(signed) = &self.subject.digest else { return Ok(Covers::UrlOnly) };
        // The hash of a card inside of the entry is that of its value.
        let (found, covers) = match self.entry.data.is_some() {
            true => (value_of(card), Covers::Value),
            false => (Some(Digest::of(card)), Covers::Bytes),
        };
        match found {
            Some(found) if found.to_string() == *signed => Ok(covers),
            found => Err(Refusal::OtherCard {
                signed: signed.clone(),
                found: found.unwrap_or_else(|| Digest::of(card)),
            }),
        }
    }

    /// Whether the entry's identifier says that it is the signer's: `urn:air:DOMAIN:…`. An
    /// identifier that says it is somebody else's is refused; others say nothing.
    fn publishes(&self) -> Result<bool, Refusal> {
        let identifier = self.entry.identifier.as_deref().unwrap_or_default();
        let Some(rest) = identifier.strip_prefix("urn:air:") else { return Ok(false) };
        match rest.split_once(':') {
            Some((publisher, _)) if publisher == self.domain => Ok(true),
            _ => Err(Refusal::Manifest(format!(
                "the publisher of {identifier} is not {}",
                self.domain
            ))),
        }
    }
}

/// What is signed: the manifest without the signature itself, and without those of others.
fn payload(manifest: &Tree<'_>) -> String {
    let text = canonical::text_of(manifest);
    let mut tree = Tree::parse(&text).expect("canonical text is JSON");
    if let Tree::Object(members) = &mut tree {
        members.retain(|(name, _)| name != "additionalSignatures");
        for (name, value) in members {
            if let (true, Tree::Object(signature)) = (name == "signature", value) {
                signature.retain(|(name, _)| name != "jws");
            }
        }
    }
    canonical::text_of(&tree)
}
