//! Packages and images that a command line has fetched and run: `npx`, `uvx`, `docker` and their like.

use std::path::Path;

use super::image::{may_be_image, split_image};
use crate::config::version::{Scheme, may_be};

/// Where packages are from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The registry of npm.
    Npm,
    /// The Python package index.
    Pypi,
    /// A registry of container images.
    Image,
}

impl Kind {
    /// The programs that fetch packages of this kind.
    pub(super) fn engines(self) -> &'static [&'static str] {
        match self {
            Kind::Npm => &["npx", "npm", "pnpm", "pnpx", "yarn", "bun", "bunx", "deno"],
            Kind::Pypi => &["uv", "uvx", "pip", "pip3", "pipx"],
            Kind::Image => &["docker", "podman", "nerdctl"],
        }
    }

    /// Whether that is the file name of one of them, or of its script: `npm-cli.js`.
    pub(super) fn is_engine(self, name: &str) -> bool {
        let scripts = [".js", ".cjs", ".mjs"];
        let bare = scripts.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        self.engines().contains(&bare.strip_suffix("-cli").unwrap_or(bare))
    }
}

/// The beginnings of command lines that run packages.
const RUNNERS: &[(&[&str], Kind)] = &[
    (&["npx"], Kind::Npm),
    (&["pnpx"], Kind::Npm),
    (&["bunx"], Kind::Npm),
    (&["npm", "exec"], Kind::Npm),
    (&["npm", "x"], Kind::Npm),
    (&["pnpm", "dlx"], Kind::Npm),
    (&["yarn", "dlx"], Kind::Npm),
    (&["bun", "x"], Kind::Npm),
    (&["deno", "run"], Kind::Npm),
    (&["uvx"], Kind::Pypi),
    (&["uv", "tool", "run"], Kind::Pypi),
    (&["uv", "run"], Kind::Pypi),
    (&["pipx", "run"], Kind::Pypi),
    (&["docker", "run"], Kind::Image),
    (&["docker", "container", "run"], Kind::Image),
    (&["podman", "run"], Kind::Image),
    (&["podman", "container", "run"], Kind::Image),
    (&["nerdctl", "run"], Kind::Image),
    (&["nerdctl", "container", "run"], Kind::Image),
];

/// The words that name packages in a command line that runs some; `None` when it does not. Every
/// word that is no option may be one: which it is depends on the options before it.
pub(super) fn packages(words: &[String]) -> Option<(Kind, Vec<&str>)> {
    let (program, args) = words.split_first()?;
    let program = base(program);
    let mut args = args.iter().map(String::as_str);
    let (kind, rest) = RUNNERS.iter().find_map(|(runner, kind)| {
        let (name, actions) = runner.split_first()?;
        let mut plain = args.clone().filter(|word| !word.starts_with('-'));
        let is_runner = *name == program && actions.iter().all(|it| plain.next() == Some(*it));
        is_runner.then_some((*kind, actions.len()))
    })?;
    let mut actions = rest;
    let named = args.by_ref().filter_map(|word| match word.strip_prefix('-') {
        None if 0 < actions => {
            actions -= 1;
            None
        }
        None => Some(word),
        // `--package=NAME`, `--from=NAME`
        Some(option) => option.split_once('=').map(|(_, value)| value),
    });
    Some((kind, named.filter(|word| *word != "*").collect()))
}

/// All that may be the name of a package or an image in a text: a word, one of a list, the value of an
/// option, or a word of a script; with what is said there about its version.
pub(super) fn names(text: &str) -> Vec<String> {
    let mut names = vec![text.to_owned()];
    for bare in [without_quotes(text), with_blanks(text)] {
        for word in bare.split(|c: char| c.is_whitespace() || ";&|()<>{}`$".contains(c)) {
            for part in word.split(',').chain([word]) {
                // `--from=NAME`, `X=--from=NAME`, `x["NAME"]`
                let value = part.split_once('=').map(|(_, value)| value);
                let last = part.rsplit_once('=').map(|(_, value)| value);
                let inner = part.split_once('[').map(|(_, inner)| inner);
                let found = [Some(part), value, last, inner].into_iter().flatten();
                names.extend(found.map(without_brackets).map(str::to_owned));
            }
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// A word of a list, without what holds the list together: `["NAME"` but not `NAME[extra]`.
fn without_brackets(word: &str) -> &str {
    let word = word.trim_matches(',').trim_start_matches('[');
    if word.contains('[') { word } else { word.trim_end_matches(']') }
}

/// Options that say which package has the program that the next plain word is.
const NAMING: &[&str] = &["--from", "--package", "--spec", "-p"];

/// Whether the word at that place is the program of the package that the option before it names, with
/// its version: `uvx --from NAME==1.0 NAME`.
pub(super) fn is_program_of_package(kind: Kind, words: &[String], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|before| &*words[before]) else { return false };
    let is_naming = |option: &str| NAMING.contains(&option);
    let package = match before.split_once('=').filter(|(option, _)| is_naming(option)) {
        Some((_, value)) => Some(value),
        None => at.checked_sub(2).filter(|at| is_naming(&words[*at])).map(|_| before),
    };
    package.is_some_and(|package| split(kind, package).0 == words[at])
}

/// The last part of a path.
pub(super) fn base(path: &str) -> &str {
    Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or(path)
}

/// A text without what only guards its words from a shell.
pub(super) fn without_quotes(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect()
}

/// A text in which blanks are written as escapes, with blanks: `nice\_program`.
pub(super) fn with_blanks(text: &str) -> String {
    let parts = text.split('\\').enumerate();
    let parts = parts.map(|(at, part)| if at == 0 { part } else { part.get(1..).unwrap_or("") });
    parts.collect::<Vec<_>>().join(" ")
}

/// Whether a word names the package that another does. Where that has a version, it is meant in every
/// spelling, and so is whatever may come out as that version: a range, a tag, no version at all.
pub(super) fn is_package(kind: Kind, wanted: &str, word: &str) -> bool {
    let (wanted_name, wanted_version) = split(kind, wanted);
    let (name, version) = split(kind, word);
    // The version in the name of an archive is not read: any may be the one.
    let is_any = wanted_version.is_empty() || kind == Kind::Npm && word.contains(ARCHIVE);
    let may_be_it = || match kind {
        Kind::Npm => may_be(Scheme::Npm, wanted_version, version),
        Kind::Pypi => may_be(Scheme::Python, wanted_version, version),
        Kind::Image => may_be_image(wanted_version, version),
    };
    wanted_name == name && (is_any || may_be_it())
}

/// What is between the name of a package of npm and that of its archive, in the URL of that.
const ARCHIVE: &str = "/-/";

/// The name of a package as it is compared, and what is said about its version.
fn split(kind: Kind, word: &str) -> (String, &str) {
    match kind {
        Kind::Npm => {
            // `npm:NAME`, or `ALIAS@npm:NAME`
            let word = word.rsplit_once("npm:").map_or(word, |(_, name)| name);
            let word = word.trim_start_matches('/');
            if let Some((path, _)) = word.split_once(ARCHIVE) {
                let scope = path.rfind("/@").or_else(|| path.rfind('/'));
                return (path[scope.map_or(0, |at| at + 1)..].to_owned(), "");
            }
            // A scope begins with the same sign.
            let at = word.char_indices().skip(1).find(|(_, c)| *c == '@').map(|(at, _)| at);
            let (name, version) = word.split_at(at.unwrap_or(word.len()));
            (name.to_owned(), version.trim_start_matches('@'))
        }
        Kind::Pypi => {
            let end = word.find(|c: char| "=<>!~@[; ".contains(c)).unwrap_or(word.len());
            let (name, rest) = word.split_at(end);
            let version = rest.split_once(']').map_or(rest, |(_, version)| version);
            // After that it is said when the package is wanted (PEP 508).
            let version = version.split(';').next().unwrap_or_default();
            // Runs of these are one hyphen (PyPA, Name normalization).
            let parts: Vec<&str> =
                name.split(['-', '_', '.']).filter(|part| !part.is_empty()).collect();
            (parts.join("-").to_ascii_lowercase(), version.trim_start_matches(['=', '@', ' ']))
        }
        Kind::Image => split_image(word),
    }
}

/// Whether a command line runs an image of a container that it does not name by its hash.
pub(super) fn is_of_open_image(words: &[String]) -> bool {
    let is_engine = |word: &String| Kind::Image.is_engine(base(word));
    let Some(at) = words.iter().position(is_engine) else { return false };
    let args = &words[at..];
    let runs = args.iter().any(|word| word == "run" || word == "create");
    runs && !args.iter().any(|word| word.contains("@sha256:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_open_without_its_hash() {
        let check = |line: &str, is| assert_eq!(is_of_open_image(&words(line)), is, "{line}");
        check("docker run -i --rm mcp/time", true);
        check("/usr/bin/podman run -i mcp/time:1.2.3", true);
        check("sudo docker container run mcp/time", true);
        check("docker run -i --rm mcp/time@sha256:00", false);
        check("docker exec -i c server", false);
        check("server docker", false);
    }

    fn words(text: &str) -> Vec<String> {
        text.split_ascii_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn packages_are_found_whatever_the_options() {
        let check = |line: &str, expected: &[&str]| {
            let words = words(line);
            let found = packages(&words).map(|(_, names)| names).unwrap_or_default();
            assert_eq!(found, expected, "{line}");
        };
        check("npx -y p", &["p"]);
        check("/usr/bin/npx --yes --package=@s/p@1 run", &["@s/p@1", "run"]);
        check("npm --silent exec -- p", &["p"]);
        check("npm install p", &[]);
        check("uv tool run --from p==1 x", &["p==1", "x"]);
        check("node p", &[]);
    }

    #[test]
    fn versions_count_where_they_are_named() {
        use Kind::{Image, Npm, Pypi};
        let check = |kind, wanted: &str, word: &str, is| {
            assert_eq!(is_package(kind, wanted, word), is, "{wanted} {word}");
        };
        check(Npm, "p", "p@latest", true);
        check(Npm, "@s/p", "@s/p@1.2.3", true);
        check(Npm, "@s/p", "p", false);
        check(Npm, "p@1", "p@2", false);
        check(Npm, "p", "other@npm:p@2", true);
        check(Npm, "p@1", "p@1", true);
        check(Pypi, "my-p", "My_P[extra]==1", true);
        check(Pypi, "p==1", "p@1", true);
        check(Pypi, "p==1", "p==2", false);
        check(Npm, "@s/p@1", "https://registry.npmjs.org/@s/p/-/p-1.0.0.tgz", true);
        check(Npm, "p", "https://registry.npmjs.org/@s/p/-/p-1.0.0.tgz", false);
        check(Image, "a/b", "docker.io/a/b:1", true);
        check(Image, "x", "docker.io/library/x@sha256:00", true);
        check(Image, "a/b:1", "a/b:2", false);
        check(Image, "a/b", "r.example:5000/a/b", false);
        for word in
            ["p@1.3.0", "p@v1.3.0", "p@=1.3.0", "p@^1.2.3", "p@latest", "p", "x@npm:p@1.3.0"]
        {
            check(Npm, "p@1.3.0", word, true);
            check(Npm, "@s/p@1.3.0", &format!("@s/{word}"), !word.starts_with('x'));
        }
        check(Npm, "p@1.3.0", "p@1.3.1", false);
        for word in [
            "p==1",
            "p==1.0.0",
            "p==v1.0",
            "p == 1.0",
            "p[x] ==1.0",
            "p~=1.0",
            "p",
            "P@1",
            "p===1.0",
            "p>=0.5",
            "p==1.0; python_version > '3'",
            "p @ https://h/x",
        ] {
            check(Pypi, "p==1.0", word, true);
        }
        for word in ["p==2.0", "p == 1.1", "p[x]==1.0.1", "p==2.0; python_version > '3'"] {
            check(Pypi, "p==1.0", word, false);
        }
        for word in ["a/b", "a/b:latest", "docker.io:443/a/b", "Registry-1.Docker.io/a/b:latest"] {
            check(Image, "a/b:latest", word, true);
        }
        check(Image, "a/b:latest", "a/b:1.3.0", false);
        check(Image, "a/b:latest", "a/b@sha256:00", false);
        check(Image, "a/b:1", "registry-1.docker.io/a/b:1", true);
        check(Image, "a/b:1", "a/b", true);
        check(Image, "a/b:1", "a/b:2@sha256:00", true);
        check(Image, "a/b@sha256:0A", "a/b:2@sha256:0a", true);
        check(Image, "a/b@sha256:0a", "a/b@sha256:0b", false);
        check(Image, "a/b@sha256:0a", "a/b:1", true);
        check(Image, "ghcr.io/a/b:1", "GHCR.io:443/a/b:1", true);
        check(Image, "ghcr.io/a/b:1", "a/b:1", false);
    }
}
