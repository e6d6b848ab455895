//! The HTTP bindings against scripted servers on loopback: one test per rule.

mod answers;
mod client;
mod faults;
mod order;
mod redirects;
mod server;
mod sessions;
mod sse;
mod streams;
