//! From a claim to what stands in a configuration file.

use super::answers::Said;
use crate::cli::args::choices::Transport;
use crate::cli::errors::Error;
use crate::cli::run::Run;
use crate::config::Entry;
use crate::discovery::claim::Binding;
use crate::discovery::{Candidate, fill};
use crate::net::Address;

/// What would stand in the file, and the address that it names.
pub(in crate::cli) fn entry(
    run: &Run<'_>,
    candidate: &Candidate,
    said: &Said<'_>,
) -> Result<(Entry, Address), Error> {
    let takes_sse = run.globals.transport == Some(Transport::Sse);
    let endpoint =
        said.fill(|answers| fill::endpoint(fill::remote(&candidate.claim, takes_sse)?, answers))?;
    let mut entry = Entry::new();
    let kind = match endpoint.binding {
        Binding::Http => "http",
        Binding::Sse => "sse",
    };
    entry.insert("type".to_owned(), kind.into());
    entry.insert("url".to_owned(), endpoint.url.into());
    if !endpoint.headers.is_empty() {
        let headers = endpoint.headers.into_iter().map(|(name, value)| (name, value.into()));
        entry.insert("headers".to_owned(), headers.collect::<Entry>().into());
    }
    if let Some(document) = &candidate.document {
        // A card inside of a catalog has no place of its own.
        let inside = candidate.entry.as_ref().filter(|_| document.body.is_empty());
        if inside.is_some() || !document.body.is_empty() {
            entry.insert("card".to_owned(), document.requested.as_str().into());
        }
        if let Some(listed) = inside {
            entry.insert("cardEntry".to_owned(), listed.identifier.as_str().into());
        }
    }
    Ok((entry, endpoint.address))
}
