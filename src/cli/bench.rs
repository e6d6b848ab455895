//! `mcpmini bench`: how fast a tool answers.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures_lite::FutureExt;
use smol::LocalExecutor;

use super::answer;
use super::args::Format;
use super::args::commands::Call;
use super::args::many::Bench;
use super::call;
use super::contact::Contact;
use super::errors::Error;
use super::exit::Exit;
use super::output;
use super::requests::given_up_by;
use super::run::Run;
use super::sources;
use crate::client::{Flights, Landed, NoResult, Terms};
use crate::protocol::arguments;
use crate::protocol::json::Json;
use crate::protocol::method;
use crate::protocol::params::Members;
use crate::protocol::session;
use crate::protocol::sorting::sort;

/// How many calls are made.
const CALLS: usize = 100;

/// How often a server is looked at anew that is lost each time.
const LOOKS: u32 = 2;

/// Calls a tool again and again, and prints how long it took.
pub(super) async fn run(
    run: &Run<'_>,
    bench: &Bench,
    executor: &LocalExecutor<'static>,
) -> Result<Exit, Error> {
    let call = Call {
        no_schema: bench.no_schema,
        no_check: bench.no_check,
        server: bench.server.clone(),
        tool: bench.tool.clone(),
        args: bench.args.clone(),
        ..Call::default()
    };
    let words = arguments::parse(&call.args, run.tail)?;
    let contents = sources::read_all(run, words.inputs())?;
    let mut contact = Contact::find(run, &bench.server, executor)?;
    let measured = async {
        let begun = Instant::now();
        contact.warm_up().await?;
        let opened = begun.elapsed();
        let tool = call::tool(&call, &words, &mut contact).await?;
        let (params, mirrored) = call::prepare(&call, &words, &contents, tool.as_ref(), &contact)?;
        let request = contact.prepare(method::CALL_TOOL, params, mirrored);
        measure(run, bench, &mut contact, request, opened).await
    };
    let measured = measured.await;
    contact.finish(measured).await
}

/// Makes the calls and prints what was measured.
async fn measure(
    run: &Run<'_>,
    bench: &Bench,
    contact: &mut Contact<'_>,
    request: session::Call,
    opened: Duration,
) -> Result<Exit, Error> {
    let jobs = bench.jobs.unwrap_or(1);
    let wanted = bench.calls.unwrap_or(CALLS);
    let mut tally = Tally { jobs, opened, ..Tally::default() };
    let mut flights = Flights::new(contact.policy());
    let mut begun = 0;
    let mut stopped = None;
    // How often the server was looked at anew since it answered last.
    let mut looks_in_vain = 0;
    let start = Instant::now();
    loop {
        let goes_on = begun < wanted && stopped.is_none();
        if goes_on && flights.is_empty() && contact.watcher.consent.holds() {
            // The server was lost, or the last look is long ago: it may be another one now.
            contact.admit_tool(&bench.tool).await?;
            looks_in_vain += 1;
        }
        let is_held = contact.watcher.consent.holds_meanwhile();
        while begun < wanted && flights.len() < jobs && stopped.is_none() && !is_held {
            let terms = Terms { connection: contact.bond(), ..Terms::default() };
            flights.begin_on((begun, Instant::now()), request.clone(), terms);
            begun += 1;
        }
        if flights.is_empty() {
            break;
        }
        let ended = contact.ended();
        let landed = async { Ok(contact.landed(&mut flights).await) };
        match landed.or(async { Err(ended.await) }).await {
            Ok(landed) => {
                let Landed { tag: (number, sent_at), result } = landed?;
                match &result {
                    Err(NoResult::Moved { .. }) => {
                        contact.watcher.consent.note_changed_list();
                        if looks_in_vain < LOOKS {
                            // It was not sent.
                            begun -= 1;
                            continue;
                        }
                    }
                    _ => looks_in_vain = 0,
                }
                let failed = tally.add(number, sent_at.elapsed(), failure(contact, result));
                if failed && !bench.keep_going {
                    stopped.get_or_insert(None);
                }
            }
            Err(ended) => {
                contact.cancel(&mut flights, "interrupted");
                stopped = Some(Some(given_up_by(ended, true)));
            }
        }
    }
    tally.took = start.elapsed();
    output::write(run, tally.shown(run.settings.output).as_bytes())?;
    match (stopped.flatten(), tally.first) {
        (Some(ended), _) => Err(contact.explain(ended)),
        (None, Some((_, error))) => Err(error),
        (None, None) => Ok(Exit::Ok),
    }
}

/// Why a call failed, if it did.
fn failure(contact: &Contact<'_>, result: Result<Json, NoResult>) -> Option<Error> {
    match result {
        Err(no_result) => Some(contact.explain(no_result)),
        Ok(result) => {
            answer::failure(&result).map(|why| answer::tool_failed(&contact.server.name, &why))
        }
    }
}

/// What was measured.
#[derive(Debug, Default)]
struct Tally {
    jobs: usize,
    /// How long it took to open the session.
    opened: Duration,
    /// How long all calls took together.
    took: Duration,
    /// How long each call took that was answered.
    latencies: Vec<Duration>,
    /// How many calls failed, by the class of the error, but for those that were lost.
    failed: BTreeMap<&'static str, usize>,
    /// Of how many calls nobody knows whether they have run: the connection was lost.
    lost: usize,
    /// The number of the first call that failed, and why.
    first: Option<(usize, Error)>,
}

/// The shares of calls whose latency is told.
const SHARES: [(&str, f64); 3] = [("p50", 0.50), ("p90", 0.90), ("p99", 0.99)];

impl Tally {
    /// Adds a call; tells whether it failed.
    fn add(&mut self, number: usize, took: Duration, failure: Option<Error>) -> bool {
        let Some(error) = failure else {
            self.latencies.push(took);
            return false;
        };
        match error.exit {
            Exit::Lost => self.lost += 1,
            other => *self.failed.entry(other.class()).or_default() += 1,
        }
        if self.first.as_ref().is_none_or(|(first, _)| number < *first) {
            self.first = Some((number, error));
        }
        true
    }

    fn shown(&self, form: Format) -> String {
        match form {
            Format::Json => self.json() + "\n",
            _ => self.text(),
        }
    }

    fn per_second(&self) -> f64 {
        self.latencies.len() as f64 / self.took.as_secs_f64().max(f64::EPSILON)
    }

    /// The latencies in milliseconds, by their names; none when no call was answered.
    fn milliseconds(&self) -> Vec<(&'static str, f64)> {
        let mut sorted = self.latencies.clone();
        sort(&mut sorted);
        let shares = SHARES.iter().map(|(name, share)| (*name, percentile(&sorted, *share)));
        let all = shares.chain([("max", sorted.last().copied())]);
        all.filter_map(|(name, latency)| Some((name, latency?.as_secs_f64() * 1e3))).collect()
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let mut row = |name: &str, value: String| text += &format!("{name:<12}{value}\n");
        row("calls", format!("{} answered, {} at a time", self.latencies.len(), self.jobs));
        for (class, count) in &self.failed {
            row("failed", format!("{count} ({class})"));
        }
        if 0 < self.lost {
            row("lost", format!("{} (they may have run)", self.lost));
        }
        row("opened in", format!("{:.3} ms", self.opened.as_secs_f64() * 1e3));
        row("took", format!("{:.3} s", self.took.as_secs_f64()));
        row("throughput", format!("{:.1} calls/s", self.per_second()));
        for (name, milliseconds) in self.milliseconds() {
            row(name, format!("{milliseconds:.3} ms"));
        }
        text
    }

    fn json(&self) -> String {
        let mut latencies = Members::new();
        for (name, milliseconds) in self.milliseconds() {
            latencies.push(name, &format!("{milliseconds:.3}"));
        }
        let mut failed = Members::new();
        for (class, count) in &self.failed {
            failed.push(class, &count.to_string());
        }
        let mut members = Members::new();
        members.push("answered", &self.latencies.len().to_string());
        members.push("failed", &failed.finish());
        members.push("lost", &self.lost.to_string());
        members.push("jobs", &self.jobs.to_string());
        members.push("openedMs", &format!("{:.3}", self.opened.as_secs_f64() * 1e3));
        members.push("seconds", &format!("{:.6}", self.took.as_secs_f64()));
        members.push("perSecond", &format!("{:.1}", self.per_second()));
        members.push("ms", &latencies.finish());
        members.finish()
    }
}

/// The least latency that at least this share of the calls did not exceed (nearest rank); `None`
/// when there are no calls.
fn percentile(sorted: &[Duration], share: f64) -> Option<Duration> {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_latencies_that_were_measured() {
        let check = |count: u64, share, expected: Option<u64>| {
            let sorted: Vec<_> = (1..=count).map(Duration::from_millis).collect();
            assert_eq!(percentile(&sorted, share), expected.map(Duration::from_millis));
        };
        check(0, 0.5, None);
        check(1, 0.5, Some(1));
        check(1, 0.99, Some(1));
        check(2, 0.5, Some(1));
        check(3, 0.5, Some(2));
        check(10, 0.9, Some(9));
        check(100, 0.99, Some(99));
        check(101, 0.99, Some(100));
        check(1000, 0.5, Some(500));
    }

    #[test]
    fn a_tally_is_shown_in_rows_or_as_an_object() {
        let mut tally = Tally {
            jobs: 2,
            opened: Duration::from_micros(1_500),
            took: Duration::from_millis(500),
            ..Tally::default()
        };
        for milliseconds in [3, 1, 2] {
            assert!(!tally.add(0, Duration::from_millis(milliseconds), None));
        }
        assert!(tally.add(5, Duration::ZERO, Some(Error::new(Exit::Rpc, "later"))));
        assert!(tally.add(4, Duration::ZERO, Some(Error::new(Exit::Rpc, "first"))));
        assert!(tally.add(6, Duration::ZERO, Some(Error::new(Exit::Lost, "gone"))));
        assert_eq!(tally.first.as_ref().unwrap().1.message, "first");
        assert_eq!(
            tally.text(),
            "calls       3 answered, 2 at a time\nfailed      2 (rpc_error)\n\
             lost        1 (they may have run)\nopened in   1.500 ms\ntook        0.500 s\nthroughput  6.0 calls/s\n\
             p50         2.000 ms\np90         3.000 ms\np99         3.000 ms\nmax         3.000 ms\n"
        );
        assert_eq!(
            tally.json(),
            "{\"answered\":3,\"failed\":{\"rpc_error\":2},\"lost\":1,\"jobs\":2,\"openedMs\":1.500,\
             \"seconds\":0.500000,\"perSecond\":6.0,\
             \"ms\":{\"p50\":2.000,\"p90\":3.000,\"p99\":3.000,\"max\":3.000}}"
        );
    }
}
