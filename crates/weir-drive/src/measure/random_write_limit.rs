//! Limits of random writes in the long run: garbage collection, arms, a controller's limit.

use crate::measure::figure::Figure;
use crate::measure::samples::{Curve, Samples};
use crate::measure::session::{BLOCK, PAGE};

/// A drive whose rate of operations is the same for 4 and 16 KiB is limited by operations.
const SAME_RATE: f64 = 0.7;
/// A drive that takes random writes as fast as sequential ones has no amplification to speak of.
const LITTLE: f64 = 1.03;
/// Turns whose rates differ by more than this from the last one's are of another state of the drive.
const SETTLED: f64 = 0.25;
/// Turns of the same state that make a figure.
const TURNS_MIN: usize = 2;

/// Limit of random writes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RandomWriteLimit {
    /// Bytes: media bytes per byte of the host.
    Amplification(Figure),
    /// Operations a second, whatever their size.
    Operations(Figure),
    /// Nothing that was seen, and why.
    Unknown(String),
}

/// Operations a second of random 4 KiB writes in the settled part, one value for each turn.
pub(crate) fn small_writes_per_s(samples: &Samples) -> Vec<f64> {
    settled(&turn_rates(samples, PAGE))
}

/// The same of 16 KiB.
pub(crate) fn large_writes_per_s(samples: &Samples) -> Vec<f64> {
    settled(&turn_rates(samples, BLOCK))
}

/// Returns the limit of random writes on a drive of `capacity_bytes` that writes `bytes_per_s` in
/// sequence.
pub(crate) fn sustained(
    samples: &Samples,
    bytes_per_s: f64,
    capacity_bytes: u64,
) -> RandomWriteLimit {
    let written = total_bytes(&samples.random_writes);
    if written <= 2.0 * samples.mean("buffer_bytes").unwrap_or(0.0) {
        let why = "the budget ended before random writes had filled the write buffer twice";
        return RandomWriteLimit::Unknown(why.to_owned());
    }
    let (small, large) = (small_writes_per_s(samples), large_writes_per_s(samples));
    let mean = |rates: &[f64]| crate::measure::samples::mean(rates);
    let how = how(samples, &large);
    let factors = |rates: &[f64], bytes: u64| -> Vec<f64> {
        let factor = |rate: &f64| (bytes_per_s / (rate * bytes as f64)).max(1.0);
        rates.iter().map(factor).collect()
    };
    let factors = match (mean(&small), mean(&large)) {
        (Some(small_mean), Some(large_mean)) if large_mean / small_mean > SAME_RATE => {
            let all: Vec<f64> = small.into_iter().chain(large).collect();
            let figure = Figure::of_rounds("write.iops_max_random", &all, &how);
            return figure.map_or_else(|| changing(samples), RandomWriteLimit::Operations);
        }
        (_, Some(_)) => both_or_large(factors(&small, PAGE), factors(&large, BLOCK)),
        (Some(_), None) => factors(&small, PAGE),
        (None, None) => return changing(samples),
    };
    let Some(figure) = Figure::of_rounds("write.amplification_random", &factors, &how) else {
        return changing(samples);
    };
    if figure.value < LITTLE && written < capacity_bytes as f64 {
        return RandomWriteLimit::Unknown(format!(
            "random writes were as fast as sequential ones for {:.1} GB, less than the drive holds; \
             a cache or spare flash may have taken them",
            written / 1e9
        ));
    }
    RandomWriteLimit::Amplification(figure)
}

/// Small writes count, too, unless something else than the media limits them.
fn both_or_large(small: Vec<f64>, large: Vec<f64>) -> Vec<f64> {
    let mean = |factors: &[f64]| crate::measure::samples::mean(factors).unwrap_or(0.0);
    if (mean(&small) / mean(&large) - 1.0).abs() < SETTLED {
        return [large, small].concat();
    }
    large
}

/// Returns the method of measurement; `large`: the rates of 16 KiB that count.
fn how(samples: &Samples, large: &[f64]) -> String {
    let sizes = if large.is_empty() {
        "random writes of 4 KiB (16 KiB ones still changed)"
    } else {
        "random writes of 16 and 4 KiB"
    };
    let times = total_bytes(&samples.random_writes) / samples.file_bytes.max(1) as f64;
    let drift = drift(large);
    format!("{sizes}, 64 under way, the later half of {times:.1} times the file{drift}")
}

fn changing(samples: &Samples) -> RandomWriteLimit {
    RandomWriteLimit::Unknown(format!(
        "the rate of random writes still changed at the end of {:.1} GB; raise --write-limit and --budget",
        total_bytes(&samples.random_writes) / 1e9
    ))
}

fn total_bytes(curves: &[Curve]) -> f64 {
    let bytes = curves
        .iter()
        .map(|curve| curve.bytes * curve.ends_ns.len() as u64);
    bytes.sum::<u64>() as f64
}

/// Operations a second in the second half of each turn.
fn turn_rates(samples: &Samples, bytes: u64) -> Vec<f64> {
    let curves = samples.random_writes.iter();
    let curves = curves.filter(|curve| curve.bytes == bytes);
    curves.filter_map(tail_rate).collect()
}

/// The later half of the turns, without those before the last change; none where that leaves too few.
fn settled(rates: &[f64]) -> Vec<f64> {
    let Some(&last) = rates.last() else {
        return Vec::new();
    };
    let is_other = |rate: &&f64| (*rate / last - 1.0).abs() > SETTLED;
    let later = rates[rates.len() / 2..].iter();
    let kept: Vec<f64> = later
        .rev()
        .take_while(|rate| !is_other(rate))
        .copied()
        .collect();
    if kept.len() < TURNS_MIN {
        return Vec::new();
    }
    kept
}

fn tail_rate(curve: &Curve) -> Option<f64> {
    let half = curve.ends_ns.len() / 2;
    let seconds = (curve.ends_ns.last()? - curve.ends_ns.get(half)?) as f64 / 1e9;
    let operations = curve.ends_ns.len() - 1 - half;
    (seconds > 0.0 && operations >= 4).then(|| operations as f64 / seconds)
}

/// Returns a sentence if the rate still changed at the end; `rates`: latest first.
fn drift(rates: &[f64]) -> String {
    let (Some(last), Some(first)) = (rates.first(), rates.last()) else {
        return String::new();
    };
    let change = last / first - 1.0;
    if change.abs() < 0.1 {
        ": settled".to_owned()
    } else {
        format!(": still changing ({:+.0} % in that half)", change * 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::settled;

    #[test]
    fn turns_before_a_drop_do_not_count() {
        assert_eq!(settled(&[9.0, 9.0, 9.0, 9.0, 3.0, 3.0]), [3.0, 3.0]);
        assert_eq!(settled(&[9.0, 9.0, 3.0, 3.0, 3.0, 3.1]), [3.1, 3.0, 3.0]);
        assert!(settled(&[9.0, 9.0, 9.0, 9.0, 9.0, 3.0]).is_empty());
    }
}
