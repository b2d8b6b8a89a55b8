//! How much longer the way to the drive and back takes now than it took at the mount.
//!
//! What it takes depends on where the scheduler has put the caller, the reader and the timer, and on
//! what else runs there: a request that wakes the reader on a busy processor was measured at 17 us,
//! on an idle one at 2 us, and either lasts for seconds. Two observers see it:
//!
//! - the prober (see there) is a caller itself, and sees the whole of a round trip, but from where
//!   the scheduler puts *it*;
//! - between a reply and the same caller's next request lie the way back, the caller's own work and
//!   the way there; with the replies' own lateness that is more than what the caller waits for.
//!
//! The smaller one counts: a reply that is a little late is honest, one that is early is not.

use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

use weir_model::{FileKind, Nanoseconds, OpKind};

/// No single observation says more than this: one that met a pre-emption tells of the host.
const DEVIATION_NS_MAX: i64 = 15_000;
/// Bounds of the correction. A reply cannot leave before its request is there.
const CORRECTION_NS_MIN: i64 = -10_000;
const CORRECTION_NS_MAX: i64 = 40_000;
/// Weights of one observation, as powers of one half: both averages remember about a tenth of a
/// second, of which the prober fills eight observations and a busy caller hundreds.
const PROBE_SHIFT: u32 = 4;
const CALLER_SHIFT: u32 = 7;

/// A request whose reply is to come: what it asks for, when it came, when its reply is due, and who
/// waits for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ticket {
    /// When the request was read.
    pub(crate) accepted: Nanoseconds,
    /// When to send the reply: the model's completion less the way back.
    pub(crate) due: Nanoseconds,
    /// Thread id, as the kernel sends it with the request.
    pub(crate) caller: u32,
    /// The way that this size of request had at the mount.
    pub(crate) way: Nanoseconds,
    pub(crate) kind: FileKind,
    pub(crate) what: OpKind,
}

/// The running correction, shared by all threads of the drive.
#[derive(Debug, Default)]
pub(crate) struct Correction {
    by_prober: Average,
    turnaround: Average,
    lateness: Average,
    /// The last reply: to whom, and when it left, later by the way.
    last_caller: AtomicU32,
    last_sent_and_way: AtomicU64,
    /// The prober's thread; 0: none.
    prober: AtomicU32,
}

impl Correction {
    /// So much earlier than at the mount should a reply leave.
    pub(crate) fn nanoseconds(&self) -> i64 {
        let by_callers = self.turnaround.get() + self.lateness.get();
        let found = self.by_prober.get().min(by_callers);
        found.clamp(CORRECTION_NS_MIN, CORRECTION_NS_MAX)
    }

    /// Whether `caller` is the prober, whose requests belong to no file.
    pub(crate) fn is_prober(&self, caller: u32) -> bool {
        caller != 0 && self.prober.load(Ordering::Relaxed) == caller
    }

    pub(super) fn set_prober(&self, caller: u32) {
        self.prober.store(caller, Ordering::Relaxed);
    }

    /// A probe took `error_ns` longer than it was held for, with the correction as it is.
    pub(super) fn probed(&self, error_ns: i64) {
        let uncorrected = error_ns + self.nanoseconds();
        self.by_prober.learn(uncorrected, PROBE_SHIFT);
    }

    /// A request came while no other was in flight.
    pub(crate) fn arrived_alone(&self, caller: u32, now: Nanoseconds) {
        if self.last_caller.load(Ordering::Acquire) == caller {
            let since = self.last_sent_and_way.load(Ordering::Relaxed);
            let longer = now.cast_signed() - since.cast_signed();
            self.turnaround.learn(longer, CALLER_SHIFT);
        }
    }

    /// The reply for `ticket` leaves now.
    pub(crate) fn sent(&self, ticket: &Ticket, now: Nanoseconds) {
        let late = now.cast_signed() - ticket.due.cast_signed();
        self.lateness.learn(late, CALLER_SHIFT);
        self.last_sent_and_way
            .store(now + ticket.way, Ordering::Relaxed);
        self.last_caller.store(ticket.caller, Ordering::Release);
    }
}

/// A moving average that outliers move little, nanoseconds.
#[derive(Debug, Default)]
struct Average(AtomicI64);

impl Average {
    /// Bits behind the point, without which small deviations would be lost in the shift.
    const FRACTION: u32 = 8;

    fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed) >> Self::FRACTION
    }

    fn learn(&self, observed: i64, shift: u32) {
        let before = self.0.load(Ordering::Relaxed);
        let deviation = observed - (before >> Self::FRACTION);
        let deviation = deviation.clamp(-DEVIATION_NS_MAX, DEVIATION_NS_MAX);
        let step = (deviation << Self::FRACTION) >> shift;
        // What lies far beyond the bounds must not take long to come back from.
        let bound = (2 * CORRECTION_NS_MAX) << Self::FRACTION;
        let after = (before + step).clamp(-bound, bound);
        self.0.store(after, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticket(caller: u32, due: Nanoseconds) -> Ticket {
        Ticket {
            accepted: 0,
            due,
            caller,
            way: 5_000,
            kind: FileKind::Data,
            what: OpKind::Read,
        }
    }

    /// A caller whose requests come `gap` after its replies, which leave `late`.
    fn answer(correction: &Correction, gap: Nanoseconds, late: Nanoseconds) {
        let mut now = 1_000_000;
        for _ in 0..2_000 {
            correction.sent(&ticket(1, now), now + late);
            now += late + gap;
            correction.arrived_alone(1, now);
        }
    }

    fn probe(correction: &Correction, way: i64) {
        for _ in 0..400 {
            correction.probed(way - correction.nanoseconds());
        }
    }

    #[test]
    fn the_smaller_of_two_observations_counts() {
        let correction = Correction::default();
        probe(&correction, 36_000);
        assert_eq!(correction.nanoseconds(), 0, "nobody called yet");
        answer(&correction, 22_000, 1_000);
        let found = correction.nanoseconds();
        assert!((17_800..18_200).contains(&found), "{found}");
        // The callers think for longer; now the prober knows better.
        answer(&correction, 900_000, 0);
        let found = correction.nanoseconds();
        assert!((35_500..36_500).contains(&found), "{found}");
    }

    #[test]
    fn a_preemption_says_little_and_many_stay_bounded() {
        let correction = Correction::default();
        answer(&correction, 90_000_000, 0);
        correction.probed(50_000_000);
        assert!(correction.nanoseconds() < 1_000);
        (0..1_000).for_each(|_| correction.probed(50_000_000));
        assert_eq!(correction.nanoseconds(), CORRECTION_NS_MAX);
        (0..1_000).for_each(|_| correction.probed(-50_000_000));
        assert_eq!(correction.nanoseconds(), CORRECTION_NS_MIN);
    }

    #[test]
    fn another_callers_request_says_nothing() {
        let correction = Correction::default();
        probe(&correction, 36_000);
        for now in (0..1_000_000).step_by(1_000) {
            correction.sent(&ticket(1, now), now);
            correction.arrived_alone(2, now + 50_000);
        }
        assert_eq!(correction.nanoseconds(), 0);
    }
}
