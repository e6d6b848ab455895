//! What a command line runs, as far as that can be told without running it.
//!
//! A rule that allows a command is about its very words. One that denies a command has to see
//! through other ways to write it, and which programs start others nobody can list. So a program
//! that is denied is denied wherever it is named: as an argument, in the text of a script, in a
//! variable that is set for the command, by whatever path or link. That refuses rather too much than
//! too little; it cannot see a copy of the program, nor what a script puts together. For who must be
//! sure there are rules that allow. Of a package that is fetched from a place nobody can tell which one
//! it is, so where one is denied it is taken for that.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::host::hosts_in;
use super::package::{
    Kind, base, engines, is_engine, is_of_open_image, is_package, is_program_of_package, nameless,
    names, packages, with_blanks, without_quotes,
};
use crate::config::StdioEndpoint;
use crate::config::program::{follows_directory, follows_project};

/// Programs that are many, and tell by the name that they are started under which one to be.
pub(in crate::trust) const MANY: &[&str] =
    &["asdf", "busybox", "coreutils", "mise", "proto-shim", "rustup", "toybox", "volta-shim"];
/// Where programs are looked for when there is no `PATH`, and those of a rule also when there is.
pub(in crate::trust) const USUAL: &str =
    "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";
/// How many places are looked at for the words of a command. What has more hides something.
const PLACES: usize = 100_000;

/// A command to be started, and where its words lead.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Command {
    /// The program and its arguments.
    pub(super) words: Vec<String>,
    /// What the variables are that were set for it. Some may be secrets.
    variables: Vec<String>,
    /// The working directory.
    cwd: PathBuf,
    /// The directories that programs are looked for in.
    path: OsString,
}

impl std::fmt::Debug for Command {
    /// Without the variables.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(&self.words).finish()
    }
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
        let text = |value: &OsStr| value.to_string_lossy().into_owned();
        let program = text(&endpoint.program);
        let mut variables = endpoint.environment.iter();
        let path = variables.find_map(|(name, value)| (name == "PATH").then(|| value.to_owned()));
        Command {
            words: [vec![program], endpoint.args.clone()].concat(),
            variables: endpoint.environment.own().map(|(_, value)| text(value)).collect(),
            cwd: endpoint.cwd.clone().unwrap_or_default(),
            path: path.unwrap_or_else(|| USUAL.into()),
        }
    }

    /// Whether the directory that it runs in decides which code that is.
    pub(super) fn follows_directory(&self) -> bool {
        follows_directory(&self.words) || follows_project(&self.words)
    }

    /// The hosts of the URLs that its words and the variables that were set for it have: what is behind
    /// `mcp-remote URL` is a server as well.
    pub(super) fn hosts(&self) -> Vec<String> {
        self.words.iter().chain(&self.variables).flat_map(|word| hosts_in(word)).collect()
    }

    /// What nobody can tell from its words, if there is something: which image a tag means today.
    pub(super) fn caveat(&self) -> Option<&'static str> {
        is_of_open_image(&self.words).then_some(
            "its words do not say which image runs, but what a tag means today; \
             NAME@sha256:… would say it",
        )
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

    /// Whether it runs the command of a rule, as far as can be seen: the words are the rule's, or the
    /// rule's program is named behind another one, with all that the rule says beside it; or nobody can
    /// tell which package it runs.
    pub(super) fn runs(&self, rule: &[String]) -> bool {
        self.runs_by_name(rule) || self.nameless(rule).is_some()
    }

    /// From where it has a package fetched that may be the one that a rule is about, if nothing else says
    /// that it runs that: a place is no name.
    pub(super) fn why_not_told(&self, rule: &[String]) -> Option<String> {
        if self.runs_by_name(rule) {
            return None;
        }
        let place = self.nameless(rule)?;
        Some(format!("it runs what is at {place}, which may be any package"))
    }

    fn nameless(&self, rule: &[String]) -> Option<String> {
        let (kind, _) = packages(rule)?;
        let scripts = self.words.iter().chain(&self.variables).map(|text| {
            let text = without_quotes(text);
            text.split(|c: char| c.is_whitespace() || ";&|()`".contains(c))
                .filter(|word| !word.is_empty())
                .map(str::to_owned)
                .collect::<Vec<_>>()
        });
        // A text of one word is no command line.
        let scripts = scripts.filter(|words| 1 < words.len());
        [self.words.clone()].into_iter().chain(scripts).find_map(|words| {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            (0..words.len()).find_map(|at| {
                let (program, args) = (words[at], &words[at + 1..]);
                let file = || Some(self.file(program, &self.path)?.name);
                let by_name = nameless(kind, base(program), args);
                by_name.or_else(|| nameless(kind, &file()?, args)).map(str::to_owned)
            })
        })
    }

    fn runs_by_name(&self, rule: &[String]) -> bool {
        let Some((wanted, rest)) = rule.split_first() else { return false };
        let (program, args) = self.words.split_first().expect("a command has a program");
        let texts = || args.iter().chain(&self.variables);
        let words: BTreeSet<String> = texts().flat_map(|text| words(text)).collect();
        let search = Search::new(self, wanted, &words);
        if search.is_endless() || self.runs_package(rule, &search, &words) {
            return true;
        }
        let has = |rest: &[String]| rest.iter().all(|word| words.contains(word));
        let (is_meant, rest) = match rest.split_last() {
            Some((last, rest)) if last == "*" => (has(rest), rest),
            _ => (rest == args, rest),
        };
        is_meant && search.is_program(program)
            || has(rest) && words.iter().any(|word| search.is_program(word))
    }

    /// Whether it may run the package or image that a rule has run: it names that, and something
    /// that runs such. `words` are those of its arguments and variables.
    fn runs_package(&self, rule: &[String], search: &Search<'_>, words: &BTreeSet<String>) -> bool {
        let Some((kind, wanted)) = packages(rule) else { return false };
        // Of the words for an image each may be it.
        let count = if kind == Kind::Image { wanted.len() } else { 1 };
        let is_wanted =
            |name: &String| wanted.iter().take(count).any(|wanted| is_package(kind, wanted, name));
        let named = self.words.iter().enumerate();
        let named = named.filter(|(at, _)| !is_program_of_package(kind, &self.words, *at));
        let mut texts = named.map(|(_, word)| word).chain(&self.variables);
        if !texts.any(|text| names(text).iter().any(is_wanted)) {
            return false;
        }
        let files: Vec<File> =
            engines(kind).iter().filter_map(|name| self.file(name, &self.path)).collect();
        let is_engine = |word: &String| {
            let is_same = |file: File| files.iter().any(|engine| engine.id == file.id);
            is_engine(kind, base(word)) || search.files_of(word).into_iter().any(is_same)
        };
        self.words.iter().chain(words).any(is_engine)
    }

    /// The file that a program is, when it is started by that name.
    fn file(&self, program: &str, path: &OsStr) -> Option<File> {
        match program.contains('/') {
            true => File::at(&self.cwd.join(program)),
            false => std::env::split_paths(path)
                .find_map(|directory| File::at(&self.cwd.join(directory).join(program))),
        }
    }
}

impl File {
    /// What is at a path, and no directory.
    fn at(path: &Path) -> Option<File> {
        let real = fs::canonicalize(path).ok()?;
        let metadata = real.metadata().ok().filter(|metadata| !metadata.is_dir())?;
        let name = base(real.to_str()?).to_owned();
        Some(File { id: (metadata.dev(), metadata.ino()), name })
    }
}

/// A search for the program of a rule in the words of a command.
struct Search<'a> {
    command: &'a Command,
    /// The program, as the rule has it.
    wanted: &'a str,
    /// What that is, with the command's `PATH` and with the usual one.
    files: Vec<File>,
    /// The directories that the command names, and may look for programs in or go to.
    directories: Vec<PathBuf>,
    /// How many places there are to look at.
    places: usize,
}

impl<'a> Search<'a> {
    fn new(command: &'a Command, wanted: &'a str, words: &BTreeSet<String>) -> Search<'a> {
        let paths = [&command.path, OsStr::new(USUAL)];
        let files = paths.into_iter().filter_map(|path| command.file(wanted, path)).collect();
        let named = words.iter().map(|word| command.cwd.join(word));
        let directories: Vec<PathBuf> = named.filter(|path| path.is_dir()).collect();
        let places =
            words.len() * (directories.len() + std::env::split_paths(&command.path).count());
        Search { command, wanted, files, directories, places }
    }

    /// Whether there is more to look at than a command has that hides nothing.
    fn is_endless(&self) -> bool {
        PLACES < self.places
    }

    /// Whether a word is, or may be, the program of the rule: by its name, if the rule has no path,
    /// or by its file.
    fn is_program(&self, word: &str) -> bool {
        let has_name = base(word) == base(self.wanted);
        let files = self.files_of(word);
        let by_name = match self.wanted.contains('/') {
            // A file that is not there now is not another one.
            true => has_name && files.is_empty() && word.starts_with(['/', '.']),
            false => has_name || files.iter().any(|file| file.name == self.wanted),
        };
        let is_directory = word.contains('/') && self.command.cwd.join(word).is_dir();
        by_name && !is_directory || files.iter().any(|file| self.is_file(file, word))
    }

    fn is_file(&self, file: &File, word: &str) -> bool {
        // One file that is many programs is told apart by the names.
        let is_many = MANY.contains(&file.name.as_str()) && base(self.wanted) != file.name;
        let is_same = self.files.iter().any(|wanted| wanted.id == file.id);
        is_same && (!is_many || base(self.wanted) == base(word))
    }

    /// The files that a word may mean, in whatever directory of the command it is looked for.
    fn files_of(&self, word: &str) -> Vec<File> {
        let usual = self.command.file(word, &self.command.path);
        let named = self.directories.iter().filter_map(|it| File::at(&it.join(word)));
        usual.into_iter().chain(named).collect()
    }
}

/// The words of a text: it may be one, or a script in whatever language that has them somewhere. All
/// that is looked for in a text, programs and what runs packages, is looked for among these.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![text.to_owned()];
    let texts = [text.to_owned(), without_quotes(text), with_blanks(text)];
    for word in texts.iter().flat_map(|text| pieces(text)) {
        // `-Sprogram`, `-iSprogram`
        if word.starts_with('-') && !word.starts_with("--") {
            words.extend(word.char_indices().skip(1).map(|(at, _)| word[at..].to_owned()));
        }
        let parts = word.split(['@', ':', ',', '%', '~']).map(|part| part.trim_start_matches('+'));
        words.extend(parts.filter(|part| !part.is_empty()).map(str::to_owned));
        words.push(word.to_owned());
    }
    words
}

/// A text at all the signs that are in no name of a program or a package. URLs are left out.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let is_of_word = |c: char| c.is_alphanumeric() || "_./+@:%~,-".contains(c);
    let words = text.split(move |c: char| !is_of_word(c));
    words.filter(|word| !word.is_empty() && !word.contains("://"))
}
