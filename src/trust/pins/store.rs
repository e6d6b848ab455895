//! The pins of this user: a file for each server.
//!
//! A call of a known server reads one small file. Another beside it has the texts that its hashes
//! stand for; it is read when something has changed.

use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::key::Key;
use super::record::{Consent, Record, VERSION};
use super::started;
use super::texts::TextsOfBoth;
use crate::env::Env;
use crate::protocol::sorting::{sort, sort_by};
use crate::store::{self, Access, Fault, Guard};

/// The directory in the state directory.
const FOLDER: &str = "known-servers";
/// The longest file, in bytes.
const LIMIT: u64 = 4 << 20;
/// How many servers are kept. Those go first that were written longest ago, but none that the user
/// has said something about.
const COUNT: usize = 1000;
/// How long to wait for other processes that write.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a file's name ends in: a record, or texts.
const RECORD: &str = ".json";
const TEXTS: &str = ".texts";

/// The pins of this user.
#[derive(Debug, Clone)]
pub struct Store {
    directory: Option<PathBuf>,
    user: u32,
}

/// Pins cannot be read or written.
#[derive(Debug)]
pub enum PinError {
    /// A file cannot be read or written.
    Store(Fault),
    /// A file contains something else.
    Garbled(PathBuf),
    /// There is more to keep than a file may have.
    TooMuch,
    /// There is no place for pins: `HOME` is not set.
    NoPlace,
}

impl From<Fault> for PinError {
    fn from(fault: Fault) -> PinError {
        PinError::Store(fault)
    }
}

impl fmt::Display for PinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PinError::Store(fault) => fault.fmt(f),
            PinError::Garbled(path) => {
                write!(f, "{} does not tell what was accepted of a server", path.display())
            }
            PinError::TooMuch => write!(f, "the server has too much to be kept in {LIMIT} bytes"),
            PinError::NoPlace => f.write_str(
                "there is no place for what is accepted: neither MCPMINI_STATE_DIR nor \
                 XDG_STATE_HOME nor HOME is set to a directory",
            ),
        }
    }
}

impl std::error::Error for PinError {}

impl Store {
    /// The pins of this user. Nothing is read yet.
    pub fn new(env: &Env) -> Store {
        Store { directory: env.state_dir().map(|dir| dir.join(FOLDER)), user: env.user }
    }

    /// Whether anything was ever kept there.
    pub fn is_in_use(&self) -> bool {
        self.directory.as_ref().is_some_and(|directory| directory.exists())
    }

    /// Whether the trust in any command was ever taken back: only then it has to be found out what
    /// another one starts.
    pub fn has_revoked_commands(&self) -> bool {
        let folder = self.directory.as_ref().map(|directory| directory.join(started::FOLDER));
        // What cannot be looked at may be there.
        folder.is_some_and(|folder| {
            !matches!(folder.symlink_metadata(), Err(error) if error.kind() == ErrorKind::NotFound)
        })
    }

    /// What is known of a server; `None` when it was never used, or there is no place for pins.
    pub fn load(&self, key: &Key) -> Result<Option<Box<Record>>, PinError> {
        match self.path(key, RECORD) {
            None => Ok(None),
            Some(path) => self.read(&path),
        }
    }

    /// The texts that the hashes of a record stand for, as far as they are kept.
    pub fn texts(&self, key: &Key) -> TextsOfBoth {
        let path = self.path(key, TEXTS);
        path.and_then(|path| self.parse(&path).ok()?).unwrap_or_default()
    }

    /// Changes what is known of a server, with no other process in between. `how` says whether there
    /// is anything to write.
    pub fn change<T>(
        &self,
        key: &Key,
        now: SystemTime,
        how: impl FnOnce(&mut Record, &mut TextsOfBoth) -> (bool, T),
    ) -> Result<T, PinError> {
        let directory = self.directory.as_ref().ok_or(PinError::NoPlace)?;
        let _lock = store::lock(directory, PATIENCE)?;
        let seconds = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        let path = directory.join(format!("{}{RECORD}", key.file));
        let known = self.read(&path)?;
        let is_new = known.is_none();
        let mut record = known.unwrap_or_else(|| Box::new(Record::new(&key.name, seconds)));
        let old_texts = self.texts(key);
        let mut texts = old_texts.clone();
        let (changed, answer) = how(&mut record, &mut texts);
        if changed {
            record.last_seen = seconds;
            if is_new {
                self.make_room();
            }
            // The texts first: a record without them is of use, texts without a record are not.
            if texts != old_texts {
                write(&directory.join(format!("{}{TEXTS}", key.file)), &texts, false)?;
            }
            // The user's word cannot be had again.
            let is_said = record.consent == Consent::User || record.revoked.is_some();
            write(&path, &record, is_said)?;
        }
        Ok(answer)
    }

    /// Forgets a server. The next use of it is its first.
    pub fn forget(&self, key: &Key) -> Result<(), PinError> {
        for ending in [RECORD, TEXTS] {
            if let Some(path) = self.path(key, ending) {
                store::remove(&path)?;
            }
        }
        Ok(())
    }

    /// All servers that are known, by their names. Files that cannot be read are left out.
    pub fn list(&self) -> Vec<Record> {
        let read = |path: PathBuf| Some(*self.read(&path).ok()??);
        let mut records: Vec<Record> = self.files().into_iter().filter_map(read).collect();
        sort_by(&mut records, |a, b| (&a.name, a.first_seen).cmp(&(&b.name, b.first_seen)));
        records
    }

    fn path(&self, key: &Key, ending: &str) -> Option<PathBuf> {
        Some(self.directory.as_ref()?.join(format!("{}{ending}", key.file)))
    }

    /// The files of records.
    fn files(&self) -> Vec<PathBuf> {
        let directory = self.directory.iter();
        let directories = directory.flat_map(|it| [it.clone(), it.join(started::FOLDER)]);
        let entries = directories.filter_map(|directory| fs::read_dir(directory).ok());
        let paths = entries.flatten().flatten().map(|entry| entry.path());
        paths.filter(|path| path.to_string_lossy().ends_with(RECORD)).collect()
    }

    /// A record is large: every time it were handed on, it would take that much of the stack.
    fn read(&self, path: &Path) -> Result<Option<Box<Record>>, PinError> {
        match self.parse::<Box<Record>>(path)? {
            Some(record) if record.version != VERSION => Err(PinError::Garbled(path.to_owned())),
            record => Ok(record),
        }
    }

    fn parse<T: DeserializeOwned>(&self, path: &Path) -> Result<Option<T>, PinError> {
        let text = store::read_text(path, LIMIT, Guard::Everybody { user: self.user })?;
        let parse = |text: String| serde_json::from_str(&text);
        text.map(parse).transpose().map_err(|_| PinError::Garbled(path.to_owned()))
    }

    /// Makes room for one more server.
    fn make_room(&self) {
        let files = self.files();
        if files.len() < COUNT {
            return;
        }
        let written = |path: &Path| path.metadata().and_then(|file| file.modified()).ok();
        let mut files: Vec<_> = files.into_iter().map(|path| (written(&path), path)).collect();
        sort(&mut files);
        let mut extra = files.len() + 1 - COUNT;
        for (_, path) in files {
            let is_free =
                |record: &Record| record.consent == Consent::FirstUse && record.revoked.is_none();
            if extra == 0 {
                break;
            }
            if self.read(&path).ok().flatten().as_deref().is_none_or(is_free) {
                let _ = store::remove(&path.with_extension(&TEXTS[1..]));
                let _ = store::remove(&path);
                extra -= 1;
            }
        }
    }
}

/// Writes a file as a whole. One that is to last is on the disk before this returns.
fn write(path: &Path, value: &impl Serialize, lasts: bool) -> Result<(), PinError> {
    let text = serde_json::to_string_pretty(value).expect("texts, numbers and hashes serialize");
    if LIMIT < text.len() as u64 {
        return Err(PinError::TooMuch);
    }
    match lasts {
        true => store::rewrite(path, text.as_bytes(), Access::Private)?,
        false => store::replace(path, text.as_bytes())?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::thread;

    use super::super::Mode;
    use super::super::change::Use;
    use super::super::facets::{Facets, Identity};
    use super::*;
    use crate::store::scratch::Scratch;

    const NOW: Duration = Duration::from_secs(1_764_488_455);

    fn store(scratch: &Scratch) -> Store {
        Store::new(&Env {
            variables: [("HOME", scratch.path("h").to_str().unwrap())].into(),
            user: rustix::process::geteuid().as_raw(),
            ..Env::default()
        })
    }

    fn key(name: &str) -> Key {
        Key { file: name.to_owned(), name: format!("server {name}") }
    }

    fn identity(name: &str) -> Facets {
        let identity = Identity { name: name.to_owned(), version: "1".to_owned() };
        Facets { identity: Some(identity), ..Facets::default() }
    }

    fn learn(store: &Store, key: &Key, facets: &Facets, now: u64) -> Result<(), PinError> {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(now);
        store.change(key, now, |record, texts| {
            record.learn(facets, Mode::FirstUse, &Use::new());
            texts.accepted.instructions = Some("x".to_owned());
            (true, ())
        })
    }

    #[test]
    fn what_was_learnt_is_kept_in_private_files() {
        let scratch = Scratch::new();
        let store = store(&scratch);
        assert_eq!(store.load(&key("a")).unwrap(), None);
        learn(&store, &key("a"), &identity("n"), NOW.as_secs()).unwrap();
        learn(&store, &key("b"), &identity("m"), NOW.as_secs()).unwrap();
        let record = store.load(&key("a")).unwrap().unwrap();
        assert_eq!((record.name.as_str(), record.first_seen), ("server a", NOW.as_secs()));
        assert_eq!(record.accepted, identity("n"));
        assert_eq!(store.texts(&key("a")).accepted.instructions.as_deref(), Some("x"));
        let names: Vec<_> = store.list().into_iter().map(|record| record.name).collect();
        assert_eq!(names, ["server a", "server b"]);
        let mode = |path: &str| {
            let path = scratch.path(&format!("h/.local/state/mcpmini/{path}"));
            fs::metadata(path).unwrap().permissions().mode() & 0o777
        };
        assert_eq!(mode("known-servers"), 0o700);
        assert_eq!((mode("known-servers/a.json"), mode("known-servers/a.texts")), (0o600, 0o600));
        store.forget(&key("a")).unwrap();
        assert_eq!((store.load(&key("a")).unwrap(), store.list().len()), (None, 1));
    }

    #[test]
    fn what_somebody_else_could_have_written_is_not_believed() {
        let scratch = Scratch::new();
        let store = store(&scratch);
        learn(&store, &key("a"), &identity("n"), 0).unwrap();
        const FILE: &str = "h/.local/state/mcpmini/known-servers/a.json";
        scratch.chmod(FILE, 0o666);
        assert!(matches!(store.load(&key("a")), Err(PinError::Store(_))));
        scratch.chmod(FILE, 0o600);
        assert!(store.load(&key("a")).is_ok());
        for text in
            ["", "{}", "[", &scratch.read(FILE).replace("\"version\": 1,", "\"version\": 2,")]
        {
            scratch.write(FILE, text);
            assert!(matches!(store.load(&key("a")), Err(PinError::Garbled(_))), "{text}");
            assert!(learn(&store, &key("a"), &identity("m"), 0).is_err(), "it is not overwritten");
        }
        let nowhere = Store::new(&Env::default());
        assert_eq!(nowhere.load(&key("a")).unwrap(), None);
        assert!(matches!(learn(&nowhere, &key("a"), &identity("n"), 0), Err(PinError::NoPlace)));
    }

    #[test]
    fn that_a_command_was_revoked_is_seen_before_any_is_looked_at() {
        let scratch = Scratch::new();
        let store = store(&scratch);
        learn(&store, &key("a"), &identity("n"), 0).unwrap();
        assert!(!store.has_revoked_commands());
        let command = key("commands/b");
        learn(&store, &command, &identity("n"), 0).unwrap();
        assert!(store.has_revoked_commands() && store.load(&command).unwrap().is_some());
        let names: Vec<_> = store.list().into_iter().map(|record| record.name).collect();
        assert_eq!(names, ["server a", "server commands/b"]);
        store.forget(&command).unwrap();
        assert_eq!((store.load(&command).unwrap(), store.list().len()), (None, 1));
    }

    #[test]
    fn nothing_is_lost_between_processes() {
        let scratch = Scratch::new();
        let store = store(&scratch);
        thread::scope(|scope| {
            for number in 0..16 {
                let (store, key) = (store.clone(), key(&(number % 8).to_string()));
                scope.spawn(move || learn(&store, &key, &identity("n"), 0).unwrap());
            }
        });
        assert_eq!(store.list().len(), 8);
        assert!(store.list().iter().all(|record| record.seen.is_none()));
    }

    #[test]
    fn there_is_room_for_so_many_servers_and_the_users_word_stays() {
        let scratch = Scratch::new();
        let store = store(&scratch);
        let number = |number: usize| key(&format!("{number:05}"));
        store
            .change(&number(0), SystemTime::UNIX_EPOCH, |record, _| {
                record.revoked = Some(1);
                (true, ())
            })
            .unwrap();
        let directory = scratch.path("h/.local/state/mcpmini/known-servers");
        let text = fs::read_to_string(directory.join("00000.json")).unwrap();
        let text = text.replace("\"revoked\": 1,", "");
        for other in 1..COUNT {
            fs::write(directory.join(format!("{other:05}.json")), &text).unwrap();
        }
        learn(&store, &number(COUNT), &identity("n"), 0).unwrap();
        assert_eq!(store.files().len(), COUNT);
        assert!(store.load(&number(0)).unwrap().is_some_and(|record| record.revoked.is_some()));
        assert_eq!(store.load(&number(1)).unwrap(), None);
        assert!(store.load(&number(COUNT)).unwrap().is_some());
    }
}
