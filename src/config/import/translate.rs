//! From a definition of another program to one of ours.

use std::path::Path;

use serde_json::{Map, Value};

use super::dialect::{Dialect, Surroundings, Untranslatable};
use super::shape::Foreign;
use super::{Kind, Note};
use crate::config::Entry;

/// A value that stands in the way of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    /// The field in the other program's file.
    pub field: String,
    /// Why it cannot be taken over.
    pub why: Untranslatable,
}

/// Fields that only tell people something.
const LABELS: [&str; 6] = ["$schema", "description", "displayName", "icon", "name", "title"];

/// Translates a definition. What could not be taken over and is not needed is in the notes.
pub(super) fn translate(
    kind: Kind,
    foreign: &Foreign,
    surroundings: &Surroundings,
) -> (Result<Entry, Obstacle>, Vec<Note>) {
    let mut fields = foreign.fields.clone();
    // An older form of Zed has the command in an object of its own.
    if let (Kind::Zed, Some(Value::Object(command))) = (kind, fields.get("command").cloned()) {
        fields.remove("command");
        let inner = command.into_iter();
        fields.extend(inner.map(|(name, value)| {
            (if name == "path" { "command".to_owned() } else { name }, value)
        }));
    }
    let mut translation = Translation {
        kind,
        fields: &fields,
        surroundings,
        base: surroundings.workspace.as_ref().unwrap_or(&surroundings.directory),
        entry: Entry::new(),
        used: Vec::new(),
        notes: Vec::new(),
    };
    let done = translation.whole();
    let used = std::mem::take(&mut translation.used);
    let left = fields.iter().filter(|(name, value)| {
        let is_used = used.contains(&name.as_str()) || LABELS.contains(&name.as_str());
        let is_nothing = value.is_null() || **value == Value::Bool(false) || is_empty(value);
        !is_used && !is_nothing
    });
    let left: Vec<String> = left.map(|(name, _)| name.clone()).collect();
    let Translation { entry, mut notes, .. } = translation;
    if !left.is_empty() {
        notes.push(Note::LeftOut(left));
    }
    (done.map(|()| entry), notes)
}

/// Whether there is nothing in it.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(elements) => elements.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::String(text) => text.is_empty(),
        _ => false,
    }
}

pub(super) struct Translation<'a> {
    pub(super) kind: Kind,
    fields: &'a Map<String, Value>,
    surroundings: &'a Surroundings,
    /// What relative paths are relative to.
    base: &'a Path,
    pub(super) entry: Entry,
    used: Vec<&'static str>,
    pub(super) notes: Vec<Note>,
}

/// What a text is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Word,
    Path,
    /// Here it may be a command, if it begins with `!`.
    Secret,
}

impl Translation<'_> {
    fn whole(&mut self) -> Result<(), Obstacle> {
        match self.kind {
            Kind::Codex => self.codex()?,
            Kind::OpenCode => self.opencode()?,
            _ => self.usual()?,
        }
        self.switches();
        Ok(())
    }

    /// The fields that most programs share.
    fn usual(&mut self) -> Result<(), Obstacle> {
        self.address()?;
        self.command("command")?;
        self.table("env", "env")?;
        self.text("envFile", "envFile", Use::Path)?;
        self.text("cwd", "cwd", Use::Path)?;
        self.table("headers", "headers")?;
        match self.kind {
            Kind::ClaudeCode | Kind::Gemini => self.number("timeout", "timeout", 1.0),
            _ => (),
        }
        self.oauth()
    }

    /// The URL, and how it is reached.
    fn address(&mut self) -> Result<(), Obstacle> {
        let stated = match self.take("type").and_then(Value::as_str) {
            Some("sse") => Some("sse"),
            Some("http" | "streamable-http" | "streamableHttp" | "streamable_http") => Some("http"),
            _ => None,
        };
        let fields: &[(&'static str, Option<&str>)] = match self.kind {
            // Where both are there, the newer one counts.
            Kind::Gemini => &[("httpUrl", Some("http")), ("url", Some("sse"))],
            Kind::Windsurf => &[("serverUrl", None), ("url", None)],
            _ => &[("url", None)],
        };
        for (field, implied) in fields {
            if self.entry.contains_key("url") {
                break;
            }
            self.text(field, "url", Use::Word)?;
            if let (true, Some(kind)) = (self.entry.contains_key("url"), stated.or(*implied)) {
                self.entry.insert("type".to_owned(), kind.into());
            }
        }
        Ok(())
    }

    fn codex(&mut self) -> Result<(), Obstacle> {
        self.text("url", "url", Use::Word)?;
        if self.entry.contains_key("url") {
            self.entry.insert("type".to_owned(), "http".into());
        }
        self.command("command")?;
        self.table("env", "env")?;
        // Variables that are passed on by their names.
        let names = self.take("env_vars").and_then(Value::as_array).into_iter().flatten();
        let names = names.filter_map(|name| name.as_str().or_else(|| name.get("name")?.as_str()));
        let passed: Vec<_> = names.map(|name| (name.to_owned(), format!("${{{name}}}"))).collect();
        for (name, reference) in passed {
            let env = self.entry.entry("env").or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(env) = env {
                env.entry(name).or_insert_with(|| reference.into());
            }
        }
        self.text("cwd", "cwd", Use::Path)?;
        self.text("bearer_token_env_var", "bearerTokenEnv", Use::Word)?;
        self.table("http_headers", "headers")?;
        self.table("env_http_headers", "envHeaders")?;
        self.number("startup_timeout_ms", "startupTimeout", 1.0);
        self.number("startup_timeout_sec", "startupTimeout", 1000.0);
        self.number("tool_timeout_sec", "timeout", 1000.0);
        self.oauth()
    }

    fn opencode(&mut self) -> Result<(), Obstacle> {
        // `local` or `remote`, which the other fields say as well.
        self.take("type");
        self.text("url", "url", Use::Word)?;
        self.command("command")?;
        self.table("environment", "env")?;
        self.text("cwd", "cwd", Use::Path)?;
        self.table("headers", "headers")?;
        // How long the list of tools may take.
        self.number("timeout", "startupTimeout", 1.0);
        self.oauth()
    }

    /// Whether the server is switched off.
    fn switches(&mut self) {
        let disabled = self.take("disabled").and_then(Value::as_bool) == Some(true);
        let enabled = self.take("enabled").and_then(Value::as_bool) != Some(false);
        if disabled || !enabled {
            self.entry.insert("disabled".to_owned(), true.into());
        }
    }

    /// A field; it counts as used.
    pub(super) fn take(&mut self, name: &'static str) -> Option<&Value> {
        self.used.push(name);
        self.fields.get(name)
    }

    /// A command: a string, or an array that begins with it.
    fn command(&mut self, field: &'static str) -> Result<(), Obstacle> {
        let command = self.take(field).cloned();
        let mut words: Vec<Value> = match command {
            Some(Value::Array(words)) => words,
            Some(Value::String(word)) => vec![word.into()],
            _ => return Ok(()),
        };
        if let Some(Value::Array(args)) = self.take("args").cloned() {
            words.extend(args);
        }
        let mut translated = Vec::new();
        for (index, word) in words.iter().enumerate() {
            let place = if index == 0 { field.to_owned() } else { format!("args[{}]", index - 1) };
            let word = match word {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            translated.push(self.translated(&place, &word, Use::Word)?);
        }
        let mut translated = translated.into_iter();
        let Some(command) = translated.next() else { return Ok(()) };
        // Programs look for a relative path from the folder that is open.
        let is_relative = command.contains('/') && !command.starts_with(['/', '$']);
        let command = match is_relative && self.surroundings.workspace.is_some() {
            true => self.absolute(&command),
            false => command,
        };
        self.entry.insert("command".to_owned(), command.into());
        let args: Vec<Value> = translated.map(Value::from).collect();
        if !args.is_empty() {
            self.entry.insert("args".to_owned(), args.into());
        }
        Ok(())
    }

    fn text(&mut self, field: &'static str, ours: &str, usage: Use) -> Result<(), Obstacle> {
        let Some(text) = self.take(field).and_then(Value::as_str).map(str::to_owned) else {
            return Ok(());
        };
        if text.is_empty() {
            return Ok(());
        }
        let mut translated = self.translated(field, &text, usage)?;
        if usage == Use::Path {
            translated = self.absolute(&translated);
        }
        self.entry.insert(ours.to_owned(), translated.into());
        Ok(())
    }

    /// An object of strings. Numbers and truth values are taken for what they look like.
    fn table(&mut self, field: &'static str, ours: &str) -> Result<(), Obstacle> {
        let Some(Value::Object(members)) = self.take(field).cloned() else { return Ok(()) };
        let mut translated = Entry::new();
        for (name, value) in &members {
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Null => continue,
                other => other.to_string(),
            };
            let text = self.translated(&format!("{field}.{name}"), &text, Use::Secret)?;
            translated.insert(name.clone(), text.into());
        }
        if !translated.is_empty() {
            self.entry.insert(ours.to_owned(), translated.into());
        }
        Ok(())
    }

    /// A time, in milliseconds when multiplied by `factor`.
    fn number(&mut self, field: &'static str, ours: &str, factor: f64) {
        let Some(number) = self.take(field).and_then(Value::as_f64) else { return };
        let milliseconds = number * factor;
        // Beyond that there is no limit to speak of.
        if (0.0..1e15).contains(&milliseconds) {
            self.entry.insert(ours.to_owned(), (milliseconds as u64).into());
        }
    }

    /// A text with its references written as here.
    pub(super) fn translated(
        &mut self,
        field: &str,
        text: &str,
        usage: Use,
    ) -> Result<String, Obstacle> {
        let obstacle = |why| Obstacle { field: field.to_owned(), why };
        let translated = self.dialect().translate(text, self.surroundings).map_err(obstacle)?;
        if usage == Use::Secret && translated.text.starts_with('!') {
            return Err(obstacle(Untranslatable::Command));
        }
        let notes = translated.inputs.iter().map(|input| Note::Asked {
            variable: input.variable(),
            description: input.description.clone().unwrap_or_else(|| input.id.clone()),
        });
        for note in notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        Ok(translated.text)
    }

    fn dialect(&self) -> Dialect {
        match self.kind {
            Kind::ClaudeDesktop | Kind::Codex | Kind::Zed => Dialect::Plain,
            Kind::ClaudeCode => Dialect::Shell,
            Kind::Gemini => Dialect::ShellWithoutBraces,
            Kind::Cursor | Kind::VsCode => Dialect::Editor,
            Kind::Windsurf => Dialect::Windsurf,
            Kind::OpenCode => Dialect::Braces,
        }
    }

    /// A path that means the same from everywhere.
    fn absolute(&self, path: &str) -> String {
        match (path.starts_with("${"), path.strip_prefix("~/"), &self.surroundings.home) {
            (true, ..) => path.to_owned(),
            (_, Some(below), Some(home)) => home.join(below).to_string_lossy().into_owned(),
            _ => self.base.join(path).to_string_lossy().into_owned(),
        }
    }
}
