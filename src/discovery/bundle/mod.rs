//! Bundles (MCPB): a server in an archive, with everything it needs.
//!
//! ```text
//! download ──▶ is the hash the one that was said? ──▶ manifest ──▶ command ──▶ (consent) ──▶ unpack
//! ```
//! Nothing is looked into before the hash is right, and nothing is unpacked before the user has
//! accepted the command.

pub mod archive;
pub mod manifest;

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

pub use archive::Broken;
pub use manifest::{Manifest, NoManifest};

use self::archive::{Packed, unpack};
use crate::config::Digest;
use crate::env::Env;
use crate::store::{self, Action, Fault, Guard, Reason};

/// The longest bundle, in bytes.
pub const LIMIT: usize = 256 << 20;

/// A bundle whose hash is right.
#[derive(Debug)]
pub struct Bundle {
    bytes: Vec<u8>,
    files: Vec<Packed>,
    hash: Digest,
}

/// Why a bundle cannot be used.
#[derive(Debug)]
pub enum NoBundle {
    /// The registry does not say its hash.
    NoHash,
    /// It has another hash.
    Hash {
        /// The one that was said.
        said: String,
        /// The one that it has.
        is: Digest,
    },
    /// It is no archive that can be unpacked.
    Broken(Broken),
    /// Its manifest.
    Manifest(NoManifest),
    /// It cannot be written.
    Unwritten(Fault),
}

impl Bundle {
    /// Takes a bundle, if its hash is the one that was said.
    pub fn open(bytes: Vec<u8>, said: &str) -> Result<Bundle, NoBundle> {
        let hash = Digest::of(&bytes);
        if !said.eq_ignore_ascii_case(&hash.hex()) {
            return Err(NoBundle::Hash { said: said.to_owned(), is: hash });
        }
        let files = archive::files(&bytes).map_err(NoBundle::Broken)?;
        Ok(Bundle { bytes, files, hash })
    }

    /// What it says about itself.
    pub fn manifest(&self) -> Result<Manifest, NoBundle> {
        let no_command = NoBundle::Manifest(NoManifest::NoCommand);
        let file = self.files.iter().find(|file| file.path == manifest::NAME).ok_or(no_command)?;
        let bytes = unpack(&self.bytes, file).map_err(NoBundle::Broken)?;
        Manifest::read(&bytes).map_err(NoBundle::Manifest)
    }

    /// Where it comes to lie: one folder for each hash. `None` when there is no place.
    pub fn folder(&self, env: &Env) -> Option<PathBuf> {
        Some(env.state_dir()?.join("bundles").join(self.hash.hex()))
    }

    /// Unpacks it, unless that was done before. The folder is there as a whole or not at all.
    pub fn unpack(&self, folder: &Path) -> Result<(), NoBundle> {
        if folder.exists() {
            return Ok(());
        }
        let partial = folder.with_extension(format!("{}", std::process::id()));
        let done = self.write(&partial).and_then(|()| {
            let moved = fs::rename(&partial, folder);
            // Another process may have been faster.
            moved
                .or_else(|error| if folder.exists() { Ok(()) } else { Err(error) })
                .map_err(|error| unwritten(folder, error))
        });
        let _ = fs::remove_dir_all(&partial);
        done
    }

    fn write(&self, folder: &Path) -> Result<(), NoBundle> {
        store::create_dir(folder).map_err(NoBundle::Unwritten)?;
        for file in &self.files {
            let bytes = unpack(&self.bytes, file).map_err(NoBundle::Broken)?;
            let path = folder.join(&file.path);
            store::replace(&path, &bytes).map_err(NoBundle::Unwritten)?;
            if file.is_executable {
                let changed = fs::set_permissions(&path, fs::Permissions::from_mode(0o700));
                changed.map_err(|error| unwritten(&path, error))?;
            }
        }
        Ok(())
    }

    /// Keeps it, so that it need not be downloaded again once it is accepted.
    pub fn keep(&self, env: &Env) {
        if let Some(path) = kept(env, &self.hash.hex()) {
            // Without it, it is downloaded again.
            let _ = store::replace(&path, &self.bytes);
        }
    }

    /// The bundle with this hash, if it was kept.
    pub fn kept(env: &Env, hash: &str) -> Option<Bundle> {
        let is_hash = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        let path = kept(env, &hash.to_ascii_lowercase()).filter(|_| is_hash)?;
        let bytes =
            store::read(&path, LIMIT as u64, Guard::Everybody { user: env.user }).ok()??;
        Bundle::open(bytes, hash).ok()
    }

    /// Forgets the archive, once it is unpacked.
    pub fn forget(&self, env: &Env) {
        if let Some(path) = kept(env, &self.hash.hex()) {
            let _ = store::remove(&path);
        }
    }
}

fn unwritten(path: &Path, error: io::Error) -> NoBundle {
    let (path, reason) = (path.to_owned(), Reason::Io(error));
    NoBundle::Unwritten(Fault { path, action: Action::Write, reason })
}

fn kept(env: &Env, hash: &str) -> Option<PathBuf> {
    Some(env.cache_dir()?.join("bundles").join(hash))
}

impl fmt::Display for NoBundle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoBundle::NoHash => f.write_str("its hash (fileSha256) is not said"),
            NoBundle::Hash { said, is } => {
                write!(f, "its hash is {is}, and the registry says {said}")
            }
            NoBundle::Broken(broken) => broken.fmt(f),
            NoBundle::Manifest(manifest) => manifest.fmt(f),
            NoBundle::Unwritten(fault) => fault.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::archive::packing::archive;
    use super::*;
    use crate::store::scratch::Scratch;

    #[test]
    fn a_bundle_is_looked_into_only_when_its_hash_is_right() {
        let bytes = archive(&[("manifest.json", b"{}", 0), ("bin/server", b"x", 0o100_755)]);
        let right = Digest::of(&bytes).hex();
        let told = |bytes: &[u8], said: &str| {
            Bundle::open(bytes.to_vec(), said).map(drop).map_err(|error| error.to_string())
        };
        assert_eq!(told(&bytes, &right), Ok(()));
        assert_eq!(told(&bytes, &right.to_uppercase()), Ok(()));
        let other = "0".repeat(64);
        let expected = format!("its hash is sha256:{right}, and the registry says {other}");
        assert_eq!(told(&bytes, &other), Err(expected));
        let garbage = Digest::of(b"garbage").hex();
        let expected = "it is no zip archive, or not all of one".to_owned();
        assert_eq!(told(b"garbage", &garbage), Err(expected));
    }

    #[test]
    fn a_bundle_lies_there_whole_and_private() {
        let scratch = Scratch::new();
        let bytes = archive(&[("a/b", b"1", 0), ("bin/server", b"2", 0o100_755)]);
        let said = Digest::of(&bytes).hex();
        let bundle = Bundle::open(bytes, &said).unwrap();
        let env = Env {
            variables: [("HOME", scratch.path("h").to_str().unwrap())].into(),
            user: rustix::process::geteuid().as_raw(),
            ..Env::default()
        };
        let folder = bundle.folder(&env).unwrap();
        assert!(folder.ends_with(format!(".local/state/mcpmini/bundles/{said}")));
        bundle.unpack(&folder).unwrap();
        bundle.unpack(&folder).unwrap();
        let mode = |path: &str| folder.join(path).metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("a/b"), mode("bin/server"), mode("bin")), (0o600, 0o700, 0o700));
        assert_eq!(fs::read(folder.join("a/b")).unwrap(), b"1");
        assert_eq!(fs::read_dir(folder.parent().unwrap()).unwrap().count(), 1);
        assert!(Bundle::kept(&env, &said).is_none());
        bundle.keep(&env);
        assert!(Bundle::kept(&env, &said).is_some());
        assert!(Bundle::kept(&env, "../x").is_none());
        bundle.forget(&env);
        assert!(Bundle::kept(&env, &said).is_none());
    }
}
