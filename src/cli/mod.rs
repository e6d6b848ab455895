//! The command line: words in, an answer and an exit code out.

pub mod args;
pub mod duration;
pub mod errors;
pub mod exit;
pub mod help;
pub mod terminal;
