//! `mcpmini cache`: what is stored about servers.

use super::args::many::{Cache, CacheAction};
use super::errors::Error;
use super::exit::Exit;
use super::explain;
use super::lines::Lines;
use super::run::Run;
use super::target;
use crate::cache::{self, Entry, Eras, Lists, Mode};
use crate::config::{self, Digest, Overrides};
use crate::discovery::documents;
use crate::protocol::json;
use crate::protocol::params::Members;

/// Lists or forgets what is stored.
pub(super) fn run(run: &Run<'_>, cache: &Cache) -> Result<Exit, Error> {
    let overrides = target::overrides(run)?;
    let identity = match &cache.server {
        None => None,
        Some(word) => {
            let resolved = config::resolve(word, run.env, &overrides).map_err(explain::config)?;
            Some(config::identity(&resolved, &overrides))
        }
    };
    // Whoever looks at what is stored wants to see it whatever else is said about its use.
    let lists = Lists::new(run.env, Mode::On);
    match cache.action {
        CacheAction::Clear => clear(run, &lists, identity.as_ref()),
        CacheAction::List => {
            list(run, &lists, &overrides, identity.as_ref(), cache.server.as_deref())
        }
    }
}

fn clear(run: &Run<'_>, lists: &Lists, server: Option<&Digest>) -> Result<Exit, Error> {
    let count = lists.clear(server);
    let eras = Eras::new(run.env, Mode::On);
    match server {
        Some(server) => eras.forget(server),
        None => {
            eras.clear();
            documents::forget_all(run.env);
        }
    }
    run.remark(&format!("{count} lists are forgotten"));
    Ok(Exit::Ok)
}

fn list(
    run: &Run<'_>,
    lists: &Lists,
    overrides: &Overrides,
    server: Option<&Digest>,
    word: Option<&str>,
) -> Result<Exit, Error> {
    let names = names(run, overrides);
    let mut lines = Lines::new(run, &["SERVER", "LIST", "STATE", "AGE", "BYTES"]);
    for entry in lists.entries(server, run.env.now()) {
        let known = names.iter().find(|(folder, _)| *folder == entry.folder);
        let known = known.map(|(_, name)| name.as_str()).or(word);
        lines.item(&json(&entry, known), || columns(&entry, known))?;
    }
    lines.finish()
}

/// The servers of the configuration, by the directories that their lists are in. Of others nothing
/// is stored that tells who they are.
fn names(run: &Run<'_>, overrides: &Overrides) -> Vec<(String, String)> {
    let (listed, _) = config::list(run.env, overrides);
    let known = listed.into_iter().filter_map(|server| {
        let identity = config::identity(&server.resolved.ok()?, overrides);
        Some((cache::folder(&identity), server.name))
    });
    known.collect()
}

fn state(entry: &Entry) -> &'static str {
    if entry.is_fresh() { "fresh" } else { "stale" }
}

fn json(entry: &Entry, server: Option<&str>) -> String {
    let mut row = Members::new();
    if let Some(server) = server {
        row.push("server", &json::string(server));
    }
    row.push("key", &json::string(&entry.folder));
    if let Some(method) = entry.method {
        row.push("method", &json::string(method));
    }
    row.push("fresh", if entry.is_fresh() { "true" } else { "false" });
    row.push("ageMs", &entry.age.as_millis().to_string());
    row.push("ttlMs", &entry.time_to_live.as_millis().to_string());
    row.push("bytes", &entry.bytes.to_string());
    row.finish()
}

fn columns(entry: &Entry, server: Option<&str>) -> Vec<String> {
    vec![
        server.unwrap_or(&entry.folder).to_owned(),
        entry.method.unwrap_or("?").to_owned(),
        state(entry).to_owned(),
        format!("{}s", entry.age.as_secs()),
        entry.bytes.to_string(),
    ]
}
