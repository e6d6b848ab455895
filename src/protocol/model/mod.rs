//! The payloads this client looks into. It reads the members it needs and keeps the text of all.

pub mod document;
pub mod form;
pub mod frontmatter;
pub mod log;
pub mod parameter;
pub mod prompt;
pub mod resource;
pub mod result;
pub mod schema;
pub mod server;
pub mod skill;
pub mod task;
pub mod tool;
