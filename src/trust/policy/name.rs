//! Names of servers in rules, with versions perhaps: `com.example/weather@1.2.0`.

use crate::config::version::{Scheme, is_one, may_be};

/// Whether two words are one version, whichever spelling of Semantic Versioning they have.
pub(super) fn is_same_version(version: &str, other: &str) -> bool {
    let bare = |text: &str| text.trim_start_matches('v').to_owned();
    let is_known = |text: &str| is_one(Scheme::Npm, &bare(text));
    version == other || is_known(version) && is_known(other) && may_be(Scheme::Npm, version, other)
}

/// Makes sure that a server can be called that, in a file, in its card or in a registry.
pub(super) fn check_name(text: &str) -> Result<(), String> {
    let consists = |text: &str, more: &str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || more.contains(c);
        !text.is_empty() && text.chars().all(fits)
    };
    let (name, version) = match text.split_once('@') {
        Some((name, version)) => (name, Some(version)),
        None => (text, None),
    };
    let (space, last) = name.split_once('/').unwrap_or(("x", name));
    if !consists(space, "._-") || !consists(last, "._-") {
        return Err(format!(
            "no server is called \"{text}\": a name has letters, digits, `.`, `_` and `-`, and one / \
             at most, before an @VERSION"
        ));
    }
    let begins = |version: &str| version.starts_with(|c: char| c.is_ascii_alphanumeric());
    match version.is_none_or(|version| begins(version) && consists(version, "._-+~!:")) {
        true => Ok(()),
        false => Err(format!("name \"{text}\" has no version after the @")),
    }
}
