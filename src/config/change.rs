//! Adding servers to a configuration file, and removing them.

use std::path::PathBuf;
use std::time::Duration;

use super::document::Document;
use super::edit::{self, EditError, Entry};
use super::error::ConfigError;
use super::resolved::{self, definition_in};
use super::source::{self, BYTE_ORDER_MARK, Layer};
use super::word::{WordError, is_name};
use super::{Overrides, document};
use crate::env::Env;
use crate::protocol::similar::closest;
use crate::store::{self, Access, Lock, Reason};

/// How long to wait for another process that changes a configuration.
const PATIENCE: Duration = Duration::from_secs(5);

/// A file that servers are added to or removed from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changeable {
    /// Which one it is.
    pub layer: Layer,
    /// Its path. The file need not be there.
    pub path: PathBuf,
}

impl Changeable {
    /// The file that `--config` names, or else the project's or the user's.
    pub fn find(
        project: bool,
        env: &Env,
        overrides: &Overrides,
    ) -> Result<Changeable, ConfigError> {
        let wanted = if project { Layer::Project } else { Layer::User };
        let found = source::to_change(project, env, overrides.config.as_deref())?;
        let (layer, path) = found.ok_or(ConfigError::NoPlace(wanted))?;
        Ok(Changeable { layer, path })
    }

    /// Adds a server; in place of one of the same name if `replace`.
    ///
    /// Errors when the definition is wrong, or the file cannot be read as it is. Then nothing is
    /// changed.
    pub fn add(
        &self,
        name: &str,
        entry: &Entry,
        replace: bool,
        env: &Env,
    ) -> Result<(), ConfigError> {
        if !is_name(name) {
            return Err(WordError::Name(name.to_owned()).into());
        }
        self.change(env, |text| {
            let changed =
                edit::insert(text, name, entry, replace).map_err(|error| match error {
                    EditError::Exists => {
                        ConfigError::Exists { server: name.to_owned(), path: self.path.clone() }
                    }
                    error => self.explain(error, text),
                })?;
            definition_in(&changed, name, self.layer, &self.path)?;
            Ok(changed)
        })
    }

    /// Removes a server.
    pub fn remove(&self, name: &str, env: &Env, overrides: &Overrides) -> Result<(), ConfigError> {
        self.change(env, |text| {
            let text = if text.trim().is_empty() { "{}" } else { text };
            let changed = edit::remove(text, name).map_err(|error| self.explain(error, text))?;
            changed.ok_or_else(|| ConfigError::Absent {
                server: name.to_owned(),
                path: self.path.clone(),
                elsewhere: resolved::layer_of(name, env, overrides)
                    .filter(|layer| *layer != self.layer),
                suggestion: Document::parse(text).ok().and_then(|document| {
                    let names = document.servers().map(|(known, _)| known);
                    closest(name, names).map(str::to_owned)
                }),
            })
        })
    }

    fn explain(&self, error: EditError, text: &str) -> ConfigError {
        match error {
            EditError::Mistake((at, reason)) => {
                let place = document::Place::at(&self.path, text, at);
                ConfigError::Malformed { place, reason }
            }
            EditError::Exists | EditError::Spoiled => ConfigError::Unchanged(self.path.clone()),
        }
    }

    /// Changes the text of the file, with no other process in between.
    fn change(
        &self,
        env: &Env,
        how: impl FnOnce(&str) -> Result<String, ConfigError>,
    ) -> Result<(), ConfigError> {
        let _lock = lock(env)?;
        let text = source::read_to_change(self.layer, &self.path, env)?;
        let (mark, text) = match text.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) => (&text[..text.len() - rest.len()], rest),
            None => ("", text.as_str()),
        };
        let changed = format!("{mark}{}", how(text)?);
        // Others work on a project, too; what is the user's may have secrets in it.
        let access = if self.layer == Layer::User { Access::Private } else { Access::Kept };
        Ok(store::rewrite(&self.path, changed.as_bytes(), access)?)
    }
}

/// Keeps other processes of the user from changing any configuration at the same time. One lock for
/// all files: a lock beside the file of a project would be in everybody's way.
fn lock(env: &Env) -> Result<Option<Lock>, ConfigError> {
    let Some(directory) = env.state_dir().or_else(|| env.config_dir()) else { return Ok(None) };
    match store::lock(&directory.join("edit"), PATIENCE) {
        Ok(lock) => Ok(Some(lock)),
        Err(fault) if matches!(fault.reason, Reason::Busy) => Err(fault.into()),
        // Where nothing can be written there is nobody to be kept off.
        Err(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::thread;

    use super::*;
    use crate::store::scratch::Scratch;

    const USER: &str = "h/.config/mcpmini/config.json";

    fn world(scratch: &Scratch) -> Env {
        scratch.write("p/.git/HEAD", "");
        scratch.write("p/sub/file", "");
        Env {
            cwd: Some(scratch.path("p/sub")),
            variables: [("HOME", scratch.path("h").to_str().unwrap())].into(),
            user: rustix::process::geteuid().as_raw(),
            ..Env::default()
        }
    }

    fn entry(json: &str) -> Entry {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn the_file_to_change_is_the_one_that_is_read() {
        let scratch = Scratch::new();
        let env = world(&scratch);
        let check = |project, config: Option<&str>, expected: &str, layer| {
            let config = config.map(|config| scratch.path(config));
            let overrides = Overrides { config, ..Overrides::default() };
            let found = Changeable::find(project, &env, &overrides).unwrap();
            assert_eq!(found, Changeable { layer, path: scratch.path(expected) });
        };
        check(false, None, USER, Layer::User);
        check(true, None, "p/.mcp.json", Layer::Project);
        check(false, Some("x.json"), "x.json", Layer::Named);
        scratch.write("p/sub/.mcp.json", "{}");
        check(true, None, "p/sub/.mcp.json", Layer::Project);
        scratch.write("p/sub/.mcpmini.json", "{}");
        check(true, None, "p/sub/.mcpmini.json", Layer::Project);

        let lost = Env { variables: [].into(), ..env };
        let told = Changeable::find(false, &lost, &Overrides::default()).unwrap_err().to_string();
        assert_eq!(told, "there is no place for a configuration: HOME is not set to a directory");
    }

    #[test]
    fn servers_are_added_and_removed() {
        let scratch = Scratch::new();
        let env = world(&scratch);
        let overrides = Overrides::default();
        let user = Changeable::find(false, &env, &overrides).unwrap();
        let told = |result: Result<(), ConfigError>| {
            let text = result.unwrap_err().to_string();
            text.replace(&format!("{}/", scratch.path("").display()), "")
        };
        let mode = || scratch.path(USER).metadata().unwrap().permissions().mode() & 0o777;
        let add = |name: &str, json: &str, replace| user.add(name, &entry(json), replace, &env);
        add("a", r#"{"command":"x"}"#, false).unwrap();
        assert_eq!(mode(), 0o600);
        scratch.chmod(USER, 0o644);
        add("b", r#"{"url":"http://h","disabled":true}"#, false).unwrap();
        assert_eq!(mode(), 0o600, "secrets may be in it by now");
        let before = scratch.read(USER);
        assert_eq!(
            told(add("a", "{}", false)),
            format!("server \"a\" is in {USER} already; --force replaces it")
        );
        assert!(told(add("a b", "{}", false)).starts_with("'a b' is no name of a server"));
        assert!(told(add("c", "{}", false)).ends_with("requires \"command\" field"));
        assert!(told(add("a", r#"{"command":1}"#, true)).contains("must be a string"));
        assert_eq!(scratch.read(USER), before, "what is wrong is not written");
        add("a", r#"{"command":"y"}"#, true).unwrap();
        assert_eq!(scratch.read(USER), before.replace("\"x\"", "\"y\""));

        user.remove("a", &env, &overrides).unwrap();
        let gone = format!("server \"a\" is not in {USER}");
        assert_eq!(told(user.remove("a", &env, &overrides)), gone);
        let project = Changeable::find(true, &env, &overrides).unwrap();
        project.add("a", &entry(r#"{"command":"x"}"#), false, &env).unwrap();
        assert_eq!(
            told(user.remove("a", &env, &overrides)),
            format!("{gone}; --project removes the project's")
        );
        assert_eq!(
            told(project.remove("b", &env, &overrides)),
            "server \"b\" is not in p/.mcp.json, but in the file of the user"
        );
        scratch.write(USER, "{\n  oops\n}");
        assert!(told(add("a", "{}", false)).starts_with(&format!("{USER}:2:3: not JSON")));
    }

    #[test]
    fn a_byte_order_mark_and_the_mode_of_a_project_stay() {
        let scratch = Scratch::new();
        let env = world(&scratch);
        scratch.write("p/.mcp.json", "\u{feff}{}\n");
        scratch.chmod("p/.mcp.json", 0o640);
        let project = Changeable::find(true, &env, &Overrides::default()).unwrap();
        project.add("a", &entry(r#"{"command":"x"}"#), false, &env).unwrap();
        let text = scratch.read("p/.mcp.json");
        assert!(text.starts_with("\u{feff}{\n  \"mcpServers\""), "{text}");
        assert_eq!(project.path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn nothing_is_lost_when_many_add_at_once() {
        let scratch = Scratch::new();
        let env = world(&scratch);
        let user = Changeable::find(false, &env, &Overrides::default()).unwrap();
        thread::scope(|scope| {
            for number in 0..16 {
                let (user, env) = (&user, &env);
                scope.spawn(move || {
                    let name = format!("s{number}");
                    user.add(&name, &entry(r#"{"command":"x"}"#), false, env).unwrap();
                });
            }
        });
        let text = scratch.read(USER);
        assert!((0..16).all(|number| text.contains(&format!("\"s{number}\": {{"))), "{text}");
    }
}
