use std::time::{Duration, Instant};

use proptest::prelude::*;
use weir_model::WorkloadName;

use super::*;
use crate::meter::{Phase, new_histogram};
use crate::statistics::serialize_us;
use crate::testing::nowhere;

/// A plan of three seconds without a warm-up.
fn plan() -> LoadPlan {
    let mut plan = LoadPlan::new(nowhere(), WorkloadName::OltpReadOnly);
    plan.load.measure = Duration::from_secs(3).into();
    plan.load.connections = 100;
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
                for index in 0..3 {
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
        let outcome = merger.finish(0, false, &mut |_| ());
        prop_assert_eq!(outcome.counts.transactions, count);
        prop_assert_eq!(outcome.late_frames, 0);
        prop_assert!((outcome.latency_s_sum - sum_ns as f64 / 1e9).abs() < 1e-6);
        prop_assert!(outcome.histogram == serialize_us(&union), "bucket for bucket");
        for quantile in [0.5, 0.95, 0.99, 0.999, 0.99999, 1.0] {
            let expected = union.value_at_quantile(quantile) as f64 / 1e3;
            let found = outcome.latency_us(quantile * 100.0);
            // Both are ends of buckets, of nanoseconds and of microseconds: three digits are equal.
            prop_assert!((found / expected - 1.0).abs() < 1e-3, "{found}, not {expected}");
        }
    }
}

#[test]
fn a_histogram_of_other_bounds_is_refused() {
    let mut frame = frame(0, 0, &[5]);
    frame.counted.latency_ns = hdrhistogram::Histogram::new_with_bounds(1, 1_000, 2).unwrap();
    let written = rmp_serde::to_vec(&frame).unwrap();
    assert!(rmp_serde::from_slice::<Frame>(&written).is_err());
}
