//! The device at work: model, compression, counters and the clock that holds replies.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustix::io::Errno;
use weir_model::{
    DeviceModel, DriveProfile, DriveStatistics, FileKind, Nanoseconds, Op, OpKind, Scale,
};

use crate::calibration::WayBack;
use crate::clock::Clock;
use crate::compression::Compressor;
use crate::model::Model;
use crate::scheduler::{Buffers, Reply, Scheduler};
use crate::statistics::Counters;
use crate::store::Space;

/// What the FUSE front end asks: when is this operation done, and send its reply then.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) clock: Clock,
    pub(crate) buffers: Arc<Buffers>,
    model: Mutex<Model>,
    compressor: Option<Compressor>,
    counters: Arc<Counters>,
    scheduler: Scheduler,
    written_bytes: AtomicU64,
    stored_bytes: AtomicU64,
    way_back: OnceLock<WayBack>,
    /// The file of the calibration that is going on; 0: none.
    calibrating: AtomicU64,
}

/// An operation on a part of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    pub(crate) file: u64,
    pub(crate) kind: FileKind,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

impl Engine {
    pub(crate) fn start(
        profile: &DriveProfile,
        scale: Scale,
        capacity_bytes: u64,
    ) -> std::io::Result<Self> {
        let clock = Clock::start();
        let counters = Arc::new(Counters::new());
        let buffers = Arc::new(Buffers::default());
        let compressor = Compressor::start(profile)?;
        let scheduler = Scheduler::start(clock, Arc::clone(&counters), Arc::clone(&buffers))?;
        Ok(Self {
            clock,
            buffers,
            model: Mutex::new(Model::with_capacity(profile, scale, capacity_bytes)),
            compressor,
            counters,
            scheduler,
            written_bytes: AtomicU64::new(0),
            stored_bytes: AtomicU64::new(0),
            way_back: OnceLock::new(),
            calibrating: AtomicU64::new(0),
        })
    }

    /// Stored bytes / written bytes of all writes so far.
    pub(crate) fn stored_share(&self) -> f64 {
        let written = self.written_bytes.load(Ordering::Relaxed);
        if written == 0 {
            return 1.0;
        }
        self.stored_bytes.load(Ordering::Relaxed) as f64 / written as f64
    }

    /// Whether the drive stores less than it is given.
    pub(crate) fn compresses(&self) -> bool {
        self.compressor.is_some()
    }

    /// A file lay on the drive before it was mounted; `bytes` of it take `fraction` of that.
    pub(crate) fn adopt(&self, file: u64, bytes: u64, fraction: f64) {
        self.lock_model().adopt(file, bytes, fraction);
    }

    /// `ENOSPC` if a drive that compresses has no flash left for a write of `bytes`, wherever it
    /// goes.
    pub(crate) fn check_room(&self, bytes: u64) -> Result<(), Errno> {
        if !self.compresses() {
            return Ok(());
        }
        let stored = (bytes as f64 * self.stored_share()) as u64;
        if self.lock_model().has_room(stored) {
            Ok(())
        } else {
            Err(Errno::NOSPC)
        }
    }

    /// Sends `reply` when the device has done the read that was accepted at `now`.
    pub(crate) fn read(&self, extent: Extent, now: Nanoseconds, reply: Reply) {
        let Some(reply) = self.unless_calibrating(extent, now, reply) else {
            return;
        };
        let done = self.submit(OpKind::Read, extent, 1.0, now);
        self.send(reply, now, done, |way| way.read_ns(extent.bytes));
    }

    /// Sends `reply` when the device has acknowledged the write of `data`; `durable`: it must
    /// not return before it would survive a power cut.
    pub(crate) fn write(
        &self,
        extent: Extent,
        data: &[u8],
        durable: bool,
        now: Nanoseconds,
        reply: Reply,
    ) {
        let Some(reply) = self.unless_calibrating(extent, now, reply) else {
            return;
        };
        let fraction = self.compressor.as_ref().map_or(1.0, |compressor| {
            compressor.fraction(extent.kind, data, now)
        });
        let stored = (extent.bytes as f64 * fraction) as u64;
        self.written_bytes
            .fetch_add(extent.bytes, Ordering::Relaxed);
        self.stored_bytes.fetch_add(stored, Ordering::Relaxed);
        let mut done = self.submit(OpKind::Write, extent, fraction, now);
        if durable {
            // The flush follows the write; the model takes its operations in the order of their
            // arrival, so its cost from now on is added to the write's end.
            let flushed = self.submit(OpKind::Flush, Extent { bytes: 0, ..extent }, 1.0, now);
            done += flushed - now;
        }
        self.send(reply, now, done, |way| way.write_ns(extent.bytes));
    }

    /// Sends `reply` when all that was written before is durable.
    pub(crate) fn flush(&self, extent: Extent, now: Nanoseconds, reply: Reply) {
        let done = self.submit(OpKind::Flush, extent, 1.0, now);
        self.send(reply, now, done, |way| way.write_ns(0));
    }

    /// Sends `reply` when the device has taken back the space.
    pub(crate) fn discard(&self, extent: Extent, now: Nanoseconds, reply: Reply) {
        let done = self.submit(OpKind::Discard, extent, 1.0, now);
        self.send(reply, now, done, |way| way.write_ns(0));
    }

    /// Reads and writes of `file` are from now on neither held nor counted.
    pub(crate) fn begin_calibration(&self, file: u64) {
        self.calibrating.store(file, Ordering::Relaxed);
    }

    fn unless_calibrating(&self, extent: Extent, now: Nanoseconds, reply: Reply) -> Option<Reply> {
        if self.calibrating.load(Ordering::Relaxed) != extent.file {
            return Some(reply);
        }
        self.scheduler.complete(reply, now, now);
        None
    }

    /// From now on replies leave early by the time that they take to reach the caller.
    pub(crate) fn end_calibration(&self, way_back: WayBack) {
        self.calibrating.store(0, Ordering::Relaxed);
        self.counters.forget_lateness();
        // Set once: a second calibration would be a bug, and the first is as good.
        let _ = self.way_back.set(way_back);
    }

    /// What was counted since the mount.
    pub(crate) fn statistics(&self, space: &Space) -> DriveStatistics {
        let now = self.clock.now();
        let usage = self.lock_model().usage(now);
        let mut counted = self.counters.statistics();
        for (kind, counted) in &mut counted.by_kind {
            counted.cache_hits = usage.cache_hits[kind.index()];
        }
        DriveStatistics {
            uptime_s: now as f64 / 1e9,
            read_busy_s: usage.read_busy_s,
            write_busy_s: usage.write_busy_s,
            host_written_bytes: usage.host_written_bytes,
            media_written_bytes: usage.media_written_bytes,
            physical_capacity_bytes: usage.physical_capacity_bytes,
            physical_used_bytes: usage.physical_used_bytes,
            space_state: usage.space_state,
            endurance_used: usage.endurance_used,
            cache: usage.cache,
            compressed_fraction: self.stored_share(),
            used_bytes: space.used_bytes(),
            ..counted
        }
    }

    /// Sends all replies that are still held.
    pub(crate) fn stop(&self) {
        self.scheduler.stop();
    }

    fn submit(&self, kind: OpKind, extent: Extent, fraction: f64, now: Nanoseconds) -> Nanoseconds {
        let op = Op {
            kind,
            file: extent.file,
            file_kind: extent.kind,
            offset: extent.offset,
            bytes: extent.bytes,
            compressed_fraction: fraction,
        };
        let done = self.lock_model().submit(&op, now);
        self.counters
            .accepted(extent.kind, kind, extent.bytes, done - now);
        done
    }

    fn send(
        &self,
        reply: Reply,
        now: Nanoseconds,
        done: Nanoseconds,
        way_back_ns: impl FnOnce(&WayBack) -> Nanoseconds,
    ) {
        let early = self.way_back.get().map_or(0, way_back_ns);
        self.scheduler
            .complete(reply, now, done.saturating_sub(early));
    }

    fn lock_model(&self) -> std::sync::MutexGuard<'_, Model> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
