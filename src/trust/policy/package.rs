//! Packages and images that a command line has fetched and run: `npx`, `uvx`, `docker` and their like.

use std::path::Path;

use super::image::{may_be_image, split_image};
use crate::config::container::images;
pub(super) use crate::config::packages::Kind;
use crate::config::packages::{Role, Runner, is_naming};
use crate::config::program::ENGINES;
use crate::config::version::{Scheme, may_be};

/// The programs that fetch packages of a kind.
pub(super) fn engines(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Npm => &["npx", "npm", "pnpm", "pnpx", "yarn", "bun", "bunx", "deno"],
        Kind::Pypi => &["uv", "uvx", "pip", "pip3", "pipx"],
        Kind::Image => &ENGINES,
    }
}

/// Whether that is the file name of one of them, or of its script: `npm-cli.js`.
pub(super) fn is_engine(kind: Kind, name: &str) -> bool {
    engines(kind).contains(&bare(name))
}

/// The name of a program without what its script has more: `npm-cli.js`.
fn bare(name: &str) -> &str {
    let scripts = [".js", ".cjs", ".mjs"];
    let bare = scripts.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    bare.strip_suffix("-cli").unwrap_or(bare)
}

/// The words that name packages in a command line that runs some; `None` when it does not. Every
/// word that is no option may be one: which it is depends on the options before it. Those of images
/// are known.
pub(super) fn packages(words: &[String]) -> Option<(Kind, Vec<&str>)> {
    let (program, args) = words.split_first()?;
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (runner, mut rest) = Runner::of(base(program), &args)?;
    rest.retain(|word| *word != "*");
    if runner.kind == Kind::Image {
        return Some((runner.kind, images(rest.into_iter())));
    }
    let named = rest.into_iter().filter_map(|word| match word.strip_prefix('-') {
        None => Some(word),
        // `--package=NAME`, `--from=NAME`
        Some(option) => option.split_once('=').map(|(_, value)| value),
    });
    Some((runner.kind, named.collect()))
}

/// The first word by which a command line has a package of that kind fetched from somewhere without
/// saying which one it is: a URL, a repository, a path. `program` may be any name of its first word.
pub(super) fn nameless<'w>(kind: Kind, program: &str, args: &[&'w str]) -> Option<&'w str> {
    let (runner, rest) = Runner::of(bare(program), args)?;
    let said = runner.read(&rest);
    let has_package = said.iter().any(|(role, _)| *role == Role::Package);
    // With a package that is named, the plain word is a program in it.
    let mut said = said.into_iter().filter(|(role, _)| !has_package || *role != Role::Plain);
    let is_nameless = |(_, word): &(Role, &str)| is_place(kind, word);
    said.find(is_nameless).filter(|_| runner.kind == kind).map(|(_, word)| word)
}

/// Whether a word is a place, from which anything may come, and not the name of a package.
fn is_place(kind: Kind, word: &str) -> bool {
    if REGISTRIES.iter().any(|it| word.starts_with(it)) && archive(kind, word).is_some() {
        return false;
    }
    let word = word.strip_prefix("npm:").unwrap_or(word);
    let is_path = |word: &str| word.starts_with(['.', '/', '~']) || word.contains(':');
    let is_file = [".tgz", ".tar", ".tar.gz", ".whl", ".zip"].iter().any(|it| word.ends_with(it));
    match kind {
        // `USER/REPOSITORY` is one of GitHub's; `NAME@PLACE` gives it a name of one's own.
        Kind::Npm => {
            let (name, version) = version_of(word);
            let version = version.trim_start_matches('@');
            let is_alias = version.starts_with("npm:");
            let is_elsewhere = !is_alias && (is_path(version) || version.contains('/'));
            is_file || is_path(name) || is_elsewhere || name.contains('/') && !name.starts_with('@')
        }
        Kind::Pypi => is_file || is_path(word) || word.contains('/'),
        Kind::Image => false,
    }
}

/// How many options of one letter are looked for in one word.
const OPTIONS: usize = 20;

/// All that may be the name of a package or an image in a text: a word, one of a list, the value of an
/// option, or a word of a script; with what is said there about its version.
pub(super) fn names(text: &str) -> Vec<String> {
    let mut names = vec![text.to_owned()];
    for bare in [without_quotes(text), with_blanks(text)] {
        for word in bare.split(|c: char| c.is_whitespace() || ";&|()<>{}`$".contains(c)) {
            // `-pNAME`, `-ypNAME`
            let letters = word.char_indices().map(|(at, _)| at).skip(2).take(OPTIONS);
            let is_short = word.starts_with('-') && !word.starts_with("--");
            names.extend(letters.filter(|_| is_short).map(|at| word[at..].to_owned()));
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

/// Whether the word at that place is the program of the package that the option before it names, with
/// its version: `uvx --from NAME==1.0 NAME`.
pub(super) fn is_program_of_package(kind: Kind, words: &[String], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|before| &*words[before]) else { return false };
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
    let is_any = wanted_version.is_empty() || archive(kind, word).is_some();
    let may_be_it = || match kind {
        Kind::Npm => may_be(Scheme::Npm, wanted_version, version),
        Kind::Pypi => may_be(Scheme::Python, wanted_version, version),
        Kind::Image => may_be_image(wanted_version, version),
    };
    wanted_name == name && (is_any || may_be_it())
}

/// Where archives are what their URLs say.
const REGISTRIES: [&str; 3] = [
    "https://registry.npmjs.org/",
    "https://registry.yarnpkg.com/",
    "https://files.pythonhosted.org/",
];

/// The package that the URL of an archive, or its path, claims to be.
fn archive(kind: Kind, place: &str) -> Option<&str> {
    match kind {
        // …/NAME/-/NAME-VERSION.tgz
        Kind::Npm => {
            let (path, _) = place.split_once("/-/")?;
            let scope = path.rfind("/@").or_else(|| path.rfind('/'));
            Some(&path[scope.map_or(0, |at| at + 1)..])
        }
        // NAME-VERSION-TAGS.whl (PyPA, Binary distribution format), NAME-VERSION.tar.gz
        Kind::Pypi => {
            let file = base(place.split(['#', '?']).next()?);
            match file.strip_suffix(".whl") {
                Some(wheel) => wheel.split('-').next(),
                None => Some(file.strip_suffix(".tar.gz")?.rsplit_once('-')?.0),
            }
        }
        Kind::Image => None,
    }
}

/// The name of a package of npm, and the version with the sign before it.
fn version_of(word: &str) -> (&str, &str) {
    // A scope begins with the same sign.
    let at = word.char_indices().skip(1).find(|(_, c)| *c == '@').map(|(at, _)| at);
    word.split_at(at.unwrap_or(word.len()))
}

/// The name of a package as it is compared, and what is said about its version.
fn split(kind: Kind, word: &str) -> (String, &str) {
    match kind {
        Kind::Npm => {
            // `npm:NAME`, or `ALIAS@npm:NAME`
            let word = word.rsplit_once("npm:").map_or(word, |(_, name)| name);
            let (name, version) = version_of(word.trim_start_matches('/'));
            match archive(kind, word) {
                Some(name) => (name.to_owned(), ""),
                None => (name.to_owned(), version.trim_start_matches('@')),
            }
        }
        Kind::Pypi => {
            let end = word.find(|c: char| "=<>!~@[; ".contains(c)).unwrap_or(word.len());
            let (name, rest) = archive(kind, word).map_or(word.split_at(end), |name| (name, ""));
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
    let is_engine = |word: &String| is_engine(Kind::Image, base(word));
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
    fn a_place_does_not_say_which_package_is_there() {
        let check = |line: &str, expected: Option<&str>| {
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            let found = [Kind::Npm, Kind::Pypi, Kind::Image]
                .into_iter()
                .find_map(|kind| nameless(kind, words[0], &words[1..]));
            assert_eq!(found, expected, "{line}");
        };
        let place = |line: &str| check(line, line.split(' ').find(|word| word.contains('/')));
        place("npx github:user/p");
        place("npx -y user/p");
        place("npx --yes git+https://h.example/p.git#v1");
        place("npx https://h.example/p.tgz");
        place("npx -p https://h.example/p/-/p-1.0.0.tgz p");
        place("npx ./p");
        place("npx p@https://h.example/p.tgz");
        place("npx p@user/p");
        place("npx-cli.js p@file:/p");
        place("npx --unknown x git+ssh://h.example/p");
        place("bunx -p github:user/p run");
        place("pnpm dlx github:user/p");
        place("yarn dlx git@h.example:user/p");
        place("deno run -A https://h.example/mod.ts");
        place("uvx ./p");
        place("uvx --from git+https://h.example/p p");
        place("uvx --from https://h.example/p-1.0-py3-none-any.whl p");
        place("uvx --with git+https://h.example/p fine");
        place("uv run --with=fine --with /srv/p server.py");
        place("uv tool run /srv/p");
        check("pipx run --spec=/srv/p p", Some("/srv/p"));
        check("npx -pgithub:user/p run", Some("github:user/p"));
        check("npx ./p-1.0.0.tgz", Some("./p-1.0.0.tgz"));
        for named in [
            "npx -y @s/p@1.2.3",
            "npx p@latest https://h.example/mcp ./data",
            "npx other@npm:@s/p@2",
            "npx -p p run ./data",
            "npx --registry https://npm.example p",
            "npx https://registry.npmjs.org/@s/p/-/p-1.0.0.tgz",
            "deno run -A server.ts /data",
            "deno run npm:@s/p@1",
            "uvx p[extra]==1 /data",
            "uvx --index-url https://pypi.example/simple p",
            "uvx https://files.pythonhosted.org/packages/00/p-1.0-py3-none-any.whl",
            "uv run /srv/server.py",
            "docker run -v /a:/b mcp/time /data",
            "node ./server.js",
        ] {
            check(named, None);
        }
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
        let files = "https://files.pythonhosted.org/packages/00/11/22";
        check(Pypi, "my-p", &format!("{files}/my_p-1.0-py3-none-any.whl#sha256=00"), true);
        check(Pypi, "my-p==1", &format!("{files}/my_p-2.0.tar.gz"), true);
        check(Pypi, "p", &format!("{files}/my_p-1.0-py3-none-any.whl"), false);
        check(Pypi, "p", "p @ git+https://h.example/p", true);
        check(Npm, "@s/p@1", "https://registry.npmjs.org/@s/p/-/p-1.0.0.tgz", true);
        check(Npm, "p", "https://registry.npmjs.org/@s/p/-/p-1.0.0.tgz", false);
        check(Image, "a/b", "docker.io/a/b:1", true);
        check(Image, "x", "docker.io/library/x@sha256:00", true);
        check(Image, "a/b:1", "a/b:2", false);
        check(Image, "a/b", "r.example:5000/a/b", false);
    }

    #[test]
    fn a_version_counts_in_every_spelling() {
        use Kind::{Image, Npm, Pypi};
        let check = |kind, wanted: &str, word: &str, is| {
            assert_eq!(is_package(kind, wanted, word), is, "{wanted} {word}");
        };
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
