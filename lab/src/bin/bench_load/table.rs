//! Ratios of neighbours in time, as text.

use std::fmt::Write as _;

use serde::Serialize;

use crate::cases::{Arm, Sample};

/// A median and its range.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Spread {
    min: f64,
    median: f64,
    max: f64,
}

impl Spread {
    fn new(values: impl Iterator<Item = f64>) -> Self {
        let mut values: Vec<_> = values.collect();
        values.sort_by(f64::total_cmp);
        let middle = values.len() / 2;
        let median = match values.len() {
            0 => f64::NAN,
            count if count % 2 == 0 => f64::midpoint(values[middle - 1], values[middle]),
            _ => values[middle],
        };
        Self {
            min: values.first().copied().unwrap_or(f64::NAN),
            median,
            max: values.last().copied().unwrap_or(f64::NAN),
        }
    }
}

/// One arm: its medians, and its ratios to the first arm turn by turn.
#[derive(Debug, Serialize)]
pub(crate) struct Comparison {
    arm: String,
    per_s: f64,
    cpu_us_each: f64,
    resident_bytes_max: f64,
    per_s_ratio: Spread,
    cpu_ratio: Spread,
    resident_ratio: Spread,
}

/// Compares each arm with the first.
pub(crate) fn compare(arms: &[Arm], samples: &[Sample]) -> Vec<Comparison> {
    let of = |arm: usize| {
        samples
            .iter()
            .filter(move |sample| sample.arm == arms[arm].name)
    };
    let compare = |index: usize, value: fn(&Sample) -> f64| {
        let ratios = of(index).zip(of(0)).map(move |(a, b)| value(a) / value(b));
        (
            Spread::new(of(index).map(value)).median,
            Spread::new(ratios),
        )
    };
    let comparison = |(index, arm): (usize, &Arm)| {
        let (per_s, per_s_ratio) = compare(index, |sample| sample.per_s);
        let (cpu_us_each, cpu_ratio) = compare(index, |sample| sample.cpu_us_each);
        let resident = |sample: &Sample| sample.resident_bytes_max as f64;
        let (resident_bytes_max, resident_ratio) = compare(index, resident);
        Comparison {
            arm: arm.name.clone(),
            per_s,
            cpu_us_each,
            resident_bytes_max,
            per_s_ratio,
            cpu_ratio,
            resident_ratio,
        }
    };
    arms.iter().enumerate().map(comparison).collect()
}

/// The comparisons of one case, a line for each arm.
pub(crate) fn lines(case: &str, comparisons: &[Comparison], with_head: bool) -> String {
    let mut text = String::new();
    if with_head {
        text.push_str(
            "case                       arm           1000/s  ratio (range)      us each  ratio (range)      MiB    ratio\n",
        );
    }
    for comparison in comparisons {
        let ratio =
            |spread: Spread| format!("{:.2} ({:.2}-{:.2})", spread.median, spread.min, spread.max);
        writeln!(
            text,
            "{case:<26} {:<12} {:>7.1}  {:<17} {:>8.2}  {:<17} {:>6.1} {:>7.3}",
            comparison.arm,
            comparison.per_s / 1e3,
            ratio(comparison.per_s_ratio),
            comparison.cpu_us_each,
            ratio(comparison.cpu_ratio),
            comparison.resident_bytes_max / 1_048_576.0,
            comparison.resident_ratio.median,
        )
        .expect("invariant: writing into a string cannot fail");
    }
    text
}
