//! Writes: acknowledged by a buffer that drains to the media.
//!
//! As long as the buffer has room, a write takes the data sheet's latency. The buffer drains in
//! order; each write occupies the media for its stored bytes times the garbage collection's
//! amplification, and never for less than its own bytes at the drive's bandwidth: the interface
//! and the compression engine see all of them. A full buffer makes the next write wait.

use std::collections::VecDeque;

use weir_model::{Nanoseconds, Op, Scale, WriteTiming};

use super::collection::Collection;
use super::throughput::ThroughputCap;

/// Bytes of the write that a data sheet's latency is for.
const SHEET_BYTES: u64 = 4096;

/// The write side of a device.
#[derive(Debug)]
pub(super) struct Writes {
    latency_ns: f64,
    /// Beyond the first 4 KiB, for one write: at the full interface, as latency does not scale.
    extra_ns_per_byte: f64,
    cost_ns_per_write: f64,
    media_ns_per_byte: f64,
    operations: ThroughputCap,
    collection: Collection,
    buffer_bytes_max: u64,
    /// Writes in the buffer: when each is on the media, not counting `held_up_ns`, and its bytes.
    buffer: VecDeque<(f64, u64)>,
    buffer_bytes: u64,
    /// When the write before was let into the buffer: writes enter in order.
    admitted_at: Nanoseconds,
    /// When all that was accepted is on the media, not counting `held_up_ns`.
    drained_at: f64,
    /// For how long the drain stood still so far because reads went first.
    held_up_ns: f64,
    media_written_bytes: f64,
    busy_ns: f64,
    /// A fault: share of its speed at which the drain goes on.
    drain_share: f64,
}

impl Writes {
    pub(super) fn new(timing: &WriteTiming, scale: Scale, collection: Collection) -> Self {
        let latency_ns = timing.latency_us * 1e3;
        let extra_ns_per_byte = 1e3 / timing.bandwidth_mb_per_s;
        Self {
            latency_ns,
            extra_ns_per_byte,
            cost_ns_per_write: 1e9 / (timing.iops_max * scale.factor()),
            media_ns_per_byte: extra_ns_per_byte / scale.factor(),
            operations: ThroughputCap::new(latency_ns),
            collection,
            buffer_bytes_max: scale.apply(timing.buffer.0),
            buffer: VecDeque::new(),
            buffer_bytes: 0,
            admitted_at: 0,
            drained_at: 0.0,
            held_up_ns: 0.0,
            media_written_bytes: 0.0,
            busy_ns: 0.0,
            drain_share: 1.0,
        }
    }

    /// Accepts a write; returns when it is acknowledged.
    pub(super) fn submit(&mut self, op: &Op, now: Nanoseconds) -> Nanoseconds {
        let by_operations = self.operations.admit(now, self.cost_ns_per_write);
        let admitted = self.wait_for_room(op.bytes, by_operations.max(self.admitted_at));
        self.admitted_at = admitted;
        self.fill(op, admitted);
        let extra_bytes = op.bytes.saturating_sub(SHEET_BYTES) as f64;
        admitted + (self.latency_ns + extra_bytes * self.extra_ns_per_byte) as Nanoseconds
    }

    /// When the buffer has room for `bytes`, from `now` on. A write larger than the whole buffer
    /// waits until it is empty.
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
    fn fill(&mut self, op: &Op, admitted: Nanoseconds) {
        let stored = op.compressed_fraction.clamp(f64::MIN_POSITIVE, 1.0);
        let cost = self.collection.write(op, stored);
        let media_bytes = op.bytes as f64 * stored * cost.amplification;
        let transfer_ns = media_bytes.max(op.bytes as f64) * self.media_ns_per_byte;
        let drain_ns = transfer_ns.max(cost.least_ns) / self.drain_share;
        let idle_from = admitted as f64 - self.held_up_ns;
        self.drained_at = self.drained_at.max(idle_from) + drain_ns;
        self.buffer.push_back((self.drained_at, op.bytes));
        self.buffer_bytes += op.bytes;
        self.media_written_bytes += media_bytes;
        self.busy_ns += drain_ns;
    }

    /// What is accepted from now on drains at this share of its speed, above 0 to 1.
    pub(super) fn set_drain_share(&mut self, share: f64) {
        self.drain_share = share;
    }

    /// Takes back the space of a range.
    pub(super) fn discard(&mut self, op: &Op) {
        self.collection.discard(op);
    }

    /// When all that was accepted is on the media.
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
        self.latency_ns as Nanoseconds
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
