//! A server that can be contacted: everything about it is looked up.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use super::definition::Binding;
use super::digest::Digest;
use super::environment::is_for_everyone;
use super::oauth::OAuth;
use crate::env::Secret;
use crate::protocol::Revision;

/// A server, ready to be contacted.
#[derive(Debug, Clone)]
pub struct Server {
    /// Its name, or the word that stands for it.
    pub name: String,
    /// The key under which things are remembered about it. It changes with the definition, and not
    /// with a token.
    pub identity: Digest,
    /// How it is reached.
    pub endpoint: Endpoint,
    /// How long to wait for an answer, if configured; zero is without limit.
    pub timeout: Option<Duration>,
    /// How long to wait for it to be ready, if configured; zero is without limit.
    pub start_timeout: Option<Duration>,
    /// The revision to speak, when it is not to be found out.
    pub protocol: Option<&'static Revision>,
}

/// How a server is reached.
#[derive(Debug, Clone)]
pub enum Endpoint {
    /// It is started, and speaks on its standard streams.
    Stdio(StdioEndpoint),
    /// It is somewhere, and speaks HTTP.
    Http(HttpEndpoint),
}

/// A process to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StdioEndpoint {
    /// The program: an absolute path, or a name to be found in the `PATH` of the environment.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<String>,
    /// All variables it gets.
    pub environment: Environment,
    /// Its working directory, an absolute path to a directory that was there a moment ago; `None`
    /// when this process has none.
    pub cwd: Option<PathBuf>,
}

/// An HTTP endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpEndpoint {
    /// How HTTP is used.
    pub binding: Binding,
    /// The URL, `http:` or `https:`, without fragment, user name and password. For a socket its
    /// host is `localhost`.
    pub url: String,
    /// The socket to connect to, in place of the URL's host; an absolute path.
    pub socket: Option<PathBuf>,
    /// Headers for every request: valid names, and values of visible ASCII, blanks and tabs.
    pub headers: Vec<(String, Secret)>,
    /// How to get tokens.
    pub oauth: Box<OAuth>,
}

/// The variables of a process to be started. To clone it costs nothing.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment(Rc<BTreeMap<OsString, Variable>>);

#[derive(Clone, PartialEq, Eq)]
struct Variable {
    value: OsString,
    /// Whether it was set for this server, and not taken over from our own environment.
    is_own: bool,
}

impl Environment {
    /// Adds variables taken over from our own environment.
    pub(super) fn inherit<'a>(&mut self, variables: impl Iterator<Item = (&'a OsStr, &'a OsStr)>) {
        let inherited = |value: &OsStr| Variable { value: value.to_owned(), is_own: false };
        let variables = variables.map(|(name, value)| (name.to_owned(), inherited(value)));
        Rc::make_mut(&mut self.0).extend(variables);
    }

    /// Sets a variable for this server. The last value of a name counts.
    pub(super) fn set(&mut self, name: &str, value: &Secret) {
        let own = Variable { value: value.expose().into(), is_own: true };
        Rc::make_mut(&mut self.0).insert(name.into(), own);
    }

    /// All variables, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.iter().map(|(name, variable)| (name.as_os_str(), variable.value.as_os_str()))
    }

    /// The names of variables that were taken over though not every server gets them.
    pub fn taken_over(&self) -> impl Iterator<Item = &OsStr> {
        let others = self.0.iter().filter(|(_, variable)| !variable.is_own);
        others.map(|(name, _)| name.as_os_str()).filter(|name| !is_for_everyone(name))
    }

    /// Takes variables out.
    pub fn remove(&mut self, names: &[OsString]) {
        Rc::make_mut(&mut self.0).retain(|name, _| !names.contains(name));
    }

    /// The variables that were set for this server, in the order of their names.
    pub fn own(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        let own = self.0.iter().filter(|(_, variable)| variable.is_own);
        own.map(|(name, variable)| (name.as_os_str(), variable.value.as_os_str()))
    }
}

impl fmt::Debug for Environment {
    /// Without values: many are secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
