//! `mcpmini config show`: what is said about one server, and where each value comes from.

use super::list::{is_unapproved, reached};
use crate::cli::args::Format;
use crate::cli::errors::{Error, Phase};
use crate::cli::exit::Exit;
use crate::cli::explain;
use crate::cli::output;
use crate::cli::run::Run;
use crate::config::{self, Described, Overrides, Resolved, quoting};
use crate::protocol::json;
use crate::protocol::params::Members;

/// Shows one server, secrets masked. Values that cannot be used are shown with the others; they are
/// an error all the same.
pub(super) fn run(run: &Run<'_>, names: &[String]) -> Result<Exit, Error> {
    let [name] = names else {
        let error = Error::new(Exit::Usage, "config show takes the name of one server");
        return Err(error.phase(Phase::Usage).hint("mcpmini config show NAME"));
    };
    let overrides = super::file::only_file(run);
    let resolved = config::resolve(name, run.env, &overrides).map_err(explain::config)?;
    let unapproved = is_unapproved(run, &resolved, &overrides)?;
    let described = config::describe(&resolved, run.env, !unapproved);
    let whole = Whole { resolved: &resolved, unapproved, described: &described };
    let text = match run.settings.output {
        Format::Json => whole.json(run, &overrides) + "\n",
        _ => whole.text(run, &overrides),
    };
    output::write(run, text.as_bytes())?;
    match described.into_iter().find_map(|described| described.value.err()) {
        None => Ok(Exit::Ok),
        Some(error) => Err(explain::config(error)),
    }
}

struct Whole<'a> {
    resolved: &'a Resolved,
    unapproved: bool,
    described: &'a [Described],
}

impl Whole<'_> {
    /// The members of a definition that are no templates: the name, and what it is.
    fn facts(&self, run: &Run<'_>, overrides: &Overrides) -> Vec<(&'static str, String)> {
        let Resolved { name, origin, definition, .. } = self.resolved;
        let mut facts = vec![("name", name.clone())];
        if let (Some(layer), Some(path)) = (origin.layer(), origin.path()) {
            facts.push(("layer", layer.to_string()));
            facts.push(("path", path.to_string_lossy().into_owned()));
        }
        if let Some(layer) = config::hidden_by(self.resolved, run.env, overrides) {
            facts.push(("hides", format!("{layer}:{name}")));
        }
        facts.push(("type", reached(&definition.target).0.to_owned()));
        let limits =
            [("timeout", definition.timeout), ("startupTimeout", definition.start_timeout)];
        for (field, limit) in limits {
            facts.extend(limit.map(|limit| (field, limit.as_millis().to_string())));
        }
        facts.extend(definition.protocol.map(|revision| ("protocol", revision.date.to_owned())));
        facts.extend(definition.trust.map(|trust| ("trust", trust.word().to_owned())));
        facts
    }

    /// A line for each value, with tabs between: the field, the value, and what the file says when
    /// that is not the value itself.
    fn text(&self, run: &Run<'_>, overrides: &Overrides) -> String {
        let mut text = String::new();
        for (field, value) in self.facts(run, overrides) {
            text.push_str(&format!("{field}\t{}\n", quoting::printable(&value)));
        }
        if self.unapproved {
            text.push_str("approved\tno: nothing is looked up for it (mcpmini approve)\n");
        }
        for Described { field, value, said } in self.described {
            let value = match value {
                Ok(value) => value,
                Err(_) => "?",
            };
            let mut columns = vec![field.as_str(), value];
            columns.extend(said.as_deref().filter(|said| *said != value));
            let columns: Vec<_> = columns.into_iter().map(quoting::printable).collect();
            text.push_str(&format!("{}\n", columns.join("\t")));
        }
        text
    }

    fn json(&self, run: &Run<'_>, overrides: &Overrides) -> String {
        let mut members = Members::new();
        for (field, value) in self.facts(run, overrides) {
            let is_number = value.bytes().all(|byte| byte.is_ascii_digit()) && field != "name";
            members.push(field, &if is_number { value } else { json::string(&value) });
        }
        members.push("approved", if self.unapproved { "false" } else { "true" });
        let mut values = Members::new();
        for Described { field, value, said } in self.described {
            let mut described = Members::new();
            match value {
                Ok(value) => described.push("value", &json::string(value)),
                Err(error) => described.push("error", &json::string(&error.to_string())),
            }
            if let Some(said) = said {
                described.push("said", &json::string(said));
            }
            values.push(field, &described.finish());
        }
        members.push("values", &values.finish());
        members.finish()
    }
}
