//! `mcpmini doctor`, through the program: every check finds the fault that it is there for, and
//! finds none on a server that is right.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../support/mod.rs"]
mod support;

#[allow(dead_code, reason = "it can do more than is wanted here")]
#[path = "../http/server.rs"]
mod scripted;

mod command;
mod http;
mod server;
mod stdio;
mod tls;
