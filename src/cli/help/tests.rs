//! Help is complete, fits its width, and says what the code does.

use super::layout::WIDTH;
use super::*;
use crate::cli::args::settings;
use crate::protocol::json;

fn pages() -> Vec<Page> {
    let table = Table::default();
    let commands = table.commands().iter().map(|command| Page::Command(command.name));
    let topics = TOPICS.iter().map(|(topic, _)| Page::Topic(topic));
    [Page::Overview].into_iter().chain(commands).chain(topics).collect()
}

#[test]
fn every_page_fits_into_80_columns() {
    for page in pages() {
        for line in page.text(false).lines() {
            assert!(line.chars().count() <= WIDTH, "{page:?}: {line}");
            assert_eq!(line, line.trim_end(), "{page:?}");
        }
    }
}

#[test]
fn the_first_page_fits_on_one_screen() {
    let text = Page::Overview.text(false);
    let commands = Table::default().commands().len();
    // Each further command may add a line of its own.
    assert!(text.lines().count() <= 18 + commands, "{text}");
    assert_eq!(EXAMPLES.len(), 5);
    assert!(text.contains(&settings::TIMEOUT.to_string()));
    assert!(text.contains("help exit-codes"));
}

/// No topic has the name of a command, which would hide it.
#[test]
fn every_topic_is_reached_by_its_name() {
    let table = Table::default();
    for (topic, _) in TOPICS {
        assert_eq!(Page::about(Some(topic), &table), Ok(Page::Topic(topic)));
    }
}

/// Whatever a page says about `mcpmini help SUBJECT` is true.
#[test]
fn every_subject_that_a_page_names_has_a_page() {
    let table = Table::default();
    let mut named = 0;
    for page in pages() {
        let text = page.text(false).split_whitespace().collect::<Vec<_>>().join(" ");
        for (_, rest) in
            text.match_indices("mcpmini help ").map(|(at, it)| text.split_at(at + it.len()))
        {
            let subjects = rest.split([' ', '`', ')', ',', ':']).next().unwrap_or_default();
            for subject in subjects.split('|').filter(|subject| *subject != "--man") {
                let about = Page::about(Some(subject), &table);
                assert!(about.is_ok(), "{page:?}: help {subject}");
                named += 1;
            }
        }
    }
    assert!(TOPICS.len() < named, "{named}");
}

#[test]
fn every_option_is_in_one_group() {
    let table = Table::default();
    let of_every_command = table.flags().iter().filter(|flag| flag.commands.is_empty());
    let mut flags: Vec<_> = of_every_command.map(|flag| flag.long).collect();
    let mut grouped: Vec<_> = GROUPS.iter().flat_map(|(_, longs)| longs.iter().copied()).collect();
    flags.sort_unstable();
    grouped.sort_unstable();
    assert_eq!(grouped, flags);
}

#[test]
fn the_page_of_call_tells_everything() {
    let text = Page::Command("call").text(false);
    for flag in Table::default()
        .flags()
        .iter()
        .filter(|flag| flag.commands.is_empty() || flag.commands.contains(&"call"))
    {
        assert!(text.contains(flag.long), "{}", flag.long);
    }
    for (form, _) in ARGUMENTS {
        assert!(text.contains(form), "{form}");
    }
    for row in exit::TABLE {
        assert!(text.contains(&format!("  {}  ", row.number())), "{}", row.number());
        assert!(text.contains(row.class), "{}", row.class);
    }
    for (name, _) in settings::variables() {
        assert!(text.contains(name), "{name}");
    }
}

#[test]
fn every_page_has_its_usage_and_its_examples() {
    for command in Table::default().commands() {
        let text = Page::Command(command.name).text(false);
        assert!(text.starts_with(&format!("Usage: mcpmini {}", command.name)));
        assert!(text.contains("\nExamples:\n"));
        assert!(!text.contains("{{"), "argh doubles braces:\n{text}");
    }
}

#[test]
fn examples_are_command_lines_that_parse() {
    let table = Table::default();
    let of_commands = table.commands().iter().flat_map(|command| command.examples.to_vec());
    for example in EXAMPLES.iter().copied().chain(of_commands) {
        // What stands in quotes is one word, and what no shell would pass on is cut off.
        let (_, line) = example.split_once("mcpmini ").expect("an example runs mcpmini");
        let line = line.split([')', '|', '>']).next().unwrap_or(line);
        let line = line.split(" && ").next().unwrap_or(line);
        let words = line.split('\'').enumerate().flat_map(|(index, part)| {
            if index % 2 == 1 {
                vec![part]
            } else {
                part.split(' ').filter(|word| !word.is_empty()).collect()
            }
        });
        let parsed = crate::cli::args::parse(words.map(Into::into).collect());
        assert!(parsed.is_ok(), "{example}: {parsed:?}");
    }
}

#[test]
fn the_version_is_told_to_people_and_programs() {
    let text = version();
    let words: Vec<&str> = text.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(words, ["mcpmini", "protocols", "target", "features"]);
    let first = format!("mcpmini {}\n", env!("CARGO_PKG_VERSION"));
    assert!(text.starts_with(&first) && text.contains("protocols 20"), "{text}");
    let line = version_json();
    assert_eq!(json::validate(&line), Ok(()));
    assert!(line.contains("\"protocols\":[\"2026-07-28\","));
    assert!(line.contains(std::env::consts::ARCH));
}

#[test]
fn headings_are_bold_where_colours_are() {
    assert!(Page::Overview.text(true).contains("\u{1b}[1mCommands:\u{1b}[0m\n"));
    assert!(!Page::Overview.text(false).contains('\u{1b}'));
}
