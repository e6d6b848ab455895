//! `mcpmini batch`: many requests on one connection, a line each.
//!
//! ```text
//!   input ──▶ flights ──▶ output      nothing is read that cannot be sent, nothing is sent whose
//!               │  ▲                  outcome cannot be written
//!               ▼  │
//!               held                  until the tools of the server are known
//! ```

mod held;
mod input;
mod line;
mod output;
mod tools;
mod verdict;

use std::time::{Duration, Instant};

use futures_lite::{FutureExt, future};
use smol::LocalExecutor;

use self::held::Held;
use self::input::Input;
use self::line::{Line, Request};
use self::output::Output;
use self::tools::{Shelf, Tools};
use self::verdict::{Outcome, Verdict};
use super::answer;
use super::args::many::Batch;
use super::call;
use super::catalog::Catalog;
use super::contact::Contact;
use super::errors::Error;
use super::exit::Exit;
use super::run::Run;
use super::sources;
use crate::client::retry::Policy;
use crate::client::{Flights, Landed, NoResult, Terms};
use crate::protocol::json::Json;
use crate::protocol::message::Sent;
use crate::protocol::method;
use crate::protocol::session::{self, Failure, Fate, Limit, TimedOut};
use crate::reactor::Timer;

/// How long whoever reads the outcomes has to read the rest of them after a signal, or when time is
/// up.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How often a repeatable request is sent again, unless `--retry` says otherwise.
const RETRIES: u32 = 4;

/// Makes the requests of a file, or of standard input.
pub(super) async fn run(
    run: &Run<'_>,
    batch: &Batch,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    sources::check_threads()?;
    let input = Input::open(run, &batch.input)?;
    let contact = Contact::find(run, &batch.server, executor)?;
    let unasked = if run.globals.retry.is_none() { RETRIES } else { 0 };
    let policy = Policy { unasked, ..contact.policy() };
    let shelf = Shelf::default();
    let mut work = Work {
        run,
        jobs: batch.jobs.unwrap_or(JOBS),
        keep_going: batch.keep_going,
        output: Output::new(run, batch.ordered)?,
        policy,
        flights: Flights::new(policy),
        mirrors: if contact.is_http() && !batch.no_schema { None } else { Some(false) },
        judges: batch.check_arguments,
        tells_apart: true,
        barred: if batch.no_schema { Catalog::mirroring(&contact) } else { Vec::new() },
        input,
        contact,
        held: Vec::new(),
        tools: Tools::new(&shelf),
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
struct Work<'a, 's> {
    run: &'a Run<'a>,
    jobs: usize,
    keep_going: bool,
    input: Input,
    output: Output,
    contact: Contact<'a>,
    policy: Policy,
    flights: Flights<Job>,
    /// Lines that go on when the tools of the server are known.
    held: Vec<Held>,
    tools: Tools<'s>,
    /// Whether arguments are held against the schemas of their tools before they are sent.
    judges: bool,
    /// Whether a tool that failed and one that is not there can be told apart by the server's list.
    tells_apart: bool,
    /// Tools that cannot be called because their schemas are not to be used.
    barred: Vec<String>,
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
    /// How often it was sent before its tool had to be looked at again.
    attempts: u32,
    /// The same when the last such look began.
    looked_after: Option<u32>,
}

impl Job {
    fn new(line: Line, request: Request) -> Job {
        Job { line, request, begun: Instant::now(), attempts: 0, looked_after: None }
    }
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

impl Work<'_, '_> {
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
                Step::Expired if self.stop.is_none() => self.stop = Some(Stop::Expired),
                // All calls have ended by now, and nobody reads how.
                Step::Expired => {
                    if self.stop == Some(Stop::End) {
                        self.stop = Some(Stop::Expired);
                    }
                    return Ok(());
                }
                Step::Interrupted(signal) => self.interrupt(signal),
            }
            // What is released may be held again: a list that was remembered may lack a tool.
            while self.flights.is_empty() && !self.held.is_empty() {
                self.release().await;
            }
            if let Some(Stop::Signal(_)) = self.stop {
                return self.write_rest().await;
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
        // When nothing is begun any more, what is left to write has a little longer.
        let more = if stop.is_none() { Duration::ZERO } else { LAST_WORDS };
        let expired = async {
            Timer::at(run.deadline.map(|deadline| deadline + more)).await;
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
            Ok(request) => self.send(Job::new(line, request)),
        }
    }

    /// Sends a request, or holds it until it can be sent.
    fn send(&mut self, job: Job) {
        let tool = job.request.tool();
        if self.contact.watcher.consent.wants_everything() {
            return self.held.push(Held::Unsent(job));
        }
        if tool.as_deref().is_some_and(|tool| self.must_learn(&job.request, tool)) {
            return self.held.push(Held::Unsent(job));
        }
        match self.call(&job.request, tool.as_deref()) {
            Ok((call, terms)) => {
                let terms = Terms { attempts: job.attempts, ..terms };
                self.flights.begin_on(job, call, terms);
            }
            Err(error) => self.note(&job.line, Duration::ZERO, &Outcome::Failed(error)),
        }
    }

    /// The request as a call, and how it may be sent.
    fn call(
        &mut self,
        request: &Request,
        tool: Option<&str>,
    ) -> Result<(session::Call, Terms), Error> {
        let is_unknown = tool.is_some_and(|name| self.tools.named(name).is_none());
        if let (Some(name), true, Some(list)) = (tool, is_unknown, self.tools.list())
            && let Err(error @ Error { exit: Exit::Protocol, .. }) =
                list.require(name, &self.contact)
        {
            // A tool that must not be called. One that the list lacks may be there all the same.
            return Err(error);
        }
        if let Some(name) = tool {
            self.contact.watcher.consent.admit(name)?;
        }
        if let Some(name) = tool.filter(|name| self.barred.iter().any(|barred| barred == name)) {
            return Err(call::needs_schema(name));
        }
        if let Some(name) = tool.filter(|_| self.judges && request.is_judged) {
            let checked = self.tools.check(name, request.arguments());
            checked.map_err(|unfit| call::unfit_arguments(&unfit, name, &self.contact))?;
        }
        let connection = tool.and_then(|_| self.contact.bond());
        let tool = tool.and_then(|name| self.tools.named(name));
        let mirrored = match tool {
            Some(tool) if self.mirrors == Some(true) => call::mirrored(tool, request.arguments())?,
            _ => Vec::new(),
        };
        let mut call = self.contact.prepare(&request.method, request.params.clone(), mirrored);
        if let Some(idle) = request.idle {
            call.idle = idle;
        }
        let repeatable = method::facts(&request.method).repeatable
            || tool.is_some_and(|tool| tool.annotations.is_repeatable());
        Ok((call, Terms { repeatable, connection, ..Terms::default() }))
    }

    /// Takes in the end of a request.
    fn land(&mut self, Landed { tag: job, result }: Landed<Job>) {
        let is_call = job.request.tool().is_some();
        if let Ok(result) = &result {
            self.contact.watcher.consent.note_first_result(result);
        }
        match result {
            // Another look, unless the server is lost after each of them.
            Err(NoResult::Moved { attempts }) if job.looked_after != Some(attempts) => {
                self.contact.watcher.consent.note_changed_list();
                let looked_after = Some(attempts);
                self.held.push(Held::Unsent(Job { attempts, looked_after, ..job }));
            }
            // Only its list tells whether the tool may run twice.
            Err(lost)
                if is_call
                    && self.tools.list().is_none()
                    && lost.fate() == Fate::Unknown
                    && self.policy.plan(&lost, true, 1).is_some() =>
            {
                self.held.push(Held::Lost(job, lost));
            }
            // Many servers report a tool that they do not have as a tool that failed.
            Ok(result) if is_call && self.must_tell_apart(&result) => {
                self.held.push(Held::Failed(job, result));
            }
            result => self.conclude(&job, result, is_call),
        }
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
                Held::Failed(job, result) => self.conclude(&job, Ok(result), true),
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
        let result = result.map_err(|no_result| self.contact.explain(no_result));
        let result = result.and_then(|result| match is_call {
            true => answer::check(&result).map(|()| result),
            false => Ok(result),
        });
        let outcome = match result {
            Err(error) => Outcome::Failed(error),
            Ok(result) => match is_call.then(|| answer::failure(&result)).flatten() {
                None => Outcome::Answered(result),
                Some(why) => match self.unknown_tool(&job.request) {
                    Some(unknown) => Outcome::Failed(unknown.sent(Sent::Yes)),
                    None => Outcome::ToolFailed(result, why),
                },
            },
        };
        self.note(&job.line, job.begun.elapsed(), &outcome);
    }

    /// Whether the server must be asked for its tools before a result can be told.
    fn must_tell_apart(&self, result: &Json) -> bool {
        let is_fresh = self.tools.list().is_some_and(|list| !list.remembered);
        self.tells_apart && !is_fresh && answer::failure(result).is_some()
    }

    /// The error for a tool that failed because the server does not have it, as its list shows.
    fn unknown_tool(&self, request: &Request) -> Option<Error> {
        let list = self.tools.list().filter(|list| !list.remembered)?;
        let error = list.require(&request.tool()?, &self.contact).err()?;
        (error.exit == Exit::Rpc).then_some(error)
    }

    /// Notes the outcome of a line.
    fn note(&mut self, line: &Line, took: Duration, outcome: &Outcome) {
        let shown = match outcome {
            Outcome::Failed(error) => &Outcome::Failed(self.run.redaction.error(error.clone())),
            data => data,
        };
        self.output.push(line.place, shown.text(line, took));
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
