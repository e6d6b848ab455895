//! Where it was found who has signed a card.

use std::fmt;

use crate::protocol::json;
use crate::protocol::params::Members;

/// Where a signature was found. Places are URLs, or paths of files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Whence {
    /// In a bundle that the command line names.
    Named(String),
    /// In a bundle beside the card.
    Beside(String),
    /// In a bundle that a catalog names.
    Attestation {
        /// Where the bundle is; `data:` for one in the catalog itself.
        uri: String,
        /// Where the catalog is.
        catalog: String,
    },
    /// In a manifest of a catalog.
    Manifest {
        /// Where the catalog is.
        catalog: String,
    },
}

impl Whence {
    /// The catalog that says so, if one does.
    pub(super) fn catalog(&self) -> Option<&str> {
        match self {
            Whence::Named(_) | Whence::Beside(_) => None,
            Whence::Attestation { catalog, .. } | Whence::Manifest { catalog } => Some(catalog),
        }
    }

    /// Adds it to an answer for programs.
    pub(super) fn push(&self, members: &mut Members) {
        let (word, bundle) = match self {
            Whence::Named(place) => ("named", Some(place)),
            Whence::Beside(place) => ("beside-card", Some(place)),
            Whence::Attestation { uri, .. } => ("attestation", Some(uri)),
            Whence::Manifest { .. } => ("trust-manifest", None),
        };
        members.push("signatureFrom", &json::string(word));
        for (name, place) in [("bundle", bundle.map(String::as_str)), ("catalog", self.catalog())] {
            place.iter().for_each(|place| members.push(name, &json::string(place)));
        }
    }
}

impl fmt::Display for Whence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Whence::Named(place) => f.write_str(place),
            Whence::Beside(place) => write!(f, "{place}, beside the card"),
            Whence::Attestation { uri, catalog } => {
                write!(f, "{uri}, an attestation in the catalog {catalog}")
            }
            Whence::Manifest { catalog } => write!(f, "a trust manifest in the catalog {catalog}"),
        }
    }
}
