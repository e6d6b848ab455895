//! The man page: all that the help texts say, in the language of roff (man(7)).

use argh::CommandInfoWithArgs;

use super::tables::{ARGUMENTS, EXAMPLES, FILES, GROUPS, POLICY_FILE, SERVERS};
use super::{names, sentence, spelling, whole_synopsis};
use crate::cli::args::settings::variables;
use crate::cli::args::table::{Flag, Table};
use crate::cli::exit;

/// The page `mcpmini(1)`.
pub fn man() -> String {
    let table = Table::default();
    let mut page = Man::default();
    page.raw(&format!(
        ".TH MCPMINI 1 \"\" \"mcpmini {}\" \"User Commands\"",
        env!("CARGO_PKG_VERSION")
    ));
    page.section("NAME");
    page.raw("mcpmini \\- call the tools of MCP servers from the shell");
    page.section("SYNOPSIS");
    for (index, command) in table.commands().iter().enumerate() {
        if 0 < index {
            page.raw(".br");
        }
        page.bold_line(&format!("mcpmini {}", command.name), &whole_synopsis(command));
    }
    page.section("DESCRIPTION");
    page.paragraph(
        "An MCP server is a program that offers tools, such as get_weather(city, days). mcpmini \
         starts or reaches one, calls a tool, prints the answer and ends. Standard output has the \
         answer and nothing else, and the exit code tells a script what to do next.",
    );
    page.section("COMMANDS");
    table.commands().iter().for_each(|command| page.command(&table, command));
    page.section("OPTIONS");
    page.paragraph(
        "Every command takes these options, before or after its other words, but not after \"--\". \
         Of an option that is given twice the last one counts, unless it is repeatable.",
    );
    for (name, longs) in GROUPS {
        page.subsection(name);
        longs.iter().filter_map(|long| table.long(long)).for_each(|flag| page.flag(flag));
    }
    page.rows("SERVERS", SERVERS);
    page.rows("ARGUMENTS", ARGUMENTS);
    page.section("EXIT STATUS");
    for row in exit::TABLE {
        let retry = match row.retry {
            "" => String::new(),
            retry => format!(" May a script try again? {}.", sentence(retry)),
        };
        page.item(&row.number(), &format!("{}: {}.{retry}", row.class, row.meaning));
    }
    page.rows("FILES", FILES);
    page.section("POLICY FILE");
    for (text, example) in POLICY_FILE {
        page.paragraph(text);
        page.example(example.trim_end());
    }
    page.rows("ENVIRONMENT", &variables());
    page.section("EXAMPLES");
    EXAMPLES.iter().for_each(|example| page.example(example));
    page.text
}

/// Whether these words, the program's name not among them, ask for the man page.
pub fn is_wanted<S: AsRef<std::ffi::OsStr>>(words: &[S]) -> bool {
    words.iter().map(AsRef::as_ref).eq(["help", "--man"])
}

/// A page that grows from top to bottom.
#[derive(Debug, Default)]
struct Man {
    text: String,
}

impl Man {
    /// A line of roff.
    fn raw(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn section(&mut self, name: &str) {
        self.raw(&format!(".SH {}", quoted(name)));
    }

    fn subsection(&mut self, name: &str) {
        self.raw(&format!(".SS {}", quoted(name)));
    }

    fn begin_paragraph(&mut self) {
        // A heading does so by itself.
        let last = self.text.trim_end().lines().last().unwrap_or_default();
        if !last.starts_with(".S") {
            self.raw(".PP");
        }
    }

    fn paragraph(&mut self, text: &str) {
        self.begin_paragraph();
        self.raw(&escaped(text));
    }

    fn bold_line(&mut self, bold: &str, plain: &str) {
        self.raw(format!("\\fB{}\\fR {}", escaped(bold), escaped(plain)).trim_end());
    }

    fn item(&mut self, term: &str, text: &str) {
        self.raw(".TP");
        self.raw(&format!("\\fB{}\\fR", escaped(term)));
        self.raw(&escaped(text));
    }

    fn rows(&mut self, section: &str, rows: &[(&str, &str)]) {
        self.section(section);
        rows.iter().for_each(|(term, text)| self.item(term, &format!("{}.", sentence(text))));
    }

    fn flag(&mut self, flag: &Flag) {
        self.item(spelling(flag).trim_start(), &format!("{}.", sentence(flag.description)));
    }

    fn example(&mut self, example: &str) {
        self.begin_paragraph();
        self.raw(".nf");
        self.raw(&escaped(example));
        self.raw(".fi");
    }

    fn command(&mut self, table: &Table, command: &CommandInfoWithArgs) {
        self.subsection(&format!("{} {}", names(command), whole_synopsis(command)));
        self.paragraph(&format!("{}.", sentence(command.description)));
        command.notes.iter().for_each(|note| self.paragraph(&super::single_braces(note)));
        for word in command.positionals {
            self.item(word.name, &format!("{}.", sentence(word.description)));
        }
        let own = |flag: &&Flag| flag.commands.contains(&command.name);
        table.flags().iter().filter(own).for_each(|flag| self.flag(flag));
        for example in command.examples {
            self.example(&super::single_braces(example));
        }
    }
}

/// Text that roff takes as it is: hyphens and backslashes are plain, and no line is a request.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '\\' => out.push_str("\\e"),
            '-' => out.push_str("\\-"),
            '\'' => out.push_str("\\(aq"),
            '^' => out.push_str("\\(ha"),
            '`' => out.push_str("\\(ga"),
            '~' => out.push_str("\\(ti"),
            '…' => out.push_str("..."),
            letter => out.push(letter),
        }
    }
    match out.starts_with('.') {
        true => format!("\\&{out}"),
        false => out,
    }
}

/// The argument of a macro.
fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text).replace('"', "\\(dq"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_in_it() {
        let page = man();
        let table = Table::default();
        for flag in table.flags() {
            assert!(page.contains(&escaped(flag.long)), "{}", flag.long);
        }
        for command in table.commands() {
            assert!(page.contains(&format!(".SS \"{}", escaped(command.name))), "{}", command.name);
        }
        let variables = variables();
        let rows = [ARGUMENTS, SERVERS, FILES, &variables].concat();
        let terms = rows.iter().map(|(term, _)| *term);
        for term in terms.chain(exit::TABLE.iter().map(|row| row.class)) {
            assert!(page.contains(&escaped(term)), "{term}");
        }
        for line in POLICY_FILE.iter().flat_map(|(_, example)| example.lines()) {
            assert!(page.contains(&escaped(line)), "{line}");
        }
        assert!(!page.contains("{{"), "argh doubles braces");
        assert!(page.is_ascii(), "some renderers know nothing else");
    }

    #[test]
    fn text_is_taken_as_it_is() {
        let check = |text: &str, expected: &str| assert_eq!(escaped(text), expected);
        check("a-b \\ 'c' \"d\"", "a\\-b \\e \\(aqc\\(aq \"d\"");
        check(".SH x", "\\&.SH x");
        check("~/x `y` ^", "\\(ti/x \\(gay\\(ga \\(ha");
        assert_eq!(quoted("a \"b\""), "\"a \\(dqb\\(dq\"");
    }
}
