//! When what is remembered of a server's lists is no longer good (2026-07-28, Caching).

use crate::protocol::method;

/// Lists that the server has said to have changed.
#[derive(Debug, Default)]
pub(super) struct Changes {
    lists: Vec<&'static str>,
    /// Those that have not been dealt with.
    news: Vec<&'static str>,
}

impl Changes {
    /// Takes in a notification of the server.
    pub(super) fn note(&mut self, notification: &str) {
        for list in method::changed_lists(notification) {
            // They may be told for days.
            for lists in [&mut self.lists, &mut self.news] {
                if !lists.contains(list) {
                    lists.push(list);
                }
            }
        }
    }

    /// A list is asked for now: what was said before is past.
    pub(super) fn expect(&mut self, list: &str) {
        self.lists.retain(|changed| *changed != list);
        self.news.retain(|changed| *changed != list);
    }

    /// Whether a list has changed since it was asked for.
    pub(super) fn contain(&self, list: &str) -> bool {
        self.lists.contains(&list)
    }

    /// The changes that have not been dealt with. From now on they count as dealt with.
    pub(super) fn news(&mut self) -> Vec<&'static str> {
        std::mem::take(&mut self.news)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_counts_until_the_list_is_asked_for_again() {
        let mut changes = Changes::default();
        changes.note("notifications/message");
        assert!(changes.news().is_empty());
        changes.note("notifications/tools/list_changed");
        changes.note("notifications/resources/list_changed");
        assert_eq!(changes.news(), ["tools/list", "resources/list", "resources/templates/list"]);
        assert!(changes.news().is_empty());
        assert!(changes.contain("tools/list") && !changes.contain("prompts/list"));
        changes.expect("tools/list");
        assert!(!changes.contain("tools/list") && changes.contain("resources/list"));
        changes.note("notifications/tools/list_changed");
        assert_eq!(changes.news(), ["tools/list"]);
    }
}
