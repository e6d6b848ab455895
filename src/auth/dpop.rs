//! Tokens that only the holder of a key can use (RFC 9449).
//!
//! Every request carries a proof of its own: a token that is signed for this method and this URL,
//! once. A server may want a nonce of its making in it; it is remembered for its origin, as long
//! as this process lives.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};

use super::jose::{OwnKey, random_text, sha256_base64url};
use crate::env::{Clock, Secret};
use crate::net::{Address, Credentials, secret_value};
use crate::protocol::json;
use crate::protocol::params::Members;

/// The field with the proof.
pub(super) const PROOF: HeaderName = HeaderName::from_static("dpop");

/// The field in which a server hands out a nonce.
const NONCE: HeaderName = HeaderName::from_static("dpop-nonce");

/// How many origins a nonce is remembered for.
const ORIGINS: usize = 16;

/// What a server says that wants a nonce.
pub(super) const USE_NONCE: &str = "use_dpop_nonce";

/// Makes proofs by one key.
pub(super) struct Prover {
    key: OwnKey,
    clock: Clock,
    nonces: RefCell<HashMap<String, String>>,
}

impl Prover {
    /// Makes proofs by this key.
    pub(super) fn new(key: OwnKey, clock: Clock) -> Prover {
        Prover { key, clock, nonces: RefCell::default() }
    }

    /// The key, to be kept.
    pub(super) fn key(&self) -> &OwnKey {
        &self.key
    }

    /// A proof for one request (section 4.2), with the hash of the token that it goes with, if any.
    pub(super) fn prove(
        &self,
        method: &http::Method,
        address: &Address,
        token: Option<&str>,
    ) -> String {
        let mut header = Members::new();
        header.push("typ", "\"dpop+jwt\"");
        header.push("alg", "\"ES256\"");
        header.push("jwk", &self.key.jwk);
        let mut claims = Members::new();
        claims.push("jti", &json::string(&random_text()));
        claims.push("htm", &json::string(method.as_str()));
        let target = address.as_str().split('?').next().unwrap_or_default();
        claims.push("htu", &json::string(target));
        claims.push("iat", &self.clock.seconds().to_string());
        if let Some(nonce) = self.nonces.borrow().get(&address.origin()) {
            claims.push("nonce", &json::string(nonce));
        }
        if let Some(token) = token {
            claims.push("ath", &json::string(&sha256_base64url(token)));
        }
        self.key.sign(&header.finish(), &claims.finish())
    }

    /// Remembers the nonce that an answer carries; true when it is a new one.
    pub(super) fn learn(&self, address: &Address, answer: &HeaderMap) -> bool {
        let nonce = answer.get(NONCE).and_then(|value| value.to_str().ok());
        let Some(nonce) = nonce.filter(|nonce| !nonce.is_empty()) else { return false };
        let mut nonces = self.nonces.borrow_mut();
        let origin = address.origin();
        if ORIGINS <= nonces.len() && !nonces.contains_key(&origin) {
            nonces.clear();
        }
        nonces.insert(origin, nonce.to_owned()).as_deref() != Some(nonce)
    }

    /// The nonce for the origin of an address, if there is one.
    pub(super) fn nonce(&self, address: &Address) -> Option<String> {
        self.nonces.borrow().get(&address.origin()).cloned()
    }
}

impl fmt::Debug for Prover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prover").field("key", &self.key).finish_non_exhaustive()
    }
}

/// A token and the prover of its key, as credentials for a server.
#[derive(Debug)]
pub(super) struct Bound {
    /// The access token.
    pub token: Secret,
    /// Makes the proofs.
    pub prover: Rc<Prover>,
}

impl Credentials for Bound {
    fn sign(&self, method: &http::Method, address: &Address) -> Vec<(HeaderName, HeaderValue)> {
        let token = self.token.expose();
        let proof = self.prover.prove(method, address, Some(token));
        let field = |name: HeaderName, text: &str| {
            let value = secret_value(name.as_str(), text).ok()?;
            Some((name, value))
        };
        let fields = [field(AUTHORIZATION, &format!("DPoP {token}")), field(PROOF, &proof)];
        fields.into_iter().flatten().collect()
    }

    fn learn(&self, address: &Address, answer: &HeaderMap) {
        self.prover.learn(address, answer);
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use serde_json::Value;

    use super::*;

    fn prover() -> Prover {
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_562_262_616);
        Prover::new(OwnKey::generate(), Clock::Stopped(at))
    }

    fn parts(proof: &str) -> (Value, Value) {
        let part =
            |text: &str| serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).unwrap()).unwrap();
        let mut parts = proof.split('.');
        (part(parts.next().unwrap()), part(parts.next().unwrap()))
    }

    #[test]
    fn a_proof_is_for_one_request() {
        let prover = prover();
        let address = Address::parse("https://server.example.com/token?a=b").unwrap();
        let (header, claims) = parts(&prover.prove(&http::Method::POST, &address, None));
        assert_eq!(header["typ"], "dpop+jwt");
        assert_eq!(header["alg"], "ES256");
        assert_eq!(header["jwk"].as_object().unwrap().len(), 4, "public members only");
        assert_eq!(claims["htm"], "POST");
        assert_eq!(claims["htu"], "https://server.example.com/token");
        assert_eq!(claims["iat"], 1_562_262_616);
        assert!(claims.get("ath").is_none() && claims.get("nonce").is_none());
        // RFC 9449, section 7.1.
        let token = "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU";
        let (_, other) = parts(&prover.prove(&http::Method::GET, &address, Some(token)));
        assert_eq!(other["ath"], "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo");
        assert_ne!(other["jti"], claims["jti"]);
    }

    #[test]
    fn a_nonce_is_for_its_origin() {
        let prover = prover();
        let address = |text| Address::parse(text).unwrap();
        let answer =
            |nonce: &'static str| HeaderMap::from_iter([(NONCE, HeaderValue::from_static(nonce))]);
        assert!(prover.learn(&address("https://a/x"), &answer("one")));
        assert!(!prover.learn(&address("https://a/y"), &answer("one")));
        assert!(!prover.learn(&address("https://a/y"), &HeaderMap::new()));
        let nonce = |url| {
            let (_, claims) = parts(&prover.prove(&http::Method::GET, &address(url), None));
            claims.get("nonce").cloned()
        };
        assert_eq!(nonce("https://a/z"), Some("one".into()));
        assert_eq!(nonce("https://b/z"), None);
        assert!(prover.learn(&address("https://a/x"), &answer("two")));
        assert_eq!(nonce("https://a/z"), Some("two".into()));
    }

    #[test]
    fn a_bound_token_goes_with_its_proof() {
        let bound = Bound { token: "t".into(), prover: Rc::new(prover()) };
        let address = Address::parse("https://a/").unwrap();
        let fields = bound.sign(&http::Method::GET, &address);
        assert_eq!(fields[0].1, "DPoP t");
        assert_eq!(fields[1].0, PROOF);
        assert!(fields.iter().all(|(_, value)| value.is_sensitive()));
    }
}
