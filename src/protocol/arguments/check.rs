//! Whether arguments fit the schema, as far as a client should judge.
//!
//! Checked are types, `enum` and `const`, `required`, and keys that `additionalProperties: false`
//! shuts out; also inside arrays, objects and unions, and through `$ref`. The rest of JSON Schema
//! is left to the server, and so is every doubt.

use super::error::{ArgError, ValueFault};
use super::path;
use crate::decimal::Decimal;
use crate::model::schema::{InputSchema, Schema, Shape, Types};
use crate::similar::closest;
use crate::tree::Tree;

/// How many comparisons one check may take. A schema can be written so that it never ends.
const EFFORT: usize = 10_000_000;

/// How many faults are reported.
const FAULTS: usize = 20;

/// How deep schemas may nest around a value. A `$ref` can lead to itself.
const DEPTH: u32 = 64;

/// What is wrong with arguments, which must be a JSON object.
pub(super) fn faults(schema: &InputSchema<'_>, arguments: &str) -> Vec<ArgError> {
    let root = schema.root();
    // Arguments are an object. A schema that wants something else is no schema for arguments.
    let fits = root.types().is_none_or(|types| types.has(Types::OBJECT));
    match Tree::parse(arguments) {
        Ok(value) if fits => distinct(Check { effort: EFFORT }.value(root, &value, "", DEPTH)),
        _ => Vec::new(),
    }
}

/// Whether one of the schemas of a shape allows a value, given as JSON.
pub(super) fn accepts(shape: &Shape<'_>, json: &str) -> bool {
    let Ok(value) = Tree::parse(json) else { return false };
    let mut check = Check { effort: EFFORT };
    shape.schemas().iter().any(|schema| check.value(*schema, &value, "", DEPTH).is_empty())
}

/// The first of the faults, each once: the parts of a schema may ask for the same.
fn distinct(faults: Vec<ArgError>) -> Vec<ArgError> {
    let mut kept = Vec::new();
    for fault in faults {
        if kept.len() < FAULTS && !kept.contains(&fault) {
            kept.push(fault);
        }
    }
    kept
}

struct Check {
    /// How many comparisons are left.
    effort: usize,
}

impl Check {
    /// Accounts for comparisons; false when there were too many.
    fn may_compare(&mut self, comparisons: usize) -> bool {
        self.effort = self.effort.saturating_sub(comparisons);
        self.effort > 0
    }

    /// What is wrong with the value at the path `at`, by one schema.
    fn value(
        &mut self,
        schema: Schema<'_>,
        value: &Tree<'_>,
        at: &str,
        depth: u32,
    ) -> Vec<ArgError> {
        let comparisons = 1 + schema.choices().map_or(0, <[_]>::len);
        if depth == 0 || !self.may_compare(comparisons) {
            return Vec::new();
        }
        if schema.is_false() {
            return vec![ArgError::value(at, ValueFault::Forbidden)];
        }
        if let Some(misfit) = misfit(schema, value, at) {
            return vec![misfit];
        }
        let mut faults = Vec::new();
        for part in schema.reference().into_iter().chain(schema.branches("allOf")) {
            faults.extend(self.value(part, value, at, depth - 1));
        }
        for union in ["anyOf", "oneOf"] {
            faults.extend(self.union(schema, union, value, at, depth - 1));
        }
        match value {
            Tree::Object(_) => faults.extend(self.members(schema, value, at, depth - 1)),
            Tree::Array(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    let Some(schema) = schema.element(Some(index)) else { continue };
                    faults.extend(self.value(
                        schema,
                        element,
                        &format!("{at}[{index}]"),
                        depth - 1,
                    ));
                }
            }
            Tree::Leaf(_) => {}
        }
        faults
    }

    /// What is wrong by all of the branches of a union. Two branches of a `oneOf` that both seem
    /// to fit may differ in what is not checked here, so one is enough.
    fn union(
        &mut self,
        schema: Schema<'_>,
        keyword: &str,
        value: &Tree<'_>,
        at: &str,
        depth: u32,
    ) -> Vec<ArgError> {
        let mut likeliest: Option<Vec<ArgError>> = None;
        for branch in schema.branches(keyword) {
            let faults = self.value(branch, value, at, depth);
            if faults.is_empty() {
                return faults;
            }
            // A branch of the right type tells more about the mistake than the others.
            let fits = Shape::from(branch).types().admit(Types::of(value));
            let fewer = likeliest.as_ref().is_none_or(|known| faults.len() < known.len());
            if fits && fewer {
                likeliest = Some(faults);
            }
        }
        if schema.branches(keyword).next().is_none() {
            return Vec::new();
        }
        likeliest.unwrap_or_else(|| {
            let branches = schema.branches(keyword).map(|branch| Shape::from(branch).types());
            let expected = branches.fold(Types::NONE, Types::or);
            vec![ArgError::value(at, ValueFault::Type { expected, found: value.to_string() })]
        })
    }

    /// What is wrong with the members of an object.
    fn members(
        &mut self,
        schema: Schema<'_>,
        value: &Tree<'_>,
        at: &str,
        depth: u32,
    ) -> Vec<ArgError> {
        let keys = schema.required().count() + schema.properties().count();
        if !self.may_compare(keys.saturating_mul(value.members().len())) {
            return Vec::new();
        }
        let missing = schema.required().filter(|key| value.get(key).is_none());
        let keys: Vec<_> = missing.map(|key| path::member(at, &key)).collect();
        let mut faults = Vec::new();
        if !keys.is_empty() {
            faults.push(ArgError::Missing(keys));
        }
        for (key, member) in value.members() {
            let at_member = || path::member(at, key);
            let known = schema.property(key);
            // Patterns need regular expressions, which are left to the server.
            let additional = schema.additional().filter(|_| !schema.has_patterns());
            match known.or(additional) {
                Some(shut) if known.is_none() && shut.is_false() => {
                    faults.push(unknown_key(at, key, key, &Shape::from(schema)));
                }
                Some(schema) => faults.extend(self.value(schema, member, &at_member(), depth)),
                None => {}
            }
        }
        faults
    }
}

/// The error for a key that the value at `at` does not have. `meant` is what the key may have been
/// meant as: itself, or more of the word where dots were perhaps not meant to lead inside.
pub(super) fn unknown_key(at: &str, key: &str, meant: &str, shape: &Shape<'_>) -> ArgError {
    let names = shape.names();
    let whole = names.iter().copied().find(|name| *name == meant);
    let nearest = whole.or_else(|| closest(key, names.iter().copied()));
    let suggestion = nearest.map(|name| path::member(at, name));
    let known = names.into_iter().map(|name| path::member(at, name)).collect();
    ArgError::value(&path::member(at, key), ValueFault::Unknown { suggestion, known })
}

/// What is wrong with a value as such, regardless of what is inside.
fn misfit(schema: Schema<'_>, value: &Tree<'_>, at: &str) -> Option<ArgError> {
    let expected = schema.types();
    if let Some(expected) = expected.filter(|types| !types.admit(Types::of(value))) {
        let fault = ValueFault::Type { expected, found: value.to_string() };
        return Some(ArgError::value(at, fault));
    }
    let choices = schema.choices()?;
    if choices.iter().any(|choice| equal(choice, value)) {
        return None;
    }
    let allowed = choices.iter().map(ToString::to_string).collect();
    Some(ArgError::value(at, ValueFault::Choice { allowed, found: value.to_string() }))
}

/// Whether two values are equal in the sense of JSON Schema (2020-12 Core, section 4.2.2).
fn equal(left: &Tree<'_>, right: &Tree<'_>) -> bool {
    match (left, right) {
        (Tree::Leaf(one), Tree::Leaf(other)) => {
            one == other || same_text(left, right) || same_number(one, other)
        }
        (Tree::Array(one), Tree::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other))
        }
        (Tree::Object(one), Tree::Object(other)) => {
            let found = |key| right.get(key).unwrap_or(&Tree::Leaf(""));
            let same = one.iter().all(|(key, value)| equal(value, found(key)));
            same && one.len() == other.len()
        }
        _ => false,
    }
}

fn same_text(left: &Tree<'_>, right: &Tree<'_>) -> bool {
    left.as_text().is_some_and(|text| right.as_text() == Some(text))
}

fn same_number(left: &str, right: &str) -> bool {
    Decimal::parse(left).is_some_and(|number| Decimal::parse(right) == Some(number))
}
