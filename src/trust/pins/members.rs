//! Where two JSON texts differ, member by member.

use std::borrow::Cow;

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
    /// What was there, JSON text; `None` when it is new.
    pub(super) was: Option<&'t str>,
    /// What is there now; `None` when it is gone.
    pub(super) is: Option<&'t str>,
}

/// Where two canonical JSON texts differ. Of members with one name the last counts.
pub(super) fn differences<'t>(was: &'t str, is: &'t str) -> Vec<Difference<'t>> {
    let mut found = Vec::new();
    walk(was, is, &mut String::new(), DEPTH, &mut found);
    found
}

fn walk<'t>(
    was: &'t str,
    is: &'t str,
    place: &mut String,
    depth: usize,
    found: &mut Vec<Difference<'t>>,
) {
    if was == is || MOST <= found.len() {
        return;
    }
    let both_begin = |with| was.starts_with(with) && is.starts_with(with);
    let parts = |text| match both_begin('{') {
        true => members(text),
        false => elements(text),
    };
    if depth == 0 || !both_begin('{') && !both_begin('[') {
        return found.push(Difference { place: place.clone(), was: Some(was), is: Some(is) });
    }
    let (old, new) = (parts(was), parts(is));
    let length = place.len();
    let find = |parts: &[(Cow<'t, str>, &'t str)], name: &str| {
        parts.iter().rev().find(|(other, _)| other == name).map(|(_, text)| *text)
    };
    let added = new.iter().filter(|(name, _)| find(&old, name).is_none());
    for (name, _) in old.iter().chain(added) {
        place.push('/');
        place.push_str(&name.replace('~', "~0").replace('/', "~1"));
        match (find(&old, name), find(&new, name)) {
            (Some(was), Some(is)) => walk(was, is, place, depth - 1, found),
            (was, is) if found.len() < MOST => {
                found.push(Difference { place: place.clone(), was, is });
            }
            _ => {}
        }
        place.truncate(length);
    }
}

fn members(text: &str) -> Vec<(Cow<'_, str>, &str)> {
    scan::members(text).collect()
}

fn elements(text: &str) -> Vec<(Cow<'_, str>, &str)> {
    let numbered = scan::elements(text).enumerate();
    numbered.map(|(index, text)| (Cow::Owned(index.to_string()), text)).collect()
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
