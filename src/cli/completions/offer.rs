//! What may stand at the cursor.
//!
//! It is found in the table of commands and options, in the configuration, and in what is stored
//! from earlier runs. No server is started or asked, and no command of the configuration is run.

use std::path::Path;

use super::stored;
use super::values;
use crate::cli::args::commands::WITH_TAIL;
use crate::cli::args::table::{Flag, Table};
use crate::cli::config::reached;
use crate::cli::help;
use crate::config::{self, Overrides};
use crate::env::Env;

/// What may stand at the cursor.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Offer {
    /// A file: that is for the shell to complete.
    Files,
    /// One of these.
    Words(Vec<Candidate>),
}

/// A word that may stand at the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    /// The whole word, without quotes.
    pub(super) word: String,
    /// Whether a blank may follow.
    pub(super) is_finished: bool,
    /// What it is; may be empty.
    pub(super) about: String,
}

impl Candidate {
    /// A word that a blank follows.
    pub(super) fn new(word: impl Into<String>, about: &str) -> Candidate {
        Candidate { word: word.into(), is_finished: true, about: about.to_owned() }
    }

    /// The beginning of a word.
    pub(super) fn part(word: impl Into<String>, about: &str) -> Candidate {
        Candidate { is_finished: false, ..Candidate::new(word, about) }
    }
}

/// The words before the cursor, sorted.
#[derive(Debug, Default)]
pub(super) struct Typed<'t> {
    /// The command, by its usual name.
    command: Option<&'t str>,
    /// The plain words after it.
    pub(super) words: Vec<&'t str>,
    /// The words after `--`, when there is one.
    pub(super) tail: Option<Vec<&'t str>>,
    /// The options that have a value, with it.
    options: Vec<(&'t str, &'t str)>,
    /// The option whose value is at the cursor.
    open: Option<&'t Flag>,
}

/// What may stand in the place of `current` after these words, the program's name not among them.
pub(super) fn offer(words: &[String], current: &str, env: &Env) -> Offer {
    let table = Table::default();
    let typed = Typed::sort(words, &table);
    let offer = at_cursor(&typed, current, &table, env);
    match offer {
        Offer::Files => Offer::Files,
        Offer::Words(mut candidates) => {
            // What cannot be typed or shown is no help.
            candidates.retain(|candidate| {
                candidate.word.starts_with(current) && !candidate.word.contains(char::is_control)
            });
            Offer::Words(candidates)
        }
    }
}

fn at_cursor(typed: &Typed<'_>, current: &str, table: &Table, env: &Env) -> Offer {
    if let Some(flag) = typed.open {
        return values::of_flag(flag, "", current);
    }
    let has_tail = typed.command.is_some_and(|command| WITH_TAIL.contains(&command));
    match &typed.tail {
        Some(_) if typed.command.is_some_and(takes_arguments) => {
            let named = typed.named(typed.command.unwrap_or_default(), table);
            return stored::options(&named, typed, current, env);
        }
        Some(_) if has_tail => return Offer::Files,
        _ => (),
    }
    if typed.tail.is_none() && current.starts_with('-') {
        return flags(typed, current, table);
    }
    match typed.command {
        None => Offer::Words(commands(table)),
        Some("help") => {
            let topics = help::topics().iter().map(|(topic, about)| Candidate::new(*topic, about));
            Offer::Words(commands(table).into_iter().chain(topics).collect())
        }
        Some(command) => word(typed, command, current, table, env),
    }
}

impl<'t> Typed<'t> {
    fn sort(words: &'t [String], table: &'t Table) -> Typed<'t> {
        let mut typed = Typed::default();
        for word in words.iter().map(String::as_str) {
            if let Some(tail) = &mut typed.tail {
                tail.push(word);
            } else if let Some(flag) = typed.open.take() {
                typed.options.push((flag.long, word));
            } else if word == "--" {
                typed.tail = Some(Vec::new());
            } else if let Some((flag, value)) = option(word, table) {
                match value {
                    Some(value) => typed.options.push((flag.long, value)),
                    None if flag.value.is_some() => typed.open = Some(flag),
                    None => (),
                }
            } else if word.starts_with('-') && word.len() > 1 {
                // Unknown, and so without a value that could be known.
            } else if typed.command.is_some() {
                typed.words.push(word);
            } else if word == "help" {
                typed.command = Some("help");
            } else {
                // After a word that is no command nothing can be known.
                let command = table.command(word).map(|command| command.name);
                typed.command = Some(command.unwrap_or_default());
            }
        }
        typed
    }

    /// The words by what the help of their command calls them.
    pub(super) fn named(&self, command: &str, table: &Table) -> Vec<(&'static str, &'t str)> {
        let positionals = table.command(command).map_or(&[][..], |info| info.positionals);
        let names = positionals.iter().map(|positional| positional.name);
        names.zip(self.words.iter().copied()).collect()
    }

    /// What the options say about the server.
    pub(super) fn overrides(&self) -> Overrides {
        let values = |long: &'static str| {
            let values = self.options.iter().filter(move |(flag, _)| *flag == long);
            values.map(|(_, value)| (*value).to_owned())
        };
        Overrides {
            config: values("--config").next_back().map(Into::into),
            args: values("--arg").collect(),
            ..Overrides::default()
        }
    }
}

/// The option that a word is, and its value if that is joined to it. Of letters in one word only
/// the last can have one.
fn option<'t>(word: &'t str, table: &'t Table) -> Option<(&'t Flag, Option<&'t str>)> {
    if word.starts_with("--") {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        return Some((table.long(name)?, value));
    }
    let letters = word.strip_prefix('-')?;
    for (at, letter) in letters.char_indices() {
        let flag = table.short(letter)?;
        let rest = &letters[at + letter.len_utf8()..];
        if flag.value.is_some() {
            let value = rest.strip_prefix('=').unwrap_or(rest);
            return Some((flag, Some(value).filter(|_| !rest.is_empty())));
        }
        if rest.is_empty() {
            return Some((flag, None));
        }
    }
    None
}

fn flags(typed: &Typed<'_>, current: &str, table: &Table) -> Offer {
    if let Some((name, value)) = current.split_once('=') {
        return match table.long(name).filter(|flag| flag.value.is_some()) {
            Some(flag) => values::of_flag(flag, &format!("{name}="), value),
            None => Offer::Words(Vec::new()),
        };
    }
    let fits = |flag: &&Flag| {
        flag.commands.is_empty()
            || typed.command.is_some_and(|command| flag.commands.contains(&command))
    };
    let flags = table.flags().iter().filter(fits);
    Offer::Words(flags.map(|flag| Candidate::new(flag.long, flag.description)).collect())
}

fn commands(table: &Table) -> Vec<Candidate> {
    let commands = table.commands().iter();
    let commands = commands.map(|command| Candidate::new(command.name, command.description));
    commands.chain([Candidate::new("help", "show help for a command or a topic")]).collect()
}

/// A plain word of a command, by what its help calls it.
fn word(typed: &Typed<'_>, command: &str, current: &str, table: &Table, env: &Env) -> Offer {
    let Some(info) = table.command(command) else { return Offer::Files };
    let place = typed.words.len().min(info.positionals.len().saturating_sub(1));
    let Some(positional) = info.positionals.get(place) else {
        return Offer::Words(Vec::new());
    };
    let named = typed.named(command, table);
    match positional.name {
        // A path is a command to be started.
        "SERVER" if current.contains('/') && !current.contains("://") => Offer::Files,
        "SERVER" => Offer::Words(servers(typed, env)),
        // The word of `tools` that is repeated.
        "SERVER [TOOL]" => match typed.words.first() {
            Some(server) => Offer::Words(stored::names(&[("SERVER", *server)], typed, env)),
            None if current.contains('/') && !current.contains("://") => Offer::Files,
            None => Offer::Words(servers(typed, env)),
        },
        "NAME" if command == "config" => match typed.words[..] {
            ["show"] => Offer::Words(servers(typed, env)),
            ["import"] => values::of_word(command, "KIND"),
            _ => Offer::Words(Vec::new()),
        },
        "NAME" if command == "prompt" => Offer::Words(stored::prompts(&named, typed, env)),
        "NAME" => Offer::Words(servers(typed, env)),
        "TOOL" => Offer::Words(stored::names(&named, typed, env)),
        "URI" => Offer::Words(stored::resources(&named, typed, env)),
        "SKILL" => Offer::Words(stored::skills(&named, typed, env)),
        "FILE" if command == "skill" => Offer::Words(stored::skill_files(&named, typed, env)),
        "ARG" if takes_arguments(command) => stored::arguments(&named, typed, current, env),
        "ARG" if command == "prompt" => stored::prompt_arguments(&named, typed, current, env),
        name => values::of_word(command, name),
    }
}

/// Whether a command takes the arguments of a tool.
fn takes_arguments(command: &str) -> bool {
    ["call", "bench"].contains(&command)
}

/// The servers of the configuration.
fn servers(typed: &Typed<'_>, env: &Env) -> Vec<Candidate> {
    let (listed, _) = config::list(env, &typed.overrides());
    let usable =
        listed.into_iter().filter(|server| !server.hidden && config::is_name(&server.name));
    let candidate = |server: config::Listed| {
        let (_, about) = reached(&server.resolved.ok()?.definition.target);
        Some(Candidate::new(server.name, &about))
    };
    usable.filter_map(candidate).collect()
}

/// The files in a directory that begin like `typed`, each after `before`.
pub(super) fn files(before: &str, typed: &str, env: &Env) -> Vec<Candidate> {
    /// More are no help.
    const LIMIT: usize = 1000;
    let (directory, name) = typed.rfind('/').map_or(("", typed), |at| typed.split_at(at + 1));
    let Ok(entries) = std::fs::read_dir(env.absolute(Path::new(directory)).join(".")) else {
        return Vec::new();
    };
    let candidate = |entry: std::fs::DirEntry| {
        let found = entry.file_name().into_string().ok()?;
        if !found.starts_with(name) || found.starts_with('.') && !name.starts_with('.') {
            return None;
        }
        let word = format!("{before}{directory}{found}");
        Some(match entry.path().is_dir() {
            true => Candidate::part(word + "/", ""),
            false => Candidate::new(word, ""),
        })
    };
    let mut found: Vec<_> = entries.flatten().filter_map(candidate).take(LIMIT).collect();
    found.sort_by(|one, other| one.word.cmp(&other.word));
    found
}
