//! References in the files of other programs, and the same ones as they are written here.
//!
//! What looks like a reference of ours and is none in the other program becomes plain text. What
//! cannot be said here is an error: a wrong value would be worse than none.

use std::path::PathBuf;

use serde_json::Value;

use crate::config::template::is_variable;

/// How a program writes references.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Not at all.
    Plain,
    /// `${NAME}`, `${NAME:-default}`.
    Shell,
    /// `$NAME` and the same.
    ShellWithoutBraces,
    /// `${env:NAME}`, `${file:PATH}`.
    Windsurf,
    /// `${env:NAME}`, `${workspaceFolder}`, `${input:id}` and the like.
    Editor,
    /// `{env:NAME}`, `{file:PATH}`.
    Braces,
}

/// What a reference can stand for beside a variable.
#[derive(Debug, Clone, Default)]
pub(super) struct Surroundings {
    /// The folder that is open in the editor, when the file belongs to one.
    pub(super) workspace: Option<PathBuf>,
    /// The directory of the file.
    pub(super) directory: PathBuf,
    /// The home directory.
    pub(super) home: Option<PathBuf>,
    /// What VS Code asks its user for.
    pub(super) inputs: Vec<Input>,
}

/// Something that VS Code asks its user for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Input {
    pub(super) id: String,
    pub(super) description: Option<String>,
    pub(super) default: Option<String>,
}

/// A text with the references of this program.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Translated {
    pub(super) text: String,
    /// The inputs it refers to.
    pub(super) inputs: Vec<Input>,
}

/// Why a text cannot be translated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Untranslatable {
    /// A reference that means nothing outside of the other program.
    Reference(String),
    /// A `$` or a backslash in front of a reference would make it plain text here.
    Escaped(String),
    /// Here a value that begins with `!` is the output of a command.
    Command,
}

impl Input {
    /// The inputs of a file of VS Code.
    pub(super) fn all(inputs: Option<&Value>) -> Vec<Input> {
        let inputs = inputs.and_then(Value::as_array).into_iter().flatten();
        let input = |value: &Value| {
            let text = |name: &str| value.get(name)?.as_str().map(str::to_owned);
            Some(Input {
                id: text("id")?,
                description: text("description"),
                default: text("default").filter(|default| !default.contains('}')),
            })
        };
        inputs.filter_map(input).collect()
    }

    /// The variable that has its value here.
    pub(super) fn variable(&self) -> String {
        let letter = |letter: char| match letter.is_ascii_alphanumeric() {
            true => letter.to_ascii_uppercase(),
            false => '_',
        };
        format!("MCPMINI_INPUT_{}", self.id.chars().map(letter).collect::<String>())
    }
}

impl Dialect {
    /// The text as it is written here.
    pub(super) fn translate(
        self,
        text: &str,
        surroundings: &Surroundings,
    ) -> Result<Translated, Untranslatable> {
        let mut out = Translated::default();
        let mut rest = text;
        while let Some((before, reference, after)) = self.next(rest) {
            out.text.push_str(&before.replace("${", "$${"));
            match self.reference(reference, surroundings)? {
                Meaning::Text(text) => out.text.push_str(&text.replace("${", "$${")),
                Meaning::Reference(inside, input) => {
                    if out.text.ends_with(['$', '\\']) {
                        return Err(Untranslatable::Escaped(reference.to_owned()));
                    }
                    out.text.push_str(&format!("${{{inside}}}"));
                    out.inputs.extend(input);
                }
            }
            rest = after;
        }
        out.text.push_str(&rest.replace("${", "$${"));
        Ok(out)
    }

    /// The next reference in a text: what stands before it, what is in it, and what follows.
    fn next(self, text: &str) -> Option<(&str, &str, &str)> {
        match self {
            Dialect::Plain => None,
            Dialect::Braces => {
                let at = [text.find("{env:"), text.find("{file:")].into_iter().flatten().min()?;
                let (inside, after) = text[at + 1..].split_once('}')?;
                Some((&text[..at], inside, after))
            }
            // Else it is a plain `$`.
            Dialect::ShellWithoutBraces => text.match_indices('$').find_map(|(at, _)| {
                let rest = &text[at + 1..];
                if let Some(braced) = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
                    return Some((&text[..at], braced.0, braced.1));
                }
                let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
                let end = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
                let (name, after) = rest.split_at(end);
                is_variable(name).then_some((&text[..at], name, after))
            }),
            Dialect::Shell | Dialect::Windsurf | Dialect::Editor => {
                for (at, _) in text.match_indices("${") {
                    let (inside, after) = text[at + 2..].split_once('}')?;
                    if self != Dialect::Shell || is_shell(inside) {
                        return Some((&text[..at], inside, after));
                    }
                }
                None
            }
        }
    }

    fn reference(
        self,
        inside: &str,
        surroundings: &Surroundings,
    ) -> Result<Meaning, Untranslatable> {
        let unknown = || Untranslatable::Reference(inside.to_owned());
        if let (Dialect::Shell | Dialect::ShellWithoutBraces, true) = (self, is_shell(inside)) {
            return Ok(Meaning::Reference(inside.to_owned(), None));
        }
        if let Some(name) = inside.strip_prefix("env:") {
            let named = is_variable(name) && !matches!(self, Dialect::ShellWithoutBraces);
            return named.then(|| Meaning::Reference(name.to_owned(), None)).ok_or_else(unknown);
        }
        match (self, inside.strip_prefix("file:")) {
            (Dialect::Windsurf | Dialect::Braces, Some(path)) => {
                let path = match (path.strip_prefix("~/"), &surroundings.home) {
                    (Some(below), Some(home)) => home.join(below),
                    (None, _) => surroundings.directory.join(path),
                    (Some(_), None) => return Err(unknown()),
                };
                Ok(Meaning::Reference(format!("file:{}", path.display()), None))
            }
            (Dialect::Editor, _) => editor(inside, surroundings).ok_or_else(unknown),
            _ => Err(unknown()),
        }
    }
}

/// What a reference comes to.
enum Meaning {
    /// Text that is known now.
    Text(String),
    /// A reference: what stands between `${` and `}`, and the input it is for.
    Reference(String, Option<Input>),
}

/// Whether it is `NAME` or `NAME:-default`.
fn is_shell(inside: &str) -> bool {
    is_variable(inside.split_once(":-").map_or(inside, |(name, _)| name))
}

/// What the variables of VS Code and Cursor stand for.
fn editor(inside: &str, surroundings: &Surroundings) -> Option<Meaning> {
    let workspace = surroundings.workspace.as_ref();
    if let Some(id) = inside.strip_prefix("input:") {
        let input = surroundings.inputs.iter().find(|input| input.id == id)?;
        let default = input.default.as_ref().map(|default| format!(":-{default}"));
        let inside = format!("{}{}", input.variable(), default.unwrap_or_default());
        return Some(Meaning::Reference(inside, Some(input.clone())));
    }
    match inside {
        "userHome" => Some(Meaning::Reference("HOME".to_owned(), None)),
        "workspaceFolder" => Some(Meaning::Text(workspace?.to_string_lossy().into_owned())),
        "workspaceFolderBasename" => {
            Some(Meaning::Text(workspace?.file_name()?.to_string_lossy().into_owned()))
        }
        "/" | "pathSeparator" => Some(Meaning::Text("/".to_owned())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::template::{self, Piece};

    fn surroundings() -> Surroundings {
        let input = |id: &str, default: Option<&str>| Input {
            id: id.to_owned(),
            description: None,
            default: default.map(str::to_owned),
        };
        Surroundings {
            workspace: Some("/w/proj".into()),
            directory: "/home/u/.conf".into(),
            home: Some("/home/u".into()),
            inputs: vec![input("api-key", None), input("level", Some("info"))],
        }
    }

    #[track_caller]
    fn check(dialect: Dialect, text: &str, expected: &str) {
        let translated = dialect.translate(text, &surroundings()).unwrap();
        assert_eq!(translated.text, expected, "{text}");
        assert!(template::parse(&translated.text).is_ok(), "{text}");
    }

    #[test]
    fn every_dialect_is_translated() {
        use Dialect::{Braces, Editor, Plain, Shell, ShellWithoutBraces, Windsurf};
        check(Plain, "a ${B} $C {env:D} $${E}", "a $${B} $C {env:D} $$${E}");
        check(Shell, "a ${B} ${C:-d e} $F", "a ${B} ${C:-d e} $F");
        check(Shell, "${env:B} ${} ${C} ${", "$${env:B} $${} ${C} $${");
        check(ShellWithoutBraces, "$A ${B} ${C:-d} $1 5$ $", "${A} ${B} ${C:-d} $1 5$ $");
        check(ShellWithoutBraces, "a$B_2.c$D/e", "a${B_2}.c${D}/e");
        check(Windsurf, "${env:A}${file:/k}${file:~/k}", "${A}${file:/k}${file:/home/u/k}");
        check(Editor, "${env:A} ${userHome}/x${/}y${pathSeparator}", "${A} ${HOME}/x/y/");
        check(Editor, "${workspaceFolder}:${workspaceFolderBasename}", "/w/proj:proj");
        let inputs = "${MCPMINI_INPUT_API_KEY} ${MCPMINI_INPUT_LEVEL:-info}";
        check(Editor, "${input:api-key} ${input:level}", inputs);
        check(Braces, "{env:A}{x}{file:k}${B}", "${A}{x}${file:/home/u/.conf/k}$${B}");
        check(Braces, "{env:A", "{env:A");
        // However many there are: such a text is not taken apart by recursion.
        let (many, more) = ("$".repeat(100_000), "${a.b}".repeat(100_000));
        check(ShellWithoutBraces, &format!("{many} $A"), &format!("{many} ${{A}}"));
        check(Shell, &format!("{more}${{A}}"), &format!("{}${{A}}", more.replace('$', "$$")));
    }

    #[test]
    fn what_was_plain_text_stays_plain_text() {
        for text in ["${A}", "$${A}", r"\${A}", "$$${A}", "${file:/etc/passwd}", "${", "a${b"] {
            let translated = Dialect::Plain.translate(text, &surroundings()).unwrap().text;
            let pieces = template::parse(&translated).unwrap();
            let plain: String = pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Text(text) => *text,
                    other => panic!("{text}: {other:?}"),
                })
                .collect();
            assert_eq!(plain, text);
        }
    }

    #[test]
    fn what_cannot_be_said_is_an_error() {
        use Dialect::{Braces, Editor, Shell, ShellWithoutBraces, Windsurf};
        let check = |dialect: Dialect, text: &str, expected: &str| {
            let translated = dialect.translate(text, &surroundings());
            assert_eq!(translated, Err(Untranslatable::Reference(expected.to_owned())), "{text}");
        };
        check(Editor, "a ${command:x.y} b", "command:x.y");
        check(Editor, "${config:x}", "config:x");
        check(Editor, "${input:other}", "input:other");
        check(Editor, "${B}", "B");
        check(Windsurf, "${B}", "B");
        check(Windsurf, "${env:}", "env:");
        check(Braces, "{env:1}", "env:1");
        check(ShellWithoutBraces, "${a.b}", "a.b");
        let none = Surroundings::default();
        let unknown = Err(Untranslatable::Reference("workspaceFolder".to_owned()));
        assert_eq!(Editor.translate("${workspaceFolder}", &none), unknown);
        let escaped = Err(Untranslatable::Escaped("A".to_owned()));
        assert_eq!(Shell.translate("$${A}", &none), escaped);
        assert_eq!(Shell.translate(r"\${A}", &none), escaped);
    }
}
