//! `mcpmini config import`: the servers that other programs have.

use super::file::{self, only_file};
use crate::cli::args::Format;
use crate::cli::args::config_commands::Config;
use crate::cli::consent;
use crate::cli::errors::{Error, Phase};
use crate::cli::exit::Exit;
use crate::cli::explain;
use crate::cli::output;
use crate::cli::policy;
use crate::cli::run::Run;
use crate::config::{self, ConfigError, Entry, Found, Imported, Kind, quoting};
use crate::protocol::json;
use crate::protocol::message::Sent;
use crate::protocol::params::Members;
use crate::protocol::similar::closest;

/// Shows the servers of another program, or copies them into the user's configuration.
pub(super) fn run(run: &Run<'_>, config: &Config) -> Result<Exit, Error> {
    let (kind, names) = kind(config)?;
    let found = config::import(kind, config.from.as_deref(), run.env);
    if found.files.is_empty() && found.faults.is_empty() {
        return Err(nothing(&found));
    }
    if found.servers.is_empty() && found.faults.is_empty() {
        let files: Vec<_> = found.files.iter().map(|path| path.display().to_string()).collect();
        run.warn(&format!("there are no servers in {}", files.join(", ")));
    }
    let chosen = choose(&found, names)?;
    let done = match config.copy {
        true => copy(run, config, &chosen, !names.is_empty())?,
        false => show(run, &chosen)?,
    };
    let has_faults = !found.faults.is_empty();
    found.faults.into_iter().for_each(|fault| run.report(&explain::config(fault)));
    Ok(if has_faults { Exit::Config } else { done })
}

/// The error when the program has no file.
fn nothing(found: &Found) -> Error {
    let looked: Vec<_> = found.missing.iter().map(|path| path.display().to_string()).collect();
    let error = failure("there is no configuration of that program".to_owned());
    if let Some(path) = &found.in_project {
        let path = quoting::quote(&path.to_string_lossy());
        return error.hint(format!(
            "this project has one, which is not read unless it is named: --from {path}"
        ));
    }
    match looked.is_empty() {
        true => error.hint("HOME is not set to a directory; --from FILE names the file"),
        false => error.hint(format!("looked for {}; see --from", looked.join(", "))),
    }
}

fn kind(config: &Config) -> Result<(Kind, &[String]), Error> {
    let known = || Kind::ALL.iter().map(|(_, word)| *word);
    let list = || known().collect::<Vec<_>>().join(", ");
    let Some((word, names)) = config.names.split_first() else {
        return Err(Error::usage(format!("config import needs a KIND: {}", list())));
    };
    match Kind::named(word) {
        Some(kind) => Ok((kind, names)),
        None => {
            let error = Error::usage(format!("{word:?} is none of {}", list()));
            Err(match closest(word, known()) {
                Some(nearest) => error.hint(format!("did you mean {nearest}?")),
                None => error,
            })
        }
    }
}

fn failure(text: String) -> Error {
    Error::new(Exit::Config, text).phase(Phase::Config).sent(Sent::No)
}

/// The servers that are wanted: those that are named, or else all.
fn choose<'f>(found: &'f Found, names: &[String]) -> Result<Vec<&'f Imported>, Error> {
    if names.is_empty() {
        return Ok(found.servers.iter().collect());
    }
    let named = |name: &String| {
        let server = found.servers.iter().find(|server| server.name == *name);
        server.ok_or_else(|| {
            let error = failure(format!("there is no server {}", quoting::quote(name)));
            let known = found.servers.iter().map(|server| server.name.as_str());
            match closest(name, known) {
                Some(nearest) => error.hint(format!("did you mean {nearest}?")),
                None => error,
            }
        })
    };
    names.iter().map(named).collect()
}

fn show(run: &Run<'_>, servers: &[&Imported]) -> Result<Exit, Error> {
    let line = |server: &&Imported| match run.settings.output {
        Format::Json => json_line(server) + "\n",
        _ => text_line(server) + "\n",
    };
    output::write(run, servers.iter().map(line).collect::<String>().as_bytes())?;
    if run.env.terminals.stdout && !servers.is_empty() {
        run.say_foreign("mcpmini: nothing was added to your configuration yet: see --copy\n");
    }
    Ok(Exit::Ok)
}

/// Name, how it is reached or why it cannot be imported, and what one should know.
fn text_line(server: &Imported) -> String {
    let target = match &server.entry {
        Ok(entry) => target(&config::masked(entry)),
        Err(refusal) => format!("cannot be imported: {refusal}"),
    };
    let notes: Vec<_> = server.notes.iter().map(ToString::to_string).collect();
    let columns = [server.name.clone(), target, notes.join("; ")];
    columns.map(|column| quoting::printable(&column)).join("\t").trim_end().to_owned()
}

fn target(entry: &Entry) -> String {
    let text = |name: &str| entry.get(name)?.as_str();
    if let Some(url) = text("url") {
        return url.to_owned();
    }
    let args = entry.get("args").and_then(|args| args.as_array()).into_iter().flatten();
    let words = text("command").into_iter().chain(args.filter_map(|word| word.as_str()));
    quoting::join(words)
}

fn json_line(server: &Imported) -> String {
    let mut members = Members::new();
    members.push("name", &json::string(&server.name));
    members.push("path", &json::string(&server.path.to_string_lossy()));
    match &server.entry {
        Ok(entry) => {
            let entry = serde_json::to_string(&config::masked(entry));
            members.push("entry", &entry.expect("a JSON value always serializes"));
        }
        Err(refusal) => members.push("error", &json::string(&refusal.to_string())),
    }
    let notes: Vec<_> = server.notes.iter().map(|note| json::string(&note.to_string())).collect();
    members.push("notes", &format!("[{}]", notes.join(",")));
    members.finish()
}

/// Adds servers to the user's configuration. One that cannot be added does not keep the others out.
fn copy(
    run: &Run<'_>,
    config: &Config,
    servers: &[&Imported],
    are_named: bool,
) -> Result<Exit, Error> {
    let overrides = only_file(run);
    let file = file::find(run, false, &overrides)?;
    let (mut done, mut lines) = (Exit::Ok, String::new());
    for server in servers {
        let name = quoting::quote(&server.name);
        let entry = match &server.entry {
            Ok(entry) => entry,
            Err(refusal) => {
                run.report(&failure(format!("{name} cannot be imported: {refusal}")));
                done = Exit::Config;
                continue;
            }
        };
        if let Err(error) = policy::admit_entry(run, &server.name, entry) {
            run.report(&error);
            done = error.exit;
            continue;
        }
        match file.add(&server.name, entry, config.force, run.env) {
            Ok(()) => {
                consent::forget(run, file.layer, &server.name, &overrides);
                lines.push_str(&file::line(run, "added", &server.name, &file));
                for note in &server.notes {
                    run.warn(&format!("{name}: {}", quoting::printable(&note.to_string())));
                }
            }
            // Who wants all of them wants those that are missing.
            Err(error @ ConfigError::Exists { .. }) if !are_named => run.warn(&error.to_string()),
            Err(error) => {
                run.report(&explain::config(error));
                done = Exit::Config;
            }
        }
    }
    output::write(run, lines.as_bytes())?;
    Ok(done)
}
