//! Forms: what a server wants to know from the user (2026-07-28, Elicitation, Requested Schema).
//!
//! A form is a flat list of fields. A field reads what people type for it, and checks what programs
//! give for it, so that a server gets no value that it did not ask for.
//!
//! ```
//! use mcpmini_protocol::model::form::Form;
//! let form = Form::read(r#"{"properties":{"n":{"type":"integer","minimum":1}},"required":["n"]}"#);
//! let field = &form.fields[0];
//! assert_eq!(field.value_of("42").as_deref(), Ok("42"));
//! assert_eq!(field.value_of("0").unwrap_err().to_string(), "it must be at least 1");
//! ```

mod check;
mod format;
mod misfit;

pub use format::Format;
pub use misfit::Misfit;

use crate::decimal::Decimal;
use crate::json;
use crate::tree::Tree;

/// What a server wants to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    /// The fields, in the order of the schema.
    pub fields: Vec<Field>,
}

/// One thing that a server wants to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its key.
    pub name: String,
    /// What people call it.
    pub title: Option<String>,
    /// What it means.
    pub description: Option<String>,
    /// Whether it must be there.
    pub required: bool,
    /// The value it has when nothing is said: JSON text that fits.
    pub default: Option<String>,
    /// Which values it takes.
    pub kind: Kind,
}

/// Which values a field takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A text.
    Text {
        /// The fewest characters.
        min_length: Option<u64>,
        /// The most characters.
        max_length: Option<u64>,
        /// How it is written.
        format: Option<Format>,
    },
    /// A number.
    Number {
        /// Whether it has no fraction.
        integer: bool,
        /// The smallest.
        minimum: Option<Bound>,
        /// The greatest.
        maximum: Option<Bound>,
    },
    /// Yes or no.
    Boolean,
    /// One of these.
    One(Vec<Choice>),
    /// Some of these.
    Some {
        /// Those there are.
        choices: Vec<Choice>,
        /// The fewest.
        min_items: Option<u64>,
        /// The most.
        max_items: Option<u64>,
    },
    /// Something that forms do not ask for; any JSON is taken.
    Other,
}

/// A bound of a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    /// As the schema writes it.
    pub text: String,
    value: Decimal,
}

/// A value that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The value: JSON text.
    pub value: String,
    /// What people call it.
    pub label: String,
}

impl Form {
    /// Reads a `requestedSchema`. What makes no sense in it says nothing.
    pub fn read(schema: &str) -> Form {
        let Ok(schema) = Tree::parse(schema) else { return Form { fields: Vec::new() } };
        let required = schema.get("required").map_or(&[][..], Tree::elements);
        let required: Vec<_> = required.iter().filter_map(Tree::as_text).collect();
        let properties = schema.get("properties").map_or(&[][..], Tree::members);
        let fields = properties.iter().map(|(name, schema)| {
            let required = required.iter().any(|required| required == name);
            Field::read(name, required, schema)
        });
        Form { fields: fields.collect() }
    }

    /// The field of that name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }
}

impl Field {
    fn read(name: &str, required: bool, schema: &Tree<'_>) -> Field {
        let text = |key: &str| {
            let text = schema.get(key).and_then(Tree::as_text)?;
            Some(text.into_owned()).filter(|text| !text.trim().is_empty())
        };
        let mut field = Field {
            name: name.to_owned(),
            title: text("title"),
            description: text("description"),
            required,
            default: None,
            kind: Kind::read(schema),
        };
        let default = schema.get("default").map(Tree::to_string);
        field.default = default.filter(|default| default != "null" && field.check(default).is_ok());
        field
    }

    /// What people call it: its title, or else its key.
    pub fn label(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }

    /// The values that can be chosen; none where any can be written.
    pub fn choices(&self) -> &[Choice] {
        match &self.kind {
            Kind::One(choices) | Kind::Some { choices, .. } => choices,
            _ => &[],
        }
    }
}

impl Kind {
    fn read(schema: &Tree<'_>) -> Kind {
        let count = |key: &str| schema.get(key)?.to_string().parse().ok();
        if let Some(choices) = choices(schema) {
            return Kind::One(choices);
        }
        let named = schema.get("type").and_then(Tree::as_text);
        match named.as_deref().unwrap_or_default() {
            "string" => Kind::Text {
                min_length: count("minLength"),
                max_length: count("maxLength"),
                format: schema
                    .get("format")
                    .and_then(Tree::as_text)
                    .and_then(|name| Format::named(&name)),
            },
            number @ ("number" | "integer") => Kind::Number {
                integer: number == "integer",
                minimum: Bound::read(schema.get("minimum")),
                maximum: Bound::read(schema.get("maximum")),
            },
            "boolean" => Kind::Boolean,
            "array" => match schema.get("items").and_then(choices) {
                Some(choices) => Kind::Some {
                    choices,
                    min_items: count("minItems"),
                    max_items: count("maxItems"),
                },
                None => Kind::Other,
            },
            _ => Kind::Other,
        }
    }
}

impl Bound {
    fn read(bound: Option<&Tree<'_>>) -> Option<Bound> {
        let text = bound?.to_string();
        let value = Decimal::parse(&text)?;
        Some(Bound { text, value })
    }
}

/// The values that a schema offers: by `enum`, with or without the `enumNames` of older revisions,
/// or by a union of constants with titles.
fn choices(schema: &Tree<'_>) -> Option<Vec<Choice>> {
    if let Some(values) = schema.get("enum") {
        let names = schema.get("enumNames").map_or(&[][..], Tree::elements);
        let values = values.elements().iter().enumerate();
        return Some(values.map(|(at, value)| Choice::new(value, names.get(at))).collect());
    }
    let union = schema.get("oneOf").or(schema.get("anyOf"))?;
    let constant = |branch: &Tree<'_>| Some(Choice::new(branch.get("const")?, branch.get("title")));
    union.elements().iter().map(constant).collect()
}

impl Choice {
    fn new(value: &Tree<'_>, title: Option<&Tree<'_>>) -> Choice {
        let title = title.and_then(Tree::as_text).filter(|title| !title.trim().is_empty());
        let label = title.or_else(|| value.as_text());
        Choice {
            value: match value.as_text() {
                // Written anew, so that equal texts are equal whatever their escapes.
                Some(text) => json::string(&text),
                None => value.to_string(),
            },
            label: label.map_or_else(|| value.to_string(), |label| label.into_owned()),
        }
    }
}

#[cfg(test)]
mod tests;
