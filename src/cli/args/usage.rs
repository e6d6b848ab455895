//! What can be wrong with a command line.

use std::fmt;

/// A command line, or a variable that stands for a part of it, that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UsageError {
    /// A word is not UTF-8.
    NotUtf8 {
        /// Its place, 1 for the first word after the program's name.
        position: usize,
        /// The word, with U+FFFD in place of what is no text.
        shown: String,
    },
    /// There is no command.
    NoCommand,
    /// There is no such command.
    UnknownCommand {
        /// What was written.
        given: String,
        /// What may have been meant.
        suggestion: Option<&'static str>,
    },
    /// There is no help about that.
    UnknownTopic {
        /// What was written.
        given: String,
        /// What may have been meant.
        suggestion: Option<&'static str>,
    },
    /// There is no such flag.
    UnknownFlag {
        /// The flag, without a value.
        given: String,
        /// The command, if that much is clear.
        command: Option<&'static str>,
        /// What may have been meant.
        suggestion: Option<&'static str>,
    },
    /// Other commands have that flag.
    FlagOfOthers {
        /// The flag.
        flag: &'static str,
        /// The commands that have it.
        commands: Vec<&'static str>,
        /// The command.
        command: &'static str,
    },
    /// An option stands at the end, without its value.
    NoValue {
        /// The option.
        flag: &'static str,
        /// The name of the value.
        value: &'static str,
    },
    /// An option is followed by a flag where its value should be.
    FlagAsValue {
        /// The option.
        flag: &'static str,
        /// The flag that follows.
        next: &'static str,
    },
    /// A switch has a value.
    NeedlessValue {
        /// The switch.
        flag: &'static str,
    },
    /// The value of an option is wrong.
    Value {
        /// The option.
        flag: &'static str,
        /// Why.
        reason: String,
    },
    /// The value of an environment variable is wrong.
    Variable {
        /// Its name.
        name: &'static str,
        /// Why.
        reason: String,
    },
    /// A word is missing.
    MissingWord {
        /// The command.
        command: &'static str,
        /// What the word stands for.
        name: &'static str,
        /// The words the command takes.
        synopsis: String,
    },
    /// There is a word too many.
    ExtraWord {
        /// The command.
        command: &'static str,
        /// The word.
        word: String,
        /// The words the command takes.
        synopsis: String,
    },
    /// Two flags that exclude each other.
    Contradiction(&'static str, &'static str),
    /// A flag that makes no sense without another.
    Lonely {
        /// The flag.
        flag: &'static str,
        /// The one it needs.
        needs: &'static str,
    },
    /// A command that cannot print its answer in the form that is asked for.
    Format {
        /// The command.
        command: &'static str,
        /// The form.
        format: &'static str,
        /// The forms it has.
        has: Vec<&'static str>,
    },
    /// What argh says, where it checks more than is checked before.
    Other(String),
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UsageError::NotUtf8 { position, shown } => {
                write!(f, "argument {position} is not UTF-8: {shown:?}")
            }
            UsageError::NoCommand => f.write_str("no command"),
            UsageError::UnknownCommand { given, suggestion } => {
                write!(f, "no such command: {given:?}")?;
                did_you_mean(f, *suggestion)
            }
            UsageError::UnknownTopic { given, suggestion } => {
                write!(f, "no help about {given:?}")?;
                did_you_mean(f, *suggestion)
            }
            UsageError::UnknownFlag { given, command, suggestion } => {
                // A flag can be anything, so control characters are escaped; quotes are not needed.
                write!(f, "no such option: {}", given.escape_debug())?;
                if let (Some(command), None) = (command, suggestion) {
                    write!(f, " (of {command})")?;
                }
                did_you_mean(f, *suggestion)
            }
            UsageError::FlagOfOthers { flag, commands, command } => {
                write!(f, "{flag} is an option of {}, not of {command}", commands.join(" and "))
            }
            UsageError::NoValue { flag, value } => write!(f, "{flag} needs a value: {value}"),
            UsageError::FlagAsValue { flag, next } => {
                write!(f, "{flag} needs a value, but {next} follows")
            }
            UsageError::NeedlessValue { flag } => write!(f, "{flag} takes no value"),
            UsageError::Value { flag, reason } => write!(f, "{flag}: {reason}"),
            UsageError::Variable { name, reason } => write!(f, "{name}: {reason}"),
            UsageError::MissingWord { command, name, .. } => write!(f, "{command} needs {name}"),
            UsageError::ExtraWord { command, word, .. } => {
                write!(f, "{command} does not take so many words: {word:?}")
            }
            UsageError::Contradiction(one, other) => {
                write!(f, "{one} and {other} exclude each other")
            }
            UsageError::Lonely { flag, needs } => write!(f, "{flag} needs {needs}"),
            UsageError::Format { command, format, has } => {
                write!(f, "{command} has no output form {format}, but {}", has.join(" and "))
            }
            UsageError::Other(text) => f.write_str(text),
        }
    }
}

impl UsageError {
    /// What to do about it, for people.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            UsageError::MissingWord { command, name: "ACTION", .. } => {
                format!("which there are: mcpmini {command} --help")
            }
            UsageError::MissingWord { command, synopsis, .. }
            | UsageError::ExtraWord { command, synopsis, .. } => {
                format!("mcpmini {command} {synopsis}").trim_end().to_owned()
            }
            UsageError::UnknownFlag { command: Some("call"), suggestion: None, .. } => {
                "options for the tool come last, after --: mcpmini call SERVER TOOL -- --KEY VALUE; a \
                 SERVER that is a command line is one word, in quotes"
                    .into()
            }
            UsageError::UnknownCommand { given, suggestion: None }
                if given.contains(['/', ':']) =>
            {
                "a command comes before the server: mcpmini tools SERVER".into()
            }
            UsageError::FlagAsValue { flag, next } => {
                format!("if that is meant to be the value, write {flag}={next}")
            }
            UsageError::UnknownCommand { given, suggestion: None }
                if let Some(here) = name_here(given) =>
            {
                format!("it is `mcpmini {here}` here")
            }
            UsageError::UnknownTopic { .. } => "mcpmini help".into(),
            UsageError::NoCommand | UsageError::UnknownCommand { .. } => "mcpmini --help".into(),
            UsageError::UnknownFlag { command: Some(command), .. }
            | UsageError::FlagOfOthers { command, .. }
            | UsageError::Format { command, .. } => format!("mcpmini {command} --help"),
            UsageError::UnknownFlag { command: None, .. } => "mcpmini help options".into(),
            _ => return None,
        };
        Some(hint)
    }
}

/// Commands of other clients, and what they are called here.
const ELSEWHERE: &[(&str, &str)] = &[
    ("exec", "call"),
    ("get-prompt", "prompt"),
    ("grep", "find"),
    ("inspect", "info"),
    ("invoke", "call"),
    ("list", "tools"),
    ("list-tools", "tools"),
    ("ls", "tools"),
    ("read-resource", "read"),
    ("run", "call"),
    ("search", "find"),
    ("subscribe", "watch"),
    ("tail", "watch"),
];

fn name_here(command: &str) -> Option<&'static str> {
    ELSEWHERE.iter().find(|(other, _)| *other == command).map(|(_, here)| *here)
}

/// The first of some flags that is given.
pub fn first_given(flags: &[(&'static str, bool)]) -> Option<&'static str> {
    flags.iter().find(|(_, is_given)| *is_given).map(|(flag, _)| *flag)
}

fn did_you_mean(f: &mut fmt::Formatter<'_>, suggestion: Option<&str>) -> fmt::Result {
    match suggestion {
        Some(word) => write!(f, "; did you mean {word}?"),
        None => Ok(()),
    }
}
