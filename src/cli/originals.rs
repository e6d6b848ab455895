//! Documents that the command line names by a file or by a URL, taken byte by byte as they are.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::errors::{Error, Phase};
use super::exit::Exit;
use super::run::Run;
use super::target;
use crate::discovery::documents::Limits;
use crate::net::{Address, FetchError, Fetcher, Policy, Source, Zone};
use crate::store::{self, Guard};

/// Where a document is.
#[derive(Debug, Clone)]
pub(super) enum Place {
    /// In a file.
    File {
        /// Its path, absolute.
        path: PathBuf,
        /// Its path as the command line has it.
        shown: String,
    },
    /// On the network.
    Url(Address),
}

impl Place {
    /// Reads a word: `http://…` and `https://…` are URLs, all else are files.
    pub(super) fn parse(run: &Run<'_>, word: &str) -> Result<Place, Error> {
        if !word.starts_with("http://") && !word.starts_with("https://") {
            let path = word.strip_prefix("file:").unwrap_or(word);
            return Ok(Place::file(run, path.as_ref()));
        }
        match Address::parse(word) {
            Ok(address) => Ok(Place::Url(address)),
            Err(invalid) => {
                let text = format!("\"{word}\": {invalid}");
                Err(Error::new(Exit::Usage, text).phase(Phase::Usage))
            }
        }
    }

    /// A file.
    pub(super) fn file(run: &Run<'_>, path: &Path) -> Place {
        Place::File { path: run.env.absolute(path), shown: path.display().to_string() }
    }

    /// The document of the same name with something after it, where the server would have it.
    pub(super) fn with_suffix(&self, suffix: &str) -> Place {
        match self {
            Place::File { path, shown } => {
                let mut name = path.clone().into_os_string();
                name.push(suffix);
                Place::File { path: name.into(), shown: format!("{shown}{suffix}") }
            }
            Place::Url(address) => {
                let (path, query) = match address.as_str().split_once('?') {
                    Some((path, query)) => (path, format!("?{query}")),
                    None => (address.as_str(), String::new()),
                };
                let url = Address::parse(&format!("{path}{suffix}{query}"));
                Place::Url(url.expect("the URL had a path that can grow"))
            }
        }
    }

    /// The URL, if it is one.
    pub(super) fn url(&self) -> Option<&str> {
        match self {
            Place::File { .. } => None,
            Place::Url(address) => Some(address.as_str()),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File { shown, .. } => f.write_str(shown),
            Place::Url(address) => f.write_str(address.as_str()),
        }
    }
}

/// Which documents are wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    /// What it is, for people: `the card`.
    pub(super) what: &'static str,
    /// The media types, as the header `Accept` has them.
    pub(super) accept: &'static str,
    /// The longest one, in bytes.
    pub(super) limit: usize,
    /// Who has named the URL.
    pub(super) source: Source,
}

/// Gets documents.
#[derive(Debug)]
pub(super) struct Originals<'a> {
    run: &'a Run<'a>,
    /// What is allowed beyond the rules.
    policy: Policy,
    /// Whether nobody is to be contacted.
    offline: bool,
    /// How long requests may take, from the beginning on.
    limits: Limits,
    begun: Instant,
}

impl<'a> Originals<'a> {
    /// Originals, under these rules.
    pub(super) fn new(run: &'a Run<'a>, policy: Policy, offline: bool) -> Originals<'a> {
        Originals { run, policy, offline, limits: limits(run), begun: Instant::now() }
    }

    /// The run that they are for.
    pub(super) fn run(&self) -> &'a Run<'a> {
        self.run
    }

    /// Gets a document; `None` when there is none at that place.
    pub(super) async fn find(
        &self,
        place: &Place,
        wanted: Wanted,
    ) -> Result<Option<Vec<u8>>, Error> {
        Ok(self.find_with_source(place, wanted).await?.map(|(body, _)| body))
    }

    /// Gets a document that must be there.
    pub(super) async fn get(&self, place: &Place, wanted: Wanted) -> Result<Vec<u8>, Error> {
        Ok(self.get_with_source(place, wanted).await?.0)
    }

    /// Gets a document that must be there, and who it is that names the URLs in it.
    pub(super) async fn get_with_source(
        &self,
        place: &Place,
        wanted: Wanted,
    ) -> Result<(Vec<u8>, Source), Error> {
        let found = self.find_with_source(place, wanted).await?;
        found.ok_or_else(|| match place {
            Place::File { shown, .. } => {
                config(format!("{}: there is no file {shown}", wanted.what))
            }
            Place::Url(address) => {
                unreachable(format!("{}: there is nothing at {}", wanted.what, address.as_str()))
            }
        })
    }

    async fn find_with_source(
        &self,
        place: &Place,
        wanted: Wanted,
    ) -> Result<Option<(Vec<u8>, Source)>, Error> {
        match place {
            Place::File { path, .. } => {
                let read = store::read(
                    path,
                    wanted.limit as u64,
                    Guard::Named { until: self.run.env.deadline() },
                );
                let read = read.map_err(|fault| config(format!("{}: {fault}", wanted.what)))?;
                // Who has written it is not known.
                Ok(read.map(|body| (body, Source::Document(Zone::Public))))
            }
            Place::Url(address) => self.fetch(address, wanted).await,
        }
    }

    async fn fetch(
        &self,
        address: &Address,
        wanted: Wanted,
    ) -> Result<Option<(Vec<u8>, Source)>, Error> {
        let Wanted { what, accept, limit, source } = wanted;
        if self.offline {
            let text = format!("{what}: {} would have to be fetched", address.as_str());
            return Err(unreachable(text)
                .retryable(false)
                .hint("leave --offline out, or name a file"));
        }
        let fetcher = Fetcher::new(&target::network(self.run, "documents")?, address, self.policy);
        let fetcher = fetcher.with_patience(self.limits.each).within(self.limits.all, self.begun);
        let fetching = fetcher.get(address, source, accept, limit);
        let fetched = self.run.unless_over(fetching).await?;
        let fetched = fetched.map_err(|error| failed(what, &error))?;
        let shown = fetched.address.as_str();
        match fetched.status.as_u16() {
            200 => Ok(Some((fetched.body, Source::Document(fetched.zone)))),
            404 | 410 => Ok(None),
            status @ (401 | 403) => {
                let text = format!("{what}: HTTP {status} from {shown}, which is protected");
                Err(Error::new(Exit::Auth, text).phase(Phase::Connect).status(status))
            }
            status => {
                let text = format!("{what}: HTTP {status} from {shown}");
                let is_busy = matches!(status, 429 | 502..=504);
                Err(unreachable(text).status(status).retryable(is_busy))
            }
        }
    }
}

/// How long documents may take: as long as `--timeout` says for each, and twice that for all.
pub(super) fn limits(run: &Run<'_>) -> Limits {
    /// As good as no limit.
    const FOREVER: Duration = Duration::from_secs(365 * 24 * 3600);
    match run.settings.timeout {
        None => Limits::default(),
        Some(limit) => {
            let each = limit.duration().unwrap_or(FOREVER);
            Limits { each, all: each.saturating_mul(2).min(FOREVER) }
        }
    }
}

fn failed(what: &str, error: &FetchError) -> Error {
    let text = format!("{what}: {error}");
    let failure = match error {
        FetchError::Late { .. } => Error::new(Exit::Timeout, text).phase(Phase::Connect),
        _ => unreachable(text),
    };
    failure.retryable(error.may_pass()).hint_if_any(error.hint())
}

fn unreachable(text: String) -> Error {
    Error::new(Exit::Unreachable, text).phase(Phase::Connect)
}

fn config(text: String) -> Error {
    Error::new(Exit::Config, text).phase(Phase::Config)
}
