//! Did you mean: the nearest of the names there are.

/// Longer names are compared by their beginning, so that a comparison costs at most 4,096 steps.
const LENGTH: usize = 64;

/// How many candidates are looked at.
const CANDIDATES: usize = 10_000;

/// The candidate that `wanted` is most likely a misspelling of; `None` when none is near.
///
/// Near is a name that differs in case and separators only (`pageSize`, `page-size`), or in about
/// one character out of three: left out, added, changed, or swapped with its neighbour. When none is
/// near, the only one that begins with `wanted` is meant.
///
/// ```
/// use mcpmini_protocol::similar::closest;
/// assert_eq!(closest("serach", ["fetch", "search"]), Some("search"));
/// assert_eq!(closest("page_size", ["pageSize"]), Some("pageSize"));
/// assert_eq!(closest("delete", ["search"]), None);
/// ```
pub fn closest<'c>(wanted: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    closest_of(wanted, &candidates.into_iter().take(CANDIDATES).collect::<Vec<_>>())
}

/// The same for what is there already, so that it is compiled once.
fn closest_of<'c>(wanted: &str, candidates: &[&'c str]) -> Option<&'c str> {
    let (beginning, wanted) = (wanted, letters(wanted));
    let allowed = (wanted.len() / 3).max(1);
    let measured = candidates.iter().filter_map(|name| {
        let letters = letters(name);
        // Names of so different a length cannot be near.
        let possible = letters.len().abs_diff(wanted.len()) <= allowed;
        let distance = possible.then(|| distance(&wanted, &letters))?;
        (distance <= allowed && distance < wanted.len()).then_some((distance, *name))
    });
    if let Some((_, nearest)) = measured.min_by_key(|(distance, _)| *distance) {
        return Some(nearest);
    }
    let mut longer = candidates.iter().filter(|name| name.starts_with(beginning));
    match (longer.next(), longer.next()) {
        (Some(only), None) if 2 <= wanted.len() => Some(only),
        _ => None,
    }
}

/// A name in the form in which spellings of one name are equal: `page_size`, `pageSize`,
/// `page-size`.
pub(crate) fn folded(name: &str) -> String {
    let kept = name.chars().filter(|letter| !matches!(letter, '-' | '_'));
    kept.flat_map(char::to_lowercase).collect()
}

fn letters(name: &str) -> Vec<char> {
    folded(name).chars().take(LENGTH).collect()
}

/// The number of edits between two names: the optimal string alignment distance.
fn distance(from: &[char], to: &[char]) -> usize {
    let mut before = vec![0; to.len() + 1];
    let mut above: Vec<usize> = (0..=to.len()).collect();
    for (row, letter) in from.iter().enumerate() {
        let mut line = vec![row + 1];
        for (column, other) in to.iter().enumerate() {
            let changed = above[column] + usize::from(letter != other);
            let mut least = changed.min(above[column + 1] + 1).min(line[column] + 1);
            let swapped =
                row > 0 && column > 0 && from[row - 1] == *other && to[column - 1] == *letter;
            if swapped {
                least = least.min(before[column - 1] + 1);
            }
            line.push(least);
        }
        before = std::mem::replace(&mut above, line);
    }
    above[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested_and_a_far_one_is_not() {
        let names = ["create_issue", "list_issues", "search", "get", "x", "名前"];
        let check = |wanted, expected: Option<&str>| {
            assert_eq!(closest(wanted, names), expected, "{wanted}");
        };
        check("create_isue", Some("create_issue"));
        check("createIssue", Some("create_issue"));
        check("list-issue", Some("list_issues"));
        check("serach", Some("search"));
        check("gte", Some("get"));
        check("got", Some("get"));
        check("y", None);
        check("", None);
        check("delete_everything", None);
        check("create", Some("create_issue"));
        check("c", None);
        check("名", None);
        check("名箭", Some("名前"));
        check(&"x".repeat(100_000), None);
    }
}
