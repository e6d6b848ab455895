//! Arguments for the program that runs a package, which must not make it run another one.
//!
//! `npx` takes its first plain word for the package, and so do the others; several options name more
//! packages, or another place to get them from. Only what is known to do neither is let through. An
//! image is run with options of every kind, which the user sees and accepts; there it is made sure
//! that none of the words is taken for the image, and that the image is not taken for a value.

use super::package::Kind;
use crate::config::container::takes_value;

/// Options of `npx` and `bunx` without a value.
const NPM: &[&str] = &[
    "-y",
    "--yes",
    "-q",
    "--quiet",
    "--silent",
    "--verbose",
    "--offline",
    "--prefer-offline",
    "--prefer-online",
    "--no-audit",
    "--no-fund",
    "--no-update-notifier",
    "--bun",
];

/// Options of `uvx` without a value.
const PYPI: &[&str] = &[
    "-q",
    "--quiet",
    "-v",
    "--verbose",
    "-n",
    "--no-cache",
    "--isolated",
    "--managed-python",
    "--no-config",
    "--no-env-file",
    "--no-progress",
    "--offline",
    "--refresh",
];

/// Options of `dnx` without a value.
const NUGET: &[&str] = &["-y", "--yes", "--prerelease", "--allow-roll-forward"];

/// The first word that could make another package run, if there is one.
pub(super) fn stray<'w>(kind: &Kind, words: &'w [String]) -> Option<&'w str> {
    let mut rest = words.iter().map(String::as_str);
    while let Some(word) = rest.next() {
        let is_harmless = match kind {
            Kind::Npm => NPM.contains(&word),
            Kind::Pypi => match word.split_once('=') {
                Some(("--python", version)) => is_python(version),
                None if ["-p", "--python"].contains(&word) => rest.next().is_some_and(is_python),
                _ => PYPI.contains(&word),
            },
            Kind::Nuget => NUGET.contains(&word),
            // One that is not known is taken for one with a value.
            Kind::Oci if takes_value(word).unwrap_or(true) => rest.next().is_some(),
            Kind::Oci => word.len() > 1 && word.starts_with('-') && word != "--",
            Kind::Mcpb | Kind::Other(_) => false,
        };
        if !is_harmless {
            return Some(word);
        }
    }
    None
}

/// Whether a version of Python is meant, and not a program by its path or name.
fn is_python(version: &str) -> bool {
    let number = version.strip_prefix("cpython@").unwrap_or(version);
    number.starts_with(|first: char| first.is_ascii_digit())
        && number.chars().all(|letter| letter.is_ascii_digit() || letter == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_could_run_another_package_are_found() {
        let check = |kind: Kind, words: &str, expected: Option<&str>| {
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            assert_eq!(stray(&kind, &words), expected, "{words:?}");
        };
        check(Kind::Npm, "-y", None);
        check(Kind::Npm, "--yes --quiet", None);
        check(Kind::Npm, "-y evil", Some("evil"));
        check(Kind::Npm, "--yes=true", Some("--yes=true"));
        check(Kind::Npm, "--registry https://evil.example", Some("--registry"));
        check(
            Kind::Npm,
            "--registry=https://evil.example",
            Some("--registry=https://evil.example"),
        );
        check(Kind::Npm, "-y --package evil", Some("--package"));
        check(Kind::Npm, "-p evil", Some("-p"));
        check(Kind::Npm, "-c evil", Some("-c"));
        check(Kind::Npm, "--userconfig f", Some("--userconfig"));
        check(Kind::Npm, "--", Some("--"));
        check(Kind::Pypi, "--python 3.12 -q", None);
        check(Kind::Pypi, "--python=cpython@3.12.1", None);
        check(Kind::Pypi, "--python /tmp/evil", Some("--python"));
        check(Kind::Pypi, "--python", Some("--python"));
        for option in ["--index-url", "--extra-index-url", "--default-index", "--index"] {
            check(Kind::Pypi, &format!("{option} https://evil.example"), Some(option));
        }
        check(Kind::Pypi, "--from evil", Some("--from"));
        check(Kind::Pypi, "--with evil", Some("--with"));
        check(Kind::Pypi, "evil", Some("evil"));
        check(Kind::Nuget, "--yes", None);
        check(Kind::Nuget, "--source https://evil.example", Some("--source"));
        check(Kind::Oci, "-i --rm -e A=b -eA=b -v/a:/b -it --network=none --mount x", None);
        check(Kind::Oci, "evil/image", Some("evil/image"));
        check(Kind::Oci, "--rm evil/image", Some("evil/image"));
        check(Kind::Oci, "-it evil/image", Some("evil/image"));
        check(Kind::Oci, "-e A evil/image", Some("evil/image"));
        check(Kind::Oci, "-- evil/image", Some("--"));
        check(Kind::Oci, "-", Some("-"));
        check(Kind::Oci, "-v", Some("-v"));
        check(Kind::Oci, "--mount", Some("--mount"));
    }
}
