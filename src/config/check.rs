//! Everything that is wrong with the configuration, each with its place.

use std::path::PathBuf;

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;

use super::definition::Definition;
use super::document::{Document, Malformed, Place};
use super::error::ConfigError;
use super::fields::Issue;
use super::quoting::printable;
use super::resolved::{Origin, Resolved, Search};
use super::source::{File, Layer};
use super::unknown::Unknown;
use super::word::{WordError, is_name};
use super::{Overrides, describe, document, unknown};
use crate::env::Env;

/// Something that is wrong with the configuration.
#[derive(Debug)]
pub struct Finding {
    /// Where; `None` when a file cannot be read at all.
    pub place: Option<Place>,
    /// The server it is about, if it is about one.
    pub server: Option<String>,
    /// What it is.
    pub wrong: Wrong,
}

/// What is wrong.
#[derive(Debug)]
pub enum Wrong {
    /// The file cannot be read.
    File(ConfigError),
    /// The text is no configuration.
    Malformed(Malformed),
    /// A definition is wrong.
    Issue(Issue),
    /// A server cannot be called that.
    Name(WordError),
    /// A value cannot be used.
    Value(ConfigError),
    /// A field is not known.
    Unknown(Unknown),
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// What is there cannot be used.
    Error,
    /// Something is probably not what was meant.
    Warning,
    /// Something has no meaning here.
    Note,
}

impl Severity {
    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

impl Finding {
    /// How bad it is.
    pub fn severity(&self) -> Severity {
        match &self.wrong {
            Wrong::Unknown(Unknown { near: None, .. }) => Severity::Note,
            Wrong::Unknown(_) => Severity::Warning,
            _ => Severity::Error,
        }
    }

    /// What is wrong, without its place.
    pub fn text(&self) -> String {
        let text = match &self.wrong {
            Wrong::File(error) => return error.to_string(),
            Wrong::Malformed(malformed) => malformed.to_string(),
            Wrong::Issue(issue) => issue.to_string(),
            Wrong::Name(error) => error.to_string(),
            Wrong::Unknown(unknown) => unknown.to_string(),
            Wrong::Value(ConfigError::Value(bad)) => {
                format!("\"{}\" {}", printable(&bad.field), bad.problem)
            }
            Wrong::Value(error) => error.to_string(),
        };
        match &self.server {
            Some(server) => format!("Server \"{}\": {text}", printable(server)),
            None => text,
        }
    }
}

/// What was found, and how much was looked at.
#[derive(Debug, Default)]
pub struct Checked {
    /// All that is wrong, file by file.
    pub findings: Vec<Finding>,
    /// The files that were read.
    pub files: Vec<PathBuf>,
    /// How many servers are defined in them.
    pub servers: usize,
    /// Servers of which no value was looked up, because they are not approved.
    pub unapproved: Vec<String>,
}

/// Looks through every file. `is_approved` tells whether the values of a definition may be looked
/// up. No command is run.
pub fn check(env: &Env, overrides: &Overrides, is_approved: &dyn Fn(&Resolved) -> bool) -> Checked {
    let mut checked = Checked::default();
    let search = Search { env, overrides };
    for layer in search.layers() {
        match search.load(*layer, &mut Vec::new()) {
            Ok(None) => (),
            Ok(Some(file)) => {
                checked.files.push(file.path.clone());
                let inspection = Inspection { file: &file, env, overrides, is_approved };
                inspection.all(&mut checked);
            }
            Err(error) => {
                let wrong = Wrong::File(error);
                checked.findings.push(Finding { place: None, server: None, wrong });
            }
        }
    }
    checked
}

struct Inspection<'a> {
    file: &'a File,
    env: &'a Env,
    overrides: &'a Overrides,
    is_approved: &'a dyn Fn(&Resolved) -> bool,
}

impl Inspection<'_> {
    fn all(&self, checked: &mut Checked) {
        let (document, mistakes) = Document::examine(&self.file.text);
        let whole = document::whole(&self.file.text).ok().flatten();
        let unknown = whole.iter().flat_map(unknown::at_the_top);
        let found = unknown.map(|(at, unknown)| self.found(at, None, Wrong::Unknown(unknown)));
        checked.findings.extend(found);
        let mistakes = mistakes.into_iter();
        let found =
            mistakes.map(|(at, malformed)| self.found(at, None, Wrong::Malformed(malformed)));
        checked.findings.extend(found);
        for (name, said) in document.servers() {
            checked.servers += 1;
            match said {
                Err((at, malformed)) => {
                    // It names the server itself.
                    checked.findings.push(self.found(at, None, Wrong::Malformed(malformed)));
                }
                Ok(object) => self.server(name, object, checked),
            }
        }
    }

    fn server(&self, name: &str, object: &Object<'_>, checked: &mut Checked) {
        if !is_name(name) {
            let wrong = Wrong::Name(WordError::Name(name.to_owned()));
            checked.findings.push(self.found(object.start(), None, wrong));
        }
        let unknown = unknown::in_definition(object).into_iter();
        let found =
            unknown.map(|(at, unknown)| self.found(at, Some(name), Wrong::Unknown(unknown)));
        checked.findings.extend(found);
        let definition = match Definition::read(object) {
            Ok(definition) => definition,
            Err(issues) => {
                let found = issues.into_iter();
                let found =
                    found.map(|(at, issue)| self.found(at, Some(name), Wrong::Issue(issue)));
                return checked.findings.extend(found);
            }
        };
        if definition.disabled {
            return;
        }
        let File { layer, path, .. } = self.file;
        let origin = Origin::File { layer: *layer, path: path.clone() };
        let resolved = Resolved { name: name.to_owned(), origin, definition, is_stored: true };
        if *layer == Layer::Project && !(self.is_approved)(&resolved) {
            return checked.unapproved.push(name.to_owned());
        }
        for (field, error) in describe::faults(&resolved, self.env, &self.without_flags()) {
            let at = offset(object, &field);
            checked.findings.push(self.found(at, Some(name), Wrong::Value(error)));
        }
    }

    /// Flags are for one server, and not for all.
    fn without_flags(&self) -> Overrides {
        Overrides { config: self.overrides.config.clone(), ..Overrides::default() }
    }

    fn found(&self, at: usize, server: Option<&str>, wrong: Wrong) -> Finding {
        Finding {
            place: Some(Place::at(&self.file.path, &self.file.text, at)),
            server: server.map(str::to_owned),
            wrong,
        }
    }
}

/// Where a field stands: `url`, `args[1]`, `env.TOKEN`.
fn offset(object: &Object<'_>, field: &str) -> usize {
    let (name, inner) = match field.split_once(['.', '[']) {
        Some((name, inner)) => (name, Some(inner.trim_end_matches(']'))),
        None => (field, None),
    };
    let Some(value) = object.get(name).map(|property| &property.value) else {
        return object.start();
    };
    let inside = inner.and_then(|inner| match value {
        Value::Array(array) => Some(array.elements.get(inner.parse::<usize>().ok()?)?.start()),
        Value::Object(object) => Some(object.get(inner)?.value.start()),
        _ => None,
    });
    inside.unwrap_or_else(|| value.start())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::scratch::Scratch;

    const USER: &str = "h/.config/mcpmini/config.json";

    /// What is found, without the scratch directory.
    #[track_caller]
    fn check_files(files: &[(&str, &str)], approved: bool, expected: &[&str]) {
        let scratch = Scratch::new();
        scratch.write("p/file", "");
        for (name, text) in files {
            scratch.write(name, text);
        }
        let env = Env {
            cwd: Some(scratch.path("p")),
            variables: [("HOME", scratch.path("h").to_str().unwrap()), ("SET", "hunter2")].into(),
            user: rustix::process::geteuid().as_raw(),
            ..Env::default()
        };
        let checked = check(&env, &Overrides::default(), &|_| approved);
        let found = checked.findings.iter().map(|finding| {
            let place =
                finding.place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
            let told = format!("{place}{}", finding.text());
            assert!(!told.contains("hunter2"), "{told}");
            told.replace(&format!("{}/", scratch.path("").display()), "")
        });
        let unapproved = checked.unapproved.iter().map(|name| format!("unapproved {name}"));
        assert_eq!(found.chain(unapproved).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn every_mistake_is_named_with_its_place() {
        check_files(&[], true, &[]);
        check_files(&[(USER, r#"{"mcpServers": {"a": {"command": "x"}}}"#)], true, &[]);
        check_files(
            &[
                ("p/.mcp.json", "{\n  \"mcpServers\": [\n}"),
                (
                    USER,
                    "{ // mine\n  \"mcpServers\": {\n    \"a b\": {\"command\": \"x\"},\n    \"b\": 1,\n    \
                     \"c\": {\"command\": \"x\", \"args\": [1,\n      \"${\"], \"timeout\": \"y\"},\n    \
                     \"d\": {\"command\": \"x\", \"args\": [\"-a\",\n      \"${NO}\"], \"cwd\": \"none\",\n      \
                     \"env\": {\"E\": \"${\",\n        \"F\": \"${file:none}\"}},\n    \
                     \"e\": {\"url\": \"ftp://${SET}\"},\n    \
                     \"f\": {\"url\": \"${NO}\", \"disabled\": true}\n  }\n}",
                ),
            ],
            true,
            &[
                "p/.mcp.json:3:1: not JSON: unexpected close brace",
                &format!(
                    "{USER}:3:12: 'a b' is no name of a server: names have 1 to 64 letters, digits, `.`, `_` and `-`"
                ),
                &format!("{USER}:4:10: \"b\" must be an object, and is a number"),
                &format!(
                    "{USER}:5:36: Server \"c\": \"args[0]\" must be a string, and is a number"
                ),
                &format!(
                    "{USER}:6:25: Server \"c\": \"timeout\" must be a whole number of milliseconds, and is a string"
                ),
                &format!(
                    "{USER}:8:7: Server \"d\": \"args[1]\" needs the variable NO, which is not set"
                ),
                &format!(
                    "{USER}:9:20: Server \"d\": \"env.E\" has a ${{ that begins none of ${{NAME}}, ${{NAME:-default}}, ${{env:NAME}} and ${{file:PATH}}; a plain one is written $${{"
                ),
                &format!(
                    "{USER}:10:14: Server \"d\": \"env.F\" needs h/.config/mcpmini/none, and there is no such file"
                ),
                &format!(
                    "{USER}:8:24: Server \"d\": \"cwd\" is no directory: h/.config/mcpmini/none"
                ),
                &format!(
                    "{USER}:11:18: Server \"e\": \"url\" cannot be used: its scheme ftp is none of http, https and unix"
                ),
            ],
        );
    }

    /// A mistake of the file hides none of its servers.
    #[test]
    fn mistakes_of_a_file_hide_nothing() {
        let both = "both \"mcpServers\" and \"servers\" are set";
        check_files(
            &[(
                USER,
                "{\"mcpServers\": {\n\"a\": {\"url\": 1},\n\"a\": {\"url\": 2},\n\"a\": {\"command\": \"x\"},\n\
                 \"b\": {\"command\": 3}},\n\"inputs\": 1, \"inputs\": 2,\n\
                 \"servers\": {\"c\": {\"url\": 4}}\n}",
            )],
            true,
            &[
                &format!("{USER}:6:14: \"inputs\" is there twice"),
                &format!("{USER}:7:1: {both}"),
                &format!("{USER}:3:1: \"a\" is there twice"),
                &format!("{USER}:4:1: \"a\" is there twice"),
                &format!("{USER}:2:14: Server \"a\": \"url\" must be a string, and is a number"),
                &format!("{USER}:3:14: Server \"a\": \"url\" must be a string, and is a number"),
                &format!(
                    "{USER}:5:18: Server \"b\": \"command\" must be a string or an array of strings, and is a number"
                ),
                &format!("{USER}:7:26: Server \"c\": \"url\" must be a string, and is a number"),
            ],
        );
        check_files(
            &[(USER, "{\"mcpServers\": {}, \"mcpServers\": {\n\"a\": {\"url\": 1}}}")],
            true,
            &[
                &format!("{USER}:1:20: \"mcpServers\" is there twice"),
                &format!("{USER}:2:14: Server \"a\": \"url\" must be a string, and is a number"),
            ],
        );
    }

    #[test]
    fn fields_that_are_not_known_are_told_and_are_no_mistakes() {
        check_files(
            &[(
                USER,
                "{\"$schema\": \"x\", \"inputs\": [],\n\"theme\": 1,\n\"mcpServer\": {},\n\
                 \"mcpServers\": {\"a\": {\"command\": \"x\", \"arg\": [],\n\
                 \"autoApprove\": [], \"trust\": true},\n\
                 \"b\": {\"url\": \"https://h/\", \"header\": {},\n\"oauth\": {\"scope\": \"x\", \"x\": 1}},\n\
                 \"c\": {\"comand\": \"x\"}}}",
            )],
            true,
            &[
                &format!("{USER}:2:1: \"theme\" is not known, and left alone"),
                &format!("{USER}:3:1: \"mcpServer\" is not known; did you mean \"mcpServers\"?"),
                &format!("{USER}:4:38: Server \"a\": \"arg\" is not known; did you mean \"args\"?"),
                &format!("{USER}:5:1: Server \"a\": \"autoApprove\" is not known, and left alone"),
                &format!(
                    "{USER}:6:28: Server \"b\": \"header\" is not known; did you mean \"headers\"?"
                ),
                &format!(
                    "{USER}:7:11: Server \"b\": \"oauth.scope\" is not known; did you mean \"scopes\"?"
                ),
                &format!("{USER}:7:25: Server \"b\": \"oauth.x\" is not known, and left alone"),
                &format!(
                    "{USER}:8:7: Server \"c\": \"comand\" is not known; did you mean \"command\"?"
                ),
                &format!("{USER}:8:6: Server \"c\": stdio server requires \"command\" field"),
            ],
        );
    }

    /// Each name that is known is read: a value of no type that any has is a mistake.
    #[test]
    fn fields_that_are_known_are_read() {
        let is_wrong = |text: String| {
            let whole = document::whole(&text).unwrap().unwrap();
            Definition::read(&whole).is_err()
        };
        for name in super::super::definition::FIELDS {
            let value = if *name == "trust" || *name == "oauth" { "1" } else { "[[]]" };
            let stdio = format!("{{\"command\": \"x\", \"{name}\": {value}}}");
            let http = format!("{{\"url\": \"https://h/\", \"{name}\": {value}}}");
            assert!(is_wrong(stdio) || is_wrong(http), "{name}");
        }
        for name in super::super::oauth::fields() {
            assert!(
                is_wrong(format!("{{\"url\": \"https://h/\", \"oauth\": {{\"{name}\": [[]]}}}}")),
                "{name}"
            );
        }
    }

    #[test]
    fn what_is_not_approved_is_not_looked_up() {
        let project = r#"{"mcpServers": {"a": {"command": "${NO}"}, "b": {"url": 1}}}"#;
        let wrong = "p/.mcp.json:1:57: Server \"b\": \"url\" must be a string, and is a number";
        check_files(&[("p/.mcp.json", project)], false, &[wrong, "unapproved a"]);
    }
}
