//! "Did you mean …?"

/// The candidate that `given` was most likely meant to be; `None` when nothing is near enough.
///
/// Near means: at most one typing error per three characters, or the beginning of exactly one
/// candidate.
pub fn closest<'a>(given: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let candidates: Vec<&str> = candidates.collect();
    let allowed = (given.chars().count() / 3).clamp(1, 3);
    let nearest = candidates
        .iter()
        .map(|candidate| (distance(given, candidate), *candidate))
        .filter(|(distance, candidate)| *distance <= allowed && *distance < candidate.len())
        .min_by_key(|(distance, _)| *distance);
    if let Some((_, candidate)) = nearest {
        return Some(candidate);
    }
    let letters = given.trim_start_matches('-');
    let mut longer = candidates.iter().filter(|candidate| candidate.starts_with(given));
    match (longer.next(), longer.next()) {
        (Some(only), None) if letters.len() >= 2 => Some(only),
        _ => None,
    }
}

/// How many characters must be inserted, deleted, replaced or swapped with their neighbour to turn
/// one text into the other (optimal string alignment). Texts are compared up to 64 characters.
fn distance(one: &str, other: &str) -> usize {
    let one: Vec<char> = one.chars().take(64).collect();
    let other: Vec<char> = other.chars().take(64).collect();
    let mut before_last = vec![0; other.len() + 1];
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut row = vec![i + 1; other.len() + 1];
        for (j, b) in other.iter().enumerate() {
            let replaced = last[j] + usize::from(a != b);
            row[j + 1] = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == other[j - 1] && one[i - 1] == *b {
                row[j + 1] = row[j + 1].min(before_last[j - 1] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_candidate_is_suggested() {
        let words = ["call", "tools", "schema", "--timeout", "--transport", "--out", "--output"];
        let check = |given: &str, expected| {
            assert_eq!(closest(given, words.into_iter()), expected, "{given}");
        };
        check("cll", Some("call"));
        check("clal", Some("call"));
        check("tool", Some("tools"));
        check("shcema", Some("schema"));
        check("--tiemout", Some("--timeout"));
        check("--time", Some("--timeout"));
        check("--ouput", Some("--output"));
        check("--trans", Some("--transport"));
        check("--t", None);
        check("--", None);
        check("", None);
        check("x", None);
        check("résumé", None);
        check("delete", None);
    }

    #[test]
    fn distances_count_typing_errors() {
        let check = |one: &str, other: &str, expected| {
            assert_eq!(distance(one, other), expected);
            assert_eq!(distance(other, one), expected);
        };
        check("", "", 0);
        check("abc", "abc", 0);
        check("", "abc", 3);
        check("abc", "acb", 1);
        check("abc", "abd", 1);
        check("kitten", "sitting", 3);
        check("äöü", "aou", 3);
    }
}
