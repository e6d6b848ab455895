//! What a build without the feature `sigstore` says about bundles: that they do not count.

use super::super::{PublicKey, Refusal, Verified};

/// The authorities and logs that count: none.
#[derive(Debug, Clone, Copy)]
pub struct TrustRoot;

impl TrustRoot {
    /// No authorities and no logs.
    pub fn production() -> Result<TrustRoot, Refusal> {
        Ok(TrustRoot)
    }

    /// Always errors.
    pub fn from_json(_: &[u8]) -> Result<TrustRoot, Refusal> {
        Err(Refusal::NotBuilt)
    }
}

/// Always errors.
pub fn verify(_: &[u8], _: &[u8], _: &TrustRoot) -> Result<Verified, Refusal> {
    Err(Refusal::NotBuilt)
}

/// Always errors.
pub fn verify_with_key(
    _: &[u8],
    _: &[u8],
    _: &PublicKey,
    _: &TrustRoot,
) -> Result<Verified, Refusal> {
    Err(Refusal::NotBuilt)
}

/// Always errors.
pub fn verify_by_key_alone(
    _: &[u8],
    _: &[u8],
    _: &PublicKey,
    _: &TrustRoot,
) -> Result<Verified, Refusal> {
    Err(Refusal::NotBuilt)
}
