//! Which server is meant, and how to reach it.
//!
//! ```text
//! SERVER word ── resolve ──> Resolved ── (approved?) ── expand ──> Server
//!                  │            what is said, with           what to do, with
//!            files │            references in it             everything looked up
//! ```
//! Nothing is looked up, read or run for a server before it is known to be approved: that is asked
//! between the two steps, by whoever calls them.

pub mod container;
pub mod packages;
pub mod program;
pub mod quoting;
pub mod steering;
pub mod version;

mod change;
mod check;
mod definition;
mod describe;
mod digest;
mod document;
mod edit;
mod env_file;
mod environment;
mod error;
mod expand;
mod fields;
mod import;
mod lookup;
mod oauth;
mod problem;
mod references;
mod resolved;
mod secret_command;
mod server;
mod source;
mod template;
mod unknown;
mod word;

use std::path::PathBuf;

pub use change::Changeable;
pub use check::{Checked, Finding, Severity, Wrong, check};
pub use definition::{
    Binding, Card, Definition, HttpTarget, OFFICIAL_REGISTRY, StdioTarget, Target, Trust,
};
pub use describe::{Described, describe, faults, masked, masked_header, masked_variable};
pub use digest::{Digest, NotADigest};
pub use document::{Malformed, Place};
pub use edit::Entry;
pub use error::ConfigError;
pub use expand::{expand, file_variables, identity, meaning};
pub use fields::Issue;
pub use import::{Found, Imported, Kind, Note, Obstacle, Refusal, Untranslatable, import};
pub use oauth::{OAuth, OAuthTemplate};
pub use problem::{BadValue, Problem};
pub use references::references;
pub use resolved::{Listed, Origin, Resolved, hidden_by, list, resolve, resolve_entry};
pub use secret_command::{CommandFault, run as run_secret_command};
pub use server::{Endpoint, Environment, HttpEndpoint, Server, StdioEndpoint};
pub use source::Layer;
pub use template::variables;
pub use unknown::Unknown;
pub use word::{Socket, UrlError, Word, WordError, is_name};

use crate::env::Secret;

/// What the command line says about the server, and about where to look for it. It counts more than
/// what a file says.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// The only configuration file (`--config`).
    pub config: Option<PathBuf>,
    /// More arguments for the command (`--arg`).
    pub args: Vec<String>,
    /// Variables for it (`--env`).
    pub env: Vec<(String, Secret)>,
    /// Its working directory (`--cwd`).
    pub cwd: Option<PathBuf>,
    /// Whether it gets all our variables (`--inherit-env`).
    pub inherit_env: bool,
    /// Headers for every request (`-H`, `--header-file`).
    pub headers: Vec<(String, Secret)>,
    /// How HTTP is used (`--transport`).
    pub binding: Option<Binding>,
    /// Whether commands that print secrets are not run (`--dry-run`); [`MASK`] stands for what they
    /// would print.
    ///
    /// [`MASK`]: crate::protocol::mask::MASK
    pub dry_run: bool,
}

impl Overrides {
    /// The `Host` that requests ask for, if it is not the one of the URL.
    pub fn host(&self) -> Option<&str> {
        let host = self.headers.iter().rev().find(|(name, _)| name.eq_ignore_ascii_case("host"));
        host.map(|(_, value)| value.expose())
    }

    /// Refuses flags that would have no effect on the server: whoever wrote them expects one.
    fn fit(&self, resolved: &Resolved) -> Result<(), ConfigError> {
        let for_stdio = [
            ("--arg", !self.args.is_empty()),
            ("--env", !self.env.is_empty()),
            ("--cwd", self.cwd.is_some()),
            ("--inherit-env", self.inherit_env),
        ];
        let for_http = [("-H", !self.headers.is_empty()), ("--transport", self.binding.is_some())];
        let is_stdio = matches!(resolved.definition.target, Target::Stdio(_));
        let (unfit, for_stdio): (&[_], _) =
            if is_stdio { (&for_http, false) } else { (&for_stdio, true) };
        match unfit.iter().find(|(_, is_set)| *is_set) {
            None => Ok(()),
            Some((flag, _)) => {
                Err(ConfigError::Misfit { flag, server: resolved.name.clone(), for_stdio })
            }
        }
    }
}
