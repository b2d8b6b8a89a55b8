//! Cells: what their repetitions say together.
//!
//! Medians over repetitions, so that one disturbed run does not move a cell's row.

use std::collections::BTreeMap;

use serde::Serialize;
use weir_model::{Bottleneck, LatencySummary, RunRecord, StudyResult, Utilization};
use weir_stats::{mean_interval, median};

use crate::number::{RoundedNumber, grouped, percent};
use crate::over_cells::{Variables, own_variables, shared_variables};
use crate::words::{bottleneck_explanation, bottleneck_name, cell_label};

/// A cell with its repetitions summed up.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct CellSummary<'a> {
    pub(crate) label: String,
    levels: &'a BTreeMap<String, String>,
    drive: Option<&'a str>,
    threads: u32,
    /// Beyond those that are the same in all cells.
    variables: Variables<'a>,
    /// Completed repetitions; all else is absent with 0.
    pub(crate) repetitions: usize,
    pub(crate) queries_per_s_mean: Option<RoundedNumber>,
    pub(crate) queries_per_s_min: Option<RoundedNumber>,
    pub(crate) queries_per_s_max: Option<RoundedNumber>,
    /// The 95 % interval of the mean; absent with one repetition.
    queries_per_s_low: Option<RoundedNumber>,
    queries_per_s_high: Option<RoundedNumber>,
    transactions_per_s_mean: Option<RoundedNumber>,
    pub(crate) bottleneck: Option<BottleneckWords>,
    pub(crate) utilization: Option<UtilizationMedian>,
    pub(crate) latency_ms: Option<LatencyMedian>,
    /// Failed and repeated transactions, all repetitions together.
    pub(crate) errors: u64,
}

/// Head of the columns of [`CellSummary::row`].
pub(crate) const CELL_HEADER: [&str; 8] = [
    "combination",
    "queries/s",
    "lowest to highest",
    "p99 ms",
    "limited by",
    "host CPU",
    "drive read",
    "drive write",
];

impl CellSummary<'_> {
    /// Returns the row of a plain table for a cell; `-` where nothing was measured.
    pub(crate) fn row(&self) -> [String; 8] {
        let none = || "-".to_owned();
        let number = |value: Option<RoundedNumber>| value.map_or_else(none, |v| grouped(v.get()));
        let share = |value: Option<RoundedNumber>| value.map_or_else(none, |v| percent(v.get()));
        let range = self.queries_per_s_min.zip(self.queries_per_s_max);
        let range =
            range.map(|(low, high)| format!("{} to {}", grouped(low.get()), grouped(high.get())));
        let used = self.utilization.as_ref();
        [
            self.label.clone(),
            number(self.queries_per_s_mean),
            range.unwrap_or_else(none),
            number(self.latency_ms.as_ref().and_then(|latency| latency.p99)),
            self.bottleneck_text().unwrap_or_else(none),
            share(used.and_then(|used| used.host_cpu)),
            share(used.and_then(|used| used.drive_read)),
            share(used.and_then(|used| used.drive_write)),
        ]
    }

    fn bottleneck_text(&self) -> Option<String> {
        let bottleneck = self.bottleneck.as_ref()?;
        Some(if bottleneck.repetitions == self.repetitions {
            bottleneck.name.to_owned()
        } else {
            format!(
                "{} ({} of {} runs)",
                bottleneck.name, bottleneck.repetitions, self.repetitions
            )
        })
    }
}

/// Bottleneck of most repetitions of a cell.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct BottleneckWords {
    kind: Bottleneck,
    pub(crate) name: &'static str,
    pub(crate) explanation: &'static str,
    /// Repetitions that it limited.
    pub(crate) repetitions: usize,
}

/// Medians of [`Utilization`]: shares from 0 to 1, and cores.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct UtilizationMedian {
    pub(crate) host_cpu: Option<RoundedNumber>,
    pub(crate) server_cores: Option<RoundedNumber>,
    pub(crate) client_cpu: Option<RoundedNumber>,
    drive_cores: Option<RoundedNumber>,
    pub(crate) drive_read: Option<RoundedNumber>,
    pub(crate) drive_write: Option<RoundedNumber>,
    pub(crate) iowait: Option<RoundedNumber>,
    steal: Option<RoundedNumber>,
    other_cores: Option<RoundedNumber>,
}

/// Medians of [`LatencySummary`], milliseconds.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct LatencyMedian {
    mean: Option<RoundedNumber>,
    pub(crate) p50: Option<RoundedNumber>,
    pub(crate) p95: Option<RoundedNumber>,
    pub(crate) p99: Option<RoundedNumber>,
    p999: Option<RoundedNumber>,
    max: Option<RoundedNumber>,
    /// Lowest and highest repetition.
    p95_range: Option<(RoundedNumber, RoundedNumber)>,
    p99_range: Option<(RoundedNumber, RoundedNumber)>,
}

/// One summary per cell of the plan, in the plan's order.
pub(crate) fn summaries(result: &StudyResult) -> Vec<CellSummary<'_>> {
    let shared = shared_variables(&result.plan);
    let cells = result.plan.cells.iter().enumerate();
    cells
        .map(|(index, cell)| {
            let records: Vec<_> = result
                .runs
                .iter()
                .map(|run| &run.record)
                .filter(|record| record.cell == index)
                .collect();
            let rates: Vec<_> = records.iter().map(|record| record.queries_per_s).collect();
            let transactions: Vec<_> = records
                .iter()
                .map(|record| record.transactions_per_s)
                .collect();
            let interval = mean_interval(&rates);
            CellSummary {
                label: cell_label(cell),
                levels: &cell.levels,
                drive: cell
                    .spec
                    .primary()
                    .drive
                    .as_ref()
                    .map(|drive| drive.profile.as_str()),
                threads: cell.spec.load.connections,
                variables: own_variables(cell, &shared),
                repetitions: records.len(),
                queries_per_s_mean: mean(&rates),
                queries_per_s_min: rates
                    .iter()
                    .copied()
                    .reduce(f64::min)
                    .and_then(RoundedNumber::fine),
                queries_per_s_max: rates
                    .iter()
                    .copied()
                    .reduce(f64::max)
                    .and_then(RoundedNumber::fine),
                queries_per_s_low: interval.and_then(|(low, _)| RoundedNumber::fine(low)),
                queries_per_s_high: interval.and_then(|(_, high)| RoundedNumber::fine(high)),
                transactions_per_s_mean: mean(&transactions),
                bottleneck: bottleneck(&records),
                utilization: (!records.is_empty()).then(|| utilization(&records)),
                latency_ms: (!records.is_empty()).then(|| latency(&records)),
                errors: records.iter().map(|record| record.errors).sum(),
            }
        })
        .collect()
}

fn mean(values: &[f64]) -> Option<RoundedNumber> {
    RoundedNumber::fine(values.iter().sum::<f64>() / values.len() as f64)
}

/// The bottleneck of most repetitions; the first in the order of runs wins a tie.
fn bottleneck(records: &[&RunRecord]) -> Option<BottleneckWords> {
    let votes = |kind: Bottleneck| {
        records
            .iter()
            .filter(|record| record.bottleneck == kind)
            .count()
    };
    let kind = records
        .iter()
        .map(|record| record.bottleneck)
        .reduce(|best, kind| {
            if votes(kind) > votes(best) {
                kind
            } else {
                best
            }
        })?;
    Some(BottleneckWords {
        kind,
        name: bottleneck_name(kind),
        explanation: bottleneck_explanation(kind),
        repetitions: votes(kind),
    })
}

fn median_of(records: &[&RunRecord], value: impl Fn(&RunRecord) -> f64) -> Option<RoundedNumber> {
    let values: Vec<_> = records.iter().map(|record| value(record)).collect();
    RoundedNumber::new(median(&values)?, 4)
}

fn utilization(records: &[&RunRecord]) -> UtilizationMedian {
    let of = |field: fn(&Utilization) -> f64| median_of(records, |run| field(&run.utilization));
    UtilizationMedian {
        host_cpu: of(|u| u.host_cpu),
        server_cores: of(|u| u.server_cores),
        client_cpu: of(|u| u.client_cpu),
        drive_cores: of(|u| u.drive_cores),
        drive_read: of(|u| u.drive_read),
        drive_write: of(|u| u.drive_write),
        iowait: of(|u| u.iowait),
        steal: of(|u| u.steal),
        other_cores: of(|u| u.other_cores),
    }
}

fn latency(records: &[&RunRecord]) -> LatencyMedian {
    let of =
        |field: fn(&LatencySummary) -> f64| median_of(records, |run| field(&run.latency) / 1e3);
    LatencyMedian {
        mean: of(|l| l.us_mean),
        p50: of(|l| l.us_p50),
        p95: of(|l| l.us_p95),
        p99: of(|l| l.us_p99),
        p999: of(|l| l.us_p999),
        max: of(|l| l.us_max),
        p95_range: range(records, |l| l.us_p95),
        p99_range: range(records, |l| l.us_p99),
    }
}

/// Lowest and highest repetition, milliseconds.
fn range(
    records: &[&RunRecord],
    us: fn(&LatencySummary) -> f64,
) -> Option<(RoundedNumber, RoundedNumber)> {
    let values = || records.iter().map(|record| us(&record.latency) / 1e3);
    let (low, high) = (values().reduce(f64::min)?, values().reduce(f64::max)?);
    Some((RoundedNumber::new(low, 4)?, RoundedNumber::new(high, 4)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_cell_takes_the_bottleneck_of_most_repetitions_and_medians() {
        let mut result = sample::study(2, 3);
        let busy = [0.5, 0.9, 0.7];
        let mine = result
            .evidence
            .runs
            .iter_mut()
            .filter(|run| run.record.cell == 1);
        for (run, host_cpu) in mine.zip(busy) {
            run.record.utilization.host_cpu = host_cpu;
            run.record.bottleneck = if host_cpu > 0.8 {
                Bottleneck::ServerCpu
            } else {
                Bottleneck::DriveWrite
            };
        }
        let summaries = summaries(&result.evidence);
        let words = summaries[1].bottleneck.as_ref().unwrap();
        assert_eq!((words.kind, words.repetitions), (Bottleneck::DriveWrite, 2));
        let host_cpu = summaries[1].utilization.as_ref().unwrap().host_cpu;
        assert_eq!(host_cpu, RoundedNumber::fine(0.7));
    }

    #[test]
    fn a_cell_without_a_completed_run_says_so_and_nothing_else() {
        let mut result = sample::study(2, 3);
        result.evidence.runs.retain(|run| run.record.cell == 0);
        let summaries = summaries(&result.evidence);
        assert_eq!(summaries[1].repetitions, 0);
        assert!(summaries[1].bottleneck.is_none() && summaries[1].queries_per_s_mean.is_none());
    }
}
