//! Lists of tools and the like, as long as the server says they are good (2026-07-28, Caching).
//!
//! An entry is a file, `mcp/<server>/<request>[-<context>]` in the cache directory: one line that
//! says when it was received, for how long it is good, and how long each page is; then the pages,
//! as they were received. Entries that may be shared have no context in their name.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::Mode;
use super::context::Context;
use crate::config::{Digest, Endpoint, Server};
use crate::env::Env;
use crate::protocol::jsonrpc::scan;
use crate::protocol::sorting::sort;
use crate::protocol::{Revision, json};
use crate::store::{self, Guard};

/// The directory of all entries, in the cache directory.
pub(super) const FOLDER: &str = "mcp";
/// The file with the salt of contexts, there.
const SALT_FILE: &str = "salt";
/// The longest entry, in bytes.
const ENTRY_LIMIT: usize = 8 << 20;
/// How much all entries may be together, in bytes.
const TOTAL_LIMIT: u64 = 64 << 20;
/// The longest time an entry is good, whatever the server says.
const LONGEST: Duration = Duration::from_secs(24 * 3600);
const VERSION: u32 = 1;

/// For whom an answer is good (`cacheScope`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// For everybody.
    Public,
    /// For whoever asks with the same credentials.
    Private,
}

impl Scope {
    /// The scope by its name. What is missing or unknown is private, which is safe.
    pub fn named(name: Option<&str>) -> Scope {
        if name == Some("public") { Scope::Public } else { Scope::Private }
    }
}

/// What an answer depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    server: String,
    request: String,
    context: Option<Context>,
}

/// An answer that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The pages, as they were received.
    pub pages: Vec<String>,
    /// Whether they are still good.
    pub is_fresh: bool,
}

/// The first line of an entry.
#[derive(Serialize, Deserialize)]
struct Head {
    version: u32,
    /// Milliseconds since 1970.
    received: u64,
    /// Milliseconds.
    ttl: u64,
    /// The length of each page, in bytes.
    pages: Vec<usize>,
}

/// The remembered lists.
#[derive(Debug)]
pub struct Lists {
    pub(super) directory: Option<PathBuf>,
    mode: Mode,
    user: u32,
}

impl Lists {
    /// The lists of this user. Nothing is read yet.
    pub fn new(env: &Env, mode: Mode) -> Lists {
        Lists { directory: env.cache_dir(), mode, user: env.user }
    }

    /// The key of an answer. `params` is the canonical text of the parameters without `_meta` and
    /// cursor; `account` is what else the answer depends on, for example who is logged in. It is not
    /// a token, which changes while the account stays.
    pub fn key(
        &self,
        server: &Server,
        revision: &Revision,
        method: &str,
        params: &str,
        account: &str,
    ) -> Key {
        // A command can mean another program, or other files, in another directory.
        let cwd = match &server.endpoint {
            Endpoint::Stdio(endpoint) => endpoint.cwd.as_deref().map(Path::to_string_lossy),
            Endpoint::Http(_) => None,
        };
        let mut request = String::new();
        for part in [revision.date, method, params, &cwd.unwrap_or_default()] {
            json::push_string(&mut request, part);
        }
        let directory = self.directory.as_deref().filter(|_| self.mode != Mode::Off);
        Key {
            server: server.identity.short(),
            request: Digest::of(request.as_bytes()).short(),
            context: directory.and_then(|directory| {
                Context::of(server, account, &directory.join(SALT_FILE), self.user)
            }),
        }
    }

    /// The pages of an answer, if they are still good.
    pub fn get(&self, key: &Key, now: SystemTime) -> Option<Vec<String>> {
        self.find(key, now).filter(|found| found.is_fresh).map(|found| found.pages)
    }

    /// The pages of an answer, good or not, for when a stale answer is better than none.
    pub fn find(&self, key: &Key, now: SystemTime) -> Option<Found> {
        if !self.mode.reads() {
            return None;
        }
        self.read(key, Scope::Private, now).or_else(|| self.read(key, Scope::Public, now))
    }

    /// Remembers the pages of an answer for `ttl`, the shortest of theirs, but no longer than 24
    /// hours. One that is good for no time is stale at once, which is better than none for some
    /// ([`Lists::find`]). Answers of more than 8 MiB or of no page are not remembered.
    pub fn put(&self, key: &Key, pages: &[String], ttl: Duration, scope: Scope, now: SystemTime) {
        if !self.mode.writes() {
            return;
        }
        // Most answers that are good for no time are the same each time: that spares the write.
        let path = self.path(key, scope).filter(|_| ttl.is_zero());
        let known = path.and_then(|path| self.entry(&path));
        if known.is_some_and(|(head, known)| head.ttl == 0 && known == pages) {
            return;
        }
        // An older answer could have another scope, and would be found first.
        self.forget(key);
        self.write(key, pages, ttl.min(LONGEST), scope, now);
    }

    /// The pages of the latest answer of a server that has a certain member, good or not, and
    /// whoever asked for it. It is for suggestions while the user types, when there is no time to
    /// find out what an answer depends on; the files are the user's own.
    pub fn latest(&self, server: &Digest, member: &str) -> Option<Vec<String>> {
        let directory = self.directory.as_ref().filter(|_| self.mode.reads())?;
        let entries = fs::read_dir(directory.join(FOLDER).join(server.short())).ok()?;
        let mut files: Vec<_> = entries
            .filter_map(|entry| {
                let entry = entry.ok()?;
                Some((entry.metadata().ok()?.modified().ok()?, entry.path()))
            })
            .collect();
        sort(&mut files);
        let found =
            files.iter().rev().filter_map(|(_, path)| self.valid_entry(path)).find(|(_, pages)| {
                pages.first().is_some_and(|page| scan::member(page, member).is_some())
            });
        found.map(|(_, pages)| pages)
    }

    /// Forgets an answer.
    pub fn forget(&self, key: &Key) {
        for scope in [Scope::Private, Scope::Public] {
            if let Some(path) = self.path(key, scope) {
                let _ = store::remove(&path);
            }
        }
    }

    /// Where an answer of a scope is kept; `None` when it cannot be.
    fn path(&self, key: &Key, scope: Scope) -> Option<PathBuf> {
        let name = match scope {
            Scope::Public => key.request.clone(),
            Scope::Private => format!("{}-{}", key.request, key.context.as_ref()?.as_str()),
        };
        Some(self.directory.as_ref()?.join(FOLDER).join(&key.server).join(name))
    }

    fn read(&self, key: &Key, scope: Scope, now: SystemTime) -> Option<Found> {
        let (received, ttl, pages) = self.load(&self.path(key, scope)?)?;
        // A moment in the future is a clock that was wrong.
        let is_fresh = now.duration_since(received).is_ok_and(|age| age < ttl);
        Some(Found { pages, is_fresh })
    }

    /// Reads an entry: when it was received, how long it is good, and its pages.
    pub(super) fn load(&self, path: &Path) -> Option<(SystemTime, Duration, Vec<String>)> {
        let (head, pages) = self.valid_entry(path)?;
        let received = SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(head.received))?;
        Some((received, Duration::from_millis(head.ttl).min(LONGEST), pages))
    }

    /// Reads an entry whose pages are JSON.
    fn valid_entry(&self, path: &Path) -> Option<(Head, Vec<String>)> {
        let is_json = |page: &String| json::validate(page).is_ok();
        self.entry(path).filter(|(_, pages)| pages.iter().all(is_json))
    }

    /// Reads an entry: its head, and its pages, which may be anything.
    fn entry(&self, path: &Path) -> Option<(Head, Vec<String>)> {
        let guard = Guard::Everybody { user: self.user };
        let text = store::read_text(path, ENTRY_LIMIT as u64, guard).ok()??;
        let (head, mut rest) = text.split_once('\n')?;
        let head: Head = serde_json::from_str(head).ok()?;
        if head.version != VERSION {
            return None;
        }
        let mut pages = Vec::new();
        for length in &head.pages {
            let (page, after) = rest.split_at_checked(*length)?;
            pages.push(page.to_owned());
            rest = after;
        }
        rest.is_empty().then_some((head, pages))
    }

    fn write(
        &self,
        key: &Key,
        pages: &[String],
        ttl: Duration,
        scope: Scope,
        now: SystemTime,
    ) -> Option<()> {
        let path = self.path(key, scope)?;
        let millis = |time: Duration| u64::try_from(time.as_millis()).ok();
        let head = Head {
            version: VERSION,
            received: millis(now.duration_since(SystemTime::UNIX_EPOCH).ok()?)?,
            ttl: millis(ttl)?,
            pages: pages.iter().map(String::len).collect(),
        };
        let mut text = serde_json::to_string(&head).expect("numbers serialize");
        text.push('\n');
        let length = text.len() + head.pages.iter().sum::<usize>();
        if length > ENTRY_LIMIT || pages.is_empty() {
            return None;
        }
        text.extend(pages.iter().map(String::as_str));
        store::make_room(&self.directory.as_ref()?.join(FOLDER), length as u64, TOTAL_LIMIT);
        store::replace(&path, text.as_bytes()).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use super::*;
    use crate::config::{Overrides, expand, resolve};
    use crate::store::scratch::Scratch;

    fn env(scratch: &Scratch) -> Env {
        Env {
            cwd: Some(scratch.path("")),
            variables: [("HOME", scratch.path("h").to_str().unwrap())].into(),
            user: rustix::process::geteuid().as_raw(),
            ..Env::default()
        }
    }

    fn at(millis: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_764_000_000) + Duration::from_millis(millis)
    }

    fn server(word: &str, overrides: &Overrides, env: &Env) -> Server {
        expand(&resolve(word, env, overrides).unwrap(), overrides, env).unwrap()
    }

    fn key_of(word: &str, overrides: &Overrides, env: &Env) -> Key {
        let revision = Revision::named("2026-07-28").unwrap();
        Lists::new(env, Mode::On).key(
            &server(word, overrides, env),
            revision,
            "tools/list",
            "{}",
            "",
        )
    }

    fn key(env: &Env) -> Key {
        key_of("http://h/", &Overrides::default(), env)
    }

    fn pages(pages: &[&str]) -> Vec<String> {
        pages.iter().map(|page| (*page).to_owned()).collect()
    }

    const TTL: Duration = Duration::from_millis(1000);

    /// The files of all entries, relative to the scratch directory.
    fn files(scratch: &Scratch) -> Vec<String> {
        let inside = |path| fs::read_dir(path).into_iter().flatten().flatten();
        let servers = inside(scratch.path("h/.cache/mcpmini/mcp"));
        let entries = servers.flat_map(|server| inside(server.path()));
        let top = scratch.path("");
        entries
            .map(|entry| entry.path().strip_prefix(&top).unwrap().to_str().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn pages_come_back_as_they_were_received_while_they_are_good() {
        let scratch = Scratch::new();
        let env = env(&scratch);
        let lists = Lists::new(&env, Mode::On);
        let key = key(&env);
        let received = pages(&[" {\"tools\" : [1.50, 12345678901234567890]}\r\n", "{\"ä\":\n2}"]);
        assert_eq!(lists.get(&key, at(0)), None);
        lists.put(&key, &received, TTL, Scope::Private, at(0));
        assert_eq!(lists.get(&key, at(0)), Some(received.clone()));
        assert_eq!(lists.get(&key, at(999)), Some(received.clone()));
        assert_eq!(lists.get(&key, at(1000)), None);
        let stale = Found { pages: received, is_fresh: false };
        assert_eq!(lists.find(&key, at(1000)), Some(stale.clone()));
        assert_eq!(lists.find(&key, at(0) - TTL), Some(stale), "a clock that was put back");

        let file = scratch.path(&files(&scratch)[0]);
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
        lists.forget(&key);
        assert_eq!(lists.find(&key, at(0)), None);
        lists.forget(&key);
    }

    #[test]
    fn what_is_too_long_or_too_short_lived_is_not_kept() {
        let scratch = Scratch::new();
        let env = env(&scratch);
        let lists = Lists::new(&env, Mode::On);
        let key = key(&env);
        let kept = |received: &[String], ttl, now| {
            lists.put(&key, received, ttl, Scope::Private, at(0));
            lists.get(&key, now).is_some()
        };
        let small = pages(&["{}"]);
        let large = vec![format!("\"{}\"", "x".repeat(ENTRY_LIMIT / 2 - 100)); 2];
        assert!(kept(&small, TTL, at(0)));
        assert!(!kept(&small, Duration::ZERO, at(0)), "and what was there before is gone");
        let stale = Found { pages: small.clone(), is_fresh: false };
        assert_eq!(lists.find(&key, at(0)), Some(stale));
        assert!(!kept(&small, Duration::from_nanos(999_999), at(0)));
        assert!(!kept(&[], TTL, at(0)));
        assert!(kept(&large, TTL, at(0)));
        assert!(!kept(&[large[0].clone(), large[0].clone() + &" ".repeat(200)], TTL, at(0)));
        let day = 24 * 3600 * 1000;
        assert!(kept(&small, Duration::MAX, at(day - 1)));
        assert!(!kept(&small, Duration::MAX, at(day)));
    }

    #[test]
    fn what_is_good_for_no_time_can_be_found() {
        let scratch = Scratch::new();
        let env = env(&scratch);
        let lists = Lists::new(&env, Mode::On);
        let (key, received) = (key(&env), pages(&["{\"tools\":[]}"]));
        let put = |ttl, now| {
            lists.put(&key, &received, ttl, Scope::Private, at(now));
            fs::metadata(scratch.path(&files(&scratch)[0])).unwrap().ino()
        };
        let first = put(Duration::ZERO, 0);
        let stale = Some(Found { pages: received.clone(), is_fresh: false });
        assert_eq!((lists.get(&key, at(0)), lists.find(&key, at(0))), (None, stale.clone()));
        assert_eq!(put(Duration::ZERO, 1), first, "the same is not written again");
        put(TTL, 2);
        assert!(lists.get(&key, at(2)).is_some());
        put(Duration::ZERO, 3);
        assert_eq!(lists.find(&key, at(3)), stale, "the server has changed its mind");
    }

    #[test]
    fn the_latest_list_is_found_by_what_is_in_it() {
        let scratch = Scratch::new();
        let env = env(&scratch);
        let lists = Lists::new(&env, Mode::On);
        let (tools, more, prompts) = ("{\"tools\":[1]}", "{\"tools\":[2]}", "{\"prompts\":[3]}");
        let put = |method: &str, page: &str, seconds: u64| {
            let server = server("http://h/", &Overrides::default(), &env);
            let revision = Revision::named("2026-07-28").unwrap();
            let key = lists.key(&server, revision, method, "{}", "");
            lists.put(&key, &pages(&[page]), TTL, Scope::Private, at(0));
            for file in files(&scratch) {
                let path = scratch.path(&file);
                if fs::read_to_string(&path).unwrap().ends_with(page) {
                    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
                    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
                }
            }
        };
        put("tools/list", tools, 1);
        put("other/list", more, 3);
        put("prompts/list", prompts, 2);
        let identity = server("http://h/", &Overrides::default(), &env).identity;
        let found = |member| lists.latest(&identity, member);
        assert_eq!(found("tools"), Some(pages(&[more])));
        assert_eq!(found("prompts"), Some(pages(&[prompts])));
        assert_eq!(found("resources"), None);
        assert_eq!(lists.latest(&Digest::of(b""), "tools"), None);
        assert_eq!(Lists::new(&env, Mode::Off).latest(&identity, "tools"), None);
    }

    #[test]
    fn private_answers_are_for_the_same_credentials() {
        let scratch = Scratch::new();
        let env = env(&scratch);
        let lists = Lists::new(&env, Mode::On);
        let with = |name: &str, value: &str| {
            let headers = vec![(name.to_owned(), value.into())];
            key_of("http://h/", &Overrides { headers, ..Overrides::default() }, &env)
        };
        let received = pages(&["{}"]);
        lists.put(&with("Authorization", "1"), &received, TTL, Scope::Private, at(0));
        assert!(lists.get(&with("Authorization", "1"), at(0)).is_some());
        assert!(lists.get(&with("authorization", "1"), at(0)).is_some());
        assert!(lists.get(&with("Authorization", "2"), at(0)).is_none());
        assert!(lists.get(&key(&env), at(0)).is_none());

        lists.put(&with("Authorization", "2"), &received, TTL, Scope::Public, at(0));
        assert!(lists.get(&with("Authorization", "3"), at(0)).is_some());

        // A later answer counts, whatever its scope.
        let [second, third] = [pages(&["2"]), pages(&["3"])];
        lists.put(&with("Authorization", "1"), &second, TTL, Scope::Public, at(0));
        assert_eq!(lists.get(&with("Authorization", "1"), at(0)), Some(second.clone()));
        lists.put(&with("Authorization", "1"), &third, TTL, Scope::Private, at(0));
        assert_eq!(lists.get(&with("Authorization", "1"), at(0)), Some(third));

        let text = format!("{:?} {:?}", files(&scratch), with("Authorization", "hunter2"));
        assert!(!text.contains("hunter2"));
    }

    #[test]
    fn keys_differ_where_answers_could() {
        let scratch = Scratch::new();
        let env = env(&scratch);
        scratch.write("sub/file", "");
        let lists = Lists::new(&env, Mode::On);
        let none = Overrides::default();
        let server = |word: &str| server(word, &none, &env);
        let key = |server: &Server, date: &str, method: &str, params: &str, account: &str| {
            lists.key(server, Revision::named(date).unwrap(), method, params, account)
        };
        let plain = || key(&server("exec:x"), "2026-07-28", "tools/list", "{}", "");
        assert_eq!(plain(), plain());
        let there = Env { cwd: Some(scratch.path("sub")), ..env.clone() };
        let with_env = Overrides { env: vec![("A".into(), "1".into())], ..Overrides::default() };
        let others = [
            key(&server("exec:y"), "2026-07-28", "tools/list", "{}", ""),
            key(&server("exec:x"), "2025-11-25", "tools/list", "{}", ""),
            key(&server("exec:x"), "2026-07-28", "prompts/list", "{}", ""),
            key(&server("exec:x"), "2026-07-28", "tools/list", "{\"a\":1}", ""),
            key(&server("exec:x"), "2026-07-28", "tools/list", "{}", "me"),
            key_of("exec:x", &none, &there),
            key_of("exec:x", &with_env, &env),
        ];
        for (index, other) in others.iter().enumerate() {
            assert_ne!(*other, plain(), "{index}");
        }
    }

    #[test]
    fn an_entry_that_was_tampered_with_is_not_there() {
        let scratch = Scratch::new();
        let env = env(&scratch);
        let lists = Lists::new(&env, Mode::On);
        let key = key(&env);
        lists.put(&key, &pages(&["{\"a\":1}", "[]"]), TTL, Scope::Private, at(0));
        let file = files(&scratch)[0].clone();
        let good = scratch.read(&file);
        let check = |text: &str, found: bool| {
            scratch.write(&file, text);
            assert_eq!(lists.get(&key, at(0)).is_some(), found, "{text}");
        };
        check(&good, true);
        check("", false);
        check("\n", false);
        check("{}\n", false);
        check(good.lines().next().unwrap(), false);
        check(&good.replace("\"version\":1", "\"version\":2"), false);
        check(&good.replace("[7,2]", "[7]"), false);
        check(&good.replace("[7,2]", "[7,3]"), false);
        check(&good.replace("[7,2]", "[8,1]"), false);
        check(&good.replace("[7,2]", "[18446744073709551615,2]"), false);
        check(&good.replace("{\"a\":1}", "{\"a\":1 "), false);
        check(&good.replace("\"ttl\":1000", "\"ttl\":-1"), false);
        check(&(good.clone() + " "), false);
        scratch.write(&file, &good);
        scratch.chmod(&file, 0o646);
        assert_eq!(lists.get(&key, at(0)), None, "anybody could have written it");
    }

    #[test]
    fn the_mode_decides_what_is_done() {
        let scratch = Scratch::new();
        let env = env(&scratch);
        let server = server("http://h/", &Overrides::default(), &env);
        let lists = |mode| Lists::new(&env, mode);
        let key = |mode, account| {
            lists(mode).key(&server, Revision::all().last().unwrap(), "m", "{}", account)
        };
        let received = pages(&["{}"]);
        let salt = scratch.path("h/.cache/mcpmini/salt");
        assert!(key(Mode::On, "").context.is_some());
        assert!(!salt.exists(), "who shows no credentials has none to hide");
        assert_eq!(key(Mode::Off, "somebody").context, None);
        assert!(!salt.exists());
        let key = key(Mode::On, "somebody");
        assert!(salt.exists());
        lists(Mode::Off).put(&key, &received, TTL, Scope::Private, at(0));
        assert!(files(&scratch).is_empty());
        lists(Mode::Refresh).put(&key, &received, TTL, Scope::Private, at(0));
        assert_eq!(lists(Mode::Refresh).get(&key, at(0)), None);
        assert_eq!(lists(Mode::Off).get(&key, at(0)), None);
        assert_eq!(lists(Mode::On).get(&key, at(0)), Some(received));
    }

    #[test]
    fn without_a_home_nothing_is_kept() {
        let env = Env::default();
        let key = key(&env);
        let lists = Lists::new(&env, Mode::On);
        lists.put(&key, &pages(&["{}"]), TTL, Scope::Public, at(0));
        lists.forget(&key);
        assert_eq!(lists.get(&key, at(0)), None);
    }

    #[test]
    fn scopes_are_private_unless_said_otherwise() {
        for (name, expected) in [
            (Some("public"), Scope::Public),
            (Some("private"), Scope::Private),
            (Some("Public"), Scope::Private),
            (Some("shared"), Scope::Private),
            (None, Scope::Private),
        ] {
            assert_eq!(Scope::named(name), expected);
        }
    }
}
