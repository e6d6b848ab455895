//! The manifest of a bundle: how its server is started.

use std::fmt;

use serde_json::Value;

use super::super::claim::{Format, Input};
use super::super::document::{self, Malformed, Object, object, text};
use super::super::fill::{Answers, Filler, Unfilled, written};
use super::super::registry::{Command, Unbuildable, check_variable};

/// The name of the file.
pub const NAME: &str = "manifest.json";

/// How a server is started, before what is open is filled in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manifest {
    command: String,
    args: Vec<String>,
    environment: Vec<(String, String)>,
    /// What the user configures.
    inputs: Vec<(String, Input)>,
}

/// Why a manifest cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoManifest {
    /// It cannot be read.
    Malformed(Malformed),
    /// It does not say how the server is started.
    NoCommand,
}

impl Manifest {
    /// Reads a manifest. What it says for this system counts more.
    pub fn read(bytes: &[u8]) -> Result<Manifest, NoManifest> {
        let manifest = document::read(bytes).map_err(NoManifest::Malformed)?;
        let server = object(&manifest, &["server"]);
        let config = server.and_then(|server| object(server, &["mcp_config"]));
        let config = config.ok_or(NoManifest::NoCommand)?;
        let system = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
        let special = object(config, &["platform_overrides"]);
        let special = special.and_then(|systems| object(systems, &[system]));
        let levels: Vec<&Object> = special.into_iter().chain([config]).collect();
        let command = levels.iter().find_map(|level| text(level, &["command"]));
        let args = levels.iter().find_map(|level| level.get("args")?.as_array());
        let args = args.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
        let mut environment: Vec<(String, String)> = Vec::new();
        for level in levels.iter().rev() {
            for (name, value) in object(level, &["env"]).into_iter().flatten() {
                environment.retain(|(known, _)| known != name);
                environment.extend(value.as_str().map(|value| (name.clone(), value.to_owned())));
            }
        }
        let inputs = object(&manifest, &["user_config"]).into_iter().flatten();
        let inputs =
            inputs.filter_map(|(name, said)| Some((name.clone(), input(said.as_object()?))));
        Ok(Manifest {
            command: command.ok_or(NoManifest::NoCommand)?,
            args: args.collect(),
            environment,
            inputs: inputs.collect(),
        })
    }

    /// The command, for a bundle that lies in `folder`.
    pub fn command(&self, folder: &str, answers: &Answers<'_>) -> Result<Command, Unbuildable> {
        let mut filler = Filler::new(answers);
        let mut words = Vec::new();
        for template in [&self.command].into_iter().chain(&self.args) {
            words.extend(self.fill(template, folder, &mut filler)?);
        }
        let mut environment = Vec::new();
        for (name, template) in &self.environment {
            check_variable(name)?;
            let value = self.fill(template, folder, &mut filler)?;
            environment.extend(value.map(|value| (name.clone(), value)));
        }
        filler.finish()?;
        Ok(Command { words, environment })
    }

    /// A text with `${__dirname}` and `${user_config.NAME}` filled in. All other words stay as they
    /// are. `None` when a value is left out.
    fn fill(
        &self,
        template: &str,
        folder: &str,
        filler: &mut Filler<'_>,
    ) -> Result<Option<String>, Unfilled> {
        let folder = Input { value: Some(folder.to_owned()), ..Input::default() };
        let mut variables = vec![("__dirname".to_owned(), folder)];
        variables.extend(
            self.inputs.iter().map(|(name, it)| (format!("user_config.{name}"), it.clone())),
        );
        // A template of a card has no `$` in front of its variables.
        let plain = variables.iter().fold(template.to_owned(), |text, (name, _)| {
            text.replace(&format!("${{{name}}}"), &format!("{{{name}}}"))
        });
        let value = filler.filled(&plain, &variables, |name| {
            name.strip_prefix("user_config.").unwrap_or(name).to_owned()
        })?;
        value.map(|value| written(template, &value)).transpose()
    }
}

/// What the user configures, as an input.
fn input(said: &Object) -> Input {
    let flag = |name: &str| said.get(name).and_then(Value::as_bool) == Some(true);
    Input {
        description: text(said, &["description", "title"]),
        is_required: flag("required"),
        is_secret: flag("sensitive"),
        format: match text(said, &["type"]).as_deref() {
            Some("number") => Format::Number,
            Some("boolean") => Format::Boolean,
            Some("file" | "directory") => Format::FilePath,
            _ => Format::Text,
        },
        default: match said.get("default") {
            Some(Value::String(text)) => Some(text.clone()),
            Some(value @ (Value::Number(_) | Value::Bool(_))) => Some(value.to_string()),
            _ => None,
        },
        ..Input::default()
    }
}

impl fmt::Display for NoManifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoManifest::Malformed(malformed) => write!(f, "its {NAME}: {malformed}"),
            NoManifest::NoCommand => write!(f, "its {NAME} does not say how to start the server"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::fill::Answer;
    use super::*;

    /// The command of a manifest for a bundle in `/b`, when `key` is a reference and `dir` is `d`.
    #[track_caller]
    fn check(server: &str, expected: &str) {
        let text = format!(
            r#"{{"server":{{"mcp_config":{server}}},"user_config":{{
            "key":{{"type":"string","sensitive":true,"required":true}},"dir":{{"type":"string"}},
            "level":{{"type":"number","default":3}},"none":{{"type":"string"}}}}}}"#
        );
        let said = |name: &str| match name {
            "key" => vec![Answer::Reference("${KEY}".to_owned())],
            "dir" => vec![Answer::Plain("d".to_owned())],
            _ => Vec::new(),
        };
        let answers = Answers { said: &said, file: &|_| None };
        let told = match Manifest::read(text.as_bytes()) {
            Err(error) => error.to_string(),
            Ok(manifest) => match manifest.command("/b", &answers) {
                Ok(command) => format!("{:?} {:?}", command.words, command.environment),
                Err(error) => error.to_string(),
            },
        };
        assert_eq!(told, expected, "{server}");
    }

    #[test]
    fn a_command_is_made_of_the_manifest() {
        check(
            r#"{"command":"node","args":["${__dirname}/server/index.js","--dir=${user_config.dir}","${user_config.level}"],"env":{"KEY":"${user_config.key}"}}"#,
            r#"["node", "/b/server/index.js", "--dir=d", "3"] [("KEY", "${KEY}")]"#,
        );
        check(
            r#"{"command":"${__dirname}/bin","args":["${HOME}","{dir}","${user_config.other}"]}"#,
            r#"["/b/bin", "$${HOME}", "{dir}", "$${user_config.other}"] []"#,
        );
        check(
            r#"{"command":"a","args":["x"],"env":{"A":"1"},"platform_overrides":{"linux":{"command":"b","env":{"A":"2"}},"darwin":{"command":"b","env":{"A":"2"}}}}"#,
            r#"["b", "x"] [("A", "2")]"#,
        );
        check("{}", "its manifest.json does not say how to start the server");
        check(r#"{"command":"a","env":{"PATH":"x"}}"#, "it must not set the variable \"PATH\"");
        check(r#"{"command":"a","args":["${user_config.none}"]}"#, "values are missing:\nnone");
    }
}
