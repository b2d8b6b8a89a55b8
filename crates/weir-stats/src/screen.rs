//! Effects of the factors of a screen, with what one run differs from the next by.
//!
//! The model on logarithms: a mean, a difference of the two halves, and an effect of each factor; least squares, so
//! that a run that failed is only missing. The deviation comes from what the model leaves, to which pairs that act
//! together add, and from the runs of the present configuration, to which they cannot: it is never too small for
//! them, and both parts beside each other tell whether pairs act together.

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use crate::moments::{at_least, logs, squares};
use crate::student::{half_width_factor, p_value};
use crate::{RatioEstimate, StatsError};

/// Fewest degrees of freedom of the deviation.
const FREEDOM_MIN: usize = 4;

/// A run of a screen.
#[derive(Debug, Clone, PartialEq)]
pub struct ScreenRun {
    /// Factors that have their candidate; `None`: a repetition of the present configuration.
    pub candidates: Option<Vec<bool>>,
    /// In the mirror image.
    pub is_mirrored: bool,
    /// Value of the metric, above 0.
    pub value: f64,
}

/// The effects that runs of a screen show.
#[derive(Debug, Clone, PartialEq)]
pub struct ScreenEstimate {
    /// Candidate / present of each factor.
    pub effects: Vec<ScreenEffect>,
    /// Standard deviation of the logarithm of one run.
    pub log_deviation: f64,
    /// Degrees of freedom of it.
    pub degrees_of_freedom: usize,
    /// Probability of runs that fit the model as badly if no two factors acted together; `None` without repetitions.
    pub pairs_p_value: Option<f64>,
}

/// The effect of one factor of a screen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScreenEffect {
    /// Candidate / present; `pairs` counts half of the runs.
    pub estimate: RatioEstimate,
    /// Probability of a ratio at least this far from 1 if the factor did nothing.
    pub p_value: f64,
}

/// Estimates the effects of all factors.
///
/// # Errors
/// Runs that are too few to tell the factors apart, or values that are not above 0.
pub fn screen_effects(runs: &[ScreenRun]) -> Result<ScreenEstimate, StatsError> {
    let values: Vec<f64> = runs.iter().map(|run| run.value).collect();
    let values = logs(&values)?;
    let (mut rows, mut designed) = (Vec::new(), Vec::new());
    let mut repeated: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
    for (run, value) in runs.iter().zip(values) {
        match &run.candidates {
            Some(candidates) => {
                let half = [1.0, sign(run.is_mirrored)].into_iter();
                rows.push(half.chain(candidates.iter().copied().map(sign)).collect());
                designed.push(value);
            }
            None => repeated[usize::from(run.is_mirrored)].push(value),
        }
    }
    let parameters = rows.first().map_or(0, Vec::len);
    at_least(parameters.max(3), "runs of a screen", rows.len())?;
    let fit = LeastSquares::new(&rows, &designed).ok_or(StatsError::TooFew {
        what: "runs of a screen, since those that failed leave factors that always changed together",
        count: rows.len(),
        needed: rows.len() + 1,
    })?;
    let of_fit = Squares {
        sum: fit.left_over,
        freedom: rows.len() - parameters,
    };
    let of_repeated = Squares::within(&repeated);
    let freedom = of_fit.freedom + of_repeated.freedom;
    at_least(FREEDOM_MIN, "runs of a screen beyond its factors", freedom)?;
    let variance = (of_fit.sum + of_repeated.sum) / freedom as f64;
    let effects = (2..parameters).map(|column| {
        let error = 2.0 * (variance * fit.inverse[column][column]).sqrt();
        effect(
            2.0 * fit.coefficients[column],
            error,
            freedom,
            rows.len() / 2,
        )
    });
    Ok(ScreenEstimate {
        effects: effects.collect(),
        log_deviation: variance.sqrt(),
        degrees_of_freedom: freedom,
        pairs_p_value: of_fit.exceeds(&of_repeated),
    })
}

/// Half-width of the interval of an effect, as a factor above 1, in a screen of `rows` for `factors` when one run varies
/// by `log_deviation`.
pub fn screen_half_width(rows: usize, factors: usize, log_deviation: f64) -> f64 {
    let freedom = rows.saturating_sub(factors + 2).max(FREEDOM_MIN);
    let error = 2.0 * log_deviation / (rows as f64).sqrt();
    (half_width_factor(freedom as f64) * error).exp()
}

fn sign(is_high: bool) -> f64 {
    if is_high { 1.0 } else { -1.0 }
}

fn effect(log_ratio: f64, error: f64, freedom: usize, pairs: usize) -> ScreenEffect {
    let half = half_width_factor(freedom as f64) * error;
    ScreenEffect {
        estimate: RatioEstimate {
            ratio: log_ratio.exp(),
            interval: Some(((log_ratio - half).exp(), (log_ratio + half).exp())),
            pairs,
        },
        p_value: p_value(log_ratio / error, freedom as f64),
    }
}

/// A sum of squares with its degrees of freedom.
struct Squares {
    sum: f64,
    freedom: usize,
}

impl Squares {
    /// Of values around the means of their groups.
    fn within(groups: &[Vec<f64>]) -> Self {
        let filled = groups.iter().filter(|group| !group.is_empty());
        Self {
            sum: filled.clone().map(|group| squares(group)).sum(),
            freedom: filled.map(|group| group.len() - 1).sum(),
        }
    }

    /// Probability of a mean square so far above `other`'s by chance.
    fn exceeds(&self, other: &Self) -> Option<f64> {
        if self.freedom == 0 || other.freedom == 0 || other.sum <= 0.0 {
            return None;
        }
        let (freedom, of_other) = (self.freedom as f64, other.freedom as f64);
        let statistic = (self.sum / freedom) / (other.sum / of_other);
        let distribution = FisherSnedecor::new(freedom, of_other).ok()?;
        Some(distribution.sf(statistic))
    }
}

/// Least squares by the normal equations: columns of +-1 are well conditioned.
struct LeastSquares {
    coefficients: Vec<f64>,
    /// Inverse of the normal matrix.
    inverse: Vec<Vec<f64>>,
    /// Sum of the squares that are left over.
    left_over: f64,
}

impl LeastSquares {
    /// `None` if the columns of `rows` cannot be told apart.
    fn new(rows: &[Vec<f64>], values: &[f64]) -> Option<Self> {
        let size = rows.first()?.len();
        let normal = |one: usize, other: usize| -> f64 {
            rows.iter().map(|row| row[one] * row[other]).sum()
        };
        let matrix = (0..size).map(|one| (0..size).map(|other| normal(one, other)).collect());
        let inverse = inverted(matrix.collect())?;
        let moment = |column: usize| -> f64 {
            let products = rows.iter().zip(values);
            products.map(|(row, value)| row[column] * value).sum()
        };
        let moments: Vec<f64> = (0..size).map(moment).collect();
        let dot =
            |one: &[f64], other: &[f64]| -> f64 { one.iter().zip(other).map(|(a, b)| a * b).sum() };
        let coefficients: Vec<f64> = inverse.iter().map(|row| dot(row, &moments)).collect();
        let left = rows.iter().zip(values);
        let left_over = left
            .map(|(row, value)| (value - dot(row, &coefficients)).powi(2))
            .sum();
        Some(Self {
            coefficients,
            inverse,
            left_over,
        })
    }
}

/// The inverse of a symmetric matrix by elimination with pivots; `None` if there is none.
fn inverted(mut matrix: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    const SINGULAR: f64 = 1e-9;
    let size = matrix.len();
    for (index, row) in matrix.iter_mut().enumerate() {
        row.extend((0..size).map(|column| f64::from(u8::from(column == index))));
    }
    for column in 0..size {
        let pivot = (column..size)
            .max_by(|&a, &b| matrix[a][column].abs().total_cmp(&matrix[b][column].abs()))?;
        if matrix[pivot][column].abs() < SINGULAR {
            return None;
        }
        matrix.swap(column, pivot);
        let divisor = matrix[column][column];
        matrix[column]
            .iter_mut()
            .for_each(|value| *value /= divisor);
        let own = matrix[column].clone();
        for (index, row) in matrix.iter_mut().enumerate() {
            let factor = row[column];
            if index != column && factor != 0.0 {
                row.iter_mut()
                    .zip(&own)
                    .for_each(|(value, of_own)| *value -= factor * of_own);
            }
        }
    }
    Some(matrix.into_iter().map(|row| row[size..].to_vec()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plackett_burman::plackett_burman;
    use crate::simulate::{Noise, assert_covers, coverage};

    const REPEATED: usize = 5;

    /// A screen of factors with these effects (logarithms), and noise of `spread`.
    fn runs(effects: &[f64], spread: f64, noise: &mut Noise) -> Vec<ScreenRun> {
        let rows = plackett_burman(effects.len()).unwrap();
        let half = rows.len() / 2;
        let drift = |is_mirrored| if is_mirrored { 0.04 } else { 0.0 };
        let mut runs: Vec<_> = rows
            .into_iter()
            .enumerate()
            .map(|(index, row)| {
                let of_factors: f64 = row
                    .iter()
                    .zip(effects)
                    .filter(|(c, _)| **c)
                    .map(|(_, e)| e)
                    .sum();
                let is_mirrored = index >= half;
                ScreenRun {
                    candidates: Some(row),
                    is_mirrored,
                    value: (of_factors + drift(is_mirrored) + spread * noise.normal()).exp(),
                }
            })
            .collect();
        runs.extend((0..REPEATED).map(|index| ScreenRun {
            candidates: None,
            is_mirrored: index % 2 == 1,
            value: (drift(index % 2 == 1) + spread * noise.normal()).exp(),
        }));
        runs
    }

    #[test]
    fn without_noise_the_effects_are_exact_also_when_runs_failed() {
        let effects = [0.1, 0.0, -0.2, 0.05, 0.0, 0.3, 0.0, 0.0, 0.0, 0.0, -0.01];
        let mut runs = runs(&effects, 1e-9, &mut Noise::seeded(1));
        for _ in 0..2 {
            let found = screen_effects(&runs).unwrap();
            for (effect, truth) in found.effects.iter().zip(effects) {
                assert!((effect.estimate.ratio.ln() - truth).abs() < 1e-6);
            }
            runs.drain(3..6);
        }
    }

    #[test]
    fn intervals_cover_whatever_the_others_do_and_are_as_wide_as_promised() {
        for (factors, sigma, promised) in [(11, 0.03, 0.025), (19, 0.03, 0.019), (11, 0.015, 0.013)]
        {
            let mut noise = Noise::seeded(factors as u64);
            let effects: Vec<f64> = (0..factors)
                .map(|index| 0.03 * (index % 3) as f64)
                .collect();
            let mut widths = Vec::new();
            let covered = coverage(4_000, effects[1].exp(), || {
                let found = screen_effects(&runs(&effects, sigma, &mut noise)).unwrap();
                let (low, high) = found.effects[1].estimate.interval.unwrap();
                widths.push((high / low).ln() / 2.0);
                (low, high)
            });
            assert_covers(covered, &format!("screen of {factors} factors"));
            let width = widths.iter().sum::<f64>() / widths.len() as f64;
            println!(
                "half width {:.2} %, promised {:.2} %",
                width * 100.0,
                promised * 100.0
            );
            assert!((width / promised - 1.0).abs() < 0.2, "{width} {promised}");
            let rows = if factors <= 11 { 24 } else { 40 };
            let before = screen_half_width(rows, factors, sigma).ln();
            assert!((before / width - 1.0).abs() < 0.1, "{before} {width}");
        }
    }

    /// Two factors of 10 % that together give nothing more.
    #[test]
    fn a_pair_that_acts_together_is_noticed_and_no_effect_of_a_third() {
        let mut noise = Noise::seeded(9);
        let mut effects = [0.0; 11];
        (effects[0], effects[1]) = (0.1, 0.1);
        let (mut noticed, mut third) = (0, 0);
        for _ in 0..400 {
            let mut runs = runs(&effects, 0.015, &mut noise);
            for run in &mut runs {
                if run.candidates.as_ref().is_some_and(|c| c[0] && c[1]) {
                    run.value *= (-0.1_f64).exp();
                }
            }
            let found = screen_effects(&runs).unwrap();
            noticed += usize::from(found.pairs_p_value.unwrap() < 0.05);
            third += usize::from(found.effects[5].p_value < 0.05);
        }
        println!("noticed in {noticed} of 400, a third named in {third}");
        assert!(noticed > 150 && third < 30, "{noticed} {third}");
    }

    #[test]
    fn too_few_runs_are_an_error() {
        let mut noise = Noise::seeded(3);
        let all = runs(&[0.0; 11], 0.03, &mut noise);
        let error = screen_effects(&all[..10]).unwrap_err();
        assert!(
            error.to_string().contains("too few runs of a screen"),
            "{error}"
        );
        let never = ScreenRun {
            value: 0.0,
            ..all[0].clone()
        };
        assert!(screen_effects(&[never]).is_err());
    }
}
