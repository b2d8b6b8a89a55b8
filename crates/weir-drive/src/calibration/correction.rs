//! Added time of the way to the drive and back since the mount.
//!
//! What it takes depends on what else runs on the processors. The prober (see there) is a caller
//! itself, on the processor on which callers are expected, and sees the whole of a round trip.
//!
//! A caller whose next request comes before the model says that its last one is done was answered
//! too early, for certain: that is counted, and if it is more than chance, it corrects the correction at once.

use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

use weir_model::{FileKind, Nanoseconds, OpKind};

/// No single observation says more than this: one that met a pre-emption tells of the host.
const DEVIATION_NS_MAX: i64 = 5_000;
/// Bounds of the correction. A reply cannot leave before its request is there.
const CORRECTION_NS_MIN: i64 = -10_000;
const CORRECTION_NS_MAX: i64 = 40_000;
/// Weight of one observation, as a power of one half.
const SHIFT: u32 = 2;
/// A reply that is early by less says nothing of the others: replies that are late by as much leave no such trace, and
/// all would come later than they should.
const JITTER_NS: Nanoseconds = 1_500;

/// A request whose reply is to come: what it asks for, when it came, when its reply is due, and who
/// waits for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ticket {
    /// Time at which the request was read.
    pub(crate) accepted: Nanoseconds,
    /// Time at which the model completes it.
    pub(crate) done: Nanoseconds,
    /// Time to send the reply: the model's completion less the way back.
    pub(crate) due: Nanoseconds,
    /// Thread id, as the kernel sends it with the request.
    pub(crate) caller: u32,
    pub(crate) kind: FileKind,
    pub(crate) what: OpKind,
    /// The page cache answers, so that the reply cannot be late.
    pub(crate) from_memory: bool,
}

/// The running correction, shared by all threads of the drive.
#[derive(Debug, Default)]
pub(crate) struct Correction {
    longer: Average,
    /// The last reply: to whom, for a request of when, and when the model completed it.
    last_caller: AtomicU32,
    last_accepted: AtomicU64,
    last_done: AtomicU64,
    /// The prober's thread; 0: none.
    prober: AtomicU32,
}

impl Correction {
    /// So much earlier than at the mount should a reply leave.
    pub(crate) fn nanoseconds(&self) -> i64 {
        self.longer.get()
    }

    /// Returns true if `caller` is the prober, whose requests belong to no file.
    pub(crate) fn is_prober(&self, caller: u32) -> bool {
        caller != 0 && self.prober.load(Ordering::Relaxed) == caller
    }

    pub(super) fn set_prober(&self, caller: u32) {
        self.prober.store(caller, Ordering::Relaxed);
    }

    /// A probe took `error_ns` longer than it was held for, with the correction as it is.
    pub(super) fn probed(&self, error_ns: i64) {
        self.longer.learn(error_ns);
    }

    /// A request came while no other was in flight; the reply that it proves to have left too
    /// early, if it proves that.
    pub(crate) fn arrived_alone(&self, caller: u32, now: Nanoseconds) -> Option<Early> {
        if self.last_caller.load(Ordering::Acquire) != caller {
            return None;
        }
        let done = self.last_done.load(Ordering::Relaxed);
        let early_ns = done.checked_sub(now).filter(|early_ns| *early_ns > 0)?;
        if early_ns > JITTER_NS {
            self.longer.learn(-early_ns.cast_signed());
        }
        let latency_ns = done.saturating_sub(self.last_accepted.load(Ordering::Relaxed));
        Some(Early {
            early_ns,
            latency_ns,
        })
    }

    /// The reply for `ticket` leaves now.
    pub(crate) fn sent(&self, ticket: &Ticket) {
        self.last_accepted.store(ticket.accepted, Ordering::Relaxed);
        self.last_done.store(ticket.done, Ordering::Relaxed);
        self.last_caller.store(ticket.caller, Ordering::Release);
    }
}

/// A reply that left too early: by at least how much, of which modelled latency.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Early {
    pub(crate) early_ns: Nanoseconds,
    pub(crate) latency_ns: Nanoseconds,
}

/// The correction as an average that outliers move little, nanoseconds.
#[derive(Debug, Default)]
struct Average(AtomicI64);

impl Average {
    fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }

    fn learn(&self, deviation: i64) {
        let before = self.0.load(Ordering::Relaxed);
        let step = deviation.clamp(-DEVIATION_NS_MAX, DEVIATION_NS_MAX) >> SHIFT;
        let after = (before + step).clamp(CORRECTION_NS_MIN, CORRECTION_NS_MAX);
        self.0.store(after, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticket(caller: u32, accepted: Nanoseconds, done: Nanoseconds) -> Ticket {
        Ticket {
            accepted,
            done,
            due: done,
            caller,
            kind: FileKind::Data,
            what: OpKind::Read,
            from_memory: false,
        }
    }

    #[test]
    fn probes_are_followed_within_bounds() {
        let correction = Correction::default();
        for _ in 0..100 {
            correction.probed(18_000 - correction.nanoseconds());
        }
        assert!((17_900..=18_000).contains(&correction.nanoseconds()));
        correction.probed(50_000_000);
        assert!(
            correction.nanoseconds() < 20_000,
            "a pre-emption says little"
        );
        (0..100).for_each(|_| correction.probed(50_000_000));
        assert_eq!(correction.nanoseconds(), CORRECTION_NS_MAX);
        (0..100).for_each(|_| correction.probed(-50_000_000));
        assert_eq!(correction.nanoseconds(), CORRECTION_NS_MIN);
    }

    #[test]
    fn a_request_before_the_end_of_the_last_one_proves_an_early_reply() {
        let correction = Correction::default();
        correction.sent(&ticket(1, 100_000, 180_000));
        assert_eq!(correction.arrived_alone(2, 150_000), None, "another caller");
        assert_eq!(correction.arrived_alone(1, 181_000), None, "in time");
        let early = correction.arrived_alone(1, 168_000).unwrap();
        assert_eq!((early.early_ns, early.latency_ns), (12_000, 80_000));
        assert!(correction.nanoseconds() < 0);
    }

    #[test]
    fn a_reply_that_is_early_by_chance_is_counted_and_corrects_nothing() {
        let correction = Correction::default();
        correction.sent(&ticket(1, 100_000, 180_000));
        let early = correction.arrived_alone(1, 179_000).unwrap();
        assert_eq!(early.early_ns, 1_000);
        assert_eq!(correction.nanoseconds(), 0);
    }
}
