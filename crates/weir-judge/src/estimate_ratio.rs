//! Choice of the estimator for two cells: the one whose assumptions the data can bear.
//!
//! `docs/statistics.md` says why. Runs of one repetition stand close in time, so within a study they
//! are pairs; runs of two results are not.

use weir_model::{Method, Plan, Ratio, SecondOpinion, Until};
use weir_stats::{
    BOOTSTRAP_PAIRS_MIN, MeanEstimate, RatioEstimate, StatsError, WELCH_RUNS_MIN, WelchRatio,
    bootstrap_log_ratio, decided_log_ratio, equality_decided_log_ratio, geometric_mean,
    paired_log_ratio, paired_p_value, welch_log_ratio, welch_mean_ratio,
};

use crate::measured::{RunsByCell, THROUGHPUT, measured_series};

/// Rule by which two runs belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pairing {
    /// Their repetition: the runs of a study.
    Repetition,
    /// Nothing: the runs of two results.
    None,
}

/// Level / baseline with what is known about it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RatioAnalysis {
    pub(crate) ratio: Ratio,
    pub(crate) method: Method,
    pub(crate) p_value: Option<f64>,
    /// Pairs; without pairing, runs of the level that has fewer.
    pub(crate) runs: usize,
}

/// The ratio of two cells in `metric`; `None` when there is nothing to divide.
pub(crate) fn ratio(
    runs: &RunsByCell<'_>,
    level: usize,
    baseline: usize,
    metric: &str,
    pairing: Pairing,
    plan: &Plan,
) -> Option<RatioAnalysis> {
    match pairing {
        Pairing::Repetition => {
            let pairs = runs.pairs(level, baseline, metric);
            match plan.repeat.until {
                Some(Until::Verdict) => at_verdict(&pairs, decided_log_ratio(&pairs)),
                Some(Until::Equal(_)) => at_verdict(&pairs, equality_decided_log_ratio(&pairs)),
                Some(Until::Within(_)) | None => paired(&pairs, plan.seed),
            }
        }
        Pairing::None => unpaired(&runs.values(level, metric), &runs.values(baseline, metric)),
    }
}

pub(crate) fn paired(pairs: &[(f64, f64)], seed: u64) -> Option<RatioAnalysis> {
    let (estimate, method) = if pairs.len() >= BOOTSTRAP_PAIRS_MIN {
        let estimate = bootstrap_log_ratio(pairs, seed).ok()?;
        (estimate, Method::PairedBootstrap)
    } else {
        (paired_log_ratio(pairs).ok()?, Method::PairedT)
    };
    Some(of_pairs(pairs, &estimate, method))
}

/// Pairs of a study that ended because of what they say.
pub(crate) fn at_verdict(
    pairs: &[(f64, f64)],
    estimate: Result<RatioEstimate, StatsError>,
) -> Option<RatioAnalysis> {
    Some(of_pairs(pairs, &estimate.ok()?, Method::PairedTAtVerdict))
}

fn of_pairs(pairs: &[(f64, f64)], estimate: &RatioEstimate, method: Method) -> RatioAnalysis {
    RatioAnalysis {
        ratio: of_estimate(estimate),
        method,
        p_value: paired_p_value(pairs).ok().flatten(),
        runs: pairs.len(),
    }
}

/// Without pairs; fewer than three runs of either give a ratio and no interval.
pub(crate) fn unpaired(level: &[f64], baseline: &[f64]) -> Option<RatioAnalysis> {
    let runs = level.len().min(baseline.len());
    let (ratio, p_value) = if let Ok(welch) = welch_log_ratio(level, baseline) {
        (of_welch(&welch), Some(welch.p_value))
    } else {
        let ratio = geometric_mean(level)? / geometric_mean(baseline)?;
        let none = Ratio {
            ratio,
            low: None,
            high: None,
        };
        (none, None)
    };
    Some(RatioAnalysis {
        ratio,
        method: Method::Welch,
        p_value,
        runs,
    })
}

/// The same two cells by a method that makes other assumptions: not paired over runs, or, with too
/// few of them for that, over the seconds of the runs.
pub(crate) fn second_opinion(
    runs: &RunsByCell<'_>,
    level: usize,
    baseline: usize,
    metric: &str,
    first: &RatioAnalysis,
) -> Option<SecondOpinion> {
    let values = [level, baseline].map(|cell| runs.values(cell, metric));
    let [of_level, of_baseline] = &values;
    let enough = of_level.len().min(of_baseline.len()) >= WELCH_RUNS_MIN;
    let (welch, method) = if enough && first.method != Method::Welch {
        let welch = welch_log_ratio(of_level, of_baseline).ok()?;
        (welch, Method::Welch)
    } else if metric == THROUGHPUT {
        let within = [level, baseline].map(|cell| within_runs(runs, cell));
        let [Some(of_level), Some(of_baseline)] = within else {
            return None;
        };
        let welch = welch_mean_ratio(&of_level, &of_baseline).ok()?;
        (welch, Method::WelchWithinRuns)
    } else {
        return None;
    };
    let ratio = of_welch(&welch);
    // Seconds of runs know too little to contradict runs.
    let may_contradict = method == Method::Welch && first.ratio.interval().is_some();
    Some(SecondOpinion {
        method,
        ratio,
        disagrees: may_contradict && direction(&ratio) != direction(&first.ratio),
    })
}

/// Mean of all measured seconds of a cell, their number corrected for autocorrelation.
fn within_runs(runs: &RunsByCell<'_>, cell: usize) -> Option<MeanEstimate> {
    let series: Vec<f64> = runs
        .runs(cell)
        .iter()
        .flat_map(|run| measured_series(run))
        .collect();
    MeanEstimate::of_series(&series).ok()
}

/// 1 above, -1 below, 0 not told apart from 1.
fn direction(ratio: &Ratio) -> i8 {
    match ratio.interval() {
        Some((low, _)) if low > 1.0 => 1,
        Some((_, high)) if high < 1.0 => -1,
        _ => 0,
    }
}

pub(crate) fn of_estimate(estimate: &RatioEstimate) -> Ratio {
    Ratio {
        ratio: estimate.ratio,
        low: estimate.interval.map(|(low, _)| low),
        high: estimate.interval.map(|(_, high)| high),
    }
}

fn of_welch(welch: &WelchRatio) -> Ratio {
    Ratio {
        ratio: welch.ratio,
        low: Some(welch.interval.0),
        high: Some(welch.interval.1),
    }
}
