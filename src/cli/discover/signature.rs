//! Whether a card is signed, as far as this command knows.

use crate::discovery::Candidate;

/// What is known about the signature of a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Signature {
    /// Nothing was looked for.
    NotChecked,
    /// A trust manifest comes with the card, and was not looked into.
    ManifestNotChecked,
}

/// What is known about the signature of a card. `card verify` is what checks one.
pub(in crate::cli) fn of(candidate: &Candidate) -> Signature {
    match candidate.entry.as_ref().is_some_and(|entry| entry.has_manifest) {
        true => Signature::ManifestNotChecked,
        false => Signature::NotChecked,
    }
}

impl Signature {
    /// The word for programs.
    pub(in crate::cli) fn word(self) -> &'static str {
        match self {
            Signature::NotChecked | Signature::ManifestNotChecked => "not-checked",
        }
    }

    /// The words for people.
    pub(in crate::cli) fn text(self) -> &'static str {
        match self {
            Signature::NotChecked => "not checked",
            Signature::ManifestNotChecked => "not checked (a trust manifest comes with it)",
        }
    }
}
