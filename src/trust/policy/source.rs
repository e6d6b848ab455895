//! Where policies are, and the documents that they rely on.

use std::fmt;
use std::path::{Path, PathBuf};

use super::super::signature::sigstore::TrustRoot;
use super::super::signature::{
    BUNDLE_LIMIT, BUNDLE_SUFFIX, Evidence, PublicKey, ROOT_LIMIT, Wanted,
};
use super::copy::{self, Copy};
use super::decision::{CrossDomain, Rules};
use super::document;
use super::kept::Unkept;
use super::revocation::{self, Contents, Entry, LIST_LIMIT, List};
use crate::config::Layer;
use crate::env::Env;
use crate::store::{self, Fault, Guard};

/// The name of the file, in the directory of the user's configuration and of the administrator's.
const FILE: &str = "policy.toml";
/// The variable that names a file instead of the user's.
const VARIABLE: &str = "MCPMINI_POLICY";
/// The longest file, in bytes.
const LIMIT: u64 = 1 << 20;
/// The longest public key in PEM, in bytes.
const KEY_LIMIT: u64 = 64 << 10;

/// A policy that was read.
#[derive(Debug)]
pub(super) struct Policy {
    pub(super) layer: Layer,
    pub(super) path: PathBuf,
    pub(super) document: Document,
    /// Whose files count beside root's.
    user: u32,
}

/// What the file of a policy says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Document {
    pub(super) rules: Rules,
    /// The authorities and logs that count, relative to the file.
    pub(super) trusted_root: Option<PathBuf>,
    pub(super) cross_domain: Option<CrossDomain>,
    pub(super) lists: Lists,
}

/// What is wrong with a file: the line, if it is known, and a text.
pub(super) type Mistake = (Option<usize>, String);

/// The lists of what is revoked that a policy relies on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Lists {
    pub(super) files: Vec<PathBuf>,
    pub(super) urls: Vec<String>,
    /// Whether nothing is used while a list is missing.
    pub(super) required: bool,
    /// How old the copy of a list may be, in seconds.
    pub(super) max_age: i64,
    pub(super) signer: Option<ListSigner>,
}

/// A list, with what says who has signed it.
struct Signed {
    list: Vec<u8>,
    bundle: Option<Vec<u8>>,
}

/// Who signs lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ListSigner {
    /// An identity that an issuer vouches for.
    Certificate { identity: String, issuer: String },
    /// The owner of the key in a file, in PEM.
    Key { path: PathBuf },
}

/// Why it cannot be told what the policies say, and so no server is used.
#[derive(Debug)]
pub enum PolicyError {
    /// A file cannot be read.
    Store(Fault),
    /// The file that is named is not there.
    NoSuchFile(PathBuf),
    /// A file is not a policy.
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, if it is known.
        line: Option<usize>,
        /// What is wrong.
        why: String,
    },
    /// A document that the policy names cannot be used.
    Document {
        /// The file of the policy.
        policy: PathBuf,
        /// The document.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A signed card that was kept cannot be used.
    Card(Unkept),
}

/// Reads the administrator's policy and the user's.
pub(super) fn load(env: &Env) -> Result<Vec<Policy>, PolicyError> {
    let system = env.system_dir.as_ref().map(|dir| (Layer::System, dir.join(FILE)));
    let named = env.setting(VARIABLE).map(|path| (Layer::Named, env.absolute(path.as_ref())));
    let user = || env.config_dir().map(|dir| (Layer::User, dir.join(FILE)));
    let mut policies = Vec::new();
    for (layer, path) in [system, named.or_else(user)].into_iter().flatten() {
        let guard = Guard::Strangers { user: env.user };
        let guard =
            if layer == Layer::Named { Guard::Named { until: env.deadline() } } else { guard };
        let text = match store::read_text(&path, LIMIT, guard).map_err(PolicyError::Store)? {
            None if layer == Layer::Named => return Err(PolicyError::NoSuchFile(path)),
            None => continue,
            Some(text) => text,
        };
        match document::parse(&text) {
            Ok(document) => policies.push(Policy { layer, path, document, user: env.user }),
            Err((line, why)) => return Err(PolicyError::Malformed { path, line, why }),
        }
    }
    Ok(policies)
}

impl Policy {
    /// The authorities and logs that this policy trusts.
    pub(super) fn root(&self) -> Result<TrustRoot, PolicyError> {
        let root = match &self.document.trusted_root {
            None => TrustRoot::production(),
            Some(named) => TrustRoot::from_json(&self.read(named, ROOT_LIMIT as u64)?),
        };
        root.map_err(|refusal| {
            let named = self.document.trusted_root.clone().unwrap_or_default();
            self.fault(&named, refusal.to_string())
        })
    }

    /// Reads the lists of what is revoked. One that cannot be relied on is one that says why.
    pub(super) fn lists(&self, env: &Env, now: i64) -> Result<Vec<List>, PolicyError> {
        let lists = &self.document.lists;
        let wanted = lists.signer.as_ref().map(|signer| self.signer(signer)).transpose()?;
        let mut read = Vec::new();
        for named in &lists.files {
            let path = self.beside(named);
            let name = path.display().to_string();
            match self.file_with_bundle(&path, wanted.is_some()) {
                Ok(Some(Signed { list, bundle })) => {
                    let contents = self.contents(&list, bundle, wanted.as_ref(), now);
                    let entries = contents.map(|contents| contents.entries);
                    read.push(List { name, fetched_at: None, entries });
                }
                Ok(None) if !lists.required => {}
                Ok(None) => read.push(List::unread(name, "it is not there".to_owned())),
                Err(fault) => read.push(List::unread(name, fault.to_string())),
            }
        }
        for url in &lists.urls {
            let name = url.clone();
            read.push(match Copy::recall(url, env) {
                Ok(Some(copy)) if copy.is_fresh(now, lists.max_age) => {
                    let contents = self.contents(&copy.list, copy.bundle, wanted.as_ref(), now);
                    let entries = contents.and_then(|contents| newest(url, contents, env));
                    List { name, fetched_at: Some(copy.fetched_at), entries }
                }
                Ok(_) if !lists.required => continue,
                Ok(Some(_)) => List::unread(name, "the copy of it is too old".to_owned()),
                Ok(None) => List::unread(name, "there is no copy of it".to_owned()),
                Err(fault) => List::unread(name, fault.to_string()),
            });
        }
        Ok(read)
    }

    /// The URLs of the lists of which no copy is fresh.
    pub(super) fn stale(&self, env: &Env, now: i64) -> Vec<String> {
        let lists = &self.document.lists;
        let is_stale = |url: &&String| {
            let copy = Copy::recall(url, env).ok().flatten();
            !copy.is_some_and(|copy| copy.is_fresh(now, lists.max_age))
        };
        lists.urls.iter().filter(is_stale).cloned().collect()
    }

    fn file_with_bundle(&self, path: &Path, signed: bool) -> Result<Option<Signed>, Fault> {
        let Some(list) = store::read(path, LIST_LIMIT as u64, self.guard())? else {
            return Ok(None);
        };
        if !signed {
            return Ok(Some(Signed { list, bundle: None }));
        }
        let mut beside = path.as_os_str().to_owned();
        beside.push(BUNDLE_SUFFIX);
        let bundle = store::read(beside.as_ref(), BUNDLE_LIMIT as u64, self.guard())?;
        Ok(Some(Signed { list, bundle }))
    }

    /// Reads a list, once it is known who has signed it.
    fn contents(
        &self,
        list: &[u8],
        bundle: Option<Vec<u8>>,
        wanted: Option<&(Wanted, Option<PublicKey>)>,
        now: i64,
    ) -> Result<Contents, String> {
        if let Some((wanted, key)) = wanted {
            let bundle = bundle.ok_or("it is not signed")?;
            let evidence = Evidence::Bundle { bundle, key: key.clone() };
            let root = self.root().map_err(|error| error.to_string())?;
            let verified = evidence.verify_bytes(list, None, &root, now);
            verified
                .and_then(|verified| verified.require(wanted))
                .map_err(|refusal| refusal.to_string())?;
        }
        revocation::read(list)
    }

    fn signer(&self, signer: &ListSigner) -> Result<(Wanted, Option<PublicKey>), PolicyError> {
        match signer {
            ListSigner::Certificate { identity, issuer } => {
                let (identity, issuer) = (identity.clone(), issuer.clone());
                Ok((Wanted::Certificate { identity, issuer }, None))
            }
            ListSigner::Key { path } => {
                let key = PublicKey::from_pem(&self.read(path, KEY_LIMIT)?)
                    .map_err(|invalid| self.fault(path, invalid.to_string()))?;
                Ok((Wanted::Key { spki: key.digest() }, Some(key)))
            }
        }
    }

    /// Who may write what the policy relies on could write the policy.
    fn guard(&self) -> Guard {
        Guard::Strangers { user: self.user }
    }

    /// A file that the policy names, relative to its own.
    fn beside(&self, named: &Path) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("/")).join(named)
    }

    fn read(&self, named: &Path, limit: u64) -> Result<Vec<u8>, PolicyError> {
        let found = store::read(&self.beside(named), limit, self.guard());
        let found = found.map_err(PolicyError::Store)?;
        found.ok_or_else(|| self.fault(named, "it is not there".to_owned()))
    }

    fn fault(&self, named: &Path, why: String) -> PolicyError {
        PolicyError::Document { policy: self.path.clone(), path: self.beside(named), why }
    }
}

/// The entries of a list from the network, if it is the newest that is known.
fn newest(url: &str, contents: Contents, env: &Env) -> Result<Vec<Entry>, String> {
    let issued = contents.issued.ok_or("its first line does not say when it was issued")?;
    copy::hold(url, issued, env)?;
    Ok(contents.entries)
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PolicyError::Store(fault) => fault.fmt(f),
            PolicyError::NoSuchFile(path) => {
                write!(f, "there is no policy {}, and it is named or linked to", path.display())
            }
            PolicyError::Malformed { path, line: Some(line), why } => {
                write!(f, "{}:{line}: {why}", path.display())
            }
            PolicyError::Malformed { path, line: None, why } => {
                write!(f, "{}: {why}", path.display())
            }
            PolicyError::Document { policy, path, why } => {
                write!(f, "{}, which {} names: {why}", path.display(), policy.display())
            }
            PolicyError::Card(unkept) => unkept.fmt(f),
        }
    }
}

impl std::error::Error for PolicyError {}
