//! The parameters of a request, as members that are already JSON text.

use super::json::{self, Invalid};
use super::jsonrpc::scan;

/// The `params` of a request: members in the order they are sent, each already JSON text, and the
/// members of `_meta` apart, because the session adds some of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Params {
    members: Vec<(String, String)>,
    meta: Vec<(String, String)>,
}

impl Params {
    /// No parameters.
    pub fn new() -> Params {
        Params::default()
    }

    /// Adds a member. `value` is JSON text.
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Params {
        self.members.push((name.to_owned(), value.into()));
        self
    }

    /// Adds a member of `_meta`. `value` is JSON text.
    pub fn with_meta(mut self, name: &str, value: impl Into<String>) -> Params {
        self.meta.push((name.to_owned(), value.into()));
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
        let owned = |(name, value): (std::borrow::Cow<'_, str>, &str)| {
            (name.into_owned(), value.to_owned())
        };
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

    /// The JSON text, with `more` members, and with `meta` added to `_meta` unless the caller set
    /// that key.
    pub fn to_json(&self, more: &[(&str, &str)], meta: &[(&str, &str)]) -> String {
        let mut out = Members::new();
        for (name, value) in &self.members {
            out.push(name, value);
        }
        more.iter().for_each(|(name, value)| out.push(name, value));
        let own = self.meta.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let set = |key: &str| self.meta.iter().any(|(name, _)| name == key);
        let added = meta.iter().copied().filter(|(name, _)| !set(name));
        let mut all = Members::new();
        own.chain(added).for_each(|(name, value)| all.push(name, value));
        if !all.is_empty() {
            out.push("_meta", &all.finish());
        }
        out.finish()
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
        assert_eq!(
            params.to_json(&[("more", "[]")], &[("k", "2"), ("progressToken", "7")]),
            r#"{"name":"a","arguments":{"n":9007199254740993, "n":1.0},"more":[],"_meta":{"k":1e400,"progressToken":7}}"#
        );
    }

    #[test]
    fn no_parameters_are_an_empty_object() {
        assert_eq!(Params::new().to_json(&[], &[]), "{}");
    }

    #[test]
    fn only_an_object_has_members() {
        assert!(Params::from_object("[1]").is_err());
        assert!(Params::from_object("{\"a\":}").is_err());
    }
}
