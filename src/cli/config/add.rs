//! `mcpmini add` and `mcpmini remove`: one server more, or less, in a configuration file.

use smol::LocalExecutor;

use super::entry::{entry, no_server};
use super::file::{self, only_file};
use crate::cli::adopt;
use crate::cli::args::config_commands::{Add, Remove};
use crate::cli::consent;
use crate::cli::errors::Error;
use crate::cli::exit::Exit;
use crate::cli::explain;
use crate::cli::output;
use crate::cli::run::Run;
use crate::config::{Changeable, Layer};
use crate::trust::approvals;

/// Adds a server: one that is given, or one that is looked up.
pub(in crate::cli) async fn add(
    run: &Run<'_>,
    add: &Add,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    let (name, server) = add.words(!run.tail.is_empty());
    if let Some((word, place)) = adopt::place(name, server)? {
        return adopt::run(run, add, name, word, &place, executor).await;
    }
    adopt::refuse_needless_options(add)?;
    let Some(name) = name else { return Err(no_server()) };
    let changed = file::find(run, add.project, &only_file(run))?;
    let entry = entry(run, name, server, &changed)?;
    file::write(run, add, name, &entry, &changed)?;
    told(run, "added", name, &changed)
}

/// Removes a server.
pub(in crate::cli) fn remove(run: &Run<'_>, remove: &Remove) -> Result<Exit, Error> {
    let overrides = only_file(run);
    let file = file::find(run, remove.project, &overrides)?;
    consent::forget(run, file.layer, &remove.name, &overrides);
    file.remove(&remove.name, run.env, &overrides).map_err(explain::config)?;
    if file.layer == Layer::Project {
        // It would have to be approved again if it came back.
        approvals::revoke(&remove.name, &file.path, run.env).map_err(explain::trust)?;
    }
    told(run, "removed", &remove.name, &file)
}

/// Says what was done.
fn told(run: &Run<'_>, what: &str, name: &str, file: &Changeable) -> Result<Exit, Error> {
    output::write(run, file::line(run, what, name, file).as_bytes())?;
    Ok(Exit::Ok)
}
