//! The limits of a cloud volume: token buckets over reads and writes together.
//!
//! A bucket is the same virtual clock as any other cap on throughput; what it has saved up is the
//! work that may start ahead of its turn.

use weir_model::{Nanoseconds, Scale, Throttle, ThrottleRate};

use super::throughput::ThroughputCap;

/// The buckets of one volume.
#[derive(Debug)]
pub(super) struct Buckets {
    operations: Bucket,
    bytes: Bucket,
}

#[derive(Debug)]
struct Bucket {
    cap: ThroughputCap,
    ns_per_unit: f64,
}

impl Buckets {
    /// The limits of a volume of `capacity_bytes` at full size, shrunk by `scale`.
    pub(super) fn new(throttle: &Throttle, scale: Scale, capacity_bytes: u64) -> Self {
        let bucket = |rate: &ThrottleRate, unit: f64| {
            let per_second = rate.per_second(capacity_bytes) * unit * scale.factor();
            let ns_per_unit = 1e9 / per_second;
            let credit = rate.burst_credit * unit * scale.factor();
            Bucket {
                cap: ThroughputCap::new(credit * ns_per_unit),
                ns_per_unit,
            }
        };
        Self {
            operations: bucket(&throttle.iops, 1.0),
            bytes: bucket(&throttle.mb_per_s, 1e6),
        }
    }

    /// Returns the time that an operation of `bytes` takes of all that the volume allows,
    /// nanoseconds.
    pub(super) fn cost_ns(&self, bytes: u64) -> f64 {
        let by_bytes = bytes as f64 * self.bytes.ns_per_unit;
        self.operations.ns_per_unit.max(by_bytes)
    }

    /// Returns the time at which an operation of `bytes` that arrives at `now` may start.
    pub(super) fn admit(&mut self, bytes: u64, now: Nanoseconds) -> Nanoseconds {
        let by_operations = self.operations.admit(1.0, now);
        by_operations.max(self.bytes.admit(bytes as f64, now))
    }
}

impl Bucket {
    fn admit(&mut self, units: f64, now: Nanoseconds) -> Nanoseconds {
        self.cap.admit(now, units * self.ns_per_unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(base: f64, burst_credit: f64) -> ThrottleRate {
        ThrottleRate {
            base,
            per_gib: 0.0,
            max: None,
            burst_credit,
        }
    }

    #[test]
    fn saved_operations_start_at_once_and_the_rest_at_the_base_rate() {
        let throttle = Throttle {
            iops: rate(1000.0, 500.0),
            mb_per_s: rate(1e6, 0.0),
        };
        let mut buckets = Buckets::new(&throttle, Scale::FULL, 1 << 30);
        let starts: Vec<_> = (0..1500).map(|_| buckets.admit(4096, 0)).collect();
        let at_once = starts.iter().filter(|&&start| start < 1_000_000).count();
        assert!((500..=501).contains(&at_once), "{at_once}");
        assert_eq!(starts[1499] / 1_000_000, 1000);
        // A quarter of a second at the base rate: half of the credit is back.
        let later = starts[1499] + 250_000_000;
        let again = (0..500).filter(|_| buckets.admit(4096, later) < later + 100_000);
        assert!((249..=251).contains(&again.count()));
    }

    #[test]
    fn the_tighter_of_both_limits_holds() {
        let throttle = Throttle {
            iops: rate(1000.0, 0.0),
            mb_per_s: rate(10.0, 0.0),
        };
        let mut buckets = Buckets::new(&throttle, Scale::FULL, 1 << 30);
        let last = (0..101).map(|_| buckets.admit(100_000, 0)).last();
        assert_eq!(last, Some(1_000_000_000));
    }
}
