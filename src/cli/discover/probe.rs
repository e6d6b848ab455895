//! `discover --probe`: a host without documents is asked whether a server is there.

use smol::LocalExecutor;

use super::failure::nothing;
use crate::cli::contact::Contact;
use crate::cli::errors::Error;
use crate::cli::exit::Exit;
use crate::cli::lines::Lines;
use crate::cli::run::Run;
use crate::discovery::documents::{Miss, Tried};
use crate::discovery::{Findings, Place};
use crate::net::Address;
use crate::protocol::json;
use crate::protocol::jsonrpc::scan;
use crate::protocol::model::server;
use crate::protocol::params::Members;

/// Where servers usually are.
const ENDPOINTS: [&str; 2] = ["/mcp", "/"];

/// Asks the usual endpoints, one after the other, and lists the first server that answers.
pub(super) async fn run(
    run: &Run<'_>,
    host: &Address,
    found: &Findings,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    let mut tried = found.clone();
    for endpoint in ENDPOINTS {
        let url = host.join(endpoint).expect("a path is a URL on every host").to_string();
        let mut contact = Contact::find(run, &url, executor)?;
        let answer = match contact.settle().await {
            Ok(_) => contact.greeting().await,
            Err(error) => Err(error),
        };
        let signal = contact.close().await;
        if let Some(error) = run.over() {
            return Err(error);
        }
        match answer {
            Ok(greeting) => {
                show(run, &url, greeting.as_str())?;
                return Ok(signal.map_or(Exit::Ok, |signal| Exit::Signal(signal as u8)));
            }
            Err(_) => {
                let miss = Some(Miss::Other("no MCP server answers"));
                let url = format!("POST {url}");
                tried.tried.push(Tried { url, miss, is_stored: false });
            }
        }
    }
    Err(nothing(&host.host_and_port(), &Place::Host(host.clone()), &tried))
}

fn show(run: &Run<'_>, url: &str, greeting: &str) -> Result<(), Error> {
    let info = server::info(greeting).unwrap_or("{}");
    let text = |name| scan::member(info, name).and_then(scan::unescape).unwrap_or_default();
    let (name, version) = (text("name"), text("version"));
    let mut members = Members::new();
    members.push("name", &json::string(&name));
    members.push("version", &json::string(&version));
    members.push("url", &json::string(url));
    members.push("source", &json::string("probe"));
    let mut lines = Lines::new(run, &["NAME", "VERSION", "URL", "FOUND IN", "NOTES"]);
    lines.item(&members.finish(), || {
        let note = "the server itself said so".to_owned();
        vec![name.to_string(), version.to_string(), url.to_owned(), "probe".to_owned(), note]
    })?;
    lines.finish().map(drop)
}
