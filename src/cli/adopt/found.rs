//! A server from a card, a catalog or an older document.

use super::Adoptable;
use super::consent::Consent;
use crate::cli::args::config_commands::Add;
use crate::cli::config::entry::{insert_object, timing};
use crate::cli::discover::{self, Access, Said, sheet, signature};
use crate::cli::errors::Error;
use crate::cli::policy;
use crate::cli::run::Run;
use crate::config::{Entry, is_name};
use crate::discovery::{Candidate, Claim, Place};
use crate::net::Address;

/// The longest name that is made up.
const NAME_LIMIT: usize = 64;

/// Looks for the server and makes an entry of it.
pub(super) async fn look_up(
    run: &Run<'_>,
    add: &Add,
    word: &str,
    place: &Place,
) -> Result<Adoptable, Error> {
    let access = access(add);
    // What is written down is not made of what may have changed since.
    let documents = discover::documents(run, &access)?.checked();
    let found = discover::findings(run, &documents, place, &access).await?;
    let is_refused = found.candidates.is_empty() && add.entry.is_none();
    if let (true, Place::Endpoint(endpoint)) = (is_refused, place) {
        refuse_plain(endpoint, add)?;
        return Ok(bare(run, endpoint));
    }
    let candidate = discover::choose(word, place, &found)?;
    let said = Said::new(run, &add.var);
    let (mut entry, address) = discover::entry(run, candidate, &said)?;
    discover::admit(run, &documents, candidate, &address).await?;
    complete(run, &mut entry);
    let signature = signature::look(run, &documents, candidate).await;
    let text = sheet::text(candidate, &signature, None);
    Ok(Adoptable {
        name: name_of(&candidate.shown_name(), &address),
        entry,
        consent: consent(run, candidate, place, &address)?,
        claimed: Some((text, discover::json(candidate, &signature))),
        publisher: signature.publisher(),
        claim: candidate.claim.clone(),
        bundle: None,
        is_unclaimed: false,
    })
}

fn access(add: &Add) -> Access<'_> {
    Access {
        standard: add.standard,
        html: false,
        max_card_bytes: add.max_card_bytes,
        allow_http: add.allow_http,
        offline: false,
        registry: None,
        only: add.entry.as_deref(),
    }
}

fn refuse_plain(endpoint: &Address, add: &Add) -> Result<(), Error> {
    match endpoint.is_tls() || endpoint.is_loopback() || add.allow_http {
        true => Ok(()),
        false => {
            let error = Error::usage(format!("{endpoint} is not encrypted"));
            Err(error.hint("--allow-http adds it all the same"))
        }
    }
}

/// An endpoint without a card: all that is known is what the user says.
fn bare(run: &Run<'_>, endpoint: &Address) -> Adoptable {
    let mut entry = Entry::new();
    entry.insert("type".to_owned(), "http".into());
    entry.insert("url".to_owned(), endpoint.as_str().into());
    complete(run, &mut entry);
    run.remark("no card was found; what counts is what the server says");
    Adoptable {
        name: name_of("", endpoint),
        entry,
        consent: None,
        claimed: None,
        claim: Claim::default(),
        publisher: None,
        bundle: None,
        is_unclaimed: true,
    }
}

/// Adds what the options say.
pub(super) fn complete(run: &Run<'_>, entry: &mut Entry) {
    let globals = run.globals;
    let given = globals.header.iter();
    let given = given.map(|header| (header.name.clone(), header.value.as_str().into()));
    let mut headers =
        entry.get("headers").and_then(|it| it.as_object()).cloned().unwrap_or_default();
    for (name, value) in given {
        headers.retain(|known, _| !known.eq_ignore_ascii_case(&name));
        headers.insert(name, value);
    }
    insert_object(entry, "headers", headers);
    timing(globals, entry);
}

/// Whether the user has named the server, or somebody else has.
///
/// # Errors
/// When somebody else has, and a policy wants nothing of the kind.
fn consent(
    run: &Run<'_>,
    candidate: &Candidate,
    place: &Place,
    endpoint: &Address,
) -> Result<Option<Consent>, Error> {
    let from = candidate.address().map_or_else(|| "the file".to_owned(), ToString::to_string);
    let why = match place {
        Place::File(_) => {
            let why = "a file has chosen where it is";
            return Ok(Some(Consent { from, why, is_granted: false }));
        }
        _ if candidate.address().is_some_and(|address| !discover::is_named(place, address)) => {
            "the document is from another host"
        }
        _ if !discover::is_named(place, endpoint) => "it is on another host",
        _ => return Ok(None),
    };
    let is_granted = policy::allows_cross_domain(run, endpoint, why)?;
    Ok(Some(Consent { from, why, is_granted }))
}

/// A name for a configuration: the last part of what a server calls itself, else its host.
pub(super) fn name_of(claimed: &str, address: &Address) -> String {
    let last = claimed.rsplit(['/', ':']).next().unwrap_or_default();
    let letter = |letter: char| match letter.is_ascii_alphanumeric() || "._-".contains(letter) {
        true => letter,
        false => '-',
    };
    let name: String = last.trim().chars().map(letter).take(NAME_LIMIT).collect();
    let name = name.trim_matches(['-', '.']).to_owned();
    match is_name(&name) {
        true => name,
        false => address.host().chars().map(letter).take(NAME_LIMIT).collect(),
    }
}
