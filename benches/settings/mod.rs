//! How long a figure takes, the same in all benches.

use std::time::Duration;

use criterion::Criterion;

/// A second and a half for each figure: there are a hundred, and somebody waits for them.
pub(crate) fn settings() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(1))
        .sample_size(20)
}
