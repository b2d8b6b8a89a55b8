//! Rates and latencies of what a job has done.

use weir_model::Nanoseconds;

use crate::measure::job::OperationSpan;

/// Operations a second in the second part of a job: the first fills queues.
pub(crate) fn per_second(done: &[OperationSpan]) -> Option<f64> {
    let start = done.len() / 5;
    let (first, last) = (done.get(start)?, done.last()?);
    let seconds = (last.end_ns - first.end_ns) as f64 / 1e9;
    let operations = done.len() - 1 - start;
    (seconds > 0.0 && operations >= 4).then(|| operations as f64 / seconds)
}

pub(crate) fn mean_us(done: &[OperationSpan]) -> Option<f64> {
    let sum: f64 = done.iter().map(OperationSpan::latency_us).sum();
    (!done.is_empty()).then(|| sum / done.len() as f64)
}

/// The latency that `percent` of `latencies_us` keep; `None` where fewer than ten are above it.
pub(crate) fn percentile(latencies_us: &[f64], percent: f64) -> Option<f64> {
    let above = latencies_us.len() as f64 * (1.0 - percent / 100.0);
    if above < 10.0 {
        return None;
    }
    let mut sorted = latencies_us.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
        .get((sorted.len() as f64 * percent / 100.0) as usize)
        .copied()
}

/// Returns the time at which each operation was done, since the first was handed over.
pub(crate) fn ends_ns(done: &[OperationSpan]) -> Vec<Nanoseconds> {
    let start = done.iter().map(|operation| operation.start_ns).min();
    let start = start.unwrap_or(0);
    done.iter()
        .map(|operation| operation.end_ns - start)
        .collect()
}
