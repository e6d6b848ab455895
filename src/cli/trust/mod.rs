//! `mcpmini trust`: what servers were accepted as, and changes of that.

mod accept;
mod show;

use std::time::{Duration, SystemTime};

use smol::LocalExecutor;

use super::args::trust_commands::{Trust, TrustAction};
use super::consent::Consent;
use super::contact::Contact;
use super::duration;
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::explain;
use super::lines::Lines;
use super::policy;
use super::run::Run;
use super::target;
use crate::config::{self, Overrides};
use crate::protocol::json;
use crate::protocol::message::Sent;
use crate::protocol::params::Members;
use crate::trust::pins::{Facets, PinError, Record, State, Store};

/// Does what is to be done about trust.
pub(super) async fn run(
    run: &Run<'_>,
    trust: &Trust,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    if run.globals.lock.is_some() && trust.action != TrustAction::Diff {
        let action = trust.action.word();
        let text =
            format!("--lock has no effect on `trust {action}`; `trust diff` and `lock` take it");
        return Err(Error::new(Exit::Usage, text).phase(Phase::Usage).sent(Sent::No));
    }
    let Some(word) = &trust.server else { return list(run) };
    match trust.action {
        TrustAction::List => list(run),
        TrustAction::Revoke => revoke(run, word),
        TrustAction::Accept => accept::accept(run, word, trust.accept).await,
        TrustAction::Show | TrustAction::Diff | TrustAction::Add => {
            let mut contact = Contact::find(run, word, executor)?;
            let done = match trust.action {
                TrustAction::Add => accept::add(run, &mut contact, trust.accept).await,
                TrustAction::Diff => show::diff(run, &mut contact).await,
                _ => show::show(run, &mut contact).await,
            };
            contact.finish(done).await
        }
    }
}

/// Lists the servers that are known. None is started or reached.
fn list(run: &Run<'_>) -> Result<Exit, Error> {
    let mut lines = Lines::new(run, &["NAME", "STATE", "BY", "SINCE", "AT", "FILE"]);
    let records = Store::new(run.env).list();
    for (index, record) in records.iter().enumerate() {
        // Of a place that is revoked nothing is known; the server there is listed anyway.
        let is_empty = |record: &Record| record.accepted == Facets::default();
        let says_more = |(other, it): (usize, &Record)| {
            let starts = it.command_line.as_ref().map(|command| format!("exec:{command}"));
            let is_same = it.name == record.name || starts.as_ref() == Some(&record.name);
            let is_other = it.revoked.is_some() && other != index;
            is_same && is_other && (!is_empty(it) || it.file.is_some() || other < index)
        };
        if record.revoked.is_some() && is_empty(record) && records.iter().enumerate().any(says_more)
        {
            continue;
        }
        lines.item(&row(record), || columns(run, record))?;
    }
    lines.finish()
}

fn row(record: &Record) -> String {
    let mut row = Members::new();
    row.push("name", &json::string(&record.name));
    row.push("state", &json::string(state(record).word()));
    row.push("consent", &json::string(record.consent.word()));
    row.push("firstSeen", &record.first_seen.to_string());
    row.push("lastSeen", &record.last_seen.to_string());
    let accepted = &record.accepted;
    if let Some(endpoint) = &accepted.endpoint {
        row.push("endpoint", &json::string(endpoint));
    }
    if let Some(command) = &accepted.command {
        row.push("command", &json::string(&command.to_string()));
    }
    if let Some(command_line) = &record.command_line {
        row.push("commandLine", &json::string(command_line));
    }
    if let Some(file) = &record.file {
        row.push("file", &json::string(file));
    }
    row.push("digest", &json::string(&accepted.digest().to_string()));
    row.finish()
}

fn columns(run: &Run<'_>, record: &Record) -> Vec<String> {
    let hash = || record.accepted.command.map(|command| command.to_string());
    let command = record.command_line.clone().or_else(hash);
    vec![
        record.name.clone(),
        state(record).word().to_owned(),
        record.consent.word().to_owned(),
        since(run, record),
        record.accepted.endpoint.clone().or(command).unwrap_or_default(),
        record.file.clone().unwrap_or_default(),
    ]
}

/// How it stands with a server, by what was seen last.
fn state(record: &Record) -> State {
    record.state(&Facets::default())
}

/// How long ago a server was first used, in whole units.
fn since(run: &Run<'_>, record: &Record) -> String {
    let first = SystemTime::UNIX_EPOCH + Duration::from_secs(record.first_seen);
    let age = run.env.now().duration_since(first).unwrap_or_default().as_secs();
    let unit = [86_400, 3_600, 60, 1].into_iter().find(|unit| *unit <= age).unwrap_or(1);
    match (unit, age / unit) {
        (86_400, days) => format!("{days} days"),
        (unit, count) => duration::show(Duration::from_secs(unit * count)),
    }
}

/// Takes the trust in a server back, and in the place where it is.
fn revoke(run: &Run<'_>, word: &str) -> Result<Exit, Error> {
    // No command runs to make up a header that is not sent.
    let overrides = Overrides { dry_run: true, ..target::overrides(run)? };
    let resolved = config::resolve(word, run.env, &overrides).map_err(explain::config)?;
    let consent = consent(run, word)?;
    let mut place = match config::expand(&resolved, &overrides, run.env) {
        Ok(server) => consent.places(&server.endpoint).into_iter().next(),
        Err(error) => {
            run.warn(&format!("it is revoked under this name only, not where it is: {error}"));
            None
        }
    };
    if let Some(place) = &mut place {
        place.name = consent.place_name(place);
    }
    let now = run.env.now();
    let seconds = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    // What the command line adds is revoked with it, and nothing without that.
    for key in [&consent.key].into_iter().chain(&place) {
        let revoked = consent.store.change(key, now, |record, _| {
            if *key == consent.key {
                consent.tell_apart(record);
            }
            record.revoked = Some(seconds);
            (true, ())
        });
        revoked.map_err(|error| unwritten(&error))?;
    }
    let name = &consent.key.name;
    run.remark(&match &place {
        Some(place) if place.name != *name => {
            format!("{name} is not used any more, nor is {} under another name", place.name)
        }
        _ => format!("{name} is not used any more"),
    });
    Ok(Exit::Ok)
}

/// What a server is held to, without anything about it being started or reached.
fn consent<'a>(run: &'a Run<'a>, word: &str) -> Result<Box<Consent<'a>>, Error> {
    let overrides = target::overrides(run)?;
    let resolved = config::resolve(word, run.env, &overrides).map_err(explain::config)?;
    crate::trust::admit(&resolved, run.env, &overrides).map_err(explain::trust)?;
    Consent::open(run, &resolved, &overrides, policy::load(run)?)
}

/// Why what was decided cannot be written down: a matter of files.
fn unwritten(error: &PinError) -> Error {
    Error::new(Exit::Config, error.to_string()).phase(Phase::Trust).sent(Sent::No)
}
