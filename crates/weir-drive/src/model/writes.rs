//! Writes: acknowledged by a buffer that drains to the media.
//!
//! As long as the buffer has room, a write takes the data sheet's latency. The buffer drains in
//! order; each write occupies the media for its stored bytes times the garbage collection's
//! amplification, and never for less than its own bytes at the drive's bandwidth: the interface
//! and the compression engine see all of them. A full buffer makes the next write wait.

use std::collections::VecDeque;

use weir_model::{DriveProfile, Nanoseconds, Op, Scale};

use super::collection::Collection;
use super::dies::Dies;
use super::disks::Seek;
use super::latency::Latency;
use super::slc::Slc;
use super::throughput::ThroughputCap;

/// Bytes of the write that a data sheet's latency is for.
const SHEET_BYTES: u64 = 4096;

/// The same waits for each drive.
const SEED: u64 = 0x3b91;

/// The write side of a device.
#[derive(Debug)]
pub(super) struct Writes {
    latency: Latency,
    latency_ns: Nanoseconds,
    /// Beyond the first 4 KiB, for one write: at the full interface, as latency does not scale.
    extra_ns_per_byte: f64,
    cost_ns_per_write: f64,
    media_ns_per_byte: f64,
    operations: ThroughputCap,
    collection: Collection,
    slc: Option<Slc>,
    dies: Option<Dies>,
    buffer_bytes_max: u64,
    /// Writes in the buffer: when each is on the media, not counting `held_up_ns`, and its bytes.
    buffer: VecDeque<(f64, u64)>,
    buffer_bytes: u64,
    /// Time at which the write before was let into the buffer: writes enter in order.
    admitted_at: Nanoseconds,
    /// Time at which all accepted writes are on the media, not counting `held_up_ns`.
    drained_at: f64,
    /// For how long the drain stood still so far because reads went first.
    held_up_ns: f64,
    host_written_bytes: u64,
    media_written_bytes: f64,
    busy_ns: f64,
    /// A fault: share of its speed at which the drain goes on.
    drain_share: f64,
}

impl Writes {
    pub(super) fn new(profile: &DriveProfile, scale: Scale, capacity_bytes: u64) -> Self {
        let timing = &profile.write;
        let latency_ns = timing.latency_us * 1e3;
        let extra_ns_per_byte = 1e3 / timing.bandwidth_mb_per_s;
        let filled = profile.flash.as_ref().map_or(0.0, |flash| flash.fill);
        let slc = profile.slc.as_ref();
        let nand = profile.nand.as_ref();
        Self {
            latency: Latency::new(timing.latency_us, &timing.percentiles_us, SEED),
            latency_ns: latency_ns as Nanoseconds,
            extra_ns_per_byte,
            cost_ns_per_write: 1e9 / (timing.iops_max * scale.factor()),
            media_ns_per_byte: extra_ns_per_byte / scale.factor(),
            operations: ThroughputCap::new(latency_ns),
            collection: Collection::new(profile, scale, capacity_bytes),
            slc: slc.map(|slc| Slc::new(slc, scale, filled)),
            dies: nand.map(|nand| Dies::new(nand, timing, scale.factor())),
            buffer_bytes_max: scale.apply(timing.buffer.0),
            buffer: VecDeque::new(),
            buffer_bytes: 0,
            admitted_at: 0,
            drained_at: 0.0,
            held_up_ns: 0.0,
            host_written_bytes: 0,
            media_written_bytes: 0.0,
            busy_ns: 0.0,
            drain_share: 1.0,
        }
    }

    /// Accepts a write; returns when it is acknowledged. `seek`: of the disks behind the buffer.
    pub(super) fn submit(&mut self, op: &Op, now: Nanoseconds, seek: Option<Seek>) -> Nanoseconds {
        let by_operations = self.operations.admit(now, self.cost_ns_per_write);
        let admitted = self.wait_for_room(op.bytes, by_operations.max(self.admitted_at));
        self.admitted_at = admitted;
        self.fill(op, admitted, seek);
        let extra_bytes = op.bytes.saturating_sub(SHEET_BYTES) as f64;
        admitted + (self.latency.draw_ns() + extra_bytes * self.extra_ns_per_byte) as Nanoseconds
    }

    /// Returns the time at which the buffer has room for `bytes`, from `now` on. A write larger
    /// than the whole buffer waits until it is empty.
    fn wait_for_room(&mut self, bytes: u64, now: Nanoseconds) -> Nanoseconds {
        let mut time = now;
        while let Some(&(on_media, drained)) = self.buffer.front() {
            let on_media = (on_media + self.held_up_ns) as Nanoseconds;
            let room = self.buffer_bytes + bytes <= self.buffer_bytes_max;
            if room && on_media > time {
                break;
            }
            time = time.max(on_media);
            self.buffer_bytes -= drained;
            self.buffer.pop_front();
        }
        time
    }

    /// Puts the write into the buffer and its work onto the media.
    fn fill(&mut self, op: &Op, admitted: Nanoseconds, seek: Option<Seek>) {
        let fraction = op.compressed_fraction.clamp(f64::MIN_POSITIVE, 1.0);
        let cost = self.collection.write(op, fraction, seek, self.buffer.len());
        let begins = self.drained_at.max(admitted as f64 - self.held_up_ns);
        let idle_ns = begins - self.drained_at;
        let (host_bytes, stored_bytes) = (op.bytes as f64, op.bytes as f64 * fraction);
        let dense_bytes = stored_bytes * cost.amplification;
        let (media_bytes, transfer_ns) = match self.taken_by_slc(stored_bytes, idle_ns) {
            // Written twice: now, and when the cache is folded.
            Some(ns_per_byte) => (stored_bytes + dense_bytes, host_bytes * ns_per_byte),
            None => (
                dense_bytes,
                dense_bytes.max(host_bytes) * self.media_ns_per_byte,
            ),
        };
        let drain_ns = transfer_ns.max(cost.least_ns) / self.drain_share;
        self.drained_at = begins + drain_ns;
        if let Some(dies) = &mut self.dies {
            // In bytes of dense blocks, to which the dies' time to program belongs.
            dies.queue(
                begins,
                dense_bytes.min(transfer_ns / self.media_ns_per_byte),
            );
            dies.advance(admitted as f64, self.held_up_ns);
        }
        self.buffer.push_back((self.drained_at, op.bytes));
        self.buffer_bytes += op.bytes;
        self.host_written_bytes += op.bytes;
        self.media_written_bytes += media_bytes;
        self.busy_ns += drain_ns;
    }

    /// Sets the share of its speed, above 0 to 1, at which bytes that are accepted from now on
    /// drain.
    pub(super) fn set_drain_share(&mut self, share: f64) {
        self.drain_share = share;
    }

    /// Returns the time of a byte if the single-bit cache takes the write, nanoseconds.
    fn taken_by_slc(&mut self, stored_bytes: f64, idle_ns: f64) -> Option<f64> {
        let slc = self.slc.as_mut()?;
        slc.fold(idle_ns);
        slc.take(stored_bytes, self.collection.filled())
    }

    /// Returns the time that a read that could start at `start` waits for a die that programs,
    /// nanoseconds.
    pub(super) fn wait_for_die_ns(&mut self, op: &Op, start: Nanoseconds) -> f64 {
        let Some(dies) = &mut self.dies else {
            return 0.0;
        };
        dies.advance(start as f64, self.held_up_ns);
        dies.wait_ns(op, start)
    }

    /// Takes back the space of a range.
    pub(super) fn discard(&mut self, op: &Op) {
        self.collection.discard(op);
    }

    /// Returns the time at which all accepted writes are on the media.
    pub(super) fn drained_at(&self) -> Nanoseconds {
        (self.drained_at + self.held_up_ns).max(0.0) as Nanoseconds
    }

    /// The drain stands still for `ns`, if there is anything to drain at `now`.
    pub(super) fn hold_up(&mut self, ns: f64, now: Nanoseconds) {
        if self.drained_at() > now {
            self.held_up_ns += ns;
        }
    }

    /// Share of the buffer that waits for the media, 0 to 1.
    pub(super) fn buffer_fill(&self) -> f64 {
        (self.buffer_bytes as f64 / self.buffer_bytes_max as f64).min(1.0)
    }

    /// Latency of a write that finds room, nanoseconds.
    pub(super) fn latency_ns(&self) -> Nanoseconds {
        self.latency_ns
    }

    /// Bytes that the host wrote.
    pub(super) fn host_written_bytes(&self) -> u64 {
        self.host_written_bytes
    }

    /// Bytes that the media wrote, after compression and garbage collection.
    pub(super) fn media_written_bytes(&self) -> f64 {
        self.media_written_bytes
    }

    /// Nanoseconds for which the media was, or will be, busy with what was accepted.
    pub(super) fn busy_ns(&self) -> f64 {
        self.busy_ns
    }
}
