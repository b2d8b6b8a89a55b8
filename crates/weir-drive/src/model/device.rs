//! One device in time: throttle, reads, the write buffer and what is behind it.

use weir_model::{DeviceModel, DriveProfile, Nanoseconds, Op, OpKind, Scale};

use super::amplification::factor_of_alpha;
use super::disks::Arms;
use super::flushes::Flushes;
use super::interference::cost_factor;
use super::random::Random;
use super::reads::{Contention, Reads};
use super::throttle::Buckets;
use super::writes::Writes;

/// The same waits for each drive.
const SEED: u64 = 0x0a23;

/// A drive of a given profile and scale, idle at time 0.
#[derive(Debug)]
pub(super) struct Device {
    reads: Reads,
    writes: Writes,
    throttle: Option<Buckets>,
    /// Time that reads and writes have taken of the throttle, nanoseconds.
    throttled_ns: [f64; 2],
    arms: Option<Arms>,
    random: Random,
    flushes: Flushes,
    /// Bytes of flash that the guarantee is worth; 0: none.
    guaranteed_bytes: f64,
}

/// Usage of a device since it was made.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct DeviceUsage {
    pub(super) read_busy_s: f64,
    pub(super) write_busy_s: f64,
    pub(super) host_written_bytes: u64,
    pub(super) media_written_bytes: u64,
    pub(super) endurance_used: Option<f64>,
}

impl Device {
    /// `capacity_bytes`: emulated drives shrink it apart from the throughput.
    pub(super) fn new(profile: &DriveProfile, scale: Scale, capacity_bytes: u64) -> Self {
        Self {
            reads: Reads::new(&profile.read, profile.disks.is_some(), scale),
            writes: Writes::new(profile, scale, capacity_bytes),
            throttle: profile
                .throttle
                .as_ref()
                .map(|throttle| Buckets::new(throttle, scale, profile.capacity.0)),
            throttled_ns: [0.0; 2],
            arms: profile
                .disks
                .as_ref()
                .map(|disks| Arms::new(disks, capacity_bytes)),
            random: Random::seeded(SEED),
            flushes: Flushes::new(profile),
            guaranteed_bytes: guaranteed_bytes(profile, capacity_bytes),
        }
    }

    /// Returns the usage up to `now`.
    pub(super) fn usage(&self, now: Nanoseconds) -> DeviceUsage {
        // What waits in the buffer has been accepted but not yet written.
        let backlog_ns = self.drained_at().saturating_sub(now) as f64;
        // A throttled volume is busy when its limit is reached, whatever is behind it. What it
        // spends of its savings makes it no busier than all the time.
        let [by_reads_ns, by_writes_ns] = self.throttled_ns.map(|ns| ns.min(now as f64));
        let write_ns = self.writes.busy_ns() - backlog_ns;
        let written = self.writes.media_written_bytes();
        DeviceUsage {
            read_busy_s: self.reads.busy_ns().max(by_reads_ns) / 1e9,
            write_busy_s: write_ns.max(by_writes_ns) / 1e9,
            host_written_bytes: self.writes.host_written_bytes(),
            media_written_bytes: written as u64,
            endurance_used: (self.guaranteed_bytes > 0.0).then(|| written / self.guaranteed_bytes),
        }
    }

    /// Returns the time at which all accepted writes are on the media.
    pub(super) fn drained_at(&self) -> Nanoseconds {
        self.writes.drained_at()
    }

    fn read(&mut self, op: &Op, now: Nanoseconds) -> Nanoseconds {
        // What a provider's throttle lets through, it has the media for.
        let beside_writes = self.throttle.is_none() && self.drained_at() > now;
        let mut meeting = Contention {
            beside_writes,
            cost_factor: 1.0,
            seek: self.arms.as_ref().map(Arms::seek),
        };
        if beside_writes {
            self.writes.hold_up(self.reads.media_cost_ns(op.bytes), now);
            meeting.cost_factor = cost_factor(self.writes.buffer_fill());
        }
        self.reads
            .submit(op, now, meeting, |start| match meeting.seek {
                // What remains of an access that began at any time before.
                Some(seek) if beside_writes => self.random.unit() * seek.access_ns(0.0),
                Some(_) => 0.0,
                None => self.writes.wait_for_die_ns(op, start),
            })
    }

    fn throttled(&mut self, op: &Op, now: Nanoseconds) -> Nanoseconds {
        let Some(buckets) = &mut self.throttle else {
            return now;
        };
        self.throttled_ns[usize::from(op.kind == OpKind::Write)] += buckets.cost_ns(op.bytes);
        buckets.admit(op.bytes, now)
    }

    pub(super) fn has_arms(&self) -> bool {
        self.arms.is_some()
    }

    /// A file has `bytes` on the drive that were written before.
    pub(super) fn adopt(&mut self, file: u64, bytes: u64) {
        if let Some(arms) = &mut self.arms {
            arms.reach(file, bytes);
        }
    }

    /// A fault: what is written from now on drains at this share of its speed, above 0 to 1.
    pub(super) fn set_drain_share(&mut self, share: f64) {
        self.writes.set_drain_share(share);
    }
}

impl DeviceModel for Device {
    fn submit(&mut self, op: &Op, now: Nanoseconds) -> Nanoseconds {
        match (&mut self.arms, op.kind) {
            (Some(arms), OpKind::Read | OpKind::Write) => {
                arms.reach(op.file, op.offset.saturating_add(op.bytes));
            }
            (Some(arms), OpKind::Discard) => arms.discard(op),
            _ => {}
        }
        match op.kind {
            OpKind::Read => {
                let start = self.throttled(op, now);
                self.read(op, start)
            }
            OpKind::Write => {
                let start = self.throttled(op, now);
                let seek = self.arms.as_ref().map(Arms::seek);
                self.writes.submit(op, start, seek)
            }
            OpKind::Flush => self.flushes.submit(now, self.drained_at()),
            // A deallocation is a change of the mapping: acknowledged like a small write, and
            // nothing reaches the media.
            OpKind::Discard => {
                self.writes.discard(op);
                now + self.writes.latency_ns()
            }
        }
    }
}

/// Bytes of flash that a drive of `capacity_bytes` is guaranteed for, 0 without a guarantee.
///
/// Makers count bytes of a host that writes at random to a full drive (JEDEC JESD219), each of
/// which costs the drive's amplification in steady state.
fn guaranteed_bytes(profile: &DriveProfile, capacity_bytes: u64) -> f64 {
    let Some(endurance) = &profile.endurance else {
        return 0.0;
    };
    let amplification = match &profile.flash {
        Some(flash) => factor_of_alpha(1.0 + flash.over_provisioning),
        None => profile.write.amplification_random,
    };
    endurance.host_bytes(capacity_bytes) * amplification
}
