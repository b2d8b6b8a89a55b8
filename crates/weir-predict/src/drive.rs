//! Abilities of a drive, from its own model in virtual time.
//!
//! The model knows queues, garbage collection, compression, throttles, disks and caches in front;
//! a closed loop of clients asks it for random pages until it is saturated, in several mixtures of
//! reads and writes, and one client alone asks for its latencies. The drive is scaled down in
//! throughput, and in all that a rate fills, so that buffers and burst credits are used up soon;
//! its flash starts as its profile says and is asked for too short a time to change that, as it is
//! in a study: what garbage collection costs follows from `flash.fill`, for writes in sequence too.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::thread;

use weir_drive::Model;
use weir_model::{DeviceModel, DriveProfile, FileKind, Nanoseconds, Op, OpKind, Scale};

use crate::PredictError;

/// Bytes of a page.
const PAGE: u64 = 16_384;
/// Pages of the file that is asked for: far more than are written.
const FILE_PAGES: u64 = 524_288;
/// Clients that saturate any scaled drive.
const DEPTH: usize = 64;
const OPERATIONS: u64 = 12_000;
/// As many bytes as twice those operations in pages: garbage collection comes slower where writes go in sequence.
const SEQUENTIAL_OPERATIONS: u64 = 2 * OPERATIONS * PAGE / SEQUENTIAL_BYTES;
const SCALE: &str = "1/500";
/// Shares of writes among the operations that are asked for.
const WRITE_SHARES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];
/// Bytes of a write of the log.
const LOG_BLOCK: u64 = 4096;
/// Bytes of a write that goes in sequence.
const SEQUENTIAL_BYTES: u64 = 1 << 20;

/// A drive as stations see it.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct DriveAbility {
    /// The profile's name.
    pub name: String,
    /// Latency of a page read from the idle drive, seconds.
    pub read_s: f64,
    /// Latency of a small durable write on the idle drive, seconds.
    pub commit_s: f64,
    /// Seconds of the saturated drive that a small write in sequence takes, such as the log's.
    pub log_write_s: f64,
    /// It lets one operation after the other through: a provider's throttle.
    pub in_order: bool,
    /// Seconds of the saturated drive that one operation takes, by the share of writes.
    operation_s: [f64; WRITE_SHARES.len()],
    /// Seconds of the saturated drive for a byte written in sequence.
    sequential_s_per_byte: f64,
}

impl DriveAbility {
    /// Asks the model of `profile`; pages shrink to `compressed_fraction` on a drive that
    /// compresses.
    ///
    /// # Errors
    ///
    /// A profile that the model of the device does not take, or a fraction that is not above 0 and up to 1.
    pub fn from_profile(
        profile: &DriveProfile,
        compressed_fraction: f64,
    ) -> Result<Self, PredictError> {
        if !(compressed_fraction > 0.0 && compressed_fraction <= 1.0) {
            return Err(PredictError::Value {
                what: "compressed fraction",
                value: compressed_fraction,
                why: "must be above 0, up to 1",
            });
        }
        let scale: Scale = SCALE.parse().expect("invariant: a fraction");
        let slower = scale.factor();
        let mut alone = Asker::new(&unfilled(profile), Scale::FULL, compressed_fraction);
        let mut busy = Asker::new(profile, scale, compressed_fraction);
        Ok(Self {
            name: profile.name.clone(),
            in_order: profile.throttle.is_some(),
            read_s: alone.latency_s(OpKind::Read, PAGE),
            commit_s: alone.latency_s(OpKind::Write, LOG_BLOCK) + alone.latency_s(OpKind::Flush, 0),
            log_write_s: busy.saturated_s(1.0, LOG_BLOCK, OPERATIONS, true) * slower,
            operation_s: WRITE_SHARES
                .map(|share| busy.saturated_s(share, PAGE, OPERATIONS, false) * slower),
            sequential_s_per_byte: slower / SEQUENTIAL_BYTES as f64
                * busy.saturated_s(1.0, SEQUENTIAL_BYTES, SEQUENTIAL_OPERATIONS, true),
        })
    }

    /// The abilities of drives, in their order, with the share that each stores of a page. Each is asked as by
    /// [`Self::from_profile`], which takes a third of a second, side by side.
    ///
    /// # Errors
    ///
    /// As [`Self::from_profile`], for the first drive that fails.
    pub fn of_each(drives: &[(&DriveProfile, f64)]) -> Result<Vec<Self>, PredictError> {
        thread::scope(|scope| {
            let ask =
                |(profile, fraction)| scope.spawn(move || Self::from_profile(profile, fraction));
            let asked: Vec<_> = drives.iter().copied().map(ask).collect();
            let found = asked.into_iter().map(|asked| {
                let found = asked.join();
                found.expect("invariant: a drive is asked without panicking")
            });
            found.collect()
        })
    }

    /// The same drive with its throughput scaled by `scale`; latencies are never scaled.
    #[must_use]
    pub fn at_scale(&self, scale: Scale) -> Self {
        self.faster(scale.factor())
    }

    /// The drive of which this is the one at `scale`.
    #[must_use]
    pub fn whole(&self, scale: Scale) -> Self {
        self.faster(1.0 / scale.factor())
    }

    fn faster(&self, times: f64) -> Self {
        Self {
            operation_s: self.operation_s.map(|seconds| seconds / times),
            log_write_s: self.log_write_s / times,
            sequential_s_per_byte: self.sequential_s_per_byte / times,
            ..self.clone()
        }
    }

    /// Seconds of the saturated drive that `reads` and `writes` of pages and so many bytes in
    /// sequence take.
    pub fn busy_s(&self, reads: f64, writes: f64, sequential_bytes: f64) -> f64 {
        let operations = reads + writes;
        let share = if operations > 0.0 {
            writes / operations
        } else {
            0.0
        };
        let at = share * (WRITE_SHARES.len() - 1) as f64;
        let below = (at as usize).min(WRITE_SHARES.len() - 2);
        let [low, high] = [self.operation_s[below], self.operation_s[below + 1]];
        let each = low + (high - low) * (at - below as f64);
        operations * each + sequential_bytes * self.sequential_s_per_byte
    }
}

/// The same drive before anything was written to it: as quick where one operation is far from the next, and sooner
/// made.
fn unfilled(profile: &DriveProfile) -> DriveProfile {
    let mut unfilled = profile.clone();
    if let Some(flash) = &mut unfilled.flash {
        flash.fill = 0.0;
    }
    unfilled
}

/// Asks a model one thing after the other.
struct Asker {
    model: Model,
    compressed_fraction: f64,
    /// Virtual time at which the model has answered everything.
    now: Nanoseconds,
}

impl Asker {
    fn new(profile: &DriveProfile, scale: Scale, compressed_fraction: f64) -> Self {
        let capacity = profile.capacity.0;
        Self {
            model: Model::with_capacity(profile, scale, capacity),
            compressed_fraction,
            now: 0,
        }
    }

    fn op(&self, kind: OpKind, number: u64, bytes: u64, sequential: bool) -> Op {
        let size = FILE_PAGES * PAGE;
        // A step that is prime to the size visits every page, never the next one.
        let place = if sequential { number } else { number * 3_571 };
        Op {
            kind,
            file: 1,
            file_kind: FileKind::Data,
            offset: (place * bytes) % size,
            bytes,
            compressed_fraction: if kind == OpKind::Write {
                self.compressed_fraction
            } else {
                1.0
            },
        }
    }

    /// Mean latency of operations far apart.
    fn latency_s(&mut self, kind: OpKind, bytes: u64) -> f64 {
        const ALONE: u64 = 400;
        const APART: Nanoseconds = 50_000_000;
        let mut sum = 0;
        for number in 0..ALONE {
            self.now += APART;
            let op = self.op(kind, number, bytes, false);
            sum += self.model.submit(&op, self.now) - self.now;
        }
        sum as f64 / ALONE as f64 / 1e9
    }

    /// Seconds for an operation when clients always wait, after the buffers have filled.
    fn saturated_s(
        &mut self,
        write_share: f64,
        bytes: u64,
        operations: u64,
        sequential: bool,
    ) -> f64 {
        let mut clients: BinaryHeap<Reverse<Nanoseconds>> =
            std::iter::repeat_n(Reverse(self.now), DEPTH).collect();
        let (mut half_at, mut owed) = (self.now, 0.0);
        for number in 0..operations {
            let Reverse(now) = clients.pop().unwrap_or_default();
            owed += write_share;
            let kind = if owed >= 1.0 {
                owed -= 1.0;
                OpKind::Write
            } else {
                OpKind::Read
            };
            if number == operations / 2 {
                half_at = now;
            }
            self.now = now.max(self.now);
            let op = self.op(kind, number, bytes, sequential);
            clients.push(Reverse(self.model.submit(&op, now)));
        }
        let took_s = (self.now - half_at) as f64 / 1e9 / (operations / 2) as f64;
        // The next question finds the drive idle.
        self.now = clients
            .into_iter()
            .map(|Reverse(done)| done)
            .max()
            .unwrap_or(self.now);
        took_s
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use weir_drive::profiles;

    use super::*;

    const DRIVES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../drives");

    fn ability(name: &str) -> (DriveProfile, DriveAbility) {
        let profile = profiles::load(name, Some(Path::new(DRIVES))).unwrap();
        let ability = DriveAbility::from_profile(&profile, 1.0).unwrap();
        (profile, ability)
    }

    #[test]
    fn a_drive_does_what_its_data_sheet_says() {
        let (profile, found) = ability("intel-p4610");
        let read_us = found.read_s * 1e6;
        let sheet_us = profile.read.latency_us;
        assert!(read_us > sheet_us && read_us < sheet_us + 15.0, "{read_us}");
        // 16 KiB pages: bandwidth or IOPS, whichever is slower.
        let pages_per_s = 1.0 / found.busy_s(1.0, 0.0, 0.0);
        let by_bandwidth = profile.read.bandwidth_mb_per_s * 1e6 / 16_384.0;
        assert!(pages_per_s <= by_bandwidth * 1.02 && pages_per_s > by_bandwidth * 0.3);
        let sheet = 16_384.0 / (profile.write.bandwidth_mb_per_s * 1e6);
        let mut new = profile.clone();
        new.flash.as_mut().unwrap().fill = 0.0;
        let new = DriveAbility::from_profile(&new, 1.0).unwrap();
        let sequence = new.busy_s(0.0, 0.0, 16_384.0);
        assert!((sequence / sheet - 1.0).abs() < 0.05, "{sequence} {sheet}");
        // Full, its flash writes up to 3.3 times what it is asked to; the write buffer takes some.
        let collected = found.busy_s(0.0, 1.0, 0.0) / sheet;
        assert!(collected > 2.3 && collected < 3.4, "{collected}");
        // Arms have to move for pages at random.
        let (_, disks) = ability("raid10-8x15k-bbu");
        assert!(disks.busy_s(0.0, 1.0, 0.0) > 5.0 * disks.busy_s(0.0, 0.0, 16_384.0));
    }

    #[test]
    fn every_shipped_drive_can_be_asked() {
        for profile in profiles::list(Some(Path::new(DRIVES))).unwrap() {
            let name = profile.name;
            let (_, found) = ability(&name);
            let one = found.busy_s(1.0, 0.5, 20_000.0);
            assert!(one.is_finite() && one > 0.0, "{name}: {found:?}");
            assert!(
                found.read_s > 0.0 && found.commit_s > 0.0,
                "{name}: {found:?}"
            );
        }
    }
}
