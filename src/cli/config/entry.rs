//! From the words of `mcpmini add` to what stands in the file.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use crate::cli::args::Globals;
use crate::cli::args::choices::{Protocol, Transport};
use crate::cli::duration::Limit;
use crate::cli::errors::Error;
use crate::cli::explain;
use crate::cli::run::Run;
use crate::config::{Changeable, ConfigError, Entry, Layer, Word, quoting};

/// What goes into the file.
pub(super) fn entry(
    run: &Run<'_>,
    name: &str,
    server: Option<&str>,
    file: &Changeable,
) -> Result<Entry, Error> {
    refuse_what_is_not_stored(run.globals)?;
    let mut entry = Entry::new();
    match (server, run.tail) {
        (None, []) => return Err(no_server()),
        (Some(_), [_, ..]) => {
            return Err(Error::usage("a server is a URL or a command after --, not both"));
        }
        (None, words) => add_command(run, name, words, file, &mut entry)?,
        (Some(word), []) => match address(word)? {
            Address::Url => add_url(run, name, word, file, &mut entry)?,
            Address::Command(words) => add_command(run, name, &words, file, &mut entry)?,
        },
    }
    timing(run.globals, &mut entry);
    Ok(entry)
}

/// The mistake of naming no server.
pub(super) fn no_server() -> Error {
    let error = Error::usage("add needs a server: a URL, or a command after --");
    error.hint("mcpmini add NAME URL, mcpmini add NAME -- COMMAND ARG..., or mcpmini add HOST")
}

/// What the options say about time and the revision.
pub(in crate::cli) fn timing(globals: &Globals, entry: &mut Entry) {
    for (field, limit) in [("timeout", globals.timeout), ("startupTimeout", globals.start_timeout)]
    {
        if let Some(limit) = limit {
            entry.insert(field.to_owned(), milliseconds(limit).into());
        }
    }
    if let Some(Protocol::Only(revision)) = globals.protocol {
        entry.insert("protocol".to_owned(), revision.date.into());
    }
}

/// Options that a definition has no field for. To leave them out silently would be a surprise at the
/// first call.
pub(in crate::cli) fn refuse_what_is_not_stored(globals: &Globals) -> Result<(), Error> {
    let given = [
        ("--bearer-file", globals.bearer_file.is_some()),
        ("--bearer-command", globals.bearer_command.is_some()),
        ("--header-file", globals.header_file.is_some()),
        ("--cacert", globals.cacert.is_some()),
        ("--cert", globals.cert.is_some()),
        ("--key", globals.key.is_some()),
        ("--insecure", globals.insecure),
        ("--proxy", globals.proxy.is_some()),
        ("--resolve", !globals.resolve.is_empty()),
        ("--http", globals.http.is_some()),
        ("--root", !globals.root.is_empty()),
        ("--meta", !globals.meta.is_empty()),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((flag, _)) => {
            let error = Error::usage(format!("{flag} cannot be stored in a configuration"));
            Err(error.hint("give it with each call"))
        }
    }
}

enum Address {
    Url,
    Command(Vec<String>),
}

/// What a word names. With references in it, it need not be a URL yet.
fn address(word: &str) -> Result<Address, Error> {
    let is_url = ["http://", "https://", "unix:"].iter().any(|scheme| word.starts_with(scheme));
    if is_url && word.contains("${") {
        return Ok(Address::Url);
    }
    match Word::parse(word).map_err(|error| explain::config(error.into()))? {
        Word::Url(_) | Word::Socket(_) => Ok(Address::Url),
        Word::Command(words) => Ok(Address::Command(words)),
        Word::Name { .. } | Word::Registry(_) => {
            let text = format!("{} is no URL", quoting::quote(word));
            Err(Error::usage(text)
                .hint("a command goes after --: mcpmini add NAME -- COMMAND ARG..."))
        }
    }
}

fn add_url(
    run: &Run<'_>,
    name: &str,
    url: &str,
    file: &Changeable,
    entry: &mut Entry,
) -> Result<(), Error> {
    let globals = run.globals;
    let unfit = [
        ("--env", !globals.env.is_empty()),
        ("--arg", !globals.arg.is_empty()),
        ("--cwd", globals.cwd.is_some()),
        ("--inherit-env", globals.inherit_env),
    ];
    refuse_unfit(&unfit, name, true)?;
    let kind = match globals.transport {
        Some(Transport::Sse) => Some("sse"),
        Some(Transport::Http) => Some("http"),
        Some(Transport::Stdio) => {
            return Err(Error::usage("a URL is not reached by --transport stdio"));
        }
        // Other programs that read a project's file take an entry without a type for a command.
        Some(Transport::Auto) | None if file.layer == Layer::Project => Some("http"),
        Some(Transport::Auto) | None => None,
    };
    if let Some(kind) = kind {
        entry.insert("type".to_owned(), kind.into());
    }
    entry.insert("url".to_owned(), url.into());
    let headers = globals.header.iter();
    let headers = headers.map(|header| (header.name.clone(), header.value.as_str().into()));
    insert_object(entry, "headers", headers.collect());
    Ok(())
}

fn add_command(
    run: &Run<'_>,
    name: &str,
    words: &[String],
    file: &Changeable,
    entry: &mut Entry,
) -> Result<(), Error> {
    let globals = run.globals;
    let is_http = matches!(globals.transport, Some(Transport::Http | Transport::Sse));
    let unfit = [("-H", !globals.header.is_empty()), ("--transport", is_http)];
    refuse_unfit(&unfit, name, false)?;
    let (command, args) = words.split_first().expect("a command has a word");
    refuse_document(run, command)?;
    entry.insert("command".to_owned(), program(run, command, file).into());
    let args: Vec<Value> = args.iter().chain(&globals.arg).cloned().map(Value::from).collect();
    if !args.is_empty() {
        entry.insert("args".to_owned(), args.into());
    }
    let variables = globals.env.iter();
    let variables =
        variables.map(|variable| (variable.name.clone(), variable.value.as_str().into()));
    insert_object(entry, "env", variables.collect());
    if let Some(cwd) = &globals.cwd {
        entry.insert("cwd".to_owned(), stored_path(run, cwd, file).into());
    }
    if globals.inherit_env {
        entry.insert("inheritEnv".to_owned(), true.into());
    }
    Ok(())
}

fn refuse_unfit(unfit: &[(&'static str, bool)], name: &str, for_stdio: bool) -> Result<(), Error> {
    match unfit.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((flag, _)) => {
            Err(explain::config(ConfigError::Misfit { flag, server: name.to_owned(), for_stdio }))
        }
    }
}

pub(in crate::cli) fn insert_object(entry: &mut Entry, field: &str, members: Entry) {
    if !members.is_empty() {
        entry.insert(field.to_owned(), members.into());
    }
}

/// Refuses a file that nobody can start. Most likely it is a card, which a server can be added from.
fn refuse_document(run: &Run<'_>, command: &str) -> Result<(), Error> {
    let path = run.env.absolute(Path::new(command));
    let file = path.metadata().ok().filter(|file| command.contains('/') && file.is_file());
    match file.is_some_and(|file| file.permissions().mode() & 0o111 == 0) {
        true => {
            let command = quoting::quote(command);
            let error = Error::usage(format!("{command} is a file that cannot be executed"));
            Err(error.hint(format!("if it is the card of a server: mcpmini add {command}")))
        }
        false => Ok(()),
    }
}

/// The program as it is found from any directory: a relative path is meant from this one.
fn program(run: &Run<'_>, command: &str, file: &Changeable) -> String {
    let is_path = command.contains('/') && !command.contains("${");
    match is_path && file.layer != Layer::Project {
        true => tidy(&run.env.absolute(Path::new(command))).to_string_lossy().into_owned(),
        false => command.to_owned(),
    }
}

/// A path as it is stored: relative to the project, so that it fits where others have it, or else
/// absolute.
fn stored_path(run: &Run<'_>, path: &Path, file: &Changeable) -> String {
    if path.to_string_lossy().contains("${") {
        return path.to_string_lossy().into_owned();
    }
    let absolute = tidy(&run.env.absolute(path));
    let project = file.path.parent().filter(|_| file.layer == Layer::Project);
    let inside = project.and_then(|project| absolute.strip_prefix(project).ok());
    match inside {
        Some(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
        Some(inside) => inside.to_string_lossy().into_owned(),
        None => absolute.to_string_lossy().into_owned(),
    }
}

/// A path without `.` in it.
fn tidy(path: &Path) -> PathBuf {
    path.components().collect()
}

fn milliseconds(limit: Limit) -> u64 {
    let duration = limit.duration().unwrap_or(Duration::ZERO);
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
