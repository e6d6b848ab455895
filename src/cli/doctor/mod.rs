//! `mcpmini doctor`: whether a server keeps the rules, as far as one can tell from outside.

mod baseline;
mod page;

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_lite::FutureExt;
use smol::LocalExecutor;

use self::baseline::{Baseline, Draft};
use self::page::Page;
use crate::cli::args::doctor_command::{Doctor, FailOn};
use crate::cli::args::settings;
use crate::cli::contact::Contact;
use crate::cli::duration::{self, Limit};
use crate::cli::errors::{Error, Phase};
use crate::cli::exit::Exit;
use crate::cli::explain;
use crate::cli::run::Run;
use crate::cli::signed;
use crate::client::Server;
use crate::doctor::{Examination, Options, Target, Unusable, Verdict};
use crate::protocol::opening::Certainty;
use crate::reactor::Timer;

/// How long one answer may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long everything may take.
const TOTAL: Duration = Duration::from_secs(120);

/// On how many fresh connections a session is tried.
const CONNECTIONS: u32 = 3;

/// How long the server has to end its sessions when the user does not want to wait.
const HURRY: Duration = Duration::from_millis(200);

/// The exit code when a check has failed, as of `grep` and `diff`: what was looked for is not so.
const FAILED: Exit = Exit::ToolError;

/// Examines a server.
pub(super) async fn run(
    run: &Run<'_>,
    doctor: &Doctor,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    let begun = Instant::now();
    // A file that cannot be read is to be told before anybody is asked.
    let baseline = doctor.baseline.as_deref().map(|path| Baseline::read(run, path)).transpose()?;
    let mut contact = Contact::find(run, &doctor.server, executor)?;
    if contact.watcher.consent.wants_everything() {
        let held = contact.hold_to_lock().await;
        contact.close().await;
        held?;
    }
    let server = contact.target()?;
    let (root, _) = signed::root(run, None)?;
    // It signs what goes to the server; kept until the end, because it holds the token.
    let authorizer = contact.loaded_authorizer(&server)?;
    run.redaction.know(authorizer.iter().flat_map(|authorizer| authorizer.secrets()));
    let sse = matches!(server, Server::Sse(_));
    let target = match server {
        Server::Http(target) | Server::Sse(target) => Target::Http(Box::new(target)),
        Server::Stdio(target) => Target::Stdio(target),
        Server::Shared(_) => return Ok(Exit::Bug),
    };
    let start = (run.settings.start_timeout, contact.server.start_timeout);
    let start = contact.limit(start.0, start.1, settings::START_TIMEOUT).unwrap_or(TOTAL);
    let options = Options {
        patience: run.settings.timeout.and_then(Limit::duration).unwrap_or(PATIENCE),
        start,
        until: run.deadline.unwrap_or(begun + TOTAL),
        revision: match contact.certainty() {
            Certainty::Pinned(revision) => Some(revision),
            // What is remembered may be wrong by now, and that is to be seen.
            Certainty::Remembered(_) | Certainty::Unknown => None,
        },
        sse,
        require_auth: doctor.require_auth,
        connections: doctor.sticky.unwrap_or(CONNECTIONS),
        only: doctor.only.clone(),
        root: Arc::new(root),
        secrets: run.redaction.secrets(),
    };
    let examined = examine(run, doctor, baseline, target, options).await;
    examined.map_err(|error| contact.without_secrets(error).server(contact.server.name.clone()))
}

async fn examine(
    run: &Run<'_>,
    doctor: &Doctor,
    baseline: Option<Baseline>,
    target: Target,
    options: Options,
) -> Result<Exit, Error> {
    let phase = if matches!(target, Target::Http(_)) { Phase::Connect } else { Phase::Start };
    let prepared = Examination::new(target, options);
    let mut examination = prepared.map_err(|fault| Error::from(fault).phase(phase))?;
    let mut page = Page::new(run, baseline);
    let mut draft = Draft::new(&doctor.server);
    let outcome = report(run, &mut examination, &mut page, &mut draft).await;
    let (unusable, ran_out) = (examination.unusable(), examination.ran_out());
    match &outcome {
        Ok(()) => examination.close().await,
        Err(_) => {
            let too_late = async {
                Timer::after(HURRY).await;
            };
            examination.close().or(too_late).await;
        }
    }
    outcome?;
    let worst = page.finish()?;
    // What follows was not examined, or not whole: then neither a success nor a failure says what
    // the server is like.
    if let Some(unusable) = unusable {
        return Err(explain_unusable(unusable, phase));
    }
    if ran_out {
        return Err(explain::expired(run.settings.max_time.or(Some(Limit::after(TOTAL)))));
    }
    if let Some(path) = &doctor.write_baseline {
        return draft.write(run, path).map(|()| Exit::Ok);
    }
    let threshold = match doctor.fail_on.unwrap_or(FailOn::Fail) {
        FailOn::Fail => Some(Verdict::Fail),
        FailOn::Warn => Some(Verdict::Warn),
        FailOn::Unknown => Some(Verdict::Unknown),
        FailOn::Never => None,
    };
    match threshold {
        Some(threshold) if threshold <= worst => Ok(FAILED),
        _ => Ok(Exit::Ok),
    }
}

/// The error for a server that cannot be examined, which is that of any other command.
fn explain_unusable(unusable: Unusable, phase: Phase) -> Error {
    match unusable {
        Unusable::Fault(fault) => Error::from(fault).phase(phase),
        Unusable::Busy(status) => {
            let text = format!("HTTP {}: the server cannot be examined now", status.as_u16());
            let error = Error::new(Exit::Unreachable, text).phase(phase).status(status.as_u16());
            error.hint("try again later")
        }
        Unusable::Silent(patience) => {
            let text = format!("the server did not answer within {}", duration::show(patience));
            let option = if phase == Phase::Start { "--start-timeout" } else { "--timeout" };
            Error::new(Exit::Timeout, text).phase(phase).hint(format!("see {option}"))
        }
        Unusable::Refused { said, host } => {
            let text = format!("the server refuses everybody who comes like this: {said}");
            let hint = match host {
                Some(host) => format!("it takes requests by another name: http://{host}/…"),
                None => "give credentials, or see what the server lets in".to_owned(),
            };
            Error::new(Exit::Auth, text).phase(phase).status(403).hint(hint)
        }
        Unusable::NotMcp(said) => {
            let error = Error::new(Exit::Protocol, said);
            let hint = "name the MCP endpoint itself; mcpmini discover looks for one";
            match phase {
                Phase::Connect => error.phase(Phase::Negotiate).hint(hint),
                _ => error.phase(Phase::Negotiate),
            }
        }
    }
}

/// Opens the conversation, and prints what the checks find, one after the other.
async fn report(
    run: &Run<'_>,
    examination: &mut Examination,
    page: &mut Page<'_>,
    draft: &mut Draft,
) -> Result<(), Error> {
    interruptible(run, examination.open()).await?;
    while let Some(report) = interruptible(run, examination.next()).await? {
        page.add(&report)?;
        draft.add(&report);
    }
    Ok(())
}

/// Waits for something, unless a signal comes first.
async fn interruptible<T>(run: &Run<'_>, what: impl Future<Output = T>) -> Result<T, Error> {
    let interrupted = async { Err(explain::interrupted(run.interrupted().await)) };
    async { Ok(what.await) }.or(interrupted).await
}
