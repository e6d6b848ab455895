//! The file that is changed: which one is meant, and what goes into it.

use serde_json::Value;

use crate::cli::args::Format;
use crate::cli::args::config_commands::Add;
use crate::cli::consent;
use crate::cli::errors::Error;
use crate::cli::explain;
use crate::cli::policy;
use crate::cli::run::Run;
use crate::config::{self, Changeable, Entry, Layer, Overrides};
use crate::protocol::json;
use crate::protocol::mask;
use crate::protocol::params::Members;
use crate::protocol::visible::{is_hidden, visible};
use crate::trust::approvals;

/// Which file is meant, and no more: what else the command line says goes into it.
pub(in crate::cli) fn only_file(run: &Run<'_>) -> Overrides {
    Overrides { config: run.settings.config.clone(), ..Overrides::default() }
}

/// The file to change.
pub(in crate::cli) fn find(
    run: &Run<'_>,
    project: bool,
    overrides: &Overrides,
) -> Result<Changeable, Error> {
    let file = Changeable::find(project, run.env, overrides).map_err(explain::config)?;
    if project && file.layer != Layer::Project {
        return Err(Error::usage("--project and --config exclude each other"));
    }
    Ok(file)
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
            return Err(Error::usage(format!("{field} hides something: {}", visible(text))));
        }
    }
    Ok(())
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

/// Says which secrets are in the file now.
fn warn_of_secrets(run: &Run<'_>, file: &Changeable) {
    let headers = run.globals.header.iter().map(|header| (&header.name, header.value.as_str()));
    let variables = run.globals.env.iter().map(|it| (&it.name, it.value.as_str()));
    let path = file.path.display();
    let is_telling = |name: &str, value| mask::is_secret(name) || mask::looks_secret(value);
    for (name, value) in headers.chain(variables) {
        let is_reference = value.contains("${") || value.starts_with('!');
        if !is_reference && !value.is_empty() && is_telling(name, value) {
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
