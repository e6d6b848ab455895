//! Finding the parts of a message, and reading the result in it, beside other ways to do it.
#![allow(missing_docs, reason = "criterion's macros make public items")]

#[allow(dead_code, reason = "every bench uses some of it")]
mod messages;
mod settings;

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mcpmini::protocol::json::Json;
use mcpmini::protocol::jsonrpc::{Limits, decode, scan};
use mcpmini::protocol::model::document::Document;
use mcpmini::protocol::model::result::CallResult;
use simd_json::{Buffers, INPUT_PADDING, Tape};

/// From text to the spans of its members. To copy the text is the bound.
fn envelope(criterion: &mut Criterion) {
    for (name, text) in messages::responses() {
        let mut group = criterion.benchmark_group(format!("envelope/{name}"));
        group.throughput(Throughput::Bytes(text.len() as u64));
        let bytes = text.as_bytes();
        group.bench_function("mcpmini", |bencher| {
            bencher.iter(|| black_box(&scan::envelope(black_box(&text), 512)).is_ok());
        });
        group.bench_function("mcpmini decode", |bencher| {
            bencher.iter_batched_ref(
                || bytes.to_vec(),
                |frame| {
                    let frame = std::mem::take(frame);
                    decode(frame, &Limits::default(), &mut |found| drop(black_box(found)));
                },
                criterion::BatchSize::LargeInput,
            );
        });
        group.bench_function("serde_json raw", |bencher| {
            bencher.iter(|| {
                black_box(&serde_json::from_str::<messages::RawEnvelope<'_>>(&text)).is_ok()
            });
        });
        group.bench_function("serde_json value", |bencher| {
            bencher.iter(|| black_box(&serde_json::from_str::<serde_json::Value>(&text)).is_ok());
        });
        let mut padded = Vec::new();
        let mut buffers = Buffers::new(bytes.len());
        group.bench_function("simd-json tape", |bencher| {
            let mut empty = Tape::null();
            bencher.iter(|| {
                padded.clear();
                padded.extend_from_slice(bytes);
                padded.resize(bytes.len() + INPUT_PADDING, b' ');
                let mut tape = std::mem::replace(&mut empty, Tape::null()).reset();
                let read =
                    simd_json::fill_tape_padded(&mut padded, bytes.len(), &mut buffers, &mut tape);
                black_box(&tape);
                empty = tape.reset();
                read.is_ok()
            });
        });
        let mut copy = vec![0; bytes.len()];
        group.bench_function("memcpy", |bencher| {
            bencher.iter(|| black_box(&mut copy).copy_from_slice(black_box(bytes)));
        });
        group.finish();
    }
}

/// From the text of a result to its content blocks.
fn result(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("result");
    let mut document = Document::new();
    for (name, text) in messages::responses() {
        let result = scan::member(&text, "result").expect("responses have a result");
        let result = Json::from(result);
        group.throughput(Throughput::Bytes(result.as_str().len() as u64));
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                black_box(&CallResult::read(black_box(&result)).blocks(&mut document)).len()
            });
        });
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = settings::settings();
    targets = envelope, result
}
criterion_main!(benches);
