//! Files with environment variables, one `NAME=value` a line.

use super::template::is_variable;

/// A line that is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BadLine {
    /// Its number, beginning with 1.
    pub(super) line: usize,
}

/// Reads a file of variables. Values are taken as they are: nothing is expanded.
///
/// A line is empty, a `#` comment, or `NAME=value`, with or without `export` before it. A value may
/// stand in single quotes, where all is plain, or in double quotes, where `\n`, `\r`, `\t`, `\"`,
/// `\\` and `\$` are known; both may span lines. In a plain value, ` #` begins a comment.
pub(super) fn parse(text: &str) -> Result<Vec<(String, String)>, BadLine> {
    let mut variables = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return Ok(variables);
        }
        let line = 1 + text[..text.len() - rest.len()].matches('\n').count();
        if rest.starts_with('#') {
            rest = rest.split_once('\n').map_or("", |(_, after)| after);
            continue;
        }
        let (variable, after) = assignment(rest).ok_or(BadLine { line })?;
        variables.push(variable);
        rest = after;
    }
}

/// One assignment, and what follows its line.
fn assignment(text: &str) -> Option<((String, String), &str)> {
    let text = match text.strip_prefix("export") {
        Some(after) if after.starts_with([' ', '\t']) => after.trim_start(),
        _ => text,
    };
    let (name, after) = text.split_once('=')?;
    let name = name.trim_end_matches([' ', '\t']);
    if !is_variable(name) {
        return None;
    }
    let after = after.trim_start_matches([' ', '\t']);
    let (value, after) = match after.as_bytes().first() {
        Some(b'\'') => {
            after[1..].split_once('\'').map(|(value, after)| (value.to_owned(), after))?
        }
        Some(b'"') => double_quoted(&after[1..])?,
        _ => return Some(plain(name, after)),
    };
    let (tail, after) = after.split_once('\n').unwrap_or((after, ""));
    let tail = tail.trim();
    (tail.is_empty() || tail.starts_with('#')).then(|| ((name.to_owned(), value), after))
}

fn plain<'a>(name: &str, text: &'a str) -> ((String, String), &'a str) {
    let (value, after) = text.split_once('\n').unwrap_or((text, ""));
    let value = match value.find(" #").or_else(|| value.find("\t#")) {
        Some(comment) => &value[..comment],
        None if value.starts_with('#') => "",
        None => value,
    };
    ((name.to_owned(), value.trim().to_owned()), after)
}

/// The value up to the closing quote, and what follows it.
fn double_quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut letters = text.char_indices();
    loop {
        match letters.next()? {
            (at, '"') => return Some((value, &text[at + 1..])),
            (_, '\\') => match letters.next()?.1 {
                'n' => value.push('\n'),
                'r' => value.push('\r'),
                't' => value.push('\t'),
                escaped @ ('"' | '\\' | '$') => value.push(escaped),
                other => value.extend(['\\', other]),
            },
            (_, letter) => value.push(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_read() {
        #[track_caller]
        fn check(text: &str, expected: &[(&str, &str)]) {
            let found = parse(text).unwrap();
            let found: Vec<_> = found.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
            assert_eq!(found, expected, "{text}");
        }
        check("", &[]);
        check("\n# comment\n \t\n", &[]);
        check("A=1", &[("A", "1")]);
        check("A=1\r\nB=2\r\n", &[("A", "1"), ("B", "2")]);
        check("export A=1\nexport\tB=2", &[("A", "1"), ("B", "2")]);
        check("exported=1", &[("exported", "1")]);
        check("A = b c \nB=", &[("A", "b c"), ("B", "")]);
        check("A=b#c # comment\nB=#\nC=d\t#e", &[("A", "b#c"), ("B", ""), ("C", "d")]);
        check("A='b # \"c\\n' # comment\nB=2", &[("A", "b # \"c\\n"), ("B", "2")]);
        check(r#"A="b\n\t\"\\\$\q # c" "#, &[("A", "b\n\t\"\\$\\q # c")]);
        check("A=\"1\n2\"\nB='3\n4'", &[("A", "1\n2"), ("B", "3\n4")]);
        check("A=$HOME ${B}", &[("A", "$HOME ${B}")]);
        check("A=b=c", &[("A", "b=c")]);
        check("A=1\nA=2", &[("A", "1"), ("A", "2")]);
    }

    #[test]
    fn other_lines_are_errors() {
        let check = |text: &str, line| assert_eq!(parse(text), Err(BadLine { line }), "{text}");
        check("A", 1);
        check("\n\n1A=2", 3);
        check("A=1\n=2", 2);
        check("A B=1", 1);
        check("A=1\nB='2\n3", 2);
        check("A=\"1", 1);
        check("A='1' 2", 1);
        check("A=\"x\ny\"\nbad", 3);
    }
}
