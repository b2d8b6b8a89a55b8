//! Histogram of latencies: exact to three significant digits, up to an hour.

use hdrhistogram::Histogram;

/// Longest latency that is counted exactly: an hour.
const LATENCY_NS_MAX: u64 = 3_600_000_000_000;

/// An empty histogram of nanoseconds with three significant digits.
pub(crate) fn new_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LATENCY_NS_MAX, 3)
        .expect("invariant: the bounds of the histogram are constants that it accepts")
}

/// Adds `part` to `sum`.
pub(crate) fn add_histogram(sum: &mut Histogram<u64>, part: &Histogram<u64>) {
    sum.add(part)
        .expect("invariant: all histograms of a run have the same bounds");
}
