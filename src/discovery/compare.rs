//! What a card claims, held against what the server says, and what a catalog says about a card against
//! the card. What the server says counts.

use std::fmt;

use super::catalog::Entry;
use super::claim::Claim;

/// What a server says about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Live {
    /// Its name.
    pub name: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// The revisions that it speaks; the one that is spoken, when that is all that is known.
    pub versions: Vec<String>,
    /// What it can do.
    pub capabilities: Vec<String>,
}

/// Where a server differs from its card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// What differs.
    pub what: &'static str,
    /// What the card says.
    pub card: String,
    /// What the server says.
    pub server: String,
}

/// Everything in which they differ. What either does not say is no difference.
pub fn differences(claim: &Claim, versions: &[String], live: &Live) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut differ =
        |what, card: String, server: String| found.push(Difference { what, card, server });
    if let (Some(card), Some(server)) = (&claim.name, &live.name)
        && card != server
        // The server's own name is mostly the part after the domain.
        && card.rsplit('/').next() != Some(server)
    {
        differ("name", card.clone(), server.clone());
    }
    if let (Some(card), Some(server)) = (&claim.version, &live.version)
        && card != server
    {
        differ("version", card.clone(), server.clone());
    }
    let versions = if versions.is_empty() { &claim.hints.versions } else { versions };
    let is_spoken = |version: &String| live.versions.contains(version);
    if !versions.is_empty() && !live.versions.is_empty() && !versions.iter().any(is_spoken) {
        differ("protocol", versions.join(", "), live.versions.join(", "));
    }
    let lacks = |name: &&String| !live.capabilities.contains(*name);
    let lacking: Vec<_> = claim.hints.capabilities.iter().filter(lacks).cloned().collect();
    if !lacking.is_empty() {
        differ("capabilities", claim.hints.capabilities.join(", "), live.capabilities.join(", "));
    }
    found
}

/// Where the entry of a catalog contradicts the card that it lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// What differs.
    pub what: &'static str,
    /// What the catalog says.
    pub catalog: String,
    /// What the card says.
    pub card: String,
}

/// Everything in which an entry contradicts the card. A name for people is no name: only what an
/// identifier ends in is held against that of the card.
pub fn contradictions(entry: &Entry, claim: &Claim) -> Vec<Contradiction> {
    let listed = entry.identifier.strip_prefix("urn:air:").and_then(|it| it.rsplit(':').next());
    let named = claim.name.as_deref().and_then(|name| name.rsplit('/').next());
    let pairs = [
        ("name", listed.zip(named)),
        ("version", entry.version.as_deref().zip(claim.version.as_deref())),
    ];
    let differing = pairs.into_iter().filter_map(|(what, said)| Some((what, said?)));
    differing
        .filter(|(_, (catalog, card))| catalog != card)
        .map(|(what, (catalog, card))| Contradiction {
            what,
            catalog: catalog.to_owned(),
            card: card.to_owned(),
        })
        .collect()
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: the catalog says {}, the card {}", self.what, self.catalog, self.card)
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or_none =
            |text: &'_ str| if text.is_empty() { "none".to_owned() } else { text.to_owned() };
        let (card, server) = (or_none(&self.card), or_none(&self.server));
        write!(f, "{}: the card says {card}, the server {server}", self.what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::claim::Hints;

    #[test]
    fn what_both_say_is_compared() {
        let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let list =
            |text: &str| text.split(' ').filter(|it| !it.is_empty()).map(str::to_owned).collect();
        /// Each side: name, version, revisions, capabilities.
        type Side<'a> = [&'a str; 4];
        let check = |card: Side<'_>, server: Side<'_>, expected: &[&str]| {
            let hints = Hints { capabilities: list(card[3]), ..Hints::default() };
            let claim =
                Claim { name: text(card[0]), version: text(card[1]), hints, ..Claim::default() };
            let live = Live {
                name: text(server[0]),
                version: text(server[1]),
                versions: list(server[2]),
                capabilities: list(server[3]),
            };
            let versions: Vec<String> = list(card[2]);
            let found = differences(&claim, &versions, &live);
            let found: Vec<_> = found.iter().map(ToString::to_string).collect();
            assert_eq!(found, expected, "{card:?} {server:?}");
        };
        check(["com.example/a", "1", "", ""], ["a", "1", "x", "tools"], &[]);
        check(["com.example/a", "1", "", ""], ["com.example/a", "1", "", ""], &[]);
        check(["", "", "", ""], ["a", "1", "", ""], &[]);
        check(
            ["com.example/a", "1", "", ""],
            ["b", "2", "", ""],
            &[
                "name: the card says com.example/a, the server b",
                "version: the card says 1, the server 2",
            ],
        );
        check(["", "", "x y", ""], ["", "", "y z", ""], &[]);
        check(["", "", "x", ""], ["", "", "y", ""], &["protocol: the card says x, the server y"]);
        check(["", "", "x", ""], ["", "", "", ""], &[]);
        check(["", "", "", "tools"], ["", "", "", "tools prompts"], &[]);
        check(
            ["", "", "", "tools"],
            ["", "", "", ""],
            &["capabilities: the card says tools, the server none"],
        );
    }
}
