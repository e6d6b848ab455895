//! `mcpmini doctor`, through the program: every check finds the fault that it is there for, and
//! finds none on a server that is right.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../support/mod.rs"]
mod support;

mod command;
mod http;
mod server;
mod stdio;
mod tls;
