//! Calls to a server in another process, with so many in flight at a time, over stdio and over
//! HTTP on the loopback interface.
//!
//! The server is that of `floor/`, which costs as little as a server can; `scripts/build-floor`
//! builds it. The floor sends the same bytes with blocking reads and writes and looks at nothing but
//! where an answer ends. Times of single calls are printed as p50 and p99, beside criterion's time
//! per call. A result of 64 MB over HTTP is also read by the HTTP library alone, and thrown away.
//!
//! RMCP_CLIENT names a client built with rmcp, to be measured beside them. It is called as
//! `RMCP_CLIENT --bench WINDOW COUNT URL` or `RMCP_CLIENT --bench WINDOW COUNT COMMAND WORD...`, and
//! prints a line with its figures. It is not built here: rmcp brings tokio.
#![allow(missing_docs, reason = "criterion's macros make public items")]
#![allow(clippy::print_stdout, reason = "some figures are not criterion's")]

mod calls;
mod settings;

use std::collections::{HashMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use futures_lite::AsyncReadExt;
use isahc::HttpClient;
use isahc::config::Configurable;
use mcpmini::client::{Client, Server, open};
use mcpmini::net::{Address, Meter, Settings};
use mcpmini::protocol::jsonrpc::Limits;
use mcpmini::protocol::opening::Certainty;
use mcpmini::protocol::revision::{Era, Revision};
use mcpmini::protocol::session::{Call, Event};
use mcpmini::protocol::trace::Trace;
use mcpmini::reactor;
use mcpmini::transport::{http, stdio};
use smol::LocalExecutor;

/// How many single calls are timed for the percentiles, over stdio.
const TIMED: u64 = 20_000;

/// The same over HTTP, where they take longer.
const TIMED_HTTP: u64 = 4_000;

/// How long the text of a long result is, in bytes.
const LONG: u64 = 64 << 20;

/// How much the floor writes before it reads, in bytes. The server does not read while nobody reads
/// what it writes, and pipes do not hold a thousand calls.
const WRITTEN: usize = 16 << 10;

/// Somebody who makes calls, `window` of them at a time.
trait Caller {
    /// Makes `count` calls; tells how long each took.
    fn call(&mut self, count: u64, window: usize, took: &mut Vec<Duration>);
}

/// This crate's client.
struct Ours {
    executor: LocalExecutor<'static>,
    client: Option<Client>,
    /// What it calls.
    makes: fn() -> Call,
}

impl Ours {
    fn new(server: Server, makes: fn() -> Call) -> Ours {
        let executor = LocalExecutor::new();
        let certainty = Certainty::Pinned(Revision::newest(Era::Modern));
        let client = open(&executor, server, Limits::default(), certainty, calls::profile());
        Ours { executor, client: Some(client), makes }
    }
}

impl Caller for Ours {
    fn call(&mut self, count: u64, window: usize, took: &mut Vec<Duration>) {
        let client = self.client.as_mut().expect("it is there until the end");
        let makes = self.makes;
        let mut begun = HashMap::new();
        let begin = |client: &mut Client, begun: &mut HashMap<_, _>| {
            begun.insert(client.begin(makes()), Instant::now());
        };
        let calls = async {
            let mut left = count;
            while left > 0 && begun.len() < window {
                begin(client, &mut begun);
                left -= 1;
            }
            while !begun.is_empty() {
                match client.next_event().await {
                    Event::Answered(ticket, result) => {
                        result.expect("the tool gives a result");
                        took.extend(begun.remove(&ticket).map(|at: Instant| at.elapsed()));
                        if left > 0 {
                            begin(client, &mut begun);
                            left -= 1;
                        }
                    }
                    Event::Failed(_, failure) => panic!("{failure:?}"),
                    _ => (),
                }
            }
        };
        reactor::block_on(reactor::with_tasks(&self.executor, calls));
    }
}

impl Drop for Ours {
    fn drop(&mut self) {
        let Some(client) = self.client.take() else { return };
        let closed = client.close(futures_lite::future::pending::<()>());
        reactor::block_on(reactor::with_tasks(&self.executor, closed));
    }
}

/// A call as this crate writes it.
fn request(id: u64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"hello"}},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{{"name":"bench","version":"1"}},"io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    )
}

/// Blocking reads and writes on pipes.
struct Pipes {
    server: Child,
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
}

impl Pipes {
    fn new() -> Pipes {
        let mut server = Command::new(server())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let (stdin, stdout) = (server.stdin.take(), server.stdout.take());
        Pipes { server, stdin, stdout: stdout.expect("it is a pipe") }
    }
}

impl Caller for Pipes {
    fn call(&mut self, count: u64, window: usize, took: &mut Vec<Duration>) {
        let stdin = self.stdin.as_mut().expect("it is there until the end");
        let (mut next, mut answered) = (0, 0);
        let (mut begun, mut lines, mut block) = (VecDeque::new(), Vec::new(), vec![0; 64 << 10]);
        while answered < count {
            lines.clear();
            while next < count && begun.len() < window && lines.len() < WRITTEN {
                next += 1;
                writeln!(lines, "{}", request(next)).expect("memory can be written");
                begun.push_back(Instant::now());
            }
            stdin.write_all(&lines).expect("the server reads");
            let length = self.stdout.read(&mut block).expect("the server writes");
            assert!(length > 0, "the server has gone");
            for _ in block[..length].iter().filter(|byte| **byte == b'\n') {
                answered += 1;
                took.extend(begun.pop_front().map(|at| at.elapsed()));
            }
        }
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        self.stdin = None;
        let _ = self.server.wait();
    }
}

/// Blocking reads and writes on sockets, of which each carries one request at a time.
struct Sockets {
    address: String,
    path: &'static str,
    streams: Vec<TcpStream>,
}

impl Caller for Sockets {
    fn call(&mut self, count: u64, window: usize, took: &mut Vec<Duration>) {
        while self.streams.len() < window {
            let stream = TcpStream::connect(&self.address).expect("the server listens");
            stream.set_nodelay(true).expect("a socket can do that");
            self.streams.push(stream);
        }
        let mut begun = VecDeque::new();
        let (mut next, mut block) = (0, vec![0; 64 << 10]);
        let mut post = |at: usize, stream: &mut TcpStream, begun: &mut VecDeque<_>| {
            if next < count {
                next += 1;
                let (body, path) = (request(next), self.path);
                let head = format!(
                    "POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\nContent-Length: {}\r\n\r\n",
                    body.len()
                );
                stream.write_all((head + &body).as_bytes()).expect("the server reads");
                begun.push_back((at, Instant::now()));
            }
        };
        for (at, stream) in self.streams.iter_mut().enumerate().take(window) {
            post(at, stream, &mut begun);
        }
        while let Some((at, since)) = begun.pop_front() {
            let stream = &mut self.streams[at];
            let mut come = 0;
            // The answer is whole when its last brace has come.
            while !block[..come].trim_ascii_end().ends_with(b"}}") {
                let length = stream.read(&mut block[come..]).expect("the server writes");
                assert!(length > 0, "the server has gone");
                come += length;
            }
            took.push(since.elapsed());
            post(at, stream, &mut begun);
        }
    }
}

/// A server that listens for as long as this lives.
struct Listening {
    server: Child,
    port: u16,
}

impl Listening {
    fn new() -> Listening {
        let mut server = Command::new(server())
            .arg("--http")
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut line = String::new();
        let stdout = server.stdout.take().expect("it is a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("the server prints its port");
        let port = line.trim().parse().expect("a port is a number");
        Listening { server, port }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The server's program.
fn server() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target/bench-peers/floor-server")
}

fn measure(
    criterion: &mut Criterion,
    group: &str,
    name: &str,
    window: usize,
    timed: u64,
    caller: &mut dyn Caller,
) {
    let mut took = Vec::new();
    caller.call(timed / 4, window, &mut took);
    took.clear();
    caller.call(timed, window, &mut took);
    took.sort_unstable();
    let at = |part: f64| took[(took.len() as f64 * part) as usize].as_secs_f64() * 1e6;
    println!("{group}/{name}/{window}: p50 {:.1} µs, p99 {:.1} µs", at(0.5), at(0.99));
    let mut group = criterion.benchmark_group(group);
    group.throughput(Throughput::Elements(1));
    group.bench_function(BenchmarkId::new(name, window), |bencher| {
        bencher.iter_custom(|count| {
            let begun = Instant::now();
            caller.call(count, window, &mut Vec::new());
            begun.elapsed()
        });
    });
    group.finish();
}

/// The same with another client, if there is one.
fn measure_peer(window: usize, timed: u64, words: &[&str]) {
    let Some(program) = std::env::var_os("RMCP_CLIENT") else { return };
    let numbers = [window.to_string(), timed.to_string()];
    let mut peer = Command::new(program);
    let status = peer.arg("--bench").args(numbers).args(words).status();
    if !status.is_ok_and(|status| status.success()) {
        println!("RMCP_CLIENT, {window} in flight: it fails");
    }
}

fn over_stdio(criterion: &mut Criterion) {
    for window in [1, 64, 1_000] {
        let target = stdio::Target {
            program: server().into(),
            args: Vec::new(),
            env: Vec::new(),
            cwd: None,
            stderr: stdio::StderrPolicy::Quiet,
            patience: stdio::Patience::default(),
            trace: Trace::default(),
            meter: Meter::default(),
        };
        let mut ours = Ours::new(Server::Stdio(target), calls::echo);
        measure(criterion, "roundtrip/stdio", "mcpmini", window, TIMED, &mut ours);
        measure(criterion, "roundtrip/stdio", "floor", window, TIMED, &mut Pipes::new());
        let program = server();
        measure_peer(window, TIMED, &[&program.to_string_lossy(), "--legacy"]);
    }
}

fn over_http(criterion: &mut Criterion) {
    let listening = Listening::new();
    for (group, path) in [("roundtrip/http json", "/mcp"), ("roundtrip/http sse", "/sse")] {
        for window in [1, 64] {
            let url = format!("http://127.0.0.1:{}{path}", listening.port);
            let mut ours = Ours::new(at(&url), calls::echo);
            measure(criterion, group, "mcpmini", window, TIMED_HTTP, &mut ours);
            let address = format!("127.0.0.1:{}", listening.port);
            let mut floor = Sockets { address, path, streams: Vec::new() };
            measure(criterion, group, "floor", window, TIMED_HTTP, &mut floor);
            measure_peer(window, TIMED_HTTP, &[&url]);
        }
    }
}

/// The server at a URL.
fn at(url: &str) -> Server {
    Server::Http(http::Target {
        address: Address::parse(url).expect("that is a URL"),
        settings: Settings::default(),
        sse_fallback: false,
        end_session: false,
    })
}

/// A long result, as an event: to this crate's client, which checks it; to the HTTP library and to a
/// socket, which throw it away.
fn long_result(criterion: &mut Criterion) {
    let listening = Listening::new();
    let url = format!("http://127.0.0.1:{}/sse", listening.port);
    let mut group = criterion.benchmark_group("roundtrip/http 64 MB");
    group.throughput(Throughput::Bytes(LONG)).sample_size(10);
    let mut ours = Ours::new(at(&url), || calls::log(LONG));
    group.bench_function("mcpmini", |bencher| bencher.iter(|| ours.call(1, 1, &mut Vec::new())));
    let client = HttpClient::builder().expect_continue(false).build().expect("it has no settings");
    group.bench_function("isahc", |bencher| {
        bencher.iter(|| futures_lite::future::block_on(read_by_isahc(&client, &url)));
    });
    let mut stream = TcpStream::connect(("127.0.0.1", listening.port)).expect("it listens");
    group.bench_function("floor", |bencher| bencher.iter(|| read_by_socket(&mut stream)));
    group.finish();
}

/// A call that is answered with a long result, as text.
fn long_request() -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"log","arguments":{{"bytes":{LONG}}}}}}}"#
    )
}

async fn read_by_isahc(client: &HttpClient, url: &str) {
    let reply = client.post_async(url, long_request()).await;
    let (mut body, mut block) = (reply.expect("it answers").into_body(), vec![0; 16 << 10]);
    let mut come = 0;
    while let length @ 1.. = body.read(&mut block).await.expect("it comes to its end") {
        come += length;
    }
    assert!(come as u64 > LONG - 100, "it is long");
}

fn read_by_socket(stream: &mut TcpStream) {
    let body = long_request();
    let head = format!("POST /sse HTTP/1.1\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all((head + &body).as_bytes()).expect("the server reads");
    let (mut come, mut block) = (0, vec![0; 64 << 10]);
    // The last that comes is the end of an event.
    loop {
        let length = stream.read(&mut block).expect("the server writes");
        assert!(length > 0, "the server has gone");
        come += length;
        if block[..length].ends_with(b"\n\n") && come as u64 > LONG - 100 {
            return;
        }
    }
}

fn roundtrip(criterion: &mut Criterion) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/build-floor");
    let built = Command::new(script).status().expect("there is a shell");
    assert!(built.success(), "the server was not built");
    over_stdio(criterion);
    over_http(criterion);
    long_result(criterion);
}

criterion_group! {
    name = benches;
    config = settings::settings();
    targets = roundtrip
}
criterion_main!(benches);
