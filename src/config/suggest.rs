//! Did you mean …?

/// The candidate that a mistyped word most likely means; `None` when none is near.
pub(super) fn nearest<'a>(
    word: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let limit = 1 + word.chars().count() / 4;
    let near = candidates.map(|candidate| (distance(word, candidate), candidate));
    near.filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, c)| c)
}

/// How many letters must be added, removed, replaced or swapped with their neighbours to get from
/// one word to the other (optimal string alignment). Case does not count.
fn distance(one: &str, other: &str) -> usize {
    let one: Vec<char> = one.to_lowercase().chars().collect();
    let other: Vec<char> = other.to_lowercase().chars().collect();
    let mut before_last = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for i in 1..=one.len() {
        let mut row = vec![i];
        for j in 1..=other.len() {
            let replaced = last[j - 1] + usize::from(one[i - 1] != other[j - 1]);
            let mut least = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1] {
                least = least.min(before_last[j - 2] + 1);
            }
            row.push(least);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_suggested() {
        let check = |word: &str, expected| {
            let candidates = ["github", "gitlab", "files", "db"];
            assert_eq!(nearest(word, candidates.into_iter()), expected, "{word}");
        };
        check("githb", Some("github"));
        check("gihtub", Some("github"));
        check("GitLab", Some("gitlab"));
        check("file", Some("files"));
        check("bd", Some("db"));
        check("linear", None);
        check("xx", None);
    }

    #[test]
    fn the_distance_counts_edits() {
        let check = |one, other, expected| assert_eq!(distance(one, other), expected);
        check("", "", 0);
        check("", "abc", 3);
        check("abc", "abc", 0);
        check("abc", "acb", 1);
        check("kitten", "sitting", 3);
    }
}
