//! Rows of a few columns: aligned on a terminal, with tabs between them everywhere else.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::super::errors::Error;
use super::super::run::Run;
use super::super::terminal::{Accent, Stream, accent};
use super::parts::Parts;
use crate::protocol::sorting::sort_by;
use crate::protocol::visible::for_terminal;

/// The narrowest a column becomes as long as there are others that can give room.
const LEAST: usize = 12;

/// What stands between two columns of a terminal.
const GAP: &str = "  ";

/// Rows of a few columns.
///
/// A program gets them as they come, a line each, with tabs between the columns and every column as
/// long as it is. People get them at the end, below headings, in columns that fit the terminal; what
/// is too long ends with `…`.
#[derive(Debug)]
pub(in super::super) struct Table<'a> {
    parts: Parts<'a>,
    /// The headings, then the rows, where they are kept for people.
    rows: Vec<Vec<String>>,
    /// The width of the terminal; `None` where there is none.
    width: Option<usize>,
    colored: bool,
}

impl<'a> Table<'a> {
    /// A table with these columns.
    pub(in super::super) fn new(run: &'a Run<'a>, headings: &[&str]) -> Table<'a> {
        let for_people = run.env.terminals.stdout && run.globals.out.is_none();
        let headings = headings.iter().map(|heading| (*heading).to_owned()).collect();
        Table {
            parts: Parts::new(run),
            rows: vec![headings],
            width: for_people.then(|| Stream::Stdout.width()),
            colored: run.settings.color.applies(for_people),
        }
    }

    /// Whether people read it.
    pub(in super::super) fn is_for_people(&self) -> bool {
        self.width.is_some()
    }

    /// Adds a row.
    pub(in super::super) fn row(&mut self, columns: &[String]) -> Result<(), Error> {
        let columns: Vec<String> = columns.iter().map(|text| cell(text)).collect();
        if self.width.is_some() {
            self.rows.push(columns);
            return Ok(());
        }
        let mut line = columns.join("\t");
        line.push('\n');
        self.parts.add(line.as_bytes())
    }

    /// There are no more rows. A table without any has no headings either.
    pub(in super::super) fn finish(mut self) -> Result<(), Error> {
        if let Some(width) = self.width.filter(|_| 1 < self.rows.len()) {
            let lines = align(&self.rows, width);
            let (headings, rows) = lines.split_first().expect("a table begins with its headings");
            // The colour of the headings is ours, and must not be filtered out.
            let headings = accent(headings, Accent::Bold, self.colored);
            super::write_trusted(self.parts.run(), &format!("{headings}\n"))?;
            self.parts.add((rows.join("\n") + "\n").as_bytes())?;
        }
        self.parts.finish()
    }
}

/// A text as it can stand in a column: a tab or a line end in it would make two of one.
pub(in super::super) fn cell(text: &str) -> String {
    let text = for_terminal(text.trim());
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The rows as lines, in columns that together fit into `width`.
pub(in super::super) fn align(rows: &[Vec<String>], width: usize) -> Vec<String> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let longest = |column: usize| {
        let lengths = rows.iter().filter_map(|row| row.get(column)).map(|text| text.width());
        lengths.max().unwrap_or(0)
    };
    let wanted: Vec<usize> = (0..count).map(longest).collect();
    let gaps = GAP.len() * count.saturating_sub(1);
    let widths = shares(&wanted, width.saturating_sub(gaps));
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(text, width)| padded(text, *width));
        cells.collect::<Vec<_>>().join(GAP).trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// How wide each column becomes. The first gets what it wants, up to half of the room: it has the
/// names that people copy. The others share the rest, those that want less than their share first.
fn shares(wanted: &[usize], room: usize) -> Vec<usize> {
    let mut widths = wanted.to_vec();
    let Some((first, others)) = widths.split_first_mut() else { return widths };
    let all: usize = others.iter().sum();
    if *first + all > room {
        *first = (*first).min((room / 2).max(LEAST));
    }
    let mut room = room.saturating_sub(*first);
    let mut order: Vec<usize> = (0..others.len()).collect();
    sort_by(&mut order, |one, other| others[*one].cmp(&others[*other]));
    let mut left = order.len();
    for column in order {
        let share = (room / left).max(LEAST);
        others[column] = others[column].min(share);
        room = room.saturating_sub(others[column]);
        left -= 1;
    }
    widths
}

/// A text that takes `width` columns of the terminal, cut off or filled up.
fn padded(text: &str, width: usize) -> String {
    let length = text.width();
    if length <= width {
        return format!("{text}{}", " ".repeat(width - length));
    }
    let mut cut = String::new();
    let mut taken = 0;
    for letter in text.chars() {
        let letter_width = letter.width().unwrap_or(0);
        if taken + letter_width + 1 > width {
            break;
        }
        cut.push(letter);
        taken += letter_width;
    }
    format!("{cut}…{}", " ".repeat(width.saturating_sub(taken + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[&[&str]]) -> Vec<Vec<String>> {
        rows.iter().map(|row| row.iter().map(|text| cell(text)).collect()).collect()
    }

    #[track_caller]
    fn check(table: &[&[&str]], width: usize, expected: &str) {
        assert_eq!(align(&rows(table), width).join("\n") + "\n", expected);
        for line in expected.lines() {
            assert!(line.width() <= width, "{line}");
        }
    }

    #[test]
    fn columns_are_as_wide_as_what_is_in_them() {
        check(
            &[&["NAME", "WHAT"], &["echo", "Gives back"], &["add_numbers", ""]],
            40,
            "NAME         WHAT\necho         Gives back\nadd_numbers\n",
        );
    }

    #[test]
    fn what_is_too_long_is_cut_off() {
        let long = "a description that is longer than the terminal is wide";
        check(&[&["NAME", "WHAT"], &["echo", long]], 24, "NAME  WHAT\necho  a description tha…\n");
        check(
            &[&["N", "A", "W"], &["name", &"x".repeat(40), &"y".repeat(40)]],
            40,
            "N     A                 W\n\
             name  xxxxxxxxxxxxxxx…  yyyyyyyyyyyyyyy…\n",
        );
    }

    #[test]
    fn a_column_that_wants_less_leaves_room_for_others() {
        assert_eq!(shares(&[4, 10, 100], 60), [4, 10, 46]);
        assert_eq!(shares(&[4, 100, 10], 60), [4, 46, 10]);
        assert_eq!(shares(&[100, 100, 100], 100), [50, 25, 25]);
        assert_eq!(shares(&[10, 10, 10], 100), [10, 10, 10]);
        assert!(shares(&[], 100).is_empty());
        assert_eq!(shares(&[100, 100], 10), [12, 12], "too narrow for any table");
    }

    #[test]
    fn letters_count_by_their_width_on_the_terminal() {
        assert_eq!(padded("名前", 6), "名前  ");
        assert_eq!(padded("名前名前", 6), "名前… ");
        assert_eq!(padded("é", 2), "é ");
        assert_eq!(padded("abc", 3), "abc");
        assert_eq!(padded("abcd", 3), "ab…");
    }

    #[test]
    fn no_text_leaves_its_column() {
        assert_eq!(cell(" a\tb\nc\u{1b}[2J\u{202e} "), "a b c[2J\\u{202e}");
    }
}
