//! Prompts: as a server lists them, and as it fills them in (2026-07-28, Prompts).

use std::borrow::Cow;

use super::document::Document;
use super::result::{Block, blocks};
use crate::jsonrpc::scan;

/// A prompt, as far as a list shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prompt {
    /// Its name, for requests; empty when the server gave none.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// What it can be filled with, in order.
    pub arguments: Vec<Argument>,
}

/// An argument of a prompt. Its value is always a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// Its name.
    pub name: String,
    /// Whether it must be given.
    pub required: bool,
}

/// A message of a prompt that was filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message<'a> {
    /// `user` or `assistant`.
    pub role: String,
    /// What it says: one block, where the server keeps to the specification.
    pub content: Vec<Block<'a>>,
}

impl Prompt {
    /// Reads an element of the `prompts` of a `prompts/list` result. Members that are missing or of
    /// another type count as absent.
    pub fn read(text: &str) -> Prompt {
        let mut prompt = Prompt::default();
        for (key, value) in scan::members(text) {
            match &*key {
                "name" => prompt.name = string(value).unwrap_or_default(),
                "title" => prompt.title = string(value),
                "description" => prompt.description = string(value),
                "arguments" => {
                    prompt.arguments = scan::elements(value).filter_map(Argument::read).collect();
                }
                _ => (),
            }
        }
        prompt
    }

    /// The prompt in one line: `review(code, style?)`. A `?` marks what may be left out.
    pub fn signature(&self) -> String {
        let argument = |argument: &Argument| {
            format!("{}{}", argument.name, if argument.required { "" } else { "?" })
        };
        let arguments: Vec<String> = self.arguments.iter().map(argument).collect();
        format!("{}({})", self.name, arguments.join(", "))
    }
}

impl Argument {
    fn read(text: &str) -> Option<Argument> {
        let name = string(scan::member(text, "name")?)?;
        Some(Argument { name, required: scan::member(text, "required") == Some("true") })
    }
}

/// Reads the messages of a `prompts/get` result.
pub fn messages<'a>(result: &'a str, document: &mut Document) -> Vec<Message<'a>> {
    let messages = scan::member(result, "messages").unwrap_or("[]");
    let message = |text: &'a str| Message {
        role: scan::member(text, "role").and_then(string).unwrap_or_default(),
        content: blocks(scan::member(text, "content").unwrap_or("[]"), document),
    };
    scan::elements(messages).map(message).collect()
}

fn string(json: &str) -> Option<String> {
    scan::unescape(json).map(Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::super::result::{Kind, Text};
    use super::*;

    #[test]
    fn a_prompt_in_one_line() {
        let check = |text: &str, expected: &str| {
            assert_eq!(Prompt::read(text).signature(), expected, "{text}");
        };
        check(r#"{"name":"greet"}"#, "greet()");
        check(
            r#"{"name":"r","arguments":[{"name":"a","required":true},{"name":"b"},{"name":"c","required":false}]}"#,
            "r(a, b?, c?)",
        );
        check(r#"{"name":"r","arguments":null}"#, "r()");
        check(
            r#"{"name":"r","arguments":[{"required":true},7,{"name":"b","required":"yes"}]}"#,
            "r(b?)",
        );
        check("{}", "()");
    }

    #[test]
    fn messages_are_read_however_their_content_is_wrapped() {
        fn read(text: &str) -> Vec<(String, Vec<Kind<'_>>)> {
            let messages = messages(text, &mut Document::new()).into_iter();
            messages
                .map(|Message { role, content }| {
                    (role, content.into_iter().map(|block| block.kind).collect())
                })
                .collect()
        }
        let text = |text: &str| vec![Kind::Text(Text::Short(text.to_owned()))];
        assert_eq!(
            read(
                r#"{"messages":[{"role":"user","content":{"type":"text","text":"a"}},
                {"role":"assistant","content":[{"type":"text","text":"b"}]}]}"#
            ),
            [("user".to_owned(), text("a")), ("assistant".to_owned(), text("b"))]
        );
        assert_eq!(read(r#"{"messages":[{"content":7}]}"#), [(String::new(), vec![])]);
        assert_eq!(read("{}"), []);
    }
}
