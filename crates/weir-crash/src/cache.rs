//! Which writes a power cut may still take back, at each moment of a recording.
//!
//! Pure bookkeeping over the order of events. A device with power-loss protection keeps what it has
//! completed. A volatile cache keeps what a completed flush covers: writes that had completed before
//! the flush was asked for (as a block device promises; `Documentation/block/writeback_cache_control`).
//! A drive that lies says "flushed" and does nothing. Whatever the drive, it destages its oldest
//! writes once more than its cache is full.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use weir_model::{Atomicity, Bytes, DriveProfile, WriteCache};

/// What a device keeps in a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheRule {
    /// What it completed.
    PowerProtected,
    /// What was flushed.
    Volatile,
    /// Nothing for sure but what has left its cache: its flushes do nothing.
    Lying,
}

/// The rules by which crash states of a device are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceRules {
    /// What it keeps.
    pub cache: CacheRule,
    /// How much a cache can hold back.
    pub cache_size: Bytes,
    /// Into what it may tear a write.
    pub atomicity: Atomicity,
}

impl DeviceRules {
    /// What the drive's data sheet says that it keeps.
    pub fn of(profile: &DriveProfile) -> Self {
        Self {
            cache: match profile.write.cache {
                WriteCache::PowerProtected => CacheRule::PowerProtected,
                WriteCache::Volatile => CacheRule::Volatile,
            },
            cache_size: profile.write.buffer,
            atomicity: profile.atomicity,
        }
    }
}

/// A write that may still be lost, or torn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpenWrite {
    pub(crate) sequence: u64,
    pub(crate) file: u64,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    /// It was asked for with `O_DSYNC`: durable when completed.
    durable: bool,
    /// The position in the recording at which it completed.
    completed: Option<u64>,
}

impl OpenWrite {
    pub(crate) fn is_in_flight(&self) -> bool {
        self.completed.is_none()
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.file == other.file
            && self.offset < other.offset + other.bytes
            && other.offset < self.offset + self.bytes
    }
}

/// The undecided writes of a device.
#[derive(Debug)]
pub(crate) struct Cache {
    rules: DeviceRules,
    open: BTreeMap<u64, OpenWrite>,
    /// Flushes in flight.
    flushes: BTreeSet<u64>,
    completed_bytes: u64,
}

impl Cache {
    pub(crate) fn new(rules: DeviceRules) -> Self {
        Self {
            rules,
            open: BTreeMap::new(),
            flushes: BTreeSet::new(),
            completed_bytes: 0,
        }
    }

    /// What a cut decides now, oldest first.
    pub(crate) fn open(&self) -> impl Iterator<Item = &OpenWrite> {
        self.open.values()
    }

    /// A write arrived.
    pub(crate) fn write(
        &mut self,
        sequence: u64,
        (file, offset, bytes): (u64, u64, u64),
        durable: bool,
    ) {
        let write = OpenWrite {
            sequence,
            file,
            offset,
            bytes,
            durable,
            completed: None,
        };
        self.open.insert(sequence, write);
    }

    /// A flush arrived.
    pub(crate) fn flush(&mut self, sequence: u64) {
        self.flushes.insert(sequence);
    }

    /// Event number `position` says that the write or flush `sequence` is done: the writes that are
    /// durable from now on, in the order in which they are to be applied.
    pub(crate) fn done(&mut self, sequence: u64, position: u64) -> Vec<OpenWrite> {
        if self.flushes.remove(&sequence) {
            return match self.rules.cache {
                CacheRule::Lying => Vec::new(),
                _ => self.settle(|write| write.completed.is_some_and(|done| done < sequence)),
            };
        }
        let Some(write) = self.open.get_mut(&sequence) else {
            return Vec::new();
        };
        write.completed = Some(position);
        let forced = write.durable && self.rules.cache != CacheRule::Lying;
        if forced || self.rules.cache == CacheRule::PowerProtected {
            return self.settle_one(sequence);
        }
        self.completed_bytes += write.bytes;
        self.overflow()
    }

    /// All writes to `file` are decided: its size or its space changes under them.
    pub(crate) fn settle_file(&mut self, file: u64) -> Vec<OpenWrite> {
        self.settle(|write| write.file == file)
    }

    /// The oldest completed writes leave a cache that is too full.
    fn overflow(&mut self) -> Vec<OpenWrite> {
        let mut settled = Vec::new();
        while self.completed_bytes > self.rules.cache_size.0 {
            let oldest = self.open.values().find(|write| !write.is_in_flight());
            let oldest = oldest.expect("invariant: the completed bytes are of open writes");
            settled.extend(self.settle_one(oldest.sequence));
        }
        settled
    }

    fn settle(&mut self, which: impl Fn(&OpenWrite) -> bool) -> Vec<OpenWrite> {
        let chosen: Vec<u64> = self
            .open
            .values()
            .filter(|write| which(write))
            .map(|write| write.sequence)
            .collect();
        chosen
            .into_iter()
            .flat_map(|sequence| self.settle_one(sequence))
            .collect()
    }

    /// Settles a write after the older ones below it, which it would else be overwritten by later.
    fn settle_one(&mut self, sequence: u64) -> Vec<OpenWrite> {
        let Some(write) = self.open.get(&sequence) else {
            return Vec::new();
        };
        let older = self.open.range(..sequence).map(|(_, other)| other);
        let mut settled: Vec<u64> = older
            .filter(|other| other.overlaps(write))
            .map(|other| other.sequence)
            .collect();
        settled.push(sequence);
        settled
            .into_iter()
            .filter_map(|sequence| self.take(sequence))
            .collect()
    }

    fn take(&mut self, sequence: u64) -> Option<OpenWrite> {
        let write = self.open.remove(&sequence)?;
        // What completes and is durable at once was never counted.
        if !write.is_in_flight() {
            self.completed_bytes = self.completed_bytes.saturating_sub(write.bytes);
        }
        Some(write)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: u64 = 16_384;

    fn cache(cache: CacheRule, pages: u64) -> Cache {
        Cache::new(DeviceRules {
            cache,
            cache_size: Bytes(pages * PAGE),
            atomicity: Atomicity::default(),
        })
    }

    fn open(cache: &Cache) -> Vec<u64> {
        cache.open().map(|write| write.sequence).collect()
    }

    /// The sequence numbers of `writes`.
    fn numbers(writes: &[OpenWrite]) -> Vec<u64> {
        writes.iter().map(|write| write.sequence).collect()
    }

    fn page(number: u64) -> (u64, u64, u64) {
        (1, number * PAGE, PAGE)
    }

    #[test]
    fn power_loss_protection_keeps_what_completed() {
        let mut cache = cache(CacheRule::PowerProtected, 100);
        cache.write(1, page(1), false);
        cache.write(2, page(2), false);
        assert_eq!(numbers(&cache.done(2, 2)), [2]);
        assert_eq!(open(&cache), [1]);
    }

    #[test]
    fn a_flush_covers_what_had_completed_when_it_was_asked_for() {
        let mut cache = cache(CacheRule::Volatile, 100);
        cache.write(1, page(1), false);
        cache.write(2, page(2), false);
        assert!(cache.done(1, 2).is_empty());
        cache.flush(3);
        assert!(cache.done(2, 4).is_empty());
        assert_eq!(numbers(&cache.done(3, 5)), [1]);
        assert_eq!(open(&cache), [2]);
        cache.write(6, page(3), true);
        assert_eq!(numbers(&cache.done(6, 7)), [6], "O_DSYNC");
    }

    #[test]
    fn a_lying_drive_keeps_what_left_its_cache() {
        let mut cache = cache(CacheRule::Lying, 2);
        for sequence in 1..=2 {
            cache.write(sequence, page(sequence), true);
            assert!(cache.done(sequence, sequence).is_empty());
        }
        cache.flush(3);
        assert!(cache.done(3, 4).is_empty());
        cache.write(5, page(5), false);
        assert_eq!(numbers(&cache.done(5, 6)), [1]);
        assert_eq!(open(&cache), [2, 5]);
    }

    #[test]
    fn a_durable_write_takes_the_older_ones_below_it_along() {
        let mut cache = cache(CacheRule::Volatile, 100);
        cache.write(1, page(1), false);
        cache.write(2, page(9), false);
        cache.done(1, 2);
        cache.write(3, (1, PAGE + 512, 512), true);
        assert_eq!(numbers(&cache.done(3, 4)), [1, 3]);
        assert_eq!(open(&cache), [2]);
        assert_eq!(numbers(&cache.settle_file(1)), [2]);
    }
}
