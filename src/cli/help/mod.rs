//! Help: for commands and topics, made from what argh knows of the commands and from small tables.

mod layout;
mod man;
mod tables;
mod version;

#[cfg(test)]
mod tests;

use argh::CommandInfoWithArgs;

use super::args::settings::variables;
use super::args::table::{Flag, Table, short_name, synopsis};
use super::args::usage::UsageError;
use super::exit;
use crate::protocol::similar::closest;
use layout::{Layout, WIDTH};
use tables::{ARGUMENTS, EXAMPLES, FILES, GROUPS, POLICY_FILE, SERVERS, TOPICS};

pub use man::{is_wanted as is_man_wanted, man};
pub use version::{version, version_json};

/// The topics of `mcpmini help TOPIC`, and what each is about.
pub fn topics() -> &'static [(&'static str, &'static str)] {
    TOPICS
}

/// A page of help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Page {
    /// The first page.
    Overview,
    /// A command.
    Command(&'static str),
    /// A topic.
    Topic(&'static str),
}

impl Page {
    /// The page about a command or a topic, or the first one.
    ///
    /// # Errors
    /// When there is no such page.
    pub fn about(subject: Option<&str>, table: &Table) -> Result<Page, UsageError> {
        let Some(given) = subject else { return Ok(Page::Overview) };
        if given == "help" {
            return Ok(Page::Overview);
        }
        if let Some(command) = table.command(given) {
            return Ok(Page::Command(command.name));
        }
        if let Some((topic, _)) = TOPICS.iter().find(|(topic, _)| *topic == given) {
            return Ok(Page::Topic(topic));
        }
        let commands = table.commands().iter().map(|command| command.name);
        let topics = TOPICS.iter().map(|(topic, _)| *topic);
        let suggestion = closest(given, commands.chain(topics));
        Err(UsageError::UnknownTopic { given: given.to_owned(), suggestion })
    }

    /// The text of the page, at most 80 characters wide.
    pub fn text(self, colored: bool) -> String {
        let table = Table::default();
        let mut layout = Layout::new(colored);
        match self {
            Page::Overview => overview(&mut layout, &table),
            Page::Topic(topic) => about_topic(&mut layout, &table, topic),
            Page::Command(name) => {
                let command = table.command(name).expect("only commands of the table have pages");
                about_command(&mut layout, &table, &command);
            }
        }
        layout.finish()
    }
}

fn overview(layout: &mut Layout, table: &Table) {
    layout.line("mcpmini - call the tools of MCP servers from the shell");
    layout.line("An MCP server is a program that offers tools, such as get_weather(city, days).");
    layout.line("");
    layout.headed("Usage:", "mcpmini COMMAND SERVER [WORD...] [OPTION...]");
    layout.heading("Commands:");
    let commands = table.commands().iter().map(|command| (names(command), command.description));
    let help = ("help".to_owned(), "show help for a command or a topic");
    layout.rows(&commands.chain([help]).collect::<Vec<_>>());
    layout.heading("Examples:");
    for example in EXAMPLES {
        layout.line(&format!("  {example}"));
    }
    layout.line("");
    layout.line("It gives up after 30s of silence (-t). Exit codes: mcpmini help exit-codes");
    let others = TOPICS.iter().map(|(topic, _)| *topic).filter(|topic| *topic != "exit-codes");
    let others = others.collect::<Vec<_>>().join("|");
    layout.line(&format!("Topics: mcpmini help {others}"));
    layout.line("More: mcpmini COMMAND --help. The manual page: mcpmini help --man | man -l -");
}

fn about_command(layout: &mut Layout, table: &Table, command: &CommandInfoWithArgs) {
    let is_call = command.name == "call";
    let usage = format!("mcpmini {} [OPTION...] {}", command.name, whole_synopsis(command));
    layout.headed("Usage:", &usage);
    layout.line("");
    layout.paragraph(&format!("{}.", sentence(command.description)));
    // Lines stand together, paragraphs apart.
    let is_long = command.notes.iter().any(|note| note.len() > 3 * WIDTH);
    for note in command.notes {
        if is_long {
            layout.line("");
        }
        layout.paragraph(&single_braces(note));
    }
    layout.line("");
    let words = command.positionals.iter().map(|word| (word.name, word.description));
    layout.rows(&words.collect::<Vec<_>>());
    let own = |flag: &&Flag| flag.commands.contains(&command.name);
    flags(layout, "Options:", table.flags().iter().filter(own));
    if is_call {
        layout.heading("Arguments of the tool (ARG):");
        layout.rows(ARGUMENTS);
    }
    layout.heading("Examples:");
    for example in command.examples {
        layout.line(&format!("  {}", single_braces(example)));
    }
    if is_call {
        groups(layout, table);
        layout.heading("Exit codes [may a script try again?]:");
        exit_codes(layout);
        layout.heading("Environment (options win):");
        layout.rows(&variables());
    } else {
        layout.line("");
        layout.paragraph(
            "Every command takes the options of `mcpmini help options`. A silent server is given up \
             after 30s (-t). Exit codes: `mcpmini help exit-codes`.",
        );
    }
}

/// In argh's eyes notes and examples are format strings.
fn single_braces(text: &str) -> String {
    text.replace("{{", "{").replace("}}", "}")
}

fn about_topic(layout: &mut Layout, table: &Table, topic: &str) {
    match topic {
        "options" => {
            layout.paragraph(
                "Every command takes these options, before or after its other words, but not after \
                 `--`. Of an option that is given twice the last one counts, unless it is repeatable.",
            );
            groups(layout, table);
        }
        "naming" => {
            layout.line("Ways to name a SERVER:");
            layout.line("");
            layout.rows(SERVERS);
            layout.line("");
            layout.paragraph(
                "A command is split into words as the shell would, but no shell runs it and nothing \
                 is expanded. Words that need exactness are added with --arg.",
            );
        }
        "arguments" => {
            layout.line("Ways to write the arguments of a tool, ARG in `mcpmini call`:");
            layout.line("");
            layout.rows(ARGUMENTS);
        }
        "exit-codes" => {
            layout.line("Exit codes [may a script try again?]:");
            layout.line("");
            exit_codes(layout);
            layout.line("");
            layout.paragraph(
                "With --json-errors, --json or MCPMINI_ERRORS=json the last line on standard error \
                 tells the same and more as JSON.",
            );
        }
        "files" => {
            layout.line("Files and directories. Of servers with one name the first file counts:");
            layout.line("");
            layout.rows(FILES);
            layout.line("");
            layout.paragraph(
                "--config or MCPMINI_CONFIG names a file that is read instead of the first three. \
                 Without HOME nothing is stored.",
            );
        }
        "policy-file" => policy_file(layout),
        "man" => {
            layout.line("The manual page is printed by `mcpmini help --man`. To read it:");
            layout.line("");
            layout.line("  mcpmini help --man | man -l -");
            layout.line("");
            layout.line("To install it, so that `man mcpmini` shows it:");
            layout.line("");
            layout.line("  mcpmini help --man > ~/.local/share/man/man1/mcpmini.1");
        }
        _ => {
            layout.line("Environment variables. Options win over them, and they over files:");
            layout.line("");
            layout.rows(&variables());
        }
    }
}

/// The examples stand there as they are, to be copied.
fn policy_file(layout: &mut Layout) {
    for (index, (text, example)) in POLICY_FILE.iter().enumerate() {
        if 0 < index {
            layout.line("");
        }
        layout.paragraph(text);
        layout.line("");
        example.lines().for_each(|line| layout.line(line));
    }
}

fn exit_codes(layout: &mut Layout) {
    let explain = |row: &exit::Row| {
        let class = row.class;
        match row.retry {
            "" => format!("{class}: {}", row.meaning),
            retry => format!("{class}: {} [{retry}]", row.meaning),
        }
    };
    let rows = exit::TABLE.iter().map(|row| (row.number(), explain(row)));
    layout.rows(&rows.collect::<Vec<_>>());
}

fn groups(layout: &mut Layout, table: &Table) {
    for (name, longs) in GROUPS {
        let members = longs.iter().filter_map(|long| table.long(long));
        flags(layout, &format!("{name}:"), members);
    }
}

/// A list of flags under a heading, or nothing if there are none.
fn flags<'a>(layout: &mut Layout, heading: &str, flags: impl Iterator<Item = &'a Flag>) {
    let rows: Vec<_> = flags.map(|flag| (spelling(flag), sentence(flag.description))).collect();
    if !rows.is_empty() {
        layout.heading(heading);
        layout.rows(&rows);
    }
}

/// `-t, --timeout DUR`
fn spelling(flag: &Flag) -> String {
    let letter = flag.short.map_or("    ".into(), |letter| format!("-{letter}, "));
    let value = flag.value.map_or(String::new(), |value| format!(" {value}"));
    format!("{letter}{}{value}", flag.long)
}

/// `call, c`
fn names(command: &CommandInfoWithArgs) -> String {
    let name = command.name;
    short_name(command).map_or(name.into(), |letter| format!("{name}, {letter}"))
}

/// The words of a command, and what it makes of those after `--`.
fn whole_synopsis(command: &CommandInfoWithArgs) -> String {
    let tail = match command.name {
        "call" | "bench" => " [-- --KEY VALUE...]",
        "session" => " -- COMMAND [ARG...]",
        "add" => " [-- COMMAND ARG...]",
        _ => "",
    };
    format!("{}{tail}", synopsis(command))
}

/// argh wants descriptions to begin in lower case.
fn sentence(description: &str) -> String {
    let mut letters = description.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}
