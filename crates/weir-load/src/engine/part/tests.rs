use std::time::{Duration, Instant};

use proptest::prelude::*;
use weir_model::WorkloadName;

use super::*;
use crate::completion::LoadEnd;
use crate::meter::{ConnectionCounters, Phase, ReporterEnd, new_histogram};
use crate::reactor_kind::ReactorKind;
use crate::statistics::serialize_us;
use crate::testing::nowhere;

const SECONDS: u64 = 3;

/// A plan of three seconds without a warm-up.
fn plan() -> LoadPlan {
    let mut plan = LoadPlan::new(nowhere(), WorkloadName::OltpReadOnly);
    plan.load.measure = Duration::from_secs(3).into();
    plan.load.connections = 20;
    plan
}

/// The frame of a reporter that completed transactions with these latencies in second `index`.
fn frame(reporter: u32, index: u64, latencies_ns: &[u64]) -> Frame {
    let mut frame = IntervalFrame::new(false);
    (frame.reporter, frame.index, frame.phase) = (reporter, index, Phase::Measure);
    (frame.from_ns, frame.to_ns) = (index * 1_000_000_000, (index + 1) * 1_000_000_000);
    frame.counts.transactions = latencies_ns.len() as u64;
    for latency_ns in latencies_ns {
        frame.latency_ns.saturating_record(*latency_ns);
        frame.latency_ns_sum += latency_ns;
    }
    if index + 1 == SECONDS {
        frame.end = Some(ReporterEnd {
            connections: vec![ConnectionCounters::default()],
            unfinished: 0,
            batch_scheduling: true,
            reactor: ReactorKind::Epoll,
            standstill_ns: 0,
        });
    }
    Frame::new(Box::new(frame), &FoundStatements::default())
}

fn travelled(frame: &Frame) -> Frame {
    rmp_serde::from_slice(&rmp_serde::to_vec(frame).unwrap()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    // Acceptance S1: ten agents with two reporters each, 3 s, a million latencies in all over the eight cases.
    #[test]
    fn what_ten_parts_counted_is_what_one_process_would_have(
        seed in any::<u64>(),
        order in Just((0_usize..60).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let plan = plan();
        let mut rng = weir_workload::seeded(seed, 1);
        let mut union = new_histogram();
        let mut frames = Vec::new();
        let (mut sum_ns, mut count) = (0_u64, 0_u64);
        for part in 0..10 {
            for reporter in 0..2 {
                for index in 0..SECONDS {
                    // From 1 us to an hour, evenly over the orders of magnitude.
                    let latencies: Vec<u64> = (0..2_100)
                        .map(|_| 10_f64.powf(3.0 + 9.5 * rng.unit()) as u64)
                        .collect();
                    for latency in &latencies {
                        union.record(*latency).unwrap();
                        (sum_ns, count) = (sum_ns + latency, count + 1);
                    }
                    frames.push((part, frame(reporter, index, &latencies)));
                }
            }
        }
        let mut merger = PartsMerger::new(&plan, &[2; 10], Instant::now()).unwrap();
        // The bus keeps the order of one agent, not that of several.
        let mut sorted = order;
        sorted.sort_by_key(|at| at % 3);
        for at in sorted {
            let (part, frame) = &frames[at];
            merger.take(*part, travelled(frame), &mut |_| ());
        }
        let outcome = merger.finish(0, false, &mut |_| ()).unwrap();
        prop_assert_eq!(outcome.counts.transactions, count);
        prop_assert_eq!(outcome.late_frames, 0);
        prop_assert!((outcome.latency_s_sum - sum_ns as f64 / 1e9).abs() < 1e-6);
        prop_assert!(outcome.histogram == serialize_us(&union), "bucket for bucket");
        for percentile in [50.0, 95.0, 99.0, 99.9, 99.999, 100.0] {
            // The same division as in the outcome: another one may round to the next rank.
            let expected = union.value_at_quantile(percentile / 100.0) as f64 / 1e3;
            let found = outcome.latency_us(percentile);
            // Both are ends of buckets, of nanoseconds and of microseconds: three digits are equal.
            prop_assert!((found / expected - 1.0).abs() < 1e-3, "{found}, not {expected}");
        }
    }
}

/// The frames of two parts; the last of the second one is missing.
#[test]
fn a_part_that_ended_before_the_others_makes_the_whole_incomplete() {
    let mut plan = plan();
    plan.load.connections = 2;
    let end = |is_stopped| {
        let mut merger = PartsMerger::new(&plan, &[1; 2], Instant::now()).unwrap();
        for (part, frames) in [(0, SECONDS), (1, SECONDS - 1)] {
            for index in 0..frames {
                merger.take(part, frame(0, index, &[1_000]), &mut |_| ());
            }
        }
        merger.finish(0, is_stopped, &mut |_| ())
    };
    let why = end(false).unwrap_err().to_string();
    assert!(why.contains("2 of 3 seconds"), "{why}");
    assert_eq!(end(true).unwrap().end(), Some(LoadEnd::Stopped));
}

#[test]
fn a_histogram_of_other_bounds_is_refused() {
    let mut frame = frame(0, 0, &[5]);
    frame.counted.latency_ns = hdrhistogram::Histogram::new_with_bounds(1, 1_000, 2).unwrap();
    let written = rmp_serde::to_vec(&frame).unwrap();
    assert!(rmp_serde::from_slice::<Frame>(&written).is_err());
}
