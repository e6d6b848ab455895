//! Lists that come page by page.

use crate::protocol::json::Json;
use crate::protocol::jsonrpc::scan;
use crate::protocol::params::Params;

/// Where a list stands: which page to ask for next.
#[derive(Debug, Default)]
pub struct Pages {
    /// The cursors that came, JSON text. The last one leads to the next page.
    seen: Vec<String>,
}

/// A server sent a page that points to a page it sent before, so that the list has no end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RepeatedPage;

/// A list of more pages than this has no end, whatever its cursors say.
const MAX_PAGES: usize = 10_000;

impl Pages {
    /// The parameters to ask for the next page with.
    pub fn params(&self) -> Params {
        match self.seen.last() {
            None => Params::new(),
            Some(cursor) => Params::new().with("cursor", cursor.clone()),
        }
    }

    /// Reads where the next page is; false when there is none. The empty string is a cursor like
    /// any other (2025-11-25, Pagination: a missing `nextCursor` is the end), and it goes back as
    /// it came, byte by byte.
    pub fn turn(&mut self, page: &Json) -> Result<bool, RepeatedPage> {
        let next = scan::member(page.as_str(), "nextCursor");
        let Some(next) = next.filter(|next| next.starts_with('"')) else { return Ok(false) };
        if self.seen.iter().any(|seen| seen == next) || MAX_PAGES <= self.seen.len() {
            return Err(RepeatedPage);
        }
        self.seen.push(next.to_owned());
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(pages: &mut Pages, page: &str) -> Result<bool, RepeatedPage> {
        pages.turn(&Json::from(page))
    }

    #[test]
    fn cursors_are_followed_as_they_came() {
        let mut pages = Pages::default();
        assert_eq!(turn(&mut pages, r#"{"nextCursor":""}"#), Ok(true));
        assert_eq!(pages.params().to_json(), r#"{"cursor":""}"#);
        assert_eq!(turn(&mut pages, r#"{"nextCursor":"\u0041\/"}"#), Ok(true));
        assert_eq!(pages.params().to_json(), r#"{"cursor":"\u0041\/"}"#);
        assert_eq!(turn(&mut pages, r#"{"nextCursor":null}"#), Ok(false));
        assert_eq!(turn(&mut pages, "{}"), Ok(false));
    }

    #[test]
    fn a_list_without_end_is_noticed() {
        let mut pages = Pages::default();
        assert_eq!(turn(&mut pages, r#"{"nextCursor":""}"#), Ok(true));
        assert_eq!(turn(&mut pages, r#"{"nextCursor":""}"#), Err(RepeatedPage));
    }
}
