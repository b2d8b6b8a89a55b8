//! The limits of a cloud volume: reads, writes and both together end at the same rate.

use crate::measure::cliff::{Cliff, cliff};
use crate::measure::figure::Figure;
use crate::measure::job::Work;
use crate::measure::random_write_limit::small_writes_per_s;
use crate::measure::samples::{Samples, mean};
use crate::measure::session::{LARGE, PAGE};

/// Rates that differ by less are the same.
const SAME: f64 = 0.05;
/// Difference of rates where only operations have the same rate: flash may have nearly the same for reads and writes.
const ALIKE: f64 = 0.01;
/// Rates after two drops that differ by less are the same: they are of one go each.
const AGAIN: f64 = 0.1;

/// Limits of the provider, on reads and writes together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ProviderLimits {
    pub(crate) iops: Figure,
    /// `None`: reads and writes in sequence end at different rates.
    pub(crate) mb_per_s: Option<Figure>,
    /// The faster of both.
    pub(crate) most_mb_per_s: f64,
    /// Time at which the long go of reads had spent the credit of operations.
    pub(crate) drop_of_reads: Option<Cliff>,
    /// Time at which the first write had spent the credit of bytes.
    pub(crate) drop_of_writes: Option<Cliff>,
}

/// The limits, where rates and bandwidths of reads and writes are the same. Flash has other limits
/// for reads than for writes. A volume that has saved up credit shows its limits in long goes alone:
/// it saves again whenever a round leaves it time.
pub(crate) fn throttled(samples: &Samples) -> Option<ProviderLimits> {
    let writes_per_s = mean(&small_writes_per_s(samples))?;
    let mixed_per_s = mean(samples.values("mixed_per_s"))?;
    // A busy host makes drops, too.
    let drop_of_reads = cliff(&samples.long_reads)
        .filter(|drop| is_same(drop.after / PAGE as f64, writes_per_s, SAME));
    let reads = match &drop_of_reads {
        Some(drop) => drop.rates_after.clone(),
        None => most_reads_per_s(samples)?,
    };
    let rate = mean(&reads)?;
    let is_rate = |share| is_same(rate, writes_per_s, share) && is_same(rate, mixed_per_s, share);
    let drop_of_writes = cliff(&samples.first_write).filter(|drop| is_again(samples, drop));
    let bytes_per_s: Option<Vec<f64>> = match &drop_of_writes {
        Some(drop) => Some(
            drop.rates_after
                .iter()
                .map(|rate| rate * LARGE as f64)
                .collect(),
        ),
        None => bandwidths(samples),
    };
    if !is_rate(if bytes_per_s.is_some() { SAME } else { ALIKE }) {
        return None;
    }
    let mb_per_s: Vec<f64> = bytes_per_s
        .into_iter()
        .flatten()
        .map(|bytes| bytes / 1e6)
        .collect();
    let how = "reads, writes and both in turn end at the same rate: a limit of the provider";
    let (read, write) = (
        samples.mean("read_bytes_per_s")?,
        samples.mean("write_bytes_per_s")?,
    );
    Some(ProviderLimits {
        iops: Figure::of_rounds("throttle.iops.base", &reads, how)?,
        mb_per_s: Figure::of_rounds("throttle.mb_per_s.base", &mb_per_s, how),
        most_mb_per_s: read.max(write) / 1e6,
        drop_of_reads,
        drop_of_writes,
    })
}

/// Returns true if the writes after the rest ended at the rate after the drop, and the reads after those had it, too.
fn is_again(samples: &Samples, drop: &Cliff) -> bool {
    let Some((_, curve)) = &samples.after_rest else {
        return false;
    };
    let ends_ns = &curve.ends_ns;
    let from = ends_ns.len() * 4 / 5;
    let (Some(&first), Some(&last)) = (ends_ns.get(from), ends_ns.last()) else {
        return false;
    };
    let bytes = (curve.bytes * (ends_ns.len() - 1 - from) as u64) as f64;
    let writes = bytes * 1e9 / (last - first).max(1) as f64;
    let reads = samples.mean("read_bytes_per_s_after_drop").unwrap_or(0.0);
    let is_after = |rate: f64| (rate / drop.after - 1.0).abs() < AGAIN;
    is_after(writes) && is_after(reads)
}

/// Bytes a second of reads and writes in sequence, if both are the same.
fn bandwidths(samples: &Samples) -> Option<Vec<f64>> {
    let (reads, writes) = (
        samples.values("read_bytes_per_s"),
        samples.values("write_bytes_per_s"),
    );
    is_same(mean(reads)?, mean(writes)?, SAME).then(|| [reads, writes].concat())
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

fn is_same(a: f64, b: f64, share: f64) -> bool {
    (a / b - 1.0).abs() < share
}
