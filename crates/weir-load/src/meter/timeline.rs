//! When intervals end: a pure function of the plan.

/// A part of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
pub(crate) struct Timeline {
    /// When the measurement begins.
    pub(crate) measure_ns: u64,
    /// When it ends.
    pub(crate) end_ns: u64,
    /// Length of an interval.
    pub(crate) interval_ns: u64,
}

impl Timeline {
    /// The first end of an interval after `now_ns`; `u64::MAX` when the measurement is over.
    ///
    /// Intervals are whole from the measurement's beginning in both directions, so that the first
    /// of the warm-up and the last of the measurement may be short.
    pub(crate) fn boundary_after(&self, now_ns: u64) -> u64 {
        if now_ns < self.measure_ns {
            let whole = (self.measure_ns - now_ns - 1) / self.interval_ns;
            self.measure_ns - whole * self.interval_ns
        } else if now_ns < self.end_ns {
            let whole = (now_ns - self.measure_ns) / self.interval_ns + 1;
            self.end_ns.min(
                self.measure_ns
                    .saturating_add(whole.saturating_mul(self.interval_ns)),
            )
        } else {
            u64::MAX
        }
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
    fn an_endless_measurement_has_boundaries_too() {
        let timeline = Timeline {
            measure_ns: 0,
            end_ns: u64::MAX,
            interval_ns: 10,
        };
        assert_eq!(timeline.boundary_after(9), 10);
        assert_eq!(timeline.boundary_after(u64::MAX - 1), u64::MAX);
    }
}
