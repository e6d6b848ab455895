//! The parameters of a request, as members that are already JSON text.

use std::borrow::Cow;

use super::json::{self, Invalid};
use super::jsonrpc::scan;

/// The `params` of a request: members in the order they are sent, each already JSON text, and the
/// members of `_meta` apart, because the session adds some of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Params {
    members: Vec<Member>,
    meta: Vec<Member>,
}

/// A name, and a value as JSON text.
type Member = (Cow<'static, str>, String);

const PROGRESS_TOKEN: &str = "progressToken";

/// What is wrong with parameters of `tools/call` that name no tool.
const NO_NAME: &str = "the parameters of tools/call must have a \"name\" that is a string";

/// Members of `_meta` that many requests have in common.
#[derive(Debug, Default)]
pub struct Meta {
    members: Vec<(&'static str, String)>,
    /// The same as JSON text, without the braces: most requests have no members of their own.
    text: String,
}

impl Meta {
    /// These members. The values are JSON text.
    pub fn new(members: Vec<(&'static str, String)>) -> Meta {
        let mut text = String::new();
        for (name, value) in &members {
            push_own_member(&mut text, 0, name, value);
        }
        Meta { members, text }
    }

    /// How long they are as JSON text, in bytes.
    pub fn room(&self) -> usize {
        self.text.len()
    }
}

impl Params {
    /// No parameters.
    pub fn new() -> Params {
        Params::default()
    }

    /// Adds a member, whose name needs no escaping. `value` is JSON text.
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Params {
        self.members.push((Cow::Borrowed(name), value.into()));
        self
    }

    /// Adds a member of `_meta`, whose name needs no escaping if it is a constant. `value` is JSON
    /// text.
    pub fn with_meta(
        mut self,
        name: impl Into<Cow<'static, str>>,
        value: impl Into<String>,
    ) -> Params {
        self.meta.push((name.into(), value.into()));
        self
    }

    /// Takes a member of `_meta` out; the last one of that name counts.
    pub fn without_meta(mut self, name: &str) -> (Params, Option<String>) {
        let taken = self.meta.extract_if(.., |(key, _)| key == name).last();
        (self, taken.map(|(_, value)| value))
    }

    /// Parameters given as the text of a JSON object; its `_meta`, if it is an object, is taken
    /// apart.
    pub fn from_object(text: &str) -> Result<Params, Invalid> {
        json::validate(text)?;
        if !text.trim_start().starts_with('{') {
            return Err(Invalid { reason: "parameters must be a JSON object".to_owned() });
        }
        let owned =
            |(name, value): (Cow<'_, str>, &str)| (Cow::Owned(name.into_owned()), value.to_owned());
        let mut params = Params::new();
        for (name, value) in scan::members(text) {
            match name == "_meta" && value.starts_with('{') {
                true => params.meta.extend(scan::members(value).map(owned)),
                false => params.members.push(owned((name, value))),
            }
        }
        Ok(params)
    }

    /// The text of a member.
    pub fn get(&self, name: &str) -> Option<&str> {
        let member = self.members.iter().rev().find(|(key, _)| key == name);
        member.map(|(_, value)| value.as_str())
    }

    /// The tool that these parameters of `tools/call` name.
    ///
    /// # Errors
    /// When not every server would read the same from them: which of two members counts, whether the
    /// case of letters does, and what a name is that is no string, readers do not agree about.
    pub fn tool(&self) -> Result<String, &'static str> {
        let mut named = self.members.iter().filter(|(key, _)| key.eq_ignore_ascii_case("name"));
        match (named.next(), named.next()) {
            (Some(_), Some(_)) => Err("the parameters have \"name\" twice: which tool is meant?"),
            (Some((key, value)), None) if key == "name" && value.starts_with('"') => {
                scan::unescape(value).map(Cow::into_owned).ok_or(NO_NAME)
            }
            _ => Err(NO_NAME),
        }
    }

    /// The JSON text, on one line.
    pub fn to_json(&self) -> String {
        let mut out = String::with_capacity(self.room() + 16);
        self.write(&mut out, &[], &Meta::default(), None);
        out
    }

    /// Appends the JSON text, on one line: with `more` members, and in `_meta` with those of `meta`
    /// and with a token for progress, except where the caller has set them.
    pub fn write(
        &self,
        out: &mut String,
        more: &[(&str, &str)],
        meta: &Meta,
        progress_token: Option<&str>,
    ) {
        out.push('{');
        let start = out.len();
        for member in &self.members {
            push_any_member(out, start, member);
        }
        for (name, value) in more {
            push_member(out, start, name, value);
        }
        if !(self.meta.is_empty() && meta.members.is_empty() && progress_token.is_none()) {
            push_own_member(out, start, "_meta", "{");
            self.write_meta(out, meta, progress_token);
            out.push('}');
        }
        out.push('}');
    }

    fn write_meta(&self, out: &mut String, meta: &Meta, progress_token: Option<&str>) {
        let start = out.len();
        let is_set = |key: &str| self.meta.iter().any(|(name, _)| name == key);
        for member in &self.meta {
            push_any_member(out, start, member);
        }
        if self.meta.is_empty() {
            out.push_str(&meta.text);
        } else {
            for (name, value) in meta.members.iter().filter(|(name, _)| !is_set(name)) {
                push_own_member(out, start, name, value);
            }
        }
        if let Some(token) = progress_token.filter(|_| !is_set(PROGRESS_TOKEN)) {
            push_own_member(out, start, PROGRESS_TOKEN, token);
        }
    }

    /// How long the caller's own members are as JSON text, roughly.
    pub fn room(&self) -> usize {
        let members = self.members.iter().chain(&self.meta);
        members.map(|(name, value)| name.len() + value.len() + 4).sum()
    }
}

/// Appends a member to the object whose first one begins at `start`. `value` is JSON text.
fn push_member(out: &mut String, start: usize, name: &str, value: &str) {
    if start < out.len() {
        out.push(',');
    }
    json::push_string(out, name);
    out.push(':');
    json::push_on_one_line(out, value);
}

/// The same for a name of ours, which stands for itself between quotes.
fn push_own_member(out: &mut String, start: usize, name: &'static str, value: &str) {
    out.push_str(if start < out.len() { ",\"" } else { "\"" });
    out.push_str(name);
    out.push_str("\":");
    json::push_on_one_line(out, value);
}

/// The same for any member.
fn push_any_member(out: &mut String, start: usize, (name, value): &Member) {
    match name {
        Cow::Borrowed(name) => push_own_member(out, start, name, value),
        Cow::Owned(name) => push_member(out, start, name, value),
    }
}

/// Writes a JSON object member by member.
#[derive(Debug)]
pub struct Members(String);

impl Default for Members {
    fn default() -> Members {
        Members::new()
    }
}

impl Members {
    /// An object without members.
    pub fn new() -> Members {
        Members("{".to_owned())
    }

    /// Adds a member. `value` is JSON text.
    pub fn push(&mut self, name: &str, value: &str) {
        if !self.is_empty() {
            self.0.push(',');
        }
        json::push_string(&mut self.0, name);
        self.0.push(':');
        self.0.push_str(value);
    }

    /// Whether there are no members yet.
    pub fn is_empty(&self) -> bool {
        self.0.len() == 1
    }

    /// The text.
    pub fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_their_order_and_their_text() {
        let text =
            r#"{"name":"a","arguments":{"n":9007199254740993, "n":1.0},"_meta":{"k":1e400}}"#;
        let params = Params::from_object(text).unwrap();
        assert_eq!(params.get("arguments"), Some(r#"{"n":9007199254740993, "n":1.0}"#));
        let meta = |names: &[&'static str]| {
            Meta::new(names.iter().map(|name| (*name, "2".to_owned())).collect())
        };
        let written = |params: &Params, meta: &Meta| {
            let mut out = String::new();
            params.write(&mut out, &[("more", "[]")], meta, Some("7"));
            out
        };
        assert_eq!(
            written(&params, &meta(&["k", "l"])),
            r#"{"name":"a","arguments":{"n":9007199254740993, "n":1.0},"more":[],"_meta":{"k":1e400,"l":2,"progressToken":7}}"#
        );
        let params = Params::new().with("name", "\n1");
        assert_eq!(
            written(&params, &meta(&["k", "l"])),
            r#"{"name": 1,"more":[],"_meta":{"k":2,"l":2,"progressToken":7}}"#
        );
        let params = Params::new().with_meta("progressToken", "1");
        assert_eq!(written(&params, &meta(&[])), r#"{"more":[],"_meta":{"progressToken":1}}"#);
    }

    #[test]
    fn no_parameters_are_an_empty_object() {
        assert_eq!(Params::new().to_json(), "{}");
    }

    #[test]
    fn only_an_object_has_members() {
        assert!(Params::from_object("[1]").is_err());
        assert!(Params::from_object("{\"a\":}").is_err());
    }
}
