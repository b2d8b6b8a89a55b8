//! By how much a disturbance that was measured can have moved a ratio, and what that does to its verdict.

use weir_model::{Comparison, RunResult, Severity, less_is_better};

use super::Evidence;

/// Bounds on true ratio / measured ratio.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bound {
    /// At most 1.
    low: f64,
    /// At least 1.
    high: f64,
}

/// From this share of a ratio on a bound is reported.
const TOLD_FROM: f64 = 0.01;

impl Bound {
    /// `slowed` is the share by which a run would at most have been faster without the disturbance: 0.05 for 5 %;
    /// below 0 where the disturbance can only have made it faster.
    pub(super) fn new(
        evidence: &Evidence<'_>,
        comparison: &Comparison,
        slowed: impl Fn(&RunResult) -> f64,
    ) -> Self {
        let [baseline, level] = faster(evidence, comparison, slowed);
        Self::for_metric(
            comparison,
            (
                level.min(1.0) / baseline.max(1.0),
                level.max(1.0) / baseline.min(1.0),
            ),
        )
    }

    /// Latencies of a slowed run rise by as much.
    fn for_metric(comparison: &Comparison, (low, high): (f64, f64)) -> Self {
        if less_is_better(&comparison.metric) {
            Self {
                low: 1.0 / high,
                high: 1.0 / low,
            }
        } else {
            Self { low, high }
        }
    }

    /// The same for what works alike in both cells: where it slowed both by the same share, it moved no ratio.
    pub(super) fn of_the_difference(
        evidence: &Evidence<'_>,
        comparison: &Comparison,
        slowed: impl Fn(&RunResult) -> f64,
    ) -> Self {
        let [baseline, level] = faster(evidence, comparison, slowed);
        let moved = level / baseline;
        Self::for_metric(comparison, (moved.min(1.0), moved.max(1.0)))
    }

    /// Of both disturbances.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            low: self.low * other.low,
            high: self.high * other.high,
        }
    }

    /// The larger of both directions, as a share of the ratio.
    fn share(self) -> f64 {
        (1.0 / self.low).max(self.high) - 1.0
    }

    /// Returns true if it is too small for a finding.
    pub(super) fn is_small(self) -> bool {
        self.share() < TOLD_FROM
    }

    /// `at most 1.5 % of this ratio`.
    pub(super) fn words(self) -> String {
        format!("at most {:.1} % of this ratio", self.share() * 100.0)
    }

    /// An error where the disturbance could be the whole effect, a warning where it could move the interval
    /// across 1, else a note.
    pub(super) fn severity(self, comparison: &Comparison) -> Severity {
        let Some((low, high)) = comparison.ratio_low.zip(comparison.ratio_high) else {
            return Severity::Note;
        };
        let (crosses, is_whole) = if low > 1.0 {
            (low * self.low <= 1.0, comparison.ratio * self.low <= 1.0)
        } else if high < 1.0 {
            (high * self.high >= 1.0, comparison.ratio * self.high >= 1.0)
        } else {
            (low * self.high > 1.0 || high * self.low < 1.0, false)
        };
        match (crosses, is_whole) {
            (_, true) => Severity::Error,
            (true, false) => Severity::Warning,
            (false, false) => Severity::Note,
        }
    }
}

/// By what factor the runs of baseline and level would at most have been faster: geometric means.
fn faster(
    evidence: &Evidence<'_>,
    comparison: &Comparison,
    slowed: impl Fn(&RunResult) -> f64,
) -> [f64; 2] {
    [comparison.baseline_cell, comparison.level_cell].map(|cell| {
        let runs = evidence.runs.runs(cell);
        let sum: f64 = runs.iter().map(|run| slowed(run).max(-0.99).ln_1p()).sum();
        (sum / runs.len().max(1) as f64).exp()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate;
    use crate::rules::tests::fair;

    fn severity(ratio: f64, ends: Option<(f64, f64)>, by: f64) -> Severity {
        let mut comparison = evaluate(fair()).unwrap().comparisons.remove(0);
        comparison.ratio = ratio;
        comparison.ratio_low = ends.map(|(low, _)| low);
        comparison.ratio_high = ends.map(|(_, high)| high);
        let bound = Bound {
            low: 1.0 / by,
            high: by,
        };
        bound.severity(&comparison)
    }

    #[test]
    fn a_bound_warns_where_it_reaches_the_interval_s_end_and_forbids_where_it_is_the_effect() {
        let gain = |by| severity(1.3, Some((1.2, 1.4)), by);
        assert_eq!(
            [1.15, 1.25, 1.35].map(gain),
            [Severity::Note, Severity::Warning, Severity::Error]
        );
        let loss = |by| severity(0.8, Some((0.7, 0.9)), by);
        assert_eq!(
            [1.05, 1.2, 1.3].map(loss),
            [Severity::Note, Severity::Warning, Severity::Error]
        );
    }

    #[test]
    fn a_bound_may_hide_an_effect_but_forbids_nothing_that_was_not_shown() {
        let none = |by| severity(1.02, Some((0.97, 1.07)), by);
        assert_eq!(
            [1.02, 1.04, 2.0].map(none),
            [Severity::Note, Severity::Warning, Severity::Warning]
        );
        assert_eq!(severity(1.3, None, 2.0), Severity::Note);
    }
}
