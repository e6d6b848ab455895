//! What is believed, and why.

pub mod approvals;
pub mod pins;

mod unapproved;

pub use approvals::{TrustError, admit};
pub use unapproved::{Effect, Unapproved};
