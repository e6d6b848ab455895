//! Warnings: what is not right and yet no reason to stop.

use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::cli::terminal::{Accent, accent};
use crate::protocol::json;
use crate::protocol::visible::for_terminal;

/// How many different warnings are shown. A server decides about some of their texts.
const MOST: usize = 50;

/// Shows each warning once.
///
/// It only makes the lines; they belong on standard error, never on standard output.
#[derive(Debug)]
pub struct Warnings {
    style: Style,
    seen: RefCell<BTreeSet<String>>,
}

/// How warnings are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Not at all.
    Quiet,
    /// For people.
    Text {
        /// With colours.
        colored: bool,
    },
    /// As JSON, one per line.
    Json,
}

impl Warnings {
    /// Warnings that are shown in that style.
    pub fn new(style: Style) -> Warnings {
        Warnings { style, seen: RefCell::default() }
    }

    /// The line for a warning, with its line end; `None` when it is not to be shown, or was before.
    pub fn line(&self, message: &str) -> Option<String> {
        if self.style == Style::Quiet {
            return None;
        }
        let mut seen = self.seen.borrow_mut();
        if seen.len() > MOST || seen.contains(message) {
            return None;
        }
        seen.insert(message.to_owned());
        let last = seen.len() > MOST;
        Some(self.style.line(if last {
            "there are more warnings; they are not shown"
        } else {
            message
        }))
    }

    /// The line for something that is told as often as it happens, with its line end; `None` when
    /// nothing is to be shown.
    pub fn repeated(&self, message: &str) -> Option<String> {
        (self.style != Style::Quiet).then(|| self.style.line(message))
    }
}

impl Style {
    fn line(self, message: &str) -> String {
        match self {
            Style::Quiet => String::new(),
            Style::Text { colored } => {
                let name = accent("mcpmini: warning:", Accent::Yellow, colored);
                let message = for_terminal(message.trim_end()).replace('\n', "\n    ");
                format!("{name} {message}\n")
            }
            Style::Json => format!("{{\"warning\":{{\"message\":{}}}}}\n", json::string(message)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_shown_once() {
        let warnings = Warnings::new(Style::Text { colored: false });
        let check = |message: &str, expected: Option<&str>| {
            assert_eq!(warnings.line(message).as_deref(), expected);
        };
        check("id type", Some("mcpmini: warning: id type\n"));
        check("id type", None);
        check("a\u{1b}[1m\nb", Some("mcpmini: warning: a[1m\n    b\n"));
    }

    #[test]
    fn warnings_follow_the_style() {
        let check = |style, expected: Option<&str>| {
            assert_eq!(Warnings::new(style).line("a\"b").as_deref(), expected);
        };
        check(Style::Quiet, None);
        check(Style::Json, Some("{\"warning\":{\"message\":\"a\\\"b\"}}\n"));
        let colored = "\u{1b}[1;33mmcpmini: warning:\u{1b}[0m a\"b\n";
        check(Style::Text { colored: true }, Some(colored));
    }

    #[test]
    fn a_flood_of_warnings_ends() {
        let warnings = Warnings::new(Style::Json);
        let shown = (0..1_000).filter_map(|number| warnings.line(&number.to_string()));
        let shown: Vec<_> = shown.collect();
        assert_eq!(shown.len(), MOST + 1);
        assert!(shown[MOST].contains("there are more warnings"));
    }
}
