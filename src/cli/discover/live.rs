//! What a server says about itself, to be held against its card.

use smol::LocalExecutor;

use crate::cli::contact::Contact;
use crate::cli::errors::Error;
use crate::cli::info::greeting;
use crate::cli::run::Run;
use crate::config::{self, Entry};
use crate::discovery::compare::Live;
use crate::protocol::jsonrpc::scan;
use crate::protocol::model::server;

/// Asks the server that a definition says, which stands in no file.
pub(in crate::cli) async fn ask(
    run: &Run<'_>,
    name: &str,
    entry: &Entry,
    executor: &LocalExecutor<'static>,
) -> Result<Live, Error> {
    let resolved =
        config::resolve_entry(name, entry, run.env).map_err(super::super::explain::config)?;
    let mut contact = Contact::of(run, &resolved, executor)?;
    let live = of(&mut contact).await;
    contact.close().await;
    match run.over() {
        Some(error) => Err(error),
        None => live,
    }
}

/// What the server of a contact says about itself.
pub(in crate::cli) async fn of(contact: &mut Contact<'_>) -> Result<Live, Error> {
    contact.settle().await?;
    let greeting = greeting(contact).await?;
    let spoken = contact.about().map(|about| about.revision.date.to_owned());
    Ok(read(greeting.as_str(), spoken))
}

/// What a greeting says. `spoken` is the revision that is spoken.
pub(in crate::cli) fn read(greeting: &str, spoken: Option<String>) -> Live {
    let info = server::info(greeting).unwrap_or("{}");
    let text = |name| Some(scan::unescape(scan::member(info, name)?)?.into_owned());
    let supported = scan::elements(scan::member(greeting, "supportedVersions").unwrap_or("[]"));
    let mut versions: Vec<_> =
        supported.filter_map(|it| Some(scan::unescape(it)?.into_owned())).collect();
    if versions.is_empty() {
        versions.extend(spoken);
    }
    let capabilities = scan::members(scan::member(greeting, "capabilities").unwrap_or("{}"));
    Live {
        name: text("name"),
        version: text("version"),
        versions,
        capabilities: capabilities.map(|(name, _)| name.into_owned()).collect(),
    }
}
