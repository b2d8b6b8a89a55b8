//! The limits of a cloud volume: reads, writes and both together end at the same rate.

use crate::figure::Figure;
use crate::job::Work;
use crate::samples::{Samples, mean};
use crate::session::PAGE;
use crate::sustained::small_writes_per_s;

/// Rates that differ by less are the same.
const SAME: f64 = 0.05;

/// What the provider lets through, reads and writes together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Throttled {
    pub(crate) iops: Figure,
    pub(crate) mb_per_s: Figure,
}

/// The limits, where rates and bandwidths of reads and writes are the same. Flash has other limits
/// for reads than for writes.
pub(crate) fn throttled(samples: &Samples) -> Option<Throttled> {
    let reads = most_reads_per_s(samples)?;
    let writes = small_writes_per_s(samples);
    let mixed = samples.of("mixed_per_s");
    let read_mb: Vec<f64> = to_mb(samples.of("read_bytes_per_s"));
    let write_mb: Vec<f64> = to_mb(samples.of("write_bytes_per_s"));
    let rate = mean(&reads)?;
    let operations_agree = is_same(rate, mean(&writes)?) && is_same(rate, mean(mixed)?);
    if !operations_agree || !is_same(mean(&read_mb)?, mean(&write_mb)?) {
        return None;
    }
    let how = "reads, writes and both in turn end at the same rate: a limit of the provider";
    let all: Vec<f64> = read_mb.into_iter().chain(write_mb).collect();
    Some(Throttled {
        iops: Figure::of_rounds("throttle.iops.base", &reads, how)?,
        mb_per_s: Figure::of_rounds("throttle.mb_per_s.base", &all, how)?,
    })
}

/// The rate of 4 KiB reads in each round at the depth at which it is highest.
pub(crate) fn most_reads_per_s(samples: &Samples) -> Option<Vec<f64>> {
    let cells = samples.cells.iter();
    let cells = cells.filter(|cell| cell.work == Work::Read && cell.bytes == PAGE);
    let rates = cells.map(|cell| cell.per_second.clone());
    rates
        .filter(|rates| !rates.is_empty())
        .max_by(|a, b| mean(a).unwrap_or(0.0).total_cmp(&mean(b).unwrap_or(0.0)))
}

fn to_mb(values: &[f64]) -> Vec<f64> {
    values.iter().map(|bytes| bytes / 1e6).collect()
}

fn is_same(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() < SAME
}
