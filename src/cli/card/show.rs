//! `mcpmini card show`: what a card claims, and with `--connect` what the server says to that.

use smol::LocalExecutor;

use super::resource;
use crate::cli::args::Format;
use crate::cli::args::discovery_commands::Card;
use crate::cli::args::usage::first_given;
use crate::cli::config::file::only_file;
use crate::cli::consent::{hold_publisher, known_publisher};
use crate::cli::discover::signature::{self, Signature};
use crate::cli::discover::{self, Access, Asked, Said, Stranger, sheet};
use crate::cli::errors::{Error, Phase};
use crate::cli::exit::Exit;
use crate::cli::output;
use crate::cli::run::Run;
use crate::config::{self, Word};
use crate::discovery::{Candidate, Documents, Place};
use crate::protocol::message::Sent;
use crate::protocol::params::Members;

/// Shows one card.
pub(super) async fn run(
    run: &Run<'_>,
    card: &Card,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    let access = access(card);
    let documents = discover::documents(run, &access)?;
    // Of a server of the configuration it is asked who signs its card now.
    let documents = if is_name(card) { documents.checked() } else { documents };
    let place = discover::place_or_name(run, card.place())?;
    let found = discover::findings(run, &documents, &place, &access).await?;
    let by_resource = match &place {
        Place::Endpoint(address) if card.connect && found.candidates.is_empty() => {
            resource::find(run, address, &documents, executor).await?
        }
        _ => None,
    };
    let (told, asked) = by_resource.unzip();
    let candidate = match &told {
        Some(candidate) => candidate,
        None => discover::choose(card.place(), &place, &found)?,
    };
    let signature = signature::look(run, &documents, candidate).await;
    let live = match card.connect {
        true if asked.is_some() => asked.map(Ok),
        true => Some(ask(run, card, candidate, (&place, &documents), executor).await),
        false => None,
    };
    let shown = live.as_ref().and_then(|live| live.as_ref().ok());
    match run.settings.output {
        Format::Json => output::write_line(run, &json(candidate, &signature, shown))?,
        _ => output::write(run, sheet::text(candidate, &signature, shown).as_bytes())?,
    }
    hold(run, card, &signature).await?;
    match live {
        Some(Err(error)) => Err(error),
        Some(Ok(asked)) => discover::heed(run, &asked.differing).map(|()| Exit::Ok),
        None => Ok(Exit::Ok),
    }
}

fn is_name(card: &Card) -> bool {
    matches!(Word::parse(card.place()), Ok(Word::Name { .. }))
}

/// Holds who has signed the card of a server of the configuration against who had, where that stood.
async fn hold(run: &Run<'_>, card: &Card, signature: &Signature) -> Result<(), Error> {
    let overrides = only_file(run);
    if !is_name(card) {
        return Ok(());
    }
    let Ok(resolved) = config::resolve(card.place(), run.env, &overrides) else { return Ok(()) };
    let Some(url) = &resolved.definition.card else { return Ok(()) };
    let known = known_publisher(run, &resolved, &overrides)?;
    let is_listed = known.as_ref().is_some_and(|known| known.catalog.is_some());
    let publisher = match is_listed && !card.offline {
        true => discover::publisher(run, url, known.as_ref()).await,
        false => signature.publisher(),
    };
    match publisher {
        Some(publisher) => hold_publisher(run, &resolved, &overrides, publisher),
        None => Ok(()),
    }
}

/// What the options say about looking.
pub(super) fn access(card: &Card) -> Access<'_> {
    Access {
        standard: card.standard,
        html: false,
        max_card_bytes: card.max_card_bytes,
        allow_http: card.allow_http,
        offline: card.offline,
        registry: card.registry.as_deref(),
        only: card.entry.as_deref(),
    }
}

async fn ask(
    run: &Run<'_>,
    card: &Card,
    candidate: &Candidate,
    (place, documents): (&Place, &Documents),
    executor: &LocalExecutor<'static>,
) -> Result<Asked, Error> {
    let said = Said::new(run, &card.var);
    let (entry, address) = discover::entry(run, candidate, &said)?;
    discover::admit(run, documents, candidate, &address).await?;
    let is_named = discover::is_named(place, &address);
    if let (false, Some(flag)) = (is_named, credentials(run)) {
        let text = format!("{flag} is for {}, and the card leads to {address}", card.place());
        let error = Error::new(Exit::Trust, text).phase(Phase::Trust).sent(Sent::No);
        return Err(error.hint(format!("if it is meant for that: mcpmini info {address}")));
    }
    let (name, claim) = (candidate.shown_name(), &candidate.claim);
    let stranger = Stranger { name: &name, entry: &entry, claim, is_named };
    discover::ask(run, stranger, executor).await
}

/// An option that brings credentials, if there is one.
fn credentials(run: &Run<'_>) -> Option<&'static str> {
    first_given(&[
        ("--header", !run.globals.header.is_empty()),
        ("--header-file", run.globals.header_file.is_some()),
        ("--bearer-file", run.globals.bearer_file.is_some()),
        ("--bearer-command", run.globals.bearer_command.is_some()),
    ])
}

fn json(candidate: &Candidate, signature: &Signature, asked: Option<&Asked>) -> String {
    let claimed = discover::json(candidate, signature);
    let Some(asked) = asked else { return claimed };
    let mut members = Members::new();
    members.push("claimed", &claimed);
    discover::push_asked(&mut members, asked);
    members.finish()
}
