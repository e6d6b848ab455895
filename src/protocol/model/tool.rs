//! Tools, as a server lists them.

use std::borrow::Cow;
use std::fmt;

use super::schema::{InputSchema, Shape, Types};
use crate::json;
use crate::jsonrpc::scan;
use crate::similar::closest;

/// How many parameters a signature shows.
pub(super) const PARAMETERS: usize = 64;

/// How many values of an `enum` a signature shows.
const CHOICES: usize = 6;

/// How deep a signature looks into arrays of arrays.
pub(super) const DEPTH: usize = 3;

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

impl Annotations {
    /// Whether calling the tool twice does what calling it once does, by its own account.
    pub fn is_repeatable(self) -> bool {
        self.read_only || self.idempotent
    }
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
        if !text.trim_start().starts_with('{') {
            return Err(BadTool::NotAnObject);
        }
        let (mut name, mut title, mut description, mut annotations) = (None, None, None, "{}");
        for (key, value) in scan::members(text) {
            match &*key {
                "name" => name = string(value),
                "title" => title = string(value),
                "description" => description = string(value),
                "annotations" => annotations = value,
                _ => {}
            }
        }
        let hint = |key, absent| match scan::member(annotations, key) {
            Some("true") => true,
            Some("false") => false,
            _ => absent,
        };
        Ok(Tool {
            name: name.filter(|name| !name.is_empty()).ok_or(BadTool::NoName)?,
            title: title.or_else(|| string(scan::member(annotations, "title")?)),
            description,
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
        scan::member(&self.text, "inputSchema")
    }

    /// The text of `outputSchema`, whatever it is; `None` when there is none.
    pub fn output_schema(&self) -> Option<&str> {
        scan::member(&self.text, "outputSchema")
    }

    /// The input schema, opened; one that allows everything when there is none.
    pub fn schema(&self) -> InputSchema<'_> {
        InputSchema::read(self.input_schema().unwrap_or("true"))
    }

    /// The tool in one line: `create(title: string, labels?: string[], due?: string|null)`.
    ///
    /// A `?` marks what may be left out, `…` that there are or may be more, and names that are not plain
    /// words are written as JSON strings.
    pub fn signature(&self) -> String {
        let schema = self.schema();
        let shape = schema.shape();
        let required: Vec<_> = schema.root().required().collect();
        let mut parameters = Vec::new();
        let names = shape.names();
        for name in names.iter().copied().take(PARAMETERS) {
            let optional = if required.iter().any(|key| key == name) { "" } else { "?" };
            let types = type_name(&shape.property(name).shape(), DEPTH);
            parameters.push(format!("{}{optional}: {types}", word(name)));
        }
        if shape.is_open() || names.len() > PARAMETERS {
            parameters.push("…".to_owned());
        }
        format!("{}({})", word(&self.name), parameters.join(", "))
    }
}

/// The tool whose name `wanted` is most likely a misspelling of; `None` when none is near.
pub fn nearest<'t>(wanted: &str, tools: &'t [Tool]) -> Option<&'t str> {
    closest(wanted, tools.iter().map(|tool| &*tool.name))
}

fn string(json: &str) -> Option<String> {
    scan::unescape(json).map(Cow::into_owned)
}

/// A name as it is, or as a JSON string if it could be misread.
fn word(name: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "_-./$".contains(letter);
    if name.chars().all(plain) { name.to_owned() } else { json::string(name) }
}

/// A type in the notation of signatures.
pub(super) fn type_name(shape: &Shape<'_>, depth: usize) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(text: &str) -> Tool {
        Tool::read(text).unwrap()
    }

    #[test]
    fn a_tool_needs_a_name_and_nothing_else() {
        let check = |text: &str, expected| {
            assert_eq!(Tool::read(text).map(|tool| tool.name), expected, "{text}");
        };
        let named = |name: &str| Ok(name.to_owned());
        check(r#"{"name":"a"}"#, named("a"));
        check(r#"{"name":"a","inputSchema":null}"#, named("a"));
        check(r#"{"name":"a","inputSchema":[],"annotations":[],"_meta":[]}"#, named("a"));
        check(r#"{"name":"a","inputSchema":{"type":"string"},"outputSchema":7}"#, named("a"));
        check(r#"{"name":"a","title":7,"description":null}"#, named("a"));
        check(r#"{"name":"x","name":"\u540d\u524d /.\n"}"#, named("名前 /.\n"));
        check(r#"{"name":""}"#, Err(BadTool::NoName));
        check(r#"{"name":7}"#, Err(BadTool::NoName));
        check(r#"{"name":null}"#, Err(BadTool::NoName));
        check(r#"{"description":"no name at all"}"#, Err(BadTool::NoName));
        check("null", Err(BadTool::NotAnObject));
        check("[]", Err(BadTool::NotAnObject));
        check("\"a\"", Err(BadTool::NotAnObject));
        check("{", Err(BadTool::NoName));
        check("", Err(BadTool::NotAnObject));
    }

    /// Definitions that servers in the field have sent. Only the last two cannot be used.
    #[test]
    fn malformed_tools_do_not_hide_the_others() {
        let list = r#"[{"name":"no_schema"},{"name":"null_schema","inputSchema":null},
            {"name":"only_dialect","inputSchema":{"$schema":"http://json-schema.org/draft-07/schema#"}},
            {"name":"top_any_of","inputSchema":{"anyOf":[{"type":"object"},{"type":"object"}]}},
            {"name":"required_null","inputSchema":{"type":"object","properties":{},"required":null}},
            {"name":"props_list","inputSchema":{"type":"object","properties":[]}},
            {"name":"string_schema","inputSchema":{"type":"string"}},
            {"name":"prop_string","inputSchema":{"type":"object","properties":{"p":"array"}}},
            {"name":"bad_output","inputSchema":{"type":"object"},"outputSchema":{"type":"no-such-type"}},
            {"name":"odd_meta","description":null,"title":7,"annotations":[],"inputSchema":{"type":"object"}},
            {"description":"no name at all","inputSchema":{"type":"object"}},null]"#;
        let tools: Vec<_> = scan::elements(list).map(Tool::read).collect();
        let signatures: Vec<_> = tools.iter().flatten().map(Tool::signature).collect();
        assert_eq!(
            signatures,
            [
                "no_schema()",
                "null_schema()",
                "only_dialect()",
                "top_any_of()",
                "required_null()",
                "props_list()",
                "string_schema()",
                "prop_string(p?: any)",
                "bad_output()",
                "odd_meta()"
            ]
        );
        let bad: Vec<_> = tools.into_iter().filter_map(Result::err).collect();
        assert_eq!(bad, [BadTool::NoName, BadTool::NotAnObject]);
    }

    #[test]
    fn what_is_there_is_read_and_the_text_is_kept() {
        let text = r#"{ "name":"a", "description":"d\n", "title":"T", "x":1.50,
            "inputSchema": {"a" : 1e400}, "outputSchema": [ ] }"#;
        let found = tool(text);
        assert_eq!(found.as_json(), text);
        assert_eq!(found.title.as_deref(), Some("T"));
        assert_eq!(found.description.as_deref(), Some("d\n"));
        assert_eq!(found.input_schema(), Some(r#"{"a" : 1e400}"#));
        assert_eq!(found.output_schema(), Some("[ ]"));
        assert_eq!(tool(r#"{"name":"a"}"#).input_schema(), None);
        let old = tool(r#"{"name":"a","annotations":{"title":"Old"}}"#);
        assert_eq!(old.title.as_deref(), Some("Old"));
    }

    #[test]
    fn hints_that_are_absent_or_wrong_are_as_the_specification_has_them() {
        let check = |annotations: &str, read_only, destructive, idempotent| {
            let found = tool(&format!(r#"{{"name":"a","annotations":{annotations}}}"#));
            let expected = Annotations { read_only, destructive, idempotent };
            assert_eq!(found.annotations, expected, "{annotations}");
        };
        check("{}", false, true, false);
        check("null", false, true, false);
        check("[]", false, true, false);
        check(r#"{"readOnlyHint":true,"idempotentHint":true}"#, true, true, true);
        check(r#"{"destructiveHint":false}"#, false, false, false);
        check(
            r#"{"readOnlyHint":"true","destructiveHint":0,"idempotentHint":1}"#,
            false,
            true,
            false,
        );
    }

    #[test]
    fn a_signature_is_one_line() {
        let check = |schema: &str, expected: &str| {
            let found = tool(&format!(r#"{{"name":"t","inputSchema":{schema}}}"#));
            assert_eq!(found.signature(), expected, "{schema}");
        };
        check("null", "t()");
        check("{}", "t()");
        check(r#"{"type":"object","properties":{}}"#, "t()");
        check(r#"{"type":"object","additionalProperties":true}"#, "t(…)");
        check(r#"{"type":"object","additionalProperties":false}"#, "t()");
        check(
            r#"{"properties":{"a":{"type":"string"},"b":{"type":["null","integer"]}},"required":["a"]}"#,
            "t(a: string, b?: integer|null)",
        );
        check(r#"{"properties":{"a":{},"b":true,"c":"array"}}"#, "t(a?: any, b?: any, c?: any)");
        check(
            r#"{"properties":{"a":{"type":"array","items":{"type":"string"}},"b":{"type":"array"}}}"#,
            "t(a?: string[], b?: array)",
        );
        check(
            r#"{"properties":{"a":{"type":"array","items":{"type":["string","number"]}}}}"#,
            "t(a?: (string|number)[])",
        );
        check(r#"{"properties":{"a":{"enum":["x","y",null]}}}"#, r#"t(a?: "x"|"y"|null)"#);
        check(r#"{"properties":{"a":{"enum":[1,2,3,4,5,6,7]}}}"#, "t(a?: 1|2|3|4|5|6|…)");
        check(
            r##"{"properties":{"a":{"anyOf":[{"$ref":"#/$defs/A"},{"type":"null"}]}},"$defs":{"A":{"type":"object"}}}"##,
            "t(a?: object|null)",
        );
        check(
            r##"{"properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"array","items":{"$ref":"#/$defs/A"}}}}"##,
            "t(a?: array[][][])",
        );
        check(
            r#"{"oneOf":[{"properties":{"a":{"type":"string"}}},{"properties":{"b":{"type":"integer"}}}]}"#,
            "t(a?: string, b?: integer)",
        );
        check(r#"{"properties":{"a b\n":{"type":"string"}}}"#, r#"t("a b\n"?: string)"#);
        assert_eq!(tool(r#"{"name":"ns/tool.v1"}"#).signature(), "ns/tool.v1()");
        assert_eq!(tool(r#"{"name":"two words"}"#).signature(), "\"two words\"()");
    }

    #[test]
    fn the_nearest_tool_is_found_by_its_name() {
        let tools = [tool(r#"{"name":"create_issue"}"#), tool(r#"{"name":"get_issue"}"#)];
        assert_eq!(nearest("createIssue", &tools), Some("create_issue"));
        assert_eq!(nearest("get_isue", &tools), Some("get_issue"));
        assert_eq!(nearest("shutdown", &tools), None);
    }
}
