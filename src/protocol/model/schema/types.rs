//! The types of JSON Schema.

use std::fmt;

use crate::decimal::Decimal;
use crate::tree::Tree;

/// A set of JSON types. An integer is also a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Types(u8);

impl Types {
    /// The empty set.
    pub const NONE: Types = Types(0);
    /// `string`
    pub const STRING: Types = Types(1);
    /// `integer`
    pub const INTEGER: Types = Types(1 << 1);
    /// `number`
    pub const NUMBER: Types = Types(1 << 2);
    /// `boolean`
    pub const BOOLEAN: Types = Types(1 << 3);
    /// `array`
    pub const ARRAY: Types = Types(1 << 4);
    /// `object`
    pub const OBJECT: Types = Types(1 << 5);
    /// `null`
    pub const NULL: Types = Types(1 << 6);

    const NAMES: [(Types, &'static str); 7] = [
        (Types::STRING, "string"),
        (Types::INTEGER, "integer"),
        (Types::NUMBER, "number"),
        (Types::BOOLEAN, "boolean"),
        (Types::ARRAY, "array"),
        (Types::OBJECT, "object"),
        (Types::NULL, "null"),
    ];

    /// The type with that name in JSON Schema.
    pub fn named(name: &str) -> Option<Types> {
        Types::NAMES.iter().find(|(_, known)| *known == name).map(|(types, _)| *types)
    }

    /// The members of both sets.
    #[must_use]
    pub fn or(self, other: Types) -> Types {
        Types(self.0 | other.0)
    }

    /// The set without those members.
    #[must_use]
    pub fn without(self, other: Types) -> Types {
        Types(self.0 & !other.0)
    }

    /// Whether the sets share a member.
    pub fn has(self, other: Types) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether the set is empty.
    pub fn is_empty(self) -> bool {
        self == Types::NONE
    }

    /// The names of the members.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Types::NAMES.iter().filter(move |(types, _)| self.has(*types)).map(|(_, name)| *name)
    }

    /// The type of a value. A number without a fraction is an integer, however it is written.
    pub(crate) fn of(value: &Tree<'_>) -> Types {
        match value {
            Tree::Array(_) => Types::ARRAY,
            Tree::Object(_) => Types::OBJECT,
            Tree::Leaf(text) => Types::of_text(text),
        }
    }

    /// The type of a value by its text, which must be JSON.
    pub(crate) fn of_text(text: &str) -> Types {
        match text.as_bytes().first() {
            Some(b'"') => Types::STRING,
            Some(b't' | b'f') => Types::BOOLEAN,
            Some(b'[') => Types::ARRAY,
            Some(b'{') => Types::OBJECT,
            Some(b'n') => Types::NULL,
            _ => match Decimal::parse(text) {
                Some(number) if number.is_integer() => Types::INTEGER,
                _ => Types::NUMBER,
            },
        }
    }

    /// Whether a value of the type `found` is of one of these types.
    pub(crate) fn admit(self, found: Types) -> bool {
        self.has(found) || (found == Types::INTEGER && self.has(Types::NUMBER))
    }
}

impl fmt::Display for Types {
    /// `string or null`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.names().collect();
        f.write_str(&names.join(" or "))
    }
}
