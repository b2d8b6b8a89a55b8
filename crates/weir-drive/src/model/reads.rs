//! Reads: parallel units for the latency, a virtual clock for the throughput.
//!
//! The units give queueing its shape: with `n` of them, `n` reads proceed together and the next
//! waits for the first that ends. Their number is Little's law on the data sheet, latency x IOPS,
//! rounded up; the virtual clock takes off what the rounding added, so that the saturated
//! throughput is the data sheet's at any scale, while a single read takes the full-size latency.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use weir_model::{Nanoseconds, Op, ReadTiming, Scale};

use super::disks::Seek;
use super::interference::flash_accesses;
use super::latency::Latency;
use super::random::Random;
use super::sequential::LastEnds;
use super::throughput::ThroughputCap;

/// Bytes of the read that a data sheet's latency and IOPS are for.
const SHEET_BYTES: u64 = 4096;

/// The same waits for each drive.
const SEED: u64 = 0x1a7e;

/// Contention of a read on the media that it shares with writes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Contention {
    /// Writes have the media at the moment: the arms of disks are elsewhere.
    pub(super) beside_writes: bool,
    /// Factor by which the read takes more of the media's time.
    pub(super) cost_factor: f64,
    /// Seeks of the disks' arms.
    pub(super) seek: Option<Seek>,
}

/// The read side of a device.
#[derive(Debug)]
pub(super) struct Reads {
    latency: Latency,
    last_ends: LastEnds,
    /// Beyond the first 4 KiB, for one read: at the full interface, as latency does not scale.
    extra_ns_per_byte: f64,
    /// Of the scaled device's whole throughput: what one more operation or byte takes.
    cost_ns_per_read: f64,
    cost_ns_per_byte: f64,
    /// Time at which each unit is free.
    units: BinaryHeap<Reverse<Nanoseconds>>,
    random: Random,
    of_disks: bool,
    operations: ThroughputCap,
    interface: ThroughputCap,
    busy_ns: f64,
}

impl Reads {
    /// `of_disks`: an arm seeks for each random read.
    pub(super) fn new(timing: &ReadTiming, of_disks: bool, scale: Scale) -> Self {
        let latency_ns = timing.latency_us * 1e3;
        let cost_ns_per_read = 1e9 / (timing.iops_max * scale.factor());
        // The allowance keeps 50.000000001 units from becoming 51.
        let units = (latency_ns / cost_ns_per_read - 1e-6).ceil().max(1.0) as usize;
        let extra_ns_per_byte = 1e3 / timing.bandwidth_mb_per_s;
        Self {
            latency: Latency::new(timing.latency_us, &timing.percentiles_us, SEED),
            last_ends: LastEnds::default(),
            extra_ns_per_byte,
            cost_ns_per_read,
            cost_ns_per_byte: extra_ns_per_byte / scale.factor(),
            units: std::iter::repeat_n(Reverse(0), units).collect(),
            random: Random::seeded(SEED ^ 1),
            of_disks,
            operations: ThroughputCap::new(latency_ns),
            interface: ThroughputCap::new(latency_ns),
            busy_ns: 0.0,
        }
    }

    /// Accepts a read; returns when it is done. `wait_ns`: how long the media keep it waiting from
    /// a given time on.
    pub(super) fn submit(
        &mut self,
        op: &Op,
        now: Nanoseconds,
        meeting: Contention,
        wait_ns: impl FnOnce(Nanoseconds) -> f64,
    ) -> Nanoseconds {
        // Writes in between move the arms away.
        if self.of_disks && self.last_ends.continues(op) && !meeting.beside_writes {
            return self.read_on(op.bytes, now);
        }
        let extra_bytes = op.bytes.saturating_sub(SHEET_BYTES) as f64;
        let on_interface = op.bytes as f64 * self.cost_ns_per_byte;
        // A long read holds the units for longer than a short one; the clock of operations keeps
        // account of it, and the interface's clock keeps the bandwidth exact.
        // Reads that wait for all units together, by the clock of operations.
        let waiting = self.operations.backlog_ns(now) / self.cost_ns_per_read;
        let by_arms = meeting.seek.map_or(1.0, |seek| seek.cost_factor(waiting));
        let on_units = self.cost_ns_per_read * meeting.cost_factor * by_arms
            + extra_bytes * self.cost_ns_per_byte;
        let by_operations = self.operations.admit(now, on_units);
        let by_interface = self.interface.admit(now, on_interface);
        let admitted = now.max(by_operations).max(by_interface);
        let access = match meeting.seek {
            Some(seek) => seek.draw_access_ns(waiting, self.random.unit()),
            None => self.latency.draw_ns(),
        };
        let service = access + extra_bytes * self.extra_ns_per_byte;
        let start = self.occupy(admitted, service as Nanoseconds);
        self.busy_ns += on_units.max(on_interface);
        start + (wait_ns(start) + service) as Nanoseconds
    }

    /// Takes the first unit that is free, for `service` from `admitted` on; returns the start.
    fn occupy(&mut self, admitted: Nanoseconds, service: Nanoseconds) -> Nanoseconds {
        let Reverse(unit_free) = self.units.pop().unwrap_or(Reverse(0));
        let start = admitted.max(unit_free);
        // A unit serves other reads while this one waits.
        self.units.push(Reverse(start + service));
        start
    }

    /// The disks' arms are where they have to be: nothing but the transfer.
    fn read_on(&mut self, bytes: u64, now: Nanoseconds) -> Nanoseconds {
        let cost_ns = bytes as f64 * self.cost_ns_per_byte;
        self.busy_ns += cost_ns;
        let start = self.interface.admit(now, cost_ns);
        start + (bytes as f64 * self.extra_ns_per_byte) as Nanoseconds
    }

    /// Returns the time that a random read of `bytes` takes of the whole media, nanoseconds.
    pub(super) fn media_cost_ns(&self, bytes: u64) -> f64 {
        if self.of_disks {
            self.cost_ns_per_read
        } else {
            self.cost_ns_per_read * flash_accesses(bytes)
        }
    }

    /// Nanoseconds of the whole device's read capacity that were used.
    pub(super) fn busy_ns(&self) -> f64 {
        self.busy_ns
    }
}
