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
        let look = &mut |page: &_| {
            listing::items(page, method).try_for_each(|text| self.item(text, || columns(text)))
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

/// The first line of a text for people, of those that a server gives.
pub(super) fn first_line(texts: [Option<&str>; 2]) -> String {
    let text = texts.into_iter().flatten().find(|text| !text.trim().is_empty());
    text.and_then(|text| text.trim().lines().next()).unwrap_or_default().to_owned()
}
