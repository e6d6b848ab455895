//! The HTTP bindings against scripted servers on loopback: one test per rule.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../support/tls.rs"]
mod encrypted;
#[path = "../support/mod.rs"]
mod support;

mod answers;
mod client;
mod faults;
mod fetch;
mod order;
mod redirects;
mod server;
mod sessions;
mod sse;
mod streams;
