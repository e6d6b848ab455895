//! Which servers may be used at all.

mod kept;

pub use kept::{Kept, Unkept, seconds};
