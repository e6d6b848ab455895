//! Sharing the session that the environment names.

use std::os::unix::fs::MetadataExt;

use crate::cli::consent::Consent;
use crate::cli::errors::{Error, Phase};
use crate::cli::exit::Exit;
use crate::cli::run::Run;
use crate::protocol::message::Sent;
use crate::protocol::relay::Opening;
use crate::protocol::session::Abilities;
use crate::transport::shared;

/// The variable that tells the command where the session is.
pub(in crate::cli) const VARIABLE: &str = "MCPMINI_SESSION";

/// Where the session is that a server is to be shared in; `None` when there is none. It must be what
/// it is here, there too.
pub(in crate::cli) fn target(
    run: &Run<'_>,
    server: &str,
    consent: &Consent<'_>,
    abilities: Abilities,
) -> Result<Option<shared::Target>, Error> {
    // A session within a session has servers of its own.
    let socket = run.settings.session.clone().filter(|_| !run.command().is_relay());
    let Some(socket) = socket else { return Ok(None) };
    check_options(run)?;
    if let Ok(metadata) = socket.metadata()
        && metadata.uid() != run.env.user
    {
        let text = format!("the session in {VARIABLE} belongs to somebody else");
        return Err(Error::new(Exit::Trust, text).phase(Phase::Trust).sent(Sent::No));
    }
    let trace = run.trace(server);
    let opening = Opening {
        server: server.to_owned(),
        identity: consent.identity().to_string(),
        as_defined: consent.is_strict(),
        abilities,
    };
    Ok(Some(shared::Target { socket, opening, trace }))
}

/// Refuses options that come too late: the server has been opened without them.
fn check_options(run: &Run<'_>) -> Result<(), Error> {
    let globals = run.globals;
    let late = [
        ("--env", !globals.env.is_empty()),
        ("--inherit-env", globals.inherit_env),
        ("--cwd", globals.cwd.is_some()),
        ("--arg", !globals.arg.is_empty()),
        ("--stderr", globals.stderr.is_some()),
        ("--header", !globals.header.is_empty()),
        ("--header-file", globals.header_file.is_some()),
        ("--bearer-file", globals.bearer_file.is_some()),
        ("--bearer-command", globals.bearer_command.is_some()),
        ("--cacert", globals.cacert.is_some()),
        ("--cert", globals.cert.is_some()),
        ("--insecure", globals.insecure),
        ("--proxy", globals.proxy.is_some()),
        ("--resolve", !globals.resolve.is_empty()),
        ("--http", globals.http.is_some()),
        ("--no-delete", globals.no_delete),
        ("--protocol", globals.protocol.is_some()),
        ("--transport", globals.transport.is_some()),
    ];
    let late = late.iter().filter(|(_, given)| *given).map(|(flag, _)| *flag);
    let Some(flag) = late.chain(run.access.for_network()).next() else { return Ok(()) };
    let text = format!("{flag} has no effect in a session: the server is open already");
    Err(Error::usage(text)
        .hint(format!("give it to `mcpmini session`, or call apart from it: {VARIABLE}=")))
}
