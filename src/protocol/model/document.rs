//! Looking into a payload.
//!
//! Payloads travel as text ([`crate::protocol::json`]). Where one is looked at, a [`Document`] reads
//! it with simd-json, which checks the grammar on the way and unescapes strings many bytes at a
//! time. This is the only file that knows that parser. What it refuses, though RFC 8259 allows it
//! (a surrogate without its partner, `1e400`, an integer of 30 digits), is read from the text
//! itself, and so is what would be a waste to copy.

use std::borrow::Cow;
use std::fmt;
use std::mem;

use simd_json::prelude::{ValueAsScalar as _, ValueIntoString as _};
use simd_json::tape::Value;
use simd_json::{Buffers, INPUT_PADDING, Tape};

use super::super::jsonrpc::scan;

/// Longer texts are not copied to be parsed, in bytes. They are mostly one long string, which is
/// found without a parser.
const LARGE: usize = 256 << 10;

/// A reader of payloads. It keeps its buffers from one payload to the next.
///
/// ```
/// use mcpmini::protocol::model::document::Document;
/// let mut document = Document::new();
/// let name = document.read(r#"{"name":"caf\u00e9"}"#, |root| {
///     root.member("name").and_then(|name| name.as_str().map(String::from))
/// });
/// assert_eq!(name.as_deref(), Some("café"));
/// ```
pub struct Document {
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
        Document { padded: Vec::new(), buffers: Buffers::default(), tape: Tape::null() }
    }

    /// Reads the JSON value that `text` is and lets `look` look into it.
    ///
    /// A text that is not JSON gives a node whose members end where the grammar does.
    pub fn read<R>(&mut self, text: &str, look: impl FnOnce(Node<'_>) -> R) -> R {
        if text.len() > LARGE {
            return look(Node(Form::Text(text)));
        }
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

impl Default for Document {
    fn default() -> Document {
        Document::new()
    }
}

impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Document").field("room", &self.padded.capacity()).finish_non_exhaustive()
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

    /// The elements of an array.
    pub fn elements(self) -> impl Iterator<Item = Node<'a>> {
        let (parsed, text) = match self.0 {
            Form::Parsed(value) => (value.as_array().map(|array| array.iter()), None),
            Form::Text(text) => (None, Some(scan::elements(text))),
        };
        let parsed = parsed.into_iter().flatten().map(|value| Node(Form::Parsed(value)));
        parsed.chain(text.into_iter().flatten().map(|text| Node(Form::Text(text))))
    }

    /// The value of a string. Surrogates without a partner are U+FFFD.
    pub fn as_str(self) -> Option<Cow<'a, str>> {
        match self.0 {
            Form::Parsed(value) => value.into_string().map(Cow::Borrowed),
            Form::Text(text) => scan::unescape(text),
        }
    }

    /// The value of `true` and `false`.
    pub fn as_bool(self) -> Option<bool> {
        match self.0 {
            Form::Parsed(value) => value.as_bool(),
            Form::Text(text) => text.parse().ok(),
        }
    }

    /// The value of a number that is a whole one between 0 and 2⁶⁴ - 1 and is written as such.
    pub fn as_u64(self) -> Option<u64> {
        match self.0 {
            Form::Parsed(value) => value.as_u64(),
            Form::Text(text) => text.parse().ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shows what a value looks like from both doors, which must agree.
    #[track_caller]
    fn check(text: &str, path: &[&str], expected: &str) {
        let show = |root: Node<'_>| {
            let node = path.iter().try_fold(root, |node, name| node.member(name));
            let Some(node) = node else { return "none".into() };
            format!(
                "{:?} {:?} {:?} {}",
                node.as_str(),
                node.as_bool(),
                node.as_u64(),
                node.elements().count()
            )
        };
        assert_eq!(Document::new().read(text, show), expected, "{text}");
        assert_eq!(show(Node(Form::Text(text))), expected, "{text}");
    }

    #[test]
    fn both_readers_see_the_same() {
        check(r#""a\u00e9\n""#, &[], r#"Some("aé\n") None None 0"#);
        check("true", &[], "None Some(true) None 0");
        check("18446744073709551615", &[], "None None Some(18446744073709551615) 0");
        check("-1", &[], "None None None 0");
        check("1.5", &[], "None None None 0");
        check("[1,[2,3],{}]", &[], "None None None 3");
        check(r#"{"a":{"b":[1]},"c":2}"#, &["a", "b"], "None None None 1");
        check(r#"{"a":1,"a":2}"#, &["a"], "None None Some(2) 0");
        check(r#"{"a":1}"#, &["b"], "none");
        check("[]", &["a"], "none");
        check("{}", &[], "None None None 0");
    }

    #[test]
    fn what_the_parser_refuses_is_read_all_the_same() {
        check(r#"{"a":"\ud83d!"}"#, &["a"], "Some(\"\u{fffd}!\") None None 0");
        check(r#"{"n":1e400,"a":7}"#, &["a"], "None None Some(7) 0");
        check(r#"{"n":123456789012345678901234567890,"a":7}"#, &["a"], "None None Some(7) 0");
        check(r#"{"n":NaN,"a":7}"#, &["a"], "none");
        check(r#"{"a":7,"n":NaN}"#, &["a"], "None None Some(7) 0");
        check(
            &format!(r#"{{"n":{}{},"a":7}}"#, "[".repeat(5000), "]".repeat(5000)),
            &["a"],
            "None None Some(7) 0",
        );
        check(&format!(r#"{{"n":"{}","a":7}}"#, "x".repeat(LARGE)), &["a"], "None None Some(7) 0");
        check("", &[], "None None None 0");
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
}
