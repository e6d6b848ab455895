//! A command line for a tool that has never been called.

use std::borrow::Cow;

use super::check::accepts;
use super::convert::{Converted, convert};
use super::path::escaped;
use crate::protocol::json;
use crate::protocol::model::schema::{Schema, Shape, Types};
use crate::protocol::model::tool::Tool;
use crate::protocol::tree::{Tree, unquote};

/// How many parameters an example shows when none is required.
const OPTIONAL: usize = 3;

/// How deep an example goes into objects, arrays and unions.
const DEPTH: usize = 8;

/// Words that call a tool, ready for a shell: `title=text 'labels:=["text"]'`.
///
/// They set the parameters that are required, or the first few when none is. Values come from the
/// schema where it has some (`examples`, `default`, `enum`), otherwise they only have the right
/// type. Empty when the tool has no parameters.
pub fn example(tool: &Tool) -> String {
    let schema = tool.schema();
    let shape = schema.shape();
    let mut keys = required(schema.root(), DEPTH);
    if keys.is_empty() {
        keys.extend(shape.names().into_iter().take(OPTIONAL).map(Cow::Borrowed));
    }
    // No word has an empty key.
    keys.retain(|key| !key.is_empty());
    let words = keys.iter().map(|key| shell_word(&word(key, &shape.property(key).shape())));
    words.collect::<Vec<_>>().join(" ")
}

/// The keys an object must have; of a union, those of its first branch.
fn required(schema: Schema<'_>, depth: usize) -> Vec<Cow<'_, str>> {
    let mut keys: Vec<_> = schema.required().collect();
    if depth > 0 {
        let unions = ["anyOf", "oneOf"].into_iter();
        let first = unions.filter_map(|union| schema.branches(union).next());
        let parts = schema.reference().into_iter().chain(schema.branches("allOf")).chain(first);
        keys.extend(parts.flat_map(|part| required(part, depth - 1)));
    }
    let mut seen = Vec::new();
    keys.retain(|key| {
        let new = !seen.contains(key);
        seen.push(key.clone());
        new
    });
    keys
}

/// The word that sets a parameter.
fn word(key: &str, shape: &Shape<'_>) -> String {
    let (name, json) = (escaped(key), value(shape, DEPTH));
    let text = unquote(&json).unwrap_or(Cow::Borrowed(&json));
    let at = if text.starts_with('@') { "@" } else { "" };
    match convert(&text, shape, key) {
        Ok(Converted::Value(converted)) if converted == json => format!("{name}={at}{text}"),
        _ => format!("{name}:={json}"),
    }
}

/// A value that fits, as JSON.
fn value(shape: &Shape<'_>, depth: usize) -> String {
    if let Some(given) = given(shape) {
        return given;
    }
    let types = shape.types();
    let first = types.without(Types::NULL).names().next();
    match first.unwrap_or(if types.is_empty() { "string" } else { "null" }) {
        "string" => json::string(text(shape)),
        "integer" | "number" => number(shape),
        "boolean" => "true".to_owned(),
        "array" => array(&shape.element(None), depth),
        "object" => object(shape, depth),
        _ => "null".to_owned(),
    }
}

/// A value that the schema itself gives. The first one that fits.
fn given(shape: &Shape<'_>) -> Option<String> {
    let parts = shape.parts();
    let listed = parts.iter().filter_map(|part| part.keyword("examples")?.elements().first());
    let named = ["example", "default"].into_iter();
    let named = named.flat_map(|name| parts.iter().filter_map(move |part| part.keyword(name)));
    let candidates = listed.chain(named).chain(shape.choices());
    let mut usable = candidates.filter(|value| !value.is_literal("null")).map(Tree::to_string);
    usable.find(|json| accepts(shape, json))
}

/// A text in the format that the schema names.
fn text(shape: &Shape<'_>) -> &'static str {
    let format = shape.parts().into_iter().find_map(|part| part.keyword("format")?.as_text());
    match format.as_deref() {
        Some("date") => "2026-07-28",
        Some("time") => "12:00:00Z",
        Some("date-time") => "2026-07-28T12:00:00Z",
        Some("email") => "name@example.com",
        Some("uri" | "url") => "https://example.com/",
        Some("uuid") => "123e4567-e89b-12d3-a456-426614174000",
        _ => "text",
    }
}

fn number(shape: &Shape<'_>) -> String {
    let parts = shape.parts();
    let least = parts.iter().filter_map(|part| part.keyword("minimum")).map(Tree::to_string);
    least.into_iter().find(|json| accepts(shape, json)).unwrap_or_else(|| "1".to_owned())
}

fn array(element: &Shape<'_>, depth: usize) -> String {
    if depth == 0 || element.types().is_empty() {
        return "[]".to_owned();
    }
    format!("[{}]", value(element, depth - 1))
}

fn object(shape: &Shape<'_>, depth: usize) -> String {
    let Some(schema) = shape.schemas().first().filter(|_| depth > 0) else {
        return "{}".to_owned();
    };
    let keys = required(*schema, depth - 1);
    let members = keys.iter().map(|key| {
        let value = value(&shape.property(key).shape(), depth - 1);
        format!("{}:{value}", json::string(key))
    });
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

/// A word as a POSIX shell must see it.
fn shell_word(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_@%+=:,./-".contains(letter);
    if word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
