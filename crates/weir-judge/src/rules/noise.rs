//! R5: an effect is larger than what identical runs differ by.

use weir_model::{Comparison, Finding, RuleId};
use weir_stats::{RatioEstimate, Verdict, verdict};

use super::{Evidence, MAKES_INCONCLUSIVE, Rule};

pub(super) const RULE: Rule = Rule {
    id: RuleId::R5,
    title: "an effect is larger than the noise",
    checked: "The comparison is inconclusive in three cases, even if its own interval excludes 1. The effect is \
              within the noise floor: two identical levels differ by no more in 95 of 100 comparisons. The floor \
              comes from the repetitions of all cells and from cells with the same settings. Or the effect is not \
              larger than the shift of a negative control (`[[negative_controls]]`), where the factor can do \
              nothing. Or the effect does not survive the correction for all comparisons of the study (Benjamini \
              and Hochberg, 5 % false discoveries).",
    reason: "Three quiet pairs in a row happen. Identical runs of 2026 differed by 4.9 % per run when I/O-bound \
             and 0.66 % when cached, and the ranking of two versions flipped. Of twenty settings without effect, \
             one shows an effect at 95 %.",
    remedy: "Raise `repeat.runs`, use a quieter host, or accept that no effect was shown.",
    reference: "A/A pairs of 2026 (Percona-Lab-results, tpcc-benchmark-framework and \
                mysql-tpcc-buffer-pool-sweep); Benjamini and Hochberg, Journal of the Royal Statistical Society B \
                57, 1995",
    severities: MAKES_INCONCLUSIVE,
    comparison: check,
    ..Rule::NONE
};

/// Share of false findings that is accepted.
const FALSE_DISCOVERIES_MAX: f64 = 0.05;

fn check(evidence: &Evidence<'_>, comparison: &Comparison) -> Option<Finding> {
    if comparison.negative_control {
        return None; // It is what others are judged by.
    }
    let effect = RatioEstimate {
        ratio: comparison.ratio,
        interval: comparison.estimate().interval(),
        pairs: comparison.pairs,
    };
    let noise = evidence.noise.as_ref();
    let control = evidence.controls.get(&comparison.factor);
    let message = match verdict(&effect, noise, control) {
        Verdict::IntervalHoldsOne => return None,
        Verdict::BelowNoise => format!(
            "runs of the same cell differ so much that two identical levels are up to {:.1} % apart; \
             raise repeat.runs or quieten the host",
            percent(noise?.ratio(effect.pairs.max(1)))
        ),
        Verdict::BelowControl => format!(
            "where {} can do nothing the result moved by {:.1} % as well; find what else changed",
            comparison.factor,
            percent(control?.ratio)
        ),
        Verdict::Higher | Verdict::Lower => {
            let adjusted = comparison.p_value_adjusted?;
            if adjusted <= FALSE_DISCOVERIES_MAX {
                return None;
            }
            format!(
                "among all comparisons of this study one like it is expected by chance (corrected p \
                 {adjusted:.2}); raise repeat.runs or ask fewer questions"
            )
        }
    };
    Some(RULE.inconclusive(message))
}

/// A ratio's distance from 1, per cent.
fn percent(ratio: f64) -> f64 {
    (ratio.ln().abs().exp() - 1.0) * 100.0
}
