//! A command line for a tool that has never been called.

use std::borrow::Cow;
use std::collections::HashSet;

use super::check::accepts;
use super::convert::{Converted, convert};
use super::path::escaped;
use crate::json;
use crate::jsonrpc::scan;
use crate::model::schema::{Schema, Shape, Types};
use crate::model::tool::Tool;
use crate::tree::Tree;

/// How many parameters an example shows when none is required.
const OPTIONAL: usize = 3;

/// How many values an example may be made of. Every value shares it among those inside.
const EFFORT: usize = 64;

/// A moment, for formats that want one.
const MOMENT: &str = "2030-01-31T12:00:00Z";

/// Words that call a tool: `title=text`, `labels:=["text"]`. A shell wants some of them in quotes.
///
/// They set the parameters that are required, or the first few when none is. Values come from the
/// schema where it has some (`examples`, `default`, `enum`), otherwise they only have the right
/// type. Empty when the tool has no parameters.
pub fn example(tool: &Tool) -> Vec<String> {
    let schema = tool.schema();
    let shape = schema.shape();
    let mut keys = required(&shape);
    if keys.is_empty() {
        keys.extend(shape.names().into_iter().take(OPTIONAL).map(Cow::Borrowed));
    }
    // No word has an empty key.
    keys.retain(|key| !key.is_empty());
    keys.iter().map(|key| word(key, &shape.property(key).shape())).collect()
}

/// The keys an object must have; of a union, those of its first branch.
fn required<'s>(shape: &Shape<'s>) -> Vec<Cow<'s, str>> {
    let mut seen = HashSet::new();
    let keys = shape.first_parts().into_iter().flat_map(Schema::required);
    keys.filter(|key| seen.insert(key.clone())).take(EFFORT).collect()
}

/// The word that sets a parameter.
fn word(key: &str, shape: &Shape<'_>) -> String {
    let (name, json) = (escaped(key), value(shape, EFFORT));
    let text = scan::unescape(&json).unwrap_or(Cow::Borrowed(&json));
    let at = if text.starts_with('@') { "@" } else { "" };
    match convert(&text, shape, key) {
        Ok(Converted::Value(converted)) if converted == json => format!("{name}={at}{text}"),
        _ => format!("{name}:={json}"),
    }
}

/// A value that fits, as JSON.
fn value(shape: &Shape<'_>, effort: usize) -> String {
    if let Some(given) = given(shape) {
        return given;
    }
    let types = shape.types();
    let first = types.without(Types::NULL).names().next();
    match first.unwrap_or(if types.is_empty() { "string" } else { "null" }) {
        "string" => json::string(text(shape)),
        "integer" | "number" => number(shape),
        "boolean" => "true".to_owned(),
        "array" => array(&shape.element(None), effort / 4),
        "object" => object(shape, effort),
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
        Some("date-time") => MOMENT,
        Some("date") => &MOMENT[..10],
        Some("time") => &MOMENT[11..],
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

fn array(element: &Shape<'_>, effort: usize) -> String {
    if effort == 0 || element.types().is_empty() {
        return "[]".to_owned();
    }
    format!("[{}]", value(element, effort))
}

fn object(shape: &Shape<'_>, effort: usize) -> String {
    let keys = required(shape);
    let share = effort.saturating_sub(1) / keys.len().max(1);
    if share == 0 {
        return "{}".to_owned();
    }
    let members = keys.iter().map(|key| {
        let value = value(&shape.property(key).shape(), share);
        format!("{}:{value}", json::string(key))
    });
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::super::{Options, build, parse};
    use super::*;

    /// The example, and the arguments that come of it. They must satisfy the schema.
    #[track_caller]
    fn check(schema: &str, expected: &str, arguments: &str) {
        let tool = Tool::read(&format!(r#"{{"name":"t","inputSchema":{schema}}}"#)).unwrap();
        let words = example(&tool);
        assert_eq!(words.join(" "), expected, "{schema}");
        let words = parse(&words, &[]).unwrap();
        let built = build(&words, &[], Some(&tool.schema()), Options::default());
        assert_eq!(built.as_deref(), Ok(arguments), "{schema}");
    }

    /// The same for one required parameter `v`.
    #[track_caller]
    fn check_one(schema: &str, expected: &str, value: &str) {
        let schema = format!(r#"{{"properties":{{"v":{schema}}},"required":["v"]}}"#);
        check(&schema, expected, &format!("{{\"v\":{value}}}"));
    }

    #[test]
    fn an_example_has_a_value_of_the_right_type() {
        check_one("{}", "v=text", r#""text""#);
        check_one(r#"{"type":"string"}"#, "v=text", r#""text""#);
        check_one(r#"{"type":["null","integer"]}"#, "v=1", "1");
        check_one(r#"{"type":"integer","minimum":10}"#, "v=10", "10");
        check_one(r#"{"type":"integer","minimum":0.5}"#, "v=1", "1");
        check_one(r#"{"type":"boolean"}"#, "v=true", "true");
        check_one(r#"{"type":"null"}"#, "v=null", "null");
        check_one(r#"{"type":"array"}"#, "v:=[]", "[]");
        check_one(r#"{"type":"array","items":{"type":"integer"}}"#, "v:=[1]", "[1]");
        check_one(r#"{"type":"object"}"#, "v={}", "{}");
        check_one(
            r#"{"type":"object","properties":{"n":{"type":"number"}},"required":["n"]}"#,
            r#"v={"n":1}"#,
            r#"{"n":1}"#,
        );
        check_one(r#"{"type":"string","format":"date"}"#, "v=2030-01-31", "\"2030-01-31\"");
    }

    #[test]
    fn an_example_takes_a_value_that_the_schema_gives() {
        check_one(r#"{"enum":["a","b"]}"#, "v=a", r#""a""#);
        check_one(r#"{"const":7}"#, "v=7", "7");
        check_one(r#"{"type":"string","default":"it's"}"#, "v=it's", r#""it's""#);
        check_one(r#"{"type":"string","examples":["x y"],"default":"d"}"#, "v=x y", r#""x y""#);
        check_one(r#"{"type":"string","default":"@home"}"#, "v=@@home", r#""@home""#);
        check_one(r#"{"type":["string","null"],"default":"null"}"#, r#"v:="null""#, r#""null""#);
        check_one(r#"{"type":"string","default":null}"#, "v=text", r#""text""#);
        check_one(r#"{"type":"integer","default":"wrong"}"#, "v=1", "1");
        check_one(r#"{"type":"number","default":1.50}"#, "v=1.50", "1.50");
        check_one(r#"{"type":["integer","string"],"default":5}"#, "v:=5", "5");
    }

    #[test]
    fn an_example_sets_what_is_required_or_else_the_first_few() {
        check("null", "", "{}");
        check(
            r#"{"properties":{"a":{},"b":{},"c":{},"d":{}}}"#,
            "a=text b=text c=text",
            r#"{"a":"text","b":"text","c":"text"}"#,
        );
        check(r#"{"properties":{"a":{},"b":{}},"required":["b"]}"#, "b=text", r#"{"b":"text"}"#);
        check(
            r#"{"properties":{"a.b":{},"@c":{},"":{}}}"#,
            r"a\.b=text \@c=text",
            r#"{"a.b":"text","@c":"text"}"#,
        );
        check(
            r#"{"oneOf":[{"properties":{"a":{}},"required":["a"]},{"properties":{"b":{}},"required":["b"]}]}"#,
            "a=text",
            r#"{"a":"text"}"#,
        );
    }

    #[test]
    fn an_example_of_a_recursive_schema_ends() {
        let tree = r##"{"properties":{"v":{"$ref":"#/$defs/N"}},"required":["v"],"$defs":{"N":{"type":"object",
            "properties":{"n":{"type":"integer"},"of":{"type":"array","items":{"$ref":"#/$defs/N"}}},"required":["n","of"]}}}"##;
        check(
            tree,
            r#"v={"n":1,"of":[{"n":1,"of":[]}]}"#,
            r#"{"v":{"n":1,"of":[{"n":1,"of":[]}]}}"#,
        );
        let endless = r##"{"properties":{"a":{"$ref":"#"},"b":{"$ref":"#"}},"required":["a","b"],"allOf":[{"$ref":"#"},{"$ref":"#"}]}"##;
        let tool = Tool::read(&format!(r#"{{"name":"t","inputSchema":{endless}}}"#)).unwrap();
        assert!(example(&tool).concat().len() < 2_000);
    }
}
