//! From the words of the command line to what was asked for.
//!
//! ```text
//! words → normalise → Globals + Command (argh) → checks → Invocation → Settings
//! ```
//!
//! Nothing is looked up here: no file, no server, and the environment only in [`Settings`].

pub mod access;
pub mod choices;
pub mod commands;
pub mod config_commands;
pub mod discovery_commands;
pub mod doctor_command;
pub mod globals;
pub mod keyword;
pub mod login_commands;
pub mod many;
pub mod normalise;
pub mod numbers;
pub mod policy_commands;
pub mod primitives;
mod readers;
mod schema_use;
pub mod settings;
pub mod shell_commands;
pub mod skill_commands;
pub mod stop;
pub mod table;
pub mod trace_file;
pub mod trust_commands;
pub mod usage;
pub mod values;

#[cfg(test)]
mod tests;

use std::ffi::OsString;

use argh::{ArgsInfo, CommandInfoWithArgs, EarlyExit, FromArgs, Optionality};

pub use access::Access;
pub use choices::Format;
pub use commands::Command;
pub use globals::Globals;
pub use settings::Settings;
pub use stop::{Stop, Why};
pub use usage::UsageError;

use super::help::Page;
use normalise::{Given, Normal, Wanted, normalise};
use table::{Table, synopsis};

/// The word for which the version is printed.
const VERSION: &str = "--version";

/// A command and how it is to be carried out.
#[derive(Debug, Clone, PartialEq)]
pub struct Invocation {
    /// The options that every command takes.
    pub globals: Globals,
    /// Those of them that are about tokens.
    pub access: Access,
    /// The command.
    pub command: Command,
    /// For `call`, the words after `--`: the tool's arguments as flags. For `add`, the command.
    pub tail: Vec<String>,
}

/// Reads a command line, the program's name not among its words.
///
/// # Errors
/// Stops when the words ask for help or for the version, or make no sense.
pub fn parse(words: Vec<OsString>) -> Result<Box<Invocation>, Stop> {
    // How scripts find out whether the program is there. It needs no table of all there is.
    if words == [VERSION] {
        return Err(Stop::new(Why::Version, &[]));
    }
    understand_words(words)
}

// In a function of its own, it takes stack only while it runs.
#[inline(never)]
fn understand_words(words: Vec<OsString>) -> Result<Box<Invocation>, Stop> {
    let table = Table::default();
    let not_utf8 = words.iter().enumerate().find(|(_, word)| word.to_str().is_none());
    let not_utf8 = not_utf8.map(|(index, word)| UsageError::NotUtf8 {
        position: index + 1,
        shown: word.to_string_lossy().into_owned(),
    });
    let words = words.into_iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let (normal, mistake) = normalise(words, &table);
    let mistake = match not_utf8 {
        Some(not_utf8) if mistake.is_some() || !matches!(normal.wanted, Wanted::Help(_)) => {
            Some(not_utf8)
        }
        _ => mistake,
    };
    let outcome = match mistake {
        Some(mistake) => Err(Why::Usage(mistake)),
        None => understand(&normal, &table),
    };
    outcome.map_err(|why| Stop::new(why, &normal.globals))
}

fn understand(normal: &Normal, table: &Table) -> Result<Box<Invocation>, Why> {
    if let Wanted::Help(subject) = &normal.wanted {
        // Help does not depend on the options, so their values may be wrong.
        let page = Page::about(subject.as_deref(), table).map_err(Why::Usage)?;
        return Err(Why::Help(page));
    }
    let (globals, access) = parse_globals(&normal.globals).map_err(Why::Usage)?;
    // Whatever command is with it, like that for help.
    if globals.version {
        return Err(Why::Version);
    }
    let Wanted::Command(name) = normal.wanted else {
        return Err(Why::Usage(UsageError::NoCommand));
    };
    let info = table.command(name).expect("a wanted command is in the table");
    let command = parse_command(&info, normal).map_err(Why::Usage)?;
    check(&globals, &access, &command).map_err(Why::Usage)?;
    Ok(Box::new(Invocation { globals, access, command, tail: normal.tail.clone() }))
}

fn parse_globals(given: &[Given]) -> Result<(Globals, Access), UsageError> {
    let flags = Access::get_args_info().flags;
    let is_access = |given: &&Given| flags.iter().any(|flag| flag.long == given.flag);
    let (access, globals): (Vec<&Given>, Vec<&Given>) = given.iter().partition(is_access);
    Ok((parse_options(&globals)?, parse_options(&access)?))
}

fn parse_options<T: FromArgs + Default>(given: &[&Given]) -> Result<T, UsageError> {
    if given.is_empty() {
        // argh has a place for every option there is, and fills them all first.
        return Ok(T::default());
    }
    let words: Vec<&str> = given.iter().flat_map(|given| given.words()).collect();
    T::from_args(&["mcpmini"], &words).map_err(|exit| explain(exit, given.iter().copied()))
}

fn parse_command(info: &CommandInfoWithArgs, normal: &Normal) -> Result<Command, UsageError> {
    check_words(info, &normal.words)?;
    let mut words: Vec<&str> = normal.options.iter().flat_map(Given::words).collect();
    // After `--` argh takes a word as it is, even if it is `help` or begins with a dash.
    words.push("--");
    words.extend(normal.words.iter().map(String::as_str));
    Command::from_args(&["mcpmini", info.name], &words).map_err(|exit| {
        explain_word(&exit, info, &normal.words)
            .unwrap_or_else(|| explain(exit, normal.options.iter()))
    })
}

/// Whether the number of words is right. argh would tell too, but not what the words mean.
fn check_words(info: &CommandInfoWithArgs, words: &[String]) -> Result<(), UsageError> {
    let (command, synopsis) = (info.name, synopsis(info));
    let missing = info.positionals.get(words.len());
    if let Some(missing) = missing.filter(|word| word.optionality == Optionality::Required) {
        return Err(UsageError::MissingWord { command, name: missing.name, synopsis });
    }
    let takes_more = info.positionals.last().is_some_and(|last| {
        matches!(last.optionality, Optionality::Repeating | Optionality::Greedy)
    });
    match words.get(info.positionals.len()) {
        Some(word) if !takes_more => {
            Err(UsageError::ExtraWord { command, word: word.clone(), synopsis })
        }
        _ => Ok(()),
    }
}

/// What argh has to say about a word, if that is what it does not like.
fn explain_word(
    exit: &EarlyExit,
    info: &CommandInfoWithArgs,
    words: &[String],
) -> Option<UsageError> {
    // argh names the field, which is not what people know the word by.
    let (_, told) =
        exit.output.strip_prefix("Error parsing positional argument '")?.split_once('\'')?;
    info.positionals.iter().zip(words).find_map(|(positional, word)| {
        let reason = told.strip_prefix(&format!(" with value '{word}': "))?.trim_end().to_owned();
        Some(UsageError::Value { flag: positional.name, reason })
    })
}

/// What argh has to say about a value, without the value: it may be a secret.
fn explain<'a>(exit: EarlyExit, given: impl Iterator<Item = &'a Given>) -> UsageError {
    for Given { flag, value } in given {
        let Some(value) = value else { continue };
        let beginning = format!("Error parsing option '{flag}' with value '{value}': ");
        if let Some(reason) = exit.output.strip_prefix(&beginning) {
            return UsageError::Value { flag, reason: reason.trim_end().to_owned() };
        }
    }
    UsageError::Other(exit.output.trim_end().to_owned())
}

/// Whether the options go together, and with the command.
fn check(globals: &Globals, access: &Access, command: &Command) -> Result<(), UsageError> {
    let authorizes = |name: &str| name.eq_ignore_ascii_case("authorization");
    let has_authorization = globals.header.iter().any(|header| authorizes(&header.name));
    let bearers = [
        ("--bearer-file", globals.bearer_file.is_some()),
        ("--bearer-command", globals.bearer_command.is_some()),
        ("--header Authorization", has_authorization),
    ];
    let bearers = bearers.iter().filter(|(_, given)| *given).map(|(flag, _)| *flag);
    if let (Some(several), Some(flag)) =
        (command.several(), bearers.clone().chain(access.credential()).next())
    {
        return Err(UsageError::Contradiction(flag, several));
    }
    // Whoever gives a token does not say how to get one.
    let mut sources = bearers.chain(access.given());
    if let (Some(one), Some(other)) = (sources.next(), sources.next()) {
        return Err(UsageError::Contradiction(one, other));
    }
    if access.assertion_file.is_some() && access.assertion_command.is_some() {
        return Err(UsageError::Contradiction("--assertion-file", "--assertion-command"));
    }
    let about_key = [
        ("--client-key-id", access.client_key_id.is_some()),
        ("--client-key-alg", access.client_key_alg.is_some()),
    ];
    let lonely = about_key.iter().find(|(_, given)| *given && access.client_key.is_none());
    if let Some((flag, _)) = lonely {
        return Err(UsageError::Lonely { flag, needs: "--client-key" });
    }
    if globals.sample.is_some() && globals.sampling_command.is_some() {
        return Err(UsageError::Contradiction("--sample", "--sampling-command"));
    }
    if globals.key.is_some() && globals.cert.is_none() {
        return Err(UsageError::Lonely { flag: "--key", needs: "--cert" });
    }
    command.check(globals)?;
    match globals.output {
        Some(format) if !command.formats().contains(&format) => Err(UsageError::Format {
            command: command.name(),
            format: format.word(),
            has: command.formats().iter().map(|format| format.word()).collect(),
        }),
        _ => Ok(()),
    }
}

impl Given {
    /// The words that argh reads it from.
    fn words(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.flag).chain(self.value.as_deref())
    }
}
