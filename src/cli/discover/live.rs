//! What a server says about itself, to be held against its card.

use std::cell::OnceCell;

use smol::LocalExecutor;

use super::documents::is_strict;
use super::line::remote_of;
use crate::cli::contact::Contact;
use crate::cli::errors::{Error, Phase};
use crate::cli::exit::Exit;
use crate::cli::explain;
use crate::cli::run::Run;
use crate::config::{self, Entry};
use crate::discovery::Claim;
use crate::discovery::compare::{Difference, Live, differences};
use crate::protocol::json;
use crate::protocol::jsonrpc::scan;
use crate::protocol::model::server;
use crate::protocol::params::Members;
use crate::protocol::visible::visible;
use crate::trust::pins::{Facets, Texts};

/// What a server says about itself, and where its card differs.
#[derive(Debug)]
pub(in crate::cli) struct Asked {
    pub(in crate::cli) live: Live,
    pub(in crate::cli) differing: Vec<Difference>,
    /// What of it is held against what it says later, and the texts in that; nothing where it was not
    /// asked for that.
    pub(in crate::cli) greeting: (Facets, Texts),
}

/// A server that stands in no file yet.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) struct Stranger<'a> {
    /// What to call it.
    pub(in crate::cli) name: &'a str,
    /// How it is reached.
    pub(in crate::cli) entry: &'a Entry,
    /// What is claimed about it.
    pub(in crate::cli) claim: &'a Claim,
    /// Whether the user has named its host.
    pub(in crate::cli) is_named: bool,
}

/// Asks a server that stands in no file, and holds the claim against what it says. A token that was
/// given goes only to a host that the user has named. Which revision it speaks is asked as of any
/// other: a claim of it would save a question once, and with a server that takes the wrong one for
/// nothing it would cost the answer.
pub(in crate::cli) async fn ask(
    run: &Run<'_>,
    stranger: Stranger<'_>,
    executor: &LocalExecutor<'static>,
) -> Result<Asked, Error> {
    let Stranger { name, entry, claim, is_named } = stranger;
    let resolved = config::resolve_entry(name, entry, run.env).map_err(explain::config)?;
    let mut contact = Contact::of(run, &resolved, executor)?;
    if !is_named {
        contact.token = OnceCell::from(Ok(None));
    }
    let live = of(&mut contact).await;
    let greeting = contact.watcher.consent.greeting();
    contact.close().await;
    match run.over() {
        Some(error) => Err(error),
        None => Ok(Asked { greeting, ..held(claim, live?) }),
    }
}

/// A claim, held against what the server says.
pub(in crate::cli) fn held(claim: &Claim, live: Live) -> Asked {
    let versions = remote_of(claim).map(|remote| remote.versions.as_slice());
    let differing = differences(claim, versions.unwrap_or_default(), &live);
    Asked { live, differing, greeting: Default::default() }
}

/// Where only the user's word counts, a server that is not as its card says is not what was looked at.
pub(in crate::cli) fn heed(run: &Run<'_>, differing: &[Difference]) -> Result<(), Error> {
    if differing.is_empty() || !is_strict(run)? {
        return Ok(());
    }
    let told: Vec<_> = differing.iter().map(|it| visible(&it.to_string())).collect();
    let text = format!("the server is not as its card says: {}", told.join("; "));
    let error = Error::new(Exit::Trust, text).phase(Phase::Trust);
    Err(error.hint("that is an error because trust is strict here"))
}

/// Adds what a server says to a JSON object.
pub(in crate::cli) fn push_asked(members: &mut Members, asked: &Asked) {
    let Asked { live, differing, .. } = asked;
    let mut said = Members::new();
    for (name, text) in [("name", &live.name), ("version", &live.version)] {
        if let Some(text) = text {
            said.push(name, &json::string(text));
        }
    }
    said.push("protocolVersions", &json::strings(&live.versions));
    said.push("capabilities", &json::strings(&live.capabilities));
    members.push("server", &said.finish());
    members.push("differences", &differences_json(differing));
}

/// Differences as a JSON array.
pub(in crate::cli) fn differences_json(differing: &[Difference]) -> String {
    let one = |difference: &Difference| {
        let mut members = Members::new();
        members.push("what", &json::string(difference.what));
        members.push("card", &json::string(&difference.card));
        members.push("server", &json::string(&difference.server));
        members.finish()
    };
    format!("[{}]", differing.iter().map(one).collect::<Vec<_>>().join(","))
}

/// What the server of a contact says about itself.
pub(in crate::cli) async fn of(contact: &mut Contact<'_>) -> Result<Live, Error> {
    contact.settle().await?;
    let greeting = contact.greeting().await?;
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
