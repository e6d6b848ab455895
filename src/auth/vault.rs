//! Where tokens are kept: one private file, or a credential helper.
//!
//! ```text
//! STATE/credentials/store.json        all records, mode 0600, replaced as a whole
//! STATE/credentials/store.json.lock   held while the file is changed
//! STATE/credentials/HASH.lock         held while one token is renewed
//! ```
//!
//! A refresh token that rotates is good once. Whoever wants to use it takes the lock of its record
//! first, and looks whether another process has been faster. The kernel gives the lock back when
//! its holder dies.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::client::Client;
use super::error::AuthError;
use super::helper::Helper;
use super::records::{ClientRecord, Records, TokenRecord, VERSION};
use crate::config::Digest;
use crate::env::Env;
use crate::reactor::Timer;
use crate::store::{self, Guard, Lock, Reason};

/// How long a file may be, in bytes.
const LIMIT: u64 = 4 << 20;

/// How long a change of the file may take another process.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long the renewal of a token may take another process.
const RENEWAL: Duration = Duration::from_secs(60);

/// How often a lock that is taken is tried again.
const PAUSE: Duration = Duration::from_millis(20);

/// Where tokens are kept.
#[derive(Debug)]
pub(super) struct Vault {
    /// Where locks and the file are; `None` when there is no directory for them.
    directory: Option<PathBuf>,
    helper: Option<Helper>,
    user: u32,
}

/// Which token is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TokenKey(String);

impl TokenKey {
    /// The token for a server by a grant, for a client that we were given, and of whomever it is
    /// about, if that is known without a login.
    pub(super) fn new(
        server: &str,
        grant: &str,
        client_id: Option<&str>,
        subject: Option<&str>,
    ) -> TokenKey {
        // The client id comes last: it alone may have blanks in it.
        let parts = [Some(server), Some(grant), subject, client_id];
        TokenKey(parts.into_iter().flatten().collect::<Vec<_>>().join(" "))
    }
}

impl Vault {
    /// The vault of the user.
    pub(super) fn of(env: &Env) -> Result<Vault, AuthError> {
        Ok(Vault {
            directory: env.state_dir().map(|state| state.join("credentials")),
            helper: Helper::of(env)?,
            user: env.user,
        })
    }

    /// A vault that keeps nothing.
    pub(super) fn none(env: &Env) -> Vault {
        Vault { directory: None, helper: None, user: env.user }
    }

    /// Whether it keeps anything.
    pub(super) fn keeps(&self) -> bool {
        self.directory.is_some() || self.helper.is_some()
    }

    /// The token of that key, if it is kept.
    pub(super) fn token(&self, key: &TokenKey) -> Result<Option<TokenRecord>, AuthError> {
        match &self.helper {
            Some(helper) => helper.get(&key.0),
            None => Ok(self.read()?.tokens.remove(&key.0)),
        }
    }

    /// The issuer that a client id was first used with for a server, by whatever token tells it. A
    /// credential helper can only be asked for the token of that key.
    pub(super) fn issuer_of_client(
        &self,
        key: &TokenKey,
        server: &str,
        id: &str,
    ) -> Result<Option<String>, AuthError> {
        if self.helper.is_some() {
            return Ok(self.token(key)?.map(|record| record.issuer));
        }
        let tokens = self.read()?.tokens.into_values();
        let mut fitting = tokens.filter(|record| record.server == server && record.client.id == id);
        Ok(fitting.next().map(|record| record.issuer))
    }

    /// Keeps a token.
    pub(super) fn keep_token(&self, key: &TokenKey, record: &TokenRecord) -> Result<(), AuthError> {
        match &self.helper {
            Some(helper) => helper.store(&key.0, record),
            None => self.change(|records| {
                records.tokens.insert(key.0.clone(), record.clone());
            }),
        }
    }

    /// Forgets a token.
    pub(super) fn forget_token(&self, key: &TokenKey) -> Result<(), AuthError> {
        match &self.helper {
            Some(helper) => helper.erase(&key.0),
            None => self.change(|records| {
                records.tokens.remove(&key.0);
            }),
        }
    }

    /// The client that was registered with an issuer, unless its secret has ended at `now`.
    pub(super) fn client(&self, issuer: &str, now: u64) -> Result<Option<Client>, AuthError> {
        let record: Option<ClientRecord> = match &self.helper {
            Some(helper) => helper.get(&client_key(issuer))?,
            None => self.read()?.clients.remove(issuer),
        };
        let client = record.and_then(|record| record.to_client(issuer));
        Ok(client.filter(|client| client.expires_at.is_none_or(|at| now < at)))
    }

    /// Keeps a client that was registered.
    pub(super) fn keep_client(&self, client: &Client) -> Result<(), AuthError> {
        let record = ClientRecord::from(client);
        match &self.helper {
            Some(helper) => helper.store(&client_key(&client.issuer), &record),
            None => self.change(|records| {
                records.clients.insert(client.issuer.clone(), record);
            }),
        }
    }

    /// Forgets the client that was registered with an issuer.
    pub(super) fn forget_client(&self, issuer: &str) -> Result<(), AuthError> {
        match &self.helper {
            Some(helper) => helper.erase(&client_key(issuer)),
            None => self.change(|records| {
                records.clients.remove(issuer);
            }),
        }
    }

    /// Keeps others from renewing a token while the lock is held; waits for one who does. Without a
    /// directory there is nobody to wait for.
    pub(super) async fn lock(&self, key: &TokenKey) -> Result<Option<Lock>, AuthError> {
        let Some(directory) = &self.directory else { return Ok(None) };
        self.check_directory(directory)?;
        let path = directory.join(&Digest::of(key.0.as_bytes()).hex()[..16]);
        let deadline = Instant::now() + RENEWAL;
        loop {
            match store::lock(&path, Duration::ZERO) {
                Ok(lock) => return Ok(Some(lock)),
                Err(fault) if matches!(fault.reason, Reason::Busy) && Instant::now() < deadline => {
                    Timer::after(PAUSE).await;
                }
                Err(fault) => return Err(fault.into()),
            }
        }
    }

    fn file(&self) -> Option<PathBuf> {
        self.directory.as_ref().map(|directory| directory.join("store.json"))
    }

    fn read(&self) -> Result<Records, AuthError> {
        let Some(file) = self.file() else { return Ok(Records::default()) };
        let guard = Guard::Private { user: self.user };
        let Some(text) = store::read_text(&file, LIMIT, guard)? else {
            return Ok(Records::default());
        };
        let records: Option<Records> = serde_json::from_str(&text).ok();
        // A newer form may hold what would be lost when it is written as this one.
        let known = records.filter(|records| records.version <= VERSION);
        known.ok_or(AuthError::BadStore(file))
    }

    fn change(&self, change: impl FnOnce(&mut Records)) -> Result<(), AuthError> {
        let Some(file) = self.file() else { return Ok(()) };
        self.check_directory(file.parent().unwrap_or(Path::new("/")))?;
        let _held = store::lock(&file, PATIENCE)?;
        let mut records = self.read()?;
        records.version = VERSION;
        change(&mut records);
        let text = serde_json::to_string_pretty(&records);
        let text = text.expect("records are texts and numbers");
        // A refresh token is good once: after a crash of the machine, too, the new one must be there.
        Ok(store::rewrite(&file, text.as_bytes(), store::Access::Private)?)
    }

    /// A directory that others can look into is not used; one that is not there will be made as it
    /// should be.
    fn check_directory(&self, directory: &Path) -> Result<(), AuthError> {
        store::check_private(directory, self.user).map_err(Into::into)
    }
}

fn client_key(issuer: &str) -> String {
    format!("client {issuer}")
}
