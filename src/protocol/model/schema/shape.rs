//! Everything that is known about one value.

use std::collections::HashSet;
use std::ptr;

use super::{Schema, Types};
use crate::tree::Tree;

/// How many schemas may describe one value. What comes after them is left out.
const PARTS: usize = 256;

/// What is known about one value: the schemas that may describe it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shape<'s> {
    schemas: Vec<Schema<'s>>,
}

/// What a [`Shape`] says about a key.
#[derive(Debug)]
pub(crate) enum Property<'s> {
    /// It is there, with this shape.
    Known(Shape<'s>),
    /// It is not there, but others than those that are may be added.
    Open(Shape<'s>),
    /// It is not there, and so most likely a mistake.
    Unknown,
}

impl<'s> Property<'s> {
    /// What is known about its value.
    pub(crate) fn shape(self) -> Shape<'s> {
        match self {
            Property::Known(shape) | Property::Open(shape) => shape,
            Property::Unknown => Shape::default(),
        }
    }
}

impl<'s> Shape<'s> {
    /// The schemas as they were found, not unfolded.
    pub(crate) fn schemas(&self) -> &[Schema<'s>] {
        &self.schemas
    }

    /// All schemas that may describe the value: those found, and those they are made of.
    pub(crate) fn parts(&self) -> Vec<Schema<'s>> {
        self.unfold(|schema| {
            let branches = ["allOf", "anyOf", "oneOf"].into_iter();
            let branches = branches.flat_map(|keyword| schema.branches(keyword));
            let conditional = ["then", "else"].into_iter().filter_map(|name| schema.schema(name));
            branches.chain(conditional).collect()
        })
    }

    /// The schemas that describe the value when it takes the first branch of every union.
    pub(crate) fn first_parts(&self) -> Vec<Schema<'s>> {
        self.unfold(|schema| {
            let unions = ["anyOf", "oneOf"].into_iter();
            let first = unions.filter_map(|keyword| schema.branches(keyword).next());
            schema.branches("allOf").chain(first).collect()
        })
    }

    /// The schemas found and what they are made of, in the order of the document. Each place counts
    /// once: that ends cycles, and the doubling of nested unions.
    fn unfold(&self, made_of: impl Fn(Schema<'s>) -> Vec<Schema<'s>>) -> Vec<Schema<'s>> {
        let mut parts: Vec<Schema<'s>> = Vec::new();
        let mut waiting: Vec<Schema<'s>> = self.schemas.iter().rev().copied().collect();
        while let Some(schema) = waiting.pop() {
            if parts.len() == PARTS {
                break;
            }
            if parts.iter().any(|part| ptr::eq(part.here, schema.here)) {
                continue;
            }
            parts.push(schema);
            waiting.extend(made_of(schema).into_iter().rev());
            waiting.extend(schema.reference());
        }
        parts
    }

    /// The types the value may have; none when nothing is known.
    pub(crate) fn types(&self) -> Types {
        self.parts().into_iter().fold(Types::NONE, |types, part| types.or(likely_types(part)))
    }

    /// The values that `enum` and `const` list.
    pub(crate) fn choices(&self) -> Vec<&'s Tree<'s>> {
        self.parts().into_iter().filter_map(Schema::choices).flatten().collect()
    }

    /// What is known about a key of the value.
    pub(crate) fn property(&self, name: &str) -> Property<'s> {
        let parts = self.parts();
        let schemas: Vec<_> = parts.iter().filter_map(|part| part.property(name)).collect();
        if !schemas.is_empty() {
            return Property::Known(Shape { schemas });
        }
        let additional = parts.iter().filter_map(|part| part.additional());
        let (closed, schemas): (Vec<_>, Vec<_>) = additional.partition(|schema| schema.is_false());
        let allowed = |part: &Schema<'s>| {
            part.has_patterns() || part.required().any(|required| required == name)
        };
        let open = !schemas.is_empty() || parts.iter().any(allowed);
        let silent =
            closed.is_empty() && parts.iter().all(|part| part.properties().next().is_none());
        if open || silent { Property::Open(Shape { schemas }) } else { Property::Unknown }
    }

    /// Whether the schema says that further keys may be added.
    pub(crate) fn is_open(&self) -> bool {
        self.parts().iter().any(|part| {
            part.has_patterns() || part.additional().is_some_and(|schema| !schema.is_false())
        })
    }

    /// The names of the keys, in the order of the schema.
    pub(crate) fn names(&self) -> Vec<&'s str> {
        let mut seen = HashSet::new();
        let names = self.parts().into_iter().flat_map(Schema::properties).map(|(name, _)| name);
        names.filter(|name| seen.insert(*name)).collect()
    }

    /// What is known about an element of the value; `None` for the place says: a further one.
    pub(crate) fn element(&self, index: Option<usize>) -> Shape<'s> {
        let schemas = self.parts().into_iter().filter_map(|part| part.element(index)).collect();
        Shape { schemas }
    }
}

impl<'s> From<Schema<'s>> for Shape<'s> {
    fn from(schema: Schema<'s>) -> Shape<'s> {
        Shape { schemas: vec![schema] }
    }
}

/// The types of a schema, also when they must be guessed from what else it says.
fn likely_types(schema: Schema<'_>) -> Types {
    if let Some(types) = schema.types() {
        return types;
    }
    if let Some(choices) = schema.choices() {
        return choices.iter().fold(Types::NONE, |types, choice| types.or(Types::of(choice)));
    }
    let describes = |keywords: &[&str]| keywords.iter().any(|name| schema.keyword(name).is_some());
    if describes(&["properties", "required"]) {
        return Types::OBJECT;
    }
    if describes(&["items", "prefixItems"]) { Types::ARRAY } else { Types::NONE }
}
