//! The ranking of a screen: a row for each factor, the surest first. Verdicts come from the runs that followed it.

use serde::Serialize;
use weir_model::{
    Candidate, JudgedResult, Ratio, ScreenPlan, ScreenRanking, ScreenedMetric, Winner,
};

use crate::insights::ratio_words;
use crate::number::{RoundedNumber, percent};
use crate::table::table;
use crate::words::{count, metric_name};

/// Note on the numbers of a ranking.
const NOTE: &str = "A screen's best effects are too large on average, since they were chosen for their size. \
                    Believe the comparisons, which come from new runs.";
/// With a smaller probability single effects do not explain the runs.
const PAIRS_SURE: f64 = 0.05;

/// The ranking of a screen's factors.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct ScreenTable<'a> {
    /// Names of the metrics, as columns.
    metrics: Vec<String>,
    rows: Vec<ScreenRow<'a>>,
    /// Difference of one run from the next, pairs that act together, and winners that were left out.
    notes: Vec<String>,
}

/// A factor of a screen.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct ScreenRow<'a> {
    factor: &'a str,
    /// `128M -> 2G`.
    change: String,
    /// An effect in each metric.
    effects: Vec<ScreenEffectView>,
    /// Outcome in words.
    then: &'static str,
}

/// Candidate / present in one metric.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct ScreenEffectView {
    ratio: Option<RoundedNumber>,
    ratio_low: Option<RoundedNumber>,
    ratio_high: Option<RoundedNumber>,
    /// `1.31x (1.27 to 1.35)`.
    text: String,
    is_sure: bool,
}

impl<'a> ScreenTable<'a> {
    /// The ranking of `result`, if it is a screen whose rows suffice for one.
    pub(crate) fn new(result: &'a JudgedResult) -> Option<Self> {
        let screen = result.evidence.plan.screen.as_ref()?;
        let ranking = result.analysis.screen.as_ref()?;
        let mut order: Vec<usize> = (0..screen.candidates.len()).collect();
        order.sort_by(|one, other| surest(ranking, *one).total_cmp(&surest(ranking, *other)));
        let row = |index: usize| {
            let candidate = &screen.candidates[index];
            let effects = ranking.metrics.iter().map(|metric| effect(metric, index));
            ScreenRow {
                factor: &candidate.factor,
                change: change(candidate),
                effects: effects.collect(),
                then: ScreenOutcome::new(ranking, index).words(),
            }
        };
        Some(Self {
            metrics: ranking
                .metrics
                .iter()
                .map(|metric| metric_name(&metric.metric))
                .collect(),
            rows: order.into_iter().map(row).collect(),
            notes: notes(screen, ranking),
        })
    }

    /// The ranking as text.
    pub(crate) fn text(&self) -> String {
        let (header, rows) = self.cells();
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        let notes = self.notes.iter().map(|note| format!("{note}\n"));
        let title = "ranking of the screen, the surest first:\n";
        format!(
            "{title}{}{}",
            table(&header, &rows),
            notes.collect::<String>()
        )
    }

    /// Header and rows for a table.
    pub(crate) fn cells(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let first = ["factor", "change"].map(str::to_owned);
        let header = first.into_iter().chain(self.metrics.clone());
        let row = |row: &ScreenRow<'_>| {
            let named = [row.factor.to_owned(), row.change.clone()].into_iter();
            let effects = row.effects.iter().map(|effect| effect.text.clone());
            named.chain(effects).chain([row.then.to_owned()]).collect()
        };
        let header = header.chain(["then".to_owned()]).collect();
        (header, self.rows.iter().map(row).collect())
    }

    /// The notes below the table.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }
}

fn change(candidate: &Candidate) -> String {
    format!("{} -> {}", candidate.present, candidate.level)
}

/// The smallest probability of a factor's effects.
fn surest(ranking: &ScreenRanking, factor: usize) -> f64 {
    let of_metric = ranking
        .metrics
        .iter()
        .map(|metric| metric.effects[factor].p_value);
    of_metric.fold(f64::INFINITY, f64::min)
}

fn effect(metric: &ScreenedMetric, factor: usize) -> ScreenEffectView {
    let found = &metric.effects[factor];
    let Ratio { ratio, low, high } = found.ratio;
    let rounded = |value| RoundedNumber::new(value, 4);
    ScreenEffectView {
        ratio: rounded(ratio),
        ratio_low: low.and_then(rounded),
        ratio_high: high.and_then(rounded),
        text: ratio_words(&found.ratio),
        is_sure: found.is_sure(),
    }
}

/// Outcome of a factor of a screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScreenOutcome {
    MeasuredAnew,
    LeftOut,
    Worse,
    NotShown,
}

impl ScreenOutcome {
    pub(crate) fn new(ranking: &ScreenRanking, factor: usize) -> Self {
        let is_factor = |winner: &Winner| winner.candidate == factor;
        let is_worse = |metric: &ScreenedMetric| {
            let found = &metric.effects[factor];
            found.is_sure() && !found.is_better_in(&metric.metric)
        };
        if ranking.winners.iter().any(is_factor) {
            Self::MeasuredAnew
        } else if ranking.left_out.iter().any(is_factor) {
            Self::LeftOut
        } else if ranking.metrics.iter().any(is_worse) {
            Self::Worse
        } else {
            Self::NotShown
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::MeasuredAnew => "measured anew",
            Self::LeftOut => "left out",
            Self::Worse => "worse",
            Self::NotShown => "no effect shown",
        }
    }
}

fn notes(screen: &ScreenPlan, ranking: &ScreenRanking) -> Vec<String> {
    let noise = ranking.metrics.iter().map(|metric| {
        format!(
            "{} in {}",
            percent(metric.log_deviation),
            metric_name(&metric.metric)
        )
    });
    let noise: Vec<_> = noise.collect();
    let mut notes = vec![
        NOTE.to_owned(),
        format!(
            "One run differs from the next by {} (standard deviation).",
            noise.join(", ")
        ),
    ];
    let acting = ranking.metrics.iter().filter(|metric| {
        metric
            .pairs_p_value
            .is_some_and(|p_value| p_value < PAIRS_SURE)
    });
    notes.extend(acting.map(|metric| {
        format!(
            "In {} factors act together (p {:.3}). A screen cannot tell which pairs. The comparisons measure the winners \
             together, and without each.",
            metric_name(&metric.metric),
            metric.pairs_p_value.unwrap_or_default(),
        )
    }));
    if !ranking.left_out.is_empty() {
        let names = ranking.left_out.iter();
        let names: Vec<_> = names
            .map(|winner| screen.candidates[winner.candidate].factor.as_str())
            .collect();
        notes.push(format!(
            "{} was not measured anew, since there were more than can be told apart: {}.",
            count(names.len(), "winner"),
            names.join(", "),
        ));
    }
    notes
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::sample;

    /// A screen of three factors, of which the second won.
    pub(crate) fn screened() -> JudgedResult {
        let mut result = sample::study(4, 3);
        let candidate = |factor: &str| Candidate {
            factor: factor.to_owned(),
            present: "0".to_owned(),
            level: "1".to_owned(),
            variables: [(factor.to_owned(), Some("1".to_owned()))].into(),
            change: None,
        };
        let effect = |factor: &str, ratio: f64, p_value: f64| weir_model::ScreenedEffect {
            factor: factor.to_owned(),
            ratio: Ratio {
                ratio,
                low: Some(ratio - 0.03),
                high: Some(ratio + 0.03),
            },
            p_value,
            p_value_adjusted: p_value,
        };
        result.evidence.plan.screen = Some(ScreenPlan {
            candidates: ["a", "b", "c"].map(candidate).into(),
            changes: Vec::new(),
            winners: Vec::new(),
        });
        result.analysis.screen = Some(ScreenRanking {
            metrics: vec![ScreenedMetric {
                metric: "queries_per_s".to_owned(),
                effects: vec![
                    effect("a", 1.0, 0.8),
                    effect("b", 1.2, 0.001),
                    effect("c", 0.9, 0.01),
                ],
                log_deviation: 0.03,
                degrees_of_freedom: 14,
                pairs_p_value: Some(0.01),
            }],
            winners: vec![Winner {
                candidate: 1,
                metric: "queries_per_s".to_owned(),
            }],
            left_out: Vec::new(),
        });
        result
    }

    #[test]
    fn factors_stand_by_their_sureness_with_what_followed() {
        let result = screened();
        let (header, rows) = ScreenTable::new(&result).unwrap().cells();
        assert_eq!(header, ["factor", "change", "queries per second", "then"]);
        assert_eq!(
            rows[0],
            ["b", "0 -> 1", "1.20x (1.17 to 1.23)", "measured anew"]
        );
        assert_eq!((rows[1][0].as_str(), rows[1][3].as_str()), ("c", "worse"));
        assert_eq!(
            (rows[2][0].as_str(), rows[2][3].as_str()),
            ("a", "no effect shown")
        );
    }

    #[test]
    fn pairs_that_act_together_and_noise_are_told() {
        let result = screened();
        let text = ScreenTable::new(&result).unwrap().text();
        assert!(
            text.contains("differs from the next by 3.0 % in queries per second"),
            "{text}"
        );
        assert!(text.contains("factors act together"), "{text}");
        assert!(ScreenTable::new(&sample::study(4, 3)).is_none());
    }
}
