//! Where in the arguments a word puts its value: `a`, `a.b`, `a[]`, `a[2].b`.

use std::fmt;

/// The longest path, in steps.
const STEPS: usize = 64;

/// The highest index of an array. Elements that a higher index would skip cost memory.
const INDEX: usize = 9_999;

/// Characters that mean something in a key. A backslash takes one literally.
const SPECIAL: [char; 5] = ['.', '[', '=', ':', '\\'];

/// Characters that mean something at the start of a word.
const SPECIAL_FIRST: [char; 4] = ['@', '{', '"', '-'];

/// One step into a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// The member of an object.
    Key(String),
    /// The element of an array, counted from zero.
    Index(usize),
    /// A new element at the end of an array.
    Append,
}

/// A path from the arguments as a whole to one value; at least one step, the first of them a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KeyPath(pub(super) Vec<Step>);

/// Why a text is no path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyFault {
    /// A name is empty: `.a`, `a..b`, `[]`.
    EmptyName,
    /// A bracket holds something other than a number, or does not close.
    Brackets,
    /// Something other than `.` or `[` follows a bracket.
    AfterBrackets,
    /// An index is over 9,999.
    Index,
    /// There are more than 64 steps.
    Length,
}

impl KeyPath {
    /// The path to a member of the arguments.
    pub(super) fn key(name: &str) -> KeyPath {
        KeyPath(vec![Step::Key(name.to_owned())])
    }

    /// Reads a path.
    pub(super) fn parse(text: &str) -> Result<KeyPath, KeyFault> {
        let mut steps = Vec::new();
        let mut rest = text;
        loop {
            let (name, after) = name(rest);
            if name.is_empty() {
                return Err(KeyFault::EmptyName);
            }
            steps.push(Step::Key(name));
            rest = brackets(after, &mut steps)?;
            if steps.len() > STEPS {
                return Err(KeyFault::Length);
            }
            match rest.strip_prefix('.') {
                Some(next) => rest = next,
                None if rest.is_empty() => return Ok(KeyPath(steps)),
                None => return Err(KeyFault::AfterBrackets),
            }
        }
    }
}

/// The name at the start of a text, unescaped, and what follows it.
fn name(text: &str) -> (String, &str) {
    let mut name = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '.' | '[' => return (name, &text[at..]),
            '\\' => match letters.as_str().chars().next().filter(char::is_ascii_punctuation) {
                Some(literal) => {
                    letters.next();
                    name.push(literal);
                }
                None => name.push('\\'),
            },
            _ => name.push(letter),
        }
    }
    (name, "")
}

/// Reads the `[…]` at the start of a text, any number of them, and returns what follows.
fn brackets<'t>(text: &'t str, steps: &mut Vec<Step>) -> Result<&'t str, KeyFault> {
    let mut rest = text;
    while let Some(open) = rest.strip_prefix('[') {
        let (index, after) = open.split_once(']').ok_or(KeyFault::Brackets)?;
        steps.push(match index {
            "" => Step::Append,
            _ if !index.bytes().all(|byte| byte.is_ascii_digit()) => {
                return Err(KeyFault::Brackets);
            }
            _ => {
                let index = index.parse().ok().filter(|index| *index <= INDEX);
                Step::Index(index.ok_or(KeyFault::Index)?)
            }
        });
        rest = after;
    }
    Ok(rest)
}

/// The place of the first `=` of a word that no backslash takes literally.
pub(super) fn first_equals(word: &str) -> Option<usize> {
    let mut literal = false;
    word.bytes().position(|byte| {
        let found = byte == b'=' && !literal;
        literal = byte == b'\\' && !literal;
        found
    })
}

/// A name as it is written in a path, with backslashes where it needs them.
pub(super) fn escaped(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if SPECIAL.contains(&letter) || (text.is_empty() && SPECIAL_FIRST.contains(&letter)) {
            text.push('\\');
        }
        text.push(letter);
    }
    text
}

/// The steps as they are written in a word.
pub(super) fn written(steps: &[Step]) -> String {
    let mut text = String::new();
    for step in steps {
        match step {
            Step::Key(name) if text.is_empty() => text = escaped(name),
            Step::Key(name) => text = member(&text, name),
            Step::Index(index) => text = format!("{text}[{index}]"),
            Step::Append => text.push_str("[]"),
        }
    }
    text
}

/// The names of the steps with dots between them, as if they were one name.
pub(super) fn dotted(steps: &[Step]) -> String {
    let names = steps.iter().map(|step| match step {
        Step::Key(name) => name.as_str(),
        Step::Index(_) | Step::Append => "",
    });
    names.collect::<Vec<_>>().join(".")
}

/// The path to a member of the value at `parent`; an empty `parent` is the arguments as a whole.
pub(super) fn member(parent: &str, name: &str) -> String {
    let dot = if parent.is_empty() { "" } else { "." };
    format!("{parent}{dot}{}", escaped(name))
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&written(&self.0))
    }
}

impl fmt::Display for KeyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyFault::EmptyName => f.write_str("a name in the key is empty"),
            KeyFault::Brackets => {
                f.write_str("brackets hold a number or nothing (\\[ is a literal bracket)")
            }
            KeyFault::AfterBrackets => f.write_str("after ] comes . or [ or ="),
            KeyFault::Index => write!(f, "the index is over {INDEX}"),
            KeyFault::Length => write!(f, "the key has over {STEPS} steps"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Step::{Append, Index};
    use super::*;

    fn key(name: &str) -> Step {
        Step::Key(name.into())
    }

    #[test]
    fn a_path_is_read_and_written_again() {
        let check = |text: &str, expected: &[Step]| {
            let path = KeyPath::parse(text).unwrap();
            assert_eq!(path.0, expected, "{text}");
            assert_eq!(KeyPath::parse(&path.to_string()).unwrap().0, expected, "{path}");
        };
        check("a", &[key("a")]);
        check("a.b.c", &[key("a"), key("b"), key("c")]);
        check("a[]", &[key("a"), Append]);
        check("a[2]", &[key("a"), Index(2)]);
        check("a[0][1].b[]", &[key("a"), Index(0), Index(1), key("b"), Append]);
        check(r"a\.b", &[key("a.b")]);
        check(r"a\\.b", &[key(r"a\"), key("b")]);
        check(r"filter\[name\]", &[key("filter[name]")]);
        check(r"a\=b\:c", &[key("a=b:c")]);
        check(r"\@type", &[key("@type")]);
        check(r"\--x", &[key("--x")]);
        check(r"a\b", &[key(r"a\b")]);
        check(r"a\", &[key(r"a\")]);
        check("名前.x y", &[key("名前"), key("x y")]);
        check("0.1", &[key("0"), key("1")]);
        check("]", &[key("]")]);
    }

    #[test]
    fn what_is_no_path_says_why() {
        let check = |text: &str, expected| {
            assert_eq!(KeyPath::parse(text), Err(expected), "{text}");
        };
        check("", KeyFault::EmptyName);
        check(".a", KeyFault::EmptyName);
        check("a.", KeyFault::EmptyName);
        check("a..b", KeyFault::EmptyName);
        check("[]", KeyFault::EmptyName);
        check("a.[0]", KeyFault::EmptyName);
        check("a[", KeyFault::Brackets);
        check("a[x]", KeyFault::Brackets);
        check("a[-1]", KeyFault::Brackets);
        check("a[٣]", KeyFault::Brackets);
        check("a[1]b", KeyFault::AfterBrackets);
        check("a[10000]", KeyFault::Index);
        check("a[99999999999999999999999]", KeyFault::Index);
        check(&"a.".repeat(200_000), KeyFault::Length);
    }

    #[test]
    fn the_first_equals_sign_splits_unless_it_is_escaped() {
        let check = |word, expected| assert_eq!(first_equals(word), expected, "{word}");
        check("a=b=c", Some(1));
        check(r"a\=b=c", Some(4));
        check(r"a\\=b", Some(3));
        check("a", None);
        check("=", Some(0));
        check(r"\=", None);
    }
}
