//! `mcpmini tools`: what a server can do.

use smol::LocalExecutor;

use super::args::Format;
use super::args::commands::Tools;
use super::catalog::Catalog;
use super::contact::Contact;
use super::describe;
use super::errors::Error;
use super::exit::Exit;
use super::lines::Lines;
use super::many;
use super::output;
use super::pattern::{self, Pattern};
use super::run::Run;
use super::tool_list::{Wanted, columns, no_match};
use crate::protocol::model::tool::{self, Tool};

/// Lists the tools of a server, or shows one.
pub(super) async fn run(
    run: &Run<'_>,
    tools: &Tools,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    let grep = tools.grep.as_deref().map(|grep| Pattern::regex(grep, false)).transpose()?;
    let Some(server) = tools.server() else {
        let wanted = Wanted { pattern: tools.pattern(), grep: grep.as_ref() };
        return many::tools(run, tools, &wanted, executor).await;
    };
    let mut contact = Contact::find(run, server, executor)?;
    let shown = match tools.pattern().filter(|word| !pattern::is_glob(word)) {
        Some(name) if grep.is_none() => show(run, name, &mut contact).await,
        _ => list(run, tools, grep.as_ref(), &mut contact).await,
    };
    contact.finish(shown).await
}

/// Shows one tool.
async fn show(run: &Run<'_>, name: &str, contact: &mut Contact<'_>) -> Result<Exit, Error> {
    let tool = Catalog::find(contact, name).await?;
    match run.settings.output {
        Format::Json => output::write_line(run, tool.as_json())?,
        _ => output::write(
            run,
            describe::tool(&tool, &run.redaction.apply(&contact.server.name)).as_bytes(),
        )?,
    }
    Ok(Exit::Ok)
}

/// Lists the tools that are wanted.
async fn list(
    run: &Run<'_>,
    tools: &Tools,
    grep: Option<&Pattern>,
    contact: &mut Contact<'_>,
) -> Result<Exit, Error> {
    let (catalog, is_stale) = many::catalog(contact, tools.cached_ok).await?;
    if is_stale {
        run.warn(&many::staleness(std::slice::from_ref(&contact.server.name)));
    }
    let fits = Wanted { pattern: tools.pattern(), grep };
    let found: Vec<&Tool> = catalog.tools.iter().filter(|tool| fits.are(tool)).collect();
    if let (Some(wanted), true) = (tools.wanted(), found.is_empty()) {
        let error = no_match(format!("no tool fits {wanted}")).server(&contact.server.name);
        let nearest = tools.pattern().and_then(|name| tool::nearest(name, &catalog.tools));
        return Err(match nearest {
            Some(nearest) => error.hint(format!("did you mean \"{nearest}\"?")),
            None => error,
        });
    }
    let mut lines = Lines::new(run, &["NAME", "ARGUMENTS", "DESCRIPTION"]);
    for tool in found {
        lines.item(tool.as_json(), || columns(tool))?;
    }
    lines.finish()
}
