//! Programs that run what their arguments name, or what lies in the directory that they run in.
//!
//! No list of them is complete; these are those that servers are started with.

use super::container;
use super::packages::FLAGS;

/// Programs whose arguments are a command to run, at some point.
const WRAPPERS: &[&str] = &[
    "bwrap",
    "busybox",
    "catatonit",
    "catchsegv",
    "chroot",
    "chrt",
    "command",
    "coreutils",
    "corepack",
    "dbus-run-session",
    "doas",
    "dumb-init",
    "env",
    "exec",
    "firejail",
    "flock",
    "gosu",
    "ionice",
    "mise",
    "nice",
    "nohup",
    "nsenter",
    "numactl",
    "parallel",
    "pkexec",
    "poetry",
    "proot",
    "prlimit",
    "runuser",
    "script",
    "setarch",
    "setpriv",
    "setsid",
    "sg",
    "stdbuf",
    "strace",
    "su",
    "su-exec",
    "sudo",
    "systemd-run",
    "taskset",
    "time",
    "timeout",
    "tini",
    "toybox",
    "unbuffer",
    "unshare",
    "uv",
    "volta",
    "watch",
    "xargs",
    "xvfb-run",
];

/// Programs that find what they run in the project around the directory that they run in, or look
/// there first: its settings, its packages, its recipes.
const OF_PROJECT: &[&str] = &[
    "ant",
    "bundle",
    "bunx",
    "cargo",
    "composer",
    "devbox",
    "direnv",
    "dnx",
    "docker-compose",
    "go",
    "gradle",
    "hatch",
    "just",
    "make",
    "mvn",
    "nix",
    "npm",
    "npx",
    "pdm",
    "pipenv",
    "pipx",
    "pixi",
    "pnpm",
    "pnpx",
    "poetry",
    "rake",
    "rye",
    "task",
    "uv",
    "uvx",
    "yarn",
];

/// Shells and interpreters, which run a text, or the file that an argument names.
const INTERPRETERS: &[&str] = &[
    "ash", "bash", "bun", "csh", "dash", "deno", "dotnet", "elvish", "fish", "java", "ksh", "lua",
    "mksh", "node", "nodejs", "nu", "oksh", "osh", "perl", "php", "pypy", "python", "rbash",
    "ruby", "sh", "tcsh", "tsx", "xonsh", "yash", "zsh",
];

/// Those of them that read more than their script: settings, or modules, of the directory.
const READ_DIRECTORY: &[&str] = &["bun", "deno", "lua", "tsx"];

/// The letters of options that have code after them, or say where it is. Those of all others, which
/// are shells, are `c`.
const LETTERS: &[(&[&str], &str)] = &[
    (&["python", "pypy"], "cm"),
    (&["node", "nodejs"], "epr"),
    (&["perl"], "eEmMI"),
    (&["ruby"], "erIC"),
    (&["php"], "rBREFcdz"),
    // Their options are whole words, also after one hyphen.
    (&["dotnet", "java"], ""),
];

/// The same of options that are words.
const WORDS: &[&str] = &[
    "-classpath",
    "-cp",
    "-p",
    "--class-path",
    "--command",
    "--config",
    "--env-file",
    "--eval",
    "--experimental-loader",
    "--import",
    "--init-file",
    "--loader",
    "--module",
    "--module-path",
    "--print",
    "--rcfile",
    "--require",
    "--run",
];

/// Whether a program runs the command that its arguments are.
pub fn is_wrapper(program: &str) -> bool {
    WRAPPERS.contains(&base(program))
}

/// Whether a program is a shell or an interpreter. `python3.12` is `python`.
pub fn is_interpreter(program: &str) -> bool {
    is_one_of(INTERPRETERS, program)
}

/// Programs that run the package, or the image, that a plain word of theirs names.
const RUNNERS: &[&str] =
    &["bunx", "docker", "nerdctl", "npm", "npx", "pipx", "pnpm", "pnpx", "podman", "uvx", "yarn"];

/// Those of them that run images.
pub const ENGINES: [&str; 3] = ["docker", "nerdctl", "podman"];

/// Words after a program that say what it is to do, and are not yet what it is to do that with.
const ACTIONS: &[&str] = &["container", "dlx", "exec", "run", "tool", "x"];

/// How many words of a command, from the first on, say which code it runs: the program, and of an
/// interpreter, or of what runs packages, all up to the one that names the script or the package; all of
/// them, where a text is run, which may run the others. Of a wrapper they are those up to that word of the
/// interpreter in it, or all. `is_file` tells whether a word names a file that is there.
pub fn naming_code(command: &[String], is_file: &dyn Fn(&str) -> bool) -> usize {
    let Some((program, args)) = command.split_first() else { return 0 };
    if is_wrapper(program) {
        let inner = args.iter().position(|word| is_interpreter(word) || is_runner(word));
        return inner.map_or(command.len(), |at| 1 + at + naming_code(&args[at..], is_file));
    }
    if !is_interpreter(program) && !is_runner(program) {
        return 1;
    }
    let is_engine = ENGINES.contains(&base(program));
    let mut option: Option<&str> = None;
    for (index, word) in args.iter().enumerate() {
        let before = option.take();
        if word.starts_with('-') && word.len() > 1 {
            let is_alone = word.contains('=') || word.starts_with("--no-");
            let is_flag = match is_engine {
                true => container::takes_value(word) == Some(false),
                false => FLAGS.contains(&word.as_str()),
            };
            option = (!is_alone && !is_flag).then_some(word);
            continue;
        }
        let is_action = before.is_none() && ACTIONS.contains(&&**word);
        let is_it = match before {
            Some(option) if is_module(program, option) => true,
            Some(option) if is_interpreter(program) && is_code(program, option) => {
                if is_text(option) {
                    return command.len();
                }
                false
            }
            // Its value, unless it takes none.
            Some(_) => is_file(word),
            None => !is_action,
        };
        if is_it {
            return index + 2;
        }
    }
    command.len()
}

/// Whether an option has the name of what is run after it: `-m`, `-um`.
fn is_module(program: &str, option: &str) -> bool {
    is_one_of(&["python", "pypy"], program) && !option.starts_with("--") && option.ends_with('m')
}

/// Whether an option that has code after it has a text after it: `-c`, `-ec`, `--eval`.
fn is_text(option: &str) -> bool {
    let is_short = !option.starts_with("--") && option.ends_with(['c', 'e', 'E', 'p']);
    is_short || ["--command", "--eval", "--print"].contains(&option)
}

/// Whether a program runs the package, or the image, that one of its arguments names.
pub fn is_runner(program: &str) -> bool {
    RUNNERS.contains(&base(program))
}

/// Whether the directory that a command runs in decides which code it runs: an interpreter is given
/// no script by an absolute path, but one by a relative path, a module to look for, or a text.
pub fn follows_directory(command: &[String]) -> bool {
    starts(command, interprets_what_is_here)
}

/// Whether a command runs what it finds in the project around its directory, or looks there first.
pub fn follows_project(command: &[String]) -> bool {
    starts(command, |command| match command {
        [program, args @ ..] if ["docker", "podman"].contains(&base(program)) => {
            args.iter().any(|word| word == "compose")
        }
        [program, ..] => OF_PROJECT.contains(&base(program)),
        [] => false,
    })
}

/// Whether a command is of a kind, or starts one that is.
fn starts(command: &[String], is_of_kind: impl Fn(&[String]) -> bool) -> bool {
    if is_of_kind(command) {
        return true;
    }
    let Some((program, args)) = command.split_first() else { return false };
    // Some take a whole command line as one word.
    let words = args.iter().flat_map(|word| word.split_ascii_whitespace());
    let words: Vec<String> = words.map(|word| word.trim_start_matches("-S").to_owned()).collect();
    is_wrapper(program) && (0..words.len()).any(|from| is_of_kind(&words[from..]))
}

fn interprets_what_is_here(command: &[String]) -> bool {
    let Some((program, args)) = command.split_first() else { return false };
    if !is_interpreter(program) {
        return false;
    }
    let options = args.iter().take_while(|word| word.starts_with('-'));
    let has_code = options.clone().any(|option| is_code(program, option));
    let script = args.get(options.count());
    let is_named = script.is_some_and(|script| script.starts_with('/'));
    has_code || !is_named || is_one_of(READ_DIRECTORY, program)
}

/// Whether an option has code after it, or says where it is: `-c`, `-mx`, `-ec`, `--eval=x`.
fn is_code(program: &str, option: &str) -> bool {
    let name = option.split('=').next().unwrap_or(option);
    let known = LETTERS.iter().find(|(programs, _)| is_one_of(programs, program));
    let wanted = known.map_or("c", |(_, letters)| letters);
    // In one word several letters are options, up to the first that takes the rest as its value.
    let mut letters = option.chars().skip(1).take_while(|letter| !"WXD".contains(*letter));
    let has_letter = !option.starts_with("--") && letters.any(|letter| wanted.contains(letter));
    WORDS.contains(&name) || has_letter
}

fn is_one_of(list: &[&str], program: &str) -> bool {
    let name = base(program);
    list.contains(&name)
        || list.contains(&name.trim_end_matches(|c: char| ".0123456789".contains(c)))
}

/// The last part of a path.
fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The programs that run code which their arguments or the project name.
#[cfg(test)]
pub(super) fn handing_over() -> impl Iterator<Item = &'static str> {
    [OF_PROJECT, INTERPRETERS, RUNNERS].into_iter().flatten().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_that_name_code_are_told_from_those_that_do_not() {
        let check = |line: &str, expected: usize| {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            let is_file = |word: &str| word.ends_with(".here");
            assert_eq!(naming_code(&words, &is_file), expected, "{line}");
        };
        check("", 0);
        check("/opt/server --token t", 1);
        check("node server.js --token t", 2);
        check("python3 -u -m server x", 4);
        check("node --no-warnings", 2);
        check("npx -y @a/b --token t", 3);
        check("env A=1 node --no-warnings server.js t", 5);
        check("timeout 5 /opt/server t", 4);
        check("python3 -X utf8 server.py --token t", 4);
        check("python3 -u server.here --token t", 3);
        check("node --env-file .env.here server.js t", 4);
        check("node --import tsx server.js t", 4);
        check("node --max-old-space-size 100 server.js t", 4);
        check("deno run -A server.ts t", 4);
        check("bun run server.ts t", 3);
        check("pipx run package t", 3);
        check("pnpm dlx package t", 3);
        check("npm exec -- package t", 4);
        check("uvx --python 3.12 package t", 4);
        check("docker run -i --rm -e TOKEN image t", 7);
        check("docker run -v a:b image t", 5);
        check("sh -c text script t", 5);
        check("python3 -c text script", 4);
        check("python3 -um server t", 3);
    }

    #[test]
    fn what_the_directory_decides_is_told_from_what_it_does_not() {
        let follows = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            follows_directory(&words)
        };
        for line in [
            "python3 -m server",
            "python3.12 -mserver",
            "python3 -um server",
            "python -c import\u{a0}x",
            "/usr/bin/python3 server.py /data",
            "python3 -I -m server",
            "node server.js",
            "node",
            "node --require=./x.js /opt/server.js",
            "node -r /opt/x.js /opt/server.js",
            "node --import ./x.js /opt/server.js",
            "sh -c /opt/x",
            "bash -ec x",
            "perl -Mx /opt/x.pl",
            "perl -I lib /opt/x.pl",
            "php -r x",
            "bun /opt/x.ts",
            "deno run /opt/x.ts",
            "java Main",
            "java -cp /opt Main",
            "env python3 -m server",
            "env -S python3\t-m\tserver",
            "timeout 5 nice node server.js",
        ] {
            assert!(follows(line), "{line}");
        }
        for line in [
            "server",
            "/opt/server -m x",
            "python3 /opt/server.py -m x",
            "python3 -u /opt/server.py",
            "python3 -B -E /opt/server.py docs",
            "node --no-warnings /opt/server.js",
            "node --max-old-space-size=100 /opt/server.js",
            "java -server -Xmx1g -jar /opt/server.jar",
            "python3 -I -Xdev /opt/server.py",
            "sh -e /opt/server.sh",
            "sh /opt/server.sh x",
            "env A=1 node /opt/server.js",
            "timeout 5 /opt/server",
            "npx -y server",
            "",
        ] {
            assert!(!follows(line), "{line}");
        }
    }
}
