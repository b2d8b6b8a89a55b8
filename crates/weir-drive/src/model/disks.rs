//! Spinning disks: an arm that seeks and a platter that turns.
//!
//! A random access takes the mean seek and, uniformly, up to one turn; its mean is the textbook's
//! seek + half a turn. What the arms share between reads and the draining write buffer is told in
//! `arms.rs`.

use weir_model::Disks;

use super::random::Random;

/// Mean time of a random access, nanoseconds.
pub(super) fn access_ns(disks: &Disks) -> f64 {
    (disks.seek_us + disks.rotation_us / 2.0) * 1e3
}

/// Returns the time that one random write takes of all disks together, nanoseconds.
pub(super) fn random_write_ns(disks: &Disks) -> f64 {
    let copies = if disks.mirrored { 2.0 } else { 1.0 };
    access_ns(disks) * copies / f64::from(disks.count)
}

/// The time of one random access.
pub(super) fn draw_access_ns(disks: &Disks, random: &mut Random) -> f64 {
    (disks.seek_us + random.unit() * disks.rotation_us) * 1e3
}
