//! `mcpmini card show`: what a card claims, and with `--connect` what the server says to that.

use smol::LocalExecutor;

use super::sheet;
use crate::cli::args::Format;
use crate::cli::args::discovery_commands::Card;
use crate::cli::discover::{self, Access, Said};
use crate::cli::errors::Error;
use crate::cli::exit::Exit;
use crate::cli::output;
use crate::cli::run::Run;
use crate::discovery::compare::{Difference, Live, differences};
use crate::discovery::{Candidate, Documents};
use crate::protocol::json;
use crate::protocol::params::Members;

/// Shows one card.
pub(super) async fn run(
    run: &Run<'_>,
    card: &Card,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    let access = access(card);
    let documents = discover::documents(run, &access)?;
    let place = discover::place(card.place())?;
    let found = discover::findings(run, &documents, &place, &access).await?;
    let candidate = discover::choose(card.place(), &place, &found)?;
    let live = match card.connect {
        true => Some(ask(run, card, candidate, &documents, executor).await),
        false => None,
    };
    let shown = live.as_ref().and_then(|live| live.as_ref().ok());
    match run.settings.output {
        Format::Json => output::write_line(run, &json(candidate, shown))?,
        _ => output::write(run, sheet::text(candidate, shown).as_bytes())?,
    }
    match live {
        Some(Err(error)) => Err(error),
        _ => Ok(Exit::Ok),
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
        only: card.entry.as_deref(),
    }
}

/// What the server says, and where that differs.
pub(super) type Asked = (Live, Vec<Difference>);

async fn ask(
    run: &Run<'_>,
    card: &Card,
    candidate: &Candidate,
    documents: &Documents,
    executor: &LocalExecutor<'static>,
) -> Result<Asked, Error> {
    let said = Said::new(run, &card.var);
    let (entry, address) = discover::entry(run, candidate, &said)?;
    discover::admit(documents, candidate, &address).await?;
    let live = discover::ask(run, &candidate.shown_name(), &entry, executor).await?;
    let claim = &candidate.claim;
    let versions = discover::remote_of(claim).map(|remote| remote.versions.as_slice());
    let differing = differences(claim, versions.unwrap_or_default(), &live);
    Ok((live, differing))
}

fn json(candidate: &Candidate, asked: Option<&Asked>) -> String {
    let claimed = discover::json(candidate);
    let Some((live, differing)) = asked else { return claimed };
    let list = |texts: &[String]| {
        let texts: Vec<_> = texts.iter().map(|text| json::string(text)).collect();
        format!("[{}]", texts.join(","))
    };
    let mut said = Members::new();
    for (name, text) in [("name", &live.name), ("version", &live.version)] {
        if let Some(text) = text {
            said.push(name, &json::string(text));
        }
    }
    said.push("protocolVersions", &list(&live.versions));
    said.push("capabilities", &list(&live.capabilities));
    let differing = differing.iter().map(|difference| {
        let mut members = Members::new();
        members.push("what", &json::string(difference.what));
        members.push("card", &json::string(&difference.card));
        members.push("server", &json::string(&difference.server));
        members.finish()
    });
    let mut members = Members::new();
    members.push("claimed", &claimed);
    members.push("server", &said.finish());
    members.push("differences", &format!("[{}]", differing.collect::<Vec<_>>().join(",")));
    members.finish()
}
