//! Tools, as a server lists them.

use std::fmt;

use super::schema::{InputSchema, Shape, Types};
use crate::protocol::json;
use crate::protocol::similar::closest;
use crate::protocol::tree::{Tree, members};

/// How many values of an `enum` a signature shows.
const CHOICES: usize = 6;

/// How deep a signature looks into arrays of arrays.
const DEPTH: usize = 3;

/// One tool. What a client reads of it, and the rest as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// Its name, for calls. Never empty, otherwise any text at all.
    pub name: String,
    /// Its name for people; before 2025-06-18 a part of the annotations.
    pub title: Option<String>,
    /// What it does.
    pub description: Option<String>,
    /// What its server says about calling it.
    pub annotations: Annotations,
    text: Box<str>,
}

/// Hints about what a call does; they are as good as the server is trusted. What a server leaves
/// out is as the specification has it by default (Schema Reference, `ToolAnnotations`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Annotations {
    /// It changes nothing.
    pub read_only: bool,
    /// It may destroy something. Means nothing when it changes nothing.
    pub destructive: bool,
    /// Calling it again with the same arguments does nothing more.
    pub idempotent: bool,
}

/// A tool definition that cannot be used. It does not spoil the others of its list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadTool {
    /// It is no JSON object.
    NotAnObject,
    /// Its name is missing, empty, or no string.
    NoName,
}

impl Tool {
    /// Reads an element of the `tools` of a `tools/list` result. Only a name is needed; other
    /// members of the wrong type count as absent.
    pub fn read(text: &str) -> Result<Tool, BadTool> {
        let Ok(tree @ Tree::Object(_)) = Tree::parse(text) else {
            return Err(BadTool::NotAnObject);
        };
        let string = |tree: &Tree<'_>, key| Some(tree.get(key)?.as_text()?.into_owned());
        let name = string(&tree, "name").filter(|name| !name.is_empty());
        let hints = tree.get("annotations");
        let hint = |key, absent| match hints.and_then(|hints| hints.get(key)) {
            Some(Tree::Leaf("true")) => true,
            Some(Tree::Leaf("false")) => false,
            _ => absent,
        };
        Ok(Tool {
            name: name.ok_or(BadTool::NoName)?,
            title: string(&tree, "title").or_else(|| string(hints?, "title")),
            description: string(&tree, "description"),
            annotations: Annotations {
                read_only: hint("readOnlyHint", false),
                destructive: hint("destructiveHint", true),
                idempotent: hint("idempotentHint", false),
            },
            text: text.into(),
        })
    }

    /// The definition as it came.
    pub fn as_json(&self) -> &str {
        &self.text
    }

    /// The text of `inputSchema`, whatever it is; `None` when there is none.
    pub fn input_schema(&self) -> Option<&str> {
        self.member("inputSchema")
    }

    /// The text of `outputSchema`, whatever it is; `None` when there is none.
    pub fn output_schema(&self) -> Option<&str> {
        self.member("outputSchema")
    }

    /// The input schema, opened; one that allows everything when there is none.
    pub fn schema(&self) -> InputSchema<'_> {
        InputSchema::read(self.input_schema().unwrap_or("true"))
    }

    /// The tool in one line: `create(title: string, labels?: string[], due?: string|null)`.
    ///
    /// A `?` marks what may be left out, `…` that there may be more, and names that are not plain
    /// words are written as JSON strings.
    pub fn signature(&self) -> String {
        let schema = self.schema();
        let shape = schema.shape();
        let required: Vec<_> = schema.root().required().collect();
        let mut parameters = Vec::new();
        for name in shape.names() {
            let optional = if required.iter().any(|key| key == name) { "" } else { "?" };
            let types = type_name(&shape.property(name).shape(), DEPTH);
            parameters.push(format!("{}{optional}: {types}", word(name)));
        }
        if shape.is_open() {
            parameters.push("…".to_owned());
        }
        format!("{}({})", word(&self.name), parameters.join(", "))
    }

    fn member(&self, key: &str) -> Option<&str> {
        let members = members(&self.text).ok()?;
        members.iter().rev().find(|member| member.key == key).map(|member| member.value)
    }
}

/// The tool whose name `wanted` is most likely a misspelling of; `None` when none is near.
pub fn nearest<'t>(wanted: &str, tools: &'t [Tool]) -> Option<&'t str> {
    closest(wanted, tools.iter().map(|tool| &*tool.name))
}

/// A name as it is, or as a JSON string if it could be misread.
fn word(name: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "_-./$".contains(letter);
    if name.chars().all(plain) { name.to_owned() } else { json::string(name) }
}

/// A type in the notation of signatures.
fn type_name(shape: &Shape<'_>, depth: usize) -> String {
    let (types, choices) = (shape.types(), shape.choices());
    if types.is_empty() {
        return "any".to_owned();
    }
    let mut names = Vec::new();
    let chosen = choices.iter().fold(Types::NONE, |types, choice| types.or(Types::of(choice)));
    if types.without(chosen).without(Types::NULL).is_empty() && !choices.is_empty() {
        let shown = choices.iter().take(CHOICES).map(ToString::to_string);
        names.extend(shown.filter(|choice| choice != "null"));
        names.extend((choices.len() > CHOICES).then(|| "…".to_owned()));
    } else {
        names.extend(types.without(Types::NULL).names().map(|name| match name {
            "array" if depth > 0 => array_name(&shape.element(None), depth - 1),
            _ => name.to_owned(),
        }));
    }
    names.extend(types.has(Types::NULL).then(|| "null".to_owned()));
    names.join("|")
}

fn array_name(element: &Shape<'_>, depth: usize) -> String {
    match &*type_name(element, depth) {
        "any" => "array".to_owned(),
        name if name.contains('|') => format!("({name})[]"),
        name => format!("{name}[]"),
    }
}

impl fmt::Display for BadTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BadTool::NotAnObject => "a tool definition is no object",
            BadTool::NoName => "a tool definition has no name",
        })
    }
}
