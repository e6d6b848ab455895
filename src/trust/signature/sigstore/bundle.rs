//! Verifying a bundle, with the library of the sigstore project.

use sigstore_verify::crypto::VerificationKey;
use sigstore_verify::trust_root::{SIGSTORE_PRODUCTION_TRUSTED_ROOT, TrustedRoot};
use sigstore_verify::types::bundle::VerificationMaterialContent;
use sigstore_verify::types::{Bundle, DerPublicKey, SignatureContent};
use sigstore_verify::{
    Error, Policy, PublicKeyVerificationPolicy, VerificationPolicy, VerificationResult, Verifier,
};

use super::super::refusal::{Part, Refusal, Step};
use super::super::verified::{Certificate, Covers, LogEntry, Signer, Verified};
use super::super::{BUNDLE_LIMIT, PublicKey, ROOT_LIMIT, unambiguous};
use super::der;
use crate::config::Digest;
use crate::protocol::canonical::canonical;
use crate::protocol::tree::Tree;

/// What a bundle can be verified with: one of these.
const MATERIALS: [&str; 3] = ["certificate", "x509CertificateChain", "publicKey"];

/// What a bundle can carry: one of these.
const CONTENTS: [&str; 2] = ["messageSignature", "dsseEnvelope"];

/// The forms of a trusted root that are known.
const ROOTS: [&str; 3] = [
    "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
    "application/vnd.dev.sigstore.trustedroot.v0.1+json",
    "application/vnd.dev.sigstore.trustedroot.v0.2+json",
];

/// The authorities and logs that count.
pub struct TrustRoot {
    verifier: Verifier,
}

impl std::fmt::Debug for TrustRoot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TrustRoot")
    }
}

impl TrustRoot {
    /// The root of the public instance, as it was when this program was built.
    pub fn production() -> Result<TrustRoot, Refusal> {
        TrustRoot::from_json(SIGSTORE_PRODUCTION_TRUSTED_ROOT.as_bytes())
    }

    /// Reads a root (`application/vnd.dev.sigstore.trustedroot+json;version=0.1`).
    pub fn from_json(json: &[u8]) -> Result<TrustRoot, Refusal> {
        let malformed = |reason: String| Refusal::Malformed { part: Part::Root, reason };
        let (text, tree) = unambiguous(json, Part::Root, ROOT_LIMIT)?;
        let form = tree.get("mediaType").and_then(Tree::as_text).unwrap_or_default();
        if !ROOTS.contains(&&*form) {
            return Err(malformed(format!("its mediaType is {form:?}, which is not known")));
        }
        let root = TrustedRoot::from_json(text).map_err(|error| malformed(error.to_string()))?;
        let verifier = Verifier::new(&root)
            .map_err(|error| Refusal::Step { step: Step::Root, reason: error.to_string() })?;
        Ok(TrustRoot { verifier })
    }
}

/// Verifies that a bundle with a certificate is about a card. Who has signed is for the caller to
/// judge.
///
/// Everything is verified that can be: the certificate with its authority and its log, the entry
/// in the log of signatures, the time, the signature. The time of a log entry must not be in the
/// future, which is the one question that the library puts to the clock of the machine.
pub fn verify(card: &[u8], bundle: &[u8], root: &TrustRoot) -> Result<Verified, Refusal> {
    let bundle = parse(bundle)?;
    let (result, covers) = check(card, &bundle, &VerificationPolicy::any_identity(), root)?;
    // The library does all of it, or fails. It must stay so.
    if !(result.certificate_verified() && result.sct_verified() && result.tlog_verified()) {
        let reason = "not every step was taken".to_owned();
        return Err(Refusal::Step { step: Step::Certificate, reason });
    }
    let missing =
        |what: &str| Refusal::Step { step: Step::Certificate, reason: format!("it has no {what}") };
    let claims = result.certificate().map(|certificate| &certificate.ci_claims);
    let certificate = bundle.signing_certificate().ok_or_else(|| missing("bytes"))?;
    let signer = Signer::Certificate(Certificate {
        identity: result.identity().ok_or_else(|| missing("identity"))?.as_str().to_owned(),
        issuer: result.issuer().ok_or_else(|| missing("issuer"))?.to_owned(),
        repository: claims.and_then(|claims| claims.source_repository_uri.clone()),
        repository_id: claims.and_then(|claims| claims.source_repository_identifier.clone()),
        owner_id: claims.and_then(|claims| claims.source_repository_owner_identifier.clone()),
        serial: der::serial(certificate.as_bytes()).ok_or_else(|| missing("serial number"))?,
    });
    Ok(verified(card, &bundle, earliest(&result), signer, covers))
}

/// Verifies that a bundle is about a card, and that it was made with this key.
///
/// The bundle must stand in a log of the root; there is no certificate.
pub fn verify_with_key(
    card: &[u8],
    bundle: &[u8],
    key: &PublicKey,
    root: &TrustRoot,
) -> Result<Verified, Refusal> {
    let bundle = parse_of_key(bundle)?;
    // The library would go through no entries, and call that verified.
    if bundle.verification_material.tlog_entries.is_empty() {
        return Err(Refusal::NotLogged);
    }
    let policy = PublicKeyVerificationPolicy::new(DerPublicKey::new(key.der().to_vec()));
    let (result, covers) = check(card, &bundle, &policy, root)?;
    if !result.tlog_verified() {
        let reason = "not every step was taken".to_owned();
        return Err(Refusal::Step { step: Step::Log, reason });
    }
    Ok(verified(card, &bundle, earliest(&result), Signer::Key { spki: key.digest() }, covers))
}

/// The same where the bundle may stand in no log, as `cosign sign-blob --tlog-upload=false` makes it.
/// Whatever it carries of a log or of time stamps must hold still.
///
/// Of a bundle without both, only the signature over the bytes is left: nobody but the owner of the
/// key knows of it, and nobody says when it was made.
pub fn verify_by_key_alone(
    card: &[u8],
    bundle: &[u8],
    key: &PublicKey,
    root: &TrustRoot,
) -> Result<Verified, Refusal> {
    let read = parse_of_key(bundle)?;
    let material = &read.verification_material;
    if !material.tlog_entries.is_empty() {
        return verify_with_key(card, bundle, key, root);
    }
    let signer = Signer::Key { spki: key.digest() };
    let der = DerPublicKey::new(key.der().to_vec());
    if !material.timestamp_verification_data.rfc3161_timestamps.is_empty() {
        let policy = PublicKeyVerificationPolicy::new(der).skip_tlog_unsafe();
        let (result, covers) = check(card, &read, &policy, root)?;
        return Ok(verified(card, &read, earliest(&result), signer, covers));
    }
    let SignatureContent::MessageSignature(message) = &read.content else {
        let reason = "an attestation must stand in a log, or have a time stamp".to_owned();
        return Err(Refusal::Step { step: Step::Bundle, reason });
    };
    let holds =
        VerificationKey::from_spki(&der).and_then(|key| key.verify(card, &message.signature));
    holds.map_err(|error| Refusal::Step { step: Step::Signature, reason: error.to_string() })?;
    Ok(verified(card, &read, None, signer, Covers::Bytes))
}

/// Reads a bundle of a key, without a certificate.
fn parse_of_key(bundle: &[u8]) -> Result<Bundle, Refusal> {
    let bundle = parse(bundle)?;
    match bundle.verification_material.content {
        VerificationMaterialContent::PublicKey(_) => Ok(bundle),
        _ => {
            let reason = "it carries a certificate, and a key was asked for".to_owned();
            Err(Refusal::Step { step: Step::Bundle, reason })
        }
    }
}

/// Reads a bundle of a version that is known.
fn parse(bundle: &[u8]) -> Result<Bundle, Refusal> {
    let malformed = |reason: String| Refusal::Malformed { part: Part::Bundle, reason };
    let (text, tree) = unambiguous(bundle, Part::Bundle, BUNDLE_LIMIT)?;
    // The library takes a bundle that does not say its version for one of the first, and of several
    // alternatives the first; others may take another.
    if tree.get("mediaType").is_none() {
        return Err(malformed("it has no mediaType, so that its version is not known".to_owned()));
    }
    let nothing = Tree::Object(Vec::new());
    let material = tree.get("verificationMaterial").unwrap_or(&nothing);
    for (object, names) in [(material, &MATERIALS[..]), (&tree, &CONTENTS)] {
        let found: Vec<_> = names.iter().filter(|name| object.get(name).is_some()).collect();
        if let [one, other, ..] = found[..] {
            return Err(malformed(format!("it has both {one} and {other}")));
        }
    }
    let chain = material.get("x509CertificateChain").and_then(|it| it.get("certificates"));
    if chain.is_some_and(|certificates| certificates.elements().is_empty()) {
        return Err(malformed("it has a chain of no certificate".to_owned()));
    }
    Bundle::from_json(text).map_err(|error| malformed(error.to_string()))
}

/// Verifies a bundle for the card's bytes. An attestation may be about the card's value instead:
/// that is what tools for agent cards write.
fn check(
    card: &[u8],
    bundle: &Bundle,
    policy: &impl Policy,
    root: &TrustRoot,
) -> Result<(VerificationResult, Covers), Refusal> {
    let error = match root.verifier.verify(card, bundle, policy) {
        Ok(result) => return Ok((result, Covers::Bytes)),
        Err(error) => error,
    };
    let is_attestation = matches!(bundle.content, SignatureContent::DsseEnvelope(_));
    if is_attestation
        && matches!(error, Error::ArtifactMismatch(_))
        && let Some(value) = std::str::from_utf8(card).ok().and_then(|text| canonical(text).ok())
        && let Ok(result) = root.verifier.verify(value.as_bytes(), bundle, policy)
    {
        return Ok((result, Covers::Value));
    }
    Err(refusal(&error))
}

/// The earliest time that somebody vouches for, in seconds since 1970.
fn earliest(result: &VerificationResult) -> Option<i64> {
    result.verified_timestamps().iter().map(|time| time.as_second()).min()
}

fn verified(
    card: &[u8],
    bundle: &Bundle,
    signed_at: Option<i64>,
    signer: Signer,
    covers: Covers,
) -> Verified {
    let entries = bundle.verification_material.tlog_entries.iter();
    Verified {
        signer,
        card: Digest::of(card),
        covers,
        signed_at,
        expires_at: None,
        log: entries
            .map(|entry| LogEntry {
                index: entry.log_index.get(),
                log_id: entry.log_id.key_id.to_string(),
            })
            .collect(),
    }
}

/// What the library says, as the step that failed.
fn refusal(error: &Error) -> Refusal {
    let step = match error {
        Error::SignatureInvalid(_) | Error::Crypto(_) => Step::Signature,
        Error::ArtifactMismatch(_) | Error::UnsupportedArtifact(_) => Step::Card,
        Error::Certificate(_) => Step::Certificate,
        Error::TransparencyLog(_) => Step::Log,
        Error::Timestamp(_) => Step::Time,
        _ => Step::Bundle,
    };
    Refusal::Step { step, reason: error.to_string() }
}
