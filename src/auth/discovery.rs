//! From a refusal to the authorization server: who guards this server, and how it is asked.
//!
//! ```text
//! challenge ──▶ metadata of the server ──▶ issuer ──▶ metadata of the authorization server
//!                (is it about this server?)              (is it by this issuer?)
//!                        └─ none: a server of 2025-03-26, which is its own authorization server
//! ```

use super::challenge::Challenge;
use super::error::{AuthError, DiscoveryError};
use super::metadata::{
    ResourceMetadata, ServerMetadata, canonical_resource, is_named, is_resource_of,
    resource_locations, server_locations,
};
use crate::net::{Address, Fetcher, Source, Zone};

/// How long a metadata document may be, in bytes.
const LIMIT: usize = 256 << 10;

const JSON: &str = "application/json";

/// What was found out about how a server is guarded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Guarded {
    /// What tokens for the server are asked for by (RFC 8707).
    pub resource: String,
    /// The scopes that the server knows.
    pub scopes_supported: Option<Vec<String>>,
    /// Who issues the tokens.
    pub issuer: Issuer,
    /// Whether the server, or who guards it, has published anything of this.
    pub published: bool,
}

/// An authorization server whose metadata was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Issuer {
    /// What it says about itself.
    pub metadata: ServerMetadata,
    /// Where that came from: its endpoints must not be nearer.
    pub zone: Zone,
}

/// A document and where it came from.
struct Found<T> {
    document: T,
    zone: Zone,
}

/// How many authorization servers of one list are tried.
const SERVERS: usize = 4;

/// Finds out who guards a server. `preferred` chooses among several issuers; without a preference
/// that fits it is the first one that answers (RFC 9728, section 7.6). One that answers with
/// something wrong is not passed over: that is no failure, it is an attack or a mistake.
pub(super) async fn discover(
    fetcher: &Fetcher,
    server: &Address,
    challenge: Option<&Challenge>,
    preferred: &[&str],
) -> Result<Guarded, AuthError> {
    let Some(found) = find_resource(fetcher, server, challenge).await? else {
        return discover_undocumented(fetcher, server).await;
    };
    let ResourceMetadata { resource, authorization_servers, scopes_supported } = found.document;
    if !is_resource_of(&resource, server) {
        return Err(DiscoveryError::OtherResource { server: server.to_string(), resource }.into());
    }
    let listed = |issuer: &&str| authorization_servers.iter().any(|named| is_named(issuer, named));
    let candidates = match preferred.iter().copied().find(listed) {
        Some(chosen) => vec![chosen],
        None => authorization_servers.iter().map(String::as_str).take(SERVERS).collect(),
    };
    let mut away = None;
    for issuer in candidates {
        match find_issuer(fetcher, issuer, Source::Document(found.zone)).await {
            Ok(issuer) => {
                return Ok(Guarded { resource, scopes_supported, issuer, published: true });
            }
            Err(error) if error.is_absence() => away = away.or(Some(error)),
            Err(error) => return Err(error),
        }
    }
    Err(away.unwrap_or(DiscoveryError::NoIssuer { resource }.into()))
}

/// The metadata of the server: where the challenge says, else where it should be. `None` when there
/// is none.
async fn find_resource(
    fetcher: &Fetcher,
    server: &Address,
    challenge: Option<&Challenge>,
) -> Result<Option<Found<ResourceMetadata>>, AuthError> {
    if let Some(url) = challenge.and_then(Challenge::resource_metadata) {
        let address = server.join(url).map_err(|reason| AuthError::BadUrl {
            what: "resource_metadata in the challenge",
            reason,
        })?;
        let zone = fetcher.zone(server).await?;
        if let Some(found) = fetch(fetcher, &address, Source::Document(zone), "resource").await? {
            return Ok(Some(found));
        }
    }
    for location in resource_locations(server) {
        let Ok(address) = Address::parse(&location) else { continue };
        // The same origin that the user has named.
        if let Some(found) = fetch(fetcher, &address, Source::User, "resource").await? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The metadata of the authorization server `issuer`.
pub(super) async fn find_issuer(
    fetcher: &Fetcher,
    issuer: &str,
    source: Source,
) -> Result<Issuer, AuthError> {
    let not_an_issuer = || DiscoveryError::NotAnIssuer { issuer: issuer.to_owned() };
    let locations = server_locations(issuer).ok_or_else(not_an_issuer)?;
    for location in &locations {
        let address = Address::parse(location).map_err(|_| not_an_issuer())?;
        let found = fetch::<ServerMetadata>(fetcher, &address, source, "issuer").await?;
        let Some(found) = found else {
            continue;
        };
        // Else the document is somebody else's. From here on its own text counts, to the letter.
        if !is_named(&found.document.issuer, issuer) {
            let said = found.document.issuer;
            return Err(DiscoveryError::OtherIssuer { issuer: issuer.to_owned(), said }.into());
        }
        return Ok(Issuer { metadata: found.document, zone: found.zone });
    }
    Err(DiscoveryError::NoMetadata { issuer: issuer.to_owned(), looked_at: locations }.into())
}

/// A server of 2025-03-26 is its own authorization server: with metadata at the root of its origin,
/// or with endpoints at fixed places.
async fn discover_undocumented(fetcher: &Fetcher, server: &Address) -> Result<Guarded, AuthError> {
    let origin = server.origin();
    let resource = canonical_resource(server);
    let guarded =
        |issuer, published| Guarded { resource, scopes_supported: None, issuer, published };
    match find_issuer(fetcher, &origin, Source::User).await {
        Ok(issuer) => Ok(guarded(issuer, true)),
        Err(AuthError::Discovery(DiscoveryError::NoMetadata { .. })) => {
            let zone = fetcher.zone(server).await?;
            let metadata = ServerMetadata::default_of(&origin);
            Ok(guarded(Issuer { metadata, zone }, false))
        }
        Err(error) => Err(error),
    }
}

/// Fetches a document; `None` when it is not there. A page, or an object without the member that
/// says what the document is about, is something else that is at that place.
async fn fetch<T: serde::de::DeserializeOwned>(
    fetcher: &Fetcher,
    address: &Address,
    source: Source,
    about: &str,
) -> Result<Option<Found<T>>, AuthError> {
    let fetched = fetcher.get(address, source, JSON, LIMIT).await?;
    // Other codes of that kind are what some servers have for a path that they do not know.
    if matches!(fetched.status.as_u16(), 429 | 502..=504) {
        return Err(DiscoveryError::Unavailable {
            url: address.to_string(),
            status: fetched.status.as_u16(),
        }
        .into());
    }
    if !fetched.status.is_success() || !fetched.is_json() {
        return Ok(None);
    }
    let object =
        serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(&fetched.body);
    if object.is_ok_and(|object| !object.contains_key(about)) {
        return Ok(None);
    }
    match serde_json::from_slice(&fetched.body) {
        Ok(document) => Ok(Some(Found { document, zone: fetched.zone })),
        Err(_) => Err(DiscoveryError::Malformed { url: address.to_string() }.into()),
    }
}
