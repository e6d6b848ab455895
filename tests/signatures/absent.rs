//! A build without the feature `sigstore` accepts no bundle.

use std::fs;

use mcpmini::trust::signature::sigstore::{TrustRoot, verify};
use mcpmini::trust::signature::{PublicKey, Refusal, sigstore};

#[test]
fn a_build_without_sigstore_accepts_nothing() {
    let file = |name: &str| fs::read(format!("tests/vectors/own/{name}")).unwrap();
    let (card, root) = (file("card.json"), TrustRoot::production().unwrap());
    let verdict = verify(&card, &file("card.json.sigstore.json"), &root);
    assert_eq!(verdict, Err(Refusal::NotBuilt));
    let key = PublicKey::from_pem(&file("key.pub")).unwrap();
    let verdict = sigstore::verify_with_key(&card, &file("key.sigstore.json"), &key, &root);
    assert_eq!(verdict, Err(Refusal::NotBuilt));
    assert_eq!(TrustRoot::from_json(&file("root.json")).err(), Some(Refusal::NotBuilt));
}
