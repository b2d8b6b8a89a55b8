//! The schedule of an open loop: when transactions are due, whatever became of those before.
//!
//! The schedule is a function of the seed, so that it needs no queue: what is waiting is the
//! distance between two positions in it, that of the transactions that were begun and that of the
//! clock. A backlog of any length costs two generators of random numbers.
//!
//! Response times are counted from these times (Tene 2013, "How NOT to Measure Latency":
//! coordinated omission).

use crate::plan::ArrivalKind;
use crate::workload::Rng;

/// The part of a schedule that one reactor serves.
#[derive(Debug, Clone)]
pub(crate) struct Arrivals {
    /// The next transaction that nobody has taken.
    taken: Stream,
    /// The next transaction that is not due yet, as far as anybody has asked.
    due: Stream,
}

/// A position in a schedule.
#[derive(Debug, Clone)]
struct Stream {
    kind: ArrivalKind,
    gap_ns: f64,
    next_ns: f64,
    /// Transactions before this position.
    count: u64,
    rng: Rng,
}

impl Arrivals {
    /// `per_s` transactions per second; a constant schedule begins `offset_ns` into the run.
    pub(crate) fn new(kind: ArrivalKind, per_s: f64, offset_ns: f64, rng: Rng) -> Self {
        let mut stream = Stream {
            kind,
            gap_ns: 1e9 / per_s,
            next_ns: offset_ns,
            count: 0,
            rng,
        };
        if kind == ArrivalKind::Poisson {
            stream.next_ns = stream.gap();
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

    /// Transactions that were due until `at_ns`, and of these how many nobody has taken. Times
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
        self.next_ns += self.gap();
        self.count += 1;
        at_ns as u64
    }

    fn gap(&mut self) -> f64 {
        match self.kind {
            ArrivalKind::Constant => self.gap_ns,
            // The inverse of the exponential distribution; the argument is in (0, 1].
            ArrivalKind::Poisson => -(1.0 - self.rng.unit()).ln() * self.gap_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::seeded;

    #[test]
    fn a_constant_schedule_is_evenly_spaced() {
        let mut arrivals = Arrivals::new(ArrivalKind::Constant, 1_000.0, 250.0, seeded(1, 1));
        assert_eq!(
            [arrivals.take(), arrivals.take(), arrivals.take()],
            [250, 1_000_250, 2_000_250]
        );
        assert_eq!(arrivals.until(2_000_250), (3, 0));
        assert_eq!(arrivals.until(1_000_000_000), (1_000, 997));
    }

    #[test]
    fn poisson_gaps_have_the_mean_and_deviation_of_their_distribution() {
        let mut arrivals = Arrivals::new(ArrivalKind::Poisson, 1_000.0, 0.0, seeded(3, 1));
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
        let mut arrivals = Arrivals::new(ArrivalKind::Poisson, 1e6, 0.0, seeded(5, 1));
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
