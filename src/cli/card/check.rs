//! `mcpmini card check`: whether a card keeps the published rules.

use std::path::Path;

use super::show::access;
use crate::cli::args::Format;
use crate::cli::args::discovery_commands::Card;
use crate::cli::discover;
use crate::cli::errors::{Error, Phase};
use crate::cli::exit::Exit;
use crate::cli::output;
use crate::cli::run::Run;
use crate::discovery::catalog::{self, NoCatalog};
use crate::discovery::document::{self, Object};
use crate::discovery::documents::Document;
use crate::discovery::lint::{self, Violation};
use crate::discovery::{Finder, Findings, Place, Remark};
use crate::protocol::json;
use crate::protocol::message::Sent;
use crate::protocol::params::Members;

/// Prints a line for every rule that is broken.
pub(super) async fn run(run: &Run<'_>, card: &Card) -> Result<Exit, Error> {
    let Checked { place, object, repeats } = read(run, card).await?;
    let found = lint::check(&object);
    let lines = found.iter().map(|violation| line(run, &place, violation) + "\n");
    output::write(run, lines.collect::<String>().as_bytes())?;
    lint::advice(&object).iter().for_each(|advice| run.warn(&format!("{place}: {advice}")));
    if repeats {
        run.warn(&format!("{place}: {}, and no signature of it counts", Remark::Repeated));
    }
    match found.len() {
        0 => Ok(Exit::Ok),
        count => {
            let rules = if count == 1 { "rule" } else { "rules" };
            let text = format!("the card breaks {count} {rules}");
            Err(Error::new(Exit::Protocol, text).phase(Phase::Request).sent(Sent::No))
        }
    }
}

/// A card that is to be checked.
struct Checked {
    /// Where it is.
    place: String,
    object: Object,
    /// Whether a member is there twice.
    repeats: bool,
}

impl Checked {
    fn of(document: &Document) -> Checked {
        Checked {
            place: document.address.to_string(),
            object: document.object.as_ref().clone(),
            repeats: document::repeats(&document.body),
        }
    }
}

async fn read(run: &Run<'_>, card: &Card) -> Result<Checked, Error> {
    let access = access(card);
    let place = discover::place_or_name(run, card.place())?;
    if let Place::File(path) = &place {
        return from_file(run, path);
    }
    if let Place::Registry { .. } | Place::Search(_) = &place {
        let text = "the rules are those of cards; an entry of the registry is none";
        return Err(Error::new(Exit::Usage, text).phase(Phase::Usage).sent(Sent::No));
    }
    // What was stored is not what is published.
    let documents = discover::documents(run, &access)?.checked();
    if let Place::Document(address) = &place {
        // What is no catalog is checked even when nothing can be made of it.
        let finder = Finder::new(&documents, discover::options(&access));
        match run.unless_over(finder.fetch(address)).await? {
            Ok(document) if catalog::read(&document.object) == Err(NoCatalog::Other) => {
                return Ok(Checked::of(&document));
            }
            Ok(_) => (),
            Err(_) => {
                let found = Findings { tried: documents.tried(), ..Findings::default() };
                return Err(discover::nothing(card.place(), &place, &found));
            }
        }
    }
    let found = discover::findings(run, &documents, &place, &access).await?;
    let candidate = discover::choose(card.place(), &place, &found)?;
    match &candidate.document {
        Some(document) => Ok(Checked::of(document)),
        None => Err(discover::nothing(card.place(), &place, &found)),
    }
}

fn from_file(run: &Run<'_>, path: &Path) -> Result<Checked, Error> {
    let bytes = discover::read_file(run, path)?;
    let place = path.display().to_string();
    match document::read(&bytes) {
        Ok(object) => Ok(Checked { place, object, repeats: document::repeats(&bytes) }),
        Err(malformed) => {
            let text = format!("{place}: {malformed}");
            Err(Error::new(Exit::Protocol, text).phase(Phase::Config).sent(Sent::No))
        }
    }
}

/// `PLACE: /pointer what is wrong`
fn line(run: &Run<'_>, place: &str, violation: &Violation) -> String {
    if run.settings.output != Format::Json {
        return format!("{place}: {} {}", violation.at, violation.rule);
    }
    let mut members = Members::new();
    members.push("card", &json::string(place));
    members.push("at", &json::string(&violation.at));
    members.push("rule", &json::string(&violation.rule.to_string()));
    members.finish()
}
