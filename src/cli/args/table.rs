//! What words a command line may have: every flag and command, made from what argh knows of them.

use std::cell::OnceCell;

use argh::{
    ArgsInfo, CommandInfo, CommandInfoWithArgs, FlagInfo, FlagInfoKind, Optionality,
    PositionalInfo, SubCommand,
};

use super::access::Access;
use super::commands::{ALIASES, Approve, Call, Info, Ping, Rpc, Schema, Tools};
use super::config_commands::{Add, Config, Remove};
use super::discovery_commands::{Card, Discover};
use super::doctor_command::Doctor;
use super::globals::{Globals, SPELLINGS};
use super::login_commands::{Login, Logout, Token};
use super::many::{Batch, Bench, Cache, Servers, Session};
use super::policy_commands::Policy;
use super::primitives::{Complete, Find, Prompt, Prompts, Read, Resources, Task, Templates, Watch};
use super::shell_commands::{Completions, Replay};
use super::skill_commands::{Skill, Skills};
use super::trust_commands::{Lock, Trust};

/// A command before anything more than its name must be known.
struct Declared {
    command: &'static CommandInfo,
    /// Tells its options and words.
    info: fn() -> CommandInfoWithArgs,
}

/// All commands, in the order of the help text. argh tells them only together with all options of all,
/// of which a command line needs those of one.
const COMMANDS: &[Declared] = &[
    declared::<Call>(),
    declared::<Tools>(),
    declared::<Schema>(),
    declared::<Find>(),
    declared::<Resources>(),
    declared::<Templates>(),
    declared::<Read>(),
    declared::<Prompts>(),
    declared::<Prompt>(),
    declared::<Skills>(),
    declared::<Skill>(),
    declared::<Complete>(),
    declared::<Task>(),
    declared::<Info>(),
    declared::<Ping>(),
    declared::<Rpc>(),
    declared::<Batch>(),
    declared::<Bench>(),
    declared::<Session>(),
    declared::<Watch>(),
    declared::<Servers>(),
    declared::<Doctor>(),
    declared::<Cache>(),
    declared::<Approve>(),
    declared::<Trust>(),
    declared::<Lock>(),
    declared::<Policy>(),
    declared::<Login>(),
    declared::<Logout>(),
    declared::<Token>(),
    declared::<Discover>(),
    declared::<Card>(),
    declared::<Add>(),
    declared::<Remove>(),
    declared::<Config>(),
    declared::<Replay>(),
    declared::<Completions>(),
];

const fn declared<C: SubCommand + ArgsInfo>() -> Declared {
    Declared { command: C::COMMAND, info: C::get_args_info }
}

/// Everything that may stand on a command line.
///
/// It is filled when it is asked: most command lines need one command of it, and no options.
#[derive(Debug, Default)]
pub struct Table {
    commands: OnceCell<Vec<CommandInfoWithArgs>>,
    flags: OnceCell<Vec<Flag>>,
}

/// A flag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flag {
    /// Its name, with the two dashes.
    pub long: &'static str,
    /// Its letter.
    pub short: Option<char>,
    /// The name of its value; `None` for a switch.
    pub value: Option<&'static str>,
    /// Whether every occurrence counts. Of other flags the last one does.
    pub repeats: bool,
    /// What it does, for people.
    pub description: &'static str,
    /// The commands that take it; empty when every command does.
    pub commands: Vec<&'static str>,
}

/// The flag that shows help. argh answers it by itself and so has no field for it.
pub const HELP: &str = "--help";

impl Flag {
    fn new(info: &FlagInfo<'static>, command: Option<&'static str>) -> Flag {
        let is_help = info.long == HELP;
        Flag {
            long: info.long,
            short: if is_help { Some('h') } else { info.short },
            value: match info.kind {
                FlagInfoKind::Switch => None,
                FlagInfoKind::Option { arg_name } => Some(arg_name),
            },
            // argh counts or sets a switch again and again by itself.
            repeats: info.optionality == Optionality::Repeating
                || info.kind == FlagInfoKind::Switch,
            description: if is_help {
                "show help for the command and exit"
            } else {
                info.description
            },
            commands: command.into_iter().collect(),
        }
    }
}

impl Table {
    /// The commands, in the order of the help text.
    pub fn commands(&self) -> &[CommandInfoWithArgs] {
        self.commands.get_or_init(|| COMMANDS.iter().map(|declared| (declared.info)()).collect())
    }

    /// The flags, those of every command first.
    pub fn flags(&self) -> &[Flag] {
        self.flags.get_or_init(|| {
            let of_access = Access::get_args_info().flags.iter().filter(|info| info.long != HELP);
            let globals = Globals::get_args_info().flags.iter().chain(of_access);
            let mut flags: Vec<Flag> = globals.map(|info| Flag::new(info, None)).collect();
            let of_commands = flags.len();
            for command in self.commands() {
                // Every command has its own `--help` in argh's eyes; here it is one for all.
                for info in command.flags.iter().filter(|info| info.long != HELP) {
                    // A flag that several commands declare is one flag: it means the same everywhere.
                    let known = &mut flags[of_commands..];
                    match known.iter_mut().find(|flag| flag.long == info.long) {
                        Some(flag) => flag.commands.push(command.name),
                        None => flags.push(Flag::new(info, Some(command.name))),
                    }
                }
            }
            flags
        })
    }

    /// The flag of that name, written with its dashes.
    pub fn long(&self, name: &str) -> Option<&Flag> {
        let spelling = SPELLINGS.iter().find(|(other, _)| *other == name);
        let name = spelling.map_or(name, |(_, usual)| usual);
        self.flags().iter().find(|flag| flag.long == name)
    }

    /// The flag of that letter.
    pub fn short(&self, letter: char) -> Option<&Flag> {
        self.flags().iter().find(|flag| flag.short == Some(letter))
    }

    /// The command of that name, letter or other name.
    pub fn command(&self, word: &str) -> Option<CommandInfoWithArgs> {
        let alias = ALIASES.iter().find(|(other, ..)| *other == word);
        let name = alias.map_or(word, |(_, usual, _)| usual);
        let mut letters = word.chars();
        let letter = letters.next().filter(|_| letters.next().is_none());
        let found = COMMANDS.iter().find(|Declared { command, .. }| {
            command.name == name || letter.is_some() && letter == real(*command.short)
        });
        found.map(|declared| (declared.info)())
    }
}

/// The one-letter name of a command.
pub fn short_name(command: &CommandInfoWithArgs) -> Option<char> {
    real(*command.short)
}

/// argh's way to say that there is no letter is a zero.
fn real(letter: char) -> Option<char> {
    Some(letter).filter(|letter| *letter != '\0')
}

/// The words after the command as a usage line shows them: `SERVER TOOL [ARG...]`.
pub fn synopsis(command: &CommandInfoWithArgs) -> String {
    let words: Vec<String> = command.positionals.iter().map(word).collect();
    words.join(" ")
}

fn word(positional: &PositionalInfo<'static>) -> String {
    let name = positional.name;
    match positional.optionality {
        Optionality::Required => name.to_owned(),
        Optionality::Optional => format!("[{name}]"),
        // A name that tells by itself how many words there are.
        Optionality::Repeating if name.contains('[') => name.to_owned(),
        Optionality::Repeating | Optionality::Greedy => format!("[{name}...]"),
    }
}
