//! The tools of several servers at the same time.
//!
//! No server waits for another, and none of them keeps the others from being shown: what comes
//! first is printed first. A server that is slow to start is stood in for by what is stored about
//! it, which is then called stale.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use futures_lite::FutureExt;
use smol::LocalExecutor;

use super::args::Format;
use super::args::commands::Tools;
use super::args::settings;
use super::catalog::Catalog;
use super::contact::Contact;
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::explain;
use super::lines::Lines;
use super::run::Run;
use super::target;
use super::tool_list::{self, Wanted};
use crate::config::{self, ConfigError, Listed};
use crate::net::together;
use crate::protocol::json;
use crate::protocol::message::Sent;
use crate::protocol::model::tool::Tool;
use crate::protocol::params::Members;
use crate::reactor::Timer;

/// How long a server may take before what is stored about it must do, when many are asked.
const GATE: Duration = Duration::from_millis(250);

/// The columns of a list of tools of several servers.
pub(super) const HEADINGS: [&str; 4] = ["SERVER", "NAME", "ARGUMENTS", "DESCRIPTION"];

/// A server of the configuration.
#[derive(Debug)]
pub(super) struct Candidate<'a> {
    /// Its name; `(configuration)` for a file that cannot be read, which the error names.
    pub(super) name: String,
    /// The server, or why it cannot be used.
    pub(super) contact: Result<Contact<'a>, Error>,
}

/// All servers of the configuration that are neither hidden nor disabled, or those that are named.
pub(super) fn candidates<'a>(
    run: &'a Run<'a>,
    names: &[String],
    executor: &'a LocalExecutor<'static>,
) -> Result<Vec<Candidate<'a>>, Error> {
    if !names.is_empty() {
        let named = names.iter().map(|name| Candidate {
            name: name.clone(),
            contact: Contact::find(run, name, executor),
        });
        return Ok(named.collect());
    }
    let (listed, faults) = config::list(run.env, &target::overrides(run)?);
    let usable = listed.into_iter().filter(|server| !server.hidden && !is_disabled(server));
    let servers = usable.map(|server| Candidate {
        name: server.name,
        contact: match server.resolved {
            Ok(resolved) => Contact::of(run, &resolved, executor),
            Err(error) => Err(explain::config(error)),
        },
    });
    let broken = faults.into_iter().map(|fault| Candidate {
        name: "(configuration)".to_owned(),
        contact: Err(explain::config(fault)),
    });
    let candidates: Vec<_> = broken.chain(servers).collect();
    match candidates.is_empty() {
        false => Ok(candidates),
        true => {
            let text = "the configuration has no servers";
            Err(Error::new(Exit::Config, text).phase(Phase::Config).sent(Sent::No))
        }
    }
}

/// Whether the configuration has switched a server off.
pub(super) fn is_disabled(listed: &Listed) -> bool {
    match &listed.resolved {
        Ok(resolved) => resolved.definition.disabled,
        Err(error) => matches!(error, ConfigError::Disabled { .. }),
    }
}

/// The limit for a look at many servers, when the command line has none for everything.
pub(super) fn limit(run: &Run<'_>) -> super::duration::Limit {
    run.settings.start_timeout.or(run.settings.timeout).unwrap_or(settings::START_TIMEOUT)
}

/// Lists the tools of all servers of the configuration.
pub(super) async fn tools(
    run: &Run<'_>,
    tools: &Tools,
    wanted: &Wanted<'_>,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    let begun = Instant::now();
    let gate = Some(tools.cached_ok.unwrap_or(GATE));
    let list = List {
        run,
        wanted,
        lines: RefCell::new(Lines::new(run, &HEADINGS)),
        count: Cell::new(0),
        stale: RefCell::default(),
    };
    let looks = candidates(run, &[], executor)?.into_iter().map(|candidate| async {
        let Candidate { name, contact } = candidate;
        let mut contact = match contact {
            Ok(contact) => contact,
            Err(error) => return list.fail(&name, error),
        };
        contact.finish_within(limit(run), begun);
        let shown = match catalog(&mut contact, gate).await {
            Ok((catalog, is_stale)) => list.show(&name, &catalog.tools, is_stale),
            Err(error) => list.fail(&name, error),
        };
        match contact.close().await {
            Some(signal) => Err(explain::interrupted(signal)),
            None => shown,
        }
    });
    let outcomes = together(looks).await;
    let List { lines, count, stale, .. } = list;
    lines.into_inner().finish()?;
    let stale = stale.into_inner();
    if !stale.is_empty() {
        run.warn(&staleness(&stale));
    }
    match (end(run, outcomes)?, tools.wanted()) {
        (Exit::Ok, Some(wanted)) if count.get() == 0 => {
            Err(tool_list::no_match(format!("no tool of any server fits {wanted}")))
        }
        (exit, _) => Ok(exit),
    }
}

/// How a look at many servers ends: as the first that failed, in the order of the configuration, or
/// by a signal.
pub(super) fn end(run: &Run<'_>, outcomes: Vec<Result<(), Error>>) -> Result<Exit, Error> {
    let errors: Vec<Error> = outcomes.into_iter().filter_map(Result::err).collect();
    // What is wrong with us and not with a server was not told, and comes before all else.
    let is_ours = |error: &&Error| {
        matches!(error.exit, Exit::Signal(_)) || error.phase == Some(Phase::Output)
    };
    if let Some(ours) = errors.iter().find(is_ours) {
        return Err(ours.clone());
    }
    match errors.into_iter().next() {
        None => Ok(Exit::Ok),
        // For people every error was told when it was found.
        Some(first) if run.settings.output != Format::Json => Ok(first.exit),
        Some(first) => Err(first),
    }
}

/// The tools of several servers, as they are printed.
struct List<'l, 'a> {
    run: &'a Run<'a>,
    wanted: &'l Wanted<'l>,
    lines: RefCell<Lines<'a>>,
    /// How many were printed.
    count: Cell<usize>,
    /// The servers whose stored tools had to do.
    stale: RefCell<Vec<String>>,
}

impl List<'_, '_> {
    fn show(&self, server: &str, tools: &[Tool], is_stale: bool) -> Result<(), Error> {
        if is_stale {
            self.stale.borrow_mut().push(server.to_owned());
        }
        let mut lines = self.lines.borrow_mut();
        for tool in tools.iter().filter(|tool| self.wanted.are(tool)) {
            self.count.update(|count| count + 1);
            add(&mut lines, server, tool, is_stale)?;
        }
        Ok(())
    }

    fn fail(&self, server: &str, error: Error) -> Result<(), Error> {
        let error = self.run.redaction.error(error.server(server));
        if matches!(error.exit, Exit::Signal(_)) {
            return Err(error);
        }
        match self.run.settings.output {
            Format::Json => {
                let mut row = Members::new();
                row.push("server", &json::string(server));
                row.push("error", &error.json());
                self.lines.borrow_mut().item(&row.finish(), Vec::new)?;
            }
            _ => self.run.report(&error),
        }
        Err(error)
    }
}

/// Adds a tool of one of several servers to a list with [`HEADINGS`].
pub(super) fn add(
    lines: &mut Lines<'_>,
    server: &str,
    tool: &Tool,
    is_stale: bool,
) -> Result<(), Error> {
    let mut row = Members::new();
    row.push("server", &json::string(server));
    if is_stale {
        row.push("stale", "true");
    }
    row.push("tool", tool.as_json());
    lines.item(&row.finish(), || columns(server, tool, is_stale))
}

fn columns(server: &str, tool: &Tool, is_stale: bool) -> Vec<String> {
    let mut columns = tool_list::columns(tool);
    if let (true, Some(description)) = (is_stale, columns.last_mut()) {
        description.insert_str(0, "(stale) ");
    }
    columns.insert(0, server.to_owned());
    columns
}

/// The tools of a server, and whether they are stale: when the server has not told them within
/// `gate`, those that are stored are taken, if there are any.
pub(super) async fn catalog(
    contact: &mut Contact<'_>,
    gate: Option<Duration>,
) -> Result<(Catalog, bool), Error> {
    // What is stored is not held against a lock file.
    let gate = gate.filter(|_| !contact.watcher.consent.is_locked());
    let stored = gate.and_then(|_| Catalog::stored(contact));
    let (Some(gate), Some(stored)) = (gate, stored) else {
        return Ok((Catalog::get(contact).await?, false));
    };
    let got = async { Some(Catalog::get(contact).await) };
    let late = async {
        Timer::after(gate).await;
        None
    };
    match got.or(late).await {
        Some(got) => Ok((got?, false)),
        None => {
            contact.hurry();
            Ok((stored, true))
        }
    }
}

/// That the tools of servers may not be what they are now.
pub(super) fn staleness(servers: &[String]) -> String {
    let names = servers.join(", ");
    match servers.len() {
        1 => format!(
            "{names}: the list is stale: it is from an earlier run, because the server is slow"
        ),
        _ => format!(
            "{names}: the lists are stale: they are from earlier runs, because the servers are slow"
        ),
    }
}
