//! Images of containers by their names, tags and hashes.

use crate::config::version::{Scheme, is_moving, may_be};

/// The names of the registry where images are from that name none.
const USUAL_REGISTRY: [&str; 4] =
    ["docker.io", "index.docker.io", "registry-1.docker.io", "registry.hub.docker.com"];

/// Whether what follows the names of two images (a tag, a hash, both or nothing) may mean the same one. A
/// hash says more than a tag, and which tag it had nobody can tell.
pub(super) fn may_be_image(wanted: &str, said: &str) -> bool {
    let hash = |text: &str| text.split_once('@').map(|(_, hash)| hash.to_ascii_lowercase());
    let tag = |text: &str| {
        let tag = text.split('@').next().unwrap_or_default().trim_start_matches(':').to_owned();
        if tag.is_empty() { "latest".to_owned() } else { tag }
    };
    match (hash(wanted), hash(said)) {
        (Some(wanted), Some(said)) => wanted == said,
        (Some(_), None) => true,
        (None, Some(_)) => !is_moving(Scheme::Tag, &tag(wanted)),
        (None, None) => may_be(Scheme::Tag, &tag(wanted), &tag(said)),
    }
}

/// The name of an image as it is compared, and what follows it.
pub(super) fn split_image(word: &str) -> (String, &str) {
    let word = word.rsplit_once("://").map_or(word, |(_, name)| name);
    let registry = word.split_once('/').filter(|(first, _)| {
        // Else it is the first part of a path (Distribution, "reference").
        first.contains(['.', ':']) || *first == "localhost"
    });
    let (registry, path) = match registry {
        Some((registry, path)) => (registry.to_ascii_lowercase(), path),
        None => (USUAL_REGISTRY[0].to_owned(), word),
    };
    let registry = registry.strip_suffix(":443").unwrap_or(&registry);
    let last = path.rfind('/').map_or(0, |at| at + 1);
    let end = path[last..].find([':', '@']).map_or(path.len(), |at| last + at);
    let (name, version) = path.split_at(end);
    // What is usual need not be said.
    match USUAL_REGISTRY.contains(&registry) {
        true => (name.strip_prefix("library/").unwrap_or(name).to_owned(), version),
        false => (format!("{registry}/{name}"), version),
    }
}
