//! A run over time, on one axis: its seconds and what the probes sampled, as curves in panels.
//!
//! Curves are drawn from buckets of equal length: the mean of a bucket, with its smallest and
//! largest value where the page asks for them, so that no peak is lost however far out one zooms.

mod curves;
mod panels;

use serde::Serialize;
use weir_model::RunResult;

use self::curves::Point;
use self::panels::FIRST;
pub(crate) use self::panels::{PanelHead, heads};
use crate::number::RoundedNumber;

/// Part of a run, and the number of buckets.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    /// Begin of the part, seconds since the measurement began; `None`: the beginning of the
    /// warm-up.
    pub from_s: Option<f64>,
    /// End of the part; `None`: the end of the run.
    pub to_s: Option<f64>,
    /// Buckets, at most.
    pub points: usize,
}

/// Buckets that a page can ask for.
const POINTS_MAX: usize = 5_000;
/// Samples are a second apart: shorter buckets would be empty.
const STEP_MIN_S: f64 = 1.0;

/// The curves of a run: panel -> series -> value by bucket. Bucket `i` covers `start_s + i * step_s`
/// up to a step later.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Timeline {
    start_s: f64,
    step_s: f64,
    buckets: usize,
    mean: Curves,
    /// Present where buckets hold several samples and the reader can ask for more.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    low: Option<Curves>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    high: Option<Curves>,
}

/// The curves of all runs of a report, coarse enough for all of them.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Timelines {
    panels: Vec<PanelHead>,
    /// Panels that a report of so many runs has no room for.
    panels_left_out: usize,
    /// By run, in the order of the runs.
    runs: Vec<Timeline>,
}

/// Values of all curves of a report together: about 0.8 MB of JSON.
const VALUES_MAX: usize = 140_000;
/// Buckets of a run in a report, at most: more than a panel has pixels to tell apart.
const REPORT_POINTS_MAX: usize = 240;
/// Fewer buckets than these say too little; rather than that a report leaves panels out.
const REPORT_POINTS_MIN: usize = 40;

impl Timelines {
    /// The curves of all runs of a report that has `values` more to draw.
    pub(crate) fn new(runs: &[RunResult], values: usize) -> Self {
        let values = VALUES_MAX.saturating_sub(values);
        let all = heads(runs);
        let panels: Vec<_> = if points(&all, runs, values) >= REPORT_POINTS_MIN {
            all.clone()
        } else {
            let first = all.iter().filter(|head| head.group == FIRST);
            first.cloned().collect()
        };
        let points = points(&panels, runs, values);
        let window = Window {
            from_s: None,
            to_s: None,
            points: points.clamp(1, REPORT_POINTS_MAX),
        };
        Self {
            runs: runs
                .iter()
                .map(|run| timeline(run, &panels, window, false))
                .collect(),
            panels_left_out: all.len() - panels.len(),
            panels,
        }
    }
}

/// Buckets with which the curves of `panels` stay within so many `values`.
fn points(panels: &[PanelHead], runs: &[RunResult], values: usize) -> usize {
    let of_run = |run: &RunResult| {
        let by_metric = curves::by_metric(run);
        let curves = panels.iter().flat_map(|head| &head.curves);
        let moving = curves.filter(|curve| !curve.is_flat(&by_metric));
        moving.count()
    };
    values / runs.iter().map(of_run).sum::<usize>().max(1)
}

/// A value in every bucket, or one that stands for all of them.
type Curves = Vec<Vec<Vec<Option<RoundedNumber>>>>;

/// The curves of `run` for the panels `heads`, with the extremes of each bucket if `extremes`.
pub(crate) fn timeline(
    run: &RunResult,
    heads: &[PanelHead],
    window: Window,
    extremes: bool,
) -> Timeline {
    let by_metric = curves::by_metric(run);
    let first = run.intervals.first();
    let begin_s = first.map_or(0.0, |first| first.time_s - first.length_s);
    let end_s = run
        .intervals
        .last()
        .map_or(run.record.measured_s, |last| last.time_s);
    let start_s = window.from_s.unwrap_or(begin_s).max(begin_s).floor();
    let stop_s = window
        .to_s
        .unwrap_or(end_s)
        .min(end_s)
        .max(start_s + STEP_MIN_S);
    let points = window.points.clamp(1, POINTS_MAX) as f64;
    let step_s = ((stop_s - start_s) / points).ceil().max(STEP_MIN_S);
    let buckets = ((stop_s - start_s) / step_s).ceil() as usize;
    let grid = Grid {
        start_s,
        step_s,
        buckets,
    };
    let panel = |head: &PanelHead| -> Vec<_> {
        let curves = head.curves.iter();
        curves
            .map(|curve| grid.gather(&curve.points(run, &by_metric)))
            .collect()
    };
    let gathered: Vec<_> = heads.iter().map(panel).collect();
    let folded = |fold: fn(&Bucket) -> f64| {
        let panel =
            |curves: &Vec<Vec<Bucket>>| curves.iter().map(|all| values(all, fold)).collect();
        gathered.iter().map(panel).collect::<Curves>()
    };
    let extremes = extremes && step_s > STEP_MIN_S;
    Timeline {
        start_s,
        step_s,
        buckets,
        mean: folded(Bucket::mean),
        low: extremes.then(|| folded(|bucket| bucket.low)),
        high: extremes.then(|| folded(|bucket| bucket.high)),
    }
}

/// Values of a bucket.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    count: u32,
    sum: f64,
    low: f64,
    high: f64,
}

impl Bucket {
    const EMPTY: Self = Self {
        count: 0,
        sum: 0.0,
        low: f64::INFINITY,
        high: f64::NEG_INFINITY,
    };

    fn mean(&self) -> f64 {
        self.sum / f64::from(self.count)
    }
}

/// Buckets of equal length.
struct Grid {
    start_s: f64,
    step_s: f64,
    buckets: usize,
}

impl Grid {
    fn gather(&self, points: &[Point]) -> Vec<Bucket> {
        let mut all = vec![Bucket::EMPTY; self.buckets];
        for point in points {
            let index = ((point.time_s - self.start_s) / self.step_s).floor();
            if index >= 0.0
                && let Some(bucket) = all.get_mut(index as usize)
            {
                bucket.count += 1;
                bucket.sum += point.value;
                bucket.low = bucket.low.min(point.value);
                bucket.high = bucket.high.max(point.value);
            }
        }
        all
    }
}

/// A value of each bucket. An empty one has no mean, and what is not finite is absent.
fn values(buckets: &[Bucket], fold: fn(&Bucket) -> f64) -> Vec<Option<RoundedNumber>> {
    let value = |bucket: &Bucket| RoundedNumber::new(fold(bucket), 4);
    let mut values: Vec<_> = buckets.iter().map(value).collect();
    if values.iter().all(|value| *value == values[0]) {
        values.truncate(1);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn whole(points: usize) -> Window {
        Window {
            from_s: None,
            to_s: None,
            points,
        }
    }

    #[test]
    fn buckets_keep_mean_and_extremes_and_show_gaps() {
        let point = |time_s, value| Point { time_s, value };
        let points = [
            point(0.5, 1.0),
            point(1.5, 5.0),
            point(4.5, 3.0),
            point(9.0, 7.0),
        ];
        let grid = Grid {
            start_s: 0.0,
            step_s: 2.0,
            buckets: 3,
        };
        let by = |fold| serde_json::to_string(&values(&grid.gather(&points), fold)).unwrap();
        assert_eq!(by(Bucket::mean), "[3,null,3]");
        assert_eq!(by(|bucket| bucket.low), "[1,null,3]");
        assert_eq!(by(|bucket| bucket.high), "[5,null,3]");
        assert_eq!(by(|_| 1.0), "[1]", "one for all");
    }

    #[test]
    fn a_window_is_drawn_in_as_many_buckets_as_asked_for_and_never_finer_than_a_second() {
        let result = sample::study(1, 1);
        let run = &result.evidence.runs[0];
        let heads = heads([run]);
        assert!(heads.len() > 3, "{heads:?}");
        let coarse = timeline(run, &heads, whole(10), true);
        assert!((coarse.start_s + 20.0).abs() < 1.5 && coarse.buckets <= 10);
        assert!(coarse.low.is_some());
        let window = Window {
            from_s: Some(5.0),
            to_s: Some(15.0),
            points: 400,
        };
        let fine = timeline(run, &heads, window, true);
        assert_eq!((fine.start_s, fine.step_s, fine.buckets), (5.0, 1.0, 10));
        assert!(fine.low.is_none(), "a second has one value");
    }
}
