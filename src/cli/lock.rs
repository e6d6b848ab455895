//! `mcpmini lock`: what servers are, in a file that is committed.

use std::path::{Path, PathBuf};

use smol::LocalExecutor;

use super::args::trust_commands::Lock;
use super::consent::no_lock;
use super::contact::Contact;
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::lines::Lines;
use super::run::Run;
use crate::protocol::json;
use crate::protocol::message::Sent;
use crate::protocol::params::Members;
use crate::trust::pins::{Facets, LockError, LockFile, visible};

/// The lock file, where none is named.
const FILE: &str = "mcpmini.lock.json";

/// Locks servers as they are now. Nothing is written unless all of them answer, and are what was
/// accepted here, if something was.
pub(super) async fn run(
    run: &Run<'_>,
    lock: &Lock,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    let path = run.globals.lock.clone().unwrap_or_else(|| PathBuf::from(FILE));
    let path = run.env.absolute(&path);
    let mut file = read(run, &path)?;
    let servers = match lock.servers.is_empty() {
        true => file.servers().map(str::to_owned).collect(),
        false => lock.servers.clone(),
    };
    if servers.is_empty() {
        let text = format!("which servers? there are none in {}", path.display());
        return Err(Error::new(Exit::Usage, text).phase(Phase::Usage).sent(Sent::No));
    }
    let mut lines = Lines::new(run, &["NAME", "STATE", "TOOLS", "DIGEST"]);
    let mut is_new = false;
    let mut locked = Vec::new();
    for word in &servers {
        let mut contact = Contact::find(run, word, executor)?;
        let surveyed = contact.survey().await;
        let surveyed = surveyed.and_then(|()| contact.watcher.consent.check_all());
        let consent = &contact.watcher.consent;
        let (name, facets) = (consent.key.name.clone(), consent.current_for(&path));
        let parts = consent.parts();
        if let Err(error) = surveyed {
            return contact.finish(Err(error)).await;
        }
        if let Some(signal) = contact.close().await {
            return Err(super::explain::interrupted(signal));
        }
        let changed = file.set(&name, facets.clone(), parts);
        is_new |= changed;
        locked.push((name, facets, changed));
    }
    if is_new {
        file.write(&path).map_err(|error| no_lock(&error))?;
    }
    for (name, facets, changed) in &locked {
        lines.item(&row(name, facets, *changed), || columns(name, facets, *changed))?;
    }
    lines.finish()
}

/// The lock file as it is; one that is not there yet has no servers.
fn read(run: &Run<'_>, path: &Path) -> Result<LockFile, Error> {
    match LockFile::read(path, run.env.deadline()) {
        Err(LockError::Missing(_)) => Ok(LockFile::new()),
        Err(error) => Err(no_lock(&error)),
        Ok(file) => Ok(file),
    }
}

fn row(name: &str, facets: &Facets, changed: bool) -> String {
    let mut row = Members::new();
    row.push("name", &json::string(name));
    row.push("changed", if changed { "true" } else { "false" });
    row.push("tools", &tools(facets).to_string());
    row.push("digest", &json::string(&facets.digest().to_string()));
    row.finish()
}

fn columns(name: &str, facets: &Facets, changed: bool) -> Vec<String> {
    let state = if changed { "locked" } else { "unchanged" };
    vec![visible(name), state.to_owned(), tools(facets).to_string(), facets.digest().to_string()]
}

fn tools(facets: &Facets) -> usize {
    facets.tools.as_ref().map_or(0, std::collections::BTreeMap::len)
}
