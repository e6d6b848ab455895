//! Packages and images that a command line has fetched and run: `npx`, `uvx`, `docker` and their like.

use std::path::Path;

use crate::config::container::images;

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
/// word that is no option may be one: which it is depends on the options before it. Those of images
/// are known.
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
    if kind == Kind::Image {
        // Options of the engine itself may stand before the action.
        let is_action = |word: &&str| {
            actions -= usize::from(0 < actions && !word.starts_with('-'));
            0 < actions
        };
        let behind = args.by_ref().skip_while(is_action).skip(1).filter(|word| *word != "*");
        return Some((kind, images(behind.collect::<Vec<_>>().into_iter())));
    }
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
/// option, or a word of a script.
pub(super) fn names(text: &str) -> Vec<String> {
    let bare = without_quotes(text);
    let mut names = vec![text.to_owned()];
    for word in bare.split(|c: char| c.is_whitespace() || ";&|()<>{}`$".contains(c)) {
        for part in word.split(',').chain([word]) {
            let value = part.split_once('=').map(|(_, value)| value);
            let pieces = part.split(['=', '[', ']']).chain(value).chain([part]);
            names.extend(pieces.filter(|name| !name.is_empty()).map(str::to_owned));
        }
    }
    names
}

/// The last part of a path.
pub(super) fn base(path: &str) -> &str {
    Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or(path)
}

/// A text without what only guards its words from a shell.
pub(super) fn without_quotes(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect()
}

/// Whether a word names the package that another does. Where the first names no version, any will
/// do.
pub(super) fn is_package(kind: Kind, wanted: &str, word: &str) -> bool {
    let (wanted_name, wanted_version) = split(kind, wanted);
    let (name, version) = split(kind, word);
    // The version in the name of an archive is not read: any may be the one.
    let is_any = wanted_version.is_empty() || kind == Kind::Npm && word.contains(ARCHIVE);
    wanted_name == name && (is_any || wanted_version == version)
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
            (name.to_owned(), version)
        }
        Kind::Pypi => {
            let end = word.find(|c: char| "=<>!~@[; ".contains(c)).unwrap_or(word.len());
            let (name, rest) = word.split_at(end);
            let version = rest.split_once(']').map_or(rest, |(_, version)| version);
            // Runs of these are one hyphen (PyPA, Name normalization).
            let parts: Vec<&str> =
                name.split(['-', '_', '.']).filter(|part| !part.is_empty()).collect();
            (parts.join("-").to_ascii_lowercase(), version.trim_start_matches(['=', '@']))
        }
        Kind::Image => {
            let word = word.rsplit_once("://").map_or(word, |(_, name)| name);
            // What is usual need not be said.
            let usual = ["index.docker.io/", "docker.io/", "library/"];
            let name = usual.iter().fold(word, |it, usual| it.strip_prefix(usual).unwrap_or(it));
            let path = name.rfind('/').map_or(0, |at| at + 1);
            let end = name[path..].find([':', '@']).map_or(name.len(), |at| path + at);
            let (name, version) = name.split_at(end);
            (name.to_owned(), version)
        }
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
        check("docker run -i --name x -v /a:/b mcp/time stdio", &["mcp/time"]);
        check("docker --debug container run --rm mcp/time *", &["mcp/time"]);
        check("podman run --brand-new x mcp/time", &["x", "mcp/time"]);
        check("docker run *", &[]);
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
    }
}
