//! Cards with their signatures, kept so that a policy can rely on them without asking anybody.
//!
//! What is kept is not a verdict but the documents themselves. They are verified again each time
//! they are needed, with the trusted root of the policy that needs them: whoever can write the file
//! gains nothing.

use std::fmt;
use std::path::PathBuf;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::super::signature::sigstore::TrustRoot;
use super::super::signature::{Evidence, PublicKey, Refusal, Verified};
use crate::config::Digest;
use crate::env::Env;
use crate::net::Address;
use crate::protocol::canonical;
use crate::protocol::tree::Tree;
use crate::store::{self, Fault, Guard};

/// The folder in the state directory. Its files are named by the hash of an endpoint's URL.
const FOLDER: &str = "signatures";
/// The longest file, in bytes: a card and a catalog, quoted.
const LIMIT: u64 = 32 << 20;
const VERSION: u32 = 1;

/// A card of which somebody has verified who signed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The card's bytes.
    pub card: Vec<u8>,
    /// Where it was found, if that was a URL.
    pub url: Option<String>,
    /// What says who has signed it.
    pub evidence: Evidence,
    /// When that was verified, in seconds since 1970.
    pub verified_at: i64,
}

/// What keeps a card from being kept or recalled.
#[derive(Debug)]
pub enum Unkept {
    /// A file cannot be read or written.
    Store(Fault),
    /// A file contains something else.
    Garbled(PathBuf),
    /// There is no place to keep anything: `HOME` is not set.
    NoPlace,
    /// The card is not text.
    NotText,
    /// The card names no endpoint that a policy could meet.
    NoEndpoint,
}

/// What a file contains.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    version: u32,
    /// For people.
    endpoint: String,
    verified_at: i64,
    card: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    card_url: Option<String>,
    #[serde(flatten)]
    evidence: Documents,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Documents {
    #[serde(rename_all = "camelCase")]
    Manifest {
        catalog: String,
        did_document: String,
    },
    Key {
        bundle: String,
        public_key: String,
    },
    Bundle {
        bundle: String,
    },
}

impl Kept {
    /// Verifies again who has signed the card.
    pub fn verify(&self, root: &TrustRoot, now: i64) -> Result<Verified, Refusal> {
        self.evidence.verify(&self.card, self.url.as_deref(), root, now)
    }

    /// Keeps the card for each of the endpoints that it names; returns them.
    pub fn keep(&self, env: &Env) -> Result<Vec<String>, Unkept> {
        let endpoints = endpoints(&self.card);
        if endpoints.is_empty() {
            return Err(Unkept::NoEndpoint);
        }
        for endpoint in &endpoints {
            let document = self.document(endpoint).ok_or(Unkept::NotText)?;
            let text = serde_json::to_string_pretty(&document).expect("texts serialize");
            let path = path(endpoint, env).ok_or(Unkept::NoPlace)?;
            store::replace(&path, text.as_bytes()).map_err(Unkept::Store)?;
        }
        Ok(endpoints)
    }

    /// The card that was kept for an endpoint.
    pub fn recall(endpoint: &str, env: &Env) -> Result<Option<Kept>, Unkept> {
        let Some(path) = path(endpoint, env) else { return Ok(None) };
        let text = store::read_text(&path, LIMIT, Guard::Everybody { user: env.user });
        let Some(text) = text.map_err(Unkept::Store)? else { return Ok(None) };
        let kept = serde_json::from_str::<Document>(&text).ok().and_then(Kept::from_document);
        // A file that speaks of another endpoint was put there by somebody else.
        match kept.filter(|kept| endpoints(&kept.card).iter().any(|named| named == endpoint)) {
            Some(kept) => Ok(Some(kept)),
            None => Err(Unkept::Garbled(path)),
        }
    }

    fn document(&self, endpoint: &str) -> Option<Document> {
        let text = |bytes: &[u8]| Some(std::str::from_utf8(bytes).ok()?.to_owned());
        Some(Document {
            version: VERSION,
            endpoint: endpoint.to_owned(),
            verified_at: self.verified_at,
            card: text(&self.card)?,
            card_url: self.url.clone(),
            evidence: match &self.evidence {
                Evidence::Bundle { bundle, key: None } => {
                    Documents::Bundle { bundle: text(bundle)? }
                }
                Evidence::Bundle { bundle, key: Some(key) } => {
                    Documents::Key { bundle: text(bundle)?, public_key: key.pem().to_owned() }
                }
                Evidence::Manifest { catalog, document } => {
                    Documents::Manifest { catalog: text(catalog)?, did_document: text(document)? }
                }
            },
        })
    }

    fn from_document(document: Document) -> Option<Kept> {
        let evidence = match document.evidence {
            Documents::Bundle { bundle } => Evidence::Bundle { bundle: bundle.into(), key: None },
            Documents::Key { bundle, public_key } => {
                let key = PublicKey::from_pem(public_key.as_bytes()).ok()?;
                Evidence::Bundle { bundle: bundle.into(), key: Some(key) }
            }
            Documents::Manifest { catalog, did_document } => {
                Evidence::Manifest { catalog: catalog.into(), document: did_document.into() }
            }
        };
        (document.version == VERSION).then(|| Kept {
            card: document.card.into_bytes(),
            url: document.card_url,
            evidence,
            verified_at: document.verified_at,
        })
    }
}

/// The URLs of the endpoints that a card names, as they are compared. One that is to be filled in
/// first is none, nor is one in a card that can be read in two ways, nor one at which anybody on the
/// way could answer.
pub(super) fn endpoints(card: &[u8]) -> Vec<String> {
    let text = std::str::from_utf8(card).unwrap_or_default();
    let Ok(tree) = canonical::parse(text) else { return Vec::new() };
    let remotes = tree.get("remotes").map(Tree::elements).unwrap_or_default();
    let urls = remotes.iter().filter_map(|remote| remote.get("url")?.as_text());
    let urls = urls.filter(|url| !url.contains(['{', '}']));
    let addresses = urls.filter_map(|url| Address::parse(&url).ok());
    let safe = addresses.filter(|address| address.is_tls() || address.is_loopback());
    safe.map(|address| address.as_str().to_owned()).collect()
}

/// What a card says its server is called, and which version it has.
pub(super) fn name_and_version(card: &[u8]) -> (Option<String>, Option<String>) {
    let tree = std::str::from_utf8(card).ok().and_then(|text| canonical::parse(text).ok());
    let text = |name: &str| Some(tree.as_ref()?.get(name)?.as_text()?.into_owned());
    (text("name"), text("version"))
}

fn path(endpoint: &str, env: &Env) -> Option<PathBuf> {
    let name = format!("{}.json", Digest::of(endpoint.as_bytes()).hex());
    Some(env.state_dir()?.join(FOLDER).join(name))
}

/// A moment, in seconds since 1970.
pub fn seconds(moment: SystemTime) -> i64 {
    match moment.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_secs()).unwrap_or(i64::MAX),
        Err(before) => -i64::try_from(before.duration().as_secs()).unwrap_or(i64::MAX),
    }
}

impl fmt::Display for Unkept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unkept::Store(fault) => fault.fmt(f),
            Unkept::Garbled(path) => {
                write!(f, "{} does not contain the signed card of its server", path.display())
            }
            Unkept::NoPlace => f.write_str(
                "there is no place for signed cards: neither MCPMINI_STATE_DIR nor XDG_STATE_HOME \
                 nor HOME is set to a directory",
            ),
            Unkept::NotText => f.write_str("the card is not UTF-8"),
            Unkept::NoEndpoint => {
                f.write_str("the card names no endpoint that is complete, so nothing can be kept")
            }
        }
    }
}
