//! The fields of results that this client reads. Everything else stays text.

pub mod schema;
pub mod tool;
