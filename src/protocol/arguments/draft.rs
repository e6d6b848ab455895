//! The arguments while words change them.
//!
//! Only what a word leads into is opened. Everything else stays the text it came in, so that
//! changing one member of an object leaves the numbers and the order of the others alone.

use std::fmt;

use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::path::Step;
use crate::json;
use crate::jsonrpc::scan;
use crate::model::schema::Types;

/// A value that can be changed.
#[derive(Debug)]
pub(super) enum Draft {
    /// Valid JSON that nothing has led into yet.
    Text(String),
    Array(Vec<Draft>),
    Object(Vec<Member>),
}

#[derive(Debug)]
pub(super) struct Member {
    name: String,
    /// The name as JSON; as it came, if it did.
    quoted: String,
    value: Draft,
}

/// A path leads into a value that holds no others.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Clash {
    /// How many steps of the path lead to that value.
    pub(super) steps: usize,
    /// Its type.
    pub(super) found: Types,
}

const NULL: &str = "null";

impl Draft {
    pub(super) fn new(json: &str) -> Draft {
        Draft::Text(json.to_owned())
    }

    /// Puts a value at a path, in place of what is there. Makes what the path leads through;
    /// elements that an index skips become `null`.
    pub(super) fn set(&mut self, path: &[Step], value: &str) -> Result<(), Clash> {
        *self.slot(path, 0)? = Draft::new(value);
        Ok(())
    }

    /// Adds elements to the array at a path. Anything else that is there is replaced by an array.
    pub(super) fn extend(&mut self, path: &[Step], values: &[&str]) -> Result<(), Clash> {
        let slot = self.slot(path, 0)?;
        slot.open();
        let added = values.iter().map(|value| Draft::new(value));
        match slot {
            Draft::Array(elements) => elements.extend(added),
            _ => *slot = Draft::Array(added.collect()),
        }
        Ok(())
    }

    /// Appends the JSON to `out`.
    pub(super) fn write(&self, out: &mut String) {
        match self {
            Draft::Text(text) => out.push_str(text),
            Draft::Array(elements) => {
                out.push('[');
                for (index, element) in elements.iter().enumerate() {
                    out.push_str(if index > 0 { "," } else { "" });
                    element.write(out);
                }
                out.push(']');
            }
            Draft::Object(members) => {
                out.push('{');
                for (index, member) in members.iter().enumerate() {
                    out.push_str(if index > 0 { "," } else { "" });
                    out.push_str(&member.quoted);
                    out.push(':');
                    member.value.write(out);
                }
                out.push('}');
            }
        }
    }

    fn slot(&mut self, path: &[Step], done: usize) -> Result<&mut Draft, Clash> {
        let Some(step) = path.get(done) else { return Ok(self) };
        let inner = match step {
            Step::Key(name) => self.member(name),
            Step::Index(index) => self.element(Some(*index)),
            Step::Append => self.element(None),
        };
        inner.map_err(|found| Clash { steps: done, found })?.slot(path, done + 1)
    }

    /// The member of that name, made if need be. Errors with the type of a value that has none.
    fn member(&mut self, name: &str) -> Result<&mut Draft, Types> {
        self.open();
        if self.is_null() {
            *self = Draft::Object(Vec::new());
        }
        let found = self.types();
        let Draft::Object(members) = self else { return Err(found) };
        let last = members.iter().rposition(|member| member.name == name);
        let Some(last) = last else {
            let quoted = json::string(name);
            members.push(Member { name: name.to_owned(), quoted, value: Draft::new(NULL) });
            return Ok(&mut members.last_mut().expect("a member was just added").value);
        };
        // The last of equal keys is the one that counts. The others would contradict it.
        let mut place = 0..;
        members.retain(|member| place.next() == Some(last) || member.name != name);
        let kept = members.iter_mut().find(|member| member.name == name);
        Ok(&mut kept.expect("the last of equal keys is kept").value)
    }

    /// The element at that index, or a new one at the end, made if need be. Errors with the type of
    /// a value that has none.
    fn element(&mut self, index: Option<usize>) -> Result<&mut Draft, Types> {
        self.open();
        if self.is_null() {
            *self = Draft::Array(Vec::new());
        }
        let found = self.types();
        let Draft::Array(elements) = self else { return Err(found) };
        let index = index.unwrap_or(elements.len());
        while elements.len() <= index {
            elements.push(Draft::new(NULL));
        }
        Ok(&mut elements[index])
    }

    /// Takes a text apart if it is a container.
    fn open(&mut self) {
        let Draft::Text(text) = self else { return };
        if text.starts_with('{') {
            *self = Draft::Object(members(text));
        } else if text.starts_with('[') {
            *self = Draft::Array(scan::elements(text).map(Draft::new).collect());
        }
    }

    fn is_null(&self) -> bool {
        matches!(self, Draft::Text(text) if text == NULL)
    }

    fn types(&self) -> Types {
        match self {
            Draft::Text(text) => Types::of_text(text),
            Draft::Array(_) => Types::ARRAY,
            Draft::Object(_) => Types::OBJECT,
        }
    }
}

/// The members of an object, with their keys as they stand.
fn members(text: &str) -> Vec<Member> {
    let members = serde_json::Deserializer::from_str(text).deserialize_map(Members);
    members.expect("a draft is made of valid JSON")
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<Member>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<Member>, A::Error> {
        let mut members = Vec::new();
        // Raw keys too: a key of text would refuse a surrogate without its partner.
        while let Some((key, value)) = map.next_entry::<&RawValue, &RawValue>()? {
            let quoted = key.get();
            let name = scan::unescape(quoted).unwrap_or_default().into_owned();
            members.push(Member {
                name,
                quoted: quoted.to_owned(),
                value: Draft::new(value.get()),
            });
        }
        Ok(members)
    }
}

#[cfg(test)]
mod tests {
    use super::super::path::KeyPath;
    use super::*;

    fn set(base: &str, settings: &[(&str, &str)]) -> Result<String, Clash> {
        let mut draft = Draft::new(base);
        for (path, value) in settings {
            draft.set(&KeyPath::parse(path).unwrap().0, value)?;
        }
        let mut out = String::new();
        draft.write(&mut out);
        Ok(out)
    }

    #[test]
    fn a_value_is_put_where_the_path_leads() {
        let check = |base: &str, settings: &[(&str, &str)], expected: &str| {
            assert_eq!(set(base, settings).as_deref(), Ok(expected), "{base} {settings:?}");
        };
        check("{}", &[("a", "1"), ("b", "2")], r#"{"a":1,"b":2}"#);
        check("{}", &[("a", "1"), ("a", "2")], r#"{"a":2}"#);
        check("{}", &[("a.b", "1"), ("a.c", "2")], r#"{"a":{"b":1,"c":2}}"#);
        check("{}", &[("a[]", "1"), ("a[]", "2")], r#"{"a":[1,2]}"#);
        check("{}", &[("a[2]", "1")], r#"{"a":[null,null,1]}"#);
        check("{}", &[("a[1]", "1"), ("a[0]", "2")], r#"{"a":[2,1]}"#);
        check("{}", &[("a[].b", "1"), ("a[].b", "2")], r#"{"a":[{"b":1},{"b":2}]}"#);
        check("{}", &[("a[0].b", "1"), ("a[0].c", "2")], r#"{"a":[{"b":1,"c":2}]}"#);
        check(r#"{"a":null}"#, &[("a.b", "1")], r#"{"a":{"b":1}}"#);
        check("{}", &[("a.b", "1"), ("a", "2")], r#"{"a":2}"#);
        check(r#"{"a":[1.0, 2],"z":1e400}"#, &[("a[]", "3")], r#"{"a":[1.0,2,3],"z":1e400}"#);
        check(r#"{"b":{"x" : 1.50},"a":0}"#, &[("a", "1")], r#"{"b":{"x" : 1.50},"a":1}"#);
        check(r#"{"a":1,"b":2,"a":3}"#, &[("a", "4")], r#"{"b":2,"a":4}"#);
        check(r#"{"a":{"x":1},"a":{"y":2}}"#, &[("a.z", "3")], r#"{"a":{"y":2,"z":3}}"#);
        check(r#"{"\u0061":1,"\ud800":2}"#, &[("a", "3")], r#"{"\u0061":3,"\ud800":2}"#);
    }

    #[test]
    fn a_path_into_a_scalar_is_a_clash() {
        let check = |base: &str, path: &str, steps, found| {
            assert_eq!(set(base, &[(path, "1")]), Err(Clash { steps, found }), "{base} {path}");
        };
        check(r#"{"a":1}"#, "a.b", 1, Types::INTEGER);
        check(r#"{"a":"x"}"#, "a[]", 1, Types::STRING);
        check(r#"{"a":{"b":true}}"#, "a.b.c", 2, Types::BOOLEAN);
        check(r#"{"a":[]}"#, "a.b", 1, Types::ARRAY);
        check(r#"{"a":{}}"#, "a[0]", 1, Types::OBJECT);
    }
}
