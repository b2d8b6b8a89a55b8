//! The device in time: what a profile says, as completion times.
//!
//! Pure: no clock, no I/O, and what is random is seeded. The FUSE front end asks it in real time, the tests (and
//! a predictor) in virtual time. A `scale` below 1 shrinks all that is a rate or an amount (IOPS,
//! bandwidth, write buffer) and leaves latencies alone, so that a host too small for the drive can
//! still be limited by it.

mod amplification;
mod arms;
mod collection;
mod disks;
mod flash;
mod ftl;
mod latency;
mod random;
mod reads;
mod sequential;
mod throttle;
mod throughput;
mod writes;

#[cfg(test)]
mod aging_tests;
#[cfg(test)]
mod closed_loop;
#[cfg(test)]
mod data_sheets;
#[cfg(test)]
mod service_tests;
#[cfg(test)]
mod tests;

use weir_model::{DeviceModel, Disks, DriveProfile, Nanoseconds, Op, OpKind, Scale, WriteCache};

use self::collection::Collection;
pub(crate) use self::random::Random;
use self::reads::Reads;
use self::throttle::Buckets;
use self::writes::Writes;

/// The same waits for each drive.
const SEED: u64 = 0x0a23;

/// A drive of a given profile and scale, idle at time 0.
#[derive(Debug)]
pub struct Model {
    reads: Reads,
    writes: Writes,
    throttle: Option<Buckets>,
    /// What reads and writes have taken of the throttle, nanoseconds.
    throttled_ns: [f64; 2],
    disks: Option<Disks>,
    random: Random,
    flush_ns: Nanoseconds,
    cache: WriteCache,
}

/// What a model has been busy with since it was made.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ModelUsage {
    /// Seconds of the whole device's read capacity that were used.
    pub read_busy_s: f64,
    /// Seconds of the media's time that the accepted writes take.
    pub write_busy_s: f64,
    /// Bytes that the media wrote, after compression and garbage collection.
    pub media_written_bytes: u64,
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
        let collection = Collection::of(profile, scale, capacity_bytes);
        Self {
            reads: Reads::new(&profile.read, profile.disks.as_ref(), scale),
            writes: Writes::new(&profile.write, scale, collection),
            throttle: profile
                .throttle
                .as_ref()
                .map(|throttle| Buckets::new(throttle, scale, profile.capacity.0)),
            throttled_ns: [0.0; 2],
            disks: profile.disks.clone(),
            random: Random::seeded(SEED),
            flush_ns: (profile.flush.latency_us * 1e3) as Nanoseconds,
            cache: profile.write.cache,
        }
    }

    /// A fault: what is written from now on drains at this share of its speed, above 0 to 1.
    pub fn set_drain_share(&mut self, share: f64) {
        self.writes.set_drain_share(share);
    }

    /// What the model has been busy with up to `now`.
    pub fn usage(&self, now: Nanoseconds) -> ModelUsage {
        // What waits in the buffer has been accepted but not yet written.
        let backlog_ns = self.writes.drained_at().saturating_sub(now) as f64;
        // A throttled volume is busy when its limit is reached, whatever is behind it. What it
        // spends of its savings makes it no busier than all the time.
        let [by_reads_ns, by_writes_ns] = self.throttled_ns.map(|ns| ns.min(now as f64));
        let write_ns = self.writes.busy_ns() - backlog_ns;
        ModelUsage {
            read_busy_s: self.reads.busy_ns().max(by_reads_ns) / 1e9,
            write_busy_s: write_ns.max(by_writes_ns) / 1e9,
            media_written_bytes: self.writes.media_written_bytes() as u64,
        }
    }
}

impl Model {
    fn read(&mut self, op: &Op, now: Nanoseconds) -> Nanoseconds {
        let turn = match &self.disks {
            Some(disks) if self.writes.drained_at() > now => {
                self.writes.hold_up(self.reads.cost_ns_per_read(), now);
                let fill = self.writes.buffer_fill();
                arms::turn_beside_writes(disks, fill, &mut self.random)
            }
            _ => arms::ALONE,
        };
        self.reads.submit(op, now, turn)
    }

    fn throttled(&mut self, op: &Op, now: Nanoseconds) -> Nanoseconds {
        let Some(buckets) = &mut self.throttle else {
            return now;
        };
        self.throttled_ns[usize::from(op.kind == OpKind::Write)] += buckets.cost_ns(op.bytes);
        buckets.admit(op.bytes, now)
    }
}

impl DeviceModel for Model {
    fn submit(&mut self, op: &Op, now: Nanoseconds) -> Nanoseconds {
        match op.kind {
            OpKind::Read => {
                let start = self.throttled(op, now);
                self.read(op, start)
            }
            OpKind::Write => {
                let start = self.throttled(op, now);
                self.writes.submit(op, start)
            }
            OpKind::Flush => match self.cache {
                WriteCache::PowerProtected => now + self.flush_ns,
                WriteCache::Volatile => now.max(self.writes.drained_at()) + self.flush_ns,
            },
            // A deallocation is a change of the mapping: acknowledged like a small write, and
            // nothing reaches the media.
            OpKind::Discard => {
                self.writes.discard(op);
                now + self.writes.latency_ns()
            }
        }
    }
}
