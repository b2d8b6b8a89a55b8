//! Ends of intervals: a pure function of the plan.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A part of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Phase {
    /// Load that is not counted.
    Warmup,
    /// Load that is.
    Measure,
    /// No new transactions; those under way are completed.
    Drain,
}

/// A run in time, nanoseconds since it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Timeline<'a> {
    /// Begin of the measurement.
    pub(crate) measure_ns: u64,
    /// End of the measurement.
    pub(crate) end_ns: u64,
    /// Length of an interval.
    pub(crate) interval_ns: u64,
    /// Times at which the totals so far are wanted, after the beginning of the measurement.
    pub(crate) checkpoints: &'a [Duration],
}

impl Timeline<'_> {
    /// The first end of an interval or checkpoint after `now_ns`; `u64::MAX` when the measurement
    /// is over.
    ///
    /// Intervals are whole from the measurement's beginning in both directions, so that the first
    /// of the warm-up and the last of the measurement may be short.
    pub(crate) fn boundary_after(&self, now_ns: u64) -> u64 {
        if now_ns < self.measure_ns {
            let whole = (self.measure_ns - now_ns - 1) / self.interval_ns;
            self.measure_ns - whole * self.interval_ns
        } else if now_ns < self.end_ns {
            let whole = (now_ns - self.measure_ns) / self.interval_ns + 1;
            let interval_ns = self
                .measure_ns
                .saturating_add(whole.saturating_mul(self.interval_ns));
            let checkpoints = self.checkpoints_ns().filter(|at_ns| *at_ns > now_ns);
            checkpoints.fold(self.end_ns.min(interval_ns), u64::min)
        } else {
            u64::MAX
        }
    }

    /// Returns true if the totals are wanted at `at_ns`. Those of the end are wanted in any case.
    pub(crate) fn is_checkpoint(&self, at_ns: u64) -> bool {
        at_ns < self.end_ns && self.checkpoints_ns().any(|checkpoint| checkpoint == at_ns)
    }

    /// Returns true if `at_ns` is a checkpoint within an interval.
    pub(crate) fn is_within_interval(&self, at_ns: u64) -> bool {
        self.is_checkpoint(at_ns) && !(at_ns - self.measure_ns).is_multiple_of(self.interval_ns)
    }

    fn checkpoints_ns(&self) -> impl Iterator<Item = u64> {
        self.checkpoints.iter().map(|after| {
            let after_ns = u64::try_from(after.as_nanos()).unwrap_or(u64::MAX);
            self.measure_ns.saturating_add(after_ns)
        })
    }

    /// The part of the run at `now_ns`.
    pub(crate) fn phase_at(&self, now_ns: u64) -> Phase {
        if now_ns < self.measure_ns {
            Phase::Warmup
        } else if now_ns < self.end_ns {
            Phase::Measure
        } else {
            Phase::Drain
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Phase::{Drain, Measure, Warmup};
    use super::*;

    #[test]
    fn intervals_are_whole_around_the_beginning_of_the_measurement() {
        let timeline = Timeline {
            measure_ns: 25,
            end_ns: 58,
            interval_ns: 10,
            checkpoints: &[],
        };
        let mut boundaries = vec![];
        let mut now = 0;
        while timeline.boundary_after(now) < u64::MAX {
            now = timeline.boundary_after(now);
            boundaries.push((now, timeline.phase_at(now)));
        }
        let expected = [
            (5, Warmup),
            (15, Warmup),
            (25, Measure),
            (35, Measure),
            (45, Measure),
            (55, Measure),
            (58, Drain),
        ];
        assert_eq!(boundaries, expected);
    }

    #[test]
    fn checkpoints_are_boundaries_within_intervals_and_at_their_ends() {
        let timeline = Timeline {
            measure_ns: 5,
            end_ns: 30,
            interval_ns: 10,
            checkpoints: &[20, 3, 25].map(Duration::from_nanos),
        };
        let mut boundaries = vec![];
        let mut now = 5;
        while timeline.boundary_after(now) < u64::MAX {
            now = timeline.boundary_after(now);
            let at = (
                timeline.is_checkpoint(now),
                timeline.is_within_interval(now),
            );
            boundaries.push((now, at));
        }
        let expected = [
            (8, (true, true)),
            (15, (false, false)),
            (25, (true, false)),
            // Also a checkpoint, but the end is told anyway.
            (30, (false, false)),
        ];
        assert_eq!(boundaries, expected);
    }

    #[test]
    fn an_endless_measurement_has_boundaries_too() {
        let timeline = Timeline {
            measure_ns: 0,
            end_ns: u64::MAX,
            interval_ns: 10,
            checkpoints: &[],
        };
        assert_eq!(timeline.boundary_after(9), 10);
        assert_eq!(timeline.boundary_after(u64::MAX - 1), u64::MAX);
    }
}
