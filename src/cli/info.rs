//! `mcpmini info`: what a server is and what it can do.

use std::time::{Duration, Instant};

use smol::LocalExecutor;

use super::args::Format;
use super::args::commands::Info;
use super::contact::Contact;
use super::discover::{self, Origin};
use super::errors::Error;
use super::exit::Exit;
use super::output::{self, cell};
use super::run::Run;
use crate::client::Link;
use crate::net::Steps;
use crate::protocol::json;
use crate::protocol::jsonrpc::scan;
use crate::protocol::model::server;
use crate::protocol::params::Members;
use crate::protocol::revision::Era;

/// Shows what a server says about itself.
pub(super) async fn run(
    run: &Run<'_>,
    info: &Info,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    let mut contact = Contact::find(run, &info.server, executor)?;
    let shown = show(run, &info.server, &mut contact).await;
    contact.finish(shown).await
}

async fn show(run: &Run<'_>, word: &str, contact: &mut Contact<'_>) -> Result<Exit, Error> {
    let begun = Instant::now();
    contact.settle().await?;
    let greeting = contact.greeting().await?;
    let opened = begun.elapsed();
    let Some(about) = contact.about() else {
        return Err(Error::new(Exit::Bug, "a session without a revision has answered"));
    };
    let greeting = greeting.as_str();
    let member = |name| scan::member(greeting, name);
    let origin = discover::origin(run, word, greeting, about.revision.date).await;
    let modern = about.revision.era == Era::Modern;
    let facts = Facts {
        server: &run.redaction.apply(&contact.server.name),
        revision: about.revision.date,
        era: if modern { "modern" } else { "legacy" },
        transport: match (contact.is_http(), contact.link.as_deref().is_some_and(Link::is_sse)) {
            (false, _) => "stdio",
            (true, false) => "http",
            (true, true) => "sse",
        },
        info: server::info(greeting),
        supported: member("supportedVersions"),
        capabilities: member("capabilities"),
        instructions: member("instructions"),
        opened,
        steps: contact.run.meter.steps(),
        origin: origin.as_ref(),
    };
    match run.settings.output {
        Format::Json => output::write_line(run, &facts.json())?,
        _ => output::write(run, facts.text().as_bytes())?,
    }
    if let Some(origin) = &origin {
        discover::heed(run, &origin.differing)?;
    }
    Ok(Exit::Ok)
}

/// What is known about a server. Options are JSON text as it came.
struct Facts<'a> {
    server: &'a str,
    revision: &'a str,
    era: &'a str,
    transport: &'a str,
    info: Option<&'a str>,
    supported: Option<&'a str>,
    capabilities: Option<&'a str>,
    instructions: Option<&'a str>,
    /// How long it took until the server had said what it is.
    opened: Duration,
    /// The parts of that which led to the server.
    steps: Steps,
    /// The card that the definition was made from.
    origin: Option<&'a Origin>,
}

impl Facts<'_> {
    /// What the time until now was spent with. What did not lead to the server went into asking it
    /// what it is, whether by `server/discover` or by `initialize`.
    fn timings(&self) -> impl Iterator<Item = (&'static str, Duration)> {
        let way = self.steps.made().map(|(_, took)| took).sum();
        self.steps.made().chain([("discover", self.opened.saturating_sub(way))])
    }

    fn json(&self) -> String {
        let mut members = Members::new();
        members.push("server", &json::string(self.server));
        members.push("protocolVersion", &json::string(self.revision));
        members.push("era", &json::string(self.era));
        members.push("transport", &json::string(self.transport));
        let texts = [
            ("serverInfo", self.info),
            ("supportedVersions", self.supported),
            ("capabilities", self.capabilities),
            ("instructions", self.instructions),
        ];
        for (name, text) in texts {
            if let Some(text) = text {
                members.push(name, text);
            }
        }
        members.push("openedMs", &milliseconds(self.opened));
        let mut timings = Members::new();
        for (step, took) in self.timings() {
            timings.push(&format!("{step}Ms"), &milliseconds(took));
        }
        members.push("timings", &timings.finish());
        if let Some(Origin { card, differing }) = self.origin {
            members.push("card", &json::string(card));
            members.push("differences", &discover::differences_json(differing));
        }
        members.finish()
    }

    fn text(&self) -> String {
        let string = |object: Option<&str>, name: &str| {
            let text = scan::unescape(scan::member(object?, name)?)?;
            Some(text.into_owned()).filter(|text| !text.is_empty())
        };
        let name = string(self.info, "name").unwrap_or_else(|| "(no name)".to_owned());
        let version = string(self.info, "version").unwrap_or_default();
        let mut text = format!("{}\n", format!("{name} {version}").trim_end());
        let mut row = |name: &str, value: &str| {
            if !value.is_empty() {
                text += &format!("{name:<13}{value}\n");
            }
        };
        row("title", &string(self.info, "title").unwrap_or_default());
        row("protocol", &format!("{} ({})", self.revision, self.era));
        row("transport", self.transport);
        let capabilities = scan::members(self.capabilities.unwrap_or("{}"));
        let names: Vec<_> = capabilities.map(|(name, _)| name.into_owned()).collect();
        row("can", &names.join(", "));
        let shown = |(step, took)| format!("{step} {} ms", milliseconds(took));
        let steps: Vec<_> = self.timings().map(shown).collect();
        row("opened in", &format!("{} ms ({})", milliseconds(self.opened), steps.join(", ")));
        if let Some(Origin { card, differing }) = self.origin {
            row("card", card);
            differing.iter().for_each(|it| row("differs", &cell(&it.to_string())));
        }
        let instructions = self.instructions.and_then(scan::unescape).unwrap_or_default();
        if !instructions.trim().is_empty() {
            text += &format!("\n{}\n", instructions.trim_end());
        }
        text
    }
}

fn milliseconds(took: Duration) -> String {
    format!("{:.3}", took.as_secs_f64() * 1e3)
}
