//! Merging tallies whose contents are known.

use hdrhistogram::serialization::Deserializer;

use super::*;

const SECOND: u64 = 1_000_000_000;
const TIMELINE: Timeline<'_> = Timeline {
    measure_ns: SECOND,
    end_ns: 3 * SECOND,
    interval_ns: SECOND,
    checkpoints: &[],
};

fn is(value: f64, expected: f64) -> bool {
    (value - expected).abs() < 1e-9
}

fn tally(phase: Phase, from_ns: u64, latencies_us: &[u64]) -> Tally {
    let mut tally = Tally::new(false);
    tally.phase = phase;
    tally.from_ns = from_ns;
    tally.to_ns = from_ns + SECOND;
    for latency_us in latencies_us {
        tally.latency.record(latency_us * 1_000).unwrap();
        tally.latency_ns_sum += latency_us * 1_000;
        tally.counts.transactions += 1;
        tally.counts.queries += 1;
    }
    tally
}

#[test]
fn reactors_add_up_and_the_warmup_stays_out_of_the_summary() {
    let mut merger = Merger::new(TIMELINE, KindNames::default());
    merger.add(&tally(Phase::Warmup, 0, &[900, 900]));
    merger.add(&tally(Phase::Warmup, 0, &[900]));
    let warmup = merger.end_interval().unwrap().record;
    assert_eq!((warmup.time_s, warmup.transactions), (0.0, 3));
    merger.add(&tally(Phase::Measure, SECOND, &[100, 200]));
    merger.add(&tally(Phase::Measure, SECOND, &[300]));
    let measured = merger.end_interval().unwrap();
    assert_eq!(
        (measured.record.time_s, measured.record.length_s),
        (1.0, 1.0)
    );
    assert!((measured.latency_us(50.0) - 200.0).abs() < 1.0);
    merger.add(&tally(Phase::Drain, 2 * SECOND, &[5_000]));
    assert!(merger.end_interval().is_none());
    let outcome = merger.finish();
    assert_eq!(outcome.counts.transactions, 3);
    assert_eq!(outcome.counts_whole_run.transactions, 7);
    assert!((outcome.measured_s - 1.0).abs() < 1e-9);
    assert!((outcome.latency.us_mean - 200.0).abs() < 1e-9);
    assert!((outcome.latency.us_max - 300.0).abs() < 1.0);
    assert!((outcome.latency_s_sum - 600e-6).abs() < 1e-12);
}

#[test]
fn the_exported_histogram_is_in_microseconds() {
    let mut merger = Merger::new(TIMELINE, KindNames::default());
    merger.add(&tally(Phase::Measure, SECOND, &[100, 100, 2_000]));
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
    let outcome = Merger::new(TIMELINE, KindNames::default()).finish();
    assert_eq!(outcome.latency, LatencySummary::default());
    assert!(is(outcome.latency_us(99.0), 0.0));
    assert!(is(outcome.client_utilization(), 0.0));
}

#[test]
fn fairness_is_a_mean_and_a_deviation() {
    let share = |transactions, busy_ns| Share {
        transactions,
        busy_ns,
    };
    let shares = [share(2, SECOND), share(4, 3 * SECOND)];
    let fairness = fairness(shares.iter().copied());
    assert!(is(fairness.transactions_mean, 3.0));
    assert!(is(fairness.transactions_deviation, 1.0));
    assert!(is(fairness.busy_s_mean, 2.0));
    assert!(is(fairness.busy_s_deviation, 1.0));
}
