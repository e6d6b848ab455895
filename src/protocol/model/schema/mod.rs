//! The part of JSON Schema that a command line needs: which keys there are and of which type.
//!
//! A `Schema` is one place in a schema document. A `Shape` is what is known about one value:
//! all schemas that may describe it, with `$ref`, `allOf`, `anyOf` and `oneOf` followed. A schema
//! comes from a server, so nothing in it is an error: what makes no sense says nothing.

mod shape;
mod types;

use std::borrow::Cow;
use std::slice;

pub(crate) use shape::{Property, Shape};
pub use types::Types;

use crate::tree::Tree;

/// A tool's input schema.
#[derive(Debug)]
pub struct InputSchema<'a> {
    tree: Tree<'a>,
}

impl<'a> InputSchema<'a> {
    /// Reads the text of a schema. A text that is no schema, like `null` or the `[]` that PHP
    /// writes for `{}`, allows everything.
    pub fn read(text: &'a str) -> InputSchema<'a> {
        InputSchema { tree: Tree::parse(text).unwrap_or(Tree::Leaf("true")) }
    }

    pub(crate) fn root(&self) -> Schema<'_> {
        Schema { document: &self.tree, here: &self.tree }
    }

    /// What is known about the arguments as a whole.
    pub(crate) fn shape(&self) -> Shape<'_> {
        Shape::from(self.root())
    }
}

/// One place in a schema document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Schema<'s> {
    document: &'s Tree<'s>,
    here: &'s Tree<'s>,
}

impl<'s> Schema<'s> {
    /// The value of a keyword.
    pub(crate) fn keyword(self, name: &str) -> Option<&'s Tree<'s>> {
        self.here.get(name)
    }

    /// Whether this is the schema `false`, which no value satisfies.
    pub(crate) fn is_false(self) -> bool {
        self.here.is_literal("false")
    }

    /// The types that `type` names; `None` when it names none that exist.
    pub(crate) fn types(self) -> Option<Types> {
        let named = self.keyword("type")?;
        let names = slice::from_ref(named).iter().chain(named.elements());
        let known = names.filter_map(|name| Types::named(&name.as_text()?));
        let mut types = known.reduce(Types::or)?;
        // OpenAPI 3.0 writes "or null" like this, and so do generators made for it.
        if self.keyword("nullable").is_some_and(|nullable| nullable.is_literal("true")) {
            types = types.or(Types::NULL);
        }
        Some(types)
    }

    /// The values that `enum` or `const` allows; `None` when there is neither.
    pub(crate) fn choices(self) -> Option<&'s [Tree<'s>]> {
        match (self.keyword("const"), self.keyword("enum")) {
            (Some(only), _) => Some(slice::from_ref(only)),
            (None, Some(Tree::Array(choices))) => Some(choices),
            _ => None,
        }
    }

    /// The names and schemas of `properties`.
    pub(crate) fn properties(self) -> impl Iterator<Item = (&'s str, Schema<'s>)> {
        let properties = self.keyword("properties").map_or(&[][..], Tree::members);
        properties.iter().map(move |(name, schema)| (&**name, self.at(schema)))
    }

    /// The schema of one property.
    pub(crate) fn property(self, name: &str) -> Option<Schema<'s>> {
        Some(self.at(self.keyword("properties")?.get(name)?))
    }

    /// Whether `patternProperties` may allow further keys.
    pub(crate) fn has_patterns(self) -> bool {
        self.keyword("patternProperties").is_some_and(|patterns| !patterns.members().is_empty())
    }

    /// The schema of keys that `properties` does not name; `None` when nothing is said about them.
    pub(crate) fn additional(self) -> Option<Schema<'s>> {
        self.schema("additionalProperties")
    }

    /// The keys that `required` lists.
    pub(crate) fn required(self) -> impl Iterator<Item = Cow<'s, str>> {
        let keys = self.keyword("required").map_or(&[][..], Tree::elements);
        keys.iter().filter_map(Tree::as_text)
    }

    /// The schema of an element of an array; `None` for the place says: of any further element.
    pub(crate) fn element(self, index: Option<usize>) -> Option<Schema<'s>> {
        // Before 2020-12, an array in `items` was what `prefixItems` is now.
        let prefix = self.keyword("prefixItems").or(self.keyword("items"));
        let prefix = prefix.map_or(&[][..], Tree::elements);
        let place = index.and_then(|index| prefix.get(index)).map(|schema| self.at(schema));
        place.or_else(|| self.schema("items"))
    }

    /// The schemas that `allOf`, `anyOf` or `oneOf` lists.
    pub(crate) fn branches(self, keyword: &str) -> impl Iterator<Item = Schema<'s>> {
        let branches = self.keyword(keyword).map_or(&[][..], Tree::elements);
        branches.iter().map(move |schema| self.at(schema))
    }

    /// The schema that `$ref` points to; `None` when it is not in this document.
    pub(crate) fn reference(self) -> Option<Schema<'s>> {
        let reference = self.keyword("$ref")?.as_text()?;
        let pointer = percent_decoded(reference.strip_prefix('#')?)?;
        if pointer.is_empty() {
            return Some(self.at(self.document));
        }
        let steps = pointer.strip_prefix('/')?.split('/');
        let target = steps.into_iter().try_fold(self.document, |here, step| {
            // RFC 6901, section 4: `~1` first, so that `~01` becomes `~1`.
            let key = step.replace("~1", "/").replace("~0", "~");
            match here {
                Tree::Array(elements) => elements.get(key.parse::<usize>().ok()?),
                _ => here.get(&key),
            }
        })?;
        Some(self.at(target))
    }

    fn schema(self, keyword: &str) -> Option<Schema<'s>> {
        let schema = self.keyword(keyword)?;
        let is_schema = matches!(schema, Tree::Object(_))
            || schema.is_literal("true")
            || schema.is_literal("false");
        is_schema.then(|| self.at(schema))
    }

    fn at(self, here: &'s Tree<'s>) -> Schema<'s> {
        Schema { document: self.document, here }
    }
}

/// Undoes percent-encoding; `None` when it is broken.
pub(super) fn percent_decoded(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(Cow::Borrowed(text));
    }
    let (first, coded) = text.split_once('%')?;
    let mut bytes = first.as_bytes().to_vec();
    for part in coded.split('%') {
        let digits =
            part.get(..2).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend(part[2..].bytes());
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}
