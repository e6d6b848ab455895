//! A configured server that came from a card: what the card says today, held against the server.

use super::documents::{Access, documents, findings};
use super::live::{held, read};
use super::signature;
use crate::cli::config::file::only_file;
use crate::cli::run::Run;
use crate::config::{self, Target};
use crate::discovery::compare::Difference;
use crate::discovery::{Candidate, Place};
use crate::net::Address;
use crate::trust::pins::Publisher;

/// Where the card is, and where it differs from what the server says about itself.
#[derive(Debug)]
pub(in crate::cli) struct Origin {
    pub(in crate::cli) card: String,
    pub(in crate::cli) differing: Vec<Difference>,
}

/// Compares a server with the card that its definition was made from. `None` when it was made from
/// none, or when that cannot be had now: what a server is can be told without its card.
pub(in crate::cli) async fn origin(
    run: &Run<'_>,
    word: &str,
    greeting: &str,
    spoken: &str,
) -> Option<Origin> {
    let resolved = config::resolve(word, run.env, &only_file(run)).ok()?;
    let card = resolved.definition.card?;
    let Target::Http(server) = &resolved.definition.target else { return None };
    let address = Address::parse(&card).ok()?;
    // It was asked for without encryption when it was added.
    let access = Access { allow_http: !address.is_tls(), ..Access::default() };
    let documents = documents(run, &access).ok()?;
    let found = findings(run, &documents, &Place::Document(address), &access).await.ok()?;
    let names = |candidate: &&Candidate| {
        candidate.claim.remotes.iter().any(|remote| remote.url == server.url)
    };
    let candidate = match found.candidates.as_slice() {
        [] => {
            run.warn(&format!("the card of this server cannot be had: {card}"));
            return None;
        }
        [one] => one,
        several => several.iter().find(names)?,
    };
    let asked = held(&candidate.claim, read(greeting, Some(spoken.to_owned())));
    Some(Origin { card, differing: asked.differing })
}

/// Who has signed a card; `None` when that cannot be told now.
pub(in crate::cli) async fn publisher(run: &Run<'_>, card: &str) -> Option<Publisher> {
    let address = Address::parse(card).ok()?;
    let access = Access { allow_http: !address.is_tls(), ..Access::default() };
    let mut documents = documents(run, &access).ok()?;
    documents.takes_stale = false;
    let found = findings(run, &documents, &Place::Document(address), &access).await.ok()?;
    let Some(candidate) = found.candidates.first() else {
        run.warn(&format!("who has signed the card of this server cannot be told: {card}"));
        return None;
    };
    signature::look(run, &documents, candidate).await.publisher()
}
