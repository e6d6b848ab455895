//! What a schema says about the members of an object, one by one: the arguments of a tool, the
//! fields of its structured answer.

use super::schema::InputSchema;
use super::tool::{DEPTH, type_name};

/// How many parameters are told apart.
const COUNT: usize = 1_000;

/// One member of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its type, in the notation of signatures: `string|null`.
    pub types: String,
    /// Whether it must be there.
    pub required: bool,
    /// What it is when it is left out, JSON text.
    pub default: Option<String>,
    /// What it is for.
    pub description: Option<String>,
}

/// The members that the schema `text` names, in its order.
///
/// ```
/// use mcpmini_protocol::model::parameter::parameters;
/// let schema = r#"{"properties":{"days":{"type":"integer","default":3}}}"#;
/// let parameters = parameters(schema);
/// assert_eq!((&*parameters[0].name, &*parameters[0].types), ("days", "integer"));
/// assert_eq!(parameters[0].default.as_deref(), Some("3"));
/// ```
pub fn parameters(text: &str) -> Vec<Parameter> {
    let schema = InputSchema::read(text);
    let shape = schema.shape();
    let required: Vec<_> = schema.root().required().collect();
    let parameter = |name: &str| {
        let shape = shape.property(name).shape();
        let parts = shape.parts();
        let keyword = |keyword: &str| parts.iter().find_map(|part| part.keyword(keyword));
        Parameter {
            name: name.to_owned(),
            types: type_name(&shape, DEPTH),
            required: required.iter().any(|required| required == name),
            default: keyword("default").map(ToString::to_string),
            description: keyword("description")
                .or_else(|| keyword("title"))
                .and_then(|text| Some(text.as_text()?.into_owned())),
        }
    };
    shape.names().into_iter().take(COUNT).map(parameter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(schema: &str, expected: &[&str]) {
        let shown: Vec<String> = parameters(schema)
            .into_iter()
            .map(|parameter| {
                let Parameter { name, types, required, default, description } = parameter;
                let (default, description) =
                    (default.unwrap_or_default(), description.unwrap_or_default());
                format!("{name} {types} {required} {default} {description}").trim_end().to_owned()
            })
            .collect();
        assert_eq!(shown, expected, "{schema}");
    }

    #[test]
    fn every_member_is_told_with_what_is_said_about_it() {
        check(
            r#"{"properties":{"a":{"type":"string","description":"d\u00e9"},
                "b":{"type":["integer","null"],"default":1.50,"title":"T"},"c":{}},"required":["a"]}"#,
            &["a string true  dé", "b integer|null false 1.50 T", "c any false"],
        );
        check(
            r##"{"properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"enum":["x","y"],"default":"x"}}}"##,
            &[r#"a "x"|"y" false "x""#],
        );
        for nothing in ["null", "{}", "7", "", r#"{"properties":[]}"#] {
            check(nothing, &[]);
        }
    }
}
