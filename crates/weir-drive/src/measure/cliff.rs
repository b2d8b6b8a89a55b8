//! A drop of the rate in a long go of writes: an SLC cache that is full, credit that is spent.

use crate::measure::samples::Curve;

/// The rate after a drop is at most this share of the one before.
const DROP: f64 = 0.75;
/// Parts of a curve whose rates are compared.
const PARTS: usize = 60;
/// Parts after the drop that make one rate.
const PARTS_AFTER: usize = 4;

/// One drop.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cliff {
    /// Bytes that were accepted before it.
    pub(crate) after_bytes: f64,
    /// Bytes a second before and after.
    pub(crate) before: f64,
    pub(crate) after: f64,
    /// Operations a second in a few parts after it.
    pub(crate) rates_after: Vec<f64>,
}

/// The drop that splits the curve into two parts best, if there is one in its middle.
pub(crate) fn cliff(curve: &Curve) -> Option<Cliff> {
    let step = curve.ends_ns.len() / PARTS;
    if step == 0 {
        return None;
    }
    let ends = curve.ends_ns.iter().step_by(step);
    let times: Vec<f64> = ends.map(|&ns| ns as f64 / 1e9).collect();
    let durations: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let split = best_split(&durations)?;
    let bytes_per_part = (step as u64 * curve.bytes) as f64;
    let rate =
        |part: &[f64]| bytes_per_part * part.len() as f64 / part.iter().sum::<f64>().max(1e-9);
    // The part of the drop itself has some of both.
    let (before, after) = (rate(&durations[..split]), rate(&durations[split + 1..]));
    let rates_after = durations[split + 1..]
        .chunks(PARTS_AFTER)
        .map(|part| rate(part) / curve.bytes as f64)
        .collect();
    (after < DROP * before).then(|| Cliff {
        rates_after,
        after_bytes: (split as f64 + share_before(durations[split], bytes_per_part, before, after))
            * bytes_per_part,
        before,
        after,
    })
}

/// Share of the part with the drop that was written before it.
fn share_before(duration: f64, bytes: f64, before: f64, after: f64) -> f64 {
    let (fast, slow) = (bytes / before, bytes / after);
    ((slow - duration) / (slow - fast)).clamp(0.0, 1.0)
}

/// The part whose neighbours to both sides have the smallest sums of squares.
fn best_split(values: &[f64]) -> Option<usize> {
    let squares = |part: &[f64]| {
        let mean = part.iter().sum::<f64>() / part.len() as f64;
        part.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
    };
    let cost = |split: usize| squares(&values[..split]) + squares(&values[split + 1..]);
    (3..values.len().saturating_sub(4)).min_by(|&a, &b| cost(a).total_cmp(&cost(b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(rates: &[(u64, u64)]) -> Curve {
        let mut now = 0;
        let mut ends_ns = Vec::new();
        for &(operations, ns) in rates {
            for _ in 0..operations {
                now += ns;
                ends_ns.push(now);
            }
        }
        Curve {
            bytes: 1_000_000,
            ends_ns,
        }
    }

    #[test]
    fn a_cache_that_fills_is_found_where_it_is_full() {
        let found = cliff(&curve(&[(4000, 400_000), (2000, 1_000_000)])).unwrap();
        assert!((found.after_bytes / 4e9 - 1.0).abs() < 0.02, "{found:?}");
        assert!((found.before / 2.5e9 - 1.0).abs() < 0.02);
        assert!((found.after / 1e9 - 1.0).abs() < 0.02);
    }

    #[test]
    fn a_steady_rate_has_no_cliff() {
        assert_eq!(cliff(&curve(&[(4000, 400_000)])), None);
        assert_eq!(cliff(&curve(&[(2000, 400_000), (2000, 380_000)])), None);
    }
}
