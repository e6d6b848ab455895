//! `mcpmini find`: which server has a tool for that.

use smol::LocalExecutor;

use super::args::primitives::Find;
use super::args::settings::Cache;
use super::catalog::Catalog;
use super::contact::Contact;
use super::errors::Error;
use super::exit::Exit;
use super::explain;
use super::lines::Lines;
use super::many::{self, Candidate};
use super::pattern::Pattern;
use super::run::Run;
use super::tool_list;
use crate::net::together;
use crate::protocol::model::tool::Tool;

/// Looks through the tools of servers.
pub(super) async fn run(
    run: &Run<'_>,
    find: &Find,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    let pattern = match find.regex {
        true => Pattern::regex(&find.pattern, find.ignore_case)?,
        false => Pattern::text(&find.pattern, find.ignore_case),
    };
    let candidates = many::candidates(run, &find.servers, executor)?;
    // Each has its own time limits, so that one that is silent does not keep the others waiting.
    let looks = candidates.into_iter().map(|Candidate { name, contact }| async {
        let looked = match contact {
            Ok(contact) => look(contact).await,
            Err(error) => Err(error),
        };
        (name, looked)
    });
    let mut lines = Lines::new(run, &many::HEADINGS);
    let mut found = Found::default();
    for (server, looked) in together(looks).await {
        match looked {
            Ok(Some(tools)) => {
                found.servers += 1;
                for tool in tools.iter().filter(|tool| tool_list::mentions(tool, &pattern)) {
                    many::add(&mut lines, &run.redaction.apply(&server), tool, false)?;
                    found.tools += 1;
                }
            }
            Ok(None) => found.not_stored.push(server),
            // Nobody waits for the others any more.
            Err(error) if matches!(error.exit, Exit::Signal(_)) => return Err(error),
            Err(error) => {
                let error = error.server(server);
                run.report(&error);
                found.failure.get_or_insert(error.exit);
            }
        }
    }
    lines.finish()?;
    found.end(run, &find.pattern)
}

/// What was found, and what could not be looked at.
#[derive(Debug, Default)]
struct Found {
    /// How many tools fit.
    tools: usize,
    /// How many servers were looked at.
    servers: usize,
    /// The servers of which nothing is stored.
    not_stored: Vec<String>,
    /// How the first server failed that could not be looked at.
    failure: Option<Exit>,
}

impl Found {
    /// How the search ends: as the first server that failed, for what is missing may be there; or
    /// else by whether something was found.
    fn end(&self, run: &Run<'_>, wanted: &str) -> Result<Exit, Error> {
        let not_stored = match self.not_stored.join(", ") {
            names if names.is_empty() => None,
            names => Some(format!("nothing is stored of {names}; --refresh asks")),
        };
        if let (None, 0) = (self.failure, self.tools) {
            let plural = if self.servers == 1 { "" } else { "s" };
            let text = format!("no tool of {} server{plural} fits \"{wanted}\"", self.servers);
            let error = tool_list::no_match(text);
            return Err(match not_stored {
                Some(hint) => error.hint(hint),
                None => error,
            });
        }
        if let Some(text) = not_stored {
            run.warn(&text);
        }
        Ok(self.failure.unwrap_or(Exit::Ok))
    }
}

/// The tools of a server: as they were stored, or with `--refresh` as it tells them now. `None` when
/// nothing is stored.
async fn look(mut contact: Contact<'_>) -> Result<Option<Vec<Tool>>, Error> {
    // What is stored is not held against a lock file.
    let is_locked = contact.watcher.consent.is_locked();
    if contact.run.settings.cache != Cache::Refresh && !is_locked {
        return Ok(Catalog::stored(&contact).map(|catalog| catalog.tools));
    }
    let fetched = Catalog::fetch(&mut contact).await;
    match (fetched, contact.close().await) {
        (_, Some(signal)) => Err(explain::interrupted(signal)),
        (fetched, None) => Ok(Some(fetched?.tools)),
    }
}
