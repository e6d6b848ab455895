//! All about one tool, for people.

use super::output::{align, cell};
use crate::config::quoting;
use crate::protocol::arguments;
use crate::protocol::jsonrpc::scan;
use crate::protocol::model::parameter::{Parameter, parameters};
use crate::protocol::model::tool::Tool;

/// A command line that calls a tool, with a value for each argument that must be there.
pub(super) fn command_line(server: &str, tool: &Tool) -> String {
    let words = ["mcpmini", "call", server, &tool.name];
    let example = arguments::example(tool);
    quoting::join(words.into_iter().chain(example.iter().map(String::as_str)))
}

/// What a tool does, what it takes, what it gives back, and how to call it.
pub(super) fn tool(tool: &Tool, server: &str) -> String {
    let mut text = cell(&tool.name);
    if let Some(title) = tool.title.as_deref().filter(|title| *title != tool.name) {
        text += &format!(" - {}", cell(title));
    }
    text.push('\n');
    if let Some(description) = tool.description.as_deref().map(str::trim) {
        section(&mut text, "", description.lines().map(str::to_owned).collect());
    }
    let takes = rows(&parameters(tool.input_schema().unwrap_or("{}")));
    let takes = if takes.is_empty() { vec!["none".to_owned()] } else { takes };
    section(&mut text, "Arguments:", takes);
    let gives = rows(&parameters(tool.output_schema().unwrap_or("{}")));
    section(&mut text, "Structured answer:", gives);
    section(&mut text, "The server says:", annotations(tool));
    section(&mut text, "Call it:", vec![command_line(server, tool)]);
    text
}

/// Lines below a heading, after an empty line; nothing if there are none.
fn section(text: &mut String, heading: &str, lines: Vec<String>) {
    if lines.iter().all(String::is_empty) {
        return;
    }
    text.push('\n');
    if !heading.is_empty() {
        text.push_str(&format!("{heading}\n"));
    }
    for line in lines {
        text.push_str(format!("  {line}").trim_end());
        text.push('\n');
    }
}

/// Parameters in columns: name, type, whether it can be left out, what it is for.
fn rows(parameters: &[Parameter]) -> Vec<String> {
    let row = |parameter: &Parameter| {
        let presence = match (&parameter.default, parameter.required) {
            (_, true) => "required".to_owned(),
            (Some(default), false) => format!("default {default}"),
            (None, false) => "optional".to_owned(),
        };
        let description = parameter.description.as_deref().unwrap_or_default();
        let description = description.split_whitespace().collect::<Vec<_>>().join(" ");
        [&parameter.name, &parameter.types, &presence, &description].map(|text| cell(text)).to_vec()
    };
    // Wide terminals and pipes are not told apart: what a terminal breaks can still be copied.
    align(&parameters.iter().map(row).collect::<Vec<_>>(), usize::MAX)
}

/// The hints of the server, as it writes them.
fn annotations(tool: &Tool) -> Vec<String> {
    let member = |object: &'static str| scan::member(tool.as_json(), object).unwrap_or("{}");
    let hints = scan::members(member("annotations")).chain(scan::members(member("execution")));
    let hints = hints.filter(|(name, value)| name != "title" && !value.starts_with(['{', '[']));
    hints.map(|(name, value)| cell(&format!("{name}: {}", value.trim_matches('"')))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_described_whole() {
        let text = r#"{"name":"get_weather","title":"Weather","description":"Tells the weather.\n\nIn Celsius.",
            "inputSchema":{"properties":{"city":{"type":"string","description":"Where\nit is"},
                "days":{"type":"integer","default":3}},"required":["city"]},
            "outputSchema":{"properties":{"degrees":{"type":"number"}},"required":["degrees"]},
            "annotations":{"title":"x","readOnlyHint":true},"execution":{"taskSupport":"optional"}}"#;
        let shown = tool(&Tool::read(text).unwrap(), "https://w.example/mcp");
        let expected = "\
get_weather - Weather

  Tells the weather.

  In Celsius.

Arguments:
  city  string   required   Where it is
  days  integer  default 3

Structured answer:
  degrees  number  required

The server says:
  readOnlyHint: true
  taskSupport: optional

Call it:
  mcpmini call https://w.example/mcp get_weather city=text
";
        assert_eq!(shown, expected);
    }

    #[test]
    fn what_is_not_there_is_left_out() {
        let shown = tool(&Tool::read(r#"{"name":"ping"}"#).unwrap(), "a b");
        assert_eq!(shown, "ping\n\nArguments:\n  none\n\nCall it:\n  mcpmini call 'a b' ping\n");
    }

    #[test]
    fn a_command_line_is_one_line_whatever_the_schema_says() {
        let text = r#"{"name":"t","inputSchema":{"properties":{"a":{"default":"it's\n"}},"required":["a"]}}"#;
        let line = command_line("s", &Tool::read(text).unwrap());
        assert_eq!(line, r"mcpmini call s t $'a=it\'s\n'");
    }
}
