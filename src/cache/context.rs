//! Who asks: what must be the same for an answer to be the same.

use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use aws_lc_rs::hmac;

use crate::config::{Endpoint, Server};
use crate::env::Secret;
use crate::protocol::sorting::sort_by;
use crate::store::{self, Guard};

/// The length of the salt, in bytes.
const SALT: usize = 32;

/// The context of calls that show no credentials: there is nothing to hide, and no salt to read.
const ANONYMOUS: &str = "00000000000000000000000000000000";

/// A hash of the credentials with which a server is asked.
///
/// It is keyed with a random salt that never leaves this machine, so that nobody who sees the name
/// of a cache file can find out a weak password by trying.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Context(String);

impl Context {
    /// The context of calls to a server, by an account.
    ///
    /// `None` when there is no salt and no place for one; then nothing private can be remembered.
    pub(super) fn of(
        server: &Server,
        account: &str,
        salt_file: &Path,
        user: u32,
    ) -> Option<Context> {
        let mut hashed = Vec::new();
        // Lengths go first, lest two lists of texts run together into the same bytes.
        let mut add = |text: &[u8]| {
            hashed.extend((text.len() as u64).to_le_bytes());
            hashed.extend(text);
        };
        add(account.as_bytes());
        match &server.endpoint {
            Endpoint::Stdio(endpoint) => {
                for (name, value) in endpoint.environment.own() {
                    add(name.as_bytes());
                    add(value.as_bytes());
                }
            }
            Endpoint::Http(endpoint) => {
                let mut headers: Vec<_> = endpoint.headers.iter().collect();
                let name = |(name, _): &(String, Secret)| name.to_ascii_lowercase();
                sort_by(&mut headers, |one, other| name(one).cmp(&name(other)));
                for (name, value) in headers {
                    add(name.to_ascii_lowercase().as_bytes());
                    add(value.expose().as_bytes());
                }
            }
        }
        if hashed == [0; 8] {
            return Some(Context(ANONYMOUS.to_owned()));
        }
        let key = hmac::Key::new(hmac::HMAC_SHA256, &salt(salt_file, user)?);
        let tag = hmac::sign(&key, &hashed);
        Some(Context(tag.as_ref()[..16].iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// 32 hexadecimal digits.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The salt of this user, made when it is first needed.
fn salt(path: &Path, user: u32) -> Option<Vec<u8>> {
    let read = || {
        let bytes = store::read(path, SALT as u64, Guard::Everybody { user }).ok()??;
        (bytes.len() == SALT).then_some(bytes)
    };
    if let Some(salt) = read() {
        return Some(salt);
    }
    let mut fresh = [0; SALT];
    aws_lc_rs::rand::fill(&mut fresh).ok()?;
    store::replace(path, &fresh).ok()?;
    // Another process may have done the same: both take what lies there in the end.
    read()
}
