//! Latency by percentile, from the histograms of all repetitions of a cell together.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use serde::Serialize;
use weir_model::StudyResult;

use crate::spread::Spread;

/// Percentages at which the curve is drawn: ever closer to 100 %, as the plot's axis is logarithmic in the rest.
const PERCENTS: [f64; 16] = [
    10.0, 25.0, 50.0, 60.0, 75.0, 80.0, 90.0, 95.0, 98.0, 99.0, 99.5, 99.8, 99.9, 99.95, 99.99,
    99.999,
];

/// Error of decimal percentages as binary fractions.
const ROUNDING: f64 = 1e-6;
/// Of the latencies, as the load generator records them.
const SIGNIFICANT_DIGITS: u8 = 3;

/// The curve of one cell.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Percentiles {
    cell: usize,
    transactions: u64,
    /// Per cent of transactions that were as fast.
    percents: Vec<f64>,
    /// Of all repetitions together, with the lowest and the highest of them; milliseconds.
    latency_ms: Vec<Option<Spread>>,
}

/// Curves of all cells that have histograms.
pub(crate) fn percentiles(result: &StudyResult) -> Vec<Percentiles> {
    let cells = 0..result.plan.cells.len();
    cells.filter_map(|cell| of_cell(result, cell)).collect()
}

fn of_cell(result: &StudyResult, cell: usize) -> Option<Percentiles> {
    let runs = result.runs.iter().filter(|run| run.record.cell == cell);
    // What cannot be read is left out of a figure; the store has told of damage before.
    let histograms: Vec<_> = runs
        .filter_map(|run| {
            Deserializer::new()
                .deserialize::<u64, _>(&mut run.histogram.as_slice())
                .ok()
        })
        .collect();
    // One that was read from its serial form does not grow, so a new one takes them all in.
    let mut all = Histogram::<u64>::new(SIGNIFICANT_DIGITS).ok()?;
    for histogram in &histograms {
        all.add(histogram).ok()?;
    }
    let transactions = all.len();
    // A percentile that fewer than one transaction lies beyond says no more than the maximum.
    let percents: Vec<_> = PERCENTS
        .into_iter()
        .filter(|percent| (100.0 - percent) * transactions as f64 >= 100.0 - ROUNDING)
        .collect();
    let value = |percent: &f64| {
        let of = |histogram: &Histogram<u64>| histogram.value_at_percentile(*percent) as f64 / 1e3;
        let repetitions: Vec<_> = histograms.iter().map(of).collect();
        Spread::around(of(&all), &repetitions, 4)
    };
    (!percents.is_empty()).then(|| Percentiles {
        cell,
        transactions,
        latency_ms: percents.iter().map(value).collect(),
        percents,
    })
}

#[cfg(test)]
mod tests {
    use hdrhistogram::serialization::{Serializer, V2Serializer};

    use super::*;
    use crate::sample;

    #[test]
    fn repetitions_are_one_distribution_and_what_was_not_seen_is_not_drawn() {
        let mut result = sample::study(2, 2);
        for run in &mut result.evidence.runs {
            let mut histogram = Histogram::<u64>::new(3).unwrap();
            // 500 transactions of 1 ms in one repetition, 500 of 3 ms in the other.
            let latency_us = if run.record.repetition == 1 {
                1_000
            } else {
                3_000
            };
            histogram.record_n(latency_us, 500).unwrap();
            run.histogram.clear();
            V2Serializer::new()
                .serialize(&histogram, &mut run.histogram)
                .unwrap();
        }
        let curves = percentiles(&result.evidence);
        assert_eq!(curves.len(), 2);
        let curve = &curves[0];
        assert_eq!(curve.transactions, 1000);
        assert_eq!(
            curve.percents.last(),
            Some(&99.9),
            "one of 1,000 lies beyond"
        );
        let at = |percent: f64| {
            let index = curve
                .percents
                .iter()
                .position(|p| (*p - percent).abs() < 1e-9);
            let spread = serde_json::to_value(curve.latency_ms[index.unwrap()]).unwrap();
            serde_json::from_value::<[f64; 3]>(spread).unwrap()
        };
        // A histogram keeps three digits.
        for (percent, expected) in [(25.0, [1.0, 1.0, 3.0]), (90.0, [3.0, 1.0, 3.0])] {
            let found = at(percent);
            let near = |(found, expected): (f64, f64)| (found - expected).abs() < 0.01;
            assert!(
                found.into_iter().zip(expected).all(near),
                "{percent} %: {found:?}"
            );
        }
    }
}
