//! `mcpmini servers`: which servers the configuration has, and which of them answer.

use std::cell::RefCell;
use std::time::Instant;

use smol::LocalExecutor;

use super::args::Format;
use super::args::many::Servers;
use super::catalog::Catalog;
use super::config::{reached, report_faults};
use super::contact::Contact;
use super::errors::Error;
use super::exit::Exit;
use super::explain;
use super::lines::Lines;
use super::listing;
use super::many::{self, Candidate};
use super::run::Run;
use super::target;
use crate::config::{self, Layer, Listed, Overrides, Resolved};
use crate::net::together;
use crate::protocol::json;
use crate::protocol::params::Members;
use crate::protocol::revision::Era;
use crate::trust;

/// Lists the servers of the configuration, or tries them.
pub(super) async fn run(
    run: &Run<'_>,
    servers: &Servers,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    match servers.check {
        true => check(run, servers, executor).await,
        false => list(run, servers),
    }
}

/// Lists the servers. One that is broken does not keep the others from being listed.
fn list(run: &Run<'_>, servers: &Servers) -> Result<Exit, Error> {
    let overrides = target::overrides(run)?;
    let (listed, faults) = config::list(run.env, &overrides);
    let mut lines = Lines::new(run, &["NAME", "KIND", "STATE", "FILE"]);
    let names = &servers.names;
    for server in listed.iter().filter(|it| names.is_empty() || names.contains(&it.name)) {
        let row = Row::of(run, server, &overrides)?;
        lines.item(&row.json(&server.name), || row.columns(&server.name))?;
    }
    lines.finish()?;
    if let Some(missing) = names.iter().find(|name| listed.iter().all(|it| it.name != **name)) {
        // It says which names there are.
        return config::resolve(missing, run.env, &overrides)
            .map(|_| Exit::Ok)
            .map_err(explain::config);
    }
    report_faults(run, faults)
}

/// What is told of a server in a list.
struct Row {
    kind: &'static str,
    state: &'static str,
    layer: Option<Layer>,
    path: Option<String>,
    error: Option<Error>,
}

impl Row {
    fn of(run: &Run<'_>, server: &Listed, overrides: &Overrides) -> Result<Row, Error> {
        let resolved = match &server.resolved {
            Ok(resolved) => resolved,
            Err(error) => return Ok(Row::broken(server, error)),
        };
        let (kind, _) = reached(&resolved.definition.target);
        let state = match () {
            () if server.hidden => "hidden",
            () if resolved.definition.disabled => "disabled",
            () => approval(run, resolved, overrides)?,
        };
        // What is not approved is not looked up, and what does not count need not work.
        if let "ready" | "approved" = state
            && let Some((_, error)) =
                config::faults(resolved, run.env, &without_flags(overrides)).into_iter().next()
        {
            return Ok(Row { kind, ..Row::broken(server, &error) });
        }
        Ok(Row {
            kind,
            state,
            layer: resolved.origin.layer(),
            path: resolved.origin.path().map(|path| path.display().to_string()),
            error: None,
        })
    }

    fn broken(server: &Listed, error: &config::ConfigError) -> Row {
        let state = match many::is_disabled(server) {
            _ if server.hidden => "hidden",
            true => "disabled",
            false => "broken",
        };
        let text = error.to_string();
        let error = (state == "broken").then(|| Error::new(Exit::Config, text));
        Row { kind: "", state, layer: None, path: None, error }
    }

    fn json(&self, name: &str) -> String {
        let mut row = Members::new();
        row.push("name", &json::string(name));
        if !self.kind.is_empty() {
            row.push("kind", &json::string(self.kind));
        }
        row.push("state", &json::string(self.state));
        if let Some(layer) = self.layer {
            row.push("layer", &json::string(&layer.to_string()));
        }
        if let Some(path) = &self.path {
            row.push("path", &json::string(path));
        }
        if let Some(error) = &self.error {
            row.push("error", &error.json());
        }
        row.finish()
    }

    fn columns(&self, name: &str) -> Vec<String> {
        let place = match (&self.layer, &self.path, &self.error) {
            (_, _, Some(error)) => error.message.clone(),
            (Some(layer), Some(path), None) => format!("{layer}:{path}"),
            _ => String::new(),
        };
        vec![name.to_owned(), self.kind.to_owned(), self.state.to_owned(), place]
    }
}

/// Flags are for one server, and not for all.
fn without_flags(overrides: &Overrides) -> Overrides {
    Overrides { config: overrides.config.clone(), ..Overrides::default() }
}

/// Whether a server may be used: because its file is believed, or because it was approved.
fn approval(
    run: &Run<'_>,
    resolved: &Resolved,
    overrides: &Overrides,
) -> Result<&'static str, Error> {
    if resolved.origin.layer().is_none_or(Layer::is_own) {
        return Ok("ready");
    }
    let unapproved = trust::approvals::unapproved(resolved, run.env, overrides);
    Ok(if unapproved.map_err(explain::trust)?.is_some() { "unapproved" } else { "approved" })
}

/// Tries the servers side by side.
async fn check(
    run: &Run<'_>,
    servers: &Servers,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    let begun = Instant::now();
    let lines = RefCell::new(Lines::new(run, &["NAME", "STATE", "PROTOCOL", "MS", "TOOLS"]));
    let candidates = many::candidates(run, &servers.names, executor)?;
    let checks = candidates.into_iter().map(|candidate| async {
        let Candidate { name, contact } = candidate;
        let mut contact = match contact {
            Ok(contact) => contact,
            Err(error) => return tell(run, &lines, &name, &Check::failed(error, begun)),
        };
        contact.finish_within(many::limit(run), begun);
        let checked = Check::make(&mut contact, begun).await;
        let told = tell(run, &lines, &name, &checked);
        match contact.close().await {
            Some(signal) => Err(explain::interrupted(signal)),
            None => told,
        }
    });
    let outcomes = together(checks).await;
    lines.into_inner().finish()?;
    many::end(run, outcomes)
}

/// What came of trying a server.
struct Check {
    milliseconds: u128,
    outcome: Result<Answer, Error>,
}

/// A server that answers.
struct Answer {
    revision: &'static str,
    era: &'static str,
    /// How many tools it has; `None` when it has no tools at all.
    tools: Option<usize>,
}

impl Check {
    async fn make(contact: &mut Contact<'_>, begun: Instant) -> Check {
        let outcome = Check::ask(contact).await;
        Check { milliseconds: begun.elapsed().as_millis(), outcome }
    }

    fn failed(error: Error, begun: Instant) -> Check {
        Check { milliseconds: begun.elapsed().as_millis(), outcome: Err(error) }
    }

    /// Opens a server and asks for its tools: a process that has only started is not there yet.
    async fn ask(contact: &mut Contact<'_>) -> Result<Answer, Error> {
        let revision = contact.settle().await?;
        let tools = match Catalog::fetch(contact).await {
            Ok(catalog) => Some(catalog.tools.len()),
            Err(error) if listing::is_unlisted(&error) => None,
            Err(error) => return Err(error),
        };
        // It may have turned out to speak another one than it was believed to.
        let revision = contact.known_revision().unwrap_or(revision);
        let era = if revision.era == Era::Modern { "modern" } else { "legacy" };
        Ok(Answer { revision: revision.date, era, tools })
    }

    fn json(&self, name: &str) -> String {
        let exit = self.outcome.as_ref().err().map_or(Exit::Ok, |error| error.exit);
        let mut row = Members::new();
        row.push("name", &json::string(name));
        row.push("exit", &exit.code().to_string());
        row.push("ms", &self.milliseconds.to_string());
        match &self.outcome {
            Ok(answer) => {
                row.push("protocolVersion", &json::string(answer.revision));
                row.push("era", &json::string(answer.era));
                row.push("tools", &answer.tools.unwrap_or(0).to_string());
            }
            Err(error) => row.push("error", &error.json()),
        }
        row.finish()
    }

    fn columns(&self, name: &str) -> Vec<String> {
        let (state, protocol, rest) = match &self.outcome {
            Ok(Answer { revision, era, tools }) => {
                let tools = tools.map_or_else(|| "no tools".to_owned(), |tools| tools.to_string());
                ("ok", format!("{revision} ({era})"), tools)
            }
            Err(error) => (error.exit.class(), String::new(), error.message.clone()),
        };
        let state = state.to_owned();
        vec![name.to_owned(), state, protocol, self.milliseconds.to_string(), rest]
    }
}

/// Prints what came of trying a server.
fn tell(run: &Run<'_>, lines: &RefCell<Lines<'_>>, name: &str, check: &Check) -> Result<(), Error> {
    match &check.outcome {
        Err(error) if matches!(error.exit, Exit::Signal(_)) => return Err(error.clone()),
        _ => lines.borrow_mut().item(&check.json(name), || check.columns(name))?,
    }
    match &check.outcome {
        Ok(_) => Ok(()),
        Err(error) => {
            let error = error.clone().server(name);
            if run.settings.output != Format::Json {
                run.report(&error);
            }
            Err(error)
        }
    }
}
