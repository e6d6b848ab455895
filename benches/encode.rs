//! Writing messages.
#![allow(missing_docs, reason = "criterion's macros make public items")]

mod settings;

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mcpmini::protocol::jsonrpc::encode;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// Requests by the size of their parameters. To copy those is the bound.
fn request(criterion: &mut Criterion) {
    for length in [100, 4 << 10, 1 << 20] {
        let params =
            format!(r#"{{"name":"write","arguments":{{"text":"{}"}}}}"#, "x".repeat(length));
        let mut group = criterion.benchmark_group(format!("encode/request {length}"));
        group.throughput(Throughput::Bytes(params.len() as u64));
        group.bench_function("mcpmini", |bencher| {
            bencher.iter(|| encode::request(7, false, "tools/call", black_box(&params)));
        });
        let raw: Box<RawValue> = serde_json::from_str(&params).expect("the parameters are JSON");
        group.bench_function("serde_json raw", |bencher| {
            #[derive(serde::Serialize)]
            struct Request<'a> {
                jsonrpc: &'a str,
                id: u64,
                method: &'a str,
                params: &'a RawValue,
            }
            bencher.iter(|| {
                let params = black_box(&*raw);
                let request = Request { jsonrpc: "2.0", id: 7, method: "tools/call", params };
                serde_json::to_string(&request)
            });
        });
        let value: Value = serde_json::from_str(&params).expect("the parameters are JSON");
        group.bench_function("serde_json value", |bencher| {
            bencher.iter(|| {
                let params = black_box(&value);
                let request =
                    json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
                request.to_string()
            });
        });
        group.bench_function("memcpy", |bencher| bencher.iter(|| black_box(&params).clone()));
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = settings::settings();
    targets = request
}
criterion_main!(benches);
