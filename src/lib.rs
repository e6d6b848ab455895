//! The MCP client for shell scripts.
#![doc = include_str!("../ARCHITECTURE.md")]

pub mod protocol;

pub mod env;
pub mod store;

pub mod transport;

pub mod config;

pub mod cache;
pub mod trust;
