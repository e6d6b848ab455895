//! Looking into a payload.
//!
//! Payloads travel as text ([`crate::json`]). Where one is looked at, a [`Document`] reads
//! it with simd-json, which checks the grammar on the way and unescapes strings many bytes at a
//! time. This is the only file that knows that parser. What it refuses, though RFC 8259 allows it
//! (a surrogate without its partner, `1e400`, an integer of 30 digits), is read from the text
//! itself, and so is what would be a waste to copy.

use std::borrow::Cow;
use std::fmt;
use std::mem;

use simd_json::prelude::ValueIntoString as _;
use simd_json::tape::Value;
use simd_json::{Buffers, INPUT_PADDING, Tape};

use super::super::bytes::Ability;
use super::super::jsonrpc::scan;

/// Longer texts are not copied to be parsed, in bytes. They are mostly one long string, which is
/// found without a parser.
const LARGE: usize = 256 << 10;

/// The parser asks the processor what it can do. Before there is enough to read, that would take
/// longer than to read it without.
static WORTH_ASKING: Ability = Ability::new(|| true);

/// A reader of payloads. It keeps its buffers from one payload to the next.
///
/// ```
/// use mcpmini_protocol::model::document::Document;
/// let mut document = Document::new();
/// let name = document.read(r#"{"name":"caf\u00e9"}"#, |root| {
///     root.member("name").and_then(|name| name.as_str().map(String::from))
/// });
/// assert_eq!(name.as_deref(), Some("café"));
/// ```
pub struct Document {
    /// What the parser works with, once it was needed.
    parser: Option<Box<Parser>>,
}

struct Parser {
    /// The text that is being read, followed by the padding the parser wants.
    padded: Vec<u8>,
    buffers: Buffers,
    tape: Tape<'static>,
}

/// A value in a document. What is missing or of another type is `None` and never an error.
#[derive(Debug, Clone, Copy)]
pub struct Node<'a>(Form<'a>);

#[derive(Debug, Clone, Copy)]
enum Form<'a> {
    Parsed(Value<'a, 'a>),
    Text(&'a str),
}

impl Document {
    /// A reader without a document.
    pub fn new() -> Document {
        Document { parser: None }
    }

    /// Reads the JSON value that `text` is and lets `look` look into it.
    ///
    /// A text that is not JSON gives a node whose members end where the grammar does.
    pub fn read<R>(&mut self, text: &str, look: impl FnOnce(Node<'_>) -> R) -> R {
        if text.len() > LARGE || !WORTH_ASKING.is_there(text.len()) {
            return look(Node(Form::Text(text)));
        }
        self.parser.get_or_insert_default().read(text, look)
    }
}

impl Parser {
    fn read<R>(&mut self, text: &str, look: impl FnOnce(Node<'_>) -> R) -> R {
        self.padded.clear();
        self.padded.extend_from_slice(text.as_bytes());
        self.padded.resize(text.len() + INPUT_PADDING, b' ');
        let mut tape = mem::replace(&mut self.tape, Tape(Vec::new())).reset();
        let parsed =
            simd_json::fill_tape_padded(&mut self.padded, text.len(), &mut self.buffers, &mut tape);
        let seen = match parsed {
            Ok(()) => look(Node(Form::Parsed(tape.as_value()))),
            Err(_) => look(Node(Form::Text(text))),
        };
        self.tape = tape.reset();
        seen
    }
}

impl Default for Parser {
    fn default() -> Parser {
        Parser { padded: Vec::new(), buffers: Buffers::default(), tape: Tape::null() }
    }
}

impl Default for Document {
    fn default() -> Document {
        Document::new()
    }
}

impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let room = self.parser.as_ref().map_or(0, |parser| parser.padded.capacity());
        f.debug_struct("Document").field("room", &room).finish_non_exhaustive()
    }
}

impl<'a> Node<'a> {
    /// The member `name` of an object; of several, the last.
    pub fn member(self, name: &str) -> Option<Node<'a>> {
        match self.0 {
            Form::Parsed(value) => {
                let members = value.as_object()?.iter().filter(|(key, _)| *key == name);
                members.last().map(|(_, value)| Node(Form::Parsed(value)))
            }
            Form::Text(text) => scan::member(text, name).map(|value| Node(Form::Text(value))),
        }
    }

    /// The value of a string. Surrogates without a partner are U+FFFD.
    pub fn as_str(self) -> Option<Cow<'a, str>> {
        match self.0 {
            Form::Parsed(value) => value.into_string().map(Cow::Borrowed),
            Form::Text(text) => scan::unescape(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::jsonrpc::scan::random::Random;
    use super::*;

    /// Checks the string at `path` through both doors, which must agree.
    #[track_caller]
    fn check(text: &str, path: &[&str], expected: Option<&str>) {
        let look = |root: Node<'_>| {
            let node = path.iter().try_fold(root, |node, name| node.member(name))?;
            node.as_str().map(Cow::into_owned)
        };
        assert_eq!(Document::new().read(text, look).as_deref(), expected, "{text}");
        assert_eq!(look(Node(Form::Text(text))).as_deref(), expected, "{text}");
    }

    #[test]
    fn both_readers_see_the_same() {
        check(r#""a\u00e9\n""#, &[], Some("aé\n"));
        check(r#"{"a":{"b":"x"},"c":2}"#, &["a", "b"], Some("x"));
        check(r#"{"a":"x","a":"y"}"#, &["a"], Some("y"));
        check(r#"{"\u0061":"x"}"#, &["a"], Some("x"));
        check(r#"{"a":1}"#, &["a"], None);
        check(r#"{"a":"x"}"#, &["b"], None);
        check(r#"["a"]"#, &["a"], None);
        check("null", &["a"], None);
    }

    #[test]
    fn what_the_parser_refuses_is_read_all_the_same() {
        check(r#"{"a":"\ud83d!"}"#, &["a"], Some("\u{fffd}!"));
        check(r#"{"n":1e400,"a":"x"}"#, &["a"], Some("x"));
        check(r#"{"n":123456789012345678901234567890,"a":"x"}"#, &["a"], Some("x"));
        check(r#"{"n":NaN,"a":"x"}"#, &["a"], None);
        check(r#"{"a":"x","n":NaN}"#, &["a"], Some("x"));
        let (open, close) = ("[".repeat(5000), "]".repeat(5000));
        check(&format!(r#"{{"n":{open}{close},"a":"x"}}"#), &["a"], Some("x"));
        check(&format!(r#"{{"n":"{}","a":"x"}}"#, "x".repeat(LARGE)), &["a"], Some("x"));
        check("", &["a"], None);
    }

    #[test]
    fn a_document_can_be_used_again() {
        let mut document = Document::new();
        for text in [r#"{"a":"long text in the first"}"#, "broken", r#"{"a":"b"}"#, r#"{"a":"c"}"#]
        {
            let seen =
                document.read(text, |root| root.member("a").map(|a| a.as_str().unwrap().len()));
            assert_eq!(seen, scan::member(text, "a").map(|value| value.len() - 2));
        }
    }

    #[test]
    fn both_readers_see_the_same_of_random_documents() {
        let mut random = Random::new(7);
        let mut document = Document::new();
        let mut parsed = 0;
        for _ in 0..30_000 {
            let mut text = String::from("{\"a\":");
            random.value(&mut text, 2);
            text.push_str(",\"b\":");
            random.string(&mut text);
            text.push('}');
            if random.below(4) == 0 {
                text = random.damage(&text);
            }
            let look = |root: Node<'_>| {
                ["a", "b"].map(|name| root.member(name).and_then(Node::as_str).map(Cow::into_owned))
            };
            let seen = document.read(&text, |root| match root.0 {
                Form::Parsed(_) => Some(look(root)),
                Form::Text(_) => None,
            });
            if let Some(seen) = seen {
                parsed += 1;
                assert_eq!(look(Node(Form::Text(&text))), seen, "{text}");
            }
        }
        assert!(parsed > 10_000, "{parsed} parsed");
    }
}
