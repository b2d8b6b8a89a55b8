//! Worth of a result in another currency: "this drive is worth 60 % more memory here".
//!
//! Given the curve of a baseline (result against memory) and the result of another drive, the
//! memory-equivalent is the size at which the baseline would do as well: inverse interpolation,
//! straight between measured sizes on logarithmic axes. The measured curve is first made rising by
//! pooling adjacent violators. The interval is Fieller's idea on each segment (Journal of the Royal
//! Statistical Society B 16, 1954): all sizes at which curve and target do not differ at 95 %, with
//! one deviation pooled over all cells. Nothing is said outside the measured sizes.

use crate::StatsError;
use crate::moments::{at_least, logs, mean, squares};
use crate::rising::rising;
use crate::student::{CONFIDENCE, half_width_factor, p_value};

/// One size of the baseline's curve.
#[derive(Debug, Clone, PartialEq)]
pub struct CurvePoint {
    /// The resource, above zero; sizes must rise along the curve.
    pub size: f64,
    /// Results of the runs at this size, above zero.
    pub runs: Vec<f64>,
}

/// The size at which the baseline equals the target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EquivalentSize {
    /// The size, in the unit of the curve.
    pub size: f64,
    /// Lower end of the 95 % interval; `None` when it lies below the smallest measured size.
    pub low: Option<f64>,
    /// Upper end; `None` when it lies above the largest measured size.
    pub high: Option<f64>,
}

/// Logarithms of one size.
struct Cell {
    size: f64,
    mean: f64,
    runs: f64,
}

/// Finds the size at which a rising `curve` reaches the `target` runs.
///
/// Needs two sizes, and two repetitions over all cells together for the deviation. An error when
/// the target lies outside what the curve reached, or when the curve falls by more than noise.
///
/// # Errors
///
/// Too few sizes or repetitions, a target outside of the curve, or a curve that falls.
pub fn equivalent_size(curve: &[CurvePoint], target: &[f64]) -> Result<EquivalentSize, StatsError> {
    at_least(2, "sizes on a curve", curve.len())?;
    at_least(1, "runs of the target", target.len())?;
    let target_logs = logs(target)?;
    let mut sum = squares(&target_logs);
    let mut freedom = target.len() - 1;
    let mut cells: Vec<Cell> = Vec::with_capacity(curve.len());
    for point in curve {
        at_least(1, "runs at a size", point.runs.len())?;
        let runs = logs(&point.runs)?;
        let size = logs(&[point.size])?[0];
        if cells.last().is_some_and(|last| last.size >= size) {
            return Err(StatsError::SizesDoNotRise);
        }
        sum += squares(&runs);
        freedom += runs.len() - 1;
        cells.push(Cell {
            size,
            mean: mean(&runs),
            runs: runs.len() as f64,
        });
    }
    at_least(2, "repetitions for a deviation", freedom)?;
    let deviation = (sum / freedom as f64).sqrt();
    check_rising(curve, &cells, deviation, freedom as f64)?;
    let goal = mean(&target_logs);
    let size = interpolate(&cells, goal)?;
    let reach = half_width_factor(freedom as f64) * deviation;
    let (low, high) = compatible_sizes(&cells, goal, 1.0 / target.len() as f64, reach);
    Ok(EquivalentSize {
        size: size.exp(),
        low: low.map(|low| low.min(size).exp()),
        high: high.map(|high| high.max(size).exp()),
    })
}

/// An error if any step down is more than noise, by Bonferroni over the steps.
fn check_rising(
    curve: &[CurvePoint],
    cells: &[Cell],
    deviation: f64,
    freedom: f64,
) -> Result<(), StatsError> {
    let steps = (cells.len() - 1) as f64;
    for (sizes, pair) in curve.windows(2).zip(cells.windows(2)) {
        let fall = pair[0].mean - pair[1].mean;
        let error = deviation * (1.0 / pair[0].runs + 1.0 / pair[1].runs).sqrt();
        if fall > 0.0 && p_value(fall / error, freedom) * steps < 1.0 - CONFIDENCE {
            return Err(StatsError::Falls {
                from: sizes[0].size,
                to: sizes[1].size,
            });
        }
    }
    Ok(())
}

/// Inverse of the rising curve at `goal`; the smallest size where it is flat.
fn interpolate(cells: &[Cell], goal: f64) -> Result<f64, StatsError> {
    let heights = rising(cells.iter().map(|cell| (cell.mean, cell.runs)));
    let (first, last) = (heights[0], heights[heights.len() - 1]);
    if goal < first || goal > last {
        return Err(StatsError::OutsideMeasured {
            value: goal.exp(),
            low: first.exp(),
            high: last.exp(),
        });
    }
    let above = heights.partition_point(|height| *height < goal);
    if above == 0 {
        return Ok(cells[0].size);
    }
    let share = (goal - heights[above - 1]) / (heights[above] - heights[above - 1]);
    Ok(cells[above - 1].size + share * (cells[above].size - cells[above - 1].size))
}

/// Smallest and largest size whose distance from the goal is within `reach` of its own deviation;
/// `None` where that is the end of the curve.
///
/// On a segment, at share w of the way from cell a to cell b, the distance is linear in w and its
/// variance quadratic, so the boundary is a root of a quadratic.
fn compatible_sizes(
    cells: &[Cell],
    goal: f64,
    goal_variance: f64,
    reach: f64,
) -> (Option<f64>, Option<f64>) {
    let compatible = |cell: &Cell| {
        (cell.mean - goal).powi(2) <= reach * reach * (1.0 / cell.runs + goal_variance)
    };
    let mut boundaries = Vec::new();
    for pair in cells.windows(2) {
        let (a, b) = (&pair[0], &pair[1]);
        let (distance, step, square) = (a.mean - goal, b.mean - a.mean, reach * reach);
        let quadratic = step * step - square * (1.0 / a.runs + 1.0 / b.runs);
        let linear = 2.0 * (distance * step + square / a.runs);
        let constant = distance * distance - square * (1.0 / a.runs + goal_variance);
        for share in roots(quadratic, linear, constant) {
            if (0.0..=1.0).contains(&share) {
                boundaries.push(a.size + share * (b.size - a.size));
            }
        }
    }
    let low = boundaries.iter().copied().reduce(f64::min);
    let high = boundaries.iter().copied().reduce(f64::max);
    (
        low.filter(|_| !compatible(&cells[0])),
        high.filter(|_| !compatible(&cells[cells.len() - 1])),
    )
}

/// Real roots of a quadratic, without cancellation.
fn roots(quadratic: f64, linear: f64, constant: f64) -> Vec<f64> {
    let discriminant = linear * linear - 4.0 * quadratic * constant;
    if discriminant < 0.0 {
        return Vec::new();
    }
    let sum = -0.5 * (linear + discriminant.sqrt().copysign(linear));
    [sum / quadratic, constant / sum]
        .into_iter()
        .filter(|root| root.is_finite())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{Noise, assert_covers, coverage};

    /// InnoDB on the published memory sweep of 2018 (GB, transactions/s).
    const SWEEP: [(f64, f64); 6] = [
        (10.0, 1321.9),
        (20.0, 1808.2),
        (40.0, 2968.1),
        (60.0, 4756.6),
        (80.0, 5984.6),
        (100.0, 5961.2),
    ];

    fn exact(points: &[(f64, f64)]) -> Vec<CurvePoint> {
        points
            .iter()
            .map(|&(size, result)| CurvePoint {
                size,
                runs: vec![result * 0.99, result, result / 0.99],
            })
            .collect()
    }

    #[test]
    fn a_measured_point_is_its_own_equivalent() {
        let found = equivalent_size(&exact(&SWEEP), &[2968.1]).unwrap();
        assert!((found.size - 40.0).abs() < 1e-9);
        let (low, high) = (found.low.unwrap(), found.high.unwrap());
        assert!(
            38.5 < low && low < 40.0 && 40.0 < high && high < 41.5,
            "{found:?}"
        );
    }

    /// From (1, 1) to (4, 16) the result is the square of the size: 4 is reached at 2.
    #[test]
    fn lines_are_straight_on_logarithmic_axes() {
        let found = equivalent_size(&exact(&[(1.0, 1.0), (4.0, 16.0)]), &[4.0]).unwrap();
        assert!((found.size - 2.0).abs() < 1e-9);
    }

    /// On the plateau any size will do, so the interval has no upper end.
    #[test]
    fn a_plateau_has_no_upper_end() {
        let found = equivalent_size(&exact(&SWEEP), &[5970.0]).unwrap();
        assert!((79.0..=80.0).contains(&found.size), "{}", found.size);
        assert!(found.low.is_some() && found.high.is_none());
    }

    #[test]
    fn nothing_is_said_outside_the_measured() {
        assert!(matches!(
            equivalent_size(&exact(&SWEEP), &[7000.0]),
            Err(StatsError::OutsideMeasured { .. })
        ));
        assert!(equivalent_size(&exact(&SWEEP), &[1000.0]).is_err());
        let falling = exact(&[(1.0, 1.0), (2.0, 4.0), (3.0, 2.0)]);
        assert_eq!(
            equivalent_size(&falling, &[2.0]),
            Err(StatsError::Falls { from: 2.0, to: 3.0 })
        );
        let unordered = exact(&[(2.0, 1.0), (1.0, 4.0)]);
        assert_eq!(
            equivalent_size(&unordered, &[2.0]),
            Err(StatsError::SizesDoNotRise)
        );
        let single = [(1.0, 1.0), (2.0, 2.0)].map(|(size, result)| CurvePoint {
            size,
            runs: vec![result],
        });
        assert!(equivalent_size(&single, &[1.5]).is_err());
    }

    /// A target at 50 GB of the true curve, three runs per cell, 5 % noise. A refusal counts as a
    /// miss.
    #[test]
    fn the_memory_equivalent_covers() {
        let mut noise = Noise::seeded(101);
        let truth = 50.0_f64;
        let share = (truth / 40.0).ln() / (60.0_f64 / 40.0).ln();
        let result = 2968.1 * (4756.6_f64 / 2968.1).powf(share);
        let mut runs = |level: f64| -> Vec<f64> {
            (0..3)
                .map(|_| level * (0.05 * noise.normal()).exp())
                .collect()
        };
        let covered = coverage(4_000, truth, || {
            let curve = SWEEP.map(|(size, result)| CurvePoint {
                size,
                runs: runs(result),
            });
            equivalent_size(&curve, &runs(result)).map_or((f64::NAN, f64::NAN), |found| {
                (
                    found.low.unwrap_or(0.0),
                    found.high.unwrap_or(f64::INFINITY),
                )
            })
        });
        assert_covers(covered, "memory-equivalent, 3 runs per size, noise 5 %");
    }
}
