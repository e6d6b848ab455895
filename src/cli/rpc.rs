//! `mcpmini rpc`: any request.

use smol::LocalExecutor;

use super::answer::Wishes;
use super::args::commands::Rpc;
use super::catalog;
use super::contact::Contact;
use super::dry_run;
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::explain;
use super::output::{self, Parts};
use super::run::Run;
use super::sources;
use crate::client::NoResult;
use crate::protocol::json::{self, Json};
use crate::protocol::jsonrpc::ErrorObject;
use crate::protocol::message::Sent;
use crate::protocol::method;
use crate::protocol::params::Params;
use crate::protocol::similar::closest;

/// Sends a request and prints its result, or the whole message that came back.
pub(super) async fn run(
    run: &Run<'_>,
    rpc: &Rpc,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    let params = params(run, rpc)?;
    // What it is that would run is looked at before it does.
    let tool = match &*rpc.method {
        method::CALL_TOOL => Some(params.tool().map_err(Error::usage)?),
        _ => None,
    };
    let mut contact = Contact::find(run, &rpc.server, executor)?;
    if rpc.dry_run {
        return dry_run::show(&contact, &rpc.method, params, Vec::new());
    }
    let answered = exchange(run, rpc, tool.as_deref(), params, &mut contact).await;
    let answered = answered.map_err(|error| suggest(error, &rpc.method));
    contact.finish(answered).await
}

/// Says which method was likely meant when the server does not know one. That is no reason not to
/// send it: servers have methods of their own.
fn suggest(error: Error, method: &str) -> Error {
    let is_unknown = error.code == Some(ErrorObject::METHOD_NOT_FOUND);
    match closest(method, method::names()).filter(|nearest| is_unknown && *nearest != method) {
        Some(nearest) => error.hint(format!("did you mean {nearest}?")),
        None => error,
    }
}

fn params(run: &Run<'_>, rpc: &Rpc) -> Result<Params, Error> {
    let bytes = match rpc.params.as_deref() {
        None => return Ok(Params::new()),
        Some("-" | "@-") => sources::stdin(run)?,
        Some(word) => match word.strip_prefix('@') {
            Some(path) => sources::file(run, path)?,
            None => word.as_bytes().to_vec(),
        },
    };
    let text =
        String::from_utf8(bytes).map_err(|_| Error::usage("the parameters are not UTF-8"))?;
    let text = text.trim_start_matches('\u{feff}').trim();
    let params = Params::from_object(text).map_err(|invalid| {
        Error::usage(format!("the parameters are no JSON object: {}", invalid.reason))
    })?;
    Ok(params)
}

async fn exchange(
    run: &Run<'_>,
    rpc: &Rpc,
    tool: Option<&str>,
    params: Params,
    contact: &mut Contact<'_>,
) -> Result<Exit, Error> {
    let answered = match tool {
        Some(name) => {
            contact.admit_tool(name).await.map_err(catalog::unsent)?;
            let call = contact.prepare(method::CALL_TOOL, params, Vec::new());
            contact.try_tool(name, call, false).await?
        }
        None => contact.try_request(&rpc.method, params, Vec::new()).await?,
    };
    match answered {
        Ok(result) if rpc.envelope => {
            write_envelope(run, &result)?;
            Ok(Exit::Ok)
        }
        Ok(result) => {
            write(run, rpc, &result)?;
            Ok(Exit::Ok)
        }
        Err(NoResult::Error(error)) if rpc.envelope => {
            if let Some(source) = &error.source {
                write_envelope(run, source)?;
            }
            Err(explain::rpc(&error).server(contact.server.name.clone()))
        }
        Err(no_result) => Err(contact.explain(no_result)),
    }
}

/// Writes the result, or parts of it. It is JSON in every form.
fn write(run: &Run<'_>, rpc: &Rpc, result: &Json) -> Result<(), Error> {
    let wishes = Wishes::new(run, &rpc.select, &rpc.expect, None)?;
    let mut parts = Parts::new(run);
    let written = wishes.write(&mut parts, result.as_str());
    if let Ok(false) = written {
        parts.add_line(result.as_str())?;
    }
    parts.finish_unless_failed(written.is_err())?;
    written.map(drop)
}

/// Writes the whole message that a part came in.
fn write_envelope(run: &Run<'_>, part: &Json) -> Result<(), Error> {
    match json::validate(part.frame()) {
        Ok(()) => output::write_line(run, part.frame()),
        Err(invalid) => {
            let text = format!("the server sent invalid JSON: {}", invalid.reason);
            Err(Error::new(Exit::Protocol, text).phase(Phase::Request).sent(Sent::Yes))
        }
    }
}
