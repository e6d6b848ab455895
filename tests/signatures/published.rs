//! Bundles that others have made with the public instance of sigstore: those that the library which
//! verifies them ships for its own tests. Cargo has fetched them with its source, so that nothing of
//! them is copied into this tree.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use mcpmini::trust::signature::PublicKey;
use mcpmini::trust::signature::sigstore::{self, TrustRoot};
use serde_json::Value;

/// Where Cargo keeps the source of the library.
fn folder() -> PathBuf {
    let words = ["metadata", "--format-version", "1", "--locked", "--offline"];
    let told = Command::new(env!("CARGO")).args(words).output().unwrap();
    let told: Value = serde_json::from_slice(&told.stdout).unwrap();
    let packages = told["packages"].as_array().unwrap();
    let library = packages.iter().find(|package| package["name"] == "sigstore-verify").unwrap();
    let manifest = Path::new(library["manifest_path"].as_str().unwrap());
    manifest.with_file_name("test_data")
}

#[test]
fn bundles_of_the_public_instance_are_judged_rightly() {
    let folder = folder();
    if !folder.is_dir() {
        println!("skipped: the source of sigstore-verify is here without its test data");
        return;
    }
    let read = |name: &str| fs::read(folder.join(name)).unwrap();
    let public = TrustRoot::production().unwrap();
    let check = |bundle: &str, artifact: &[u8], expected: &str| {
        let verdict = match sigstore::verify(artifact, &read(bundle), &public) {
            Ok(verified) => format!("signed by {}", verified.signer),
            Err(refusal) => refusal.to_string(),
        };
        println!("{bundle}: {verdict}");
        assert!(verdict.contains(expected), "{bundle}: {verdict}, and not: {expected}");
    };
    let blob = read("bundles/cosign-v3-blob.txt");
    let package = read("bundles/signed-package-2.1.0-hb0f4dca_0.conda");
    for (bundle, artifact, expected) in [
        ("cosign-v3-blob.sigstore.json", &blob, "signed by w.vollprecht@gmail.com (vouched for by"),
        ("cosign-v3-blob.sigstore.json", &package, "about something else"),
        ("conda-attestation.sigstore.json", &package, "signed by https://github.com/prefix-dev/"),
        ("conda-attestation.sigstore.json", &blob, "about something else"),
        // That of the staging instance, and one of a log that the public root does not know.
        ("conda-attestation-rekor2.sigstore.json", &package, "no trusted time"),
        ("bundle_cve_2022_36056.txt.sigstore", &blob, "the entry in the log does not hold"),
        ("bundle_invalid_version.txt.sigstore", &blob, "Invalid media type"),
        ("bundle_no_cert_v1.txt.sigstore", &blob, "a chain of no certificate"),
        ("bundle_no_checkpoint.txt.sigstore", &blob, "no checkpoint"),
        ("bundle_no_log_entry.txt.sigstore", &blob, "must have an inclusion promise"),
        ("bundle_v3_no_signed_time.txt.sigstore.json", &blob, "no trusted time"),
    ] {
        check(&format!("bundles/{bundle}"), artifact, expected);
    }
    let key = PublicKey::from_pem(&read("managed-key/key.pub")).unwrap();
    let bundle = read("managed-key/bundle.sigstore.json");
    let verify = |artifact: &[u8]| sigstore::verify_with_key(artifact, &bundle, &key, &public);
    assert!(verify(&read("managed-key/artifact.txt")).is_ok());
    assert!(verify(&blob).is_err());
}
