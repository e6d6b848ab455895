//! Files of our own: bounded reads, atomic writes, locks.
//!
//! Files are made with mode 0600 in directories of mode 0700. A file is replaced as a whole, by a
//! rename, so that a reader sees the old one or the new one and never a part. Contents survive a
//! crash of the program, not always one of the machine (there is no fsync): caches and approvals
//! can be made again.

mod fault;
mod lock;
mod read;
mod replace;
mod room;

pub use fault::{Action, Fault, Reason};
pub use lock::{Lock, lock};
pub use read::{Guard, check_private, read, read_text};
pub use replace::{Access, create_dir, remove, replace, rewrite};
pub use room::make_room;

#[cfg(test)]
pub(crate) mod scratch;
