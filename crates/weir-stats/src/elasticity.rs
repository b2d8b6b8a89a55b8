//! Elasticity: how many per cent of result one per cent of a resource buys, d ln y / d ln x.
//!
//! Between two sizes it is the logarithm of the ratio of results over that of sizes (arc
//! elasticity); over three or more points the slope of least squares on logarithms, with Student's
//! interval. In the second published study a per cent of memory is worth 9.1 per cent at the cliff
//! and 1.3 to 1.5 far below it.

use crate::moments::{at_least, logs, mean, squares};
use crate::student::half_width_factor;
use crate::{RatioEstimate, StatsError};

/// An elasticity with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Elasticity {
    /// d ln y / d ln x.
    pub value: f64,
    /// Lower and upper end; `None` when the ratio it comes from has no interval.
    pub interval: Option<(f64, f64)>,
}

/// Elasticity between two sizes from the ratio of their results, larger size / smaller size or the
/// other way round, as long as both ratios have the same direction.
///
/// `size_ratio` must be above zero and not 1.
///
/// # Errors
///
/// A ratio of sizes that is 1, or not above zero.
pub fn elasticity_between(
    size_ratio: f64,
    result: &RatioEstimate,
) -> Result<Elasticity, StatsError> {
    let size = logs(&[size_ratio])?[0];
    if size == 0.0 {
        return Err(StatsError::SizesDoNotRise);
    }
    let ends = |(low, high): (f64, f64)| {
        let (a, b) = (low.ln() / size, high.ln() / size);
        (a.min(b), a.max(b))
    };
    Ok(Elasticity {
        value: result.ratio.ln() / size,
        interval: result.interval.map(ends),
    })
}

/// Elasticity of runs `(size, result)` around one operating point.
///
/// Needs three runs at two sizes. The line through a cliff is not its steepest part: give it the
/// neighbours of the point in question, not the whole curve.
///
/// # Errors
///
/// Too few runs, one size only, or values that are not above zero.
pub fn elasticity(runs: &[(f64, f64)]) -> Result<Elasticity, StatsError> {
    at_least(3, "runs for an elasticity", runs.len())?;
    let sizes = logs(&runs.iter().map(|run| run.0).collect::<Vec<_>>())?;
    let results = logs(&runs.iter().map(|run| run.1).collect::<Vec<_>>())?;
    let (size_mean, result_mean) = (mean(&sizes), mean(&results));
    let spread = squares(&sizes);
    if spread == 0.0 {
        return Err(StatsError::SizesDoNotRise);
    }
    let product: f64 = sizes
        .iter()
        .zip(&results)
        .map(|(size, result)| (size - size_mean) * (result - result_mean))
        .sum();
    let value = product / spread;
    let freedom = runs.len() as f64 - 2.0;
    let residual = (squares(&results) - value * product).max(0.0);
    let half = half_width_factor(freedom) * (residual / freedom / spread).sqrt();
    Ok(Elasticity {
        value,
        interval: Some((value - half, value + half)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{Noise, assert_covers, coverage};

    fn ratio(ratio: f64, interval: Option<(f64, f64)>) -> RatioEstimate {
        RatioEstimate {
            ratio,
            interval,
            pairs: 3,
        }
    }

    /// The second published study: 9.1 at the cliff, 1.47 and 1.26 below it.
    #[test]
    fn the_published_elasticities() {
        for (size, result, expected) in [(1.0 / 0.9, 2.6, 9.07), (1.6, 2.0, 1.47), (3.6, 5.0, 1.26)]
        {
            let found = elasticity_between(size, &ratio(result, None)).unwrap();
            assert!((found.value - expected).abs() < 0.01);
        }
    }

    /// Less memory, less throughput: both logarithms change sign, the ends change places.
    #[test]
    fn direction_does_not_matter() {
        let up = elasticity_between(2.0, &ratio(4.0, Some((3.0, 5.0)))).unwrap();
        let down = elasticity_between(0.5, &ratio(0.25, Some((0.2, 1.0 / 3.0)))).unwrap();
        assert!((up.value - 2.0).abs() < 1e-12 && (down.value - 2.0).abs() < 1e-12);
        let (up, down) = (up.interval.unwrap(), down.interval.unwrap());
        assert!((up.0 - down.0).abs() < 1e-12 && (up.1 - down.1).abs() < 1e-12);
    }

    #[test]
    fn one_size_has_no_elasticity() {
        assert_eq!(
            elasticity_between(1.0, &ratio(2.0, None)),
            Err(StatsError::SizesDoNotRise)
        );
        assert_eq!(
            elasticity(&[(2.0, 3.0); 4]),
            Err(StatsError::SizesDoNotRise)
        );
        assert!(elasticity(&[(1.0, 1.0), (2.0, 2.0)]).is_err());
    }

    /// Logarithms (0, 0), (1, 1), (2, 0): slope 0, residual 2 / 3, one degree of freedom, so the
    /// half-width is 12.7062 sqrt(2 / 3 / 2).
    #[test]
    fn an_interval_by_hand() {
        let e = std::f64::consts::E;
        let found = elasticity(&[(1.0, 1.0), (e, e), (e * e, 1.0)]).unwrap();
        assert!(found.value.abs() < 1e-12);
        let half = 12.706_205 * (1.0_f64 / 3.0).sqrt();
        assert!((found.interval.unwrap().1 - half).abs() < 1e-5);
    }

    #[test]
    fn a_slope_covers() {
        let mut noise = Noise::seeded(91);
        let covered = coverage(4_000, 1.47, || {
            let runs: Vec<(f64, f64)> = [8.0, 9.0, 10.0, 11.0, 12.0]
                .into_iter()
                .map(|size: f64| (size, size.powf(1.47) * (0.05 * noise.normal()).exp()))
                .collect();
            elasticity(&runs).unwrap().interval.unwrap()
        });
        assert_covers(covered, "elasticity, 5 runs at 5 sizes");
    }
}
