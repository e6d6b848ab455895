//! Cutting event streams into events.
#![allow(missing_docs, reason = "criterion's macros make public items")]

#[allow(dead_code, reason = "every bench uses some of it")]
mod messages;
mod settings;

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use eventsource_stream::Eventsource as _;
use futures_lite::{StreamExt as _, future, stream};
use mcpmini::protocol::framing::sse::Events;

const MANY: usize = 10_000;
/// What an HTTP client delivers at once.
const CHUNK: usize = 16 << 10;

fn read(stream: &[u8]) {
    read_in(stream, CHUNK);
}

/// Reads events from a stream that comes in chunks of that length.
fn read_in(stream: &[u8], length: usize) {
    let mut events = Events::new(128 << 20);
    for mut chunk in stream.chunks(length) {
        while let Some(event) = events.next_event(&mut chunk).expect("no event is over the limit") {
            drop(black_box(event));
        }
    }
}

/// What eventsource-stream makes of it, which most clients in Rust use.
fn read_with_crate(stream: &[u8]) {
    let chunks = stream::iter(stream.chunks(CHUNK).map(Ok::<_, std::io::Error>));
    let mut events = chunks.eventsource();
    future::block_on(async {
        while let Some(event) = events.next().await {
            drop(black_box(event.expect("the stream has only events")));
        }
    });
}

/// Ten thousand short events. Divide by that for the time of one.
fn short(criterion: &mut Criterion) {
    let data = messages::PROGRESS;
    let streams = [
        ("LF", format!("data: {data}\n\n")),
        ("CRLF", format!("data: {data}\r\n\r\n")),
        ("CR", format!("data: {data}\r\r")),
        ("named", format!("event: message\ndata: {data}\n\n")),
        ("named, with id", format!("id: 10\nevent: message\ndata: {data}\n\n")),
        ("with a comment", format!(": alive\ndata: {data}\n\n")),
        ("two data lines", format!("data: {data}\ndata: {data}\n\n")),
    ];
    let mut group = criterion.benchmark_group("sse/short");
    for (name, event) in streams {
        let stream = event.repeat(MANY);
        group.throughput(Throughput::Bytes(stream.len() as u64));
        group.bench_function(name, |bencher| bencher.iter(|| read(black_box(stream.as_bytes()))));
    }
    let stream = format!("data: {data}\n\n").repeat(MANY);
    group.throughput(Throughput::Bytes(stream.len() as u64));
    group.bench_function("LF, eventsource-stream", |bencher| {
        bencher.iter(|| read_with_crate(black_box(stream.as_bytes())));
    });
    group.bench_function("LF, byte by byte", |bencher| {
        bencher.iter(|| read_in(black_box(stream.as_bytes()), 1));
    });
    group.bench_function("LF, memchr only", |bencher| {
        bencher.iter(|| memchr::memchr2_iter(b'\n', b'\r', black_box(stream.as_bytes())).count());
    });
    group.finish();
}

/// One event of 8 MiB. To copy it is the bound.
fn long(criterion: &mut Criterion) {
    let stream = format!("data: {}\n\n", "x".repeat(8 << 20));
    let mut group = criterion.benchmark_group("sse/long");
    group.throughput(Throughput::Bytes(stream.len() as u64)).sample_size(20);
    group.bench_function("mcpmini", |bencher| bencher.iter(|| read(black_box(stream.as_bytes()))));
    group.bench_function("memcpy", |bencher| bencher.iter(|| black_box(stream.clone())));
    group.finish();
}

criterion_group! {
    name = benches;
    config = settings::settings();
    targets = short, long
}
criterion_main!(benches);
