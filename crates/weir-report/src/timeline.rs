//! A run over time, on one axis: its seconds and what the probes sampled, as curves in panels.
//!
//! Curves are drawn from buckets of equal length: the mean of a bucket, with its smallest and
//! largest value where the page asks for them, so that no peak is lost however far out one zooms.

mod curves;
mod panels;

use serde::Serialize;
use weir_model::RunResult;

use self::curves::Point;
use self::panels::PANELS;
pub(crate) use self::panels::PanelHead;
use crate::number::Rounded;

/// What part of a run is wanted, in how many buckets.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    /// Its begin, seconds since the measurement began; `None`: the beginning of the warm-up.
    pub from_s: Option<f64>,
    /// Its end; `None`: the end of the run.
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
pub(crate) struct Timeline {
    start_s: f64,
    step_s: f64,
    mean: Curves,
    /// Present where buckets hold several samples and the reader can ask for more.
    #[serde(skip_serializing_if = "Option::is_none")]
    low: Option<Curves>,
    #[serde(skip_serializing_if = "Option::is_none")]
    high: Option<Curves>,
}

/// The curves of all runs of a report, coarse enough for all of them.
#[derive(Debug, Serialize)]
pub(crate) struct Timelines {
    panels: Vec<PanelHead>,
    /// By run, in the order of the runs.
    runs: Vec<Timeline>,
}

/// Values of all curves of a report together: about 0.3 MB of JSON.
const VALUES_MAX: usize = 60_000;
/// Buckets of a run in a report, at most: more than a panel has pixels to tell apart.
const REPORT_POINTS_MAX: usize = 240;

impl Timelines {
    pub(crate) fn of(runs: &[RunResult]) -> Self {
        let panels = heads(runs);
        let curves: usize = panels.iter().map(|head| head.panel().series.len()).sum();
        let points = VALUES_MAX / (curves * runs.len()).max(1);
        let window = Window {
            from_s: None,
            to_s: None,
            points: points.clamp(1, REPORT_POINTS_MAX),
        };
        Self {
            runs: runs
                .iter()
                .map(|run| of(run, &panels, window, false))
                .collect(),
            panels,
        }
    }
}

type Curves = Vec<Vec<Vec<Option<Rounded>>>>;

/// Titles of the panels that at least one of `runs` has samples for.
pub(crate) fn heads<'a>(runs: impl IntoIterator<Item = &'a RunResult>) -> Vec<PanelHead> {
    let mut found = vec![false; PANELS.len()];
    for run in runs {
        let by_metric = curves::by_metric(run);
        for (found, panel) in found.iter_mut().zip(PANELS) {
            *found = *found
                || panel
                    .series
                    .iter()
                    .any(|series| series.is_in(run, &by_metric));
        }
    }
    let present = PANELS.iter().zip(found).filter(|(_, found)| *found);
    present.map(|(panel, _)| PanelHead::of(panel)).collect()
}

/// The curves of `run` for the panels `heads`, with the extremes of each bucket if `extremes`.
pub(crate) fn of(run: &RunResult, heads: &[PanelHead], window: Window, extremes: bool) -> Timeline {
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
    let series = |fold: fn(&Bucket) -> f64| {
        let panel = |head: &PanelHead| {
            let series = head.panel().series.iter();
            let curve = |points: Vec<Point>| bucketed(&points, start_s, step_s, buckets, fold);
            series
                .map(|series| curve(series.points(run, &by_metric)))
                .collect()
        };
        heads.iter().map(panel).collect::<Curves>()
    };
    let extremes = extremes && step_s > STEP_MIN_S;
    Timeline {
        start_s,
        step_s,
        mean: series(Bucket::mean),
        low: extremes.then(|| series(|bucket| bucket.low)),
        high: extremes.then(|| series(|bucket| bucket.high)),
    }
}

/// What fell into a bucket.
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

fn bucketed(
    points: &[Point],
    start_s: f64,
    step_s: f64,
    buckets: usize,
    fold: fn(&Bucket) -> f64,
) -> Vec<Option<Rounded>> {
    let mut all = vec![Bucket::EMPTY; buckets];
    for point in points {
        let index = ((point.time_s - start_s) / step_s).floor();
        if index >= 0.0
            && let Some(bucket) = all.get_mut(index as usize)
        {
            bucket.count += 1;
            bucket.sum += point.value;
            bucket.low = bucket.low.min(point.value);
            bucket.high = bucket.high.max(point.value);
        }
    }
    // An empty bucket has no mean, and what is not finite is absent.
    all.iter()
        .map(|bucket| Rounded::new(fold(bucket), 4))
        .collect()
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
        let by = |fold| serde_json::to_string(&bucketed(&points, 0.0, 2.0, 3, fold)).unwrap();
        assert_eq!(by(Bucket::mean), "[3,null,3]");
        assert_eq!(by(|bucket| bucket.low), "[1,null,3]");
        assert_eq!(by(|bucket| bucket.high), "[5,null,3]");
    }

    #[test]
    fn a_window_is_drawn_in_as_many_buckets_as_asked_for_and_never_finer_than_a_second() {
        let result = sample::study(1, 1);
        let run = &result.runs[0];
        let heads = heads([run]);
        assert!(heads.len() > 3, "{heads:?}");
        let coarse = of(run, &heads, whole(10), true);
        assert!((coarse.start_s + 20.0).abs() < 1.5 && coarse.mean[0][0].len() <= 10);
        assert!(coarse.low.is_some());
        let window = Window {
            from_s: Some(5.0),
            to_s: Some(15.0),
            points: 400,
        };
        let fine = of(run, &heads, window, true);
        assert_eq!(
            (fine.start_s, fine.step_s, fine.mean[0][0].len()),
            (5.0, 1.0, 10)
        );
        assert!(fine.low.is_none(), "a second has one value");
    }
}
