//! Merging frames whose contents are known.

use hdrhistogram::serialization::Deserializer;

use super::*;
use crate::meter::{IntervalFrame, Phase, ReporterEnd, Timeline};

const SECOND: u64 = 1_000_000_000;
const TIMELINE: Timeline<'_> = Timeline {
    measure_ns: SECOND,
    end_ns: 10 * SECOND,
    interval_ns: SECOND,
    checkpoints: &[],
};

fn is(value: f64, expected: f64) -> bool {
    (value - expected).abs() < 1e-9
}

fn frame(reporter: u32, index: u64, latencies_us: &[u64]) -> IntervalFrame {
    let from_ns = index * SECOND;
    let mut frame = IntervalFrame {
        reporter,
        index,
        phase: if from_ns < TIMELINE.measure_ns {
            Phase::Warmup
        } else {
            Phase::Measure
        },
        from_ns,
        to_ns: from_ns + SECOND,
        cpu_ns: SECOND / 10,
        ..IntervalFrame::new(false)
    };
    for latency_us in latencies_us {
        frame.latency_ns.record(latency_us * 1_000).unwrap();
        frame.latency_ns_sum += latency_us * 1_000;
        frame.counts.transactions += 1;
        frame.counts.queries += 1;
    }
    frame
}

fn last(reporter: u32, index: u64) -> IntervalFrame {
    IntervalFrame {
        phase: Phase::Drain,
        end: Some(ReporterEnd {
            connections: Vec::new(),
            unfinished: 1,
            batch_scheduling: true,
            reactor: ReactorKind::Epoll,
            standstill_ns: 0,
        }),
        ..frame(reporter, index, &[5_000])
    }
}

fn merger(reporters: usize) -> Merger<'static> {
    Merger::new(TIMELINE, KindNames::default(), reporters)
}

/// Transactions and missing reporters of each interval.
fn intervals(closed: &[ClosedPeriod]) -> Vec<(u64, u32)> {
    let interval = |closed: &ClosedPeriod| match closed {
        ClosedPeriod::Interval(interval) => {
            Some((interval.record.transactions, interval.missing_reporters))
        }
        ClosedPeriod::Checkpoint(_) => None,
    };
    closed.iter().filter_map(interval).collect()
}

#[test]
fn reporters_add_up_and_the_warmup_stays_out_of_the_summary() {
    let mut merger = merger(2);
    assert!(merger.take(&frame(0, 0, &[900, 900])).is_empty());
    let closed = merger.take(&frame(1, 0, &[900]));
    let [ClosedPeriod::Interval(warmup)] = &closed[..] else {
        panic!("{closed:?}");
    };
    assert_eq!((warmup.record.time_s, warmup.record.transactions), (0.0, 3));
    assert!(merger.take(&frame(0, 1, &[100, 200])).is_empty());
    let closed = merger.take(&frame(1, 1, &[300]));
    let [ClosedPeriod::Interval(measured)] = &closed[..] else {
        panic!("{closed:?}");
    };
    assert_eq!(
        (measured.record.time_s, measured.record.length_s),
        (1.0, 1.0)
    );
    assert!((measured.latency_us(50.0) - 200.0).abs() < 1.0);
    assert!(merger.take(&last(0, 2)).is_empty());
    assert!(merger.take(&last(1, 2)).is_empty());
    assert!(merger.close_all().is_empty());
    let outcome = merger.finish();
    assert_eq!(outcome.counts.transactions, 3);
    assert_eq!(outcome.counts_whole_run.transactions, 8);
    assert_eq!((outcome.unfinished, outcome.late_frames), (2, 0));
    assert!(is(outcome.client_cpu_s[0], 0.1));
    assert!(is(outcome.measured_s, 1.0));
    assert!(is(outcome.latency.us_mean, 200.0));
    assert!((outcome.latency.us_max - 300.0).abs() < 1.0);
    assert!((outcome.latency_s_sum - 600e-6).abs() < 1e-12);
}

#[test]
fn a_silent_reporter_holds_nobody_up_and_what_comes_late_is_in_the_totals() {
    let mut merger = merger(2);
    let mut closed = Vec::new();
    for index in 0..5 {
        closed.extend(merger.take(&frame(0, index, &[100])));
    }
    // Two intervals are waited for, those before are closed without the silent one.
    assert_eq!(intervals(&closed), [(1, 1), (1, 1), (1, 1)]);
    let late = (0..5).flat_map(|index| merger.take(&frame(1, index, &[100])));
    assert_eq!(intervals(&late.collect::<Vec<_>>()), [(2, 0), (2, 0)]);
    let outcome = merger.finish();
    assert_eq!(outcome.late_frames, 3);
    assert_eq!(outcome.counts.transactions, 8, "all but the warm-up's");
    assert_eq!(outcome.counts_whole_run.transactions, 10);
}

#[test]
fn a_reporter_that_never_speaks_or_ends_early_costs_no_interval() {
    let mut merger = merger(3);
    // The second ends within the second interval, the third says nothing at all.
    merger.take(&frame(1, 0, &[100]));
    merger.take(&last(1, 1));
    let mut closed = Vec::new();
    for index in 0..3 {
        closed.extend(merger.take(&frame(0, index, &[100])));
    }
    closed.extend(merger.take(&last(0, 3)));
    closed.extend(merger.close_all());
    assert_eq!(intervals(&closed), [(2, 1), (1, 1), (1, 1)]);
}

#[test]
fn frames_that_were_written_down_and_read_again_are_the_same_run() {
    let run = |written: bool| {
        let mut merger = merger(2);
        for index in 0..4 {
            for reporter in 0..2 {
                let mut frame = frame(reporter, index, &[100 + index, 7_000]);
                frame.kinds.record(Kind::Statement(1), 5_000);
                if written {
                    let text = serde_json::to_string(&frame).unwrap();
                    frame = serde_json::from_str(&text).unwrap();
                }
                merger.take(&frame);
            }
        }
        merger.finish()
    };
    let (direct, written) = (run(false), run(true));
    let json = |outcome| serde_json::to_string(outcome).unwrap();
    assert_eq!(json(&direct), json(&written));
    assert_eq!(direct.histogram, written.histogram);
}

#[test]
fn the_exported_histogram_is_in_microseconds() {
    let mut merger = merger(1);
    merger.take(&frame(0, 0, &[]));
    merger.take(&frame(0, 1, &[100, 100, 2_000]));
    let bytes = merger.finish().histogram;
    let histogram: Histogram<u64> = Deserializer::new()
        .deserialize(&mut bytes.as_slice())
        .unwrap();
    assert_eq!(histogram.len(), 3);
    assert_eq!(histogram.value_at_quantile(0.5), 100);
    assert!(histogram.equivalent(histogram.max(), 2_000));
}

#[test]
fn nothing_measured_is_zero_not_nonsense() {
    let outcome = merger(0).finish();
    assert_eq!(outcome.latency, LatencySummary::default());
    assert!(is(outcome.latency_us(99.0), 0.0));
    assert!(is(outcome.client_utilization(), 0.0));
}

#[test]
fn fairness_is_a_mean_and_a_deviation() {
    let counters = |transactions, busy_ns| ConnectionCounters {
        transactions,
        busy_ns,
    };
    let connections = [counters(2, SECOND), counters(4, 3 * SECOND)];
    let fairness = fairness(connections.iter().copied());
    assert!(is(fairness.transactions_mean, 3.0));
    assert!(is(fairness.transactions_deviation, 1.0));
    assert!(is(fairness.busy_s_mean, 2.0));
    assert!(is(fairness.busy_s_deviation, 1.0));
}
