//! What passes through a session of the list of tools.
//!
//! Programs that share a session hold each tool that they call to what was accepted. One of them
//! asks for the list; the others are told what stands for it when they join, and need not ask.

use std::time::{Duration, Instant};

use crate::cli::listing;
use crate::config::Digest;
use crate::protocol::json::Json;
use crate::protocol::jsonrpc::scan;
use crate::protocol::method;
use crate::protocol::params::Params;

/// The longest list that is looked at, in bytes.
const LONGEST: usize = 8 << 20;

/// For how long a list stands for what the server has. A server need not say that it has changed.
const LASTS: Duration = Duration::from_secs(60);

/// The list of tools, as far as it has passed.
#[derive(Debug, Default)]
pub(super) struct Listed {
    /// How often it has changed.
    changes: u64,
    /// The tools of the pages that have come.
    text: String,
    /// The cursor of the page that goes on from there.
    next: Option<String>,
    /// What stands for the list, once all of it has come, and when that was.
    whole: Option<(Digest, Instant)>,
}

/// A page that is asked for.
#[derive(Debug)]
pub(super) struct Page {
    /// How often the list had changed then.
    changes: u64,
    /// The cursor, JSON text; `None` for the first page.
    cursor: Option<String>,
}

impl Listed {
    /// What stands for the list as it is now: as it came last, if that is not long ago.
    pub(super) fn digest(&self) -> Option<String> {
        let whole = self.whole.filter(|(_, came)| came.elapsed() < LASTS);
        whole.map(|(whole, _)| whole.to_string())
    }

    /// A page is asked for.
    pub(super) fn begin(&self, params: &Params) -> Page {
        Page { changes: self.changes, cursor: params.get("cursor").map(str::to_owned) }
    }

    /// A page has come. When several programs ask at the same time, pages that do not go on from
    /// the last one are left out.
    pub(super) fn take(&mut self, page: Page, result: &Json) {
        if page.changes != self.changes {
            return;
        }
        match page.cursor {
            None => self.text.clear(),
            cursor if cursor == self.next => {}
            Some(_) => return,
        }
        for tool in listing::items(result, method::LIST_TOOLS) {
            self.text.push_str(tool);
        }
        let next = scan::member(result.as_str(), "nextCursor");
        self.next = next.filter(|next| next.starts_with('"')).map(str::to_owned);
        if LONGEST < self.text.len() {
            return self.forget();
        }
        if self.next.is_none() {
            let whole = Digest::of(std::mem::take(&mut self.text).as_bytes());
            self.whole = Some((whole, Instant::now()));
        }
    }

    /// The list is not what it was any more.
    pub(super) fn forget(&mut self) {
        *self = Listed { changes: self.changes + 1, ..Listed::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(listed: &mut Listed, cursor: Option<&str>, page: &str) {
        let params = cursor.map_or(Params::new(), |cursor| Params::new().with("cursor", cursor));
        let begun = listed.begin(&params);
        listed.take(begun, &Json::from(page));
    }

    #[test]
    fn a_list_counts_when_all_of_it_has_come_in_order() {
        let mut listed = Listed::default();
        let whole = Some(Digest::of(b"{\"name\":\"a\"}{\"name\":\"b\"}").to_string());
        take(&mut listed, None, r#"{"tools":[{"name":"a"}],"nextCursor":"x"}"#);
        assert_eq!(listed.digest(), None);
        take(&mut listed, Some("\"y\""), r#"{"tools":[{"name":"c"}]}"#);
        assert_eq!(listed.digest(), None, "it goes on from another page");
        take(&mut listed, Some("\"x\""), r#"{"tools":[{"name":"b"}]}"#);
        assert_eq!(listed.digest(), whole);
        listed.forget();
        assert_eq!(listed.digest(), None);
        take(&mut listed, None, r#"{"tools":[{"name":"a"},{"name":"b"}]}"#);
        assert_eq!(listed.digest(), whole);
    }

    #[test]
    fn a_list_does_not_count_for_ever() {
        let mut listed = Listed::default();
        take(&mut listed, None, r#"{"tools":[]}"#);
        assert!(listed.digest().is_some());
        let (_, came) = listed.whole.as_mut().unwrap();
        *came = came.checked_sub(LASTS).unwrap();
        assert_eq!(listed.digest(), None);
    }

    #[test]
    fn what_was_asked_for_before_a_change_is_old() {
        let mut listed = Listed::default();
        let begun = listed.begin(&Params::new());
        listed.forget();
        listed.take(begun, &Json::from(r#"{"tools":[]}"#));
        assert_eq!(listed.digest(), None);
    }
}
