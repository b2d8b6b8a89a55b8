//! Equality of two levels within a margin: of comparisons, of kinds of statements, of claims that say so.
//!
//! A difference that was not shown is no equality, so equality is a claim of its own, by two one-sided tests at 5 %. A
//! reader who goes by a list of equal ones is misled by the false ones in it; so probabilities have the correction for
//! many (Benjamini and Hochberg), apart from those of differences.
//!
//! Where the number of pairs depends on what they say (`repeat.until`), a test for each look is the one that keeps its
//! error: [`weir_stats::looked_equality_p_value`].

use weir_model::{Comparison, EqualityTest, Plan, Ratio, Verdict};
use weir_stats::{
    benjamini_hochberg, equality_pairs_expected, looked_equality_p_value, paired_equality_p_value,
    welch_equality_p_value,
};

use crate::contrast::Contrast;
use crate::estimate_ratio::Pairing;
use crate::measured::RunsByCell;

/// A measurement in both arms.
pub(crate) enum Arms {
    /// `(level, baseline)` of each repetition.
    Pairs(Vec<(f64, f64)>),
    /// Runs of the level and of the baseline.
    Unpaired(Vec<f64>, Vec<f64>),
}

impl Arms {
    /// Probability of such a ratio if the arms were not equal within `margin`; `is_looked` if the number of pairs depends on
    /// what they say.
    pub(crate) fn equality_p_value(&self, margin: f64, is_looked: bool) -> Option<f64> {
        match self {
            Self::Pairs(pairs) if is_looked => looked_equality_p_value(pairs, margin).ok()?,
            Self::Pairs(pairs) => paired_equality_p_value(pairs, margin).ok()?,
            Self::Unpaired(level, baseline) => welch_equality_p_value(level, baseline, margin).ok(),
        }
    }

    /// Repetitions that would show equality, if levels are equal and pairs vary as these do.
    fn repetitions_needed(&self, margin: f64) -> Option<u64> {
        match self {
            Self::Pairs(pairs) => {
                let needed = equality_pairs_expected(pairs, margin).ok()??;
                (needed > pairs.len()).then_some(needed as u64)
            }
            Self::Unpaired(..) => None,
        }
    }
}

/// Tests both cells of `contrast` for equality in its metric, without the correction for many.
pub(crate) fn test(
    plan: &Plan,
    contrast: &Contrast,
    runs: &RunsByCell<'_>,
    pairing: Pairing,
) -> Option<EqualityTest> {
    let (level, baseline) = (contrast.level_cell, contrast.baseline_cell);
    let metric = contrast.metric.as_str();
    let arms = match pairing {
        Pairing::Repetition => Arms::Pairs(runs.pairs(level, baseline, metric)),
        Pairing::None => Arms::Unpaired(runs.values(level, metric), runs.values(baseline, metric)),
    };
    let margin = plan.repeat.equal_margin();
    Some(EqualityTest {
        margin,
        p_value: arms.equality_p_value(margin, plan.repeat.until.is_some())?,
        p_value_adjusted: None,
        repetitions_needed: arms.repetitions_needed(margin),
    })
}

/// Fills in probabilities that are corrected for all comparisons of the study.
pub(crate) fn correct(comparisons: &mut [Comparison]) {
    let tests: Vec<_> = comparisons
        .iter_mut()
        .filter_map(|comparison| comparison.equality.as_mut())
        .collect();
    let p_values: Vec<_> = tests.iter().map(|test| test.p_value).collect();
    for (test, adjusted) in tests.into_iter().zip(benjamini_hochberg(&p_values)) {
        test.p_value_adjusted = Some(adjusted);
    }
}

/// The verdict with what is known of equality: it goes before "not shown", and before a difference if that was the
/// question. A comparison that a rule forbids stays forbidden.
pub(crate) fn verdict(plan: &Plan, comparison: &Comparison) -> Verdict {
    let is_equal = comparison.equality.is_some_and(|test| test.is_shown());
    match comparison.verdict {
        Verdict::Inconclusive if is_equal => Verdict::Equal,
        Verdict::Effect if is_equal && plan.repeat.asks_for_equality() => Verdict::Equal,
        other => other,
    }
}

/// Returns true if a whole interval lies within the margin: equality where nothing but the interval is known.
pub(crate) fn is_inside(ratio: &Ratio, margin: f64) -> bool {
    ratio
        .interval()
        .is_some_and(|(low, high)| low >= 1.0 / (1.0 + margin) && high <= 1.0 + margin)
}
