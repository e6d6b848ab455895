//! A configured server that came from a card: what the card says today, held against the server.

use super::documents::{Access, documents, findings};
use super::live::{held, read};
use super::signature;
use crate::cli::config::file::only_file;
use crate::cli::run::Run;
use crate::config::{self, Target};
use crate::discovery::compare::Difference;
use crate::discovery::documents::Miss;
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

/// The longest catalog that is looked into for one card, in bytes.
const CATALOG_LIMIT: usize = 4 << 20;

/// Who has signed a card, as far as what lies beside it tells, or the catalog that said so when it was
/// `known`; `None` when that cannot be told now.
pub(in crate::cli) async fn publisher(
    run: &Run<'_>,
    card: &str,
    known: Option<&Publisher>,
) -> Option<Publisher> {
    let catalog = known.and_then(|known| known.catalog.as_deref());
    let address = Address::parse(catalog.unwrap_or(card)).ok()?;
    let access = Access {
        allow_http: !address.is_tls(),
        only: catalog.map(|_| card),
        max_card_bytes: catalog.map(|_| CATALOG_LIMIT),
        ..Access::default()
    };
    let documents = documents(run, &access).ok()?.checked();
    let found = findings(run, &documents, &Place::Document(address.clone()), &access).await.ok()?;
    let first = found.tried.first().and_then(|tried| tried.miss.as_ref());
    let told = match found.candidates.first() {
        Some(candidate) if candidate.document.is_some() => {
            let found = signature::look(run, &documents, candidate).await.publisher();
            found.map(|it| if it.is_none() { it.found_in(catalog) } else { it })
        }
        // The catalog is there, and does not list the card any more, or it is gone.
        None if catalog.is_some() && first.is_none_or(Miss::is_absence) => {
            Some(Publisher::none().found_in(catalog))
        }
        _ => None,
    };
    if told.is_none() && (known.is_some() || found.candidates.is_empty()) {
        let text = format!("who has signed the card of this server cannot be told now: {address}");
        run.warn(&text);
    }
    told
}
