//! What a command starts, in the one spelling that all commands share which start the same.
//!
//! The program is the file that it is, by whatever path or link it is named, and so is the script of an
//! interpreter. What only hands over to another program, as `env` does, is looked through. Variables
//! do not count, and the directory only where it decides which code runs. Secrets among the arguments do not
//! either: who gets a new token is who he was.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::key::Key;
use crate::config::program::{
    follows_directory, is_interpreter, is_runner, is_wrapper, naming_code,
};
use crate::config::{Digest, StdioEndpoint};
use crate::protocol::{json, mask};
use crate::trust::policy::{MANY, USUAL};

/// The directory of the records of commands that were revoked. Where there is none, none ever was.
pub(super) const FOLDER: &str = "commands";
/// What lies beside the programs of a virtual environment of Python, and makes others of the same file.
const ENVIRONMENT: &str = "pyvenv.cfg";
/// How many programs are looked for in the words of one command.
const PROGRAMS: usize = 1000;

impl Key {
    /// The keys under which it may be written down that a command is revoked; when it is, that is
    /// done under the first. They have no names: a call looks whether there is such a record, and
    /// hardly any has to say of what.
    pub fn of_command(endpoint: &StdioEndpoint) -> Vec<Key> {
        let digests = Place::of(endpoint).started(endpoint).into_iter();
        let file = |digest: Digest| format!("{FOLDER}/{}", digest.short());
        digests.map(|digest| Key { file: file(digest), name: String::new() }).collect()
    }
}

/// Where a command runs, and where it looks for programs.
struct Place<'e> {
    cwd: &'e Path,
    path: &'e OsStr,
}

impl Place<'_> {
    fn of(endpoint: &StdioEndpoint) -> Place<'_> {
        let path = endpoint.environment.iter().find(|(name, _)| *name == "PATH");
        Place {
            cwd: endpoint.cwd.as_deref().unwrap_or(Path::new("")),
            path: path.map_or(OsStr::new(USUAL), |(_, path)| path),
        }
    }

    /// The hashes of what it starts, and what that may start in turn; first of what is meant.
    fn started(&self, endpoint: &StdioEndpoint) -> Vec<Digest> {
        let program = endpoint.program.to_string_lossy().into_owned();
        let words = [vec![program], endpoint.args.clone()].concat();
        let whole = self.digest(&words);
        if !self.hands_over(&words[0]) {
            return vec![whole];
        }
        // Some take a whole command line as one word.
        let apart = words.iter().flat_map(|word| word.split_ascii_whitespace());
        let apart: Vec<String> =
            apart.map(|word| word.trim_start_matches("-S").to_owned()).collect();
        // Where the other command begins depends on the options; it begins with a program.
        let inner = [&words, &apart].into_iter().flat_map(|words| {
            let starts = (1..words.len()).filter(|at| self.is_program(&words[*at]));
            starts.map(move |at| &words[at..])
        });
        let inner: Vec<&[String]> = inner.take(PROGRAMS).collect();
        let meant = inner.iter().position(|words| !self.hands_over(&words[0])).unwrap_or_default();
        let mut digests: Vec<Digest> = inner.iter().map(|words| self.digest(words)).collect();
        digests.push(whole);
        digests.swap(0, meant);
        digests
    }

    /// Whether a program runs the command that its arguments are, by its name or by its file's.
    fn hands_over(&self, program: &str) -> bool {
        let real = self.find(program).and_then(|file| file.canonicalize().ok());
        is_wrapper(program) || real.is_some_and(|real| is_wrapper(&real.to_string_lossy()))
    }

    /// Whether a word is, or may be, the beginning of another command.
    fn is_program(&self, word: &str) -> bool {
        let is_known = is_interpreter(word) || is_runner(word);
        !word.starts_with('-') && (is_known || self.find(word).is_some())
    }

    /// The hash of a command.
    fn digest(&self, words: &[String]) -> Digest {
        let count = naming_code(words, &|word| self.cwd.join(word).is_file());
        let shown = mask::command(words.iter().map(String::as_str));
        let spelled = words.iter().zip(shown).enumerate().map(|(at, (word, shown))| match at {
            0 => self.program(word),
            _ if at < count => self.script(word),
            _ => shown.into_owned(),
        });
        let mut spelled: Vec<String> = spelled.collect();
        if follows_directory(&spelled) {
            spelled.push(real(self.cwd).display().to_string());
        }
        Digest::of(json::strings(&spelled).as_bytes())
    }

    /// A program: its file, and what else decides which program that is.
    fn program(&self, word: &str) -> String {
        let Some(found) = self.find(word) else { return word.to_owned() };
        let name = found.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let directory = real(found.parent().unwrap_or(Path::new("/")));
        if directory.parent().is_some_and(|root| root.join(ENVIRONMENT).exists()) {
            return directory.join(name).display().to_string();
        }
        let file = real(&found);
        let is_many = file.file_name().is_some_and(|file| MANY.iter().any(|many| file == *many));
        match is_many {
            true => format!("{} {name}", file.display()),
            false => file.display().to_string(),
        }
    }

    /// A word that may name a script: its file, if it is one.
    fn script(&self, word: &str) -> String {
        let path = self.cwd.join(word);
        match path.is_file() {
            true => real(&path).display().to_string(),
            false => word.to_owned(),
        }
    }

    /// The file that is started by that name.
    fn find(&self, word: &str) -> Option<PathBuf> {
        let is_executable = |path: &PathBuf| {
            let file = fs::metadata(path).ok().filter(|file| file.is_file());
            file.is_some_and(|file| file.permissions().mode() & 0o111 != 0)
        };
        match word.contains('/') {
            true => Some(self.cwd.join(word)).filter(is_executable),
            false if word.is_empty() => None,
            false => std::env::split_paths(self.path)
                .map(|directory| self.cwd.join(directory).join(word))
                .find(is_executable),
        }
    }
}

/// A path without links.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::config::{Endpoint, Overrides, expand, resolve};
    use crate::env::Env;
    use crate::store::scratch::Scratch;

    /// A home with programs, scripts, a virtual environment, and a directory to be in.
    fn home() -> Scratch {
        let scratch = Scratch::new();
        for program in ["bin/ds", "bin/python3", "bin/env", "bin/timeout", "bin/busybox", "v/bin/x"]
        {
            scratch.write(program, program);
            scratch.chmod(program, 0o755);
        }
        for script in ["fs.py", "other.py", "p/fs.py", "v/pyvenv.cfg", "w/pyvenv.cfg", "w/bin/y"] {
            scratch.write(script, script);
        }
        for (link, target) in [
            ("link", "bin/ds"),
            ("link.py", "fs.py"),
            ("bin/ls", "bin/busybox"),
            ("bin/cat", "bin/busybox"),
            ("v/bin/python", "bin/python3"),
            ("w/bin/python", "bin/python3"),
        ] {
            symlink(scratch.path(target), scratch.path(link)).unwrap();
        }
        scratch
    }

    fn digests(scratch: &Scratch, line: &str, cwd: &str) -> Vec<Digest> {
        let home = scratch.path("").display().to_string();
        let home = home.trim_end_matches('/');
        let path = format!("{home}/bin");
        let env = Env {
            cwd: Some(scratch.path(cwd)),
            variables: [("HOME", home), ("PATH", &path)].into(),
            user: rustix::process::geteuid().as_raw(),
            ..Env::default()
        };
        let none = Overrides::default();
        let line = format!("exec:{}", line.replace("DIR", home));
        let server = expand(&resolve(&line, &env, &none).unwrap(), &none, &env).unwrap();
        let Endpoint::Stdio(endpoint) = server.endpoint else { panic!("{line} is started") };
        Place::of(&endpoint).started(&endpoint)
    }

    #[test]
    fn what_starts_the_same_is_one_command() {
        let scratch = home();
        let check = |revoked: &str, same: &[&str], others: &[&str]| {
            let revoked = digests(&scratch, revoked, "")[0];
            for (lines, expected) in [(same, true), (others, false)] {
                for line in lines {
                    let is_same = digests(&scratch, line, "").contains(&revoked);
                    assert_eq!(is_same, expected, "{line}");
                }
            }
        };
        let same = [
            "DIR/bin/ds",
            "DIR/./bin/ds",
            "DIR//bin/../bin/ds",
            "./bin/ds",
            "ds",
            "./link",
            "env ./bin/ds",
            "env -i A=1 -u B ds",
            "/usr/bin/env ds",
            "timeout 5 env ds",
            "env -S 'A=1 ds'",
            "env -Sds",
        ];
        check("DIR/bin/ds", &same, &["ds x", "env ds x", "python3 fs.py", "./fs.py", "env"]);
        check("env timeout 5 ./bin/ds", &same, &["env timeout 5 ./fs.py"]);
        check(
            "python3 fs.py --token a",
            &[
                "python3 DIR/fs.py --token b",
                "DIR/bin/python3 ./p/../link.py --token c",
                "env A=1 python3 fs.py --token d",
            ],
            &[
                "python3 other.py --token a",
                "python3 p/fs.py --token a",
                "python3 fs.py",
                "python3",
            ],
        );
        // One file that is many programs, and environments that share one.
        check("ls x", &["DIR/bin/ls x"], &["cat x", "busybox x"]);
        check("v/bin/python fs.py", &["DIR/v/bin/python ./fs.py"], &["w/bin/python fs.py"]);
        check("npx -y @a/b", &["env npx -y @a/b"], &["npx -y @a/c", "npx -y @a/b x"]);
        check(
            "docker run img@sha256:1111111111111111111111111111111111111111111111111111111111111111",
            &[],
            &[
                "docker run img@sha256:2222222222222222222222222222222222222222222222222222222222222222",
            ],
        );
    }

    #[test]
    fn the_directory_counts_where_it_decides_what_runs() {
        let scratch = home();
        let is_same = |line: &str| digests(&scratch, line, "") == digests(&scratch, line, "p");
        for line in ["ds", "DIR/bin/ds x", "python3 DIR/fs.py", "npx -y @a/b .", "nobody"] {
            assert!(is_same(line), "{line}");
        }
        for line in ["python3 fs.py", "python3 -m server", "sh -c 'exec server'"] {
            assert!(!is_same(line), "{line}");
        }
    }
}
