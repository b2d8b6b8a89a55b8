//! The arms of disks, which reads and the draining write buffer share.
//!
//! Reads go first, as in a controller whose battery holds the writes: a read waits at most for the
//! access that its disk is busy with, and the drain stands still meanwhile. Once the buffer is half
//! full the controller lets them take turns, since it must not run full because of reads.

use weir_model::Disks;

use super::disks::access_ns;
use super::random::Random;

/// What a read finds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Turn {
    /// How long the disk is still busy with a write, nanoseconds.
    pub(super) wait_ns: f64,
    /// How much more of the disks' time a read takes, because writes take turns with it.
    pub(super) cost_factor: f64,
}

/// A read that has the drive for itself.
pub(super) const ALONE: Turn = Turn {
    wait_ns: 0.0,
    cost_factor: 1.0,
};

/// The turn of a read while the buffer of `fill` (0 to 1) drains.
pub(super) fn turn_beside_writes(disks: &Disks, fill: f64, random: &mut Random) -> Turn {
    Turn {
        // What remains of an access that began at any time before.
        wait_ns: random.unit() * access_ns(disks),
        cost_factor: if fill < 0.5 { 1.0 } else { 2.0 },
    }
}
