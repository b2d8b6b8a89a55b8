//! Two factors and what they do to each other: A, B, both, neither.
//!
//! A two-by-two design in randomized complete blocks: a block is one repetition of all four cells,
//! close in time. On logarithms effects multiply, so that two factors which do not touch each other
//! have an interaction of 1: 1.48 alone and 1.30 alone make 1.92 together. The deviation is what
//! remains when the means of cells and of blocks are taken out, with 3 (blocks - 1) degrees of
//! freedom (Montgomery, "Design and Analysis of Experiments", chapters 4 and 5); it assumes that
//! all four cells are equally noisy.

use crate::moments::{at_least, logs, mean};
use crate::student::half_width_factor;
use crate::{RatioEstimate, StatsError};

/// One repetition of the four cells; every value above zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FactorialBlock {
    /// Both factors at their baseline.
    pub neither: f64,
    /// The first factor changed.
    pub first: f64,
    /// The second factor changed.
    pub second: f64,
    /// Both factors changed.
    pub both: f64,
}

/// The effects as ratios; `pairs` counts the blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FactorialEffects {
    /// First alone / neither.
    pub first: RatioEstimate,
    /// Second alone / neither.
    pub second: RatioEstimate,
    /// Both / neither, as measured.
    pub both: RatioEstimate,
    /// Ratio of both together if the factors did not touch each other: first x second.
    pub product: RatioEstimate,
    /// Both / product: above 1 they help each other, below 1 they overlap.
    pub interaction: RatioEstimate,
}

/// Weights of the logarithms of neither, first, second and both. Those of a contrast sum to 0,
/// which cancels the blocks.
type Contrast = [f64; CELLS];

const CELLS: usize = 4;
const FIRST: Contrast = [-1.0, 1.0, 0.0, 0.0];
const SECOND: Contrast = [-1.0, 0.0, 1.0, 0.0];
const BOTH: Contrast = [-1.0, 0.0, 0.0, 1.0];
const PRODUCT: Contrast = [-2.0, 1.0, 1.0, 0.0];
const INTERACTION: Contrast = [1.0, -1.0, -1.0, 1.0];

/// Estimates the effects; needs two blocks.
///
/// # Errors
///
/// Fewer than two blocks, or values that are not above zero.
pub fn factorial_effects(blocks: &[FactorialBlock]) -> Result<FactorialEffects, StatsError> {
    at_least(2, "blocks of a factorial design", blocks.len())?;
    let rows = blocks
        .iter()
        .map(|block| logs(&[block.neither, block.first, block.second, block.both]))
        .collect::<Result<Vec<_>, _>>()?;
    let count = rows.len() as f64;
    let cells: [f64; CELLS] =
        std::array::from_fn(|cell| rows.iter().map(|row| row[cell]).sum::<f64>() / count);
    let grand = mean(&cells);
    let squares: f64 = rows
        .iter()
        .flat_map(|row| {
            let block = mean(row);
            row.iter()
                .zip(&cells)
                .map(move |(value, cell)| (value - cell - block + grand).powi(2))
        })
        .sum();
    let freedom = (CELLS - 1) as f64 * (count - 1.0);
    let factor = half_width_factor(freedom) * (squares / freedom / count).sqrt();
    let estimate = |contrast: Contrast| {
        let center: f64 = contrast.iter().zip(&cells).map(|(c, cell)| c * cell).sum();
        let half = factor * contrast.iter().map(|c| c * c).sum::<f64>().sqrt();
        RatioEstimate {
            ratio: center.exp(),
            interval: Some(((center - half).exp(), (center + half).exp())),
            pairs: blocks.len(),
        }
    };
    Ok(FactorialEffects {
        first: estimate(FIRST),
        second: estimate(SECOND),
        both: estimate(BOTH),
        product: estimate(PRODUCT),
        interaction: estimate(INTERACTION),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{Noise, assert_covers};

    fn block(host: f64, neither: f64, first: f64, second: f64, both: f64) -> FactorialBlock {
        FactorialBlock {
            neither: host * neither,
            first: host * first,
            second: host * second,
            both: host * both,
        }
    }

    /// The figures of the fifth published study: +48 % and +30 % alone make +92.4 %, and +93 % was
    /// published, an interaction of 1.003. The host's drift between blocks leaves no trace.
    #[test]
    fn the_published_combination() {
        let blocks = [1.0, 0.8, 1.1].map(|host| block(host, 1.0, 1.48, 1.30, 1.93));
        let found = factorial_effects(&blocks).unwrap();
        assert!((found.first.ratio - 1.48).abs() < 1e-9);
        assert!((found.second.ratio - 1.30).abs() < 1e-9);
        assert!((found.product.ratio - 1.924).abs() < 1e-9);
        assert!((found.both.ratio - 1.93).abs() < 1e-9);
        assert!((found.interaction.ratio - 1.93 / 1.924).abs() < 1e-9);
        let (low, high) = found.interaction.interval.unwrap();
        assert!(high - low < 1e-6);
    }

    /// Two blocks that differ in one cell by 2 d on a log scale: the residuals are 3 d / 4 twice
    /// and d / 4 six times, so s^2 = (9 / 8 + 3 / 8) d^2 / 3 = d^2 / 2; t(0.975, 3) = 3.182446.
    #[test]
    fn an_interval_by_hand() {
        let d = 0.1_f64;
        let blocks = [
            block(1.0, 1.0, 1.0, 1.0, d.exp()),
            block(1.0, 1.0, 1.0, 1.0, (-d).exp()),
        ];
        let found = factorial_effects(&blocks).unwrap();
        let half = 3.182_446 * (d * d / 2.0 * 4.0 / 2.0).sqrt();
        assert!((found.interaction.interval.unwrap().1.ln() - half).abs() < 1e-6);
        let half = 3.182_446 * (d * d / 2.0 * 2.0 / 2.0).sqrt();
        assert!((found.first.interval.unwrap().1.ln() - half).abs() < 1e-6);
    }

    #[test]
    fn one_block_or_a_zero_is_refused() {
        assert!(factorial_effects(&[block(1.0, 1.0, 2.0, 3.0, 4.0)]).is_err());
        assert!(factorial_effects(&[block(1.0, 1.0, 2.0, 3.0, 0.0); 2]).is_err());
    }

    #[test]
    fn every_effect_covers() {
        let mut noise = Noise::seeded(81);
        let truths = [1.48, 1.30, 1.60, 1.48 * 1.30, 1.60 / (1.48 * 1.30)];
        let mut covered = [0; 5];
        let trials = 4_000;
        for _ in 0..trials {
            let blocks = [(); 3].map(|()| {
                let host = (0.2 * noise.normal()).exp();
                let mut cell = |level: f64| level * (0.05 * noise.normal()).exp();
                block(host, cell(1.0), cell(1.48), cell(1.30), cell(1.60))
            });
            let found = factorial_effects(&blocks).unwrap();
            let estimates = [
                found.first,
                found.second,
                found.both,
                found.product,
                found.interaction,
            ];
            for ((count, truth), estimate) in covered.iter_mut().zip(truths).zip(estimates) {
                let (low, high) = estimate.interval.unwrap();
                *count += usize::from(low <= truth && truth <= high);
            }
        }
        for (count, what) in
            covered
                .into_iter()
                .zip(["first", "second", "both", "product", "interaction"])
        {
            let share = count as f64 / f64::from(trials);
            assert_covers(share, &format!("factorial {what}, 3 blocks"));
        }
    }
}
