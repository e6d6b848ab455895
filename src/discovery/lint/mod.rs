//! The published rules of a Server Card (SEP-2127, v1), each checked by itself.

mod syntax;
#[cfg(test)]
mod tests;

use std::fmt;

use serde_json::Value;
use url::Url;

use self::syntax::{is_clean_path, is_meta_key, is_remote_url, is_semantic, is_size};
pub(super) use self::syntax::{is_name, is_range};
use super::document::Object;
use crate::net::Address;

/// The one schema that a v1 card names.
pub const SCHEMA: &str =
    "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json";

/// A rule that a card breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Where, as a JSON Pointer.
    pub at: String,
    /// What is wrong.
    pub rule: Rule,
}

/// What can be wrong with a member of a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rule {
    /// It must be there.
    Missing,
    /// It has the wrong JSON type.
    Type {
        /// What it must be.
        expected: &'static str,
    },
    /// `$schema` must be this very text.
    Schema,
    /// A text is too short or too long, in characters.
    Length {
        /// The least.
        least: usize,
        /// The most.
        most: usize,
    },
    /// `name` is not a reverse domain name, a slash and a name.
    Name,
    /// `version` is a range.
    Range,
    /// It is no URI.
    Uri,
    /// An icon comes from neither http, https nor data.
    IconScheme,
    /// The size of an icon is neither `WxH` nor `any`.
    IconSize,
    /// It is none of these words.
    Word(&'static [&'static str]),
    /// The URL of a remote is neither an http URL nor begins with a variable.
    RemoteUrl,
    /// A path that leads out of the repository, or is not clean.
    Path,
    /// A key of `_meta` without a reverse domain name in front.
    MetaKey,
}

/// All rules that a card breaks, in the order of the rules.
pub fn check(card: &Object) -> Vec<Violation> {
    let mut lint = Lint { found: Vec::new() };
    lint.top(card);
    lint.found
}

/// What breaks no rule and is better otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Advice {
    /// There is no remote: nobody can connect.
    NoRemotes,
    /// The version is not one of Semantic Versioning.
    Version,
    /// A remote that is not encrypted.
    NotEncrypted(String),
}

/// What could be better about a card.
pub fn advice(card: &Object) -> Vec<Advice> {
    let mut found = Vec::new();
    let remotes = card.get("remotes").and_then(Value::as_array);
    if remotes.is_none_or(Vec::is_empty) {
        found.push(Advice::NoRemotes);
    }
    let version = card.get("version").and_then(Value::as_str);
    if version.is_some_and(|version| !is_range(version) && !is_semantic(version)) {
        found.push(Advice::Version);
    }
    let urls = remotes.into_iter().flatten().filter_map(|remote| remote.get("url")?.as_str());
    let is_plain = |url: &&str| {
        url.starts_with("http://") && Address::parse(url).is_ok_and(|it| !it.is_loopback())
    };
    found.extend(urls.filter(is_plain).map(|url| Advice::NotEncrypted(url.to_owned())));
    found
}

struct Lint {
    found: Vec<Violation>,
}

impl Lint {
    fn wrong(&mut self, at: &str, rule: Rule) {
        self.found.push(Violation { at: at.to_owned(), rule });
    }

    fn top(&mut self, card: &Object) {
        if let Some(schema) = self.required_text(card, "", "$schema")
            && schema != SCHEMA
        {
            self.wrong("/$schema", Rule::Schema);
        }
        if let Some(name) = self.required_text(card, "", "name") {
            self.length("/name", name, 3, 200);
            if !is_name(name) {
                self.wrong("/name", Rule::Name);
            }
        }
        if let Some(version) = self.required_text(card, "", "version") {
            self.length("/version", version, 0, 255);
            if is_range(version) {
                self.wrong("/version", Rule::Range);
            }
        }
        if let Some(description) = self.required_text(card, "", "description") {
            self.length("/description", description, 1, 100);
        }
        if let Some(title) = self.text(card, "", "title") {
            self.length("/title", title, 1, 100);
        }
        self.uri(card, "", "websiteUrl");
        if let Some(repository) = self.object(card, "", "repository") {
            self.repository(repository);
        }
        for (at, icon) in self.list(card, "", "icons") {
            self.icon(&at, icon);
        }
        for (at, remote) in self.list(card, "", "remotes") {
            self.remote(&at, remote);
        }
        if let Some(meta) = self.object(card, "", "_meta") {
            let bare = meta.keys().filter(|key| !is_meta_key(key));
            let bare: Vec<_> = bare.map(|key| at("/_meta", key)).collect();
            bare.iter().for_each(|at| self.wrong(at, Rule::MetaKey));
        }
    }

    fn repository(&mut self, repository: &Object) {
        self.required_text(repository, "/repository", "url");
        self.uri(repository, "/repository", "url");
        self.required_text(repository, "/repository", "source");
        self.text(repository, "/repository", "id");
        if let Some(folder) = self.text(repository, "/repository", "subfolder")
            && !is_clean_path(folder)
        {
            self.wrong("/repository/subfolder", Rule::Path);
        }
    }

    fn icon(&mut self, place: &str, icon: &Object) {
        self.required_text(icon, place, "src");
        if let Some(source) = self.uri(icon, place, "src")
            && !matches!(source.scheme(), "http" | "https" | "data")
        {
            self.wrong(&at(place, "src"), Rule::IconScheme);
        }
        self.text(icon, place, "mimeType");
        self.word(icon, place, "theme", &["light", "dark"]);
        for (at, size) in self.texts(icon, place, "sizes") {
            if !is_size(&size) {
                self.wrong(&at, Rule::IconSize);
            }
        }
    }

    fn remote(&mut self, place: &str, remote: &Object) {
        if self.required_text(remote, place, "type").is_some() {
            self.word(remote, place, "type", &["streamable-http", "sse"]);
        }
        if let Some(url) = self.required_text(remote, place, "url")
            && !is_remote_url(url)
        {
            self.wrong(&at(place, "url"), Rule::RemoteUrl);
        }
        for (at, header) in self.list(remote, place, "headers") {
            self.required_text(header, &at, "name");
            self.input(&at, header);
            self.inputs(header, &at);
        }
        self.inputs(remote, place);
        self.texts(remote, place, "supportedProtocolVersions");
    }

    fn inputs(&mut self, object: &Object, place: &str) {
        let Some(inputs) = self.object(object, place, "variables") else { return };
        let place = at(place, "variables");
        for (name, input) in inputs {
            let place = at(&place, name);
            match input.as_object() {
                Some(input) => self.input(&place, input),
                None => self.wrong(&place, Rule::Type { expected: "an object" }),
            }
        }
    }

    fn input(&mut self, place: &str, input: &Object) {
        for name in ["description", "default", "placeholder", "value"] {
            self.text(input, place, name);
        }
        for name in ["isRequired", "isSecret"] {
            if input.get(name).is_some_and(|value| !value.is_boolean()) {
                self.wrong(&at(place, name), Rule::Type { expected: "true or false" });
            }
        }
        self.word(input, place, "format", &["string", "number", "boolean", "filepath"]);
        self.texts(input, place, "choices");
    }

    // The types of members. Each is told once, and what is of another type is not looked into.

    fn text<'o>(&mut self, object: &'o Object, place: &str, name: &str) -> Option<&'o str> {
        let value = object.get(name)?;
        if !value.is_string() {
            self.wrong(&at(place, name), Rule::Type { expected: "a string" });
        }
        value.as_str()
    }

    fn required_text<'o>(
        &mut self,
        object: &'o Object,
        place: &str,
        name: &str,
    ) -> Option<&'o str> {
        if !object.contains_key(name) {
            self.wrong(&at(place, name), Rule::Missing);
        }
        self.text(object, place, name)
    }

    fn uri(&mut self, object: &Object, place: &str, name: &str) -> Option<Url> {
        let text = object.get(name)?.as_str()?;
        let uri = Url::parse(text).ok();
        if uri.is_none() {
            self.wrong(&at(place, name), Rule::Uri);
        }
        uri
    }

    fn object<'o>(&mut self, object: &'o Object, place: &str, name: &str) -> Option<&'o Object> {
        let value = object.get(name)?;
        if !value.is_object() {
            self.wrong(&at(place, name), Rule::Type { expected: "an object" });
        }
        value.as_object()
    }

    fn list<'o>(
        &mut self,
        object: &'o Object,
        place: &str,
        name: &str,
    ) -> Vec<(String, &'o Object)> {
        let mut objects = Vec::new();
        for (at, value) in self.values(object, place, name) {
            match value.as_object() {
                Some(object) => objects.push((at, object)),
                None => self.wrong(&at, Rule::Type { expected: "an object" }),
            }
        }
        objects
    }

    fn texts(&mut self, object: &Object, place: &str, name: &str) -> Vec<(String, String)> {
        let mut texts = Vec::new();
        for (at, value) in self.values(object, place, name) {
            match value.as_str() {
                Some(text) => texts.push((at, text.to_owned())),
                None => self.wrong(&at, Rule::Type { expected: "a string" }),
            }
        }
        texts
    }

    fn values<'o>(
        &mut self,
        object: &'o Object,
        place: &str,
        name: &str,
    ) -> Vec<(String, &'o Value)> {
        let Some(value) = object.get(name) else { return Vec::new() };
        let place = at(place, name);
        match value.as_array() {
            Some(values) => {
                let placed = values.iter().enumerate();
                placed.map(|(index, value)| (at(&place, &index.to_string()), value)).collect()
            }
            None => {
                self.wrong(&place, Rule::Type { expected: "an array" });
                Vec::new()
            }
        }
    }

    fn word(&mut self, object: &Object, place: &str, name: &str, words: &'static [&'static str]) {
        if let Some(word) = self.text(object, place, name)
            && !words.contains(&word)
        {
            self.wrong(&at(place, name), Rule::Word(words));
        }
    }

    fn length(&mut self, at: &str, text: &str, least: usize, most: usize) {
        if !(least..=most).contains(&text.chars().count()) {
            self.wrong(at, Rule::Length { least, most });
        }
    }
}

/// A JSON Pointer one step further (RFC 6901, section 3).
fn at(place: &str, name: &str) -> String {
    format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"))
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Advice::NoRemotes => f.write_str("without a remote nobody can connect to the server"),
            Advice::Version => f.write_str("the version should be one of Semantic Versioning"),
            Advice::NotEncrypted(url) => write!(f, "{url} should be https"),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::Missing => f.write_str("is missing"),
            Rule::Type { expected } => write!(f, "must be {expected}"),
            Rule::Schema => write!(f, "must be {SCHEMA}"),
            Rule::Length { least: 0, most } => write!(f, "must have at most {most} characters"),
            Rule::Length { least, most } => write!(f, "must have {least} to {most} characters"),
            Rule::Name => f.write_str(
                "must be a reverse domain name, a slash and a name, such as com.example/weather",
            ),
            Rule::Range => f.write_str("must be one version, not a range"),
            Rule::Uri => f.write_str("must be a URI"),
            Rule::IconScheme => f.write_str("must be an http, https or data URI"),
            Rule::IconSize => f.write_str("must be WIDTHxHEIGHT or any"),
            Rule::Word(words) => write!(f, "must be one of {}", words.join(", ")),
            Rule::RemoteUrl => f.write_str("must begin with http://, https:// or a {variable}"),
            Rule::Path => f.write_str("must be a clean relative path"),
            Rule::MetaKey => f.write_str("must be a reverse domain name, a slash and a name"),
        }
    }
}
