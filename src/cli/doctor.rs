//! `mcpmini doctor`: whether a server keeps the rules, as far as one can tell from outside.

use std::time::{Duration, Instant};

use futures_lite::FutureExt;
use smol::LocalExecutor;

use super::args::Format;
use super::args::doctor_command::{Doctor, FailOn};
use super::args::settings;
use super::contact::Contact;
use super::duration::Limit;
use super::errors::{Error, Phase};
use super::exit::Exit;
use super::explain;
use super::output::{self, Parts, cell};
use super::run::Run;
use super::terminal::{Accent, accent};
use crate::client::Server;
use crate::doctor::{self, Examination, Options, Report, Target, Verdict};
use crate::protocol::json;
use crate::protocol::opening::Certainty;
use crate::protocol::params::Members;
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
    let examined = examine(run, doctor, target, options).await;
    examined.map_err(|error| contact.without_secrets(error).server(contact.server.name.clone()))
}

async fn examine(
    run: &Run<'_>,
    doctor: &Doctor,
    target: Target,
    options: Options,
) -> Result<Exit, Error> {
    let phase = if matches!(target, Target::Http(_)) { Phase::Connect } else { Phase::Start };
    let until = options.until;
    let opening = async { doctor::examine(target, options).await.map_err(Error::from) };
    let opened = interruptible(run, opening.or(expired(run, until))).await?;
    let mut examination = opened.map_err(|error| error.phase(phase))?;
    let mut page = Page::new(run);
    let outcome = report(run, &mut examination, &mut page).await;
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
) -> Result<(), Error> {
    while let Some(report) = interruptible(run, examination.next()).await? {
        page.add(&report)?;
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

/// What is printed.
struct Page<'a> {
    parts: Parts<'a>,
    run: &'a Run<'a>,
    for_people: bool,
    colored: bool,
    /// How many reports have which verdict, in the order of [`Verdict::ALL`].
    counts: [usize; Verdict::ALL.len()],
}

impl<'a> Page<'a> {
    fn new(run: &'a Run<'a>) -> Page<'a> {
        let is_text = run.settings.output != Format::Json;
        let for_people = is_text && run.env.terminals.stdout && run.globals.out.is_none();
        Page {
            parts: Parts::new(run),
            run,
            for_people,
            colored: run.settings.color.applies(for_people),
            counts: Default::default(),
        }
    }

    fn add(&mut self, report: &Report) -> Result<(), Error> {
        self.counts[report.finding.verdict as usize] += 1;
        match self.run.settings.output {
            Format::Json => self.parts.add_line(&json(report)),
            _ if self.for_people => {
                output::write_trusted(self.run, &paragraph(report, self.colored))
            }
            _ => self.parts.add_line(&line(report)),
        }
    }

    /// Sums up for people; tells the worst verdict. Errors when nothing was checked: that would look
    /// like a server that is right.
    fn finish(self) -> Result<Verdict, Error> {
        let counted = Verdict::ALL.into_iter().zip(self.counts).filter(|(_, count)| 0 < *count);
        let counted: Vec<(Verdict, usize)> = counted.collect();
        if counted.is_empty() {
            let text = "--only: no such check is for a server that is reached in this way";
            return Err(Error::new(Exit::Usage, text).phase(Phase::Usage));
        }
        if self.for_people {
            let texts =
                counted.iter().map(|(verdict, count)| format!("{count} {}", verdict.word()));
            let summary = texts.collect::<Vec<_>>().join(", ");
            output::write_trusted(self.run, &format!("\n{summary}\n"))?;
        }
        self.parts.finish()?;
        Ok(counted.last().map_or(Verdict::Pass, |(verdict, _)| *verdict))
    }
}

/// A report as a line for programs.
fn line(report: &Report) -> String {
    let verdict = report.finding.verdict.word().to_uppercase();
    let evidence = cell(&report.finding.evidence);
    [&verdict, report.check, report.title, &evidence, report.clause].join("\t")
}

/// A report for people: what was found, and where the rule is when it is not kept.
fn paragraph(report: &Report, colored: bool) -> String {
    let verdict = report.finding.verdict;
    let word = format!("{:<7}", verdict.word().to_uppercase());
    let word = match verdict {
        Verdict::Fail => accent(&word, Accent::Red, colored),
        Verdict::Warn => accent(&word, Accent::Yellow, colored),
        Verdict::Pass | Verdict::Skip | Verdict::Unknown => word.into(),
    };
    let Report { check, title, clause, .. } = report;
    let evidence = cell(&report.finding.evidence);
    let mut text = format!("{word}  {check:<22}{evidence}\n");
    if Verdict::Unknown < verdict {
        let indent = " ".repeat(31);
        text.push_str(&format!("{indent}should be: {title}\n{indent}{clause}\n"));
    }
    text
}

fn json(report: &Report) -> String {
    let mut members = Members::new();
    members.push("check", &json::string(report.check));
    members.push("verdict", &json::string(report.finding.verdict.word()));
    members.push("title", &json::string(report.title));
    members.push("evidence", &json::string(&report.finding.evidence));
    members.push("clause", &json::string(report.clause));
    members.push("ms", &report.took.as_millis().to_string());
    members.push("requests", &json::strings(&report.requests));
    members.finish()
}
