//! `--dry-run`: what a command would send. Nothing is started and nobody is contacted.

use std::borrow::Cow;
use std::fmt::Write;
use std::time::SystemTime;

use super::args::Format;
use super::args::settings::Cache;
use super::catalog::Catalog;
use super::contact::Contact;
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::output;
use crate::client::Server;
use crate::config::{self, Described, quoting};
use crate::protocol::Outgoing;
use crate::protocol::mask::{self, Author};
use crate::protocol::message::{Delivery, Sent};
use crate::protocol::model::tool::Tool;
use crate::protocol::opening::Certainty;
use crate::protocol::params::Params;
use crate::protocol::revision::{Era, Revision};
use crate::protocol::trace::{Direction, Record};
use crate::transport::{http, stdio};

/// The tool as far as it is stored from an earlier run.
pub(super) fn stored_tool(
    contact: &Contact<'_>,
    name: &str,
    is_needed: bool,
) -> Result<Option<Tool>, Error> {
    if let Some(catalog) = Catalog::stored(contact) {
        return catalog.require(name, contact).cloned().map(Some);
    }
    if is_needed {
        let text = format!(
            "the schema of the tool \"{name}\" is not stored, and a dry run does not ask for it"
        );
        let error = Error::new(Exit::Usage, text).phase(Phase::Usage).sent(Sent::No);
        let error = error.server(contact.server.name.clone());
        let tools = format!("run `mcpmini tools {}` first", quoting::quote(&contact.server.name));
        let first = match () {
            () if contact.run.settings.cache == Cache::Off => {
                "leave out --no-cache (or MCPMINI_CACHE=off)".to_owned()
            }
            // Another server, or what it shows to somebody else, is stored apart.
            () if contact.is_varied() => {
                format!("{tools}, with the same options and token")
            }
            () => tools,
        };
        return Err(error
            .hint(format!("{first}, write KEY:=JSON, or treat values as text with --no-schema")));
    }
    let mirrors = contact.known_revision().is_none_or(|revision| revision.mirrored_headers);
    if contact.is_http() && mirrors {
        contact.run.warn(
            "the tool's schema is not stored, so headers that mirror arguments (Mcp-Param-…) are \
             not shown",
        );
    }
    Ok(None)
}

/// Prints what would go out for a request.
pub(super) fn show(
    contact: &Contact<'_>,
    method: &str,
    params: Params,
    mirrored: Vec<(String, String)>,
) -> Result<Exit, Error> {
    if contact.certainty() == Certainty::Unknown {
        let newest = Revision::newest(Era::Modern).date;
        contact.run.warn(&format!(
            "it is not known which revision the server speaks: it would be asked first \
             (server/discover), and what follows is shown for {newest} (see --protocol)"
        ));
    }
    let target = contact.target()?;
    // It knows of a token from an earlier login, and adds it to the target.
    let authorizer = contact.loaded_authorizer(&target)?;
    let outgoing = contact.rehearse(method, params, mirrored, authorizer.as_deref());
    let text = match target {
        Server::Stdio(target) => {
            let line = quoting::join(words(contact, &target).iter().map(String::as_str));
            contact.run.remark(&format!("would start {line}"));
            messages(contact, &outgoing)
        }
        // What goes to a session that is open is passed on by it.
        Server::Shared(_) => messages(contact, &outgoing),
        Server::Http(target) => requests(contact, &target, &outgoing, false)?,
        Server::Sse(target) => {
            contact.run.warn(
                "with --transport sse messages go to the endpoint that the server names, which is \
                 not known yet",
            );
            requests(contact, &target, &outgoing, true)?
        }
    };
    output::write(contact.run, text.as_bytes())?;
    Ok(Exit::Ok)
}

/// The words that start a server, without the secrets that they have or refer to.
fn words(contact: &Contact<'_>, target: &stdio::Target) -> Vec<String> {
    let words = [&target.program].into_iter().chain(&target.args);
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    let masked = mask::command(words.iter().map(|word| &**word));
    let described = config::describe(&contact.watcher.consent.resolved, contact.run.env, true);
    let is_word = |it: &Described| it.field == "command" || it.field.starts_with("args[");
    // Those of --arg follow, which are in no definition.
    let mut described = described.into_iter().filter(is_word);
    let shown = |word: Cow<'_, str>| match described.next() {
        Some(Described { value: Ok(shown), .. }) => shown,
        _ => word.into_owned(),
    };
    masked.into_iter().map(shown).collect()
}

/// The messages, each on a line.
fn messages(contact: &Contact<'_>, outgoing: &[Outgoing]) -> String {
    let deliveries = outgoing.iter().filter_map(|outgoing| match outgoing {
        Outgoing::Deliver(delivery) => Some(delivery),
        Outgoing::Cancel { .. } | Outgoing::Listen(_) => None,
    });
    let line = |Delivery { body, .. }: &Delivery| match contact.run.settings.output {
        Format::Json => trace_line(contact, &Record::Frame(Direction::Out, body.as_bytes())),
        _ => format!("{body}\n"),
    };
    deliveries.map(line).collect()
}

/// The HTTP requests that carry the messages.
fn requests(
    contact: &Contact<'_>,
    target: &http::Target,
    outgoing: &[Outgoing],
    sse: bool,
) -> Result<String, Error> {
    let previews = http::preview(target, outgoing, sse).map_err(|impossible| {
        let text = match impossible {
            http::Impossible::Settings(error) => error.to_string(),
            http::Impossible::Header(error) => error.to_string(),
        };
        Error::new(Exit::Config, text).phase(Phase::Config).sent(Sent::No)
    })?;
    let show = |record: &Record<'_>| match contact.run.settings.output {
        Format::Json => trace_line(contact, record),
        _ => request_text(record),
    };
    Ok(previews.iter().map(|preview| preview.show(show)).collect())
}

/// The line that a trace would have.
fn trace_line(contact: &Contact<'_>, record: &Record<'_>) -> String {
    let now = contact.run.env.now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    record.line(now, &contact.server.name, &|text| contact.run.redaction.apply(text))
}

/// A request as people know it: method and URL, header fields, an empty line, the body.
fn request_text(record: &Record<'_>) -> String {
    let Record::Request { method, url, headers, body } = *record else { return String::new() };
    let mut text = format!("{method} {}\n", mask::url(url));
    for (name, value) in headers {
        let value = mask::field(name, value, Author::Client);
        // Writing to a string does not fail.
        let _ = writeln!(text, "{}: {value}", title_case(name));
    }
    text.push('\n');
    if let Some(body) = body {
        text.push_str(&String::from_utf8_lossy(body));
        text.push_str("\n\n");
    }
    text
}

/// `mcp-protocol-version` as it goes out by HTTP/1.1: `Mcp-Protocol-Version`.
fn title_case(name: &str) -> String {
    let mut begins = true;
    let letters = name.chars().map(|letter| {
        let shown = if begins { letter.to_ascii_uppercase() } else { letter };
        begins = letter == '-';
        shown
    });
    letters.collect()
}
