//! Cost that the media adds to a write: garbage collection of flash, an early controller, the arms of disks.

use weir_model::{DriveProfile, Op, Scale};

use super::amplification::Amplification;
use super::disks::Seek;
use super::flash::MappedFlash;
use super::sequential::LastEnds;

/// A write of this size or more fills flash blocks by itself, like a sequential one.
const LARGE_BYTES: u64 = 128 * 1024;

/// Cost of a write on the media.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct MediaCost {
    /// Media bytes per stored byte.
    pub(super) amplification: f64,
    /// Time that it takes whatever its size.
    pub(super) least_ns: f64,
}

/// The media that the write buffer drains to.
#[derive(Debug)]
pub(super) struct Collection {
    media: Media,
    /// Least time of a random write, whatever its size, nanoseconds.
    random_least_ns: f64,
    scale_factor: f64,
    last_ends: LastEnds,
}

#[derive(Debug)]
enum Media {
    /// One factor for all random writes: flash that is always full and in steady state, or media
    /// that collect no garbage.
    Steady(Amplification),
    /// Flash whose factor follows from what was written where.
    Mapped(MappedFlash),
}

impl Collection {
    pub(super) fn new(profile: &DriveProfile, scale: Scale, capacity_bytes: u64) -> Self {
        let media = if let Some(flash) = &profile.flash {
            Media::Mapped(MappedFlash::new(flash, profile, capacity_bytes))
        } else {
            let factor = profile.write.amplification_random;
            Media::Steady(Amplification::from_factor(factor))
        };
        let by_controller_ns = profile.write.iops_max_random.map_or(0.0, |iops| 1e9 / iops);
        Self {
            media,
            random_least_ns: by_controller_ns / scale.factor(),
            scale_factor: scale.factor(),
            last_ends: LastEnds::default(),
        }
    }

    /// Accounts for a write that stores `fraction` of its bytes, on disks behind `waiting` others.
    pub(super) fn write(
        &mut self,
        op: &Op,
        fraction: f64,
        seek: Option<Seek>,
        waiting: usize,
    ) -> MediaCost {
        let is_random = !self.last_ends.continues(op);
        let amplification = match &mut self.media {
            Media::Mapped(flash) => flash.write(op, fraction),
            Media::Steady(steady) if is_random && op.bytes < LARGE_BYTES => steady.factor(fraction),
            Media::Steady(_) => 1.0,
        };
        // The buffer is scaled, and so are the disks: each has as many writes waiting as at full size.
        let by_arms_ns = seek.map_or(0.0, |seek| {
            seek.random_write_ns(waiting as f64 / self.scale_factor) / self.scale_factor
        });
        MediaCost {
            amplification,
            least_ns: if is_random {
                self.random_least_ns.max(by_arms_ns)
            } else {
                0.0
            },
        }
    }

    /// Share of the flash that holds data, 0 to 1, where it is known.
    pub(super) fn filled(&self) -> f64 {
        match &self.media {
            Media::Mapped(flash) => flash.filled(),
            Media::Steady(_) => 0.0,
        }
    }

    /// TRIM.
    pub(super) fn discard(&mut self, op: &Op) {
        if let Media::Mapped(flash) = &mut self.media {
            flash.discard(op);
        }
    }
}
