//! `mcpmini discover`: the servers of a host, as far as documents tell.

mod answers;
mod documents;
mod entry;
mod failure;
mod line;
mod live;
mod origin;
mod probe;
mod registry;
pub(super) mod sheet;
pub(super) mod signature;

pub(super) use answers::Said;
pub(super) use documents::{
    Access, admit, documents, fetcher, findings, is_named, options, place, place_or_name,
    read_file, registry_name,
};
pub(super) use entry::entry;
pub(super) use failure::{choose, nothing};
pub(super) use line::{json, package_json};
pub(super) use live::{Asked, Stranger, ask, differences_json, heed, held, of as live, push_asked};
pub(super) use origin::{Origin, origin, publisher};
pub(super) use registry::{registry, unregistered};
pub(super) use sheet::said;

use smol::LocalExecutor;

use super::args::discovery_commands::Discover;
use super::errors::Error;
use super::exit::Exit;
use super::lines::Lines;
use super::run::Run;
use crate::discovery::Place;

/// Lists what is found.
pub(super) async fn run(
    run: &Run<'_>,
    wanted: &Discover,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    let (place, entry) = place_or_name(run, &wanted.place)?;
    let access = Access {
        standard: wanted.standard,
        html: wanted.html,
        max_card_bytes: wanted.max_card_bytes,
        allow_http: wanted.allow_http,
        offline: wanted.offline,
        registry: wanted.registry.as_deref(),
        only: entry.as_deref(),
    };
    let documents = documents(run, &access)?;
    let found = findings(run, &documents, &place, &access).await?;
    if found.candidates.is_empty() {
        if let (true, Place::Host(host)) = (wanted.probe, &place) {
            return probe::run(run, host, &found, executor).await;
        }
        return Err(nothing(&wanted.place, &place, &found));
    }
    let mut lines = Lines::new(run, &["NAME", "VERSION", "URL", "FOUND IN", "NOTES"]);
    for candidate in &found.candidates {
        lines.item(&json(candidate, &signature::of(candidate)), || line::columns(candidate))?;
    }
    lines.finish()
}
