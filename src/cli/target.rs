//! From options and configuration to what a transport needs.

use std::path::{Path, PathBuf};

use super::args::choices::{Http, ServerStderr, Transport};
use super::credentials;
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::run::Run;
use crate::client::Server;
use crate::config::{self, Binding, Endpoint, HttpEndpoint, Overrides, StdioEndpoint};
use crate::env::Secret;
use crate::net;
use crate::protocol::message::Sent;
use crate::transport::{http, stdio};
use crate::trust::policy::Way;

/// The server, and how it is reached. `token` is the one that was given for it.
pub(super) fn server(
    run: &Run<'_>,
    server: &config::Server,
    token: Option<&Secret>,
) -> Result<Server, Error> {
    match &server.endpoint {
        Endpoint::Stdio(endpoint) => Ok(Server::Stdio(stdio(run, &server.name, endpoint))),
        Endpoint::Http(endpoint) => {
            let target = http(run, &server.name, endpoint, token)?;
            Ok(match endpoint.binding {
                Binding::Sse => Server::Sse(target),
                Binding::Auto | Binding::Http => Server::Http(target),
            })
        }
    }
}

/// The process to start.
fn stdio(run: &Run<'_>, server: &str, endpoint: &StdioEndpoint) -> stdio::Target {
    let variables = endpoint.environment.iter();
    stdio::Target {
        program: endpoint.program.clone(),
        args: endpoint.args.iter().map(Into::into).collect(),
        env: variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        // Where we are it is anyway.
        cwd: endpoint.cwd.clone().filter(|cwd| Some(cwd) != run.env.cwd.as_ref()),
        stderr: match &run.globals.stderr {
            None if 1 < run.globals.verbose => {
                stdio::StderrPolicy::Inherit(run.redaction.secrets())
            }
            None | Some(ServerStderr::Tail) => stdio::StderrPolicy::Tail,
            Some(ServerStderr::Quiet) => stdio::StderrPolicy::Quiet,
            Some(ServerStderr::Inherit) => stdio::StderrPolicy::Inherit(run.redaction.secrets()),
            Some(ServerStderr::File(path)) => {
                stdio::StderrPolicy::File(run.env.absolute(path), run.redaction.secrets())
            }
        },
        patience: stdio::Patience {
            after_close: run.settings.shutdown_timeout,
            ..stdio::Patience::default()
        },
        trace: run.trace(server),
        meter: run.meter.clone(),
    }
}

/// The endpoint to reach.
fn http(
    run: &Run<'_>,
    name: &str,
    endpoint: &HttpEndpoint,
    token: Option<&Secret>,
) -> Result<http::Target, Error> {
    let globals = run.globals;
    let config = |text: String| Error::new(Exit::Config, text).phase(Phase::Config);
    let address = net::Address::parse(&endpoint.url).map_err(|error| config(error.to_string()))?;
    let mut settings = network(run, name)?;
    for (name, value) in &endpoint.headers {
        let added = settings.headers.add(name, value.expose());
        added.map_err(|error| config(error.to_string()))?;
    }
    if let Some(token) = token {
        let set = settings.authorization.set_bearer(token.expose());
        set.map_err(|error| config(error.to_string()))?;
    }
    settings.unix_socket = endpoint.socket.clone();
    settings.meter = run.meter.clone();
    Ok(http::Target {
        address,
        settings,
        sse_fallback: endpoint.binding == Binding::Auto,
        end_session: !globals.no_delete,
    })
}

/// How a server is reached, as policies see it.
pub(super) fn way(run: &Run<'_>, server: &config::Server) -> Result<Way, Error> {
    let Endpoint::Http(endpoint) = &server.endpoint else { return Ok(Way::default()) };
    let address = net::Address::parse(&endpoint.url).ok().filter(|_| endpoint.socket.is_none());
    let Some(address) = address else { return Ok(Way::default()) };
    let settings = network(run, &server.name)?;
    let detours = settings.detours(&address).map_err(|error| {
        Error::new(Exit::Config, error.to_string()).phase(Phase::Config).sent(Sent::No)
    })?;
    Ok(Way { detours, insecure: settings.tls.insecure })
}

/// How the network is reached, whatever is there. `name` is what the trace calls it.
pub(super) fn network(run: &Run<'_>, name: &str) -> Result<net::Settings, Error> {
    let globals = run.globals;
    let variable = |name: &str| run.env.variable(name).and_then(|value| value.into_string().ok());
    let mut settings = net::Settings::from_env(&variable);
    settings.tls.cacert = pem_file(run, "--cacert", globals.cacert.as_deref())?;
    settings.tls.certificate = pem_file(run, "--cert", globals.cert.as_deref())?;
    settings.tls.key = pem_file(run, "--key", globals.key.as_deref())?;
    settings.tls.insecure = globals.insecure;
    if let Some(proxy) = &globals.proxy {
        let address = net::ProxyAddress::parse(proxy.as_str()).map_err(|error| {
            Error::new(Exit::Usage, format!("--proxy: {error}")).phase(Phase::Usage)
        })?;
        settings.proxy = net::Proxy::Explicit(address);
    }
    settings.resolve.extend(globals.resolve.iter().cloned());
    settings.trace = run.trace(name);
    settings.http_version = match globals.http {
        None | Some(Http::Auto) => net::HttpVersion::Auto,
        Some(Http::One) => net::HttpVersion::Http1,
        Some(Http::Two) => net::HttpVersion::Http2,
    };
    Ok(settings)
}

/// A file that an option names. That it is missing is told even if this server does not need it.
fn pem_file(run: &Run<'_>, option: &str, path: Option<&Path>) -> Result<Option<PathBuf>, Error> {
    let Some(path) = path.map(|path| run.env.absolute(path)) else { return Ok(None) };
    match path.metadata() {
        Ok(_) => Ok(Some(path)),
        Err(error) => {
            let text = format!("{option}: cannot read {}: {error}", path.display());
            Err(Error::new(Exit::Config, text).phase(Phase::Config).sent(Sent::No))
        }
    }
}

/// What the command line says about the server.
pub(super) fn overrides(run: &Run<'_>) -> Result<Overrides, Error> {
    let globals = run.globals;
    let secret = |text: &str| Secret::from(text);
    let variables = globals.env.iter();
    Ok(Overrides {
        config: run.settings.config.clone(),
        args: globals.arg.clone(),
        env: variables
            .map(|variable| (variable.name.clone(), secret(variable.value.as_str())))
            .collect(),
        cwd: globals.cwd.clone(),
        inherit_env: globals.inherit_env,
        headers: credentials::headers(run)?,
        binding: match globals.transport {
            None | Some(Transport::Auto | Transport::Stdio) => None,
            Some(Transport::Http) => Some(Binding::Http),
            Some(Transport::Sse) => Some(Binding::Sse),
        },
        dry_run: run.command().is_dry_run(),
    })
}

/// Refuses options that would have no effect on this server.
pub(super) fn check_options(run: &Run<'_>, server: &config::Server) -> Result<(), Error> {
    let is_http = matches!(server.endpoint, Endpoint::Http(_));
    if run.globals.transport == Some(Transport::Stdio) && is_http {
        let text = format!("\"{}\" is reached over HTTP, not by --transport stdio", server.name);
        return Err(Error::new(Exit::Usage, text).phase(Phase::Usage));
    }
    let credentials = [
        ("--bearer-file", run.globals.bearer_file.is_some()),
        ("--bearer-command", run.globals.bearer_command.is_some()),
    ];
    let credentials = credentials.iter().filter(|(_, given)| *given).map(|(flag, _)| *flag);
    match credentials.chain(run.access.for_network()).next().filter(|_| !is_http) {
        None => Ok(()),
        Some(flag) => {
            let text = format!(
                "{flag} has no effect on \"{}\", which is not reached over HTTP",
                server.name
            );
            Err(Error::new(Exit::Usage, text).phase(Phase::Usage))
        }
    }
}
