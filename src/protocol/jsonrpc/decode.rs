//! From bytes to messages. The only reader of the wire.

use super::{Id, Message};

/// What a frame may be at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The length of one message, in bytes.
    pub message: usize,
    /// How deep arrays and objects may nest.
    pub depth: usize,
}

impl Default for Limits {
    /// 128 MiB and 512 levels.
    fn default() -> Limits {
        Limits { message: 128 << 20, depth: 512 }
    }
}

/// What [`decode`] finds in a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decoded {
    /// A message.
    Message(Message),
    /// The next message is in a form that is tolerated but not right.
    Unusual(Unusual),
    /// Something that is no message.
    Malformed(Malformed),
}

/// A form of message that is tolerated but not right. `--strict` makes it an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unusual {
    /// Bytes that are not UTF-8 were replaced by U+FFFD.
    InvalidUtf8,
    /// Several messages stand on one line.
    SeveralOnALine,
    /// Several messages stand in an array, which only 2025-03-26 allows.
    Batch,
    /// The member `jsonrpc` is missing or is not `"2.0"`.
    NoVersion,
    /// A response has a result and an error.
    ResultAndError,
}

/// Bytes that are no JSON-RPC message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Malformed {
    /// Not JSON.
    Json {
        /// The beginning, at most 200 bytes, with control characters escaped.
        excerpt: String,
    },
    /// JSON, but neither request, response nor notification.
    Shape {
        /// The id, if there is one.
        id: Option<Id>,
        /// The beginning, at most 200 bytes, with control characters escaped.
        excerpt: String,
    },
    /// Nested deeper than the limit.
    TooDeep {
        /// The id, if it was found before the limit was passed.
        id: Option<Id>,
        /// The limit that was passed.
        limit: usize,
    },
}

/// Reads the messages in a frame and hands each to `take`.
pub fn decode(_frame: Vec<u8>, _limits: &Limits, _take: &mut dyn FnMut(Decoded)) {
    unreachable!("written by the decoder's author")
}

impl Malformed {
    /// The id, if one was found.
    pub fn id(&self) -> Option<&Id> {
        match self {
            Malformed::Json { .. } => None,
            Malformed::Shape { id, .. } | Malformed::TooDeep { id, .. } => id.as_ref(),
        }
    }
}
