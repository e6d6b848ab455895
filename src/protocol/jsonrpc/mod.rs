//! JSON-RPC 2.0: the messages, from bytes and to bytes.

pub mod decode;
pub mod encode;
pub mod id;
pub mod scan;

pub use decode::{Limits, Malformed, Unusual, decode};
pub use id::Id;

use std::borrow::Cow;

use super::json::Json;

/// A message from the peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// It wants an answer.
    Request(Request),
    /// It wants none.
    Notification(Notification),
    /// It answers.
    Response(Response),
}

/// A request from the peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The id, to be sent back as it came.
    pub id: Id,
    /// The method.
    pub method: Cow<'static, str>,
    /// The parameters.
    pub params: Option<Json>,
}

/// A notification from the peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// The method.
    pub method: Cow<'static, str>,
    /// The parameters.
    pub params: Option<Json>,
}

/// A response from the peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The id of the request; `None` when the peer could not read it (JSON-RPC 2.0, section 5).
    pub id: Option<Id>,
    /// The result, or the error. When a peer sends both, the error counts. Errors are rare and large,
    /// and all messages are as large as the largest: they are moved often.
    pub outcome: Result<Answer, Box<ErrorObject>>,
}

/// A result, and the one thing about it that the session must know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The `result` member as it came.
    pub result: Json,
    /// Whether its `resultType` is `input_required` (Multi Round-Trip Requests).
    pub input_required: bool,
    /// Whether it has a `resultType` at all, as results of modern servers do.
    pub has_type: bool,
}

/// An error the peer answered with (JSON-RPC 2.0, section 5.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorObject {
    /// The error code; 0 when the peer sent none that fits.
    pub code: i64,
    /// The message, for people.
    pub message: String,
    /// More, in whatever form the peer chose.
    pub data: Option<Json>,
    /// The `error` member as it came; `None` for errors of our own.
    pub source: Option<Json>,
}

impl ErrorObject {
    /// The message is no request, or none that can be served now.
    pub const INVALID_REQUEST: i64 = -32600;
    /// The method does not exist or is not available.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The parameters are wrong.
    pub const INVALID_PARAMS: i64 = -32602;
    /// Whoever was asked has failed.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// A URL must be opened before the request can be carried out (2025-11-25 only).
    pub const URL_ELICITATION_REQUIRED: i64 = -32042;
    /// HTTP headers and body disagree (since 2026-07-28).
    pub const HEADER_MISMATCH: i64 = -32020;
    /// The request needs a capability that the client did not declare (since 2026-07-28).
    pub const MISSING_CAPABILITY: i64 = -32021;
    /// The server does not speak the revision of the request (since 2026-07-28).
    pub const UNSUPPORTED_VERSION: i64 = -32022;

    /// The answer to a request this client does not serve.
    pub fn method_not_found() -> ErrorObject {
        ErrorObject::own(ErrorObject::METHOD_NOT_FOUND, "Method not found")
    }

    /// The answer to a request whose parameters this client cannot take.
    pub fn invalid_params(message: &str) -> ErrorObject {
        ErrorObject::own(ErrorObject::INVALID_PARAMS, message)
    }

    /// The answer to a request that this client fails to answer.
    pub fn internal(message: &str) -> ErrorObject {
        ErrorObject::own(ErrorObject::INTERNAL_ERROR, message)
    }

    fn own(code: i64, message: &str) -> ErrorObject {
        ErrorObject { code, message: message.into(), data: None, source: None }
    }
}
