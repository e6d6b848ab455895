//! A command line as far as it is typed.
//!
//! bash hands over the line itself. Its words of it are of no use: it cuts them at `=` and `:`, and
//! leaves the quotes in.

/// A command line up to the cursor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Line {
    /// The words before the one at the cursor, the program's name among them, without quotes.
    pub(super) words: Vec<String>,
    /// The word at the cursor as far as it is typed, without quotes.
    pub(super) current: String,
    /// How much of that, in bytes, readline leaves alone when it puts in a completion.
    pub(super) kept: usize,
    /// The quote that is open at the cursor.
    pub(super) quote: Option<char>,
}

impl Line {
    /// Reads a line that ends at the cursor. Outside of quotes, readline completes from after the
    /// last of `breaks` on (`COMP_WORDBREAKS`); inside, from after the quote on.
    pub(super) fn read(text: &str, breaks: &str) -> Line {
        let mut line = Line::default();
        let mut is_begun = false;
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            match (line.quote, letter) {
                (None, ' ' | '\t' | '\n') => {
                    if is_begun {
                        line.words.push(std::mem::take(&mut line.current));
                    }
                    (is_begun, line.kept) = (false, 0);
                    continue;
                }
                (None, '\'' | '"') => {
                    line.quote = Some(letter);
                    line.kept = line.current.len();
                }
                (Some(open), _) if open == letter => {
                    line.quote = None;
                    line.kept = line.current.len();
                }
                (None, '\\') => line.current.extend(letters.next()),
                (Some('"'), '\\') => match letters.next() {
                    Some(escaped @ ('"' | '\\' | '$' | '`')) => line.current.push(escaped),
                    plain => line.current.extend(['\\'].into_iter().chain(plain)),
                },
                (quote, _) => {
                    line.current.push(letter);
                    if quote.is_none() && breaks.contains(letter) {
                        line.kept = line.current.len();
                    }
                }
            }
            is_begun = true;
        }
        line
    }

    /// What readline is to put in for a whole word. A word that is not finished gets no blank after
    /// it; neither does one in quotes, which readline closes by itself.
    pub(super) fn replacement(&self, word: &str, is_finished: bool) -> String {
        let rest = word.get(self.kept..).unwrap_or_default();
        let mut text = String::new();
        for letter in rest.chars() {
            match (self.quote, letter) {
                (Some('\''), '\'') => text.push_str("'\\''"),
                (Some('"'), '"' | '\\' | '$' | '`') => text.extend(['\\', letter]),
                (None, letter) if is_special(letter) => text.extend(['\\', letter]),
                _ => text.push(letter),
            }
        }
        if is_finished && self.quote.is_none() {
            text.push(' ');
        }
        text
    }
}

/// Whether a shell takes the letter for something else. `~` and `#` count at the beginning of a word
/// only, but a needless backslash does no harm.
fn is_special(letter: char) -> bool {
    letter.is_ascii() && !letter.is_ascii_alphanumeric() && !"_-+=:,./@%^".contains(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BREAKS: &str = " \t\n\"'@><=;|&(:";

    #[test]
    fn words_are_read_without_quotes() {
        #[track_caller]
        fn check(text: &str, words: &[&str], current: &str, quote: Option<char>) {
            let line = Line::read(text, BREAKS);
            assert_eq!(
                (line.words, line.current, line.quote),
                (words.iter().map(|word| (*word).to_owned()).collect(), current.to_owned(), quote,)
            );
        }
        check("", &[], "", None);
        check("m", &[], "m", None);
        check("m ", &["m"], "", None);
        check("m call  x", &["m", "call"], "x", None);
        check("m 'a b' \"c\\\"d\" e\\ f", &["m", "a b", "c\"d"], "e f", None);
        check("m '' ", &["m", ""], "", None);
        check("m 'a \"b", &["m"], "a \"b", Some('\''));
        check("m a=\"b c", &["m"], "a=b c", Some('"'));
        check("m \"a\\nb\" x\\", &["m", "a\\nb"], "x", None);
        check("m größe='ä ö", &["m"], "größe=ä ö", Some('\''));
    }

    #[test]
    fn readline_gets_the_part_that_it_puts_in() {
        #[track_caller]
        fn check(typed: &str, word: &str, expected: &str) {
            assert_eq!(Line::read(typed, BREAKS).replacement(word, true), expected, "{typed}");
        }
        check("m fi", "files", "files ");
        check("m ", "my files", "my\\ files ");
        check("m my\\ f", "my files", "my\\ files ");
        check("m size=la", "size=large", "large ");
        check("m größe=la", "größe=a'b\"$c", "a\\'b\\\"\\$c ");
        check("m 'my f", "my files", "my files");
        check("m 'it", "it's", "it'\\''s");
        check("m size=\"la", "size=la\"rge", "la\\\"rge");
        check("m 'a b'=x", "a b=xy", "xy ");
        assert_eq!(Line::read("m si", BREAKS).replacement("size=", false), "size=");
    }
}
