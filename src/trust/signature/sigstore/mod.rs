//! Sigstore bundles (`cosign sign-blob --bundle card.json.sigstore.json card.json`).
//!
//! A bundle carries a signature, the certificate of the key, and the proof that both stand in a
//! public log. It is verified without a network, against a trusted root: the authorities and logs
//! that count. The root of the public instance is built in; it ages as logs come and go.
//!
//! ```text
//! trusted time (log or time stamp) → certificate → its authority, its log → entry in the log
//!   → signature → the card's bytes → identity and issuer, as certified
//! ```

#[cfg(not(feature = "sigstore"))]
mod absent;
#[cfg(feature = "sigstore")]
mod bundle;
#[cfg(feature = "sigstore")]
mod der;

#[cfg(not(feature = "sigstore"))]
pub use absent::{TrustRoot, verify, verify_by_key_alone, verify_with_key};
#[cfg(feature = "sigstore")]
pub use bundle::{TrustRoot, verify, verify_by_key_alone, verify_with_key};
