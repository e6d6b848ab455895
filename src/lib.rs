//! The MCP client for shell scripts.
#![doc = include_str!("../ARCHITECTURE.md")]

pub mod protocol;

pub mod net;

pub mod transport;

pub mod client;

#[doc(hidden)]
pub mod cli;
