//! What is remembered, as a whole: to be listed, and to be forgotten.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::lists::{FOLDER, Lists};
use crate::config::Digest;
use crate::protocol::jsonrpc::scan;
use crate::protocol::method;
use crate::protocol::sorting::sort_by;
use crate::store;

/// A list that is remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The server, as the name of a directory; see [`folder`].
    pub folder: String,
    /// The method whose answer it is; `None` when its first page does not tell.
    pub method: Option<&'static str>,
    /// How old it is.
    pub age: Duration,
    /// How long it is good.
    pub time_to_live: Duration,
    /// How long its pages are, in bytes.
    pub bytes: usize,
}

impl Entry {
    /// Whether it is still good.
    pub fn is_fresh(&self) -> bool {
        self.age < self.time_to_live
    }
}

/// The directory that the lists of a server are in.
pub fn folder(server: &Digest) -> String {
    server.short()
}

impl Lists {
    /// All that is remembered, of one server or of all.
    pub fn entries(&self, server: Option<&Digest>, now: SystemTime) -> Vec<Entry> {
        let mut entries: Vec<Entry> = self
            .files(server)
            .filter_map(|(folder, path)| {
                let (received, time_to_live, pages) = self.load(&path)?;
                let first = pages.first()?;
                Some(Entry {
                    folder,
                    method: method::lists().find(|list| {
                        let pages = method::facts(list).pages;
                        pages.is_some_and(|name| scan::member(first, name).is_some())
                    }),
                    age: now.duration_since(received).unwrap_or_default(),
                    time_to_live,
                    bytes: pages.iter().map(String::len).sum(),
                })
            })
            .collect();
        sort_by(&mut entries, |a, b| (&a.folder, a.method).cmp(&(&b.folder, b.method)));
        entries
    }

    /// Forgets all that is remembered, of one server or of all. Returns how many entries there were.
    pub fn clear(&self, server: Option<&Digest>) -> usize {
        self.files(server).filter(|(_, path)| store::remove(path).is_ok()).count()
    }

    /// The files of entries, each with the name of its directory.
    fn files(&self, server: Option<&Digest>) -> impl Iterator<Item = (String, PathBuf)> + use<> {
        let only = server.map(folder);
        let inside = |path: PathBuf| fs::read_dir(path).into_iter().flatten().flatten();
        let folders = self.directory.iter().map(|directory| directory.join(FOLDER));
        let folders: Vec<_> = folders.flat_map(inside).collect();
        folders.into_iter().flat_map(move |directory| {
            let name = directory.file_name().to_string_lossy().into_owned();
            let is_wanted = only.as_ref().is_none_or(|only| *only == name);
            let files = is_wanted.then(|| inside(directory.path())).into_iter().flatten();
            files.map(move |file| (name.clone(), file.path()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::{Key, Mode, Scope};
    use crate::config::{Overrides, Server, expand, resolve};
    use crate::env::Env;
    use crate::protocol::Revision;
    use crate::protocol::revision::Era;
    use crate::store::scratch::Scratch;

    fn key(lists: &Lists, server: &Server, method: &str) -> Key {
        lists.key(server, Revision::newest(Era::Modern), method, "{}", "somebody")
    }

    #[test]
    fn what_is_remembered_is_listed_and_forgotten() {
        let scratch = Scratch::new();
        let env = Env {
            cwd: Some(scratch.path("")),
            variables: [("HOME", scratch.path("h").to_str().unwrap())].into(),
            user: rustix::process::geteuid().as_raw(),
            ..Env::default()
        };
        let lists = Lists::new(&env, Mode::On);
        let none = Overrides::default();
        let server = |word| expand(&resolve(word, &env, &none).unwrap(), &none, &env).unwrap();
        let (a, b) = (server("http://a/"), server("http://b/"));
        let (now, ttl) = (SystemTime::now(), Duration::from_secs(60));
        let put = |server, method, page: &str| {
            let pages = [page.to_owned(), "{}".to_owned()];
            lists.put(&key(&lists, server, method), &pages, ttl, Scope::Public, now);
        };
        put(&a, "tools/list", "{\"tools\":[]}");
        put(&a, "prompts/list", "{\"prompts\":[]}");
        put(&b, "tools/list", "[]");
        let later = now + Duration::from_secs(30);
        let of_a = lists.entries(Some(&a.identity), later);
        let shown = of_a.iter().map(|entry| (entry.method, entry.bytes, entry.is_fresh()));
        let expected = [(Some("prompts/list"), 16, true), (Some("tools/list"), 14, true)];
        assert_eq!(shown.collect::<Vec<_>>(), expected);
        assert!(of_a.iter().all(|entry| entry.folder == folder(&a.identity)));
        let all = lists.entries(None, now + ttl);
        assert_eq!(all.len(), 3);
        assert!(all.iter().all(|entry| !entry.is_fresh()));
        assert_eq!(lists.clear(Some(&a.identity)), 2);
        assert_eq!(lists.entries(None, now).len(), 1);
        assert_eq!((lists.clear(None), lists.clear(None)), (1, 0));
        // The salt is kept: private lists of other users of it stay private.
        assert!(scratch.path("h/.cache/mcpmini/salt").exists());
    }
}
