//! Keys of which some are asked for often, wherever they stand.

use std::collections::HashMap;

use weir_model::Distribution;
use weir_workload::KeyStream;

use super::{KEYS_MIN, KeyFit, KeyPlace, KeyShape};

/// Pairs of the same key that a finding needs.
const PAIRS_MIN: f64 = 30.0;
/// Least ratio of the pairs of the same key to those that the place explains.
const TIMES_MIN: f64 = 1.3;
/// Least excess of the pairs over those, in standard deviations of a count.
const DEVIATIONS_MIN: f64 = 6.0;
/// Fewer rows have a part of a histogram each.
const ROWS_MIN: u64 = 200;
/// Exponents between which is searched.
const EXPONENTS: (f64, f64) = (0.02, 4.0);

/// The fit, if more keys are the same than `place_collisions`, the probability of that by their place, says.
pub(super) fn fit(keys: &[u32], rows: u64, place_collisions: f64) -> Option<KeyFit> {
    if rows <= ROWS_MIN || keys.len() < KEYS_MIN {
        return None;
    }
    let counts = sorted_counts(keys.iter().copied());
    let all = keys.len() as f64;
    let all_pairs = all * (all - 1.0) / 2.0;
    let pairs: f64 = counts.iter().map(|count| count * (count - 1.0) / 2.0).sum();
    let expected = place_collisions * all_pairs;
    let is_more = pairs >= PAIRS_MIN
        && pairs > TIMES_MIN * expected
        && pairs > expected + DEVIATIONS_MIN * expected.max(1.0).sqrt();
    if !is_more {
        return None;
    }
    let exponent = exponent_of(pairs / all_pairs, rows);
    let exponent = (exponent * 1_000.0).round() / 1_000.0;
    let distribution = Distribution::Zipfian { exponent };
    let drawn = KeyStream::new(distribution, rows, 1).ok()?;
    let model = sorted_counts(drawn.take(keys.len()));
    Some(KeyFit {
        shape: KeyShape::Distribution(distribution, KeyPlace::Anywhere),
        distance: distance(&counts, &model),
        keys: keys.len(),
    })
}

/// Returns how often each key came, the most first.
fn sorted_counts(keys: impl Iterator<Item = u32>) -> Vec<f64> {
    let mut counts: HashMap<u32, u32> = HashMap::new();
    for key in keys {
        *counts.entry(key).or_default() += 1;
    }
    let mut counts: Vec<f64> = counts.into_values().map(f64::from).collect();
    counts.sort_by(|a, b| b.total_cmp(a));
    counts
}

/// The exponent with which two keys are the same this often.
fn exponent_of(collisions: f64, rows: u64) -> f64 {
    let (mut low, mut high) = EXPONENTS;
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        let sum = power_sum(middle, rows);
        if power_sum(2.0 * middle, rows) / (sum * sum) < collisions {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// Sum of `rank^-exponent`: the first ranks one by one, the rest by the integral.
fn power_sum(exponent: f64, rows: u64) -> f64 {
    let summed = rows.min(64);
    let sum: f64 = (1..=summed).map(|rank| (rank as f64).powf(-exponent)).sum();
    let (from, to) = (summed as f64 + 0.5, rows as f64 + 0.5);
    let power = 1.0 - exponent;
    if power.abs() < 1e-9 {
        sum + (to / from).ln()
    } else {
        sum + (to.powf(power) - from.powf(power)) / power
    }
}

/// The largest difference of the shares that the keys asked for most have.
fn distance(counts: &[f64], model: &[f64]) -> f64 {
    let total: f64 = counts.iter().sum();
    let (mut a, mut b, mut distance) = (0.0, 0.0, 0.0_f64);
    for rank in 0..counts.len().max(model.len()) {
        a += counts.get(rank).unwrap_or(&0.0) / total;
        b += model.get(rank).unwrap_or(&0.0) / total;
        distance = distance.max((a - b).abs());
    }
    distance
}
