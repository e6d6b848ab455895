//! What the hashes of a record stand for, to tell in words what has changed.
//!
//! These texts are read only when something has changed: a call of a server that is as it was
//! needs no more than its record.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::facets::Facets;
use crate::config::Digest;

/// The longest text that is kept, in bytes, and how many bytes are kept of a server.
const LONGEST: usize = 64 << 10;
const TOTAL: usize = 2 << 20;

/// Texts of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Texts {
    /// Its instructions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// What makes a tool what it is ([`tool_text`](super::tool_text)), by its name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, String>,
    /// Where that is not kept, the hashes of its members ([`tool_parts`](super::tool_parts)).
    #[serde(skip)]
    pub parts: Parts,
}

/// The hashes of the members of tools, by the names of both.
pub type Parts = BTreeMap<String, BTreeMap<String, Digest>>;

/// The texts of what was accepted, and of what is pending.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextsOfBoth {
    /// What was accepted.
    #[serde(default)]
    pub accepted: Texts,
    /// What is not.
    #[serde(default)]
    pub pending: Texts,
}

impl TextsOfBoth {
    /// Adds texts, and keeps of all those that these facets are about.
    pub fn settle(&mut self, new: Texts, accepted: &Facets, pending: Option<&Facets>) {
        let old = std::mem::take(self);
        let nothing = Facets::default();
        let pending = pending.unwrap_or(&nothing);
        let mut total = 0;
        for Texts { instructions, tools, .. } in [old.accepted, old.pending, new] {
            for (name, text) in tools {
                let hash = Digest::of(text.as_bytes());
                let is_of = |facets: &Facets| {
                    facets.tools.as_ref().and_then(|tools| tools.get(&name)) == Some(&hash)
                };
                if let Some(place) = self.place(is_of(accepted), is_of(pending))
                    && fits(&text, &mut total)
                {
                    place.tools.insert(name, text);
                }
            }
            if let Some(text) = instructions {
                let hash = Some(Digest::of(text.as_bytes()));
                let is_of = |facets: &Facets| facets.instructions == hash;
                if let Some(place) = self.place(is_of(accepted), is_of(pending))
                    && fits(&text, &mut total)
                {
                    place.instructions = Some(text);
                }
            }
        }
    }

    fn place(&mut self, accepted: bool, pending: bool) -> Option<&mut Texts> {
        match (accepted, pending) {
            (true, _) => Some(&mut self.accepted),
            (false, true) => Some(&mut self.pending),
            (false, false) => None,
        }
    }
}

/// Whether a text may be kept beside those that are.
fn fits(text: &str, total: &mut usize) -> bool {
    let fits = text.len() <= LONGEST && *total + text.len() <= TOTAL;
    *total += if fits { text.len() } else { 0 };
    fits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facets(tools: &[(&str, &str)], instructions: &str) -> Facets {
        let hash = |text: &str| Digest::of(text.as_bytes());
        let tools = tools.iter().map(|(name, text)| ((*name).to_owned(), hash(text)));
        let (tools, instructions) = (Some(tools.collect()), Some(hash(instructions)));
        Facets { tools, instructions, ..Facets::default() }
    }

    fn texts(tools: &[(&str, &str)], instructions: &str) -> Texts {
        let tools = tools.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        Texts {
            tools: tools.collect(),
            instructions: Some(instructions.to_owned()),
            ..Texts::default()
        }
    }

    #[test]
    fn texts_are_kept_of_what_was_accepted_and_of_what_is_pending() {
        let mut both = TextsOfBoth::default();
        let first = [("a", "one"), ("b", "two")];
        both.settle(texts(&first, "old"), &facets(&first, "old"), None);
        assert_eq!(both.accepted, texts(&first, "old"));

        let second = [("a", "other"), ("b", "two")];
        let (accepted, pending) = (facets(&first, "old"), facets(&second, "new"));
        both.settle(texts(&second, "new"), &accepted, Some(&pending));
        assert_eq!(both.accepted, texts(&first, "old"));
        assert_eq!(both.pending, texts(&[("a", "other")], "new"));

        // What was pending is accepted: nothing of what was before is left.
        both.settle(Texts::default(), &pending, None);
        assert_eq!(both.accepted, texts(&second, "new"));
        assert_eq!(both.pending, Texts::default());
    }

    #[test]
    fn long_texts_are_left_out() {
        let mut both = TextsOfBoth::default();
        let long = "x".repeat(LONGEST + 1);
        let tools: Vec<_> = [("a", long.as_str()), ("b", "short")].into();
        both.settle(texts(&tools, ""), &facets(&tools, ""), None);
        assert_eq!(both.accepted.tools.keys().collect::<Vec<_>>(), ["b"]);
        let many: Vec<(String, String)> = (0..100)
            .map(|number| (number.to_string(), format!("{number:03}{}", "x".repeat(LONGEST - 3))))
            .collect();
        let many: Vec<_> = many.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        both.settle(texts(&many, ""), &facets(&many, ""), None);
        assert_eq!(both.accepted.tools.len(), TOTAL / LONGEST);
    }
}
