//! What a command line runs, as far as that can be told without running it.
//!
//! A rule that allows a command is about its very words. One that denies a command has to see
//! through other ways to write it: another path to the same file, a program that starts another, a
//! shell, a package runner. That catches what people do; it cannot catch who wants to get around it
//! (a copy of the program, a script, a variable of the shell): for that there are rules that allow.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::package::{is_package, packages};
use crate::config::StdioEndpoint;
use crate::config::program::{follows_directory, is_interpreter, is_wrapper};

/// Programs that are many, and tell by the name that they are started under which one to be.
const MANY: &[&str] =
    &["asdf", "busybox", "coreutils", "mise", "proto-shim", "rustup", "toybox", "volta-shim"];
/// Where programs are looked for when there is no `PATH`, and those of a rule also when there is.
const USUAL: &str = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";
/// How deep programs that start programs are looked into.
const DEPTH: usize = 8;
/// How many words of a text are looked for as files.
const WORDS: usize = 256;

/// A command to be started, and where its words lead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Command {
    /// The program and its arguments.
    pub(super) words: Vec<String>,
    /// The working directory.
    cwd: PathBuf,
    /// The directories that programs are looked for in.
    path: OsString,
}

/// A file, whatever it is called.
#[derive(Debug, Clone)]
struct File {
    /// Its device and its number there.
    id: (u64, u64),
    /// Its name without links.
    name: String,
}

impl Command {
    /// The command that an endpoint starts.
    pub(super) fn of(endpoint: &StdioEndpoint) -> Command {
        let program = endpoint.program.to_string_lossy().into_owned();
        let mut variables = endpoint.environment.iter();
        let path = variables.find_map(|(name, value)| (name == "PATH").then(|| value.to_owned()));
        Command {
            words: [vec![program], endpoint.args.clone()].concat(),
            cwd: endpoint.cwd.clone().unwrap_or_default(),
            path: path.unwrap_or_else(|| USUAL.into()),
        }
    }

    /// Whether the directory that it runs in decides which code that is.
    pub(super) fn follows_directory(&self) -> bool {
        follows_directory(&self.words)
    }

    /// Whether it has a package run, which looks for settings, and for the package itself, in the
    /// directory that it runs in.
    pub(super) fn runs_package(&self) -> bool {
        packages(&self.words).is_some()
    }

    /// Whether it runs in that directory.
    pub(super) fn is_in(&self, directory: &Path) -> bool {
        let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        real(&self.cwd) == real(directory)
    }

    /// Whether its words are those of a rule. A rule that ends in `*` leaves the rest open.
    pub(super) fn is(&self, rule: &[String]) -> bool {
        match rule.split_last() {
            Some((last, beginning)) if last == "*" => self.words.starts_with(beginning),
            _ => rule == self.words,
        }
    }

    /// Whether it runs the command of a rule, as far as can be seen.
    pub(super) fn runs(&self, rule: &[String]) -> bool {
        self.is(rule) || Search { command: self, rule }.at(&self.words, DEPTH)
    }

    /// The file that a program is, when it is started by that name.
    fn file(&self, program: &str, path: &OsString) -> Option<File> {
        let found = match program.contains('/') {
            true => self.cwd.join(program),
            false => {
                let directories = std::env::split_paths(path);
                let mut files = directories.map(|directory| self.cwd.join(directory).join(program));
                files.find(|file| file.is_file())?
            }
        };
        let real = fs::canonicalize(found).ok()?;
        let metadata = real.metadata().ok()?;
        let name = base(real.to_str()?).to_owned();
        Some(File { id: (metadata.dev(), metadata.ino()), name })
    }
}

/// A search for a command of a rule.
struct Search<'a> {
    command: &'a Command,
    rule: &'a [String],
}

impl Search<'_> {
    /// Whether these words run it.
    fn at(&self, words: &[String], depth: usize) -> bool {
        let Some((program, args)) = words.split_first() else { return false };
        if self.is_rule(program, args) || self.is_package_of_rule(words) {
            return true;
        }
        let Some(depth) = depth.checked_sub(1) else { return true };
        let names = self.names(program);
        if names.contains("env") && env_hides(args) {
            return true;
        }
        if names.iter().any(|name| is_interpreter(name)) {
            return self.is_in_text(&args.join(" "));
        }
        let starts = names.iter().any(|name| is_wrapper(name) || name.starts_with("ld-linux"));
        starts && (1..words.len()).any(|from| self.at_argument(&words[from..], depth))
    }

    /// Whether the arguments of a program that starts others run it, from one on.
    fn at_argument(&self, words: &[String], depth: usize) -> bool {
        let Some((first, rest)) = words.split_first() else { return false };
        // `env -S "K=V program"`
        let text = first.strip_prefix("--split-string=").or_else(|| first.strip_prefix("-S"));
        let split = |text: &str| -> Vec<String> {
            let words = text.split_ascii_whitespace().map(str::to_owned);
            words.chain(rest.iter().cloned()).collect()
        };
        let (words, is_split) = match text {
            Some(text) => (split(text), true),
            None if first.contains(' ') => (split(first), true),
            None => (words.to_vec(), false),
        };
        let begins = |from: &usize| !words[*from].starts_with('-');
        let last = if is_split { words.len() } else { words.len().min(1) };
        (0..last).filter(begins).any(|from| self.at(&words[from..], depth))
    }

    fn is_rule(&self, program: &str, args: &[String]) -> bool {
        let fits = match self.rule.get(1..).unwrap_or_default().split_last() {
            Some((last, beginning)) if last == "*" => args.starts_with(beginning),
            Some(_) => self.rule[1..] == *args,
            None => args.is_empty(),
        };
        fits && self.is_program(program)
    }

    /// Whether a program is that of the rule: by its name, if the rule has no path, or by its file.
    fn is_program(&self, program: &str) -> bool {
        let Some(wanted) = self.rule.first() else { return false };
        let has_name = !wanted.contains('/') && self.names(program).contains(wanted.as_str());
        has_name || wanted == program || self.is_file_of_rule(program)
    }

    fn is_file_of_rule(&self, program: &str) -> bool {
        let Some(wanted) = self.rule.first() else { return false };
        let Some(file) = self.command.file(program, &self.command.path) else { return false };
        let places = [self.command.path.clone(), USUAL.into()];
        let is_same = |path: &OsString| {
            self.command.file(wanted, path).is_some_and(|wanted| wanted.id == file.id)
        };
        // One file that is many programs is told apart by the names.
        let is_many = MANY.contains(&file.name.as_str()) && base(wanted) != file.name;
        places.iter().any(is_same) && (!is_many || base(wanted) == base(program))
    }

    /// The names of a program: as it is written, and of its file.
    fn names(&self, program: &str) -> BTreeSet<String> {
        let file = self.command.file(program, &self.command.path);
        [base(program).to_owned()].into_iter().chain(file.map(|file| file.name)).collect()
    }

    fn is_package_of_rule(&self, words: &[String]) -> bool {
        let Some((kind, wanted)) = packages(self.rule) else { return false };
        let Some(wanted) = wanted.first() else { return false };
        packages(words).is_some_and(|(other, names)| {
            kind == other && names.iter().any(|name| is_package(kind, wanted, name))
        })
    }

    /// Whether the text of a shell has the words of the rule in it.
    fn is_in_text(&self, text: &str) -> bool {
        let bare: String = text.chars().filter(|c| !matches!(c, '\'' | '"' | '\\')).collect();
        [text, &bare].into_iter().any(|text| {
            let is_word = |c: char| c.is_alphanumeric() || "_./+@:%~,-".contains(c);
            let words = text.split(|c: char| !is_word(c)).filter(|word| !word.is_empty());
            let words: Vec<String> = words.map(str::to_owned).collect();
            let distinct: BTreeSet<&String> = words.iter().collect();
            let is_meant = |word: &&String| self.is_program(word);
            let has_program = distinct.iter().copied().take(WORDS).any(|word| is_meant(&word));
            let rest = self.rule.iter().skip(1).filter(|word| *word != "*");
            let has_rest = rest.clone().all(|word| distinct.contains(word));
            let has_package =
                (0..words.len().min(WORDS)).any(|from| self.is_package_of_rule(&words[from..]));
            has_program && has_rest || has_package
        })
    }
}

/// Whether `env` is asked to make a command that cannot be told from its words: by rules of its own
/// for quotes, in another directory, or with another `PATH`. No rule that denies lets that pass.
fn env_hides(args: &[String]) -> bool {
    const ITS_OWN: [char; 4] = ['\'', '"', '\\', '$'];
    let is_before_program =
        |word: &&String| word.starts_with('-') || word.contains([' ', '=', '\'', '"', '\\']);
    args.iter().take_while(is_before_program).any(|word| {
        let text = word.strip_prefix("--split-string=").or_else(|| word.strip_prefix("-S"));
        match text {
            Some(text) => text.contains(ITS_OWN),
            None if word.starts_with("--") => word.starts_with("--s") || word.starts_with("--c"),
            None if word.starts_with('-') => word.contains(['S', 'C']),
            // What follows an option is its value, or the program where it has a quote in it.
            None => word.starts_with("PATH=") || !word.contains('=') && word.contains(ITS_OWN),
        }
    })
}

/// The last part of a path.
fn base(path: &str) -> &str {
    Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or(path)
}
