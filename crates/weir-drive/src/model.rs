//! The device in time: what a profile says, as completion times.
//!
//! Pure: no clock, no I/O, and what is random is seeded. The FUSE front end asks it in real time,
//! the tests (and a predictor) in virtual time. A `scale` below 1 shrinks all that is a rate, or an
//! amount that a rate fills (IOPS, bandwidth, write buffer, single-bit cache, burst credit), and
//! leaves latencies alone, so that a host too small for the drive can still be limited by it. A
//! capacity of its own shrinks the amounts of data: flash, cache in front, endurance.

mod amplification;
mod collection;
mod device;
mod dies;
mod disks;
mod flash;
mod flushes;
mod ftl;
mod interference;
mod latency;
mod random;
mod reads;
mod sequential;
mod slc;
mod space;
mod throttle;
mod throughput;
mod tier;
mod writes;

#[cfg(test)]
mod aging_tests;
#[cfg(test)]
mod closed_loop;
#[cfg(test)]
mod data_sheets;
#[cfg(test)]
mod media_tests;
#[cfg(test)]
mod published_tests;
#[cfg(test)]
mod service_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tier_tests;

use weir_model::{
    CacheStatistics, DeviceModel, DriveProfile, FileKind, Nanoseconds, Op, OpKind, Scale,
    SpaceState,
};

use self::device::Device;
pub(crate) use self::random::Random;
use self::space::PhysicalSpace;
use self::tier::Tier;

/// A drive of a given profile and scale, idle at time 0.
#[derive(Debug)]
pub struct Model {
    device: Device,
    tier: Option<Tier>,
    space: Option<PhysicalSpace>,
}

/// Usage of a model since it was made.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelUsage {
    /// Seconds of the whole device's read capacity that were used.
    pub read_busy_s: f64,
    /// Seconds of the media's time that the accepted writes take.
    pub write_busy_s: f64,
    /// Bytes that the host wrote.
    pub host_written_bytes: u64,
    /// Bytes that the media wrote, after compression and garbage collection.
    pub media_written_bytes: u64,
    /// Flash of a drive that compresses; 0 for others.
    pub physical_capacity_bytes: u64,
    /// Used bytes of its flash.
    pub physical_used_bytes: u64,
    /// Nearness of the space to its end.
    pub space_state: SpaceState,
    /// Share of the guaranteed life; `None` if there is no guarantee.
    pub endurance_used: Option<f64>,
    /// The cache in front.
    pub cache: Option<CacheStatistics>,
    /// Reads that it answered, by kind of file.
    pub cache_hits: [u64; FileKind::ALL.len()],
}

impl Model {
    /// A drive with `profile`'s figures, its throughput, write buffer and capacity shrunk by
    /// `scale`.
    pub fn new(profile: &DriveProfile, scale: Scale) -> Self {
        Self::with_capacity(profile, scale, scale.apply(profile.capacity.0))
    }

    /// The same with a capacity of its own: emulated drives shrink it apart from the throughput.
    /// A profile with a `flash` section starts as that section says, at no cost in time.
    pub fn with_capacity(profile: &DriveProfile, scale: Scale, capacity_bytes: u64) -> Self {
        let data_share = capacity_bytes as f64 / profile.capacity.0 as f64;
        let cache = profile.cache.as_ref();
        Self {
            device: Device::new(profile, scale, capacity_bytes),
            tier: cache.and_then(|cache| Tier::new(cache, scale, data_share)),
            space: PhysicalSpace::new(profile, capacity_bytes),
        }
    }

    /// Returns true if spinning disks are behind it.
    pub fn has_arms(&self) -> bool {
        self.device.has_arms()
    }

    /// A fault: what is written from now on drains at this share of its speed, above 0 to 1.
    pub fn set_drain_share(&mut self, share: f64) {
        self.device.set_drain_share(share);
    }

    /// Returns the usage up to `now`.
    pub fn usage(&self, now: Nanoseconds) -> ModelUsage {
        let device = self.device.usage(now);
        let space = self.space.as_ref();
        let tier = self.tier.as_ref();
        ModelUsage {
            read_busy_s: device.read_busy_s,
            write_busy_s: device.write_busy_s,
            host_written_bytes: device.host_written_bytes,
            media_written_bytes: device.media_written_bytes,
            endurance_used: device.endurance_used,
            physical_capacity_bytes: space.map_or(0, PhysicalSpace::capacity_bytes),
            physical_used_bytes: space.map_or(0, PhysicalSpace::used_bytes),
            space_state: space.map_or(SpaceState::Normal, PhysicalSpace::state),
            cache: tier.map(Tier::statistics),
            cache_hits: FileKind::ALL.map(|kind| tier.map_or(0, |tier| tier.hits(kind))),
        }
    }

    /// Returns true if the flash of a drive that compresses has room for so many more bytes,
    /// counted after compression. Without it, a write fails with `ENOSPC`, also one to a place that
    /// was written before.
    pub fn has_room(&self, stored_bytes: u64) -> bool {
        self.space
            .as_ref()
            .is_none_or(|space| space.has_room(stored_bytes))
    }

    /// A file was on the drive before: `bytes` of it, which take `fraction` of that. This takes
    /// space and no time.
    pub fn adopt(&mut self, file: u64, bytes: u64, fraction: f64) {
        self.device.adopt(file, bytes);
        if let Some(space) = &mut self.space {
            space.write(&Op {
                kind: OpKind::Write,
                file,
                file_kind: FileKind::Other,
                offset: 0,
                bytes,
                compressed_fraction: fraction,
            });
        }
    }
}

impl DeviceModel for Model {
    fn submit(&mut self, op: &Op, now: Nanoseconds) -> Nanoseconds {
        match (&mut self.space, op.kind) {
            (Some(space), OpKind::Write) => space.write(op),
            (Some(space), OpKind::Discard) => space.discard(op),
            _ => {}
        }
        match &mut self.tier {
            None => self.device.submit(op, now),
            Some(tier) => tier.submit(op, now, &mut self.device),
        }
    }
}
