//! Runs as the page draws them: two columns on a grid of time that all runs share.
//!
//! A second of a run is 11 fields in the result; the page draws throughput and p99. Long studies are
//! drawn in coarser steps, so that the file stays small whatever the number of runs.

use std::collections::BTreeMap;

use serde::Serialize;
use weir_model::{IntervalRecord, RunResult};
use weir_stats::{Stall, stalls};

use crate::events::{CloseUp, EventSpan};
use crate::gaps::GapView;
use crate::number::RoundedNumber;
use crate::words::{bottleneck_evidence, bottleneck_explanation, bottleneck_name};

/// Points of all runs together: about 0.7 MB of JSON.
const POINTS_MAX: f64 = 60_000.0;
/// The logs of all runs together; the result has the rest.
const LOG_BYTES_MAX: usize = 200_000;
/// Steps that a reader can think in, seconds.
const STEPS_S: [f64; 10] = [1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0];

/// A run's identity, rate, and course.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct RunView<'a> {
    cell: usize,
    repetition: u32,
    started_at: &'a str,
    measured_s: Option<RoundedNumber>,
    queries_per_s: Option<RoundedNumber>,
    transactions_per_s: Option<RoundedNumber>,
    latency_ms_p99: Option<RoundedNumber>,
    errors: u64,
    bottleneck: &'static str,
    bottleneck_explanation: &'static str,
    bottleneck_evidence: String,
    gaps: Vec<GapView<'a>>,
    events: Vec<EventSpan<'a>>,
    /// Tenths of a second around its events, of a first repetition.
    close_up: Option<CloseUp>,
    /// The end of the server's error log.
    server_log: &'a str,
    /// Every command of the run, in order.
    commands: &'a [String],
    variables_changed: &'a BTreeMap<String, String>,
    series: Series,
    /// Begin and end of each stall, seconds since the measurement began.
    stalls: Vec<(f64, f64)>,
}

impl RunView<'_> {
    /// Returns the number of values of its series.
    pub(crate) fn values(&self) -> usize {
        2 * self.series.queries_per_s.len()
    }
}

/// Bin `i` of the columns covers `(first_bin + i) * step_s` up to a step later, where 0 is the
/// beginning of the measurement. `None` where nothing was recorded.
#[derive(Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Series {
    first_bin: i64,
    queries_per_s: Vec<Option<RoundedNumber>>,
    /// The worst second of a bin.
    latency_ms_p99: Vec<Option<RoundedNumber>>,
}

/// The finest step with which all runs together stay within the points that a page holds.
pub(crate) fn step_s(runs: &[RunResult]) -> f64 {
    let seconds: f64 = runs
        .iter()
        .flat_map(|run| &run.intervals)
        .map(|interval| interval.length_s)
        .sum();
    let fits = |step: &&f64| seconds / **step <= POINTS_MAX;
    STEPS_S.iter().find(fits).copied().unwrap_or(3600.0)
}

/// All runs, in the order in which they were made.
pub(crate) fn views(runs: &[RunResult], step_s: f64) -> Vec<RunView<'_>> {
    let view = |run: &RunResult| series(&run.intervals, step_s);
    let log_bytes = LOG_BYTES_MAX / runs.len().max(1);
    runs.iter()
        .map(|run| RunView {
            cell: run.record.cell,
            repetition: run.record.repetition,
            started_at: &run.record.started_at,
            measured_s: RoundedNumber::fine(run.record.measured_s),
            queries_per_s: RoundedNumber::fine(run.record.queries_per_s),
            transactions_per_s: RoundedNumber::fine(run.record.transactions_per_s),
            latency_ms_p99: RoundedNumber::new(run.record.latency.us_p99 / 1e3, 4),
            errors: run.record.errors,
            bottleneck: bottleneck_name(run.record.bottleneck),
            bottleneck_explanation: bottleneck_explanation(run.record.bottleneck),
            bottleneck_evidence: bottleneck_evidence(
                run.record.bottleneck,
                &run.record.utilization,
            ),
            gaps: run.gaps.iter().map(GapView::new).collect(),
            events: run.events.iter().map(EventSpan::new).collect(),
            close_up: CloseUp::for_run(run),
            server_log: last_lines(&run.server_log, log_bytes),
            commands: &run.commands,
            variables_changed: &run.variables_changed,
            series: view(run),
            stalls: stalls_of(&run.intervals),
        })
        .collect()
}

/// Begin and end of each time of the measurement in which throughput was below half of its median.
fn stalls_of(intervals: &[IntervalRecord]) -> Vec<(f64, f64)> {
    // The middle decides, so that a late tick stays in its own second.
    let middle_s = |interval: &IntervalRecord| interval.time_s - interval.length_s / 2.0;
    let measured: Vec<_> = intervals.iter().filter(|one| middle_s(one) > 0.0).collect();
    let rate = |interval: &&IntervalRecord| interval.queries as f64 / interval.length_s;
    let rates: Vec<_> = measured.iter().map(rate).collect();
    let found = stalls(&rates).map_or_else(Vec::new, |found| found.stalls);
    let tenths = |time_s: f64| (time_s * 10.0).round() / 10.0;
    let times = |stall: &Stall| {
        let first = measured[stall.start];
        let last = measured[stall.start + stall.seconds - 1];
        (
            tenths((first.time_s - first.length_s).max(0.0)),
            tenths(last.time_s),
        )
    };
    found.iter().map(times).collect()
}

/// The last whole lines of `text` in at most `bytes_max`.
fn last_lines(text: &str, bytes_max: usize) -> &str {
    if text.len() <= bytes_max {
        return text;
    }
    // A line ends before a whole character.
    let begin = text.bytes().enumerate().skip(text.len() - bytes_max);
    let mut after = begin
        .filter(|(_, byte)| *byte == b'\n')
        .map(|(at, _)| at + 1);
    after.next().map_or("", |begin| &text[begin..])
}

/// Values of a bin.
#[derive(Debug, Clone, Copy, Default)]
struct Bin {
    queries: u64,
    seconds: f64,
    transactions: u64,
    latency_us_p99: f64,
}

fn series(intervals: &[IntervalRecord], step_s: f64) -> Series {
    // The middle of an interval decides, so that a late tick falls into its own second.
    let bin_of = |interval: &IntervalRecord| {
        ((interval.time_s - interval.length_s / 2.0) / step_s).floor() as i64
    };
    let Some(first_bin) = intervals.iter().map(bin_of).min() else {
        return Series::default();
    };
    let mut bins: Vec<Bin> = Vec::new();
    for interval in intervals {
        let index = (bin_of(interval) - first_bin) as usize;
        if index >= bins.len() {
            bins.resize(index + 1, Bin::default());
        }
        let bin = &mut bins[index];
        bin.queries += interval.queries;
        bin.seconds += interval.length_s;
        bin.transactions += interval.transactions;
        bin.latency_us_p99 = bin.latency_us_p99.max(interval.latency_us_p99);
    }
    Series {
        first_bin,
        queries_per_s: bins
            .iter()
            .map(|bin| RoundedNumber::new(bin.queries as f64 / bin.seconds, 4))
            .collect(),
        latency_ms_p99: bins
            .iter()
            .map(|bin| {
                (bin.transactions > 0)
                    .then(|| RoundedNumber::new(bin.latency_us_p99 / 1e3, 4))
                    .flatten()
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(time_s: f64, queries: u64, latency_us_p99: f64) -> IntervalRecord {
        IntervalRecord {
            time_s,
            length_s: 1.0,
            queries,
            transactions: queries / 6,
            latency_us_p99,
            ..IntervalRecord::default()
        }
    }

    #[test]
    fn seconds_fall_into_their_bins_and_a_gap_stays_a_gap() {
        let seconds = [
            interval(0.0, 600, 9_000.0),
            interval(1.01, 660, 8_000.0),
            interval(3.02, 0, 0.0),
        ];
        let series = series(&seconds, 1.0);
        assert_eq!(series.first_bin, -1);
        assert_eq!(
            serde_json::to_string(&series.queries_per_s).unwrap(),
            "[600,660,null,0]"
        );
        assert_eq!(
            serde_json::to_string(&series.latency_ms_p99).unwrap(),
            "[9,8,null,null]"
        );
    }

    #[test]
    fn coarse_bins_average_throughput_and_keep_the_worst_latency() {
        let seconds = [interval(1.0, 100, 1_000.0), interval(2.0, 300, 5_000.0)];
        let series = series(&seconds, 2.0);
        assert_eq!(
            serde_json::to_string(&series).unwrap(),
            r#"{"first_bin":0,"queries_per_s":[200],"latency_ms_p99":[5]}"#
        );
    }

    #[test]
    fn many_long_runs_are_drawn_in_coarser_steps() {
        let mut result = crate::sample::study(4, 3);
        assert!((step_s(&result.evidence.runs) - 1.0).abs() < 1e-9);
        result.evidence.runs[0].intervals = vec![interval(1.0, 1, 1.0); 200_000];
        assert!((step_s(&result.evidence.runs) - 5.0).abs() < 1e-9);
    }

    #[test]
    fn seconds_below_half_of_the_median_are_stalls_and_neighbours_are_one() {
        // The first one is the end of the warm-up.
        let rates = [10, 100, 40, 30, 100, 110, 0, 100, 90];
        let seconds = rates.iter().enumerate();
        let seconds: Vec<_> = seconds
            .map(|(at, rate)| interval(at as f64 + 0.01, *rate, 1.0))
            .collect();
        assert_eq!(stalls_of(&seconds), [(1.0, 3.0), (5.0, 6.0)]);
        assert_eq!(stalls_of(&[]), []);
    }

    #[test]
    fn the_end_of_a_long_log_is_kept_in_whole_lines() {
        assert_eq!(last_lines("a\nb\n", 4), "a\nb\n");
        assert_eq!(last_lines("first \u{e4}\nsecond\nlast\n", 11), "last\n");
        assert_eq!(last_lines("one endless line", 4), "");
    }

    #[test]
    fn a_run_without_seconds_has_an_empty_series() {
        assert_eq!(series(&[], 1.0), Series::default());
    }
}
