//! Programs that run what their arguments name, or what lies in the directory that they run in.
//!
//! No list of them is complete; these are those that servers are started with.

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
fn is_wrapper(program: &str) -> bool {
    WRAPPERS.contains(&base(program))
}

/// Whether a program is a shell or an interpreter. `python3.12` is `python`.
pub fn is_interpreter(program: &str) -> bool {
    is_one_of(INTERPRETERS, program)
}

/// Programs that run the package that their first plain word names.
const RUNNERS: &[&str] = &["bunx", "npx", "pipx", "pnpx", "uvx"];

/// How many words of a command, from the first on, say which code it runs: the program, and of an
/// interpreter, or of what runs packages, all up to the first plain word. Of a wrapper they are those up
/// to that word of the interpreter in it, or all.
pub fn naming_code(command: &[String]) -> usize {
    let Some((program, args)) = command.split_first() else { return 0 };
    if is_wrapper(program) {
        let inner = args.iter().position(|word| is_interpreter(word) || is_runner(word));
        return inner.map_or(command.len(), |at| 1 + at + naming_code(&args[at..]));
    }
    match is_interpreter(program) || is_runner(program) {
        true => {
            args.iter().position(|word| !word.starts_with('-')).map_or(command.len(), |at| at + 2)
        }
        false => 1,
    }
}

fn is_runner(program: &str) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_that_name_code_are_told_from_those_that_do_not() {
        let check = |line: &str, expected: usize| {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            assert_eq!(naming_code(&words), expected, "{line}");
        };
        check("", 0);
        check("/opt/server --token t", 1);
        check("node server.js --token t", 2);
        check("python3 -u -m server x", 4);
        check("node --no-warnings", 2);
        check("npx -y @a/b --token t", 3);
        check("env A=1 node --no-warnings server.js t", 5);
        check("timeout 5 /opt/server t", 4);
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
