//! Where two JSON texts differ, member by member.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::facets;
use crate::config::Digest;
use crate::protocol::jsonrpc::scan;

/// How many differences are told of one text.
const MOST: usize = 40;
/// How deep members are compared; below, values differ as a whole.
const DEPTH: usize = 32;

/// One place where two texts differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Difference<'t> {
    /// The place, as a JSON Pointer (RFC 6901).
    pub(super) place: String,
    /// How many members of that name come before it in the same object: it should be none.
    pub(super) before: usize,
    /// What was there, JSON text; `None` when it is new.
    pub(super) was: Option<&'t str>,
    /// The hash of what was there, where no more than that is known.
    pub(super) was_hash: Option<Digest>,
    /// What is there now; `None` when it is gone.
    pub(super) is: Option<&'t str>,
}

/// Where two canonical JSON texts differ. Of members with one name, which is told apart from others
/// by how many of them come before it, each counts: readers do not agree which of them does.
pub(super) fn differences<'t>(was: &'t str, is: &'t str) -> Vec<Difference<'t>> {
    let mut found = Vec::new();
    let (was, is) = (Some(was), Some(is));
    let whole = Difference { place: String::new(), before: 0, was, was_hash: None, is };
    walk(whole, DEPTH, &mut found);
    found
}

/// Which members of the text of a tool are not what their hashes say that they were.
pub(super) fn differences_from<'t>(
    was: &BTreeMap<String, Digest>,
    is: &'t str,
) -> Vec<Difference<'t>> {
    let now = facets::members(is);
    let names: BTreeSet<&str> =
        was.keys().map(String::as_str).chain(now.keys().map(|name| &**name)).collect();
    let mut found = Vec::new();
    for name in names {
        let (was_hash, values) = (was.get(name).copied(), now.get(name));
        if was_hash != values.map(|values| facets::part_hash(values)) {
            let last = values.and_then(|values| values.last()).copied();
            let before = values.map_or(0, |values| values.len() - 1);
            let place = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
            found.push(Difference { place, before, was: None, was_hash, is: last });
        }
    }
    found.truncate(MOST);
    found
}

/// A part of a text: its name, how many of that name come before it, and its text.
type Part<'t> = (Cow<'t, str>, usize, &'t str);

/// Finds where a place differs, and the places below it.
fn walk<'t>(at: Difference<'t>, depth: usize, found: &mut Vec<Difference<'t>>) {
    if at.was == at.is || MOST <= found.len() {
        return;
    }
    let both = at.was.zip(at.is).filter(|_| 0 < depth);
    let both_begin =
        |with| both.is_some_and(|(was, is)| was.starts_with(with) && is.starts_with(with));
    let (was, is) = match both {
        Some((was, is)) if both_begin('{') => (members(was), members(is)),
        Some((was, is)) if both_begin('[') => (elements(was), elements(is)),
        _ => return found.push(at),
    };
    let (old, new) = (by_name(&was), by_name(&is));
    let added = is.iter().filter(|(name, before, _)| !old.contains_key(&(&**name, *before)));
    for (name, before, _) in was.iter().chain(added) {
        let name_in_place = name.replace('~', "~0").replace('/', "~1");
        let below = Difference {
            place: format!("{}/{name_in_place}", at.place),
            before: *before,
            was: old.get(&(&**name, *before)).copied(),
            was_hash: None,
            is: new.get(&(&**name, *before)).copied(),
        };
        walk(below, depth - 1, found);
    }
}

fn by_name<'p, 't>(parts: &'p [Part<'t>]) -> HashMap<(&'p str, usize), &'t str> {
    parts.iter().map(|(name, before, text)| ((&**name, *before), *text)).collect()
}

fn members(text: &str) -> Vec<Part<'_>> {
    let mut counts: HashMap<Cow<'_, str>, usize> = HashMap::new();
    let members = scan::members(text).map(|(name, text)| {
        let count = counts.entry(name.clone()).or_default();
        *count += 1;
        (name, *count - 1, text)
    });
    members.collect()
}

fn elements(text: &str) -> Vec<Part<'_>> {
    let numbered = scan::elements(text).enumerate();
    numbered.map(|(index, text)| (Cow::Owned(index.to_string()), 0, text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_named_by_their_place() {
        let check = |was: &str, is: &str, expected: &[(&str, &str, &str)]| {
            let found: Vec<_> = differences(was, is)
                .into_iter()
                .map(|it| {
                    (it.place, it.was.unwrap_or("-").to_owned(), it.is.unwrap_or("-").to_owned())
                })
                .collect();
            let expected: Vec<_> = expected
                .iter()
                .map(|(place, was, is)| ((*place).to_owned(), (*was).to_owned(), (*is).to_owned()))
                .collect();
            assert_eq!(found, expected, "{was} {is}");
        };
        check(r#"{"a":1}"#, r#"{"a":1}"#, &[]);
        check(
            r#"{"a":1,"b":2}"#,
            r#"{"a":3,"c":4}"#,
            &[("/a", "1", "3"), ("/b", "2", "-"), ("/c", "-", "4")],
        );
        check(
            r#"{"a":{"b":[1,2]}}"#,
            r#"{"a":{"b":[1,3,4]}}"#,
            &[("/a/b/1", "2", "3"), ("/a/b/2", "-", "4")],
        );
        check(r#"{"a":{}}"#, r#"{"a":[]}"#, &[("/a", "{}", "[]")]);
        check(r#"{"a/b~":1}"#, r#"{"a/b~":2}"#, &[("/a~1b~0", "1", "2")]);
        check("1", "2", &[("", "1", "2")]);
        check(r#"{"a":1,"a":2}"#, r#"{"a":1,"a":2}"#, &[]);
    }

    #[test]
    fn a_member_that_is_there_twice_differs_by_that() {
        let check = |was: &str, is: &str, before: usize| {
            let found = differences(was, is);
            let found: Vec<_> = found.iter().map(|it| (&*it.place, it.before)).collect();
            assert_eq!(found, [("/a", before)], "{was} {is}");
        };
        check(r#"{"a":1}"#, r#"{"a":1,"a":1}"#, 1);
        check(r#"{"a":1}"#, r#"{"a":2}"#, 0);
        check(r#"{"a":1,"a":2}"#, r#"{"a":1,"a":3}"#, 1);
        check(r#"{"a":1,"a":2}"#, r#"{"a":1}"#, 1);
        check(r#"{"a":1,"a":{}}"#, r#"{"a":1,"a":[]}"#, 1);
    }

    #[test]
    fn there_is_an_end_to_differences() {
        let many = |value: u32| {
            let members: Vec<_> = (0..200).map(|name| format!("\"{name}\":{value}")).collect();
            format!("{{{}}}", members.join(","))
        };
        assert_eq!(differences(&many(1), &many(2)).len(), MOST);
        let deep = |value: u32| format!("{}{value}{}", "[".repeat(500), "]".repeat(500));
        let (was, is) = (deep(1), deep(2));
        assert_eq!(differences(&was, &is)[0].place, "/0".repeat(DEPTH));
    }
}
