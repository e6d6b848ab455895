//! From the words of a command line to words in one order.
//!
//! argh takes `--option value` and nothing else, wants the options of the program before the
//! command and those of the command after it, and answers `--help` in front of a command by running
//! the command with a word more. People and scripts write options anywhere, join them and give them
//! twice. So the words are sorted here first, and argh sees them in the one form it understands:
//!
//! ```text
//! call files -t5 read -jv path=x  →  --timeout 5 --output json --verbose | call | files read path=x
//! ```

use super::VERSION;
use super::commands::{ALIASES, WITH_TAIL};
use super::globals::SHORTHANDS;
use super::table::{Flag, HELP, Table};
use super::usage::UsageError;
use crate::protocol::similar::closest;

/// A command line in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Normal {
    /// The options of every command.
    pub globals: Vec<Given>,
    /// What the command line asks for.
    pub wanted: Wanted,
    /// The options of the command.
    pub options: Vec<Given>,
    /// The words after the command.
    pub words: Vec<String>,
    /// The words after `--`, when the command makes something of its own of them.
    pub tail: Vec<String>,
}

/// What a command line asks for.
#[derive(Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    /// Nothing, so far as can be seen.
    #[default]
    Nothing,
    /// A command, by its usual name.
    Command(&'static str),
    /// Help, about the command or topic that is named.
    Help(Option<String>),
}

/// An option as it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// Its name, with the two dashes.
    pub flag: &'static str,
    /// Its value; `None` for a switch.
    pub value: Option<String>,
}

/// Sorts the words of a command line, the program's name not among them.
///
/// The second part is the first mistake, if there is one; what else the words say is in the first
/// part all the same, because it tells how to report the mistake. Help is no mistake whatever
/// else is wrong.
pub fn normalise(words: Vec<String>, table: &Table) -> (Normal, Option<UsageError>) {
    let wants_help = before_tail(&words).any(|word| word == "-h" || word == HELP);
    let mut reader = Reader { table, given: Vec::new(), words: Vec::new(), mistake: None };
    let mut words = words.into_iter().peekable();
    let mut has_tail = false;
    while let Some(word) = words.next() {
        if word == "--" {
            has_tail = true;
            break;
        }
        reader.take(&word, &mut words);
    }
    let tail = if has_tail { Some(words.collect()) } else { None };
    reader.finish(tail, wants_help)
}

fn before_tail(words: &[String]) -> impl Iterator<Item = &String> {
    words.iter().take_while(|word| *word != "--")
}

type Rest = std::iter::Peekable<std::vec::IntoIter<String>>;

struct Reader<'a> {
    table: &'a Table,
    given: Vec<Given>,
    words: Vec<String>,
    mistake: Option<UsageError>,
}

impl Reader<'_> {
    /// Takes a word in front of `--`, and the next one if it is the value of an option.
    fn take(&mut self, word: &str, rest: &mut Rest) {
        if is_plain(word) {
            self.words.push(word.to_owned());
        } else if word.starts_with("--") {
            self.take_long(word, rest);
        } else {
            self.take_cluster(word, rest);
        }
    }

    /// `--flag`, `--flag value` or `--flag=value`.
    fn take_long(&mut self, word: &str, rest: &mut Rest) {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        let table = self.table;
        match table.long(name) {
            None => self.unknown(name),
            Some(flag) if flag.value.is_some() => self.take_option(flag, value, rest),
            Some(flag) if value.is_some() => {
                self.mistake(UsageError::NeedlessValue { flag: flag.long });
            }
            Some(flag) => self.push(flag, None),
        }
    }

    /// `-f`, `-fgh`, `-f value`, `-fvalue` or `-f=value`.
    fn take_cluster(&mut self, word: &str, rest: &mut Rest) {
        let mut letters = word[1..].chars();
        let table = self.table;
        while let Some(letter) = letters.next() {
            let Some(flag) = table.short(letter) else {
                return self.unknown(&format!("-{letter}"));
            };
            let glued = letters.as_str();
            if flag.value.is_some() {
                let value = glued.strip_prefix('=').or(Some(glued).filter(|text| !text.is_empty()));
                return self.take_option(flag, value, rest);
            }
            if glued.starts_with('=') {
                return self.mistake(UsageError::NeedlessValue { flag: flag.long });
            }
            self.push(flag, None);
        }
    }

    /// An option whose value is joined to it, or is the next word.
    fn take_option(&mut self, flag: &Flag, joined: Option<&str>, rest: &mut Rest) {
        if let Some(value) = joined {
            return self.push(flag, Some(value.to_owned()));
        }
        let value = flag.value.expect("only options with a value come here");
        match rest.next_if(|next| next != "--" && self.long_flag(next).is_none()) {
            Some(next) => self.push(flag, Some(next)),
            None => {
                let next = rest.peek().and_then(|next| self.long_flag(next));
                self.mistake(match next {
                    Some(next) => UsageError::FlagAsValue { flag: flag.long, next },
                    None => UsageError::NoValue { flag: flag.long, value },
                });
            }
        }
    }

    /// The long flag that a word is, with or without a value.
    fn long_flag(&self, word: &str) -> Option<&'static str> {
        let name = word.split_once('=').map_or(word, |(name, _)| name);
        self.table.long(name).map(|flag| flag.long)
    }

    fn push(&mut self, flag: &Flag, value: Option<String>) {
        let shorthand = SHORTHANDS.iter().find(|(short, ..)| *short == flag.long);
        let (name, value, repeats) = match shorthand {
            Some((_, name, value)) => (*name, Some((*value).to_owned()), false),
            None => (flag.long, value, flag.repeats),
        };
        if !repeats {
            self.given.retain(|given| given.flag != name);
        }
        self.given.push(Given { flag: name, value });
    }

    fn unknown(&mut self, given: &str) {
        let given = given.to_owned();
        // What was meant depends on the command, which may come later.
        self.mistake(UsageError::UnknownFlag { given, command: None, suggestion: None });
    }

    /// Only the first mistake counts: the others may follow from it.
    fn mistake(&mut self, mistake: UsageError) {
        self.mistake.get_or_insert(mistake);
    }

    fn finish(
        mut self,
        tail: Option<Vec<String>>,
        wants_help: bool,
    ) -> (Normal, Option<UsageError>) {
        let wants_help = wants_help || self.given.iter().any(|given| given.flag == HELP);
        self.given.retain(|given| given.flag != HELP);
        let mut words = std::mem::take(&mut self.words).into_iter();
        let word = words.next();
        let mut normal = Normal { words: words.collect(), ..Normal::default() };
        match word.as_deref() {
            Some("help") => {
                if let Some(word) = normal.words.get(1) {
                    let synopsis = "[COMMAND]".into();
                    let word = word.clone();
                    self.mistake(UsageError::ExtraWord { command: "help", word, synopsis });
                }
                normal.wanted = Wanted::Help(normal.words.first().cloned());
            }
            word if wants_help => normal.wanted = Wanted::Help(word.map(str::to_owned)),
            Some(word) => self.find_command(word, &mut normal),
            None => {}
        }
        match (&normal.wanted, tail) {
            (Wanted::Command(name), Some(tail)) if WITH_TAIL.contains(name) => normal.tail = tail,
            (_, tail) => normal.words.extend(tail.into_iter().flatten()),
        }
        self.read_as_schema(&normal);
        self.sort(&mut normal);
        self.explain(&normal);
        (normal, if wants_help { None } else { self.mistake })
    }

    fn find_command(&mut self, word: &str, normal: &mut Normal) {
        match self.table.command(word) {
            Some(command) => {
                normal.wanted = Wanted::Command(command.name);
                let implied = ALIASES.iter().find(|(alias, ..)| *alias == word);
                if let Some((.., Some(first))) = implied {
                    normal.words.insert(0, (*first).to_owned());
                }
            }
            None => {
                let names = self.table.commands().iter().map(|command| command.name);
                let suggestion = closest(word, names.chain(["help", VERSION]));
                let given = word.to_owned();
                self.mistake(UsageError::UnknownCommand { given, suggestion });
            }
        }
    }

    /// `schema … --output`, without a form: the schema of the output is wanted.
    fn read_as_schema(&mut self, normal: &Normal) {
        let lacks_form = matches!(
            self.mistake,
            Some(
                UsageError::NoValue { flag: "--output", .. }
                    | UsageError::FlagAsValue { flag: "--output", .. }
            )
        );
        if lacks_form && normal.wanted == Wanted::Command("schema") {
            self.mistake = None;
            self.given.push(Given { flag: "--output-schema", value: None });
        }
    }

    /// Tells the options of every command from those of this one and those of others.
    fn sort(&mut self, normal: &mut Normal) {
        for given in std::mem::take(&mut self.given) {
            let flag = self.table.long(given.flag).expect("what was given is in the table");
            match normal.wanted {
                _ if flag.commands.is_empty() => normal.globals.push(given),
                Wanted::Command(command) if !flag.commands.contains(&command) => {
                    let (flag, commands) = (flag.long, flag.commands.clone());
                    self.mistake(UsageError::FlagOfOthers { flag, commands, command });
                }
                _ => normal.options.push(given),
            }
        }
    }

    /// Adds to an unknown flag which command it was for and what it may have been.
    fn explain(&mut self, normal: &Normal) {
        let Some(UsageError::UnknownFlag { given, command, suggestion }) = &mut self.mistake else {
            return;
        };
        *command = match normal.wanted {
            Wanted::Command(name) => Some(name),
            _ => None,
        };
        let takes = |flag: &&Flag| match *command {
            Some(name) => flag.commands.is_empty() || flag.commands.contains(&name),
            None => true,
        };
        // For a letter there is nothing to be near to.
        if given.starts_with("--") {
            let names = self.table.flags().iter().filter(takes).map(|flag| flag.long);
            *suggestion = closest(given, names);
        }
    }
}

/// Whether a word is no flag: `-` and negative numbers are not.
fn is_plain(word: &str) -> bool {
    let Some(rest) = word.strip_prefix('-') else { return true };
    let number = rest.strip_prefix('.').unwrap_or(rest);
    rest.is_empty() || number.starts_with(|c: char| c.is_ascii_digit())
}
