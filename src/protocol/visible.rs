//! Text in which nothing is hidden.

use std::borrow::Cow;
use std::fmt::Write;

/// The text with everything that would not be seen, or would be seen elsewhere than it is, written
/// as an escape, as Rust has them: control characters, line ends, characters without a width, those that reorder text
/// (CVE-2021-42574), and the tags that spell out ASCII invisibly.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            letter if is_hidden(letter) => push_escape(&mut out, letter),
            letter => out.push(letter),
        }
    }
    out
}

fn push_escape(out: &mut String, letter: char) {
    let _ = write!(out, "\\u{{{:x}}}", u32::from(letter));
}

/// A text of any length as a terminal may have it. The characters that steer it are left out: C0 and C1
/// controls but line feed and tab, and DEL. What reorders text, breaks lines unseen or has no width is
/// written as an escape, as [`visible`] does; but not the blanks, nor what a script or an emoji needs
/// behind one of its own characters, nor what is there for private use.
pub fn for_terminal(text: &str) -> Cow<'_, str> {
    let is_suspect = |letter| !matches!(letter, '\n' | '\t') && is_hidden(letter);
    if !text.contains(is_suspect) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    for letter in text.chars() {
        match letter {
            '\n' | '\t' => out.push(letter),
            letter if letter.is_control() => {}
            letter if is_blank(letter) || is_needed(letter, before) => out.push(letter),
            letter if is_hidden(letter) => push_escape(&mut out, letter),
            letter => out.push(letter),
        }
        before = letter;
    }
    Cow::Owned(out)
}

/// Whether a character is seen as a blank, or as whatever the reader's font has there.
fn is_blank(letter: char) -> bool {
    matches!(letter,
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{2800}' | '\u{3000}'
        | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}')
}

/// Whether a character that has no width belongs to the one before it: joiners and marks of direction in
/// scripts that have them, and what tells emoji from text. Nothing of the kind belongs to ASCII, except
/// the digits and signs on keys.
fn is_needed(letter: char, before: char) -> bool {
    let is_foreign = !before.is_ascii() && !is_hidden(before);
    match letter {
        '\u{200d}' => is_foreign || before == '\u{fe0f}',
        '\u{200c}' | '\u{200e}' | '\u{200f}' | '\u{fe00}'..='\u{fe0e}' => is_foreign,
        '\u{fe0f}' => is_foreign || before.is_ascii_digit() || matches!(before, '#' | '*'),
        _ => false,
    }
}

/// Whether a character leaves nothing to see where it stands, or is seen elsewhere. Unicode calls most
/// of them format characters or default ignorable code points; blanks that are no space look like one.
pub fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}'
            | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200f}'
            | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}' | '\u{2800}' | '\u{3000}'
            | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
        // Private use: whatever the reader's font makes of it.
        || matches!(letter, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_not_steered_and_hides_nothing() {
        let check = |text: &str, expected: &str| assert_eq!(for_terminal(text), expected);
        check("plain\ttext\n", "plain\ttext\n");
        check("\u{1b}[31mred\u{1b}[0m", "[31mred[0m");
        check("\u{1b}]52;c;aGk=\u{7}x", "]52;c;aGk=x");
        check("a\rb\u{8}c\u{0}d\u{7f}e", "abcde");
        check("\u{9b}31mred\u{85}", "31mred");
        check("\u{202e}txt.exe\u{2066}", "\\u{202e}txt.exe\\u{2066}");
        check("a\u{200b}b\u{feff}c\u{2060}\u{ad}", "a\\u{200b}b\\u{feff}c\\u{2060}\\u{ad}");
        check("one\u{2028}two\u{2029}", "one\\u{2028}two\\u{2029}");
        check("ok\u{e0049}\u{e007f}", "ok\\u{e0049}\\u{e007f}");
        check("read\u{200d}_file\u{fe0f}\u{200f}", "read\\u{200d}_file\\u{fe0f}\\u{200f}");
        check("é\u{200d}\u{200c}\u{fe01}", "é\u{200d}\\u{200c}\\u{fe01}");
        for text in
            ["שלום\u{200f}, 世界\u{3000}👩‍💻", "می\u{200c}خواهم", "❤️ 1️⃣ 🏳️‍🌈", "a\u{a0}b \u{e0b0}"]
        {
            check(text, text);
        }
        assert!(matches!(for_terminal("nothing to do"), Cow::Borrowed(_)));
    }

    #[test]
    fn nothing_is_hidden() {
        let check = |text: &str, expected: &str| assert_eq!(visible(text), expected);
        check("plain, größer, 日本, 👍", "plain, größer, 日本, 👍");
        check("a\u{1b}[2Jb\r\u{7f}\u{9b}", "a\\u{1b}[2Jb\\u{d}\\u{7f}\\u{9b}");
        check("a\nb\tc", "a\\nb\\tc");
        check("\u{202e}txt.exe\u{2066}", "\\u{202e}txt.exe\\u{2066}");
        check("a\u{200b}b\u{200d}\u{feff}\u{2060}", "a\\u{200b}b\\u{200d}\\u{feff}\\u{2060}");
        check("ok\u{e0049}\u{e0067}\u{e007f}", "ok\\u{e0049}\\u{e0067}\\u{e007f}");
        check(
            "x\u{fe0f}\u{e0100}\u{3164}\u{a0}\u{ad}",
            "x\\u{fe0f}\\u{e0100}\\u{3164}\\u{a0}\\u{ad}",
        );
        check("\u{e000}\u{10fffd}", "\\u{e000}\\u{10fffd}");
    }
}
