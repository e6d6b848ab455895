//! `mcpmini config list`: every server, and the file it is from.

use super::file::only_file;
use crate::cli::args::Format;
use crate::cli::errors::{Error, Phase};
use crate::cli::exit::Exit;
use crate::cli::explain;
use crate::cli::output;
use crate::cli::run::Run;
use crate::config::{self, Binding, ConfigError, Listed, Overrides, Target, quoting};
use crate::protocol::json;
use crate::protocol::mask;
use crate::protocol::params::Members;
use crate::trust::approvals;

/// Lists the servers of every file, in the order in which they count.
pub(super) fn run(run: &Run<'_>) -> Result<Exit, Error> {
    let overrides = only_file(run);
    let (listed, faults) = config::list(run.env, &overrides);
    let mut text = String::new();
    for server in &listed {
        let row = Row::of(run, server, &listed, &overrides)?;
        match run.settings.output {
            Format::Json => text.push_str(&row.json(server)),
            _ => text.push_str(&row.text(server)),
        }
        text.push('\n');
    }
    output::write(run, text.as_bytes())?;
    report_faults(run, faults)
}

/// How a list ends that lacks the servers of files that cannot be read: half a list must not look
/// like a whole one. The last fault is returned, those before it are told.
pub(in crate::cli) fn report_faults(
    run: &Run<'_>,
    faults: Vec<ConfigError>,
) -> Result<Exit, Error> {
    let mut faults = faults.into_iter().map(explain::config);
    match faults.next_back() {
        None => Ok(Exit::Ok),
        Some(last) => {
            faults.for_each(|fault| run.report(&fault));
            Err(last)
        }
    }
}

/// What a list says about a server.
struct Row {
    state: State,
    /// `stdio`, `http` or `sse`; `None` when that is not known.
    kind: Option<&'static str>,
    /// The command line or the URL, or what is wrong.
    target: String,
}

/// Whether a server can be used.
enum State {
    Ready,
    Hidden(config::Layer),
    Disabled,
    Unapproved,
    Invalid,
}

impl Row {
    fn of(
        run: &Run<'_>,
        server: &Listed,
        all: &[Listed],
        overrides: &Overrides,
    ) -> Result<Row, Error> {
        let first = all.iter().find(|first| first.name == server.name);
        let hides = first.map(|first| first.layer).filter(|_| server.hidden);
        let resolved = match &server.resolved {
            Ok(resolved) => resolved,
            Err(error) => {
                let state = match error {
                    ConfigError::Disabled { .. } => State::Disabled,
                    _ => State::Invalid,
                };
                let target = match state {
                    State::Disabled => String::new(),
                    _ => error.to_string(),
                };
                return Ok(Row { state, kind: None, target });
            }
        };
        let state = match hides {
            Some(layer) => State::Hidden(layer),
            None if is_unapproved(run, resolved, overrides)? => State::Unapproved,
            None => State::Ready,
        };
        let (kind, target) = reached(&resolved.definition.target);
        Ok(Row { state, kind: Some(kind), target })
    }

    fn text(&self, server: &Listed) -> String {
        let state = match &self.state {
            State::Hidden(layer) => format!("hidden by {layer}"),
            state => state.word().to_owned(),
        };
        let layer = server.layer.to_string();
        let columns = [&server.name, &layer, &state, &self.target];
        columns.map(|column| quoting::printable(column)).join("\t")
    }

    fn json(&self, server: &Listed) -> String {
        let mut members = Members::new();
        members.push("name", &json::string(&server.name));
        members.push("layer", &json::string(&server.layer.to_string()));
        members.push("path", &json::string(&server.path.to_string_lossy()));
        members.push("state", &json::string(self.state.word()));
        if let State::Hidden(layer) = &self.state {
            members.push("hiddenBy", &json::string(&layer.to_string()));
        }
        if let Some(kind) = self.kind {
            members.push("type", &json::string(kind));
        }
        let target = if matches!(self.state, State::Invalid) { "error" } else { "target" };
        members.push(target, &json::string(&self.target));
        members.finish()
    }
}

impl State {
    fn word(&self) -> &'static str {
        match self {
            State::Ready => "ready",
            State::Hidden(_) => "hidden",
            State::Disabled => "disabled",
            State::Unapproved => "unapproved",
            State::Invalid => "invalid",
        }
    }
}

/// Whether a definition must be approved before it is used.
pub(super) fn is_unapproved(
    run: &Run<'_>,
    resolved: &config::Resolved,
    overrides: &Overrides,
) -> Result<bool, Error> {
    let unapproved = approvals::unapproved(resolved, run.env, overrides);
    let unapproved = unapproved.map_err(|error| explain::trust(error).phase(Phase::Trust))?;
    Ok(unapproved.is_some())
}

/// How a server is reached: in a word, and in full as the file says it.
pub(in crate::cli) fn reached(target: &Target) -> (&'static str, String) {
    match target {
        Target::Stdio(target) => {
            let words = [&target.command].into_iter().chain(&target.args);
            let words = mask::command(words.map(String::as_str));
            ("stdio", quoting::join(words.iter().map(|word| &**word)))
        }
        Target::Http(target) => {
            let kind = if target.binding == Binding::Sse { "sse" } else { "http" };
            (kind, mask::url(&target.url).into_owned())
        }
    }
}
