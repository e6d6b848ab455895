//! Command lines: from text to words and back, by the quoting rules of the POSIX shell (Shell
//! Command Language, 2.2 Quoting), but with no shell and no expansion.

use std::fmt::{self, Write};
use std::iter::Peekable;
use std::str::Chars;

use crate::protocol::visible::is_hidden;

/// A text that is no command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuotingError {
    /// A quote is not closed.
    Unclosed(char),
    /// A backslash is the last character.
    TrailingBackslash,
    /// There is no word in it.
    Empty,
}

impl fmt::Display for QuotingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QuotingError::Unclosed(quote) => write!(f, "a {quote} is not closed"),
            QuotingError::TrailingBackslash => f.write_str("it ends in a backslash"),
            QuotingError::Empty => f.write_str("it is empty"),
        }
    }
}

/// Splits a command line into words. `$`, `*`, `|` and the like are ordinary characters.
///
/// ```
/// # use mcpmini::config::quoting::split;
/// assert_eq!(split(r#"npx -y "@x/server" 'my files' $HOME"#).unwrap(),
///            ["npx", "-y", "@x/server", "my files", "$HOME"]);
/// ```
pub fn split(line: &str) -> Result<Vec<String>, QuotingError> {
    let mut words = Vec::new();
    let mut letters = line.chars().peekable();
    loop {
        while letters.next_if(|letter| is_blank(*letter)).is_some() {}
        if letters.peek().is_none() {
            break;
        }
        words.push(word(&mut letters)?);
    }
    if words.is_empty() { Err(QuotingError::Empty) } else { Ok(words) }
}

/// Whether the character separates words.
pub(super) fn is_blank(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n' | '\r')
}

/// One word, up to a blank or the end.
fn word(letters: &mut Peekable<Chars<'_>>) -> Result<String, QuotingError> {
    let mut word = String::new();
    while let Some(letter) = letters.next_if(|letter| !is_blank(*letter)) {
        match letter {
            '\'' => single_quoted(letters, &mut word)?,
            '"' => double_quoted(letters, &mut word)?,
            '\\' => match letters.next() {
                None => return Err(QuotingError::TrailingBackslash),
                Some('\n') => {}
                Some(escaped) => word.push(escaped),
            },
            plain => word.push(plain),
        }
    }
    Ok(word)
}

fn single_quoted(letters: &mut Peekable<Chars<'_>>, word: &mut String) -> Result<(), QuotingError> {
    loop {
        match letters.next() {
            None => return Err(QuotingError::Unclosed('\'')),
            Some('\'') => return Ok(()),
            Some(plain) => word.push(plain),
        }
    }
}

fn double_quoted(letters: &mut Peekable<Chars<'_>>, word: &mut String) -> Result<(), QuotingError> {
    let unclosed = QuotingError::Unclosed('"');
    loop {
        match letters.next().ok_or(unclosed)? {
            '"' => return Ok(()),
            '\\' => match letters.next().ok_or(unclosed)? {
                '\n' => {}
                escaped @ ('$' | '`' | '"' | '\\') => word.push(escaped),
                plain => word.extend(['\\', plain]),
            },
            plain => word.push(plain),
        }
    }
}

/// A command line that a shell would split into these words again, safe to show on a terminal:
/// nothing in it moves the cursor, hides, or runs from right to left.
pub fn join<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// One word, quoted where a shell would take it for something else.
pub fn quote(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "_@%+=:,./-".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    if !word.chars().any(is_hidden) {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    // Of bash and zsh; no other form can name such characters.
    let mut quoted = String::from("$'");
    for letter in word.chars() {
        match letter {
            '\'' | '\\' => quoted.extend(['\\', letter]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            _ if is_hidden(letter) => {
                // Writing to a string does not fail.
                let _ = match u32::from(letter) {
                    short @ ..=0xffff => write!(quoted, "\\u{short:04x}"),
                    long => write!(quoted, "\\U{long:08x}"),
                };
            }
            _ => quoted.push(letter),
        }
    }
    quoted.push('\'');
    quoted
}

/// A text from a file, for a message: without quotes, but with nothing that a terminal would act
/// upon.
pub fn printable(text: &str) -> String {
    let mut shown = String::new();
    for letter in text.chars() {
        if is_hidden(letter) {
            shown.extend(letter.escape_unicode());
        } else {
            shown.push(letter);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_are_split_like_a_shell_does_without_expansion() {
        #[track_caller]
        fn check(line: &str, expected: &[&str]) {
            assert_eq!(split(line).unwrap(), expected, "{line}");
        }
        check("a b\tc\nd", &["a", "b", "c", "d"]);
        check("  a  ", &["a"]);
        check("a 'b c' d", &["a", "b c", "d"]);
        check(r#"a "b c" d"#, &["a", "b c", "d"]);
        check("a'b'\"c\"d", &["abcd"]);
        check("'' \"\"", &["", ""]);
        check(r"a\ b \'c \\", &["a b", "'c", r"\"]);
        check(r#""a\"b" "\$x" "\q" "\\""#, &["a\"b", "$x", r"\q", r"\"]);
        check(r"'a\b'", &[r"a\b"]);
        check("a\\\nb \"c\\\nd\"", &["ab", "cd"]);
        check(
            "$HOME *.js `x` $(y) | > & ; # ~",
            &["$HOME", "*.js", "`x`", "$(y)", "|", ">", "&", ";", "#", "~"],
        );
        check("größe 'ö ä'", &["größe", "ö ä"]);
    }

    #[test]
    fn broken_command_lines_are_errors() {
        let check = |line: &str, expected| assert_eq!(split(line), Err(expected), "{line}");
        check("a 'b", QuotingError::Unclosed('\''));
        check("a \"b", QuotingError::Unclosed('"'));
        check("a \"b\\", QuotingError::Unclosed('"'));
        check("a \\", QuotingError::TrailingBackslash);
        check("", QuotingError::Empty);
        check(" \n", QuotingError::Empty);
    }

    #[test]
    fn words_are_quoted_where_needed() {
        let check = |word: &str, expected: &str| assert_eq!(quote(word), expected);
        check("npx", "npx");
        check("--a=b/c:d@1,2", "--a=b/c:d@1,2");
        check("", "''");
        check("a b", "'a b'");
        check("${TOKEN}", "'${TOKEN}'");
        check("it's", r"'it'\''s'");
        check("a\x1b[2J", r"$'a\u001b[2J'");
        check("a\n'\\", r"$'a\n\'\\'");
        check("\u{202e}gpj", r"$'\u202egpj'");
        check("\u{e0041}", r"$'\U000e0041'");
        check("größe", "größe");
    }

    #[test]
    fn what_is_joined_is_split_into_the_same_words() {
        let words = ["a", "b c", "", "it's", "\"", "\\", "$x"];
        assert_eq!(split(&join(words)).unwrap(), words);
    }

    #[test]
    fn messages_carry_no_control_characters() {
        assert_eq!(printable("a\x1bb\u{202e}\n"), r"a\u{1b}b\u{202e}\u{a}");
    }
}
