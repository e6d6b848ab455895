//! The MCP client for shell scripts.
#![doc = include_str!("../ARCHITECTURE.md")]

#[doc(inline)]
pub use mcpmini_protocol as protocol;

pub mod reactor;

pub mod env;
pub mod net;
pub mod store;

pub mod config;
pub mod transport;

pub mod auth;
pub mod cache;
pub mod discovery;
pub mod trust;

pub mod client;

pub mod doctor;

#[doc(hidden)]
pub mod cli;
