//! Pins: what servers were when they were first trusted, and whether they still are that.
//!
//! ```text
//!   facets    what can be told apart of a server: where it is, who it is, what it can do
//!   publisher who has signed its card
//!   kept      texts of a server without secrets
//!   key       which server that is
//!   place     where it is, which is what is revoked
//!   started   what its command starts, which is what is revoked of a command
//!   command   what starts it, as a hash
//!   record    what was accepted, and what was seen since: what differs is pending
//!   change    how two sets of facets differ, and what to do about each difference
//!   store     a file for each server, in the state directory
//!   lockfile  the same for a project, in a file that is committed
//!   words     differences, for people and for programs
//! ```
//!
//! A server is trusted as it is when it is first used, as ssh trusts a host: silently, because the
//! user has named it. From then on it is held to that, as far as a command makes use of it.

mod change;
mod command;
mod facets;
mod kept;
mod key;
mod lockfile;
mod members;
mod place;
mod publisher;
mod record;
mod started;
mod store;
mod texts;
mod unique;
mod words;

pub use crate::config::Trust as Mode;
pub use crate::protocol::visible::visible;
pub use change::{Action, Change, Use, compare};
pub use facets::{
    Auth, Facets, Identity, Package, capabilities, text_of_all, tool_parts, tool_text,
};
pub use kept::{kept, stands_for};
pub use key::{Key, address, of_definition, of_server};
pub use lockfile::{LockError, LockFile, Locked};
pub use publisher::Publisher;
pub use record::{Consent, Record, State, Verdict};
pub use store::{PinError, Store};
pub use texts::{Parts, Texts, TextsOfBoth};
pub use words::{Sides, json, lines};
