//! From options to documents: how the network is reached, and what is said about what came.

use std::path::Path;
use std::time::Duration;

use super::registry;
use crate::cli::args::settings::Trust;
use crate::cli::config::file::only_file;
use crate::cli::errors::{Error, Phase};
use crate::cli::exit::Exit;
use crate::cli::explain;
use crate::cli::originals;
use crate::cli::policy;
use crate::cli::run::Run;
use crate::cli::target;
use crate::config::{self, Target, Word};
use crate::discovery::documents::Origin;
use crate::discovery::lookup::{self, CARD_LIMIT, Options};
use crate::discovery::{Candidate, Documents, Finder, Findings, Place, Reuse};
use crate::net::{Address, FetchError, Fetcher, Policy};
use crate::protocol::mask;
use crate::protocol::message::{Fault, Sent};
use crate::protocol::visible::visible;
use crate::store::{self, Guard};
use crate::trust;
use crate::trust::policy::Mode;

/// The longest file that is read, in bytes.
const FILE_LIMIT: u64 = 8 << 20;

/// What the options say about looking for servers.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::cli) struct Access<'a> {
    /// Only where the standard says.
    pub(in crate::cli) standard: bool,
    /// Into pages, too.
    pub(in crate::cli) html: bool,
    /// The longest card, in bytes.
    pub(in crate::cli) max_card_bytes: Option<usize>,
    /// Without encryption beyond this machine, too.
    pub(in crate::cli) allow_http: bool,
    /// Stored documents only.
    pub(in crate::cli) offline: bool,
    /// The registry to ask.
    pub(in crate::cli) registry: Option<&'a str>,
    /// The one server that is wanted, by its name or identifier.
    pub(in crate::cli) only: Option<&'a str>,
}

/// Where a word of the command line says to look.
pub(in crate::cli) fn place(word: &str) -> Result<Place, Error> {
    Place::parse(word).map_err(|error| {
        let error = Error::new(Exit::Usage, error.to_string()).phase(Phase::Usage);
        error.hint(match registry_name(word) {
            Some(name) => format!("of the registry: {name}"),
            None => {
                "a host such as example.com, a URL, registry:NAME, or a file such as ./card.json"
                    .to_owned()
            }
        })
    })
}

/// How a word would be named that looks like a name of the registry, but could be something else.
pub(in crate::cli) fn registry_name(word: &str) -> Option<String> {
    let name = format!("registry:{word}");
    matches!(Place::parse(&name), Ok(Place::Registry { .. })).then_some(name)
}

/// The same for a command that also takes a server of the configuration: its card if it was made
/// from one, with its entry if that is in a catalog, else its endpoint.
pub(in crate::cli) fn place_or_name(
    run: &Run<'_>,
    word: &str,
) -> Result<(Place, Option<String>), Error> {
    let overrides = only_file(run);
    let is_name = matches!(Word::parse(word), Ok(Word::Name { .. }));
    let resolved = match is_name.then(|| config::resolve(word, run.env, &overrides)) {
        Some(Ok(resolved)) => resolved,
        // It may be a host. What cannot be one was meant as a name.
        Some(Err(unknown)) => match place(word) {
            Ok(place) => return Ok((place, None)),
            Err(no_place) => {
                return Err(Error { hint: no_place.hint, ..explain::config(unknown) });
            }
        },
        None => return Ok((place(word)?, None)),
    };
    // Whoever wrote a project's file does not decide whom we ask.
    trust::admit(&resolved, run.env, &overrides).map_err(explain::trust)?;
    let Target::Http(server) = &resolved.definition.target else {
        let error = Error::new(Exit::Usage, format!("{word} is started here, and has no card"));
        return Err(error.phase(Phase::Usage).sent(Sent::No));
    };
    let (url, card) = match &resolved.definition.card {
        Some(card) => (&card.url, Some(card)),
        None => (&server.url, None),
    };
    match (Address::parse(url), card) {
        (Ok(address), Some(card)) => Ok((Place::Document(address), card.entry.clone())),
        (Ok(_), None) => Ok((place(url)?, None)),
        (Err(error), _) => {
            let text = format!("the URL of {word} cannot be used here: {error}");
            Err(Error::new(Exit::Config, text).phase(Phase::Config).sent(Sent::No))
        }
    }
}

/// What gets documents in this run.
pub(in crate::cli) fn documents(run: &Run<'_>, access: &Access<'_>) -> Result<Documents, Error> {
    let fetcher = fetcher(run, access)?;
    let reuse = match run.cache_mode() {
        _ if access.offline => Reuse::Only,
        crate::cache::Mode::On => Reuse::Fresh,
        crate::cache::Mode::Refresh => Reuse::Checked,
        crate::cache::Mode::Off => Reuse::Never,
    };
    let mut documents =
        Documents::new(fetcher, originals::limits(run), reuse, access.allow_http, run.env);
    documents.takes_stale = !is_strict(run)?;
    Ok(documents)
}

/// Whether only the user's word counts.
pub(in crate::cli) fn is_strict(run: &Run<'_>) -> Result<bool, Error> {
    let is_said = run.settings.trust == Some(Trust::Strict);
    Ok(is_said || policy::load(run)?.mode() == Mode::Strict)
}

/// What fetches in this run.
pub(in crate::cli) fn fetcher(run: &Run<'_>, access: &Access<'_>) -> Result<Fetcher, Error> {
    let settings = target::network(run, "discovery")?;
    let policy = Policy { allow_private: run.access.allow_private, allow_http: access.allow_http };
    // No server is reached by a socket here, so any address will do.
    let nowhere = Address::parse("https://localhost/").expect("that is a URL");
    Ok(Fetcher::new(&settings, &nowhere, policy))
}

/// What is found at a place. What people should know about it is told.
pub(in crate::cli) async fn findings(
    run: &Run<'_>,
    documents: &Documents,
    place: &Place,
    access: &Access<'_>,
) -> Result<Findings, Error> {
    let found = match place {
        Place::File(path) => from_file(run, path, access.only)?,
        Place::Registry { .. } | Place::Search(_) => {
            registry::listed(run, documents, access.registry, place).await?
        }
        _ => {
            let finder = Finder::new(documents, options(access)).only(access.only);
            run.unless_over(finder.find(place)).await?
        }
    };
    for tried in &found.tried {
        let outcome = tried.miss.as_ref().map_or("found".to_owned(), ToString::to_string);
        run.remark(&format!("{}: {outcome}", mask::url(&tried.url)));
    }
    found.notes.iter().for_each(|note| run.warn(note));
    found.candidates.iter().for_each(|candidate| tell(run, candidate));
    Ok(found)
}

/// How to look, as the options say.
pub(in crate::cli) fn options(access: &Access<'_>) -> Options {
    Options {
        standard: access.standard,
        html: access.html,
        card_limit: access.max_card_bytes.unwrap_or(CARD_LIMIT),
    }
}

/// Makes sure that the server of a candidate may be contacted: the document that names it must not
/// lead to where only we can reach, and must be the one that the catalog lists. Where only the user's
/// word counts, it must also be as the catalog says.
pub(in crate::cli) async fn admit(
    run: &Run<'_>,
    documents: &Documents,
    candidate: &Candidate,
    address: &Address,
) -> Result<(), Error> {
    let refused = |text: String| Error::new(Exit::Trust, text).phase(Phase::Trust).sent(Sent::No);
    if candidate.digest_holds == Some(false) {
        let name = visible(&candidate.shown_name());
        return Err(refused(format!("the card of {name} is not the one that the catalog lists")));
    }
    let differing = candidate.contradictions();
    if !differing.is_empty() && is_strict(run)? {
        let told: Vec<_> = differing.iter().map(|it| visible(&it.to_string())).collect();
        let text = format!("the card is not as the catalog says: {}", told.join("; "));
        return Err(refused(text).hint("that is an error because trust is strict here"));
    }
    match documents.admits(address, candidate.zone).await {
        Ok(()) => Ok(()),
        Err(error @ FetchError::Inwards { .. }) => {
            Err(refused(error.to_string()).hint("--allow-private lets it"))
        }
        Err(error @ FetchError::NotEncrypted(_)) => {
            Err(refused(error.to_string()).hint("--allow-http lets it"))
        }
        Err(error @ FetchError::Forbidden(_)) => Err(refused(error.to_string())),
        Err(error) => Err(Error::from(Fault::from(error)).phase(Phase::Connect)),
    }
}

/// Whether the user has named the host of an address, or one above it, and nobody else has chosen it.
pub(in crate::cli) fn is_named(place: &Place, address: &Address) -> bool {
    let named = match place {
        Place::Host(named) | Place::Endpoint(named) | Place::Document(named) => named,
        Place::File(_) | Place::Registry { .. } | Place::Search(_) => return false,
    };
    let (host, above) = (address.host(), named.host());
    // An address has nothing below it.
    let is_below =
        named.ip().is_none() && host.strip_suffix(above).is_some_and(|it| it.ends_with('.'));
    host == above || is_below
}

/// The bytes of a file that the command line names.
pub(in crate::cli) fn read_file(run: &Run<'_>, path: &Path) -> Result<Vec<u8>, Error> {
    let fail = |text: String| Error::new(Exit::Config, text).phase(Phase::Config).sent(Sent::No);
    let bytes = store::read(
        &run.env.absolute(path),
        FILE_LIMIT,
        Guard::Named { until: run.env.deadline() },
    );
    let bytes = bytes.map_err(|fault| fail(fault.to_string()))?;
    bytes.ok_or_else(|| fail(format!("there is no file {}", path.display())))
}

fn from_file(run: &Run<'_>, path: &Path, only: Option<&str>) -> Result<Findings, Error> {
    let bytes = read_file(run, path)?;
    lookup::read_file(path, &bytes, only).map_err(|malformed| {
        let text = format!("{}: {malformed}", path.display());
        Error::new(Exit::Protocol, text).phase(Phase::Config).sent(Sent::No)
    })
}

/// Says what is odd about a server that was found.
fn tell(run: &Run<'_>, candidate: &Candidate) {
    if let Some(conflict) = &candidate.conflict {
        let card = match conflict.card.as_slice() {
            [] => "none".to_owned(),
            urls => visible(&urls.join(", ")),
        };
        let winner = if conflict.card_wins { "the card" } else { "the manifest" };
        run.warn(&format!(
            "the manifest names the endpoint {}, and the card it points to {card}; {winner} counts",
            visible(&conflict.manifest)
        ));
    }
    let document = candidate.document.as_ref();
    if let Some(document) = document.filter(|it| !it.address.same_origin(&it.requested)) {
        run.warn(&format!(
            "{} redirects to another host: {}",
            document.requested, document.address
        ));
    }
    if let Some(Origin::Stale(age)) = candidate.origin() {
        let from = candidate.address().map(ToString::to_string).unwrap_or_default();
        run.warn(&format!("{from} was fetched {} ago, and may have changed since", ago(age)));
    }
    if candidate.digest_holds == Some(false) {
        let name = visible(&candidate.shown_name());
        run.warn(&format!(
            "the card of {name} is not the one that the catalog lists: another hash"
        ));
    }
}

fn ago(age: Duration) -> String {
    match age.as_secs() {
        seconds @ 0..=119 => format!("{seconds} s"),
        seconds @ 120..=7199 => format!("{} min", seconds / 60),
        seconds @ 7200..=172_799 => format!("{} h", seconds / 3600),
        seconds => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_named_with_all_that_lies_below_it_and_no_other() {
        let check = |word: &str, url: &str, expected: bool| {
            let place = Place::parse(word).unwrap();
            assert_eq!(is_named(&place, &Address::parse(url).unwrap()), expected, "{word} {url}");
        };
        check("example.com", "https://example.com/mcp", true);
        check("example.com", "https://mcp.example.com:8443/", true);
        check("https://example.com/mcp", "https://EXAMPLE.com./x", false);
        check("example.com", "https://notexample.com/", false);
        check("example.com", "https://example.com.evil.example/", false);
        // Whether they belong together, only a list of public suffixes could tell.
        check("a.example.com", "https://b.example.com/", false);
        check("mcp.example.com", "https://example.com/", false);
        check("127.0.0.1", "http://1.127.0.0.1.example/", false);
        check("registry:com.example/weather", "https://example.com/", false);
        check("./card.json", "https://example.com/", false);
    }
}
