//! Lists as they are printed: a line each, as JSON or in columns.

use super::args::Format;
use super::contact::Contact;
use super::errors::Error;
use super::exit::Exit;
use super::listing;
use super::output::{Parts, Table};
use super::run::Run;

/// A list that is printed while it comes.
#[derive(Debug)]
pub(super) enum Lines<'a> {
    /// Every item as the server describes it.
    Json(Parts<'a>),
    /// What people want to know of it.
    Text(Table<'a>),
}

impl<'a> Lines<'a> {
    /// An empty list with these columns.
    pub(super) fn new(run: &'a Run<'a>, headings: &[&str]) -> Lines<'a> {
        match run.settings.output {
            Format::Json => Lines::Json(Parts::new(run)),
            _ => Lines::Text(Table::new(run, headings)),
        }
    }

    /// Adds an item, given as JSON and in columns.
    pub(super) fn item(
        &mut self,
        json: &str,
        columns: impl FnOnce() -> Vec<String>,
    ) -> Result<(), Error> {
        match self {
            Lines::Json(parts) => parts.add_line(json),
            Lines::Text(table) if table.is_for_people() => table.row(&once(columns())),
            Lines::Text(table) => table.row(&columns()),
        }
    }

    /// Adds all items of a list of a server, page by page.
    pub(super) async fn list(
        &mut self,
        contact: &mut Contact<'_>,
        method: &'static str,
        columns: fn(&str) -> Vec<String>,
    ) -> Result<(), Error> {
        let look = &mut |page| {
            listing::items(&page, method).try_for_each(|text| self.item(text, || columns(text)))
        };
        listing::show(contact, method, look).await
    }

    /// There are no more items.
    pub(super) fn finish(self) -> Result<Exit, Error> {
        match self {
            Lines::Json(parts) => parts.finish()?,
            Lines::Text(table) => table.finish()?,
        }
        Ok(Exit::Ok)
    }
}

/// Columns in which a name is not repeated: a signature after its name shows the arguments alone.
fn once(mut columns: Vec<String>) -> Vec<String> {
    for at in 1..columns.len() {
        let arguments = columns[at].strip_prefix(&columns[at - 1]);
        let arguments = arguments.and_then(|rest| rest.strip_prefix('(')?.strip_suffix(')'));
        if let Some(arguments) = arguments.map(str::to_owned) {
            columns[at] = arguments;
        }
    }
    columns
}

/// The first line of a text for people, of those that a server gives.
pub(super) fn first_line(texts: [Option<&str>; 2]) -> String {
    let text = texts.into_iter().flatten().find(|text| !text.trim().is_empty());
    text.and_then(|text| text.trim().lines().next()).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_not_repeated_before_its_arguments() {
        let check = |columns: &[&str], expected: &[&str]| {
            assert_eq!(once(columns.iter().map(|text| (*text).to_owned()).collect()), expected);
        };
        check(&["echo", "echo(text: string)", "x"], &["echo", "text: string", "x"]);
        check(&["s", "echo", "echo()", "echo(x)"], &["s", "echo", "", "echo(x)"]);
        check(&["a b", "\"a b\"()"], &["a b", "\"a b\"()"]);
        check(&["", "(x)"], &["", "x"]);
        check(&[], &[]);
    }

    #[test]
    fn the_first_line_is_of_the_first_text_that_says_something() {
        assert_eq!(first_line([Some(" a\nb"), Some("c")]), "a");
        assert_eq!(first_line([Some(" \n"), Some("c\nd")]), "c");
        assert_eq!(first_line([None, None]), "");
    }
}
