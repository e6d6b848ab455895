//! Versions of packages: what is one version, and whether two words may mean the same one.
//!
//! A version has more spellings than one (`1.0`, `v1.0.0`), and most of what may stand in its place
//! (`^1.2`, `latest`, nothing at all) is resolved by a registry on the day. So only what is another version for
//! certain is told from one; of all else it is said that it may be that.

/// Whose versions they are, and so how they are written and compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Semantic Versioning 2.0.0. For npm, what is shorter is a range.
    Npm,
    /// PEP 440.
    Python,
    /// Semantic Versioning, with a fourth number perhaps.
    Nuget,
    /// Tags of images: words, which by custom are versions, or the beginnings of some.
    Tag,
}

/// What a word says about a version.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    /// It is this one, by its numbers and what follows them.
    One(Vec<u64>, String),
    /// It is one that begins with these numbers.
    Beginning(Vec<u64>, String),
    /// It is what has that name today: `latest`.
    Moving,
    /// It may be any.
    Open,
}

/// The longest tag (OCI Distribution, "Pulling manifests").
const TAG_LIMIT: usize = 128;

/// Whether a word is exactly one version, as its registry writes them.
pub fn is_one(scheme: Scheme, word: &str) -> bool {
    match scheme {
        Scheme::Npm => semantic(word, 3).is_some(),
        Scheme::Nuget => semantic(word, 3).or_else(|| semantic(word, 4)).is_some(),
        Scheme::Python => python(word).is_some(),
        Scheme::Tag => is_tag(word) && word != "latest",
    }
}

/// Whether what a word says may be the version, or one of those, that another word says.
pub fn may_be(scheme: Scheme, wanted: &str, word: &str) -> bool {
    use Said::{Beginning, Moving, One, Open};
    match (said(scheme, wanted), said(scheme, word)) {
        (One(numbers, rest), One(others, other)) => numbers == others && rest == other,
        (
            One(numbers, rest) | Beginning(numbers, rest),
            One(others, other) | Beginning(others, other),
        ) => {
            let has_same = numbers.iter().zip(&others).all(|(number, other)| number == other);
            has_same && (rest == other || rest.is_empty() || other.is_empty())
        }
        (Moving, One(..) | Beginning(..)) => false,
        (_, Moving | Open) | (Open, _) => true,
    }
}

/// Whether a word is a name that stands for one version today and for another one tomorrow: `latest`.
pub fn is_moving(scheme: Scheme, word: &str) -> bool {
    said(scheme, word) == Said::Moving
}

fn said(scheme: Scheme, word: &str) -> Said {
    let word = word.trim();
    let one = |(numbers, rest)| Said::One(numbers, rest);
    let plain = word.trim_start_matches(|c: char| c == '=' || c.is_whitespace());
    let plain = plain.strip_prefix(['v', 'V']).filter(|it| begins_with_digit(it)).unwrap_or(plain);
    let known = match scheme {
        Scheme::Npm => semantic(plain, 3).map(one).or_else(|| beginning(plain)),
        Scheme::Nuget => semantic(plain, 3).or_else(|| semantic(plain, 4)).map(one),
        Scheme::Python => python(plain).map(one),
        Scheme::Tag => beginning(plain),
    };
    // A name has a letter first: `latest`, `next-2`. What else there is are ranges and addresses.
    let is_name = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let is_moving = !matches!(word, "" | "x" | "X") && !begins_with_digit(word);
    known.unwrap_or_else(|| match is_moving && word.chars().all(is_name) {
        true => Said::Moving,
        false => Said::Open,
    })
}

fn begins_with_digit(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

/// So many numbers, and perhaps what comes before a release. How it was built makes no other version.
fn semantic(word: &str, count: usize) -> Option<(Vec<u64>, String)> {
    let (word, build) =
        word.split_once('+').map_or((word, None), |(word, build)| (word, Some(build)));
    let (core, before) =
        word.split_once('-').map_or((word, None), |(core, before)| (core, Some(before)));
    let is_part = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_padded = |part: &str| is_number(part) && 1 < part.len() && part.starts_with('0');
    let fits = |parts: Option<&str>| parts.is_none_or(|parts| parts.split('.').all(is_part));
    let is_clean =
        fits(before) && fits(build) && !before.is_some_and(|it| it.split('.').any(is_padded));
    let numbers = core
        .split('.')
        .map(|part| (is_number(part) && !is_padded(part)).then(|| part.parse().ok()).flatten());
    let numbers: Vec<u64> = numbers.collect::<Option<_>>()?;
    (is_clean && numbers.len() == count).then(|| (numbers, before.unwrap_or_default().to_owned()))
}

/// Numbers that others may follow, up to an `x` or a `*`, and what comes after them.
fn beginning(word: &str) -> Option<Said> {
    let is_of_numbers = |c: char| c.is_ascii_digit() || ".xX*".contains(c);
    let end = word.find(|c| !is_of_numbers(c)).unwrap_or(word.len());
    let (core, rest) = word.split_at(end);
    let is_rest = rest.is_empty() || is_tag(rest.trim_start_matches(['-', '+', '.']));
    let parts = core.trim_end_matches('.').split('.');
    let numbers = parts.take_while(|part| begins_with_digit(part)).map(|part| part.parse().ok());
    let numbers: Vec<u64> = numbers.collect::<Option<_>>()?;
    (is_rest && !numbers.is_empty()).then(|| Said::Beginning(numbers, rest.to_owned()))
}

/// `[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}` (OCI Distribution, "Pulling manifests").
fn is_tag(word: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    !word.is_empty()
        && word.len() <= TAG_LIMIT
        && !word.starts_with(['.', '-'])
        && word.chars().all(fits)
}

/// A version of Python in its one spelling (PEP 440, "Normalization"): the epoch and the numbers without
/// zeros at their end, and what follows. A local label is left out: `==1.0` takes `1.0+local` as well.
fn python(word: &str) -> Option<(Vec<u64>, String)> {
    let word = word.trim().to_ascii_lowercase();
    let (word, local) =
        word.split_once('+').map_or((&*word, None), |(it, local)| (it, Some(local)));
    let is_label =
        |part: &str| !part.is_empty() && part.bytes().all(|it| it.is_ascii_alphanumeric());
    if !local.is_none_or(|local| local.split(['.', '-', '_']).all(is_label)) {
        return None;
    }
    let word = word.strip_prefix('v').unwrap_or(word);
    let (epoch, mut rest) = word.split_once('!').unwrap_or(("0", word));
    let mut numbers = vec![whole(epoch)?];
    loop {
        numbers.push(take_number(&mut rest)?);
        match rest.strip_prefix('.').filter(|rest| begins_with_digit(rest)) {
            Some(more) => rest = more,
            None => break,
        }
    }
    while 2 < numbers.len() && numbers.last() == Some(&0) {
        numbers.pop();
    }
    let (mut suffix, mut last) = (String::new(), 0);
    while !rest.is_empty() {
        let (order, name, number) = take_stage(&mut rest)?;
        if order <= last {
            return None;
        }
        last = order;
        suffix += &format!("{name}{number}");
    }
    Some((numbers, suffix))
}

/// Takes one of what may follow the numbers, with its place in their order.
fn take_stage(rest: &mut &str) -> Option<(u8, &'static str, u64)> {
    let separator = ['-', '_', '.'];
    let bare = rest.strip_prefix(separator).unwrap_or(rest);
    let end = bare.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(bare.len());
    let (word, after) = bare.split_at(end);
    let (order, name) = match word {
        "a" | "alpha" => (1, "a"),
        "b" | "beta" => (1, "b"),
        "c" | "rc" | "pre" | "preview" => (1, "rc"),
        "post" | "rev" | "r" => (2, "post"),
        // `1.0-1`
        "" if rest.starts_with('-') => (2, "post"),
        "dev" => (3, "dev"),
        _ => return None,
    };
    let numbered = after.strip_prefix(separator).unwrap_or(after);
    match begins_with_digit(numbered) {
        true => {
            *rest = numbered;
            Some((order, name, take_number(rest)?))
        }
        false if word.is_empty() => None,
        false => {
            *rest = after;
            Some((order, name, 0))
        }
    }
}

fn take_number(rest: &mut &str) -> Option<u64> {
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (number, after) = rest.split_at(end);
    *rest = after;
    whole(number)
}

/// A number of nothing but digits.
fn whole(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::Scheme::{Npm, Nuget, Python, Tag};
    use super::*;

    #[test]
    fn one_version_is_told_from_what_stands_for_several() {
        let check = |scheme, are: &str, are_not: &str| {
            for (words, expected) in [(are, true), (are_not, false)] {
                for word in words.split(' ') {
                    assert_eq!(is_one(scheme, word), expected, "{scheme:?} {word}");
                }
            }
        };
        check(
            Npm,
            "1.2.3 0.0.0 1.2.3-rc.1 1.2.3-x-y.0 1.2.3+build.01 1.2.3-a+b 2024.1.31",
            "1 1.2 v1 v1.2.3 0 beta1 next-2 latest 1.x 1.2.x * ^1.2.3 =1.2.3 1.2.3- 1.2.3+ 1.2.3-a..b \
             1.2.3-01 01.2.3 1.2.3.4 1-2 1_2 1!0  1.2.3-ä 1.2.99999999999999999999",
        );
        check(Nuget, "1.2.3 1.2.3.4 1.2.3-beta.1", "1 1.2 1.* 1.2.3.4.5 v1.2.3 [1.2.3]");
        check(
            Python,
            "1 1.2 1.2.3.4.5 1!2 1.0.post1 1.0a1 1.0-rc.2 1.0.dev3 1.0rc1.post2.dev3 1.0-1 0+x \
             1.0+l.1 2024.01.31",
            "1.* 1.x latest >=1 ~=1.0 1.0,<2 1.0+ 1.0+a..b 1.0dev1rc1 1..0 .1 1. 1.0-  a1 1.0x1 1!",
        );
        check(Tag, "1 1.2.3 stable nightly _x v1-alpine", "latest  .x -x a/b a:b a@b");
        assert!(is_tag(&"x".repeat(128)) && !is_tag(&"x".repeat(129)));
    }

    #[track_caller]
    fn check(scheme: Scheme, wanted: &str, may: &[&str], may_not: &[&str]) {
        for (words, expected) in [(may, true), (may_not, false)] {
            for word in words {
                assert_eq!(may_be(scheme, wanted, word), expected, "{scheme:?} {wanted} {word}");
            }
        }
    }

    #[test]
    fn a_version_of_npm_is_told_from_another_in_every_spelling() {
        let may = [
            "1.3.0",
            "v1.3.0",
            "=1.3.0",
            "= v1.3.0",
            "1.3.0+build",
            "",
            "latest",
            "next-2",
            "^1.2.3",
            "~1.3",
            ">=1",
            "1",
            "1.3",
            "1.x",
            "1.3.x",
            "*",
            "x",
            "1 || 2",
            "1.0 - 2.0",
            "v1",
            "https://r.example/p.tgz",
            "file:p",
        ];
        check(Npm, "1.3.0", &may, &["1.3.1", "2.3.0", "v2.0.0", "1.3.0-rc.1", "2", "1.2", "2.x"]);
        check(Npm, "1.3.0-rc.1", &["1.3.0-rc.1", "v1.3.0-rc.1"], &["1.3.0", "1.3.0-rc.2"]);
        check(Npm, "1", &["1", "1.3.0", "1.x", "", "latest"], &["2", "2.0.0"]);
        check(Npm, "latest", &["", "latest", "^1", "next"], &["1.3.0"]);
        check(Npm, "^1.2.3", &["1.3.0", "", "1"], &[]);
    }

    #[test]
    fn so_is_one_of_python() {
        let may = [
            "1",
            "1.0",
            "1.0.0",
            "v1.0",
            "V1",
            "0!1.0",
            "1.0+local",
            "",
            "latest",
            "~=1.0",
            ">=0.5",
            "1.*",
            "!=2",
            "1.0,<2",
        ];
        check(
            Python,
            "1.0",
            &may,
            &["1.1", "1.0.1", "1!1.0", "1.0a1", "1.0.post1", "1.0.dev0", "2"],
        );
        check(
            Python,
            "1.0rc1",
            &["1.0c1", "1-RC.1", "1.0.0preview_1"],
            &["1.0", "1.0rc2", "1.0b1"],
        );
        check(Python, "1.0a", &["1.0a0", "1.0alpha"], &["1.0a1"]);
        check(Python, "1.0.post1", &["1.0-1", "1.0-r1", "1.0.0rev1"], &["1.0", "1.0-2"]);
    }

    #[test]
    fn so_are_one_of_nuget_and_a_tag() {
        check(Nuget, "1.0.0", &["1.0.0", "1.*", ""], &["1.0.1", "1.0.0.1", "1.0.0-a"]);
        check(
            Tag,
            "1.3.0",
            &["1.3.0", "v1.3.0", "1", "1.3", "latest", "1.3.0-alpine"],
            &["1.3.1", "2"],
        );
        check(Tag, "1", &["1", "1.2.3", "stable"], &["2", "10"]);
        check(Tag, "latest", &["latest", "stable"], &["1", "1.2.3"]);
        check(Tag, "1.3.0-alpine", &["1.3.0-alpine", "1.3.0"], &["1.3.0-slim", "1.4.0-alpine"]);
    }
}
