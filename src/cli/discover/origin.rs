//! A configured server that came from a card: what the card says today, held against the server.

use super::documents::{Access, documents, findings};
use super::live::{held, read};
use super::signature;
use crate::cli::config::file::only_file;
use crate::cli::run::Run;
use crate::config::{self, Card, Target};
use crate::discovery::compare::Difference;
use crate::discovery::documents::Miss;
use crate::discovery::{Candidate, Place};
use crate::net::Address;
use crate::protocol::visible::visible;
use crate::trust::pins::Publisher;

/// Where the card is, and where it differs from what the server says about itself.
#[derive(Debug)]
pub(in crate::cli) struct Origin {
    pub(in crate::cli) card: Card,
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
    let (address, access) = again(&card.url, card.entry.as_deref())?;
    let documents = documents(run, &access).ok()?;
    let found = findings(run, &documents, &Place::Document(address), &access).await.ok()?;
    let names = |candidate: &&Candidate| {
        candidate.claim.remotes.iter().any(|remote| remote.url == server.url)
    };
    let is_meant = |it: &&Candidate| card.entry.as_deref().is_none_or(|entry| it.is_entry(entry));
    let mut meant = found.candidates.iter().filter(is_meant);
    let candidate = match (meant.next(), meant.clone().next()) {
        (None, _) => {
            run.warn(&format!(
                "the card of this server cannot be had: {}",
                visible(&card.to_string())
            ));
            return None;
        }
        (Some(one), None) => one,
        (Some(first), Some(_)) => [first].into_iter().chain(meant).find(names)?,
    };
    let asked = held(&candidate.claim, read(greeting, Some(spoken.to_owned())));
    Some(Origin { card, differing: asked.differing })
}

/// The longest document that is looked at again, in bytes: as long as any that may be asked for.
const LIMIT: usize = 8 << 20;

/// Where a document is looked at again, and how. `only` is what is meant in it.
fn again<'a>(url: &str, only: Option<&'a str>) -> Option<(Address, Access<'a>)> {
    let address = Address::parse(url).ok()?;
    // It was asked for without encryption when the server was added; on this machine that needs no
    // permission, and is none for others.
    let allow_http = !address.is_tls() && !address.is_loopback();
    let max_card_bytes = Some(LIMIT);
    Some((address, Access { allow_http, only, max_card_bytes, ..Access::default() }))
}

/// Who has signed a card, as far as what lies beside it tells, or the catalog that has it inside or said
/// so when it was `known`; `None` when that cannot be told now.
pub(in crate::cli) async fn publisher(
    run: &Run<'_>,
    card: &Card,
    known: Option<&Publisher>,
) -> Option<Publisher> {
    let (catalog, only) = match &card.entry {
        Some(entry) => (Some(card.url.as_str()), entry),
        None => (known.and_then(|known| known.catalog.as_deref()), &card.url),
    };
    let (address, access) = again(catalog.unwrap_or(&card.url), catalog.map(|_| only.as_str()))?;
    let documents = documents(run, &access).ok()?.checked();
    let found = findings(run, &documents, &Place::Document(address.clone()), &access).await.ok()?;
    let first = found.tried.first().and_then(|tried| tried.miss.as_ref());
    let is_meant = |it: &&Candidate| card.entry.as_deref().is_none_or(|entry| it.is_entry(entry));
    let candidate = found.candidates.iter().find(is_meant);
    let told = match candidate {
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
    if told.is_none() && (known.is_some() || candidate.is_none()) {
        let text = format!("who has signed the card of this server cannot be told now: {address}");
        run.warn(&text);
    }
    told
}
