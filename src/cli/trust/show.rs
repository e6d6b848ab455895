//! What a server is, and how that differs from what was accepted.

use crate::cli::args::Format;
use crate::cli::contact::Contact;
use crate::cli::errors::Error;
use crate::cli::exit::Exit;
use crate::cli::output;
use crate::cli::run::Run;
use crate::protocol::json;
use crate::protocol::params::Members;
use crate::trust::pins::{Facets, Mode, State, Use, Verdict, visible};

/// Looks at a server, unless that would start or reach something that nobody has accepted.
async fn look(contact: &mut Contact<'_>) -> Result<(), Error> {
    if contact.watcher.consent.is_revoked() || contact.watcher.consent.is_elsewhere() {
        return Ok(());
    }
    contact.survey().await?;
    contact.watcher.consent.save_seen();
    Ok(())
}

/// Shows what a server is, and the hash of that.
pub(super) async fn show(run: &Run<'_>, contact: &mut Contact<'_>) -> Result<Exit, Error> {
    look(contact).await?;
    let consent = &contact.watcher.consent;
    let facets = consent.current();
    let state = match consent.is_revoked() {
        true => State::Revoked.word(),
        false => consent.state().map_or("unknown", State::word),
    };
    match run.settings.output {
        Format::Json => {
            let mut members = Members::new();
            members.push("name", &json::string(&consent.key.name));
            members.push("state", &json::string(state));
            members.push("digest", &json::string(&facets.digest().to_string()));
            let facets = serde_json::to_string(&facets).expect("texts and hashes serialize");
            members.push("facets", &facets);
            output::write_line(run, &members.finish())?;
        }
        _ => {
            let mut text = row("name", &visible(&consent.key.name));
            text += &row("state", state);
            text += &described(&facets);
            text += &row("digest", &facets.digest().to_string());
            output::write(run, text.as_bytes())?;
        }
    }
    Ok(Exit::Ok)
}

fn row(name: &str, value: &str) -> String {
    format!("{name:<13}{value}\n")
}

/// Facets for people, a line for each.
pub(super) fn described(facets: &Facets) -> String {
    let list = |names: &mut dyn Iterator<Item = &String>| {
        let names: Vec<_> = names.map(|name| visible(name)).collect();
        names.join(", ")
    };
    let text = |text: &Option<String>| text.as_ref().map(|text| visible(text));
    let hash = |hash: &Option<_>| hash.map(|hash: crate::config::Digest| hash.to_string());
    let identity = facets.identity.as_ref();
    let package = facets.package.as_ref();
    let publisher = facets.publisher.as_ref();
    let auth = facets.auth.as_ref();
    let rows = [
        ("endpoint", text(&facets.endpoint)),
        ("command", hash(&facets.command)),
        ("package", package.map(|it| visible(&format!("{}:{}", it.registry_type, it.identifier)))),
        ("publisher", publisher.map(|it| visible(&format!("{} {}", it.kind, it.identity)))),
        ("issuer", auth.map(|auth| visible(&auth.issuer))),
        ("scopes", auth.map(|auth| list(&mut auth.scopes.iter()))),
        ("identity", identity.map(|it| visible(&format!("{} {}", it.name, it.version)))),
        ("can", facets.capabilities.as_ref().map(|names| list(&mut names.iter()))),
        ("instructions", hash(&facets.instructions)),
        ("tools", facets.tools.as_ref().map(|tools| list(&mut tools.keys()))),
    ];
    let rows = rows.into_iter().filter_map(|(name, value)| Some(row(name, &value?)));
    rows.collect()
}

/// Shows how a server differs from what was accepted, or from what a lock file says.
pub(super) async fn diff(run: &Run<'_>, contact: &mut Contact<'_>) -> Result<Exit, Error> {
    let consent = &contact.watcher.consent;
    if consent.record.is_none() && !consent.is_locked() {
        return Err(consent.never_used());
    }
    look(contact).await?;
    let consent = &contact.watcher.consent;
    if consent.is_revoked() {
        return Err(consent.revoked());
    }
    let (was, is) = consent.sides();
    let verdict = Verdict::of(&was, &is, Mode::Strict, &Use::new());
    let both = consent.both();
    let command = consent.remedy(&verdict);
    match run.settings.output {
        Format::Json => {
            output::write_line(run, &both.json(&verdict.changes, &verdict.digest, &command))?;
        }
        _ => {
            let lines = both.lines(verdict.changes.iter().map(|(change, _)| change));
            let text: String = lines.into_iter().map(|line| line + "\n").collect();
            output::write(run, text.as_bytes())?;
        }
    }
    let what = match (consent.lock(), consent.state()) {
        (Some(_), _) if verdict.changes.is_empty() => return Ok(Exit::Ok),
        (Some(path), _) => format!("it is not what {} says", path.display()),
        (None, Some(State::Changed)) => "it is not what was accepted".to_owned(),
        (None, Some(State::Incomplete)) => "not all of it was ever accepted".to_owned(),
        (None, _) => return Ok(Exit::Ok),
    };
    Err(consent.error(what).hint(format!("if that is right: {command}")))
}
