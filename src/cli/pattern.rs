//! What people look for: a text, a regular expression, or a name with `*` and `?` in it.

use regex_lite::{Regex, RegexBuilder};

use super::errors::{Error, Phase};
use super::exit::Exit;
use crate::protocol::message::Sent;

/// The longest compiled expression, in bytes.
const SIZE: usize = 1 << 20;

/// Something to look for in a text.
#[derive(Debug)]
pub(super) enum Pattern {
    /// A regular expression.
    Regex(Regex),
    /// A text, and whether upper and lower case count.
    Text {
        /// What to look for; in lower case if case does not count.
        wanted: String,
        /// Whether upper and lower case count.
        exact: bool,
    },
}

impl Pattern {
    /// A text to look for. Case counts when the text has an upper-case letter, unless it never does.
    pub(super) fn text(text: &str, ignore_case: bool) -> Pattern {
        let exact = has_upper_case(text) && !ignore_case;
        let wanted = if exact { text.to_owned() } else { text.to_lowercase() };
        Pattern::Text { wanted, exact }
    }

    /// A regular expression to look for. Case counts when it has an upper-case letter that stands
    /// for itself, unless it never does.
    pub(super) fn regex(text: &str, ignore_case: bool) -> Result<Pattern, Error> {
        let exact = has_upper_case(&without_escapes(text)) && !ignore_case;
        let mut builder = RegexBuilder::new(text);
        let regex = builder.case_insensitive(!exact).size_limit(SIZE).build();
        regex.map(Pattern::Regex).map_err(|error| {
            let text = format!("the regular expression cannot be read: {error}");
            Error::new(Exit::Usage, text).phase(Phase::Usage).sent(Sent::No)
        })
    }

    /// Whether a text has it.
    pub(super) fn is_in(&self, text: &str) -> bool {
        match self {
            Pattern::Regex(regex) => regex.is_match(text),
            Pattern::Text { wanted, exact: true } => text.contains(wanted),
            Pattern::Text { wanted, exact: false } => text.to_lowercase().contains(wanted),
        }
    }
}

fn has_upper_case(text: &str) -> bool {
    text.chars().any(char::is_uppercase)
}

/// An expression without what begins with a backslash: `\S` is no upper-case letter.
fn without_escapes(text: &str) -> String {
    let mut letters = text.chars();
    let mut plain = String::new();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            letter => plain.push(letter),
        }
    }
    plain
}

/// Whether a word is to fit several names.
pub(super) fn is_glob(word: &str) -> bool {
    word.contains(['*', '?'])
}

/// Whether a name fits a pattern, in which `*` stands for any characters and `?` for one.
pub(super) fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut here) = (0, 0);
    // Where to go on when what follows the last star did not fit.
    let mut star: Option<(usize, usize)> = None;
    while here < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at + 1, here));
                at += 1;
            }
            Some(&wanted) if wanted == '?' || wanted == name[here] => {
                at += 1;
                here += 1;
            }
            _ => match star {
                None => return false,
                Some((after, from)) => {
                    star = Some((after, from + 1));
                    (at, here) = (after, from + 1);
                }
            },
        }
    }
    pattern[at..].iter().all(|rest| *rest == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_globs() {
        let check = |pattern: &str, name: &str, expected| {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        };
        check("echo", "echo", true);
        check("echo", "echo2", false);
        check("*", "", true);
        check("*_file", "read_file", true);
        check("*_file", "read_files", false);
        check("read_*", "read_file", true);
        check("r?ad*le", "read_file", true);
        check("*a*b*c", "xxaxxbxxbc", true);
        check("*a*b*c", "xxaxxbxxb", false);
        check("?", "é", true);
        check("?", "", false);
    }

    #[test]
    fn case_counts_when_it_is_written() {
        let text = |pattern: &str, ignore_case, text: &str| {
            Pattern::text(pattern, ignore_case).is_in(text)
        };
        assert!(text("issue", false, "Create ISSUE"));
        assert!(!text("Issue", false, "create issue"));
        assert!(text("Issue", true, "create issue"));
        assert!(text("éclair", false, "ÉCLAIR"));
        assert!(text("", false, ""));
        assert!(!text("a.c", false, "abc"), "a text is no expression");

        let regex = |pattern: &str, ignore_case, text: &str| {
            Pattern::regex(pattern, ignore_case).unwrap().is_in(text)
        };
        assert!(regex("^(get|list)_", false, "LIST_all"));
        assert!(!regex("^List", false, "list_all"));
        assert!(regex("^List", true, "list_all"));
        assert!(regex(r"^\S+$", false, "ABC"));
        assert!(regex(r"^\Sa", false, "xA"));
    }

    #[test]
    fn an_expression_that_cannot_be_used_is_a_mistake_of_usage() {
        for bad in ["(", "[z-a]", "a{1000}{1000}{1000}", "*"] {
            let error = Pattern::regex(bad, false).unwrap_err();
            assert_eq!(error.exit, Exit::Usage, "{bad}");
        }
    }
}
