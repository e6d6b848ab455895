//! The words before the cursor, sorted into commands, options and the rest.

use crate::cli::args::table::{Flag, Table};
use crate::config::Overrides;

/// The words before the cursor, sorted.
#[derive(Debug, Default)]
pub(super) struct Typed<'t> {
    /// The command, by its usual name.
    pub(super) command: Option<&'t str>,
    /// The plain words after it.
    pub(super) words: Vec<&'t str>,
    /// The words after `--`, when there is one.
    pub(super) tail: Option<Vec<&'t str>>,
    /// The options that have a value, with it.
    options: Vec<(&'t str, &'t str)>,
    /// The option whose value is at the cursor.
    pub(super) open: Option<&'t Flag>,
}

impl<'t> Typed<'t> {
    /// Sorts the words after the program's name.
    pub(super) fn sort(words: &'t [String], table: &'t Table) -> Typed<'t> {
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
