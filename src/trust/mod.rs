//! What is believed, and why.

pub mod approvals;
pub mod pins;
pub mod policy;
pub mod signature;

mod unapproved;

pub use approvals::{TrustError, admit};
pub use unapproved::{Effect, Unapproved};
