//! Test of whether the order of the runs moved the results: ageing drives, warming hosts, growing
//! data.
//!
//! The logarithm of every run less its cell's mean, fitted against the run's position less its
//! cell's mean position, is the slope of a regression with one intercept per cell (Frisch and
//! Waugh, Econometrica 1, 1933), so that neither the cells' effects nor an uneven order hide or
//! make a trend. A linear trend only: a drift that comes and goes is a matter of change points.

use std::collections::BTreeMap;

use crate::StatsError;
use crate::moments::{at_least, logs, mean};
use crate::student::{half_width_factor, p_value};

/// One run, in the order of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OrderedRun {
    /// Cell that it repeats.
    pub cell: usize,
    /// Measured value, above zero.
    pub value: f64,
}

/// The trend over the order of the runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OrderEffect {
    /// From the first to the last run, results changed by this factor.
    pub ratio: f64,
    /// Lower and upper end of its 95 % interval.
    pub interval: (f64, f64),
    /// Probability of such a trend if the order had no effect.
    pub p_value: f64,
}

/// Fits the trend. Needs two degrees of freedom (runs less cells less one) and a cell whose runs
/// lie apart.
///
/// # Errors
///
/// Too few runs, runs at one place only, or results that are not above zero.
pub fn order_effect(runs: &[OrderedRun]) -> Result<OrderEffect, StatsError> {
    let values = logs(&runs.iter().map(|run| run.value).collect::<Vec<_>>())?;
    let mut cells: BTreeMap<usize, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for (position, (run, value)) in runs.iter().zip(values).enumerate() {
        let cell = cells.entry(run.cell).or_default();
        cell.0.push(position as f64);
        cell.1.push(value);
    }
    let freedom = runs.len().saturating_sub(cells.len() + 1);
    at_least(2, "repetitions for a trend", freedom)?;
    let (mut spread, mut product, mut squares) = (0.0, 0.0, 0.0);
    for (positions, values) in cells.values() {
        let (x_mean, y_mean) = (mean(positions), mean(values));
        for (x, y) in positions.iter().zip(values) {
            spread += (x - x_mean).powi(2);
            product += (x - x_mean) * (y - y_mean);
            squares += (y - y_mean).powi(2);
        }
    }
    // Two degrees of freedom mean a cell of two runs, and no two runs share a position.
    let slope = product / spread;
    let residual = (squares - slope * product).max(0.0);
    let error = (residual / freedom as f64 / spread).sqrt();
    let length = (runs.len() - 1) as f64;
    let half = half_width_factor(freedom as f64) * error;
    Ok(OrderEffect {
        ratio: (slope * length).exp(),
        interval: (
            ((slope - half) * length).exp(),
            ((slope + half) * length).exp(),
        ),
        p_value: if slope == 0.0 {
            1.0
        } else {
            p_value(slope / error, freedom as f64)
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{Noise, assert_covers, coverage};

    fn runs(values: &[(usize, f64)]) -> Vec<OrderedRun> {
        values
            .iter()
            .map(|&(cell, value)| OrderedRun { cell, value })
            .collect()
    }

    /// The IO-bound A/A pairs of the published studies: -6.2 %, t = -3.35 on 3 degrees of freedom.
    /// First all first runs, then all second ones in the same order, so each pair lies 4 apart.
    #[test]
    fn the_published_order_effect() {
        let found = order_effect(&runs(&[
            (0, 258_203.0),
            (1, 266_403.0),
            (2, 304_495.0),
            (3, 348_729.0),
            (0, 241_382.0),
            (1, 239_787.0),
            (2, 287_366.0),
            (3, 343_259.0),
        ]))
        .unwrap();
        let from_one_round_to_the_next = found.ratio.ln() * 4.0 / 7.0;
        assert!((from_one_round_to_the_next + 0.0616).abs() < 0.0005);
        assert!((found.p_value - 0.044).abs() < 0.001, "{}", found.p_value);
        assert!(found.interval.1 < 1.0);
    }

    /// Cells differ tenfold and the larger one runs late: no trend within either.
    #[test]
    fn effects_of_the_cells_are_no_trend() {
        let found = order_effect(&runs(&[
            (0, 1.0),
            (0, 1.01),
            (1, 10.1),
            (0, 1.0),
            (1, 10.0),
            (1, 10.1),
        ]))
        .unwrap();
        assert!(found.p_value > 0.3 && (found.ratio - 1.0).abs() < 0.02);
    }

    #[test]
    fn single_runs_have_no_trend() {
        assert!(order_effect(&runs(&[(0, 1.0), (1, 2.0), (2, 3.0)])).is_err());
        assert!(order_effect(&[]).is_err());
        let exact = order_effect(&runs(&[(0, 2.0); 4])).unwrap();
        assert!((exact.p_value - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_trend_under_random_order_covers() {
        let mut noise = Noise::seeded(71);
        let truth = 0.93_f64;
        let covered = coverage(4_000, truth, || {
            let mut order: Vec<(f64, usize)> =
                (0..12).map(|run| (noise.uniform(), run % 4)).collect();
            order.sort_by(|a, b| a.0.total_cmp(&b.0));
            let runs: Vec<OrderedRun> = order
                .iter()
                .enumerate()
                .map(|(position, &(_, cell))| {
                    let trend = truth.ln() * position as f64 / 11.0;
                    let value = (cell as f64 + trend + 0.05 * noise.normal()).exp();
                    OrderedRun { cell, value }
                })
                .collect();
            order_effect(&runs).unwrap().interval
        });
        assert_covers(covered, "order effect, 4 cells x 3 runs");
    }
}
