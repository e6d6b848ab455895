//! Cutting a byte stream into lines, alone and with what is done with them.
#![allow(missing_docs, reason = "criterion's macros make public items")]

#[allow(dead_code, reason = "every bench uses some of it")]
mod messages;
mod settings;

use std::hint::black_box;
use std::io::BufRead;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mcpmini::protocol::framing::jsonl::Lines;
use mcpmini::protocol::jsonrpc::{Limits, decode};

const MANY: usize = 10_000;
/// What a pipe delivers at once.
const BLOCK: usize = 64 << 10;

/// Reads a stream block by block and hands out its lines.
fn read(mut stream: &[u8], mut take: impl FnMut(Vec<u8>)) {
    let mut lines = Lines::new(128 << 20);
    while !stream.is_empty() {
        let spare = lines.spare();
        let (block, rest) = stream.split_at(stream.len().min(spare.len()).min(BLOCK));
        spare[..block.len()].copy_from_slice(block);
        lines.filled(block.len());
        stream = rest;
        while let Some(line) = lines.next_line().expect("no line is over the limit") {
            take(line);
        }
    }
}

/// How long a stream is at least, in bytes, so that it is more than a pipe delivers at once.
const STREAM: usize = 1 << 20;

/// Ten thousand notifications. Divide by that for the time of one.
fn short(criterion: &mut Criterion) {
    compare(criterion, "short", &format!("{}\n", messages::PROGRESS).repeat(MANY));
}

/// Responses of all sizes, as many as make a stream.
fn responses(criterion: &mut Criterion) {
    for (name, response) in messages::responses() {
        let count = STREAM.div_ceil(response.len());
        compare(criterion, name, &format!("{response}\n").repeat(count));
    }
}

/// From a stream to its messages, in this way and in others. To look for the line ends is the bound,
/// and so is to copy it all once.
fn compare(criterion: &mut Criterion, name: &str, stream: &str) {
    let stream = stream.as_bytes();
    let mut group = criterion.benchmark_group(format!("jsonl/{name}"));
    group.throughput(Throughput::Bytes(stream.len() as u64));
    group.bench_function("mcpmini split", |bencher| {
        bencher.iter(|| read(black_box(stream), |line| drop(black_box(line))));
    });
    group.bench_function("mcpmini split and decode", |bencher| {
        let take = |line| decode(line, &Limits::default(), &mut |found| drop(black_box(found)));
        bencher.iter(|| read(black_box(stream), take));
    });
    group.bench_function("std split", |bencher| {
        bencher.iter(|| {
            let mut reader = black_box(stream);
            let mut line = Vec::new();
            while reader.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
                drop(black_box(std::mem::take(&mut line)));
            }
        });
    });
    group.bench_function("std split and serde_json value", |bencher| {
        bencher.iter(|| {
            for line in black_box(stream).lines().map_while(Result::ok) {
                let _ = black_box(serde_json::from_str::<serde_json::Value>(&line));
            }
        });
    });
    group.bench_function("std split and serde_json raw", |bencher| {
        bencher.iter(|| {
            for line in black_box(stream).lines().map_while(Result::ok) {
                let _ = black_box(serde_json::from_str::<messages::RawEnvelope<'_>>(&line));
            }
        });
    });
    group.bench_function("std split and simd-json borrowed", |bencher| {
        bencher.iter(|| {
            for mut line in black_box(stream).split(|byte| *byte == b'\n').map(<[u8]>::to_vec) {
                let _ = black_box(simd_json::to_borrowed_value(&mut line));
            }
        });
    });
    group.bench_function("memchr", |bencher| {
        bencher.iter(|| memchr::memchr_iter(b'\n', black_box(stream)).count());
    });
    let mut copy = vec![0; stream.len()];
    group.bench_function("memcpy", |bencher| {
        bencher.iter(|| black_box(&mut copy).copy_from_slice(black_box(stream)));
    });
    group.finish();
}

/// One line of 64 MiB. To copy it is the bound.
fn long(criterion: &mut Criterion) {
    let mut stream = vec![b'x'; 64 << 20];
    stream.push(b'\n');
    let mut group = criterion.benchmark_group("jsonl/long");
    group.throughput(Throughput::Bytes(stream.len() as u64)).sample_size(10);
    group.bench_function("mcpmini split", |bencher| {
        bencher.iter(|| read(black_box(&stream), |line| drop(black_box(line))));
    });
    group.bench_function("memcpy", |bencher| {
        bencher.iter(|| black_box(stream.clone()));
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = settings::settings();
    targets = short, responses, long
}
criterion_main!(benches);
