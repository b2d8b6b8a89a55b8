//! Lateness of this thread's wake-ups, and the share of the processor that it may burn to make up
//! for it.

use weir_model::Nanoseconds;

/// Bounds of the time before a deadline at which the timer thread wants to be awake.
const LEAD_NS_MIN: f64 = 2_000.0;
const LEAD_NS_MAX: f64 = 60_000.0;
/// Gains of the two averages, and deviations that count: RFC 6298, section 2.
const GAIN_MEAN: f64 = 1.0 / 8.0;
const GAIN_DEVIATION: f64 = 1.0 / 4.0;
const DEVIATIONS: f64 = 4.0;
/// A reply may be late by this share of its operation's latency: no spin makes up for that.
const TOLERATED_SHARE: f64 = 0.02;

/// A running estimate of (actual - wanted) wake-up time.
#[derive(Debug)]
pub(super) struct WakeupError {
    mean_ns: f64,
    deviation_ns: f64,
}

impl Default for WakeupError {
    /// The usual error on a virtual machine, until the first wake-ups tell.
    fn default() -> Self {
        Self {
            mean_ns: 10_000.0,
            deviation_ns: 5_000.0,
        }
    }
}

impl WakeupError {
    pub(super) fn learn(&mut self, error: Nanoseconds) {
        // One pre-emption of milliseconds must not make the thread spin for the next hundred.
        let error = (error as f64).min(LEAD_NS_MAX);
        self.deviation_ns += GAIN_DEVIATION * ((error - self.mean_ns).abs() - self.deviation_ns);
        self.mean_ns += GAIN_MEAN * (error - self.mean_ns);
    }

    /// Returns the time before a deadline at which a sleep should end for the wake-up to be in
    /// time.
    pub(super) fn lead(&self) -> Lead {
        let in_time = self.mean_ns + DEVIATIONS * self.deviation_ns;
        Lead {
            mean_ns: self.mean_ns.clamp(LEAD_NS_MIN, LEAD_NS_MAX),
            in_time_ns: in_time.clamp(LEAD_NS_MIN, LEAD_NS_MAX),
        }
    }
}

/// Time before a deadline at which the timer thread wants to be awake.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Lead {
    mean_ns: f64,
    in_time_ns: f64,
}

impl Lead {
    /// The same without any time to spare: half of the wake-ups are late.
    pub(super) fn on_average(self) -> Self {
        Self {
            in_time_ns: self.mean_ns,
            ..self
        }
    }

    /// For the reply to an operation that takes `latency`.
    pub(super) fn for_latency(self, latency: Nanoseconds) -> Nanoseconds {
        let tolerated = TOLERATED_SHARE * latency as f64;
        self.mean_ns.max(self.in_time_ns - tolerated) as Nanoseconds
    }

    /// The longest.
    pub(super) fn longest(self) -> Nanoseconds {
        self.for_latency(0)
    }
}

/// Share of one processor that may be burnt in spins ...
const SPIN_SHARE: f64 = 0.2;
/// ... and of the processor that a lone caller has left idle by waiting for its reply: a drive of
/// 40 us needs it, as a sleep that short ends too late.
const SPIN_SHARE_BESIDE_ONE: f64 = 0.8;
/// Unused share that is kept for later, nanoseconds.
const SPIN_NS_SAVED_MAX: f64 = 2_000_000.0;

/// A token bucket of spinning time.
#[derive(Debug)]
pub(super) struct SpinBudget {
    saved_ns: f64,
    counted_at: Nanoseconds,
}

impl SpinBudget {
    pub(super) fn new(now: Nanoseconds) -> Self {
        Self {
            saved_ns: SPIN_NS_SAVED_MAX,
            counted_at: now,
        }
    }

    /// Returns true if a spin of `wanted` is within the share.
    pub(super) fn allows(&mut self, now: Nanoseconds, wanted: Nanoseconds, alone: bool) -> bool {
        let share = if alone {
            SPIN_SHARE_BESIDE_ONE
        } else {
            SPIN_SHARE
        };
        let earned = share * now.saturating_sub(self.counted_at) as f64;
        self.counted_at = now;
        self.saved_ns = (self.saved_ns + earned).min(SPIN_NS_SAVED_MAX);
        self.saved_ns >= wanted as f64
    }

    pub(super) fn spend(&mut self, spun: Nanoseconds) {
        self.saved_ns -= spun as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lead_follows_the_wakeups() {
        let mut wakeup = WakeupError::default();
        for _ in 0..200 {
            wakeup.learn(4_000);
        }
        assert!((4_000..4_500).contains(&wakeup.lead().longest()));
        wakeup.learn(50_000_000);
        assert!(wakeup.lead().longest() <= 60_000);
    }

    #[test]
    fn the_slower_the_operation_the_shorter_the_lead() {
        let lead = WakeupError::default().lead();
        assert_eq!(lead.longest(), 30_000);
        assert_eq!(
            [0, 100_000, 500_000].map(|latency| lead.for_latency(latency)),
            [30_000, 28_000, 20_000]
        );
        assert_eq!(lead.for_latency(10_000_000), 10_000);
        assert_eq!(lead.on_average().for_latency(0), 10_000);
    }

    #[test]
    fn the_budget_keeps_spinning_to_its_share() {
        for (alone, share) in [(false, SPIN_SHARE), (true, SPIN_SHARE_BESIDE_ONE)] {
            let spun = spun_in_a_second(alone);
            let allowed = share * 1e9 + SPIN_NS_SAVED_MAX;
            assert!(spun <= allowed && spun > 0.8 * allowed, "{spun}");
        }
    }

    /// Of a thread that always wants to.
    fn spun_in_a_second(alone: bool) -> f64 {
        let mut budget = SpinBudget::new(0);
        let (mut now, mut spun) = (0, 0.0);
        while now < 1_000_000_000 {
            now += 22_000;
            if budget.allows(now, 20_000, alone) {
                budget.spend(20_000);
                spun += 20_000.0;
            }
        }
        spun
    }
}
