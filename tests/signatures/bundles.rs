//! Sigstore bundles, each in a folder of its own, whose name ends in `_fail` when it is not to be
//! accepted.

use std::fs;
use std::path::{Path, PathBuf};

use mcpmini::trust::signature::sigstore::{self, TrustRoot};
use mcpmini::trust::signature::{PublicKey, Refusal, Verified, Wanted};

/// Where the vectors of the sigstore project are (its repository sigstore-conformance, folder
/// `test/assets`). They are not ours to copy.
const VARIABLE: &str = "MCPMINI_TEST_SIGSTORE";
const FOLDER: &str = "target/test-tools/sigstore";

/// How many there are at least.
const COUNT: usize = 70;

const IDENTITY: &str = "https://github.com/sigstore-conformance/extremely-dangerous-public-oidc-beacon/\
                        .github/workflows/extremely-dangerous-oidc-beacon.yml@refs/heads/main";
const ISSUER: &str = "https://token.actions.githubusercontent.com";

/// What is in the folder of a case, or is agreed on.
struct Case {
    artifact: Vec<u8>,
    bundle: Vec<u8>,
    root: Option<Vec<u8>>,
    key: Option<Vec<u8>>,
    identity: String,
    issuer: String,
}

impl Case {
    fn read(folder: &Path) -> Case {
        let file = |name: &str| fs::read(folder.join(name)).ok();
        let line = |name: &str| Some(String::from_utf8(file(name)?).unwrap().trim().to_owned());
        let common = || fs::read(folder.join("../../a.txt")).unwrap();
        Case {
            artifact: file("artifact").unwrap_or_else(common),
            bundle: file("bundle.sigstore.json").unwrap(),
            root: file("trusted_root.json"),
            key: file("key.pub"),
            identity: line("identity").unwrap_or_else(|| IDENTITY.to_owned()),
            issuer: line("issuer").unwrap_or_else(|| ISSUER.to_owned()),
        }
    }

    fn verify(&self) -> Result<Verified, Refusal> {
        let root = match &self.root {
            Some(json) => TrustRoot::from_json(json)?,
            None => TrustRoot::production()?,
        };
        let (verified, wanted) = match &self.key {
            Some(pem) => {
                let key = PublicKey::from_pem(pem).unwrap();
                let verified =
                    sigstore::verify_with_key(&self.artifact, &self.bundle, &key, &root)?;
                (verified, Wanted::Key { spki: key.digest() })
            }
            None => {
                let verified = sigstore::verify(&self.artifact, &self.bundle, &root)?;
                let (identity, issuer) = (self.identity.clone(), self.issuer.clone());
                (verified, Wanted::Certificate { identity, issuer })
            }
        };
        verified.require(&wanted)?;
        Ok(verified)
    }
}

/// Judges all cases in a folder; returns how many.
fn judge(folder: &Path) -> usize {
    let folders = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = folders.filter(|path| path.is_dir()).collect();
    folders.sort();
    let mut wrong = Vec::new();
    for folder in &folders {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let verdict = Case::read(folder).verify();
        println!(
            "{name}: {}",
            verdict.as_ref().map_or_else(Refusal::to_string, |_| "holds".into())
        );
        if verdict.is_ok() == name.ends_with("_fail") {
            wrong.push(name);
        }
    }
    assert!(wrong.is_empty(), "judged wrongly in {}: {wrong:?}", folder.display());
    folders.len()
}

#[test]
fn the_vectors_of_sigstore_are_judged_rightly() {
    let folder = std::env::var_os(VARIABLE).map_or_else(|| PathBuf::from(FOLDER), PathBuf::from);
    let folder = folder.join("bundle-verify");
    if !folder.is_dir() {
        println!(
            "skipped: the vectors of github.com/sigstore/sigstore-conformance (Apache-2.0) are not \
             copied into this tree; clone it, and set {VARIABLE} to its test/assets"
        );
        return;
    }
    let count = judge(&folder);
    println!("{count} bundles were judged");
    assert!(COUNT <= count, "only {count}");
}

#[test]
fn cards_that_a_mock_of_sigstore_signed_are_judged_rightly() {
    assert_eq!(judge(Path::new("tests/vectors/signed-card")), 4);
}
