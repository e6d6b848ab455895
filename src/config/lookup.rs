//! The values that references stand for.
//!
//! This reads variables and files, and it runs commands where the user's own file says so.

use std::path::{Path, PathBuf};

use super::error::ConfigError;
use super::problem::{BadValue, Problem};
use super::resolved::{Origin, Resolved};
use super::secret_command;
use super::template::{self, Piece};
use crate::env::{Env, Secret};
use crate::protocol::mask::MASK;
use crate::store::{self, Guard};

/// The longest file that is drawn in, in bytes.
const FILE_LIMIT: u64 = 64 << 10;

/// Looks things up for the values of one definition.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lookup<'a> {
    pub(super) resolved: &'a Resolved,
    pub(super) env: &'a Env,
    /// Whether commands are run.
    pub(super) runs_commands: bool,
}

impl Lookup<'_> {
    /// Says what is wrong with a field.
    pub(super) fn wrong(&self, field: &str, problem: Problem) -> ConfigError {
        // A flag is not in the file.
        let path = self.resolved.origin.path().filter(|_| !field.starts_with('-'));
        ConfigError::Value(Box::new(BadValue {
            path: path.map(Path::to_owned),
            server: self.resolved.name.clone(),
            field: field.to_owned(),
            problem,
        }))
    }

    /// What relative paths are relative to: the directory of the file, or the working directory.
    pub(super) fn directory(&self) -> PathBuf {
        let path = self.resolved.origin.path().and_then(Path::parent).map(Path::to_owned);
        path.or_else(|| self.env.cwd.clone()).unwrap_or_default()
    }

    /// Whether the definition is the user's own, and may use what a stranger must not.
    pub(super) fn is_own(&self) -> bool {
        self.resolved.origin.layer().is_none_or(|layer| layer.is_own())
    }

    /// A value that may be a secret: `!command line`, or a template.
    pub(super) fn secret(&self, field: &str, template: &Secret) -> Result<Secret, ConfigError> {
        match template.expose().strip_prefix('!') {
            None => self.text(field, template.expose()).map(Secret::new),
            Some(line) => {
                self.may_run(field)?;
                if !self.runs_commands {
                    return Ok(Secret::from(MASK));
                }
                secret_command::run(line, self.env)
                    .map_err(|fault| self.wrong(field, Problem::Command(fault)))
            }
        }
    }

    /// Errors when the definition must not have a command run for one of its values.
    pub(super) fn may_run(&self, field: &str) -> Result<(), ConfigError> {
        match self.is_own() {
            true => Ok(()),
            false => Err(self.wrong(field, Problem::NotOwn("!command"))),
        }
    }

    /// A template with its references followed. Words of the command line are no templates.
    pub(super) fn text(&self, field: &str, template: &str) -> Result<String, ConfigError> {
        let mut text = String::new();
        if self.resolved.origin == Origin::CommandLine {
            text.push_str(template);
        } else {
            let pieces = template::parse(template);
            for piece in pieces.map_err(|_| self.wrong(field, Problem::Reference))? {
                match piece {
                    Piece::Text(plain) => text.push_str(plain),
                    Piece::Variable { name, default } => {
                        text.push_str(&self.variable(field, name, default)?);
                    }
                    Piece::File(path) => text.push_str(&self.secret_file(field, path)?),
                }
            }
        }
        // Neither an argument nor a variable nor a path can have one.
        if text.contains('\0') { Err(self.wrong(field, Problem::Nul)) } else { Ok(text) }
    }

    /// A template with its references followed, but for those to variables that `stays` names and those
    /// that lead nowhere.
    pub(super) fn text_but(&self, template: &str, stays: fn(&str) -> bool) -> String {
        let Ok(pieces) = template::parse(template) else { return template.to_owned() };
        let texts = pieces.into_iter().map(|piece| match piece {
            Piece::Text(plain) => plain.to_owned(),
            Piece::Variable { name, .. } if stays(name) => format!("${{{name}}}"),
            Piece::Variable { name, default } => {
                self.variable("", name, default).unwrap_or_else(|_| format!("${{{name}}}"))
            }
            Piece::File(path) => {
                self.secret_file("", path).unwrap_or_else(|_| format!("${{file:{path}}}"))
            }
        });
        texts.collect()
    }

    /// The value of a variable; the default when there is one and the variable is unset or empty.
    pub(super) fn variable(
        &self,
        field: &str,
        name: &str,
        default: Option<&str>,
    ) -> Result<String, ConfigError> {
        let value = self.env.variable(name);
        match (value.filter(|value| default.is_none() || !value.is_empty()), default) {
            (Some(value), _) => value
                .into_string()
                .map_err(|_| self.wrong(field, Problem::NotText { variable: name.to_owned() })),
            (None, Some(default)) => Ok(default.to_owned()),
            (None, None) => Err(self.wrong(field, Problem::Unset { variable: name.to_owned() })),
        }
    }

    /// What `${file:…}` stands for: the contents of a file without its last line end.
    pub(super) fn secret_file(&self, field: &str, path: &str) -> Result<String, ConfigError> {
        if !self.is_own() {
            return Err(self.wrong(field, Problem::NotOwn("${file:…}")));
        }
        let mut text = self.file(field, &self.directory().join(path))?;
        if text.ends_with('\n') {
            text.pop();
        }
        Ok(text)
    }

    fn file(&self, field: &str, path: &Path) -> Result<String, ConfigError> {
        let guard = match self.is_own() {
            true => Guard::Named { until: self.env.deadline() },
            false => Guard::Strangers { user: self.env.user },
        };
        let text = store::read_text(path, FILE_LIMIT, guard);
        let text = text.map_err(|fault| self.wrong(field, Problem::Unreadable(fault)))?;
        text.ok_or_else(|| self.wrong(field, Problem::Missing(path.to_owned())))
    }

    /// The file with variables that a definition names: where it is, and what is in it.
    pub(super) fn env_file(&self, template: &str) -> Result<(PathBuf, String), ConfigError> {
        let path = self.directory().join(self.text("envFile", template)?);
        let text = self.file("envFile", &path)?;
        Ok((path, text))
    }
}
