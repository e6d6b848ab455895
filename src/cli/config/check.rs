//! `mcpmini config check`: everything that is wrong with the configuration.

use super::file::only_file;
use super::list::is_unapproved;
use crate::cli::args::Format;
use crate::cli::errors::{Error, Phase};
use crate::cli::exit::Exit;
use crate::cli::output;
use crate::cli::run::Run;
use crate::config::{self, Finding, Severity, quoting};
use crate::protocol::json;
use crate::protocol::message::Sent;
use crate::protocol::params::Members;

/// Prints a line for everything that is wrong, in the form that editors and other programs know:
/// file, line, column, text. What is no mistake for certain changes nothing about the exit code.
pub(super) fn run(run: &Run<'_>) -> Result<Exit, Error> {
    let overrides = only_file(run);
    // Where approvals cannot be read, nothing counts as approved.
    let is_approved = |resolved: &_| is_unapproved(run, resolved, &overrides).is_ok_and(|no| !no);
    let checked = config::check(run.env, &overrides, &is_approved);
    let lines = checked.findings.iter().map(|finding| line(run, finding) + "\n");
    output::write(run, lines.collect::<String>().as_bytes())?;
    for name in &checked.unapproved {
        let name = quoting::printable(name);
        run.warn(&format!("\"{name}\" is not approved, so its values were not looked up"));
    }
    let (servers, files) = (checked.servers, checked.files.len());
    run.remark(&format!("looked at {servers} servers in {files} files"));
    let is_error = |finding: &&Finding| finding.severity() == Severity::Error;
    match checked.findings.iter().filter(is_error).count() {
        0 => Ok(Exit::Ok),
        count => {
            let errors = if count == 1 { "error" } else { "errors" };
            let text = format!("the configuration has {count} {errors}");
            Err(Error::new(Exit::Config, text).phase(Phase::Config).sent(Sent::No))
        }
    }
}

fn line(run: &Run<'_>, finding: &Finding) -> String {
    if run.settings.output != Format::Json {
        let severity = match finding.severity() {
            Severity::Error => String::new(),
            severity => format!("{}: ", severity.word()),
        };
        return match &finding.place {
            Some(place) => format!("{place}: {severity}{}", finding.text()),
            None => finding.text(),
        };
    }
    let mut members = Members::new();
    if let Some(place) = &finding.place {
        members.push("path", &json::string(&place.path.to_string_lossy()));
        members.push("line", &place.line.to_string());
        members.push("column", &place.column.to_string());
    }
    if let Some(server) = &finding.server {
        members.push("server", &json::string(server));
    }
    members.push(finding.severity().word(), &json::string(&finding.text()));
    members.finish()
}
