//! From a call to its answer, with so many others in flight: nanoseconds, and how often memory is
//! asked for.
//!
//! What is measured for `mcpmini` is everything its session does, from the caller's parameters to
//! the request line and from the response line to the caller's result. Beside it: what clients do
//! that keep a table of channels, and the table alone.
#![allow(missing_docs, reason = "criterion's macros make public items")]
#![allow(clippy::print_stdout, reason = "some figures are not criterion's")]

mod calls;
#[path = "messages/counting.rs"]
mod counting;
mod settings;

use std::collections::{HashMap, VecDeque};
use std::hint::black_box;
use std::time::Instant;

use counting::{Counting, allocations};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use mcpmini::protocol::Outgoing;
use mcpmini::protocol::jsonrpc::{Limits, decode};
use mcpmini::protocol::message::Incoming;
use mcpmini::protocol::opening::Certainty;
use mcpmini::protocol::revision::{Era, Revision};
use mcpmini::protocol::session::{Event, Output, Session};
use serde_json::Value;

#[global_allocator]
static COUNTING: Counting = Counting;

const IN_FLIGHT: [usize; 4] = [1, 64, 1_000, 100_000];

/// How many calls the count of allocations is an average of.
const COUNTED: u64 = 10_000;

/// A client that begins a call and gets the answer to the oldest, again and again.
trait Client {
    /// Begins one more call.
    fn begin(&mut self);
    /// Takes in the answer to the oldest call.
    fn answer(&mut self);
}

/// The session of this crate.
struct Ours {
    session: Session,
    now: Instant,
    /// The number of the oldest call in flight, which the answers are written with.
    oldest: u64,
    line: Vec<u8>,
}

impl Ours {
    fn new() -> Ours {
        let now = Instant::now();
        let revision = Revision::newest(Era::Modern);
        let session = Session::new(Certainty::Pinned(revision), calls::profile(), now);
        Ours { session, now, oldest: 1, line: Vec::new() }
    }
}

impl Client for Ours {
    fn begin(&mut self) {
        self.session.call(calls::echo());
        loop {
            match self.session.poll(self.now) {
                Output::Transmit(Outgoing::Deliver(delivery)) => {
                    black_box(delivery);
                    break;
                }
                Output::Wait(_) => panic!("the call was not sent"),
                _ => (),
            }
        }
    }

    fn answer(&mut self) {
        response(self.oldest, &mut self.line);
        self.oldest += 1;
        let mut incoming = None;
        decode(self.line.clone(), &Limits::default(), &mut |decoded| incoming = Some(decoded));
        let incoming = Incoming::from(incoming.expect("the line is a message"));
        self.session.handle_incoming(incoming, self.now);
        loop {
            match self.session.poll(self.now) {
                Output::Event(Event::Answered(_, answer)) => {
                    black_box(&answer).as_ref().expect("the answer is a result");
                    break;
                }
                Output::Wait(_) => panic!("the answer was not told"),
                _ => (),
            }
        }
    }
}

/// A table of channels, and serde_json for what goes in and out.
#[derive(Default)]
struct Channels {
    last: u64,
    waiting: HashMap<u64, async_channel::Sender<Value>>,
    callers: VecDeque<async_channel::Receiver<Value>>,
    oldest: u64,
    line: Vec<u8>,
}

impl Client for Channels {
    fn begin(&mut self) {
        self.last += 1;
        let (sender, receiver) = async_channel::bounded(1);
        self.waiting.insert(self.last, sender);
        self.callers.push_back(receiver);
        let request = serde_json::json!({
            "jsonrpc": "2.0", "id": self.last, "method": "tools/call",
            "params": {"name": "echo", "arguments": {"text": "hello"}, "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            }},
        });
        black_box(request.to_string());
    }

    fn answer(&mut self) {
        self.oldest += 1;
        response(self.oldest, &mut self.line);
        let mut message: Value = serde_json::from_slice(&self.line).expect("the line is JSON");
        let id = message["id"].as_u64().expect("the id is a number");
        let sender = self.waiting.remove(&id).expect("the call is in flight");
        sender.try_send(message["result"].take()).expect("the caller waits");
        let caller = self.callers.pop_front().expect("somebody waits");
        black_box(caller.try_recv()).expect("the answer has come");
    }
}

/// The table alone.
#[derive(Default)]
struct Table {
    last: u64,
    waiting: HashMap<u64, u64>,
    oldest: u64,
}

impl Client for Table {
    fn begin(&mut self) {
        self.last += 1;
        self.waiting.insert(self.last, self.last);
    }

    fn answer(&mut self) {
        self.oldest += 1;
        black_box(self.waiting.remove(&self.oldest));
    }
}

/// Writes the answer to a request of that number.
fn response(id: u64, line: &mut Vec<u8>) {
    use std::io::Write as _;
    line.clear();
    write!(
        line,
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","content":[{{"type":"text","text":"hello"}}]}}}}"#
    )
    .expect("memory can be written");
}

fn correlation(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("correlation");
    for in_flight in IN_FLIGHT {
        let mut measure = |name: &str, client: &mut dyn Client| {
            // Of those in flight one at a time is answered, and another begun in its place.
            (1..in_flight).for_each(|_| client.begin());
            let mut turn = || {
                client.begin();
                client.answer();
            };
            (0..COUNTED).for_each(|_| turn());
            let before = allocations();
            (0..COUNTED).for_each(|_| turn());
            let count = (allocations() - before) as f64 / COUNTED as f64;
            println!("correlation/{name}/{in_flight}: {count:.1} allocations per request");
            group.bench_function(BenchmarkId::new(name, in_flight), |bencher| {
                bencher.iter(&mut turn);
            });
        };
        measure("mcpmini", &mut Ours::new());
        measure("channels", &mut Channels::default());
        measure("table", &mut Table::default());
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = settings::settings();
    targets = correlation
}
criterion_main!(benches);
