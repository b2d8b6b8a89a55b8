//! The schedule of an open loop: when transactions are due, whatever became of those before.
//!
//! The schedule is a function of the seed, so that it needs no queue: what is waiting is the
//! distance between two positions in it, that of the transactions that were begun and that of the
//! clock. A backlog of any length costs two generators of random numbers.
//!
//! Response times are counted from these times (Tene 2013, "How NOT to Measure Latency":
//! coordinated omission).

use std::sync::Arc;

use weir_model::ArrivalKind;
use weir_workload::Rng;

/// The part of a schedule that one reactor serves.
#[derive(Debug, Clone)]
pub(crate) struct Arrivals {
    /// The next transaction that no connection has taken.
    taken: Stream,
    /// The next transaction that was not due at the last call.
    due: Stream,
}

/// A position in a schedule.
#[derive(Debug, Clone)]
struct Stream {
    kind: ArrivalKind,
    curve: Curve,
    /// The next transaction, as the number that is to be due before it on average.
    next: f64,
    next_ns: f64,
    /// Transactions before this position.
    count: u64,
    rng: Rng,
}

/// A rate over time: it changes evenly until the end of the ramp, and not afterwards.
///
/// A schedule of any rate is one of rate 1 whose time is stretched (Lewis and Shedler 1979): the
/// n-th transaction is due when the rate has summed up to its place in the latter.
#[derive(Debug, Clone)]
pub(crate) struct Curve {
    /// Begin of the curve, nanoseconds.
    pub(crate) offset_ns: f64,
    /// Transactions per second in the beginning.
    pub(crate) from_per_s: f64,
    /// The same from the end of the ramp on.
    pub(crate) to_per_s: f64,
    /// Length of the ramp.
    pub(crate) ramp_ns: f64,
    /// Changes after the ramp, in the order of their times.
    pub(crate) changes: Arc<[RateChange]>,
}

/// Another rate from some time on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RateChange {
    /// From when, nanoseconds.
    pub(crate) at_ns: f64,
    /// Transactions per second.
    pub(crate) per_s: f64,
}

impl Curve {
    /// The same rate from beginning to end.
    #[cfg(test)]
    pub(crate) fn steady(per_s: f64, offset_ns: f64) -> Self {
        Self {
            offset_ns,
            from_per_s: per_s,
            to_per_s: per_s,
            ramp_ns: 0.0,
            changes: Arc::new([]),
        }
    }

    /// Returns the time at which the rate has summed up to `sum` transactions, nanoseconds.
    fn at_ns(&self, sum: f64) -> f64 {
        let (from, to) = (self.from_per_s / 1e9, self.to_per_s / 1e9);
        let sum_of_ramp = f64::midpoint(from, to) * self.ramp_ns;
        if sum >= sum_of_ramp {
            return self.after_ramp_ns(sum - sum_of_ramp);
        }
        if sum <= 0.0 {
            return self.offset_ns;
        }
        // The root of from * t + slope / 2 * t^2 = sum that is exact also without a slope.
        let slope = (to - from) / self.ramp_ns;
        self.offset_ns + 2.0 * sum / (from + (from * from + 2.0 * slope * sum).sqrt())
    }

    /// Returns the time at which the rate has summed up to `sum` transactions since the end of the
    /// ramp, nanoseconds.
    fn after_ramp_ns(&self, mut sum: f64) -> f64 {
        let mut since_ns = self.offset_ns + self.ramp_ns;
        let mut per_ns = self.to_per_s / 1e9;
        for change in self.changes.iter() {
            let until_ns = change.at_ns.max(since_ns);
            let part = (until_ns - since_ns) * per_ns;
            if sum < part {
                break;
            }
            sum -= part;
            (since_ns, per_ns) = (until_ns, change.per_s / 1e9);
        }
        since_ns + sum / per_ns
    }
}

impl Arrivals {
    /// A schedule with this rate.
    pub(crate) fn new(kind: ArrivalKind, curve: Curve, rng: Rng) -> Self {
        let mut stream = Stream {
            kind,
            next: 0.0,
            next_ns: curve.offset_ns,
            curve,
            count: 0,
            rng,
        };
        if kind == ArrivalKind::Poisson {
            stream.step();
        }
        Self {
            taken: stream.clone(),
            due: stream,
        }
    }

    /// Takes the next transaction; when it is due, nanoseconds.
    pub(crate) fn take(&mut self) -> u64 {
        self.taken.advance()
    }

    /// Transactions that were due until `at_ns`, and of these how many were not taken. Times
    /// must not go back.
    pub(crate) fn until(&mut self, at_ns: u64) -> (u64, u64) {
        while self.due.next_ns <= at_ns as f64 {
            self.due.advance();
        }
        (
            self.due.count,
            self.due.count.saturating_sub(self.taken.count),
        )
    }
}

impl Stream {
    fn advance(&mut self) -> u64 {
        let at_ns = self.next_ns;
        self.step();
        self.count += 1;
        at_ns as u64
    }

    fn step(&mut self) {
        self.next += match self.kind {
            ArrivalKind::Constant => 1.0,
            // The inverse of the exponential distribution; the argument is in (0, 1].
            ArrivalKind::Poisson => -(1.0 - self.rng.unit()).ln(),
        };
        self.next_ns = self.curve.at_ns(self.next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_workload::seeded;

    fn steady(kind: ArrivalKind, per_s: f64, offset_ns: f64, seed: u64) -> Arrivals {
        let curve = Curve::steady(per_s, offset_ns);
        Arrivals::new(kind, curve, seeded(seed, 1))
    }

    #[test]
    fn a_ramp_has_the_transactions_under_its_line() {
        for kind in [ArrivalKind::Constant, ArrivalKind::Poisson] {
            let curve = Curve {
                offset_ns: 0.0,
                from_per_s: 0.0,
                to_per_s: 10_000.0,
                ramp_ns: 10e9,
                changes: Arc::new([]),
            };
            let mut arrivals = Arrivals::new(kind, curve, seeded(9, 1));
            // Half the time, a quarter of the triangle; then the whole; then an even rate.
            for (at_s, expected) in [(5, 12_500.0), (10, 50_000.0), (20, 150_000.0)] {
                let due = arrivals.until(at_s * 1_000_000_000).0 as f64;
                // Five standard deviations of a Poisson count.
                assert!(
                    (due - expected).abs() < 5.0 * f64::sqrt(expected),
                    "{at_s} s: {due}"
                );
            }
        }
        let down = Curve {
            offset_ns: 0.0,
            from_per_s: 1_000.0,
            to_per_s: 100.0,
            ramp_ns: 1e9,
            changes: Arc::new([]),
        };
        assert!((down.at_ns(550.0) - 1e9).abs() < 1.0);
        assert!((down.at_ns(650.0) - 2e9).abs() < 1.0);
    }

    #[test]
    fn a_rate_that_changes_has_the_transactions_of_each_part() {
        let change = |at_s: f64, per_s| RateChange {
            at_ns: at_s * 1e9,
            per_s,
        };
        let curve = Curve {
            changes: Arc::new([change(2.0, 500.0), change(3.0, 1_000.0)]),
            ..Curve::steady(100.0, 0.0)
        };
        let mut arrivals = Arrivals::new(ArrivalKind::Constant, curve, seeded(1, 1));
        let mut due = |at_s: u64| arrivals.until(at_s * 1_000_000_000 - 1).0;
        assert_eq!([1, 2, 3, 4].map(&mut due), [100, 200, 700, 1_700]);
    }

    #[test]
    fn a_constant_schedule_is_evenly_spaced() {
        let mut arrivals = steady(ArrivalKind::Constant, 1_000.0, 250.0, 1);
        assert_eq!(
            [arrivals.take(), arrivals.take(), arrivals.take()],
            [250, 1_000_250, 2_000_250]
        );
        assert_eq!(arrivals.until(2_000_250), (3, 0));
        assert_eq!(arrivals.until(1_000_000_000), (1_000, 997));
    }

    #[test]
    fn poisson_gaps_have_the_mean_and_deviation_of_their_distribution() {
        let mut arrivals = steady(ArrivalKind::Poisson, 1_000.0, 0.0, 3);
        let times: Vec<_> = (0..100_001).map(|_| arrivals.take() as f64).collect();
        let gaps: Vec<_> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let count = gaps.len() as f64;
        let mean = gaps.iter().sum::<f64>() / count;
        let deviation = (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / count).sqrt();
        // An exponential distribution's deviation is its mean, here 1 ms; five standard errors.
        assert!((mean / 1e6 - 1.0).abs() < 0.016, "{mean}");
        assert!((deviation / 1e6 - 1.0).abs() < 0.023, "{deviation}");
    }

    #[test]
    fn a_backlog_is_a_distance_in_the_schedule_and_shrinks_as_it_is_served() {
        let mut arrivals = steady(ArrivalKind::Poisson, 1e6, 0.0, 5);
        let (due, waiting) = arrivals.until(1_000_000_000);
        assert_eq!(due, waiting);
        assert!((due as f64 / 1e6 - 1.0).abs() < 0.01, "{due}");
        let mut last = 0;
        for _ in 0..due {
            last = arrivals.take();
        }
        assert!(last <= 1_000_000_000);
        assert_eq!(arrivals.until(1_000_000_000), (due, 0));
        assert!(arrivals.take() > 1_000_000_000);
        // Taken before it was due: nothing waits.
        assert_eq!(arrivals.until(1_000_000_000), (due, 0));
    }
}
