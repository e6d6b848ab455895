//! `mcpmini doctor`: whether a server keeps the rules, as far as one can tell from outside.

mod baseline;
mod page;

use std::time::{Duration, Instant};

use futures_lite::FutureExt;
use smol::LocalExecutor;

use self::baseline::{Baseline, Draft};
use self::page::Page;
use crate::cli::args::doctor_command::{Doctor, FailOn};
use crate::cli::args::settings;
use crate::cli::contact::Contact;
use crate::cli::duration::Limit;
use crate::cli::errors::{Error, Phase};
use crate::cli::exit::Exit;
use crate::cli::explain;
use crate::cli::run::Run;
use crate::client::Server;
use crate::doctor::{self, Examination, Options, Target, Verdict};
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
    // It signs what goes to the server; kept until the end, because it holds the token.
    let authorizer = contact.loaded_authorizer(&server)?;
    let mut secrets = contact.secrets();
    secrets.extend(authorizer.iter().flat_map(|authorizer| authorizer.secrets()));
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
        secrets,
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
    let until = options.until;
    let opening = async { doctor::examine(target, options).await.map_err(Error::from) };
    let opened = interruptible(run, opening.or(expired(run, until))).await?;
    let mut examination = opened.map_err(|error| error.phase(phase))?;
    let mut page = Page::new(run, baseline);
    let mut draft = Draft::new(&doctor.server);
    let outcome = report(run, &mut examination, &mut page, &mut draft).await;
    let ran_out = examination.ran_out();
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
    if let Some(path) = &doctor.write_baseline {
        // What was not checked is not known either.
        return if ran_out {
            Err(time_over(run))
        } else {
            draft.write(run, path).map(|()| Exit::Ok)
        };
    }
    let threshold = match doctor.fail_on.unwrap_or(FailOn::Fail) {
        FailOn::Fail => Some(Verdict::Fail),
        FailOn::Warn => Some(Verdict::Warn),
        FailOn::Unknown => Some(Verdict::Unknown),
        FailOn::Never => None,
    };
    match threshold {
        Some(threshold) if threshold <= worst => Ok(FAILED),
        _ if ran_out => Err(time_over(run)),
        _ => Ok(Exit::Ok),
    }
}

/// Prints what the checks find, one after the other.
async fn report(
    run: &Run<'_>,
    examination: &mut Examination,
    page: &mut Page<'_>,
    draft: &mut Draft,
) -> Result<(), Error> {
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

async fn expired(run: &Run<'_>, until: Instant) -> Result<Examination, Error> {
    Timer::at(until).await;
    Err(time_over(run))
}

fn time_over(run: &Run<'_>) -> Error {
    explain::expired(run.settings.max_time.or(Some(Limit::after(TOTAL))))
}
