//! Words as nushell has them. It hands over words with their quotes, and puts in what it gets.

/// What a word means, as far as it is typed: without the quotes around it or parts of it.
pub(super) fn unquoted(word: &str) -> String {
    let (mut text, mut quote) = (String::new(), None);
    let mut letters = word.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (None, '\'' | '"' | '`') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            // Only between these quotes a backslash is more than itself.
            (Some('"'), '\\') => text.extend(letters.next()),
            _ => text.push(letter),
        }
    }
    text
}

/// A word as it must stand on a command line. The quote of a word that is not finished stays open.
pub(super) fn quoted(word: &str, is_finished: bool) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./:=@%+,".contains(letter);
    if word.chars().all(is_plain) && !word.is_empty() {
        return word.to_owned();
    }
    let quote = if word.contains('\'') { '"' } else { '\'' };
    let mut text = String::from(quote);
    for letter in word.chars() {
        if quote == '"' && matches!(letter, '"' | '\\') {
            text.push('\\');
        }
        text.push(letter);
    }
    text.extend(is_finished.then_some(quote));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_taken_off() {
        let check = |word: &str, expected: &str| assert_eq!(unquoted(word), expected, "{word}");
        check("plain", "plain");
        check("'a b'", "a b");
        check("`a b`", "a b");
        check(r#""a \"b\" \\""#, r#"a "b" \"#);
        check("x=\"a b", "x=a b");
        check(r"a\b", r"a\b");
        check("exec:'npx -y'", "exec:npx -y");
    }

    #[test]
    fn what_nushell_would_not_take_as_it_is_is_quoted() {
        let check = |word: &str, is_finished, expected: &str| {
            let text = quoted(word, is_finished);
            assert_eq!(text, expected);
            assert_eq!(unquoted(&text), word);
        };
        check("get_weather", true, "get_weather");
        check("https://h/mcp", true, "https://h/mcp");
        check("path=", false, "path=");
        check("a b", true, "'a b'");
        check("a b=", false, "'a b=");
        check("$(rm)", true, "'$(rm)'");
        check("it's \"one\"", true, r#""it's \"one\"""#);
        check("", true, "''");
    }
}
