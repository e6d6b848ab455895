//! The official registry of MCP servers, and those that speak its API.
//!
//! ```text
//! NAME[@VERSION] ── /v0.1/servers/NAME/versions/VERSION ──▶ server.json ──▶ a remote, or a package
//!                                                                             package ──▶ argv
//! ```
//! The argv is made word by word and never by a shell. It runs only after the user has accepted it,
//! to the letter.

mod argv;
pub mod package;
mod runtime;

pub(super) use argv::check_variable;
pub use argv::{Command, Unbuildable, command, programs};
pub use package::{Kind, Package};

use crate::config::OFFICIAL_REGISTRY;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::claim::Claim;
use super::document::{Object, object, text};
use super::documents::{Document, Documents, Miss, Wanted};
use super::fill::encoded;
use super::lookup::{Candidate, Way};
use super::normalise::of_registry;
use crate::net::{Address, Source};

/// The official one.
pub const OFFICIAL: &str = OFFICIAL_REGISTRY;

/// The longest document about one server, in bytes.
const LIMIT: usize = 1 << 20;

/// How long it is known which version is the latest; a version itself does not change, and its
/// status is looked at once a day.
const LATEST: Duration = Duration::from_secs(3600);
const VERSION: Duration = Duration::from_secs(24 * 3600);

/// How long it is known what a search finds.
const SEARCH: Duration = Duration::from_secs(600);

/// What the API calls the latest version.
const NEWEST: &str = "latest";

/// How many servers a page has, and the longest page in bytes.
const PAGE: usize = 100;
const PAGE_LIMIT: usize = 4 << 20;

/// The member in which the registry itself says something.
const ABOUT: &str = "io.modelcontextprotocol.registry/official";

/// A server of the registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// What is claimed about it. Its remotes are in there.
    pub claim: Claim,
    /// The packages that it can be run from, in the order of the document.
    pub packages: Vec<Package>,
    /// Whether it may be used.
    pub status: Status,
    /// Why, for people.
    pub status_message: Option<String>,
    /// Where that stands.
    pub document: Document,
}

/// Whether a server may be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// It may.
    Active,
    /// It should not.
    Deprecated,
    /// It must not: it was spam, or worse.
    Deleted,
    /// The registry says something of it that is not known here.
    Other(String),
}

impl Status {
    /// What a registry says; one that says nothing has no reason to.
    fn read(said: Option<&Value>) -> Status {
        let Some(said) = said else { return Status::Active };
        match said.as_str().map(str::to_ascii_lowercase).as_deref() {
            Some("active") => Status::Active,
            Some("deprecated") => Status::Deprecated,
            Some("deleted") => Status::Deleted,
            _ => Status::Other(said.as_str().map_or_else(|| said.to_string(), str::to_owned)),
        }
    }
}

/// Looks a server up. Registries of the first API are asked in its way when they do not know the new
/// one.
pub async fn look_up(
    documents: &Documents,
    registry: &Address,
    name: &str,
    version: Option<&str>,
) -> Result<Listed, Miss> {
    let version = version.filter(|version| *version != NEWEST);
    let unsaid = if version.is_some() { VERSION } else { LATEST };
    let wanted = Wanted { accept: "application/json", limit: LIMIT, unsaid };
    let path = format!("{}/versions/{}", encoded(name), encoded(version.unwrap_or(NEWEST)));
    let mut missed = Miss::Other("no such server");
    for api in ["v0.1", "v0"] {
        let base = registry.as_str().trim_end_matches('/');
        let url = format!("{base}/{api}/servers/{path}");
        let Ok(address) = Address::parse(&url) else { continue };
        match documents.get(&address, Source::User, wanted).await {
            Ok(document) => {
                let listed = read(document);
                return check_answer(&listed.claim, name, version).map(|()| listed);
            }
            Err(miss @ Miss::Status(404 | 410)) => missed = miss,
            Err(miss) => return Err(miss),
        }
    }
    Err(missed)
}

/// Makes sure that the answer is about the server that was asked for: what follows from it is shown and
/// remembered under that name.
fn check_answer(claim: &Claim, name: &str, version: Option<&str>) -> Result<(), Miss> {
    let pairs = [("name", Some(name), &claim.name), ("version", version, &claim.version)];
    for (what, asked, said) in pairs {
        if asked.is_some() && asked != said.as_deref() {
            return Err(Miss::OtherServer { what, said: said.clone() });
        }
    }
    Ok(())
}

/// Looks for servers by a text. All pages are taken, as far as one command may ask.
pub async fn search(
    documents: &Documents,
    registry: &Address,
    wanted: &str,
) -> Result<Vec<Listed>, Miss> {
    let kind = Wanted { accept: "application/json", limit: PAGE_LIMIT, unsaid: SEARCH };
    let base = registry.as_str().trim_end_matches('/');
    let query =
        format!("{base}/v0.1/servers?version=latest&limit={PAGE}&search={}", encoded(wanted));
    let mut found = Vec::new();
    let mut url = query.clone();
    loop {
        let address = Address::parse(&url).map_err(|_| Miss::Other("no such page"))?;
        let page = match documents.get(&address, Source::User, kind).await {
            Ok(page) => page,
            // What was found before is something, too; that there is more stands in the trace.
            Err(_) if !found.is_empty() => return Ok(found),
            Err(miss) => return Err(miss),
        };
        let servers = page.object.get("servers").and_then(Value::as_array);
        let servers = servers.into_iter().flatten().filter_map(Value::as_object);
        found.extend(servers.map(|server| {
            let (object, body) = (Arc::new(server.clone()), Arc::default());
            read(Document { object, body, ..page.clone() })
        }));
        let metadata = object(&page.object, &["metadata"]);
        let next = metadata.and_then(|it| text(it, &["nextCursor", "next_cursor"]));
        match next {
            Some(cursor) => url = format!("{query}&cursor={}", encoded(&cursor)),
            None => return Ok(found),
        }
    }
}

impl Listed {
    /// The same as a candidate, for what all candidates have in common.
    pub fn candidate(&self) -> Candidate {
        Candidate::of(self.claim.clone(), Way::Registry, &self.document)
    }
}

/// What a document of the registry says.
pub fn read(document: Document) -> Listed {
    let server = object(&document.object, &["server"]).unwrap_or(&document.object);
    let about = |of: &Object| {
        let meta = object(of, &["_meta"])?;
        object(meta, &[ABOUT]).cloned()
    };
    let about = about(&document.object).or_else(|| about(server)).unwrap_or_default();
    let status = Status::read(about.get("status").or_else(|| server.get("status")));
    let packages = server.get("packages").and_then(Value::as_array);
    let packages = packages.into_iter().flatten().filter_map(Value::as_object);
    let packages: Vec<Package> = packages.filter_map(Package::read).collect();
    let mut claim = of_registry(server);
    claim.hints.packages = packages.iter().map(|it| it.kind.word().to_owned()).collect();
    Listed { claim, packages, status, status_message: text(&about, &["statusMessage"]), document }
}
