//! Finding the parts of a JSON text without parsing them.
//!
//! The client routes messages and hands payloads on; it rarely needs to know what is in them. So
//! the scanner looks at one or two levels of members, checks those by the grammar of RFC 8259, and
//! steps over everything below by counting brackets outside strings. It allocates nothing, never
//! recurses, and leaves the grammar inside payloads to whoever reads them.
//!
//! ```
//! use mcpmini_protocol::jsonrpc::scan;
//! let text = r#"{"jsonrpc":"2.0","id":7,"result":{"n":1.50}}"#;
//! let envelope = scan::envelope(text, 512).unwrap();
//! assert_eq!(&text[envelope.result.unwrap()], r#"{"n":1.50}"#);
//! ```

#[cfg(target_arch = "x86_64")]
mod avx2;
mod check;
mod cursor;
mod parts;
mod skip;
#[cfg(target_arch = "x86_64")]
mod sse2;
mod string;

use std::ops::Range;

pub use check::is_json;
pub(crate) use check::longest_string;
pub use parts::{Elements, Members, elements, member, members, members_named, objects};
pub(crate) use parts::{members_named_past, members_past};
pub use string::{is_string, unescape, unescape_pieces};

use cursor::{Cursor, Syntax};

/// Where a value stands in its text, in bytes.
pub type Span = Range<usize>;

/// Where the members of a JSON-RPC message stand. Of equal keys the last one counts, as in most
/// parsers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Envelope {
    /// `jsonrpc`, quotes included.
    pub jsonrpc: Option<Span>,
    /// `id`.
    pub id: Option<Span>,
    /// `method`, quotes included.
    pub method: Option<Span>,
    /// `params`.
    pub params: Option<Span>,
    /// `result`.
    pub result: Option<Span>,
    /// `resultType` inside `result`, if that is an object (2026-07-28, Multi Round-Trip Requests).
    pub result_type: Option<Span>,
    /// The longest array or object that is a member of `result`; empty when there is none. Whoever
    /// looks for another member can step over it without looking into it again.
    pub longest: Span,
    /// `error`.
    pub error: Option<Span>,
    /// Where the object ends. Something else may follow.
    pub end: usize,
}

/// Why a text has no envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Broken {
    /// It is not JSON, or is cut off.
    Syntax,
    /// It is JSON, but not an object.
    NoObject,
    /// It is an object, but nested deeper than the limit.
    TooDeep {
        /// Where the id stands, if there is one.
        id: Option<Span>,
    },
}

impl From<Syntax> for Broken {
    fn from(_: Syntax) -> Broken {
        Broken::Syntax
    }
}

/// How nearly all messages begin, and where the version stands in that.
const USUAL: &str = "{\"jsonrpc\":\"2.0\"";
const VERSION: Span = 11..16;

/// Finds the members of the message at the beginning of `text`, white space aside. `depth` is how
/// deep arrays and objects may nest; the message itself is the first level.
#[inline]
pub fn envelope(text: &str, depth: usize) -> Result<Envelope, Broken> {
    let mut envelope = Envelope::default();
    fill(&mut envelope, text, depth)?;
    Ok(envelope)
}

/// Fills in an empty envelope, where it is: it is long, and a short message is read faster than
/// it is moved.
fn fill(envelope: &mut Envelope, text: &str, depth: usize) -> Result<(), Broken> {
    let mut cursor = Cursor::new(text, depth);
    if text.starts_with(USUAL) && 0 < depth {
        envelope.jsonrpc = Some(VERSION);
        cursor.enter_at(USUAL.len());
    } else if cursor.peek() == Some(b'{') {
        cursor.enter();
    } else {
        cursor.value()?;
        return Err(Broken::NoObject);
    }
    while let Some(key) = cursor.key()? {
        let place = match &*key {
            "jsonrpc" => &mut envelope.jsonrpc,
            "id" => &mut envelope.id,
            "method" => &mut envelope.method,
            "params" => &mut envelope.params,
            "error" => &mut envelope.error,
            "result" => {
                result(envelope, &mut cursor)?;
                continue;
            }
            _ => {
                cursor.value()?;
                continue;
            }
        };
        *place = Some(cursor.value()?);
    }
    if cursor.too_deep {
        return Err(Broken::TooDeep { id: envelope.id.take() });
    }
    envelope.end = cursor.at;
    Ok(())
}

/// Steps over the value of `result` and notes what must be known of its members on the way.
fn result(envelope: &mut Envelope, cursor: &mut Cursor<'_>) -> Result<(), Syntax> {
    (envelope.result_type, envelope.longest) = (None, 0..0);
    if cursor.peek() != Some(b'{') {
        envelope.result = Some(cursor.value()?);
        return Ok(());
    }
    let start = cursor.at;
    cursor.enter();
    while let Some(key) = cursor.key()? {
        let is_nest = matches!(cursor.peek(), Some(b'{' | b'['));
        let value = cursor.value()?;
        if is_nest && envelope.longest.len() < value.len() {
            envelope.longest = value.clone();
        }
        if key == "resultType" {
            envelope.result_type = Some(value);
        }
    }
    envelope.result = Some(start..cursor.at);
    Ok(())
}

/// Whether a text stands for itself between the quotes of a JSON string.
pub fn is_plain(text: &str) -> bool {
    skip::special(text.as_bytes(), 0).is_none()
}

/// Where the value at the beginning of `text` ends, white space before it aside; `None` when there
/// is none, or it is cut off.
pub fn value_end(text: &str) -> Option<usize> {
    let mut cursor = Cursor::new(text, usize::MAX);
    cursor.peek();
    cursor.value().ok().map(|span| span.end)
}

/// Where the object ends that `text` begins with; `None` when it begins with none, or the object is
/// cut off or nests deeper than `depth`.
pub(crate) fn object_end(text: &str, depth: usize) -> Option<usize> {
    let room = depth.checked_sub(1).filter(|_| text.starts_with('{'))?;
    let nest = skip::nest(text.as_bytes(), 1, room)?;
    (!nest.too_deep && text.as_bytes()[nest.end - 1] == b'}').then_some(nest.end)
}

#[cfg(test)]
pub(crate) mod random;
#[cfg(test)]
mod tests;
