//! Authorization, through the program: logins, tokens that are kept, and what is refused.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../support/mod.rs"]
mod support;

mod attacks;
mod kept;
mod limits;
mod logins;
mod machines;
mod refusals;
mod world;
