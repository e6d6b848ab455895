//! Text in columns, at most 80 characters wide.

use crate::cli::terminal::{Accent, accent};

/// The width of a line.
pub(super) const WIDTH: usize = 80;

/// A text that grows from top to bottom.
#[derive(Debug)]
pub(super) struct Layout {
    text: String,
    colored: bool,
}

impl Layout {
    /// An empty text.
    pub(super) fn new(colored: bool) -> Layout {
        Layout { text: String::new(), colored }
    }

    /// The text.
    pub(super) fn finish(self) -> String {
        self.text
    }

    /// A line as it is.
    pub(super) fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// An empty line and a heading.
    pub(super) fn heading(&mut self, heading: &str) {
        self.text.push('\n');
        let heading = accent(heading, Accent::Bold, self.colored).into_owned();
        self.line(&heading);
    }

    /// A line with a heading in front of it.
    pub(super) fn headed(&mut self, heading: &str, line: &str) {
        let heading = accent(heading, Accent::Bold, self.colored).into_owned();
        self.line(&format!("{heading} {line}"));
    }

    /// Wrapped text.
    pub(super) fn paragraph(&mut self, text: &str) {
        self.wrap("", text, 0);
    }

    /// Rows of two columns. Where a left side is too long the right side begins on the next line.
    pub(super) fn rows<L: AsRef<str>, R: AsRef<str>>(&mut self, rows: &[(L, R)]) {
        let length = |row: &(L, R)| row.0.as_ref().chars().count();
        let longest = rows.iter().map(length).filter(|length| *length <= 26).max().unwrap_or(0);
        for (left, right) in rows {
            self.wrap(&format!("  {}", left.as_ref()), right.as_ref(), longest + 4);
        }
    }

    /// `left`, and from `column` on the words of `right`.
    fn wrap(&mut self, left: &str, right: &str, column: usize) {
        let mut line = left.to_owned();
        let mut width = left.chars().count();
        if width + 2 > column && column > 0 {
            self.line(&line);
            line.clear();
            width = 0;
        }
        let mut is_new = true;
        for word in right.split_whitespace() {
            let length = word.chars().count();
            if !is_new && width + 1 + length > WIDTH {
                self.line(&line);
                line.clear();
                width = 0;
                is_new = true;
            }
            let gap = if is_new { column.saturating_sub(width) } else { 1 };
            line.extend(std::iter::repeat_n(' ', gap));
            line.push_str(word);
            width += gap + length;
            is_new = false;
        }
        self.line(line.trim_end());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_columns_and_wrap() {
        let mut layout = Layout::new(false);
        layout.rows(&[("a", "one"), ("long", &"word ".repeat(20)), (&"x".repeat(30), "two")]);
        let expected = format!(
            "  a     one\n  long  {}\n        {}\n  {}\n        two\n",
            "word ".repeat(14).trim_end(),
            "word ".repeat(6).trim_end(),
            "x".repeat(30),
        );
        assert_eq!(layout.finish(), expected);
    }

    #[test]
    fn paragraphs_wrap() {
        let mut layout = Layout::new(false);
        layout.paragraph(&"word ".repeat(17));
        assert_eq!(layout.finish(), format!("{}\nword\n", "word ".repeat(16).trim_end()));
    }
}
