//! Commands that read and change the configuration.

mod add;
mod check;
pub(super) mod entry;
pub(super) mod file;
mod import;
mod list;
mod show;

use super::args::config_commands::{Action, Config};
use super::errors::Error;
use super::exit::Exit;
use super::run::Run;

pub(super) use add::{add, remove};
pub(super) use list::{reached, report_faults};

/// `mcpmini config`.
pub(super) fn run(run: &Run<'_>, config: &Config) -> Result<Exit, Error> {
    refuse_what_has_no_effect(config)?;
    match config.action {
        Action::List => list::run(run),
        Action::Show => show::run(run, &config.names),
        Action::Check => check::run(run),
        Action::Import => import::run(run, config),
    }
}

/// Options and words that are for other actions.
fn refuse_what_has_no_effect(config: &Config) -> Result<(), Error> {
    let usage = |text: String| Err(Error::usage(text));
    let action = config.action.word();
    let flags =
        [("--copy", config.copy), ("--from", config.from.is_some()), ("--force", config.force)];
    match flags.iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) if config.action != Action::Import => {
            return usage(format!("{flag} is for `config import`, not for `config {action}`"));
        }
        _ => (),
    }
    if config.force && !config.copy {
        return usage("--force needs --copy".to_owned());
    }
    match config.names.first() {
        Some(name) if matches!(config.action, Action::List | Action::Check) => {
            usage(format!("config {action} takes no further words: {name:?}"))
        }
        _ => Ok(()),
    }
}
