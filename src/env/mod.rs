//! The outside of the process: arguments, variables, terminals, directories, the clock.
//!
//! `main` makes one [`Env`] and everything below gets it by reference, so that a test can run any
//! part of the program in a world of its own. Nothing else reads the environment.

mod directories;
pub mod ending;
mod secret;
pub mod signals;
pub mod streams;
pub mod threads;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Instant, SystemTime};

use rustix::stdio::{stderr, stdin, stdout};
use rustix::termios::isatty;

pub use secret::Secret;

/// What the process was given.
#[derive(Debug, Clone, Default)]
pub struct Env {
    /// The command line, program name first.
    pub args: Vec<OsString>,
    /// The environment variables.
    pub variables: Variables,
    /// The working directory; `None` when it was deleted or cannot be read.
    pub cwd: Option<PathBuf>,
    /// Which of the standard streams are terminals.
    pub terminals: Terminals,
    /// Whether the home directory that is named is not there.
    pub homeless: bool,
    /// The effective user id.
    pub user: u32,
    /// Where the administrator's configuration is; `None` when there is none.
    pub system_dir: Option<PathBuf>,
    /// The clock. Tests stop it.
    pub clock: Clock,
    /// When everything must be over; empty while nobody has said so.
    pub deadline: OnceLock<Instant>,
}

/// Which of the standard streams are terminals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Terminals {
    /// Standard input.
    pub stdin: bool,
    /// Standard output.
    pub stdout: bool,
    /// Standard error.
    pub stderr: bool,
}

/// Environment variables.
#[derive(Clone)]
pub enum Variables {
    /// Those of the process, read when the first one is asked for.
    OfProcess(OnceLock<Vec<(OsString, OsString)>>),
    /// These and no others.
    Only(BTreeMap<OsString, OsString>),
}

/// Where the time comes from.
#[derive(Debug, Clone, Copy, Default)]
pub enum Clock {
    /// The system.
    #[default]
    System,
    /// It is always the same moment.
    Stopped(SystemTime),
}

impl Env {
    /// What this process was given; the words of its command line come from its `main`.
    pub fn of_process(args: Vec<OsString>) -> Env {
        Env {
            args,
            variables: Variables::OfProcess(OnceLock::new()),
            cwd: std::env::current_dir().ok(),
            terminals: Terminals {
                stdin: isatty(stdin()),
                stdout: isatty(stdout()),
                stderr: isatty(stderr()),
            },
            homeless: std::env::var_os("HOME").is_none_or(|home| !Path::new(&home).is_dir()),
            user: rustix::process::geteuid().as_raw(),
            system_dir: Some(PathBuf::from("/etc/mcpmini")),
            clock: Clock::System,
            deadline: OnceLock::new(),
        }
    }

    /// When everything must be over; `None` when it may take as long as it likes.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline.get().copied()
    }

    /// The value of a variable, as it is; `None` when it is not set.
    pub fn variable(&self, name: impl AsRef<OsStr>) -> Option<OsString> {
        self.variables.get(name.as_ref())
    }

    /// The value of a variable that configures this program. An empty one counts as not set, so
    /// that `MCPMINI_CONFIG= mcpmini …` takes a setting back.
    pub fn setting(&self, name: &str) -> Option<OsString> {
        self.variable(name).filter(|value| !value.is_empty())
    }

    /// The time now.
    pub fn now(&self) -> SystemTime {
        self.clock.now()
    }

    /// `path`, made absolute by the working directory.
    pub fn absolute(&self, path: &Path) -> PathBuf {
        match &self.cwd {
            Some(cwd) => cwd.join(path),
            None => path.to_owned(),
        }
    }
}

impl Clock {
    /// The time now.
    pub fn now(self) -> SystemTime {
        match self {
            Clock::System => SystemTime::now(),
            Clock::Stopped(at) => at,
        }
    }

    /// The time now, in whole seconds since 1970.
    pub fn seconds(self) -> u64 {
        self.now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs()
    }
}

impl Variables {
    /// The value of one variable.
    fn get(&self, name: &OsStr) -> Option<OsString> {
        match self {
            Variables::OfProcess(read) => {
                let mut variables = of_process(read).iter();
                // Most differ in length, and a comparison of texts is a call.
                let found = variables.find(|(known, _)| known.len() == name.len() && known == name);
                found.map(|(_, value)| value.clone())
            }
            Variables::Only(variables) => variables.get(name).cloned(),
        }
    }

    /// All variables.
    pub fn all(&self) -> Vec<(&OsStr, &OsStr)> {
        match self {
            Variables::OfProcess(read) => {
                let variables = of_process(read).iter();
                variables.map(|(name, value)| (name.as_os_str(), value.as_os_str())).collect()
            }
            Variables::Only(variables) => variables
                .iter()
                .map(|(name, value)| (name.as_os_str(), value.as_os_str()))
                .collect(),
        }
    }
}

fn of_process(read: &OnceLock<Vec<(OsString, OsString)>>) -> &[(OsString, OsString)] {
    read.get_or_init(|| std::env::vars_os().collect())
}

impl Default for Variables {
    /// None at all.
    fn default() -> Variables {
        Variables::Only(BTreeMap::new())
    }
}

impl<const N: usize> From<[(&str, &str); N]> for Variables {
    fn from(pairs: [(&str, &str); N]) -> Variables {
        Variables::Only(
            pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
        )
    }
}

impl fmt::Debug for Variables {
    /// Without values: many are secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Variables::OfProcess(_) => f.write_str("OfProcess"),
            Variables::Only(variables) => f.debug_set().entries(variables.keys()).finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn variables_are_those_of_the_process_or_those_given() {
        let process = Env::of_process(Vec::new());
        assert_eq!(process.variable("PATH"), std::env::var_os("PATH"));
        assert_eq!(process.variables.all().len(), std::env::vars_os().count());

        let given = Env { variables: [("A", "1"), ("B", "")].into(), ..Env::default() };
        assert_eq!(given.variable("A"), Some("1".into()));
        assert_eq!(given.variable("B"), Some("".into()));
        assert_eq!(given.setting("B"), None);
        assert_eq!(given.variable("PATH"), None);
    }

    #[test]
    fn a_stopped_clock_stands() {
        let noon = SystemTime::UNIX_EPOCH + Duration::from_secs(12 * 3600);
        let env = Env { clock: Clock::Stopped(noon), ..Env::default() };
        assert_eq!(env.now(), noon);
    }

    #[test]
    fn values_of_variables_are_not_printed() {
        let env = Env { variables: [("TOKEN", "hunter2")].into(), ..Env::default() };
        let shown = format!("{env:?}");
        assert!(shown.contains("TOKEN") && !shown.contains("hunter2"), "{shown}");
    }
}
