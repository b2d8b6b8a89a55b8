//! The device at work: model, compression, faults, counters and the clock that holds replies.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustix::io::Errno;
use weir_model::{
    DeviceModel, DriveProfile, DriveStatistics, FaultError, Faults, FileKind, Nanoseconds, Op,
    OpKind, Scale,
};

use crate::calibration::{Correction, HOLD_NS, Ticket, WayBack};
use crate::clock::Clock;
use crate::compression::Compressor;
use crate::faults::{Injector, Verdict};
use crate::model::Model;
use crate::page_cache::PageCache;
use crate::placement::Placement;
use crate::recording::OpenMode;
use crate::scheduler::{Buffers, Reply, Scheduler};
use crate::statistics::Counters;
use crate::store::Space;
use crate::trace::Tracer;

/// With so much time until its reply is due, a request leaves the reader time for other things.
const SPARE_NS: Nanoseconds = 20_000;

/// Engine that the FUSE front end asks for the time at which an operation is done, and that sends
/// its reply then.
#[derive(Debug)]
pub(crate) struct Engine {
    clock: Clock,
    pub(crate) buffers: Arc<Buffers>,
    model: Mutex<Model>,
    page_cache: PageCache,
    compressor: Option<Compressor>,
    counters: Arc<Counters>,
    scheduler: Scheduler,
    faults: Injector,
    tracer: Tracer,
    written_bytes: AtomicU64,
    stored_bytes: AtomicU64,
    way_back: OnceLock<WayBack>,
    correction: Arc<Correction>,
    placement: Arc<Placement>,
    /// The file of the calibration that is going on; 0: none.
    calibrating: AtomicU64,
}

/// Time at which a request was read, and its caller.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival {
    at: Nanoseconds,
    caller: u32,
    /// No other request was in flight.
    alone: bool,
}

/// An operation on a part of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent {
    pub(crate) file: u64,
    pub(crate) kind: FileKind,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

/// A write that the store has taken.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Write<'a> {
    pub(crate) extent: Extent,
    pub(crate) data: &'a [u8],
    pub(crate) opened: OpenMode,
}

impl Engine {
    pub(crate) fn start(
        profile: &DriveProfile,
        scale: Scale,
        capacity_bytes: u64,
    ) -> std::io::Result<Self> {
        let clock = Clock::start();
        let counters = Arc::new(Counters::default());
        let buffers = Arc::new(Buffers::default());
        let correction = Arc::new(Correction::default());
        let placement = Arc::new(Placement::new());
        let compressor = Compressor::start(profile)?;
        let scheduler = Scheduler::start(
            clock,
            Arc::clone(&counters),
            Arc::clone(&buffers),
            Arc::clone(&correction),
            Arc::clone(&placement),
        )?;
        Ok(Self {
            clock,
            buffers,
            model: Mutex::new(Model::with_capacity(profile, scale, capacity_bytes)),
            page_cache: PageCache::default(),
            compressor,
            counters,
            scheduler,
            faults: Injector::new(),
            tracer: Tracer::default(),
            written_bytes: AtomicU64::new(0),
            stored_bytes: AtomicU64::new(0),
            way_back: OnceLock::new(),
            correction,
            placement,
            calibrating: AtomicU64::new(0),
        })
    }

    /// A request of thread `caller` was read just now.
    pub(crate) fn arrived(&self, caller: u32) -> Arrival {
        let at = self.clock.now();
        let alone = self.counters.is_idle();
        if alone && let Some(early) = self.correction.arrived_alone(caller, at) {
            self.counters.early(early.early_ns, early.latency_ns);
        }
        Arrival { at, caller, alone }
    }

    /// Returns the effect of the faults on an operation on the file that `path` names.
    pub(crate) fn judge(&self, what: OpKind, path: impl FnOnce() -> String) -> Verdict {
        self.faults.judge(what, path)
    }

    /// Stored bytes / written bytes of all writes so far.
    pub(crate) fn stored_share(&self) -> f64 {
        let written = self.written_bytes.load(Ordering::Relaxed);
        if written == 0 {
            return 1.0;
        }
        self.stored_bytes.load(Ordering::Relaxed) as f64 / written as f64
    }

    /// Returns true if it matters what lay on the drive before: it takes flash, or arms have to reach it.
    pub(crate) fn asks_what_lies_on_it(&self) -> bool {
        self.compresses() || self.lock_model().has_arms()
    }

    /// Returns true if the drive stores less than it is given.
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

    /// Sends `reply` when the device has done the read.
    pub(crate) fn read(&self, extent: Extent, arrival: Arrival, longer_by: u64, reply: Reply) {
        if self.is_calibrating(&extent) {
            return self.probe(arrival, reply);
        }
        let done = self.submit(OpKind::Read, extent, 1.0, arrival.at);
        self.count(OpKind::Read, extent, done - arrival.at);
        let done = done + longer_by;
        self.send(OpKind::Read, extent, arrival, done, reply);
    }

    /// Sends `reply` when the device has acknowledged the write, or the page cache has taken it.
    pub(crate) fn write(&self, write: Write<'_>, arrival: Arrival, longer_by: u64, reply: Reply) {
        let Write {
            extent,
            data,
            opened,
        } = write;
        if self.is_calibrating(&extent) {
            return self.probe(arrival, reply);
        }
        let fraction = self.compressor.as_ref().map_or(1.0, |compressor| {
            compressor.fraction(extent.kind, data, arrival.at)
        });
        let stored = (extent.bytes as f64 * fraction) as u64;
        self.written_bytes
            .fetch_add(extent.bytes, Ordering::Relaxed);
        self.stored_bytes.fetch_add(stored, Ordering::Relaxed);
        let done = self.submit(OpKind::Write, extent, fraction, arrival.at);
        if opened.is_buffered() {
            return self.write_buffered(extent, arrival, done + longer_by, reply);
        }
        self.count(OpKind::Write, extent, done - arrival.at);
        let mut done = done + longer_by;
        if opened.durable {
            let flush = Extent { bytes: 0, ..extent };
            done = self.flush_after(flush, arrival.at, done, done);
        }
        self.send(OpKind::Write, extent, arrival, done, reply);
    }

    /// Sends `reply` when the page cache has taken a write that the device has `written` later.
    fn write_buffered(&self, extent: Extent, arrival: Arrival, written: Nanoseconds, reply: Reply) {
        let answered = self.page_cache.write(extent.file, arrival.at, written);
        self.count(OpKind::Write, extent, answered - arrival.at);
        if answered == arrival.at {
            self.send_from_memory(extent, arrival, reply);
        } else {
            self.send(OpKind::Write, extent, arrival, answered, reply);
        }
    }

    /// Sends `reply` when all that was written before is durable.
    pub(crate) fn flush(&self, extent: Extent, arrival: Arrival, longer_by: u64, reply: Reply) {
        let written = self.page_cache.written(extent.file, arrival.at);
        let done = self.flush_after(extent, arrival.at, written, arrival.at);
        self.send(OpKind::Flush, extent, arrival, done + longer_by, reply);
    }

    /// Returns the end of a flush that came at `now`. It begins when the device has `written` the data that are to be
    /// durable. It is counted and recorded as one whose caller waits for it from `from` on.
    fn flush_after(
        &self,
        flush: Extent,
        now: Nanoseconds,
        written: Nanoseconds,
        from: Nanoseconds,
    ) -> Nanoseconds {
        let op = operation(OpKind::Flush, flush, 1.0);
        // A flush changes nothing in the model, which can be asked for a later time than that of its next operation.
        let done = self.lock_model().submit(&op, written);
        self.count(OpKind::Flush, flush, done - from);
        self.tracer.record(&op, now, done - from);
        done
    }

    /// Sends `reply` when the device has taken back the space.
    pub(crate) fn discard(&self, extent: Extent, arrival: Arrival, reply: Reply) {
        let done = self.submit(OpKind::Discard, extent, 1.0, arrival.at);
        self.send(OpKind::Discard, extent, arrival, done, reply);
    }

    /// Tells the device that `extent` is not needed any longer; no caller waits for an answer.
    pub(crate) fn trim(&self, extent: Extent) {
        let now = self.clock.now();
        self.submit(OpKind::Discard, extent, 1.0, now);
    }

    /// Reads and writes of `file` are from now on held for a known time, and not counted.
    pub(crate) fn begin_calibration(&self, file: u64) {
        self.calibrating.store(file, Ordering::Relaxed);
    }

    fn is_calibrating(&self, extent: &Extent) -> bool {
        self.calibrating.load(Ordering::Relaxed) == extent.file
    }

    /// From now on replies leave early by the time that they take to reach the caller.
    pub(crate) fn end_calibration(&self, way_back: WayBack) {
        self.calibrating.store(0, Ordering::Relaxed);
        self.counters.forget_lateness();
        // Set once: a second calibration would be a bug, and the first is as good.
        let _ = self.way_back.set(way_back);
    }

    /// Returns the correction of replies while the drive is in use, for the prober.
    pub(crate) fn correction(&self) -> &Arc<Correction> {
        &self.correction
    }

    /// Sends `reply` to a caller of the drive's own, after the time for which it is held.
    pub(crate) fn probe(&self, arrival: Arrival, reply: Reply) {
        let nothing = Extent {
            file: 0,
            kind: FileKind::Other,
            offset: 0,
            bytes: 0,
        };
        let done = arrival.at + HOLD_NS;
        self.send(OpKind::Discard, nothing, arrival, done, reply);
    }

    /// Replaces the faults of the device.
    pub(crate) fn set_faults(&self, faults: Faults, space: &Space) -> Result<(), FaultError> {
        let (stuck, full, drain_share) = (faults.stuck, faults.full, faults.drain_share);
        self.faults.set(faults)?;
        self.lock_model().set_drain_share(drain_share);
        space.set_full(full);
        self.scheduler.set_stuck(stuck);
        Ok(())
    }

    /// The power is cut: nothing that is under way or comes from now on is done.
    pub(crate) fn cut(&self) {
        self.scheduler.cut();
        let dead = Faults {
            error_rate: 1.0,
            ..Faults::default()
        };
        self.faults
            .set(dead)
            .expect("invariant: it fails on all files");
        // Those that are stuck are answered as well.
        self.scheduler.set_stuck(false);
    }

    /// The faults as they are.
    pub(crate) fn faults(&self) -> Faults {
        self.faults.faults()
    }

    /// Returns the tracer that records operations.
    pub(crate) fn tracer(&self) -> &Tracer {
        &self.tracer
    }

    /// Returns the counts since the mount.
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
            faults: self.faults.statistics(),
            correction_us: self.correction.nanoseconds() as f64 / 1e3,
            ..counted
        }
    }

    /// Returns the placement of the drive's threads, for the prober.
    pub(crate) fn placement(&self) -> &Arc<Placement> {
        &self.placement
    }

    /// Sends all replies that are still held.
    pub(crate) fn stop(&self) {
        self.scheduler.stop();
    }

    fn submit(&self, kind: OpKind, extent: Extent, fraction: f64, now: Nanoseconds) -> Nanoseconds {
        let op = operation(kind, extent, fraction);
        let done = self.lock_model().submit(&op, now);
        self.tracer.record(&op, now, done - now);
        done
    }

    /// Counts an operation whose caller the model lets wait so long.
    fn count(&self, what: OpKind, extent: Extent, waits: Nanoseconds) {
        self.counters
            .accepted(extent.kind, what, extent.bytes, waits);
    }

    /// Sends the `reply` to a write now: the device does not decide when.
    fn send_from_memory(&self, extent: Extent, arrival: Arrival, reply: Reply) {
        let now = self.clock.now();
        let ticket = Ticket {
            accepted: arrival.at,
            done: now,
            due: now,
            caller: arrival.caller,
            kind: extent.kind,
            what: OpKind::Write,
            from_memory: true,
        };
        self.scheduler.complete(reply, ticket);
    }

    fn send(
        &self,
        what: OpKind,
        extent: Extent,
        arrival: Arrival,
        done: Nanoseconds,
        reply: Reply,
    ) {
        let way = match (self.way_back.get(), what) {
            (None, _) => 0,
            (Some(way), OpKind::Read) => way.read_ns(extent.bytes),
            (Some(way), OpKind::Write) => way.write_ns(extent.bytes),
            (Some(way), OpKind::Flush | OpKind::Discard) => way.bare_ns(),
        };
        let due = done.saturating_sub(way);
        let due = due.saturating_add_signed(-self.correction.nanoseconds());
        let Arrival { at, caller, alone } = arrival;
        self.scheduler.complete(
            reply,
            Ticket {
                accepted: at,
                done,
                due,
                caller,
                kind: extent.kind,
                what,
                from_memory: false,
            },
        );
        let now = self.clock.now();
        if due > now + SPARE_NS && !self.correction.is_prober(caller) {
            self.placement.served(caller, alone, now);
        }
    }

    fn lock_model(&self) -> std::sync::MutexGuard<'_, Model> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn operation(kind: OpKind, extent: Extent, compressed_fraction: f64) -> Op {
    Op {
        kind,
        file: extent.file,
        file_kind: extent.kind,
        offset: extent.offset,
        bytes: extent.bytes,
        compressed_fraction,
    }
}
