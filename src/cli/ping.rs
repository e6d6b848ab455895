//! `mcpmini ping`: whether a server answers, and how fast.

use std::time::Instant;

use smol::LocalExecutor;

use super::args::Format;
use super::args::commands::Ping;
use super::contact::Contact;
use super::errors::Error;
use super::exit::Exit;
use super::output;
use super::run::Run;
use crate::protocol::method;
use crate::protocol::params::Params;
use crate::protocol::revision::Era;

/// Makes one round trip and prints how long it took, in milliseconds.
pub(super) async fn run(
    run: &Run<'_>,
    ping: &Ping,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    let mut contact = Contact::find(run, &ping.server, executor)?;
    let answered = round_trip(run, &mut contact).await;
    contact.finish(answered).await
}

async fn round_trip(run: &Run<'_>, contact: &mut Contact<'_>) -> Result<Exit, Error> {
    // Opening the session is not part of the round trip.
    let revision = contact.warm_up().await?;
    // The modern era has no `ping`: every server must answer `server/discover`.
    let modern = revision.era == Era::Modern;
    let method = if modern { method::DISCOVER } else { method::PING };
    let begun = Instant::now();
    contact.request(method, Params::new(), Vec::new()).await?;
    let milliseconds = begun.elapsed().as_secs_f64() * 1000.0;
    let text = match run.settings.output {
        Format::Json => format!("{{\"ms\":{milliseconds:.3}}}\n"),
        _ => format!("{milliseconds:.3}\n"),
    };
    output::write(run, text.as_bytes())?;
    Ok(Exit::Ok)
}
