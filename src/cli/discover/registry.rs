//! The registry: which one is asked, and what it knows.

use crate::cli::errors::{Error, Phase};
use crate::cli::exit::Exit;
use crate::cli::run::Run;
use crate::discovery::documents::Miss;
use crate::discovery::registry::{self, Listed, Matches, Status};
use crate::discovery::{Documents, Findings, Place};
use crate::net::Address;
use crate::protocol::message::Sent;
use crate::protocol::visible::visible;

/// The registry that is asked: the option, else the variable, else the official one.
pub(in crate::cli) fn registry(run: &Run<'_>, given: Option<&str>) -> Result<Address, Error> {
    let said = run.env.setting("MCPMINI_REGISTRY").and_then(|url| url.into_string().ok());
    let (what, url) = match (given, said) {
        (Some(url), _) => ("--registry", url.to_owned()),
        (None, Some(url)) => ("MCPMINI_REGISTRY", url),
        (None, None) => ("the registry", registry::OFFICIAL.to_owned()),
    };
    Address::parse(&url).map_err(|error| Error::usage(format!("{what}: {error}")))
}

/// What the registry knows of a place. Servers that were deleted are left out.
pub(super) async fn listed(
    run: &Run<'_>,
    documents: &Documents,
    given: Option<&str>,
    place: &Place,
) -> Result<Findings, Error> {
    let address = registry(run, given)?;
    let (found, text) = match place {
        Place::Registry { name, version } => {
            let one = registry::look_up(documents, &address, name, version.as_deref());
            let one = run.unless_over(one).await?;
            (one.map(|one| Matches { servers: vec![one], unread: None }), name)
        }
        Place::Search(text) => {
            let found = registry::search(documents, &address, text);
            (run.unless_over(found).await?, text)
        }
        _ => return Ok(Findings::default()),
    };
    let found = found.map_err(|miss| unregistered(text, &address, &miss))?;
    let listed = &found.servers;
    let count = listed.len();
    let cut = |miss: &Miss| format!("{count} servers are shown, and the registry has more: {miss}");
    let notes = found.unread.iter().map(cut).collect();
    let usable = |one: &&Listed| one.status != Status::Deleted;
    for deleted in listed.iter().filter(|one| !usable(one)) {
        run.warn(&format!("{} was deleted from the registry", visible(deleted.claim.shown_name())));
    }
    for one in listed {
        if let Status::Other(status) = &one.status {
            let (name, status) = (visible(one.claim.shown_name()), visible(status));
            run.warn(&format!("the registry calls {name} \"{status}\", which is not known"));
        }
    }
    let candidates = listed.iter().filter(usable).map(Listed::candidate).collect();
    Ok(Findings { candidates, tried: documents.tried(), notes })
}

/// The error for what the registry does not know.
pub(in crate::cli) fn unregistered(name: &str, registry: &Address, miss: &Miss) -> Error {
    let exit = match miss {
        Miss::Malformed(_) | Miss::NotJson | Miss::OtherServer { .. } => Exit::Protocol,
        _ => Exit::Unreachable,
    };
    let text = match miss {
        Miss::Status(404 | 410) => format!("{} has no server {name}", registry.host_and_port()),
        Miss::OtherServer { .. } => {
            format!("{} was asked for {name}, and {miss}", registry.host_and_port())
        }
        miss => format!("{} could not be asked for {name}: {miss}", registry.host_and_port()),
    };
    let error = Error::new(exit, text).phase(Phase::Connect).sent(Sent::No);
    error.retryable(miss.may_pass()).hint_if_any(miss.hint())
}
