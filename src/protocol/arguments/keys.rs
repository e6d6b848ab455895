//! What can be written for a tool: its keys, and their values where there are few.

use super::path::member;
use crate::model::schema::{Shape, Types};
use crate::model::tool::Tool;
use crate::tree::Tree;

/// A key of a tool's arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// Its name in the schema.
    pub name: String,
    /// The name as it stands before a `=`, where dots are escaped.
    pub written: String,
    /// Whether a call must have it.
    pub is_required: bool,
    /// Whether it is `true` or `false`, so that as an option it needs no value.
    pub is_flag: bool,
    /// What it is for.
    pub description: Option<String>,
    /// The values that are allowed, as they stand after a `=`, when the schema lists them.
    pub values: Vec<String>,
}

/// The keys of a tool, in the order of its schema.
pub fn keys(tool: &Tool) -> Vec<Key> {
    let schema = tool.schema();
    let shape = schema.shape();
    let required: Vec<_> = schema.root().required().collect();
    let key = |name: &str| {
        let value = shape.property(name).shape();
        Key {
            name: name.to_owned(),
            written: member("", name),
            is_required: required.iter().any(|key| key == name),
            is_flag: value.types() == Types::BOOLEAN,
            description: value
                .parts()
                .into_iter()
                .find_map(|part| Some(part.keyword("description")?.as_text()?.into_owned())),
            values: values(&value),
        }
    };
    shape.names().into_iter().map(key).collect()
}

fn values(shape: &Shape<'_>) -> Vec<String> {
    let types = shape.types();
    // What is given once for a list is one of its elements.
    if types == Types::ARRAY {
        return shape.element(None).choices().into_iter().map(text).collect();
    }
    let choices = shape.choices();
    match choices.is_empty() && types == Types::BOOLEAN {
        true => vec!["true".to_owned(), "false".to_owned()],
        false => choices.into_iter().map(text).collect(),
    }
}

/// A value as it stands after a `=`: a string without quotes, anything else as JSON.
fn text(value: &Tree<'_>) -> String {
    value.as_text().map_or_else(|| value.to_string(), |text| text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_with_their_values() {
        let schema = r##"{"properties":{
            "a.b":{"type":"string","description":"d"},
            "size":{"enum":["small","large",1,null]},
            "on":{"type":"boolean"},
            "tags":{"type":"array","items":{"enum":["x","y"]}},
            "deep":{"$ref":"#/$defs/s"}},
            "required":["size"],"$defs":{"s":{"const":"only","description":"e"}}}"##;
        let tool = Tool::read(&format!(r#"{{"name":"t","inputSchema":{schema}}}"#)).unwrap();
        let shown = keys(&tool).into_iter().map(|key| {
            let Key { written, is_required, is_flag, description, values, .. } = key;
            let marks = [(is_required, "!"), (is_flag, "?")];
            let marks = marks.iter().filter(|(is_set, _)| *is_set).map(|(_, mark)| *mark);
            let marks: String = marks.collect();
            format!("{written}{marks} {} {values:?}", description.unwrap_or_default())
        });
        assert_eq!(
            shown.collect::<Vec<_>>(),
            [
                r#"a\.b d []"#,
                r#"size!  ["small", "large", "1", "null"]"#,
                r#"on?  ["true", "false"]"#,
                r#"tags  ["x", "y"]"#,
                r#"deep e ["only"]"#,
            ]
        );
        assert_eq!(keys(&Tool::read(r#"{"name":"t"}"#).unwrap()), []);
    }
}
