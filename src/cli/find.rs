//! `mcpmini find`: which server has a tool for that.

use smol::LocalExecutor;

use super::args::primitives::Find;
use super::args::settings::Cache;
use super::catalog::Catalog;
use super::contact::Contact;
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::explain;
use super::lines::Lines;
use super::pattern::Pattern;
use super::run::Run;
use super::target;
use super::together::together;
use super::tools;
use crate::config;
use crate::protocol::json;
use crate::protocol::message::Sent;
use crate::protocol::model::tool::Tool;
use crate::protocol::params::Members;

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
    let servers = match find.servers.is_empty() {
        true => configured(run)?,
        false => find.servers.clone(),
    };
    // Each has its own time limits, so that one that is silent does not keep the others waiting.
    let looks = servers.iter().map(|server| look(run, server, executor));
    let mut lines = Lines::new(run, &["SERVER", "NAME", "ARGUMENTS", "DESCRIPTION"]);
    let mut failure = None;
    let (mut count, mut looked_at) = (0, 0);
    for (server, looked) in servers.iter().zip(together(looks).await) {
        match looked {
            Ok(tools) => {
                looked_at += 1;
                let fitting = tools.iter().filter(|tool| tools::mentions(tool, &pattern));
                for tool in fitting {
                    lines.item(&item(server, tool), || columns(server, tool))?;
                    count += 1;
                }
            }
            // Nobody waits for the others any more.
            Err(error) if matches!(error.exit, Exit::Signal(_)) => return Err(error),
            Err(error) => {
                run.warn(&format!("{server}: {}", error.message));
                failure.get_or_insert(error);
            }
        }
    }
    let exit = lines.finish()?;
    if 0 < count {
        return Ok(exit);
    }
    let text = format!("no tool of {looked_at} servers fits \"{}\"", find.pattern);
    Err(match failure {
        None => Error::new(Exit::Rpc, text).phase(Phase::Request).sent(Sent::No),
        // It may be one of those that could not be looked at.
        Some(first) => {
            let text = format!("{text}; {} could not be looked at", servers.len() - looked_at);
            Error::new(first.exit, text).phase(Phase::Request).sent(Sent::No)
        }
    })
}

/// The names of all servers of the configuration. Those that are off are not meant, and what is
/// wrong with others is said when they are looked at.
fn configured(run: &Run<'_>) -> Result<Vec<String>, Error> {
    let (listed, faults) = config::list(run.env, &target::overrides(run)?);
    for fault in faults {
        run.warn(&fault.to_string());
    }
    let is_off = |listed: &config::Listed| {
        matches!(listed.resolved, Err(config::ConfigError::Disabled { .. }))
    };
    let wanted = listed.into_iter().filter(|listed| !listed.hidden && !is_off(listed));
    let names: Vec<String> = wanted.map(|listed| listed.name).collect();
    match names.is_empty() {
        false => Ok(names),
        true => {
            let text = "the configuration has no servers to look at; name some";
            Err(Error::new(Exit::Config, text).phase(Phase::Config).sent(Sent::No))
        }
    }
}

/// The tools of a server: as they were stored, or with `--refresh` as it tells them now.
async fn look(
    run: &Run<'_>,
    server: &str,
    executor: &LocalExecutor<'static>,
) -> Result<Vec<Tool>, Error> {
    let mut contact = Contact::find(run, server, executor)?;
    if run.settings.cache != Cache::Refresh {
        return match Catalog::stored(&contact) {
            Some(catalog) => Ok(catalog.tools),
            None => {
                let text = "its tools are not stored; --refresh asks it";
                Err(Error::new(Exit::Mismatch, text).phase(Phase::Request).server(server))
            }
        };
    }
    let fetched = Catalog::fetch(&mut contact).await;
    match (fetched, contact.close().await) {
        (_, Some(signal)) => Err(explain::interrupted(signal)),
        (fetched, None) => Ok(fetched?.tools),
    }
}

/// A tool and its server, JSON text.
fn item(server: &str, tool: &Tool) -> String {
    let mut item = Members::new();
    item.push("server", &json::string(server));
    item.push("tool", tool.as_json());
    item.finish()
}

fn columns(server: &str, tool: &Tool) -> Vec<String> {
    let mut columns = tools::columns(tool);
    columns.insert(0, server.to_owned());
    columns
}
