//! Command lines that have a package, or an image, fetched and run: `npx`, `uvx`, `docker run` and their
//! like, and which of their words say what that is.

use super::container;

/// Where packages are from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The registry of npm.
    Npm,
    /// The Python package index.
    Pypi,
    /// A registry of container images.
    Image,
}

/// A program that fetches something and runs it.
#[derive(Debug)]
pub struct Runner {
    /// Its name, and the words that have it do so if it does other things as well.
    words: &'static [&'static str],
    /// What it fetches.
    pub kind: Kind,
    /// The options that name the package, so that its plain word is a program in that.
    naming: &'static [&'static str],
    /// The options that name more packages.
    adding: &'static [&'static str],
    /// Other options that are followed by a word.
    followed: &'static [&'static str],
    /// Whether its plain word is a script, unless it has a scheme.
    takes_script: bool,
}

/// What a word says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Which package is fetched. Its plain word is a program in it.
    Package,
    /// Which package is fetched beside that.
    Added,
    /// The first word that is no option, and the next one where it may be the value of one.
    Plain,
    /// The value of an option that is not known here.
    Value,
}

const NPM: Runner = Runner {
    words: &["npx"],
    kind: Kind::Npm,
    naming: &["--package", "-p"],
    adding: &[],
    followed: &["--registry", "--call", "-c", "--workspace", "-w", "--prefix", "--cache"],
    takes_script: false,
};

const UV: Runner = Runner {
    words: &["uvx"],
    kind: Kind::Pypi,
    naming: &["--from"],
    adding: &["--with", "-w", "--with-editable"],
    followed: &[
        "--python",
        "-p",
        "--with-requirements",
        "--env-file",
        "--index",
        "--default-index",
        "--index-url",
        "--extra-index-url",
        "--find-links",
        "-f",
        "--directory",
        "--project",
        "--constraints",
        "-c",
        "--cache-dir",
    ],
    takes_script: false,
};

const PIPX: Runner = Runner {
    words: &["pipx", "run"],
    naming: &["--spec"],
    adding: &["--with"],
    followed: &["--python", "--index-url", "-i", "--pip-args"],
    ..UV
};

const DENO: Runner = Runner {
    words: &["deno", "run"],
    naming: &[],
    followed: &["--config", "-c", "--import-map", "--lock", "--env-file", "--seed"],
    takes_script: true,
    ..NPM
};

/// Its options are in [`container`].
const DOCKER: Runner = Runner {
    words: &["docker", "run"],
    kind: Kind::Image,
    naming: &[],
    adding: &[],
    followed: &[],
    takes_script: false,
};

const RUNNERS: &[Runner] = &[
    NPM,
    Runner { words: &["npm", "exec"], ..NPM },
    Runner { words: &["npm", "x"], ..NPM },
    Runner { words: &["pnpx"], ..NPM },
    Runner { words: &["pnpm", "dlx"], ..NPM },
    Runner { words: &["yarn", "dlx"], ..NPM },
    Runner { words: &["bunx"], ..NPM },
    Runner { words: &["bun", "x"], ..NPM },
    DENO,
    UV,
    Runner { words: &["uv", "tool", "run"], ..UV },
    Runner { words: &["uv", "run"], naming: &[], takes_script: true, ..UV },
    PIPX,
    DOCKER,
    Runner { words: &["docker", "container", "run"], ..DOCKER },
    Runner { words: &["podman", "run"], ..DOCKER },
    Runner { words: &["podman", "container", "run"], ..DOCKER },
    Runner { words: &["nerdctl", "run"], ..DOCKER },
    Runner { words: &["nerdctl", "container", "run"], ..DOCKER },
];

/// Options of theirs that no value follows. After any other the next word may be its value.
pub(super) const FLAGS: &[&str] = &[
    "-",
    "--",
    "-A",
    "-i",
    "-q",
    "-y",
    "--allow-all",
    "--bun",
    "--isolated",
    "--offline",
    "--prefer-offline",
    "--quiet",
    "--refresh",
    "--silent",
    "--verbose",
    "--yes",
];

/// Whether an option of some of them says which package has the program that the next plain word is.
pub fn is_naming(option: &str) -> bool {
    RUNNERS.iter().any(|runner| runner.naming.contains(&option))
}

impl Runner {
    /// The runner that a command line begins with, under whatever name `program` is started, and the
    /// words that are not its own.
    pub fn of<'w>(program: &str, args: &[&'w str]) -> Option<(&'static Runner, Vec<&'w str>)> {
        RUNNERS.iter().find_map(|runner| {
            let (name, actions) = runner.words.split_first()?;
            let mut actions = actions.iter().peekable();
            let mut rest = args.to_vec();
            // Options may stand before them.
            rest.retain(|word| {
                word.starts_with('-') || actions.next_if(|it| *it == word).is_none()
            });
            if let (Kind::Image, Some(action)) = (runner.kind, runner.words.last()) {
                // Before it are the options of the engine.
                rest = args.iter().skip_while(|it| *it != action).skip(1).copied().collect();
            }
            (*name == program && actions.next().is_none()).then_some((runner, rest))
        })
    }

    /// What the words after its own say of packages.
    pub fn read<'w>(&self, args: &[&'w str]) -> Vec<(Role, &'w str)> {
        if self.kind == Kind::Image {
            let images = container::images(args.iter().copied());
            return images.into_iter().map(|image| (Role::Plain, image)).collect();
        }
        let mut said = Vec::new();
        let mut args = args.iter().copied();
        let mut may_be_value = false;
        while let Some(arg) = args.next() {
            if arg == "-" || !arg.starts_with('-') {
                if !self.takes_script || arg.contains(':') {
                    said.push((Role::Plain, arg));
                }
                if !may_be_value {
                    break;
                }
                may_be_value = false;
                continue;
            }
            let (option, value) = parts(arg, [self.naming, self.adding, self.followed]);
            may_be_value = false;
            let role = match () {
                () if self.naming.contains(&option) => Role::Package,
                () if self.adding.contains(&option) => Role::Added,
                () if self.followed.contains(&option) => {
                    let _ = value.or_else(|| args.next());
                    continue;
                }
                () => {
                    let is_alone = FLAGS.contains(&arg) || arg.starts_with("--no-");
                    may_be_value = !is_alone && value.is_none();
                    said.extend(value.map(|value| (Role::Value, value)));
                    continue;
                }
            };
            said.extend(value.or_else(|| args.next()).map(|value| (role, value)));
        }
        said
    }
}

/// An option and its value, if that stands in the same word: `--from=NAME`, `-pNAME`.
fn parts<'w>(arg: &'w str, known: [&[&str]; 3]) -> (&'w str, Option<&'w str>) {
    let is_short = |it: &&&str| it.len() == 2 && arg.starts_with(**it) && arg.len() > 2;
    if known.iter().copied().flatten().any(|it| is_short(&it)) {
        let (option, value) = arg.split_at(2);
        return (option, Some(value.strip_prefix('=').unwrap_or(value)));
    }
    arg.split_once('=').map_or((arg, None), |(option, value)| (option, Some(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_by_the_options_before_them() {
        use Role::{Added, Package, Plain, Value};
        let check = |line: &str, expected: &[(Role, &str)]| {
            let words: Vec<&str> = line.split_ascii_whitespace().collect();
            let (runner, rest) = Runner::of(words[0], &words[1..]).unwrap();
            assert_eq!(runner.read(&rest), expected, "{line}");
        };
        check("npx -y p more", &[(Plain, "p")]);
        check("npx -- p", &[(Plain, "p")]);
        check(
            "npx -p a --package=b -pc run",
            &[(Package, "a"), (Package, "b"), (Package, "c"), (Plain, "run")],
        );
        check("npx --registry https://r.example p", &[(Plain, "p")]);
        check("npx --unknown p q r", &[(Plain, "p"), (Plain, "q")]);
        check("npx --unknown=p q r", &[(Value, "p"), (Plain, "q")]);
        check("npm --silent exec -- p", &[(Plain, "p")]);
        check("uvx -p3.12 -p 3.12 p", &[(Plain, "p")]);
        check(
            "uvx --from a --with=b -wc run",
            &[(Package, "a"), (Added, "b"), (Added, "c"), (Plain, "run")],
        );
        check("uv tool run p", &[(Plain, "p")]);
        check("uv --directory /srv run --with a server.py", &[(Added, "a")]);
        check("pipx run --spec=a run", &[(Package, "a"), (Plain, "run")]);
        check("deno run -A server.ts", &[]);
        check("deno run -A npm:p", &[(Plain, "npm:p")]);
        check("docker run -i -e A --name=b image c", &[(Plain, "image")]);
        for line in ["npm start", "npm", "uv", "docker exec c", "node p"] {
            let words: Vec<&str> = line.split(' ').collect();
            assert!(Runner::of(words[0], &words[1..]).is_none(), "{line}");
        }
    }
}
