//! What random writes do in the long run: garbage collection, arms, a controller's limit.

use crate::figure::Figure;
use crate::samples::{Curve, Samples};
use crate::session::{BLOCK, PAGE};

/// A drive whose rate of operations is the same for 4 and 16 KiB is limited by operations.
const SAME_RATE: f64 = 0.7;
/// A drive that takes random writes as fast as sequential ones has no amplification to speak of.
const LITTLE: f64 = 1.03;

/// What limits random writes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Sustained {
    /// Nothing that was found.
    Nothing,
    /// Bytes: media bytes per byte of the host.
    Amplification(Figure),
    /// Operations a second, whatever their size.
    Operations(Figure),
}

/// Operations a second of random 4 KiB writes in the settled part, one value for each turn.
pub(crate) fn small_writes_per_s(samples: &Samples) -> Vec<f64> {
    rates(samples, PAGE)
}

/// The same of 16 KiB.
pub(crate) fn large_writes_per_s(samples: &Samples) -> Vec<f64> {
    rates(samples, BLOCK)
}

/// What limits random writes on a drive that writes `bytes_per_s` in sequence. `None` where the
/// write buffer had not filled, or nothing was written.
pub(crate) fn sustained(samples: &Samples, bytes_per_s: f64) -> Option<Sustained> {
    if !is_beyond_buffer(samples) {
        return None;
    }
    let (small, large) = (rates(samples, PAGE), rates(samples, BLOCK));
    let mean = |rates: &[f64]| crate::samples::mean(rates);
    let (small_mean, large_mean) = (mean(&small)?, mean(&large)?);
    let how = format!(
        "random writes of 16 and 4 KiB, 64 under way, the later half of {}: {}",
        written(samples),
        drift(samples)
    );
    if large_mean / small_mean > SAME_RATE {
        let all: Vec<f64> = small.into_iter().chain(large).collect();
        let figure = Figure::of_rounds("write.iops_max_random", &all, &how)?;
        return Some(Sustained::Operations(figure));
    }
    let factors: Vec<f64> = large
        .iter()
        .map(|rate| (bytes_per_s / (rate * BLOCK as f64)).max(1.0))
        .collect();
    if mean(&factors)? < LITTLE {
        return Some(Sustained::Nothing);
    }
    let figure = Figure::of_rounds("write.amplification_random", &factors, &how)?;
    Some(Sustained::Amplification(figure))
}

/// Random writes must have filled the buffer twice, or they are those of the buffer.
fn is_beyond_buffer(samples: &Samples) -> bool {
    let buffer = samples.mean("buffer_bytes").unwrap_or(0.0);
    total_bytes(&samples.random_writes) > 2.0 * buffer
}

fn total_bytes(curves: &[Curve]) -> f64 {
    let bytes = curves
        .iter()
        .map(|curve| curve.bytes * curve.ends_ns.len() as u64);
    bytes.sum::<u64>() as f64
}

/// Operations a second of each curve in the later half of the turns; of each its second half.
fn rates(samples: &Samples, bytes: u64) -> Vec<f64> {
    let curves: Vec<&Curve> = samples
        .random_writes
        .iter()
        .filter(|curve| curve.bytes == bytes)
        .collect();
    let later = curves.len() / 2;
    curves
        .into_iter()
        .skip(later)
        .filter_map(tail_rate)
        .collect()
}

fn tail_rate(curve: &Curve) -> Option<f64> {
    let half = curve.ends_ns.len() / 2;
    let seconds = (curve.ends_ns.last()? - curve.ends_ns.get(half)?) as f64 / 1e9;
    let operations = curve.ends_ns.len() - 1 - half;
    (seconds > 0.0 && operations >= 4).then(|| operations as f64 / seconds)
}

fn written(samples: &Samples) -> String {
    let times = total_bytes(&samples.random_writes) / samples.file_bytes.max(1) as f64;
    format!("{times:.1} times the file")
}

/// Whether the rate still changed at the end.
fn drift(samples: &Samples) -> String {
    let large: Vec<f64> = samples
        .random_writes
        .iter()
        .filter(|curve| curve.bytes == BLOCK)
        .filter_map(tail_rate)
        .collect();
    let (Some(&last), true) = (large.last(), large.len() >= 4) else {
        return "too few turns to see whether it settled".to_owned();
    };
    let middle = large[large.len() / 2];
    let change = last / middle - 1.0;
    if change.abs() < 0.1 {
        "settled".to_owned()
    } else {
        format!("still changing ({:+.0} % in that half)", change * 100.0)
    }
}
