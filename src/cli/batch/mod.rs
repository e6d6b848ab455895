//! `mcpmini batch`: many requests on one connection, a line each.
//!
//! ```text
//!   input ──▶ flights ──▶ output      nothing is read that cannot be sent, nothing is sent whose
//!               │  ▲                  outcome cannot be written
//!               ▼  │
//!               held                  until the tools of the server are known
//! ```

mod input;
mod line;
mod output;
mod verdict;

use std::time::{Duration, Instant};

use futures_lite::{FutureExt, future};
use smol::LocalExecutor;

use self::input::Input;
use self::line::{Line, Request};
use self::output::Output;
use self::verdict::{Outcome, Verdict};
use super::answer;
use super::args::many::Batch;
use super::call;
use super::catalog::Catalog;
use super::contact::Contact;
use super::errors::Error;
use super::exit::Exit;
use super::run::Run;
use crate::client::{Flights, Landed, NoResult};
use crate::protocol::json::Json;
use crate::protocol::message::Sent;
use crate::protocol::method;
use crate::protocol::session::{self, Failure, Fate, Limit, TimedOut};
use crate::reactor::Timer;

/// How long whoever reads the outcomes has to read the rest of them after a signal.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Makes the requests of a file, or of standard input.
pub(super) async fn run(
    run: &Run<'_>,
    batch: &Batch,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    let input = Input::open(run, &batch.input)?;
    let contact = Contact::find(run, &batch.server, executor)?;
    let mut work = Work {
        run,
        jobs: batch.jobs.unwrap_or(JOBS),
        keep_going: batch.keep_going,
        output: Output::new(run, batch.ordered)?,
        flights: Flights::new(contact.policy()),
        mirrors: if contact.is_http() { None } else { Some(false) },
        input,
        contact,
        held: Vec::new(),
        catalog: None,
        last: 0,
        stop: None,
        verdict: Verdict::default(),
    };
    let worked = work.work().await;
    let ended = worked.and_then(|()| work.end());
    work.contact.finish(ended).await
}

/// How many requests are in flight at a time.
pub(super) const JOBS: usize = 4;

/// A batch at work.
struct Work<'a> {
    run: &'a Run<'a>,
    jobs: usize,
    keep_going: bool,
    input: Input,
    output: Output,
    contact: Contact<'a>,
    flights: Flights<Job>,
    /// Lines that go on when the tools of the server are known.
    held: Vec<Held>,
    catalog: Option<Catalog>,
    /// Whether arguments of tools are mirrored into headers; `None` while that is not known.
    mirrors: Option<bool>,
    /// The place of the last line that was read, among those that are not blank.
    last: u64,
    /// Why no further line is read.
    stop: Option<Stop>,
    verdict: Verdict,
}

/// A line in flight.
#[derive(Debug)]
struct Job {
    line: Line,
    request: Request,
    begun: Instant,
}

/// A line that waits until the tools of the server are known.
#[derive(Debug)]
enum Held {
    /// It cannot be sent before: some of its arguments may have to be mirrored into headers.
    Unsent(Job),
    /// It was lost, and can be sent again if its tool may run twice.
    Lost(Job, NoResult),
}

/// Why no further line is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// There is none.
    End,
    /// A line failed.
    Failure,
    /// Time is up.
    Expired,
    /// A signal came.
    Signal(i32),
}

/// What happened next.
enum Step {
    Line(Result<Option<(u64, Vec<u8>)>, Error>),
    Landed(Result<Landed<Job>, Error>),
    Written(Result<(), Error>),
    Interrupted(i32),
    Expired,
}

impl Work<'_> {
    /// Works until every line that was read has an outcome, and every outcome is written.
    async fn work(&mut self) -> Result<(), Error> {
        while !self.is_done() {
            match self.step().await {
                Step::Line(Ok(Some((number, bytes)))) => self.take(number, &bytes),
                Step::Line(Ok(None)) => self.stop = Some(Stop::End),
                Step::Line(Err(error)) => {
                    self.stop = Some(Stop::End);
                    let (place, number) = (self.last + 1, self.input.number());
                    let line = Line { place, number, id: number.to_string() };
                    self.note(&line, Duration::ZERO, &Outcome::Failed(error));
                }
                Step::Landed(landed) => self.land(landed?),
                Step::Written(written) => {
                    if let Err(error) = written {
                        self.contact.cancel(&mut self.flights, "nobody reads the answers");
                        return Err(error);
                    }
                }
                Step::Expired => self.stop = Some(Stop::Expired),
                Step::Interrupted(signal) => {
                    self.interrupt(signal);
                    return self.write_rest().await;
                }
            }
            if self.flights.is_empty() && !self.held.is_empty() {
                self.release().await;
            }
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        let is_empty = self.flights.is_empty() && self.held.is_empty();
        self.stop.is_some() && is_empty && self.output.is_idle()
    }

    /// Waits for whatever happens next.
    async fn step(&mut self) -> Step {
        let reads = self.stop.is_none()
            && self.held.is_empty()
            && self.flights.len() < self.jobs
            && self.output.has_room(self.last);
        let Work { run, input, output, contact, flights, stop, .. } = self;
        let line = async {
            match reads {
                true => Step::Line(input.next().await),
                false => future::pending().await,
            }
        };
        let expired = async {
            Timer::at(run.deadline.filter(|_| stop.is_none())).await;
            Step::Expired
        };
        let interrupted = async { Step::Interrupted(run.interrupted().await) };
        let written = async { Step::Written(output.written().await) };
        let landed = async { Step::Landed(contact.landed(flights).await) };
        interrupted.or(written).or(landed).or(expired).or(line).await
    }

    /// Takes in a line.
    fn take(&mut self, number: u64, bytes: &[u8]) {
        self.last += 1;
        let (line, request) = line::read(bytes, self.last, number);
        match request {
            Err(why) => self.note(&line, Duration::ZERO, &Outcome::Failed(Error::usage(why))),
            Ok(request) => self.send(Job { line, request, begun: Instant::now() }),
        }
    }

    /// Sends a request, or holds it until it can be sent.
    fn send(&mut self, job: Job) {
        let tool = job.request.tool();
        let lacks = |tool: &str| self.lacks_catalog() || self.doubts(tool);
        if tool.as_deref().is_some_and(|tool| self.mirrors.is_none() || lacks(tool)) {
            return self.held.push(Held::Unsent(job));
        }
        match self.call(&job.request, tool.as_deref()) {
            Ok((call, repeatable)) => self.flights.begin(job, call, repeatable),
            Err(error) => self.note(&job.line, Duration::ZERO, &Outcome::Failed(error)),
        }
    }

    /// Whether the tools must be known before one can be called, and are not.
    fn lacks_catalog(&self) -> bool {
        self.mirrors == Some(true) && self.catalog.is_none()
    }

    /// Whether a tool must be looked at before it is called, and was not yet.
    fn doubts(&self, tool: &str) -> bool {
        let consent = &self.contact.watcher.consent;
        self.catalog.is_none() && consent.doubts(tool) || consent.holds(tool)
    }

    /// The request as a call, and whether it may run twice.
    fn call(
        &mut self,
        request: &Request,
        tool: Option<&str>,
    ) -> Result<(session::Call, bool), Error> {
        let catalog = self.catalog.as_ref();
        let name = tool;
        let tool = match tool.zip(catalog).map(|(tool, list)| list.require(tool, &self.contact)) {
            Some(Ok(tool)) => Some(tool),
            // A tool that must not be called. One that the list lacks may be there all the same.
            Some(Err(error)) if error.exit == Exit::Protocol => return Err(error),
            Some(Err(_)) | None => None,
        };
        if let Some(name) = name {
            self.contact.watcher.consent.admit(name)?;
        }
        let mirrored = match tool {
            Some(tool) if self.mirrors == Some(true) => {
                call::mirrored(tool, request.params.get("arguments").unwrap_or("{}"))?
            }
            _ => Vec::new(),
        };
        let mut call = self.contact.prepare(&request.method, request.params.clone(), mirrored);
        if let Some(idle) = request.idle {
            call.idle = idle;
        }
        let repeatable = method::facts(&request.method).repeatable
            || tool.is_some_and(|tool| tool.annotations.is_repeatable());
        Ok((call, repeatable))
    }

    /// Takes in the end of a request.
    fn land(&mut self, Landed { tag: job, result }: Landed<Job>) {
        let is_call = job.request.tool().is_some();
        if let Ok(result) = &result {
            self.contact.watcher.consent.note_first_result(result);
        }
        match result {
            // Only its list tells whether the tool may run twice.
            Err(lost)
                if is_call
                    && self.catalog.is_none()
                    && lost.fate() == Fate::Unknown
                    && self.contact.policy().plan(&lost, true, 1).is_some() =>
            {
                self.held.push(Held::Lost(job, lost));
            }
            result => self.conclude(&job, result, is_call),
        }
    }

    /// Nothing is in flight, so that the server can be asked for its tools: then the held lines go
    /// on.
    async fn release(&mut self) {
        let learned = self.learn().await;
        if let Err(Error { exit: Exit::Signal(signal), .. }) = learned {
            return self.interrupt(signal.into());
        }
        for held in std::mem::take(&mut self.held) {
            match (held, &learned) {
                (Held::Unsent(job), Ok(())) => self.send(job),
                (Held::Unsent(job), Err(error)) => {
                    self.note(&job.line, job.begun.elapsed(), &Outcome::Failed(error.clone()));
                }
                (Held::Lost(job, lost), learned) => {
                    let tool = job.request.tool();
                    let call =
                        learned.as_ref().ok().map(|()| self.call(&job.request, tool.as_deref()));
                    match call {
                        Some(Ok((call, true))) => self.flights.again(job, call, lost),
                        _ => self.conclude(&job, Err(lost), true),
                    }
                }
            }
        }
    }

    /// Asks the server for what must be known about its tools.
    async fn learn(&mut self) -> Result<(), Error> {
        if self.mirrors.is_none() {
            self.mirrors = Some(self.contact.settle().await?.mirrored_headers);
        }
        let lost = self.held.iter().any(|held| matches!(held, Held::Lost(..)));
        let tools = self.held.iter().filter_map(|held| match held {
            Held::Unsent(job) => job.request.tool(),
            Held::Lost(..) => None,
        });
        let tools: Vec<String> = tools.into_iter().filter(|tool| self.doubts(tool)).collect();
        if tools.iter().any(|tool| self.contact.watcher.consent.doubts(tool)) {
            self.catalog = Some(Catalog::look(&mut self.contact).await?);
        }
        for tool in tools {
            match Catalog::glance(&mut self.contact, &tool).await {
                Ok(None) => {}
                Ok(catalog) => self.catalog = catalog,
                // What was seen may be about a tool of an earlier line. Each is judged by itself.
                Err(_) if !self.contact.watcher.consent.holds(&tool) => {}
                Err(error) => return Err(error),
            }
        }
        if self.catalog.is_none() && (lost || self.lacks_catalog()) {
            self.catalog = Some(Catalog::get(&mut self.contact).await?);
        }
        Ok(())
    }

    /// Gives up everything. Every line that was read has an outcome.
    fn interrupt(&mut self, signal: i32) {
        self.stop = Some(Stop::Signal(signal));
        for (job, sent) in self.contact.cancel(&mut self.flights, "interrupted") {
            let error =
                self.contact.explain(NoResult::Interrupted { signal, sent: true }).sent(sent);
            self.note(&job.line, job.begun.elapsed(), &Outcome::Failed(error));
        }
        for held in std::mem::take(&mut self.held) {
            match held {
                Held::Unsent(job) => {
                    let error = self.contact.explain(NoResult::Interrupted { signal, sent: false });
                    let outcome = Outcome::Failed(error.sent(Sent::No));
                    self.note(&job.line, job.begun.elapsed(), &outcome);
                }
                Held::Lost(job, lost) => self.conclude(&job, Err(lost), true),
            }
        }
    }

    /// Writes what there is, unless nobody reads it.
    async fn write_rest(&mut self) -> Result<(), Error> {
        let Work { run, output, .. } = self;
        let written = async {
            while !output.is_idle() {
                output.written().await?;
            }
            Ok(())
        };
        let enough = async {
            run.interrupted().await;
            Ok(())
        };
        let late = async {
            Timer::after(LAST_WORDS).await;
            Ok(())
        };
        written.or(enough).or(late).await
    }

    /// A request is over.
    fn conclude(&mut self, job: &Job, result: Result<Json, NoResult>, is_call: bool) {
        let outcome = match result {
            Err(no_result) => Outcome::Failed(self.contact.explain(no_result)),
            Ok(result) => match is_call.then(|| answer::failure(&result)).flatten() {
                None => Outcome::Answered(result),
                Some(why) => Outcome::ToolFailed(result, why),
            },
        };
        self.note(&job.line, job.begun.elapsed(), &outcome);
    }

    /// Notes the outcome of a line.
    fn note(&mut self, line: &Line, took: Duration, outcome: &Outcome) {
        self.output.push(line.place, outcome.text(line, took));
        if self.verdict.add(line, outcome) && !self.keep_going {
            self.stop.get_or_insert(Stop::Failure);
        }
    }

    /// How the batch as a whole has ended.
    fn end(&mut self) -> Result<Exit, Error> {
        self.output.finish()?;
        if let Some(Stop::Signal(signal)) = self.stop {
            return Err(self.contact.explain(NoResult::Interrupted { signal, sent: true }));
        }
        if let Some(error) = self.verdict.error(self.stop == Some(Stop::Failure)) {
            return Err(error);
        }
        if self.stop == Some(Stop::Expired) {
            let (limit, after) = (Limit::Total, Duration::ZERO);
            let timed_out = TimedOut { limit, after, sent: false, streaming: false };
            return Err(self.contact.explain(NoResult::Failed(Failure::TimedOut(timed_out))));
        }
        Ok(Exit::Ok)
    }
}
