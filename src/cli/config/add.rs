//! `mcpmini add` and `mcpmini remove`: one server more, or less, in a configuration file.

use serde_json::Value;
use smol::LocalExecutor;

use super::entry::entry;
use crate::cli::adopt;
use crate::cli::args::Format;
use crate::cli::args::config_commands::{Add, Remove};
use crate::cli::consent;
use crate::cli::errors::Error;
use crate::cli::exit::Exit;
use crate::cli::explain;
use crate::cli::output;
use crate::cli::policy;
use crate::cli::run::Run;
use crate::config::{self, Changeable, Entry, Layer, Overrides};
use crate::protocol::json;
use crate::protocol::mask;
use crate::protocol::params::Members;
use crate::protocol::visible::{is_hidden, visible};
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
    let file = file(run, add.project, &only_file(run))?;
    let entry = entry(run, name, server, &file)?;
    write(run, add, name, &entry, &file)?;
    told(run, "added", name, &file)
}

/// Writes a server into a file.
pub(in crate::cli) fn write(
    run: &Run<'_>,
    add: &Add,
    name: &str,
    entry: &Entry,
    file: &Changeable,
) -> Result<(), Error> {
    let overrides = only_file(run);
    refuse_hidden(entry)?;
    policy::admit_entry(run, name, entry)?;
    file.add(name, entry, add.force, run.env).map_err(explain::config)?;
    consent::forget(run, file.layer, name, &overrides);
    warn_of_secrets(run, file);
    if file.layer == Layer::Project {
        approve(run, name, &overrides)?;
    }
    warn_if_hidden(run, name, file, &overrides);
    Ok(())
}

/// Refuses what looks like something else than it is: such characters come from pages that commands
/// are copied from. Line ends and wide blanks may be meant.
fn refuse_hidden(entry: &Entry) -> Result<(), Error> {
    let is_odd = |letter: char| {
        is_hidden(letter) && !matches!(letter, '\n' | '\t' | '\r' | '\u{a0}' | '\u{3000}')
    };
    let texts = |field: &str| match entry.get(field) {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(texts)) => {
            texts.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    };
    for field in ["url", "command", "args"] {
        if let Some(text) = texts(field).iter().find(|text| text.contains(is_odd)) {
            return Err(usage(&format!("{field} hides something: {}", visible(text))));
        }
    }
    Ok(())
}

/// The mistake of naming no server.
pub(super) fn no_server() -> Error {
    let error = usage("add needs a server: a URL, or a command after --");
    error.hint("mcpmini add NAME URL, mcpmini add NAME -- COMMAND ARG..., or mcpmini add HOST")
}

/// Removes a server.
pub(in crate::cli) fn remove(run: &Run<'_>, remove: &Remove) -> Result<Exit, Error> {
    let overrides = only_file(run);
    let file = file(run, remove.project, &overrides)?;
    consent::forget(run, file.layer, &remove.name, &overrides);
    file.remove(&remove.name, run.env, &overrides).map_err(explain::config)?;
    if file.layer == Layer::Project {
        // It would have to be approved again if it came back.
        approvals::revoke(&remove.name, &file.path, run.env).map_err(explain::trust)?;
    }
    told(run, "removed", &remove.name, &file)
}

/// Which file is meant, and no more: what else the command line says goes into it.
pub(in crate::cli) fn only_file(run: &Run<'_>) -> Overrides {
    Overrides { config: run.settings.config.clone(), ..Overrides::default() }
}

/// The file to change.
pub(in crate::cli) fn file(
    run: &Run<'_>,
    project: bool,
    overrides: &Overrides,
) -> Result<Changeable, Error> {
    let file = Changeable::find(project, run.env, overrides).map_err(explain::config)?;
    if project && file.layer != Layer::Project {
        return Err(usage("--project and --config exclude each other"));
    }
    Ok(file)
}

/// Says what was done.
fn told(run: &Run<'_>, what: &str, name: &str, file: &Changeable) -> Result<Exit, Error> {
    output::write(run, line(run, what, name, file).as_bytes())?;
    Ok(Exit::Ok)
}

/// A line that says what was done.
pub(in crate::cli) fn line(run: &Run<'_>, what: &str, name: &str, file: &Changeable) -> String {
    let path = file.path.to_string_lossy();
    if run.settings.output == Format::Json {
        let mut members = Members::new();
        members.push("name", &json::string(name));
        members.push("action", &json::string(what));
        members.push("layer", &json::string(&file.layer.to_string()));
        members.push("path", &json::string(&path));
        return members.finish() + "\n";
    }
    let direction = if what == "added" { "to" } else { "from" };
    format!("{what} {name} {direction} {path}\n")
}

/// A mistake in the command line.
pub(in crate::cli) fn usage(text: &str) -> Error {
    Error::usage(text)
}

/// Says which secrets are in the file now.
fn warn_of_secrets(run: &Run<'_>, file: &Changeable) {
    let headers = run.globals.header.iter().map(|header| (&header.name, header.value.as_str()));
    let variables = run.globals.env.iter().map(|it| (&it.name, it.value.as_str()));
    let path = file.path.display();
    for (name, value) in headers.chain(variables) {
        let is_reference = value.contains("${") || value.starts_with('!');
        if !is_reference && !value.is_empty() && mask::is_secret(name) {
            run.warn(&format!(
                "the value of {name} is stored in {path} as it is; '${{VARIABLE}}' in single \
                 quotes would keep it out of the file"
            ));
        }
    }
}

/// Approves what the user has just written.
fn approve(run: &Run<'_>, name: &str, overrides: &Overrides) -> Result<(), Error> {
    let word = format!("{}:{name}", Layer::Project);
    let resolved = config::resolve(&word, run.env, overrides).map_err(explain::config)?;
    let unapproved =
        approvals::unapproved(&resolved, run.env, overrides).map_err(explain::trust)?;
    if let Some(unapproved) = unapproved {
        let digest = unapproved.digest.to_string();
        approvals::approve(&unapproved, Some(&digest), false, run.env).map_err(explain::trust)?;
    }
    Ok(())
}

fn warn_if_hidden(run: &Run<'_>, name: &str, file: &Changeable, overrides: &Overrides) {
    let (listed, _) = config::list(run.env, overrides);
    let first = listed.iter().find(|server| server.name == name);
    if let Some(first) = first.map(|first| first.layer).filter(|first| *first != file.layer) {
        let layer = file.layer;
        run.warn(&format!("{first}:{name} comes first here; this one is {layer}:{name}"));
    }
}
