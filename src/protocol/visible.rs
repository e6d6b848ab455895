//! Text in which nothing is hidden.

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
            letter if is_hidden(letter) => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(letter));
            }
            letter => out.push(letter),
        }
    }
    out
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
