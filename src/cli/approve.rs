//! `mcpmini approve`: what a project's configuration may start.

use super::args::Format;
use super::args::commands::Approve;
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::explain;
use super::output;
use super::run::Run;
use super::target::overrides;
use crate::protocol::json;
use crate::protocol::params::Members;
use crate::trust::{Effect, Unapproved, approvals};

/// Lists what waits for approval, or approves one server of the project.
pub(super) fn run(run: &Run<'_>, approve: &Approve) -> Result<Exit, Error> {
    let overrides = overrides(run)?;
    let pending = approvals::pending(run.env, &overrides).map_err(explain::trust)?;
    let Some(name) = &approve.name else {
        if approve.accept.is_some() {
            let text = "--accept needs the NAME of the server";
            return Err(Error::new(Exit::Usage, text).phase(Phase::Usage));
        }
        let text: String = pending.iter().map(|waiting| line(run, waiting) + "\n").collect();
        output::write(run, text.as_bytes())?;
        return Ok(Exit::Ok);
    };
    let name = name.strip_prefix("project:").unwrap_or(name);
    let Some(waiting) = pending.iter().find(|waiting| waiting.name == name) else {
        // An unknown name is a mistake; one that is approved already is not.
        let resolved =
            crate::config::resolve(name, run.env, &overrides).map_err(explain::config)?;
        run.remark(&format!("{} needs no approval", resolved.name));
        return Ok(Exit::Ok);
    };
    let at_terminal = run.env.terminals.stdin && run.env.terminals.stderr;
    if at_terminal && approve.accept.is_none() {
        run.warn(&format!("approving: {name} {}", waiting.effect));
    }
    approvals::approve(waiting, approve.accept.as_deref(), at_terminal, run.env)
        .map_err(explain::approval)?;
    Ok(Exit::Ok)
}

fn line(run: &Run<'_>, waiting: &Unapproved) -> String {
    if run.settings.output != Format::Json {
        return waiting.to_string();
    }
    let mut members = Members::new();
    members.push("name", &json::string(&waiting.name));
    members.push("path", &json::string(&waiting.path.to_string_lossy()));
    members.push("effect", &json::string(&waiting.effect.to_string()));
    let (field, values) = match &waiting.effect {
        Effect::Runs { env, .. } => ("env", env),
        Effect::Contacts { headers, .. } => ("headers", headers),
    };
    let mut set = Members::new();
    values.iter().for_each(|(name, value)| set.push(name, &json::string(value)));
    members.push(field, &set.finish());
    if let Effect::Contacts { oauth, .. } = &waiting.effect
        && !oauth.is_empty()
    {
        let mut said = Members::new();
        oauth.iter().for_each(|(name, value)| said.push(name, &json::string(value)));
        members.push("oauth", &said.finish());
    }
    members.push("sha256", &json::string(&waiting.digest.to_string()));
    members.finish()
}
