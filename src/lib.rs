//! The MCP client for shell scripts.
#![doc = include_str!("../ARCHITECTURE.md")]

pub mod protocol;

pub mod transport;

#[doc(hidden)]
pub mod cli;
