//! A cap on throughput as a virtual clock.
//!
//! The generic cell rate algorithm in its virtual-scheduling form (ITU-T I.371, annex A): each
//! operation advances a theoretical arrival time by its cost; an operation may start when that
//! time is at most `tolerance` ahead. The long-run rate is exact whatever the arrivals.

use weir_model::Nanoseconds;

/// One resource that serves `1 / cost` operations a second in the long run.
#[derive(Debug)]
pub(super) struct ThroughputCap {
    /// Time at which the resource would be free if it served one operation after another,
    /// nanoseconds.
    arrival_ns: f64,
    /// Work that may start ahead of its turn, nanoseconds. With one latency's worth, as many
    /// operations as the device has units may start together, and no more.
    tolerance_ns: f64,
}

impl ThroughputCap {
    pub(super) fn new(tolerance_ns: f64) -> Self {
        Self {
            arrival_ns: 0.0,
            tolerance_ns,
        }
    }

    /// Work that was accepted and is not served at `now`, nanoseconds.
    pub(super) fn backlog_ns(&self, now: Nanoseconds) -> f64 {
        (self.arrival_ns - now as f64).max(0.0)
    }

    /// Accepts an operation that takes `cost_ns` of the resource; returns when it may start.
    pub(super) fn admit(&mut self, now: Nanoseconds, cost_ns: f64) -> Nanoseconds {
        let now = now as f64;
        let slack = (self.tolerance_ns - cost_ns).max(0.0);
        let start = now.max(self.arrival_ns - slack);
        self.arrival_ns = self.arrival_ns.max(now) + cost_ns;
        start as Nanoseconds
    }
}

#[cfg(test)]
mod tests {
    use super::ThroughputCap;

    #[test]
    fn an_idle_resource_starts_at_once_and_a_busy_one_in_turn() {
        let mut cap = ThroughputCap::new(0.0);
        assert_eq!(cap.admit(1000, 100.0), 1000);
        assert_eq!(cap.admit(1000, 100.0), 1100);
        assert_eq!(cap.admit(5000, 100.0), 5000);
    }

    #[test]
    fn the_tolerance_lets_that_much_work_start_together() {
        let mut cap = ThroughputCap::new(300.0);
        let starts: Vec<_> = (0..5).map(|_| cap.admit(1000, 100.0)).collect();
        assert_eq!(starts, [1000, 1000, 1000, 1100, 1200]);
    }
}
