//! JSON as text: what came over the wire is kept, cut out and handed on, never written anew.
//!
//! A parser that turns `9007199254740993` into a double, `1.50` into `1.5` or keeps one of two
//! equal keys changes what the server said. So payloads travel as [`Json`]: the bytes of the frame
//! they came in, and the span that is theirs.

use std::fmt;
use std::ops::Range;

use super::bytes;
use super::jsonrpc::scan;

/// One JSON value, as the text it came in.
///
/// The text is UTF-8 and its brackets and quotes balance. Whether it keeps the rest of the JSON
/// grammar is checked by whoever looks inside ([`Json::validate`], or a parser).
#[derive(Clone)]
pub struct Json {
    frame: String,
    span: Range<usize>,
    /// What need not be stepped over again; for long values only, as it takes a place of its own.
    known: Option<Box<Known>>,
}

/// What was found out about a long value. Places are in its text, and empty when they are not known.
#[derive(Debug, Clone, Default)]
struct Known {
    /// Where its longest array or object stands among its members.
    member: Range<usize>,
    /// Where its longest string stands, however deep.
    string: Range<usize>,
}

static NOTHING: Known = Known { member: 0..0, string: 0..0 };

/// So long is what is worth to be known, in bytes. In tests it is in the reach of random documents.
const LONG: usize = if cfg!(test) { 8 } else { 16 << 10 };

impl Json {
    /// The value that stands at `span` in `frame`. The frame is moved, not copied, so that a large
    /// result costs its own size in memory and no more.
    ///
    /// # Panics
    /// When `span` does not lie on character boundaries inside `frame`.
    pub fn new(frame: String, span: Range<usize>) -> Json {
        Json::passing(frame, span, 0..0)
    }

    /// The same for an object, of which the array or object at `passed` in `frame`, if that is not empty,
    /// is a member that was stepped over already.
    pub(crate) fn passing(frame: String, span: Range<usize>, passed: Range<usize>) -> Json {
        assert!(frame.get(span.clone()).is_some(), "a span lies inside its frame");
        let mut json = Json { frame, span, known: None };
        if passed.len() >= LONG {
            let start = json.span.start;
            json.known.get_or_insert_default().member = passed.start - start..passed.end - start;
        }
        json
    }

    fn known(&self) -> &Known {
        self.known.as_deref().unwrap_or(&NOTHING)
    }

    /// The text of the value.
    pub fn as_str(&self) -> &str {
        &self.frame[self.span.clone()]
    }

    /// The text of the whole message the value came in.
    pub fn frame(&self) -> &str {
        &self.frame
    }

    /// The members, as [`scan::members`] finds them.
    pub fn members(&self) -> scan::Members<'_> {
        scan::members_past(self.as_str(), &self.known().member)
    }

    /// The member `name`, as [`scan::member`] finds it.
    pub fn member(&self, name: &str) -> Option<&str> {
        let [found] = self.members_named([name]);
        found
    }

    /// The members with these names, as [`scan::members_named`] finds them.
    pub fn members_named<const N: usize>(&self, names: [&str; N]) -> [Option<&str>; N] {
        scan::members_named_past(self.as_str(), &self.known().member, names)
    }

    /// Whether the text is one JSON value by RFC 8259, of any depth and with numbers of any size.
    pub fn validate(&self) -> Result<(), Invalid> {
        validate(self.as_str())
    }

    /// The same, and notes what who reads the value need not step over again.
    pub fn check(&mut self) -> Result<(), Invalid> {
        match scan::longest_string(self.as_str()) {
            Some(string) => {
                if string.len() >= LONG {
                    self.known.get_or_insert_default().string = string;
                }
                Ok(())
            }
            None => self.validate(),
        }
    }

    /// Where in a part of the value its longest string stands; empty when that is elsewhere, or not
    /// known.
    pub(crate) fn string_in(&self, part: &str) -> Range<usize> {
        let start = part.as_ptr().addr() - self.as_str().as_ptr().addr();
        let string = &self.known().string;
        match start <= string.start && string.end <= start + part.len() {
            true => string.start - start..string.end - start,
            false => 0..0,
        }
    }
}

/// Values are equal when their texts are, wherever they came from.
impl PartialEq for Json {
    fn eq(&self, other: &Json) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Json {}

impl From<String> for Json {
    fn from(text: String) -> Json {
        let span = 0..text.len();
        Json { frame: text, span, known: None }
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::from(text.to_owned())
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Text that is not JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    /// What the parser said, with the line and column.
    pub reason: String,
}

/// Whether `text` is one JSON value by RFC 8259, of any depth and with numbers of any size.
pub fn validate(text: &str) -> Result<(), Invalid> {
    if scan::is_json(text) {
        return Ok(());
    }
    // `IgnoredAny` neither recurses nor converts: depth costs no stack, and 1e400 is a number.
    serde_json::from_str::<serde::de::IgnoredAny>(text)
        .map(drop)
        .map_err(|error| Invalid { reason: error.to_string() })
}

/// Appends `text` as a JSON string, quotes included.
pub fn push_string(out: &mut String, text: &str) {
    // Names and dates, which are most of what is written, stand for themselves.
    if scan::is_plain(text) {
        out.reserve(text.len() + 2);
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        out.push_str(&string(text));
    }
}

/// Appends JSON text with blanks for its line breaks. In JSON a line break can only stand between
/// tokens, so that the meaning is kept.
pub fn push_on_one_line(out: &mut String, mut text: &str) {
    while let Some(at) = bytes::find_either(b'\n', b'\r', text.as_bytes()) {
        out.push_str(&text[..at]);
        out.push(' ');
        text = &text[at + 1..];
    }
    out.push_str(text);
}

/// Texts as a JSON array of strings.
pub fn strings(texts: impl IntoIterator<Item: AsRef<str>>) -> String {
    let texts: Vec<String> = texts.into_iter().map(|text| string(text.as_ref())).collect();
    format!("[{}]", texts.join(","))
}

/// `text` as a JSON string, quotes included.
pub fn string(text: &str) -> String {
    serde_json::to_string(text).expect("a string always serializes")
}
