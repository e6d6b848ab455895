//! What may stand at the cursor.
//!
//! It is found in the table of commands and options, in the configuration, and in what is stored
//! from earlier runs. No server is started or asked, and no command of the configuration is run.

use super::candidate::{Candidate, Offer};
use super::stored;
use super::typed::Typed;
use super::values;
use crate::cli::args::commands::WITH_TAIL;
use crate::cli::args::table::{Flag, Table};
use crate::cli::config::reached;
use crate::cli::help;
use crate::config;
use crate::env::Env;

/// What may stand in the place of `current` after these words, the program's name not among them.
pub(super) fn offer(words: &[String], current: &str, env: &Env) -> Offer {
    let table = Table::collect();
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
    let commands = table.commands.iter();
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
