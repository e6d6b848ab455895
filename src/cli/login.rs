//! `mcpmini login`, `logout` and `token`: tokens for a server, apart from any call.

use smol::LocalExecutor;

use super::args::Format;
use super::args::login_commands::{Login, Logout, Token};
use super::authorize::denied;
use super::contact::Contact;
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::output;
use super::person;
use super::run::Run;
use crate::auth::{AuthError, How, Person, TokenRecord};
use crate::client::NoResult;
use crate::protocol::json;
use crate::protocol::message::Sent;
use crate::protocol::method;
use crate::protocol::params::{Members, Params};
use crate::protocol::session::{Failure, Limit};

/// Logs in: asks the server for something, and answers when it wants to know who is asking.
pub(super) async fn login(
    run: &Run<'_>,
    login: &Login,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    let mut contact = Contact::find(run, &login.server, executor)?;
    let how = match (login.no_browser, login.device) {
        (true, true) => {
            let text = "--no-browser and --device exclude each other";
            return Err(Error::new(Exit::Usage, text).phase(Phase::Usage));
        }
        (true, false) => How::Paste,
        (false, true) => How::Device,
        (false, false) => How::Browser,
    };
    contact.authorize_anew(person::person(run, how));
    let logged_in = run.unless_over(log_in(run, &mut contact)).await;
    contact.finish(logged_in.flatten()).await
}

async fn log_in(run: &Run<'_>, contact: &mut Contact<'_>) -> Result<Exit, Error> {
    let name = contact.server.name.clone();
    // Nobody should log in for a token that nothing can be done with.
    let keeping = contact.authorizer()?.check_keeping().await;
    keeping.map_err(|error| denied(&error, &name))?;
    // Servers that let everybody open a session mostly let not everybody see the tools.
    let asked = contact.try_request(method::LIST_TOOLS, Params::new(), Vec::new()).await?;
    // A server without tools, or one that fails in another way, may still have been logged in to.
    if let Err(no_result) = asked {
        let ends_it = match &no_result {
            NoResult::Failed(failure) => match failure.cause() {
                Failure::TimedOut(late) => late.limit == Limit::Total,
                cause => matches!(cause, Failure::Refused(_)),
            },
            other => matches!(other, NoResult::Interrupted { .. }),
        };
        if ends_it {
            return Err(contact.explain(no_result));
        }
    }
    let authorizer = contact.authorizer()?;
    if authorizer.record().is_none() {
        match authorizer.log_in().await {
            Ok(()) => (),
            Err(AuthError::NotAsked) => {
                run.warn("the server lets everybody in; there is nothing to log in to");
                return Ok(Exit::Ok);
            }
            Err(error) => return Err(denied(&error, &name)),
        }
    }
    let record = authorizer.record().ok_or_else(|| denied(&AuthError::LoginNeeded, &name))?;
    let text = match run.settings.output {
        Format::Json => record_json(&name, record) + "\n",
        _ => format!("logged in to {name}\n"),
    };
    output::write(run, text.as_bytes())?;
    Ok(Exit::Ok)
}

fn record_json(server: &str, record: &TokenRecord) -> String {
    let mut members = Members::new();
    members.push("server", &json::string(server));
    members.push("issuer", &json::string(&record.issuer));
    members.push("resource", &json::string(&record.resource));
    members.push("scope", &json::string(&record.scopes().to_string()));
    if let Some(at) = record.expires_at {
        members.push("expiresAt", &at.to_string());
    }
    members.push("refreshable", if record.refresh_token().is_some() { "true" } else { "false" });
    members.finish()
}

/// Logs out: gives the token back and forgets it.
pub(super) async fn logout(
    run: &Run<'_>,
    logout: &Logout,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    let contact = Contact::find(run, &logout.server, executor)?;
    let name = contact.server.name.clone();
    let mut authorizer = contact.new_authorizer(Person::absent())?;
    let left = run.unless_over(authorizer.log_out()).await;
    let left = left.map_err(|over| over.server(&name))?.map_err(|error| denied(&error, &name))?;
    if let Some(Err(error)) = left.as_ref().and_then(|left| left.revoked.as_ref()) {
        run.warn(&format!("the token is forgotten here, but not taken back: {error}"));
    }
    let was = left.is_some();
    let text = match (run.settings.output, was) {
        (Format::Json, _) => {
            let revoked = left.is_some_and(|left| matches!(left.revoked, Some(Ok(()))));
            format!("{{\"server\":{},\"was\":{was},\"revoked\":{revoked}}}\n", json::string(&name))
        }
        (_, true) => format!("logged out of {name}\n"),
        (_, false) => format!("was not logged in to {name}\n"),
    };
    output::write(run, text.as_bytes())?;
    Ok(Exit::Ok)
}

/// Prints the header that opens the server, for other programs.
pub(super) async fn token(
    run: &Run<'_>,
    token: &Token,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    let contact = Contact::find(run, &token.server, executor)?;
    let name = contact.server.name.clone();
    let mut authorizer = contact.new_authorizer(Person::absent())?;
    let brake = authorizer.brake();
    let mut usable = std::pin::pin!(authorizer.usable());
    let record = match run.unless_over(usable.as_mut()).await {
        Ok(usable) => usable.map_err(|error| unusable(&error, &name))?,
        Err(over) => {
            brake.stop(usable).await;
            return Err(over.server(name));
        }
    };
    if record.dpop_key().is_some() {
        let text = "the token is bound to a key, and of no use to programs that do not have it";
        return Err(Error::new(Exit::Auth, text).server(name).sent(Sent::No));
    }
    let value = format!("Bearer {}", record.access_token().expose());
    let text = match run.settings.output {
        Format::Json => {
            let mut members = Members::new();
            members.push("Authorization", &json::string(&value));
            if let Some(at) = record.expires_at {
                members.push("expiresAt", &at.to_string());
            }
            members.finish() + "\n"
        }
        _ => format!("Authorization: {value}\n"),
    };
    output::write(run, text.as_bytes())?;
    Ok(Exit::Ok)
}

/// Why no token is printed. Nobody has asked the server whether it wants one.
fn unusable(error: &AuthError, server: &str) -> Error {
    let denied = denied(error, server);
    match error {
        AuthError::LoginNeeded => {
            Error { message: "no usable token is kept for it".into(), ..denied }
        }
        _ => denied,
    }
}
