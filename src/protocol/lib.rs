//! The Model Context Protocol without I/O.
//!
//! Nothing here reads a clock, a file, a socket or the environment, and nothing is `async`: bytes,
//! messages and instants come in as arguments, and what to do next comes out as a value.

pub mod framing;
pub mod json;
pub mod jsonrpc;
pub mod method;
pub mod revision;

pub mod bytes;
pub mod canonical;
mod decimal;
pub mod exact;
pub mod rfc3339;
pub mod similar;
pub mod sorting;
pub mod tree;

pub mod arguments;
pub mod headers;
pub mod mask;
pub mod message;
pub mod opening;
pub mod params;
pub mod pending;
pub mod pointer;
pub mod randomness;
pub mod relay;
pub mod replay;
pub mod trace;

pub mod model;
pub mod output_schema;
pub mod session;
pub mod visible;

pub use message::{Incoming, Outgoing};
pub use revision::Revision;
pub use session::Session;
